/* output.h - printing task output: bytes of one task, labelled lines of
 * several tasks, or JSON */
#ifndef PAI_SRC_CLI_OUTPUT_H
#define PAI_SRC_CLI_OUTPUT_H

#include "lines.h"

typedef struct cli_output {
  const pai_spec *spec;
  bool json;
  FILE *to; /* stdout, or a buffer that is shown later */
  /* Unfinished lines, two per task: stdout and stderr.  With JSON the first
   * bytes of an incomplete character. */
  cli_line *lines;
  size_t ntasks;
  int width; /* of the longest task name */
  bool cut;  /* on a terminal: the last byte printed was not a newline */
  int lost;  /* errno of a failed write to standard error, or 0 */
} cli_output;

/* Returns false if memory is short. */
bool cli_output_init(cli_output *out, const pai_spec *spec, bool json);
void cli_output_dispose(cli_output *out);
/* A piece of output of one task on one stream, with its time. */
typedef struct cli_piece {
  const char *role;
  uint32_t index;
  int stream;
  int64_t attempt, time_us;
  const char *text;
  size_t len;
} cli_piece;

/* Returns the number of a task in the job, with roles in the order of the
 * file. */
size_t cli_task_number(const pai_spec *spec, const char *role, uint32_t index);
void cli_output_add(cli_output *out, cli_piece piece);
/* On a terminal, ends an unfinished line before other output. */
void cli_output_break(cli_output *out);
/* Prints the unfinished lines of a task, or with role == NULL of all tasks. */
void cli_output_end(cli_output *out, const cli_piece *of);
/* Prints the lines that tasks are redrawing, at most `rows`.  Returns how many
 * it printed. */
unsigned cli_output_paint(const cli_output *out, FILE *to, unsigned width,
                          unsigned rows);

#endif
