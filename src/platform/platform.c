/*
 * platform.c - pai_platform: its life, its jobs, and the kick
 *
 * One rule keeps callbacks simple: all of them come from on_kick() or from
 * the back end, which are called by the loop.  Calls of the public API change
 * state and ask for a kick.
 */
#include "platform/platform.h"

#include "base/buf.h"
#include "base/posix_fs.h"
#include "resource/machine.h"

static void free_job(pai__pjob *j)
{
  const pai_alloc *alloc = &j->platform->alloc;
  size_t ntasks = j->job != NULL ? j->job->ntasks : 0;

  pai__timer_close(j->grace);
  pai__timer_close(j->retry);
  pai__free(alloc, j->told, ntasks + 1);
  pai__free(alloc, j->nodes, ntasks * sizeof(*j->nodes));
  pai__strfree(alloc, j->why);
  pai__strfree(alloc, j->dir);
  pai__job_free(j->job);
  pai__free(alloc, j, sizeof(*j));
}

static void free_platform(pai_platform *p)
{
  pai_alloc alloc = p->alloc;

  for (size_t i = 0; i < p->njobs; i++)
    free_job(p->jobs[i]);
  pai__free(&alloc, p->jobs, p->jobs_cap * sizeof(*p->jobs));
  pai__timer_close(p->kick);
  pai__sched_free(p->sched);
  pai__strfree(&alloc, p->jobs_dir);
  pai__strfree(&alloc, p->user);
  pai__free(&alloc, p, sizeof(*p));
}

static void on_backend_closed(void *user_data)
{
  pai_platform *p = user_data;
  pai_closed_cb closed = p->closed;
  void *closed_data = p->closed_data;

  for (size_t i = 0; i < p->njobs; i++)
    pai__platform_tell(p->jobs[i]);
  free_platform(p);
  if (closed != NULL)
    closed(closed_data);
}

static void close_backend(pai_platform *p)
{
  p->backend_closing = true;
  for (size_t i = 0; i < p->njobs; i++)
    if (p->jobs[i]->job->state != PAI__JOB_DONE) {
      (void)pai__platform_handle(p->jobs[i], PAI__EV_STOP, 0, 0);
      pai__platform_drive(p->jobs[i]);
    }
  p->ops->close(p->backend, on_backend_closed);
}

static void on_kick(void *user_data)
{
  pai_platform *p = user_data;

  /* Once before, so that what ended is told before its retry starts; a new
   * job is told of when it is known whether it starts at once. */
  for (size_t i = 0; i < p->njobs; i++)
    if (p->jobs[i]->told[0] != 0)
      pai__platform_tell(p->jobs[i]);
  if (!p->closing)
    pai__platform_schedule(p);
  /* A callback may submit and so move p->jobs, or close the platform. */
  for (size_t i = 0; i < p->njobs; i++)
    pai__platform_tell(p->jobs[i]);
  if (p->closing && !p->backend_closing)
    close_backend(p);
}

static void on_grace_over(void *user_data)
{
  pai__pjob *j = user_data;
  pai_platform *p = j->platform;

  for (uint32_t t = 0; t < j->job->ntasks; t++)
    if (j->job->tasks[t].state == PAI__TASK_ENDING)
      p->ops->stop(p->backend, pai__platform_task_id(j, t), true);
}

static void on_retry_due(void *user_data)
{
  pai__pjob *j = user_data;

  (void)pai__platform_handle(j, PAI__EV_RETRY_DUE, 0, 0);
  pai__platform_drive(j);
}

/* --- making one --------------------------------------------------------- */

static int make_root(pai_platform *p, const char *root, pai_error **err)
{
  char *own = NULL;
  pai__buf b;
  int rc = PAI_OK;

  if (root == NULL)
    rc = pai__platform_default_root(&own, &p->alloc, err);
  if (rc < 0)
    return rc;
  pai__buf_init(&b, &p->alloc);
  pai__buf_printf(&b, "%s/jobs", root != NULL ? root : own);
  pai__strfree(&p->alloc, own);
  p->jobs_dir = pai__buf_take(&b);
  if (p->jobs_dir == NULL)
    return pai__oom(err);
  return pai__fs_make_dirs(p->jobs_dir, &p->alloc, err);
}

static int add_this_machine(pai_platform *p, pai_error **err)
{
  pai__machine node;
  int rc;

  pai__machine_discover(&node);
  rc = pai__sched_add_node(p->sched, &node);
  return rc < 0 ? pai__oom(err) : PAI_OK;
}

static int open_backend(pai_platform *p, pai_error **err)
{
  pai__backend_host host = { .user_data = p,
                             .alloc = &p->alloc,
                             .log = &p->log,
                             .loop = p->loop,
                             .output = pai__platform_output,
                             .ended = pai__platform_task_ended };

  p->ops = &pai__backend_local;
  return p->ops->open(&p->backend, &host, err);
}

