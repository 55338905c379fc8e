/* report_fix.c - fixes in a report: showing and applying them */
#include "base/fixes.h"

#include <stdlib.h>

/* --- showing ------------------------------------------------------------- */

static pai_text_edit show_edit(const pai__tree *t, const pai__change *c)
{
  pai__pos start = pai__tree_pos(t, c->start);
  pai__pos end = pai__tree_pos(t, c->end);

  return (pai_text_edit){ .struct_size = sizeof(pai_text_edit),
                          .line = start.line,
                          .column = start.column,
                          .end_line = end.line,
                          .end_column = end.column,
                          .text = c->text };
}

/* Returns NULL when out of memory. */
static const pai_fix *show_fix(pai_report *r, const pai__tree *t,
                               const pai__fix *fix)
{
  pai_fix *shown = pai__arena_zalloc(&r->arena, 1, sizeof(*shown));
  pai_text_edit *edits =
    pai__arena_zalloc(&r->arena, fix->count, sizeof(*edits));
  const pai_text_edit **list =
    pai__arena_zalloc(&r->arena, fix->count, sizeof(*list));
  size_t n = 0;

  if (shown == NULL || edits == NULL || list == NULL)
    return NULL;
  for (const pai__change *c = fix->changes; c != NULL; c = c->next) {
    edits[n] = show_edit(t, c);
    list[n] = &edits[n];
    n++;
  }
  *shown = (pai_fix){ .struct_size = sizeof(*shown),
                      .title = fix->title,
                      .sure = fix->sure,
                      .edit_count = n,
                      .edits = list };
  return shown;
}

int pai__report_fixes(pai_report *r, const pai__tree *tree,
                      const pai__finding *x, pai_diagnostic *d)
{
  const pai_fix **list;
  size_t n = 0;

  for (const pai__fix *fix = x->fixes; fix != NULL; fix = fix->next)
    n++;
  if (n == 0)
    return PAI_OK;
  list = pai__arena_zalloc(&r->arena, n, sizeof(*list));
  if (list == NULL)
    return PAI_ENOMEM;
  d->fixes = list;
  for (const pai__fix *fix = x->fixes; fix != NULL; fix = fix->next) {
    if (fix->count == 0 || fix->count > PAI__MOST_CHANGES)
      continue;
    list[d->fix_count] = show_fix(r, tree, fix);
    if (list[d->fix_count] == NULL)
      return PAI_ENOMEM;
    d->fix_count++;
  }
  if (d->fix_count == 0)
    d->fixes = NULL;
  return PAI_OK;
}

/* Returns the end of the line at p. */
static const char *line_end(const char *p, const char *end)
{
  while (p < end && *p != '\n' && *p != '\r')
    p++;
  return p;
}

#define NO_BREAK "\xc2\xa0"

/* Adds the differing parts of a line, [a, a_end) and [b, b_end): each no-break
 * space that becomes a space, and at most one other part. */
static void change_line(pai__findings *f, pai__fix *fix, const char *a,
                        const char *a_end, const char *b, const char *b_end)
{
  const char *text = f->tree->text;

  while (a < a_end && b < b_end) {
    if (*a == *b) {
      a++;
    } else if (a + 1 < a_end && memcmp(a, NO_BREAK, 2) == 0 && *b == ' ') {
      pai__fix_change(f, fix, (size_t)(a - text), (size_t)(a + 2 - text), b,
                      1);
      a += 2;
    } else {
      break;
    }
    b++;
  }
  while (a < a_end && b < b_end && a_end[-1] == b_end[-1])
    a_end--, b_end--;
  if (a < a_end || b < b_end)
    pai__fix_change(f, fix, (size_t)(a - text), (size_t)(a_end - text), b,
                    (size_t)(b_end - b));
}

int pai__report_mend(pai_report *r, const char *title, bool sure,
                     const char *text, size_t len, const pai__buf *mended)
{
  pai_diagnostic *d = pai__arena_zalloc(&r->arena, 1, sizeof(*d));
  const char *b = pai__buf_text(mended), *b_to = b + mended->len, *a, *a_to;
  pai__finding x = { .pointer = "" };
  pai__fix fix = { .title = title, .sure = sure };
  pai__findings f;
  pai__tree *t;
  int rc;

  if (d == NULL || pai__tree_new(&t, &r->alloc, text, len, NULL) < 0)
    return PAI_ENOMEM;
  *d = r->list[0];
  pai__findings_init(&f, &r->arena, t);
  a = t->text;
  a_to = a + t->len;
  while (a < a_to && b < b_to) {
    const char *a_end = line_end(a, a_to), *b_end = line_end(b, b_to);

    change_line(&f, &fix, a, a_end, b, b_end);
    a = a_end + (a_end < a_to);
    b = b_end + (b_end < b_to);
  }
  x.fixes = &fix;
  rc = f.failed ? PAI_ENOMEM : pai__report_fixes(r, t, &x, d);
  pai__findings_dispose(&f);
  pai__tree_free(t);
  r->list = d;
  return rc;
}

/* --- applying ----------------------------------------------------------- */

