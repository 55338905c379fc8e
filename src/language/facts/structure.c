/* structure.c - folding and selection ranges */
#include "language/facts/parts.h"

/* --- folding --------------------------------------------------------------- */

typedef struct folder {
  const pai__facts *f;
  pai__folding_cb cb;
  void *user_data;
} folder;

/* Returns a span without the white space at its end. */
static pai__span trimmed(const pai__facts *f, pai__span span)
{
  while (span.end > span.start &&
         strchr(" \t\r\n", f->text[span.end - 1]) != NULL)
    span.end--;
  return span;
}

/* Folds a value from the line of its key, or its own first line. */
static int fold_value(const folder *fold, pai__node n, size_t start)
{
  const pai__tree_node *x = &fold->f->tree->nodes[n];
  pai__span span = trimmed(fold->f, (pai__span){ start, x->end });

  return pai__facts_one_line(fold->f, span)
           ? PAI_OK
           : fold->cb(fold->user_data, span, PAI__FOLDING_REGION);
}

static int fold_values(const folder *fold)
{
  const pai__tree *t = fold->f->tree;
  int rc = PAI_OK;

  for (pai__node n = 0; rc == PAI_OK && n < t->count; n++) {
    const pai__tree_node *x = &t->nodes[n];

    if ((x->flags & PAI__IS_KEY) != 0)
      rc = fold_value(fold, x->skip, x->start);
    else if (n > 0 && x->type == PAI__MAPPING &&
             (t->nodes[n - 1].flags & PAI__IS_KEY) == 0)
      rc = fold_value(fold, n, x->start); /* an item of a list */
  }
  return rc;
}

static bool is_comment_line(const pai__facts *f, size_t line)
{
  size_t at = line;

  while (f->text[at] == ' ' || f->text[at] == '\t')
    at++;
  return pai__facts_is_json(f) ? f->text[at] == '/' && f->text[at + 1] == '/'
                               : f->text[at] == '#';
}

/* Returns the start of the next line, or the end of the text. */
static size_t next_line(const pai__facts *f, size_t at)
{
  at = pai__facts_eol(f, at);
  if (at < f->len)
    at += f->text[at] == '\r' && f->text[at + 1] == '\n' ? 2 : 1;
  return at;
}

/* Folds comments of more than one line. */
static int fold_comments(const folder *fold)
{
  const pai__facts *f = fold->f;
  int rc = PAI_OK;

  for (size_t line = 0, end; rc == PAI_OK && line < f->len; line = end) {
    size_t last = line;

    end = next_line(f, line);
    if (!is_comment_line(f, line))
      continue;
    while (end < f->len && is_comment_line(f, end)) {
      last = end;
      end = next_line(f, end);
    }
    if (last > line)
      rc =
        fold->cb(fold->user_data, (pai__span){ line, pai__facts_eol(f, last) },
                 PAI__FOLDING_COMMENT);
  }
  return rc;
}

int pai__folding(const pai__language_text *t, pai__folding_cb cb,
                 void *user_data)
{
  pai__facts f;
  folder fold = { &f, cb, user_data };
  int rc = pai__facts_open(&f, t, SIZE_MAX);

  if (rc == PAI_OK)
    rc = fold_values(&fold);
  if (rc == PAI_OK)
    rc = fold_comments(&fold);
  return pai__facts_end(&f, rc);
}

/* --- selection -------------------------------------------------------------- */

typedef struct selector {
  const pai__facts *f;
  size_t at;
  pai__span *list; /* outermost first */
  size_t len, cap;
} selector;

/* Adds a span that contains the byte and lies in the last one. */
static int add(selector *s, size_t start, size_t end)
{
  const pai__span *last = s->len > 0 ? &s->list[s->len - 1] : NULL;

  if (start > s->at || end < s->at || start >= end)
    return PAI_OK;
  if (last != NULL && (start < last->start || end > last->end ||
                       (start == last->start && end == last->end)))
    return PAI_OK;
  if (PAI__VEC_ROOM(s->f->alloc, s->list, s->len, s->cap) < 0)
    return PAI_ENOMEM;
  s->list[s->len++] = (pai__span){ start, end };
  return PAI_OK;
}

/* Adds the line and the word in a text of several words. */
static int add_inside(selector *s, const pai__tree_node *x)
{
  static const char ends[] = " \t\r\n\"',:;=(){}[]<>|&";
  const char *text = s->f->text;
  size_t from = pai__facts_line(s->f, s->at), to = pai__facts_eol(s->f, s->at);
  int rc;

  while (from < to && (text[from] == ' ' || text[from] == '\t'))
    from++;
  rc = add(s, from > x->start ? from : x->start, to < x->end ? to : x->end);
  from = to = s->at;
  while (from > x->start && strchr(ends, text[from - 1]) == NULL)
    from--;
  while (to < x->end && strchr(ends, text[to]) == NULL)
    to++;
  return rc == PAI_OK ? add(s, from, to) : rc;
}

static int add_nodes(selector *s)
{
  const pai__tree *t = s->f->tree;
  int rc = add(s, 0, s->f->len);

  for (pai__node n = 0; rc == PAI_OK && n < t->count; n++) {
    const pai__tree_node *x = &t->nodes[n];

    if (x->start > s->at)
      break;
    if ((x->flags & PAI__IS_KEY) != 0 && t->nodes[x->skip].end > x->end)
      rc = add(s, x->start, t->nodes[x->skip].end); /* the entry */
    if (rc == PAI_OK)
      rc = add(s, x->start, x->end);
    if (rc == PAI_OK && x->type == PAI__STRING && s->at <= x->end)
      rc = add_inside(s, x);
  }
  return rc;
}

int pai__selection(const pai__language_text *t, size_t at, pai__span_cb cb,
                   void *user_data)
{
  pai__facts f;
  selector s = { .f = &f, .at = at };
  int rc = pai__facts_open(&f, t, SIZE_MAX);

  if (rc == PAI_OK && at <= f.len)
    rc = add_nodes(&s);
  for (size_t i = s.len; rc == PAI_OK && i > 0; i--)
    rc = cb(user_data, s.list[i - 1]);
  pai__free(f.alloc, s.list, s.cap * sizeof(*s.list));
  return pai__facts_end(&f, rc);
}
