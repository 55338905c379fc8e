/*
 * generate.h - internal: generates traces
 *
 * generate_tables.c has the published statistics. generate.c draws numbers
 * from them, in integers only, and makes the jobs.
 */
#ifndef PAI_SRC_SIM_TRACE_GENERATE_H
#define PAI_SRC_SIM_TRACE_GENERATE_H

#include "base/prng.h"
#include "sim/trace/trace.h"

/* --- published statistics (generate_tables.c) ---------------------------- */

/* `position` of ten thousand jobs last no longer than `seconds`. */
typedef struct pai__quantile {
  uint32_t position;
  uint32_t seconds;
} pai__quantile;

/* Jobs with `gpus` GPUs: their share of ten thousand jobs, and the factor of
 * their durations in sixteenths. */
typedef struct pai__size_class {
  uint32_t gpus, share, longer;
} pai__size_class;

/* Ends of jobs by duration.  For jobs up to `position` of ten thousand, sorted
 * by duration: how many of a thousand are killed by their users, and how many
 * fail. */
typedef struct pai__end_class {
  uint32_t position, killed, failed;
} pai__end_class;

typedef struct pai__like {
  const pai__quantile *quantiles; /* from 0 to 10000 */
  const pai__size_class *sizes;
  const pai__end_class *ends; /* the last one ends at 10000 */
  size_t nquantiles, nsizes, nends;
  uint32_t users, vcs;
} pai__like;

/* Returns the statistics of PAI_LIKE_*; NULL: there are none. */
const pai__like *pai__like_of(int like);

/* Arrivals in each hour of a week, from Monday on, in thousandths of the
 * mean. */
enum { PAI__WEEK_HOURS = 168 };
extern const uint16_t pai__week[PAI__WEEK_HOURS];

/* --- draws (generate.c) -------------------------------------------------- */

/* A curve through quantiles, in steps that are short enough to be straight
 * lines. */
enum { PAI__CURVE_STEPS = 16, PAI__CURVE_MAX = 16 * PAI__CURVE_STEPS + 1 };
typedef struct pai__quantile_curve {
  uint32_t position[PAI__CURVE_MAX]; /* in units of 1 / (2^32 - 1) */
  uint64_t us[PAI__CURVE_MAX];
  size_t count;
} pai__quantile_curve;

void pai__curve_make(pai__quantile_curve *c, const pai__quantile *q,
                     size_t count);
uint64_t pai__curve_at(const pai__quantile_curve *c, uint32_t position);

#endif
