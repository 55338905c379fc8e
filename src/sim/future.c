/* future.c - a fork of a scheduler is driven on, with durations drawn */
#include "sim/future.h"

#include "sched/queue.h"
#include "sim/drive.h"

/* No request has this id. */
#define PAI__ALIKE_ID (UINT64_MAX - 1)

typedef struct future {
  pai_forecast *f;
  const pai_history *h;
  uint32_t run;
  pai__drive drive;
  pai__arrivals arrivals;
  uint32_t left;    /* those that wait, and may start some day */
  int worst;        /* guess among those that have ended */
  bool blind;       /* one of them was guessed of nothing */
  uint32_t guessed; /* how many were guesses */
  uint64_t busy;    /* GPUs */
  uint64_t used;    /* GPU time, in a unit that cannot overflow */
  pai_time last;    /* until then it is counted */
} future;

/* A job, and what is known of it. */
typedef struct fate {
  pai__djob job;
  uint64_t gpus;
  int alike;
  bool guessed, blind, counted;
} fate;

static pai__fjob *find_job(const pai_forecast *f, uint64_t id)
{
  uint32_t i = pai__lookup_get(&f->index, id);

  return i != PAI__NONE ? &f->jobs[i] : NULL;
}

/* --- what happens --------------------------------------------------------- */

/* Jobs alike often take alike long: a sweep, or a new version of a program.  So
 * in a future three of four of those that are drawn from the same past are drawn
 * alike.  Each for itself is as likely to take a time as otherwise, but the sum
 * over a queue is much less certain. */
static uint64_t random_of(const future *u, const pai__djob *job,
                          const pai__source *source)
{
  uint64_t own = pai__draw_random(u->f->seed, u->run, job->id, job->instance);

  return own % 4 == 0
           ? own
           : pai__draw_random(u->f->seed, u->run, PAI__ALIKE_ID, source->mark);
}

