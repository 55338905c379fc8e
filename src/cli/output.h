/* output.h - task output, cut into lines and marked with the task's name */
#ifndef PAI_SRC_CLI_OUTPUT_H
#define PAI_SRC_CLI_OUTPUT_H

#include "cli.h"

/* What a task wrote without a newline yet, on one stream. */
typedef struct cli_line {
  char *text;
  size_t len, cap;
} cli_line;

typedef struct cli_output {
  const pai_spec *spec;
  cli_line *lines; /* two per task: stdout, stderr; NULL: memory was short */
  size_t ntasks;
  int width; /* of the longest task name */
} cli_output;

void cli_output_init(cli_output *out, const pai_spec *spec);
void cli_output_dispose(cli_output *out);
void cli_output_add(cli_output *out, const char *role, uint32_t index,
                    int stream, const char *text, size_t len);
/* Prints what is left without a newline: of one task, or of all. */
void cli_output_end_task(cli_output *out, const char *role, uint32_t index);
void cli_output_flush(cli_output *out);

#endif
