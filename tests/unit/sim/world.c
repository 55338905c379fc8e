/* world.c - a trace runs, and forecasts are made of it */
#include "sim/world.h"

#include "testing.h"

#include "base/buf.h"
#include "sim/drive.h"
#include "sim/forecast/forecast.h"

#include <stdio.h>
#include <stdlib.h>

enum { PENDING = 4096, MOST_VCS = 4 };

typedef struct asked {
  pai_forecast *forecast;
  uint64_t id;
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

/* How long a job really takes, and what is known of it. */
typedef struct fate {
  pai_time lasts;
  pai_past past;
  char text[3][64];
} fate;

typedef struct truth {
  pai__driven_job job;
  fate fate;
} truth;

typedef struct hope {
  pai__waiting_job wait;
  fate fate;
} hope;

/* --- the cluster ---------------------------------------------------------- */

/* GPU seconds of each virtual cluster; they are vc1, vc2, ... */
static void add_work(const pai_generate_options *made, uint64_t *work)
{
  pai_trace_record r = { .struct_size = sizeof(r) };
  pai_trace *t;

  assert_ok(pai_trace_generate(&t, made, NULL));
  while (pai_trace_next(t, &r, NULL) > 0) {
    uint64_t gpus = 0, vc = strtoull(r.vc + 2, NULL, 10);

    for (size_t i = 0; i < r.nwants; i++)
      gpus += (uint64_t)r.wants[i].tasks * r.wants[i].gpus;
    assert_in_range(vc, 1, MOST_VCS);
    work[vc - 1] +=
      gpus * (uint64_t)(r.attempts[r.nattempts - 1].duration / 1000000);
  }
  pai_trace_free(t);
}

pai_cluster *world_cluster(const pai_generate_options *made, uint32_t nodes)
{
  uint64_t work[MOST_VCS] = { 0 }, all = 0;
  uint32_t left = nodes, vcs = made->virtual_clusters;
  pai_cluster *c;
  pai__buf text = test_buf();

  pai__buf_printf(&text,
                  "skus: {box: {gpu: v100, gpus: 8, cpus: 64, memory: 1T}}\n"
                  "nodes: [{name: 'n[001-%03u]', sku: box}]\n",
                  nodes);
  if (vcs != 0)
    add_work(made, work);
  for (uint32_t i = 0; i < vcs; i++)
    all += work[i];
  for (uint32_t i = 0; i < vcs; i++) {
    uint32_t share =
      (uint32_t)((work[i] * nodes + all / 2) / (all > 0 ? all : 1));

    if (share < 4 || i + 1 == vcs)
      share = i + 1 < vcs ? 4 : left;
    left -= share;
    pai__buf_printf(&text, "%svc%u: {cells: {box: %u}}",
                    i == 0 ? "virtualClusters: {" : ", ", i + 1, share);
  }
  pai__buf_str(&text, vcs != 0 ? "}\n" : "");
  assert_ok(pai_cluster_parse(&c, pai__buf_text(&text), text.len, NULL, NULL));
  pai__buf_dispose(&text);
  return c;
}

/* --- the world ------------------------------------------------------------ */

static const pai__form_role alone = { 1, 1, 0, { false, 0 } };
static const pai__job_form once = { .roles = &alone,
                                    .nroles = 1,
                                    .raw = true };

static int begins(void *data, const pai__waiting_job *wait,
                  pai__driven_job *job, const pai__job_form **form)
{
  fate *to = &((truth *)job)->fate;

  (void)data;
  *to = ((const hope *)wait)->fate;
  if (to->past.user != NULL)
    to->past.user = to->text[0];
  if (to->past.name != NULL)
    to->past.name = to->text[1];
  if (to->past.vc != NULL)
    to->past.vc = to->text[2];
  *form = &once;
  return PAI_OK;
}

static int lasts(void *data, pai__driven_job *job)
{
  (void)data;
  job->lasts = ((truth *)job)->fate.lasts;
  return PAI_OK;
}

static void weigh(world_result *r, const asked *a, pai_time now)
{
  const pai__future_wait *x = pai__forecast_find(a->forecast, a->id);
  pai_when when = { .struct_size = sizeof(when) };
  int32_t score =
    pai__score_of(x->waits, a->forecast->runs, now - a->forecast->now);

  assert_ok(pai_forecast_when(a->forecast, a->id, &when));
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

static int started(void *data, pai__driven_job *job)
{
  world *w = data;
  pai_time now = w->drive.now;
  size_t kept = 0;

  for (size_t i = 0; i < w->npending; i++) {
    asked *a = &w->pending[i];

    if (a->id != job->id) {
      w->pending[kept++] = *a;
      continue;
    }
    if (a->counts)
      weigh(w->result, a, now);
    (void)pai_forecast_met(a->forecast, a->id, now, w->history);
    pai_forecast_free(a->forecast);
  }
  w->npending = kept;
  return PAI_OK;
}

static int ended(void *data, pai__driven_job *job)
{
  world *w = data;
  truth *x = (truth *)job;

  x->fate.past.duration = job->ran;
  return pai_history_add(w->history, &x->fate.past, NULL);
}

static const pai__drive_ops ops = {
  .begins = begins, .lasts = lasts, .started = started, .ended = ended
};

/* --- asking --------------------------------------------------------------- */

static bool may_start(const pai_sched *s, uint64_t id)
{
  pai_reason why = { .struct_size = sizeof(why) };
  pai_request_view v = { .struct_size = sizeof(v) };

  return pai_sched_reason(s, id, &why) == PAI_OK &&
         why.lack != PAI_LACK_NOTHING &&
         pai_sched_view_request(s, id, &v) == PAI_OK && v.waiting != 0 &&
         v.state != PAI_REQUEST_STOPPING;
}

/* 0: none. */
static uint64_t any_waiting(const world *w)
{
  uint64_t n = 0, which;

  for (uint64_t id = 0; (id = pai_sched_next(w->sched, id)) != 0;)
    n += may_start(w->sched, id);
  which = n != 0 ? (w->random >> 20) % n : 0;
  for (uint64_t id = 0; n != 0 && (id = pai_sched_next(w->sched, id)) != 0;)
    if (may_start(w->sched, id) && which-- == 0)
      return id;
  return 0;
}

static void ask(world *w)
{
  const world_options *o = w->o;
  pai_forecast_options f = PAI_FORECAST_OPTIONS_INIT;
  asked *a = &w->pending[w->npending];

  f.runs = o->runs;
  f.seed = o->seed + w->jobs;
  f.arrivals = o->arrivals;
  f.only = o->any ? any_waiting(w) : w->jobs;
  if (w->npending == PENDING || f.only == 0 || !may_start(w->sched, f.only))
    return;
  assert_ok(pai_forecast_new(&a->forecast, w->sched, w->history, &f, NULL));
  assert_true(pai_forecast_next(a->forecast, 0) == f.only);
  a->id = f.only;
  a->counts = w->jobs > o->learn && (o->until == 0 || w->jobs <= o->until);
  w->result->forecasts += a->counts;
  w->npending++;
}

/* --- the trace ------------------------------------------------------------ */

static void run_to(world *w, pai_time until)
{
  for (;;) {
    pai_time next = pai__drive_next(&w->drive);

    if (next >= until)
      return;
    assert_ok(pai__drive_begin(&w->drive, next, NULL));
    assert_ok(pai__drive_end(&w->drive, NULL));
  }
}

static const char *copy(char *to, const char *from)
{
  if (from == NULL)
    return NULL;
  (void)snprintf(to, 64, "%s", from);
  return to;
}

/* One in eight is urgent, one in eight gives way to all. */
static int priority_of(uint64_t job)
{
  uint64_t random = job * UINT64_C(0x9e3779b97f4a7c15) >> 61;

  return random == 0 ? 10 : random == 1 ? PAI_SCHED_OPPORTUNISTIC : 0;
}

static void come(world *w, const pai_trace_record *r)
{
  pai_request q = { .struct_size = sizeof(q),
                    .id = w->jobs,
                    .name = r->name,
                    .user = r->user,
                    .vc = w->o->vcs ? r->vc : NULL,
                    .priority = w->o->mixed ? priority_of(w->jobs) : 0,
                    .duration = r->estimate,
                    .wants = r->wants,
                    .nwants = r->nwants };
  pai__waiting_job *wait;
  fate *x;
  int rc;

  rc = pai__drive_come(&w->drive, &q, &wait, NULL);
  if (rc < 0)
    return; /* larger than the cluster */
  assert_ok(pai_history_came(w->history, &q, w->drive.now, NULL));
  x = &((hope *)wait)->fate;
  x->lasts = r->attempts[r->nattempts - 1].duration;
  x->past = (pai_past){ .struct_size = sizeof(pai_past),
                        .user = copy(x->text[0], r->user),
                        .name = copy(x->text[1], r->name),
                        .vc = w->o->vcs ? copy(x->text[2], r->vc) : NULL,
                        .estimate = r->estimate };
  for (size_t i = 0; i < r->nwants; i++)
    x->past.gpus += (uint64_t)r->wants[i].tasks * r->wants[i].gpus;
}

static void take(world *w, const pai_trace_record *r)
{
  run_to(w, r->time);
  w->jobs++;
  assert_ok(pai__drive_begin(&w->drive, r->time, NULL));
  come(w, r);
  assert_ok(pai__drive_end(&w->drive, NULL));
  w->random = w->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
  if ((w->random >> 33) % w->o->every == 0)
    ask(w);
}

/* The trace is over, and nobody knows what would have come: it was told in time
 * unless that is over, too. */
static void close_asked(world_result *r, const asked *a, pai_time now)
{
  pai_when when = { .struct_size = sizeof(when) };

  if (!a->counts)
    return;
  assert_ok(pai_forecast_when(a->forecast, a->id, &when));
  r->told++;
  r->open++;
  r->by10 += now <= when.p10;
  r->by50 += now <= when.p50;
  r->by90 += now <= when.p90;
}

void world_run(pai_trace *trace, const world_options *o, world_result *result)
{
  world w = { .o = o, .result = result, .random = o->seed };
  const pai__drive_options drive = { .ops = &ops,
                                     .data = &w,
                                     .job_size = sizeof(truth),
                                     .wait_size = sizeof(hope) };
  pai_sched_options so = PAI_SCHED_OPTIONS_INIT;
  pai_trace_record r = { .struct_size = sizeof(r) };

  *result = (world_result){ 0 };
  so.policy = o->policy;
  assert_ok(pai_sched_new(&w.sched, o->cluster, &so, NULL));
  assert_ok(pai_history_new(&w.history, NULL, NULL));
  assert_ok(pai__drive_init(&w.drive, &pai__libc_alloc, w.sched, &drive));
  while (w.jobs < o->jobs && pai_trace_next(trace, &r, NULL) > 0)
    if (r.kind == PAI_RECORD_JOB)
      take(&w, &r);
  for (size_t i = 0; i < w.npending; i++)
    close_asked(result, &w.pending[i], w.drive.now);
  for (size_t i = 0; i < w.npending; i++)
    pai_forecast_free(w.pending[i].forecast);
  pai__drive_dispose(&w.drive);
  pai_history_free(w.history);
  pai_sched_free(w.sched);
}
