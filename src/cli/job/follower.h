/* follower.h - parser of a job's event stream: lines of JSON with task output
 * between them */
#ifndef PAI_SRC_CLI_FOLLOWER_H
#define PAI_SRC_CLI_FOLLOWER_H

#include "json.h"

/* A line of the stream: a state of the job or of a task, or the header of task
 * output. */
typedef struct cli_followed {
  const char *line; /* the JSON as it came, without its newline */
  bool is_job, is_output;
  const char *role, *state, *text; /* "" if absent */
  uint32_t index;
  int64_t attempt, time_us, code;
  int stream; /* of output */
} cli_followed;

typedef struct cli_follower {
  /* Called for a state, with bytes == NULL, and for each piece of output, in
   * order. */
  void (*on_line)(void *user_data, const cli_followed *line, const char *bytes,
                  size_t len);
  void *user_data;
  char *kept; /* an incomplete line */
  size_t len, cap;
  pai_json *json;    /* of the last line */
  cli_followed now;  /* the last line */
  size_t bytes_left; /* of the current output, still to come */
} cli_follower;

/* Parses bytes of the stream.  Returns PAI_OK, PAI_ENOMEM or PAI_EINVAL. */
int cli_follow_add(cli_follower *f, const char *bytes, size_t len);

#endif
