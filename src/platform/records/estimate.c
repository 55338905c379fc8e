/*
 * estimate.c - forecasts of when a waiting job starts and a running job ends
 *
 * The scheduler is simulated in many futures; durations are drawn from the jobs
 * that ended here last.
 */
#include "platform/records/estimate.h"
#include "platform/records/records.h"
#include "platform/place/single.h"

#include "base/arena.h"

enum {
  LEARNT = 1000,
  WORK = 20000, /* most waiting requests times futures */
  RUNS = 100,
  LEAST_RUNS = 12
};

typedef struct learning {
  pai__arena arena;
  pai_past list[LEARNT]; /* latest first */
  size_t n;
  pai_time wall; /* wall-clock time of the scheduler's time 0 */
} learning;

/* --- history -------------------------------------------------------------- */

static const char *keep(learning *l, const char *text, bool *ok)
{
  const char *copy =
    text != NULL ? pai__arena_strndup(&l->arena, text, strlen(text)) : NULL;

  *ok = *ok && (text == NULL || copy != NULL);
  return copy;
}

static int on_ended(void *user_data, const pai__job_row *row)
{
  learning *l = user_data;
  bool ok = true;

  if (row->launched == 0 || row->completed < row->launched || l->n == LEARNT)
    return PAI_OK;
  l->list[l->n++] = (pai_past){ .struct_size = sizeof(*l->list),
                                .user = keep(l, row->user, &ok),
                                .vc = keep(l, row->vc, &ok),
                                .name = keep(l, row->name, &ok),
                                .gpus = row->gpus,
                                .duration = row->completed - row->launched,
                                .ended = row->completed - l->wall };
  return ok ? PAI_OK : PAI_ENOMEM;
}

/* Returns the offset from the scheduler's time to wall-clock time. */
static pai_time to_wall(const pai_platform *p)
{
  return pai__loop_wall_time() - pai__platform_now(p);
}

/* The latest jobs count most, so they are added last. */
static int learn(pai_history *history, const pai_platform *p, learning *l,
                 pai_error **err)
{
  static const char *const ended[] = { "SUCCEEDED", "FAILED" };
  const pai__job_query query = { .states = { ended, PAI__LEN(ended) },
                                 .order = PAI__BY_COMPLETED,
                                 .limit = LEARNT };
  int rc = pai__store_list(p->store, &query, on_ended, l, NULL, err);

  if (rc == PAI_ENOMEM && err != NULL && *err == NULL)
    rc = pai__oom(err);
  while (rc == PAI_OK && l->n > 0)
    rc = pai_history_add(history, &l->list[--l->n], err);
  return rc;
}

int pai__estimate_learn(pai_history **out, const pai_platform *p,
                        pai_error **err)
{
  learning *l = pai__zalloc(&p->alloc, sizeof(*l));
  int rc;

  *out = NULL;
  if (l == NULL)
    return pai__oom(err);
  pai__arena_init(&l->arena, &p->alloc);
  l->wall = to_wall(p);
  rc = pai_history_new(out, &p->alloc, err);
  if (rc == PAI_OK)
    rc = learn(*out, p, l, err);
  pai__arena_dispose(&l->arena);
  pai__free(&p->alloc, l, sizeof(*l));
  if (rc < 0) {
    pai_history_free(*out);
    *out = NULL;
  }
  return rc;
}

/* --- answers -------------------------------------------------------------- */

/* A time in the past becomes now: the event may happen at any moment. */
static pai_time when_of(pai_time time, pai_time wall)
{
  pai_time now = pai__loop_wall_time();

  if (time == INT64_MAX)
    return 0;
  return time + wall > now ? time + wall : now;
}

/* Names the past jobs that the durations were drawn from. */
static const char *alike_text(int alike)
{
  static const char *const words[] = {
    NULL, /* no history, or time limits told the durations */
    "jobs that ended",
    "jobs of the same size",
    "jobs of the same size and virtual cluster",
    "jobs of the same user",
    "jobs of the same user and size",
    "jobs of the same name"
  };

  return alike >= 0 && alike < (int)PAI__LEN(words) ? words[alike] : NULL;
}

