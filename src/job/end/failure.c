/* failure.c - finds the first known failure that matches a task's end, and
 * explains it */
#include "job/end/failure.h"

#include "base/text/utf8.h"
#include "job/end/pattern.h"

enum {
  MOST_FOUND = 120, /* bytes of a group's match */
  MOST_LINE = 400   /* bytes of the matched line */
};

typedef struct finding {
  const pai__failure *row;
  const char *text;
  size_t len;
  pai__pattern_span spans[1 + PAI__PATTERN_GROUPS];
  bool failed; /* out of memory */
} finding;

/* --- searching ----------------------------------------------------------- */

static enum pai__failure_memory memory_of(const pai__end_facts *facts)
{
  if (facts->how == PAI__END_OOM)
    return PAI__MEMORY_LIMIT;
  return facts->memory_short ? PAI__MEMORY_SHORT : PAI__MEMORY_ANY;
}

/* The last matching line counts: earlier ones did not end the task. */
static bool fits(finding *f, const pai__failure *row,
                 const pai__end_facts *facts)
{
  pai__pattern p;
  int found;

  if ((row->exit != 0 && row->exit != facts->code) ||
      (row->memory != PAI__MEMORY_ANY && row->memory != memory_of(facts)))
    return false;
  f->row = row;
  if (row->pattern == NULL)
    return true;
  if (f->text == NULL || !pai__pattern_make(&p, row->pattern))
    return false;
  found = pai__pattern_find(f->spans, &p, f->text, f->len, true);
  f->failed |= found < 0;
  return found > 0;
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

/* --- texts --------------------------------------------------------------- */

/* Cuts a text without splitting a character. */
static size_t cut(const char *text, size_t len, size_t most)
{
  if (len <= most)
    return len;
  while (most > 0 && !pai__utf8_first(text[most]))
    most--;
  return most;
}

/* Returns the number of the group reference that begins here, or 0. */
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
    const pai__pattern_span *s = &f->spans[group];

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

static int put_failure(pai__buf *out, const finding *f)
{
  const pai__failure *row = f->row;
  pai__json_writer w;

  pai__json_writer_init(&w, out, false);
  pai__json_begin_object(&w);
  pai__json_put_text(&w, "name", row->name);
  pai__json_member(&w, "reason");
  put_text(&w, f, row->reason);
  pai__json_put_array(&w, "solution");
  if (row->solution != NULL)
    put_text(&w, f, row->solution);
  pai__json_end_array(&w);
  pai__json_member(&w, "line");
  if (row->pattern != NULL && f->text != NULL)
    put_line(&w, f);
  else
    pai__json_null(&w);
  pai__json_end_object(&w);
  return pai__json_finish(&w) == PAI_OK ? PAI_OK : PAI_ENOMEM;
}

/* The bytes of a terminal's escape sequence at the start of a text, as
 * "ESC [ 31 m"; 0: none. */
static size_t escape_length(const char *text, size_t len)
{
  size_t n = 2;

  if (len < 3 || text[0] != '\033' || text[1] != '[')
    return 0;
  while (n < len && text[n] >= 0x20 && text[n] < 0x40)
    n++;
  return n < len ? n + 1 : 0;
}

/* Output without its colours. */
static void drop_escapes(pai__buf *out, const char *text, size_t len)
{
  size_t from = 0, n;

  for (size_t i = 0; i < len; i += n != 0 ? n : 1) {
    n = escape_length(text + i, len - i);
    if (n == 0)
      continue;
    pai__buf_add(out, text + from, i - from);
    from = i + n;
  }
  pai__buf_add(out, text + from, len - from);
}

int pai__failure_explain(pai__buf *out, const pai__end_facts *facts,
                         const pai__failures *own)
{
  finding f = { .row = NULL };
  pai__buf plain;
  int rc = PAI_OK;

  if (facts->how != PAI__END_OOM && facts->how != PAI__END_FAILED &&
      (facts->how != PAI__END_EXITED || facts->code == 0))
    return PAI_OK;
  f.text =
    facts->how == PAI__END_FAILED ? facts->runtime.text : facts->user.text;
  f.len = facts->how == PAI__END_FAILED ? facts->runtime.len : facts->user.len;
  pai__buf_init(&plain, out->alloc);
  if (f.text != NULL && memchr(f.text, '\033', f.len) != NULL) {
    drop_escapes(&plain, f.text, f.len);
    f.text = pai__buf_text(&plain);
    f.len = plain.len;
    f.failed = !pai__buf_ok(&plain);
  }
  if (!f.failed && find(&f, facts, own) && !f.failed)
    rc = put_failure(out, &f);
  pai__buf_dispose(&plain);
  return f.failed ? PAI_ENOMEM : rc;
}
