/* follow.h - GET /jobs/NAME/follow, taken apart as it comes */
#ifndef PAI_SRC_CLI_FOLLOW_H
#define PAI_SRC_CLI_FOLLOW_H

#include "json.h"

/* A line of it: a state of the job or of a task, or what a task printed. */
typedef struct cli_followed {
  const char *line; /* as it came, JSON, without its newline */
  bool is_job, is_output;
  const char *role, *state, *text; /* "" where there is none */
  uint32_t index;
  int64_t attempt, time_us, code;
  int stream; /* of output */
} cli_followed;

typedef struct cli_follower {
  /* A state; `bytes` is NULL.  Or output: some of it, in order. */
  void (*on_line)(void *user_data, const cli_followed *line, const char *bytes,
                  size_t len);
  void *user_data;
  char *kept; /* a line that is not whole yet */
  size_t len, cap;
  cli_json json;     /* of the last line */
  cli_followed now;  /* in it */
  size_t bytes_left; /* of output that belong to it */
} cli_follower;

/* Takes bytes: PAI_OK, PAI_ENOMEM or PAI_EINVAL. */
int cli_follow_add(cli_follower *f, const char *bytes, size_t len);
void cli_follow_end(cli_follower *f);

/* Prints a line as it came; the job's last one without its end, which is true. */
bool cli_follow_print(const cli_followed *line, bool last);
/* The end of that: what is known of the failure of the job, which may be NULL. */
void cli_follow_print_end(const cli_json *job);

#endif
