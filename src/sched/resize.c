/* resize.c - elastic gangs that run: growing, shrinking */
#include "sched/start.h"
#include "sched/log/event.h"
#include "sched/fit.h"
#include "sched/policy/policy.h"
#include "sched/queue.h"

#include <inttypes.h>

static void say(pai_sched *s, const pai__run *run, int kind, uint32_t want,
                uint32_t tasks)
{
  pai__decision *d;

  pai__decide(s, run, kind);
  d = (pai__decision *)s->decisions.data + s->decisions.len - 1;
  d->want = want;
  d->tasks = tasks;
}

/* --- growing -------------------------------------------------------------- */

/* Joins the old slots and the n new ones of s->slots in one block.  Returns
 * PAI_OK; PAI_ENOMEM; or PAI_EINTERNAL if check.c finds an error. */
static int join(pai_sched *s, pai__run *run, uint32_t at, uint32_t n)
{
  pai__run old = *run, all = *run;
  pai__run more = { .req = run->req };
  const pai__req *r = pai__req_at(s, run->req);
  uint32_t words;
  int rc = PAI_OK;

  if (pai__slots_keep(s, r, &more, n) < 0)
    return PAI_ENOMEM;
  if (pai__slots_number(s, r, &more) < 0) {
    pai__pool_give(&s->pool, more.slots, more.slot_words);
    return PAI_ENOMEM;
  }
  words = pai__slots_joined(s, &old, &more);
  all.slots = pai__pool_take(&s->pool, &s->alloc, words);
  if (all.slots != PAI__NONE && pai__check_more(s, &more) != NULL) {
    pai__pool_give(&s->pool, all.slots, words);
    rc = PAI_EINTERNAL;
  }
  if (all.slots == PAI__NONE || rc < 0) {
    /* CPUs and ports go back here; the caller uncounts the slots. */
    pai__slots_unnumber(s, r, &more);
    pai__pool_give(&s->pool, more.slots, more.slot_words);
    return rc < 0 ? rc : PAI_ENOMEM;
  }
  all.slot_words = words;
  all.tasks = old.tasks + n;
  pai__slots_join(s, r, &all, &old, &more, at);
  pai__pool_give(&s->pool, old.slots, old.slot_words);
  pai__pool_give(&s->pool, more.slots, more.slot_words);
  *run = all;
  return PAI_OK;
}

static int grow(pai_sched *s, uint32_t i, uint32_t want, uint32_t at,
                uint32_t more)
{
  pai__run *run = pai__run_at(s, i);
  const pai__req *r = pai__req_at(s, run->req);
  pai__ask ask = { .req = run->req,
                   .strategy = PAI_PLACE_PACK,
                   .beside = run };
  uint32_t *tasks = pai__zalloc(&s->alloc, r->nwants * sizeof(*tasks));
  pai__sched_reason reason;
  uint32_t n;
  int rc;

  if (tasks == NULL || pai__flat_reserve(&s->decisions, &s->alloc, 1) < 0) {
    rc = PAI_ENOMEM;
  } else {
    tasks[want] = more;
    ask.tasks = tasks;
    rc = pai__fit_elastic(s, &ask, &n, &reason);
  }
  if (tasks != NULL)
    pai__free(&s->alloc, tasks, r->nwants * sizeof(*tasks));
  if (rc <= 0)
    return rc;
  pai__shares_count(s, run, -1);
  rc = join(s, run, at, n);
  if (rc < 0)
    pai__unfit(s, r, n);
  pai__shares_count(s, run, 1);
  if (rc == PAI_EINTERNAL) { /* leave this run as it is, and go on */
    s->set_aside++;
    return 0;
  }
  return rc < 0 ? rc : 1;
}

/* --- shrinking ------------------------------------------------------------ */

/* Gives back the places of the leaving tasks.  Later slots move up; their CPUs
 * and ports stay where they are. */
static void drop_leaving(pai_sched *s, pai__run *run)
{
  const pai__req *r = pai__req_at(s, run->req);
  uint32_t first, n = pai__run_tasks(s, run, run->leaving_want, &first);
  uint32_t from = first + n - run->leaving, end = first + n;
  pai__slot *slots = pai__slots_of(s, run);

  pai__shares_count(s, run, -1);
  pai__check_given(s, run, from, end - from);
  for (uint32_t i = from; i < end; i++)
    pai__slot_give(s, r, slots, &slots[i]);
  memmove(slots + from, slots + end, (run->tasks - end) * sizeof(*slots));
  run->tasks -= run->leaving;
  run->leaving = 0;
  pai__shares_count(s, run, 1);
}

int pai__on_resized(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  uint32_t i = pai__run_find(s, pai__req_find(s, e->id), e->instance);

  if (i == PAI__NONE || pai__run_at(s, i)->leaving == 0)
    return pai__fail(err, PAI_ENOTFOUND,
                     "instance %" PRIu32 " of request %" PRIu64
                     " was not told to shrink",
                     e->instance, e->id);
  drop_leaving(s, pai__run_at(s, i));
  return PAI_OK;
}

/* --- interface ------------------------------------------------------------ */

int pai__resize(pai_sched *s, uint32_t i, uint32_t want, uint32_t tasks)
{
  pai__run *run = pai__run_at(s, i);
  const pai__req *r = pai__req_at(s, run->req);
  const pai__want *w = pai__wants_of(s, r) + want;
  uint32_t first, n;
  int rc = 1;

  if (want >= r->nwants || tasks > w->tasks || tasks < w->min_tasks)
    return PAI_EINVAL;
  if ((run->state != PAI__RUN_PLACED && run->state != PAI__RUN_STARTED) ||
      run->leaving != 0)
    return PAI_EBUSY;
  n = pai__run_tasks(s, run, want, &first);
  if (tasks == n)
    return 1;
  if (pai__flat_reserve(&s->decisions, &s->alloc, 1) < 0)
    return PAI_ENOMEM;
  if (tasks < n) {
    run->leaving = n - tasks;
    run->leaving_want = want;
  } else {
    rc = grow(s, i, want, first + n, tasks - n);
  }
  if (rc == 1)
    say(s, run, tasks < n ? PAI_DECISION_SHRINK : PAI_DECISION_GROW, want,
        tasks);
  return rc;
}
