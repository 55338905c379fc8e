/* cmd_exec.c - `exec`: run a command in a task */
#include "jobs.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

/* The first SIGINT or SIGQUIT goes to the command.  A second one, and any
 * other signal, ends the session. */
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

static int execute(cli_remote *r, const cli_task *t, const cli_exec_args *a)
{
  const char *const *command =
    a->ncommand > 0 ? (const char *const *)a->command : NULL;
  bool tty = a->tty || (!a->no_tty && !a->json && cli_terminal_is_input() &&
                        cli_is_terminal(stdout));
  cli_session s = {
    .remote = r, .task = t, .command = command, .tty = tty, .json = a->json
  };
  int asked = 0;

  if (!cli_terminal_open())
    return CLI_BROKEN;
  cli_session_begin(&s);
  if (tty && command == NULL && cli_is_terminal(stderr) && s.started)
    (void)fprintf(stderr, "a shell with a terminal in %s/%u of %s\r\n",
                  t->role, t->index, t->job); /* raw mode: \r\n */
  while (!s.over) {
    cli_happened happened;

    cli_session_step(&s, &happened);
    take_signal(&s, &happened, &asked);
    if (!s.over && ferror(stdout)) { /* stdout has no reader any more */
      pai_session_close(s.session);
      s.session = NULL;
      s.over = true;
      s.killed = 13;
    }
  }
  /* The command's exit code takes precedence over the signal. */
  (void)cli_terminal_close();
  return finish(&s, t);
}

/* Prints an error about a word after the job that is not an option. */
static int too_many(char *const *argv, int behind)
{
  const char *word = argv[1];

  if (behind == 0) {
    cli_fail("%s: put the command after --: %s", cli_verb_now->name, word);
    (void)fprintf(stderr, "  help: openpai exec %s -- %s ...\n", argv[0],
                  word);
  } else {
    cli_fail("%s: one job is allowed: %s", cli_verb_now->name, word);
    if (word[strspn(word, "0123456789")] == '\0')
      (void)fprintf(stderr, "  help: --task ROLE/%s chooses a task\n", word);
    else
      cli_help(stderr, "--task ROLE/INDEX chooses a task");
  }
  return CLI_BROKEN;
}

int cli_do_exec(const cli_exec_args *a)
{
  int code;
  cli_remote r;
  cli_task t;

  if (a->count > 1)
    return too_many(a->words, a->ncommand);
  if (!cli_want_jobs(a->count, a->words) ||
      !cli_task_open(&t, &r, a->words[0], a->task, false))
    return CLI_BROKEN;
  code = execute(&r, &t, a);
  cli_task_close(&t, &r);
  return code;
}

static int attach(cli_remote *r, const cli_task *t, const cli_attach_args *o)
{
  char offset[32];
  cli_attached a = { 0 };

  (void)snprintf(offset, sizeof(offset), "-%s", o->tail);
  return cli_attach_to(&a, r, t, offset,
                       o->json    ? CLI_ATTACH_JSON
                       : o->quiet ? CLI_ATTACH_QUIET
                                  : CLI_ATTACH_TOLD);
}

int cli_do_attach(const cli_attach_args *a)
{
  int code;
  cli_remote r;
  cli_task t;

  if (!cli_task_open(&t, &r, a->words[0], a->task, true))
    return CLI_BROKEN;
  code = attach(&r, &t, a);
  cli_task_close(&t, &r);
  return code;
}