/* Returns the number of futures: fewer if many requests wait. */
static uint32_t runs_for(const pai_platform *p)
{
  pai_sched_view sums = { .struct_size = sizeof(sums) };
  uint32_t runs;

  (void)pai_sched_view_sums(p->sched, &sums);
  runs = WORK / (sums.waiting > 0 ? sums.waiting : 1);
  return runs > RUNS ? RUNS : runs < LEAST_RUNS ? LEAST_RUNS : runs;
}

pai_forecast_options pai__estimate_options(const pai_platform *p,
                                           uint64_t request)
{
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;

  o.alloc = &p->alloc;
  o.only = request;
  o.runs = runs_for(p);
  return o;
}

static int start_value(void *user_data, unsigned field, const void *row)
{
  const pai__estimate_row *e = row;
  pai__reply *a = user_data;

  (void)field; /* PAI__EstimateStart_start */
  if (e->unknown || e->runs == 0)
    pai__json_null(&a->w);
  else
    (void)pai__api_object(&a->w, &pai__api_When, &e->start, NULL, NULL);
  return PAI_OK;
}

static void write_start(pai__reply *a, const pai_forecast *forecast,
                        uint64_t request)
{
  pai_when w = { .struct_size = sizeof(w) };
  pai__estimate_row row = { 0 };

  if (pai_forecast_when(forecast, request, &w) == PAI_OK) {
    const pai_time wall = to_wall(a->p);

    row =
      (pai__estimate_row){ .start = { when_of(w.p10, wall),
                                      when_of(w.p50, wall),
                                      when_of(w.p90, wall) },
                           .runs = w.runs,
                           .started = w.started,
                           .guessed = w.guessed,
                           .alike = w.started > 0 ? alike_text(w.alike) : NULL,
                           .unlike = w.unlike != 0,
                           .unknown = w.unknown != 0 };
  }
  (void)pai__api_write(&a->w, &pai__api_EstimateUnknown, &row, NULL, NULL);
  (void)pai__api_write(&a->w, &pai__api_EstimateStart, &row, start_value, a);
  (void)pai__api_write(&a->w, &pai__api_EstimateAlike, &row, NULL, NULL);
  (void)pai__api_write(&a->w, &pai__api_EstimateUnlike, &row, NULL, NULL);
}

int pai__estimate_fork(pai_sched **out, const pai_platform *p, pai_error **err)
{
  pai_sched_event e = { .struct_size = sizeof(e),
                        .kind = PAI_SCHED_TIME,
                        .time = pai__platform_now(p) };
  int rc = pai_sched_fork(out, p->sched, err);

  if (rc == PAI_OK)
    rc = pai_sched_send(*out, &e, err);
  if (rc < 0) {
    pai_sched_free(*out);
    *out = NULL;
  }
  return rc;
}

/* Makes the forecast in this thread. */
static int look_ahead(pai__reply *a, uint64_t request)
{
  pai_forecast_options o = pai__estimate_options(a->p, request);
  pai_forecast *forecast = NULL;
  pai_sched *now = NULL;
  pai_history *learnt;
  int rc = pai__estimate_learn(&learnt, a->p, a->err);

  if (rc == PAI_OK)
    rc = pai__estimate_fork(&now, a->p, a->err);
  if (rc == PAI_OK)
    rc = pai_forecast_new(&forecast, now, learnt, &o, a->err);
  if (rc == PAI_OK)
    write_start(a, forecast, request);
  pai_forecast_free(forecast);
  pai_sched_free(now);
  pai_history_free(learnt);
  return rc;
}

