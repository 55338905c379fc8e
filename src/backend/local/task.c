/*
 * task.c - one task: bash in a session of its own, its output, its exit
 *
 * A task is over when its first process has exited and both streams have
 * ended.  What it left behind is killed then; a descendant that escaped the
 * process group may hold a stream open, so after DRAIN_MS nobody waits on.
 */
#include "backend/local/local.h"

#include "base/posix_fs.h"

#include <signal.h>
#include <unistd.h>

enum { DRAIN_MS = 1000 };

static void free_task(local_task *t)
{
  const pai_alloc *alloc = t->owner->host.alloc;

  pai__strfree(alloc, t->dir);
  pai__free(alloc, t, sizeof(*t));
}

static void on_handle_closed(uv_handle_t *handle)
{
  local_task *t = handle->data;
  local *l = t->owner;

  if (--t->handles > 0)
    return;
  free_task(t);
  l->unfreed--;
  pai__local_task_freed(l);
}

static void close_handle(local_task *t, uv_handle_t *handle)
{
  handle->data = t;
  uv_close(handle, on_handle_closed);
}

static void report_if_over(local_task *t)
{
  local *l = t->owner;

  if (!t->exited || t->streams[0].open || t->streams[1].open)
    return;
  (void)pai__map_remove(&l->tasks, &t->id, sizeof(t->id));
  close_handle(t, (uv_handle_t *)&t->process);
  close_handle(t, (uv_handle_t *)&t->drain);
  l->host.ended(l->host.user_data, t->id, t->code, "");
}

static void close_stream(local_stream *s)
{
  if (!s->open)
    return;
  s->open = false;
  if (s->log_fd >= 0)
    (void)close(s->log_fd);
  close_handle(s->task, (uv_handle_t *)&s->pipe);
}

/* A full disk does not end the task, but it is said, once. */
static void write_log(local_stream *s, const char *data, size_t len)
{
  local_task *t = s->task;
  pai_error *err = NULL;

  if (s->log_fd < 0 ||
      pai__fs_write(s->log_fd, data, len, t->dir, &err) == PAI_OK)
    return;
  if (!t->log_failed)
    pai__log_line(t->owner->host.log, PAI_LOG_WARNING,
                  "output is missing in a log: %s", pai_error_message(err));
  t->log_failed = true;
  pai_error_free(err);
}

static void take_output(local_stream *s, const char *data, size_t len)
{
  const pai__backend_host *host = &s->task->owner->host;

  write_log(s, data, len);
  host->output(host->user_data, s->task->id, s->number, data, len);
}

/* A timer comes before the pipes when the loop was busy, so what is in them is
 * waited for once more, which takes no longer than to read it. */
static void on_drained(uv_timer_t *timer)
{
  local_task *t = timer->data;

  if (!t->drained) {
    t->drained = true;
    (void)uv_timer_start(timer, on_drained, 1, 0);
    return;
  }
  close_stream(&t->streams[0]);
  close_stream(&t->streams[1]);
  report_if_over(t);
}

static void on_exit(uv_process_t *process, int64_t status, int term_signal)
{
  local_task *t = process->data;

  t->exited = true;
  t->code = term_signal != 0 ? 128 + term_signal : (int)status;
  (void)uv_kill(-process->pid, SIGKILL); /* what it left in its group */
  uv_update_time(t->drain.loop);
  (void)uv_timer_start(&t->drain, on_drained, DRAIN_MS, 0);
  report_if_over(t);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
  local_stream *s = handle->data;
  local *l = s->task->owner;

  (void)suggested;
  *buf = uv_buf_init(l->chunk, sizeof(l->chunk));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
  local_stream *s = stream->data;
  local_task *t = s->task;

  if (n > 0) {
    take_output(s, buf->base, (size_t)n);
  } else if (n < 0) { /* its end, or as good as that */
    close_stream(s);
    report_if_over(t);
  }
}

/* A plain pipe, not libuv's socket pair: tasks may open /dev/stdout anew. */
static int open_stream(local_task *t, int i, int log_fd, uv_file *child_end)
{
  local_stream *s = &t->streams[i];
  uv_file ends[2];
  int rc;

  s->task = t;
  s->number = i + 1;
  s->log_fd = log_fd;
  rc = uv_pipe(ends, UV_NONBLOCK_PIPE, 0);
  if (rc < 0)
    return rc;
  (void)uv_pipe_init(pai__loop_uv(t->owner->host.loop), &s->pipe, 0);
  t->handles++;
  s->open = true;
  s->pipe.data = s;
  *child_end = ends[1];
  rc = uv_pipe_open(&s->pipe, ends[0]);
  if (rc < 0)
    (void)close(ends[0]);
  else
    rc = uv_read_start((uv_stream_t *)&s->pipe, on_alloc, on_read);
  return rc;
}

