/*
 * load.c - restores a job's state from bytes
 *
 * The bytes may come from a broken disk.  Only a state that the fold can
 * continue is accepted: its invariants are checked here, one by one.
 */
#include "job/inside.h"
#include "job/save.h"
#include "job/save_form.h"

uint8_t pai__take_u8(pai__taker *t)
{
  if (t->left < 1) {
    t->bad = true;
    t->left = 0;
    return 0;
  }
  t->left--;
  return *t->at++;
}

uint32_t pai__take_u32(pai__taker *t)
{
  uint32_t v = 0;

  for (int i = 0; i < 4; i++)
    v |= (uint32_t)pai__take_u8(t) << (8 * i);
  return t->bad ? 0 : v;
}

static uint64_t take_u64(pai__taker *t)
{
  uint64_t low = pai__take_u32(t);

  return low | (uint64_t)pai__take_u32(t) << 32;
}

/* --- reading ------------------------------------------------------------- */

/* Totals of a role's tasks. */
typedef struct sums {
  uint32_t tasks, well, badly;
} sums;

typedef struct loader {
  pai__job *job;
  sums *sums;         /* one for each role */
  uint32_t backoffs;  /* tasks that wait for a retry */
  uint32_t placed;    /* tasks to be started */
  uint32_t unsettled; /* tasks neither alive nor done */
  pai_error **err;
} loader;

static int refuse(const loader *l, const char *what)
{
  return pai__fail(l->err, PAI_EINVAL, "the saved job is invalid: %s", what);
}

static int check_version(const loader *l, uint8_t version)
{
  if (version > PAI__SAVED_VERSION)
    return pai__fail(l->err, PAI_ENOTSUP,
                     "this job was saved by a newer version (%u)", version);
  return version == 0 ? refuse(l, "it has no version") : PAI_OK;
}

static void take_roles(pai__job *job, pai__taker *from)
{
  for (uint32_t r = 0; r < job->form->nroles; r++) {
    pai__job_role *role = pai__job_role_at(job, r);

    role->tasks = pai__take_u32(from);
    role->well = pai__take_u32(from);
    role->badly = pai__take_u32(from);
  }
}

/* Reads everything but roles and tasks, which have no memory yet. */
static int take_head(loader *l, pai__taker *from, uint32_t ntasks)
{
  pai__job *job = l->job;
  uint8_t version = pai__take_u8(from), flags;

  if (check_version(l, version) < 0)
    return version == 0 ? PAI_EINVAL : PAI_ENOTSUP;
  job->state = pai__take_u8(from);
  job->todo = pai__take_u8(from);
  job->hasty = pai__take_u8(from);
  flags = pai__take_u8(from);
  job->asked = (flags & PAI__SAVED_ASKED) != 0;
  job->decided = (flags & PAI__SAVED_DECIDED) != 0;
  job->stop_asked = (flags & PAI__SAVED_STOP) != 0;
  job->preempting = (flags & PAI__SAVED_PREEMPTING) != 0;
  if (pai__take_u32(from) != job->form->nroles)
    return refuse(l, "it has other task roles");
  job->ntasks = pai__take_u32(from);
  if (job->ntasks != ntasks)
    return refuse(l, "it has more tasks, or fewer");
  job->attempt = pai__take_u32(from);
  job->retries = pai__take_u32(from);
  job->counted = pai__take_u32(from);
  job->preempted = pai__take_u32(from);
  job->trigger = pai__take_u32(from);
  job->code = (int)pai__take_u32(from);
  job->prng.state = take_u64(from);
  job->began = (pai_time)take_u64(from);
  job->due = (pai_time)take_u64(from);
  return from->left == (size_t)job->form->nroles * PAI__SAVED_ROLE
           ? PAI_OK
           : refuse(l, "its header has a wrong length");
}

uint32_t pai__job_saved_tasks(pai__bytes head)
{
  pai__taker from = { head.data, head.len, false };

  for (int i = 0; i < 5; i++) /* version, state, todo, hasty, flags */
    (void)pai__take_u8(&from);
  (void)pai__take_u32(&from);
  return pai__take_u32(&from);
}

