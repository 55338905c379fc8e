/*
 * session.c - client end of a session in a task
 *
 * Frames are sent from one buffer and received into another.  Output is passed
 * on as it comes, so a slow reader makes the command wait.
 */
#include "client/session.h"

#include "base/text/utf8.h"
#include "task/frame.h"

enum { PIECE = 65536, LOST = 137 /* as after SIGKILL */ };

/* --- memory -------------------------------------------------------------- */

void pai__session_free(pai_session *s)
{
  pai_alloc alloc = s->alloc;

  pai__http_upgrade_close(s->upgrade);
  pai__poll_close(s->poll);
  pai__loop_step_close(s->step);
  pai__http_stream_close(s->stream);
  pai__strfree(&alloc, s->path);
  pai__buf_dispose(&s->out);
  pai__buf_dispose(&s->in);
  pai__free(&alloc, s, sizeof(*s));
}

/* A session that the client lists is freed while its list is not walked. */
void pai_session_close(pai_session *s)
{
  if (s == NULL || PAI__IS_FORKED(s))
    return;
  if (s->in_callback) {
    s->closed = true;
  } else if (s->listed) {
    s->closed = true;
    pai__http_upgrade_close(s->upgrade);
    s->upgrade = NULL;
    pai__op_end_soon(&s->op);
  } else {
    pai__session_free(s);
  }
}

/* False: the callback closed it, and it is freed. */
static bool after_callback(pai_session *s)
{
  s->in_callback = false;
  if (!s->closed)
    return true;
  pai__session_free(s);
  return false;
}

static void tell_end(pai_session *s, int status, const pai_session_end *end)
{
  pai_client *client = s->listed ? s->op.client : NULL;

  if (s->listed)
    pai__op_gone(&s->op);
  s->listed = false;
  s->in_callback = true;
  s->o.on_end(s->o.user_data, status, end);
  pai__session_free(s);
  if (client != NULL)
    pai__client_rest(client);
}

void pai__session_fail(pai_session *s, int rc, const pai_error *err)
{
  pai_session_end end = { .struct_size = sizeof(end),
                          .text = err != NULL ? pai_error_message(err) : "",
                          .err = err,
                          .api_code = "" };

  tell_end(s, rc, &end);
}

/* --- receiving ----------------------------------------------------------- */

/* The text in the frame has no NUL. */
static void take_end(pai_session *s, const pai_frame *f)
{
  pai_session_end end = { .struct_size = sizeof(end), .api_code = "" };
  int by = f->len > 1 ? f->bytes[0] : 0,
      number = f->len > 1 ? (unsigned char)f->bytes[1] : 0;
  char text[PAI__EXCERPT];

  end.how = by == PAI_FRAME_BY_EXIT     ? PAI_SESSION_EXIT
            : by == PAI_FRAME_BY_SIGNAL ? PAI_SESSION_SIGNAL
            : by == PAI_FRAME_BY_LOSS   ? PAI_SESSION_LOST
                                        : PAI_SESSION_FAILED;
  end.code = by == PAI_FRAME_BY_SIGNAL ? 128 + number
             : by == PAI_FRAME_BY_LOSS ? LOST
                                       : number;
  end.signal = by == PAI_FRAME_BY_SIGNAL ? number : 0;
  end.text = f->len > 2 ? pai__excerpt(text, f->bytes + 2, f->len - 2) : "";
  tell_end(s, PAI_OK, &end);
}

void pai__session_refuse(pai_session *s, int http_status, const char *body,
                         size_t len)
{
  pai__tree *tree = pai__answer_tree(&s->alloc, body, len);
  pai_session_end end = { .struct_size = sizeof(end),
                          .http_status = http_status };
  pai_client_answer a = pai__answer_none();
  pai_error *err = NULL;
  int rc;

  a.http_status = http_status;
  a.body = body;
  a.body_len = len;
  rc = pai__answer_refuse(&err, tree, &a);
  end.api_code = a.code;
  end.text = pai_error_message(err);
  end.err = err;
  tell_end(s, rc, &end);
  pai_error_free(err);
  pai__tree_free(tree);
}

