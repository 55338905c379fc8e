/* living.c - what happens to the jobs of a simulation, and who is told */
#include "sim/distribution.h"
#include "sim/sim.h"

#include <openpai/platform.h>

static pai_sim *sim_of(void *data)
{
  return data;
}

static pai__sim_job *of(pai__djob *job)
{
  return (pai__sim_job *)job;
}

/* --- how long ------------------------------------------------------------- */

/* Of so many of a thousand attempts each fails, at any time of it. */
static void draw_failure(const pai_sim *sim, pai__djob *job)
{
  pai__prng r =
    pai__draw_again(sim->o.seed, PAI__DRAW_FAIL, job->id, job->attempt);

  if (pai__prng_below(&r, 1000) >= sim->o.fail || job->lasts == 0)
    return;
  job->lasts = (pai_time)pai__prng_below(&r, (uint64_t)job->lasts);
  job->code = 1;
}

/* The last attempt that is told stands for all that follow.  What follows more
 * of them than there could be fails in a way that counts: else a job that fails
 * for the platform's sake each time would never end. */
static int lasts(void *data, pai__djob *job)
{
  pai_sim *sim = sim_of(data);
  const pai__sim_job *j = of(job);
  uint32_t more = j->told.rest != NULL ? j->told.rest->more : 0;
  uint32_t i = job->attempt < more ? job->attempt : more;

  job->lasts =
    i == 0 ? j->told.duration : j->told.rest->attempts[i - 1].duration;
  job->code = i == 0 ? j->told.code : j->told.rest->attempts[i - 1].code;
  if (job->attempt > j->told.retries && job->code != 0)
    job->code = 1;
  if (sim->o.fail != 0)
    draw_failure(sim, job);
  return PAI_OK;
}

/* --- what happens --------------------------------------------------------- */

static int or_oom(const pai_sim *sim, int rc)
{
  return rc < 0 ? pai__oom(sim->err) : PAI_OK;
}

static int begins(void *data, const pai__dwait *wait, pai__djob *job,
                  const pai__job_form **form)
{
  pai_sim *sim = sim_of(data);

  pai__sim_fill(sim, (const pai__sim_wait *)wait, of(job));
  *form = pai__sim_form(sim, of(job)->told.retries);
  return *form != NULL ? PAI_OK : PAI_ENOMEM;
}

static int started(void *data, pai__djob *job)
{
  pai_sim *sim = sim_of(data);
  int rc = or_oom(sim, pai__stats_started(&sim->stats, &of(job)->c));

  return rc < 0 ? rc : pai__tell_start(sim, of(job));
}

static int resized(void *data, pai__djob *job)
{
  pai_sim *sim = sim_of(data);

  return or_oom(sim, pai__stats_resized(&sim->stats, &of(job)->c));
}

static int stopped(void *data, pai__djob *job, enum pai__left how,
                   pai_time in_vain)
{
  pai_sim *sim = sim_of(data);
  int rc;

  of(job)->c.killed =
    job->stop == PAI_STOP_CANCELLED || job->stop == PAI_STOP_LIMIT;
  rc = or_oom(sim, pai__stats_stopped(&sim->stats, &of(job)->c, how, in_vain));
  return rc < 0 ? rc : pai__tell_stop(sim, of(job), how, in_vain);
}

int pai__sim_show(pai_sim *sim, const pai__sim_job *job, int state)
{
  const pai__djob *d = &job->c.d;
  pai_sim_job view = {
    .struct_size = sizeof(view),
    .id = d->id,
    .line = job->told.line,
    .name = pai__sim_name(&job->told),
    .vc = sim->stats.vcs[job->c.of.vc].sums.name,
    .submitted = d->submitted,
    .started = d->started,
    .ended = state >= PAI_STATE_SUCCEEDED ? sim->drive.now : -1,
    .state = state,
    .code = d->life.code,
    .tasks = job->c.of.tasks,
    .gpus = (uint32_t)job->c.of.gpus,
    .attempts = d->runs,
    .preemptions = d->preemptions,
    .lost = job->c.lost,
  };

  view.user = sim->stats.users[job->c.of.user].sums.name;
  if (*view.user == '\0')
    view.user = NULL;
  if (sim->o.on_job != NULL)
    sim->o.on_job(sim->o.user_data, &view);
  return PAI_OK;
}

static int state_of(const pai__sim_job *job)
{
  return job->c.killed             ? PAI_STATE_STOPPED
         : job->c.d.life.code != 0 ? PAI_STATE_FAILED
                                   : PAI_STATE_SUCCEEDED;
}

static int ended(void *data, pai__djob *job)
{
  pai_sim *sim = sim_of(data);
  pai__sim_job *j = of(job);
  int rc;

  j->c.killed = job->stop == PAI_STOP_CANCELLED || job->stop == PAI_STOP_LIMIT;
  rc = pai__stats_ended(&sim->stats, &j->c);
  if (rc == PAI_OK && j->told.key != 0)
    rc = pai__ids_end(&sim->ids, &sim->alloc, j->told.key, (uint32_t)job->id,
                      j->c.killed || job->life.code != 0);
  rc = or_oom(sim, rc);
  if (rc == PAI_OK)
    rc = pai__tell_end(sim, j);
  if (rc == PAI_OK)
    rc = pai__sim_show(sim, j, state_of(j));
  pai__sim_forget(sim, &j->told);
  return rc;
}

static int node(void *data, uint32_t i)
{
  return pai__outage_due(sim_of(data), i);
}

const pai__drive_ops pai__sim_ops = {
  .begins = begins,
  .lasts = lasts,
  .started = started,
  .resized = resized,
  .stopped = stopped,
  .ended = ended,
  .node = node,
};
