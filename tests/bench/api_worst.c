/*
 * api_worst.c - how long the worst requests hold the loop
 *
 * Another process sends one request after the other over the UNIX socket; the
 * loop is driven here, turn by turn, and the longest turn by this thread's
 * processor clock is what all other requests would have waited.  When it was
 * answered is told, too: a thread of libuv's was busy for so long.
 */
#define _GNU_SOURCE
#include "api.h"
#include "bench.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  LIMIT_MS = 50,
  ANSWER_MS = 5000,
  JOB = 4 << 20,
  JSON = 100 << 10,
  HEAD = 8 << 10
};

/* `unit` as often as it fits between both; "%ld" in it is a number of its own. */
typedef struct worst {
  const char *name, *method, *path, *type;
  size_t size;
  const char *before, *unit, *after;
} worst;

#define YAML "POST", "/api/v2/jobs", "text/yaml", JOB
#define TOP "protocolVersion: 2\nname: x\ntype: job\n"
#define DOCKER "prerequisites: [{type: dockerimage, uri: x, name: d}]\n"
#define ROLE                                                                 \
  "    dockerImage: d\n    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: " \
  "0}\n"                                                                     \
  "    commands:\n"
#define ROLES TOP DOCKER "taskRoles:\n"
/* Tasks that wait alone, as all of the machine is in use. */
#define WAITING "extras: {gangAllocation: false}\n"

