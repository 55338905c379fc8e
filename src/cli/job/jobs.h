/* jobs.h - functions shared by the verbs about jobs */
#ifndef PAI_SRC_CLI_JOBS_H
#define PAI_SRC_CLI_JOBS_H

#include "remote.h"

/* A job to submit. */
typedef struct cli_submission {
  const char *text;
  size_t len;
  const char *name;   /* name to give the job; NULL: the file's */
  const char *wanted; /* the name in the file */
  const char *code;   /* folder to copy for the job, or NULL */
  /* a job to repeat, or NULL: its folder, its secrets, and its code unless
   * `code` is set */
  const char *like;
  const char *item; /* id of the marketplace's item that it is from, or NULL */
  char **answer;    /* NULL, or set to the server's answer, for free() */
  bool quiet;       /* print no progress */
  bool no_notes;    /* nor a note about another name that the job got */
  /* refuse a job that exceeds the cluster, instead of queueing it */
  bool refuse;
  bool input, tty; /* keep the tasks' standard input open; as a terminal */
} cli_submission;

/* Submits a job.  If the file's own name is taken, _2, _3, ... is appended.
 * *name, for free(), is the resulting name.  Returns CLI_OK, or CLI_NO after
 * printing an error. */
int cli_submit(cli_remote *r, const cli_submission *s, char **name);

/* Prints the name of a submitted job (submit.c). */
void cli_print_name(const char *name, bool json);

/* Returns whether this can be the name of a job of this user; NULL can.  If
 * not, prints an error. */
bool cli_own_job_name(const char *name);

/* Asks a job to end, with `now` at once.  Returns false after printing an
 * error. */
bool cli_stop_job(cli_remote *r, const char *name, bool now);
/* The same without printing; the answer is in *a. */
void cli_ask_to_stop(cli_remote *r, cli_answer *a, const char *name, bool now);

/* Returns whether a job in this state is over. */
bool cli_is_over(const char *state);
/* Returns the colour of a state on that stream. */
const char *cli_state_style(FILE *out, const char *state);
/* Prints a state in its colour, without control characters.  `terminal` is the
 * stream that decides about colours; `to` may be a buffer. */
void cli_print_state(FILE *to, FILE *terminal, const char *state);
/* Prints a text without control characters, padded to a width. */
void cli_print_padded(FILE *to, const char *text, int width);
/* Formats "3s", "4m", "2h05m", "3d"; "-" if negative. */
void cli_duration(char *out, size_t size, int64_t ms);
/* Formats a time in ms as "2026-05-01 14:05", in this machine's zone. */
const char *cli_date(char out[32], int64_t ms);
/* Returns the current time in ms since the epoch. */
int64_t cli_now(void);

/* Copies a user's folder into the root for a job and returns the path of the
 * copy, for free(); NULL after printing an error (posix_code.c). */
char *cli_copy_code(const char *root, const char *from, bool quiet);
/* Removes a copy that no job uses. */
void cli_remove_code(const char *path);
/* The same for a platform in whose root this user cannot write: sends the
 * folder to the server. */
char *cli_send_code(cli_remote *r, const char *job, const char *from,
                    bool quiet);

/* Returns the code to show for a job that is over (GET /jobs/NAME): the
 * completion code, or the task's own exit code if the platform does not know
 * the cause. */
int64_t cli_result_code(const pai_json *job);
/* The same for a task of the job; INT64_MIN: it has no code yet. */
int64_t cli_result_task_code(const pai_json *job, size_t task);
/* Returns the exit code of `run` and `wait` for the job: CLI_BROKEN if it has
 * none. */
int cli_exit_code(const pai_json *job);

/* Prints the known failure of a job as JSON: the API's object, or null. */
void cli_write_failure(FILE *out, const pai_json *job);
bool cli_has_failure(const pai_json *job);
/* Formats why the command did not run, or "". */
void cli_end_why(char *out, size_t size, const pai_json *job);
/* Prints why a job failed and what can be done, indented; nothing if the cause
 * is not known. */
void cli_print_reason(FILE *out, const pai_json *job);
/* Prints how the last attempt of a job that waits for a retry ended, and what
 * can be done; nothing if that is not known.  `why` is the answer of GET
 * /jobs/NAME/why. */
void cli_print_last_failure(FILE *out, const pai_json *why);
/* Prints what ended a failed or stopped job: the cause, the task, its last
 * line of output and what can be done.  Prints nothing for other jobs. */
void cli_print_end(FILE *out, const char *name, const pai_json *job);

/* Prints a line, after `before`, for each task of a job (GET /jobs/NAME) of
 * whose output a part is in no log. */
void cli_print_lost_output(FILE *out, const char *before, const pai_json *job);

/* Checks the positional words of a verb that takes names of jobs.  Prints an
 * error if there are none or one is not a valid name. */
bool cli_want_jobs(int words, char **argv);

#endif
