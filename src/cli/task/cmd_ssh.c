/* cmd_ssh.c - `ssh`: run ssh(1) to the sshd that the plugin ssh started in a
 * task */
#include "jobs.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/* Whether a text has only characters of `plain` and `more` and does not look
 * like an option. */
static bool is_made_of(const char *text, const char *more)
{
  size_t n = 0;

  while (text[n] != '\0' &&
         (strchr(plain, text[n]) != NULL || strchr(more, text[n]) != NULL))
    n++;
  return n > 0 && text[n] == '\0' && text[0] != '-';
}

/* Whether a server's answer is an address and a port. */
static bool cli_is_address(const char *ip, const char *port)
{
  static const char good[] = "0123456789abcdefABCDEF.:";

  return ip[0] != '\0' && ip[strspn(ip, good)] == '\0' && port[0] != '\0' &&
         strlen(port) <= 5 && port[strspn(port, "0123456789")] == '\0';
}

/* Takes "TYPE BASE64" of a line, without its comment. */
static bool take_host_key(char *out, size_t size, const char *line)
{
  size_t type = strcspn(line, " "), n;
  char word[64];

  if (type == 0 || type >= sizeof(word) || line[type] != ' ')
    return false;
  n = type + 1 + strcspn(line + type + 1, " ");
  if (n >= size)
    return false;
  memcpy(word, line, type);
  word[type] = '\0';
  memcpy(out, line, n);
  out[n] = '\0';
  return is_made_of(word, "-.@") && is_made_of(out + type + 1, "+/=");
}

/* Copies the host of a URL, without brackets. */
static bool url_host(char *out, size_t size, const char *url)
{
  const char *at = strstr(url, "://"), *end;

  at = at != NULL ? at + 3 : url;
  end = at[0] == '[' ? strchr(at, ']') : at + strcspn(at, ":/?#");
  at += at[0] == '[';
  if (end == NULL || end <= at || (size_t)(end - at) >= size)
    return false;
  memcpy(out, at, (size_t)(end - at));
  out[end - at] = '\0';
  return is_made_of(out, ".-:_");
}

/* Finds the host of a task's address: "127.0.0.1" means the server's
 * machine. */
static bool cli_ssh_host(char *out, size_t size, const cli_remote *r,
                         const char *ip)
{
  bool here = strncmp(ip, "127.", 4) == 0 || strcmp(ip, "::1") == 0;

  if (here)
    return url_host(out, size, r->context.url);
  return (size_t)snprintf(out, size, "%s", ip) < size;
}

/* --- calls to the server ------------------------------------------------- */

/* Prints that a task has no sshd.  Returns CLI_BROKEN. */
static int cli_no_sshd(const cli_task *t)
{
  cli_fail("task %s/%u of %s has no sshd: its job does not have the plugin "
           "ssh, or it has not started it yet",
           t->role, t->index, t->job);
  cli_help(stderr, "openpai exec reaches any task");
  return CLI_BROKEN;
}

/* Makes the call.  Returns false if the job has no sshd, which is no error, or
 * on an error, with *code set. */
static bool ask(cli_remote *r, pai_json **out, const cli_task *t,
                const char *call, int *code)
{
  cli_answer a;
  bool good;

  cli_call(r, &a, call, cli_job_arguments(t->job, ""));
  good = a.status == PAI_OK && cli_json_read(out, a.body, a.len);
  if (!good && strcmp(a.code, "NoJobSshInfoError") != 0) {
    *code = CLI_BROKEN;
    if (a.status != PAI_OK)
      cli_answer_tell(&a);
    else
      cli_fail("the server's answer is invalid");
  }
  cli_answer_free(&a);
  return good;
}

/* Returns the place of the task in the answer. */
static size_t find(const pai_json *j, const cli_task *t)
{
  cli_each e = cli_each_of(j, cli_json_get(j, 0, "containers"));

  while (cli_next(&e) &&
         (strcmp(cli_json_text(j, e.at, "taskRole"), t->role) != 0 ||
          cli_json_number(j, e.at, "taskIndex", -1) != t->index))
    continue;
  return e.at;
}