static const worst all[] = {
  { "flow-keys", YAML, "{", "a,", "}" },
  { "same-keys", YAML, "", "a: 1\n", "" },
  { "same-keys-json", YAML, "{", "\"a\":1,", "\"a\":1}" },
  { "unknown-keys", YAML, "", "k%ld: 1\n", "" },
  { "unknown-keys-json", YAML, "{", "\"k%ld\":1,", "\"z\":1}" },
  { "same-keys-late", YAML, "[", "{a: 1, a: 1},", "]" },
  { "question-keys", YAML, "", "? a\n", "" },
  { "set", YAML, "!!set\n", "? a\n", "" },
  { "carriage-returns", YAML, "", "a: 1\r", "" },
  { "tabs", YAML, "a:\n", "\tb: 1\n", "" },
  { "no-break-spaces", YAML, "",
    "\xc2\xa0"
    "a: 1\n",
    "" },
  { "anchors", YAML, "", "- &a%ld 1\n", "" },
  { "aliases", YAML, "- &a [1,2,3]\n", "- *a\n", "" },
  { "merges", YAML, "x: &a {a: 1}\ny:\n  <<: [", "*a,", "]\n" },
  { "deep", YAML, "", "[", "" },
  { "deep-json", YAML, "", "{\"a\":", "" },
  { "digits", YAML, "a: 1", "0", "\n" },
  { "fraction", YAML, "a: 0.", "1", "\n" },
  { "floats", YAML, "[", "1.2345678901234567890123e300,", "]" },
  { "long-text", YAML, "a: \"", "x", "\"\n" },
  { "escapes", YAML, "a: \"", "\\u00e9", "\"\n" },
  { "comments", YAML, "", "#\n", "" },
  { "comments-json", YAML, "{", "/**/", "}" },
  { "secrets", YAML, TOP "secrets: {", "a%ld: 'b',", "}\n" },
  { "prerequisites", YAML, TOP "prerequisites:\n", "  - x\n", "" },
  { "roles-unknown", YAML, TOP "taskRoles:\n", "  a%ld: {x: 1}\n", "" },
  { "roles-same", YAML, TOP "taskRoles:\n", "  a: {}\n", "" },
  { "templates", YAML, ROLES "  a:\n" ROLE, "    - '<%% $x.b %%>'\n", "" },
  { "templates-one", YAML, ROLES "  a:\n" ROLE "    - '", "<%% $x.b %%>",
    "'\n" },
  { "templates-open", YAML, ROLES "  a:\n" ROLE "    - '", "<%%", "'\n" },
  { "commands", YAML, ROLES "  a:\n" ROLE, "    - x\n", "" },
  { "many-roles", "POST", "/api/v2/jobs?name=roles", "text/yaml", 900 << 10,
    TOP WAITING DOCKER "taskRoles:\n", "  a%ld:\n" ROLE "    - x\n", "" },
  { "many-tasks", "POST", "/api/v2/jobs?name=tasks", "text/yaml", 0,
    TOP WAITING DOCKER "taskRoles:\n  a:\n    instances: 10000\n" ROLE
                       "    - x\n",
    "", "" },
  { "old-roles", "POST", "/api/v2/jobs", "application/json", JOB,
    "{\"jobName\":\"o\",\"image\":\"x\",\"taskRoles\":[",
    "{\"name\":\"a%ld\",\"taskNumber\":1,\"command\":\"x\"},",
    "{\"name\":\"z\",\"taskNumber\":1,\"command\":\"x\"}]}" },
  { "estimate", "POST", "/api/v2/estimate", "text/yaml", JSON, "{", "a,",
    "}" },
  { "user-unknown", "POST", "/api/v2/users", "application/json", JSON, "{",
    "\"k%ld\":1,", "\"z\":1}" },
  { "user-same", "POST", "/api/v2/users", "application/json", JSON, "{",
    "\"a\":1,", "\"a\":1}" },
  { "user-deep", "POST", "/api/v2/users", "application/json", JSON, "",
    "{\"a\":", "" },
  { "user-number", "POST", "/api/v2/users", "application/json", JSON,
    "{\"username\":", "9", "}" },
  { "user-fraction", "POST", "/api/v2/users", "application/json", JSON,
    "{\"username\":0.", "9", "}" },
  { "user-text", "POST", "/api/v2/users", "application/json", JSON,
    "{\"username\":\"", "\\ud83d\\ude00", "\"}" },
  { "user-extension", "PUT", "/api/v2/users/me", "application/json", JSON,
    "{\"data\":{\"username\":\"x\",\"extension\":{", "\"k%ld\":[],",
    "\"z\":1}}}" },
  { "form", "POST", "/api/v2/authn/basic/login",
    "application/x-www-form-urlencoded", JSON, "", "a[b][c][d]=1&", "" },
  { "form-names", "POST", "/api/v2/authn/basic/login",
    "application/x-www-form-urlencoded", JSON, "", "k%ld=1&", "" },
  { "form-brackets", "POST", "/api/v2/authn/basic/login",
    "application/x-www-form-urlencoded", JSON, "a", "[", "=1" },
  { "group", "POST", "/api/v2/groups", "application/json", JSON,
    "{\"groupname\":\"g\",\"extension\":{\"acls\":{\"virtualClusters\":[",
    "\"v%ld\",", "\"z\"]}}}" },
  { "execution", "PUT", "/api/v2/jobs/x~y/executionType", "application/json",
    JSON, "{\"value\":[", "1,", "1]}" },
  { "tag", "PUT", "/api/v2/jobs/x~y/tag", "application/json", JSON,
    "{\"value\":\"", "x", "\"}" },
  { "query", "GET", "/api/v2/jobs?", "", 0, "", "", "" },
};

static void add_units(pai__buf *out, const worst *w)
{
  size_t rest = strlen(w->before) + strlen(w->after);
  bool numbered = strstr(w->unit, "%ld") != NULL;
  bool format = strchr(w->unit, '%') != NULL;

  pai__buf_str(out, w->before);
  for (long n = 0; w->unit[0] != '\0' && out->len + 400 + rest < w->size; n++)
    if (!format)
      pai__buf_str(out, w->unit);
    else if (numbered)
      pai__buf_printf(out, w->unit, n);
    else /* "%%" alone */
      for (const char *c = w->unit; *c != '\0'; c += c[0] == '%' ? 2 : 1)
        pai__buf_char(out, *c);
  pai__buf_str(out, w->after);
}

/* A query of as many names as a head has room for. */
static void add_target(pai__buf *out, const worst *w)
{
  pai__buf_str(out, w->path);
  for (int i = 0; w->path[strlen(w->path) - 1] == '?' && out->len < HEAD; i++)
    pai__buf_printf(out, "%%6beyword%d=%%2b&", i);
}

static int say(int fd, const char *bytes, size_t len)
{
  while (len > 0) {
    ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

    if (n <= 0)
      return -1;
    bytes += n;
    len -= (size_t)n;
  }
  return 0;
}

