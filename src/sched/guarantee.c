/* guarantee.c - parts that are guaranteed, and what is borrowed of them */
#include "sched/guarantee.h"

#include "sched/refusal.h"
#include "sched/reserve.h"
#include "sched/shrink.h"

#include <stdlib.h>

/* --- marks ---------------------------------------------------------------- */

typedef struct holder {
  uint64_t order, id, turn;
  int32_t priority;
  uint32_t tenant;
  uint32_t run, instance;
} holder;

/* The most important first, and of these the oldest.  Claims, which have no age
 * yet, by their requests: not as they happen to lie in memory. */
static int by_weight(const void *a, const void *b)
{
  const holder *x = a, *y = b;

  if (x->priority != y->priority)
    return x->priority > y->priority ? -1 : 1;
  if (x->order != y->order)
    return x->order < y->order ? -1 : 1;
  if (x->id != y->id)
    return x->id < y->id ? -1 : 1;
  return x->instance < y->instance ? -1 : x->instance > y->instance;
}

/* The most important first, and then who came first: an order that no start and
 * no stop changes.  That decisions come to an end rests on it. */
static int by_rank(const void *a, const void *b)
{
  const holder *x = a, *y = b;

  if (x->priority != y->priority)
    return x->priority > y->priority ? -1 : 1;
  if (x->turn != y->turn)
    return x->turn < y->turn ? -1 : 1;
  return x->instance < y->instance ? -1 : x->instance > y->instance;
}

/* Those that stop leave what they have to others. */
static int list_holders(const pai_sched *s, pai__flat *list,
                        int (*order)(const void *, const void *))
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
      (holder){ .order =
                  run->state == PAI__RUN_CLAIMED ? UINT64_MAX : run->order,
                .id = r->id,
                .turn = r->turn,
                .priority = r->priority,
                .tenant = r->tenant,
                .run = i,
                .instance = run->instance };
  }
  if (list->len != 0)
    qsort(list->data, list->len, list->size, order);
  return PAI_OK;
}

/* With this one, has its tenant more than its part of what it takes? */
static bool goes_beyond(const pai_sched *s, const holder *h, uint64_t *held,
                        uint64_t *takes)
{
  const pai__tenant *t = pai__tenant_at(s, h->tenant);
  uint32_t n = pai__park_shares(s->park);

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
  uint32_t n = pai__park_shares(s->park);
  pai__flat list, sums;
  int rc;

  pai__flat_init(&list, sizeof(holder));
  pai__flat_init(&sums, sizeof(uint64_t));
  rc = pai__part_sums(s, &sums);
  if (rc == PAI_OK)
    rc = list_holders(s, &list, by_rank);
  for (uint32_t i = 0; i < list.len && rc == PAI_OK; i++) {
    const holder *h = (const holder *)list.data + i;
    uint64_t *all = sums.data;

    pai__run_at(s, h->run)->beyond = goes_beyond(
      s, h, all + (size_t)h->tenant * n, all + (size_t)s->park->ntenants * n);
  }
  pai__flat_dispose(&list, &s->alloc);
  pai__flat_dispose(&sums, &s->alloc);
  return rc;
}

/* Does a run that is guaranteed go before a request, or is it one of its own? */
static bool goes_before(const pai_sched *s, const pai__run *run,
                        const pai__req *r)
{
  const pai__req *x = pai__req_at(s, run->req);

  return pai__run_holds(run) && run->state != PAI__RUN_STOPPING &&
         !run->beyond && x->tenant == r->tenant &&
         (x->priority > r->priority ||
          (x->priority == r->priority && x->turn <= r->turn));
}

