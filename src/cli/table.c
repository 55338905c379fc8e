/*
 * table.c - records as table rows, fields and text, printed by forms
 *
 * A form is text in which {path:how} stands for the value at that path of the
 * record.  docs/internals/cli.md lists the values of `how`.
 */
#include "table.h"

#include "cells.h"
#include "jobs.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { BAR = 10, WORD = 64, WORDS = 5, WIDEST = 40 };

/* A {path:how more...|else} in a form. */
typedef struct part {
  char words[WORDS][WORD]; /* `how` and the words after it */
  char other[WORD];
  const pai_json *json;
  size_t of, at; /* the record and the value in it */
} part;

/* --- used and free amounts ----------------------------------------------- */

static const char *use_style(int64_t used, int64_t all)
{
  if (used * 10 > all * 9)
    return cli_style(stdout, "\033[31m");
  return cli_style(stdout, used * 2 > all ? "\033[33m" : "\033[32m");
}

/* Prints an amount such as "3/8", with a bar on a terminal; "-" if the total
 * is 0. */
static void put_use(FILE *out, int64_t used, int64_t all, const char *text)
{
  int64_t full = all > 0 ? used * BAR / all : 0;

  if (all <= 0)
    text = used > 0 ? "over" : "-";
  if (cli_is_terminal(stdout)) {
    full = full < BAR ? full : BAR;
    if (used > 0 && full == 0)
      full = 1;
    (void)fputs(use_style(used, all), out);
    for (int64_t i = 0; i < BAR; i++)
      (void)fputs(i < full ? "#" : ".", out);
    (void)fprintf(out, "%s  ", cli_style(stdout, "\033[0m"));
  }
  (void)fprintf(out, "%7s", text);
}

static int64_t number(const part *p, const char *path)
{
  return cli_json_number(p->json, p->of, path, 0);
}

static void put_count(FILE *out, int64_t used, int64_t all)
{
  char text[48];

  (void)snprintf(text, sizeof(text), "%lld/%lld", (long long)used,
                 (long long)all);
  put_use(out, used, all, text);
}

/* The same for thousandths of CPUs. */
static void put_cpus(FILE *out, int64_t used, int64_t all)
{
  char text[2 * PAI_CPUS_TEXT], some[PAI_CPUS_TEXT], whole[PAI_CPUS_TEXT];

  used = used > 0 ? used : 0;
  (void)snprintf(text, sizeof(text), "%s/%s",
                 pai_cpus_text(some, (uint64_t)used),
                 pai_cpus_text(whole, (uint64_t)(all > 0 ? all : 0)));
  put_use(out, used, all, text);
}

static void as_use(FILE *out, const part *p)
{
  put_count(out, number(p, p->words[1]),
            cli_json_number(p->json, p->at, "", 0));
}

static void as_use_cpus(FILE *out, const part *p)
{
  put_cpus(out, cli_json_milli(p->json, p->of, p->words[1]),
           cli_json_milli(p->json, p->at, ""));
}

/* The same for a total, from which the free and the unusable amounts are
 * subtracted. */
static void as_left(FILE *out, const part *p)
{
  int64_t all = cli_json_number(p->json, p->at, "", 0);

  put_count(out, all - number(p, p->words[1]) - number(p, p->words[2]), all);
}

static void as_left_cpus(FILE *out, const part *p)
{
  int64_t all = cli_json_milli(p->json, p->at, "");

  put_cpus(out, all - cli_json_milli(p->json, p->of, p->words[1]), all);
}

/* --- other values -------------------------------------------------------- */

static void as_cpus(FILE *out, const part *p)
{
  char text[PAI_CPUS_TEXT];

  (void)fputs(
    pai_cpus_text(text, (uint64_t)cli_json_milli(p->json, p->at, "")), out);
}

/* Prints "24.0G". */
static void put_memory(FILE *out, int64_t bytes)
{
  static const char units[] = "BKMGTP";
  int64_t tenths = bytes * 10;
  size_t u = 0;

  for (; tenths >= 10240 && units[u + 1] != '\0'; u++)
    tenths /= 1024;
  (void)fprintf(out, "%lld.%lld%c", (long long)(tenths / 10),
                (long long)(tenths % 10), units[u]);
}

static void as_memory(FILE *out, const part *p)
{
  put_memory(out, cli_json_number(p->json, p->at, "", 0));
}

static void as_mib(FILE *out, const part *p)
{
  put_memory(out, cli_json_number(p->json, p->at, "", 0) << 20);
}

