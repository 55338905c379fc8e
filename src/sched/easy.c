/* easy.c - one promise, to the first of the queue, and who may go before it */
#include "sched/easy.h"
#include "sched/ends.h"
#include "sched/walk.h"

#include "resource/bits.h"

/* What the promise takes of a node when it begins. */
typedef struct need {
  pai__want wanted; /* of all its tasks there */
  pai__want back;   /* what others will have given back by then */
  uint64_t taken;   /* GPUs that are counted as taken */
  uint32_t node;
} need;

enum { LAYOUT = 0 }; /* of promises; plans have another one */

void pai__easy_init(pai__easy *e)
{
  *e = (pai__easy){ .known = false };
  pai__flat_init(&e->needs, sizeof(need));
  pai__flat_init(&e->at, sizeof(uint32_t));
  pai__flat_init(&e->sides, 8 * sizeof(int64_t));
  pai__flat_init(&e->costs, sizeof(uint64_t));
  pai__flat_init(&e->choices, sizeof(uint32_t));
  pai__waiters_init(&e->waiters, PAI__ALIKE_SHAPE);
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
  const pai__park *park = s->park;
  uint32_t b = 0;

  for (uint32_t t = 0; t < park->ntenants; t++)
    if (park->tenants[t].nshares != 0)
      return false;
  while (b < park->nbuilds && pai__build_is_plain(park, &park->builds[b]))
    b++;
  return b == park->nbuilds && park->npins == 0 && s->kept.len == 0 &&
         s->claims.len == 0 && pai__queue_tenants(s) <= 1;
}

/* --- the promise ---------------------------------------------------------- */

static pai_time length_of(const pai__req *r)
{
  pai_time length = pai__req_length(r);

  return length != 0 ? length : PAI__NEVER;
}

/* So many of those that end first are lifted from the rooms. */
static void lift_to(pai_sched *s, uint32_t *lifted, uint32_t n)
{
  for (; *lifted < n; ++*lifted)
    pai__run_lift(s, pai__end_at(s, *lifted)->run, true);
  for (; *lifted > n; --*lifted)
    pai__run_lift(s, pai__end_at(s, *lifted - 1)->run, false);
}

/* 1: it fits, and where is in s->slots; 0; or PAI_ENOMEM. */
static int fits(pai_sched *s, const pai__ask *ask, uint32_t *n)
{
  pai__why why;
  int rc = pai__fit(s, ask, n, &why);

  if (rc > 0)
    pai__unfit(s, pai__req_at(s, ask->req), *n);
  return rc;
}

/* How many of those that end first have to leave for it; as fits(). */
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
    (pai__promise){ r->id, r->shape, length_of(r), start, 0, n };
  x->layout = LAYOUT;
  x->fine = false;
  return PAI_OK;
}

/* Is what was promised still as good?  What should have ended by now may end at
 * any moment. */
static bool holds(const pai_sched *s, uint32_t req, const pai__promises *x)
{
  const pai__promise *p = x->list.data;
  const pai__req *r = pai__req_at(s, req);

  return x->list.len == 1 && x->layout == LAYOUT && p->start > s->m.now &&
         pai__promise_is_of(x, p, r, length_of(r)) &&
         (s->ends.len == 0 || pai__end_at(s, 0)->at > s->m.now);
}

/* 1; 0: nobody knows when it can start; or PAI_ENOMEM. */
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

/* --- what it needs -------------------------------------------------------- */

static need *need_at(const pai__easy *e, uint32_t i)
{
  return (need *)e->needs.data + i;
}

static uint32_t *need_of(const pai__easy *e, uint32_t node)
{
  return (uint32_t *)e->at.data + node;
}

static void add(pai__want *sum, const pai__want *w, uint32_t gpus)
{
  sum->gpus += gpus;
  sum->cpus += w->cpus;
  sum->ports += w->ports;
  sum->memory += w->memory;
}

static void add_back(const pai__easy *e, const pai_sched *s,
                     const pai__run *run)
{
  const pai__want *wants = pai__wants_of(s, pai__req_at(s, run->req));
  const pai__slot *slots = pai__slots_of(s, run);

  for (uint32_t i = 0; i < run->tasks; i++) {
    uint32_t at = *need_of(e, slots[i].node);

    if (at != 0)
      add(&need_at(e, at - 1)->back, &wants[slots[i].want],
          pai__bits_ones(slots[i].gpus));
  }
}

/* What is promised of each node, and what of that will be given back in time.
 * PAI_OK or PAI_ENOMEM. */
static int find_needs(pai__easy *e, const pai_sched *s, uint32_t req,
                      const pai__promises *x)
{
  const pai__promise *p = x->list.data;
  const pai__want *wants = pai__wants_of(s, pai__req_at(s, req));
  uint32_t n = s->rooms.len > e->at.len ? s->rooms.len - e->at.len : 0;

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
    add(&need_at(e, *at - 1)->wanted, &wants[site->want],
        (uint32_t)site->lots);
  }
  for (uint32_t i = 0; i < s->ends.len && pai__end_at(s, i)->at <= p->start;
       i++)
    add_back(e, s, pai__run_at(s, pai__end_at(s, i)->run));
  for (uint32_t i = 0; i < e->needs.len; i++)
    *need_of(e, need_at(e, i)->node) = 0;
  e->known = true;
  return PAI_OK;
}

