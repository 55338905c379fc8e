/*
 * posix_proxy_stream.c - a proxied stream into a task, over TLS or as a
 * WebSocket
 *
 * The task's supervisor has neither, so the bytes pass through here.  The
 * connection is suspended, and the stream uses its socket until both sides are
 * done; then the connection is resumed and closed.  The bytes in a WebSocket's
 * binary messages are those of the stream.
 *
 * The last frame to the client is always an end frame: the task's, or one made
 * here if the task is gone without one.  So no side has to guess what the end
 * of a connection means.  A side that does not read makes the other side wait:
 * each direction has one buffer, and nothing is read until the buffer is
 * empty.
 */
#include "server/http/request.h"

#include "server/http/listener.h"
#include "server/http/websocket.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <sys/socket.h>

enum {
  PIECE = 32 << 10,
  HEAD = 4,   /* of a frame: type, 0, two bytes of length */
  END = 19,   /* type of the end frame */
  BY_LOSS = 4 /* its reason: the task is gone */
};

/* Proxies close connections on which nothing moves for a minute. */
static const pai_time PING_AFTER = (pai_time)25 * 1000 * 1000;

/* One direction. */
typedef struct half {
  size_t len, sent;
  bool over; /* no more input */
  char bytes[PAI__WS_HEAD + PIECE];
} half;

/* What a WebSocket has beside. */
typedef struct web {
  pai__ws_reader reader;
  pai__timer *idle;
  bool pings;    /* a ping is due */
  bool closed;   /* a close frame is in `out`, or has left */
  unsigned code; /* to close with; 0: as the reader says */
} web;

struct pai__proxy_stream {
  pai__request *request;
  gnutls_session_t client; /* TLS session of the connection, or NULL */
  int line;                /* its socket */
  web *web;                /* NULL: no WebSocket */
  int task;
  pai__poll *client_watch, *task_watch;
  half in, out; /* to the task, to the client */
  /* Position of `out` in the task's frames. */
  unsigned char head[HEAD];
  size_t have; /* bytes of `head` received */
  size_t left; /* bytes of the frame still to come */
  bool ended;  /* an end frame has passed, or was made here */
  bool said;   /* the end of the TLS stream was sent */
};

void pai__proxy_stream_free(pai__proxy_stream *relay)
{
  pai__request *r;

  if (relay == NULL)
    return;
  r = relay->request;
  pai__poll_close(relay->client_watch);
  pai__poll_close(relay->task_watch);
  if (relay->web != NULL)
    pai__timer_close(relay->web->idle);
  pai__free(&r->server->alloc, relay->web, sizeof(*relay->web));
  r->relay = NULL;
  pai__enter_forget(r); /* closes `task` */
  pai__free(&r->server->alloc, relay, sizeof(*relay));
}

/* Resumes the connection, to close it. */
static void finish(pai__proxy_stream *relay)
{
  pai__request *r = relay->request;

  pai__proxy_stream_free(relay);
  r->gone = true;
  pai__request_resume(r);
}

/* --- frames -------------------------------------------------------------- */

/* Follows the frame boundaries of the task to notice its end frame.  The
 * contents do not matter. */
static void follow(pai__proxy_stream *relay, const char *bytes, size_t len)
{
  while (len > 0) {
    size_t n = len < relay->left ? len : relay->left;

    if (relay->left == 0) {
      relay->head[relay->have++] = (unsigned char)*bytes;
      n = 1;
    } else {
      relay->left -= n;
    }
    bytes += n;
    len -= n;
    if (relay->have == HEAD) {
      relay->ended = relay->ended || relay->head[0] == END;
      relay->left = (size_t)relay->head[2] << 8 | relay->head[3];
      relay->have = 0;
    }
  }
}

static bool is_empty(const half *h)
{
  return h->sent == h->len;
}

/* The next `n` bytes for the client are behind the room for a head; that of a
 * WebSocket's frame goes before them. */
