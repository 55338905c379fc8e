/* easy.c - simple case of EASY backfill: one promise, to the first request of
 * the queue */
#include "sched/policy/backfill.h"
#include "sched/start.h"
#include "sched/policy/waiters.h"

#include "resource/bits.h"

/* What the promise takes of a node. */
typedef struct need {
  pai__amounts wanted; /* by all its tasks there */
  pai__amounts back;   /* given back by other runs before it begins */
  uint64_t taken;      /* GPUs counted as taken */
  uint32_t node;
} need;

enum { LAYOUT = 0 }; /* of promises made here; plans have other layouts */

void pai__easy_init(pai__easy *e)
{
  *e = (pai__easy){ .known = false };
  pai__flat_init(&e->needs, sizeof(need));
  pai__flat_init(&e->at, sizeof(uint32_t));
  pai__flat_init(&e->sides, 8 * sizeof(int64_t));
  pai__flat_init(&e->costs, sizeof(uint64_t));
  pai__flat_init(&e->choices, sizeof(uint32_t));
  pai__waiters_init(&e->waiters, PAI__ALIKE_CLASS);
}

void pai__easy_dispose(pai__easy *e, const pai_alloc *alloc)
{
  pai__flat_dispose(&e->needs, alloc);
  pai__flat_dispose(&e->at, alloc);
  pai__flat_dispose(&e->sides, alloc);
  pai__flat_dispose(&e->costs, alloc);
  pai__flat_dispose(&e->choices, alloc);
  pai__waiters_dispose(&e->waiters, alloc);
}

bool pai__easy_is_enough(const pai_sched *s)
{
  const pai__sched_cluster *cluster = s->cluster;
  uint32_t b = 0;

  for (uint32_t t = 0; t < cluster->nvcs; t++)
    if (cluster->vcs[t].nshares != 0)
      return false;
  while (b < cluster->nskus &&
         pai__sched_sku_is_plain(cluster, &cluster->skus[b]))
    b++;
  return b == cluster->nskus && cluster->npins == 0 &&
         s->reservations.len == 0 && s->claims.len == 0 &&
         pai__queue_vcs(s) <= 1;
}

/* --- the promise ---------------------------------------------------------- */

static pai_time length_of(const pai__req *r)
{
  pai_time length = pai__req_length(r);

  return length != 0 ? length : PAI__NEVER;
}

/* Removes the first n ending runs from the free capacity, and puts the others
 * back. */
static void lift_to(pai_sched *s, uint32_t *lifted, uint32_t n)
{
  for (; *lifted < n; ++*lifted)
    pai__run_lift(s, pai__end_at(s, *lifted)->run, true);
  for (; *lifted > n; --*lifted)
    pai__run_lift(s, pai__end_at(s, *lifted - 1)->run, false);
}

/* Returns 1 if it fits, with its places in s->slots; 0; or PAI_ENOMEM. */
static int fits(pai_sched *s, const pai__ask *ask, uint32_t *n)
{
  pai__sched_reason reason;
  int rc = pai__fit_elastic(s, ask, n, &reason);

  if (rc > 0)
    pai__unfit(s, pai__req_at(s, ask->req), *n);
  return rc;
}

/* Finds how many of the first ending runs have to end for the request.
 * Returns the codes of fits(). */
static int find_fewest(pai_sched *s, const pai__ask *ask, uint32_t *fewest,
                       uint32_t *n)
{
  uint32_t low = 0, high, lifted = 0;
  int rc = 0;

  for (uint32_t step = 1; rc == 0 && lifted < s->ends.len; step *= 2) {
    low = lifted;
    lift_to(s, &lifted,
            s->ends.len - lifted < step ? s->ends.len : lifted + step);
    rc = fits(s, ask, n);
  }
  high = lifted;
  while (rc > 0 && high - low > 1) {
    uint32_t middle = low + (high - low) / 2;

    lift_to(s, &lifted, middle);
    rc = fits(s, ask, n);
    *(rc > 0 ? &high : &low) = middle;
    rc = rc == 0 ? 1 : rc;
  }
  if (rc > 0) {
    lift_to(s, &lifted, high);
    rc = fits(s, ask, n);
  }
  *fewest = high;
  lift_to(s, &lifted, 0);
  return rc;
}

