/*
 * why_beside.c - explanations that are made beside the loop
 *
 * To explain why one of thousands waits, changes are tried on forks of the
 * scheduler, which takes milliseconds.  The loop makes one fork for all who ask
 * at a state, and another thread explains one request after the other on it, for
 * the threads are the database's, too.  Who asks about the same request shares
 * its explanation.  As long as nothing has happened, who asks later shares both.
 * Policies that are not built in may have to be in the loop's thread: these are
 * asked there, and so are all where there is little to look at.
 */
#include "platform/why.h"

#include "sched/explained.h"
#include "sched/policy.h"
#include "sched/reuse.h"
#include "sched/sched.h"

#include <openpai/records.h>

enum {
  MOST = 256, /* that are asked for at a time */
  FEW = 256   /* requests of which one is explained on the loop */
};

struct pai_answer {
  pai_platform *p;
  pai_answer *next;
  pai_job_id job;
  pai_answer_cb cb;
  void *user_data;
  bool cancelled;
  uint64_t of; /* the fork was made for it: its number; 0: none was yet */
};

/* While it runs the fork and what follows belong to the other thread. */
struct pai__explainer {
  pai_platform *p;
  pai__work *work;
  bool running;
  uint64_t made;   /* so many forks were */
  uint64_t events; /* of the scheduler, when the last of them was */
  uint64_t request;
  pai__reuse memory; /* of forks; some of it is kept while somebody asks */
  pai_sched *fork;
  pai__buf text, json;
  int rc;
};

/* --- beside the loop ------------------------------------------------------------ */

static int add(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return pai__buf_ok(user_data) ? PAI_OK : PAI_ENOMEM;
}

/* The second form comes from what the fork keeps of the first. */
static void explain(void *user_data)
{
  pai__explainer *x = user_data;

  x->rc = pai_sched_explain(x->fork, x->request, PAI_FORMAT_TEXT, add,
                            &x->text, NULL);
  if (x->rc == PAI_OK)
    x->rc = pai_sched_explain(x->fork, x->request, PAI_FORMAT_JSON, add,
                              &x->json, NULL);
}

/* --- the end ---------------------------------------------------------------------- */

static uint64_t events_of(const pai_platform *p)
{
  pai_sched_view sums = { .struct_size = sizeof(sums) };

  (void)pai_sched_view_sums(p->sched, &sums);
  return sums.events;
}

static void take_out(pai_answer *a)
{
  pai_answer **at = &a->p->answers;

  while (*at != a)
    at = &(*at)->next;
  *at = a->next;
  a->p->nanswers--;
}

/* Calls back, and there it ends: with what was told, or what the scheduler says
 * now. */
static void tell(pai_answer *a, const pai__told *told)
{
  pai_platform *p = a->p;
  pai_error *err = NULL;
  pai__buf text;
  int rc;

  pai__buf_init(&text, &p->alloc);
  if (a->cancelled)
    rc = pai__fail(&err, PAI_ECANCELED, "nobody wants to know any more");
  else
    rc = pai__why_write(p, a->job, told, add, &text, &err);
  take_out(a);
  a->cb(a->user_data, rc, rc == PAI_OK ? text.data : NULL,
        rc == PAI_OK ? text.len : 0, err);
  pai__buf_dispose(&text);
  pai_error_free(err);
  pai__free(&p->alloc, a, sizeof(*a));
  pai__turn_ask(p->kick);
}

/* The next who asked about what was explained; NULL: nobody any more. */
static pai_answer *find_told(const pai__explainer *x)
{
  pai_answer *a = x->p->answers;

  while (a != NULL &&
         (a->of != x->made || pai__why_request(x->p, a->job) != x->request))
    a = a->next;
  return a;
}

/* What the scheduler lost meanwhile, or memory was lacking for, is asked on the
 * loop. */
static void on_explained(void *user_data)
{
  pai__explainer *x = user_data;
  pai_platform *p = x->p;
  const pai__told told = { x->request, pai__buf_text(&x->text),
                           pai__buf_text(&x->json) };
  bool ok = x->rc == PAI_OK && pai__buf_ok(&x->text) && pai__buf_ok(&x->json);
  pai_answer *a;

  x->running = false;
  if (ok && x->events == events_of(p))
    pai__explained_keep(p->sched, x->request, told.text, told.json);
  while ((a = find_told(x)) != NULL)
    tell(a, ok ? &told : NULL);
  pai__turn_ask(p->kick);
}

/* --- the line --------------------------------------------------------------------- */

static bool has_few(const pai_platform *p)
{
  pai_sched_view sums = { .struct_size = sizeof(sums) };

  (void)pai_sched_view_sums(p->sched, &sums);
  return sums.requests <= FEW;
}

/* Tells whoever need not wait for another thread. */
static void tell_others(pai_platform *p)
{
  bool at_once = !pai__policy_is_builtin(p->sched) || has_few(p);
  pai_answer *a = p->answers, *next;

  for (; a != NULL; a = next) {
    uint64_t request = pai__why_request(p, a->job);

    next = a->next;
    if (a->cancelled || at_once || request == 0 ||
        pai__explained_find(p->sched, request) != NULL)
      tell(a, NULL);
  }
}