static void lose(pai_session *s)
{
  pai_session_end end = {
    .struct_size = sizeof(end),
    .how = PAI_SESSION_LOST,
    .code = LOST,
    .text = s->far ? "the task has ended, or the connection was lost"
                   : "the task has ended",
    .api_code = ""
  };

  tell_end(s, PAI_OK, &end);
}

/* Returns whether an end without END means that the task is lost.  That is not
 * known for another machine.  A server with TLS always sends how a stream
 * ended (posix_proxy_stream.c there), so its silence is no task's end. */
static void break_off(pai_session *s)
{
  pai_error *err = NULL;
  int rc = pai__fail(&err, PAI_EIO,
                     "the connection to the server was lost, so the result of "
                     "the command is unknown");

  pai__session_fail(s, rc, err);
  pai_error_free(err);
}

/* False: the session is freed. */
static bool take_frame(pai_session *s, const pai_frame *f)
{
  if (f->type == PAI_FRAME_END) {
    take_end(s, f);
    return false;
  }
  s->in_callback = true;
  if (f->type == PAI_FRAME_STARTED && s->o.on_started != NULL)
    s->o.on_started(s->o.user_data,
                    f->len > 0 && (f->bytes[0] & PAI_BEGIN_TTY) != 0);
  else if (f->type == PAI_FRAME_OUTPUT || f->type == PAI_FRAME_ERRORS)
    s->o.on_output(s->o.user_data, f->type == PAI_FRAME_OUTPUT ? 1 : 2,
                   f->bytes, f->len);
  return after_callback(s);
}

static bool take_frames(pai_session *s)
{
  size_t at = 0;
  pai_frame f;
  long n = 0;

  while (!s->paused && (n = pai_frame_read(&f, pai__buf_text(&s->in) + at,
                                           s->in.len - at)) > 0) {
    if (!take_frame(s, &f))
      return false;
    at += (size_t)n;
  }
  if (n < 0) {
    pai_error *err = NULL;
    int rc = pai__fail(&err, PAI_EIO, "the stream contains an invalid frame");
    pai__session_fail(s, rc, err);
    pai_error_free(err);
    return false;
  }
  if (at > 0) {
    memmove(s->in.data, s->in.data + at, s->in.len - at);
    pai__buf_cut(&s->in, s->in.len - at);
  }
  return true;
}

static void watch(pai_session *s)
{
  if (s->poll != NULL)
    pai__poll_set(s->poll, (s->paused ? 0 : PAI__READABLE) |
                             (s->sent < s->out.len ? PAI__WRITABLE : 0));
}

/* Receives one piece, to let other handles of the loop run. */
static void receive(pai_session *s)
{
  long n = -2;

  if (pai__buf_reserve(&s->in, PIECE))
    n = pai__http_stream_receive(s->stream, s->in.data + s->in.len, PIECE);
  if (!pai__buf_ok(&s->in)) {
    pai__session_fail(s, PAI_ENOMEM, NULL);
    return;
  }
  if (n == -2 ? s->far : n < 0 && (s->secure || (s->far && s->failed))) {
    break_off(s);
    return;
  }
  if (n < 0) {
    lose(s);
    return;
  }
  s->in.len += (size_t)n;
  s->more = n > 0 && pai__http_stream_holds(s->stream);
  if (s->more)
    pai__loop_step_ask(s->step);
  watch(s); /* the poll stopped on an error, and more data may be there */
  (void)take_frames(s);
}

/* --- sending ------------------------------------------------------------- */

/* False: the session is freed. */
static bool send_some(pai_session *s)
{
  bool had = s->sent < s->out.len;

  while (s->sent < s->out.len) {
    long n = pai__http_stream_send(s->stream, s->out.data + s->sent,
                                   s->out.len - s->sent);
    if (n < 0)
      s->failed = true; /* the cause may still be read */
    if (n <= 0)
      break;
    s->sent += (size_t)n;
  }
  if (s->failed || s->sent == s->out.len) {
    pai__buf_cut(&s->out, 0);
    s->sent = 0;
  }
  watch(s);
  if (!had || s->out.len > 0 || s->failed || s->o.on_room == NULL)
    return true;
  s->in_callback = true;
  s->o.on_room(s->o.user_data);
  return after_callback(s);
}