static int keep_promise(pai_sched *s, uint32_t req, pai_time start, uint32_t n,
                        pai__promises *x)
{
  const pai__req *r = pai__req_at(s, req);
  const pai__slot *slots = s->slots.data;
  pai__site *sites;

  if (pai__flat_reserve(&x->list, &s->alloc, 1) < 0 ||
      pai__flat_reserve(&x->sites, &s->alloc, n) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&x->sites, n);
  sites = x->sites.data;
  for (uint32_t i = 0; i < n; i++)
    sites[i] = (pai__site){ pai__bits_ones(slots[i].gpus), slots[i].node,
                            slots[i].want };
  ((pai__promise *)x->list.data)[pai__flat_push(&x->list, 1)] =
    (pai__promise){ r->id, pai__class_of(s, r)->shape, length_of(r), start, 0,
                    n };
  x->layout = LAYOUT;
  x->fine = false;
  return PAI_OK;
}

/* True if the promise is still as good as a new one.  It is not if a run is
 * overdue, because that may end at any moment. */
static bool holds(const pai_sched *s, uint32_t req, const pai__promises *x)
{
  const pai__promise *p = x->list.data;
  const pai__req *r = pai__req_at(s, req);

  return x->list.len == 1 && x->layout == LAYOUT && p->start > s->m.now &&
         pai__promise_is_of(x, p, s, req, length_of(r)) &&
         (s->ends.len == 0 || pai__end_at(s, 0)->at > s->m.now);
}

/* Returns 1; 0 if the request's start is unknown; or PAI_ENOMEM. */
static int promise(pai_sched *s, uint32_t req, int place, pai__promises *x)
{
  pai__ask ask = { .req = req, .strategy = place };
  uint32_t fewest, n;
  pai_time start;
  int rc;

  if (holds(s, req, x))
    return 1;
  pai__promises_clear(x);
  rc = find_fewest(s, &ask, &fewest, &n);
  if (rc <= 0)
    return rc;
  start = pai__end_at(s, fewest - 1)->at;
  if (start <= s->m.now)
    start = s->m.now + 1;
  return keep_promise(s, req, start, n, x) < 0 ? PAI_ENOMEM : 1;
}

void pai__easy_event(pai__easy *e, const pai_sched *s, pai__promises *x,
                     const pai_sched_event *event)
{
  pai__waiters_event(&e->waiters, s, event);
  if (x->layout != LAYOUT)
    return;
  switch (event->kind) {
  case PAI_SCHED_SUBMIT:
  case PAI_SCHED_STARTED:
  case PAI_SCHED_FINISHED:
  case PAI_SCHED_TIME:
    if (s->m.left_before <= event->time)
      break;
    /* fall through */
  default: pai__promises_clear(x);
  }
}

/* --- needs of the promise ------------------------------------------------- */

static need *need_at(const pai__easy *e, uint32_t i)
{
  return (need *)e->needs.data + i;
}

static uint32_t *need_of(const pai__easy *e, uint32_t node)
{
  return (uint32_t *)e->at.data + node;
}

static void add_back(const pai__easy *e, const pai_sched *s,
                     const pai__run *run)
{
  const pai__want *wants = pai__wants_of(s, pai__req_at(s, run->req));
  const pai__slot *slots = pai__slots_of(s, run);

  for (uint32_t i = 0; i < run->tasks; i++) {
    uint32_t at = *need_of(e, slots[i].node);

    if (at != 0)
      pai__amounts_add_slot(&need_at(e, at - 1)->back, &wants[slots[i].want],
                            slots[i].gpus);
  }
}

/* Sums up what the promise takes of each node, and what is given back in time.
 * Returns PAI_OK or PAI_ENOMEM. */
static int find_needs(pai__easy *e, const pai_sched *s, uint32_t req,
                      const pai__promises *x)
{
  const pai__promise *p = x->list.data;
  const pai__want *wants = pai__wants_of(s, pai__req_at(s, req));
  uint32_t n =
    s->free_capacity.len > e->at.len ? s->free_capacity.len - e->at.len : 0;

  e->needs.len = 0;
  if (pai__flat_reserve(&e->at, &s->alloc, n) < 0 ||
      pai__flat_reserve(&e->needs, &s->alloc, p->count) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&e->at, n);
  for (uint32_t i = 0; i < p->count; i++) {
    const pai__site *site = (const pai__site *)x->sites.data + p->first + i;
    uint32_t *at = need_of(e, site->node);

    if (*at == 0) {
      *at = pai__flat_push(&e->needs, 1) + 1;
      need_at(e, *at - 1)->node = site->node;
    }
    pai__amounts_add(&need_at(e, *at - 1)->wanted, &wants[site->want], 1,
                     (int64_t)site->groups);
  }
  for (uint32_t i = 0; i < s->ends.len && pai__end_at(s, i)->at <= p->start;
       i++)
    add_back(e, s, pai__run_at(s, pai__end_at(s, i)->run));
  for (uint32_t i = 0; i < e->needs.len; i++)
    *need_of(e, need_at(e, i)->node) = 0;
  e->known = true;
  return PAI_OK;
}

