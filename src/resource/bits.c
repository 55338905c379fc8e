/* bits.c - bit sets: count, find runs, read and write as text */
#include "resource/bits.h"

uint32_t pai__bits_count(const uint64_t *words, size_t n)
{
  uint32_t ones = 0;

  for (size_t i = 0; i < n; i++)
    ones += pai__bits_ones(words[i]);
  return ones;
}

bool pai__bits_has(const uint64_t *words, size_t n, uint32_t number)
{
  return number / 64 < n && (words[number / 64] >> number % 64 & 1) != 0;
}

void pai__bits_set(uint64_t *words, uint32_t first, uint32_t last)
{
  for (uint32_t i = first / 64; i <= last / 64; i++)
    words[i] |= pai__bits_mask(i == first / 64 ? first % 64 : 0,
                               i == last / 64 ? last % 64 : 63);
}

/* Returns the first number at or after `from` whose bit is 1 if `flip` is 0,
 * or 0 if `flip` is all ones; or 64 * n. */
static uint32_t find(const uint64_t *words, size_t n, uint32_t from,
                     uint64_t flip)
{
  size_t i = from / 64;
  uint64_t left;

  if (i >= n)
    return (uint32_t)n * 64;
  left = (words[i] ^ flip) & UINT64_MAX << from % 64;
  while (left == 0) {
    if (++i == n)
      return (uint32_t)n * 64;
    left = words[i] ^ flip;
  }
  /* Count the bits below the lowest one. */
  return (uint32_t)i * 64 + pai__bits_ones(~left & (left - 1));
}

bool pai__bits_run(const uint64_t *words, size_t n, uint32_t from,
                   uint32_t *first, uint32_t *last)
{
  uint32_t start = find(words, n, from, 0);

  if (start >= n * 64)
    return false;
  *first = start;
  *last = find(words, n, start, UINT64_MAX) - 1;
  return true;
}

/* --- writing ------------------------------------------------------------ */

void pai__bits_write_run(pai__buf *out, bool comma, uint32_t first,
                         uint32_t last)
{
  char text[24], *s = text + sizeof(text);
  uint32_t v = last;

  /* Write from the end: a set has many of these, and printf is slow. */
  for (int i = 0; i < (first == last ? 1 : 2); i++, v = first) {
    if (i == 1)
      *--s = '-';
    do
      *--s = (char)('0' + v % 10);
    while ((v /= 10) != 0);
  }
  if (comma)
    *--s = ',';
  pai__buf_add(out, s, (size_t)(text + sizeof(text) - s));
}

void pai__bits_write_list(pai__buf *out, const uint64_t *words, size_t n)
{
  uint32_t first, last = 0;

  for (bool comma = false;
       pai__bits_run(words, n, comma ? last + 1 : 0, &first, &last);
       comma = true)
    pai__bits_write_run(out, comma, first, last);
}

void pai__bits_write_mask(pai__buf *out, const uint64_t *words, size_t n)
{
  bool begun = false;

  for (size_t i = 16 * n; i > 0; i--) {
    unsigned digit = (unsigned)(words[(i - 1) / 16] >> (i - 1) % 16 * 4) & 15u;

    begun = begun || digit != 0 || i == 1;
    if (begun)
      pai__buf_char(out, "0123456789abcdef"[digit]);
  }
  if (n == 0)
    pai__buf_char(out, '0');
}

void pai__bits_write_hwloc(pai__buf *out, const uint64_t *words, size_t n)
{
  bool begun = false;

  for (size_t i = 2 * n; i > 0; i--) {
    unsigned part =
      (unsigned)(words[(i - 1) / 2] >> (i - 1) % 2 * 32 & UINT32_MAX);

    if (begun)
      pai__buf_char(out, ',');
    begun = begun || part != 0;
    if (part != 0)
      pai__buf_printf(out, "0x%08x", part);
    else if (i == 1)
      pai__buf_str(out, "0x0");
  }
  if (n == 0)
    pai__buf_str(out, "0x0");
}

/* --- reading ------------------------------------------------------------ */

typedef struct reader {
  const char *s;
  size_t len, at;
  pai__bits_fault *fault;
} reader;

static int fail(const reader *r, int code, size_t at, const char *what)
{
  *r->fault = (pai__bits_fault){ at, what };
  return code;
}

static bool skip(reader *r, char c)
{
  if (r->at == r->len || r->s[r->at] != c)
    return false;
  r->at++;
  return true;
}

static int read_number(reader *r, uint32_t limit, uint32_t *out)
{
  size_t start = r->at;
  uint32_t v = 0;

  for (; r->at < r->len && r->s[r->at] >= '0' && r->s[r->at] <= '9'; r->at++) {
    v = v * 10 + (uint32_t)(r->s[r->at] - '0');
    if (v >= limit)
      return fail(r, PAI_ELIMIT, start, "the number is too large");
  }
  if (r->at == start)
    return fail(r, PAI_EINVAL, start, "a number is missing");
  *out = v;
  return PAI_OK;
}

static int read_run(reader *r, uint32_t limit, uint32_t *first, uint32_t *last)
{
  size_t start = r->at;
  int rc = read_number(r, limit, first);

  *last = *first;
  if (rc == PAI_OK && skip(r, '-'))
    rc = read_number(r, limit, last);
  if (rc == PAI_OK && *last < *first)
    rc = fail(r, PAI_EINVAL, start, "the last number is below the first");
  return rc;
}

int pai__bits_read_list(uint64_t *words, size_t *n, uint32_t limit,
                        const char *s, size_t len, pai__bits_fault *fault)
{
  reader r = { s, len, 0, fault };
  uint32_t first = 0, last = 0;
  int rc = PAI_OK;

  *n = 0;
  while (len != 0 && (rc = read_run(&r, limit, &first, &last)) == PAI_OK) {
    pai__bits_set(words, first, last);
    if (*n < last / 64 + 1)
      *n = last / 64 + 1;
    if (r.at == len)
      break;
    if (!skip(&r, ',')) {
      rc = fail(&r, PAI_EINVAL, r.at, "a comma is missing");
      break;
    }
  }
  if (rc < 0) {
    memset(words, 0, *n * sizeof(*words));
    *n = 0;
  }
  return rc;
}
