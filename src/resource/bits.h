/*
 * bits.h - bit sets of small numbers: 64-bit words, and text forms
 *
 * Number i is bit i % 64 of word i / 64.  Pure, and allocates nothing: the
 * words belong to the caller.
 */
#ifndef PAI_SRC_RESOURCE_BITS_H
#define PAI_SRC_RESOURCE_BITS_H

#include "base/buf.h"

#define PAI__BITS_WORDS(numbers) (((numbers) + 63) / 64)

/* Returns the number of ones in a word.  GCC and Clang recognise this form and
 * make it one instruction where the target has one (Clang from -O3 on);
 * elsewhere, loops of it are faster than a call of __builtin_popcountll(). */
static inline uint32_t pai__bits_ones(uint64_t x)
{
  x -= x >> 1 & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
  x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return (uint32_t)(x * 0x0101010101010101u >> 56);
}

/* Returns the n lowest ones of a word, or all of them if there are fewer. */
static inline uint64_t pai__bits_lowest(uint64_t x, uint32_t n)
{
  uint64_t lowest = 0;

  for (; n > 0 && x != 0; n--, x &= x - 1)
    lowest |= x & -x;
  return lowest;
}

/* Returns a word with the bits `first` to `last` set, both included. */
static inline uint64_t pai__bits_mask(uint32_t first, uint32_t last)
{
  return UINT64_MAX << first & UINT64_MAX >> (63 - last);
}

/* Returns the number of words without trailing zero words. */
static inline size_t pai__bits_trim(const uint64_t *words, size_t n)
{
  while (n > 0 && words[n - 1] == 0)
    n--;
  return n;
}

uint32_t pai__bits_count(const uint64_t *words, size_t n);
bool pai__bits_has(const uint64_t *words, size_t n, uint32_t number);
/* Sets the bits first to last; the words must exist. */
void pai__bits_set(uint64_t *words, uint32_t first, uint32_t last);
/* Finds the first run of consecutive ones at or after `from`.  Returns false
 * if there is none. */
bool pai__bits_run(const uint64_t *words, size_t n, uint32_t from,
                   uint32_t *first, uint32_t *last);

/* --- texts -------------------------------------------------------------- */

/* Why a text cannot be parsed. */
typedef struct pai__bits_fault {
  size_t at;        /* byte offset */
  const char *what; /* "a number is missing" */
} pai__bits_fault;

/* Writes "0-3,8"; writes nothing for the empty set. */
void pai__bits_write_list(pai__buf *out, const uint64_t *words, size_t n);
/* Appends "0-3" or "8", after a comma if `comma` is set. */
void pai__bits_write_run(pai__buf *out, bool comma, uint32_t first,
                         uint32_t last);
/* Writes "ff", the form of taskset; "0" for the empty set. */
void pai__bits_write_mask(pai__buf *out, const uint64_t *words, size_t n);
/* Writes "0x000000ff,0xffffffff", the form of hwloc; "0x0" for the empty
 * set. */
void pai__bits_write_hwloc(pai__buf *out, const uint64_t *words, size_t n);

/* Reads a list as pai__bits_write_list() writes it, but numbers may be in any
 * order and repeated, into words for `limit` numbers, a multiple of 64; sets
 * *n to the number of words in use.  All words must be 0 before the call, also
 * before a call after a failure.  Returns PAI_OK, PAI_EINVAL, or PAI_ELIMIT
 * for a number that is not below the limit; *fault then says where and why. */
int pai__bits_read_list(uint64_t *words, size_t *n, uint32_t limit,
                        const char *s, size_t len, pai__bits_fault *fault);

#endif