static void forget_fork(pai__explainer *x)
{
  pai_sched_free(x->fork);
  x->fork = NULL;
}

static void forget_memory(pai__explainer *x)
{
  forget_fork(x);
  pai__reuse_dispose(&x->memory);
  pai__reuse_init(&x->memory, &x->p->alloc);
}

/* Those who asked when the last fork was made come first; it is good for others,
 * too, if nothing has happened since.  The next, or NULL: a fork is to be made. */
static pai_answer *find_next(const pai__explainer *x, bool holds)
{
  pai_answer *a = x->p->answers;

  while (a != NULL && x->fork != NULL && !holds && a->of != x->made)
    a = a->next;
  return x->fork != NULL ? a : NULL;
}

static int make_fork(pai__explainer *x)
{
  pai_platform *p = x->p;
  pai_alloc alloc = pai__reuse_alloc(&x->memory);
  int rc;

  forget_fork(x);
  rc = pai__fork_in(&x->fork, p->sched, &alloc, NULL);
  if (rc == PAI_OK && pai__explained_new(x->fork) < 0) {
    forget_fork(x);
    rc = PAI_ENOMEM;
  }
  x->made++;
  x->events = events_of(p);
  for (pai_answer *a = p->answers; a != NULL; a = a->next)
    a->of = x->made;
  return rc;
}

static void begin(pai__explainer *x, pai_answer *a)
{
  a->of = x->made;
  x->request = pai__why_request(x->p, a->job);
  pai__buf_clear(&x->text);
  pai__buf_clear(&x->json);
  x->running = true;
  pai__work_start(x->work);
}

void pai__answers_turn(pai_platform *p)
{
  pai__explainer *x = p->explainer;
  bool holds;
  pai_answer *a;

  for (a = p->answers; p->closing && a != NULL; a = a->next)
    a->cancelled = true;
  if (x == NULL || x->running)
    return;
  tell_others(p);
  holds = x->fork != NULL && x->events == events_of(p);
  if (p->answers == NULL) {
    if (!holds)
      forget_memory(x);
    return;
  }
  a = find_next(x, holds);
  if (a == NULL && make_fork(x) < 0) {
    while (p->answers != NULL)
      tell(p->answers, NULL);
    return;
  }
  begin(x, a != NULL ? a : p->answers);
}

bool pai__answers_are_idle(const pai_platform *p)
{
  return p->answers == NULL &&
         (p->explainer == NULL || !p->explainer->running);
}

void pai__answers_close(pai_platform *p)
{
  pai__explainer *x = p->explainer;

  if (x == NULL)
    return;
  pai__work_close(x->work);
  forget_memory(x);
  pai__buf_dispose(&x->text);
  pai__buf_dispose(&x->json);
  pai__free(&p->alloc, x, sizeof(*x));
  p->explainer = NULL;
}

/* --- for callers ------------------------------------------------------------------ */

static int check(const pai_platform *p, pai_error **err)
{
  if (p->store == NULL)
    return pai__fail(err, PAI_ENOTSUP, "the platform keeps no records");
  if (p->closing)
    return pai__fail(err, PAI_EBUSY, "the platform is closing");
  if (p->nanswers >= MOST)
    return pai__fail(err, PAI_EBUSY,
                     "%d explanations are being made: ask again later", MOST);
  return PAI_OK;
}

/* The first time that somebody asks. */
static int make_explainer(pai_platform *p)
{
  pai__explainer *x;

  if (p->explainer != NULL)
    return PAI_OK;
  x = pai__zalloc(&p->alloc, sizeof(*x));
  if (x == NULL)
    return PAI_ENOMEM;
  x->p = p;
  pai__reuse_init(&x->memory, &p->alloc);
  pai__buf_init(&x->text, &p->alloc);
  pai__buf_init(&x->json, &p->alloc);
  if (pai__work_new(&x->work, &p->alloc, p->loop, explain, on_explained, x) <
      0) {
    pai__free(&p->alloc, x, sizeof(*x));
    return PAI_ENOMEM;
  }
  p->explainer = x;
  return PAI_OK;
}

int pai_platform_why_beside(pai_answer **out, pai_platform *p, pai_job_id job,
                            pai_answer_cb cb, void *user_data, pai_error **err)
{
  pai_answer *a, **end;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(p != NULL, err);
  PAI__CHECK_PROCESS(p, err);
  PAI__CHECK_ARG_ERR(cb != NULL, err);
  rc = check(p, err);
  if (rc < 0)
    return rc;
  a = make_explainer(p) == PAI_OK ? pai__zalloc(&p->alloc, sizeof(*a)) : NULL;
  if (a == NULL)
    return pai__oom(err);
  a->p = p;
  a->job = job;
  a->cb = cb;
  a->user_data = user_data;
  for (end = &p->answers; *end != NULL; end = &(*end)->next) {
  }
  *end = a;
  p->nanswers++;
  pai__turn_ask(p->kick);
  *out = a;
  return PAI_OK;
}

void pai_answer_cancel(pai_answer *a)
{
  if (a == NULL)
    return;
  a->cancelled = true;
  pai__turn_ask(a->p->kick);
}
