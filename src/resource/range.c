/* range.c - many names in one, as node[01-16,20] */
#include "resource/read.h"

enum { MOST_DIGITS = 9 };

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static const char *read_number(const char *s, const char *end, uint64_t *value)
{
  const char *start = s;

  *value = 0;
  for (; s < end && is_digit(*s) && s - start < MOST_DIGITS; s++)
    *value = *value * 10 + (uint64_t)(*s - '0');
  return s > start ? s : NULL;
}

/* Takes the next "3" or "01-16"; false at the end, or where it is none. */
static bool next_part(pai__range_names *n)
{
  const char *s = n->at, *start = s;

  if (s == n->end)
    return false;
  s = read_number(s, n->end, &n->next);
  if (s == NULL)
    return false;
  n->width = *start == '0' ? (int)(s - start) : 0;
  n->last = n->next;
  if (s < n->end && *s == '-') {
    s = read_number(s + 1, n->end, &n->last);
    if (s == NULL || n->last < n->next)
      return false;
  }
  if (s < n->end && (*s != ',' || s + 1 == n->end))
    return false;
  n->at = s < n->end ? s + 1 : s;
  return true;
}

bool pai__range_begin(pai__range_names *n, const char *s, size_t len)
{
  const char *open = memchr(s, '[', len), *close = memchr(s, ']', len);
  pai__range_names look;

  *n = (pai__range_names){ .before = { s, len }, .plain = true };
  if (open == NULL && close == NULL)
    return true;
  if (open == NULL || close == NULL || close < open + 2 ||
      memchr(close + 1, '[', (size_t)(s + len - close - 1)) != NULL ||
      memchr(close + 1, ']', (size_t)(s + len - close - 1)) != NULL ||
      memchr(open + 1, '[', (size_t)(close - open - 1)) != NULL)
    return false;
  *n =
    (pai__range_names){ .before = { s, (size_t)(open - s) },
                        .after = { close + 1, (size_t)(s + len - close - 1) },
                        .at = open + 1,
                        .end = close,
                        .next = 1 };
  look = *n;
  while (next_part(&look))
    ;
  return look.at == look.end;
}

bool pai__range_next(pai__range_names *n, pai__buf *out)
{
  bool plain = n->plain;

  pai__buf_clear(out);
  if (plain && n->before.s == NULL)
    return false;
  if (!plain && n->next > n->last && !next_part(n))
    return false;
  pai__buf_add(out, n->before.s, n->before.len);
  if (!plain) {
    pai__buf_printf(out, "%0*llu", n->width, (unsigned long long)n->next++);
    pai__buf_add(out, n->after.s, n->after.len);
  }
  n->before.s = plain ? NULL : n->before.s;
  return true;
}
