/* output.h - task output: of one task as it comes, of several in lines marked
 * with the task's name; or JSON */
#ifndef PAI_SRC_CLI_OUTPUT_H
#define PAI_SRC_CLI_OUTPUT_H

#include "lines.h"

typedef struct cli_output {
  const pai_spec *spec;
  bool json;
  FILE *to; /* where lines go: stdout, or what is shown there later */
  /* Two per task, of stdout and stderr: what is not shown yet.  A line without
   * its newline, or with JSON a character without its last bytes. */
  cli_line *lines;
  size_t ntasks;
  int width; /* of the longest task name */
  bool cut;  /* on a terminal: the last byte is within a line */
  int lost;  /* why standard error could not be written, or 0 */
} cli_output;

/* False when memory is short. */
bool cli_output_init(cli_output *out, const pai_spec *spec, bool json);
void cli_output_dispose(cli_output *out);
/* What a task has just written on one stream, and when. */
typedef struct cli_piece {
  const char *role;
  uint32_t index;
  int stream;
  int64_t attempt, time_us;
  const char *text;
  size_t len;
} cli_piece;

/* The number of a task in the job, roles in the order of the file. */
size_t cli_task_number(const pai_spec *spec, const char *role, uint32_t index);
void cli_output_add(cli_output *out, cli_piece piece);
/* What is said next on a terminal begins a line. */
void cli_output_break(cli_output *out);
/* Shows what waits for more that will not come: of a task, or with a NULL role
 * of all. */
void cli_output_end(cli_output *out, const cli_piece *of);
/* Prints the lines that tasks are redrawing, in so many rows at most: how many
 * it has printed. */
unsigned cli_output_paint(const cli_output *out, FILE *to, unsigned width,
                          unsigned rows);

#endif
