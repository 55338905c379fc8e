/*
 * lifetimes.c - callbacks of a simulation: durations, node failures, events
 *
 * Times of failures and repairs are drawn for each node separately.
 */
#include "sim/report/format.h"
#include "sim/scale.h"
#include "sim/sim.h"
#include "sim/trace/trace.h"

#include <openpai/platform.h>

static pai_sim *sim_of(void *data)
{
  return data;
}

static pai__sim_job *of(pai__driven_job *job)
{
  return (pai__sim_job *)job;
}

/* --- lines of JSON for the callback `events` ----------------------------- */

/* Begins a line; returns false if there is no callback. */
static bool begin(pai_sim *sim, pai__json_writer *w, const char *event)
{
  if (sim->o.events == NULL)
    return false;
  pai__buf_clear(&sim->line);
  pai__json_writer_init(w, &sim->line, false);
  pai__json_begin_object(w);
  pai__json_put_int(w, "time", sim->drive.now);
  pai__json_put_word(w, "event", event);
  return true;
}

static int end(pai_sim *sim, pai__json_writer *w)
{
  int rc;

  pai__json_end_object(w);
  rc = pai__json_finish(w);
  if (rc == PAI_OK)
    pai__buf_char(&sim->line, '\n');
  if (rc < 0 || !pai__buf_ok(&sim->line))
    return pai__oom(sim->err);
  rc = sim->o.events(sim->o.user_data, sim->line.data, sim->line.len);
  return rc < 0 ? pai__fail(sim->err, rc, "an event could not be written")
                : PAI_OK;
}

static void put_job(pai__json_writer *w, const pai_sim *sim,
                    const pai__sim_job *job)
{
  pai__json_put_int(w, "job", (int64_t)job->c.d.id);
  pai__json_put_int(w, "line", (int64_t)job->recorded.line);
  pai__json_put_word(w, "name", pai__sim_name(&job->recorded));
  pai__json_put_word(w, "user", sim->stats.users[job->c.of.user].sums.name);
  pai__json_put_word(w, "vc", sim->stats.vcs[job->c.of.vc].sums.name);
  pai__json_put_int(w, "tasks", job->c.of.tasks);
  pai__json_put_int(w, sim->stats.cpus ? "cpus" : "gpus",
                    (int64_t)job->c.of.gpus);
}

static int tell_come(pai_sim *sim, const pai__sim_wait *wait)
{
  pai__sim_job job = { 0 };
  pai__json_writer w;

  (void)begin(sim, &w, "submitted");
  pai__sim_fill(sim, wait, &job);
  put_job(&w, sim, &job);
  return end(sim, &w);
}

int pai__tell_come(pai_sim *sim, const pai__sim_wait *wait)
{
  return sim->o.events != NULL ? tell_come(sim, wait) : PAI_OK;
}

int pai__tell_reject(pai_sim *sim, const pai__sim_job *job, const char *why)
{
  pai__json_writer w;

  if (!begin(sim, &w, "rejected"))
    return PAI_OK;
  put_job(&w, sim, job);
  pai__json_put_word(&w, "why", why);
  return end(sim, &w);
}

static int tell_start(pai_sim *sim, const pai__sim_job *job)
{
  const pai__sched_cluster *cluster = pai__sched_cluster_of(sim->sched);
  pai__run_info run = { .tasks = 0 };
  pai__json_writer w;

  if (!begin(sim, &w, "started"))
    return PAI_OK;
  pai__json_put_int(&w, "job", (int64_t)job->c.d.id);
  pai__json_put_int(&w, "run", job->c.d.runs);
  (void)pai__drive_place(&sim->drive, &job->c.d, &run);
  pai__json_put_array(&w, "nodes");
  for (uint32_t i = 0; i < run.tasks; i++)
    if (i == 0 || run.slots[i].node != run.slots[i - 1].node)
      pai__json_string(&w, cluster->nodes[run.slots[i].node].name);
  pai__json_end_array(&w);
  return end(sim, &w);
}

static int tell_stop(pai_sim *sim, const pai__sim_job *job, enum pai__left how,
                     pai_time in_vain)
{
  static const char *const whys[] = { "", "over", "failed", "preempted",
                                      "node" };
  pai__json_writer w;

  if (!begin(sim, &w, "stopped"))
    return PAI_OK;
  pai__json_put_int(&w, "job", (int64_t)job->c.d.id);
  pai__json_put_word(&w, "why", whys[how]);
  pai__json_put_int(&w, "in_vain", in_vain);
  return end(sim, &w);
}

