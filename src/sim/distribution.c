/* distribution.c - what is drawn, by integers alone */
#include "sim/distribution.h"

#include "sim/scale.h"

enum {
  LOG_BITS = 20,
  BITS = 16
}; /* behind the point: of logarithms, and
                                      of what is drawn */

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

pai_time pai__draw_time(pai__prng *prng, pai_time mean)
{
  uint64_t e = pai__draw_exponential(prng);
  int64_t t = pai__scale(mean, e >> (LOG_BITS - BITS), 1 << BITS);

  return t > 0 ? t : 1;
}
