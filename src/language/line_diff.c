/*
 * line_diff.c - the edits that make one text another
 *
 * Texts are walked line by line.  Where they differ, the nearest lines ahead
 * that are equal end the edit.  For the changes of a formatter, which move
 * little, that is nearly minimal, and its time is linear.
 */
#include "language/line_diff.h"

#include "base/map.h"
#include "base/text/utf8.h"

enum { AHEAD = 48 }; /* lines to look for an equal one */

typedef struct line {
  const char *text;
  size_t len; /* with its line end */
  uint64_t hash;
} line;

typedef struct lines {
  line *list;
  size_t count;
} lines;

static size_t line_len(const char *text, size_t left)
{
  const char *end = memchr(text, '\n', left);

  return end != NULL ? (size_t)(end - text) + 1 : left;
}

static int split(lines *out, const pai_alloc *alloc, pai__bytes text)
{
  const char *at = text.data, *end = at + text.len;
  size_t count = 0;

  *out = (lines){ 0 };
  for (const char *s = at; s < end; s += line_len(s, (size_t)(end - s)))
    count++;
  if (count == 0)
    return PAI_OK;
  out->list = pai__realloc(alloc, NULL, 0, count, sizeof(*out->list));
  if (out->list == NULL)
    return PAI_ENOMEM;
  for (; at < end; at += out->list[out->count - 1].len) {
    size_t len = line_len(at, (size_t)(end - at));

    out->list[out->count++] = (line){ at, len, pai__map_hash(at, len) };
  }
  return PAI_OK;
}

static bool same(const line *a, const line *b)
{
  return a->hash == b->hash && a->len == b->len &&
         memcmp(a->text, b->text, a->len) == 0;
}

/* Finds the nearest equal lines from i and j on; false: none. */
static bool meet(const lines *a, const lines *b, size_t *i, size_t *j)
{
  for (size_t sum = 1; sum < (size_t)2 * AHEAD; sum++)
    for (size_t x = sum < AHEAD ? 0 : sum - AHEAD; x <= sum && x <= AHEAD;
         x++) {
      size_t m = *i + x, n = *j + sum - x;

      if (m < a->count && n < b->count && same(&a->list[m], &b->list[n])) {
        *i = m;
        *j = n;
        return true;
      }
    }
  return false;
}

/* Whether an edit may begin or end before this byte. */
static bool may_cut(const char *text, size_t at, size_t len)
{
  return (at == len || pai__utf8_first(text[at])) &&
         !(at > 0 && at < len && text[at - 1] == '\r' && text[at] == '\n');
}

/* Leaves out what both texts begin and end with. */
static void shrink(pai__line_edit *e, const char *old)
{
  size_t len = e->span.end - e->span.start, head = 0, tail = 0;
  size_t most = len < e->len ? len : e->len;
  const char *from = old + e->span.start;

  while (head < most && from[head] == e->text[head])
    head++;
  while (head > 0 &&
         !(may_cut(from, head, len) && may_cut(e->text, head, e->len)))
    head--;
  while (tail < most - head &&
         from[len - 1 - tail] == e->text[e->len - 1 - tail])
    tail++;
  while (tail > 0 && !(may_cut(from, len - tail, len) &&
                       may_cut(e->text, e->len - tail, e->len)))
    tail--;
  e->span.start += head;
  e->span.end -= tail;
  e->text += head;
  e->len -= head + tail;
}

static int add(pai__line_diff *d, pai__line_edit e, const char *old)
{
  shrink(&e, old);
  if (e.span.start == e.span.end && e.len == 0)
    return PAI_OK;
  if (PAI__VEC_ROOM(d->alloc, d->edits, d->count, d->cap) < 0)
    return PAI_ENOMEM;
  d->edits[d->count++] = e;
  return PAI_OK;
}

static size_t place(const lines *x, size_t i, pai__bytes text)
{
  return i < x->count ? (size_t)(x->list[i].text - (const char *)text.data)
                      : text.len;
}

/* Both texts, and how far they are compared. */
typedef struct sides {
  lines a, b;
  pai__bytes before, after;
  size_t i, j;
} sides;

/* Adds the edit of the lines up to m and n. */
static int replace(pai__line_diff *d, sides *x, size_t m, size_t n)
{
  size_t from = place(&x->b, x->j, x->after);
  pai__line_edit e = { { place(&x->a, x->i, x->before),
                         place(&x->a, m, x->before) },
                       (const char *)x->after.data + from,
                       place(&x->b, n, x->after) - from };

  x->i = m;
  x->j = n;
  return add(d, e, x->before.data);
}

/* Equally many lines are the same ones, changed. */
static int replace_lines(pai__line_diff *d, sides *x, size_t m, size_t n)
{
  int rc = PAI_OK;

  if (m - x->i != n - x->j)
    return replace(d, x, m, n);
  while (rc == PAI_OK && x->i < m)
    rc = replace(d, x, x->i + 1, x->j + 1);
  return rc;
}

static int compare(pai__line_diff *d, sides *x)
{
  const lines *a = &x->a, *b = &x->b;
  int rc = PAI_OK;

  while (rc == PAI_OK && (x->i < a->count || x->j < b->count)) {
    size_t m = x->i, n = x->j;

    if (m < a->count && n < b->count && same(&a->list[m], &b->list[n])) {
      x->i++;
      x->j++;
      continue;
    }
    if (!meet(a, b, &m, &n)) {
      m = a->count - m > AHEAD ? m + AHEAD : a->count;
      n = b->count - n > AHEAD ? n + AHEAD : b->count;
    }
    rc = replace_lines(d, x, m, n);
  }
  return rc;
}

int pai__line_diff_read(pai__line_diff *out, const pai_alloc *alloc,
                        pai__bytes before, pai__bytes after)
{
  sides x = { .before = before, .after = after };
  int rc;

  *out = (pai__line_diff){ .alloc = alloc };
  rc = split(&x.a, alloc, before);
  if (rc == PAI_OK)
    rc = split(&x.b, alloc, after);
  if (rc == PAI_OK)
    rc = compare(out, &x);
  pai__free(alloc, x.a.list, x.a.count * sizeof(*x.a.list));
  pai__free(alloc, x.b.list, x.b.count * sizeof(*x.b.list));
  return rc;
}

void pai__line_diff_dispose(pai__line_diff *d)
{
  pai__free(d->alloc, d->edits, d->cap * sizeof(*d->edits));
}
