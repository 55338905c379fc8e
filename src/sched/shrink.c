/*
 * shrink.c - elastic gangs give up tasks to make room
 *
 * The tasks are found on a copy of the free capacity, as for preemption.  The
 * least important and youngest gangs give up one task after the other until
 * there is room.  The room is claimed, so that no other request gets it while
 * these tasks stop.
 */

#include "sched/policy/guarantee.h"
#include "sched/queue.h"
#include "sched/policy/victims.h"

#include <stdlib.h>

typedef struct giver {
  uint64_t order;
  int32_t priority;
  uint32_t run, want;
  uint32_t tasks; /* tasks of the want now */
  uint32_t most;  /* tasks above min_tasks */
  uint32_t gives;
} giver;

typedef struct shrinking {
  pai_sched *s;
  const pai__ask *ask;
  enum pai__givers who;
  pai__flat givers;
  pai__trial trial;
} shrinking;

static giver *giver_at(const shrinking *x, uint32_t i)
{
  return (giver *)x->givers.data + i;
}

static int by_weight(const void *a, const void *b)
{
  const giver *x = a, *y = b;

  if (x->priority != y->priority)
    return x->priority < y->priority ? -1 : 1;
  if (x->order != y->order)
    return x->order > y->order ? -1 : 1;
  return x->want < y->want ? -1 : x->want > y->want;
}

/* --- givers --------------------------------------------------------------- */

/* Adds the first want that can give up tasks: resize.c shrinks one want at a
 * time. */
static int add_want(shrinking *x, uint32_t i)
{
  pai_sched *s = x->s;
  const pai__run *run = pai__run_at(s, i);
  const pai__req *r = pai__req_at(s, run->req);

  for (uint32_t want = 0; want < r->nwants; want++) {
    uint32_t least = pai__wants_of(s, r)[want].min_tasks, first;
    uint32_t tasks = pai__run_tasks(s, run, want, &first);

    if (tasks <= least)
      continue;
    if (pai__flat_add(&x->givers, &s->alloc,
                      &(giver){ run->order, r->priority, i, want, tasks,
                                tasks - least, 0 }) < 0)
      return PAI_ENOMEM;
    return PAI_OK;
  }
  return PAI_OK;
}

/* Runs of equal priority may be asked, too: they do not stop, and keep
 * min_tasks.  Runs that are guaranteed to another virtual cluster may not. */
static bool may_be_asked(const shrinking *x, const pai__run *run)
{
  const pai_sched *s = x->s;
  const pai__req *r = pai__req_at(s, x->ask->req);

  return x->who == PAI__GIVERS_BORROWED
           ? run->beyond != 0
           : pai__req_at(s, run->req)->priority <= r->priority &&
               !pai__guarantee_binds(s, r, run);
}

static int find_givers(shrinking *x)
{
  pai_sched *s = x->s;
  uint32_t req = x->ask->req;

  if (pai__guarantee_counts(s) && x->who == PAI__GIVERS_LOWER &&
      pai__guarantee_mark(s) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);

    if (run->req == PAI__NONE || run->req == req || run->leaving != 0 ||
        (run->state != PAI__RUN_PLACED && run->state != PAI__RUN_STARTED) ||
        !may_be_asked(x, run))
      continue;
    if (add_want(x, i) < 0)
      return PAI_ENOMEM;
  }
  if (x->givers.len != 0)
    qsort(x->givers.data, x->givers.len, sizeof(giver), by_weight);
  return PAI_OK;
}

/* --- search on a copy ----------------------------------------------------- */

static void lift_one(shrinking *x, giver *g)
{
  pai_sched *s = x->s;
  const pai__run *run = pai__run_at(s, g->run);
  const pai__req *r = pai__req_at(s, run->req);
  uint32_t first;
  uint32_t n = pai__run_tasks(s, run, g->want, &first);
  const pai__slot *slot = pai__slots_of(s, run) + (first + n - 1 - g->gives);
  pai__run one = *run;

  pai__free_capacity_return(pai__free_capacity_at(s, slot->node),
                            &pai__wants_of(s, r)[slot->want], slot->gpus);
  one.slots += (uint32_t)((slot - pai__slots_of(s, run)) *
                          (ptrdiff_t)(sizeof(*slot) / sizeof(uint64_t)));
  one.tasks = 1;
  pai__shares_count(s, &one, -1);
  g->gives++;
}

