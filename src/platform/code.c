/*
 * code.c - copies of users' code
 *
 * A job to come gets a copy of another one's.  What was copied or uploaded for
 * a job that never came is removed when nobody can want it any more.
 */
#include "platform/code.h"

#include "platform/fold.h"
#include "platform/like.h"
#include "platform/records.h"

#include "base/posix_fs.h"

#define MINUTE ((pai_time)60 * 1000 * 1000)
#define SWEEP_EVERY (10 * MINUTE)
#define STALE (60 * MINUTE)

struct pai__code {
  pai_platform *p;
  pai__timer *timer;
  pai__work *sweep;
  char *folder;
  bool sweeping;
  unsigned swept;
  unsigned copies; /* that are being made */
};

/* --- a copy ------------------------------------------------------------------- */

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
  pai__turn_ask(c->p->kick);
  c->cb(c->user_data, c->rc, c->to, c->err);
  free_copying(c);
}

int pai_platform_copy_code(pai_platform *p, pai_job_id job, pai_copy_cb cb,
                           void *user_data, pai_error **err)
{
  pai__like like = { 0 };
  copying *c;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(p != NULL && cb != NULL, err);
  PAI__CHECK_PROCESS(p, err);
  if (p->store == NULL)
    return pai__fail(err, PAI_ENOTSUP, "the platform keeps no records");
  if (p->closing)
    return pai__fail(err, PAI_EBUSY, "the platform is closing");
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

/* --- what is left ---------------------------------------------------------------- */

static void sweep(void *user_data)
{
  struct pai__code *c = user_data;

  c->swept = pai__code_sweep(c->folder, &c->p->alloc, STALE);
}

static void on_swept(void *user_data)
{
  struct pai__code *c = user_data;

  c->sweeping = false;
  if (c->swept > 0)
    pai__log_line(&c->p->log, PAI_LOG_INFO,
                  "%u copies of code, of jobs that never came, are removed",
                  c->swept);
  pai__timer_start(c->timer, SWEEP_EVERY);
  pai__turn_ask(c->p->kick);
}

static void on_due(void *user_data)
{
  struct pai__code *c = user_data;

  if (c->p->closing)
    return;
  c->sweeping = true;
  pai__work_start(c->sweep);
}

int pai__code_open(pai_platform *p, pai_error **err)
{
  struct pai__code *c = pai__zalloc(&p->alloc, sizeof(*c));

  p->code = c;
  if (c == NULL)
    return pai__oom(err);
  c->p = p;
  c->folder = pai__fs_join(p->root, "code", &p->alloc);
  if (c->folder == NULL ||
      pai__timer_new(&c->timer, &p->alloc, p->loop, on_due, c) < 0 ||
      pai__work_new(&c->sweep, &p->alloc, p->loop, sweep, on_swept, c) < 0)
    return pai__oom(err);
  pai__timer_start(c->timer, 0);
  return PAI_OK;
}

bool pai__code_is_idle(const pai_platform *p)
{
  return p->code == NULL || (!p->code->sweeping && p->code->copies == 0);
}

void pai__code_close(pai_platform *p)
{
  struct pai__code *c = p->code;

  if (c == NULL)
    return;
  pai__timer_close(c->timer);
  pai__work_close(c->sweep);
  pai__strfree(&p->alloc, c->folder);
  pai__free(&p->alloc, c, sizeof(*c));
  p->code = NULL;
}
