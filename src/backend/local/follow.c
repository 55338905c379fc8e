/*
 * follow.c - passes on a task's output from its log
 *
 * For a supervisor of an older version, stdout and stderr are logs of their
 * own.
 */
#include "backend/local/local.h"

#include "backend/local/posix_launch.h"

/* Limits of one step, to let other handles of the loop run. */
enum { CHUNKS = 4, LOOK_MS = 100, LOGS = 2 };

void pai__local_follow_init(local_task *t)
{
  for (int i = 0; i < LOGS; i++)
    pai__task_log_init_pieces(&t->logs[i]);
}

static bool may_tell(const local_task *t)
{
  return t->follow && !t->closing;
}

/* Opens logs that exist and are not open yet. */
static void open_logs(local_task *t)
{
  bool old = t->logs[0].only == 0 || pai__task_log_is_old(t->dir);
  uint64_t gone;
  int rc;

  if (old && t->logs[0].only < 0) {
    (void)pai__task_log_init(&t->logs[0], "stdout");
    (void)pai__task_log_init(&t->logs[1], "stderr");
  }
  for (int i = 0; i < (old ? LOGS : 1); i++) {
    if (t->logs[i].fd >= 0)
      continue;
    rc = pai__task_log_open(&t->logs[i], t->dir, NULL, &gone, NULL);
    t->lacking |= rc == PAI_EBUSY || rc == PAI_ENOMEM;
  }
}

static bool tell(void *user_data, int stream, const char *piece, size_t len)
{
  local_task *t = user_data;
  local *l = t->owner;

  l->host.output(l->host.user_data, t->id, stream + 1, piece, len);
  return may_tell(t);
}

/* True: there may be more. */
static bool tell_piece(local_task *t, pai__task_log *log)
{
  local *l = t->owner;
  int rc;

  if (log->fd < 0)
    return false;
  rc = pai__task_log_pieces(log, t->dir, l->chunk, sizeof(l->chunk), tell, t);
  t->lacking |= rc == PAI_EBUSY;
  if (log->missed && !t->lost) {
    t->lost = true;
    pai__log_line(&l->log, PAI_LOG_WARNING,
                  "a task writes output faster than it can be read: parts may "
                  "be missing here and in %s",
                  t->dir);
  }
  return rc > 0;
}

/* Reads the logs in turn, the same amount of each. */
bool pai__local_follow_more(local_task *t)
{
  bool more = may_tell(t);

  t->lacking = false;
  if (more)
    open_logs(t);
  for (int k = 0; k < CHUNKS && more; k++) {
    more = false;
    for (int i = 0; i < LOGS && may_tell(t); i++)
      more |= tell_piece(t, &t->logs[i]);
  }
  return more && may_tell(t);
}

static void on_change(uv_fs_event_t *events, const char *name, int what,
                      int status)
{
  (void)name;
  (void)what;
  (void)status;
  pai__local_task_wake(events->data);
}

static void on_look(uv_timer_t *look)
{
  pai__local_task_wake(look->data);
}

static void on_closed(uv_handle_t *handle)
{
  pai__local_task_handle_closed(handle->data);
}

static void close_events(local_task *t)
{
  if (t->noticing)
    uv_close((uv_handle_t *)&t->events, on_closed);
  t->noticing = false;
}

/* Watches the folder by inotify; if the user has no watches left, polls. */
static void notice(local_task *t)
{
  uv_loop_t *uv = pai__loop_uv(t->owner->host.loop);

  if (t->noticing || t->looking || t->over)
    return;
  if (uv_fs_event_init(uv, &t->events) == 0) {
    t->events.data = t;
    t->handles++;
    t->noticing = true;
    if (uv_fs_event_start(&t->events, on_change, t->dir, 0) == 0)
      return;
    close_events(t);
  }
  (void)uv_timer_init(uv, &t->look); /* cannot fail */
  t->look.data = t;
  t->handles++;
  t->looking = true;
  (void)uv_timer_start(&t->look, on_look, LOOK_MS, LOOK_MS);
}

/* Skips the present output. */
static void pass_by(local_task *t)
{
  open_logs(t);
  for (int i = 0; i < LOGS; i++)
    if (t->logs[i].fd >= 0)
      pai__task_log_to_end(&t->logs[i], t->dir);
}

int pai__local_follow(local_task *t, int from, pai_error **err)
{
  if (from == PAI_FOLLOW_OFF) {
    t->follow = false;
    return PAI_OK;
  }
  if (from != PAI_FOLLOW_ALL && from != PAI_FOLLOW_NEW)
    return pai__fail(err, PAI_EINVAL, "follow() was called with %d", from);
  notice(t);
  if (from == PAI_FOLLOW_NEW)
    pass_by(t);
  t->follow = true;
  pai__local_task_wake(t);
  return PAI_OK;
}

void pai__local_follow_end(local_task *t)
{
  t->follow = false;
  close_events(t);
  if (t->looking)
    uv_close((uv_handle_t *)&t->look, on_closed);
  t->looking = false;
  for (int i = 0; i < LOGS; i++)
    pai__task_log_close(&t->logs[i]);
}
