/* forecast.c - forecasts: runs an ensemble and computes the bands of starts */
#include "sim/forecast/forecast.h"

#include <stdlib.h>

enum {
  RUNS = 100,
  MOST_RUNS = 100000,
  LEAST_RUNS = 12,  /* if the caller sets no number and they take long */
  WORK = 60000000,  /* limit of waiting requests, summed over decisions */
  ASK_EVERY = 65536 /* work between calls of `stop`: a few milliseconds */
};

#define HORIZON (INT64_C(90) * 86400 * 1000000)

int pai__forecast_go_on(pai_forecast *f, uint64_t work, pai_error **err)
{
  f->work += work;
  if (f->stop == NULL || f->work < ASK_EVERY)
    return PAI_OK;
  f->work = 0;
  return f->stop(f->stop_data) == 0
           ? PAI_OK
           : pai__fail(err, PAI_ECANCELED, "the forecast was stopped");
}

/* --- making -------------------------------------------------------------- */

int pai__forecast_options(pai_forecast_options *out,
                          const pai_forecast_options *opts, pai_error **err)
{
  *out = (pai_forecast_options){ 0 };
  if (opts != NULL &&
      PAI__OPTIONS_IN(out, opts, pai_forecast_options, only) < 0)
    return pai__fail_struct(err, PAI_EINVAL, opts, "pai_forecast_options");
  out->struct_size = sizeof(*out);
  return PAI_OK;
}

static int make_empty(pai_forecast **out, const pai_sched *sched,
                      const pai_history *history,
                      const pai_forecast_options *opts, pai_error **err)
{
  pai_forecast_options o;
  pai_sched_view view = { .struct_size = sizeof(view) };
  pai_forecast *f;

  if (pai__forecast_options(&o, opts, err) < 0)
    return PAI_EINVAL;
  if (o.runs > MOST_RUNS || o.horizon < 0 || o.arrivals < PAI_ARRIVALS_KNOWN ||
      o.arrivals > PAI_ARRIVALS_NONE)
    return pai__fail(err, PAI_EINVAL,
                     "a forecast has at most %d futures, a horizon of 0 or "
                     "more, and one of PAI_ARRIVALS_*",
                     MOST_RUNS);
  if (o.alloc == NULL)
    o.alloc = pai__sched_alloc(sched);
  f = pai__zalloc(o.alloc, sizeof(*f));
  if (f == NULL)
    return pai__oom(err);
  f->alloc = *o.alloc;
  pai__arena_init(&f->arena, &f->alloc);
  pai__lookup_init(&f->index);
  pai__curves_init(&f->curves, &f->alloc);
  (void)pai_sched_view_sums(sched, &view);
  f->now = view.now;
  f->gpus = view.gpus;
  f->horizon = o.horizon != 0 ? o.horizon : HORIZON;
  f->fixed = o.runs != 0;
  f->room = o.runs != 0 ? o.runs : RUNS;
  f->seed = o.seed;
  f->only = o.only;
  f->stop = o.stop;
  f->stop_data = o.user_data;
  f->arrivals =
    o.arrivals == PAI_ARRIVALS_ALL ||
    (o.arrivals == PAI_ARRIVALS_KNOWN && pai__arrivals_known(history));
  pai__arrival_pattern_init(&f->pattern, f->arrivals ? history : NULL, f->now);
  f->arrivals = f->pattern.n != 0;
  *out = f;
  return PAI_OK;
}

void pai_forecast_free(pai_forecast *forecast)
{
  pai_alloc alloc;

  if (forecast == NULL)
    return;
  alloc = forecast->alloc;
  pai__free(&alloc, forecast->jobs, forecast->njobs * sizeof(*forecast->jobs));
  pai__free(&alloc, forecast->waits,
            forecast->nwaits * sizeof(*forecast->waits));
  pai__free(&alloc, forecast->block,
            (size_t)forecast->nwaits * forecast->room *
              sizeof(*forecast->block));
  pai__free(&alloc, forecast->first,
            forecast->first_cap * sizeof(*forecast->first));
  pai__flat_dispose(&forecast->index.slots, &alloc);
  pai__curves_dispose(&forecast->curves);
  pai__arena_dispose(&forecast->arena);
  pai__free(&alloc, forecast, sizeof(*forecast));
}

static bool waits(const pai_forecast *f, const pai_request_view *v)
{
  return v->state != PAI_REQUEST_STOPPING && v->waiting != 0 &&
         (f->only == 0 || f->only == v->id);
}

