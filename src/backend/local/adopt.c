/*
 * adopt.c - adopts a task that another process has started
 *
 * Its supervisor is identified by the status, which is where no task can
 * write.  A supervisor of an older version wrote it into the task's folder:
 * that file is linked to the new place, and the process that it names must
 * have it open.
 */
#include "backend/local/local.h"

#include "backend/local/posix_files.h"
#include "backend/local/posix_launch.h"
#include "base/os/posix_fs.h"

/* Returns whether that process wrote the status.  An older supervisor did that
 * where the task can write, too, so any process could be named there. 1; 0;
 * -1: a shortage. */
static int is_supervisor(const local_task *t, int64_t pid)
{
  int is_of = pai__local_is_of(pid, t->who);

  if (is_of != 1 || t->who != NULL)
    return is_of;
  return pai__local_has_open(pid, t->own != NULL ? t->own : t->dir, "status");
}

/* 1: it is watched; 0: it has ended; or an error code. */
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
    pai__process_forget(&process); /* its pid was reused */
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
  t->over = true; /* reported from the status, which may have changed after `s`
                     was read */
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

/* The status is missing: an older supervisor has made one in the task's
 * folder, or a tombstone is made now. 1: it was made; 0: there is one; or an
 * error code. */
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

/* 1: the task never runs; else *s is the status; or an error code. */
static int look_again(pai__status *s, const local_task *t, pai_error **err)
{
  pai_error *why = NULL;
  int rc = pai__local_task_status(s, t, &why);

  if (rc == PAI_ENOTFOUND) {
    rc = make_status(t, err);
    if (rc == 0) /* another process was faster */
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
    return pai__fail(err, PAI_EEXISTS, "task %llu is already known",
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
