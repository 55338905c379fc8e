/*
 * shrink.c - gangs that run with more tasks than they need make room
 *
 * Found on a copy of the rooms, as for those that are preempted: of the least
 * important and youngest gangs one task after the other goes until there is
 * room.  It is claimed, so that nobody else gets it while these tasks stop.
 */
#include "sched/shrink.h"

#include "sched/guarantee.h"
#include "sched/refusal.h"
#include "sched/trial.h"

#include <stdlib.h>

typedef struct giver {
  uint64_t order;
  int32_t priority;
  uint32_t run, want;
  uint32_t tasks; /* it has now */
  uint32_t most;  /* that it could do without */
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

static uint32_t count_tasks(const pai_sched *s, const pai__run *run,
                            uint32_t want, uint32_t *end)
{
  const pai__slot *slots = pai__slots_of(s, run);
  uint32_t n = 0;

  *end = 0;
  for (uint32_t i = 0; i < run->tasks; i++)
    if (slots[i].want == want) {
      n++;
      *end = i + 1;
    }
  return n;
}

/* --- who could give ------------------------------------------------------- */

/* Of one want at a time, as resize.c has it. */
static int add_want(shrinking *x, uint32_t i)
{
  pai_sched *s = x->s;
  const pai__run *run = pai__run_at(s, i);
  const pai__req *r = pai__req_at(s, run->req);

  for (uint32_t want = 0; want < r->nwants; want++) {
    uint32_t least = pai__wants_of(s, r)[want].min_tasks, end;
    uint32_t tasks = count_tasks(s, run, want, &end);

    if (tasks <= least)
      continue;
    if (pai__flat_reserve(&x->givers, &s->alloc, 1) < 0)
      return PAI_ENOMEM;
    *giver_at(x, pai__flat_push(&x->givers, 1)) =
      (giver){ run->order, r->priority, i, want, tasks, tasks - least, 0 };
    return PAI_OK;
  }
  return PAI_OK;
}

/* Those of the same importance, too: they do not stop, and what they give is
 * more than they asked for at least.  But not what another virtual cluster is
 * guaranteed. */
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

/* --- on a copy ------------------------------------------------------------ */

/* One task of it gives its place back. */
static void lift_one(shrinking *x, giver *g)
{
  pai_sched *s = x->s;
  const pai__run *run = pai__run_at(s, g->run);
  const pai__req *r = pai__req_at(s, run->req);
  uint32_t end;
  const pai__slot *slot;
  pai__run one = *run;

  (void)count_tasks(s, run, g->want, &end);
  slot = pai__slots_of(s, run) + (end - 1 - g->gives);
  pai__room_return(pai__room_at(s, slot->node),
                   &pai__wants_of(s, r)[slot->want], slot->gpus);
  one.slots += (uint32_t)((slot - pai__slots_of(s, run)) *
                          (ptrdiff_t)(sizeof(*slot) / sizeof(uint64_t)));
  one.tasks = 1;
  pai__tally(s, &one, -1);
  g->gives++;
}

/* 1: it fits, its places are in s->slots; 0: never; or PAI_ENOMEM. */
static int lift_until_it_fits(shrinking *x, uint32_t *n)
{
  pai__why why;
  int rc = 0;

  for (uint32_t i = 0; i < x->givers.len && rc == 0; i++)
    while (rc == 0 && giver_at(x, i)->gives < giver_at(x, i)->most) {
      lift_one(x, giver_at(x, i));
      rc = pai__fit(x->s, x->ask, n, &why);
    }
  return rc;
}

/* Does a giver have a task on a node that the claim needs?  Those that have not
 * are not in its way. */
static bool is_in_the_way(const shrinking *x, const giver *g, uint32_t n)
{
  pai_sched *s = x->s;
  const pai__run *run = pai__run_at(s, g->run);
  uint32_t end;

  (void)count_tasks(s, run, g->want, &end);
  for (uint32_t i = 0; i < g->gives; i++)
    for (uint32_t k = 0; k < n; k++)
      if (pai__slots_of(s, run)[end - 1 - i].node ==
          ((pai__slot *)s->slots.data)[k].node)
        return true;
  return false;
}

/* --- claiming ------------------------------------------------------------- */

/* May what it gives be of use, though it is nowhere near?  The share may be
 * what is waited for; not so by those who have not their part of it. */
static bool gives_share(const shrinking *x, const giver *g)
{
  const pai_sched *s = x->s;
  uint32_t tenant = pai__req_at(s, x->ask->req)->tenant;

  return pai__tenant_at(s, tenant)->nshares != 0 &&
         (x->who != PAI__GIVERS_BORROWED ||
          pai__req_at(s, pai__run_at(s, g->run)->req)->tenant == tenant);
}

static int claim(shrinking *x, uint32_t n)
{
  pai_sched *s = x->s;
  uint32_t req = x->ask->req;
  const pai__req *r = pai__req_at(s, req);
  const pai__slot *slots = s->slots.data;
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
  for (uint32_t i = 0; i < n; i++)
    pai__room_count(pai__room_touch(s, slots[i].node),
                    &pai__wants_of(s, r)[slots[i].want], slots[i].gpus);
  rc = pai__claim(s, req, n);
  if (rc != 0)
    return pai__set_aside(s, req, rc);
  *pai__why_make(s, req) = (pai__why){ .lack = PAI_LACK_VICTIMS,
                                       .found = gives,
                                       .node = PAI__NONE,
                                       .text = PAI__NONE };
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
