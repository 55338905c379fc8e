/* lines.c - task output in whole lines, each with the task's name before it */
#include "lines.h"

#include "cells.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_LINE = 1 << 20 }; /* longer lines are split */

static const char *const colors[] = { "\033[36m", "\033[33m", "\033[35m",
                                      "\033[32m", "\033[34m", "\033[31m" };

bool cli_line_keep(cli_line *line, const char *text, size_t len)
{
  if (line->len + len > line->cap) {
    size_t cap = (line->len + len) * 2;
    char *grown = realloc(line->text, cap);
    if (grown == NULL)
      return false;
    line->text = grown;
    line->cap = cap;
  }
  if (len > 0)
    memmove(line->text + line->len, text, len);
  line->len += len;
  return true;
}

void cli_line_free(cli_line *line)
{
  free(line->text);
  *line = (cli_line){ 0 };
}

/* Returns the length of the escape sequence at the beginning: "ESC [ ...
 * letter", a string for the terminal such as its title, or two characters; 0:
 * none.  An incomplete sequence has the length of the text. */
static size_t sequence(const char *text, size_t len)
{
  size_t n = 2;

  if (len == 0 || text[0] != '\033')
    return 0;
  if (len == 1)
    return 1;
  if (text[1] == '[') {
    while (n < len && (unsigned char)text[n] < 0x40)
      n++;
    return n < len ? n + 1 : len;
  }
  if (text[1] == '\0' || strchr("]P_^X", text[1]) == NULL)
    return 2;
  while (n < len && text[n] != '\a' &&
         !(text[n] == '\033' && n + 1 < len && text[n + 1] == '\\'))
    n++;
  return n >= len ? len : text[n] == '\a' ? n + 1 : n + 2;
}

static void print_name(FILE *to, const cli_label *label)
{
  const char *color =
    colors[label->number % (sizeof(colors) / sizeof(colors[0]))];

  if (label->name != NULL)
    (void)fprintf(to, "%s%-*s |%s ", cli_style(stdout, color), label->width,
                  label->name, cli_style(stdout, "\033[0m"));
}

/* Passes colours on.  Other sequences could move the cursor out of the
 * line. */
static void print_text(FILE *to, const char *text, size_t len)
{
  const char *escape;

  while (len > 0 && (escape = memchr(text, '\033', len)) != NULL) {
    size_t n = sequence(escape, len - (size_t)(escape - text)),
           before = (size_t)(escape - text);

    (void)fwrite(text, 1, before, to);
    if (n > 2 && escape[1] == '[' && escape[n - 1] == 'm')
      (void)fwrite(escape, 1, n, to);
    n += before;
    text += n;
    len -= n;
  }
  if (len > 0)
    (void)fwrite(text, 1, len, to);
}

static void print_line(const cli_label *label, const char *text, size_t len)
{
  print_name(label->to, label);
  if (label->name != NULL || label->to != stdout)
    print_text(label->to, text, len);
  else if (len > 0)
    (void)fwrite(text, 1, len, label->to);
  (void)fputc('\n', label->to);
}

static void print_kept(cli_line *line, const cli_label *label)
{
  print_line(label, line->text, line->len);
  line->len = 0;
  line->back = line->redrawn = false;
}

static void keep_some(cli_line *line, const cli_label *label, const char *text,
                      size_t len)
{
  if (len == 0)
    return;
  if (line->back) {
    line->len = 0;
    line->back = false;
    line->redrawn = true;
  }
  if (line->len + len > LONGEST_LINE)
    print_kept(line, label);
  if (!cli_line_keep(line, text, len))
    print_line(label, text, len);
}

/* Adds a part of one line.  Of overwritten text only the last state is
 * kept. */
static void add_part(cli_line *line, const cli_label *label, const char *text,
                     size_t len)
{
  const char *back;

  while (len > 0 && (back = memchr(text, '\r', len)) != NULL) {
    size_t n = (size_t)(back - text);

    keep_some(line, label, text, n);
    line->back = true;
    text += n + 1;
    len -= n + 1;
  }
  keep_some(line, label, text, len);
}

void cli_line_add(cli_line *line, const cli_label *label, const char *text,
                  size_t len)
{
  const char *newline;

  while (len > 0 && (newline = memchr(text, '\n', len)) != NULL) {
    size_t n = (size_t)(newline - text);

    if (line->len == 0 && memchr(text, '\r', n) == NULL) {
      print_line(label, text, n);
      line->back = line->redrawn = false;
    } else {
      add_part(line, label, text, n);
      print_kept(line, label);
    }
    text += n + 1;
    len -= n + 1;
  }
  add_part(line, label, text, len);
}

void cli_line_end(cli_line *line, const cli_label *label)
{
  if (line->len > 0)
    print_kept(line, label);
  line->back = line->redrawn = false;
}

bool cli_line_paint(FILE *to, const cli_line *line, const cli_label *label,
                    unsigned width)
{
  unsigned used = label->name != NULL ? (unsigned)label->width + 3 : 0;
  cli_cell c = { .next = line->text, .left = line->len };

  if (!line->redrawn)
    return false;
  print_name(to, label);
  for (size_t n = 0; c.left > 0;) {
    if ((n = sequence(c.next, c.left)) > 0) {
      c.next += n;
      c.left -= n;
    } else if (cli_next_cell(&c) && used + c.column <= width) {
      (void)fputs(c.shown, to);
    } else {
      break;
    }
  }
  (void)fputc('\n', to);
  return true;
}