static int tell_end(pai_sim *sim, const pai__sim_job *job)
{
  pai__json_writer w;

  if (!begin(sim, &w, "ended"))
    return PAI_OK;
  pai__json_put_int(&w, "job", (int64_t)job->c.d.id);
  pai__json_put_word(&w, "state",
                     job->c.killed             ? "stopped"
                     : job->c.d.life.code != 0 ? "failed"
                                               : "succeeded");
  pai__json_put_int(&w, "code", job->c.d.life.code);
  return end(sim, &w);
}

int pai__tell_node(pai_sim *sim, uint32_t node, int state)
{
  pai__json_writer w;

  if (!begin(sim, &w, "node"))
    return PAI_OK;
  pai__json_put_word(&w, "node",
                     pai__sched_cluster_of(sim->sched)->nodes[node].name);
  pai__json_put_word(&w, "state", pai__node_words[state]);
  return end(sim, &w);
}

/* --- nodes --------------------------------------------------------------- */

enum { MOST_OUTAGES = 4000 }; /* of each node, without progress */
#define FOUR_HOURS (INT64_C(4) * 3600 * 1000000)

static int set_outage(pai_sim *sim, uint32_t node)
{
  pai__outage *o = &sim->outages[node];
  pai_time mean = o->down ? sim->o.node_down : sim->o.node_up;
  pai_time in = pai__draw_time(&o->prng, mean);
  pai_time now = sim->drive.now;

  return pai__drive_node_timer(&sim->drive, &o->timer, node,
                               now < 0 || in < INT64_MAX - now ? now + in
                                                               : INT64_MAX);
}

int pai__outages_begin(pai_sim *sim)
{
  uint32_t n = pai__sched_cluster_of(sim->sched)->nnodes;
  int rc = PAI_OK;

  if (sim->o.node_up == 0)
    return PAI_OK;
  if (sim->o.node_down == 0)
    sim->o.node_down = FOUR_HOURS;
  sim->outages = pai__zalloc(&sim->alloc, n * sizeof(*sim->outages));
  if (sim->outages == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < n; i++) {
    sim->outages[i].timer = PAI__NO_TIMER;
    sim->outages[i].prng = pai__draw(sim->o.seed, PAI__DRAW_NODE, i);
  }
  for (uint32_t i = 0; i < n && rc == PAI_OK; i++)
    rc = set_outage(sim, i);
  return rc;
}

/* Fails if nodes fail so often that no job can end: time would go on for
 * ever. */
static int check_progress(pai_sim *sim)
{
  const pai__sim_group *all = &sim->stats.all.sums;
  uint64_t progress = all->started + all->finished + all->killed;
  int rc;

  if (progress != sim->progress || sim->drive.njobs == 0)
    sim->outage_count = 0;
  sim->progress = progress;
  if (sim->outage_count++ / MOST_OUTAGES <
      pai__sched_cluster_of(sim->sched)->nnodes)
    return PAI_OK;
  rc = pai__fail(sim->err, PAI_ELIMIT,
                 "each node has failed %d times since a job started or ended: "
                 "nodes fail before any job can end",
                 (int)MOST_OUTAGES);
  pai__error_help(sim->err,
                  "make nodes fail less often (--mtbf), let jobs save their "
                  "work (--checkpoint), or end the simulation (--until)");
  return rc;
}

static int outage_due(pai_sim *sim, uint32_t node)
{
  pai__outage *o = &sim->outages[node];
  int state = o->down ? PAI_NODE_UP : PAI_NODE_SICK;
  int rc = o->down ? PAI_OK : check_progress(sim);

  if (rc < 0)
    return rc;
  o->down = !o->down;
  sim->down += o->down ? 1 : -1u;
  rc = set_outage(sim, node);
  if (rc < 0)
    return pai__oom(sim->err);
  pai__stats_node(&sim->stats, node);
  rc = pai__tell_node(sim, node, state);
  return rc < 0 ? rc
                : pai__drive_node(&sim->drive, node, state,
                                  o->down ? "it failed" : NULL, sim->err);
}

/* --- durations ----------------------------------------------------------- */

/* With a chance of `fail` in a thousand, the attempt fails at a random
 * time. */
