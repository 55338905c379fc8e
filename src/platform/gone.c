/*
 * gone.c - a root that was deleted
 *
 * The lock's file is there as long as the root is.  Without it nobody finds
 * this platform, and the next one of this root knows nothing of its jobs.
 */
#include "platform/platform.h"

#include "base/posix_fs.h"

enum { LOOK_EVERY = 5000000 /* where the kernel does not tell */ };

static void on_change(void *user_data)
{
  pai_platform *p = user_data;

  if (p->gone || p->closing)
    return;
  if (!pai__platform_lock_is_gone(p->lock)) {
    if (p->gone_watch == NULL)
      pai__timer_start(p->gone_timer, LOOK_EVERY);
    return;
  }
  p->gone = true;
  pai__log_line(&p->log, PAI_LOG_ERROR,
                "the root %s was deleted: nothing is stored from now on",
                p->root);
  p->on_gone(p->user_data);
}

int pai__gone_open(pai_platform *p, pai_error **err)
{
  char *path;
  int rc;

  if (p->on_gone == NULL || p->lock < 0)
    return PAI_OK;
  path = pai__fs_join(p->root, "lock", &p->alloc);
  if (path == NULL)
    return pai__oom(err);
  rc = pai__watch_new(&p->gone_watch, &p->alloc, p->loop, path, on_change, p);
  pai__strfree(&p->alloc, path);
  if (rc == PAI_EIO) {
    rc = pai__timer_new(&p->gone_timer, &p->alloc, p->loop, on_change, p);
    if (rc == PAI_OK)
      pai__timer_start(p->gone_timer, LOOK_EVERY);
  }
  return rc < 0 ? pai__oom(err) : PAI_OK;
}

void pai__gone_close(pai_platform *p)
{
  pai__watch_close(p->gone_watch);
  pai__timer_close(p->gone_timer);
}
