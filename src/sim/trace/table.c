/* table.c - parser of traces that are rows of cells */
#include "sim/trace/table.h"

#include "base/text/utf8.h"

/* --- splitting lines ----------------------------------------------------- */

static int add_cell(pai__sim_table *tb, const pai_alloc *alloc, const char *s,
                    size_t len)
{
  if (PAI__VEC_ROOM(alloc, tb->cells, tb->count, tb->cap) < 0)
    return PAI_ENOMEM;
  tb->cells[tb->count++] = (pai__slice){ s, len };
  return PAI_OK;
}

/* Unquotes a cell in place; returns the position behind it. */
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

static int split(pai__sim_table *tb, const pai_alloc *alloc, char *s,
                 size_t len)
{
  char *end = s + len;
  int rc = PAI_OK;

  tb->count = 0;
  for (;;) {
    char *from = s;
    size_t n;

    if (tb->rows->quotes && s < end && *s == '"') {
      s = unquote(s, end, &n);
      while (s < end && *s != tb->rows->separator)
        s++;
    } else {
      s = memchr(s, tb->rows->separator, (size_t)(end - s));
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

static int split_spaces(pai__sim_table *tb, const pai_alloc *alloc,
                        const char *s, size_t len)
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

static int read_row(pai__sim_table *tb, pai_trace *t, pai_error **err)
{
  char *line;
  size_t len;
  int rc;

  do {
    tb->line = t->source.line + 1;
    rc = tb->rows->quotes ? pai__source_quoted(&t->source, &line, &len, err)
                          : pai__source_line(&t->source, &line, &len, err);
  } while (rc > 0 && len == 0);
  if (rc <= 0)
    return rc;
  tb->bad = NULL;
  rc = tb->rows->separator == ' ' ? split_spaces(tb, &t->alloc, line, len)
                                  : split(tb, &t->alloc, line, len);
  return rc < 0 ? pai__oom(err) : 1;
}

/* --- the first line ------------------------------------------------------ */

static char small(char c)
{
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool pai__slice_is(pai__slice cell, const char *name)
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

static void find_columns(pai__sim_table *tb)
{
  for (uint32_t i = 0; i < tb->rows->count; i++) {
    tb->at[i] = SIZE_MAX;
    for (size_t j = tb->count; j-- > 0;)
      if (pai__slice_is(tb->cells[j], tb->rows->columns[i].name))
        tb->at[i] = j;
  }
  tb->width = tb->count;
}

static int read_names(pai__sim_table *tb, pai_trace *t, pai_error **err)
{
  int rc = read_row(tb, t, err);

  if (rc < 0)
    return rc;
  find_columns(tb);
  for (uint32_t i = 0; i < tb->rows->count; i++)
    if (tb->rows->columns[i].needed && tb->at[i] == SIZE_MAX) {
      (void)pai__fail_at(err, PAI_EINVAL, (pai__pos){ (uint32_t)tb->line, 0 },
                         "the trace has no column \"%s\"",
                         tb->rows->columns[i].name);
      pai__error_help(err, "the first line must name the columns");
      return PAI_EINVAL;
    }
  return PAI_OK;
}

static size_t state_size(const pai__sim_rows *rows)
{
  return rows->state != 0 ? rows->state : sizeof(pai__sim_table);
}

int pai__rows_begin(pai_trace *t, pai_error **err)
{
  const pai__sim_rows *rows = t->how->rows;
  pai__sim_table *tb = pai__zalloc(&t->alloc, state_size(rows));

  if (tb == NULL)
    return pai__oom(err);
  t->state = tb;
  tb->rows = rows;
  for (uint32_t i = 0; i < rows->count; i++)
    tb->at[i] = i;
  return rows->plain ? PAI_OK : read_names(tb, t, err);
}

void pai__rows_end(pai_trace *t)
{
  pai__sim_table *tb = t->state;

  if (tb == NULL)
    return;
  pai__free(&t->alloc, tb->cells, tb->cap * sizeof(*tb->cells));
  pai__free(&t->alloc, tb, state_size(t->how->rows));
  t->state = NULL;
}

int pai__rows_read(pai_trace *t, pai_error **err)
{
  pai__sim_table *tb = t->state;
  int rc = read_row(tb, t, err);

  if (rc <= 0)
    return rc;
  if (tb->width != 0 && tb->count != tb->width)
    rc = pai__trace_skip(t, tb->line, err,
                         "the row has %zu cells, but the first line has %zu",
                         tb->count, tb->width);
  else
    rc = tb->rows->take(t, tb, err);
  return rc < 0 ? rc : 1;
}

/* --- cells --------------------------------------------------------------- */

pai__slice pai__cell_text(const pai__sim_table *tb, uint32_t column)
{
  static const char *const none[] = { "none", "unknown", "null", "nan",
                                      "n/a" };
  pai__slice cell = { NULL, 0 };

  if (tb->at[column] >= tb->count || tb->cells[tb->at[column]].len == 0)
    return cell;
  cell = tb->cells[tb->at[column]];
  for (size_t i = 0; i < PAI__LEN(none); i++)
    if (pai__slice_is(cell, none[i]))
      return (pai__slice){ NULL, 0 };
  return cell;
}

bool pai__cell_is(const pai__sim_table *tb, uint32_t column, const char *text)
{
  pai__slice cell = pai__cell_text(tb, column);

  return cell.s != NULL && pai__slice_is(cell, text);
}

void pai__cell_bad(pai__sim_table *tb, uint32_t column, const char *what)
{
  if (tb->bad != NULL)
    return;
  tb->bad = tb->rows->columns[column].name;
  tb->bad_what = what;
  tb->bad_cell = pai__cell_text(tb, column);
}

pai_time pai__cell_seconds(pai__sim_table *tb, uint32_t column, pai_time usual)
{
  pai__slice cell = pai__cell_text(tb, column);

  if (cell.s != NULL && !pai__seconds_read(cell.s, cell.len, &usual))
    pai__cell_bad(tb, column, "a number");
  return usual;
}

int64_t pai__cell_whole(pai__sim_table *tb, uint32_t column, int64_t usual)
{
  pai__slice cell = pai__cell_text(tb, column);

  if (cell.s != NULL && !pai__decimal_read(cell.s, cell.len, 0, &usual))
    pai__cell_bad(tb, column, "a number");
  return usual;
}

uint32_t pai__cell_count(pai__sim_table *tb, uint32_t column, uint32_t usual)
{
  int64_t value = pai__cell_whole(tb, column, usual);

  if (value < 0 || value > PAI__TRACE_CPUS) {
    pai__cell_bad(tb, column, "a number from 0 to a million");
    return usual;
  }
  return (uint32_t)value;
}

static pai_time milliseconds(pai__sim_table *tb, uint32_t column)
{
  pai__slice cell = pai__cell_text(tb, column);
  pai_time us = 0;

  if (cell.s != NULL && !pai__decimal_read(cell.s, cell.len, 3, &us))
    pai__cell_bad(tb, column, "a number");
  return us;
}

static pai_time date(pai__sim_table *tb, uint32_t column, pai_time usual)
{
  pai__slice cell = pai__cell_text(tb, column);

  if (cell.s != NULL && !pai__seconds_read(cell.s, cell.len, &usual) &&
      !pai__date_read(cell.s, cell.len, &usual))
    pai__cell_bad(tb, column, "a time");
  return usual;
}

/* --- rows ---------------------------------------------------------------- */

void pai__row_read(pai__sim_table *tb, pai_trace *t, pai__sim_row *row)
{
  memset(row, 0, sizeof(*row));
  pai__draft_clear(&t->draft);
  for (uint32_t i = 0; i < tb->rows->count; i++) {
    const pai__sim_column *c = &tb->rows->columns[i];
    void *to = (char *)row + c->at;

    switch (c->kind) {
    case PAI__CELL_OWN: break;
    case PAI__CELL_TEXT: t->draft.texts[c->at] = pai__cell_text(tb, i); break;
    case PAI__CELL_SLICE: *(pai__slice *)to = pai__cell_text(tb, i); break;
    case PAI__CELL_COUNT:
      *(uint32_t *)to = pai__cell_count(tb, i, (uint32_t)c->usual);
      break;
    case PAI__CELL_WHOLE:
      *(int64_t *)to = pai__cell_whole(tb, i, c->usual);
      break;
    case PAI__CELL_SECONDS:
      *(pai_time *)to = pai__cell_seconds(tb, i, c->usual);
      break;
    case PAI__CELL_MILLISECONDS: *(pai_time *)to = milliseconds(tb, i); break;
    case PAI__CELL_DATE: *(pai_time *)to = date(tb, i, c->usual); break;
    }
  }
}

int pai__row_put(pai_trace *t, pai__sim_table *tb, pai_error **err)
{
  char shown[PAI__EXCERPT];

  if (tb->bad == NULL)
    return pai__trace_put(t, tb->line, err);
  return pai__trace_skip(
    t, tb->line, err, "\"%s\" must be %s, not \"%s\"", tb->bad, tb->bad_what,
    pai__excerpt(shown, tb->bad_cell.s != NULL ? tb->bad_cell.s : "",
                 tb->bad_cell.len));
}
