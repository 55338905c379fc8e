/* quantity.c - amounts as Kubernetes writes them */
#include "resource/import.h"

enum { BILLION = 1000000000, MOST_EXPONENT = 24 };

/* A number with nine digits behind the point; `more`: and a little. */
typedef struct fixed {
  uint64_t whole;
  uint64_t part; /* of a billion */
  bool more;
  bool too_large;
} fixed;

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static void multiply(fixed *f, uint32_t by)
{
  uint64_t carry = f->part * by / BILLION;

  if (f->whole > ((uint64_t)INT64_MAX - carry) / by) {
    f->too_large = true;
    return;
  }
  f->whole = f->whole * by + carry;
  f->part = f->part * by % BILLION;
}

static void divide(fixed *f, uint32_t by)
{
  uint64_t part = f->whole % by * BILLION + f->part;

  f->whole /= by;
  f->more |= part % by != 0;
  f->part = part / by;
}

static const char *read_digits(const char *s, const char *end, fixed *f)
{
  uint64_t worth = BILLION / 10;

  for (; s < end && is_digit(*s); s++) {
    multiply(f, 10);
    f->whole += (uint64_t)(*s - '0');
  }
  if (s == end || *s != '.')
    return s;
  for (s++; s < end && is_digit(*s); s++) {
    f->part += (uint64_t)(*s - '0') * worth;
    f->more |= worth == 0 && *s != '0';
    worth /= 10;
  }
  return s;
}

/* "e3", "E-3"; a single E is a unit. */
static bool read_exponent(const char *s, const char *end, int *exponent)
{
  bool minus;

  s++;
  minus = s < end && *s == '-';
  if (s < end && (*s == '-' || *s == '+'))
    s++;
  if (s == end)
    return false;
  for (*exponent = 0; s < end && is_digit(*s); s++)
    if (*exponent <= MOST_EXPONENT)
      *exponent = *exponent * 10 + (*s - '0');
  if (*exponent > MOST_EXPONENT)
    *exponent = MOST_EXPONENT;
  if (minus)
    *exponent = -*exponent;
  return s == end;
}

static void scale(fixed *f, uint32_t by, int times)
{
  for (; times > 0 && !f->too_large; times--)
    multiply(f, by);
  for (; times < 0; times++)
    divide(f, by);
}

static bool read_unit(const char *s, const char *end, fixed *f)
{
  static const char decimal[] = "num kMGTPE", binary[] = "KMGTPE";
  const char *unit;
  int exponent;

  if (s == end)
    return true;
  if ((*s == 'e' || *s == 'E') && s + 1 < end) {
    if (s[1] != 'i') {
      if (!read_exponent(s, end, &exponent))
        return false;
      scale(f, 10, exponent);
      return true;
    }
  }
  if (end - s == 2 && s[1] == 'i') {
    unit = memchr(binary, *s, sizeof(binary) - 1);
    if (unit != NULL)
      scale(f, 1024, (int)(unit - binary) + 1);
    return unit != NULL;
  }
  unit = *s == ' ' ? NULL : memchr(decimal, *s, sizeof(decimal) - 1);
  if (end - s != 1 || unit == NULL)
    return false;
  scale(f, 1000, (int)(unit - decimal) - 3);
  return true;
}

bool pai__quantity_parse(uint64_t *out, const char *s, size_t len, bool milli)
{
  const char *end = s + len;
  fixed f = { 0, 0, false, false };

  if (len > 0 && *s == '+')
    s++;
  if (s == end ||
      (!is_digit(*s) && (*s != '.' || end - s < 2 || !is_digit(s[1]))))
    return false;
  s = read_digits(s, end, &f);
  if (!read_unit(s, end, &f))
    return false;
  scale(&f, 1000, milli ? 1 : 0);
  *out = f.whole + (f.part > 0 || f.more);
  return !f.too_large && *out <= (uint64_t)INT64_MAX;
}

bool pai__read_quantity(pai__reader *r, pai__node n, const char *what,
                        bool milli, uint64_t most, uint64_t *out)
{
  char text[PAI__VALUE_TEXT];
  pai__piece s;

  if (n == PAI__NO_NODE)
    return false;
  s = pai__read_text(r, n, what);
  if (s.s == NULL)
    return false;
  if (!pai__quantity_parse(out, s.s, s.len, milli)) {
    if (pai__find(r->f, PAI_SEVERITY_ERROR, "bad-quantity", n,
                  "%s cannot be %s", what, pai__value_text(text, r->f, n)))
      pai__find_help(r->f, "give a number, mostly with a unit of Kubernetes: "
                           "m, k, M, G, T, Ki, Mi, Gi or Ti, as 512Gi");
    return false;
  }
  if (*out <= most)
    return true;
  (void)pai__find(r->f, PAI_SEVERITY_ERROR, "too-large", n, "%s cannot be %s",
                  what, pai__value_text(text, r->f, n));
  return false;
}
