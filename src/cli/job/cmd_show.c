/* cmd_show.c - `show` and `why`: all about one job, and why it waits */
#include "cells.h"
#include "job_table.h"
#include "jobs.h"
#include "progress.h"
#include "sched_log.h"

#include <string.h>

/* --- show ---------------------------------------------------------------- */

static void print_field(const char *name, const char *value)
{
  if (value[0] == '\0')
    return;
  (void)printf("%-10s ", name);
  cli_print(stdout, value);
  (void)printf("\n");
}

static void print_span(const char *name, int64_t from, int64_t to,
                       const char *until_now)
{
  char text[32];

  if (from <= 0)
    return;
  cli_duration(text, sizeof(text), (to > 0 ? to : cli_now()) - from);
  (void)printf("%-10s %s%s\n", name, text, to > 0 ? "" : until_now);
}

static void print_task(const pai_json *j, const char *role, size_t t)
{
  const char *state = cli_json_text(j, t, "taskState");
  int64_t code = cli_result_task_code(j, t),
          from = cli_json_number(j, t, "launchedTime", -1),
          to = cli_json_number(j, t, "completedTime", -1);
  char name[300], ran[32];

  (void)snprintf(name, sizeof(name), "%s/%lld", role,
                 (long long)cli_json_number(j, t, "taskIndex", 0));
  cli_duration(ran, sizeof(ran),
               from < 0 ? -1 : (to >= 0 ? to : cli_now()) - from);
  (void)fputs("  ", stdout);
  cli_print_padded(stdout, name, 21);
  cli_print_state(stdout, stdout, state);
  cli_print_padded(stdout, "", 9 - cli_width(state));
  (void)printf("  %8s  %lld retries", ran,
               (long long)cli_json_number(j, t, "retries", 0));
  if (code != INT64_MIN)
    (void)printf("  code %lld", (long long)code);
  (void)printf("\n");
}

/* Prints the runtimes of the tasks, each change once. */
static void print_runtimes(const pai_json *j)
{
  const char *said = "";

  for (cli_each_task t = cli_tasks_of(j); cli_next_task(&t);) {
    const char *what = cli_json_text(j, t.task.at, "runtime");

    if (strcmp(said, what) == 0) /* the same as the previous task's */
      continue;
    said = what;
    print_field("runtime", said);
  }
}

/* --- the submitted file (GET /config) and the job's files (GET /files) --- */

static void print_scalar(const pai_json *j, size_t i)
{
  const unsigned numbers = PAI_VALUE_BOOL | PAI_VALUE_WHOLE | PAI_VALUE_NUMBER;

  if (pai_json_text(j, i, NULL) != NULL)
    cli_print(stdout, pai_json_text(j, i, NULL));
  else if ((pai_json_type(j, i) & numbers) != 0)
    (void)!pai_json_write(j, i, cli_write, stdout, NULL);
  else
    (void)printf("...");
}

static void print_command(void *user_data, const char *role, const char *line)
{
  (void)user_data;
  (void)printf("%-10s %s%s", "command", role, role[0] != '\0' ? ": " : "");
  cli_print(stdout, line);
  (void)printf("\n");
}

static void print_parameters(const pai_json *j)
{
  for (cli_each i = cli_each_of(j, cli_json_get(j, 0, "parameters"));
       cli_next(&i);) {
    (void)printf("%-10s ", "parameter");
    cli_print(stdout, i.key);
    (void)printf(" = ");
    print_scalar(j, i.at);
    (void)printf("\n");
  }
}

static void print_config(const cli_answer *config, const cli_answer *files)
{
  pai_json *j;

  if (config->status == PAI_OK &&
      cli_json_read(&j, config->body, config->len)) {
    cli_each_command(j, print_command, NULL);
    print_parameters(j);
    cli_json_free(&j);
  }
  if (files->status == PAI_OK && cli_json_read(&j, files->body, files->len)) {
    print_field("folder", cli_json_text(j, 0, "folder"));
    cli_json_free(&j);
  }
}

