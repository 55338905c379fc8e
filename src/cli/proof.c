/*
 * proof.c - that a code is this program's (PKCE, RFC 7636)
 *
 * The secret has 43 characters, so that one block of SHA-256 is all there is
 * to hash.
 */
#include "browser.h"

#include <stdint.h>
#include <string.h>

static const char digits[] =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* --- SHA-256 (FIPS 180-4) of a short text ------------------------------------------ */

enum { BLOCK = 64, MOST = 55 };

/* Of the cube roots of the first primes. */
static const uint32_t roots[BLOCK] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
  0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
  0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
  0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
  0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
  0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static uint32_t turn(uint32_t x, unsigned n)
{
  return x >> n | x << (32 - n);
}

/* The message and what is made of it. */
static void spread(uint32_t w[BLOCK], const char *text)
{
  unsigned char block[BLOCK] = { 0 };
  size_t len = strlen(text);

  len = len > MOST ? MOST : len;
  memcpy(block, text, len);
  block[len] = 0x80;
  block[BLOCK - 2] = (unsigned char)(len >> 5); /* in bits */
  block[BLOCK - 1] = (unsigned char)(len << 3);
  for (size_t i = 0; i < 16; i++)
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
           (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
  for (size_t i = 16; i < BLOCK; i++)
    w[i] = w[i - 16] + w[i - 7] +
           (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) +
           (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
}

static void hash(unsigned char out[CLI_SECRET], const char *text)
{
  /* Of the square roots of the first primes. */
  static const uint32_t first[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                     0xa54ff53a, 0x510e527f, 0x9b05688c,
                                     0x1f83d9ab, 0x5be0cd19 };
  uint32_t w[BLOCK], s[8];

  spread(w, text);
  memcpy(s, first, sizeof(s));
  for (size_t i = 0; i < BLOCK; i++) {
    uint32_t a = s[0], e = s[4];
    uint32_t more = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                    ((e & s[5]) ^ (~e & s[6])) + roots[i] + w[i];
    uint32_t most = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
                    ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof(*s));
    s[4] += more;
    s[0] = more + most;
  }
  for (size_t i = 0; i < CLI_SECRET; i++)
    out[i] = (unsigned char)((s[i / 4] + first[i / 4]) >> (24 - 8 * (i % 4)));
}

/* --- texts ------------------------------------------------------------------------------ */

void cli_secret_text(char out[CLI_PROOF],
                     const unsigned char bytes[CLI_SECRET])
{
  size_t n = 0;

  for (size_t bit = 0; bit < CLI_SECRET * 8; bit += 6) {
    unsigned next = bit / 8 + 1 < CLI_SECRET ? bytes[bit / 8 + 1] : 0;
    unsigned two = (unsigned)bytes[bit / 8] << 8 | next;
    out[n++] = digits[two >> (10 - bit % 8) & 63];
  }
  out[n] = '\0';
}

void cli_challenge(char out[CLI_PROOF], const char *verifier)
{
  unsigned char bytes[CLI_SECRET];

  hash(bytes, verifier);
  cli_secret_text(out, bytes);
}

/* As the server does it (oidc_code.c). */
void cli_challenge_words(char out[CLI_WORDS], const char *challenge)
{
  static const char letters[] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

  for (size_t i = 0; i + 1 < CLI_WORDS; i++) {
    const unsigned char *c =
      (const unsigned char *)challenge + 4 * (i > 4 ? i - 1 : i);
    out[i] = '-';
    if (i != 4)
      out[i] = letters[(c[0] + 3U * c[1] + 5U * c[2]) & 31];
  }
  out[CLI_WORDS - 1] = '\0';
}