int pai_platform_new(pai_platform **out, pai_loop *loop,
                     const pai_platform_options *opts, pai_error **err)
{
  pai_platform_options o;
  pai_platform *p;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG(loop != NULL);
  rc = PAI__COPY_IN(&o, opts, pai_platform_options, user_data);
  if (rc < 0)
    return pai__fail(err, rc,
                     "pai_platform_options: bad or newer struct_size");
  o.alloc = pai__alloc_or_libc(o.alloc);
  p = pai__zalloc(o.alloc, sizeof(*p));
  if (p == NULL)
    return pai__oom(err);
  p->alloc = *o.alloc;
  p->loop = loop;
  p->log = (pai__log){ o.on_log, o.user_data, PAI_LOG_INFO };
  p->on_event = o.on_event;
  p->user_data = o.user_data;
  p->user = pai__platform_user_name(&p->alloc);
  rc = p->user != NULL ? make_root(p, o.root, err) : pai__oom(err);
  if (rc == PAI_OK)
    rc = pai__sched_new(&p->sched, &p->alloc, NULL, err);
  if (rc == PAI_OK)
    rc = add_this_machine(p, err);
  if (rc == PAI_OK &&
      pai__timer_new(&p->kick, &p->alloc, loop, on_kick, p) < 0)
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = open_backend(p, err);
  if (rc < 0) {
    free_platform(p);
    return rc;
  }
  *out = p;
  return PAI_OK;
}

void pai_platform_close(pai_platform *p, pai_closed_cb closed, void *user_data)
{
  if (p == NULL || p->closing)
    return;
  p->closing = true;
  p->closed = closed;
  p->closed_data = user_data;
  pai__timer_start(p->kick, 0);
}

/* --- jobs --------------------------------------------------------------- */

static int make_job_dir(pai__pjob *j, const char *name, pai_error **err)
{
  const pai_alloc *alloc = &j->platform->alloc;
  pai__buf b;
  int rc;

  pai__buf_init(&b, alloc);
  pai__buf_printf(&b, "%s/%s", j->platform->jobs_dir, name);
  rc = pai__buf_ok(&b)
         ? pai__fs_make_new_dir(&j->dir, pai__buf_text(&b), alloc, err)
         : pai__oom(err);
  pai__buf_dispose(&b);
  return rc;
}

static int make_job(pai__pjob *j, pai_spec *spec, pai_error **err)
{
  pai_platform *p = j->platform;

  if (pai__job_new(&j->job, &p->alloc, spec, j->id) < 0)
    return pai__oom(err);
  j->told = pai__zalloc(&p->alloc, j->job->ntasks + 1);
  j->nodes = pai__zalloc(&p->alloc, j->job->ntasks * sizeof(*j->nodes));
  if (j->told == NULL || j->nodes == NULL ||
      pai__timer_new(&j->grace, &p->alloc, p->loop, on_grace_over, j) < 0 ||
      pai__timer_new(&j->retry, &p->alloc, p->loop, on_retry_due, j) < 0)
    return pai__oom(err);
  memset(j->told + 1, PAI_STATE_WAITING, j->job->ntasks);
  return PAI_OK;
}

int pai_platform_submit(pai_job_id *job, pai_platform *p, pai_spec *spec,
                        pai_error **err)
{
  pai__pjob *j;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG(job != NULL);
  *job = 0;
  PAI__CHECK_ARG(p != NULL && spec != NULL);
  if (p->closing)
    return pai__fail(err, PAI_EBUSY, "the platform is closing");
  if (PAI__VEC_ROOM(&p->alloc, p->jobs, p->njobs, p->jobs_cap) < 0)
    return pai__oom(err);
  j = pai__zalloc(&p->alloc, sizeof(*j));
  if (j == NULL)
    return pai__oom(err);
  j->platform = p;
  j->id = p->njobs + 1;
  rc = make_job(j, spec, err);
  if (rc == PAI_OK)
    rc = pai__platform_queue(j, err);
  if (rc == PAI_OK) /* last: a refused job leaves no folder behind */
    rc = make_job_dir(j, pai_spec_name(spec), err);
  if (rc < 0) {
    (void)pai__sched_finish(p->sched, j->id);
    free_job(j);
    return rc;
  }
  p->jobs[p->njobs++] = j;
  pai__platform_drive(j);
  *job = j->id;
  return PAI_OK;
}

static pai__pjob *find_job(const pai_platform *p, pai_job_id job)
{
  return job >= 1 && job <= p->njobs ? p->jobs[job - 1] : NULL;
}

int pai_platform_stop(pai_platform *p, pai_job_id job)
{
  pai__pjob *j = find_job(p, job);

  if (j == NULL || j->job->state == PAI__JOB_DONE)
    return PAI_ENOTFOUND;
  (void)pai__platform_handle(j, PAI__EV_STOP, 0, 0);
  pai__platform_drive(j);
  return PAI_OK;
}

int pai_platform_job_state(const pai_platform *p, pai_job_id job)
{
  const pai__pjob *j = find_job(p, job);

  return j != NULL ? pai__job_public_state(j->job) : PAI_ENOTFOUND;
}

int pai_platform_job_code(const pai_platform *p, pai_job_id job)
{
  const pai__pjob *j = find_job(p, job);

  return j != NULL ? j->job->code : 0;
}

const char *pai_platform_job_dir(const pai_platform *p, pai_job_id job)
{
  const pai__pjob *j = find_job(p, job);

  return j != NULL ? j->dir : NULL;
}