/* Prints what ended the job in OpenPAI's own terms. */
static void print_contract(const pai_json *j)
{
  size_t s = cli_json_get(j, 0, "jobStatus");
  const char *trigger = cli_json_text(j, s, "appExitTriggerMessage"),
             *diagnostics = cli_json_text(j, s, "appExitDiagnostics");

  if (diagnostics[0] == '\0') /* succeeded, or not over */
    return;
  (void)printf("\nOpenPAI's message:\n");
  if (trigger[0] != '\0')
    cli_print_lines(stdout, trigger);
  (void)printf("%s", trigger[0] != '\0' ? "\n" : "");
  cli_print_lines(stdout, diagnostics);
  if (diagnostics[strlen(diagnostics) - 1] != '\n')
    (void)printf("\n");
}

/* Additional calls, beside the job itself. */
enum { CONFIG, FILES, MOST_MORE };

static bool print_job(const pai_json *j, const cli_answer *more)
{
  size_t s = cli_json_get(j, 0, "jobStatus");
  const char *state = cli_json_text(j, s, "state");
  int64_t code = cli_json_number(j, s, "appExitCode", INT64_MIN);
  char text[64];

  print_field("name", cli_json_text(j, 0, "name"));
  print_field("user", cli_json_text(j, s, "username"));
  (void)printf("%-10s ", "state");
  cli_print_state(stdout, stdout, state);
  if (code != INT64_MIN)
    (void)printf(", code %lld", (long long)cli_result_code(j));
  (void)printf("\n");
  cli_print_end(stdout, cli_json_text(j, 0, "name"), j);
  cli_print_lost_output(stdout, "warning    ", j);
  (void)snprintf(text, sizeof(text), "%lld",
                 (long long)cli_json_number(j, s, "retries", 0));
  print_field("retries", text);
  print_span("submitted", cli_json_number(j, s, "submissionTime", 0), 0,
             " ago");
  print_span("ran", cli_json_number(j, s, "appLaunchedTime", 0),
             cli_json_number(j, s, "appCompletedTime", 0), ", still running");
  print_config(&more[CONFIG], &more[FILES]);
  print_runtimes(j);
  for (cli_each_task t = cli_tasks_of(j); cli_next_task(&t);)
    print_task(j, t.role.key, t.task.at);
  print_contract(j);
  return true;
}

/* A call about a job and how its answer is printed.  print() returns false,
 * without printing, if the answer to another call says more. */
typedef struct question {
  const char *call;
  bool (*print)(const pai_json *, const cli_answer *more);
  const char *more[MOST_MORE]; /* additional calls, unless --json */
} question;

static void ask_more(cli_remote *r, const char *name, const question *q,
                     cli_answer more[MOST_MORE])
{
  for (size_t i = 0; i < MOST_MORE; i++) {
    more[i] = (cli_answer){ .status = PAI_ENOTFOUND };
    if (q->more[i] != NULL)
      cli_call(r, &more[i], q->more[i],
               cli_job_arguments(name, i == FILES ? ",\"limit\":1" : ""));
  }
}

/* Returns 1: printed; 0: not printed; -1: no answer, after printing an
 * error. */
