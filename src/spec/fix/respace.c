/* respace.c - changes the space of a text that cannot be parsed */
#include "spec/fix/respace.h"

#include "base/text/utf8.h"

#define NO_BREAK "\xc2\xa0"

typedef struct spacer {
  pai__spacing *r;
  pai__buf *out;
  const char *end;   /* end of the text */
  const char *done;  /* the text before it is copied */
  uint32_t line;     /* from 1 */
  const char *start; /* start of that line */
  /* what is open: */
  size_t columns[PAI__RESPACE_DEEPEST]; /* columns of keys and dashes */
  size_t depth;
  char quote; /* quote of an open text; '\0': none */
  uint32_t brackets;
  bool block;    /* in a block scalar */
  size_t least;  /* least column of its lines */
  size_t indent; /* column of its lines; 0: its first line decides */
  /* a byte of the line, and its column with replaced tabs */
  const char *counted;
  size_t column;
  size_t previous; /* column of the last line outside of quotes, brackets and
                      block scalars */
  bool behind;     /* the next such line is the one after r->last */
} spacer;

static bool is_blank(char c)
{
  return c == ' ' || c == '\t';
}

static bool is_one_of(char c, const char *set)
{
  return c != '\0' && strchr(set, c) != NULL;
}

/* Returns whether a no-break space is here that must become a space. */
static bool is_no_break(const spacer *x, const char *p, const char *eol)
{
  return x->r->no_break && p + 1 < eol && memcmp(p, NO_BREAK, 2) == 0;
}

/* --- writing ------------------------------------------------------------ */

/* Replaces [from, to) of the text by spaces. */
static void put_spaces(spacer *x, const char *from, const char *to,
                       size_t spaces)
{
  pai__buf_add(x->out, x->done, (size_t)(from - x->done));
  while (spaces-- > 0)
    pai__buf_char(x->out, ' ');
  x->done = to;
}

static pai__pos pos_of(const spacer *x, const char *p)
{
  uint32_t column = 1;

  for (const char *c = x->start; c < p; c++)
    column += pai__utf8_first(*c);
  return (pai__pos){ x->line, column };
}

/* --- columns ------------------------------------------------------------ */

static size_t column_of(spacer *x, const char *p)
{
  for (; x->counted < p; x->counted++)
    x->column += pai__utf8_first(*x->counted);
  return x->column;
}

/* Records a key or dash at a column. */
static void open_at(spacer *x, size_t column)
{
  while (x->depth > 0 && x->columns[x->depth - 1] >= column)
    x->depth--;
  if (x->depth == PAI__RESPACE_DEEPEST)
    x->r->lost = true;
  else
    x->columns[x->depth++] = column;
}

/* --- lines -------------------------------------------------------------- */

/* Skips separating space.  Returns whether something follows on the line. */
static bool skip_space(spacer *x, const char **p, const char *eol)
{
  for (;;) {
    if (*p < eol && is_blank(**p)) {
      ++*p;
    } else if (is_no_break(x, *p, eol)) {
      if (x->r->space.line == 0)
        x->r->space = pos_of(x, *p);
      put_spaces(x, *p, *p + 2, 1);
      *p += 2;
    } else {
      return *p < eol && **p != '#';
    }
  }
}

/* Returns the byte after the closing quote, or the end of the line. */
static const char *skip_quoted(spacer *x, const char *p, const char *eol)
{
  for (; p < eol; p++)
    if (x->quote == '"' && *p == '\\') {
      p += p + 1 < eol;
    } else if (*p == x->quote) {
      if (x->quote == '\'' && p + 1 < eol && p[1] == '\'') {
        p++;
        continue;
      }
      x->quote = '\0';
      return p + 1;
    }
  return eol;
}

/* Returns whether a mark of one character is here.  A no-break space after the
 * first colon may be meant as the space that makes the colon a mark. */
static bool is_mark(const spacer *x, const char *p, const char *eol,
                    bool keyed)
{
  return is_one_of(*p, "-?:") &&
         (p + 1 == eol || is_blank(p[1]) ||
          (x->brackets > 0 && is_one_of(p[1], ",[]{}")) ||
          (!keyed && is_no_break(x, p + 1, eol)));
}

static const char *skip_plain(spacer *x, const char *p, const char *eol,
                              bool keyed)
{
  for (; p < eol; p++)
    if ((*p == ':' && is_mark(x, p, eol, keyed)) ||
        (*p == '#' && is_blank(p[-1])) ||
        (x->brackets > 0 && is_one_of(*p, ",[]{}")))
      break;
  return p;
}

/* Starts a block scalar at | or >, if nothing else is on the line. */
static bool take_header(spacer *x, const char *p, const char *eol)
{
  size_t digit = 0;

  for (p++; p < eol && is_one_of(*p, "+-0123456789"); p++)
    if (*p >= '0' && *p <= '9')
      digit = (size_t)(*p - '0');
  while (p < eol && is_blank(*p))
    p++;
  if (p < eol && *p != '#')
    return false;
  x->block = true;
  x->least = x->depth > 0 ? x->columns[x->depth - 1] + 1 : 0;
  x->indent = digit == 0 ? 0 : x->least > 0 ? x->least - 1 + digit : digit;
  return true;
}

