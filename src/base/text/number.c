/*
 * number.c - converts numbers to text and back: fast exact paths for common
 * numbers, and the C library for the rest
 */
#include "base/text/number.h"

#include <stdio.h>
#include <stdlib.h>

/* Powers of ten that a double holds exactly. */
static const double exact_pow10[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,
                                      1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
                                      1e18, 1e19, 1e20, 1e21, 1e22 };

/* Splits a decimal number into m * 10^e, if m has few digits; false
 * otherwise. */
static bool split_decimal(const char *s, size_t len, uint64_t *m, int *e)
{
  const char *end = s + len;
  int digits = 0, exp = 0, sign = 1, written = 0;
  bool dot = false;

  *m = 0;
  for (; s < end && (*s | 0x20) != 'e'; s++) {
    if (*s == '.') {
      dot = true;
      continue;
    }
    digits += digits != 0 || *s != '0';
    if (digits > 18)
      return false;
    *m = *m * 10 + (uint64_t)(*s - '0');
    exp -= dot;
    if (exp < -1000)
      return false;
  }
  if (s < end)
    s++;
  if (s < end && (*s == '-' || *s == '+'))
    sign = *s++ == '-' ? -1 : 1;
  for (; s < end; s++) {
    written = written * 10 + (*s - '0');
    if (written > 1000)
      return false;
  }
  *e = exp + sign * written;
  return true;
}

int pai__parse_double(double *out, const char *s, size_t len)
{
  uint64_t m;
  int e;

  /* Both operands exact, so the one operation rounds correctly. */
  if (split_decimal(s, len, &m, &e) && m <= UINT64_C(1) << 53 && e >= -22 &&
      e <= 22) {
    *out = e < 0 ? (double)m / exact_pow10[-e] : (double)m * exact_pow10[e];
    return PAI_OK;
  }
  return pai__strtod_c(out, s);
}

double pai__parse_bits(const char *s, size_t len, unsigned bits_per_digit)
{
  uint64_t m = 0;
  double v;
  size_t dropped = 0;

  for (size_t i = 0; i < len; i++) {
    unsigned c = (unsigned char)s[i];
    unsigned digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    if (m >> (64 - bits_per_digit) == 0) {
      m = m << bits_per_digit | digit;
    } else {
      m |= digit != 0; /* sticky bit for digits below the last one that
                          counts */
      dropped++;
    }
  }
  v = (double)m;
  for (size_t i = 0; i < dropped && v - v == 0; i++) /* until infinity */
    v *= (double)(1u << bits_per_digit);
  return v;
}

/* Writes the digits of a whole number; returns their number. */
static int whole_digits(char digits[20], uint64_t v)
{
  char back[20];
  int n = 0;

  do {
    back[n++] = (char)('0' + v % 10);
    v /= 10;
  } while (v != 0);
  for (int i = 0; i < n; i++)
    digits[i] = back[n - 1 - i];
  return n;
}

/* --- shortest digits ---------------------------------------------------- */

/* Takes the digits and the exponent out of "1.25e-03", whatever the locale's
 * decimal point is; returns the number of digits. */
static int take_digits(char digits[20], int *k, const char *text)
{
  int n = 0;

  for (; *text != 'e'; text++)
    if (*text >= '0' && *text <= '9')
      digits[n++] = *text;
  *k = (int)strtol(text + 1, NULL, 10) + 1;
  while (n > 1 && digits[n - 1] == '0')
    n--;
  return n;
}

/* Raises the last digit of "1.25e-03" by one; false if it is a 9. */
static bool raise_last(char *text)
{
  char *last = strchr(text, 'e') - 1;

  return (*last)++ < '9';
}

/* Below a power of two, doubles are twice as dense: then the nearest text may
 * read back as another double, and the next one above it as this one. */
