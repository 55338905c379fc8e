/*
 * fuzz_request.c - a request of the API, from its first line to its answer
 *
 * A line of a method and a target, lines of headers, an empty one, the body:
 * routes, queries, bodies and streams as the server has them, over a platform
 * that is played.  libmicrohttpd is played, too: there is no socket, and what
 * is asked of it is checked.  Each request is answered, once; nothing of it is
 * left; an upload stays in its folder.
 */
#define _XOPEN_SOURCE 700 /* mkdtemp(), nftw() */
#include "check.h"

#include "json/json.h"
#include "server/fake.h"
#include "server/feed.h"
#include "server/peer.h"
#include "server/quotas.h"
#include "server/alerts.h"
#include "server/seen.h"

#include <dirent.h>
#include <ftw.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_HEADERS = 16, MOST_BLOCKS = 64 };

/* --- libmicrohttpd ----------------------------------------------------------- */

struct MHD_Response {
  size_t size;
  const char *bytes;
  MHD_ContentReaderCallback reader; /* NULL: it has bytes */
  void *data;
  MHD_UpgradeHandler upgrade; /* NULL: it is a document */
  char type[64];
};

struct MHD_Connection {
  const char *headers[MOST_HEADERS][2];
  size_t nheaders;
  bool suspended;
  struct MHD_Response *response;
  unsigned status;
  union MHD_ConnectionInfo info, context;
};

const char *MHD_lookup_connection_value(struct MHD_Connection *c,
                                        enum MHD_ValueKind kind,
                                        const char *key)
{
  CHECK(kind == MHD_HEADER_KIND);
  for (size_t i = 0; i < c->nheaders; i++)
    if (strcasecmp(c->headers[i][0], key) == 0)
      return c->headers[i][1];
  return NULL;
}

/* None whose heads are laid out as head.c knows. */
const char *MHD_get_version(void)
{
  return "played";
}

int MHD_get_connection_values(struct MHD_Connection *c,
                              enum MHD_ValueKind kind,
                              MHD_KeyValueIterator each, void *user_data)
{
  CHECK(kind == MHD_HEADER_KIND);
  for (size_t i = 0; i < c->nheaders; i++)
    if (each(user_data, kind, c->headers[i][0], c->headers[i][1]) != MHD_YES)
      return (int)i + 1;
  return (int)c->nheaders;
}

const union MHD_ConnectionInfo *MHD_get_connection_info(
  struct MHD_Connection *c, enum MHD_ConnectionInfoType type, ...)
{
  if (type == MHD_CONNECTION_INFO_SOCKET_CONTEXT)
    return &c->context;
  CHECK(type == MHD_CONNECTION_INFO_CONNECTION_FD);
  return &c->info;
}

enum MHD_Result MHD_set_connection_option(struct MHD_Connection *c,
                                          enum MHD_CONNECTION_OPTION option,
                                          ...)
{
  (void)c;
  (void)option;
  return MHD_YES;
}

void MHD_suspend_connection(struct MHD_Connection *c)
{
  CHECK(!c->suspended);
  c->suspended = true;
}

void MHD_resume_connection(struct MHD_Connection *c)
{
  CHECK(c->suspended);
  c->suspended = false;
}

struct MHD_Response *MHD_create_response_from_buffer(
  size_t size, void *bytes, enum MHD_ResponseMemoryMode mode)
{
  struct MHD_Response *r = calloc(1, sizeof(*r));

  CHECK(r != NULL && mode == MHD_RESPMEM_PERSISTENT);
  r->size = size;
  r->bytes = bytes;
  return r;
}

struct MHD_Response *MHD_create_response_from_callback(
  uint64_t size, size_t block, MHD_ContentReaderCallback reader, void *data,
  MHD_ContentReaderFreeCallback release)
{
  struct MHD_Response *r = calloc(1, sizeof(*r));

  CHECK(r != NULL && size == MHD_SIZE_UNKNOWN && block > 0 && release == NULL);
  r->reader = reader;
  r->data = data;
  return r;
}

struct MHD_Response *MHD_create_response_for_upgrade(
  MHD_UpgradeHandler upgrade, void *data)
{
  struct MHD_Response *r = calloc(1, sizeof(*r));

  CHECK(r != NULL);
  r->upgrade = upgrade;
  r->data = data;
  return r;
}

