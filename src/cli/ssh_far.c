/*
 * ssh_far.c - a task's sshd on a server elsewhere: where it is, and its keys
 *
 * What a server says becomes words of ssh(1) and lines of its files only where
 * it can be what it is said to be.
 */
#include "session.h"

#include <stdlib.h>
#include <string.h>

static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/* Only characters of `plain` and `more`; not like an option. */
static bool is_made_of(const char *text, const char *more)
{
  size_t n = 0;

  while (text[n] != '\0' &&
         (strchr(plain, text[n]) != NULL || strchr(more, text[n]) != NULL))
    n++;
  return n > 0 && text[n] == '\0' && text[0] != '-';
}

bool cli_is_address(const char *ip, const char *port)
{
  static const char good[] = "0123456789abcdefABCDEF.:";

  return ip[0] != '\0' && ip[strspn(ip, good)] == '\0' && port[0] != '\0' &&
         strlen(port) <= 5 && port[strspn(port, "0123456789")] == '\0';
}

/* "TYPE BASE64", and perhaps a comment, which is left out. */
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

/* The host of a URL, without brackets. */
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

bool cli_ssh_host(char *out, size_t size, const cli_remote *r, const char *ip)
{
  bool here = strncmp(ip, "127.", 4) == 0 || strcmp(ip, "::1") == 0;

  if (here)
    return url_host(out, size, r->site.url);
  return (size_t)snprintf(out, size, "%s", ip) < size;
}

/* --- asked for -------------------------------------------------------------------- */

int cli_no_sshd(const cli_task *t)
{
  cli_fail("task %s/%u of %s has no sshd: its job does not have the plugin "
           "ssh, or it has not started it yet",
           t->role, t->index, t->job);
  cli_help(stderr, "openpai exec reaches any task");
  return CLI_BROKEN;
}

/* False: it has none, which is no failure, or *code says so. */
static bool ask(cli_remote *r, cli_json *out, const cli_task *t,
                const char *rest, int *code)
{
  char *path = cli_job_path(t->job, rest);
  cli_answer a;
  bool good;

  cli_remote_ask(r, &a, "GET", path, NULL, NULL, 0);
  good = a.status == PAI_OK && cli_json_read(out, a.body, a.len);
  if (!good && strcmp(a.code, "NoJobSshInfoError") != 0) {
    *code = CLI_BROKEN;
    if (a.status != PAI_OK)
      cli_answer_tell(&a);
    else
      cli_fail("the server's answer is invalid");
  }
  cli_answer_free(&a);
  free(path);
  return good;
}

/* Where the task is in the answer; 0: nowhere. */
static size_t find(const cli_json *j, const cli_task *t)
{
  size_t list = cli_json_get(j, 0, "containers"), i;

  for (i = list != 0 ? cli_json_first(j, list) : 0; i != 0;
       i = cli_json_next(j, list, i))
    if (strcmp(cli_json_text(j, i, "taskRole"), t->role) == 0 &&
        cli_json_number(j, i, "taskIndex", -1) == t->index)
      break;
  return i;
}

static bool take_way(cli_ssh_way *out, const cli_remote *r, const cli_json *j,
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

int cli_ssh_ask(cli_ssh_way *out, cli_remote *r, const cli_task *t)
{
  cli_json j = { 0 };
  int code = CLI_OK;
  size_t at;

  *out = (cli_ssh_way){ 0 };
  if (!ask(r, &j, t, "/ssh", &code))
    return code != CLI_OK ? code : cli_no_sshd(t);
  at = find(&j, t);
  if (at == 0) {
    code = cli_no_sshd(t);
  } else if (!take_way(out, r, &j, at)) {
    cli_fail("the server sent an invalid address, user or key for the sshd of "
             "task %s/%u",
             t->role, t->index);
    code = CLI_BROKEN;
  }
  cli_json_free(&j);
  if (code != CLI_OK)
    return code;
  if (ask(r, &j, t, "/ssh/key", &code)) {
    out->key = strdup(cli_json_text(&j, 0, "privateKey"));
    cli_json_free(&j);
    if (out->key == NULL) {
      cli_fail("out of memory");
      code = CLI_BROKEN;
    }
  }
  return code;
}

void cli_ssh_forget(cli_ssh_way *way)
{
  free(way->key);
  way->key = NULL;
}
