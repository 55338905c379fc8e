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

/* How one gets there, for who has another ssh(1); `w` NULL: without a key. */
static int print_way(const char *host, const char *port, const ssh_words *w)
{
  (void)printf("{\"host\":");
  cli_json_string(stdout, host, strlen(host));
  (void)printf(",\"port\":%ld,\"command\":", strtol(port, NULL, 10));
  for (size_t i = 0; w != NULL && i < w->n; i++) {
    (void)printf("%s", i == 0 ? "[" : ",");
    cli_json_string(stdout, w->words[i], strlen(w->words[i]));
  }
  (void)printf("%s}\n", w != NULL ? "]" : "null");
  return CLI_OK;
}

/* Where one goes, and what is to be done there. */
typedef struct trip {
  const char *host, *port;
  char **command;
  int ncommand;
  ssh_words words;
} trip;

static void add_words(trip *t, const cli_ssh_files *files)
{
  ssh_words *w = &t->words;

  add(w, "ssh");
  add(w, "-p");
  add(w, t->port);
  add(w, "-l");
  add(w, files->user);
  if (files->key[0] != '\0') { /* else the user's own */
    add(w, "-i");
    add(w, files->key);
    add(w, "-o");
    add(w, "IdentitiesOnly yes");
  }
  if (files->folder[0] != '\0') { /* what goes is kept by nobody */
    add(w, "-o");
    add(w, "AddKeysToAgent no");
  }
  add_option(w, "UserKnownHostsFile", files->known_hosts);
  add(w, "-o");
  add(w, "GlobalKnownHostsFile /dev/null");
  add(w, "-o");
  add(w, "StrictHostKeyChecking yes");
  add(w, "-o");
  add(w, "LogLevel ERROR");
  add(w, t->host);
  if (t->ncommand > 0)
    add(w, "--");
  for (int i = 0; i < t->ncommand; i++)
    add(w, t->command[i]);
}

/* NULL, and told: there is no memory, or there are too many. */
static char **make_words(void *data, const cli_ssh_files *files)
{
  trip *t = data;

  add_words(t, files);
  if (!t->words.failed)
    return t->words.words;
  cli_fail("the command has too many words");
  return NULL;
}

static int go_here(const cli_remote *r, const cli_task *t, trip *to, bool json)
{
  cli_ssh_files files = { 0 };
  char **words;

  if (t->ssh_port[0] == '\0' || !cli_ssh_find(&files, r->root, t))
    return cli_no_sshd(t);
  to->host = t->ip;
  to->port = t->ssh_port;
  words = make_words(to, &files);
  if (words == NULL)
    return CLI_BROKEN;
  return json ? print_way(t->ip, t->ssh_port, &to->words)
              : cli_ssh_become(words);
}

/* Of an original OpenPAI keys are nobody's to ask for. */
static int tell_original(const cli_task *t)
{
  char help[sizeof(t->ip) + sizeof(t->ssh_port) + 64];

  cli_fail("this server is an original OpenPAI: it does not hand out the keys "
           "of task %s/%u of %s",
           t->role, t->index, t->job);
  (void)snprintf(help, sizeof(help),
                 "ssh -p %s root@%s, with the job's private key", t->ssh_port,
                 t->ip);
  cli_help(stderr, help);
  return CLI_BROKEN;
}

static int go_far(cli_remote *r, const cli_task *t, trip *to, bool json)
{
  cli_ssh_way way;
  int code;

  if (!cli_is_address(t->ip, t->ssh_port))
    return cli_no_sshd(t);
  if (json)
    return cli_ssh_host(way.host, sizeof(way.host), r, t->ip)
             ? print_way(way.host, t->ssh_port, NULL)
             : cli_no_sshd(t);
  if (cli_remote_is_original(r))
    return tell_original(t);
  code = cli_ssh_ask(&way, r, t);
  cli_remote_close(r); /* a session may take days */
  if (code == CLI_OK) {
    to->host = way.host;
    to->port = way.port;
    code = cli_ssh_go(&way, make_words, to);
  }
  cli_ssh_forget(&way);
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
  static trip to;
  cli_remote r;
  cli_task t;

  to.command = argv + argc + 1;
  to.ncommand = behind;
  words = cli_options(&cli_ssh, options, 3, argc, argv);
  if (words == -2)
    return CLI_OK;
  if (words > 1) {
    cli_misused(&cli_ssh, "put the command after --", argv[1]);
    return CLI_BROKEN;
  }
  if (words < 0 || !cli_want_jobs(&cli_ssh, words, argv, 1) ||
      !cli_task_word(&cli_ssh, task) || !cli_remote_open(&r, false))
    return CLI_BROKEN;
  if (cli_task_find(&t, &r, argv[0], task)) {
    if (strcmp(t.state, "RUNNING") != 0)
      cli_fail("task %s/%u of %s is not running: it is %s", t.role, t.index,
               t.job, t.state);
    else
      code = r.root != NULL ? go_here(&r, &t, &to, json)
                            : go_far(&r, &t, &to, json);
    free_words(&to.words);
    cli_task_free(&t);
  }
  cli_remote_close(&r);
  return code;
}

const cli_verb cli_ssh = {
  .name = "ssh",
  .brief = "Log in to a task with ssh",
  .usage = "[--task ROLE[/INDEX]] [--json] [--root DIR] JOB [-- COMMAND...]",
  .help =
    "Replace this process with ssh(1), using the task's address, port and "
    "host\n"
    "key, and the job's private key; a job without one (jobssh: false) needs\n"
    "your own key.  Only jobs with the runtime plugin ssh run an sshd; for\n"
    "other jobs use 'openpai exec'.\n"
    "\n"
    "For a remote server, the job's key is fetched from it (only the job's\n"
    "user may do that) and stored in a private folder in $XDG_RUNTIME_DIR or\n"
    "$TMPDIR while ssh runs.  The task's port must be reachable from this\n"
    "machine.\n"
    "\n"
    "  --task ROLE[/INDEX]\n"
    "                   task (default: the only one, or the only one that "
    "runs;\n"
    "                   if several run, you are asked on a terminal)\n"
    "  --json           print {\"host\", \"port\", \"command\"} instead of "
    "running\n"
    "                   ssh; command is null for a remote server, as the key\n"
    "                   is present only while ssh runs\n" JOBS_ROOT_HELP "\n"
    "Exit status:\n"
    "  0-255  exit status of ssh: that of the command, or 255\n"
    "  125    no such job or task, the task is not running or has no sshd, "
    "no\n"
    "         platform runs, or usage error\n",
  .run = run,
};
