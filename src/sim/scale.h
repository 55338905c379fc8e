/*
 * scale.h - internal: products that do not fit into 64 bits, and sums that
 * stop at the greatest number instead of becoming nonsense
 *
 * Nobody here uses floating point: the same numbers come out on any machine.
 */
#ifndef PAI_SRC_SIM_SCALE_H
#define PAI_SRC_SIM_SCALE_H

#include "base/base.h"

/* 128 bits. */
typedef struct pai__wide {
  uint64_t high, low;
} pai__wide;

static inline void pai__wide_add(pai__wide *w, uint64_t v)
{
  w->low += v;
  w->high += w->low < v;
}

pai__wide pai__wide_product(uint64_t a, uint64_t b);
/* Rounded down; UINT64_MAX where more comes out, and for d = 0. */
uint64_t pai__wide_quotient(pai__wide w, uint64_t d);

/* v * num / den, rounded down; INT64_MAX where more comes out. */
int64_t pai__scale(int64_t v, uint64_t num, uint64_t den);

/* Neither is negative. */
static inline int64_t pai__sum(int64_t a, int64_t b)
{
  return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static inline int64_t pai__times(int64_t a, int64_t b)
{
  if (a < INT64_C(1) << 20 && b < INT64_C(1) << 43)
    return a * b; /* some GPUs, for a hundred days */
  return b != 0 && a > INT64_MAX / b ? INT64_MAX : a * b;
}

#endif
