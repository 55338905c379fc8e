/*
 * estimate_beside.c - estimates that are made in another thread
 *
 * The loop only forks the scheduler and reads the history; another thread runs
 * the forecast.  There is one forecast at a time, because commits use the same
 * threads.  All estimates that wait when it begins share it, and so do later
 * ones as long as the scheduler has no new event.  Policies that are not built
 * in may need the loop's thread: their estimates are made there.
 */
#include "platform/records/estimate.h"
#include "platform/records/questions.h"

#include "sched/policy/policy.h"

#include <openpai/records.h>

#include <stdatomic.h>

enum {
  MOST = 64,      /* estimates at a time */
  FRESH = 5000000 /* microseconds for which a forecast is used again */
};

/* A forecast; questions whose `source` is 1 wait for it.  While `running` it
 * belongs to the other thread; then it is kept until the next one. */
struct pai__look {
  pai_platform *p;
  pai__work *work;
  atomic_bool stopped; /* no estimate needs it any more */
  bool running;
  uint64_t events; /* number of the scheduler's events when it began */
  pai_time made;   /* loop time when it began */
  pai_sched *fork;
  pai_history *learnt;
  pai_forecast_options options;
  pai_forecast *forecast;
  int rc;
  pai_error *err;
};

/* --- in the other thread -------------------------------------------------- */

static int is_stopped(void *user_data)
{
  return atomic_load_explicit(&((pai__look *)user_data)->stopped,
                              memory_order_relaxed);
}

static void look_ahead(void *user_data)
{
  pai__look *l = user_data;

  l->rc =
    pai_forecast_new(&l->forecast, l->fork, l->learnt, &l->options, &l->err);
}

static void forget_look(pai__look *l)
{
  pai_forecast_free(l->forecast);
  pai_history_free(l->learnt);
  pai_sched_free(l->fork);
  pai_error_free(l->err);
  l->forecast = NULL;
  l->learnt = NULL;
  l->fork = NULL;
  l->err = NULL;
}

/* --- the end -------------------------------------------------------------- */

/* Sets the error of a failed forecast. */
static int why_not(const pai__look *l, pai_error **err)
{
  if (l->rc == PAI_EINVAL || l->rc == PAI_ENOTSUP)
    return pai__fail(
      err, PAI_ENOTSUP,
      "the scheduler's policy cannot predict when a job starts");
  return pai__fail(err, l->rc, "%s", pai_error_message(l->err));
}

/* Without `look` the job does not wait, or the forecast is made in this
 * thread. */
static int answer(pai__question *q, const void *with, pai__buf *out,
                  pai_error **err)
{
  const pai__look *look = with;

  if (look != NULL && look->rc < 0)
    return why_not(look, err);
  return pai__estimate_write(q->p, q->job,
                             look != NULL ? look->forecast : NULL, q->request,
                             pai__buf_write, out, err);
}

/* Finds an estimate that waits for this forecast, or NULL. */
static pai__question *find_shared(const pai_platform *p)
{
  pai__question *e = p->estimates.first;

  while (e != NULL && e->source == 0)
    e = e->next;
  return e;
}

/* A job with another request by now waits for the next forecast. */
static void on_looked(void *user_data)
{
  pai__look *l = user_data;
  pai_platform *p = l->p;
  pai__question *e;

  l->running = false;
  while ((e = find_shared(p)) != NULL) {
    uint64_t request = pai__estimate_request(p, e->job);

    e->source = 0;
    if (l->rc < 0 || request == 0 || request == e->request || e->cancelled)
      pai__question_tell(e, answer, l);
  }
  pai_history_free(l->learnt);
  pai_sched_free(l->fork);
  l->learnt = NULL;
  l->fork = NULL;
  pai__loop_step_ask(p->kick);
}

/* --- the queue ------------------------------------------------------------ */

/* Tells whether the last forecast is current and contains the request. */
static bool still_holds(const pai_platform *p, uint64_t request)
{
  const pai__look *l = p->look;
  pai_when when = { .struct_size = sizeof(when) };

  return l != NULL && l->rc == PAI_OK && l->forecast != NULL &&
         l->events == pai__platform_events(p) &&
         pai__loop_time() - l->made < FRESH &&
         pai_forecast_when(l->forecast, request, &when) == PAI_OK;
}

