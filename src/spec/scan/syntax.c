/*
 * syntax.c - diagnoses a text that cannot be parsed
 *
 * libyaml reports where it failed, which may be far after the cause.  A
 * suspected cause is confirmed if the text without it can be parsed further.
 */
#include "spec/scan/syntax.h"

#include "base/text/utf8.h"
#include "spec/fix/respace.h"
#include "spec/scan/text_line.h"

#define NO_BREAK "\xc2\xa0"

/* --- suspects ----------------------------------------------------------- */

typedef struct suspect {
  const char *text, *end;
  const pai_spec_options *o;
  pai__reread reread;
  uint32_t line;    /* where the parser failed */
  bool failed;      /* out of memory */
  pai__buf changed; /* a possible correction */
  pai__buf best;    /* the first correction that can be parsed further */
  pai__tree *tree;  /* its tree, if it can be parsed to the end */
  bool sure;        /* no other correction is possible */
} suspect;

/* Returns whether the changed text can be parsed beyond the line.  *tree is
 * set if it can be parsed to the end. */
static bool is_read_further(suspect *s, pai__tree **tree)
{
  pai_error *err = NULL;
  bool further;
  int rc;

  *tree = NULL;
  if (!pai__buf_ok(&s->changed)) {
    s->failed = true;
    return false;
  }
  rc = s->reread(tree, pai__buf_text(&s->changed), s->changed.len, s->o, &err);
  further =
    rc == PAI_OK || (rc == PAI_EINVAL && pai_error_line(err) > s->line);
  s->failed |= rc == PAI_ENOMEM;
  pai_error_free(err);
  return further;
}

/* Moves to the first scalar that ends after a byte.  Returns whether the byte
 * is in it. */
static bool is_in_scalar(const pai__tree *t, pai__node *n, size_t at)
{
  while (*n < t->count &&
         (t->nodes[*n].type >= PAI__SEQUENCE || t->nodes[*n].end <= at))
    ++*n;
  return *n < t->count && t->nodes[*n].start < at;
}

/* Returns whether a change is inside a scalar.  `t` is the tree of the changed
 * text, which differs only in blanks and no-break spaces. */
static bool changes_scalar(const suspect *s, const pai__tree *t)
{
  const char *a = s->text, *b = t->text, *b_end = b + t->len;
  pai__node n = 0;

  while (a < s->end && b < b_end) {
    if (*a == *b) {
      a++;
      b++;
      continue;
    }
    if (is_in_scalar(t, &n, (size_t)(b - t->text)))
      return true;
    if (*a == *NO_BREAK) {
      a += 2;
      b++;
      continue;
    }
    while (a < s->end && (*a == ' ' || *a == '\t'))
      a++;
    while (b < b_end && *b == ' ')
      b++;
  }
  return false;
}

/* Takes the changed text as the correction if it can be parsed further.
 * Returns false if it and an earlier one differ, so that no more need be
 * tried. */
static bool try_changed(suspect *s)
{
  pai__buf other = s->best;
  pai__tree *tree;

  if (pai__buf_ok(&s->changed) && s->best.len > 0 &&
      s->best.len == s->changed.len &&
      memcmp(s->best.data, s->changed.data, s->best.len) == 0)
    return true;
  if (!is_read_further(s, &tree))
    return !s->failed;
  if (s->best.len == 0 || (s->tree == NULL && tree != NULL)) {
    s->best = s->changed;
    s->changed = other;
    s->tree = tree;
    s->sure = tree != NULL && !changes_scalar(s, tree);
    return true;
  }
  if (tree != NULL)
    s->sure &= pai__tree_same(s->tree, 0, tree, 0);
  pai__tree_free(tree);
  return s->sure || s->tree == NULL;
}

/* Tries the text with other space. */
static bool try_respace(suspect *s, pai__spacing asked)
{
  pai__buf_cut(&s->changed, 0);
  pai__respace(&s->changed, s->text, (size_t)(s->end - s->text), &asked);
  return try_changed(s);
}

/* Returns the position of a byte of a line; columns count characters. */
static pai__pos place(const pai__text_line *l, const char *p)
{
  uint32_t column = 1;

  for (const char *c = l->start; c < p; c++)
    column += (*c & 0xc0) != 0x80;
  return (pai__pos){ l->number, column };
}

/* Returns the first tab that indents a line, or NULL.  A line with only a
 * comment counts as not indented. */
static const char *indenting_tab(const pai__text_line *l)
{
  const char *p = pai__text_line_begin(l),
             *tab = memchr(l->start, '\t', (size_t)(p - l->start));

  return p < l->end && *p != '#' ? tab : NULL;
}

/* Tries tabs of one width in all lines. */
static bool try_widths(suspect *s)
{
  static const size_t widths[] = { 4, 8, 2 };

  for (size_t i = 0; i < PAI__LEN(widths); i++)
    if (!try_respace(s, (pai__spacing){ .tab = widths[i] }))
      break;
  return s->best.len > 0;
}

/* Tries to indent one line like other lines of the text, or further than the
 * line before.  The column of the line before is tried first, column 0
 * last. */