/* Limited to what a want can hold; amounts that large are not counted. */
static uint32_t less(int64_t wanted, int64_t back)
{
  int64_t n = wanted > back ? wanted - back : 0;

  return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* Counts what is not given back in time as taken, or undoes that. */
static void hold(const pai__easy *e, pai_sched *s, bool on)
{
  for (uint32_t i = 0; i < e->needs.len; i++) {
    need *x = need_at(e, i);
    pai__free_capacity *capacity = pai__free_capacity_touch(s, x->node);
    pai__want w = { .cpu_millis =
                      less(x->wanted.cpu_millis, x->back.cpu_millis),
                    .ports = less(x->wanted.ports, x->back.ports),
                    .memory = x->wanted.memory > x->back.memory
                                ? (uint64_t)(x->wanted.memory - x->back.memory)
                                : 0 };

    if (on) {
      x->taken = pai__bits_lowest(capacity->gpus & ~capacity->sick,
                                  less(x->wanted.gpus, x->back.gpus));
      pai__free_capacity_count(capacity, &w, x->taken);
    } else {
      pai__free_capacity_return(capacity, &w, x->taken);
    }
  }
  s->holding = on;
}

/* --- deciding ------------------------------------------------------------- */

enum { PASSED = 16 }; /* waiters that can be skipped at the cost of one try */

typedef struct deciding {
  pai__easy *e;
  pai_sched *s;
  pai__promises *x;
  pai__how how;
  bool alike;    /* a refusal holds for the whole line */
  uint32_t head; /* the request with the promise */
} deciding;

/* Starts instances where the promise has to move to other nodes.  Returns the
 * codes of pai__start_all(). */
static int start_moving(const deciding *d, uint32_t req)
{
  int rc = 1;

  while (rc == 1 && d->x->list.len != 0 && pai__may_begin(d->s, req)) {
    rc = pai__easy_start_moving(d->e, d->s, req, d->head, d->x->list.data);
    if (rc <= 0)
      return rc;
    d->e->known = d->e->counted = false;
    pai__promises_clear(d->x);
    rc = promise(d->s, d->head, d->how.strategy, d->x);
  }
  return rc;
}

/* For a request that has room now and would still run when the promise begins.
 * Returns the codes of pai__start_all(). */
static int start_beside(const deciding *d, uint32_t req)
{
  pai__easy *e = d->e;
  pai_sched *s = d->s;
  uint64_t orders = s->m.orders;
  int rc;

  if (!e->known && find_needs(e, s, d->head, d->x) < 0)
    return PAI_ENOMEM;
  hold(e, s, true);
  rc = pai__start_all(s, req, &d->how);
  hold(e, s, false);
  e->counted = e->counted && s->m.orders == orders;
  if (rc == 0)
    rc = start_moving(d, req);
  if (rc == 0)
    pai__sched_reason_say(s, req, PAI_LACK_LATER)->behind =
      pai__promise_at(d->x, 0)->id;
  return rc;
}

/* From this request on, no request of its class has room. */
static int set_refused(const deciding *d, const pai__waiter *w)
{
  if (!d->alike)
    return 0;
  pai__waiter_line_of(&d->e->waiters, w)->refused = d->s->m.decided;
  return pai__alike_refuse_as_told(d->s, w->req);
}

/* For a request that ends before the promise begins.  Returns the codes of
 * pai__start_all(). */
static int try_short(const deciding *d, const pai__waiter *w)
{
  uint64_t orders = d->s->m.orders;
  int rc = pai__start_all(d->s, w->req, &d->how);

  /* What it took is given back in time. */
  d->e->known = d->e->known && d->s->m.orders == orders;
  d->e->counted = d->e->counted && d->e->known;
  return rc == 0 ? set_refused(d, w) : rc;
}

static int try_long(const deciding *d, const pai__waiter *w)
{
  pai__waiter_line *line = pai__waiter_line_of(&d->e->waiters, w);
  pai_sched *s = d->s;
  uint64_t orders = s->m.orders;
  int rc = pai__has_room(s, w->req, d->how.strategy, false);

  if (rc == 0)
    return set_refused(d, w);
  line->looked_at = orders;
  if (rc < 0 || (d->alike && line->later == s->m.decided))
    return rc;
  rc = start_beside(d, w->req);
  if (rc == 0)
    line->later = s->m.decided;
  return rc;
}

/* When the promise begins; without one, any run ends before it. */
static pai_time promised_start(const deciding *d)
{
  const pai__promise *p = d->x->list.data;

  return d->x->list.len != 0 ? p->start : PAI__NEVER;
}

/* Returns the next waiter, from i on, that is not known to be refused.  Nearly
 * all waiters are, so what they are compared with is read before the loop. */
static uint32_t skip_refused(const deciding *d, uint32_t i)
{
  const pai__waiters *all = &d->e->waiters;
  const pai__waiter *list = all->list.data;
  uint64_t decided = d->s->m.decided, orders = d->s->m.orders;
  pai_time now = d->s->m.now, start = promised_start(d);
  uint32_t n = all->list.len;

  for (; i < n; i++) {
    const pai__waiter_line *line = pai__waiter_line_of(all, &list[i]);

    if (line->refused != decided &&
        (line->later != decided || line->looked_at != orders ||
         pai__plan_end(now, list[i].length) <= start))
      break;
  }
  return i;
}

static int start_others(const deciding *d, uint32_t at)
{
  const pai__waiters *all = &d->e->waiters;
  const pai_sched *s = d->s;
  uint32_t i = at;
  int rc = PAI_OK;

  d->e->known = d->e->counted = false;
  while (rc >= 0) {
    const pai__waiter *w;

    i = d->alike ? skip_refused(d, i + 1) : i + 1;
    if (i >= all->list.len)
      break;
    w = pai__waiter_at(all, i);
    if (pai__waiter_is_there(s, w) && pai__may_begin(s, w->req))
      rc = pai__plan_end(s->m.now, w->length) <= promised_start(d)
             ? try_short(d, w)
             : try_long(d, w);
  }
  return rc;
}

static int start_behind(const deciding *d, uint32_t at)
{
  pai_sched *s = d->s;
  const pai__waiter *head = pai__waiter_at(&d->e->waiters, at);
  const pai__promise *p = d->x->list.data;
  int rc = PAI_OK;

  if (d->alike) {
    pai__alike_begin(s, PAI__ALIKE_CLASS);
    rc = set_refused(d, head);
    s->m.alike.but = head->turn;
    s->m.alike.behind = d->x->list.len != 0 ? p->id : 0;
  }
  if (rc == PAI_OK)
    rc = start_others(d, at);
  /* Set last, because reasons are copied to requests that are alike. */
  p = d->x->list.data;
  if (d->x->list.len != 0)
    pai__sched_reason_make(s, head->req)->until = p->start;
  return rc < 0 ? rc : PAI_OK;
}

int pai__easy_decide(pai__easy *e, pai_sched *s, int place, pai__promises *x)
{
  deciding d = { .e = e, .s = s, .x = x, .how = { .strategy = place } };
  uint64_t orders = s->m.orders;
  int ready = pai__waiters_ready(&e->waiters, s), rc = 1;
  uint32_t i = e->waiters.first;

  if (ready < 0)
    return ready;
  d.alike = ready > 0;
  if (d.alike) /* Most are skipped without a try.  */
    s->effort -= s->m.nqueued - s->m.nqueued / PASSED;
  while (i < e->waiters.list.len && rc > 0) {
    const pai__waiter *w = pai__waiter_at(&e->waiters, i);

    if (pai__waiter_is_there(s, w))
      rc = pai__start_all(s, w->req, &d.how);
    i += rc > 0;
  }
  if (rc < 0)
    return rc;
  /* A later request of higher priority may have taken what was promised. */
  if (s->m.orders != orders || i == e->waiters.list.len)
    pai__promises_clear(x);
  if (i == e->waiters.list.len)
    return PAI_OK;
  if (!pai__ends_ready(s))
    return PAI_ENOMEM;
  d.head = pai__waiter_at(&e->waiters, i)->req;
  rc = promise(s, d.head, place, x);
  return rc < 0 ? rc : start_behind(&d, i);
}
