/*
 * scale.h - internal: 128-bit products, saturating sums and products, and
 * random draws
 *
 * All arithmetic is on integers, so the results are the same on any machine.
 */
#ifndef PAI_SRC_SIM_SCALE_H
#define PAI_SRC_SIM_SCALE_H

#include "base/base.h"
#include "base/prng.h"

/* A 128-bit number. */
typedef struct pai__wide {
  uint64_t high, low;
} pai__wide;

static inline void pai__wide_add(pai__wide *w, uint64_t v)
{
  w->low += v;
  w->high += w->low < v;
}

pai__wide pai__wide_product(uint64_t a, uint64_t b);
/* Returns w / d, rounded down; UINT64_MAX if it does not fit, and for d =
 * 0. */
uint64_t pai__wide_quotient(pai__wide w, uint64_t d);

/* Returns v * num / den, rounded down; INT64_MAX if it does not fit. */
int64_t pai__scale(int64_t v, uint64_t num, uint64_t den);
/* Returns part * by / whole, rounded to the nearest and saturated; 0 if `by`
 * or `whole` is not positive. */
int64_t pai__portion(int64_t part, int64_t by, int64_t whole);

/* Neither argument may be negative. */
static inline int64_t pai__sum(int64_t a, int64_t b)
{
  return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static inline int64_t pai__times(int64_t a, int64_t b)
{
  if (a < INT64_C(1) << 20 && b < INT64_C(1) << 43)
    return a * b; /* fast path: some GPUs for a hundred days */
  return b != 0 && a > INT64_MAX / b ? INT64_MAX : a * b;
}

/* --- random draws -------------------------------------------------------- */

/* Each thing that is drawn has its own generator, made from the seed and the
 * thing's id.  So a job takes the same time under every policy. */

/* Kinds of draws.  Never renumber them: the same seed must give the same
 * bytes. */
enum {
  PAI__DRAW_NODE = 1,
  PAI__DRAW_PATIENCE = 2,
  PAI__DRAW_SPREAD = 3,
  PAI__DRAW_FAIL = 4,
  PAI__DRAW_LIFE = 5
};

/* Returns the generator of thing `id` of a kind. */
pai__prng pai__draw(uint64_t seed, int kind, uint64_t id);

/* Draws from an exponential distribution with mean 1, in units of 2^-20. */
uint64_t pai__draw_exponential(pai__prng *r);

/* Draws from an exponential distribution with the given mean, in its unit; at
 * least 1 and at most INT64_MAX. */
pai_time pai__draw_time(pai__prng *prng, pai_time mean);

/* Returns the generator of the event number `times` of a thing, without state
 * between the events. */
pai__prng pai__draw_again(uint64_t seed, int kind, uint64_t id,
                          uint32_t times);

#endif
