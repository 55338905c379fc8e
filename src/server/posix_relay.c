/*
 * posix_relay.c - a stream that leads into a task, over TLS
 *
 * The task's supervisor speaks no TLS, so what is said passes through here.  The
 * connection sleeps, as one does that waits for an answer, and the relay speaks
 * on its TLS session until all is said; then it wakes, and is closed.
 *
 * The last word to the client is a frame, always: the task's, or one of ours
 * where the task has gone without a word.  So no side need guess what the end
 * of a connection means.  Who does not read makes the other side wait: each
 * direction has one piece, and nothing more is read before that has left.
 */
#include "server/request.h"

#include "server/door.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <sys/socket.h>

enum {
  PIECE = 32 << 10,
  HEAD = 4,   /* of a frame: its type, 0, its length of two bytes */
  END = 19,   /* the type of the last one, */
  BY_LOSS = 4 /* which says that the task is gone */
};

/* One direction. */
typedef struct half {
  size_t len, sent;
  bool over; /* nothing more comes */
  char bytes[PIECE];
} half;

struct pai__relay {
  pai__request *request;
  gnutls_session_t client; /* the connection's */
  int line;                /* and its socket */
  int task;
  pai__poll *client_watch, *task_watch;
  half in, out; /* to the task, to the client */
  /* Where in the task's frames `out` is. */
  unsigned char head[HEAD];
  size_t have; /* bytes of that head, */
  size_t left; /* and of what is behind it, that are to come */
  bool ended;  /* it was said how it ended, */
  bool said;   /* and that nothing follows */
};

void pai__relay_free(pai__relay *relay)
{
  pai__request *r;

  if (relay == NULL)
    return;
  r = relay->request;
  pai__poll_close(relay->client_watch);
  pai__poll_close(relay->task_watch);
  r->relay = NULL;
  pai__enter_forget(r); /* which is `task` */
  pai__free(&r->server->alloc, relay, sizeof(*relay));
}

/* The connection wakes, to be closed. */
static void finish(pai__relay *relay)
{
  pai__request *r = relay->request;

  pai__relay_free(relay);
  r->gone = true;
  pai__request_resume(r);
}

/* --- frames ---------------------------------------------------------------------- */

/* Follows the task's frames, so that it is known whether it has said its end.
 * What they say is no matter of ours. */
static void follow(pai__relay *relay, const char *bytes, size_t len)
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

/* Nothing comes from the task any more, and it said nothing of its end.  After
 * half a frame there is nothing to be said. */
static void put_end(pai__relay *relay, const char *why)
{
  half *h = &relay->out;
  size_t n = strlen(why);

  if (relay->ended || relay->have > 0 || relay->left > 0)
    return;
  relay->ended = true;
  memcpy(h->bytes, (char[]){ END, 0, 0, (char)(n + 2), BY_LOSS, 0 }, HEAD + 2);
  memcpy(h->bytes + HEAD + 2, why, n);
  h->len = HEAD + 2 + n;
  h->sent = 0;
}

/* --- the task's side --------------------------------------------------------------- */

static bool is_empty(const half *h)
{
  return h->sent == h->len;
}

static void take_from_task(pai__relay *relay)
{
  half *h = &relay->out;
  ssize_t n;

  if (!is_empty(h) || h->over)
    return;
  n = recv(relay->task, h->bytes, sizeof(h->bytes), MSG_DONTWAIT);
  h->sent = h->len = 0;
  if (n > 0) {
    h->len = (size_t)n;
    follow(relay, h->bytes, h->len);
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    h->over = true;
    pai__poll_set(relay->task_watch, 0);
    put_end(relay, "the task has ended");
  }
}

/* What it does not take any more goes nowhere: it may still say its end. */
static void give_task(pai__relay *relay)
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

/* --- the client's side -------------------------------------------------------------- */

/* Whether anything came. */
static bool take_from_client(pai__relay *relay)
{
  half *h = &relay->in;
  ssize_t n;

  if (!is_empty(h) || h->over)
    return false;
  n = gnutls_record_recv(relay->client, h->bytes, sizeof(h->bytes));
  h->over = n == 0 || (n < 0 && gnutls_error_is_fatal((int)n) != 0);
  h->len = n > 0 ? (size_t)n : 0;
  h->sent = 0;
  return n > 0;
}

/* What could not leave is given again as it was, as TLS wants it.  False: it
 * is gone. */
static bool give_client(pai__relay *relay)
{
  half *h = &relay->out;

  while (!is_empty(h)) {
    ssize_t n =
      gnutls_record_send(relay->client, h->bytes + h->sent, h->len - h->sent);

    if (n < 0)
      return gnutls_error_is_fatal((int)n) == 0;
    h->sent += (size_t)n;
  }
  return true;
}

/* All is said.  It is the client who hangs up now: hung up on with something
 * that he sent and nobody read, he might lose the last of it.  He has the time
 * that any answer has. */
static void say_over(pai__relay *relay)
{
  relay->said = true;
  relay->in.sent = relay->in.len; /* nobody takes it */
  (void)gnutls_bye(relay->client, GNUTLS_SHUT_WR);
  (void)shutdown(relay->line, SHUT_WR);
  /* The door may not have run for hours: his time begins now. */
  relay->request->door->now = pai__loop_time();
  pai__line_enter(relay->request->line, PAI__SEND);
}

/* --- both ways --------------------------------------------------------------------- */

/* A piece each way at most: others on the loop have their turn.  False: it is
 * over, and the relay is gone. */
static bool carry(pai__relay *relay)
{
  half *in = &relay->in, *out = &relay->out;

  if (take_from_client(relay) && relay->said)
    in->sent = in->len;
  give_task(relay);
  /* Of what TLS has read and not given the watch does not tell. */
  if (gnutls_record_check_pending(relay->client) > 0 &&
      take_from_client(relay))
    give_task(relay);
  take_from_task(relay);
  if (in->over || (!relay->said && !give_client(relay))) {
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

/* A client who is gone has said all; what the task takes of it at once is
 * handed on, as it would be without TLS. */
static void on_client(void *user_data, int fd, int events)
{
  pai__relay *relay = user_data;

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

/* --- its beginning and its end ----------------------------------------------------- */

static int watch(pai__relay *relay, pai_error **err)
{
  const pai_server *s = relay->request->server;
  int rc = pai__poll_new(&relay->client_watch, &s->alloc, s->loop, relay->line,
                         on_client, relay, err);

  if (rc == PAI_OK)
    rc = pai__poll_new(&relay->task_watch, &s->alloc, s->loop, relay->task,
                       on_task, relay, err);
  if (rc == PAI_OK) /* then it begins: the connection sleeps by then */
    pai__poll_set(relay->client_watch, PAI__WRITABLE);
  return rc;
}

int pai__relay_begin(pai__request *r, const char *head, pai_error **err)
{
  pai__relay *relay = pai__zalloc(&r->server->alloc, sizeof(*relay));
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
  relay->in.len = early < PIECE ? early : PIECE; /* it reads less at a time */
  memcpy(relay->in.bytes, bytes, relay->in.len);
  relay->out.len = strlen(head);
  memcpy(relay->out.bytes, head, relay->out.len);
  r->relay = relay;
  rc = watch(relay, err);
  if (rc < 0)
    pai__relay_free(relay);
  return rc;
}

void pai__relay_end(pai__relay *relay)
{
  half *h = &relay->out;

  if (is_empty(h))
    put_end(relay, "the server ends, through which it was led");
  if (!relay->said && give_client(relay) && is_empty(h))
    (void)gnutls_bye(relay->client, GNUTLS_SHUT_WR);
  finish(relay);
}