/* A chosen change. */
typedef struct chosen {
  size_t start, end;
  const char *text;
  size_t order; /* among changes at one place */
} chosen;

typedef struct fixer {
  pai__tree *t;
  chosen *list;
  size_t len, cap;
} fixer;

static bool same(const chosen *a, const chosen *b)
{
  return a->start == b->start && a->end == b->end &&
         strcmp(a->text, b->text) == 0;
}

/* Returns whether two changes conflict.  Several insertions at one place do
 * not. */
static bool collide(const chosen *a, const chosen *b)
{
  if (a->start == a->end || b->start == b->end)
    return a->start > b->start ? a->start < b->end : b->start < a->end;
  return a->start < b->end && b->start < a->end;
}

static chosen chosen_of(const fixer *x, const pai_text_edit *e)
{
  return (chosen){
    .start = pai__tree_offset(x->t, (pai__pos){ e->line, e->column }),
    .end = pai__tree_offset(x->t, (pai__pos){ e->end_line, e->end_column }),
    .text = e->text
  };
}

/* Returns 1 if the whole fix is chosen already (through another alias), 0 if
 * it conflicts with a chosen one, else -1. */
static int is_there(const fixer *x, const pai_fix *fix)
{
  size_t there = 0;

  for (size_t i = 0; i < fix->edit_count; i++) {
    chosen c = chosen_of(x, fix->edits[i]);

    if (c.end < c.start)
      return 0;
    for (size_t k = 0; k < x->len; k++)
      if (same(&c, &x->list[k]) && c.start < c.end) {
        there++;
        break;
      } else if (collide(&c, &x->list[k])) {
        return 0;
      }
  }
  return there == 0 ? -1 : there == fix->edit_count;
}

static int take(fixer *x, const pai_fix *fix)
{
  for (size_t i = 0; i < fix->edit_count; i++) {
    if (PAI__VEC_ROOM(&x->t->alloc, x->list, x->len, x->cap) < 0)
      return PAI_ENOMEM;
    x->list[x->len] = chosen_of(x, fix->edits[i]);
    x->list[x->len].order = x->len;
    x->len++;
  }
  return PAI_OK;
}

static int by_place(const void *a, const void *b)
{
  const chosen *x = a, *y = b;

  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  if (x->end != y->end) /* insertions come first */
    return x->end < y->end ? -1 : 1;
  return x->order < y->order ? -1 : 1;
}

/* Chooses one of a diagnostic's fixes: 1, or 0 for none. */
static int choose_one(fixer *x, const pai_diagnostic *d, pai_fix_cb choose,
                      void *user_data)
{
  for (size_t i = 0; i < d->fix_count; i++) {
    const pai_fix *fix = d->fixes[i];
    int there = is_there(x, fix), rc = fix->sure;

    if (there == 0)
      continue;
    if (choose != NULL)
      rc = choose(user_data, d, fix);
    if (rc < 0)
      return rc;
    if (rc == 0)
      continue;
    if (there < 0)
      rc = take(x, fix);
    return rc < 0 ? rc : 1;
  }
  return 0;
}

static int write_fixed(fixer *x, pai_write_cb write, void *user_data)
{
  const char *text = x->t->text;
  size_t done = 0;
  pai__buf out;
  int rc = PAI_ENOMEM;

  if (x->len > 0)
    qsort(x->list, x->len, sizeof(*x->list), by_place);
  pai__buf_init(&out, &x->t->alloc);
  for (size_t i = 0; i < x->len; i++) {
    pai__buf_add(&out, text + done, x->list[i].start - done);
    pai__buf_str(&out, x->list[i].text);
    done = x->list[i].end;
  }
  pai__buf_add(&out, text + done, x->t->len - done);
  if (pai__buf_ok(&out))
    rc = write(user_data, pai__buf_text(&out), out.len);
  pai__buf_dispose(&out);
  return rc;
}

int pai_report_fix(const pai_report *report, const char *text, size_t len,
                   pai_fix_cb choose, pai_write_cb write, void *user_data,
                   pai_error **err)
{
  fixer x = { .t = NULL };
  int count = 0, rc = PAI_OK;

  PAI__CHECK_ARG_ERR(report != NULL, err);
  PAI__CHECK_ARG_ERR(text != NULL, err);
  PAI__CHECK_ARG_ERR(write != NULL, err);
  if (len > PAI__TREE_MAX_TEXT)
    return pai__fail(err, PAI_ELIMIT, "the text has more than %d bytes",
                     PAI__TREE_MAX_TEXT);
  rc = pai__tree_new(&x.t, &report->alloc, text, len, err);
  if (rc < 0)
    return rc;
  for (size_t i = 0; rc >= 0 && i < report->count; i++) {
    rc = choose_one(&x, &report->list[i], choose, user_data);
    count += rc > 0;
  }
  if (rc >= 0)
    rc = write_fixed(&x, write, user_data);
  pai__free(&x.t->alloc, x.list, x.cap * sizeof(*x.list));
  pai__tree_free(x.t);
  if (rc == PAI_ENOMEM)
    return pai__oom(err);
  return rc < 0 ? rc : count;
}
