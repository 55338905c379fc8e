/*
 * fuzz_request.c - a request of the API, from its first line to its answer
 *
 * A line of a method and a target, lines of headers, an empty one, the body:
 * routes, queries, bodies and streams as the server has them, over a platform
 * that is played.  It comes on a connection, in two pieces.  Each request is
 * answered, once; nothing of it is left; an upload stays in its folder.
 */
#define _XOPEN_SOURCE 700 /* mkdtemp(), nftw() */
#include "check.h"

#include "json/json.h"
#include "server/http/conn.h"
#include "server/fake.h"
#include "server/streams/feed.h"
#include "server/http/peer.h"
#include "server/calls/quotas.h"
#include "server/alerts/alerts.h"
#include "server/monitor/observed.h"
#include "server/monitor/sampling.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_STEPS = 64 };

/* --- the scene ------------------------------------------------------------------- */

typedef struct scene {
  pai_server server;
  pai__server_listener listener;
  pai_platform platform;
  int client; /* its end of the connection, whose other end is the server's */
  pai__buf request, answer;
  size_t head; /* bytes of the request's head */
  size_t body_len;
  bool tcp; /* a header says that it comes over TCP */
} scene;

static char folder[64]; /* with code, for uploads, and out, which is empty */
static char uploads[80];
static char self[] = "alice";

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *at)
{
  (void)info;
  (void)kind;
  (void)at;
  return remove(path);
}

