/* compat_table.c - how the old programs print: tables, JSON, lines of YAML */
#include "compat.h"

#include "cells.h"

#include <string.h>

/* --- tables ------------------------------------------------------------------------ */

static void repeat(char c, int times)
{
  for (int i = 0; i < times; i++)
    (void)fputc(c, stdout);
}

static void put_line(const cli_table *t, const char *ends, char between)
{
  for (size_t i = 0; i < t->columns; i++) {
    (void)fputc(i == 0 ? ends[0] : between, stdout);
    repeat('-', cli_table_width(t, i, 0) + 2);
  }
  (void)printf("%c\n", ends[0]);
}

void cli_old_boxes(cli_table *t)
{
  if (!t->failed)
    put_line(t, "+", '+');
  for (size_t i = 0; i < t->count && !t->failed; i++) {
    size_t column = i % t->columns;

    if (i > 0 && column == 0)
      put_line(t, "|", '|');
    (void)printf("| ");
    cli_print(stdout, t->cells[i]);
    repeat(' ', cli_table_width(t, column, 0) - cli_width(t->cells[i]) + 1);
    if (column + 1 == t->columns)
      (void)printf("|\n");
  }
  if (!t->failed) {
    put_line(t, "+", '+');
    (void)printf("\n");
  }
  cli_table_free(t);
}

/* Whether all below the heading are numbers, which stand on the right. */
static bool is_numeric(const cli_table *t, size_t column)
{
  bool any = false;

  for (size_t i = column + t->columns; i < t->count; i += t->columns) {
    const char *text = t->cells[i];
    size_t sign = *text == '-' || *text == '+';

    if (*text == '\0')
      continue;
    if (text[sign] == '\0' ||
        text[sign + strspn(text + sign, "0123456789")] != '\0')
      return false;
    any = true;
  }
  return any;
}

static void put_cells(const cli_table *t, size_t row)
{
  int behind = 0; /* spaces that are due if more follows */

  for (size_t i = 0; i < t->columns; i++) {
    const char *text = t->cells[row * t->columns + i];
    int left = cli_table_width(t, i, 2) - cli_width(text);
    bool right = is_numeric(t, i);

    if (*text != '\0') {
      repeat(' ', behind + (right ? left : 0));
      cli_print(stdout, text);
      behind = (right ? 0 : left) + 2;
    } else {
      behind += left + 2;
    }
  }
  (void)fputc('\n', stdout);
}

void cli_old_columns(cli_table *t)
{
  for (size_t row = 0; !t->failed && row * t->columns < t->count; row++) {
    put_cells(t, row);
    for (size_t i = 0; row == 0 && i < t->columns; i++) {
      repeat('-', cli_table_width(t, i, 2));
      (void)printf(i + 1 < t->columns ? "  " : "\n");
    }
  }
  cli_table_free(t);
}

/* --- JSON --------------------------------------------------------------------------- */

enum { INDENT = 4, MOST_DEPTH = 100 };

static void put_break(FILE *out, int depth)
{
  depth = depth > MOST_DEPTH ? MOST_DEPTH : depth;
  (void)fprintf(out, "\n%*s", depth > 0 ? depth * INDENT : 0, "");
}

/* The text that begins at p, with its quotes; behind it. */
static const char *put_string(FILE *out, const char *p, const char *end)
{
  const char *from = p++;

  while (p < end && *p != '"')
    p += *p == '\\' ? 2 : 1;
  p = p < end ? p + 1 : end;
  (void)fwrite(from, 1, (size_t)(p - from), out);
  return p;
}

void cli_old_json(FILE *out, const char *text, size_t len)
{
  const char *p = text, *end = text + len;
  int depth = 0;
  bool opened = false; /* just now: nothing is in it yet */

  while (p < end) {
    bool closes = *p == '}' || *p == ']';

    if (strchr(" \t\r\n", *p) != NULL) {
      p++;
      continue;
    }
    depth -= closes;
    if (opened != closes && (opened || closes))
      put_break(out, depth);
    opened = *p == '{' || *p == '[';
    depth += opened;
    if (*p == '"') {
      p = put_string(out, p, end);
      continue;
    }
    (void)fputc(*p, out);
    if (*p == ',')
      put_break(out, depth);
    else if (*p == ':')
      (void)fputc(' ', out);
    p++;
  }
  (void)fputc('\n', out);
}

