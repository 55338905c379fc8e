/* guarantee.c - guaranteed parts: marks what is borrowed, and reclaims it */
#include "sched/policy/guarantee.h"

#include "sched/queue.h"
#include "sched/policy/victims.h"

#include <stdlib.h>

/* --- marks ---------------------------------------------------------------- */

typedef struct holder {
  uint64_t first; /* where it comes among those of its priority */
  uint64_t id;
  int32_t priority;
  uint32_t vc_index;
  uint32_t run, instance;
} holder;

/* By priority, highest first. */
static int by_place(const void *a, const void *b)
{
  const holder *x = a, *y = b;

  if (x->priority != y->priority)
    return x->priority > y->priority ? -1 : 1;
  if (x->first != y->first)
    return x->first < y->first ? -1 : 1;
  if (x->id != y->id)
    return x->id < y->id ? -1 : 1;
  return x->instance < y->instance ? -1 : x->instance > y->instance;
}

/* BY_RANK: by turn.  No start or stop changes this order, which is why
 * decisions terminate.  BY_START: claims have no start yet; they are ordered
 * by request, not by their place in memory. */
enum order { BY_RANK, BY_START };

/* Lists runs that hold something.  Stopping runs are left out: what they have
 * goes to others. */
static int list_holders(const pai_sched *s, pai__flat *list, enum order order)
{
  list->len = 0;
  if (pai__flat_reserve(list, &s->alloc, s->runs.len) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    const pai__req *r;

    if (!pai__run_holds(run) || run->state == PAI__RUN_STOPPING)
      continue;
    r = pai__req_at(s, run->req);
    ((holder *)list->data)[pai__flat_push(list, 1)] =
      (holder){ .first = order == BY_RANK                 ? r->turn
                         : run->state == PAI__RUN_CLAIMED ? UINT64_MAX
                                                          : run->order,
                .id = r->id,
                .priority = r->priority,
                .vc_index = r->vc_index,
                .run = i,
                .instance = run->instance };
  }
  if (list->len != 0)
    qsort(list->data, list->len, list->size, by_place);
  return PAI_OK;
}

/* True if the virtual cluster exceeds its part with this run, in what the run
 * takes. */
static bool goes_beyond(const pai_sched *s, const holder *h, uint64_t *held,
                        uint64_t *takes)
{
  const pai__sched_vc *t = pai__sched_vc_at(s, h->vc_index);
  uint32_t n = pai__sched_cluster_shares(s->cluster);

  if (!t->parted || h->priority < 0)
    return h->priority < 0;
  memset(takes, 0, n * sizeof(*takes));
  pai__part_add(s, pai__run_at(s, h->run), takes);
  for (uint32_t k = 0; k < n; k++)
    if (takes[k] != 0 && takes[k] + held[k] > t->own[k])
      return true;
  for (uint32_t k = 0; k < n; k++)
    held[k] += takes[k];
  return false;
}

int pai__guarantee_mark(pai_sched *s)
{
  uint32_t n = pai__sched_cluster_shares(s->cluster);
  pai__flat list, sums;
  int rc;

  pai__flat_init(&list, sizeof(holder));
  pai__flat_init(&sums, sizeof(uint64_t));
  rc = pai__part_sums(s, &sums);
  if (rc == PAI_OK)
    rc = list_holders(s, &list, BY_RANK);
  for (uint32_t i = 0; i < list.len && rc == PAI_OK; i++) {
    const holder *h = (const holder *)list.data + i;
    uint64_t *all = sums.data;

    pai__run_at(s, h->run)->beyond = goes_beyond(
      s, h, all + (size_t)h->vc_index * n, all + (size_t)s->cluster->nvcs * n);
  }
  pai__flat_dispose(&list, &s->alloc);
  pai__flat_dispose(&sums, &s->alloc);
  return rc;
}

/* True if a guaranteed run goes before the request, or belongs to it. */
static bool goes_before(const pai_sched *s, const pai__run *run,
                        const pai__req *r)
{
  const pai__req *x = pai__req_at(s, run->req);

  return pai__run_holds(run) && run->state != PAI__RUN_STOPPING &&
         !run->beyond && x->vc_index == r->vc_index &&
         (x->priority > r->priority ||
          (x->priority == r->priority && x->turn <= r->turn));
}

