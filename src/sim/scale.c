/* scale.c - 128-bit products and random draws, in integers */
#include "sim/scale.h"

pai__wide pai__wide_product(uint64_t a, uint64_t b)
{
  uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX,
           b1 = b >> 32;
  uint64_t low = a0 * b0, one = a1 * b0, other = a0 * b1;
  uint64_t middle = (low >> 32) + (one & UINT32_MAX) + (other & UINT32_MAX);

  return (pai__wide){ a1 * b1 + (one >> 32) + (other >> 32) + (middle >> 32),
                      middle << 32 | (low & UINT32_MAX) };
}

uint64_t pai__wide_quotient(pai__wide w, uint64_t d)
{
  uint64_t rest = w.high, low = w.low;

  if (rest >= d)
    return UINT64_MAX;
  if (rest == 0)
    return low / d;
  for (int i = 0; i < 64; i++) { /* long division */
    uint64_t carry = rest >> 63;

    rest = rest << 1 | low >> 63;
    low <<= 1;
    if (carry != 0 || rest >= d) {
      rest -= d;
      low |= 1;
    }
  }
  return low;
}

int64_t pai__scale(int64_t v, uint64_t num, uint64_t den)
{
  uint64_t q;

  if (v <= 0)
    return 0;
  if (v < INT64_C(1) << 42 && num < 1 << 21 && den != 0)
    return (int64_t)((uint64_t)v * num / den);
  q = pai__wide_quotient(pai__wide_product((uint64_t)v, num), den);
  return q > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)q;
}

int64_t pai__portion(int64_t part, int64_t by, int64_t whole)
{
  uint64_t size = part < 0 ? 0 - (uint64_t)part : (uint64_t)part, q;
  pai__wide w;

  if (whole <= 0 || by <= 0)
    return 0;
  w = pai__wide_product(size, (uint64_t)by);
  pai__wide_add(&w, (uint64_t)whole / 2);
  q = pai__wide_quotient(w, (uint64_t)whole);
  if (q > (uint64_t)INT64_MAX)
    q = INT64_MAX;
  return part < 0 ? -(int64_t)q : (int64_t)q;
}

/* --- draws --------------------------------------------------------------- */

enum { LOG_BITS = 20, BITS = 16 }; /* fraction bits: logarithms, draws */

pai__prng pai__draw(uint64_t seed, int kind, uint64_t id)
{
  pai__prng r = { seed };

  r.state = pai__prng_next(&r) ^ (uint64_t)kind << 56;
  r.state = pai__prng_next(&r) ^ id;
  return r;
}

pai__prng pai__draw_again(uint64_t seed, int kind, uint64_t id, uint32_t times)
{
  pai__prng r = pai__draw(seed, kind, id);

  r.state ^= (uint64_t)times << 40;
  return r;
}

/* Returns the logarithm to base 2 of x > 0, in units of 2^-20, bit by bit by
 * squaring. */
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
  static const uint64_t ln_2 = 0xb17217f8; /* ln 2 in units of 2^-32 */
  uint64_t x = pai__prng_next(r) | 1;

  return ((((uint64_t)64 << LOG_BITS) - log_2(x)) * ln_2) >> 32;
}

pai_time pai__draw_time(pai__prng *prng, pai_time mean)
{
  uint64_t e = pai__draw_exponential(prng);
  int64_t t = pai__scale(mean, e >> (LOG_BITS - BITS), 1 << BITS);

  return t > 0 ? t : 1;
}
