/*
 * lines.h - task output in whole lines, of several tasks with the task's name
 * before each line
 *
 * How `run` and `logs` treat carriage returns (openpai(1), OUTPUT OF TASKS):
 *
 * - Output of one task without its name is passed on byte for byte.  A terminal
 *   draws it as it would draw the program's own output.
 * - Otherwise a carriage return starts the line again.  When the line ends,
 *   its last state is printed.  "\r\n" ends a line as "\n" does.
 * - On a terminal, a restarted line that has not ended is shown below the
 *   output, one row for each stream of a task, at most ten times a second.
 *
 * So a progress bar is a single line in a file, and moves on a terminal.
 */
#ifndef PAI_SRC_CLI_LINES_H
#define PAI_SRC_CLI_LINES_H

#include "cli.h"

/* A line that has not ended; zero-filled it is empty. */
typedef struct cli_line {
  char *text;
  size_t len, cap;
  bool back;    /* the last byte was a carriage return */
  bool redrawn; /* bytes came after a carriage return */
} cli_line;

/* The label printed before each line. */
typedef struct cli_label {
  const char *name; /* NULL: no label */
  int width;        /* of the longest name */
  size_t number;    /* of the task; selects its colour */
  FILE *to;         /* stdout, or a buffer that is shown later */
} cli_label;

/* Appends bytes to the line; returns false if memory is short.  `text` may be
 * a tail of the line's own text. */
bool cli_line_keep(cli_line *line, const char *text, size_t len);
/* Adds output and prints the lines that end in it. */
void cli_line_add(cli_line *line, const cli_label *label, const char *text,
                  size_t len);
/* Prints an unfinished line after the last output. */
void cli_line_end(cli_line *line, const cli_label *label);
/* Prints a line that is being redrawn, cut to `width` columns and without
 * control characters.  Returns false if the line is not being redrawn. */
bool cli_line_paint(FILE *to, const cli_line *line, const cli_label *label,
                    unsigned width);
void cli_line_free(cli_line *line);

#endif
