/*
 * posix_pattern.c - searches a text for a pattern, with POSIX regexec()
 *
 * The text is a program's output, and may be hostile.  regexec() starts anew
 * at each byte, which takes quadratic time, so each line is first tested for
 * any match: ^[^\n]*(PATTERN) is answered in one pass.  Most lines are not
 * even tested, because they lack a text that every match contains.
 */
#include "job/end/pattern.h"

#include <locale.h>
#include <regex.h>
#include <stdio.h>

enum {
  LONGEST = 4096, /* bytes of a line that are searched together */
  RENEW = 16384   /* after so many bytes regexec()'s cache is dropped: it may
                     keep some KB for each */
};

typedef struct finder {
  const pai__pattern *p;
  const char *text;
  size_t len;
  pai__pattern_span *out;
  regex_t has, where;
  bool compiled;
  size_t seen; /* bytes searched since then */
} finder;

/* --- the text that every match contains ---------------------------------- */

/* Returns its position in [from, len), or len. */
static size_t find_needed(const finder *f, size_t from)
{
  const char *needs = f->p->needs;
  size_t n = strlen(needs), i;

  for (; f->len - from >= n; from++) {
    for (i = 0; i < n; i++)
      if (pai__pattern_fold(f->p, f->text[from + i]) != needs[i])
        break;
    if (i == n)
      return from;
  }
  return f->len;
}

/* --- regexec() ----------------------------------------------------------- */

static void forget(finder *f)
{
  if (!f->compiled)
    return;
  regfree(&f->has);
  regfree(&f->where);
  f->compiled = false;
}

/* The translation is valid, so only lack of memory can fail. */
static int compile(finder *f)
{
  int flags = REG_EXTENDED | (f->p->folds ? REG_ICASE : 0);
  char has[PAI__PATTERN_BYTES + 16];

  /* Not a dot: that does not match NUL. */
  (void)snprintf(has, sizeof(has), "^[^\n]*(%s)", f->p->posix);
  if (regcomp(&f->has, has, flags | REG_NOSUB) != 0)
    return PAI_ENOMEM;
  f->compiled = regcomp(&f->where, f->p->posix, flags) == 0;
  if (!f->compiled)
    regfree(&f->has);
  f->seen = 0;
  return f->compiled ? PAI_OK : PAI_ENOMEM;
}

/* Returns 1, 0 or PAI_ENOMEM. */
static int execute(const regex_t *r, regmatch_t found[PAI__PATTERN_MOST],
                   const char *text, size_t len, int flags)
{
  int rc;

  found[0] = (regmatch_t){ 0, (regoff_t)len };
  rc = regexec(r, text, PAI__PATTERN_MOST, found, flags | REG_STARTEND);
  return rc == 0 ? 1 : rc == REG_NOMATCH ? 0 : PAI_ENOMEM;
}

static void tell(finder *f, size_t from,
                 const regmatch_t found[PAI__PATTERN_MOST])
{
  for (int i = 0; i <= PAI__PATTERN_GROUPS; i++) {
    const regmatch_t *m = &found[i == 0 ? 0 : f->p->groups[i - 1]];

    f->out[i] = i > f->p->ngroups || m->rm_so < 0
                  ? (pai__pattern_span){ from, from }
                  : (pai__pattern_span){ from + (size_t)m->rm_so,
                                         from + (size_t)m->rm_eo };
  }
}

/* --- lines --------------------------------------------------------------- */

/* Searches [from, to), a line or a part of one. */
static int find_in(finder *f, size_t from, size_t to)
{
  const pai__pattern *p = f->p;
  regmatch_t found[PAI__PATTERN_MOST];
  int start = 0, end = 0, rc = PAI_OK;

  if (from > 0 && !(p->lines && f->text[from - 1] == '\n'))
    start = REG_NOTBOL; /* not for `has`, which begins with ^ itself */
  if (to < f->len && !(p->lines && f->text[to] == '\n'))
    end = REG_NOTEOL;
  if (f->seen > RENEW)
    forget(f);
  if (!f->compiled)
    rc = compile(f);
  if (rc < 0)
    return rc;
  f->seen += to - from;
  rc = execute(&f->has, found, f->text + from, to - from, end);
  if (rc > 0)
    rc = execute(&f->where, found, f->text + from, to - from, start | end);
  if (rc > 0)
    tell(f, from, found);
  return rc;
}

/* Searches a very long line in parts; each overlaps half of the one before. */
static int find_in_line(finder *f, size_t from, size_t to)
{
  int rc = 0;

  for (; rc == 0 && to - from > LONGEST; from += LONGEST / 2)
    rc = find_in(f, from, from + LONGEST);
  return rc != 0 ? rc : find_in(f, from, to);
}

static int find(finder *f, bool last)
{
  int found = 0;
  size_t at = 0;

  for (;;) {
    size_t from = find_needed(f, at), to;
    const char *end;
    int rc;

    if (f->p->needs[0] != '\0' && from == f->len)
      return found;
    end = memchr(f->text + from, '\n', f->len - from);
    to = end != NULL ? (size_t)(end - f->text) : f->len;
    while (from > at && f->text[from - 1] != '\n')
      from--;
    rc = find_in_line(f, from, to);
    if (rc != 0)
      found = rc;
    if (rc < 0 || (rc > 0 && !last) || to == f->len)
      return found;
    at = to + 1;
  }
}

int pai__pattern_find(pai__pattern_span out[1 + PAI__PATTERN_GROUPS],
                      const pai__pattern *p, const char *text, size_t len,
                      bool last)
{
  finder f = { .p = p, .text = text, .len = len, .out = out };
  /* Letters and characters must not depend on the host's locale. */
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), before;
  int rc;

  if (c == (locale_t)0)
    return PAI_ENOMEM;
  before = uselocale(c);
  rc = find(&f, last);
  forget(&f);
  (void)uselocale(before);
  freelocale(c);
  return rc;
}