static int print_answer(cli_remote *r, const char *name, const question *q,
                        bool json)
{
  cli_answer a, more[MOST_MORE];
  int printed = -1;
  pai_json *j;

  cli_call(r, &a, q->call, cli_job_arguments(name, ""));
  if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (json) {
    (void)printf("%s\n", a.body);
    printed = 1;
  } else if (cli_json_read(&j, a.body, a.len)) {
    ask_more(r, name, q, more);
    printed = q->print(j, more);
    for (size_t i = 0; i < MOST_MORE; i++)
      cli_answer_free(&more[i]);
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  return printed;
}

static int print_of(const char *name, const question *questions, bool json)
{
  int printed = 0;
  cli_remote r;

  if (!cli_remote_open(&r, true))
    return CLI_NO;
  for (; printed == 0 && questions->call != NULL; questions++)
    printed = print_answer(&r, name, questions, json);
  cli_remote_close(&r);
  return printed > 0 ? CLI_OK : CLI_NO;
}

int cli_do_show(const cli_show_args *a)
{
  if (!cli_job_name(a->words[0]))
    return CLI_USAGE;
  return print_of(
    a->words[0],
    (question[]){ { "jobs.show", print_job, { "jobs.config", "files.list" } },
                  { 0 } },
    a->json);
}

/* --- why ----------------------------------------------------------------- */

static void print_state(const char *state)
{
  cli_print_state(stdout, stdout, state);
  (void)putchar('\n');
}

/* Prints the estimated start time, if known. */
static void print_start(const cli_answer *estimate)
{
  char half[32], most[32];
  const char *alike;
  int64_t now;
  pai_json *j;

  if (estimate->status != PAI_OK ||
      !cli_json_read(&j, estimate->body, estimate->len))
    return;

  now = cli_json_number(j, 0, "now", 0);
  if (cli_json_true(j, 0, "unknown")) {
    (void)printf("The start time is unknown: no job has ended yet from which "
                 "to estimate how long\nthe jobs before it will run. A time "
                 "limit (--time) of those jobs would bound it.\n");
  } else if (cli_json_number(j, 0, "start/p90", 0) != 0) {
    cli_duration(half, sizeof(half),
                 cli_json_number(j, 0, "start/p50", now) - now);
    cli_duration(most, sizeof(most),
                 cli_json_number(j, 0, "start/p90", now) - now);
    alike = cli_json_text(j, 0, "alike");
    (void)printf("It starts in about %s, and with a probability of 90 %% "
                 "within %s,\nif the jobs before it run ",
                 half, most);
    if (alike[0] != '\0')
      (void)printf("as long as %s did.\n", alike);
    else if (cli_json_number(j, 0, "guessed", 0) > 0)
      (void)printf("as long again as they have run so far.\n");
    else
      (void)printf("until their time limits.\n");
    if (cli_json_true(j, 0, "unlike"))
      (void)printf("Many running jobs have run longer than all similar jobs "
                   "that ended, so these times\nare less certain.\n");
  }
  cli_json_free(&j);
}

static bool print_why(const pai_json *j, const cli_answer *more)
{
  const char *state = cli_json_text(j, 0, "state");
  char line[160];

  if (cli_is_over(state))
    return false;
  print_state(state);
  for (cli_each i = cli_each_of(j, cli_json_get(j, 0, "reasons"));
       cli_next(&i);) {
    (void)printf("  ");
    cli_print(stdout, cli_json_text(j, i.at, "text"));
    (void)printf("\n");
  }
  cli_print_last_failure(stdout, j);
  cli_in_line(line, sizeof(line), j);
  if (line[0] != '\0') {
    (void)printf("  it is ");
    cli_print(stdout, line);
    (void)printf("\n");
  }
  if (cli_json_text(j, 0, "explanation")[0] != '\0') {
    (void)printf("\n");
    cli_print_lines(stdout, cli_json_text(j, 0, "explanation"));
    (void)printf("\n");
  }
  print_start(&more[0]);
  return true;
}

/* Prints the end of a job that is over. */
static bool print_end(const pai_json *j, const cli_answer *more)
{
  (void)more;
  print_state(cli_json_text(j, 0, "jobStatus/state"));
  cli_print_end(stdout, cli_json_text(j, 0, "name"), j);
  print_contract(j);
  return true;
}

int cli_do_why(const cli_why_args *a)
{
  if (a->log.log != NULL)
    return sched_explain(a->count, a->words, &a->log, NULL);
  if (!cli_job_name(a->words[0]))
    return CLI_USAGE;
  return print_of(a->words[0],
                  (question[]){ { "jobs.why", print_why, { "jobs.estimate" } },
                                { "jobs.show", print_end, { NULL } },
                                { 0 } },
                  a->log.json);
}
