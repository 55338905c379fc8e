/* future.c - one future: drives a fork of the scheduler with drawn
 * durations */
#include "sim/forecast/forecast.h"

#include "sim/drive.h"

/* Id for draws that similar jobs share; no request has it. */
#define PAI__ALIKE_ID (UINT64_MAX - 1)

typedef struct future {
  pai_forecast *f;
  const pai_history *h;
  uint32_t run;
  pai__drive drive;
  pai__arrivals arrivals;
  uint32_t left;        /* waiting requests that can start and have not */
  int worst;            /* least specific guess among ended jobs:
                           PAI_ALIKE_* */
  bool blind;           /* one was guessed without any similar job */
  uint32_t guessed;     /* number of guesses among ended jobs */
  uint64_t busy;        /* GPUs in use */
  uint64_t used;        /* GPU seconds */
  uint64_t asked;       /* value of f->spent for which it was asked whether to
                           go on */
  pai_time last;        /* time up to which `used` is counted */
  const uint32_t *sick; /* nodes that fail in the first moment */
  size_t nsick;
  pai_error **err;
} future;

/* A job with its draws. */
typedef struct fate {
  pai__driven_job job;
  uint64_t gpus;
  int alike;
  bool guessed, blind, counted;
} fate;

static pai__future_job *find_job(const pai_forecast *f, uint64_t id)
{
  uint32_t i = pai__lookup_get(&f->index, id);

  return i != PAI__NONE ? &f->jobs[i] : NULL;
}

/* --- callbacks of the driver --------------------------------------------- */

/* Similar jobs often take similar times, as in a sweep or with a new version
 * of a program.  So three of four jobs that are drawn from the same ring share
 * their random number in a future.  The distribution of each job stays the
 * same, but the sum over a queue varies more. */
static uint64_t random_of(const future *u, const pai__driven_job *job,
                          const pai__draw_source *source)
{
  uint64_t own = pai__draw_random(u->f->seed, u->run, job->id, job->instance);

  return own % 4 == 0
           ? own
           : pai__draw_random(u->f->seed, u->run, PAI__ALIKE_ID, source->mark);
}

static int lasts(void *data, pai__driven_job *job)
{
  future *u = data;
  fate *x = (fate *)job;
  const pai__future_job *known = find_job(u->f, job->id);
  pai_request_view v = { .struct_size = sizeof(v) };
  pai__levels levels;
  pai__draw_source source;
  pai_past past;

  if (known != NULL) {
    levels = known->levels;
  } else {
    (void)pai_sched_view_request(u->drive.sched, job->id, &v);
    pai__past_of(u->drive.sched, &v, &past);
    pai__history_levels(u->h, &past, &levels);
    pai__curves_find(&u->f->curves, &levels);
  }
  pai__history_source(
    &levels, job->since < u->f->now ? u->f->now - job->since : 0, &source);
  x->alike = source.alike;
  x->guessed = source.guessed;
  x->blind = source.blind;
  job->lasts = pai__source_draw(&source, random_of(u, job, &source));
  return PAI_OK;
}

/* GPU seconds: a hundred years of a million GPUs fit. */
static void pass(future *u)
{
  pai_time now = u->drive.now;

  u->used += (uint64_t)((now - u->last) / 1000) * u->busy / 1000;
  u->last = now;
}

static void count_gpus(future *u, fate *x)
{
  const pai__future_job *known = find_job(u->f, x->job.id);
  pai_request_view v = { .struct_size = sizeof(v) };
  pai_past past;

  if (x->counted)
    return;
  x->gpus = known != NULL ? known->gpus : 0;
  if (known == NULL &&
      pai_sched_view_request(u->drive.sched, x->job.id, &v) == PAI_OK) {
    pai__past_of(u->drive.sched, &v, &past);
    x->gpus = past.gpus;
  }
  x->counted = true;
  pass(u);
  u->busy += x->gpus;
}

static int note(future *u, const pai__driven_job *job, bool started)
{
  pai_forecast *f = u->f;
  pai__future_now *x;

  if (u->run != 0 || u->drive.now != f->now)
    return PAI_OK;
  if (PAI__VEC_ROOM(&f->alloc, f->first, f->nfirst, f->first_cap) < 0)
    return PAI_ENOMEM;
  x = &f->first[f->nfirst++];
  *x = (pai__future_now){ .id = job->id,
                          .instance = job->instance,
                          .started = started,
                          .stopped = !started };
  return PAI_OK;
}

static int started(void *data, pai__driven_job *job)
{
  future *u = data;
  pai__future_job *known = find_job(u->f, job->id);
  pai__future_wait *w;

  count_gpus(u, (fate *)job);
  if (known == NULL || known->wait == PAI__NONE)
    return note(u, job, true);
  w = &u->f->waits[known->wait];
  if (w->waits[u->run] == INT64_MAX) {
    w->waits[u->run] = u->drive.now - u->f->now;
    w->started++;
    w->guessed += u->guessed;
    w->blind |= u->blind;
    if (u->worst < w->alike)
      w->alike = u->worst;
    u->left -= !w->stuck;
  }
  return note(u, job, true);
}