/* Returns 1 if the request fits, with its places in s->slots; 0 if it does
 * not; or PAI_ENOMEM. */
static int lift_until_it_fits(shrinking *x, uint32_t *n)
{
  pai__sched_reason reason;
  int rc = 0;

  for (uint32_t i = 0; i < x->givers.len && rc == 0; i++)
    while (rc == 0 && giver_at(x, i)->gives < giver_at(x, i)->most) {
      lift_one(x, giver_at(x, i));
      rc = pai__fit_elastic(x->s, x->ask, n, &reason);
    }
  return rc;
}

/* Returns whether a giver gives up tasks on a node that the claim needs.
 * Others need not give up any. */
static bool is_in_the_way(const shrinking *x, const giver *g, uint32_t n)
{
  pai_sched *s = x->s;
  const pai__run *run = pai__run_at(s, g->run);
  uint32_t first;
  uint32_t end = pai__run_tasks(s, run, g->want, &first);

  end += first;
  for (uint32_t i = 0; i < g->gives; i++)
    for (uint32_t k = 0; k < n; k++)
      if (pai__slots_of(s, run)[end - 1 - i].node ==
          ((pai__slot *)s->slots.data)[k].node)
        return true;
  return false;
}

/* --- claiming ------------------------------------------------------------- */

/* Returns whether tasks on other nodes may help, too: they free the share that
 * the request may wait for.  When borrowed resources are taken back, only runs
 * of the same virtual cluster do. */
static bool gives_share(const shrinking *x, const giver *g)
{
  const pai_sched *s = x->s;
  uint32_t vc_index = pai__req_at(s, x->ask->req)->vc_index;

  return pai__sched_vc_at(s, vc_index)->nshares != 0 &&
         (x->who != PAI__GIVERS_BORROWED ||
          pai__req_at(s, pai__run_at(s, g->run)->req)->vc_index == vc_index);
}

static int claim(shrinking *x, uint32_t n)
{
  pai_sched *s = x->s;
  uint32_t req = x->ask->req;
  uint32_t gives = 0;
  int rc;

  if (pai__flat_reserve(&s->decisions, &s->alloc, x->givers.len + 1) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < x->givers.len; i++) {
    giver *g = giver_at(x, i);

    if (!gives_share(x, g) && !is_in_the_way(x, g, n))
      g->gives = 0;
    gives += g->gives;
  }
  pai__fit_again(s, pai__req_at(s, req), n);
  rc = pai__claim(s, req, n);
  if (rc != 0)
    return pai__set_aside(s, req, rc);
  pai__sched_reason_say(s, req, PAI_LACK_VICTIMS)->found = gives;
  for (uint32_t i = 0; i < x->givers.len && rc >= 0; i++) {
    const giver *g = giver_at(x, i);

    if (g->gives != 0)
      rc = pai__resize(s, g->run, g->want, g->tasks - g->gives);
  }
  return rc < 0 ? rc : 0;
}

int pai__shrink_for(pai_sched *s, const pai__ask *ask, enum pai__givers who,
                    bool *claimed)
{
  shrinking x = { .s = s, .ask = ask, .who = who };
  uint32_t n = 0;
  int rc;

  *claimed = false;
  pai__flat_init(&x.givers, sizeof(giver));
  rc = find_givers(&x);
  if (rc == PAI_OK && x.givers.len != 0) {
    rc = pai__trial_begin(&x.trial, s);
    if (rc == PAI_OK)
      rc = lift_until_it_fits(&x, &n);
    pai__trial_end(&x.trial, s);
    if (rc > 0) {
      uint32_t active = pai__req_at(s, ask->req)->active;

      rc = claim(&x, n);
      *claimed = rc >= 0 && pai__req_at(s, ask->req)->active != active;
      pai__refusals_forget(s);
    }
  }
  pai__flat_dispose(&x.givers, &s->alloc);
  return rc;
}
