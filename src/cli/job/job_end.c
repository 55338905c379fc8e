/*
 * job_end.c - the end of a job, explained to its owner
 *
 * The API has OpenPAI's terms: an exit spec, a message of FrameworkController,
 * and Kubernetes' diagnostics with the runtime's report inside.  The functions
 * here extract the cause, the task, its last output and the suggested
 * solutions.
 */
#include "cells.h"
#include "jobs.h"

#include <string.h>

enum {
  UNKNOWN_CODE = 255, /* the command failed for an unknown reason */
  TIME_OVER = 124     /* as of timeout(1) */
};

static size_t status_of(const pai_json *job)
{
  return cli_json_get(job, 0, "jobStatus");
}

/* Returns the exit code of the command itself, or 0.  OpenPAI's servers have
 * it only in the report of the job's end. */
static int64_t own_code(const pai_json *job, size_t of)
{
  int64_t code = cli_json_number(job, of, "originUserExitCode", 0);

  if (code == 0)
    code = cli_json_number(job, of,
                           "appExitMessages/runtime/originUserExitCode", 0);
  return code > 0 && code <= 255 ? code : 0;
}

/* Returns the command's own exit code if the completion code only says that
 * the command failed. */
static int64_t told_code(const pai_json *job, size_t of, int64_t code)
{
  int64_t own = code == UNKNOWN_CODE ? own_code(job, of) : 0;

  return own != 0 ? own : code;
}

int64_t cli_result_code(const pai_json *job)
{
  size_t status = status_of(job);

  return told_code(job, status,
                   cli_json_number(job, status, "appExitCode", 0));
}

int64_t cli_result_task_code(const pai_json *job, size_t task)
{
  return told_code(job, task,
                   cli_json_number(job, task, "containerExitCode", INT64_MIN));
}

int cli_exit_code(const pai_json *job)
{
  const char *state = cli_json_text(job, status_of(job), "state");
  int64_t code = cli_result_code(job);

  if (strcmp(state, "SUCCEEDED") == 0)
    return CLI_OK;
  if (code > 0 && code <= 255)
    return (int)code;
  if (code == PAI_CODE_TIME_LIMIT)
    return TIME_OVER;
  /* A code of the platform, such as for too much memory. */
  code = strcmp(state, "FAILED") == 0 ? own_code(job, status_of(job)) : 0;
  return code != 0 ? (int)code : CLI_BROKEN;
}

/* --- in words ------------------------------------------------------------ */

static const char *end_reason(const pai_json *job)
{
  return cli_json_text(job, 0, "jobStatus/appExitSpec/reason");
}

static bool end_is_known(const pai_json *job)
{
  return *end_reason(job) != '\0' &&
         cli_json_number(job, status_of(job), "appExitCode", 0) !=
           UNKNOWN_CODE;
}

/* --- known failures ------------------------------------------------------ */

/* Returns the place of the known failure, if any. */
static size_t failure_of(const pai_json *job)
{
  return cli_json_get(job, 0, "jobStatus/failure");
}

bool cli_has_failure(const pai_json *job)
{
  return failure_of(job) != PAI_JSON_NONE;
}

static const char *failure_reason(const pai_json *job)
{
  return cli_json_text(job, failure_of(job), "reason");
}

void cli_write_failure(FILE *out, const pai_json *job)
{
  size_t failure = failure_of(job);
  const char *comma = "";

  if (failure == PAI_JSON_NONE) {
    (void)fputs("null", out);
    return;
  }
  cli_json_print(out, "{\"name\":%s,\"reason\":%s,\"solution\":[",
                 cli_json_text(job, failure, "name"),
                 cli_json_text(job, failure, "reason"));
  for (cli_each e = cli_each_of(job, cli_json_get(job, failure, "solution"));
       cli_next(&e); comma = ",") {
    (void)fputs(comma, out);
    cli_json_print(out, "%s", cli_json_text(job, e.at, ""));
  }
  cli_json_print(out, "],\"line\":%s}",
                 pai_json_text(job, cli_json_get(job, failure, "line"), NULL));
}

static void print_solutions(FILE *out, const char *before, const pai_json *job,
                            size_t of)
{
  for (cli_each e = cli_each_of(job, cli_json_get(job, of, "solution"));
       cli_next(&e);) {
    (void)fputs(before, out);
    cli_print(out, cli_json_text(job, e.at, ""));
    (void)fputc('\n', out);
  }
}

/* Prints the solutions of the known failure, else those of the completion
 * code. */
static void print_cures(FILE *out, const char *before, const pai_json *job)
{
  print_solutions(out, before, job,
                  cli_has_failure(job)
                    ? failure_of(job)
                    : cli_json_get(job, 0, "jobStatus/appExitSpec"));
}

/* Prints whose failure follows: of a running job only one task waits for its
 * next start. */
static void print_whose(FILE *out, const pai_json *why)
{
  const char *role = cli_json_text(why, 0, "role");

  if (*role == '\0' ||
      strcmp(cli_json_text(why, 0, "state"), "RUNNING") != 0) {
    (void)fputs("  its last attempt failed: ", out);
    return;
  }
  (void)fputs("  the last start of ", out);
  cli_print(out, role);
  (void)fprintf(
    out, "[%lld] failed: ", (long long)cli_json_number(why, 0, "index", 0));
}

