/*
 * job_end.c - how a job ended, in the words that its owner needs
 *
 * The API has OpenPAI's: an exit spec, a message of FrameworkController, and
 * what Kubernetes would say, with the runtime's report inside.  What happened,
 * where, the last that was printed and what can be done is in them.
 */
#include "cells.h"
#include "jobs.h"

#include <string.h>

enum {
  UNKNOWN_CODE = 255, /* the command failed, and nobody knows why */
  TIME_OVER = 124     /* as timeout(1) has it */
};

static size_t status_of(const cli_json *job)
{
  return cli_json_get(job, 0, "jobStatus");
}

/* What the command itself exited with, or 0.  OpenPAI's servers have it in the
 * report of the job's end alone. */
static int64_t own_code(const cli_json *job, size_t of)
{
  size_t messages = cli_json_get(job, of, "appExitMessages"),
         runtime = messages != 0 ? cli_json_get(job, messages, "runtime") : 0;
  int64_t code = cli_json_number(job, of, "originUserExitCode", 0);

  if (code == 0 && runtime != 0)
    code = cli_json_number(job, runtime, "originUserExitCode", 0);
  return code > 0 && code <= 255 ? code : 0;
}

/* Where a completion code says only that the command failed, its own one. */
static int64_t told_code(const cli_json *job, size_t of, int64_t code)
{
  int64_t own = code == UNKNOWN_CODE ? own_code(job, of) : 0;

  return own != 0 ? own : code;
}

int64_t cli_told_code(const cli_json *job)
{
  size_t status = status_of(job);

  return told_code(job, status,
                   cli_json_number(job, status, "appExitCode", 0));
}

int64_t cli_told_task_code(const cli_json *job, size_t task)
{
  return told_code(job, task,
                   cli_json_number(job, task, "containerExitCode", INT64_MIN));
}

int cli_exit_code(const cli_json *job)
{
  const char *state = cli_json_text(job, status_of(job), "state");
  int64_t code = cli_told_code(job);

  if (strcmp(state, "SUCCEEDED") == 0)
    return CLI_OK;
  if (code > 0 && code <= 255)
    return (int)code;
  if (code == PAI_CODE_TIME_LIMIT)
    return TIME_OVER;
  /* One of the platform's, as for too much memory. */
  code = strcmp(state, "FAILED") == 0 ? own_code(job, status_of(job)) : 0;
  return code != 0 ? (int)code : CLI_BROKEN;
}

/* --- in words ------------------------------------------------------------------- */

static size_t spec_of(const cli_json *job)
{
  return cli_json_get(job, status_of(job), "appExitSpec");
}

static const char *end_reason(const cli_json *job)
{
  return spec_of(job) != 0 ? cli_json_text(job, spec_of(job), "reason") : "";
}

static bool end_is_known(const cli_json *job)
{
  return *end_reason(job) != '\0' &&
         cli_json_number(job, status_of(job), "appExitCode", 0) !=
           UNKNOWN_CODE;
}

/* --- what its output says ------------------------------------------------------- */

/* What the platform knows of the failure, or 0. */
static size_t failure_of(const cli_json *job)
{
  size_t failure = cli_json_get(job, status_of(job), "failure");

  return failure != 0 && job->values[failure].type == '{' ? failure : 0;
}

bool cli_has_failure(const cli_json *job)
{
  return failure_of(job) != 0;
}

static const char *failure_reason(const cli_json *job)
{
  size_t failure = failure_of(job);

  return failure != 0 ? cli_json_text(job, failure, "reason") : "";
}

static void write_text(FILE *out, const char *text)
{
  cli_json_string(out, text, strlen(text));
}

