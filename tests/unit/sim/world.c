/* world.c - a trace runs, and forecasts are made of it */
#include "sim/world.h"

#include "testing.h"

#include "sim/calibrate.h"
#include "sim/drive.h"
#include "sim/future.h"

#include <stdio.h>

enum { PENDING = 4096 };

typedef struct asked {
  pai_forecast *forecast;
  uint32_t left; /* of those that have not started yet */
  bool counts;
} asked;

typedef struct world {
  const world_options *o;
  world_result *result;
  pai_sched *sched;
  pai__drive drive;
  pai_history *history;
  asked pending[PENDING];
  size_t npending;
  uint64_t jobs, random;
} world;

/* A job, and how long it really takes. */
typedef struct truth {
  pai__djob job;
  pai_time lasts;
  pai_past past;
  char text[3][64];
} truth;

/* --- the world ------------------------------------------------------------ */

static int lasts(void *data, pai__djob *job)
{
  (void)data;
  job->lasts = ((truth *)job)->lasts;
  return PAI_OK;
}

static void meet(world *w, asked *a, uint64_t id, pai_time now)
{
  world_result *r = w->result;
  pai_when when = { .struct_size = sizeof(when) };
  const pai__fwait *x = pai__forecast_find(a->forecast, id);
  int32_t score;

  if (x == NULL)
    return;
  a->left--;
  assert_int_equal(pai_forecast_when(a->forecast, id, &when), PAI_OK);
  score = pai__score_of(x->waits, a->forecast->runs, now - a->forecast->now);
  if (a->counts) {
    r->told++;
    r->by10 += now <= when.p10;
    r->by50 += now <= when.p50;
    r->by90 += now <= when.p90;
    r->raw50 += score <= 500;
    r->raw90 += score <= 900;
    r->never += when.p90 == INT64_MAX;
    if (when.p90 != INT64_MAX && when.p50 > a->forecast->now)
      r->width += (uint64_t)((when.p90 - a->forecast->now) /
                             ((when.p50 - a->forecast->now) / 1000 + 1));
  }
  (void)pai_forecast_met(a->forecast, id, now, w->history);
}

static int started(void *data, pai__djob *job)
{
  world *w = data;
  size_t kept = 0;

  for (size_t i = 0; i < w->npending; i++) {
    meet(w, &w->pending[i], job->id, w->drive.now);
    if (w->pending[i].left != 0)
      w->pending[kept++] = w->pending[i];
    else
      pai_forecast_free(w->pending[i].forecast);
  }
  w->npending = kept;
  return PAI_OK;
}

static int ended(void *data, pai__djob *job)
{
  world *w = data;
  truth *x = (truth *)job;

  x->past.duration = job->ran;
  return pai_history_add(w->history, &x->past, NULL);
}

static const pai__drive_ops ops = { .lasts = lasts,
                                    .started = started,
                                    .ended = ended };

/* --- asking --------------------------------------------------------------- */

static void ask(world *w)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  asked *a = &w->pending[w->npending];
  pai_reason reason = { .struct_size = sizeof(reason) };

  o.runs = w->o->runs;
  o.seed = w->o->seed + w->jobs;
  o.arrivals = w->o->arrivals;
  o.only = w->o->all ? 0 : w->jobs;
  if (w->npending == PENDING ||
      (!w->o->all && pai_sched_reason(w->sched, w->jobs, &reason) < 0))
    return;
  assert_int_equal(
    pai_forecast_new(&a->forecast, w->sched, w->history, &o, NULL), PAI_OK);
  a->left = a->forecast->nwaits;
  a->counts = w->jobs > w->o->learn;
  w->result->forecasts += a->counts && a->left != 0;
  if (a->left == 0)
    pai_forecast_free(a->forecast);
  else
    w->npending++;
}

/* --- the trace ------------------------------------------------------------ */

static const pai__form_role alone = { 1, 1, 0, { false, 0 } };
static const pai__job_form once = { &alone, 1, { false, 0 }, false, true };

static void run_to(world *w, pai_time until)
{
  for (;;) {
    pai_time next = pai__drive_next(&w->drive);

    if (next >= until)
      return;
    assert_int_equal(pai__drive_begin(&w->drive, next, NULL), PAI_OK);
    assert_int_equal(pai__drive_end(&w->drive, NULL), PAI_OK);
  }
}

static const char *copy(char *to, const char *from)
{
  if (from == NULL)
    return NULL;
  (void)snprintf(to, 64, "%s", from);
  return to;
}

static void come(world *w, const pai_trace_record *r)
{
  pai_request q = { .struct_size = sizeof(q),
                    .id = w->jobs,
                    .name = r->name,
                    .user = r->user,
                    .duration = r->estimate,
                    .wants = r->wants,
                    .nwants = r->nwants };
  pai__djob *job;
  truth *x;
  int rc;

  rc = pai__drive_come(&w->drive, &q, &once, &job, NULL);
  if (rc < 0)
    return; /* larger than the cluster */
  assert_int_equal(pai_history_came(w->history, &q, w->drive.now, NULL),
                   PAI_OK);
  x = (truth *)job;
  x->lasts = r->attempts[r->nattempts - 1].duration;
  x->past = (pai_past){ .struct_size = sizeof(pai_past),
                        .user = copy(x->text[0], r->user),
                        .name = copy(x->text[1], r->name),
                        .estimate = r->estimate };
  for (size_t i = 0; i < r->nwants; i++)
    x->past.gpus += (uint64_t)r->wants[i].tasks * r->wants[i].gpus;
}

static void take(world *w, const pai_trace_record *r)
{
  run_to(w, r->time);
  w->jobs++;
  assert_int_equal(pai__drive_begin(&w->drive, r->time, NULL), PAI_OK);
  come(w, r);
  assert_int_equal(pai__drive_end(&w->drive, NULL), PAI_OK);
  w->random = w->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
  if ((w->random >> 33) % w->o->every == 0)
    ask(w);
}

void world_run(pai_trace *trace, const world_options *o, world_result *result)
{
  world w = { .o = o, .result = result, .random = o->seed };
  const pai__drive_options drive = { .ops = &ops,
                                     .data = &w,
                                     .job_size = sizeof(truth) };
  pai_sched_options so = PAI_SCHED_OPTIONS_INIT;
  pai_trace_record r = { .struct_size = sizeof(r) };
  pai_cluster *c;

  *result = (world_result){ 0 };
  so.policy = o->policy;
  assert_int_equal(pai_cluster_synthetic(&c, o->cluster, NULL, NULL), PAI_OK);
  assert_int_equal(pai_sched_new(&w.sched, c, &so, NULL), PAI_OK);
  assert_int_equal(pai_history_new(&w.history, NULL, NULL), PAI_OK);
  assert_int_equal(
    pai__drive_init(&w.drive, &pai__libc_alloc, w.sched, &drive), PAI_OK);
  while (w.jobs < o->jobs && pai_trace_next(trace, &r, NULL) > 0)
    if (r.kind == PAI_RECORD_JOB)
      take(&w, &r);
  run_to(&w, INT64_MAX);
  for (size_t i = 0; i < w.npending; i++)
    pai_forecast_free(w.pending[i].forecast);
  pai__drive_dispose(&w.drive);
  pai_history_free(w.history);
  pai_sched_free(w.sched);
  pai_cluster_free(c);
}