/* Allocates the lists at their final lengths. */
static int make_room(pai_forecast *f, const pai_sched *s)
{
  pai_request_view v = { .struct_size = sizeof(v) };
  uint32_t jobs = 0, waiting = 0;

  for (uint64_t id = 0; (id = pai_sched_next(s, id)) != 0; jobs++) {
    (void)pai_sched_view_request(s, id, &v);
    waiting += waits(f, &v);
  }
  f->jobs = pai__realloc(&f->alloc, NULL, 0, jobs, sizeof(*f->jobs));
  if (f->jobs == NULL && jobs != 0)
    return PAI_ENOMEM;
  f->njobs = jobs;
  f->waits = pai__realloc(&f->alloc, NULL, 0, waiting, sizeof(*f->waits));
  if (f->waits == NULL && waiting != 0)
    return PAI_ENOMEM;
  f->nwaits = waiting;
  if (waiting == 0)
    return PAI_OK;
  f->block = pai__realloc(&f->alloc, NULL, 0, (size_t)waiting * f->room,
                          sizeof(*f->block));
  return f->block != NULL ? PAI_OK : PAI_ENOMEM;
}

static const char *keep(pai_forecast *f, const char *s, bool *ok)
{
  const char *copy;

  if (s == NULL)
    return NULL;
  copy = pai__arena_strndup(&f->arena, s, strlen(s));
  *ok = *ok && copy != NULL;
  return copy;
}

static int list_wait(pai_forecast *f, const pai_sched *s,
                     const pai_request_view *v, uint32_t i)
{
  pai__future_wait *w = &f->waits[i];
  pai__request_info r;
  bool ok = true;

  *w =
    (pai__future_wait){ .id = v->id,
                        .alike = PAI_ALIKE_NAME,
                        .stuck = pai__inspect_request(s, v->id, &r) && r.stuck,
                        .waits = f->block + (size_t)i * f->room };
  w->name = keep(f, v->name, &ok);
  w->user = keep(f, v->user, &ok);
  w->vc = keep(f, v->vc, &ok);
  for (uint32_t k = 0; k < f->room; k++)
    w->waits[k] = INT64_MAX;
  return ok ? PAI_OK : PAI_ENOMEM;
}

/* Adds all running instances of a request to the curves. */
static int list_running(pai_forecast *f, const pai_sched *s, uint64_t id,
                        const pai__levels *levels)
{
  uint32_t instance = PAI_SCHED_ALL;
  pai_time since;
  int rc = PAI_OK;

  while (rc == PAI_OK &&
         pai_sched_next_running(s, id, &instance, &since) == PAI_OK)
    rc = pai__curves_add(&f->curves, levels, since, f->now);
  return rc;
}

static int list(pai_forecast *f, const pai_sched *s, const pai_history *h,
                pai_error **err)
{
  pai_request_view v = { .struct_size = sizeof(v) };
  uint32_t i = 0, waiting = 0;
  pai_past past;
  int rc = make_room(f, s);

  for (uint64_t id = 0; rc == PAI_OK && (id = pai_sched_next(s, id)) != 0;
       i++) {
    (void)pai_sched_view_request(s, id, &v);
    pai__past_of(s, &v, &past);
    f->jobs[i] = (pai__future_job){
      .id = id, .gpus = past.gpus, .wait = waits(f, &v) ? waiting : PAI__NONE
    };
    pai__history_levels(h, &past, &f->jobs[i].levels);
    rc = pai__lookup_reserve(&f->index, &f->alloc);
    if (rc < 0)
      break;
    pai__lookup_add(&f->index, id, i);
    if (f->jobs[i].wait != PAI__NONE) {
      rc = list_wait(f, s, &v, waiting++);
      if (rc == PAI_OK && pai__forecast_go_on(f, f->room, err) < 0)
        return PAI_ECANCELED;
    }
    if (rc == PAI_OK)
      rc = list_running(f, s, id, &f->jobs[i].levels);
  }
  pai__curves_make(&f->curves);
  for (i = 0; i < f->njobs && rc == PAI_OK; i++)
    pai__curves_find(&f->curves, &f->jobs[i].levels);
  return rc < 0 ? pai__oom(err) : PAI_OK;
}

/* --- bands --------------------------------------------------------------- */

int pai__by_time(const void *a, const void *b)
{
  pai_time x = *(const pai_time *)a, y = *(const pai_time *)b;

  return (x > y) - (x < y);
}

static pai_time time_of(const pai_forecast *f, const pai__future_wait *w,
                        int32_t score)
{
  pai_time wait = pai__score_wait(w->waits, f->runs, score);

  return f->now < 0 || wait < INT64_MAX - f->now ? f->now + wait : INT64_MAX;
}

int pai__forecast_count(pai_forecast *f, const pai_history *h, pai_error **err)
{
  int32_t p10 = pai__score_for(h, PAI__P10), p50 = pai__score_for(h, PAI__P50),
          p90 = pai__score_for(h, PAI__P90);

  f->calibrated = h != NULL ? h->nscores : 0;
  for (uint32_t i = 0; i < f->nwaits; i++) {
    pai__future_wait *w = &f->waits[i];

    if (pai__forecast_go_on(f, f->runs, err) < 0)
      return PAI_ECANCELED;
    qsort(w->waits, f->runs, sizeof(*w->waits), pai__by_time);
    w->p10 = time_of(f, w, p10);
    w->p50 = time_of(f, w, p50);
    w->p90 = time_of(f, w, p90);
    if (w->guessed * 2 < w->started) /* limits told the durations */
      w->alike = PAI_ALIKE_NONE;
  }
  return PAI_OK;
}