static int spawn(local_task *t, const pai__local_files *files, char **env,
                 const uv_file child_ends[2])
{
  char bash[] = "bash";
  char *args[] = { bash, files->script, NULL };
  uv_stdio_container_t stdio[] = {
    { .flags = UV_IGNORE },
    { .flags = UV_INHERIT_FD, .data.fd = child_ends[0] },
    { .flags = UV_INHERIT_FD, .data.fd = child_ends[1] },
  };
  uv_process_options_t options = {
    .exit_cb = on_exit,
    .file = bash,
    .args = args,
    .env = env,
    .flags = UV_PROCESS_DETACHED, /* a session, so a group to signal */
    .stdio_count = PAI__LEN(stdio),
    .stdio = stdio,
  };

  t->handles++;
  t->process.data = t;
  return uv_spawn(pai__loop_uv(t->owner->host.loop), &t->process, &options);
}

/* Makes the streams and the process; closes whatever it made if it fails. */
static int launch(local_task *t, pai__local_files *files, char **env,
                  pai_error **err)
{
  uv_file child_ends[2] = { -1, -1 };
  bool spawned = false;
  int rc = 0;

  (void)uv_timer_init(pai__loop_uv(t->owner->host.loop), &t->drain);
  t->drain.data = t;
  t->handles = 1;
  for (int i = 0; i < 2 && rc == 0; i++) {
    rc = open_stream(t, i, files->log_fds[i], &child_ends[i]);
    if (t->streams[i].open)
      files->log_fds[i] = -1; /* the stream's now */
  }
  if (rc == 0) {
    spawned = true;
    rc = spawn(t, files, env, child_ends);
  }
  for (int i = 0; i < 2; i++)
    if (child_ends[i] >= 0)
      (void)close(child_ends[i]);
  if (rc == 0)
    return PAI_OK;
  if (spawned)
    close_handle(t, (uv_handle_t *)&t->process);
  close_stream(&t->streams[0]);
  close_stream(&t->streams[1]);
  close_handle(t, (uv_handle_t *)&t->drain);
  if (rc == UV_E2BIG)
    return pai__fail(err, PAI_ELIMIT,
                     "cannot start bash: the addresses of all the job's tasks "
                     "are more than an environment holds");
  if (rc == UV_EMFILE)
    return pai__uv_fail(err, rc,
                        "cannot start bash, which takes 3 "
                        "descriptors (see ulimit -n)");
  return pai__uv_fail(err, rc, "cannot start bash");
}

static local_task *new_task(local *l, uint64_t id, const pai__plan *plan)
{
  local_task *t = pai__zalloc(l->host.alloc, sizeof(*t));

  if (t == NULL)
    return NULL;
  t->owner = l;
  t->id = id;
  t->dir = pai__strdup(l->host.alloc, plan->dir);
  if (t->dir != NULL)
    return t;
  free_task(t);
  return NULL;
}

int pai__local_task_start(local *l, uint64_t id, const pai__plan *plan,
                          pai_error **err)
{
  const pai_alloc *alloc = l->host.alloc;
  pai__local_files files;
  local_task *t = NULL;
  size_t env_count = 0;
  char **env = NULL;
  int rc;

  rc = pai__local_files_make(&files, alloc, plan, err);
  if (rc < 0)
    return rc;
  t = new_task(l, id, plan);
  env = pai__local_env(plan, alloc, &env_count);
  if (t == NULL || env == NULL ||
      pai__map_set(&l->tasks, &id, sizeof(id), t) < 0) {
    if (t != NULL)
      free_task(t);
    rc = pai__oom(err);
    goto done;
  }
  l->unfreed++;
  rc = launch(t, &files, env, err); /* from here on the loop frees t */
  if (rc < 0)
    (void)pai__map_remove(&l->tasks, &id, sizeof(id));
done:
  pai__free(alloc, env, env_count * sizeof(*env));
  pai__local_files_dispose(&files, alloc);
  return rc;
}

void pai__local_task_signal(local_task *t, int signal)
{
  if (!t->exited)
    (void)uv_kill(-t->process.pid, signal);
}