/* Scans a line from its first byte that is not space, or from the end of a
 * quoted text. */
static void take_line(spacer *x, const char *p, const char *eol)
{
  size_t token = 0; /* column of the last token */
  bool keyed = false;

  while (skip_space(x, &p, eol)) {
    if (x->brackets > 0 && is_one_of(*p, "]},")) {
      x->brackets -= *p++ != ',';
      keyed = false;
      continue;
    }
    if (is_mark(x, p, eol, keyed)) {
      if (x->brackets == 0)
        open_at(x, *p == ':' ? token : column_of(x, p));
      keyed |= *p++ == ':';
      continue;
    }
    if ((*p == '|' || *p == '>') && x->brackets == 0 && take_header(x, p, eol))
      return;
    if (!keyed || x->brackets > 0)
      token = column_of(x, p);
    if (*p == '[' || *p == '{') {
      x->brackets++;
      keyed = false;
      p++;
    } else if (*p == '"' || *p == '\'') {
      x->quote = *p;
      p = skip_quoted(x, p + 1, eol);
    } else if (is_one_of(*p, "&!*")) {
      while (p < eol && !is_blank(*p) &&
             (x->brackets == 0 || !is_one_of(*p, ",[]{}")))
        p++;
    } else {
      p = skip_plain(x, p + 1, eol, keyed);
    }
  }
}

/* Records a line that is indented with tabs; `tab` is the first of them,
 * `before` the column of the line before. */
static void note_tabs(spacer *x, const char *tab, size_t before)
{
  pai__spacing *r = x->r;

  r->tabs++;
  if (x->line > r->until)
    return;
  r->last = pos_of(x, tab);
  if (r->first.line == 0)
    r->first = r->last;
  memcpy(r->columns, x->columns, sizeof(x->columns));
  r->depth = x->depth;
  r->before = before;
  r->after = 0;
}

/* Returns whether a line is part of the block scalar.  Its tabs before the
 * scalar's column become spaces. */
static bool take_block(spacer *x, const char *eol)
{
  const pai__spacing *r = x->r;
  const char *p = x->start;
  size_t column = 0;
  bool tabs = false;

  while (r->only == x->line && p < eol && is_blank(*p))
    p++;
  if (r->only == x->line)
    column = r->column;
  while (r->only != x->line && p < eol && is_blank(*p)) {
    if (x->indent > 0 ? column >= x->indent
                      : column >= x->least && (*p == '\t' || tabs))
      break;
    tabs |= *p == '\t';
    column += *p++ == '\t' ? r->tab : 1;
  }
  while (x->indent == 0 && tabs && p < eol && *p == ' ') {
    column++;
    p++;
  }
  if (p == eol)
    return true; /* an empty line */
  if (column < (x->indent > 0 ? x->indent : x->least))
    return false;
  if (tabs)
    note_tabs(x, memchr(x->start, '\t', (size_t)(p - x->start)),
              x->indent > 0 ? x->indent : x->previous);
  if (x->indent == 0)
    x->indent = column;
  if (r->only == x->line || (tabs && r->tab > 0 && r->only == 0))
    put_spaces(x, x->start, p, column);
  return true;
}

/* Scans a line that continues nothing from the lines before it. */
static void take_own(spacer *x, const char *eol)
{
  pai__spacing *r = x->r;
  const char *p = x->start, *tab;
  size_t column = 0;

  for (; p < eol && is_blank(*p); p++)
    column += *p == '\t' && r->tab > 0 ? r->tab : 1;
  tab = memchr(x->start, '\t', (size_t)(p - x->start));
  if (p == eol || *p == '#')
    return;
  if (x->behind)
    r->after = column;
  x->behind = tab != NULL && x->line <= r->until;
  if (tab != NULL)
    note_tabs(x, tab, x->previous);
  if (r->only == x->line)
    column = r->column;
  if (r->only == x->line || (tab != NULL && r->only == 0 && r->tab > 0))
    put_spaces(x, x->start, p, column);
  x->counted = p;
  x->column = x->previous = column;
  take_line(x, p, eol);
}

static const char *eol_of(const char *p, const char *end)
{
  while (p < end && *p != '\n' && *p != '\r')
    p++;
  return p;
}

void pai__respace(pai__buf *out, const char *text, size_t len, pai__spacing *r)
{
  spacer x = { .r = r, .out = out, .end = text + len, .done = text };
  const char *eol;

  for (x.start = text; x.start < x.end; x.start = eol) {
    eol = eol_of(x.start, x.end);
    x.line++;
    if (x.quote != '\0') {
      x.counted = skip_quoted(&x, x.start, eol);
      x.column = 0;
      take_line(&x, x.counted, eol);
    } else if (x.brackets > 0) {
      x.counted = x.start;
      x.column = 0;
      take_line(&x, x.start, eol);
    } else if (!x.block || !take_block(&x, eol)) {
      x.block = false;
      if (eol - x.start >= 3 && memcmp(x.start, "---", 3) == 0)
        x.depth = 0;
      take_own(&x, eol);
    }
    if (eol < x.end)
      eol += *eol == '\r' && eol + 1 < x.end && eol[1] == '\n' ? 2 : 1;
  }
  put_spaces(&x, x.end, x.end, 0);
}
