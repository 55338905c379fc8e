/* output.h - task output: lines marked with the task's name, or JSON */
#ifndef PAI_SRC_CLI_OUTPUT_H
#define PAI_SRC_CLI_OUTPUT_H

#include "cli.h"

/* What a task wrote on one stream and is not shown yet: a line without its
 * newline, or with JSON a character without its last bytes. */
typedef struct cli_line {
  char *text;
  size_t len, cap;
} cli_line;

typedef struct cli_output {
  const pai_spec *spec;
  bool json;
  cli_line *lines; /* two per task: stdout, stderr */
  size_t ntasks;
  int width; /* of the longest task name */
} cli_output;

/* False when memory is short. */
bool cli_output_init(cli_output *out, const pai_spec *spec, bool json);
void cli_output_dispose(cli_output *out);
/* Shows what a PAI_EVENT_OUTPUT brings. */
void cli_output_add(cli_output *out, const pai_event *event);
/* Shows what waits for more that will not come: of the event's task, or of
 * all tasks when it is the job's event. */
void cli_output_end(cli_output *out, const pai_event *event);
/* Prints a PAI_EVENT_JOB or PAI_EVENT_TASK as a line of JSON. */
void cli_output_state(const pai_event *event);

#endif
