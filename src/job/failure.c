/* failure.c - finds the first known failure that fits, and explains it */
#include "job/failure.h"

#include "base/utf8.h"
#include "job/pattern.h"

enum {
  MOST_FOUND = 120, /* bytes of what a group found */
  MOST_LINE = 400   /* bytes of the line that it was found in */
};

typedef struct finding {
  const pai__failure *row;
  const char *text;
  size_t len;
  pai__span spans[1 + PAI__PATTERN_GROUPS];
} finding;

/* --- looking for it --------------------------------------------------------- */

static enum pai__failure_memory memory_of(const pai__end_facts *facts)
{
  if (facts->how == PAI__END_OOM)
    return PAI__MEMORY_LIMIT;
  return facts->memory_short ? PAI__MEMORY_SHORT : PAI__MEMORY_ANY;
}

/* The last match: what came before it did not end the task. */
static bool find_last(finding *f, const pai__pattern *p)
{
  pai__span spans[1 + PAI__PATTERN_GROUPS];
  bool found = false;
  size_t at = 0;

  while (at < f->len &&
         pai__pattern_match(spans, p, f->text + at, f->len - at)) {
    const char *end;

    for (int i = 0; i <= PAI__PATTERN_GROUPS; i++)
      f->spans[i] = (pai__span){ at + spans[i].start, at + spans[i].end };
    found = true;
    end = memchr(f->text + f->spans[0].end, '\n', f->len - f->spans[0].end);
    at = end != NULL ? (size_t)(end - f->text) + 1 : f->len;
  }
  return found;
}

static bool fits(finding *f, const pai__failure *row,
                 const pai__end_facts *facts)
{
  pai__pattern p;

  if ((row->exit != 0 && row->exit != facts->code) ||
      (row->memory != PAI__MEMORY_ANY && row->memory != memory_of(facts)))
    return false;
  f->row = row;
  if (row->pattern == NULL)
    return true;
  return f->text != NULL && pai__pattern_make(&p, row->pattern) &&
         find_last(f, &p);
}

static bool find(finding *f, const pai__end_facts *facts,
                 const pai__failures *own)
{
  const pai__failure *rows;
  size_t n = pai__failures_rows(own, &rows);

  for (size_t i = 0; i < n; i++)
    if (fits(f, &rows[i], facts))
      return true;
  for (size_t i = 0; i < pai__failure_count; i++)
    if (fits(f, &pai__failure_rows[i], facts))
      return true;
  return false;
}

/* --- in words --------------------------------------------------------------- */

/* So much of it that a character is not cut in two. */
static size_t cut(const char *text, size_t len, size_t most)
{
  if (len <= most)
    return len;
  while (most > 0 && !pai__utf8_first(text[most]))
    most--;
  return most;
}

/* The number of a group that begins here, or 0. */
static int group_at(const char *at)
{
  return at[0] == '$' && at[1] >= '1' && at[1] <= '9' ? at[1] - '0' : 0;
}

int pai__failure_lacks(const char *text, int ngroups)
{
  for (; *text != '\0'; text++)
    if (group_at(text) > ngroups)
      return group_at(text);
  return 0;
}

static void put_text(pai__json_writer *w, const finding *f, const char *text)
{
  pai__buf b;

  pai__buf_init(&b, w->out->alloc);
  for (; *text != '\0'; text++) {
    int group = group_at(text);
    const pai__span *s = &f->spans[group];

    if (group == 0 || group > PAI__PATTERN_GROUPS) {
      pai__buf_char(&b, *text);
      continue;
    }
    pai__buf_add(&b, f->text + s->start,
                 cut(f->text + s->start, s->end - s->start, MOST_FOUND));
    text++;
  }
  pai__json_text(w, pai__buf_text(&b), b.len);
  w->out->failed |= !pai__buf_ok(&b);
  pai__buf_dispose(&b);
}

static void put_line(pai__json_writer *w, const finding *f)
{
  size_t from = f->spans[0].start, to = f->spans[0].end;

  while (from > 0 && f->text[from - 1] != '\n' && f->text[from - 1] != '\r' &&
         to - from < MOST_LINE)
    from--;
  while (to < f->len && f->text[to] != '\n' && f->text[to] != '\r')
    to++;
  pai__json_text(w, f->text + from, cut(f->text + from, to - from, MOST_LINE));
}

static void put_key(pai__json_writer *w, const char *key)
{
  pai__json_key(w, key, strlen(key));
}

static int put_failure(pai__buf *out, const finding *f)
{
  const pai__failure *row = f->row;
  pai__json_writer w;

  pai__json_writer_init(&w, out, false);
  pai__json_begin_object(&w);
  put_key(&w, "name");
  pai__json_text(&w, row->name, strlen(row->name));
  put_key(&w, "reason");
  put_text(&w, f, row->reason);
  put_key(&w, "solution");
  pai__json_begin_array(&w);
  if (row->solution != NULL)
    put_text(&w, f, row->solution);
  pai__json_end_array(&w);
  put_key(&w, "line");
  if (row->pattern != NULL)
    put_line(&w, f);
  else
    pai__json_null(&w);
  pai__json_end_object(&w);
  return pai__json_finish(&w) == PAI_OK ? PAI_OK : PAI_ENOMEM;
}

int pai__failure_explain(pai__buf *out, const pai__end_facts *facts,
                         const pai__failures *own)
{
  finding f = { .row = NULL };

  if (facts->how != PAI__END_OOM && facts->how != PAI__END_FAILED &&
      (facts->how != PAI__END_EXITED || facts->code == 0))
    return PAI_OK;
  f.text =
    facts->how == PAI__END_FAILED ? facts->runtime.text : facts->user.text;
  f.len = facts->how == PAI__END_FAILED ? facts->runtime.len : facts->user.len;
  return find(&f, facts, own) ? put_failure(out, &f) : PAI_OK;
}
