/*
 * distribution.c - exponential times, by a table
 *
 * A number from 0 to 1 is a half to the power of its leading zeros, times one
 * from a half to 1: so its logarithm is theirs, of which the second stands in
 * a table.
 */
#include "sim/distribution.h"

#include "sim/scale.h"

/* -ln(1/2 + i/128), times 2^32. */
static const uint32_t logs[65] = {
  2977044472, 2910454498, 2844881204, 2780294013, 2716663704, 2653962338,
  2592163181, 2531240638, 2471170186, 2411928318, 2353492488, 2295841054,
  2238953239, 2182809076, 2127389374, 2072675675, 2018650217, 1965295899,
  1912596253, 1860535406, 1809098057, 1758269449, 1708035340, 1658381986,
  1609296111, 1560764891, 1512775930, 1465317245, 1418377245, 1371944714,
  1326008797, 1280558983, 1235585093, 1191077261, 1147025929, 1103421825,
  1060255961, 1017519616, 975204325,  933301872,  891804281,  850703802,
  809992907,  769664279,  729710807,  690125574,  650901856,  612033109,
  573512964,  535335226,  497493860,  459982990,  422796893,  385929995,
  349376861,  313132196,  277190838,  241547751,  206198026,  171136874,
  136359621,  101861706,  67638678,   33686191,   0,
};

#define LN2 UINT64_C(2977044472) /* times 2^32 */

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

/* Of a number from 0 to 1 in the upper bits of x: its negative logarithm,
 * times 2^32.  x is not 0. */
static uint64_t minus_log(uint64_t x)
{
  uint64_t log = 0, part;
  uint32_t i;

  while ((x >> 63) == 0) {
    x <<= 1;
    log += LN2;
  }
  i = (uint32_t)(x >> 57) & 63;
  part = x >> 25 & UINT32_MAX; /* of the way to the next entry */
  return log + logs[i] - ((logs[i] - (uint64_t)logs[i + 1]) * part >> 32);
}

pai_time pai__draw_time(pai__prng *prng, pai_time mean)
{
  uint64_t log = minus_log(pai__prng_next(prng) | 1);
  int64_t t = pai__scale(mean, log, UINT64_C(1) << 32);

  return t > 0 ? t : 1;
}