static uint32_t less(uint32_t wanted, uint32_t back)
{
  return wanted > back ? wanted - back : 0;
}

/* What will not be given back in time counts as taken, or not any more. */
static void hold(const pai__easy *e, pai_sched *s, bool on)
{
  for (uint32_t i = 0; i < e->needs.len; i++) {
    need *x = need_at(e, i);
    pai__room *room = pai__room_touch(s, x->node);
    pai__want w = { .cpus = less(x->wanted.cpus, x->back.cpus),
                    .ports = less(x->wanted.ports, x->back.ports),
                    .memory = x->wanted.memory > x->back.memory
                                ? x->wanted.memory - x->back.memory
                                : 0 };

    if (on) {
      x->taken = pai__bits_lowest(room->gpus & ~room->sick,
                                  less(x->wanted.gpus, x->back.gpus));
      pai__room_count(room, &w, x->taken);
    } else {
      pai__room_return(room, &w, x->taken);
    }
  }
  s->holding = on;
}

/* --- deciding ------------------------------------------------------------- */

/* There is room, and it is promised. */
static void refuse_later(pai_sched *s, uint32_t req, const pai__promise *p)
{
  *pai__why_make(s, req) = (pai__why){ .lack = PAI_LACK_LATER,
                                       .behind = p->id,
                                       .node = PAI__NONE,
                                       .text = PAI__NONE };
}

/* Where the promise has to move to other nodes.  As pai__start_all(). */
static int start_moving(pai__easy *e, pai_sched *s, uint32_t req,
                        uint32_t head, int place, pai__promises *x)
{
  int rc = 1;

  while (rc == 1 && x->list.len != 0 && pai__may_begin(s, req)) {
    rc = pai__easy_start_moving(e, s, req, head, x->list.data);
    if (rc <= 0)
      return rc;
    e->known = e->counted = false;
    pai__promises_clear(x);
    rc = promise(s, head, place, x);
  }
  return rc;
}

/* Somebody who will not have ended when the promise begins.  As
 * pai__start_all(). */
static int start_beside(pai__easy *e, pai_sched *s, uint32_t req,
                        uint32_t head, const pai__how *how, pai__promises *x)
{
  uint64_t orders = s->m.orders;
  int rc = pai__has_room(s, req, how->strategy, false);

  if (rc <= 0)
    return rc;
  if (!e->known && find_needs(e, s, head, x) < 0)
    return PAI_ENOMEM;
  hold(e, s, true);
  rc = pai__start_all(s, req, how);
  hold(e, s, false);
  e->counted = e->counted && s->m.orders == orders;
  if (rc == 0)
    rc = start_moving(e, s, req, head, how->strategy, x);
  if (rc == 0)
    refuse_later(s, req, x->list.data);
  return rc;
}

/* All behind the one that is promised its place. */
static int start_others(pai__easy *e, pai_sched *s, const pai__flat *queue,
                        uint32_t at, const pai__how *how, pai__promises *x)
{
  const pai__promise *p = x->list.data;
  uint32_t head = pai__entry_at(queue, at)->req;
  int rc = PAI_OK;

  e->known = e->counted = false;
  for (uint32_t i = at + 1; i < queue->len && rc >= 0; i++) {
    uint32_t req = pai__entry_at(queue, i)->req;
    uint64_t orders = s->m.orders;

    if (x->list.len == 0 ||
        pai__plan_end(s->m.now, length_of(pai__req_at(s, req))) <= p->start) {
      rc = pai__start_all(s, req, how);
      /* What it took it gives back in time. */
      e->known = e->known && s->m.orders == orders;
      e->counted = e->counted && e->known;
    } else {
      rc = start_beside(e, s, req, head, how, x);
    }
  }
  return rc;
}

/* Who came later and is more important may have taken what was promised. */
static void clear_if_overtaken(const pai_sched *s, uint64_t orders,
                               pai__promises *x)
{
  if (s->m.orders != orders)
    pai__promises_clear(x);
}

int pai__easy_decide(pai__easy *e, pai_sched *s, const pai__flat *queue,
                     int place, pai__promises *x)
{
  pai__how how = { .strategy = place };
  uint64_t orders = s->m.orders;
  uint32_t i = 0;
  int rc = 1;

  while (i < queue->len && rc > 0) {
    rc = pai__start_all(s, pai__entry_at(queue, i)->req, &how);
    i += rc > 0;
  }
  if (rc < 0)
    return rc;
  clear_if_overtaken(s, orders, x);
  if (i == queue->len) {
    pai__promises_clear(x);
    return PAI_OK;
  }
  if (!pai__ends_ready(s))
    return PAI_ENOMEM;
  rc = promise(s, pai__entry_at(queue, i)->req, place, x);
  if (rc < 0)
    return rc;
  rc = start_others(e, s, queue, i, &how, x);
  /* Last, for reasons are copied to who is alike. */
  if (x->list.len != 0)
    pai__why_make(s, pai__entry_at(queue, i)->req)->until =
      ((pai__promise *)x->list.data)->start;
  return rc < 0 ? rc : PAI_OK;
}