static void remove_folder(void)
{
  (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_folder(void)
{
  char out[80];

  if (folder[0] != '\0')
    return;
  (void)snprintf(folder, sizeof(folder), "/tmp/openpai-fuzz-XXXXXX");
  CHECK(mkdtemp(folder) != NULL);
  (void)snprintf(out, sizeof(out), "%s/out", folder);
  CHECK(mkdir(out, 0700) == 0);
  (void)snprintf(uploads, sizeof(uploads), "%s/code", folder);
  CHECK(atexit(remove_folder) == 0);
}

/* How many names a folder has. */
static int count_names(const char *path)
{
  DIR *dir = opendir(path);
  int n = 0;

  CHECK(dir != NULL);
  while (readdir(dir) != NULL)
    n++;
  (void)closedir(dir);
  return n - 2;
}

/* Nothing was written beside the uploads, and they are removed. */
static void check_folder(void)
{
  struct stat info;
  char out[80];

  if (lstat(uploads, &info) < 0)
    return;
  (void)snprintf(out, sizeof(out), "%s/out", folder);
  CHECK(S_ISDIR(info.st_mode) && count_names(folder) == 2);
  CHECK(count_names(out) == 0);
  (void)nftw(uploads, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* By a proxy that is believed, where it is TCP. */
static void make_door(scene *s)
{
  pai_server *server = &s->server;
  int fds[2];

  s->listener =
    (pai__server_listener){ .server = server, .fd = -1, .remote = s->tcp };
  s->listener.last_due = &s->listener.first_due;
  s->listener.ready_fd = pai__ready_new();
  pai__map_init(&s->listener.peers, &pai__libc_alloc);
  server->idle_timeout = server->request_timeout = 1000000;
  CHECK(pai__limit_init(&server->all, &pai__libc_alloc, 1, 1000000, 1) ==
        PAI_OK);
  CHECK(pai__nets_new(&server->nets, &pai__libc_alloc, "127.0.0.1,10.0.0.0/8",
                      NULL) == PAI_OK);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
  s->client = fds[0];
  CHECK(s->listener.ready_fd >= 0 && pai__conn_new(&s->listener, fds[1]));
  if (s->tcp)
    (void)snprintf(s->listener.conns->deadline->peer,
                   sizeof(s->listener.conns->deadline->peer), "127.0.0.1");
}

static void free_door(scene *s)
{
  if (s->listener.conns != NULL)
    pai__conn_free(s->listener.conns);
  CHECK(s->listener.conns == NULL && s->server.first == NULL);
  (void)close(s->client);
  (void)close(s->listener.ready_fd);
  pai__map_dispose(&s->listener.peers);
  pai__limit_dispose(&s->server.all);
  pai__nets_free(s->server.nets, &pai__libc_alloc);
}

static void on_turn(void *unused)
{
  (void)unused;
}

static void on_shutdown(void *unused, int kill)
{
  (void)unused;
  CHECK(kill == 0 || kill == 1);
}

static void begin(scene *s)
{
  make_folder();
  s->platform = (pai_platform){ .show = "{\"name\":\"mnist\"}",
                                .state = PAI_STATE_RUNNING };
  s->server = (pai_server){ .alloc = pai__libc_alloc,
                            .platform = &s->platform,
                            .accounts = &s->platform.accounts,
                            .self = self,
                            .uploads = uploads,
                            .prefix = "/pai",
                            .cors = "*",
                            .on_shutdown = on_shutdown };
  CHECK(pai_loop_new(&s->server.loop, NULL, NULL) == PAI_OK);
  s->platform.loop = s->server.loop;
  CHECK(pai__loop_step_new(&s->server.step, &pai__libc_alloc, s->server.loop,
                           on_turn, NULL) == PAI_OK);
  CHECK(pai__sampling_begin(&s->server, false) == PAI_OK);
  CHECK(pai__alerts_begin(&s->server, folder, NULL) == PAI_OK);
  make_door(s);
}

static void end(scene *s)
{
  free_door(s);
  /* The feed lasts longer than who reads it. */
  CHECK(s->server.feed == NULL || s->server.feed->readers == NULL);
  pai__feed_free(&s->server);
  CHECK(s->platform.readers == NULL && s->platform.listeners == NULL);
  pai__loop_step_close(s->server.step);
  pai__alerts_free(&s->server);
  pai__sampling_free(&s->server);
  pai__usage_sampler_free(s->server.usage_sampler);
  pai__count_free(&s->server);
  pai__quota_forget_uploads(&s->server);
  CHECK(pai_loop_run(s->server.loop) == PAI_OK);
  pai_loop_free(s->server.loop);
  pai__buf_dispose(&s->answer);
  check_folder();
}

/* --- a request ------------------------------------------------------------------- */

/* Cuts a line off; NULL: there is none. */
static char *cut_line(char **rest)
{
  char *line = *rest, *end = strchr(line, '\n');

  if (end == NULL)
    return NULL;
  *end = '\0';
  *rest = end + 1;
  return line;
}

static bool begins(const char *line, const char *name)
{
  return strncasecmp(line, name, strlen(name)) == 0;
}

/* Makes a request of it, with a Host and a length if it says nothing of them. */
static bool make_request(scene *s, char *text, size_t size)
{
  char *rest = text, *line = cut_line(&rest);
  bool host = false, length = false;

  if (line == NULL)
    return false;
  pai__buf_printf(&s->request, "%s HTTP/1.1\r\n", line);
  while ((line = cut_line(&rest)) != NULL && line[0] != '\0') {
    pai__buf_printf(&s->request, "%s\r\n", line);
    host = host || begins(line, "Host");
    length = length || begins(line, "Content-Length") ||
             begins(line, "Transfer-Encoding");
    s->tcp = s->tcp || begins(line, "TCP:");
  }
  s->body_len = size - (size_t)(rest - text);
  if (!host)
    pai__buf_str(&s->request, "Host: x\r\n");
  if (!length)
    pai__buf_printf(&s->request, "Content-Length: %zu\r\n", s->body_len);
  pai__buf_str(&s->request, "\r\n");
  s->head = s->request.len;
  pai__buf_add(&s->request, rest, s->body_len);
  return line != NULL && s->request.len < 65536;
}

static pai__request *request_of(const scene *s)
{
  return s->listener.conns != NULL ? s->listener.conns->request : NULL;
}

static bool is_asleep(const scene *s)
{
  return request_of(s) != NULL && request_of(s)->suspended;
}

/* The server goes on, and what it says is heard. */
static void go_on(scene *s)
{
  char bytes[4096];
  ssize_t n;

  do {
    pai__server_listener_run(&s->listener);
    n = recv(s->client, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n > 0)
      pai__buf_add(&s->answer, bytes, (size_t)n);
  } while (n > 0 || s->listener.first_due != NULL);
}

static void send_piece(scene *s, size_t from, size_t to)
{
  const char *bytes = s->request.data + from;

  if (s->listener.conns != NULL && to > from)
    (void)!send(s->client, bytes, to - from, MSG_NOSIGNAL);
  go_on(s);
}

static void send_request(scene *s)
{
  size_t half = s->head + s->body_len / 2;

  send_piece(s, 0, half);
  send_piece(s, half, s->request.len);
}

/* --- its answer ------------------------------------------------------------------- */

/* What is not a stream waits for accounts, and then for the database, only; or
 * for what is found out beside the loop. */
static void wait_for_database(scene *s)
{
  pai_platform *p = &s->platform;

  CHECK(p->nsyncs + p->accounts.nwaiting + (size_t)p->estimates +
          (size_t)p->answers ==
        1);
  while (p->estimates > 0 || p->answers > 0)
    CHECK(pai_loop_run_once(s->server.loop) >= 0);
  if (p->accounts.nwaiting > 0) {
    p->accounts.fail = s->body_len % 5 == 4 ? PAI_EPERM : PAI_OK;
    fake_accounts_done(p);
  }
  if (p->nsyncs > 0)
    fake_synced(p, s->body_len % 7 == 6 ? PAI_EIO : PAI_OK);
  CHECK(!is_asleep(s));
  go_on(s);
}

/* Something happens for the stream to tell; false: nothing more does. */
static bool happen(scene *s, int step)
{
  pai_log_reader *r = s->platform.readers;

  if (r != NULL) {
    r->cb(r->user_data, PAI_OK, 0, "line\n", step % 3 == 0 ? 5 : 0);
    return true;
  }
  if (s->platform.listeners == NULL || step > 6)
    return false;
  if (step == 6)
    s->platform.state = PAI_STATE_SUCCEEDED;
  fake_event(&s->platform, step == 6 ? PAI_EVENT_JOB : PAI_EVENT_TASK,
             s->platform.state, "w", 0);
  return true;
}

static void read_stream(scene *s)
{
  for (int i = 0; i < MOST_STEPS && is_asleep(s); i++) {
    if (!happen(s, i))
      return; /* the reader hangs up */
    go_on(s);
  }
}

/* An error is JSON, of an object that says what went wrong. */
static void check_refusal(const scene *s)
{
  const char *text = pai__buf_text(&s->answer);
  const char *body = strstr(text, "\r\n\r\n");
  pai__tree *tree;
  size_t len;

  CHECK(body != NULL &&
        strstr(text, "Content-Type: application/json") != NULL);
  body += 4;
  len = s->answer.len - (size_t)(body - text);
  CHECK(pai__json_parse(&tree, body, len, NULL, NULL) == PAI_OK);
  /* OpenPAI's clients know one error that is no object. */
  CHECK((len == 4 && memcmp(body, "null", 4) == 0) ||
        pai__tree_get(tree, 0, "message") != PAI__NO_NODE);
  pai__tree_free(tree);
}

static void check_answer(const scene *s)
{
  static const int statuses[] = { 101, 200, 201, 202, 204, 206, 304, 400,
                                  401, 403, 404, 409, 413, 414, 415, 416,
                                  426, 429, 431, 500, 501, 503 };
  const char *text = pai__buf_text(&s->answer);
  bool known = false;
  int status;

  CHECK(strncmp(text, "HTTP/1.1 ", 9) == 0);
  status = atoi(text + 9);
  for (size_t i = 0; i < PAI__LEN(statuses); i++)
    known = known || statuses[i] == status;
  CHECK(known);
  if (status >= 400 && !begins(s->request.data, "HEAD ") &&
      strstr(text, "Content-Type: text/") == NULL)
    check_refusal(s);
}

/* Its body is in chunks that are not whole, or is shorter than it says. */
static bool is_cut(const scene *s)
{
  return s->listener.conns != NULL &&
         (s->listener.conns->state == PAI__CONN_BODY ||
          s->listener.conns->state == PAI__CONN_HEAD);
}

static void ask(scene *s)
{
  send_request(s);
  if (s->answer.len == 0 && is_cut(s))
    return;
  while (s->answer.len == 0 && is_asleep(s))
    wait_for_database(s);
  if (strncmp(pai__buf_text(&s->answer), "HTTP/1.1 100", 12) == 0)
    return; /* and its body is short */
  check_answer(s);
  read_stream(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = calloc(1, size + 1);
  scene s;

  memset(&s, 0, sizeof(s));
  pai__buf_init(&s.request, &pai__libc_alloc);
  pai__buf_init(&s.answer, &pai__libc_alloc);
  CHECK(text != NULL);
  memcpy(text, data, size);
  if (make_request(&s, text, size)) {
    begin(&s);
    ask(&s);
    end(&s);
  }
  pai__buf_dispose(&s.request);
  free(text);
  return 0;
}
