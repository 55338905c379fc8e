/* drive_life.c - the fold of a driven job: events, actions and ends of runs */
#include "sim/drive.h"

/* --- actions ------------------------------------------------------------- */

static int tell_of(pai__drive *d, const pai__driven_job *job, int kind,
                   int64_t number, const char *key, pai_error **err)
{
  pai_sched_event e = { .kind = kind,
                        .id = job->id,
                        .instance = job->instance,
                        .number = number,
                        .key = key };

  return pai__drive_tell(d, &e, err);
}

static int do_return(pai__drive *d, pai__driven_job *job, bool hold,
                     pai_error **err)
{
  int rc = tell_of(d, job, PAI_SCHED_RETURNED, 0, NULL, err);

  job->tasks = 0;
  if (rc == PAI_OK && hold)
    rc = tell_of(d, job, PAI_SCHED_CHANGE, 1, "held", err);
  return rc;
}

static int do_release(pai__drive *d, pai__driven_job *job, pai_error **err)
{
  bool runs = job->tasks != 0;

  job->tasks = 0;
  return tell_of(d, job, runs ? PAI_SCHED_FINISHED : PAI_SCHED_CANCEL,
                 job->life.code, NULL, err);
}

static pai_time leaves(const pai__drive *d, const pai__driven_job *job)
{
  return d->o.ops->leaves != NULL ? d->o.ops->leaves(d->o.data, job)
                                  : d->o.stop_cost;
}

/* Gives the job `time` to stop. */
static int do_stop(pai__drive *d, pai__driven_job *job, pai_time time,
                   pai_error **err)
{
  job->doing = PAI__LEAVES;
  return pai__drive_timer(d, job, PAI__TIMER_END, d->now + time, err);
}

static int do_finish(pai__drive *d, pai__driven_job *job)
{
  int rc = PAI_OK;

  if (d->o.ops->ended != NULL)
    rc = d->o.ops->ended(d->o.data, job);
  pai__drive_unmake(d, job);
  return rc;
}

static int act(pai__drive *d, pai__driven_job *job, const pai__action *a,
               pai_error **err)
{
  switch (a->kind) {
  case PAI__DO_START: return pai__drive_begin_run(d, job, err);
  case PAI__DO_STOP: return do_stop(d, job, leaves(d, job), err);
  case PAI__DO_KILL: return do_stop(d, job, 0, err);
  case PAI__DO_RETURN: return do_return(d, job, a->until != 0, err);
  case PAI__DO_RESUME:
    return tell_of(d, job, PAI_SCHED_CHANGE, 0, "held", err);
  case PAI__DO_WAIT:
    return pai__drive_timer(d, job, PAI__TIMER_DUE, a->until, err);
  case PAI__DO_RELEASE: return do_release(d, job, err);
  default: return PAI_OK; /* PAI__DO_QUEUE: already submitted */
  }
}

static int act_all(pai__drive *d, pai__driven_job *job, pai_error **err)
{
  pai__action a;
  int rc = PAI_OK;

  while (rc >= 0 && pai__job_next(&job->life, 1, &a)) {
    if (a.kind == PAI__DO_FINISH)
      return do_finish(d, job);
    rc = act(d, job, &a, err);
  }
  return rc;
}

static int handle(const pai__drive *d, pai__driven_job *job,
                  enum pai__event_kind kind, int code, pai_error **err)
{
  pai__job_event e = {
    .kind = kind, .count = 1, .code = code, .time = d->now
  };

  if (pai__job_handle(&job->life, &e) == PAI_OK)
    return PAI_OK;
  return pai__fail(
    err, PAI_EINTERNAL, "job %llu in state %d cannot take event %d",
    (unsigned long long)job->id, (int)job->life.state, (int)kind);
}

int pai__drive_feed(pai__drive *d, pai__driven_job *job,
                    enum pai__event_kind kind, int code, pai_error **err)
{
  int rc = handle(d, job, kind, code, err);

  return rc < 0 ? rc : act_all(d, job, err);
}

/* --- the end of a run ---------------------------------------------------- */

/* Saves work up to the last checkpoint; returns the rest, which is lost. */
static pai_time keep_work(const pai__drive *d, pai__driven_job *job,
                          pai_time worked)
{
  pai_time every = d->o.checkpoint;
  pai_time safe = every != 0 ? worked / every * every : 0;

  job->saved += safe;
  return worked - safe;
}

/* Begins the next attempt from the beginning; returns the lost work. */
static pai_time drop_work(pai__driven_job *job, pai_time worked)
{
  pai_time lost = job->saved + worked;

  job->attempt++;
  job->saved = 0;
  job->lasts = -1;
  return lost;
}

