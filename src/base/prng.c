/* prng.c - SplitMix64 */
#include "base/prng.h"

uint64_t pai__prng_next(pai__prng *r)
{
  uint64_t z = r->state += 0x9e3779b97f4a7c15u;

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t pai__prng_below(pai__prng *r, uint64_t n)
{
  uint64_t bias = (0 - n) % n; /* 2^64 mod n: draws below it are discarded */
  uint64_t x;

  do
    x = pai__prng_next(r);
  while (x < bias);
  return x % n;
}
