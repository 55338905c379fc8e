/* generate_draw.c - numbers after given distributions, by integers alone */
#include "sim/generate.h"

enum { UNIT = 4000 };

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

/* --- shares ------------------------------------------------------------------ */

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
