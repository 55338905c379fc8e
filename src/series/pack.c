/*
 * pack.c - values as 16 bits: 11 bits of mantissa, 5 bits of exponent
 *
 * Up to 2047 a value is exact, then it is rounded to 12 significant bits.  The
 * largest is 4.4e12; what is more is stored as that.
 */
#include "series/series.h"

enum { BITS = 11, ONE = 1 << BITS, UNKNOWN = 0xffff };

uint16_t pai__series_pack(int64_t value)
{
  uint64_t v = (uint64_t)value;
  uint32_t exponent = 0;

  if (value < 0)
    return UNKNOWN;
  if (v < ONE)
    return (uint16_t)v;
  while (v >> exponent >= 2 * ONE)
    exponent++;
  if (exponent > 0)
    v += UINT64_C(1) << (exponent - 1);
  if (v >> exponent >= 2 * ONE)
    exponent++;
  if (exponent > 30)
    return UNKNOWN - 1;
  v = (uint64_t)(exponent + 1) << BITS | ((v >> exponent) - ONE);
  return v < UNKNOWN ? (uint16_t)v : UNKNOWN - 1;
}

int64_t pai__series_unpack(uint16_t packed)
{
  uint32_t exponent = packed >> BITS;
  int64_t mantissa = packed & (ONE - 1);

  if (packed == UNKNOWN)
    return -1;
  return exponent == 0 ? mantissa : (ONE + mantissa) << (exponent - 1);
}
