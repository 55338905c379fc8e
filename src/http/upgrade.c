/*
 * upgrade.c - upgrades an HTTP connection to another protocol
 *
 * curl keeps such a connection for itself, and cannot upgrade to a protocol
 * that it does not know.  So for a URL curl only connects
 * (CURLOPT_CONNECT_ONLY, with its names, proxies and certificates), and the
 * request is sent and the head parsed here.
 */
#include "base/buf.h"
#include "http/http.h"

enum { PIECE = 4096, MOST = 1 << 20 };

struct pai__http_upgrade {
  pai_alloc alloc;
  pai_loop *loop;
  pai__http_upgrade_want want; /* its texts are copies, below */
  char *socket, *place;
  pai__loop_step *step; /* the work starts in it */
  pai__timer *timer;    /* NULL: no time limit */
  pai__poll *poll;
  pai__http *http; /* makes the connection, until `stream` owns it */
  pai__http_request *request;
  pai__http_stream *stream;
  pai__buf ask; /* the request, and how much was sent */
  size_t sent;
  pai__buf got;
  bool begun, late;
  int failed; /* error of connecting, for the next step */
  pai_error *why;
};

void pai__http_upgrade_close(pai__http_upgrade *u)
{
  pai_alloc alloc;

  if (u == NULL)
    return;
  alloc = u->alloc;
  pai__poll_close(u->poll);
  pai__loop_step_close(u->step);
  pai__timer_close(u->timer);
  pai__http_stream_close(u->stream);
  if (u->http != NULL)
    pai__http_drop(u->http);
  pai__buf_wipe(&u->ask); /* it has credentials */
  pai__buf_dispose(&u->got);
  pai_error_free(u->why);
  pai__strfree(&alloc, u->socket);
  pai__strfree(&alloc, u->place);
  pai__free(&alloc, u, sizeof(*u));
}

/* Calls on_done, and frees the upgrade. */
static void done(pai__http_upgrade *u, int rc, const pai__http_head *head,
                 size_t from, pai_error *err)
{
  pai__http_stream *stream = head->upgraded ? u->stream : NULL;

  pai__poll_close(u->poll);
  u->poll = NULL;
  if (head->upgraded)
    u->stream = NULL;
  u->want.on_done(u->want.user_data, rc, head->status, stream,
                  pai__buf_text(&u->got) + from, u->got.len - from, err);
  pai_error_free(err);
  pai__http_upgrade_close(u);
}

static void give_up(pai__http_upgrade *u, int rc, pai_error *err)
{
  const pai__http_head none = { 0 };

  done(u, rc, &none, u->got.len, err);
}

static const char *place_of(const pai__http_upgrade *u)
{
  return u->socket != NULL ? u->socket : u->place;
}

static void no_answer(pai__http_upgrade *u)
{
  pai_error *err = NULL;
  int rc = pai__fail(&err, PAI_EIO,
                     u->late ? "%s: no answer"
                             : "%s: the connection was closed without an "
                               "answer",
                     place_of(u));

  pai__error_no_answer(&err,
                       u->late ? PAI_NO_ANSWER_LATE : PAI_NO_ANSWER_LOST);
  pai__error_retriable(&err);
  give_up(u, rc, err);
}

/* --- the answer ---------------------------------------------------------- */

/* Reports the answer if it is complete. */
static bool look(pai__http_upgrade *u, bool over)
{
  pai__http_head head;
  pai_error *err = NULL;
  long n = pai__http_read_head(&head, pai__buf_text(&u->got), u->got.len,
                               u->want.protocol);

  if (n < 0 || u->got.len > MOST) {
    int rc = pai__fail(
      &err, PAI_EIO, "%s: the program that listens there does not speak HTTP",
      place_of(u));
    give_up(u, rc, err);
    return true;
  }
  if (n > 0 &&
      (head.upgraded || over ||
       (head.length >= 0 && (int64_t)u->got.len - n >= head.length))) {
    done(u, PAI_OK, &head, (size_t)n, NULL);
    return true;
  }
  if (over)
    no_answer(u);
  return over;
}

/* False: the upgrade is over. */
static bool receive(pai__http_upgrade *u)
{
  char piece[PIECE];
  long n;

  do {
    n = pai__http_stream_receive(u->stream, piece, sizeof(piece));
    if (n > 0)
      pai__buf_add(&u->got, piece, (size_t)n);
    if (!pai__buf_ok(&u->got)) {
      pai_error *err = NULL;
      give_up(u, pai__oom(&err), err);
      return false;
    }
    if (n != 0 && look(u, n < 0))
      return false;
  } while (n > 0);
  return true;
}

/* --- the request --------------------------------------------------------- */

/* A failure to send is noticed when the answer is read. */
static void send_some(pai__http_upgrade *u)
{
  bool left;

  while (u->sent < u->ask.len) {
    long n = pai__http_stream_send(u->stream, u->ask.data + u->sent,
                                   u->ask.len - u->sent);
    if (n < 0)
      u->sent = u->ask.len;
    if (n <= 0)
      break;
    u->sent += (size_t)n;
  }
  left = u->sent < u->ask.len;
  pai__poll_set(u->poll, PAI__READABLE | (left ? PAI__WRITABLE : 0));
}

static void on_ready(void *user_data, int fd, int events)
{
  pai__http_upgrade *u = user_data;

  (void)fd;
  (void)events;
  if (receive(u))
    send_some(u);
}

