/* cmd_logs.c - what tasks of jobs have printed, and print */
#include "job_names.h"
#include "jobs.h"
#include "log_tasks.h"
#include "since.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 1000 };

static bool is_number(const char *text)
{
  return text[0] != '\0' && strlen(text) < 16 &&
         text[strspn(text, "0123456789")] == '\0';
}

static bool check_since(cli_log_options *o, const char *since)
{
  int64_t ms;

  if (since == NULL)
    return true;
  if (cli_read_since(&ms, since)) {
    (void)snprintf(o->since, sizeof(o->since), "%" PRId64, ms);
    return true;
  }
  cli_fail("--since: this is no time: %s", since);
  cli_help(stderr, "a time is " CLI_SINCE_FORMS);
  return false;
}

static bool check(const cli_log_options *o)
{
  static const char *const logs[] = { "stdout", "stderr", "all", "runtime" };
  const char *slash = o->task != NULL ? strchr(o->task, '/') : NULL;
  bool known = o->log == NULL;

  for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]) && !known; i++)
    known = strcmp(o->log, logs[i]) == 0;
  if (!known)
    cli_misused(&cli_logs, "there is no such log", o->log);
  else if (o->tail != NULL && !is_number(o->tail))
    cli_misused(&cli_logs, "not a number of lines", o->tail);
  else if (o->attempt != NULL && !is_number(o->attempt))
    cli_misused(&cli_logs, "not a number of an attempt", o->attempt);
  else if (o->retry != NULL && !is_number(o->retry))
    cli_misused(&cli_logs, "not a number of a retry", o->retry);
  else if (slash != NULL && !is_number(slash + 1))
    cli_misused(&cli_logs, "a task is ROLE/INDEX, not", o->task);
  else
    return true;
  return false;
}

/* The original keeps logs of the latest starts, without times. */
static bool can_original(cli_remote *r, const cli_log_options *o)
{
  const char *option = o->attempt != NULL             ? "--attempt"
                       : o->retry != NULL             ? "--retry"
                       : o->since[0] != '\0'          ? "--since"
                       : o->timestamps                ? "--timestamps"
                       : o->tail != NULL && o->follow ? "--tail with --follow"
                                                      : NULL;

  if (option == NULL || !cli_remote_is_original(r))
    return true;
  cli_fail("%s: this server is an original OpenPAI, which cannot do that",
           option);
  return false;
}

static int print_logs(cli_remote *r, char **words, int count,
                      const cli_log_options *o)
{
  cli_job_names names = { 0 };
  cli_log_tasks tasks = { 0 };
  int code = CLI_OK;

  if (!cli_job_names_add(&names, r, words, count, NULL) || !can_original(r, o))
    code = CLI_NO;
  for (size_t i = 0; code == CLI_OK && i < names.count; i++)
    if (!cli_log_tasks_add(&tasks, r, names.list[i], o))
      code = CLI_NO;
  if (code == CLI_OK && !cli_log_tasks_label(&tasks, names.count > 1))
    code = CLI_NO;
  if (code == CLI_OK)
    code = cli_logs_print(r, &tasks, o);
  cli_log_tasks_free(&tasks);
  cli_job_names_free(&names);
  return code;
}

static int run(int argc, char **argv)
{
  cli_log_options o = { 0 };
  const char *since = NULL;
  const cli_option options[] = {
    { "follow", 'f', &o.follow, NULL },
    { "task", 0, NULL, &o.task },
    { "log", 0, NULL, &o.log },
    { "tail", 'n', NULL, &o.tail },
    { "since", 0, NULL, &since },
    { "timestamps", 't', &o.timestamps, NULL },
    { "no-prefix", 0, &o.no_prefix, NULL },
    { "attempt", 0, NULL, &o.attempt },
    { "retry", 0, NULL, &o.retry },
    { "root", 0, NULL, &cli_root },
  };
  int words = cli_options(&cli_logs, options,
                          sizeof(options) / sizeof(options[0]), argc, argv),
      code = CLI_NO;
  cli_remote r;

  if (words == -2)
    return CLI_OK;
  if (words < 0 || !cli_want_jobs(&cli_logs, words, argv, MOST_WORDS) ||
      !check(&o) || !check_since(&o, since))
    return CLI_USAGE;
  if (cli_remote_open(&r, true)) {
    code = print_logs(&r, argv, words, &o);
    cli_remote_close(&r);
  }
  return code;
}

const cli_verb cli_logs = {
  .name = "logs",
  .brief = "Print the output of tasks",
  .usage =
    "[-f] [--task ROLE[/INDEX]] [--log NAME] [--tail N] [--since TIME]\n"
    "             [--timestamps] [--no-prefix] [--attempt N] [--retry N]\n"
    "             [--root DIR] JOB...",
  .help =
    "Print the output of all tasks of the jobs, one task after the other; "
    "with\n"
    "-f, as it comes.  JOB may be a glob in quotes: 'train_*' are your jobs "
    "with\n"
    "such names, 'USER~*' those of another user, in the order of their\n"
    "submission.\n"
    "\n"
    "Output of one task is printed byte for byte.  If there are several "
    "tasks,\n"
    "each line begins with ROLE[INDEX], for several jobs with "
    "JOB/ROLE[INDEX];\n"
    "a line that a carriage return begins again, as of a progress bar, is "
    "then\n"
    "printed once, when it ends, and shown below the output on a terminal.\n"
    "\n",
  .more =
    "  -f, --follow     print new output until the tasks end; wait for tasks "
    "that\n"
    "                   have not started\n"
    "  --task ROLE[/INDEX]\n"
    "                   one task, or the tasks of a role (default: all "
    "tasks)\n"
    "  --log NAME       stdout, stderr, all (both of them) or runtime, which\n"
    "                   is openpai's own log of the task (default: all)\n"
    "  -n, --tail N     print only the last N lines of each task; with -f, "
    "then\n"
    "                   new output\n"
    "  --since TIME     print only output since TIME: 10m, 2h, 1d or 1h30m "
    "ago,\n"
    "                   or a date, as 2026-05-01 or 2026-05-01T10:30:00Z "
    "(without\n"
    "                   Z or an offset as +02:00: in the local time zone)\n"
    "  -t, --timestamps\n"
    "                   print before each line when it was written, in UTC; "
    "right\n"
    "                   to about a second; - if it is not known\n"
    "  --no-prefix      print lines without the names of their tasks\n"
    "  --attempt N      attempt of the job, from 0 (default: the latest)\n"
    "  --retry N        start of the task in that attempt, from 0 (default:\n"
    "                   the latest)\n" JOBS_ROOT_HELP "\n"
    "Exit status: 0 success, 1 no such job, task or log, 2 usage error\n",
  .run = run,
};