static void wrap(pai__proxy_stream *relay, enum pai__ws_opcode opcode,
                 size_t n)
{
  unsigned char head[PAI__WS_HEAD];
  size_t len = relay->web != NULL ? pai__ws_head(head, opcode, n) : 0;
  half *h = &relay->out;

  h->sent = PAI__WS_HEAD - len;
  h->len = PAI__WS_HEAD + n;
  memcpy(h->bytes + h->sent, head, len);
}

/* The task is gone without an end frame: adds one, unless a frame was cut off
 * in the middle. */
static void put_end(pai__proxy_stream *relay, const char *why)
{
  char *to = relay->out.bytes + PAI__WS_HEAD;
  size_t n = strlen(why);

  if (relay->ended || relay->have > 0 || relay->left > 0)
    return;
  relay->ended = true;
  memcpy(to, (char[]){ END, 0, 0, (char)(n + 2), BY_LOSS, 0 }, HEAD + 2);
  memcpy(to + HEAD + 2, why, n);
  wrap(relay, PAI__WS_BINARY, HEAD + 2 + n);
}

/* --- a WebSocket's own frames -------------------------------------------- */

/* Returns the code with which the WebSocket is to be closed; 0: it goes on. */
static unsigned closing_code(const pai__proxy_stream *relay)
{
  const web *w = relay->web;

  if (w == NULL)
    return 0;
  if (w->reader.closed != 0)
    return w->reader.closed;
  return w->code != 0 || !relay->out.over ? w->code : PAI__WS_NORMAL;
}

static void put_control(pai__proxy_stream *relay, enum pai__ws_opcode opcode,
                        const void *bytes, size_t len)
{
  memcpy(relay->out.bytes + PAI__WS_HEAD, bytes, len);
  wrap(relay, opcode, len);
}

/* Adds a control frame that is due, if the client has got all before it. */
static void answer_web(pai__proxy_stream *relay)
{
  unsigned code = closing_code(relay);
  web *w = relay->web;

  if (w == NULL || w->closed || !is_empty(&relay->out))
    return;
  if (code != 0) {
    w->closed = relay->out.over = true;
    put_control(
      relay, PAI__WS_CLOSE,
      (unsigned char[]){ (unsigned char)(code >> 8), (unsigned char)code }, 2);
  } else if (w->reader.pinged) {
    w->reader.pinged = false;
    put_control(relay, PAI__WS_PONG, w->reader.ping, w->reader.ping_len);
  } else if (w->pings) {
    w->pings = false;
    pai__timer_start(w->idle, PING_AFTER);
    put_control(relay, PAI__WS_PING, "", 0);
  }
}

/* --- the client's socket ------------------------------------------------- */

/* Return the number of bytes; 0: none now; -1: failed for good, or its end. */
static long line_read(pai__proxy_stream *relay, char *to, size_t size)
{
  ssize_t n;

  if (relay->client != NULL) {
    n = gnutls_record_recv(relay->client, to, size);
    return n > 0                                          ? (long)n
           : n == 0 || gnutls_error_is_fatal((int)n) != 0 ? -1
                                                          : 0;
  }
  n = recv(relay->line, to, size, MSG_DONTWAIT);
  return n > 0                                          ? (long)n
         : n < 0 && (errno == EAGAIN || errno == EINTR) ? 0
                                                        : -1;
}