int pai__guarantee_left(const pai_sched *s, uint32_t req, pai__flat *left)
{
  const pai__req *r = pai__req_at(s, req);
  const uint64_t *own = pai__sched_vc_at(s, r->vc_index)->own;
  uint32_t n = pai__sched_cluster_shares(s->cluster);
  uint64_t *sums;

  pai__flat_init(left, sizeof(uint64_t));
  if (pai__flat_reset(left, &s->alloc, n) < 0)
    return PAI_ENOMEM;
  sums = left->data;
  for (uint32_t i = 0; i < s->runs.len; i++)
    if (pai__run_at(s, i)->req != PAI__NONE &&
        goes_before(s, pai__run_at(s, i), r))
      pai__part_add(s, pai__run_at(s, i), sums);
  for (uint32_t k = 0; k < n; k++)
    sums[k] = own[k] > sums[k] ? own[k] - sums[k] : 0;
  return PAI_OK;
}

/* --- reclaiming ----------------------------------------------------------- */

typedef struct asking {
  pai_sched *s;
  pai__flat list, victims;
  pai__lookup hopeless; /* by class: requests with no room at all */
  bool some;            /* some run may be stopped, or is stopping */
  bool elastic;         /* some victim may run with fewer tasks */
} asking;

/* Lists borrowed runs as victims: lowest priority first, then youngest
 * first. */
static int find_borrowed(asking *a)
{
  pai_sched *s = a->s;
  int rc = pai__guarantee_mark(s);

  if (rc == PAI_OK)
    rc = list_holders(s, &a->list, BY_START);
  a->victims.len = 0;
  a->some = a->elastic = false;
  for (uint32_t i = 0; i < s->runs.len && !a->some; i++)
    a->some = pai__run_at(s, i)->state == PAI__RUN_STOPPING;
  if (rc == PAI_OK)
    rc = pai__flat_reserve(&a->victims, &s->alloc, a->list.len);
  for (uint32_t i = a->list.len; i-- > 0 && rc == PAI_OK;) {
    uint32_t run = ((const holder *)a->list.data)[i].run;

    if (!pai__run_at(s, run)->beyond)
      continue;
    if (pai__run_at(s, run)->leaving != 0) {
      a->some = true; /* some of its tasks are stopping: no more for now */
      continue;
    }
    ((uint32_t *)a->victims.data)[pai__flat_push(&a->victims, 1)] = run;
    a->elastic = a->elastic || pai__req_is_elastic(
                                 s, pai__req_at(s, pai__run_at(s, run)->req));
  }
  a->some = a->some || a->victims.len != 0;
  return rc;
}

bool pai__is_first(const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);
  uint32_t i = pai__next_waiting(s, PAI__NONE);

  for (; i != PAI__NONE; i = pai__next_waiting(s, i)) {
    const pai__req *x = pai__req_at(s, i);

    if (x->vc_index == r->vc_index &&
        (x->priority > r->priority ||
         (x->priority == r->priority && x->turn < r->turn)))
      return false;
  }
  return true;
}

/* True if the policy tried the request and found no room, no share, or only
 * room that is promised to others.  A request that waits for its turn, or for
 * a limit of its user, is not meant. */
static bool found_no_room(const pai_sched *s, uint32_t req)
{
  pai__sched_reason reason = pai__req_reason(s, req);

  if (reason.lack == PAI_LACK_LATER)
    return pai__is_first(s, req);
  return (reason.lack >= PAI_LACK_GPU && reason.lack <= PAI_LACK_GANG) ||
         reason.lack == PAI_LACK_PREEMPTION ||
         (reason.lack == PAI_LACK_QUOTA && reason.text == PAI__NONE);
}

/* Waits for runs that are stopping, if they are enough; else gangs give up
 * tasks they can do without; else borrowed runs stop.  As
 * pai__try_without(). */
static int make_room(const asking *a, const pai__ask *ask)
{
  uint32_t active = pai__req_at(a->s, ask->req)->active;
  bool claimed = false;
  int rc = a->elastic ? pai__try_without(a->s, ask, NULL, 0) : 0;

  if (rc == 0 && a->elastic && pai__req_at(a->s, ask->req)->active == active)
    rc = pai__shrink_for(a->s, ask, PAI__GIVERS_BORROWED, &claimed);
  return rc != 0 || pai__req_at(a->s, ask->req)->active != active
           ? rc
           : pai__try_without(a->s, ask, a->victims.data, a->victims.len);
}

