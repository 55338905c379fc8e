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
    cli_misused(&cli_attach, "this is no number of bytes", o.tail);
    return CLI_BROKEN;
  }
  o.job = argv[0];
  if (!cli_remote_open(&r, false))
    return CLI_BROKEN;
  if (cli_task_find(&t, &r, o.job, o.task)) {
    if (strcmp(t.state, "RUNNING") == 0)
      code = attach(&r, &t, &o);
    else
      cli_fail("task %s/%u of %s does not run: it is %s", t.role, t.index,
               t.job, t.state);
    cli_task_free(&t);
  }
  cli_remote_close(&r);
  return code;
}

const cli_verb cli_attach = {
  .name = "attach",
  .brief = "Follow a task's output, and type into it",
  .usage =
    "[--task ROLE/INDEX] [--tail BYTES] [--quiet] [--json] [--root DIR]\n"
    "               JOB",
  .help =
    "What the task prints from now on is shown, after the last of what it "
    "has\n"
    "printed.  If its job was started with an open standard input (openpai "
    "run\n"
    "-i, or extras.openpai.stdin: true in its file) what is typed, or comes\n"
    "from standard input, goes there; with a terminal (tty: true) keys go "
    "there\n"
    "as they are pressed.  The input stays the task's: it is there for who\n"
    "attaches next, also after a restart of the platform.\n\n"
    "Ctrl-P Ctrl-Q leaves a task with a terminal, Ctrl-C one without; both "
    "go\n"
    "on.\n\n"
    "  --task ROLE/INDEX\n"
    "                   to this task; needed if the job has several\n"
    "  --tail BYTES     begin so far before the end of what there is; 4096\n"
    "                   without it\n"
    "  -q, --quiet      only what the task prints\n"
    "  --json           that as lines of JSON, {\"event\", \"stream\", "
    "\"text\"},\n"
    "                   and last of all {\"event\", \"how\", \"code\", "
    "\"text\"}\n" JOBS_ROOT_HELP
    "\nExit status: that of the task when it has ended; 0 after detaching;\n"
    "128+n signal n ended attach; 125 no such job or task, the task does\n"
    "not run, no platform runs, or usage error\n",
  .run = run,
};
