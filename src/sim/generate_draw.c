/* generate_draw.c - numbers after given distributions, by integers alone */
#include "sim/generate.h"

enum { LOG_BITS = 20, UNIT = 4000 };

/* --- curves ---------------------------------------------------------------- */

static uint64_t square_root(uint64_t n)
{
  uint64_t root = 0;

  for (uint64_t bit = UINT64_C(1) << 62; bit != 0; bit >>= 2)
    if (n >= root + bit) {
      n -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  return root;
}

/* Values grow from quantile to quantile by equal factors: the middle of two is
 * their geometric mean. */
static void fill_between(pai__curve *c, size_t from, size_t to)
{
  size_t mid = from + (to - from) / 2;

  if (mid == from)
    return;
  /* in units so large that the product of two months fits */
  c->us[mid] = UNIT * square_root((c->us[from] / UNIT) * (c->us[to] / UNIT));
  c->position[mid] = c->position[from] / 2 + c->position[to] / 2;
  fill_between(c, from, mid);
  fill_between(c, mid, to);
}

void pai__curve_make(pai__curve *c, const pai__quantile *q, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    size_t at = i * PAI__CURVE_STEPS;

    c->position[at] = (uint32_t)((uint64_t)q[i].position * UINT32_MAX / 10000);
    c->us[at] = (uint64_t)q[i].seconds * 1000000;
    if (i > 0)
      fill_between(c, at - PAI__CURVE_STEPS, at);
  }
  c->count = (count - 1) * PAI__CURVE_STEPS + 1;
}

uint64_t pai__curve_at(const pai__curve *c, uint32_t position)
{
  size_t low = 0, high = c->count - 1;
  uint64_t here, width, rise;

  while (high - low > 1) {
    size_t mid = (low + high) / 2;

    if (c->position[mid] <= position)
      low = mid;
    else
      high = mid;
  }
  here = position - c->position[low];
  width = c->position[high] - c->position[low];
  rise = (c->us[high] - c->us[low]) / 1000;
  return c->us[low] + rise * here / width * 1000;
}

/* --- the exponential distribution ------------------------------------------- */

/* The logarithm to base 2 of x > 0, in 2^-20: by squaring, bit by bit. */
static uint64_t log_2(uint64_t x)
{
  uint64_t whole = 63, part = 0, m;

  for (unsigned step = 32; step != 0; step >>= 1)
    if (x >> (64 - step) == 0) {
      x <<= step;
      whole -= step;
    }
  m = x >> 32;
  for (unsigned i = 0; i < LOG_BITS; i++) {
    m = (m * m) >> 31;
    part <<= 1;
    if (m >> 32 != 0) {
      m >>= 1;
      part |= 1;
    }
  }
  return whole << LOG_BITS | part;
}

uint64_t pai__draw_exponential(pai__prng *r)
{
  static const uint64_t ln_2 = 0xb17217f8; /* of 2^32 */
  uint64_t x = pai__prng_next(r) | 1;

  return ((((uint64_t)64 << LOG_BITS) - log_2(x)) * ln_2) >> 32;
}

uint64_t pai__draw_gap(pai__prng *r, uint64_t mean)
{
  uint64_t e = pai__draw_exponential(r);
  uint64_t whole = e >> LOG_BITS, part = (e >> 4) & 0xffff;

  if (mean >> 47 != 0)
    return mean * whole + (mean >> 16) * part;
  return mean * whole + ((mean * part) >> 16);
}

size_t pai__find_share(const uint32_t *sums, size_t count, uint32_t number)
{
  size_t low = 0, high = count - 1;

  while (low < high) {
    size_t mid = (low + high) / 2;

    if (number < sums[mid])
      high = mid;
    else
      low = mid + 1;
  }
  return low;
}
