/*
 * bits.h - sets of small numbers as words of 64 bits, and as texts
 *
 * Number i is bit i % 64 of word i / 64.  Pure, and without memory of its own:
 * words belong to the caller.
 */
#ifndef PAI_SRC_RESOURCE_BITS_H
#define PAI_SRC_RESOURCE_BITS_H

#include "base/buf.h"

#define PAI__BITS_WORDS(numbers) (((numbers) + 63) / 64)

/* Ones in a word: the one place that counts them.  GCC and Clang know this form
 * and make it one instruction where the target has it (Clang from -O3 on);
 * where not, loops of it are faster than __builtin_popcountll(), a call. */
static inline uint32_t pai__bits_ones(uint64_t x)
{
  x -= x >> 1 & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
  x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return (uint32_t)(x * 0x0101010101010101u >> 56);
}

/* The n lowest ones of a word, or all if there are fewer. */
static inline uint64_t pai__bits_lowest(uint64_t x, uint32_t n)
{
  uint64_t lowest = 0;

  for (; n > 0 && x != 0; n--, x &= x - 1)
    lowest |= x & -x;
  return lowest;
}

/* Ones from `first` to `last` within a word, both included. */
static inline uint64_t pai__bits_mask(uint32_t first, uint32_t last)
{
  return UINT64_MAX << first & UINT64_MAX >> (63 - last);
}

/* Words without those at the end that are 0. */
static inline size_t pai__bits_trim(const uint64_t *words, size_t n)
{
  while (n > 0 && words[n - 1] == 0)
    n--;
  return n;
}

uint32_t pai__bits_count(const uint64_t *words, size_t n);
bool pai__bits_has(const uint64_t *words, size_t n, uint32_t number);
/* Sets first to last; there must be words for them. */
void pai__bits_set(uint64_t *words, uint32_t first, uint32_t last);
/* The longest run of ones that begins at or behind `from`, or false. */
bool pai__bits_run(const uint64_t *words, size_t n, uint32_t from,
                   uint32_t *first, uint32_t *last);

/* --- texts -------------------------------------------------------------- */

/* Why a text cannot be read. */
typedef struct pai__bits_fault {
  size_t at;        /* the byte */
  const char *what; /* "a number is missing" */
} pai__bits_fault;

/* "0-3,8"; nothing for the empty set. */
void pai__bits_write_list(pai__buf *out, const uint64_t *words, size_t n);
/* Adds "0-3" or "8", a comma before it if it is not the first of a list. */
void pai__bits_write_run(pai__buf *out, bool comma, uint32_t first,
                         uint32_t last);
/* "ff", as taskset has it; "0" for the empty set. */
void pai__bits_write_mask(pai__buf *out, const uint64_t *words, size_t n);
/* "0x000000ff,0xffffffff", as hwloc has it; "0x0" for the empty set. */
void pai__bits_write_hwloc(pai__buf *out, const uint64_t *words, size_t n);

/* All read a whole text into words for `limit` numbers, a multiple of 64, of
 * which the first *n are then used; all words must be 0 before, also again
 * after a failure.  PAI_OK; PAI_EINVAL, or PAI_ELIMIT for a number that is not
 * below the limit, and *fault says where and why. */

/* A list as written above; in any order, numbers may be repeated. */
int pai__bits_read_list(uint64_t *words, size_t *n, uint32_t limit,
                        const char *s, size_t len, pai__bits_fault *fault);
/* A mask of either form above, with or without 0x; between commas at most
 * eight digits, none stand for 0. */
int pai__bits_read_mask(uint64_t *words, size_t *n, uint32_t limit,
                        const char *s, size_t len, pai__bits_fault *fault);

#endif