static void draw_failure(const pai_sim *sim, pai__driven_job *job)
{
  pai__prng r =
    pai__draw_again(sim->o.seed, PAI__DRAW_FAIL, job->id, job->attempt);

  if (pai__prng_below(&r, 1000) >= sim->o.fail || job->lasts == 0)
    return;
  job->lasts = (pai_time)pai__prng_below(&r, (uint64_t)job->lasts);
  job->code = 1;
}

/* The last recorded attempt stands for all later ones.  When the job has used
 * up its retries, it fails with code 1, which counts as a failure of the
 * program: else a job with a code that is always retried would never end. */
static int lasts(void *data, pai__driven_job *job)
{
  pai_sim *sim = sim_of(data);
  const pai__sim_job *j = of(job);
  uint32_t more = j->recorded.rest != NULL ? j->recorded.rest->more : 0;
  uint32_t i = job->attempt < more ? job->attempt : more;

  job->lasts =
    i == 0 ? j->recorded.duration : j->recorded.rest->attempts[i - 1].duration;
  job->code =
    i == 0 ? j->recorded.code : j->recorded.rest->attempts[i - 1].code;
  if (job->attempt > j->recorded.retries && job->code != 0)
    job->code = 1;
  if (sim->o.fail != 0)
    draw_failure(sim, job);
  return PAI_OK;
}

/* --- callbacks of the driver --------------------------------------------- */

static int or_oom(const pai_sim *sim, int rc)
{
  return rc < 0 ? pai__oom(sim->err) : PAI_OK;
}

static int begins(void *data, const pai__waiting_job *wait,
                  pai__driven_job *job, const pai__job_form **form)
{
  pai_sim *sim = sim_of(data);

  pai__sim_fill(sim, (const pai__sim_wait *)wait, of(job));
  *form = pai__sim_form(sim, of(job)->recorded.retries);
  return *form != NULL ? PAI_OK : PAI_ENOMEM;
}

static int started(void *data, pai__driven_job *job)
{
  pai_sim *sim = sim_of(data);
  int rc = or_oom(sim, pai__stats_started(&sim->stats, &of(job)->c));

  return rc < 0 ? rc : tell_start(sim, of(job));
}

static int resized(void *data, pai__driven_job *job)
{
  pai_sim *sim = sim_of(data);

  return or_oom(sim, pai__stats_resized(&sim->stats, &of(job)->c));
}

static int stopped(void *data, pai__driven_job *job, enum pai__left how,
                   pai_time in_vain)
{
  pai_sim *sim = sim_of(data);
  int rc;

  of(job)->c.killed =
    job->stop == PAI_STOP_CANCELLED || job->stop == PAI_STOP_LIMIT;
  rc = or_oom(sim, pai__stats_stopped(&sim->stats, &of(job)->c, how, in_vain));
  return rc < 0 ? rc : tell_stop(sim, of(job), how, in_vain);
}

int pai__sim_show(pai_sim *sim, const pai__sim_job *job, int state)
{
  const pai__driven_job *d = &job->c.d;
  pai_sim_job view = {
    .struct_size = sizeof(view),
    .id = d->id,
    .line = job->recorded.line,
    .name = pai__sim_name(&job->recorded),
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

static int ended(void *data, pai__driven_job *job)
{
  pai_sim *sim = sim_of(data);
  pai__sim_job *j = of(job);
  const char *id = pai__sim_id(&j->recorded);
  int rc;

  j->c.killed = job->stop == PAI_STOP_CANCELLED || job->stop == PAI_STOP_LIMIT;
  rc = pai__stats_ended(&sim->stats, &j->c);
  if (rc == PAI_OK && id != NULL)
    rc = pai__ids_end(&sim->ids, id, (uint32_t)job->id,
                      j->c.killed || job->life.code != 0);
  rc = or_oom(sim, rc);
  if (rc == PAI_OK)
    rc = tell_end(sim, j);
  if (rc == PAI_OK)
    rc = pai__sim_show(sim, j, state_of(j));
  pai__sim_forget(sim, &j->recorded);
  return rc;
}

static int node(void *data, uint32_t i)
{
  return outage_due(sim_of(data), i);
}

static void passes(void *data, pai_time now)
{
  pai__stats_pass(&sim_of(data)->stats, now);
}

const pai__drive_ops pai__sim_ops = {
  .begins = begins,
  .lasts = lasts,
  .started = started,
  .resized = resized,
  .stopped = stopped,
  .ended = ended,
  .node = node,
  .next = pai__sim_next,
  .add = pai__sim_add,
  .passes = passes,
  .is_over = pai__sim_is_over,
};