/* Ends estimates that need no new forecast.  Returns how many are left. */
static size_t tell_others(pai_platform *p)
{
  bool builtin = pai__policy_is_builtin(p->sched);
  pai__question *e = p->estimates.first, *next;
  size_t left = 0;

  for (; e != NULL; e = next) {
    next = e->next;
    e->request = pai__estimate_request(p, e->job);
    if (e->cancelled || e->request == 0 || !builtin)
      pai__question_tell(e, answer, NULL);
    else if (still_holds(p, e->request))
      pai__question_tell(e, answer, p->look);
    else
      left++;
  }
  return left;
}

/* Prepares a forecast for all waiting estimates. */
static int begin(pai__look *l, size_t count)
{
  pai_platform *p = l->p;
  uint64_t request = 0;
  int rc;

  forget_look(l);
  for (pai__question *e = p->estimates.first; e != NULL; e = e->next) {
    e->source = 1;
    request = e->request;
  }
  l->events = pai__platform_events(p);
  l->made = pai__loop_time();
  rc = pai__estimate_learn(&l->learnt, p, &l->err);
  if (rc == PAI_OK)
    rc = pai__estimate_fork(&l->fork, p, &l->err);
  l->options = pai__estimate_options(p, count == 1 ? request : 0);
  l->options.stop = is_stopped;
  l->options.user_data = l;
  atomic_store_explicit(&l->stopped, false, memory_order_relaxed);
  return rc;
}

/* Tells whether an estimate that is not cancelled waits for the forecast. */
static bool is_wanted(const pai_platform *p)
{
  const pai__question *e = p->estimates.first;

  while (e != NULL && (e->cancelled || e->source == 0))
    e = e->next;
  return e != NULL;
}

void pai__estimates_step(pai_platform *p)
{
  size_t left;

  if (p->closing)
    pai__questions_cancel(&p->estimates);
  if (p->look != NULL && p->look->running) {
    if (!is_wanted(p))
      atomic_store_explicit(&p->look->stopped, true, memory_order_relaxed);
    return;
  }
  if (p->estimates.first == NULL)
    return;
  left = tell_others(p);
  if (left == 0)
    return;
  p->look->rc = begin(p->look, left);
  if (p->look->rc < 0) {
    on_looked(p->look);
    return;
  }
  p->look->running = true;
  pai__work_start(p->look->work);
}

bool pai__estimates_are_idle(const pai_platform *p)
{
  return p->estimates.first == NULL && (p->look == NULL || !p->look->running);
}

void pai__estimates_close(pai_platform *p)
{
  if (p->look == NULL)
    return;
  pai__work_close(p->look->work);
  forget_look(p->look);
  pai__free(&p->alloc, p->look, sizeof(*p->look));
  p->look = NULL;
}

/* --- for callers ---------------------------------------------------------- */

/* Makes p->look with the first estimate. */
static int make_look(pai_platform *p)
{
  pai__look *l;

  if (p->look != NULL)
    return PAI_OK;
  l = pai__zalloc(&p->alloc, sizeof(*l));
  if (l == NULL)
    return PAI_ENOMEM;
  l->p = p;
  if (pai__work_new(&l->work, &p->alloc, p->loop, look_ahead, on_looked, l) <
      0) {
    pai__free(&p->alloc, l, sizeof(*l));
    return PAI_ENOMEM;
  }
  p->look = l;
  return PAI_OK;
}

int pai_platform_estimate_beside(pai_estimate **out, pai_platform *p,
                                 pai_job_id job, pai_estimate_cb cb,
                                 void *user_data, pai_error **err)
{
  static const pai__question_kind kind = { MOST, "estimates", make_look };
  pai__question *q = NULL;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(cb != NULL, err);
  rc = pai__question_ask(&q, &p->estimates, p, job, cb, user_data, &kind, err);
  *out = (pai_estimate *)q;
  return rc;
}

void pai_estimate_cancel(pai_estimate *e)
{
  pai__question_cancel((pai__question *)e);
}
