/*
 * conn.c - a connection that reads requests, one after the other
 *
 * It does all that it can, then waits until the kernel reports that it is
 * readable or writable, or until its request wakes it.  The head stays in the
 * buffer until the answer was sent; pieces of the body are read behind it.
 */
#include "server/http/conn.h"

#include "server/http/request.h"

enum {
  PIECE = 4 << 10, /* bytes read at a time, for a head */
  BODY_PIECE = 16 << 10,
  STEPS = 48,    /* in one run, before other connections get their turn */
  KEPT = 8 << 10 /* buffer memory that an idle connection keeps */
};

/* --- begin and end ------------------------------------------------------- */

bool pai__conn_new(pai__server_listener *listener, int fd)
{
  const pai_alloc *alloc = &listener->server->alloc;
  pai__conn *c = pai__zalloc(alloc, sizeof(*c));

  if (c == NULL) {
    pai__pass_fd_close(fd);
    return false;
  }
  c->listener = listener;
  c->fd = fd;
  c->state = listener->tls ? PAI__CONN_GREETING : PAI__CONN_HEAD;
  pai__buf_init(&c->in, alloc);
  pai__buf_init(&c->out, alloc);
  c->after = listener->conns;
  if (c->after != NULL)
    c->after->before = c;
  listener->conns = c;
  listener->connections++;
  c->deadline = pai__server_listener_deadline(listener, fd);
  if (c->deadline != NULL && pai__transport_begin(c) &&
      pai__ready_add(listener->ready_fd, c))
    return true;
  pai__conn_free(c);
  return false;
}

static void unlist(pai__conn *c)
{
  if (c->before != NULL)
    c->before->after = c->after;
  else
    c->listener->conns = c->after;
  if (c->after != NULL)
    c->after->before = c->before;
}

void pai__conn_free(pai__conn *c)
{
  pai__server_listener *listener = c->listener;

  if (c->request != NULL)
    pai__request_end(c->request);
  unlist(c);
  pai__ready_remove(listener->ready_fd, c);
  pai__transport_end(c);
  pai__server_listener_deadline_gone(listener, c->deadline);
  pai__buf_dispose(&c->in);
  pai__buf_dispose(&c->out);
  pai__free(&listener->server->alloc, c, sizeof(*c));
}

void pai__conn_make_due(pai__conn *c)
{
  if (c->due)
    return;
  c->due = true;
  c->listener->due++;
  c->next_due = NULL;
  *c->listener->last_due = c;
  c->listener->last_due = &c->next_due;
}

/* --- reading ------------------------------------------------------------- */

/* Reads bytes to the end of `in`; returns false if there are none. */
static bool fill(pai__conn *c, size_t size)
{
  long n;

  if (!c->readable)
    return false;
  if (!pai__buf_reserve(&c->in, size)) {
    c->state = PAI__CONN_CLOSED;
    return true;
  }
  n = pai__transport_read(c, c->in.data + c->in.len, size);
  if (n > 0)
    c->in.len += (size_t)n;
  else if (n < 0)
    c->state = PAI__CONN_CLOSED;
  return n != 0;
}

static bool greet(pai__conn *c)
{
  int rc = pai__transport_greet(c);

  if (rc != 0)
    c->state = rc > 0 ? PAI__CONN_HEAD : PAI__CONN_CLOSED;
  return rc != 0;
}

/* Gives the request its head, bytes of its body, or the end of its body.
 * Returns false if the connection is to be closed or the answer is being
 * sent. */
static bool tell(pai__conn *c, const char *bytes, size_t len)
{
  if (!pai__request_go_on(c->request, bytes, len))
    c->state = PAI__CONN_CLOSED;
  else if (c->answered)
    c->state = PAI__CONN_SENDING;
  return c->state != PAI__CONN_CLOSED && !c->answered;
}

static bool is_body_over(const pai__conn *c)
{
  return c->head.chunked ? c->chunks.over : c->left == 0;
}