int pai__guarantee_left(const pai_sched *s, uint32_t req, pai__flat *left)
{
  const pai__req *r = pai__req_at(s, req);
  const uint64_t *own = pai__tenant_at(s, r->tenant)->own;
  uint32_t n = pai__park_shares(s->park);
  uint64_t *sums;

  pai__flat_init(left, sizeof(uint64_t));
  if (pai__flat_reserve(left, &s->alloc, n) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(left, n);
  sums = left->data;
  for (uint32_t i = 0; i < s->runs.len; i++)
    if (pai__run_at(s, i)->req != PAI__NONE &&
        goes_before(s, pai__run_at(s, i), r))
      pai__part_add(s, pai__run_at(s, i), sums);
  for (uint32_t k = 0; k < n; k++)
    sums[k] = own[k] > sums[k] ? own[k] - sums[k] : 0;
  return PAI_OK;
}

/* --- asking back ---------------------------------------------------------- */

typedef struct asking {
  pai_sched *s;
  pai__flat list, victims;
  pai__lookup hopeless; /* shapes for which there is no room at all */
  bool some;            /* somebody may be stopped, or stops already */
  bool elastic;         /* and may do with fewer tasks */
} asking;

/* What is borrowed: the least important first, and of these the youngest. */
static int find_borrowed(asking *a)
{
  pai_sched *s = a->s;
  int rc = pai__guarantee_mark(s);

  if (rc == PAI_OK)
    rc = list_holders(s, &a->list, by_weight);
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
      a->some = true; /* some of it stops already: no more for now */
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

    if (x->tenant == r->tenant &&
        (x->priority > r->priority ||
         (x->priority == r->priority && x->turn < r->turn)))
      return false;
  }
  return true;
}

/* Did the policy look at it, and find no room or no share, or only room that is
 * promised to others?  What has to wait for its turn, or for a user's own limit,
 * still does. */
static bool found_no_room(const pai_sched *s, uint32_t req)
{
  pai__why why = pai__req_why(s, req);

  if (why.lack == PAI_LACK_LATER)
    return pai__is_first(s, req);
  return (why.lack >= PAI_LACK_GPU && why.lack <= PAI_LACK_GANG) ||
         why.lack == PAI_LACK_PREEMPTION ||
         (why.lack == PAI_LACK_QUOTA && why.text == PAI__NONE);
}

/* Who stops already may be enough; then gangs give up tasks that they can do
 * without; and then others stop.  As pai__try_without(). */
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

/* All instances of it that keep to its part.  PAI_OK or a code. */
static int ask_for(asking *a, uint32_t req)
{
  pai_sched *s = a->s;
  pai__ask ask = { .req = req, .strategy = s->terms.reclaim };
  uint64_t shape = pai__req_at(s, req)->shape;
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
      rc = pai__lookup_reserve(&a->hopeless, &s->alloc);
      if (rc == PAI_OK && pai__lookup_get(&a->hopeless, shape) == PAI__NONE)
        pai__lookup_add(&a->hopeless, shape, req);
      return rc;
    }
    rc = rc < 0 ? rc : PAI_OK;
  }
  return rc;
}

/* Was one like it looked at in vain? */
static bool is_hopeless(const asking *a, const pai__req *r)
{
  uint32_t other = pai__lookup_get(&a->hopeless, r->shape);

  return other != PAI__NONE &&
         pai__req_fits_alike(a->s, r, pai__req_at(a->s, other));
}

/* What is borrowed is looked for with the first who asks: mostly nobody does. */
static int ask_for_all(asking *a)
{
  pai_sched *s = a->s;
  uint32_t req = s->m.first, next;
  int rc = PAI_OK;

  a->some = true;
  for (; rc == PAI_OK && req != PAI__NONE && a->some; req = next) {
    const pai__req *r = pai__req_at(s, req);

    next = r->behind;
    /* Those behind one that waits for its turn are the most, and ask for
     * nothing. */
    if (!pai__is_refused(s, req) &&
        pai__tenant_at(s, r->tenant)->nshares != 0 && pai__is_owed(s, req) &&
        !is_hopeless(a, r) && found_no_room(s, req))
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

/* What was said holds for what is guaranteed only. */
static void forget_reasons(pai_sched *s)
{
  pai__refusals_forget(s);
  s->rules.len = 0;
  s->m.shaped.made = 0;
}

/* A policy that need not look at each that waits takes off what it did not. */
static int decide_once(pai_sched *s)
{
  s->effort += s->m.nqueued;
  return s->policy->decide(s->policy_state, s->policy->data, &s->host);
}

/* What is guaranteed, and what is asked back for it. */
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

/* Who is important may have taken from his own what others were not to have. */
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

/* Where virtual clusters own cells their shares keep all but opportunistic runs
 * from what is others': these are asked after the decision. */
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