static bool is_power_of_two(double v)
{
  uint64_t bits;

  memcpy(&bits, &v, sizeof(bits));
  return (bits & ((UINT64_C(1) << 52) - 1)) == 0;
}

/* Writes digits and k with v = 0.digits * 10^k; returns the number of digits.
 * v > 0 and finite.  A text of 15 digits that is no subnormal number reads back
 * as written, so that shorter ones need not be tried.  Writing and reading use
 * one locale, whichever it is. */
static int shortest(char digits[20], int *k, double v)
{
  enum { MOST = 17 /* always enough */ };
  int places = v < 2.2250738585072014e-308 ? 1 : 15;
  char text[PAI__DOUBLE_TEXT];

  for (;; places++) {
    (void)snprintf(text, sizeof(text), "%.*e", places - 1, v);
    if (places == MOST || strtod(text, NULL) == v ||
        (is_power_of_two(v) && raise_last(text) && strtod(text, NULL) == v))
      return take_digits(digits, k, text);
  }
}

/* As shortest(), for numbers of at most 15 digits, few of them after the
 * point: then those digits are the only ones so short that read back as v. */
static int few_digits(char digits[20], int *k, double v)
{
  for (int places = 0; v < 1e15 && places <= 6; places++) {
    double scaled = v * exact_pow10[places];
    uint64_t whole;
    int n;

    if (scaled >= 1e15)
      return 0;
    whole = (uint64_t)(scaled + 0.5);
    if (whole == 0 || (double)whole / exact_pow10[places] != v)
      continue;
    n = whole_digits(digits, whole);
    *k = n - places;
    while (n > 1 && digits[n - 1] == '0')
      n--;
    return n;
  }
  return 0;
}

static size_t put_exponent(char *out, int e)
{
  char digits[20];
  int n = whole_digits(digits, (uint64_t)(e < 0 ? -e : e));

  out[0] = 'e';
  out[1] = e < 0 ? '-' : '+';
  memcpy(out + 2, digits, (size_t)n);
  return (size_t)n + 2;
}

/* Formats digits by ECMAScript's Number::toString. */
static size_t put_digits(char *out, const char *digits, int n, int k)
{
  char *p = out;

  if (k > 21 || k <= -6) {
    *p++ = digits[0];
    if (n > 1)
      *p++ = '.';
    memcpy(p, digits + 1, (size_t)n - 1);
    p += n - 1;
    p += put_exponent(p, k - 1);
  } else if (k <= 0) {
    *p++ = '0';
    *p++ = '.';
    for (int i = k; i < 0; i++)
      *p++ = '0';
    memcpy(p, digits, (size_t)n);
    p += n;
  } else {
    for (int i = 0; i < n || i < k; i++) {
      if (i == k)
        *p++ = '.';
      *p++ = i < n ? digits[i] : '0';
    }
  }
  return (size_t)(p - out);
}

size_t pai__format_double(char out[PAI__DOUBLE_TEXT], double v)
{
  char digits[20];
  size_t at = 0;
  int k = 0, n;

  if (v != v || v - v != 0) { /* not finite */
    const char *name = v != v ? "NaN" : v > 0 ? "Infinity" : "-Infinity";
    size_t len = strlen(name);
    memcpy(out, name, len + 1);
    return len;
  }
  if (v < 0) {
    out[at++] = '-';
    v = -v;
  }
  if (v == 0) { /* minus zero too */
    memcpy(out, "0", 2);
    return 1;
  }
  n = few_digits(digits, &k, v);
  if (n == 0)
    n = shortest(digits, &k, v);
  at += put_digits(out + at, digits, n, k);
  out[at] = '\0';
  return at;
}

size_t pai__format_int(char out[PAI__DOUBLE_TEXT], int64_t v)
{
  uint64_t magnitude = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  size_t at = 0, n;

  if (v < 0)
    out[at++] = '-';
  n = (size_t)whole_digits(out + at, magnitude);
  out[at + n] = '\0';
  return at + n;
}