static int lasts(void *data, pai__djob *job)
{
  future *u = data;
  fate *x = (fate *)job;
  const pai__fjob *known = find_job(u->f, job->id);
  pai_request_view v = { .struct_size = sizeof(v) };
  pai__levels levels;
  pai__source source;
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

/* In seconds times GPUs: a hundred years of a million of them fit. */
static void pass(future *u)
{
  pai_time now = u->drive.now;

  u->used += (uint64_t)((now - u->last) / 1000) * u->busy / 1000;
  u->last = now;
}

static void count_gpus(future *u, fate *x)
{
  const pai__fjob *known = find_job(u->f, x->job.id);
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

static int note(future *u, const pai__djob *job, bool started)
{
  pai_forecast *f = u->f;
  pai__fnow *x;

  if (u->run != 0 || u->drive.now != f->now)
    return PAI_OK;
  if (PAI__VEC_ROOM(&f->alloc, f->first, f->nfirst, f->first_cap) < 0)
    return PAI_ENOMEM;
  x = &f->first[f->nfirst++];
  *x = (pai__fnow){ .id = job->id,
                    .instance = job->instance,
                    .started = started,
                    .stopped = !started };
  return PAI_OK;
}

static int started(void *data, pai__djob *job)
{
  future *u = data;
  pai__fjob *known = find_job(u->f, job->id);
  pai__fwait *w;

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

static int stopped(void *data, pai__djob *job, enum pai__left how,
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

static int ended(void *data, pai__djob *job)
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

static const pai__drive_ops ops = {
  .lasts = lasts, .started = started, .stopped = stopped, .ended = ended
};

/* --- time ----------------------------------------------------------------- */

/* Who cannot be taken any more, as its virtual cluster is gone, stays away. */
static int come(future *u, pai_error **err)
{
  pai__dwait *wait;
  pai_request q;
  int rc = PAI_OK;

  while (u->arrivals.next <= u->drive.now && rc != PAI_ENOMEM) {
    pai__arrivals_take(&u->arrivals, &q);
    rc = pai__drive_come(&u->drive, &q, &wait, NULL);
  }
  return rc == PAI_ENOMEM ? pai__oom(err) : PAI_OK;
}

static int moment(future *u, pai_time now, const pai__twist *twist,
                  pai_error **err)
{
  pai_sched_view view = { .struct_size = sizeof(view) };
  int rc = pai__drive_begin(&u->drive, now, err);

  for (size_t i = 0; twist != NULL && i < twist->nsick && rc >= 0; i++)
    rc = pai__drive_node(&u->drive, twist->sick[i], PAI_NODE_SICK, NULL, err);
  if (rc >= 0)
    rc = come(u, err);
  if (rc >= 0)
    rc = pai__drive_end(&u->drive, err);
  (void)pai_sched_view_sums(u->drive.sched, &view);
  u->f->spent += 1 + (uint64_t)view.waiting;
  return rc;
}

/* Each decision costs time: those that come wait until something ends, or for a
 * 32nd of the time from now on.  What ends is seen at once, or GPUs would be idle
 * for a while after each job, and queues would take far longer. */
static pai_time next_moment(const future *u)
{
  pai_time ends = pai__drive_next(&u->drive), comes = u->arrivals.next;

  if (comes != INT64_MAX)
    comes += (comes - u->f->now) / 32;
  return comes < ends ? comes : ends;
}

/* Until all have started that may, nothing happens any more, or too late. */
static int drive(future *u, const pai__twist *twist, pai_error **err)
{
  pai_forecast *f = u->f;
  pai_time now = f->now;
  int rc = moment(u, now, twist, err);

  while (rc >= 0 && u->left != 0) {
    now = next_moment(u);
    if (now == INT64_MAX || now - f->now > f->horizon)
      break;
    rc = moment(u, now, NULL, err);
  }
  return rc;
}

static void count_all(future *u)
{
  pai__djob *job;

  for (uint32_t i = 0; (job = pai__drive_each(&u->drive, &i)) != NULL;)
    if (job->tasks != 0)
      count_gpus(u, (fate *)job);
}

/* Millionths of all GPUs. */
static uint64_t part_used(const future *u)
{
  uint64_t all = (uint64_t)((u->last - u->f->now) / 1000) * u->f->gpus / 1000;

  if (all >= 1000000)
    return u->used * 1000 / (all / 1000);
  return all != 0 ? u->used * 1000000 / all : 0;
}

static int run_fork(future *u, const pai__twist *twist, pai_sched *fork,
                    pai_error **err)
{
  const pai__drive_options o = {
    .ops = &ops, .data = u, .job_size = sizeof(fate), .seed = u->f->seed
  };
  int rc = pai__drive_init(&u->drive, &u->f->alloc, fork, &o);

  u->last = u->f->now;
  if (rc >= 0)
    rc = pai__drive_adopt(&u->drive, err);
  else
    (void)pai__oom(err);
  if (rc >= 0) {
    count_all(u);
    rc = drive(u, twist, err);
  }
  if (rc >= 0) {
    pass(u);
    u->f->used += part_used(u);
  }
  pai__drive_dispose(&u->drive);
  return rc < 0 ? rc : PAI_OK;
}

int pai__future_run(pai_forecast *f, const pai_sched *sched,
                    const pai_history *history, const pai__twist *twist,
                    uint32_t run, pai_error **err)
{
  future u = { .f = f, .h = history, .run = run, .worst = PAI_ALIKE_NAME };
  pai_sched *fork;
  int rc = pai_sched_fork(&fork, sched, err);

  if (rc < 0)
    return rc;
  for (uint32_t i = 0; i < f->nwaits; i++)
    u.left += !f->waits[i].stuck;
  pai__arrivals_init(&u.arrivals, &f->coming, f->now,
                     pai__draw_random(f->seed, run, UINT64_MAX, 0));
  rc = run_fork(&u, twist, fork, err);
  pai_sched_free(fork);
  return rc;
}