static void on_ready(void *user_data, int fd, int events)
{
  pai_session *s = user_data;

  (void)fd;
  if ((events & PAI__WRITABLE) != 0 && !send_some(s))
    return;
  if ((events & PAI__READABLE) != 0 && !s->paused)
    receive(s);
}

static void on_step(void *user_data)
{
  pai_session *s = user_data;

  if (s->stream != NULL && take_frames(s) && send_some(s) && s->more &&
      !s->paused)
    receive(s);
}

void pai_session_pause(pai_session *s, int paused)
{
  if (s == NULL || PAI__IS_FORKED(s))
    return;
  s->paused = paused != 0;
  watch(s);
  if (!s->paused)
    pai__loop_step_ask(s->step); /* data may have arrived already */
}

/* Drops sent bytes from the buffer, but not for each byte. */
static void forget_sent(pai_session *s)
{
  if (s->sent == 0 || s->sent < s->out.len - s->sent)
    return;
  memmove(s->out.data, s->out.data + s->sent, s->out.len - s->sent);
  pai__buf_cut(&s->out, s->out.len - s->sent);
  s->sent = 0;
}

static int put(pai_session *s, int type, const char *bytes, size_t len)
{
  char head[PAI_FRAME_HEAD];
  size_t before;

  if (s->failed)
    return PAI_OK; /* the command does not read it; its end is reported */
  forget_sent(s);
  before = s->out.len;
  pai_frame_head(head, type, len);
  if (!pai__buf_reserve(&s->out, len + sizeof(head))) {
    s->out.failed = false; /* nothing was added */
    pai__buf_cut(&s->out, before);
    return PAI_ENOMEM;
  }
  pai__buf_add(&s->out, head, sizeof(head));
  pai__buf_add(&s->out, bytes, len);
  if (s->stream != NULL)
    pai__loop_step_ask(s->step);
  return PAI_OK;
}

int pai_session_write(pai_session *s, const void *bytes, size_t len)
{
  const char *at = bytes;
  int rc = PAI_OK;

  PAI__CHECK_ARG(s != NULL && (bytes != NULL || len == 0));
  PAI__CHECK_PROCESS(s, NULL);
  while (len > 0 && rc == PAI_OK) {
    size_t n = len < PAI_FRAME_MOST ? len : PAI_FRAME_MOST;

    rc = put(s, PAI_FRAME_INPUT, at, n);
    at += n;
    len -= n;
  }
  return rc;
}

size_t pai_session_pending(const pai_session *s)
{
  return s->out.len - s->sent;
}

int pai_session_end_input(pai_session *s)
{
  PAI__CHECK_ARG(s != NULL);
  PAI__CHECK_PROCESS(s, NULL);
  return put(s, PAI_FRAME_INPUT_END, "", 0);
}

int pai_session_resize(pai_session *s, uint32_t columns, uint32_t rows)
{
  char size[4];

  PAI__CHECK_ARG(s != NULL && columns <= UINT16_MAX && rows <= UINT16_MAX);
  PAI__CHECK_PROCESS(s, NULL);
  pai_frame_put_pair(size, columns);
  pai_frame_put_pair(size + 2, rows);
  return put(s, PAI_FRAME_SIZE, size, sizeof(size));
}

int pai_session_signal(pai_session *s, int number)
{
  char byte = (char)number;

  PAI__CHECK_ARG(s != NULL && number > 0 && number < 65);
  PAI__CHECK_PROCESS(s, NULL);
  return put(s, PAI_FRAME_SIGNAL, &byte, 1);
}

/* --- creation ------------------------------------------------------------ */

