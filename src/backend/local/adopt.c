/*
 * adopt.c - a task that another process has started, found again
 *
 * Its supervisor is told from all other processes by what it wrote, where no task
 * can write.  One of an older version wrote into the task's own folder: that file
 * gets its place, and who it names must have it open.
 */
#include "backend/local/local.h"

#include "backend/local/posix_files.h"
#include "backend/local/posix_launch.h"
#include "base/posix_fs.h"

/* Is that process what wrote the status?  An older supervisor did that where the
 * task writes, too: any process could be named there.  1; 0; -1: a shortage. */
static int is_supervisor(const local_task *t, int64_t pid)
{
  int is_of = pai__local_is_of(pid, t->who);

  if (is_of != 1 || t->who != NULL)
    return is_of;
  return pai__local_has_open(pid, t->own != NULL ? t->own : t->dir, "status");
}

/* 1: it is watched; 0: it is gone; a code. */
static int watch_again(local_task *t, const pai__status *s, pai_error **err)
{
  pai__process process;
  int64_t ticks;
  int is_of, rc;

  if (s->pid <= 0 || strcmp(s->boot, t->owner->boot) != 0)
    return 0;
  rc = pai__process_watch(&process, s->pid);
  if (rc <= 0)
    return rc == 0 ? 0 : pai__local_watch_errno(err);
  ticks = pai__local_start_ticks(s->pid);
  is_of = ticks == s->ticks ? is_supervisor(t, s->pid) : 0;
  if (ticks < 0 || is_of < 0) {
    rc = pai__local_watch_errno(err);
    pai__process_forget(&process);
    return rc;
  }
  if (is_of == 0) {
    pai__process_forget(&process); /* another process has its number now */
    return 0;
  }
  rc = pai__local_task_watch(t, LOCAL_SUPERVISOR, &process);
  return rc < 0 ? pai__uv_fail(err, rc, "cannot watch a task") : 1;
}

static int find_again(local_task *t, const pai__status *s, pai_error **err)
{
  int rc = 0;

  if (s->kind == PAI__STATUS_RUNS)
    rc = watch_again(t, s, err);
  if (rc < 0)
    return rc;
  if (rc == 0)
    rc = pai__local_task_watch_keeper(t);
  if (rc < 0)
    return pai__local_short(err);
  if (rc == 1)
    return PAI_ADOPT_RUNNING;
  t->over = true; /* told from what it wrote, maybe after `s` was read */
  pai__local_task_wake(t);
  return PAI_ADOPT_ENDED;
}

static int make_here(const local_task *t, pai_error **err)
{
  int rc;

  if (!pai__as_user(t->who))
    return pai__fail(err, PAI_EPERM, "this process cannot act for %s",
                     t->who->name);
  rc = pai__files_tombstone(t->dir, &t->owner->alloc, err);
  pai__as_self(t->who);
  return rc;
}

/* There is no status where it should be: an older supervisor has made one in the
 * task's folder, or it is made now.  1: it was; 0: there is one; a code. */
static int make_status(const local_task *t, pai_error **err)
{
  const pai_alloc *alloc = &t->owner->alloc;
  bool no_links = pai__local_hides(t->owner);
  pai_error *why = NULL;
  int rc;

  if (t->own == NULL)
    return make_here(t, err);
  rc = pai__fs_make_dirs(t->own, alloc, err);
  if (rc < 0)
    return rc;
  rc = pai__files_take_status(t->own, t->dir, t->who, no_links, &why);
  if (rc == PAI_ENOTFOUND)
    rc = pai__files_tombstone(t->own, alloc, err);
  else if (rc < 0 && err != NULL) {
    *err = why;
    why = NULL;
  }
  pai_error_free(why);
  return rc;
}

/* 1: it never runs; else it is in *s; a code. */
static int look_again(pai__status *s, const local_task *t, pai_error **err)
{
  pai_error *why = NULL;
  int rc = pai__local_task_status(s, t, &why);

  if (rc == PAI_ENOTFOUND) {
    rc = make_status(t, err);
    if (rc == 0) /* somebody was faster */
      rc = pai__local_task_status(s, t, err);
  } else if (rc < 0 && err != NULL) {
    *err = why;
    why = NULL;
  }
  pai_error_free(why);
  return rc == PAI_OK && s->kind == PAI__STATUS_NEVER ? 1 : rc;
}

int pai__local_task_adopt(local *l, uint64_t id, const char *dir,
                          pai_error **err)
{
  pai__status s = { .kind = PAI__STATUS_EMPTY };
  local_task *t;
  int rc;

  if (pai__map_get(&l->tasks, &id, sizeof(id)) != NULL)
    return pai__fail(err, PAI_EEXISTS, "task %llu is known already",
                     (unsigned long long)id);
  rc = pai__local_task_new(&t, l, id, dir, err);
  if (rc < 0)
    return rc;
  rc = look_again(&s, t, err);
  if (rc == PAI_OK)
    rc = find_again(t, &s, err);
  else if (rc == 1)
    rc = PAI_ADOPT_NEVER;
  if (rc < 0 || rc == PAI_ADOPT_NEVER)
    pai__local_task_close(t);
  return rc;
}
