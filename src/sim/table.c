/* table.c - rows of cells */
#include "sim/table.h"

#include "base/utf8.h"

/* --- lines into cells ------------------------------------------------------ */

static int add_cell(pai__table *tb, const pai_alloc *alloc, const char *s,
                    size_t len)
{
  if (PAI__VEC_ROOM(alloc, tb->cells, tb->count, tb->cap) < 0)
    return PAI_ENOMEM;
  tb->cells[tb->count++] = (pai__slice){ s, len };
  return PAI_OK;
}

/* A cell in quotes, which is unquoted in place; returns what follows it. */
static char *unquote(char *from, const char *end, size_t *len)
{
  char *to = from, *s = from + 1;

  for (; s < end; s++) {
    if (*s == '"' && (s + 1 == end || s[1] != '"'))
      break;
    if (*s == '"')
      s++;
    *to++ = *s;
  }
  *len = (size_t)(to - from);
  return s < end ? s + 1 : s;
}

static int split(pai__table *tb, const pai_alloc *alloc, char *s, size_t len)
{
  char *end = s + len;
  int rc = PAI_OK;

  tb->count = 0;
  for (;;) {
    char *from = s;
    size_t n;

    if (tb->columns->quotes && s < end && *s == '"') {
      s = unquote(s, end, &n);
      while (s < end && *s != tb->columns->separator)
        s++;
    } else {
      s = memchr(s, tb->columns->separator, (size_t)(end - s));
      if (s == NULL)
        s = end;
      n = (size_t)(s - from);
    }
    rc = add_cell(tb, alloc, from, n);
    if (rc < 0 || s == end)
      return rc;
    s++;
  }
}

static bool is_space(char c)
{
  return c == ' ' || c == '\t';
}

static int split_spaces(pai__table *tb, const pai_alloc *alloc, const char *s,
                        size_t len)
{
  const char *end = s + len;
  int rc = PAI_OK;

  tb->count = 0;
  while (rc == PAI_OK) {
    const char *from;

    while (s < end && is_space(*s))
      s++;
    if (s == end)
      break;
    for (from = s; s < end && !is_space(*s);)
      s++;
    rc = add_cell(tb, alloc, from, (size_t)(s - from));
  }
  return rc;
}

static int read_row(pai__table *tb, pai_trace *t, pai_error **err)
{
  char *line;
  size_t len;
  int rc;

  do {
    tb->line = t->source.line + 1;
    rc = tb->columns->quotes ? pai__source_quoted(&t->source, &line, &len, err)
                             : pai__source_line(&t->source, &line, &len, err);
  } while (rc > 0 && len == 0);
  if (rc <= 0)
    return rc;
  tb->bad = NULL;
  rc = tb->columns->separator == ' ' ? split_spaces(tb, &t->alloc, line, len)
                                     : split(tb, &t->alloc, line, len);
  return rc < 0 ? pai__oom(err) : 1;
}

/* --- the first line -------------------------------------------------------- */

