/* cmd_show.c - all about one job, and why it waits */
#include "cells.h"
#include "job_details.h"
#include "jobs.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

/* --- show --------------------------------------------------------------------------- */

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

static void print_task(const cli_json *j, const char *role, size_t t)
{
  const char *state = cli_json_text(j, t, "taskState");
  int64_t code = cli_told_task_code(j, t),
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

/* In what its tasks run, where that is not what is usual. */
static void print_runtimes(const cli_json *j)
{
  size_t roles = cli_json_get(j, 0, "taskRoles");
  const char *said = "";

  for (size_t r = roles != 0 ? cli_json_first(j, roles) : 0; r != 0;
       r = cli_json_next(j, roles, r)) {
    size_t list = cli_json_get(j, r, "taskStatuses");

    for (size_t t = list != 0 ? cli_json_first(j, list) : 0; t != 0;
         t = cli_json_next(j, list, t)) {
      const char *what = cli_json_text(j, t, "runtime");

      if (strcmp(said, what) == 0) /* as the one before */
        continue;
      said = what;
      print_field("runtime", said);
    }
  }
}

/* --- what was submitted: GET /config, and where it runs: GET /files --------------- */

static void print_scalar(const cli_json *j, size_t i)
{
  const char *text = j->values[i].text;

  if (j->values[i].type == '"')
    cli_print(stdout, text);
  else if (j->values[i].type ==
           '0') /* as written: the JSON goes on behind it */
    (void)printf("%.*s", (int)strspn(text, "+-.0123456789eE"), text);
  else
    (void)printf("%s", j->values[i].type == 't'   ? "true"
                       : j->values[i].type == 'f' ? "false"
                                                  : "...");
}

static void print_command(void *user_data, const char *role, const char *line)
{
  (void)user_data;
  (void)printf("%-10s %s%s", "command", role, role[0] != '\0' ? ": " : "");
  cli_print(stdout, line);
  (void)printf("\n");
}

static void print_parameters(const cli_json *j)
{
  size_t list = cli_json_get(j, 0, "parameters");

  for (size_t i = list != 0 ? cli_json_first(j, list) : 0; i != 0;
       i = cli_json_next(j, list, i)) {
    (void)printf("%-10s ", "parameter");
    cli_print(stdout, j->values[i].key);
    (void)printf(" = ");
    print_scalar(j, i);
    (void)printf("\n");
  }
}

static void print_config(const cli_answer *config, const cli_answer *files)
{
  cli_json j;

  if (config->status == PAI_OK &&
      cli_json_read(&j, config->body, config->len)) {
    cli_each_command(&j, print_command, NULL);
    print_parameters(&j);
    cli_json_free(&j);
  }
  if (files->status == PAI_OK && cli_json_read(&j, files->body, files->len)) {
    print_field("folder", cli_json_text(&j, 0, "folder"));
    cli_json_free(&j);
  }
}

/* What decided, as those know it who come from OpenPAI. */
static void print_contract(const cli_json *j)
{
  size_t s = cli_json_get(j, 0, "jobStatus");
  const char *trigger = cli_json_text(j, s, "appExitTriggerMessage"),
             *diagnostics = cli_json_text(j, s, "appExitDiagnostics");

  if (diagnostics[0] == '\0') /* all went well, or it goes on */
    return;
  (void)printf("\nIn OpenPAI's words:\n");
  if (trigger[0] != '\0')
    cli_print_lines(stdout, trigger);
  (void)printf("%s", trigger[0] != '\0' ? "\n" : "");
  cli_print_lines(stdout, diagnostics);
  if (diagnostics[strlen(diagnostics) - 1] != '\n')
    (void)printf("\n");
}

/* What is asked beside the job itself. */
enum { CONFIG, FILES, MOST_MORE };

static bool print_job(const cli_json *j, const cli_answer *more)
{
  size_t s = cli_json_get(j, 0, "jobStatus"),
         roles = cli_json_get(j, 0, "taskRoles");
  const char *state = cli_json_text(j, s, "state");
  int64_t code = cli_json_number(j, s, "appExitCode", INT64_MIN);
  char text[64];

  print_field("name", cli_json_text(j, 0, "name"));
  print_field("user", cli_json_text(j, s, "username"));
  (void)printf("%-10s ", "state");
  cli_print_state(stdout, stdout, state);
  if (code != INT64_MIN)
    (void)printf(", code %lld", (long long)cli_told_code(j));
  (void)printf("\n");
  cli_print_end(stdout, cli_json_text(j, 0, "name"), j);
  cli_print_lost_output(stdout, "warning    ", j);
  (void)snprintf(text, sizeof(text), "%lld",
                 (long long)cli_json_number(j, s, "retries", 0));
  print_field("retries", text);
  print_span("submitted", cli_json_number(j, s, "submissionTime", 0), 0,
             " ago");
  print_span("ran", cli_json_number(j, s, "appLaunchedTime", 0),
             cli_json_number(j, s, "appCompletedTime", 0), ", and goes on");
  print_config(&more[CONFIG], &more[FILES]);
  print_runtimes(j);
  for (size_t r = roles != 0 ? cli_json_first(j, roles) : 0; r != 0;
       r = cli_json_next(j, roles, r)) {
    size_t list = cli_json_get(j, r, "taskStatuses");
    for (size_t t = list != 0 ? cli_json_first(j, list) : 0; t != 0;
         t = cli_json_next(j, list, t))
      print_task(j, j->values[r].key, t);
  }
  print_contract(j);
  return true;
}

/* What is asked of a job, and how it is printed: false, and nothing is, if the
 * answer to another question says more. */
typedef struct question {
  const char *rest;
  bool (*print)(const cli_json *, const cli_answer *more);
  const char *more[MOST_MORE]; /* for people, what is asked beside it */
} question;

static void ask_more(cli_remote *r, const char *name, const question *q,
                     cli_answer more[MOST_MORE])
{
  for (size_t i = 0; i < MOST_MORE; i++) {
    more[i] = (cli_answer){ .status = PAI_ENOTFOUND };
    if (q->more[i] != NULL) {
      char *path = cli_job_path(name, q->more[i]);
      cli_remote_ask(r, &more[i], "GET", path, NULL, NULL, 0);
      free(path);
    }
  }
}

/* 1: printed; 0: not printed; -1: no answer, which is told. */
static int print_answer(cli_remote *r, const char *name, const question *q,
                        bool json)
{
  char *path = cli_job_path(name, q->rest);
  cli_answer a, more[MOST_MORE];
  int printed = -1;
  cli_json j;

  cli_remote_ask(r, &a, "GET", path, NULL, NULL, 0);
  if (a.status != PAI_OK) {
    cli_answer_tell(&a);
  } else if (json) {
    (void)printf("%s\n", a.body);
    printed = 1;
  } else if (cli_json_read(&j, a.body, a.len)) {
    ask_more(r, name, q, more);
    printed = q->print(&j, more);
    for (size_t i = 0; i < MOST_MORE; i++)
      cli_answer_free(&more[i]);
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  free(path);
  return printed;
}

static int print_of(const char *name, const question *questions, bool json)
{
  int printed = 0;
  cli_remote r;

  if (!cli_remote_open(&r, true))
    return CLI_NO;
  for (; printed == 0 && questions->rest != NULL; questions++)
    printed = print_answer(&r, name, questions, json);
  cli_remote_close(&r);
  return printed > 0 ? CLI_OK : CLI_NO;
}

static int run_show(int argc, char **argv)
{
  bool json = false;
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_show, options, 2, argc, argv);

  if (words == -2)
    return CLI_OK;
  if (words < 0 || !cli_want_jobs(&cli_show, words, argv, 1))
    return CLI_USAGE;
  return print_of(
    argv[0],
    (question[]){ { "", print_job, { "/config", "/files?limit=1" } }, { 0 } },
    json);
}

const cli_verb cli_show = {
  .name = "show",
  .brief = "Show a job, its tasks and its folder",
  .usage = "[--json] [--root DIR] JOB",
  .help = "JOB is the name of one of your jobs, or USER~NAME.\n"
          "\n"
          "  --json           print the object of GET "
          "/api/v2/jobs/USER~NAME\n" JOBS_ROOT_HELP "\n"
          "Exit status: 0 success, 1 no such job, 2 usage error\n",
  .run = run_show,
};

/* --- why ------------------------------------------------------------------------------ */

static void print_state(const char *state)
{
  cli_print_state(stdout, stdout, state);
  (void)putchar('\n');
}

/* When it starts, as far as that can be guessed. */
static void print_start(const cli_answer *estimate)
{
  char half[32], most[32];
  const char *alike;
  int64_t now;
  size_t start;
  cli_json j;

  if (estimate->status != PAI_OK ||
      !cli_json_read(&j, estimate->body, estimate->len))
    return;
  start = cli_json_get(&j, 0, "start");
  now = cli_json_number(&j, 0, "now", 0);
  if (cli_json_true(&j, 0, "unknown"))
    (void)printf("When it starts is unknown: no job has ended yet by which "
                 "those before it could be\njudged.  --time of those jobs "
                 "would bound it.\n");
  else if (start != 0 && cli_json_number(&j, start, "p90", 0) != 0) {
    cli_duration(half, sizeof(half),
                 cli_json_number(&j, start, "p50", now) - now);
    cli_duration(most, sizeof(most),
                 cli_json_number(&j, start, "p90", now) - now);
    alike = cli_json_text(&j, 0, "alike");
    (void)printf("It starts in about %s, and with nine chances of ten within "
                 "%s, if ",
                 half, most);
    if (alike[0] != '\0')
      (void)printf("jobs take\nas long as %s did.\n", alike);
    else
      (void)printf("jobs take\nas long again as they have run, or all of "
                   "their time limit.\n");
    if (cli_json_true(&j, 0, "unlike"))
      (void)printf("Many of the jobs that run have run for longer than any "
                   "like them that ended, so\nthese times are less "
                   "certain.\n");
  }
  cli_json_free(&j);
}

static bool print_why(const cli_json *j, const cli_answer *more)
{
  const char *state = cli_json_text(j, 0, "state");
  char line[160];
  size_t reasons = cli_json_get(j, 0, "reasons");

  if (cli_is_over(state))
    return false;
  print_state(state);
  for (size_t i = reasons != 0 ? cli_json_first(j, reasons) : 0; i != 0;
       i = cli_json_next(j, reasons, i)) {
    (void)printf("  ");
    cli_print(stdout, cli_json_text(j, i, "text"));
    (void)printf("\n");
  }
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

/* Of one that is over. */
static bool print_end(const cli_json *j, const cli_answer *more)
{
  (void)more;
  size_t s = cli_json_get(j, 0, "jobStatus");

  print_state(cli_json_text(j, s, "state"));
  cli_print_end(stdout, cli_json_text(j, 0, "name"), j);
  print_contract(j);
  return true;
}

static int run_why(int argc, char **argv)
{
  bool json = false;
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_why, options, 2, argc, argv);

  if (words == -2)
    return CLI_OK;
  if (words < 0 || !cli_want_jobs(&cli_why, words, argv, 1))
    return CLI_USAGE;
  return print_of(argv[0],
                  (question[]){ { "/why", print_why, { "/estimate" } },
                                { "", print_end, { NULL } },
                                { 0 } },
                  json);
}

const cli_verb cli_why = {
  .name = "why",
  .brief = "Explain why a job is waiting, when it may start, or why it ended",
  .usage = "[--json] [--root DIR] JOB",
  .help = "  --json           print one JSON object\n" JOBS_ROOT_HELP
          "\nExit status: 0 success, 1 no such job, 2 usage error\n",
  .run = run_why,
};