static int write_end(pai__reply *a, const pai__pjob *j)
{
  pai_past like = { .struct_size = sizeof(like),
                    .user = j->user,
                    .vc = j->vc,
                    .name = j->name,
                    .limit = j->spec->time_limit };
  pai_guess g = { .struct_size = sizeof(g) };
  pai_time ran = pai__loop_wall_time() - j->latest.launched;
  pai__estimate_row row = { 0 };
  pai_history *learnt;
  int rc = pai__estimate_learn(&learnt, a->p, a->err);

  for (size_t r = 0; r < j->spec->nroles; r++)
    like.gpus +=
      (uint64_t)j->spec->roles[r].gpus * pai__job_roles(&j->job)[r].tasks;
  row.started_at = j->launched;
  (void)pai__api_write(&a->w, &pai__api_EstimateBegun, &row, NULL, NULL);
  if (rc == PAI_OK && j->latest.launched != 0 &&
      pai_history_guess(learnt, &like, ran > 0 ? ran : 0, &g) == PAI_OK &&
      !g.unknown) {
    const pai_time wall = j->latest.launched;

    row.end = (pai__when_row){ when_of(g.p10, wall), when_of(g.p50, wall),
                               when_of(g.p90, wall) };
    row.alike = alike_text(g.alike);
    (void)pai__api_write(&a->w, &pai__api_EstimateEnd, &row, NULL, NULL);
    (void)pai__api_write(&a->w, &pai__api_EstimateAlike, &row, NULL, NULL);
  }
  pai_history_free(learnt);
  return rc;
}

static int on_row(void *user_data, const pai__job_row *row)
{
  pai__reply *a = user_data;

  pai__json_put_text(&a->w, "state", row->state);
  return PAI_OK;
}

static uint64_t request_of(const pai__pjob *j)
{
  return j->job.state != PAI__JOB_DONE &&
             pai__job_public_state(&j->job) == PAI_STATE_WAITING
           ? pai__single_waiting(j)
           : 0;
}

uint64_t pai__estimate_request(const pai_platform *p, pai_job_id job)
{
  const pai__pjob *j = pai__platform_find_job(p, job);

  return j != NULL ? request_of(j) : 0;
}

static int write_live(pai__reply *a, const pai__pjob *j,
                      const pai_forecast *forecast, uint64_t request)
{
  uint64_t waits = request_of(j);
  int rc;

  if (waits == 0)
    return write_end(a, j);
  if (forecast != NULL && waits == request) {
    write_start(a, forecast, request);
    return PAI_OK;
  }
  rc = look_ahead(a, waits);
  if (rc == PAI_EINVAL || rc == PAI_ENOTSUP) {
    /* Not an error of the caller's arguments. */
    if (a->err != NULL)
      pai_error_free(*a->err);
    return pai__fail(
      a->err, PAI_ENOTSUP,
      "the scheduler's policy cannot predict when a job starts");
  }
  return rc;
}

int pai__estimate_write(pai_platform *p, pai_job_id job,
                        const pai_forecast *forecast, uint64_t request,
                        pai_write_cb write, void *user_data, pai_error **err)
{
  pai__estimate_row now = { 0 };
  const pai__pjob *j;
  pai__reply a;
  int rc = pai__reply_begin(&a, p, write, user_data, err);

  if (rc < 0)
    return rc;
  j = pai__platform_find_job(p, job);
  pai__json_begin_object(&a.w);
  rc = pai__store_job(p->store, job, on_row, &a, err);
  now.now = pai__loop_wall_time();
  (void)pai__api_write(&a.w, &pai__api_EstimateNow, &now, NULL, NULL);
  if (rc == PAI_OK && j != NULL && j->job.state != PAI__JOB_DONE)
    rc = write_live(&a, j, forecast, request);
  pai__json_end_object(&a.w);
  return pai__reply_end(&a, rc);
}

int pai_platform_snapshot(pai_platform *p, pai_write_cb write, void *user_data,
                          pai_error **err)
{
  pai_sched *now = NULL;
  int rc;

  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(write != NULL, err);
  rc = pai__estimate_fork(&now, p, err);
  if (rc == PAI_OK)
    rc = pai_sched_save(now, write, user_data, err);
  pai_sched_free(now);
  return rc;
}

int pai_platform_estimate(pai_platform *p, pai_job_id job, pai_write_cb write,
                          void *user_data, pai_error **err)
{
  return pai__estimate_write(p, job, NULL, 0, write, user_data, err);
}