/* Prints "12.5%". */
static void as_percent(FILE *out, const part *p)
{
  unsigned n = (unsigned)(pai_json_number(p->json, p->at, 0) * 100 + 0.5);

  if (p->at == PAI_JSON_NONE)
    return;
  if (n % 10 == 0)
    (void)fprintf(out, n % 100 == 0 ? "%u%%" : "%u.%u%%", n / 100,
                  n / 10 % 10);
  else
    (void)fprintf(out, "%u.%02u%%", n / 100, n % 100);
}

static void as_flag(FILE *out, const part *p)
{
  (void)fputs(p->words[pai_json_bool(p->json, p->at) ? 1 : 2], out);
}

static void as_text(FILE *out, const part *p)
{
  const char *text = pai_json_text(p->json, p->at, NULL);
  int most = (int)strtol(p->words[1], NULL, 10);

  if (text == NULL && (pai_json_type(p->json, p->at) & PAI_VALUE_WHOLE) != 0)
    (void)fprintf(out, "%lld", (long long)pai_json_int(p->json, p->at, 0));
  else if (text != NULL && most > 0)
    (void)fprintf(out, "%.*s", most, text);
  else if (text != NULL)
    cli_print(out, text);
}

static void as_list(FILE *out, const part *p)
{
  const char *comma = "";

  for (cli_each e = cli_each_of(p->json, p->at); cli_next(&e);
       comma = p->words[1][0] != '\0' ? " " : ",") {
    const part value = { .json = p->json,
                         .at = cli_json_get(p->json, e.at, p->words[1]) };

    (void)fputs(comma, out);
    as_text(out, &value);
  }
}

/* Prints each member as "lr=0.1" on its own line. */
static void as_map(FILE *out, const part *p)
{
  for (cli_each e = cli_each_of(p->json, p->at); cli_next(&e);) {
    part value = { .json = p->json, .of = p->at, .at = e.at };

    (void)fputs("\n  ", out);
    cli_print(out, e.key);
    (void)fputc('=', out);
    as_text(out, &value);
  }
}

static void as_count(FILE *out, const part *p)
{
  int64_t n = cli_json_number(p->json, p->at, "", -1);

  if (n >= 0)
    (void)fprintf(out, "%lld", (long long)n);
}

static void put_span(FILE *out, const part *p, int sign)
{
  int64_t ms = cli_json_number(p->json, p->at, "", 0);
  char text[32];

  if (ms == 0)
    return;
  cli_duration(text, sizeof(text), sign * (ms - cli_now()));
  (void)fputs(text, out);
}

static void as_ago(FILE *out, const part *p)
{
  put_span(out, p, -1);
}

static void as_until(FILE *out, const part *p)
{
  put_span(out, p, 1);
}

/* Prints the time from one member to another, or until now. */
static void as_lasted(FILE *out, const part *p)
{
  int64_t from = cli_json_number(p->json, p->at, "", -1),
          to = cli_json_number(p->json, p->of, p->words[1], -1);
  char text[32];

  if (from < 0)
    return;
  to = to < 0 ? cli_now() : to;
  cli_duration(text, sizeof(text), to > from ? to - from : 0);
  (void)fputs(text, out);
}

static void as_date(FILE *out, const part *p)
{
  char text[32];

  (void)fputs(cli_date(text, cli_json_number(p->json, p->at, "", 0)), out);
}

/* Prints the state of a job in its colour. */
static void as_state(FILE *out, const part *p)
{
  cli_print_state(out, stdout, cli_json_text(p->json, p->at, ""));
}

/* Prints the text in the colour of "text=32", else in the default one. */
static void as_style(FILE *out, const part *p)
{
  const char *text = cli_json_text(p->json, p->at, ""), *color = "";
  char style[16];

  for (int i = 1; i < WORDS && color[0] == '\0'; i++) {
    const char *word = p->words[i], *equals = strchr(word, '=');

    if (equals == NULL)
      color = word;
    else if (strlen(text) == (size_t)(equals - word) &&
             strncmp(text, word, strlen(text)) == 0)
      color = equals + 1;
  }
  (void)snprintf(style, sizeof(style), "\033[%sm", color);
  (void)fputs(cli_style(stdout, color[0] != '\0' ? style : ""), out);
  cli_print(out, text);
  (void)fputs(cli_style(stdout, color[0] != '\0' ? "\033[0m" : ""), out);
}

/* Prints ": " and the text, as an explanation of what is before it. */
static void as_colon(FILE *out, const part *p)
{
  const char *text = cli_json_text(p->json, p->at, "");

  if (text[0] != '\0')
    (void)fputs(": ", out);
  cli_print(out, text);
}

/* Prints a number and a word, or nothing for 0. */
static void as_some(FILE *out, const part *p)
{
  int64_t n = cli_json_number(p->json, p->at, "", 0);

  if (n != 0)
    (void)fprintf(out, "%lld %s", (long long)n, p->words[1]);
}