/* Large queues get fewer futures, to limit the time of an answer, unless the
 * caller has set the number. */
static int run_all(pai_forecast *f, const pai_sched *sched,
                   const pai_history *history,
                   const pai__first_failures *failures, pai_error **err)
{
  int rc = PAI_OK;

  while (f->runs < f->room && rc == PAI_OK &&
         (f->fixed || f->runs < LEAST_RUNS || f->spent < WORK)) {
    rc = pai__forecast_go_on(f, ASK_EVERY, err);
    if (rc == PAI_OK)
      rc = pai__future_run(f, sched, history, failures, f->runs, err);
    f->runs++;
  }
  return rc;
}

int pai__forecast_run(pai_forecast **out, const pai_sched *sched,
                      const pai_history *history,
                      const pai_forecast_options *opts,
                      const pai__first_failures *failures, pai_error **err)
{
  pai_forecast *f = NULL;
  int rc = make_empty(&f, sched, history, opts, err);

  if (f == NULL)
    return rc;
  f->believed = history == NULL;
  rc = list(f, sched, history, err);
  if (rc == PAI_OK)
    rc = run_all(f, sched, history, failures, err);
  if (rc == PAI_OK)
    *out = f;
  else
    pai_forecast_free(f);
  return rc;
}

int pai__forecast_make(pai_forecast **out, const pai_sched *sched,
                       const pai_history *history,
                       const pai_forecast_options *opts, pai_error **err)
{
  int rc = pai__forecast_run(out, sched, history, opts, NULL, err);

  if (rc < 0 || *out == NULL)
    return rc;
  rc = pai__forecast_count(*out, history, err);
  if (rc < 0) {
    pai_forecast_free(*out);
    *out = NULL;
  }
  return rc;
}

int pai_forecast_new(pai_forecast **out, const pai_sched *sched,
                     const pai_history *history,
                     const pai_forecast_options *opts, pai_error **err)
{
  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(sched != NULL, err);
  return pai__forecast_make(out, sched, history, opts, err);
}

/* --- results ------------------------------------------------------------- */

pai__future_wait *pai__forecast_find(const pai_forecast *f, uint64_t id)
{
  uint32_t i = id != 0 ? pai__lookup_get(&f->index, id) : PAI__NONE;

  return i != PAI__NONE && f->jobs[i].wait != PAI__NONE
           ? &f->waits[f->jobs[i].wait]
           : NULL;
}

int pai_forecast_when(const pai_forecast *forecast, uint64_t id,
                      pai_when *when)
{
  pai_when v = { .struct_size = sizeof(v), .id = id };
  const pai__future_wait *w;

  PAI__CHECK_ARG(forecast != NULL && when != NULL);
  w = pai__forecast_find(forecast, id);
  if (w == NULL)
    return PAI_ENOTFOUND;
  v.p10 = w->p10;
  v.p50 = w->p50;
  v.p90 = w->p90;
  v.runs = forecast->runs;
  v.started = w->started;
  v.alike = w->alike;
  v.guessed = w->started != 0
                ? (uint32_t)((w->guessed + w->started / 2) / w->started)
                : 0;
  v.unlike = pai__curves_unlike(&forecast->curves);
  v.unknown = w->blind;
  return PAI__FILL_VIEW(when, v, pai_when, guessed);
}

uint64_t pai_forecast_next(const pai_forecast *forecast, uint64_t id)
{
  const pai__future_wait *w;

  if (forecast == NULL || forecast->nwaits == 0)
    return 0;
  if (id == 0)
    return forecast->waits[0].id;
  w = pai__forecast_find(forecast, id);
  return w != NULL && w + 1 < forecast->waits + forecast->nwaits ? w[1].id : 0;
}

int pai_forecast_met(const pai_forecast *forecast, uint64_t id,
                     pai_time started, pai_history *history)
{
  const pai__future_wait *w;

  PAI__CHECK_ARG(forecast != NULL && history != NULL &&
                 started >= forecast->now);
  w = pai__forecast_find(forecast, id);
  if (w == NULL)
    return PAI_ENOTFOUND;
  pai__history_score(
    history, pai__score_of(w->waits, forecast->runs, started - forecast->now));
  pai__history_level(history, PAI__P10, started > w->p10);
  pai__history_level(history, PAI__P50, started > w->p50);
  pai__history_level(history, PAI__P90, started > w->p90);
  return PAI_OK;
}