void cli_write_failure(FILE *out, const cli_json *job)
{
  size_t failure = failure_of(job), list, line;
  const char *comma = "";

  if (failure == 0) {
    (void)fputs("null", out);
    return;
  }
  list = cli_json_get(job, failure, "solution");
  line = cli_json_get(job, failure, "line");
  (void)fputs("{\"name\":", out);
  write_text(out, cli_json_text(job, failure, "name"));
  (void)fputs(",\"reason\":", out);
  write_text(out, cli_json_text(job, failure, "reason"));
  (void)fputs(",\"solution\":[", out);
  for (size_t i = list != 0 ? cli_json_first(job, list) : 0; i != 0;
       i = cli_json_next(job, list, i)) {
    (void)fputs(comma, out);
    write_text(out, job->values[i].text);
    comma = ",";
  }
  (void)fputs("],\"line\":", out);
  if (line != 0 && job->values[line].type == '"')
    write_text(out, job->values[line].text);
  else
    (void)fputs("null", out);
  (void)fputc('}', out);
}

/* Of a failure that is known its own; else what its code tells. */
static void print_cures(FILE *out, const char *before, const cli_json *job)
{
  size_t of = failure_of(job) != 0 ? failure_of(job) : spec_of(job),
         list = of != 0 ? cli_json_get(job, of, "solution") : 0;

  for (size_t i = list != 0 ? cli_json_first(job, list) : 0; i != 0;
       i = cli_json_next(job, list, i)) {
    (void)fputs(before, out);
    cli_print(out, job->values[i].text);
    (void)fputc('\n', out);
  }
}

void cli_print_reason(FILE *out, const cli_json *job)
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

static void print_cause(FILE *out, const cli_json *job)
{
  if (*failure_reason(job) == '\0')
    return;
  (void)fputs("cause      ", out);
  cli_print(out, failure_reason(job));
  (void)fputc('\n', out);
}

/* The last that the task printed which decided, or "". */
static const char *last_output(const cli_json *job)
{
  size_t n = cli_json_get(job, status_of(job), "appExitMessages");

  n = n != 0 ? cli_json_get(job, n, "runtime") : 0;
  n = n != 0 ? cli_json_get(job, n, "errorLogs") : 0;
  return n != 0 ? cli_json_text(job, n, "user") : "";
}

/* The line by which a failure is known, or else the last one. */
static void print_last_line(FILE *out, const cli_json *job)
{
  size_t failure = failure_of(job);
  const char *text = failure != 0 ? cli_json_text(job, failure, "line") : "",
             *end, *line;
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
                       const cli_json *job)
{
  int64_t code = cli_told_code(job);

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

void cli_print_end(FILE *out, const char *name, const cli_json *job)
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

/* --- its output ----------------------------------------------------------------- */

/* Tasks have that of their latest start; an earlier one's is the job's alone. */
void cli_print_lost_output(FILE *out, const char *before, const cli_json *job)
{
  size_t roles = cli_json_get(job, 0, "taskRoles"), told = 0;

  if (!cli_json_true(job, status_of(job), "outputLost"))
    return;
  for (size_t r = roles != 0 ? cli_json_first(job, roles) : 0; r != 0;
       r = cli_json_next(job, roles, r)) {
    size_t list = cli_json_get(job, r, "taskStatuses");

    for (size_t t = list != 0 ? cli_json_first(job, list) : 0; t != 0;
         t = cli_json_next(job, list, t)) {
      if (!cli_json_true(job, t, "outputLost"))
        continue;
      (void)fputs(before, out);
      cli_print(out, job->values[r].key);
      (void)fprintf(out,
                    "/%lld: some of its output is in no log, because the disk "
                    "was full\n",
                    (long long)cli_json_number(job, t, "taskIndex", 0));
      told++;
    }
  }
  if (told == 0)
    (void)fprintf(
      out,
      "%ssome output of an earlier start is in no log, because the "
      "disk was full\n",
      before);
}

/* --- in a line ------------------------------------------------------------------ */

void cli_end_why(char *out, size_t size, const cli_json *job)
{
  const char *why = cli_json_text(job, status_of(job), "exitReason");

  (void)snprintf(out, size, "%.*s", (int)strcspn(why, "\n"), why);
}