void cli_print_last_failure(FILE *out, const pai_json *why)
{
  size_t spec = cli_json_get(why, 0, "exitSpec"),
         failure = cli_json_get(why, 0, "failure");
  bool known = failure != PAI_JSON_NONE;

  if (!known && spec == PAI_JSON_NONE)
    return;
  print_whose(out, why);
  cli_print(out, cli_json_text(why, known ? failure : spec, "reason"));
  (void)fputc('\n', out);
  if (known && *cli_json_text(why, failure, "line") != '\0') {
    (void)fputs("  printed: ", out);
    cli_print(out, cli_json_text(why, failure, "line"));
    (void)fputc('\n', out);
  }
  print_solutions(out, "  help: ", why, known ? failure : spec);
}

void cli_print_reason(FILE *out, const pai_json *job)
{
  const char *reason = failure_reason(job);

  if (*reason == '\0' && end_is_known(job))
    reason = end_reason(job);
  if (*reason == '\0')
    return;
  (void)fputs("  ", out);
  cli_print(out, reason);
  (void)fputc('\n', out);
  print_cures(out, "  help: ", job);
}

static void print_cause(FILE *out, const pai_json *job)
{
  if (*failure_reason(job) == '\0')
    return;
  (void)fputs("cause      ", out);
  cli_print(out, failure_reason(job));
  (void)fputc('\n', out);
}

/* Returns the last output of the task that decided the job's end, or "". */
static const char *last_output(const pai_json *job)
{
  return cli_json_text(job, 0,
                       "jobStatus/appExitMessages/runtime/errorLogs/user");
}

/* Prints the line by which the failure was recognised, else the last line. */
static void print_last_line(FILE *out, const pai_json *job)
{
  const char *text = cli_json_text(job, failure_of(job), "line"), *end, *line;
  char kept[200];

  if (*text == '\0')
    text = last_output(job);
  end = text + strlen(text);
  while (end > text && strchr(" \t\r\n", end[-1]) != NULL)
    end--;
  for (line = end; line > text && line[-1] != '\n';)
    line--;
  if (line == end)
    return;
  (void)snprintf(kept, sizeof(kept), "%.*s", (int)(end - line), line);
  (void)fputs("printed    ", out);
  cli_print(out, kept);
  (void)fputc('\n', out);
}

static void print_what(FILE *out, const char *state, const char *task,
                       const pai_json *job)
{
  int64_t code = cli_result_code(job);

  (void)fprintf(out, "%-10s ", state);
  if (*task != '\0')
    (void)fprintf(out, "task %s", task);
  if (!end_is_known(job) && *task != '\0')
    (void)fprintf(out, " exited with code %lld (from your program)",
                  (long long)code);
  else
    (void)fprintf(out, "%s%s", *task != '\0' ? ": " : "", end_reason(job));
  (void)fputc('\n', out);
}

void cli_print_end(FILE *out, const char *name, const pai_json *job)
{
  size_t s = status_of(job);
  const char *role = cli_json_text(job, s, "appExitTriggerTaskRoleName");
  bool failed = strcmp(cli_json_text(job, s, "state"), "FAILED") == 0;
  char task[300] = "";

  if (!failed && strcmp(cli_json_text(job, s, "state"), "STOPPED") != 0)
    return;
  if (*role != '\0')
    (void)snprintf(
      task, sizeof(task), "%s/%lld", role,
      (long long)cli_json_number(job, s, "appExitTriggerTaskIndex", 0));
  print_what(out, failed ? "failed" : "stopped", failed ? task : "", job);
  if (!failed)
    return;
  print_cause(out, job);
  print_last_line(out, job);
  print_cures(out, "help       ", job);
  if (*task != '\0')
    (void)fprintf(out, "logs       openpai logs %s --task %s\n", name, task);
}

/* --- its output ---------------------------------------------------------- */

/* A task's flag is about its latest start; lost output of earlier starts is
 * only known of the job. */
void cli_print_lost_output(FILE *out, const char *before, const pai_json *job)
{
  size_t told = 0;

  if (!cli_json_true(job, status_of(job), "outputLost"))
    return;
  for (cli_each_task t = cli_tasks_of(job); cli_next_task(&t);) {
    if (!cli_json_true(job, t.task.at, "outputLost"))
      continue;
    (void)fputs(before, out);
    cli_print(out, t.role.key);
    (void)fprintf(
      out,
      "/%lld: some of its output was not logged, because the disk was full\n",
      (long long)cli_json_number(job, t.task.at, "taskIndex", 0));
    told++;
  }
  if (told == 0)
    (void)fprintf(out,
                  "%ssome output of an earlier start was not logged, because "
                  "the disk was full\n",
                  before);
}

/* --- in one line --------------------------------------------------------- */

void cli_end_why(char *out, size_t size, const pai_json *job)
{
  const char *why = cli_json_text(job, status_of(job), "exitReason");

  (void)snprintf(out, size, "%.*s", (int)strcspn(why, "\n"), why);
}
