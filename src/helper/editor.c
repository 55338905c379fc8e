/* editor.c - a connection with an editor: messages in, messages out */
#include "helper.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 65536, LOW_WATER = 256 << 10, QUIET_MS = 300 };

static void give_up(helper_editor *e, const char *what)
{
  cli_fail("%s", what);
  helper_editor_close(e);
}

/* --- out ---------------------------------------------------------------------- */

typedef struct sending {
  uv_write_t request;
  helper_editor *editor;
  char bytes[];
} sending;

size_t helper_editor_pending(const helper_editor *e)
{
  return e->out != NULL ? uv_stream_get_write_queue_size(e->out) : 0;
}

static void on_written(uv_write_t *request, int status)
{
  sending *s = (sending *)request;
  helper_editor *e = s->editor;

  free(s);
  if (e->closing)
    return;
  if (status < 0)
    helper_editor_close(e);
  else if (helper_editor_pending(e) < LOW_WATER)
    helper_calls_resume(e);
}

static int write_file(int fd, const char *bytes, size_t len)
{
  while (len > 0) {
    ssize_t n = write(fd, bytes, len);

    if (n < 0)
      return PAI_EIO;
    bytes += n;
    len -= (size_t)n;
  }
  return PAI_OK;
}

static int send_message(void *user_data, const char *json, size_t len)
{
  helper_editor *e = user_data;
  sending *s = malloc(sizeof(*s) + len + 40);
  uv_buf_t buf;
  int head, rc;

  if (e->closing || s == NULL) {
    free(s);
    return e->closing ? PAI_OK : PAI_ENOMEM;
  }
  s->editor = e;
  head = snprintf(s->bytes, 40, "Content-Length: %zu\r\n\r\n", len);
  memcpy(s->bytes + head, json, len);
  if (e->out == NULL) {
    rc = write_file(e->files[1], s->bytes, (size_t)head + len);
    free(s);
    return rc;
  }
  buf = uv_buf_init(s->bytes, (unsigned)((size_t)head + len));
  rc = uv_write(&s->request, e->out, &buf, 1, on_written);
  if (rc == 0)
    return PAI_OK;
  free(s);
  return PAI_EIO;
}

/* --- closing -------------------------------------------------------------------- */

static void free_if_done(helper_editor *e)
{
  helper_editor **at = &e->of->editors;
  helper *h = e->of;

  if (!e->closing || e->handles_open > 0 || e->calls != NULL)
    return;
  while (*at != e)
    at = &(*at)->next;
  *at = e->next;
  helper_clusters_leave(e);
  pai_language_free(e->language);
  frame_free(&e->frames);
  free(e->cluster);
  free(e);
  if (h->ending)
    helper_end(h, h->code);
}

static void on_closed(uv_handle_t *handle)
{
  helper_editor *e = handle->data;

  e->handles_open--;
  free_if_done(e);
}

static void close_handle(uv_handle_t *handle)
{
  if (handle != NULL && !uv_is_closing(handle))
    uv_close(handle, on_closed);
}

void helper_editor_close(helper_editor *e)
{
  int code = 1;

  if (e->closing)
    return;
  e->closing = true;
  (void)pai_language_ended(e->language, &code);
  helper_calls_cancel(e);
  close_handle((uv_handle_t *)&e->work);
  close_handle((uv_handle_t *)&e->quiet);
  close_handle((uv_handle_t *)e->in);
  if (e->out != e->in)
    close_handle((uv_handle_t *)e->out);
  if (e->parent_fd >= 0) {
    close_handle((uv_handle_t *)&e->parent);
    (void)close(e->parent_fd);
    e->parent_fd = -1;
  }
  if (e->is_main)
    helper_end(e->of, pai_language_ended(e->language, NULL) ? code : 1);
}

void helper_calls_done(helper_editor *e)
{
  if (e->calls == NULL)
    free_if_done(e);
}

/* --- the process of the editor ----------------------------------------------------- */

static void on_parent_end(uv_poll_t *poll, int status, int events)
{
  (void)status;
  (void)events;
  helper_editor_close(poll->data);
}

/* Watches the process that `initialize` names. */
static void watch_parent(helper_editor *e)
{
  int64_t pid = pai_language_client_pid(e->language);

  if (pid <= 0 || e->parent_fd >= 0 || pid == getpid())
    return;
  e->parent_fd = helper_watch_process(pid);
  if (e->parent_fd < 0)
    return;
  if (uv_poll_init(&e->of->uv, &e->parent, e->parent_fd) < 0) {
    (void)close(e->parent_fd);
    e->parent_fd = -1;
    return;
  }
  e->parent.data = e;
  e->handles_open++;
  (void)uv_poll_start(&e->parent, UV_READABLE, on_parent_end);
}

/* --- work -------------------------------------------------------------------------- */

static void read_file(helper_editor *e);

/* Returns false when the editor is closed. */
static bool look_after(helper_editor *e, int rc)
{
  if (e->closing)
    return false;
  if (rc < 0 && rc != PAI_ENOMEM) {
    helper_editor_close(e);
    return false;
  }
  if (rc == PAI_ENOMEM)
    cli_fail("out of memory");
  if (pai_language_ended(e->language, NULL)) {
    helper_editor_close(e);
    return false;
  }
  return true;
}

/* Does one piece of work in each turn of the loop, so that what arrives
 * meanwhile may cancel the rest. */
