/*
 * generate.h - internal: traces that are made up
 *
 * What was published is in generate_tables.c; how numbers are drawn after it,
 * in integers only, in generate_draw.c; what a job is, in generate.c.
 */
#ifndef PAI_SRC_SIM_GENERATE_H
#define PAI_SRC_SIM_GENERATE_H

#include "base/prng.h"
#include "sim/trace.h"

/* --- what was published (generate_tables.c) --------------------------------- */

/* So many of ten thousand jobs last no longer. */
typedef struct pai__quantile {
  uint32_t position;
  uint32_t seconds;
} pai__quantile;

/* Jobs of so many GPUs: how many of ten thousand, and how much longer than all
 * they last, in sixteenths. */
typedef struct pai__size_class {
  uint32_t gpus, share, longer;
} pai__size_class;

/* How jobs end, by how long they are: up to so many of ten thousand jobs, so
 * many of a thousand are killed by their users, and fail. */
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

/* NULL: there is none. */
const pai__like *pai__like_of(int like);

/* How many come in each hour of a week, from Monday on: of a thousand of the
 * mean. */
enum { PAI__WEEK_HOURS = 168 };
extern const uint16_t pai__week[PAI__WEEK_HOURS];

/* --- draws (generate_draw.c) ------------------------------------------------ */

/* A curve through quantiles, in steps small enough to be straight. */
enum { PAI__CURVE_STEPS = 16, PAI__CURVE_MAX = 16 * PAI__CURVE_STEPS + 1 };
typedef struct pai__curve {
  uint32_t position[PAI__CURVE_MAX]; /* of 2^32 - 1 */
  uint64_t us[PAI__CURVE_MAX];
  size_t count;
} pai__curve;

void pai__curve_make(pai__curve *c, const pai__quantile *q, size_t count);
uint64_t pai__curve_at(const pai__curve *c, uint32_t position);

/* The place of a number below the last in sums that grow. */
size_t pai__find_share(const uint32_t *sums, size_t count, uint32_t number);

#endif