int cli_old_answer(cli_remote *r, const char *path)
{
  int code = CLI_NO;
  cli_answer a;

  cli_remote_ask(r, &a, "GET", path, NULL, NULL, 0);
  if (a.status == PAI_OK) {
    cli_old_json(stdout, a.body, a.len);
    code = CLI_OK;
  } else {
    cli_answer_tell(&a);
  }
  cli_answer_free(&a);
  return code;
}

void cli_old_numbers(cli_json *j)
{
  for (size_t i = 0; i < j->count; i++)
    if (j->values[i].type == '0' && j->values[i].text != NULL) {
      char *text = (char *)j->values[i].text;
      text[strspn(text, "+-0123456789.eE")] = '\0';
    }
}

/* --- YAML ----------------------------------------------------------------------------- */

static size_t count(const char *text, char c)
{
  size_t n = 0;

  for (; *text != '\0'; text++)
    n += *text == c;
  return n;
}

/* Whether YAML would take a word for a number, or for a date. */
static bool is_number(const char *text)
{
  const char *c = text + (*text == '-' || *text == '+');
  size_t n = strspn(c, "0123456789_:."), digits = strspn(c, "0123456789");
  bool begins = digits > 0 || (c[0] == '.' && c[1] >= '0' && c[1] <= '9');

  if (c[0] == '0' && c[1] == 'x')
    return c[2] != '\0' &&
           c[2 + strspn(c + 2, "0123456789abcdefABCDEF_")] == 0;
  if (digits == 4 && c[4] == '-')
    return count(c, '-') == 2 && c[strspn(c, "0123456789-")] == '\0';
  if (!begins || count(c, '.') > 1)
    return false;
  if ((c[n] == 'e' || c[n] == 'E') && (c[n + 1] == '-' || c[n + 1] == '+'))
    return count(c, '.') == 1 && c[n + 2] != '\0' &&
           c[n + 2 + strspn(c + n + 2, "0123456789")] == '\0';
  return c[n] == '\0';
}

/* Whether it is one of the words that mean something to YAML. */
static bool is_word(const char *text)
{
  static const char *const words[] = { "null", "true", "false", "yes",  "no",
                                       "on",   "off",  ".inf",  ".nan", "=",
                                       "<<",   "~",    "" };

  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
    size_t k = 0;

    while (text[k] != '\0' &&
           (text[k] == words[i][k] || (text[k] | 0x20) == words[i][k]))
      k++;
    if (text[k] == '\0' && words[i][k] == '\0')
      return true;
  }
  return false;
}

/* What needs no quotes on a line of its own. */
static bool is_plain(const char *text)
{
  size_t len = strlen(text);

  if (is_word(text) || is_number(text) || text[0] == ' ' ||
      text[len - 1] == ' ' || strchr("#,[]{}&*!|>'\"%@`", text[0]) != NULL ||
      strncmp(text, "---", 3) == 0 || strncmp(text, "...", 3) == 0)
    return false;
  if (strchr("-?:", text[0]) != NULL && (text[1] == ' ' || text[1] == '\0'))
    return false;
  for (const char *p = text; *p != '\0'; p++)
    if (*p < ' ' || *p > '~' || (*p == ' ' && p[1] == '#') ||
        (*p == ':' && (p[1] == ' ' || p[1] == '\0')))
      return false;
  return true;
}

void cli_old_scalar(FILE *out, const char *text)
{
  const char *p = text;

  while (*p >= ' ' && *p <= '~')
    p++;
  if (is_plain(text)) {
    (void)fputs(text, out);
  } else if (*p != '\0') { /* no plain characters: with escapes */
    cli_json_string(out, text, strlen(text));
  } else {
    (void)fputc('\'', out);
    for (p = text; *p != '\0'; p++)
      (void)fprintf(out, *p == '\'' ? "''" : "%c", *p);
    (void)fputc('\'', out);
  }
}
