/*
 * policy_k8s.c - policy like the default Kubernetes scheduler, for whole gangs
 *
 * One queue for all virtual clusters, by priority and then by turn; a request
 * without room does not block the ones behind it.  Nodes are scored as by
 * NodeResourcesFit (LeastAllocated) and NodeResourcesBalancedAllocation, and
 * runs of lower priority are stopped for requests of higher priority.  There
 * is no backoff, and of nodes with equal scores the first is taken, not a
 * random one.
 */
#include "sched/policy/waiters.h"

typedef struct k8s {
  pai__plain plain;
  bool preempt;
} k8s;

typedef struct deciding {
  pai__how how;
  pai__lookup hopeless; /* by class: requests without victims */
} deciding;

/* Requests of one class come by descending priority, so if no run could be
 * stopped for one of them, none can be for the next. */
static int try_all(void *ctx, pai_sched *s, uint32_t req)
{
  deciding *d = ctx;
  pai__how how = d->how;
  int rc;

  if (pai__found_alike(s, &d->hopeless, req) != PAI__NONE)
    how.over = false;
  rc = pai__start_all(s, req, &how);
  if (rc == 0 && how.over && pai__req_waiting(pai__req_at(s, req)) != 0 &&
      pai__sched_reason_of(s, req)->lack != PAI_LACK_VICTIMS)
    pai__found_keep(s, &d->hopeless, req);
  return rc;
}

/* True if no run can be stopped for the first request, and so for none.  A
 * request that starts in this decision has no lower priority than those behind
 * it. */
static bool is_calm(const k8s *k, const pai_sched *s)
{
  uint32_t head = pai__waiters_head(&k->plain.waiters);

  if (!k->preempt || head == PAI__NONE)
    return true;
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);

    if (run->req != PAI__NONE &&
        (run->state == PAI__RUN_STOPPING ||
         pai__req_at(s, run->req)->priority <
           pai__waiter_at(&k->plain.waiters, head)->priority))
      return false;
  }
  return true;
}

/* Each request is tried by itself if runs may be stopped, or if reservations
 * treat requests of one class differently. */
static int decide(void *state, pai_sched *s)
{
  k8s *k = state;
  pai__waiters *w = &k->plain.waiters;
  deciding d = { .how = { .strategy = k->plain.place,
                          .beyond_share = !k->plain.shares } };
  int rc = pai__waiters_ready(w, s);
  bool alike = rc > 0 && !pai__has_reservations(s);

  if (rc >= 0)
    rc = pai__waiters_line_up(w, s);
  if (rc < 0)
    return rc;
  alike = alike && is_calm(k, s);
  d.how.over = k->preempt && !alike;
  pai__lookup_init(&d.hopeless);
  rc = pai__waiters_walk(w, s, alike, try_all, &d);
  pai__flat_dispose(&d.hopeless.slots, &s->alloc);
  return rc;
}

static const k8s defaults = { .plain = { .place = PAI_PLACE_SCORE,
                                         .reclaim = true,
                                         .shares = true,
                                         .reserve_after = PAI__RESERVE_AFTER },
                              .preempt = true };

static const pai__field options[] = {
  PAI__FLAG_OPTION(pai__plain, shares),
  PAI__FLAG_OPTION(k8s, preempt),
  PAI__PLAIN_OPTIONS,
};

static const pai__plain_type type = { .defaults = &defaults,
                                      .size = sizeof(defaults),
                                      .options = options,
                                      .noptions = PAI__LEN(options),
                                      .alike = PAI__ALIKE_CLASS,
                                      .ranked = true,
                                      .decide = decide };

const pai_policy pai__policy_k8s = {
  PAI__PLAIN_POLICY,
  .event = pai__plain_event,
  .name = "k8s",
  .about = "as Kubernetes' scheduler by default, for whole gangs",
  .data = (void *)&type,
  .lends = 1,
};