/* Reclaims room for all instances that keep to the part.  Returns PAI_OK or a
 * code. */
static int ask_for(asking *a, uint32_t req)
{
  pai_sched *s = a->s;
  pai__ask ask = { .req = req, .strategy = s->terms.reclaim };
  int rc = PAI_OK;

  while (rc == PAI_OK && pai__req_waiting(pai__req_at(s, req)) != 0 &&
         pai__req_lack(s, pai__req_at(s, req)) == PAI_LACK_NOTHING &&
         pai__keeps_to_part(s, pai__req_at(s, req))) {
    uint32_t active = pai__req_at(s, req)->active;
    pai__flat left;

    rc = find_borrowed(a);
    if (rc < 0 || !a->some)
      return rc;
    rc = pai__guarantee_left(s, req, &left);
    ask.part = left.data;
    if (rc == PAI_OK)
      rc = make_room(a, &ask);
    pai__flat_dispose(&left, &s->alloc);
    if (rc >= 0 && pai__req_at(s, req)->active == active) {
      pai__found_keep(s, &a->hopeless, req);
      return PAI_OK;
    }
    rc = rc < 0 ? rc : PAI_OK;
  }
  return rc;
}

/* Borrowed runs are looked for with the first request that qualifies; usually
 * none does. */
static int ask_for_all(asking *a)
{
  pai_sched *s = a->s;
  uint32_t req = s->m.first, next;
  int rc = PAI_OK;

  a->some = true;
  for (; rc == PAI_OK && req != PAI__NONE && a->some; req = next) {
    const pai__req *r = pai__req_at(s, req);

    next = r->behind;
    /* Most requests wait for their turn, and do not qualify. */
    if (!pai__is_refused(s, req) &&
        pai__sched_vc_at(s, r->vc_index)->nshares != 0 &&
        pai__is_owed(s, req) &&
        pai__found_alike(s, &a->hopeless, req) == PAI__NONE &&
        found_no_room(s, req))
      rc = ask_for(a, req);
  }
  return rc;
}

static int ask_back(pai_sched *s)
{
  asking a = { .s = s };
  int rc;

  pai__flat_init(&a.list, sizeof(holder));
  pai__flat_init(&a.victims, sizeof(uint32_t));
  pai__lookup_init(&a.hopeless);
  rc = ask_for_all(&a);
  pai__flat_dispose(&a.list, &s->alloc);
  pai__flat_dispose(&a.victims, &s->alloc);
  pai__flat_dispose(&a.hopeless.slots, &s->alloc);
  return rc;
}

/* --- deciding ------------------------------------------------------------- */

/* Reasons of the first decision hold for guaranteed requests only. */
static void forget_reasons(pai_sched *s)
{
  pai__refusals_forget(s);
  s->vc_reasons.len = 0;
  s->m.alike.made = 0;
}

/* Counts the queue as effort; a policy that does not look at each waiting
 * request subtracts the others. */
static int decide_once(pai_sched *s)
{
  s->effort += s->m.nqueued;
  return s->live.policy->decide(s->live.state, s->live.policy->data, &s->host);
}

static int decide_guaranteed(pai_sched *s)
{
  int rc;

  s->keeping = true;
  rc = pai__reserve_begin(s, true);
  if (rc == PAI_OK)
    rc = decide_once(s);
  if (rc == PAI_OK)
    rc = ask_back(s);
  s->keeping = false;
  forget_reasons(s);
  return rc;
}

/* A request of high priority may have taken, from its own virtual cluster,
 * room that was due to others. */
static int ask_again(pai_sched *s)
{
  int rc = pai__is_any_owed(s);

  if (rc <= 0)
    return rc;
  s->keeping = true;
  rc = ask_back(s);
  s->keeping = false;
  return rc;
}

/* Where virtual clusters own cells, shares keep all but opportunistic runs
 * from what others own.  These runs are stopped after the decision. */
int pai__decide_all(pai_sched *s)
{
  int rc = pai__guarantee_counts(s) ? pai__is_any_owed(s) : 0;

  if (rc > 0)
    rc = decide_guaranteed(s);
  if (rc == PAI_OK)
    rc = pai__reserve_begin(s, false);
  if (rc == PAI_OK)
    rc = decide_once(s);
  pai__reserve_end(s);
  return rc == PAI_OK ? ask_again(s) : rc;
}
