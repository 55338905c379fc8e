/* jobs.h - what the verbs about jobs have in common */
#ifndef PAI_SRC_CLI_JOBS_H
#define PAI_SRC_CLI_JOBS_H

#include "remote.h"

/* "--root DIR" in the help of a verb. */
#define JOBS_ROOT_HELP                                                \
  "  --root DIR       the platform's root (default: $OPENPAI_ROOT,\n" \
  "                   or $XDG_STATE_HOME/openpai, or\n"               \
  "                   ~/.local/state/openpai)\n"                      \
  "  -h, --help\n"

/* A job that is submitted. */
typedef struct cli_submission {
  const char *text;
  size_t len;
  const char *name;   /* that it shall have; NULL: as the file says */
  const char *wanted; /* that the file says */
  const char *code;   /* folder that it gets a copy of, or NULL */
  const char *like;   /* a job that it is to be like: its folder, its code if
                         there is no other, its secrets; or NULL */
  char **answer;      /* NULL, or gets what the server answered, for free() */
  bool quiet;
  bool refuse;     /* if it asks for more than there is; else it may wait */
  bool input, tty; /* its tasks' standard input stays open, as a terminal */
} cli_submission;

/* Submits; a name that the file says and that is taken gets _2, _3, ... behind
 * it.  *name, for free(), is the one that it got.  CLI_OK; CLI_NO, and told. */
int cli_submit(cli_remote *r, const cli_submission *s, char **name);

/* Whether it can be the name of a job of this user, or is NULL; else that is
 * told. */
bool cli_own_job_name(const char *name);

/* Asks a job to end: with `now` at once.  False, and told. */
bool cli_stop_job(cli_remote *r, const char *name, bool now);
/* The same, and nothing is told. */
void cli_ask_to_stop(cli_remote *r, cli_answer *a, const char *name, bool now);

/* Whether a job in that state is over. */
bool cli_is_over(const char *state);
/* A state in its colour on that stream. */
const char *cli_state_style(FILE *out, const char *state);
/* The state itself in its colour, without what would act on the terminal; where
 * it is held back for a terminal, `to` is not that. */
void cli_print_state(FILE *to, FILE *terminal, const char *state);
/* A text likewise, and spaces up to a width. */
void cli_print_padded(FILE *to, const char *text, int width);
/* "3s", "4m", "2h05m", "3d"; "-" for less than 0. */
void cli_duration(char *out, size_t size, int64_t ms);
/* Now, in ms since the epoch. */
int64_t cli_now(void);

/* A copy of a user's folder in the root, for a job: its path, for free(); NULL,
 * and told (posix_code.c). */
char *cli_copy_code(const char *root, const char *from, bool quiet);
/* A copy that no job has taken goes. */
void cli_remove_code(const char *path);
/* The same for a platform in whose root this user cannot write: it is sent. */
char *cli_send_code(cli_remote *r, const char *job, const char *from,
                    bool quiet);

/* The code that people are told of a job that is over, as of GET /jobs/NAME:
 * where the platform could make nothing of its end, the task's own. */
int64_t cli_told_code(const cli_json *job);
/* Likewise of one of its tasks; INT64_MIN: it has none yet. */
int64_t cli_told_task_code(const cli_json *job, size_t task);
/* The exit code of `run` and `wait` for it: CLI_BROKEN where there is none. */
int cli_exit_code(const cli_json *job);

/* What is known of its failure, as JSON: the API's object, or null. */
void cli_write_failure(FILE *out, const cli_json *job);
bool cli_has_failure(const cli_json *job);
/* Why it could not be started, or "". */
void cli_end_why(char *out, size_t size, const cli_json *job);
/* Why a job failed and what can be done, indented, if that is not for its user
 * alone to know. */
void cli_print_reason(FILE *out, const cli_json *job);
/* What ended a job that failed or was stopped, in the words that its owner
 * needs: what, where, the last that it printed, what can be done.  Nothing of
 * others. */
void cli_print_end(FILE *out, const char *name, const cli_json *job);

/* Of which tasks of a job (GET /jobs/NAME) output is in no log: a line for each,
 * with such words before it. */
void cli_print_lost_output(FILE *out, const char *before, const cli_json *job);

/* Words of a verb that are jobs' names: none, or a wrong one, is told. */
bool cli_want_jobs(const cli_verb *verb, int words, char **argv, int most);

#endif
