/*
 * why_beside.c - explanations that are made in another thread
 *
 * To explain why one of thousands of requests waits, changes are tried on forks
 * of the scheduler, which takes milliseconds.  The loop makes one fork for all
 * waiting calls, and another thread explains one request at a time on it,
 * because commits use the same threads.  Calls about the same request share its
 * explanation.  Later calls share fork and explanations as long as the
 * scheduler has no new event.  Policies that are not built in may need the
 * loop's thread: they explain there, and so does a scheduler with few requests.
 */
#include "platform/records/questions.h"
#include "platform/records/why.h"

#include "sched/explain/explain.h"
#include "sched/policy/policy.h"
#include "sched/sched.h"

#include <openpai/records.h>

enum {
  MOST = 256, /* answers at a time */
  FEW = 256   /* most requests of a scheduler that explains on the loop */
};

/* While `running`, `fork` and what follows it belong to the other thread. */
struct pai__explainer {
  pai_platform *p;
  pai__work *work;
  bool running;
  uint64_t made;   /* number of the last fork */
  uint64_t events; /* number of the scheduler's events at that fork */
  uint64_t request;
  pai__reuse memory; /* of forks; kept while there are answers to make */
  pai_sched *fork;
  pai__buf text, json;
  int rc;
};

/* --- in the other thread -------------------------------------------------- */

/* For the JSON the fork has kept the result of the text. */
static void explain(void *user_data)
{
  pai__explainer *x = user_data;

  x->rc = pai_sched_explain(x->fork, x->request, PAI_FORMAT_TEXT,
                            pai__buf_write, &x->text, NULL);
  if (x->rc == PAI_OK)
    x->rc = pai_sched_explain(x->fork, x->request, PAI_FORMAT_JSON,
                              pai__buf_write, &x->json, NULL);
}

/* --- the end -------------------------------------------------------------- */

/* Writes an answer with this explanation, or with one that is made now. */
static int answer(pai__question *a, const void *explanation, pai__buf *out,
                  pai_error **err)
{
  return pai__platform_why_write(a->p, a->job, explanation, pai__buf_write,
                                 out, err);
}

static void tell(pai__question *a, const pai__request_explanation *explanation)
{
  pai__question_tell(a, answer, explanation);
}

/* Finds the next answer for the explained request, or NULL. */
static pai__question *find_told(const pai__explainer *x)
{
  pai__question *a = x->p->answers.first;

  while (a != NULL && (a->source != x->made ||
                       pai__platform_why_request(x->p, a->job) != x->request))
    a = a->next;
  return a;
}

/* After a failure, such as lack of memory, the answers are made on the loop. */
static void on_explained(void *user_data)
{
  pai__explainer *x = user_data;
  pai_platform *p = x->p;
  const pai__request_explanation explanation = { x->request,
                                                 pai__buf_text(&x->text),
                                                 pai__buf_text(&x->json) };
  bool ok = x->rc == PAI_OK && pai__buf_ok(&x->text) && pai__buf_ok(&x->json);
  pai__question *a;

  x->running = false;
  if (ok && x->events == pai__platform_events(p))
    pai__explained_keep(p->sched, x->request, explanation.text,
                        explanation.json);
  while ((a = find_told(x)) != NULL)
    tell(a, ok ? &explanation : NULL);
  pai__loop_step_ask(p->kick);
}

/* --- the queue ------------------------------------------------------------ */

static bool has_few(const pai_platform *p)
{
  pai_sched_view sums = { .struct_size = sizeof(sums) };

  (void)pai_sched_view_sums(p->sched, &sums);
  return sums.requests <= FEW;
}

/* Makes the answers that need no other thread. */
static void tell_others(pai_platform *p)
{
  bool at_once = !pai__policy_is_builtin(p->sched) || has_few(p);
  pai__question *a = p->answers.first, *next;

  for (; a != NULL; a = next) {
    uint64_t request = pai__platform_why_request(p, a->job);

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

/* Finds the next answer for the last fork: any, if the fork `holds` the present
 * state, else one that waited when the fork was made.  NULL: a new fork is
 * needed. */
static pai__question *find_next(const pai__explainer *x, bool holds)
{
  pai__question *a = x->p->answers.first;

  while (a != NULL && x->fork != NULL && !holds && a->source != x->made)
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
  x->events = pai__platform_events(p);
  for (pai__question *a = p->answers.first; a != NULL; a = a->next)
    a->source = x->made;
  return rc;
}

static void begin(pai__explainer *x, pai__question *a)
{
  a->source = x->made;
  x->request = pai__platform_why_request(x->p, a->job);
  pai__buf_clear(&x->text);
  pai__buf_clear(&x->json);
  x->running = true;
  pai__work_start(x->work);
}

void pai__answers_step(pai_platform *p)
{
  pai__explainer *x = p->explainer;
  bool holds;
  pai__question *a;

  if (p->closing)
    pai__questions_cancel(&p->answers);
  if (x == NULL || x->running)
    return;
  tell_others(p);
  holds = x->fork != NULL && x->events == pai__platform_events(p);
  if (p->answers.first == NULL) {
    if (!holds)
      forget_memory(x);
    return;
  }
  a = find_next(x, holds);
  if (a == NULL && make_fork(x) < 0) {
    while (p->answers.first != NULL)
      tell(p->answers.first, NULL);
    return;
  }
  begin(x, a != NULL ? a : p->answers.first);
}

bool pai__answers_are_idle(const pai_platform *p)
{
  return p->answers.first == NULL &&
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

/* --- for callers ---------------------------------------------------------- */

/* Makes p->explainer with the first answer. */
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
  static const pai__question_kind kind = { MOST, "explanations",
                                           make_explainer };
  pai__question *q = NULL;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(cb != NULL, err);
  rc = pai__question_ask(&q, &p->answers, p, job, cb, user_data, &kind, err);
  *out = (pai_answer *)q;
  return rc;
}

void pai_answer_cancel(pai_answer *a)
{
  pai__question_cancel((pai__question *)a);
}
