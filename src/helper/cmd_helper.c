/* cmd_helper.c - `helper`: the language server and calls of clusters, for
 * editors */
#include "helper.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- end ---------------------------------------------------------------------- */

static void close_if_open(uv_handle_t *handle)
{
  if (handle->loop != NULL && !uv_is_closing(handle))
    uv_close(handle, NULL);
}

void helper_end(helper *h, int code)
{
  helper_editor *e, *next;

  if (!h->ending) {
    h->ending = true;
    h->code = code;
    for (e = h->editors; e != NULL; e = next) {
      next = e->next;
      helper_editor_close(e);
    }
  }
  if (h->editors != NULL)
    return; /* the last one calls again */
  helper_clusters_close(h);
  close_if_open((uv_handle_t *)&h->listener);
  close_if_open((uv_handle_t *)&h->lifeline);
  for (size_t i = 0; i < sizeof(h->signals) / sizeof(h->signals[0]); i++)
    close_if_open((uv_handle_t *)&h->signals[i]);
}

/* --- signals -------------------------------------------------------------------- */

static void on_signal(uv_signal_t *signal, int number)
{
  if (number != SIGPIPE) /* a write says the same */
    helper_end(signal->data, 128 + number);
}

static void watch_signals(helper *h)
{
  static const int numbers[] = { SIGTERM, SIGINT, SIGPIPE };

  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
    (void)uv_signal_init(&h->uv, &h->signals[i]);
    h->signals[i].data = h;
    (void)uv_signal_start(&h->signals[i], on_signal, numbers[i]);
    uv_unref((uv_handle_t *)&h->signals[i]);
  }
}

/* --- the socket ------------------------------------------------------------------ */

static void on_connection(uv_stream_t *listener, int status)
{
  if (status == 0)
    (void)helper_editor_accept(listener->data);
}

static void on_room(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
  static char dropped[256];

  (void)handle;
  (void)size;
  *buf = uv_buf_init(dropped, sizeof(dropped));
}

static void on_lifeline(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
  (void)buf;
  if (n < 0)
    helper_end(stream->data, CLI_OK);
}

/* A helper that was started with a pipe ends when the pipe is closed. */
static void hold_lifeline(helper *h)
{
  if (uv_guess_handle(STDIN_FILENO) != UV_NAMED_PIPE ||
      uv_pipe_init(&h->uv, &h->lifeline, 0) < 0)
    return;
  h->lifeline.data = h;
  if (uv_pipe_open(&h->lifeline, STDIN_FILENO) == 0)
    (void)uv_read_start((uv_stream_t *)&h->lifeline, on_room, on_lifeline);
}

/* Removes a socket that a killed helper has left, and nothing else. */
static bool clear_path(const char *path)
{
  struct stat st;

  if (cli_listens(path)) {
    cli_fail("a program listens at %s already", path);
    return false;
  }
  if (lstat(path, &st) < 0)
    return true;
  if (!S_ISSOCK(st.st_mode)) {
    cli_fail("cannot listen at %s: it is a file and no socket", path);
    cli_help(stderr, "choose a path where nothing is");
    return false;
  }
  (void)unlink(path);
  return true;
}

/* libuv takes a missing folder for a missing permission. */
static int why_not(const char *path, int rc)
{
  const char *name = strrchr(path, '/');
  size_t len = name != NULL ? (size_t)(name - path) : 0;
  char folder[4096];

  if (rc != UV_EACCES || len == 0 || len >= sizeof(folder))
    return rc;
  memcpy(folder, path, len);
  folder[len] = '\0';
  return access(folder, F_OK) < 0 ? UV_ENOENT : rc;
}

static int listen_at(helper *h, const char *path)
{
  mode_t mask;
  int rc;

  if (!clear_path(path))
    return CLI_NO;
  (void)uv_pipe_init(&h->uv, &h->listener, 0);
  h->listener.data = h;
  mask = umask(0177); /* for this user alone */
  rc = uv_pipe_bind(&h->listener, path);
  (void)umask(mask);
  if (rc == 0)
    rc = uv_listen((uv_stream_t *)&h->listener, 64, on_connection);
  if (rc < 0) {
    cli_fail("cannot listen at %s: %s", path, uv_strerror(why_not(path, rc)));
    return CLI_NO;
  }
  h->socket = path;
  hold_lifeline(h);
  return CLI_OK;
}

/* --- the verb ---------------------------------------------------------------------- */

/* A user who has typed the verb would wait for a prompt. */
static void greet(void)
{
  if (isatty(STDIN_FILENO) == 1)
    cli_say(PAI_LOG_INFO, "this is a language server, which an editor starts: "
                          "see docs/guide/editors.md; Ctrl-D ends it");
}

static int run(helper *h, const char *socket)
{
  int code = CLI_OK;

  watch_signals(h);
  if (socket == NULL)
    greet();
  if (socket != NULL)
    code = listen_at(h, socket);
  else if (helper_editor_stdio(h) == NULL)
    code = CLI_NO;
  if (code != CLI_OK)
    helper_end(h, code);
  (void)uv_run(&h->uv, UV_RUN_DEFAULT);
  if (h->socket != NULL)
    (void)unlink(h->socket);
  return h->code;
}

int cli_do_helper(const cli_helper_args *a)
{
  helper h = { .code = CLI_NO };
  pai_error *err = NULL;
  int code = CLI_NO;

  if (uv_loop_init(&h.uv) < 0) {
    cli_fail("cannot make an event loop");
    return CLI_NO;
  }
  if (pai_loop_attach_uv(&h.loop, &h.uv, NULL, &err) < 0)
    (void)cli_fail_with(NULL, err);
  else
    code = run(&h, a->socket);
  pai_loop_free(h.loop);
  while (uv_run(&h.uv, UV_RUN_DEFAULT) > 0)
    ;
  (void)uv_loop_close(&h.uv);
  return code;
}
