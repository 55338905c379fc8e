/*
 * estimate.c - when a job that waits will start, and one that runs will end
 *
 * The scheduler is driven into many futures, as it is; how long jobs take is
 * learnt from those that ended here last.
 */
#include "platform/estimate.h"
#include "platform/records.h"
#include "platform/rooms.h"

#include "base/arena.h"

enum {
  LEARNT = 1000,
  WORK = 20000, /* requests that wait, times futures */
  RUNS = 100,
  LEAST_RUNS = 12
};

typedef struct learning {
  pai__arena arena;
  pai_past list[LEARNT]; /* the last one first */
  size_t n;
  pai_time wall; /* of the scheduler's time 0 */
} learning;

/* --- what is known ---------------------------------------------------------------- */

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

/* From the scheduler's time to the wall's, as all that is told here. */
static pai_time to_wall(const pai_platform *p)
{
  return pai__loop_wall_time() - pai__platform_now(p);
}

/* The last ones count most, so they come last. */
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

/* --- answers ---------------------------------------------------------------------- */

/* What should have happened by now may happen at any moment. */
static void member_when(pai__reply *a, const char *key, pai_time time,
                        pai_time wall)
{
  pai_time now = pai__loop_wall_time();
  bool there = time != INT64_MAX;

  time = there && time + wall > now ? time + wall : now;
  pai__member_maybe(a, key, (pai__maybe){ there, there ? time / 1000 : 0 });
}

static void member_band(pai__reply *a, const char *key, const pai_time at[3],
                        pai_time wall)
{
  pai__member(a, key);
  pai__json_begin_object(&a->w);
  member_when(a, "p10", at[0], wall);
  member_when(a, "p50", at[1], wall);
  member_when(a, "p90", at[2], wall);
  pai__json_end_object(&a->w);
}

/* Whom guesses were made of: "if jobs take as long as these did". */
static const char *alike_text(int alike)
{
  static const char *const words[] = {
    NULL, /* nothing is known: as long again, or an hour */
    "any that ended",
    "jobs of the same size",
    "jobs of the same size and virtual cluster",
    "jobs of the same user",
    "jobs of the same user and size",
    "jobs of the same name"
  };

  return alike >= 0 && alike < (int)PAI__LEN(words) ? words[alike] : NULL;
}

/* The more wait, the fewer futures. */
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

static void write_start(pai__reply *a, const pai_forecast *forecast,
                        uint64_t request)
{
  pai_when when = { .struct_size = sizeof(when) };

  if (pai_forecast_when(forecast, request, &when) == PAI_OK) {
    const pai_time at[] = { when.p10, when.p50, when.p90 };

    pai__member(a, "unknown");
    pai__json_bool(&a->w, when.unknown != 0);
    if (when.unknown) {
      pai__member(a, "start");
      pai__json_null(&a->w);
    } else {
      member_band(a, "start", at, to_wall(a->p));
    }
    pai__member_int(a, "runs", when.runs);
    pai__member_int(a, "started", when.started);
    pai__member_int(a, "guessed", when.guessed);
    pai__member_text(a, "alike",
                     when.started > 0 ? alike_text(when.alike) : NULL);
    pai__member(a, "unlike");
    pai__json_bool(&a->w, when.unlike != 0);
  } else {
    pai__member(a, "start");
    pai__json_null(&a->w);
  }
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

/* Here and now. */
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
  pai_history *learnt;
  int rc = pai__estimate_learn(&learnt, a->p, a->err);

  for (size_t r = 0; r < j->spec->nroles; r++)
    like.gpus +=
      (uint64_t)j->spec->roles[r].gpus * pai__job_roles(&j->job)[r].tasks;
  pai__member_time(a, "startedAt", j->launched);
  if (rc == PAI_OK && j->latest.launched != 0 &&
      pai_history_guess(learnt, &like, ran > 0 ? ran : 0, &g) == PAI_OK &&
      !g.unknown) {
    const pai_time at[] = { g.p10, g.p50, g.p90 };

    member_band(a, "end", at, j->latest.launched);
    pai__member_text(a, "alike", alike_text(g.alike));
  }
  pai_history_free(learnt);
  return rc;
}

static int on_row(void *user_data, const pai__job_row *row)
{
  pai__member_text(user_data, "state", row->state);
  return PAI_OK;
}

static uint64_t request_of(const pai__pjob *j)
{
  return j->job.state != PAI__JOB_DONE &&
             pai__job_public_state(&j->job) == PAI_STATE_WAITING
           ? pai__room_waiting(j)
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
    /* It is nobody's mistake. */
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
  const pai__pjob *j;
  pai__reply a;
  int rc = pai__reply_begin(&a, p, write, user_data, err);

  if (rc < 0)
    return rc;
  j = pai__platform_find_job(p, job);
  pai__json_begin_object(&a.w);
  rc = pai__store_job(p->store, job, on_row, &a, err);
  pai__member_int(&a, "now", pai__loop_wall_time() / 1000);
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

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(p != NULL, err);
  PAI__CHECK_PROCESS(p, err);
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
