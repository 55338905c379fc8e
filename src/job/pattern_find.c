/*
 * pattern_find.c - looks for a pattern
 *
 * All ways that a match may go are followed side by side, the better ones
 * first, so that no byte is looked at twice.  Most texts have no match, which
 * is seen without any of that: each pattern has a text that every match
 * contains.
 */
#include "base/utf8.h"
#include "job/pattern.h"
#include "job/pattern_steps.h"

/* --- the text that each match contains ----------------------------------------- */

/* Where in [from, len) it is, or len. */
static size_t find_needed(const pai__pattern *p, const char *text, size_t from,
                          size_t len)
{
  const pai__pattern_step *steps = &p->steps[p->needs];
  size_t n = (size_t)p->nneeds, skip[256];

  if (n == 0)
    return from;
  for (size_t i = 0; i < PAI__LEN(skip); i++)
    skip[i] = n;
  for (size_t i = 0; i + 1 < n; i++)
    skip[steps[i].byte] = n - 1 - i;
  while (len - from >= n) {
    size_t i = n;

    while (i > 0 &&
           pai__pattern_fold(p, text[from + i - 1]) == steps[i - 1].byte)
      i--;
    if (i == 0)
      return from;
    from += skip[pai__pattern_fold(p, text[from + n - 1])];
  }
  return len;
}

/* --- ways ----------------------------------------------------------------------- */

typedef struct way {
  int step;
  size_t start;
} way;

typedef struct ways {
  way list[PAI__PATTERN_STEPS];
  int len;
  uint8_t has[PAI__PATTERN_STEPS];
} ways;

typedef struct finder {
  const pai__pattern *p;
  const char *text;
  size_t len;
} finder;

static bool holds(const finder *f, uint8_t op, size_t at)
{
  if (op == PAI__STEP_START)
    return at == 0 || (f->p->lines && f->text[at - 1] == '\n');
  return at == f->len || (f->p->lines && f->text[at] == '\n');
}

/* Goes on to where the next character is taken.  As deep as the pattern is
 * long. */
static void go_to(const finder *f, ways *w, int step, size_t start, size_t at)
{
  const pai__pattern_step *s = &f->p->steps[step];

  if (w->has[step])
    return;
  w->has[step] = 1;
  switch (s->op) {
  case PAI__STEP_GO: go_to(f, w, step + s->to, start, at); break;
  case PAI__STEP_SPLIT:
    go_to(f, w, step + 1, start, at);
    go_to(f, w, step + s->to, start, at);
    break;
  case PAI__STEP_AGAIN:
    go_to(f, w, step + s->to, start, at);
    go_to(f, w, step + 1, start, at);
    break;
  case PAI__STEP_START:
  case PAI__STEP_END:
    if (holds(f, s->op, at))
      go_to(f, w, step + 1, start, at);
    break;
  default: w->list[w->len++] = (way){ step, start }; break;
  }
}

/* Does the step take the character at c? */
static bool takes(const finder *f, const pai__pattern_step *s, const char *c)
{
  uint8_t byte = pai__pattern_fold(f->p, *c);

  switch (s->op) {
  case PAI__STEP_BYTE: return byte == s->byte;
  case PAI__STEP_SET: return f->p->sets[s->byte][byte] != 0;
  case PAI__STEP_NO_SPACE: return strchr("\t\n\f\r ", *c) == NULL || *c == 0;
  default: return true;
  }
}

/* All ways take the character at `at`, of n bytes.  True when one of them is a
 * match; then those behind it are given up. */
static bool take(const finder *f, const ways *now, ways *next, size_t at,
                 size_t n, pai__span *out)
{
  next->len = 0;
  memset(next->has, 0, sizeof(next->has));
  for (int i = 0; i < now->len; i++) {
    const way *w = &now->list[i];
    const pai__pattern_step *s = &f->p->steps[w->step];

    if (s->op == PAI__STEP_DONE) {
      *out = (pai__span){ w->start, at };
      return true;
    }
    if (n != 0 && takes(f, s, &f->text[at]))
      go_to(f, next, w->step + 1, w->start, at + n);
  }
  return false;
}

/* In one line, [from, to). */
static bool find_in(const finder *f, size_t from, size_t to, pai__span *out)
{
  ways a, b, *now = &a, *next = &b, *swap;
  const char *text = f->text;
  bool found = false;
  size_t n;

  now->len = 0;
  memset(now->has, 0, sizeof(now->has));
  for (size_t at = from;; at += n) {
    if (!found)
      go_to(f, now, 0, at, at);
    if (now->len == 0 && found)
      break;
    n = at < to ? pai__utf8_len(&text[at], to - at) : 0;
    if (at < to && n == 0)
      n = 1; /* no character: RE2 takes the byte for one */
    found |= take(f, now, next, at, n, out);
    if (n == 0)
      break;
    swap = now;
    now = next;
    next = swap;
  }
  return found;
}

bool pai__pattern_find(pai__span *out, const pai__pattern *p, const char *text,
                       size_t len)
{
  finder f = { p, text, len };
  size_t at = 0;

  for (;;) {
    size_t from = find_needed(p, text, at, len), to;
    const char *end;

    if (p->nneeds > 0 && from == len)
      return false;
    end = memchr(text + from, '\n', len - from);
    to = end != NULL ? (size_t)(end - text) : len;
    while (from > at && text[from - 1] != '\n')
      from--;
    if (find_in(&f, from, to, out))
      return true;
    if (to == len)
      return false;
    at = to + 1;
  }
}
