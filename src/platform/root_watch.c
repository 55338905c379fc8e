/*
 * root_watch.c - watches for the deletion of the platform's root
 *
 * The lock's file exists as long as the root does.  Without the root no client
 * finds this platform, and the next one of this root does not know its jobs.
 */
#include "platform/platform.h"

#include "base/os/posix_fs.h"

enum { LOOK_EVERY = 5000000 /* where files cannot be watched */ };

static void on_change(void *user_data)
{
  pai_platform *p = user_data;

  if (p->root_gone || p->closing)
    return;
  if (!pai__platform_lock_is_gone(p->lock)) {
    if (p->root_watch == NULL)
      pai__timer_start(p->root_timer, LOOK_EVERY);
    return;
  }
  p->root_gone = true;
  pai__log_line(&p->log, PAI_LOG_ERROR,
                "the root %s was deleted: nothing is stored from now on",
                p->root);
  p->on_gone(p->user_data);
}

int pai__root_watch_open(pai_platform *p, pai_error **err)
{
  char *path;
  int rc;

  if (p->on_gone == NULL || p->lock < 0)
    return PAI_OK;
  path = pai__fs_join(p->root, "lock", &p->alloc);
  if (path == NULL)
    return pai__oom(err);
  rc = pai__watch_new(&p->root_watch, &p->alloc, p->loop, path, on_change, p);
  pai__strfree(&p->alloc, path);
  if (rc == PAI_EIO) {
    rc = pai__timer_new(&p->root_timer, &p->alloc, p->loop, on_change, p);
    if (rc == PAI_OK)
      pai__timer_start(p->root_timer, LOOK_EVERY);
  }
  return rc < 0 ? pai__oom(err) : PAI_OK;
}

void pai__root_watch_close(pai_platform *p)
{
  pai__watch_close(p->root_watch);
  pai__timer_close(p->root_timer);
}