static bool take_way(cli_ssh_way *out, const cli_remote *r, const pai_json *j,
                     size_t at)
{
  const char *ip = cli_json_text(j, at, "sshIp");
  const char *port = cli_json_text(j, at, "sshPort");
  const char *user = cli_json_text(j, at, "sshUser");

  return cli_is_address(ip, port) &&
         (size_t)snprintf(out->port, sizeof(out->port), "%s", port) <
           sizeof(out->port) &&
         (size_t)snprintf(out->user, sizeof(out->user), "%s", user) <
           sizeof(out->user) &&
         is_made_of(out->user, "._-@+") &&
         take_host_key(out->host_key, sizeof(out->host_key),
                       cli_json_text(j, at, "hostKey")) &&
         cli_ssh_host(out->host, sizeof(out->host), r, ip);
}

/* Asks the server for the connection.  Returns CLI_OK, or an exit code after
 * printing an error. */
static int cli_ssh_ask(cli_ssh_way *out, cli_remote *r, const cli_task *t)
{
  pai_json *j = NULL;
  int code = CLI_OK;
  size_t at;

  *out = (cli_ssh_way){ 0 };
  if (!ask(r, &j, t, "jobs.ssh", &code))
    return code != CLI_OK ? code : cli_no_sshd(t);
  at = find(j, t);
  if (at == PAI_JSON_NONE) {
    code = cli_no_sshd(t);
  } else if (!take_way(out, r, j, at)) {
    cli_fail("the server sent an invalid address, user or key for the sshd of "
             "task %s/%u",
             t->role, t->index);
    code = CLI_BROKEN;
  }
  cli_json_free(&j);
  if (code != CLI_OK)
    return code;
  if (ask(r, &j, t, "jobs.ssh_key", &code)) {
    out->key = strdup(cli_json_text(j, 0, "privateKey"));
    cli_json_free(&j);
    if (out->key == NULL) {
      cli_fail("out of memory");
      code = CLI_BROKEN;
    }
  }
  return code;
}

static void cli_ssh_forget(cli_ssh_way *way)
{
  free(way->key);
  way->key = NULL;
}

enum { MOST_WORDS = 4096 };

/* The command line of ssh(1). */
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

/* Prints the connection as JSON, for use with another ssh client; w == NULL:
 * the job has no key. */
static int print_way(const char *host, const char *port, const ssh_words *w)
{
  cli_json_print(stdout, "{\"host\":%s,\"port\":%lld,\"command\":", host,
                 strtoll(port, NULL, 10));
  for (size_t i = 0; w != NULL && i < w->n; i++) {
    (void)printf("%s", i == 0 ? "[" : ",");
    cli_json_print(stdout, "%s", w->words[i]);
  }
  (void)printf("%s}\n", w != NULL ? "]" : "null");
  return CLI_OK;
}

/* The destination and the command to run there. */
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
  if (files->key[0] != '\0') { /* without a key, ssh(1) uses the user's own */
    add(w, "-i");
    add(w, files->key);
    add(w, "-o");
    add(w, "IdentitiesOnly yes");
  }
  /* Keys in temporary files must not stay in the agent. */
  if (files->folder[0] != '\0') {
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

/* Returns NULL after printing an error: no memory, or too many words. */
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

/* An original OpenPAI does not hand out keys. */
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
  cli_remote_close(r); /* the session may take days */
  if (code == CLI_OK) {
    to->host = way.host;
    to->port = way.port;
    code = cli_ssh_go(&way, make_words, to);
  }
  cli_ssh_forget(&way);
  return code;
}

int cli_do_ssh(const cli_ssh_args *a)
{
  static trip to;
  int code;
  cli_remote r;
  cli_task t;

  to.command = a->command;
  to.ncommand = a->ncommand;
  if (!cli_task_open(&t, &r, a->words[0], a->task, true))
    return CLI_BROKEN;
  code = r.root != NULL ? go_here(&r, &t, &to, a->json)
                        : go_far(&r, &t, &to, a->json);
  free_words(&to.words);
  cli_task_close(&t, &r);
  return code;
}