enum MHD_Result MHD_upgrade_action(struct MHD_UpgradeResponseHandle *handle,
                                   enum MHD_UpgradeAction action, ...)
{
  (void)handle;
  CHECK(action == MHD_UPGRADE_ACTION_CLOSE);
  return MHD_YES;
}

enum MHD_Result MHD_add_response_header(struct MHD_Response *r,
                                        const char *header,
                                        const char *content)
{
  CHECK(strpbrk(content, "\r\n") == NULL);
  if (strcmp(header, MHD_HTTP_HEADER_CONTENT_TYPE) == 0)
    (void)snprintf(r->type, sizeof(r->type), "%s", content);
  return MHD_YES;
}

enum MHD_Result MHD_queue_response(struct MHD_Connection *c, unsigned status,
                                   struct MHD_Response *r)
{
  CHECK(c->response == NULL && !c->suspended);
  CHECK((r->type[0] != '\0') == (r->upgrade == NULL && status != 204));
  c->status = status;
  c->response = r;
  return MHD_YES;
}

/* The connection has it still; it goes with that. */
void MHD_destroy_response(struct MHD_Response *r)
{
  (void)r;
}

/* --- the scene ------------------------------------------------------------------- */

typedef struct scene {
  pai_server server;
  pai__door door;
  pai__line line;
  pai_platform platform;
  struct MHD_Connection connection;
  int fds[2]; /* who hangs up, and who might see it */
  void *request;
  char *method, *uri, *body;
  size_t body_len;
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

/* A header says that it comes over TCP, by a proxy that is believed. */
static void make_door(scene *s)
{
  pai_server *server = &s->server;

  s->door = (pai__door){ .server = server, .listener = -1 };
  s->line = (pai__line){ .door = &s->door, .phase = PAI__AWAITED };
  s->connection.context.socket_context = &s->line;
  server->idle_timeout = server->request_timeout = 1000000;
  CHECK(pai__limit_init(&server->all, &pai__libc_alloc, 1, 1000000, 1) ==
        PAI_OK);
  CHECK(pai__nets_new(&server->nets, &pai__libc_alloc, "127.0.0.1,10.0.0.0/8",
                      NULL) == PAI_OK);
  for (size_t i = 0; i < s->connection.nheaders; i++)
    s->door.remote =
      s->door.remote || strcasecmp(s->connection.headers[i][0], "TCP") == 0;
  if (s->door.remote)
    (void)snprintf(s->line.peer, sizeof(s->line.peer), "127.0.0.1");
}

static void free_door(scene *s)
{
  pai__line_enter(&s->line, PAI__AWAITED);
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
  CHECK(pai__turn_new(&s->server.turn, &pai__libc_alloc, s->server.loop,
                      on_turn, NULL) == PAI_OK);
  make_door(s);
  CHECK(pipe(s->fds) == 0);
  s->connection.info.connect_fd = s->fds[0];
}

static void end(scene *s)
{
  free_door(s);
  pai__turn_close(s->server.turn);
  pai__alerts_free(&s->server);
  pai__meter_free(&s->server);
  pai__count_free(&s->server);
  pai__quota_forget_code(&s->server);
  CHECK(pai_loop_run(s->server.loop) == PAI_OK);
  pai_loop_free(s->server.loop);
  (void)close(s->fds[0]);
  (void)close(s->fds[1]);
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

/* As libmicrohttpd: a target has no space, a header has a name. */
static bool read_request(scene *s, char *text, size_t size)
{
  char *rest = text, *line = cut_line(&rest), *space;
  struct MHD_Connection *c = &s->connection;

  space = line != NULL ? strchr(line, ' ') : NULL;
  if (space == NULL || space == line || space[1] == '\0' ||
      strchr(space + 1, ' ') != NULL)
    return false;
  *space = '\0';
  s->method = line;
  s->uri = space + 1;
  while ((line = cut_line(&rest)) != NULL && line[0] != '\0') {
    char *colon = strchr(line, ':');

    if (colon == NULL || colon == line || c->nheaders == MOST_HEADERS)
      return false;
    *colon = '\0';
    c->headers[c->nheaders][0] = line;
    c->headers[c->nheaders++][1] = colon + 1 + strspn(colon + 1, " ");
  }
  s->body = rest;
  s->body_len = size - (size_t)(rest - text);
  return line != NULL;
}

static void go_on(scene *s, const char *bytes, size_t len)
{
  CHECK(pai__request_go_on(&s->door, &s->connection, s->uri, s->method,
                           "HTTP/1.0", bytes, &len, &s->request) == MHD_YES);
  CHECK(len == 0);
}

/* In two pieces, as it may come. */
static void send_request(scene *s)
{
  size_t half = s->body_len / 2;

  s->request = pai__request_begin(&s->door, s->uri, &s->connection);
  go_on(s, NULL, 0);
  if (s->connection.response != NULL)
    return; /* its head was enough */
  if (half > 0)
    go_on(s, s->body, half);
  if (s->body_len > half)
    go_on(s, s->body + half, s->body_len - half);
  go_on(s, NULL, 0);
}

/* --- its answer ------------------------------------------------------------------- */

/* What is not a stream waits for accounts, and then for the database, only; or
 * for an estimate. */
static void wait_for_database(scene *s)
{
  pai_platform *p = &s->platform;

  CHECK(s->connection.suspended &&
        p->nsyncs + p->accounts.nwaiting + (size_t)p->estimates == 1);
  while (p->estimates > 0)
    CHECK(pai_loop_run_once(s->server.loop) >= 0);
  if (p->accounts.nwaiting > 0) {
    p->accounts.fail = s->body_len % 5 == 4 ? PAI_EPERM : PAI_OK;
    fake_accounts_done(p);
  }
  if (p->nsyncs > 0)
    fake_synced(p, s->body_len % 7 == 6 ? PAI_EIO : PAI_OK);
  CHECK(!s->connection.suspended);
  go_on(s, NULL, 0);
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
  struct MHD_Response *r = s->connection.response;
  char block[4096];

  for (int i = 0; i < MOST_BLOCKS; i++) {
    ssize_t n = r->reader(r->data, 0, block, sizeof(block));

    if (n == MHD_CONTENT_READER_END_OF_STREAM ||
        n == MHD_CONTENT_READER_END_WITH_ERROR)
      return;
    CHECK(n >= 0 && (size_t)n <= sizeof(block));
    CHECK((n == 0) == s->connection.suspended);
    while (s->connection.suspended)
      if (!happen(s, i++))
        return; /* the reader hangs up */
  }
}

static void check_answer(const scene *s)
{
  static const unsigned statuses[] = { 101, 200, 201, 202, 204, 304,
                                       400, 401, 403, 404, 409, 413,
                                       415, 426, 429, 500, 503 };
  const struct MHD_Response *r = s->connection.response;
  pai__tree *tree;
  bool known = false;

  for (size_t i = 0; i < PAI__LEN(statuses); i++)
    known = known || statuses[i] == s->connection.status;
  CHECK(known && (s->connection.status == 101) == (r->upgrade != NULL));
  if (r->reader != NULL || r->upgrade != NULL || s->connection.status == 200 ||
      s->connection.status == 204 || s->connection.status == 304)
    return; /* what is played is not all JSON */
  CHECK(strncmp(r->type, "application/json", 16) == 0);
  CHECK(pai__json_parse(&tree, r->bytes, r->size, NULL, NULL) == PAI_OK);
  /* OpenPAI's clients know one error that is no object. */
  CHECK(s->connection.status < 400 ||
        (r->size == 4 && memcmp(r->bytes, "null", 4) == 0) ||
        pai__tree_get(tree, 0, "message") != PAI__NO_NODE);
  pai__tree_free(tree);
}

static void ask(scene *s)
{
  send_request(s);
  if (s->connection.response == NULL)
    wait_for_database(s);
  CHECK(s->connection.response != NULL);
  check_answer(s);
  if (s->connection.response->reader != NULL)
    read_stream(s);
  if (s->connection.response->upgrade != NULL)
    s->connection.response->upgrade(s->connection.response->data,
                                    &s->connection, s->request, s->body,
                                    s->body_len, s->fds[0], NULL);
  pai__request_end(&s->door, &s->connection, &s->request,
                   MHD_REQUEST_TERMINATED_COMPLETED_OK);
  CHECK(s->request == NULL && s->server.first == NULL);
  /* The feed lasts longer than who reads it. */
  CHECK(s->server.feed == NULL || s->server.feed->readers == NULL);
  pai__feed_free(&s->server);
  CHECK(s->platform.readers == NULL && s->platform.listeners == NULL);
  free(s->connection.response);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = calloc(1, size + 1);
  scene s;

  memset(&s, 0, sizeof(s));
  CHECK(text != NULL);
  memcpy(text, data, size);
  if (read_request(&s, text, size)) {
    begin(&s);
    ask(&s);
    end(&s);
  }
  free(text);
  return 0;
}