static bool write_ask(pai__http_upgrade *u)
{
  const pai__http_upgrade_want *want = &u->want;
  pai__buf *b = &u->ask;

  pai__buf_printf(b,
                  "GET %s HTTP/1.1\r\nHost: %s\r\n"
                  "Connection: Upgrade\r\nUpgrade: %s\r\n",
                  want->path, want->host != NULL ? want->host : "localhost",
                  want->protocol);
  if (want->authorization != NULL)
    pai__buf_printf(b, "Authorization: %s\r\n", want->authorization);
  pai__buf_str(b, "\r\n");
  return pai__buf_ok(b);
}

/* --- the connection ------------------------------------------------------ */

static void on_connected(void *user_data, pai__http_request *request)
{
  pai__http_upgrade *u = user_data;

  u->request = request; /* still inside curl: continue in a step */
  pai__loop_step_ask(u->step);
}

/* The error belongs to the request, which is freed after this. */
static void on_refused(void *user_data, int status,
                       const pai__http_answer *answer, const pai_error *err)
{
  pai__http_upgrade *u = user_data;
  const char *help = pai_error_help(err);

  (void)answer;
  u->request = NULL;
  u->failed = status < 0
                ? pai__fail(&u->why, status, "%s", pai_error_message(err))
                : pai__fail(&u->why, PAI_EIO, "%s: no answer", place_of(u));
  if (help != NULL)
    pai__error_help(&u->why, "%s", help);
  pai__error_no_answer(&u->why, pai_error_no_answer(err));
  if (pai_error_retriable(err) != 0)
    pai__error_retriable(&u->why);
  pai__loop_step_ask(u->step);
}

static int begin(pai__http_upgrade *u, pai_error **err)
{
  pai__http_want want = { .method = "GET",
                          .accept = "*/*",
                          .url = u->place,
                          .on_connected = on_connected,
                          .on_done = on_refused,
                          .user_data = u };
  int fd, rc;

  if (u->socket == NULL)
    return pai__http_ask(NULL, u->http, &want, err);
  rc = pai__http_connect_unix(&fd, u->socket, err);
  if (rc < 0)
    return rc;
  return pai__http_stream_new(&u->stream, &u->alloc, fd) < 0 ? pai__oom(err)
                                                             : PAI_OK;
}

static int take_stream(pai__http_upgrade *u, pai_error **err)
{
  int rc = pai__http_stream_of(&u->stream, u->request);

  if (rc == PAI_OK) /* the stream owns both now */
    u->http = NULL;
  u->request = NULL;
  return rc == PAI_EIO
           ? pai__fail(err, rc, "%s: the connection was lost", place_of(u))
         : rc < 0 ? pai__oom(err)
                  : PAI_OK;
}

static void on_step(void *user_data)
{
  pai__http_upgrade *u = user_data;
  pai_error *err = u->why;
  int rc = u->failed;

  u->why = NULL;
  if (rc == PAI_OK && !u->begun)
    rc = begin(u, &err);
  else if (rc == PAI_OK && u->request != NULL)
    rc = take_stream(u, &err);
  u->begun = true;
  if (rc == PAI_OK && u->stream != NULL && u->poll == NULL)
    rc = pai__poll_new(&u->poll, &u->alloc, u->loop,
                       pai__http_stream_fd(u->stream), on_ready, u, &err);
  if (rc < 0)
    give_up(u, rc, err);
  else if (u->poll != NULL)
    send_some(u);
}

/* On a timeout reports a partial answer: the end of its body may never
 * come. */
static void on_late(void *user_data)
{
  pai__http_upgrade *u = user_data;

  u->late = true;
  (void)look(u, true);
}

/* --- creation ------------------------------------------------------------ */

static int make_place(pai__http_upgrade *u, pai_error **err)
{
  const pai__http_upgrade_want *want = &u->want;

  if (want->socket != NULL) {
    u->socket = pai__strdup(&u->alloc, want->socket);
    return u->socket != NULL ? PAI_OK : pai__oom(err);
  }
  u->place = pai__strdup(&u->alloc, want->url);
  return u->place != NULL ? pai__http_alike(&u->http, want->like, err)
                          : pai__oom(err);
}

int pai__http_upgrade_new(pai__http_upgrade **out, const pai_alloc *alloc,
                          pai_loop *loop, const pai__http_upgrade_want *want,
                          pai_error **err)
{
  pai__http_upgrade *u = pai__zalloc(alloc, sizeof(*u));
  int rc;

  *out = NULL;
  if (u == NULL)
    return pai__oom(err);
  u->alloc = *alloc;
  u->loop = loop;
  u->want = *want;
  pai__buf_init(&u->ask, &u->alloc);
  pai__buf_init(&u->got, &u->alloc);
  rc = make_place(u, err);
  if (rc == PAI_OK &&
      (!write_ask(u) ||
       pai__loop_step_new(&u->step, alloc, loop, on_step, u) < 0 ||
       (want->time > 0 &&
        pai__timer_new(&u->timer, alloc, loop, on_late, u) < 0)))
    rc = pai__oom(err);
  if (rc < 0) {
    pai__http_upgrade_close(u);
    return rc;
  }
  if (u->timer != NULL)
    pai__timer_start(u->timer, want->time);
  pai__loop_step_ask(u->step);
  *out = u;
  return PAI_OK;
}
