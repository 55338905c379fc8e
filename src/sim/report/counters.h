/*
 * counters.h - internal: counters of a simulation: histograms with
 * percentiles, amounts over time, borrowed shares, and bars of a chart
 */
#ifndef PAI_SRC_SIM_REPORT_COUNTERS_H
#define PAI_SRC_SIM_REPORT_COUNTERS_H

#include "sched/inspect.h"
#include "sim/report/report.h"
#include "sim/scale.h"

/* --- histograms and percentiles ------------------------------------------ */

/* A histogram is exact while it has few values.  Then values are cut to their
 * leading bits, at least ten, which is an error of at most 1/512.  It is a
 * hash table with open addressing in one small block, as each user has two
 * histograms. */

typedef struct pai__histogram {
  uint64_t *keys;   /* value + 1; 0: empty */
  uint32_t *counts; /* how often, below 2^32; in the block of `keys` */
  uint32_t nslots;
  uint32_t live;
  uint32_t most;            /* values before bits are dropped */
  uint32_t bits;            /* leading bits that are kept; 64: all */
  uint64_t common, ncommon; /* the most frequent value is counted apart */
  uint64_t count;
  pai__wide sum;
  int64_t least, greatest;
} pai__histogram;

/* `common` is a frequent value, which is counted without a slot. */
void pai__histogram_init(pai__histogram *t, uint32_t most, uint64_t common);
void pai__histogram_dispose(pai__histogram *t, const pai_alloc *alloc);

/* Adds a value; a negative value counts as 0.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__histogram_add(pai__histogram *t, const pai_alloc *alloc,
                       int64_t value);

/* Finds percentiles.  For each of n ascending thousandths, the value is the
 * least that so many thousandths of all values do not exceed; 0 if the
 * histogram is empty.  Returns PAI_OK or PAI_ENOMEM. */
int pai__histogram_at(const pai__histogram *t, const pai_alloc *alloc,
                      const uint32_t *thousandths, size_t n, int64_t *values);

int64_t pai__histogram_mean(const pai__histogram *t);

/* --- amounts over time --------------------------------------------------- */

/* Time is divided into bins, as in a report.  When there would be more bins
 * than a report has, the bins are merged in pairs. */

/* Current amounts; see pai__bin. */
typedef struct pai__series_levels {
  int64_t busy, up, fragmented, wanted, waiting, running;
} pai__series_levels;

typedef struct pai__series {
  pai__bin bins[PAI__BINS];
  pai_time begin, at; /* first moment, and time up to which it is counted */
  pai_time width;     /* of a bin; 0: it has not begun */
} pai__series;

void pai__series_begin(pai__series *s, pai_time at);

/* Counts the amounts `level` from s->at to `to`. */
void pai__series_pass(pai__series *s, pai_time to,
                      const pai__series_levels *level);

/* Returns the bin of s->at. */
static inline pai__bin *pai__series_bin(pai__series *s)
{
  return &s->bins[(s->at - s->begin) / s->width];
}

/* Returns the number of bins. */
size_t pai__series_count(const pai__series *s);

/* --- use of virtual clusters and users, compared with their shares ------- */

/* GPUs that belong to no virtual cluster are used first, and count as borrowed
 * from nobody.  What a virtual cluster uses beyond these and its own share is
 * borrowed from virtual clusters with idle shares, in proportion to the idle
 * GPUs, in whole GPUs.  So at any moment the sum of what is lent equals the
 * sum of what is borrowed. */

typedef struct pai__account_vc {
  int64_t own;                  /* GPUs of its share; -1: no share */
  int64_t used, lends, borrows; /* now */
  int64_t users;                /* users with jobs, now */
  pai_time since;               /* time up to which it is counted */
  int64_t time_used, time_lent, time_borrowed;
  int64_t each, rest; /* GPU time that each of its users was entitled to, and
                         the remainder of the division */
} pai__account_vc;

/* The jobs of one user in one virtual cluster. */
typedef struct pai__vc_use {
  uint32_t vc, user;
  uint32_t jobs; /* number of jobs, now */
  int64_t since; /* value of `each` when the user's first job came */
  int64_t entitled;
} pai__vc_use;

typedef struct pai__ledger {
  const pai_alloc *alloc; /* borrowed */
  pai__account_vc *vcs;
  uint32_t nvcs;
  int64_t unowned;
  bool dirty; /* `lends` and `borrows` must be computed anew */
  bool any;   /* a virtual cluster borrows */
  pai__flat users;
  pai__lookup index;
} pai__ledger;

/* Makes a ledger.  `own` is the share of each virtual cluster, `gpus` the GPUs
 * of the whole cluster.  Returns PAI_OK or PAI_ENOMEM; the ledger can be
 * disposed of in any case. */
int pai__ledger_init(pai__ledger *l, const pai_alloc *alloc,
                     const int64_t *own, uint32_t nvcs, int64_t gpus);
void pai__ledger_dispose(pai__ledger *l);

/* Adds to the GPUs that a virtual cluster uses; `gpus` may be negative. */
void pai__ledger_use(pai__ledger *l, uint32_t vc, int64_t gpus, pai_time now);

/* Counts a user's job that comes to a virtual cluster or leaves it.  *pair is
 * the number to pass when the job leaves.  Returns PAI_OK or PAI_ENOMEM. */
int pai__ledger_come(pai__ledger *l, uint32_t vc, uint32_t user, pai_time now,
                     uint32_t *pair);
void pai__ledger_leave(pai__ledger *l, uint32_t pair, pai_time now);

/* Computes `lends` and `borrows`.  Call it before time advances. */
void pai__ledger_settle(pai__ledger *l, pai_time now);

/* Returns the account of a virtual cluster, counted up to `now`. */
pai__account_vc pai__ledger_vc(const pai__ledger *l, uint32_t vc,
                               pai_time now);
static inline const pai__vc_use *pai__ledger_pair(const pai__ledger *l,
                                                  uint32_t pair)
{
  return (const pai__vc_use *)l->users.data + pair;
}

/* Returns pair i of users.len, counted up to `now`. */
pai__vc_use pai__ledger_user(const pai__ledger *l, uint32_t i, pai_time now);

/* --- bars of the chart of placements, of the first runs ------------------ */

typedef struct pai__bars {
  pai__bar *list;
  size_t len, cap;
  uint32_t most, promised; /* limit; reserved, one for each task */
  bool cut;                /* runs were left out */
} pai__bars;

void pai__bars_dispose(pai__bars *b, const pai_alloc *alloc);

/* Returns whether a run of `tasks` tasks gets bars, and reserves them. */
bool pai__bars_want(pai__bars *b, uint32_t tasks);

/* Adds a bar for each node of a run; the other members are copied from `like`.
 * Returns PAI_OK or PAI_ENOMEM. */
int pai__bars_add(pai__bars *b, const pai_alloc *alloc,
                  const pai__run_info *run, const pai__bar *like);

/* Sorts bars by time, job and node. */
void pai__bars_sort(pai__bar *list, size_t n);

#endif
