/*
 * findings.c - what is wrong with a file, in the manner of a compiler
 *
 *   job.yaml:6:16: error: instances cannot be 0 [too-small]
 *       6 |     instances: 0
 *         |                ^
 *     help: give 1 or more
 */
#include "cells.h"
#include "file.h"

#include <string.h>

static void repeat(FILE *out, char c, unsigned count)
{
  for (; count > 0; count--)
    (void)fputc(c, out);
}

/* ^~~~ below the characters from the finding's first to its last. */
static void print_marks(FILE *out, const pai_diagnostic *d, cli_cell c)
{
  char mark = '^';

  while (cli_next_cell(&c) && c.character < d->source_end_column) {
    if (c.character < d->source_column || c.width == 0) {
      repeat(out, ' ', c.width);
      continue;
    }
    (void)fputc(mark, out);
    mark = '~';
    repeat(out, mark, c.width - 1);
  }
  if (mark == '^') /* past the end of the line */
    (void)fputc(mark, out);
}

static void print_source(FILE *out, const pai_diagnostic *d)
{
  const cli_cell start = { .next = d->source, .left = strlen(d->source) };
  cli_cell c = start;
  int digits = fprintf(out, "%5u", d->line);

  (void)fputs(" | ", out);
  while (cli_next_cell(&c))
    (void)fputs(c.shown, out);
  (void)fprintf(out, "\n%*s | %s", digits, "", cli_style(out, "\033[1;32m"));
  print_marks(out, d, start);
  (void)fprintf(out, "%s\n", cli_style(out, "\033[0m"));
}

void cli_print_findings(FILE *out, const char *name, const pai_report *report)
{
  const pai_diagnostic *d;

  for (size_t i = 0; (d = pai_report_get(report, i)) != NULL; i++) {
    (void)fputs(cli_style(out, "\033[1m"), out);
    cli_print(out, cli_shown_name(name));
    (void)fprintf(out, ":%u:%u:%s ", d->line, d->column,
                  cli_style(out, "\033[0m"));
    cli_level(
      out, d->severity == PAI_SEVERITY_ERROR ? PAI_LOG_ERROR : PAI_LOG_WARNING,
      d->message);
    (void)fprintf(out, " [%s]\n", d->code);
    if (d->source != NULL)
      print_source(out, d);
    if (d->help != NULL)
      cli_help(out, d->help);
  }
}