static long line_write(pai__proxy_stream *relay, const char *bytes, size_t len)
{
  ssize_t n;

  if (relay->client != NULL) {
    n = gnutls_record_send(relay->client, bytes, len);
    return n >= 0 ? (long)n : gnutls_error_is_fatal((int)n) == 0 ? 0 : -1;
  }
  n = send(relay->line, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
  return n >= 0 ? (long)n : errno == EAGAIN || errno == EINTR ? 0 : -1;
}

/* --- the task's side ----------------------------------------------------- */

static void take_from_task(pai__proxy_stream *relay)
{
  half *h = &relay->out;
  ssize_t n;

  if (!is_empty(h) || h->over)
    return;
  n = recv(relay->task, h->bytes + PAI__WS_HEAD, PIECE, MSG_DONTWAIT);
  h->sent = h->len = 0;
  if (n > 0) {
    follow(relay, h->bytes + PAI__WS_HEAD, (size_t)n);
    wrap(relay, PAI__WS_BINARY, (size_t)n);
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    h->over = true;
    pai__poll_set(relay->task_watch, 0);
    put_end(relay, "the task has ended");
  }
}

/* What the task no longer accepts is dropped: it may still send its end
 * frame. */
static void give_task(pai__proxy_stream *relay)
{
  half *h = &relay->in;

  while (!is_empty(h)) {
    ssize_t n = send(relay->task, h->bytes + h->sent, h->len - h->sent,
                     MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n > 0)
      h->sent += (size_t)n;
    else if (errno == EAGAIN)
      return;
    else if (errno != EINTR)
      h->sent = h->len;
  }
}

/* --- the client's side --------------------------------------------------- */

/* Returns whether any bytes came. */
static bool take_from_client(pai__proxy_stream *relay)
{
  half *h = &relay->in;
  long n;

  if (!is_empty(h) || h->over)
    return false;
  n = line_read(relay, h->bytes, PIECE);
  h->over = n < 0;
  h->len = n > 0 ? (size_t)n : 0;
  h->sent = 0;
  if (relay->web != NULL)
    h->len = pai__ws_read(&relay->web->reader, h->bytes, h->len);
  return n > 0;
}

/* Bytes that could not be sent are passed again unchanged, as TLS requires.
 * Returns false if the client is gone. */
static bool give_client(pai__proxy_stream *relay)
{
  half *h = &relay->out;

  while (!is_empty(h)) {
    long n = line_write(relay, h->bytes + h->sent, h->len - h->sent);

    if (n <= 0)
      return n == 0;
    h->sent += (size_t)n;
  }
  return true;
}

/* All was sent.  The client has to hang up now: closing the socket with unread
 * input could lose the last bytes.  It has the time for reading an answer. */
static void say_over(pai__proxy_stream *relay)
{
  relay->said = true;
  relay->in.sent = relay->in.len; /* drops the input */
  if (relay->client != NULL)
    (void)gnutls_bye(relay->client, GNUTLS_SHUT_WR);
  (void)shutdown(relay->line, SHUT_WR);
  /* The listener may not have run for hours: the deadline starts now. */
  relay->request->listener->now = pai__loop_time();
  pai__server_deadline_enter(relay->request->deadline, PAI__SEND);
}

/* --- both directions ----------------------------------------------------- */

/* The client closes its WebSocket: so ends the command. */
static void end_task(pai__proxy_stream *relay)
{
  if (closing_code(relay) == 0 || relay->out.over)
    return;
  pai__poll_set(relay->task_watch, 0);
  (void)shutdown(relay->task, SHUT_RDWR);
}

/* Sends what is due; returns false if the client is gone. */
static bool answer_client(pai__proxy_stream *relay)
{
  if (relay->said)
    return true;
  if (!give_client(relay))
    return false;
  end_task(relay);
  answer_web(relay);
  return give_client(relay);
}

/* Copies at most one buffer each way, so that the rest of the loop gets its
 * turn.  Returns false if the stream is over; it is freed then. */
static bool carry(pai__proxy_stream *relay)
{
  half *in = &relay->in, *out = &relay->out;

  if (take_from_client(relay) && relay->said)
    in->sent = in->len;
  give_task(relay);
  /* The poll does not see bytes that TLS has buffered. */
  if (relay->client != NULL &&
      gnutls_record_check_pending(relay->client) > 0 &&
      take_from_client(relay))
    give_task(relay);
  if (closing_code(relay) == 0)
    take_from_task(relay);
  if (in->over || !answer_client(relay)) {
    finish(relay);
    return false;
  }
  if (out->over && is_empty(out) && !relay->said)
    say_over(relay);
  pai__poll_set(relay->client_watch, (relay->said ? 0 : PAI__HUNG_UP) |
                                       (is_empty(in) ? PAI__READABLE : 0) |
                                       (is_empty(out) ? 0 : PAI__WRITABLE));
  if (!out->over)
    pai__poll_set(relay->task_watch, (is_empty(out) ? PAI__READABLE : 0) |
                                       (is_empty(in) ? 0 : PAI__WRITABLE));
  return true;
}

/* The client is gone: what the task accepts at once is still passed on, as
 * without TLS. */
static void on_client(void *user_data, int fd, int events)
{
  pai__proxy_stream *relay = user_data;

  (void)fd;
  if ((events & PAI__HUNG_UP) == 0) {
    (void)carry(relay);
    return;
  }
  do
    give_task(relay);
  while (take_from_client(relay));
  finish(relay);
}

static void on_task(void *user_data, int fd, int events)
{
  (void)fd;
  (void)events;
  (void)carry(user_data);
}

static void on_idle(void *user_data)
{
  pai__proxy_stream *relay = user_data;

  relay->web->pings = true;
  (void)carry(relay);
}

/* --- begin and end ------------------------------------------------------- */

static int begin_web(pai__proxy_stream *relay, pai_error **err)
{
  const pai_server *s = relay->request->server;
  int rc;

  relay->web = pai__zalloc(&s->alloc, sizeof(*relay->web));
  if (relay->web == NULL)
    return pai__oom(err);
  rc = pai__timer_new(&relay->web->idle, &s->alloc, s->loop, on_idle, relay);
  if (rc < 0)
    return pai__oom(err);
  pai__timer_start(relay->web->idle, PING_AFTER);
  return PAI_OK;
}

static int watch(pai__proxy_stream *relay, pai_error **err)
{
  const pai_server *s = relay->request->server;
  int rc = pai__poll_new(&relay->client_watch, &s->alloc, s->loop, relay->line,
                         on_client, relay, err);

  if (rc == PAI_OK)
    rc = pai__poll_new(&relay->task_watch, &s->alloc, s->loop, relay->task,
                       on_task, relay, err);
  /* the first copy happens when the connection is suspended */
  if (rc == PAI_OK)
    pai__poll_set(relay->client_watch, PAI__WRITABLE);
  return rc;
}

int pai__proxy_stream_begin(pai__request *r, const char *head, bool is_web,
                            pai_error **err)
{
  pai__proxy_stream *relay = pai__zalloc(&r->server->alloc, sizeof(*relay));
  const char *bytes;
  size_t early;
  int rc;

  if (relay == NULL)
    return pai__oom(err);
  relay->request = r;
  relay->client = pai__conn_tls(r->conn);
  relay->line = pai__conn_fd(r->conn);
  relay->task = r->entered;
  early = pai__conn_early(r->conn, &bytes);
  /* the connection reads at most that much at a time */
  relay->in.len = early < PIECE ? early : PIECE;
  memcpy(relay->in.bytes, bytes, relay->in.len);
  relay->out.len = strlen(head);
  memcpy(relay->out.bytes, head, relay->out.len);
  r->relay = relay;
  rc = is_web ? begin_web(relay, err) : PAI_OK;
  if (rc == PAI_OK)
    rc = watch(relay, err);
  if (rc == PAI_OK && is_web) /* as take_from_client() does */
    relay->in.len =
      pai__ws_read(&relay->web->reader, relay->in.bytes, relay->in.len);
  if (rc < 0)
    pai__proxy_stream_free(relay);
  return rc;
}

void pai__proxy_stream_end(pai__proxy_stream *relay)
{
  half *h = &relay->out;

  if (is_empty(h))
    put_end(relay, "the server that passes on the stream is shutting down");
  if (relay->web != NULL)
    relay->web->code = PAI__WS_GOING_AWAY;
  if (answer_client(relay) && is_empty(h) && !relay->said &&
      relay->client != NULL)
    (void)gnutls_bye(relay->client, GNUTLS_SHUT_WR);
  finish(relay);
}
