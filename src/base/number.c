/*
 * number.c - fast exact paths for the numbers people write, and the whole
 * truth behind them
 *
 * Shortest digits come from Steele and White's algorithm on whole numbers of
 * up to 1,280 bits (R. Burger, K. Dybvig: "Printing floating-point numbers
 * quickly and accurately"); no rounding mode, table or libm is involved.
 */
#include "base/number.h"

/* Powers of ten that a double holds exactly. */
static const double exact_pow10[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,
                                      1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
                                      1e18, 1e19, 1e20, 1e21, 1e22 };

/* A decimal number m * 10^e, when m has few digits; false otherwise. */
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
      m |= digit != 0; /* sticky: far below the last bit that counts */
      dropped++;
    }
  }
  v = (double)m;
  for (size_t i = 0; i < dropped && v - v == 0; i++) /* until infinity */
    v *= (double)(1u << bits_per_digit);
  return v;
}

/* --- whole numbers of a bounded size ------------------------------------ */

enum { BIG_WORDS = 40 };

typedef struct big {
  int n; /* words in use; the last is not 0 */
  uint32_t w[BIG_WORDS];
} big;

static void big_set(big *b, uint64_t v)
{
  b->w[0] = (uint32_t)v;
  b->w[1] = (uint32_t)(v >> 32);
  b->n = b->w[1] != 0 ? 2 : b->w[0] != 0;
}

static void big_mul(big *b, uint32_t factor)
{
  uint64_t carry = 0;

  for (int i = 0; i < b->n; i++) {
    carry += (uint64_t)b->w[i] * factor;
    b->w[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry != 0)
    b->w[b->n++] = (uint32_t)carry;
}

static void big_mul_pow10(big *b, int e)
{
  for (; e >= 9; e -= 9)
    big_mul(b, 1000000000);
  for (; e > 0; e--)
    big_mul(b, 10);
}

static void big_shift(big *b, int bits)
{
  for (; bits >= 31; bits -= 31)
    big_mul(b, UINT32_C(1) << 31);
  big_mul(b, UINT32_C(1) << bits);
}

static int big_cmp(const big *a, const big *b)
{
  if (a->n != b->n)
    return a->n < b->n ? -1 : 1;
  for (int i = a->n; i-- > 0;)
    if (a->w[i] != b->w[i])
      return a->w[i] < b->w[i] ? -1 : 1;
  return 0;
}

/* How a + b compares with c. */
static int big_cmp_sum(const big *a, const big *b, const big *c)
{
  big sum;
  uint64_t carry = 0;

  sum.n = a->n > b->n ? a->n : b->n;
  for (int i = 0; i < sum.n; i++) {
    carry += (uint64_t)(i < a->n ? a->w[i] : 0) + (i < b->n ? b->w[i] : 0);
    sum.w[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry != 0)
    sum.w[sum.n++] = (uint32_t)carry;
  return big_cmp(&sum, c);
}

/* a -= b, for a >= b. */
static void big_sub(big *a, const big *b)
{
  int64_t borrow = 0;

  for (int i = 0; i < a->n; i++) {
    borrow += (int64_t)a->w[i] - (i < b->n ? b->w[i] : 0);
    a->w[i] = (uint32_t)borrow;
    borrow >>= 32;
  }
  while (a->n > 0 && a->w[a->n - 1] == 0)
    a->n--;
}

/* --- shortest digits ---------------------------------------------------- */

/* The number r / s; every number up to down/s below and up/s above it reads
 * back as the same double, the two ends too when `even`. */
typedef struct ratio {
  big r, s, up, down;
  bool even;
} ratio;

/* v > 0 and finite; returns k with 10^(k-1) <= v < 10^k, and v / 10^k * 10. */
static int ratio_init(ratio *q, double v)
{
  uint64_t bits, f;
  int e, len, k, narrow;
  double log10_v;

  memcpy(&bits, &v, sizeof(bits));
  f = bits & ((UINT64_C(1) << 52) - 1);
  e = (int)(bits >> 52);
  narrow = f == 0 && e > 1; /* the gap below is half as wide */
  if (e != 0)
    f |= UINT64_C(1) << 52;
  e = (e != 0 ? e : 1) - 1075;
  for (len = 53; f >> (len - 1) == 0;)
    len--;
  q->even = (f & 1) == 0;
  big_set(&q->r, f);
  big_set(&q->s, 1);
  big_set(&q->up, 1);
  big_set(&q->down, 1);
  big_shift(&q->r, (e > 0 ? e : 0) + 1 + narrow);
  big_shift(&q->s, (e < 0 ? -e : 0) + 1 + narrow);
  big_shift(&q->up, (e > 0 ? e : 0) + narrow);
  big_shift(&q->down, e > 0 ? e : 0);
  log10_v = (double)(e + len - 1) * 0.30102999566398119521 - 1e-10;
  k = (int)log10_v;
  k += (double)k < log10_v; /* ceil; may be one too small, never too large */
  big_mul_pow10(k >= 0 ? &q->s : &q->r, k >= 0 ? k : -k);
  if (k < 0) {
    big_mul_pow10(&q->up, -k);
    big_mul_pow10(&q->down, -k);
  }
  if (big_cmp_sum(&q->r, &q->up, &q->s) >= (q->even ? 0 : 1))
    return k + 1;
  big_mul(&q->r, 10);
  big_mul(&q->up, 10);
  big_mul(&q->down, 10);
  return k;
}

/* Digits and k with v = 0.digits * 10^k; returns how many digits. */
static int shortest(char digits[20], int *k, double v)
{
  ratio q;
  int n = 0;

  *k = ratio_init(&q, v);
  for (;;) {
    bool low, high;
    int d = 0;

    for (; big_cmp(&q.r, &q.s) >= 0; d++)
      big_sub(&q.r, &q.s);
    low = big_cmp(&q.r, &q.down) < (q.even ? 1 : 0);
    high = big_cmp_sum(&q.r, &q.up, &q.s) >= (q.even ? 0 : 1);
    if (low && high) { /* the nearer one; of two, the even one */
      int c = big_cmp_sum(&q.r, &q.r, &q.s);
      high = c > 0 || (c == 0 && d % 2 != 0);
    }
    digits[n++] = (char)('0' + d + high);
    if (low || high)
      return n;
    big_mul(&q.r, 10);
    big_mul(&q.up, 10);
    big_mul(&q.down, 10);
  }
}

/* Digits of a whole number; returns how many. */
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

/* As shortest(), for numbers of at most 15 digits of which few are behind the
 * point: those digits are the only ones so short that read back as v. */
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

/* Number::toString of ECMAScript, from the step where digits are known. */
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
