/*
 * follow.c - tells what a task writes, from its log files
 *
 * A log that was full is STREAM.1 now and another one is STREAM: a file is read
 * to its end before the next is begun.  Files know each other by their inodes.
 * When two were filled while one was read, the one between is gone.
 */
#include "backend/local/local.h"

#include "backend/local/posix_files.h"
#include "backend/local/posix_launch.h"

/* What one turn tells of a stream at most: the loop has more to do. */
enum { CHUNKS = 4, LOOK_MS = 100 };

static const char *const names[2][2] = { { "stdout", "stdout.1" },
                                         { "stderr", "stderr.1" } };

static bool may_tell(const local_task *t)
{
  return t->follow && !t->closing;
}

/* Opens the file that comes after the one that is read; false: there is none
 * yet. */
static bool open_next(local_task *t, int i)
{
  local_stream *s = &t->streams[i];
  uint64_t old = pai__files_inode(t->dir, names[i][1]), inode;
  bool first = s->fd < 0, lost;
  int fd;

  if (!first && pai__files_inode(t->dir, names[i][0]) == s->inode)
    return false;
  /* After the one before: that is STREAM.1, unless it was removed. */
  lost = !first && old != s->inode && old != 0;
  fd = pai__files_open(t->dir, names[i][old == 0 || old == s->inode ? 0 : 1],
                       &inode);
  t->lacking |= fd < 0 && pai__local_is_short();
  if (fd < 0)
    return false;
  if (lost)
    pai__log_line(&t->owner->log, PAI_LOG_WARNING,
                  "the %s of a task grows faster than it is told: some of it "
                  "may be missing here and in %s",
                  names[i][0], t->dir);
  pai__files_close(s->fd);
  s->fd = fd;
  s->inode = inode;
  return true;
}

/* One piece; 1: told; 0: nothing new; -1: the file's successor is there. */
static int tell_piece(local_task *t, int i)
{
  local *l = t->owner;
  local_stream *s = &t->streams[i];
  uint64_t now;
  long n = 0;

  if (s->fd >= 0) {
    now = pai__files_inode(t->dir, names[i][0]);
    n = pai__files_read(s->fd, l->chunk, sizeof(l->chunk));
    if (n <= 0 && now == s->inode)
      return 0;
  }
  if (n <= 0)
    return open_next(t, i) ? -1 : 0;
  l->host.output(l->host.user_data, t->id, i + 1, l->chunk, (size_t)n);
  return 1;
}

/* By turns, as much of one as of the other. */
bool pai__local_follow_more(local_task *t)
{
  bool more = may_tell(t);

  t->lacking = false;
  for (int k = 0; k < CHUNKS && more; k++) {
    more = false;
    for (int i = 0; i < 2 && may_tell(t); i++)
      more |= tell_piece(t, i) != 0;
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

/* By inotify, of which a user has but so much; else from time to time. */
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

/* Only what comes from now on. */
static void pass_by(local_task *t)
{
  for (int i = 0; i < 2; i++) {
    local_stream *s = &t->streams[i];
    if (s->fd < 0)
      s->fd = pai__files_open(t->dir, names[i][0], &s->inode);
    pai__files_to_end(s->fd);
  }
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
  for (int i = 0; i < 2; i++) {
    pai__files_close(t->streams[i].fd);
    t->streams[i].fd = -1;
  }
}