/* Prints some words if the value is true. */
static void as_if(FILE *out, const part *p)
{
  for (int i = 1; i < WORDS && pai_json_bool(p->json, p->at) != 0; i++)
    (void)fprintf(out, "%s%s", i > 1 && p->words[i][0] != '\0' ? " " : "",
                  p->words[i]);
}

/* --- forms --------------------------------------------------------------- */

static const struct {
  const char *how;
  void (*put)(FILE *out, const part *p);
} hows[] = {
  { "", as_text },           { "text", as_text },
  { "flag", as_flag },       { "list", as_list },
  { "map", as_map },         { "count", as_count },
  { "percent", as_percent }, { "memory", as_memory },
  { "mib", as_mib },         { "cpus", as_cpus },
  { "use", as_use },         { "use-cpus", as_use_cpus },
  { "left", as_left },       { "left-cpus", as_left_cpus },
  { "ago", as_ago },         { "until", as_until },
  { "style", as_style },     { "colon", as_colon },
  { "some", as_some },       { "if", as_if },
  { "lasted", as_lasted },   { "date", as_date },
  { "state", as_state },
};

/* Prints one {...} and returns what follows it. */
static const char *read_part(part *p, const char *form, const cli_each *record)
{
  size_t len = strcspn(form, ":|}");
  char path[WORD];

  *p = (part){ .json = record->json, .of = record->at };
  (void)snprintf(path, sizeof(path), "%.*s", (int)len, form);
  p->at = cli_json_get(p->json, p->of, path);
  form += len;
  for (int i = 0; (*form == ':' || *form == ' ') && i < WORDS; i++) {
    len = strcspn(++form, " |}");
    (void)snprintf(p->words[i], WORD, "%.*s", (int)len, form);
    form += len;
  }
  if (*form == '|') {
    len = strcspn(++form, "}");
    (void)snprintf(p->other, WORD, "%.*s", (int)len, form);
    form += len;
  }
  return form + (*form == '}');
}

static void put_value(FILE *out, const part *p)
{
  for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++)
    if (strcmp(hows[i].how, p->words[0]) == 0)
      hows[i].put(out, p);
}

/* Prints the value, or what stands for it if it prints nothing. */
static void put_part(FILE *out, const part *p)
{
  char *text = NULL;
  size_t len = 0;
  FILE *some = p->other[0] != '\0' ? open_memstream(&text, &len) : NULL;

  put_value(some != NULL ? some : out, p);
  if (some != NULL && fclose(some) == 0)
    (void)fputs(len > 0 ? text : p->other, out);
  free(text);
}

void cli_print_form(FILE *out, const char *form, const cli_each *record)
{
  size_t len;
  part p;

  for (; *form != '\0'; form += len) {
    len = strcspn(form, "{");
    (void)fwrite(form, 1, len, out);
    if (form[len] == '\0')
      return;
    form += len + 1;
    len = 0;
    if (form[0] == '?') { /* a form for records that have this member */
      form = read_part(&p, form + 1, record);
      if (p.at == PAI_JSON_NONE)
        return;
    } else if (strncmp(form, "#}", 2) == 0) {
      cli_print(out, record->key != NULL ? record->key : "");
      len = 2;
    } else {
      form = read_part(&p, form, record);
      put_part(out, &p);
    }
  }
}

char *cli_form_text(const char *form, const cli_each *record)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);

  if (out == NULL)
    return NULL;
  if (record != NULL)
    cli_print_form(out, form, record);
  else
    cli_print(out, form);
  if (fclose(out) == 0)
    return text;
  free(text);
  return NULL;
}

void cli_print_fields(FILE *out, const cli_column *fields,
                      const cli_each *record)
{
  int width = fields->width;

  for (const cli_column *f = fields; f->head != NULL; f++)
    width = (int)strlen(f->head) > width ? (int)strlen(f->head) : width;
  for (const cli_column *f = fields; f->head != NULL; f++) {
    char *text = cli_form_text(f->form, record);

    if (text != NULL && text[0] == '\n') /* has lines of its own */
      (void)fprintf(out, "%s%s\n", f->head, text);
    else if (text != NULL && text[0] != '\0')
      (void)fprintf(out, "%-*s  %s\n", width, f->head, text);
    free(text);
  }
}

/* --- tables -------------------------------------------------------------- */

void cli_table_take(cli_table *t, char *cell)
{
  char **more =
    (char **)realloc((void *)t->cells, (t->count + 1) * sizeof(char *));

  if (more != NULL)
    t->cells = more;
  if (more != NULL && cell != NULL) {
    more[t->count++] = cell;
    return;
  }
  free(cell);
  t->failed = true;
}