static int take_task(loader *l, pai__taker from, pai__task *t)
{
  uint8_t version = pai__take_u8(&from);

  if (check_version(l, version) < 0)
    return version == 0 ? PAI_EINVAL : PAI_ENOTSUP;
  t->state = pai__take_u8(&from);
  t->todo = pai__take_u8(&from);
  t->flags = pai__take_u8(&from);
  t->hasty = pai__take_u8(&from);
  t->role = pai__take_u32(&from);
  t->index = pai__take_u32(&from);
  t->code = (int)pai__take_u32(&from);
  t->retries = pai__take_u32(&from);
  t->counted = pai__take_u32(&from);
  t->time = (pai_time)take_u64(&from);
  return !from.bad && from.left == 0 ? PAI_OK
                                     : refuse(l, "a task has a wrong length");
}

/* --- invariants ---------------------------------------------------------- */

/* Returns whether a task in this state may have this action. */
static bool fits(const pai__task *t)
{
  switch ((enum pai__action_kind)t->todo) {
  case PAI__DO_NOTHING: return t->state != PAI__TASK_PLACED;
  case PAI__DO_START: return t->state == PAI__TASK_PLACED;
  case PAI__DO_STOP:
  case PAI__DO_KILL: return t->state == PAI__TASK_ENDING;
  case PAI__DO_QUEUE:
  case PAI__DO_RESUME: return t->state == PAI__TASK_WAITING;
  case PAI__DO_RETURN:
    return t->state == PAI__TASK_WAITING || t->state == PAI__TASK_BACKOFF;
  case PAI__DO_RELEASE:
    return t->state == PAI__TASK_DONE || t->state == PAI__TASK_GONE;
  case PAI__DO_WAIT:
  case PAI__DO_FINISH: break;
  }
  return false;
}

static int check_task(loader *l, const pai__task *t)
{
  const pai__job_role *role;
  bool gone = t->state == PAI__TASK_GONE, extra;
  sums *s;

  if (t->role >= l->job->form->nroles)
    return refuse(l, "a task has no role");
  s = &l->sums[t->role];
  if (t->index != s->tasks++)
    return refuse(l, "tasks of a role are out of order");
  if (t->state < PAI__TASK_WAITING || t->state > PAI__TASK_GONE || !fits(t) ||
      t->flags > 15 || t->counted > t->retries || !pai__is_time(t->time))
    return refuse(l, "a task has an invalid state");
  role = pai__job_role_at(l->job, t->role);
  extra = t->index >= role->tasks;
  if ((gone && !extra) ||
      (extra && !gone &&
       !(pai__task_is_alive(t) && (t->flags & PAI__TASK_REMOVED) != 0)))
    return refuse(l, "a task that its role does not have");
  s->well += t->state == PAI__TASK_DONE && t->code == 0;
  s->badly += t->state == PAI__TASK_DONE && t->code != 0;
  l->backoffs += t->state == PAI__TASK_BACKOFF;
  l->placed += t->state == PAI__TASK_PLACED;
  l->unsettled += !pai__task_is_alive(t) && t->state < PAI__TASK_DONE;
  l->job->alive += pai__task_is_alive(t);
  l->job->busy += t->todo != PAI__DO_NOTHING;
  return PAI_OK;
}

/* Checks that counts agree with the tasks, where that is required. */
static int check_roles(loader *l)
{
  pai__job *job = l->job;
  bool counts = job->state == PAI__JOB_STARTING ||
                job->state == PAI__JOB_RUNNING ||
                (job->state == PAI__JOB_QUEUED && job->form->partial &&
                 !pai__job_is_to(job, PAI__DO_RETURN));
  uint64_t wanted = 0, done = 0;

  for (uint32_t r = 0; r < job->form->nroles; r++) {
    const pai__job_role *role = pai__job_role_at(job, r);
    const sums *s = &l->sums[r];

    if (role->tasks > s->tasks || role->well > s->tasks ||
        role->badly > s->tasks)
      return refuse(l, "a role has more tasks than there are");
    if (counts && (role->well != s->well || role->badly != s->badly))
      return refuse(l, "a role has wrong counters of tasks");
    wanted += role->tasks;
    done += (uint64_t)role->well + role->badly;
  }
  job->wanted = (uint32_t)wanted; /* tasks that exist */
  job->done = (uint32_t)done;
  return PAI_OK;
}