/* The status of the answer, or 0. */
static int ask(const worst *w)
{
  struct sockaddr_un at = { .sun_family = AF_UNIX };
  pai__buf body, target;
  char head[HEAD + 512], answer[16] = "";
  int fd = socket(AF_UNIX, SOCK_STREAM, 0), len;

  pai__buf_init(&body, &pai__libc_alloc);
  pai__buf_init(&target, &pai__libc_alloc);
  add_units(&body, w);
  add_target(&target, w);
  len = snprintf(head, sizeof(head),
                 "%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\n"
                 "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                 w->method, pai__buf_text(&target), w->type, body.len);
  (void)snprintf(at.sun_path, sizeof(at.sun_path), "%.99s", api.socket);
  if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
    return 0;
  if (say(fd, head, (size_t)len) == 0)
    (void)say(fd, pai__buf_text(&body), body.len);
  for (size_t have = 0; have < 12;) {
    ssize_t n = recv(fd, answer + have, 12 - have, 0);

    if (n <= 0)
      return 0;
    have += (size_t)n;
  }
  return atoi(answer + 9);
}

/* Turns of the loop until the other process has ended, and a few more; the
 * longest in milliseconds, and those until it ended. */
static double watch(int told, double *answered)
{
  struct pollfd fds[2] = { { pai_loop_fd(api.loop), POLLIN, 0 },
                           { told, POLLIN, 0 } };
  double longest = 0, begin, end = 0, first = api_clock(CLOCK_MONOTONIC);

  do {
    int left = pai_loop_timeout_ms(api.loop);

    (void)poll(fds, 2, left < 0 || left > 50 ? 50 : left);
    if (end == 0 && fds[1].revents != 0) {
      *answered = (api_clock(CLOCK_MONOTONIC) - first) * 1e3;
      end = api_clock(CLOCK_MONOTONIC) + 0.3;
      fds[1].fd = -1;
      fds[1].revents = 0;
    }
    begin = api_clock(CLOCK_THREAD_CPUTIME_ID);
    if (pai_loop_dispatch(api.loop) < 0)
      return -1;
    begin = api_clock(CLOCK_THREAD_CPUTIME_ID) - begin;
    longest = longest < begin ? begin : longest;
  } while (end == 0 || api_clock(CLOCK_MONOTONIC) < end);
  return longest * 1e3;
}

/* What could not be asked, or was hung up on, is told with the status 0. */
static int measure(const worst *w)
{
  int fds[2], status = 0;
  double longest, answered = 0;
  char name[64];
  pid_t pid;

  if (pipe(fds) < 0)
    return -1;
  pid = fork();
  if (pid == 0) {
    status = ask(w);
    _exit(write(fds[1], &status, sizeof(status)) < 0);
  }
  (void)close(fds[1]);
  longest = pid > 0 ? watch(fds[0], &answered) : -1;
  if (read(fds[0], &status, sizeof(status)) != sizeof(status))
    longest = -1;
  (void)close(fds[0]);
  (void)waitpid(pid, NULL, 0);
  (void)snprintf(name, sizeof(name), "api-worst-%s-%d", w->name, status);
  bench_print_limit(name, longest, LIMIT_MS, "ms", api.json);
  (void)snprintf(name, sizeof(name), "api-worst-%s-answer", w->name);
  bench_print_limit(name, answered, ANSWER_MS, "ms", api.json);
  return longest < 0 ? -1 : 0;
}

int api_worst(void)
{
  const char *row = getenv("OPENPAI_BENCH_ROW"); /* only this one */
  int rc = api_open(0, NULL, NULL);

  if (rc == 0)
    rc = api_submit("all", api.cpus, "sleep 1000") < 0 ? -1 : 0;
  while (rc == 0 && api.running == 0)
    rc = pai_loop_run_once(api.loop) > 0 ? 0 : -1;
  for (size_t i = 0; i < PAI__LEN(all) && rc == 0; i++)
    if (row == NULL || strcmp(row, all[i].name) == 0)
      rc = measure(&all[i]);
  if (api.platform != NULL)
    api_close(1);
  return rc;
}