static int stopped(void *data, pai__driven_job *job, enum pai__left how,
                   pai_time in_vain)
{
  future *u = data;
  fate *x = (fate *)job;

  (void)in_vain;
  if (x->counted) {
    pass(u);
    u->busy -= x->gpus;
    x->counted = false;
  }
  u->f->preempted += how == PAI__LEFT_PREEMPTED;
  return note(u, job, false);
}

static int ended(void *data, pai__driven_job *job)
{
  future *u = data;
  const fate *x = (fate *)job;

  if (x->guessed) {
    u->guessed++;
    u->blind |= x->blind;
    if (x->alike < u->worst)
      u->worst = x->alike;
  }
  return PAI_OK;
}

/* --- time ---------------------------------------------------------------- */

/* Each decision costs time, so arrivals wait until a run ends, or for a 32nd
 * of the time since now.  Ends are handled at once: otherwise GPUs would idle
 * after each job, and queues would take far longer. */
static pai_time next(void *data)
{
  const future *u = data;
  pai_time comes = u->arrivals.next;

  return comes != INT64_MAX ? comes + (comes - u->f->now) / 32 : comes;
}

/* A simulated job that the scheduler refuses, e.g. as its virtual cluster is
 * gone, is left out. */
static int add(void *data)
{
  future *u = data;
  pai__waiting_job *wait;
  pai_request q;
  int rc = PAI_OK;

  for (size_t i = 0; i < u->nsick && rc >= 0; i++)
    rc = pai__drive_node(&u->drive, u->sick[i], PAI_NODE_SICK, NULL, u->err);
  u->nsick = 0;
  if (rc < 0)
    return rc;
  rc = pai__forecast_go_on(u->f, u->f->spent - u->asked, u->err);
  u->asked = u->f->spent;
  if (rc < 0)
    return rc;
  while (u->arrivals.next <= u->drive.now && rc != PAI_ENOMEM) {
    pai__arrivals_take(&u->arrivals, &q);
    rc = pai__drive_come(&u->drive, &q, &wait, NULL);
  }
  return rc == PAI_ENOMEM ? pai__oom(u->err) : PAI_OK;
}

/* Ends the future when all requests that can start have started. */
static bool is_over(void *data)
{
  future *u = data;
  pai_sched_view view = { .struct_size = sizeof(view) };

  (void)pai_sched_view_sums(u->drive.sched, &view);
  u->f->spent += 1 + (uint64_t)view.waiting;
  return u->left == 0;
}

static const pai__drive_ops ops = { .lasts = lasts,
                                    .started = started,
                                    .stopped = stopped,
                                    .ended = ended,
                                    .next = next,
                                    .add = add,
                                    .is_over = is_over };

static void count_all(future *u)
{
  pai__driven_job *job;

  for (uint32_t i = 0; (job = pai__drive_each(&u->drive, &i)) != NULL;)
    if (job->tasks != 0)
      count_gpus(u, (fate *)job);
}

/* Returns the used part of all GPU time, in millionths. */
static uint64_t part_used(const future *u)
{
  uint64_t all = (uint64_t)((u->last - u->f->now) / 1000) * u->f->gpus / 1000;

  if (all >= 1000000)
    return u->used * 1000 / (all / 1000);
  return all != 0 ? u->used * 1000000 / all : 0;
}

static int run_fork(future *u, pai_sched *fork)
{
  pai_time now = u->f->now, horizon = u->f->horizon;

  const pai__drive_options o = {
    .ops = &ops, .data = u, .job_size = sizeof(fate), .seed = u->f->seed
  };
  int rc = pai__drive_init(&u->drive, &u->f->alloc, fork, &o);

  u->last = u->f->now;
  u->asked = u->f->spent;
  if (rc >= 0)
    rc = pai__drive_adopt(&u->drive, u->err);
  else
    (void)pai__oom(u->err);
  if (rc >= 0) {
    count_all(u);
    rc = pai__drive_moment(&u->drive, now, u->err);
  }
  if (rc >= 0)
    rc = pai__drive_run(&u->drive,
                        now < INT64_MAX - horizon ? now + horizon : INT64_MAX,
                        u->err);
  if (rc >= 0) {
    pass(u);
    u->f->used += part_used(u);
  }
  pai__drive_dispose(&u->drive);
  return rc < 0 ? rc : PAI_OK;
}

int pai__future_run(pai_forecast *f, const pai_sched *sched,
                    const pai_history *history,
                    const pai__first_failures *failures, uint32_t run,
                    pai_error **err)
{
  future u = {
    .f = f, .h = history, .run = run, .worst = PAI_ALIKE_NAME, .err = err
  };
  pai_sched *fork;
  int rc = pai_sched_fork(&fork, sched, err);

  if (rc < 0)
    return rc;
  if (failures != NULL) {
    u.sick = failures->sick;
    u.nsick = failures->nsick;
  }
  for (uint32_t i = 0; i < f->nwaits; i++)
    u.left += !f->waits[i].stuck;
  pai__arrivals_init(&u.arrivals, &f->pattern, f->now,
                     pai__draw_random(f->seed, run, UINT64_MAX, 0));
  rc = run_fork(&u, fork);
  pai_sched_free(fork);
  return rc;
}