static bool fits_state(const loader *l)
{
  const pai__job *job = l->job;
  bool starts = l->placed > 0 || l->backoffs > 0; /* without another event */

  switch ((enum pai__job_state)job->state) {
  case PAI__JOB_QUEUED:
    return job->alive == 0 && !job->decided && !job->preempting && !starts;
  case PAI__JOB_BACKOFF:
    return job->alive == 0 && !job->decided && !job->preempting && !starts &&
           job->due != INT64_MAX;
  case PAI__JOB_STARTING:
  case PAI__JOB_RUNNING:
    return !job->decided &&
           (!job->preempting ||
            (job->alive > 0 && !job->form->partial && !starts));
  case PAI__JOB_ENDING:
    return job->decided && job->alive > 0 && l->unsettled == 0 &&
           !job->preempting;
  case PAI__JOB_DONE:
    return job->decided && job->alive == 0 && l->unsettled == 0 &&
           !job->preempting;
  }
  return false;
}

static int check_job(loader *l)
{
  const pai__job *job = l->job;
  bool waits = job->due != INT64_MAX;

  if (!fits_state(l) || (job->todo & ~0x7eu) != 0 ||
      job->counted > job->retries || (job->stop_asked && !job->decided) ||
      !pai__is_time(job->began) || (waits && !pai__is_time(job->due)))
    return refuse(l, "its state");
  if (job->trigger != PAI__NO_TASK && job->trigger >= job->ntasks)
    return refuse(l, "a task that it does not have decided its end");
  if (!waits && (l->backoffs > 0 || pai__job_is_to(l->job, PAI__DO_WAIT)))
    return refuse(l, "it waits without a time");
  return PAI_OK;
}

/* --- the whole state ----------------------------------------------------- */

static int take_all(loader *l, pai__taker *head, const pai__bytes *tasks)
{
  pai__job *job = l->job;
  int rc = PAI_OK;

  take_roles(job, head);
  for (uint32_t i = 0; i < job->ntasks && rc == PAI_OK; i++) {
    pai__taker from = { tasks[i].data, tasks[i].len, false };

    rc = take_task(l, from, pai__job_task_at(job, i));
    if (rc == PAI_OK)
      rc = check_task(l, pai__job_task_at(job, i));
  }
  if (rc == PAI_OK)
    rc = check_roles(l);
  return rc == PAI_OK ? check_job(l) : rc;
}

/* Allocates tasks and roles; they are freed with the job. */
static int make_room(loader *l)
{
  pai__job *job = l->job;
  uint32_t nroles = job->form->nroles;

  job->inside = nroles == 1 && job->ntasks == 1;
  l->sums = pai__zalloc(job->alloc, nroles * sizeof(*l->sums));
  if (l->sums == NULL)
    return PAI_ENOMEM;
  if (job->inside)
    return PAI_OK;
  job->at.many.tasks = pai__zalloc(
    job->alloc, (job->ntasks > 0 ? job->ntasks : 1) * sizeof(pai__task));
  if (nroles > 1)
    job->at.many.roles =
      pai__zalloc(job->alloc, nroles * sizeof(pai__job_role));
  return job->at.many.tasks != NULL &&
             (nroles == 1 || job->at.many.roles != NULL)
           ? PAI_OK
           : PAI_ENOMEM;
}

int pai__job_restore(pai__job *job, const pai_alloc *alloc,
                     const pai__job_form *form, pai__bytes head,
                     const pai__bytes *tasks, uint32_t ntasks, pai_error **err)
{
  pai__taker from = { head.data, head.len, false };
  loader l = { .job = job, .err = err };
  int rc;

  *job = (pai__job){ .form = form, .alloc = alloc };
  rc = take_head(&l, &from, ntasks);
  if (rc < 0) {
    *job = (pai__job){ 0 };
    return rc;
  }
  rc = make_room(&l);
  rc = rc < 0 ? pai__oom(err) : take_all(&l, &from, tasks);
  pai__free(alloc, l.sums, form->nroles * sizeof(*l.sums));
  if (rc < 0) {
    pai__job_dispose(job);
    *job = (pai__job){ 0 };
  }
  return rc;
}