static bool try_columns(suspect *s, const pai__spacing *r)
{
  enum { MOST = 8 };
  size_t columns[PAI__RESPACE_DEEPEST + 4], n = 0, tried = 0;

  columns[n++] = r->before;
  for (size_t i = r->depth; i-- > 0;)
    columns[n++] = r->columns[i];
  columns[n++] = r->after;
  columns[n++] = (r->depth > 0 ? r->columns[r->depth - 1] : r->before) + 2;
  columns[n++] = 0;
  for (size_t i = 0; i < n && tried < MOST; i++) {
    if (columns[i] == 0 && i + 1 < n)
      continue;
    tried++;
    if (!try_respace(
          s, (pai__spacing){ .only = r->last.line, .column = columns[i] }))
      break;
  }
  s->sure &= tried < MOST;
  return s->best.len > 0;
}

static bool is_tab(suspect *s, pai__pos *at)
{
  pai__spacing r = { .tab = 8, .until = s->line };

  pai__buf_cut(&s->changed, 0);
  pai__respace(&s->changed, s->text, (size_t)(s->end - s->text), &r);
  if (r.last.line == 0 || r.lost)
    return false;
  *at = r.last;
  if (r.tabs == 1 && try_columns(s, &r))
    return true;
  *at = r.first;
  if (try_widths(s))
    return true;
  *at = r.last;
  if (r.tabs == 1 || !try_columns(s, &r))
    return false;
  s->sure = false;
  return true;
}

static bool is_no_break_space(suspect *s, pai__pos *at)
{
  pai__spacing r = { .no_break = true };

  pai__buf_cut(&s->changed, 0);
  pai__respace(&s->changed, s->text, (size_t)(s->end - s->text), &r);
  *at = r.space;
  if (r.space.line == 0 || r.space.line > s->line)
    return false;
  (void)try_changed(s);
  return s->best.len > 0;
}

/* Returns the quote that begins a value and is not closed on its line, or
 * NULL. */
static const char *open_quote(const pai__text_line *l)
{
  char quote = '\0';
  const char *start = NULL;

  for (const char *p = l->start; p < l->end; p++) {
    if (quote == '"' && *p == '\\')
      p++;
    else if (quote != '\0' && *p == quote)
      quote = '\0';
    else if (quote == '\0' && (*p == '"' || *p == '\'') &&
             (p == l->start || strchr(" \t[{,", p[-1]) != NULL)) {
      quote = *p;
      start = p;
    } else if (quote == '\0' && *p == '#' && p > l->start && p[-1] == ' ') {
      break;
    }
  }
  return quote != '\0' ? start : NULL;
}

static bool is_open_quote(suspect *s, pai__pos *at)
{
  unsigned tries = 3;

  for (pai__text_line l = pai__text_line_at(s->text, s->end, 1);
       l.start < s->end && l.number <= s->line && tries > 0;
       l = pai__text_line_at(l.next, s->end, l.number + 1)) {
    const char *quote = open_quote(&l);

    if (quote == NULL)
      continue;
    tries--;
    pai__buf_cut(&s->changed, 0);
    pai__buf_add(&s->changed, s->text, (size_t)(l.end - s->text));
    pai__buf_char(&s->changed, *quote);
    pai__buf_add(&s->changed, l.end, (size_t)(s->end - l.end));
    *at = place(&l, quote);
    (void)try_changed(s);
    if (s->best.len > 0) {
      s->sure = false;
      return true;
    }
  }
  return false;
}

static const struct {
  bool (*is_it)(suspect *s, pai__pos *at);
  const char *what, *help, *title;
} suspects[] = {
  { is_tab, "this line is indented with a tab", "indent with spaces only",
    "indent with spaces" },
  { is_no_break_space, "YAML does not accept a no-break space (U+00A0)",
    "replace it with a space", "replace it with a space" },
  { is_open_quote, "this quote is not closed",
    "close the quote at the end of the text",
    "close the quote at the end of the line" },
};

int pai__syntax_cause(pai_error **err, pai__mended *mended, const char *text,
                      size_t len, const pai_spec_options *o,
                      pai__reread reread)
{
  suspect s = { .text = text, .end = text + len, .o = o, .reread = reread };
  pai__pos at = { 0, 0 };
  size_t i = 0;

  if (err == NULL || pai_error_line(*err) == 0)
    return PAI_EINVAL;
  s.line = pai_error_line(*err);
  pai__buf_init(&s.changed, o->alloc);
  pai__buf_init(&s.best, o->alloc);
  while (i < PAI__LEN(suspects) && !s.failed && !suspects[i].is_it(&s, &at))
    i++;
  if (mended != NULL && i < PAI__LEN(suspects) && !s.failed)
    *mended = (pai__mended){ suspects[i].title, s.sure, s.best };
  else
    pai__buf_dispose(&s.best);
  pai__buf_dispose(&s.changed);
  pai__tree_free(s.tree);
  if (i == PAI__LEN(suspects) && !s.failed)
    return PAI_EINVAL;
  pai_error_free(*err);
  *err = NULL;
  if (s.failed)
    return PAI_ENOMEM;
  (void)pai__fail_at(err, PAI_EINVAL, at, "%s", suspects[i].what);
  pai__error_help(err, "%s", suspects[i].help);
  return PAI_EINVAL;
}

bool pai__syntax_is_tabbed(const char *text, size_t len, size_t at)
{
  pai__text_line l;

  if (at >= len)
    return false;
  while (at > 0 && text[at - 1] != '\n' && text[at - 1] != '\r')
    at--;
  l = pai__text_line_at(text + at, text + len, 1);
  if (indenting_tab(&l) == NULL)
    return false;
  /* In brackets, as in JSON, indentation means nothing. */
  while (at > 0 && strchr(" \t\r\n", text[at - 1]) != NULL)
    at--;
  return at == 0 || strchr(",{[", text[at - 1]) == NULL;
}
