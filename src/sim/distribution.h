/*
 * distribution.h - internal: what is drawn
 *
 * Of each thing that is drawn comes a generator of its own, made of the seed
 * and of what it is: so a job takes as long under one policy as under another.
 */
#ifndef PAI_SRC_SIM_DISTRIBUTION_H
#define PAI_SRC_SIM_DISTRIBUTION_H

#include "base/base.h"
#include "base/prng.h"

/* Of what: never renumbered, for the same seed gives the same bytes. */
enum {
  PAI__DRAW_NODE = 1,
  PAI__DRAW_PATIENCE = 2,
  PAI__DRAW_SPREAD = 3,
  PAI__DRAW_FAIL = 4,
  PAI__DRAW_LIFE = 5
};

/* The generator of thing `id` of a kind. */
pai__prng pai__draw(uint64_t seed, int kind, uint64_t id);

/* Of an exponential distribution with mean 1, in 2^-20. */
uint64_t pai__draw_exponential(pai__prng *r);

/* That, times a mean of whatever unit; at least 1 and at most INT64_MAX. */
pai_time pai__draw_time(pai__prng *prng, pai_time mean);

/* The same of a thing that has happened `times` times before, which need not
 * be remembered. */
pai__prng pai__draw_again(uint64_t seed, int kind, uint64_t id,
                          uint32_t times);

#endif
