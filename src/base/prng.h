/*
 * prng.h - deterministic pseudo-random numbers (SplitMix64)
 *
 * The same seed gives the same numbers on every machine.  Never for secrets.
 */
#ifndef PAI_SRC_BASE_PRNG_H
#define PAI_SRC_BASE_PRNG_H

#include <stdint.h>

typedef struct pai__prng {
  uint64_t state; /* any value is a seed */
} pai__prng;

uint64_t pai__prng_next(pai__prng *r);
/* Returns a uniform number in [0, n), without bias; n > 0. */
uint64_t pai__prng_below(pai__prng *r, uint64_t n);

#endif
