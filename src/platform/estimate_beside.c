/*
 * estimate_beside.c - estimates that are made beside the loop
 *
 * The loop only makes a fork of the scheduler, and learns from what ended; into
 * the futures another thread drives it.  One at a time, for the threads are the
 * database's, too; the others wait in a line.  Policies that are not built in
 * may have to be in the loop's thread: these are asked there.
 */
#include "platform/estimate.h"

#include "sched/policy.h"

#include <openpai/records.h>

#include <stdatomic.h>

enum { MOST = 64 }; /* that are asked for at a time */

struct pai_estimate {
  pai_platform *p;
  pai_estimate *next;
  pai_job_id job;
  pai_estimate_cb cb;
  void *user_data;
  atomic_bool cancelled;
  bool running;

  /* While it is made beside the loop. */
  pai__work *work;
  uint64_t request;
  pai_sched *fork;
  pai_history *learnt;
  pai_forecast_options options;
  pai_forecast *forecast;
  int rc;
  pai_error *err;
};

static void free_estimate(pai_estimate *e)
{
  pai_alloc alloc = e->p->alloc;

  pai__work_close(e->work);
  pai_forecast_free(e->forecast);
  pai_history_free(e->learnt);
  pai_sched_free(e->fork);
  pai_error_free(e->err);
  pai__free(&alloc, e, sizeof(*e));
}

/* --- beside the loop ------------------------------------------------------------ */

static int is_cancelled(void *user_data)
{
  return atomic_load_explicit(&((pai_estimate *)user_data)->cancelled,
                              memory_order_relaxed);
}

static void look_ahead(void *user_data)
{
  pai_estimate *e = user_data;

  e->rc =
    pai_forecast_new(&e->forecast, e->fork, e->learnt, &e->options, &e->err);
}

/* --- the end ---------------------------------------------------------------------- */

static void take_out(pai_estimate *e)
{
  pai_estimate **at = &e->p->estimates;

  while (*at != e)
    at = &(*at)->next;
  *at = e->next;
  e->p->nestimates--;
}

static int add(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return pai__buf_ok(user_data) ? PAI_OK : PAI_ENOMEM;
}

/* Calls back, and there it ends. */
static void tell(pai_estimate *e)
{
  pai_platform *p = e->p;
  pai__buf text;
  int rc = e->rc;

  pai__buf_init(&text, &p->alloc);
  if (is_cancelled(e) && rc != PAI_ECANCELED) {
    pai_error_free(e->err);
    rc = pai__fail(&e->err, PAI_ECANCELED, "nobody wants to know any more");
  }
  if (rc == PAI_EINVAL || rc == PAI_ENOTSUP) {
    /* It is nobody's mistake. */
    pai_error_free(e->err);
    rc = pai__fail(&e->err, PAI_ENOTSUP,
                   "the scheduler's policy cannot tell when a job starts");
  }
  if (rc == PAI_OK)
    rc = pai__estimate_write(p, e->job, e->forecast, e->request, add, &text,
                             &e->err);
  take_out(e);
  e->cb(e->user_data, rc, rc == PAI_OK ? text.data : NULL,
        rc == PAI_OK ? text.len : 0, e->err);
  pai__buf_dispose(&text);
  free_estimate(e);
  pai__turn_ask(p->kick);
}

/* Has it another request by now, it is looked at again in its turn. */
static void on_looked(void *user_data)
{
  pai_estimate *e = user_data;
  uint64_t request = pai__estimate_request(e->p, e->job);

  e->running = false;
  if (e->rc < 0 || request == 0 || request == e->request || is_cancelled(e)) {
    tell(e);
    return;
  }
  pai_forecast_free(e->forecast);
  pai_history_free(e->learnt);
  pai_sched_free(e->fork);
  e->forecast = NULL;
  e->learnt = NULL;
  e->fork = NULL;
  pai__turn_ask(e->p->kick);
}

/* --- the line --------------------------------------------------------------------- */

static void begin(pai_estimate *e)
{
  const pai_platform *p = e->p;

  e->request = pai__estimate_request(p, e->job);
  if (e->request == 0 || !pai__policy_is_builtin(p->sched)) {
    tell(e);
    return;
  }
  e->rc = pai__estimate_learn(&e->learnt, p, &e->err);
  if (e->rc == PAI_OK)
    e->rc = pai__estimate_fork(&e->fork, p, &e->err);
  if (e->rc < 0) {
    tell(e);
    return;
  }
  e->options = pai__estimate_options(p, e->request);
  e->options.stop = is_cancelled;
  e->options.user_data = e;
  e->running = true;
  pai__work_start(e->work);
}

/* The one that is first and does not run, of those that nobody wants any more or
 * of all; or NULL. */
static pai_estimate *first(const pai_platform *p, bool cancelled)
{
  pai_estimate *e = p->estimates;

  while (e != NULL && (e->running || (cancelled && !is_cancelled(e))))
    e = e->next;
  return e;
}

void pai__estimates_turn(pai_platform *p)
{
  pai_estimate *e = p->estimates;

  for (; p->closing && e != NULL; e = e->next)
    atomic_store_explicit(&e->cancelled, true, memory_order_relaxed);
  while ((e = first(p, true)) != NULL)
    tell(e);
  e = p->estimates;
  while (e != NULL && !e->running)
    e = e->next;
  if (e == NULL && (e = first(p, false)) != NULL)
    begin(e);
}

bool pai__estimates_are_idle(const pai_platform *p)
{
  return p->estimates == NULL;
}

/* --- for callers ------------------------------------------------------------------ */

static int check(const pai_platform *p, pai_error **err)
{
  if (p->store == NULL)
    return pai__fail(err, PAI_ENOTSUP, "the platform keeps no records");
  if (p->closing)
    return pai__fail(err, PAI_EBUSY, "the platform is closing");
  if (p->nestimates >= MOST)
    return pai__fail(err, PAI_EBUSY,
                     "%d estimates are being made: ask again later", MOST);
  return PAI_OK;
}

int pai_platform_estimate_beside(pai_estimate **out, pai_platform *p,
                                 pai_job_id job, pai_estimate_cb cb,
                                 void *user_data, pai_error **err)
{
  pai_estimate *e, **end;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(p != NULL, err);
  PAI__CHECK_ARG_ERR(cb != NULL, err);
  rc = check(p, err);
  if (rc < 0)
    return rc;
  e = pai__zalloc(&p->alloc, sizeof(*e));
  if (e == NULL)
    return pai__oom(err);
  e->p = p;
  if (pai__work_new(&e->work, &p->alloc, p->loop, look_ahead, on_looked, e) <
      0) {
    free_estimate(e);
    return pai__oom(err);
  }
  e->job = job;
  e->cb = cb;
  e->user_data = user_data;
  for (end = &p->estimates; *end != NULL; end = &(*end)->next) {
  }
  *end = e;
  p->nestimates++;
  pai__turn_ask(p->kick);
  *out = e;
  return PAI_OK;
}

void pai_estimate_cancel(pai_estimate *e)
{
  if (e == NULL)
    return;
  atomic_store_explicit(&e->cancelled, true, memory_order_relaxed);
  pai__turn_ask(e->p->kick);
}