void cli_table_add(cli_table *t, const char *cell)
{
  cli_table_take(t, cli_form_text(cell, NULL));
}

/* Returns the column at the beginning of a list, or NULL. */
static const cli_column *find_column(const cli_column *all, const char *name,
                                     size_t len)
{
  for (; all->head != NULL; all++)
    if (strlen(all->head) == len && strncasecmp(all->head, name, len) == 0)
      return all;
  return NULL;
}

const char *cli_table_choose(cli_column out[CLI_COLUMNS],
                             const cli_column *all, const char *names)
{
  size_t n = 0;

  for (size_t len; *names != '\0' && n + 2 < CLI_COLUMNS;
       names += len + (names[len] == ',')) {
    const cli_column *found;

    len = strcspn(names, ",");
    found = len > 0 ? find_column(all, names, len) : NULL;
    if (found == NULL)
      return names;
    out[n++] = *found;
  }
  for (; all->head != NULL; all++)
    if (all->head[0] == '\0')
      out[n++] = *all;
  out[n] = (cli_column){ .head = NULL };
  return NULL;
}

void cli_table_begin(cli_table *t, const cli_column *columns)
{
  *t = (cli_table){ .columns = columns };
  for (; columns[t->size].head != NULL; t->size++)
    cli_table_add(t, columns[t->size].head);
}

void cli_table_add_record(cli_table *t, const cli_each *record)
{
  for (size_t i = 0; i < t->size; i++)
    cli_table_take(t, cli_form_text(t->columns[i].form, record));
}

/* Returns the width of a cell without its colour sequences. */
static int width_of_cell(const char *cell)
{
  cli_cell c = { .next = cell, .left = strlen(cell) };

  while (c.left > 0) {
    size_t n = *c.next == '\033' ? strcspn(c.next, "m") + 1 : 0;

    c.next += n;
    c.left -= n;
    if (n == 0)
      (void)cli_next_cell(&c);
  }
  return (int)c.column;
}

/* Columns of text are as wide as their longest cell, within limits. */
static int width_of(const cli_table *t, size_t column)
{
  int width = t->columns[column].width;

  for (size_t i = column; i < t->count; i += t->size) {
    int w = width_of_cell(t->cells[i]);

    if (w > WIDEST && !t->columns[column].right)
      w = WIDEST;
    width = w > width ? w : width;
  }
  return width;
}

void cli_table_free(cli_table *t)
{
  if (t->failed)
    cli_fail("out of memory");
  for (size_t i = 0; i < t->count; i++)
    free(t->cells[i]);
  free((void *)t->cells);
  *t = (cli_table){ 0 };
}

/* Prints a cell without its colours. */
static void print_plain(FILE *out, const char *cell)
{
  while (*cell != '\0') {
    size_t n = strcspn(cell, "\033");

    (void)fwrite(cell, 1, n, out);
    cell += n;
    cell += *cell != '\0' ? strcspn(cell, "m") + 1 : 0;
  }
}

/* A marked row has a single colour.  Empty cells at the end take no room. */
static void print_row(const cli_table *t, size_t row, const int *widths,
                      FILE *out)
{
  char *const *cells = t->cells + row * t->size;
  bool marked = row > 0 && row == t->marked;
  size_t last = t->size;

  while (last > 1 && cells[last - 1][0] == '\0')
    last--;
  (void)fputs(marked ? "\033[7m" : "", out);
  for (size_t i = 0; i < last; i++) {
    bool right = t->columns[i].right;
    int left = widths[i] - width_of_cell(cells[i]);

    left = left > 0 ? left : 0;
    (void)fprintf(out, "%*s", right ? left : 0, "");
    if (marked)
      print_plain(out, cells[i]);
    else
      (void)fputs(cells[i], out);
    if (i + 1 < last)
      (void)fprintf(out, "%*s", (right ? 0 : left) + 2, "");
  }
  (void)fputs(marked ? "\033[0m\n" : "\n", out);
}

void cli_table_end(cli_table *t, FILE *out)
{
  int *widths = calloc(t->size + 1, sizeof(*widths));

  for (size_t i = 0; widths != NULL && i < t->size; i++)
    widths[i] = width_of(t, i);
  for (size_t i = 0; i * t->size < t->count && !t->failed && widths != NULL;
       i++)
    print_row(t, i, widths, out);
  t->failed |= widths == NULL;
  free(widths);
  cli_table_free(t);
}

void cli_print_table(FILE *out, const cli_column *columns, cli_each records)
{
  cli_table t;

  cli_table_begin(&t, columns);
  while (cli_next(&records))
    cli_table_add_record(&t, &records);
  cli_table_end(&t, out);
}