static void on_work(uv_idle_t *idle)
{
  helper_editor *e = idle->data;
  int rc;

  if (e->forget)
    (void)!pai_language_forget(e->language, NULL);
  e->forget = false;
  rc = pai_language_work(e->language, NULL);

  if (!look_after(e, rc))
    return;
  if (e->parent_fd < 0 && rc > 0)
    watch_parent(e);
  if (rc == 0 && e->files[0] >= 0)
    read_file(e);
  else if (rc == 0)
    (void)uv_idle_stop(idle);
}

void helper_editor_wake(helper_editor *e)
{
  if (!e->closing)
    (void)uv_idle_start(&e->work, on_work);
}

static void on_quiet(uv_timer_t *timer)
{
  helper_ask_waiting(timer->data);
}

void helper_editor_when_quiet(helper_editor *e)
{
  (void)uv_timer_start(&e->quiet, on_quiet, QUIET_MS, 0);
}

/* --- in ----------------------------------------------------------------------------- */

static void take_messages(helper_editor *e)
{
  const char *message;
  size_t len;
  int found;

  while ((found = frame_take(&e->frames, &message, &len)) > 0)
    if (!look_after(e, pai_language_receive(e->language, message, len, NULL)))
      return;
  if (found < 0) {
    give_up(e, "the input is not framed as the Language Server Protocol says: "
               "a line Content-Length: N must be before each message");
    return;
  }
  helper_editor_wake(e);
}

static void end_input(helper_editor *e)
{
  if (e->frames.len > e->frames.at)
    give_up(e, "the input ended within a message");
  else
    helper_editor_close(e);
}

static void read_file(helper_editor *e)
{
  char *to = frame_room(&e->frames, CHUNK);
  ssize_t n = to != NULL ? read(e->files[0], to, CHUNK) : -1;

  if (n <= 0) {
    end_input(e);
    return;
  }
  frame_add(&e->frames, (size_t)n);
  take_messages(e);
}

static void on_room(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
  helper_editor *e = handle->data;

  (void)size;
  buf->base = frame_room(&e->frames, CHUNK);
  buf->len = buf->base != NULL ? CHUNK : 0;
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
  helper_editor *e = stream->data;

  (void)buf;
  if (n > 0) {
    if (uv_is_active((uv_handle_t *)&e->quiet))
      helper_editor_when_quiet(e);
    frame_add(&e->frames, (size_t)n);
    take_messages(e);
  } else if (n < 0) {
    end_input(e);
  }
}

/* --- beginning ------------------------------------------------------------------------ */

static helper_editor *new_editor(helper *h)
{
  pai_language_options o = PAI_LANGUAGE_OPTIONS_INIT;
  helper_editor *e = calloc(1, sizeof(*e));
  pai_error *err = NULL;

  if (e == NULL) {
    cli_fail("out of memory");
    return NULL;
  }
  e->of = h;
  e->parent_fd = e->files[0] = e->files[1] = -1;
  o.user_data = e;
  o.send = send_message;
  o.ask = helper_ask;
  o.other = helper_other;
  o.cancel = helper_cancel;
  o.max_bytes = FRAME_MOST;
  if (pai_language_new(&e->language, &o, &err) < 0) {
    (void)cli_fail_with(NULL, err);
    free(e);
    return NULL;
  }
  (void)uv_idle_init(&h->uv, &e->work);
  (void)uv_timer_init(&h->uv, &e->quiet);
  e->work.data = e->quiet.data = e;
  e->handles_open = 2;
  e->next = h->editors;
  h->editors = e;
  return e;
}

/* Opens a descriptor as a stream.  *stream is NULL for a file. */
static bool open_stream(helper_editor *e, int fd, int which,
                        uv_stream_t **stream)
{
  uv_loop_t *uv = &e->of->uv;
  int rc;

  *stream = NULL;
  switch (uv_guess_handle(fd)) {
  case UV_NAMED_PIPE:
    rc = uv_pipe_init(uv, &e->handles[which].pipe, 0);
    *stream = (uv_stream_t *)&e->handles[which].pipe;
    rc = rc == 0 ? uv_pipe_open(&e->handles[which].pipe, fd) : rc;
    break;
  case UV_TTY:
    rc = uv_tty_init(uv, &e->handles[which].tty, fd, 0);
    *stream = (uv_stream_t *)&e->handles[which].tty;
    break;
  case UV_FILE: e->files[which] = fd; return true;
  default: rc = UV_EINVAL; break;
  }
  if (*stream != NULL) {
    (*stream)->data = e;
    e->handles_open++;
  }
  if (rc < 0)
    cli_fail("standard %s cannot be used: %s", which == 0 ? "input" : "output",
             uv_strerror(rc));
  return rc == 0;
}

helper_editor *helper_editor_stdio(helper *h)
{
  helper_editor *e = new_editor(h);

  if (e == NULL)
    return NULL;
  e->is_main = true;
  if (!open_stream(e, STDIN_FILENO, 0, &e->in) ||
      !open_stream(e, STDOUT_FILENO, 1, &e->out)) {
    helper_editor_close(e);
    return NULL;
  }
  if (e->in != NULL)
    (void)uv_read_start(e->in, on_room, on_read);
  else
    helper_editor_wake(e);
  return e;
}

helper_editor *helper_editor_accept(helper *h)
{
  helper_editor *e = new_editor(h);
  uv_pipe_t *pipe;

  if (e == NULL)
    return NULL;
  pipe = &e->handles[0].pipe;
  (void)uv_pipe_init(&h->uv, pipe, 0);
  pipe->data = e;
  e->handles_open++;
  e->in = e->out = (uv_stream_t *)pipe;
  if (uv_accept((uv_stream_t *)&h->listener, e->in) < 0) {
    helper_editor_close(e);
    return NULL;
  }
  (void)uv_read_start(e->in, on_room, on_read);
  return e;
}
