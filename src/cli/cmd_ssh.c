/* cmd_ssh.c - ssh(1) to the sshd that the plugin ssh has started in a task */
#include "jobs.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 4096 };

/* The words of ssh(1). */
typedef struct ssh_words {
  char *words[MOST_WORDS + 1];
  size_t n;
  bool failed;
} ssh_words;

static void add(ssh_words *w, const char *text)
{
  char *copy = w->n < MOST_WORDS ? strdup(text) : NULL;

  if (copy == NULL)
    w->failed = true;
  else
    w->words[w->n++] = copy;
}

static void add_option(ssh_words *w, const char *name, const char *value)
{
  size_t size = strlen(name) + strlen(value) + 8;
  char *text = malloc(size);

  if (text == NULL) {
    w->failed = true;
    return;
  }
  (void)snprintf(text, size, "%s \"%s\"", name, value);
  add(w, "-o");
  add(w, text);
  free(text);
}

static void free_words(ssh_words *w)
{
  for (size_t i = 0; i < w->n; i++)
    free(w->words[i]);
  w->n = 0;
}

static int no_sshd(const cli_task *t)
{
  cli_fail("task %s/%u of %s has no sshd: its job does not have the plugin "
           "ssh, or it has not started it yet",
           t->role, t->index, t->job);
  cli_help(stderr, "openpai exec reaches any task");
  return CLI_BROKEN;
}

/* How one gets there, for who has another ssh(1); `w` NULL: without a key. */
static int print_way(const cli_task *t, const ssh_words *w)
{
  (void)printf("{\"host\":");
  cli_json_string(stdout, t->ip, strlen(t->ip));
  (void)printf(",\"port\":%ld,\"command\":", strtol(t->ssh_port, NULL, 10));
  for (size_t i = 0; w != NULL && i < w->n; i++) {
    (void)printf("%s", i == 0 ? "[" : ",");
    cli_json_string(stdout, w->words[i], strlen(w->words[i]));
  }
  (void)printf("%s}\n", w != NULL ? "]" : "null");
  return CLI_OK;
}

/* Of a server elsewhere the keys are there, too. */
static int tell_address(const cli_task *t, bool json)
{
  char help[sizeof(t->ip) + sizeof(t->ssh_port) + 64];

  if (t->ssh_port[0] == '\0')
    return no_sshd(t);
  if (json)
    return print_way(t, NULL);
  (void)snprintf(help, sizeof(help),
                 "ssh -p %s root@%s, with the key that the "
                 "job was given",
                 t->ssh_port, t->ip);
  cli_fail("the keys of task %s/%u of %s are at its server", t->role, t->index,
           t->job);
  cli_help(stderr, help);
  return CLI_BROKEN;
}

static int go(const cli_remote *r, const cli_task *t, char **command,
              int ncommand, bool json)
{
  static ssh_words w;
  cli_ssh_files files;
  int code;

  if (r->root == NULL)
    return tell_address(t, json);
  if (t->ssh_port[0] == '\0' || !cli_ssh_find(&files, r->root, t))
    return no_sshd(t);
  add(&w, "ssh");
  add(&w, "-p");
  add(&w, t->ssh_port);
  add(&w, "-l");
  add(&w, files.user);
  if (files.key[0] != '\0') { /* else the user's own */
    add(&w, "-i");
    add(&w, files.key);
    add(&w, "-o");
    add(&w, "IdentitiesOnly yes");
  }
  add_option(&w, "UserKnownHostsFile", files.known_hosts);
  add(&w, "-o");
  add(&w, "GlobalKnownHostsFile /dev/null");
  add(&w, "-o");
  add(&w, "StrictHostKeyChecking yes");
  add(&w, "-o");
  add(&w, "LogLevel ERROR");
  add(&w, t->ip);
  if (ncommand > 0)
    add(&w, "--");
  for (int i = 0; i < ncommand; i++)
    add(&w, command[i]);
  if (w.failed) {
    cli_fail("the command has too many words");
    code = CLI_BROKEN;
  } else {
    code = json ? print_way(t, &w) : cli_ssh_become(w.words);
  }
  free_words(&w);
  return code;
}

static int run(int argc, char **argv)
{
  const char *task = NULL;
  bool json = false;
  const cli_option options[] = {
    { "task", 0, NULL, &task },
    { "json", 0, &json, NULL },
    { "root", 0, NULL, &cli_root },
  };
  int behind = cli_cut_command(&argc, argv), words, code = CLI_BROKEN;
  char **command = argv + argc + 1;
  cli_remote r;
  cli_task t;

  words = cli_options(&cli_ssh, options, 3, argc, argv);
  if (words == -2)
    return CLI_OK;
  if (words > 1) {
    cli_misused(&cli_ssh, "a command stands behind --", argv[1]);
    return CLI_BROKEN;
  }
  if (words < 0 || !cli_want_jobs(&cli_ssh, words, argv, 1) ||
      !cli_task_word(&cli_ssh, task) || !cli_remote_open(&r, false))
    return CLI_BROKEN;
  if (cli_task_find(&t, &r, argv[0], task)) {
    if (strcmp(t.state, "RUNNING") == 0)
      code = go(&r, &t, command, behind, json);
    else
      cli_fail("task %s/%u of %s does not run: it is %s", t.role, t.index,
               t.job, t.state);
    cli_task_free(&t);
  }
  cli_remote_close(&r);
  return code;
}

const cli_verb cli_ssh = {
  .name = "ssh",
  .brief = "Go into a task by the sshd of its job's plugin ssh",
  .usage = "[--task ROLE/INDEX] [--json] [--root DIR] JOB [-- COMMAND...]",
  .help =
    "Becomes ssh(1), with the task's address, port and host key, and the "
    "key\n"
    "that its job has made; of a job that has none (jobssh: false), with the\n"
    "user's own.  A job has an sshd if it has the runtime plugin ssh; "
    "openpai\n"
    "exec needs none.\n\n"
    "  --task ROLE/INDEX\n"
    "                   to this task; needed if the job has several\n"
    "  --json           starts no ssh, but prints how it would: {\"host\", "
    "\"port\",\n"
    "                   \"command\"}; of a server elsewhere command is null, "
    "since\n"
    "                   the keys are there\n" JOBS_ROOT_HELP
    "\nExit code: ssh's, which is the command's, "
    "or 255; 125 there is no such\n"
    "job or task, it does not run or has no sshd, no platform runs, or wrong\n"
    "usage.\n",
  .run = run,
};
