/*
 * code.c - copies of users' code, and removal of folders
 *
 * A new job may get a copy of another job's code.  Copies and uploads whose job
 * was never submitted are removed after an hour.  Folders, which may have any
 * number of files, are removed in another thread.  They are moved to ROOT/trash
 * first, so that the next start removes the rest.  A folder that cannot be
 * moved is removed in place, and no new job gets it meanwhile.
 */
#include "platform/files/code.h"

#include "platform/records/fold.h"
#include "platform/restore/resubmit.h"
#include "platform/records/records.h"

#include "base/os/posix_fs.h"

#define MINUTE ((pai_time)60 * 1000 * 1000)
#define SWEEP_EVERY (10 * MINUTE)
#define STALE (60 * MINUTE)

/* A folder that is removed in place. */
typedef struct leaving {
  struct leaving *next;
  char *path;
} leaving;

struct pai__code {
  pai_platform *p;
  pai__timer *timer;
  pai__work *sweep;
  char *folder, *trash;
  leaving *to_leave; /* for the next sweep */
  leaving *in_hand;  /* of the present sweep; read by the other thread */
  bool sweeping;
  bool more; /* there are new folders since the sweep began */
  atomic_bool stop;
  unsigned swept;
  unsigned copies; /* number of copies under way */
};

/* --- a copy --------------------------------------------------------------- */

typedef struct copying {
  pai_platform *p;
  pai__work *work;
  char *from, *to;
  pai_copy_cb cb;
  void *user_data;
  int rc;
  pai_error *err;
} copying;

static void free_copying(copying *c)
{
  const pai_alloc *alloc = &c->p->alloc;

  pai__work_close(c->work);
  pai__strfree(alloc, c->from);
  pai__strfree(alloc, c->to);
  pai_error_free(c->err);
  pai__free(alloc, c, sizeof(*c));
}

static void copy(void *user_data)
{
  copying *c = user_data;

  c->rc =
    pai__code_copy(&c->to, &c->p->alloc, c->from, c->p->code->folder, &c->err);
}

static void on_copied(void *user_data)
{
  copying *c = user_data;

  c->p->code->copies--;
  pai__loop_step_ask(c->p->kick);
  c->cb(c->user_data, c->rc, c->to, c->err);
  free_copying(c);
}

int pai_platform_copy_code(pai_platform *p, pai_job_id job, pai_copy_cb cb,
                           void *user_data, pai_error **err)
{
  pai__platform_like like = { 0 };
  copying *c;
  int rc;

  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(cb != NULL, err);
  rc = pai__check_open(p, err);
  if (rc < 0)
    return rc;
  rc = pai__like_find(&like, p, job, err);
  if (rc == PAI_OK && !like.has_code)
    rc = pai__fail(err, PAI_ENOTFOUND, "the job has no copy of its code");
  if (rc < 0) {
    pai__like_dispose(&like, p);
    return rc;
  }
  c = pai__zalloc(&p->alloc, sizeof(*c));
  if (c != NULL) {
    *c = (copying){ .p = p, .cb = cb, .user_data = user_data };
    c->from = like.work_dir;
    like.work_dir = NULL;
  }
  pai__like_dispose(&like, p);
  if (c == NULL)
    return pai__oom(err);
  if (pai__work_new(&c->work, &p->alloc, p->loop, copy, on_copied, c) < 0) {
    free_copying(c);
    return pai__oom(err);
  }
  p->code->copies++;
  pai__work_start(c->work);
  return PAI_OK;
}

/* --- removal -------------------------------------------------------------- */

static void sweep(void *user_data)
{
  struct pai__code *c = user_data;

  for (const leaving *l = c->in_hand; l != NULL; l = l->next)
    pai__platform_remove_tree(l->path, &c->stop);
  pai__platform_empty_trash(c->trash, &c->p->alloc, &c->stop);
  c->swept = pai__code_sweep(c->folder, &c->p->alloc, STALE, &c->stop);
}

static void start_sweep(struct pai__code *c)
{
  if (c->sweeping || c->p->closing)
    return;
  c->more = false;
  c->sweeping = true;
  c->in_hand = c->to_leave;
  c->to_leave = NULL;
  pai__work_start(c->sweep);
}

static void forget(struct pai__code *c, leaving **first)
{
  while (*first != NULL) {
    leaving *one = *first;

    *first = one->next;
    pai__strfree(&c->p->alloc, one->path);
    pai__free(&c->p->alloc, one, sizeof(*one));
  }
}