static int put_begin(pai_session *s, pai_error **err)
{
  const pai_session_options *o = &s->o;
  char head[PAI_BEGIN_HEAD] = {
    PAI_FRAME_VERSION, (char)((o->tty != 0 ? PAI_BEGIN_TTY : 0) |
                              (o->attach != 0 ? PAI_BEGIN_ATTACH : 0))
  };
  const char *terminal = o->terminal != NULL ? o->terminal : "";
  pai__buf b;
  int rc = PAI_OK;

  pai_frame_put_pair(head + 2, o->columns);
  pai_frame_put_pair(head + 4, o->rows);
  pai__buf_init(&b, &s->alloc);
  pai__buf_add(&b, head, sizeof(head));
  pai__buf_add(&b, terminal, strlen(terminal) + 1);
  for (const char *const *w = o->command; w != NULL && *w != NULL; w++)
    pai__buf_add(&b, *w, strlen(*w) + 1);
  if (!pai__buf_ok(&b))
    rc = pai__oom(err);
  else if (b.len > PAI_FRAME_MOST)
    rc = pai__fail(err, PAI_ELIMIT,
                   "the command is longer than %d bytes: pass long data to "
                   "its standard input",
                   PAI_FRAME_MOST);
  else if (put(s, PAI_FRAME_BEGIN, pai__buf_text(&b), b.len) < 0)
    rc = pai__oom(err);
  pai__buf_dispose(&b);
  return rc;
}

static int check(pai_session_options *o, const pai_session_options *opts,
                 pai_error **err)
{
  int rc = PAI__OPTIONS_IN(o, opts, pai_session_options, on_end);

  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_session_options");
  if (o->on_end == NULL || (o->on_output == NULL && o->attach == 0))
    return pai__fail(err, PAI_EINVAL,
                     "pai_session_options: set on_output and on_end");
  if (o->columns > UINT16_MAX || o->rows > UINT16_MAX)
    return pai__fail(err, PAI_EINVAL,
                     "pai_session_options: the terminal is too large");
  if (o->attach != 0 && o->command != NULL)
    return pai__fail(
      err, PAI_EINVAL,
      "pai_session_options: attach and a command exclude each other");
  return PAI_OK;
}

int pai__session_make(pai_session **out, pai_loop *loop,
                      const pai_alloc *alloc, const pai_session_options *opts,
                      pai_error **err)
{
  pai_session_options o;
  pai_session *s;
  int rc = check(&o, opts, err);

  if (rc < 0)
    return rc;
  s = pai__zalloc(alloc, sizeof(*s));
  if (s == NULL)
    return pai__oom(err);
  s->alloc = *alloc;
  s->forks = pai__forks();
  s->loop = loop;
  s->o = o;
  pai__buf_init(&s->out, &s->alloc);
  pai__buf_init(&s->in, &s->alloc);
  rc = pai__loop_step_new(&s->step, alloc, loop, on_step, s) < 0
         ? pai__oom(err)
         : put_begin(s, err);
  s->o.command = NULL;
  s->o.terminal = NULL;
  if (rc < 0)
    pai__session_free(s);
  else
    *out = s;
  return rc;
}

int pai__session_connect(pai_session *s, pai__http_stream *stream,
                         pai_error **err)
{
  int rc = pai__poll_new(&s->poll, &s->alloc, s->loop,
                         pai__http_stream_fd(stream), on_ready, s, err);

  if (rc < 0) {
    pai__http_stream_close(stream);
    return rc;
  }
  s->stream = stream;
  s->more = pai__http_stream_holds(stream);
  watch(s);
  pai__loop_step_ask(s->step);
  return PAI_OK;
}

int pai_session_new(pai_session **out, pai_loop *loop, const pai_alloc *alloc,
                    int fd, const pai_session_options *opts, pai_error **err)
{
  pai__http_stream *stream;
  pai_session *s = NULL;
  int rc;

  PAI__CLEAR_OUT(out, err);
  if (loop == NULL || fd < 0)
    return pai__fail(err, PAI_EINVAL, "pai_session_new: no loop or no stream");
  alloc = pai__alloc_or_libc(alloc);
  if (pai__http_stream_new(&stream, alloc, fd) < 0)
    return pai__oom(err);
  rc = pai__loop_check(loop, err);
  if (rc < 0) {
    pai__http_stream_close(stream);
    return rc;
  }
  rc = pai__session_make(&s, loop, alloc, opts, err);
  if (s != NULL)
    rc = pai__session_connect(s, stream, err);
  else
    pai__http_stream_close(stream);
  if (rc < 0) {
    pai_session_close(s);
    return rc;
  }
  *out = s;
  return PAI_OK;
}