/* Tells a client that waits for it to send the body. */
static void say_continue(pai__conn *c)
{
  if (c->head.old || c->in.len > c->used || is_body_over(c) ||
      !pai__http1_has(&c->head, c->in.data, "Expect", "100-continue"))
    return;
  pai__buf_str(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
  (void)pai__conn_flush(c);
}

/* A refusal by the head alone is sent at once, and the body is not read. */
static void begin_request(pai__conn *c)
{
  c->used = c->head.seen;
  c->left = c->head.length;
  c->last =
    c->head.fault.status != 0 ||
    (c->head.old
       ? !pai__http1_has(&c->head, c->in.data, "Connection", "keep-alive")
       : pai__http1_has(&c->head, c->in.data, "Connection", "close"));
  c->unread = c->head.fault.status != 0 || !is_body_over(c);
  c->request = pai__request_begin(c->listener, c);
  if (c->request == NULL) {
    c->state = PAI__CONN_CLOSED;
    return;
  }
  c->state = PAI__CONN_BODY;
  if (tell(c, NULL, 0))
    say_continue(c);
}

static bool read_head(pai__conn *c)
{
  if (c->in.len > 0 && !c->begun) {
    c->begun = true;
    pai__server_deadline_enter(c->deadline, PAI__HEAD);
  }
  if (!pai__http1_read_head(&c->head, c->in.data, c->in.len))
    return fill(c, PIECE);
  begin_request(c);
  return true;
}

/* Returns the next received piece of the body; *size may be 0. */
static const char *next_piece(pai__conn *c, size_t *size)
{
  const char *at = c->in.data + c->used, *data = at;
  size_t len = c->in.len - c->used;

  if (c->head.chunked) {
    c->used += pai__http1_read_chunks(&c->chunks, at, len, &data, size);
    return data;
  }
  *size = len < c->left ? len : (size_t)c->left;
  c->left -= *size;
  c->used += *size;
  return data;
}

static bool read_body(pai__conn *c)
{
  const char *data;
  size_t size;

  if (!pai__conn_flush(c) && c->state == PAI__CONN_CLOSED)
    return true;
  if (is_body_over(c)) {
    c->unread = false;
    c->state = PAI__CONN_ASKED;
    return true;
  }
  if (c->used == c->in.len) {
    pai__buf_cut(&c->in, c->head.seen);
    c->used = c->in.len;
    return fill(c, BODY_PIECE);
  }
  data = next_piece(c, &size);
  if (c->chunks.fault.status != 0) {
    c->last = true;
    c->head.fault = c->chunks.fault;
    (void)tell(c, NULL, 0);
  } else if (size > 0) {
    (void)tell(c, data, size);
  }
  return true;
}

static bool ask(pai__conn *c)
{
  if (c->request->suspended)
    return false;
  (void)tell(c, NULL, 0);
  return c->state != PAI__CONN_ASKED;
}

/* --- after an answer ----------------------------------------------------- */

static void give_back(pai__buf *b)
{
  if (b->len == 0 && (b->cap > KEPT || !pai__buf_ok(b)))
    pai__buf_dispose(b);
}

/* Bytes after the request belong to the next one. */
static void begin_next(pai__conn *c)
{
  size_t left = c->in.len - c->used;

  memmove(c->in.data, c->in.data + c->used, left);
  pai__buf_cut(&c->in, left);
  c->used = 0;
  memset(&c->head, 0, sizeof(c->head));
  c->chunks = (pai__http1_chunks){ .over = false };
  c->begun = false;
  c->state = PAI__CONN_HEAD;
  give_back(&c->in);
}

/* Closing the socket with unread input could lose the answer.  So the client
 * has to hang up first, within the time for sending an answer. */
static void leave(pai__conn *c)
{
  c->unread = c->unread || c->in.len > c->used || c->readable;
  pai__transport_bye(c);
  c->state = c->unread ? PAI__CONN_LEAVING : PAI__CONN_CLOSED;
  if (c->unread)
    pai__server_deadline_enter(c->deadline, PAI__SEND);
}

void pai__conn_finish(pai__conn *c)
{
  pai__request_end(c->request);
  c->request = NULL;
  c->answered = false;
  c->payload = (pai__payload){ .size = 0 };
  pai__buf_cut(&c->out, 0);
  c->sent = 0;
  give_back(&c->out);
  if (c->last)
    leave(c);
  else
    begin_next(c);
}

static bool throw_away(pai__conn *c)
{
  pai__buf_cut(&c->in, 0);
  return fill(c, BODY_PIECE);
}

/* --- the state machine --------------------------------------------------- */

static bool step(pai__conn *c)
{
  switch (c->state) {
  case PAI__CONN_GREETING: return greet(c);
  case PAI__CONN_HEAD: return read_head(c);
  case PAI__CONN_BODY: return read_body(c);
  case PAI__CONN_ASKED: return ask(c);
  case PAI__CONN_SENDING: return pai__conn_send(c);
  case PAI__CONN_LEAVING: return throw_away(c);
  case PAI__CONN_CLOSED: break;
  }
  return false;
}

/* A connection with many steps, or slow input, continues in the next loop
 * step. */
static bool may_step(const pai__conn *c, int steps)
{
  bool reads = c->state == PAI__CONN_HEAD || c->state == PAI__CONN_BODY;

  return steps < STEPS &&
         (steps == 0 || !reads || !pai__server_listener_is_late(c->listener));
}

void pai__conn_run(pai__conn *c)
{
  bool may;
  int i = 0;

  while ((may = may_step(c, i)) && step(c))
    i++;
  if (c->state == PAI__CONN_CLOSED)
    pai__conn_free(c);
  else if (!may)
    pai__conn_make_due(c);
}

/* --- for requests -------------------------------------------------------- */

const char *pai__conn_field(const pai__conn *c, const char *name)
{
  size_t at = 0;

  return pai__http1_find(&c->head, c->in.data, name, &at);
}

const char *pai__conn_next_field(const pai__conn *c, const char *name,
                                 size_t *at)
{
  return pai__http1_find(&c->head, c->in.data, name, at);
}

const char *pai__conn_method(const pai__conn *c)
{
  return c->head.version > 0 ? c->in.data + c->head.method : "";
}

const char *pai__conn_target(const pai__conn *c)
{
  return c->head.version > 0 ? pai__http1_path(c->in.data + c->head.target)
                             : "";
}

int pai__conn_fault(const pai__conn *c, const char **why)
{
  *why = c->head.fault.why;
  return c->head.fault.status;
}

bool pai__conn_length(const pai__conn *c, uint64_t *length)
{
  *length = c->head.length;
  return c->head.measured;
}

pai__server_deadline *pai__conn_deadline(const pai__conn *c)
{
  return c->deadline;
}

int pai__conn_fd(const pai__conn *c)
{
  return c->fd;
}

void *pai__conn_tls(const pai__conn *c)
{
  return c->tls;
}

size_t pai__conn_early(const pai__conn *c, const char **bytes)
{
  *bytes = c->in.data + c->used;
  return c->in.len - c->used;
}

void pai__conn_resume(pai__conn *c)
{
  pai__conn_make_due(c);
}
