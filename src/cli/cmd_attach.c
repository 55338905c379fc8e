/* cmd_attach.c - follows what a task says, and types into it */
#include "jobs.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

typedef struct attach_options {
  const char *job, *task, *tail;
  bool quiet, json;
} attach_options;

static int attach(cli_remote *r, const cli_task *t, const attach_options *o)
{
  char offset[32];
  cli_attached a = { 0 };

  (void)snprintf(offset, sizeof(offset), "-%s", o->tail);
  return cli_attach_to(&a, r, t, offset,
                       o->json    ? CLI_ATTACH_JSON
                       : o->quiet ? CLI_ATTACH_QUIET
                                  : CLI_ATTACH_TOLD);
}

static int run(int argc, char **argv)
{
  attach_options o = { .tail = "4096" };
  const cli_option options[] = {
    { "task", 0, NULL, &o.task },     { "tail", 0, NULL, &o.tail },
    { "quiet", 'q', &o.quiet, NULL }, { "json", 0, &o.json, NULL },
    { "root", 0, NULL, &cli_root },
  };
  int words = cli_options(&cli_attach, options, 5, argc, argv),
      code = CLI_BROKEN;
  cli_remote r;
  cli_task t;

  if (words == -2)
    return CLI_OK;
  if (words < 0 || !cli_want_jobs(&cli_attach, words, argv, 1) ||
      !cli_task_word(&cli_attach, o.task))
    return CLI_BROKEN;
  if (o.tail[0] == '\0' || strlen(o.tail) > 15 ||
      o.tail[strspn(o.tail, "0123456789")] != '\0') {
    cli_misused(&cli_attach, "not a number of bytes", o.tail);
    return CLI_BROKEN;
  }
  o.job = argv[0];
  if (!cli_remote_open(&r, false))
    return CLI_BROKEN;
  if (cli_task_find(&t, &r, o.job, o.task)) {
    if (strcmp(t.state, "RUNNING") == 0)
      code = attach(&r, &t, &o);
    else
      cli_fail("task %s/%u of %s is not running: it is %s", t.role, t.index,
               t.job, t.state);
    cli_task_free(&t);
  }
  cli_remote_close(&r);
  return code;
}

const cli_verb cli_attach = {
  .name = "attach",
  .brief = "Show a task's output and send it input",
  .usage =
    "[--task ROLE[/INDEX]] [--tail BYTES] [--quiet] [--json] [--root DIR]\n"
    "               JOB",
  .help =
    "Print the last output of a task, then all further output as it comes.\n"
    "Input is sent to the task if the job was started with an open standard\n"
    "input: openpai run -i, openpai submit --stdin, or extras.openpai.stdin:\n"
    "true in the job file.  A task with a terminal (tty: true) gets each key\n"
    "as it is pressed.  The task's input stays open after attach ends: "
    "others\n"
    "can attach later, also after a restart of the platform.\n"
    "\n"
    "Detach with Ctrl-P Ctrl-Q from a task with a terminal, with Ctrl-C from\n"
    "a task without one.  The task continues.\n"
    "\n"
    "  --task ROLE[/INDEX]\n"
    "                   task (default: the only one, or the only one that "
    "runs;\n"
    "                   if several run, you are asked on a terminal)\n"
    "  --tail BYTES     bytes of earlier output to print first (default: "
    "4096)\n"
    "  -q, --quiet      print nothing but the task's output\n"
    "  --json           print lines of JSON, {\"event\", \"stream\", "
    "\"text\"}, and\n"
    "                   at the end {\"event\", \"how\", \"code\", "
    "\"text\"}\n" JOBS_ROOT_HELP "\n"
    "Exit status:\n"
    "  0      detached\n"
    "  0-255  exit status of the task, if the task ended\n"
    "  128+n  signal n ended attach\n"
    "  125    no such job or task, the task is not running, no platform "
    "runs,\n"
    "         or usage error\n",
  .run = run,
};
