/*
 * tally.h - internal: how often which value came, and so its percentiles
 *
 * As long as there are not too many values, exactly; then of each value only
 * its leading bits count, ten of them at least: a part in 512.
 *
 * Open addressing in as few bytes as may be: there are two tallies of each
 * user.
 */
#ifndef PAI_SRC_SIM_TALLY_H
#define PAI_SRC_SIM_TALLY_H

#include "sim/scale.h"

typedef struct pai__tally {
  uint64_t *keys;   /* value + 1; 0: empty */
  uint32_t *counts; /* in the same block: how often; below 2^32 */
  uint32_t nslots;
  uint32_t live;
  uint32_t most;            /* values, before bits go */
  uint32_t bits;            /* of each value that count; 64: all */
  uint64_t common, ncommon; /* the value that comes most, apart */
  uint64_t count;
  pai__wide sum;
  int64_t least, greatest;
} pai__tally;

/* `common` may come often and costs nothing. */
void pai__tally_init(pai__tally *t, uint32_t most, uint64_t common);
void pai__tally_dispose(pai__tally *t, const pai_alloc *alloc);

/* One more; a negative value counts as 0.  PAI_OK or PAI_ENOMEM. */
int pai__tally_add(pai__tally *t, const pai_alloc *alloc, int64_t value);

/* Of n thousandths, ascending: the value that so many of all are not above.
 * Nothing was counted: 0.  PAI_OK or PAI_ENOMEM. */
int pai__tally_at(const pai__tally *t, const pai_alloc *alloc,
                  const uint32_t *thousandths, size_t n, int64_t *values);

int64_t pai__tally_mean(const pai__tally *t);

#endif