/* --- deciding, with thousands who wait ------------------------------------ */

enum { PASSED = 16 }; /* so many are as much work as one that is looked at */

typedef struct quick {
  pai__easy *e;
  pai_sched *s;
  pai__promises *x;
  pai__how how;
  uint32_t head; /* that is promised its place */
} quick;

/* There is no room for any of its shape, from this one on. */
static int set_refused(const quick *q, const pai__waiter *w)
{
  pai__shape_of(&q->e->waiters, w)->refused = q->s->m.decided;
  return pai__shape_refuse(q->s, w->req);
}

/* It ends in time.  The codes of pai__start_all(). */
static int try_short(const quick *q, const pai__waiter *w)
{
  uint64_t orders = q->s->m.orders;
  int rc = pai__start_all(q->s, w->req, &q->how);

  /* What it took it gives back in time. */
  q->e->known = q->e->known && q->s->m.orders == orders;
  q->e->counted = q->e->counted && q->e->known;
  return rc == 0 ? set_refused(q, w) : rc;
}

static int try_long(const quick *q, const pai__waiter *w)
{
  pai__shape *shape = pai__shape_of(&q->e->waiters, w);
  pai_sched *s = q->s;
  uint64_t orders = s->m.orders;
  int rc;

  rc = pai__has_room(s, w->req, q->how.strategy, false);
  if (rc == 0)
    return set_refused(q, w);
  shape->looked_at = orders;
  if (rc < 0 || shape->later == s->m.decided)
    return rc;
  rc = start_beside(q->e, s, w->req, q->head, &q->how, q->x);
  if (rc == 0)
    shape->later = s->m.decided;
  return rc;
}

/* All behind the one that is promised its place. */
static int start_quickly(const quick *q, uint32_t at)
{
  const pai__waiters *all = &q->e->waiters;
  const pai_sched *s = q->s;
  const pai__promise *p = q->x->list.data;
  int rc = PAI_OK;

  q->e->known = q->e->counted = false;
  for (uint32_t i = at + 1; i < all->list.len && rc >= 0; i++) {
    const pai__waiter *w = pai__waiter_at(all, i);
    const pai__shape *shape = pai__shape_of(all, w);
    bool ends =
      q->x->list.len == 0 || pai__plan_end(s->m.now, w->length) <= p->start;

    /* So most are passed. */
    if (shape->refused == s->m.decided ||
        (!ends && shape->later == s->m.decided &&
         shape->looked_at == s->m.orders))
      continue;
    if (pai__waiter_is_there(s, w))
      rc = ends ? try_short(q, w) : try_long(q, w);
  }
  return rc;
}

/* The first that cannot start is promised its place. */
static int promise_first(const quick *q, uint32_t at)
{
  pai_sched *s = q->s;
  const pai__waiter *head = pai__waiter_at(&q->e->waiters, at);
  const pai__promise *p = q->x->list.data;
  int rc;

  pai__shape_of(&q->e->waiters, head)->refused = s->m.decided;
  pai__alike_begin(s, PAI__ALIKE_SHAPE);
  rc = pai__shape_refuse(s, head->req);
  s->m.shaped.but = head->turn;
  s->m.shaped.behind = q->x->list.len != 0 ? p->id : 0;
  if (rc == PAI_OK)
    rc = start_quickly(q, at);
  if (q->x->list.len != 0)
    pai__why_make(s, head->req)->until = p->start;
  return rc < 0 ? rc : 1;
}

int pai__easy_decide_quickly(pai__easy *e, pai_sched *s, int place,
                             pai__promises *x)
{
  quick q = { .e = e, .s = s, .x = x, .how = { .strategy = place } };
  uint64_t orders = s->m.orders;
  int ready = pai__waiters_ready(&e->waiters, s), rc = 1;
  uint32_t i = e->waiters.first;

  if (ready <= 0)
    return ready;
  /* They are passed, and not looked at. */
  s->effort -= s->m.nqueued - s->m.nqueued / PASSED;
  while (i < e->waiters.list.len && rc > 0) {
    const pai__waiter *w = pai__waiter_at(&e->waiters, i);

    if (pai__waiter_is_there(s, w))
      rc = pai__start_all(s, w->req, &q.how);
    i += rc > 0;
  }
  if (rc < 0)
    return rc;
  clear_if_overtaken(s, orders, x);
  if (i == e->waiters.list.len) {
    pai__promises_clear(x);
    return 1;
  }
  if (!pai__ends_ready(s))
    return PAI_ENOMEM;
  q.head = pai__waiter_at(&e->waiters, i)->req;
  rc = promise(s, q.head, place, x);
  return rc < 0 ? rc : promise_first(&q, i);
}
