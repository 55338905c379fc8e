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

enum { MARKS = 2 * PAI__PATTERN_GROUPS };

typedef struct way {
  int step;
  uint32_t marks[MARKS]; /* where groups began and ended, from `start` on */
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

/* A way goes on, from that step, to where the next character is taken.  As deep
 * as the pattern is long. */
static void go_to(const finder *f, ways *w, const way *from, int step,
                  size_t at)
{
  const pai__pattern_step *s = &f->p->steps[step];
  way marked;

  if (w->has[step])
    return;
  w->has[step] = 1;
  switch (s->op) {
  case PAI__STEP_GO: go_to(f, w, from, step + s->to, at); break;
  case PAI__STEP_SPLIT:
    go_to(f, w, from, step + 1, at);
    go_to(f, w, from, step + s->to, at);
    break;
  case PAI__STEP_AGAIN:
    go_to(f, w, from, step + s->to, at);
    go_to(f, w, from, step + 1, at);
    break;
  case PAI__STEP_MARK:
    marked = *from;
    marked.marks[s->byte] = (uint32_t)(at - from->start);
    go_to(f, w, &marked, step + 1, at);
    break;
  case PAI__STEP_START:
  case PAI__STEP_END:
    if (holds(f, s->op, at))
      go_to(f, w, from, step + 1, at);
    break;
  default:
    w->list[w->len] = *from;
    w->list[w->len++].step = step;
    break;
  }
}

/* Does the step take the character at c? */
static bool takes(const finder *f, const pai__pattern_step *s, const char *c)
{
  uint8_t byte = pai__pattern_fold(f->p, *c);

  switch (s->op) {
  case PAI__STEP_BYTE: return byte == s->byte;
  case PAI__STEP_SET:
    return (f->p->sets[s->byte][byte / 8] >> byte % 8 & 1) != 0;
  default: return true;
  }
}

static void tell(pai__span *out, const way *w, size_t end)
{
  out[0] = (pai__span){ w->start, end };
  for (int i = 0; i < PAI__PATTERN_GROUPS; i++)
    out[1 + i] = (pai__span){ w->start + w->marks[2 * i],
                              w->start + w->marks[2 * i + 1] };
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
      tell(out, w, at);
      return true;
    }
    if (n != 0 && takes(f, s, &f->text[at]))
      go_to(f, next, w, w->step + 1, at + n);
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
      go_to(f, now, &(way){ .start = at }, 0, at);
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

bool pai__pattern_match(pai__span out[1 + PAI__PATTERN_GROUPS],
                        const pai__pattern *p, const char *text, size_t len)
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

bool pai__pattern_find(pai__span *out, const pai__pattern *p, const char *text,
                       size_t len)
{
  pai__span all[1 + PAI__PATTERN_GROUPS];
  bool found = pai__pattern_match(all, p, text, len);

  if (found)
    *out = all[0];
  return found;
}
