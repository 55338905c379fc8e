/* md5.c - MD5 (RFC 1321) */
#include "base/text/md5.h"

#include "base/text/encode.h"

/* 2^32 * |sin(i + 1)|. */
static const uint32_t sines[64] = {
  0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a,
  0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be,
  0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340,
  0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
  0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8,
  0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c,
  0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
  0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
  0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92,
  0xffeff47d, 0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1,
  0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391
};

static uint32_t turn(uint32_t x, unsigned n)
{
  return x << n | x >> (32 - n);
}

/* One step of the round; the result becomes the next step's y. */
#define STEP(f, x, y, word, sine, n) \
  ((x) = (y) + turn((x) + (f) + words[word] + sines[sine], n))

/* Does the sixty-four steps for one block, four on a line as in the RFC. */
static void mix(uint32_t state[4], const uint8_t *block)
{
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3], words[16];

  for (int i = 0; i < 16; i++, block += 4)
    words[i] = block[0] | (uint32_t)block[1] << 8 | (uint32_t)block[2] << 16 |
               (uint32_t)block[3] << 24;
  for (unsigned i = 0; i < 16; i += 4) {
    STEP((b & c) | (~b & d), a, b, i, i, 7);
    STEP((a & b) | (~a & c), d, a, i + 1, i + 1, 12);
    STEP((d & a) | (~d & b), c, d, i + 2, i + 2, 17);
    STEP((c & d) | (~c & a), b, c, i + 3, i + 3, 22);
  }
  for (unsigned i = 0; i < 16; i += 4) {
    STEP((d & b) | (~d & c), a, b, (5 * i + 1) % 16, 16 + i, 5);
    STEP((c & a) | (~c & b), d, a, (5 * i + 6) % 16, 17 + i, 9);
    STEP((b & d) | (~b & a), c, d, (5 * i + 11) % 16, 18 + i, 14);
    STEP((a & c) | (~a & d), b, c, 5 * i % 16, 19 + i, 20);
  }
  for (unsigned i = 0; i < 16; i += 4) {
    STEP(b ^ c ^ d, a, b, (3 * i + 5) % 16, 32 + i, 4);
    STEP(a ^ b ^ c, d, a, (3 * i + 8) % 16, 33 + i, 11);
    STEP(d ^ a ^ b, c, d, (3 * i + 11) % 16, 34 + i, 16);
    STEP(c ^ d ^ a, b, c, (3 * i + 14) % 16, 35 + i, 23);
  }
  for (unsigned i = 0; i < 16; i += 4) {
    STEP(c ^ (b | ~d), a, b, 7 * i % 16, 48 + i, 6);
    STEP(b ^ (a | ~c), d, a, (7 * i + 7) % 16, 49 + i, 10);
    STEP(a ^ (d | ~b), c, d, (7 * i + 14) % 16, 50 + i, 15);
    STEP(d ^ (c | ~a), b, c, (7 * i + 5) % 16, 51 + i, 21);
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}
#undef STEP

static void md5(uint8_t out[16], const void *bytes, size_t len)
{
  uint32_t state[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
  const uint8_t *p = bytes;
  uint8_t last[128] = { 0 };
  size_t left = len, size;

  for (; left >= 64; left -= 64, p += 64)
    mix(state, p);
  if (left > 0)
    memcpy(last, p, left);
  last[left] = 0x80;
  size = left < 56 ? 64 : 128;
  for (int i = 0; i < 8; i++)
    last[size - 8 + (size_t)i] = (uint8_t)((uint64_t)len << 3 >> (8 * i));
  for (size_t i = 0; i < size; i += 64)
    mix(state, last + i);
  for (int i = 0; i < 16; i++)
    out[i] = (uint8_t)(state[i / 4] >> (8 * (i % 4)));
}

const char *pai__md5_hex(char out[PAI__MD5_HEX], const void *bytes, size_t len)
{
  uint8_t sum[16];

  md5(sum, bytes, len);
  pai__put_hex(out, sum, sizeof(sum));
  return out;
}
