/* scale.c - products that do not fit into 64 bits, by hand */
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
  for (int i = 0; i < 64; i++) { /* as with pencil and paper */
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
