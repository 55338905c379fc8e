/* cmd_exec.c - runs a command in a task */
#include "jobs.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

typedef struct exec_options {
  const char *job, *task;
  const char *const *command; /* NULL: a shell */
  bool tty, plain, json;
} exec_options;

/* Signals go to the command; what is to end us, or comes again, ends it. */
static void take_signal(cli_session *s, const cli_happened *h, int *asked)
{
  if (h->signal == 0 || s->session == NULL)
    return;
  if (h->asked && s->started && (*asked)++ == 0) {
    (void)!pai_session_signal(s->session, h->signal);
    return;
  }
  s->killed = h->signal;
  pai_session_close(s->session);
  s->session = NULL;
  s->over = true;
}

static void print_end(const cli_session *s)
{
  static const char *const hows[] = { "none", "exit", "signal", "failed",
                                      "lost" };

  cli_json_end(hows[s->how >= 0 && s->how < 5 ? s->how : 0], s->code, s->text);
}

static int finish(const cli_session *s, const cli_task *t)
{
  if (s->killed != 0)
    return 128 + s->killed;
  if (s->status < 0) {
    cli_session_tell(s);
    if (s->json && s->started)
      cli_json_end("lost", CLI_BROKEN, s->text);
    return CLI_BROKEN;
  }
  if (s->json)
    print_end(s);
  if (s->how == PAI_SESSION_FAILED && !s->json)
    cli_fail("task %s/%u: %s", t->role, t->index, s->text);
  if (s->how == PAI_SESSION_LOST && !s->json)
    cli_fail("%s (%s/%u), and its command was killed", s->text, t->role,
             t->index);
  return s->code;
}

static int execute(cli_remote *r, const cli_task *t, const exec_options *o)
{
  bool tty = o->tty || (!o->plain && !o->json && cli_terminal_is_input() &&
                        cli_is_terminal(stdout));
  cli_session s = {
    .remote = r, .task = t, .command = o->command, .tty = tty, .json = o->json
  };
  int asked = 0;

  if (!cli_terminal_open())
    return CLI_BROKEN;
  cli_session_begin(&s);
  if (tty && o->command == NULL && cli_is_terminal(stderr) && s.started)
    (void)fprintf(stderr, "a shell with a terminal in %s/%u of %s\r\n",
                  t->role, t->index, t->job); /* keys come raw already */
  while (!s.over) {
    cli_happened happened;

    cli_session_turn(&s, &happened);
    take_signal(&s, &happened, &asked);
    if (!s.over && ferror(stdout)) { /* nobody reads what it says */
      pai_session_close(s.session);
      s.session = NULL;
      s.over = true;
      s.killed = 13;
    }
  }
  (void)cli_terminal_close(); /* how the command ended counts more */
  return finish(&s, t);
}

static int misused(const char *what, const char *word)
{
  cli_misused(&cli_exec, what, word);
  return CLI_BROKEN;
}

/* A word that is no option's, behind the job. */
static int too_many(char *const *argv, int behind)
{
  const char *word = argv[1];

  if (behind == 0) {
    cli_fail("%s: put the command after --: %s", cli_exec.name, word);
    (void)fprintf(stderr, "  help: openpai exec %s -- %s ...\n", argv[0],
                  word);
  } else {
    cli_fail("%s: one job is allowed: %s", cli_exec.name, word);
    if (word[strspn(word, "0123456789")] == '\0')
      (void)fprintf(stderr, "  help: --task ROLE/%s chooses a task\n", word);
    else
      cli_help(stderr, "--task ROLE/INDEX chooses a task");
  }
  return CLI_BROKEN;
}

static int run(int argc, char **argv)
{
  exec_options o = { 0 };
  const cli_option options[] = {
    { "task", 0, NULL, &o.task },      { "tty", 't', &o.tty, NULL },
    { "no-tty", 'i', &o.plain, NULL }, { "json", 0, &o.json, NULL },
    { "root", 0, NULL, &cli_root },
  };
  int behind = cli_cut_command(&argc, argv), words, code = CLI_BROKEN;
  cli_remote r;
  cli_task t;

  if (behind > 0)
    o.command = (const char *const *)argv + argc + 1;
  words = cli_options(&cli_exec, options, 5, argc, argv);
  if (words == -2)
    return CLI_OK;
  if (words > 1)
    return too_many(argv, behind);
  if (words < 0 || !cli_want_jobs(&cli_exec, words, argv, 1) ||
      !cli_task_word(&cli_exec, o.task))
    return CLI_BROKEN;
  if (o.tty && (o.plain || o.json))
    return misused("--json requires separate streams, without a terminal",
                   o.plain ? "-i" : "--json");
  o.job = argv[0];
  if (!cli_remote_open(&r, false))
    return CLI_BROKEN;
  if (cli_task_find(&t, &r, o.job, o.task)) {
    code = execute(&r, &t, &o);
    cli_task_free(&t);
  }
  cli_remote_close(&r);
  return code;
}

const cli_verb cli_exec = {
  .name = "exec",
  .brief = "Run a command or a shell in a running task",
  .usage = "[-t|-i] [--task ROLE[/INDEX]] [--json] [--root DIR] JOB\n"
           "             [-- COMMAND...]",
  .help =
    "The command gets the task's variables, GPUs, CPUs, limits, working\n"
    "folder, and sandbox or container.  Without a command, run the user's\n"
    "shell.  Standard input is passed to the command; use < /dev/null to "
    "pass\n"
    "none.  If openpai is killed, the command gets SIGHUP, and SIGKILL 3 s\n"
    "later.  The command is killed when the task ends; it survives the end "
    "of\n"
    "the platform.  With --cluster ALIAS or URL, run it in a task of that\n"
    "server; if the server uses TLS, the command is killed when the server\n"
    "ends.\n"
    "\n"
    "  --task ROLE[/INDEX]\n"
    "                   task (default: the only one, or the only one that "
    "runs;\n"
    "                   if several run, you are asked on a terminal)\n"
    "  -t, --tty        give the command a terminal (default if standard\n"
    "                   input and output are terminals)\n"
    "  -i, --no-tty     give it no terminal: output and errors stay "
    "separate;\n"
    "                   the first Ctrl-C is sent to the command, the second\n"
    "                   kills it\n"
    "  --json           print the output as lines of JSON, {\"event\", "
    "\"stream\",\n"
    "                   \"text\"}, and at the end {\"event\", \"how\", "
    "\"code\",\n"
    "                   \"text\"}\n" JOBS_ROOT_HELP "\n"
    "Exit status:\n"
    "  0-255  exit status of the command\n"
    "  125    the connection was lost, no such job or task, the task is not\n"
    "         running, no platform runs, or usage error\n"
    "  126    the command could not be started\n"
    "  127    the command was not found\n"
    "  128+n  signal n ended the command or exec\n"
    "  137    also: the task ended\n",
  .run = run,
};
