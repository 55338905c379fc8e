/*
 * stream.c - answers without a known end: logs and events
 *
 * Bytes of the source wait in a queue until the reader takes them.  When the
 * queue is full, the source is paused.  When it is empty, the source is asked
 * for more, or the connection is suspended; then a poll has to notice if the
 * reader hangs up.
 */
#include "server/calls/quotas.h"

enum {
  HIGH = 256 << 10, /* the source is paused above this queue length */
  LOW = 64 << 10
};

static void on_hangup(void *user_data, int fd, int events)
{
  pai__stream *s = user_data;

  (void)fd;
  (void)events;
  s->hung_up = true;
  pai__poll_set(s->hangup, 0);
  if (!s->request->suspended)
    /* the reader may have closed only its sending side, and still take what is
     * queued */
    return;
  s->gone = true;
  pai__request_resume(s->request);
}

/* --- limits of streams --------------------------------------------------- */

/* Returns the user whose streams over TCP are counted; NULL: not counted. */
static const char *user_of(const pai__request *r)
{
  return r->remote ? r->caller.name : NULL;
}

static bool may_begin(pai__request *r)
{
  const pai_server *s = r->server;
  const char *user = user_of(r);
  const void *n =
    user != NULL ? pai__map_get(&s->streams_of, user, strlen(user)) : NULL;

  if (s->streams < s->most_streams &&
      (user == NULL || (uintptr_t)n < pai__quota_streams(r)))
    return true;
  r->later = true;
  pai__answer_error(r, s->streams < s->most_streams ? 429 : 503,
                    "UnknownError",
                    "Too many streams of events and logs are open%s.",
                    s->streams < s->most_streams ? " of yours" : "");
  return false;
}

/* If out of memory, the stream is not counted. */
static void count(pai__stream *s, bool more)
{
  pai_server *server = s->request->server;
  const char *user = user_of(s->request);
  uintptr_t n;

  server->streams += more ? 1 : (size_t)-1;
  if (user == NULL || (!more && !s->counted))
    return;
  n = (uintptr_t)pai__map_get(&server->streams_of, user, strlen(user));
  n = more ? n + 1 : n - 1;
  if (n == 0)
    (void)pai__map_remove(&server->streams_of, user, strlen(user));
  else
    s->counted = pai__map_set(&server->streams_of, user, strlen(user),
                              (void *)n) == PAI_OK;
}

/* --- begin --------------------------------------------------------------- */

bool pai__stream_begin(pai__request *r, const char *type,
                       const pai__server_source *ops, void *source)
{
  pai_alloc *alloc = &r->server->alloc;
  int rc = PAI_ENOMEM;
  pai__stream *s;

  if (!may_begin(r)) {
    ops->free(source);
    return false;
  }
  s = pai__zalloc(alloc, sizeof(*s));
  if (s != NULL)
    rc = pai__poll_new(&s->hangup, alloc, r->server->loop,
                       pai__conn_fd(r->conn), on_hangup, s, &r->err);
  if (rc < 0) {
    pai__free(alloc, s, sizeof(*s));
    ops->free(source);
    pai__answer_failure(r, rc);
    return false;
  }
  s->request = r;
  s->ops = ops;
  s->source = source;
  pai__buf_init(&s->queue, alloc);
  r->stream = s;
  count(s, true);
  r->status = 200;
  r->type = type;
  return true;
}

/* The poll stays on: to switch it with each suspension would cost two system
 * calls for each piece of a log. */
void pai__stream_suspended(pai__stream *s)
{
  if (!s->watched)
    pai__poll_set(s->hangup, PAI__HUNG_UP);
  s->watched = true;
}

static void pause_source(pai__stream *s, bool paused)
{
  if (s->ops->pause == NULL || s->paused == paused || s->over)
    return;
  s->paused = paused;
  s->ops->pause(s->source, paused);
}

/* Removes sent bytes from the queue, as a reader that is always a little
 * behind never empties it. */
static void move_up(pai__stream *s)
{
  size_t left = s->queue.len - s->sent;

  if (s->sent < HIGH || s->sent < left)
    return;
  memmove(s->queue.data, s->queue.data + s->sent, left);
  pai__buf_cut(&s->queue, left);
  s->sent = 0;
}

void pai__stream_add(pai__stream *s, const char *bytes, size_t len)
{
  if (s->over || s->gone)
    return;
  move_up(s);
  pai__buf_add(&s->queue, bytes, len);
  if (!pai__buf_ok(&s->queue)) {
    pai__stream_over(s, true);
    return;
  }
  pause_source(s, s->queue.len - s->sent > HIGH);
  pai__request_resume(s->request);
}

void pai__stream_wake(pai__stream *s)
{
  pai__request_resume(s->request);
}

void pai__stream_over(pai__stream *s, bool broken)
{
  s->broken = s->broken || (broken && !s->over);
  s->over = true;
  pai__request_resume(s->request);
}

static void empty_queue(pai__stream *s)
{
  s->sent = 0;
  if (s->queue.cap > 2 * (size_t)HIGH)
    pai__buf_dispose(&s->queue);
  else
    pai__buf_cut(&s->queue, 0);
}

/* Called for more bytes. */
static long on_room(void *user_data, uint64_t at, char *to, size_t max)
{
  pai__stream *s = user_data;
  size_t left = s->queue.len - s->sent;

  (void)at;
  if (left == 0 && !s->over && !s->gone && s->ops->refill != NULL) {
    s->ops->refill(s->source);
    left = s->queue.len - s->sent;
  }
  if (s->gone || (left == 0 && s->hung_up && !s->over) ||
      (s->broken && !pai__buf_ok(&s->queue)))
    return PAI__READ_BROKEN;
  if (left == 0 && s->over)
    return s->broken ? PAI__READ_BROKEN : PAI__READ_END;
  if (left == 0) {
    pai__request_suspend(s->request);
    return 0;
  }
  if (left > max)
    left = max;
  memcpy(to, s->queue.data + s->sent, left);
  s->sent += left;
  if (s->sent == s->queue.len && pai__buf_ok(&s->queue))
    empty_queue(s);
  if (s->queue.len - s->sent > LOW)
    return (long)left;
  pause_source(s, false);
  return (long)left;
}

pai__payload pai__stream_payload(pai__stream *s)
{
  return (pai__payload){ .size = -1, .read = on_room, .user_data = s };
}

void pai__stream_free(pai__stream *s)
{
  pai_alloc alloc;

  if (s == NULL)
    return;
  alloc = s->request->server->alloc;
  count(s, false);
  s->ops->free(s->source);
  pai__poll_close(s->hangup);
  pai__buf_dispose(&s->queue);
  pai__free(&alloc, s, sizeof(*s));
}