static void on_swept(void *user_data)
{
  struct pai__code *c = user_data;

  c->sweeping = false;
  forget(c, &c->in_hand);
  if (c->swept > 0)
    pai__log_line(&c->p->log, PAI_LOG_INFO,
                  "removed %u copies of code whose jobs were never submitted",
                  c->swept);
  pai__timer_start(c->timer, SWEEP_EVERY);
  if (c->more)
    start_sweep(c);
  pai__platform_hurry(c->p); /* callers may wait for room on a full disk */
}

static void on_due(void *user_data)
{
  start_sweep(user_data);
}

static bool has_path(const leaving *l, const char *path)
{
  while (l != NULL && strcmp(l->path, path) != 0)
    l = l->next;
  return l != NULL;
}

bool pai__code_is_leaving(const pai_platform *p, const char *path)
{
  return p->code != NULL && (has_path(p->code->to_leave, path) ||
                             has_path(p->code->in_hand, path));
}

/* Leaves a folder to the next sweep.  False: out of memory, or closing. */
static bool leave_later(struct pai__code *c, const char *path)
{
  leaving *l = c->p->closing ? NULL : pai__zalloc(&c->p->alloc, sizeof(*l));

  if (l == NULL)
    return false;
  l->path = pai__strdup(&c->p->alloc, path);
  l->next = c->to_leave;
  c->to_leave = l;
  if (l->path != NULL)
    return true;
  c->to_leave = l->next;
  pai__free(&c->p->alloc, l, sizeof(*l));
  return false;
}

void pai__code_remove(pai_platform *p, const char *path)
{
  struct pai__code *c = p->code;

  if (path == NULL || pai__code_is_leaving(p, path))
    return;
  if (c == NULL || (!pai__platform_trash(c->trash, path, &p->alloc) &&
                    !leave_later(c, path))) {
    pai__platform_remove_tree(path, NULL);
    return;
  }
  c->more = true;
  start_sweep(c);
}

int pai_platform_remove_code(pai_platform *p, const char *dir, pai_error **err)
{
  size_t len;

  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(dir != NULL, err);
  if (p->code == NULL)
    return pai__no_records(err);
  len = strlen(p->code->folder);
  if (strncmp(dir, p->code->folder, len) != 0 ||
      strncmp(dir + len, "/new-", 5) != 0 ||
      strchr(dir + len + 1, '/') != NULL)
    return pai__fail(err, PAI_EINVAL,
                     "%s is not a copy of code for a new job: these are "
                     "%s/new-*",
                     dir, p->code->folder);
  pai__code_remove(p, dir);
  return PAI_OK;
}

int pai__code_open(pai_platform *p, pai_error **err)
{
  struct pai__code *c = pai__zalloc(&p->alloc, sizeof(*c));

  p->code = c;
  if (c == NULL)
    return pai__oom(err);
  c->p = p;
  c->folder = pai__fs_join(p->root, "code", &p->alloc);
  c->trash = pai__fs_join(p->root, "trash", &p->alloc);
  if (c->folder == NULL || c->trash == NULL ||
      pai__timer_new(&c->timer, &p->alloc, p->loop, on_due, c) < 0 ||
      pai__work_new(&c->sweep, &p->alloc, p->loop, sweep, on_swept, c) < 0)
    return pai__oom(err);
  pai__platform_make_trash(c->trash);
  pai__timer_start(c->timer, 0);
  return PAI_OK;
}

void pai__code_stop(pai_platform *p)
{
  if (p->code != NULL)
    atomic_store(&p->code->stop, true);
}

bool pai__code_is_idle(const pai_platform *p)
{
  return p->code == NULL || (!p->code->sweeping && p->code->copies == 0);
}

bool pai__code_is_removing(const pai_platform *p)
{
  return p->code != NULL && p->code->sweeping;
}

void pai__code_close(pai_platform *p)
{
  struct pai__code *c = p->code;

  if (c == NULL)
    return;
  pai__timer_close(c->timer);
  pai__work_close(c->sweep);
  forget(c, &c->to_leave);
  forget(c, &c->in_hand);
  pai__strfree(&p->alloc, c->folder);
  pai__strfree(&p->alloc, c->trash);
  pai__free(&p->alloc, c, sizeof(*c));
  p->code = NULL;
}
