/*
 * lines.h - what tasks print, as whole lines, of several tasks with the task's
 * name before each
 *
 * The rule of carriage returns, for `run` and `logs`; openpai(1) has it in the
 * section OUTPUT OF TASKS:
 *
 * - Output of one task without its name is passed on byte for byte.  A terminal
 *   draws it as it would draw the program's own output.
 * - Else a carriage return begins the line again.  When the line ends, its last
 *   state is printed.  "\r\n" ends a line as "\n" does.
 * - On a terminal, a line that was begun again and has not ended is shown below
 *   the output, one row for each stream of a task, drawn ten times a second at
 *   most.
 *
 * So a progress bar is one line of a file, and moves on a terminal.
 */
#ifndef PAI_SRC_CLI_LINES_H
#define PAI_SRC_CLI_LINES_H

#include "cli.h"

/* A line that has not ended; all 0 is an empty one. */
typedef struct cli_line {
  char *text;
  size_t len, cap;
  bool back;    /* the last byte was a carriage return */
  bool redrawn; /* something came after one */
} cli_line;

/* What is printed before each line. */
typedef struct cli_label {
  const char *name; /* NULL: nothing */
  int width;        /* of the longest of all names */
  size_t number;    /* of the task: its colour */
  FILE *to;         /* stdout, or what is shown there later */
} cli_label;

/* Keeps bytes at the end of a line; false when memory is short.  `text` may be
 * the end of what is kept already. */
bool cli_line_keep(cli_line *line, const char *text, size_t len);
/* Takes output: prints the lines that end in it. */
void cli_line_add(cli_line *line, const cli_label *label, const char *text,
                  size_t len);
/* Prints what waits for an end that will not come. */
void cli_line_end(cli_line *line, const cli_label *label);
/* Prints a line that is being redrawn, in so many columns: nothing in it acts
 * on a terminal but the colour of the name.  False: it is not. */
bool cli_line_paint(FILE *to, const cli_line *line, const cli_label *label,
                    unsigned width);
void cli_line_free(cli_line *line);

#endif
