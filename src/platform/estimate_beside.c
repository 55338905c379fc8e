/*
 * estimate_beside.c - estimates that are made beside the loop
 *
 * The loop only makes a fork of the scheduler, and learns from what ended; into
 * the futures another thread drives it.  One look ahead at a time, for the threads
 * are the database's, too.  All that wait for an estimate when it begins share
 * it, and so does whoever asks while nothing has happened since.  Policies that
 * are not built in may have to be in the loop's thread: these are asked there.
 */
#include "platform/estimate.h"

#include "sched/policy.h"

#include <openpai/records.h>

#include <stdatomic.h>

enum {
  MOST = 64,      /* that are asked for at a time */
  FRESH = 5000000 /* microseconds for which a look ahead is not repeated */
};

struct pai_estimate {
  pai_platform *p;
  pai_estimate *next;
  pai_job_id job;
  pai_estimate_cb cb;
  void *user_data;
  bool cancelled;
  bool looked_for; /* it shares the look that is made */
  uint64_t request;
};

/* A look ahead: while it is made it belongs to the other thread; then its
 * forecast is kept, until there is a next one. */
struct pai__look {
  pai_platform *p;
  pai__work *work;
  atomic_bool stopped; /* nobody wants to know any more */
  bool running;
  bool all;        /* it is of all that wait, */
  uint64_t events; /* as they were after so many of the scheduler's, */
  pai_time made;   /* at that time of the loop */
  pai_sched *fork;
  pai_history *learnt;
  pai_forecast_options options;
  pai_forecast *forecast;
  int rc;
  pai_error *err;
};

/* --- beside the loop ------------------------------------------------------------ */

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

/* It is nobody's mistake that there is no look ahead. */
static int why_not(const pai__look *l, pai_error **err)
{
  if (l->rc == PAI_EINVAL || l->rc == PAI_ENOTSUP)
    return pai__fail(
      err, PAI_ENOTSUP,
      "the scheduler's policy cannot predict when a job starts");
  return pai__fail(err, l->rc, "%s", pai_error_message(l->err));
}

/* Calls back, and there it ends.  Without a look the job does not wait, or the
 * loop's thread is to look. */
static void tell(pai_estimate *e, const pai__look *look)
{
  pai_platform *p = e->p;
  pai_error *err = NULL;
  pai__buf text;
  int rc = PAI_OK;

  pai__buf_init(&text, &p->alloc);
  if (e->cancelled)
    rc = pai__fail(&err, PAI_ECANCELED, "nobody wants to know any more");
  else if (look != NULL && look->rc < 0)
    rc = why_not(look, &err);
  if (rc == PAI_OK)
    rc = pai__estimate_write(p, e->job, look != NULL ? look->forecast : NULL,
                             e->request, add, &text, &err);
  take_out(e);
  e->cb(e->user_data, rc, rc == PAI_OK ? text.data : NULL,
        rc == PAI_OK ? text.len : 0, err);
  pai__buf_dispose(&text);
  pai_error_free(err);
  pai__free(&p->alloc, e, sizeof(*e));
  pai__turn_ask(p->kick);
}

/* One that shares the look; or NULL. */
static pai_estimate *find_shared(const pai_platform *p)
{
  pai_estimate *e = p->estimates;

  while (e != NULL && !e->looked_for)
    e = e->next;
  return e;
}

/* Who has another request by now is looked at again in its turn. */
static void on_looked(void *user_data)
{
  pai__look *l = user_data;
  pai_platform *p = l->p;
  pai_estimate *e;

  l->running = false;
  while ((e = find_shared(p)) != NULL) {
    uint64_t request = pai__estimate_request(p, e->job);

    e->looked_for = false;
    if (l->rc < 0 || request == 0 || request == e->request || e->cancelled)
      tell(e, l);
  }
  pai_history_free(l->learnt);
  pai_sched_free(l->fork);
  l->learnt = NULL;
  l->fork = NULL;
  pai__turn_ask(p->kick);
}

/* --- the line --------------------------------------------------------------------- */

static uint64_t events_of(const pai_platform *p)
{
  pai_sched_view sums = { .struct_size = sizeof(sums) };

  (void)pai_sched_view_sums(p->sched, &sums);
  return sums.events;
}

/* Has nothing happened since, and is the request in it? */
static bool still_holds(const pai_platform *p, uint64_t request)
{
  const pai__look *l = p->look;
  pai_when when = { .struct_size = sizeof(when) };

  return l != NULL && l->rc == PAI_OK && l->forecast != NULL &&
         l->events == events_of(p) && pai__loop_time() - l->made < FRESH &&
         pai_forecast_when(l->forecast, request, &when) == PAI_OK;
}

/* Tells whoever need not wait for a look; how many are left. */
static size_t tell_others(pai_platform *p)
{
  bool builtin = pai__policy_is_builtin(p->sched);
  pai_estimate *e = p->estimates, *next;
  size_t left = 0;

  for (; e != NULL; e = next) {
    next = e->next;
    e->request = pai__estimate_request(p, e->job);
    if (e->cancelled || e->request == 0 || !builtin)
      tell(e, NULL);
    else if (still_holds(p, e->request))
      tell(e, p->look);
    else
      left++;
  }
  return left;
}

/* A look for all that ask. */
static int begin(pai__look *l, size_t count)
{
  pai_platform *p = l->p;
  uint64_t request = 0;
  int rc;

  forget_look(l);
  for (pai_estimate *e = p->estimates; e != NULL; e = e->next) {
    e->looked_for = true;
    request = e->request;
  }
  l->events = events_of(p);
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

/* Does anybody want to know what is looked for? */
static bool is_wanted(const pai_platform *p)
{
  const pai_estimate *e = p->estimates;

  while (e != NULL && (e->cancelled || !e->looked_for))
    e = e->next;
  return e != NULL;
}

void pai__estimates_turn(pai_platform *p)
{
  size_t left;

  for (pai_estimate *e = p->estimates; p->closing && e != NULL; e = e->next)
    e->cancelled = true;
  if (p->look != NULL && p->look->running) {
    if (!is_wanted(p))
      atomic_store_explicit(&p->look->stopped, true, memory_order_relaxed);
    return;
  }
  if (p->estimates == NULL)
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
  return p->estimates == NULL && (p->look == NULL || !p->look->running);
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

/* The first time that somebody asks. */
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
  pai_estimate *e, **end;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(p != NULL, err);
  PAI__CHECK_PROCESS(p, err);
  PAI__CHECK_ARG_ERR(cb != NULL, err);
  rc = check(p, err);
  if (rc < 0)
    return rc;
  e = make_look(p) == PAI_OK ? pai__zalloc(&p->alloc, sizeof(*e)) : NULL;
  if (e == NULL)
    return pai__oom(err);
  e->p = p;
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
  e->cancelled = true;
  pai__turn_ask(e->p->kick);
}