static enum pai__left how_left(const pai__driven_job *job, bool disturbed)
{
  if (job->life.state == PAI__JOB_DONE)
    return PAI__LEFT_OVER;
  if (disturbed)
    return PAI__LEFT_NODE;
  return job->stop == PAI_STOP_PREEMPTED ? PAI__LEFT_PREEMPTED
                                         : PAI__LEFT_AGAIN;
}

int pai__drive_run_over(pai__drive *d, pai__driven_job *job, bool disturbed,
                        pai_error **err)
{
  bool left = job->doing == PAI__LEAVES;
  int code = disturbed ? PAI__CODE_NODE_LOST
             : left    ? PAI__CODE_STOPPED
                       : job->code;
  pai_time worked = job->doing != PAI__PREPARES && job->works >= job->since
                      ? d->now - job->works
                      : 0;
  pai_time in_vain = 0;
  enum pai__left how;
  int rc = handle(d, job, PAI__EV_TASK_ENDED, code, err);

  if (rc < 0)
    return rc;
  pai__timer_drop(&d->timers, &job->timer);
  how = how_left(job, disturbed && !left);
  if (how == PAI__LEFT_AGAIN)
    in_vain = drop_work(job, worked);
  else if (how != PAI__LEFT_OVER)
    in_vain = keep_work(d, job, worked);
  job->ran += d->now - job->since;
  job->preemptions += how == PAI__LEFT_PREEMPTED;
  job->doing = PAI__WAITS;
  if (d->o.ops->stopped != NULL)
    rc = d->o.ops->stopped(d->o.data, job, how, in_vain);
  return rc < 0 ? rc : act_all(d, job, err);
}

/* --- stopping ------------------------------------------------------------ */

/* Returns whether the work would end before a stop takes effect. */
static bool ends_anyway(const pai__drive *d, const pai__driven_job *job)
{
  pai_time time = leaves(d, job);

  return time < 0 || (job->doing == PAI__WORKS &&
                      d->timers.heap[job->timer].time <= d->now + time);
}

static int stop_for(pai__drive *d, pai__driven_job *job, int cause,
                    pai_error **err)
{
  job->stop = (uint8_t)cause;
  return pai__drive_feed(
    d, job, cause == PAI_STOP_PREEMPTED ? PAI__EV_PREEMPTED : PAI__EV_STOP, 0,
    err);
}

int pai__drive_stop(pai__drive *d, pai__driven_job *job, int cause,
                    pai_error **err)
{
  return job->doing == PAI__LEAVES || job->tasks == 0 || ends_anyway(d, job)
           ? PAI_OK
           : stop_for(d, job, cause, err);
}

int pai__drive_return(pai__drive *d, pai__driven_job *job, pai_error **err)
{
  job->returns = false;
  return stop_for(d, job, PAI_STOP_PREEMPTED, err);
}

int pai__drive_kill_job(pai__drive *d, pai__driven_job *job, pai_error **err)
{
  if (ends_anyway(d, job))
    return PAI_OK;
  if (job->stop == PAI_STOP_CANCELLED || job->stop == PAI_STOP_LIMIT)
    return PAI_OK;
  return stop_for(d, job, PAI_STOP_CANCELLED, err);
}

/* --- adopting ------------------------------------------------------------ */

/* Sets the end of a run that works already. */
static int go_on(pai__drive *d, pai__driven_job *job, pai_error **err)
{
  pai_time end;
  int rc = d->o.ops->lasts(d->o.data, job);

  if (rc < 0)
    return rc;
  job->doing = PAI__WORKS;
  end = job->lasts < INT64_MAX - (job->works > 0 ? job->works : 0)
          ? job->works + job->lasts
          : INT64_MAX;
  return pai__drive_timer(d, job, PAI__TIMER_END, end > d->now ? end : d->now,
                          err);
}

int pai__drive_resume(pai__drive *d, pai__driven_job *job, bool stopping,
                      int cause, pai_error **err)
{
  pai__action a;
  int rc = handle(d, job, PAI__EV_PLACED, 0, err);

  while (rc == PAI_OK && pai__job_next(&job->life, 1, &a))
    rc = a.kind == PAI__DO_START ? PAI_OK : act(d, job, &a, err);
  if (rc == PAI_OK)
    rc = handle(d, job, PAI__EV_TASK_STARTED, 0, err);
  if (rc == PAI_OK)
    rc = go_on(d, job, err);
  if (rc == PAI_OK && stopping)
    rc = pai__drive_stop(d, job, cause, err);
  return rc;
}