static char small(char c)
{
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Spaces behind it and its case do not count. */
static bool is_name(pai__slice cell, const char *name)
{
  while (cell.len > 0 && is_space(cell.s[cell.len - 1]))
    cell.len--;
  if (strlen(name) != cell.len)
    return false;
  for (size_t i = 0; i < cell.len; i++)
    if (small(cell.s[i]) != small(name[i]))
      return false;
  return true;
}

static void find_columns(pai__table *tb)
{
  for (uint32_t i = 0; i < tb->columns->count; i++) {
    tb->at[i] = SIZE_MAX;
    for (size_t j = tb->count; j-- > 0;)
      if (is_name(tb->cells[j], tb->columns->names[i]))
        tb->at[i] = j;
  }
  tb->width = tb->count;
}

int pai__table_begin(pai__table *tb, pai_trace *t, const pai__columns *columns,
                     pai_error **err)
{
  int rc;

  memset(tb, 0, sizeof(*tb));
  tb->columns = columns;
  for (uint32_t i = 0; i < columns->count; i++)
    tb->at[i] = i;
  if (columns->plain)
    return PAI_OK;
  rc = read_row(tb, t, err);
  if (rc < 0)
    return rc;
  find_columns(tb);
  for (uint32_t i = 0; i < columns->count; i++)
    if ((columns->needed & 1u << i) != 0 && tb->at[i] == SIZE_MAX) {
      (void)pai__fail_at(err, PAI_EINVAL, (pai__pos){ (uint32_t)tb->line, 0 },
                         "the trace has no column \"%s\"", columns->names[i]);
      pai__error_help(err, "its first line has to name its columns");
      return PAI_EINVAL;
    }
  return PAI_OK;
}

void pai__table_dispose(pai__table *tb, const pai_alloc *alloc)
{
  pai__free(alloc, tb->cells, tb->cap * sizeof(*tb->cells));
  memset(tb, 0, sizeof(*tb));
}

int pai__table_next(pai__table *tb, pai_trace *t, pai_error **err)
{
  for (;;) {
    int rc = read_row(tb, t, err);

    if (rc <= 0 || tb->width == 0 || tb->count == tb->width)
      return rc;
    rc = pai__trace_skip(t, tb->line, err,
                         "it has %zu cells, and the first line %zu", tb->count,
                         tb->width);
    if (rc < 0)
      return rc;
  }
}

/* --- cells ----------------------------------------------------------------- */

pai__slice pai__cell(const pai__table *tb, uint32_t column)
{
  static const char *const none[] = { "none", "unknown", "null", "nan",
                                      "n/a" };
  pai__slice cell = { NULL, 0 };

  if (tb->at[column] >= tb->count || tb->cells[tb->at[column]].len == 0)
    return cell;
  cell = tb->cells[tb->at[column]];
  for (size_t i = 0; i < PAI__LEN(none); i++)
    if (is_name(cell, none[i]))
      return (pai__slice){ NULL, 0 };
  return cell;
}

bool pai__cell_is(const pai__table *tb, uint32_t column, const char *text)
{
  pai__slice cell = pai__cell(tb, column);

  return cell.s != NULL && is_name(cell, text);
}

void pai__cell_bad(pai__table *tb, uint32_t column, const char *what)
{
  if (tb->bad != NULL)
    return;
  tb->bad = tb->columns->names[column];
  tb->bad_what = what;
  tb->bad_cell = pai__cell(tb, column);
}

pai_time pai__cell_milliseconds(pai__table *tb, uint32_t column)
{
  pai__slice cell = pai__cell(tb, column);
  pai_time us = 0;

  if (cell.s != NULL && !pai__decimal_read(cell.s, cell.len, 3, &us))
    pai__cell_bad(tb, column, "a number");
  return us;
}

pai_time pai__cell_seconds(pai__table *tb, uint32_t column, pai_time usual)
{
  pai__slice cell = pai__cell(tb, column);

  if (cell.s != NULL && !pai__seconds_read(cell.s, cell.len, &usual))
    pai__cell_bad(tb, column, "a number");
  return usual;
}

int64_t pai__cell_whole(pai__table *tb, uint32_t column, int64_t usual)
{
  pai__slice cell = pai__cell(tb, column);

  if (cell.s != NULL && !pai__decimal_read(cell.s, cell.len, 0, &usual))
    pai__cell_bad(tb, column, "a number");
  return usual;
}

uint32_t pai__cell_count(pai__table *tb, uint32_t column, uint32_t usual)
{
  int64_t value = pai__cell_whole(tb, column, usual);

  if (value < 0 || value > PAI__MOST_CPUS) {
    pai__cell_bad(tb, column, "a number from 0 to a million");
    return usual;
  }
  return (uint32_t)value;
}

pai_time pai__cell_date(pai__table *tb, uint32_t column, pai_time usual)
{
  pai__slice cell = pai__cell(tb, column);

  if (cell.s != NULL && !pai__seconds_read(cell.s, cell.len, &usual) &&
      !pai__date_read(cell.s, cell.len, &usual))
    pai__cell_bad(tb, column, "a time");
  return usual;
}

int pai__table_check(pai__table *tb, pai_trace *t, bool *skipped,
                     pai_error **err)
{
  char shown[PAI__EXCERPT];

  *skipped = tb->bad != NULL;
  if (tb->bad == NULL)
    return PAI_OK;
  return pai__trace_skip(
    t, tb->line, err, "\"%s\" has to be %s, not \"%s\"", tb->bad, tb->bad_what,
    pai__excerpt(shown, tb->bad_cell.s != NULL ? tb->bad_cell.s : "",
                 tb->bad_cell.len));
}
