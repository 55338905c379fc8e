/*
 * plan_find.c - the earliest time at which a request has a place
 *
 * A single task is looked for on each node's own line.  For a gang each time
 * at which something becomes free is tried, with rooms as they are throughout
 * its length: so it gets what it would get if it began then.
 */
#include "sched/plan.h"
#include "sched/shelf.h"

#include "resource/bits.h"
#include "sched/guarantee.h"

#include <stdlib.h>

/* --- rows ----------------------------------------------------------------- */

enum { ROW_OF_TASKS, ROW_OF_SHARES, ROW_OF_GANGS };

/* Lengths of one class differ by less than a quarter; the shortest of it. */
static pai_time shortest_alike(pai_time length)
{
  uint32_t bits = 0;

  if (length == PAI__NEVER)
    return PAI__NEVER;
  while (length >> bits > 7)
    bits++;
  return length >> bits << bits;
}

/* --- a single task -------------------------------------------------------- */

typedef struct looking {
  const pai__plan *p;
  const pai_sched *s;
  const pai__req *r;
  const pai__want *w;
  uint32_t req;
  uint32_t pin;
  pai__amount need;
  pai_time length, shortest;
  pai_time *row;
  pai_time floor; /* the shares have no room before */
  uint32_t floor_row;
  bool raised; /* to the first time at which they have, as long as it takes */
  bool alike;  /* what it takes of them is the same on each node */
  int strategy;
  /* The best so far. */
  pai_time at;
  uint64_t score;
  uint32_t node; /* PAI__NONE: none */
  uint64_t some;
} looking;

/* Lots that it may have on a node; false: it may not be there at all. */
static bool may_be_on(const looking *k, uint32_t node, uint64_t *some)
{
  const pai__park *park = k->s->park;
  uint32_t kind =
    park->nkinds > 1 ? pai__lots_of(k->p, node)->kind : PAI__NONE;
  uint32_t lack;
  uint64_t gpus;

  if (pai__room_at(k->s, node)->state != PAI_NODE_UP ||
      (k->p->only != PAI__NONE && k->p->only != node))
    return false;
  gpus = pai__want_gpus(k->s, k->w, kind, k->pin, node, &lack);
  *some = k->w->gpus != 0 ? pai__lots_within(k->p, node, gpus) : 0;
  return lack == PAI_LACK_NOTHING && (k->w->gpus == 0 || *some != 0);
}

/* When so much of a share is left. */
static pai_time one_share_from(const looking *k, uint32_t share,
                               uint64_t amount, pai_time from)
{
  pai__amount need = { .memory = (int64_t)amount };

  if (from == PAI__NEVER || amount == 0 ||
      share >= pai__tenant_at(k->s, k->r->tenant)->nshares)
    return from;
  return pai__line_earliest(k->p, pai__share_line(k->s, k->r->tenant, share),
                            from, k->length, &need, 0, 0);
}

/* When there is the least of each share that it takes, for so long. */
static pai_time all_shares_from(const looking *k, pai_time length,
                                pai_time from)
{
  looking x = *k;
  pai_time before;

  x.length = length;
  do {
    before = from;
    for (uint32_t i = 0; i < pai__tenant_at(k->s, k->r->tenant)->nshares; i++)
      from = one_share_from(&x, i, pai__share_least(k->s, k->r, i), from);
  } while (from != before && from != PAI__NEVER);
  return from;
}

/* What is known of its like: before, there is too little of a share for all that
 * are of its shape and take as long, or longer. */
static int find_floor(pai__plan *p, looking *k)
{
  const pai__park *park = k->s->park;

  k->floor = p->now;
  if (!pai__req_keeps_share(k->s, k->r))
    return PAI_OK;
  k->floor_row =
    pai__plan_row(p, k->s,
                  (pai__row){ .like = { ROW_OF_SHARES, (uint64_t)k->shortest },
                              .req = k->req },
                  1);
  if (k->floor_row == PAI__NONE)
    return PAI_ENOMEM;
  k->floor = *pai__row_at(p, k->floor_row);
  k->alike = park->nkinds == 1 || k->w->type < park->nkinds || k->w->gpus == 0;
  return PAI_OK;
}

/* Looked for when a node has room, and not before. */
static void raise_floor(looking *k)
{
  pai_time *row;

  if (k->raised || !pai__req_keeps_share(k->s, k->r))
    return;
  row = pai__row_at(k->p, k->floor_row);
  *row = all_shares_from(k, k->shortest, *row);
  k->floor = *row <= k->at ? all_shares_from(k, k->length, *row) : *row;
  k->raised = true;
}

static pai_time share_from(looking *k, uint32_t node, pai_time from)
{
  uint32_t kind = pai__lots_of(k->p, node)->kind, beside = k->s->park->nkinds;

  if (!pai__req_keeps_share(k->s, k->r))
    return from;
  raise_floor(k);
  if (from <= k->floor && (k->alike || k->floor > k->at))
    return k->floor;
  if (kind != PAI__NONE)
    from = one_share_from(k, kind, k->w->gpus, from);
  from = one_share_from(k, beside + PAI__SHARE_CPUS, k->w->cpus, from);
  return one_share_from(k, beside + PAI__SHARE_MEMORY, k->w->memory, from);
}

/* The node, the share and the reservations have to agree.  What is later than
 * the best so far is of no use, whenever it is. */
static pai_time earliest_on(looking *k, uint32_t node, uint64_t some)
{
  const pai__room *room = pai__room_at(k->s, node);
  pai_time at = k->row[node] > k->floor ? k->row[node] : k->floor, before;

  do {
    before = at;
    at = pai__line_earliest(k->p, node, at, k->length, &k->need, k->w->gpus,
                            some);
    if (at != PAI__NEVER)
      at = share_from(k, node, at);
    if (at != PAI__NEVER && room->kept != 0) {
      pai_time kept =
        pai__kept_until(k->s, k->r, node, at, pai__plan_end(at, k->length));

      at = kept != 0 ? kept : at;
    }
  } while (at != before && at <= k->at && at != PAI__NEVER);
  return at;
}

/* Of nodes at the same time the one with the higher score, as in fit.c. */
static uint64_t score(const looking *k, uint32_t node, pai_time at)
{
  const pai__step *step =
    pai__steps_of(k->p, node) + pai__line_find(k->p, node, at);
  uint64_t gpus = pai__lots_sum(step->free.lots);
  uint64_t cpus = step->free.cpus > 0 ? (uint64_t)step->free.cpus : 0;
  uint64_t kind = pai__lots_of(k->p, node)->kind;

  cpus = cpus < 0xffffff ? cpus : 0xffffff;
  /* What leaves its type open gets the first kind there is. */
  kind = k->w->gpus != 0 && kind < 0xffff ? 0xffff - kind : 0;
  switch (k->strategy) {
  case PAI_PLACE_FIRST: return kind << 40;
  case PAI_PLACE_SPREAD: return kind << 40 | gpus << 24 | cpus;
  default: return kind << 40 | (64 - gpus) << 24 | (0xffffff - cpus);
  }
}

/* No task like it has a place on the node before. */
static pai_time bound_of(looking *k, uint32_t node, uint64_t *some)
{
  if (!may_be_on(k, node, some))
    k->row[node] = PAI__NEVER;
  else
    k->row[node] = pai__line_earliest(k->p, node, k->row[node], k->shortest,
                                      &k->need, k->w->gpus, *some);
  return k->row[node];
}

static void look_at(looking *k, uint32_t node)
{
  uint64_t some, points;
  pai_time at;

  if (k->floor > k->at)
    return;
  if (bound_of(k, node, &some) > k->at || k->row[node] == PAI__NEVER)
    return;
  at = earliest_on(k, node, some);
  if (at > k->at || at == PAI__NEVER)
    return;
  points = score(k, node, at);
  if (at < k->at || k->node == PAI__NONE || points > k->score ||
      (points == k->score && node < k->node)) {
    k->at = at;
    k->score = points;
    k->node = node;
    k->some = some;
  }
}

/* The most promising node first: most others need no look then. */
static void look_at_all(looking *k)
{
  uint32_t n = k->s->park->nspots, first = 0;

  for (uint32_t i = 1; i < n; i++)
    if (k->row[i] < k->row[first])
      first = i;
  if (n == 0 || k->row[first] > k->at)
    return;
  look_at(k, first);
  for (uint32_t i = 0; i < n; i++)
    if (i != first && k->row[i] <= k->at && k->row[i] != PAI__NEVER)
      look_at(k, i);
}

/* GPUs of the first of some lots that are free all the time. */
static uint64_t take_lots(const pai__plan *p, uint32_t node, pai_time at,
                          pai_time length, uint32_t gpus, uint64_t some)
{
  uint64_t free =
    some & pai__line_least(p, node, at, pai__plan_end(at, length)).lots;
  uint64_t lots = 0;

  for (uint32_t i = 0; i < PAI__LOTS && gpus != 0; i++) {
    uint32_t n = free >> (8 * i) & 0xff;

    n = n < gpus ? n : gpus;
    lots |= (uint64_t)n << (8 * i);
    gpus -= n;
  }
  return lots;
}

static int set_row(pai__plan *p, looking *k)
{
  const pai__want *w = k->w;
  uint32_t row = pai__plan_row(
    p, k->s,
    (pai__row){ .like = { ROW_OF_TASKS, (uint64_t)w->gpus << 32 | w->cpus,
                          w->ports, w->memory, w->type, k->pin,
                          (uint64_t)k->shortest },
                .req = PAI__NONE },
    k->s->park->nspots);

  if (row == PAI__NONE)
    return PAI_ENOMEM;
  k->row = pai__row_at(p, row);
  return PAI_OK;
}

static int find_task(pai__plan *p, looking *k)
{
  if (set_row(p, k) < 0)
    return PAI_ENOMEM;
  look_at_all(k);
  if (k->node == PAI__NONE)
    return 0;
  p->start = k->at;
  (void)pai__flat_push(&p->sites, 1);
  *(pai__site *)p->sites.data =
    (pai__site){ .node = k->node,
                 .lots = take_lots(p, k->node, k->at, k->length, k->w->gpus,
                                   k->some) };
  return 1;
}

/* --- a gang --------------------------------------------------------------- */

/* Rooms and shares as they are all the time from `at` on. */
static void make_rooms(pai__plan *p, const pai_sched *s, const pai__req *r,
                       pai_time at)
{
  const pai__park *park = s->park;
  pai_time end = pai__plan_end(at, pai__plan_length(p, r));
  const pai__tenant *t = pai__tenant_at(s, r->tenant);
  uint64_t *used = pai__shares_of(s, &p->used, r->tenant);

  for (uint32_t i = 0; i < park->nspots; i++) {
    pai__amount least = pai__line_least(p, i, at, end);
    const pai__lots *l = pai__lots_of(p, i);
    pai__room *room = (pai__room *)p->rooms.data + i;

    *room = *pai__room_at(s, i);
    room->gpus = room->promised = 0;
    room->memory = least.memory;
    room->cpus = least.cpus;
    room->ports = least.ports;
    for (uint32_t k = 0; k < l->n; k++) {
      uint64_t mask = l->masks[k];

      for (uint32_t n = least.lots >> (8 * k) & 0xff; n > 0; n--) {
        room->gpus |= mask & -mask;
        mask &= mask - 1;
      }
    }
  }
  for (uint32_t k = 0; k < t->nshares; k++)
    used[k] =
      pai__share_most(s, r->tenant, k) -
      (uint64_t)pai__line_least(p, pai__share_line(s, r->tenant, k), at, end)
        .memory;
}

static int reserve_rooms(pai__plan *p, const pai_sched *s)
{
  p->rooms.len = p->used.len = 0;
  if (pai__flat_reserve(&p->rooms, &p->alloc, s->rooms.len) < 0 ||
      pai__flat_reserve(&p->used, &p->alloc, s->shares_used.len) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&p->rooms, s->rooms.len);
  (void)pai__flat_push(&p->used, s->shares_used.len);
  return PAI_OK;
}

static int fit_at(pai__plan *p, pai_sched *s, const pai__ask *ask, pai_time at)
{
  const pai__req *r = pai__req_at(s, ask->req);
  pai__flat rooms = s->rooms, used = s->shares_used;
  pai_time now = s->m.now;
  pai__why why;
  uint32_t n = 0;
  int rc;

  make_rooms(p, s, r, at);
  pai__shelves_leave(s);
  s->rooms = p->rooms;
  s->shares_used = p->used;
  s->m.now = at;
  rc = pai__fit(s, ask, &n, &why);
  s->rooms = rooms;
  pai__shelves_return(s);
  s->shares_used = used;
  s->m.now = now;
  if (rc <= 0)
    return rc;
  if (pai__flat_reserve(&p->sites, &p->alloc, n) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&p->sites, n);
  for (uint32_t i = 0; i < n; i++) {
    const pai__slot *slot = (pai__slot *)s->slots.data + i;

    ((pai__site *)p->sites.data)[i] =
      (pai__site){ pai__lots_count(p, slot->node, slot->gpus), slot->node,
                   slot->want };
  }
  p->start = at;
  return 1;
}

static pai_time sooner(pai_time a, pai_time b)
{
  return a < b ? a : b;
}

/* The next time at which something more may be had. */
static pai_time next_time(const pai__plan *p, const pai_sched *s,
                          const pai__req *r, pai_time at)
{
  const pai__park *park = s->park;
  pai_time next = PAI__NEVER;

  for (uint32_t i = 0; i < park->nspots; i++)
    next = sooner(next, pai__line_more(p, i, at));
  for (uint32_t k = 0; k < pai__tenant_at(s, r->tenant)->nshares; k++)
    next =
      sooner(next, pai__line_more(p, pai__share_line(s, r->tenant, k), at));
  for (uint32_t i = 0; i < s->kept.len; i++) {
    const pai__kept *kept = (pai__kept *)s->kept.data + i;

    if (kept->to > at)
      next = sooner(next, kept->to);
  }
  return next;
}

/* Are there as many GPUs at all, on all nodes, from a time on? */
static bool has_enough(const pai__plan *p, const pai_sched *s, pai_time at,
                       uint64_t gpus)
{
  uint64_t sum = 0;

  for (uint32_t i = 0; i < s->park->nspots && sum < gpus; i++)
    sum +=
      pai__lots_sum(pai__steps_of(p, i)[pai__line_find(p, i, at)].free.lots);
  return sum >= gpus;
}

typedef struct promising {
  pai_time from;
  uint64_t tasks; /* that the node has room for if it is empty */
} promising;

static int by_time(const void *a, const void *b)
{
  const promising *x = a, *y = b;

  return x->from < y->from ? -1 : x->from > y->from;
}

/* Equal tasks begin when so many nodes have room for one as are needed if each
 * takes as many as it ever could: no gang does before. */
static int gang_from(pai__plan *p, looking *k, uint32_t tasks, pai_time *from)
{
  uint32_t n = k->s->park->nspots;
  uint64_t sum = 0, some;
  promising *list;

  p->nodes.len = 0;
  if (set_row(p, k) < 0 || pai__flat_reserve(&p->nodes, &p->alloc, n) < 0)
    return PAI_ENOMEM;
  list = p->nodes.data;
  for (uint32_t i = 0; i < n; i++)
    list[i] = (promising){ bound_of(k, i, &some),
                           pai__build_of(k->s->park, i)->gpus / k->w->gpus };
  qsort(list, n, sizeof(*list), by_time);
  *from = PAI__NEVER;
  for (uint32_t i = 0; i < n && sum < tasks; i++) {
    sum += list[i].tasks;
    *from = list[i].from;
  }
  if (sum < tasks)
    *from = PAI__NEVER;
  return PAI_OK;
}

/* No gang of that shape that takes as long begins before the row's time. */
static int find_gang(pai__plan *p, pai_sched *s, looking *k,
                     const pai__ask *ask, pai_time latest)
{
  const pai__req *r = pai__req_at(s, ask->req);
  const pai__want *w = pai__wants_of(s, r);
  pai_time length = pai__plan_length(p, r), at, from = p->now;
  uint64_t gpus = 0;
  uint32_t row;
  int rc = 0;

  for (uint32_t i = 0; i < r->nwants; i++)
    gpus += (uint64_t)w[i].min_tasks * w[i].gpus;
  /* Reservations tell requests apart that are of one shape. */
  row = pai__plan_row(p, s,
                      (pai__row){ .like = { ROW_OF_GANGS, (uint64_t)length,
                                            s->kept.len != 0 ? r->id : 0 },
                                  .req = ask->req },
                      1);
  if (row == PAI__NONE || reserve_rooms(p, s) < 0)
    return PAI_ENOMEM;
  if (r->nwants == 1 && w->gpus != 0 && p->plain &&
      gang_from(p, k, w->min_tasks, &from) < 0)
    return PAI_ENOMEM;
  from = from > *pai__row_at(p, row) ? from : *pai__row_at(p, row);
  if (from <= latest)
    raise_floor(k);
  from = from > k->floor ? from : k->floor;
  for (at = from; at <= latest && at != PAI__NEVER && rc == 0;
       at = next_time(p, s, r, at)) {
    *pai__row_at(p, row) = at;
    if (has_enough(p, s, at, gpus))
      rc = fit_at(p, s, ask, at);
  }
  if (rc == 0)
    *pai__row_at(p, row) = at;
  return rc;
}

/* --- both ----------------------------------------------------------------- */

static bool is_single(const pai__plan *p, const pai_sched *s,
                      const pai__req *r, int strategy)
{
  const char *within = pai__texts_text(&s->names, r->within);

  return r->nwants == 1 && pai__wants_of(s, r)->tasks == 1 && p->plain &&
         strategy != PAI_PLACE_SCORE &&
         (within == NULL || strcmp(within, "node") == 0);
}

static int search(pai__plan *p, pai_sched *s, uint32_t req, int strategy,
                  pai_time latest)
{
  const pai__req *r = pai__req_at(s, req);
  const pai__want *w = pai__wants_of(s, r);
  pai__ask ask = { .req = req, .strategy = strategy };
  looking k = { .p = p,
                .s = s,
                .r = r,
                .w = w,
                .req = req,
                .pin = PAI__NONE,
                .need = { 0, (int64_t)w->memory, (int32_t)w->cpus,
                          (int32_t)w->ports },
                .length = pai__plan_length(p, r),
                .shortest = shortest_alike(pai__plan_length(p, r)),
                .strategy = strategy,
                .at = latest,
                .node = PAI__NONE };

  if (latest < p->now)
    return 0;
  if (r->pin != PAI__NONE) {
    k.pin = pai__park_pin(s->park, pai__texts_text(&s->names, r->pin));
    if (k.pin == PAI__NONE)
      return 0;
  }
  if (find_floor(p, &k) < 0)
    return PAI_ENOMEM;
  if (k.floor > latest)
    return 0;
  return is_single(p, s, r, strategy) ? find_task(p, &k)
                                      : find_gang(p, s, &k, &ask, latest);
}

/* What was found before is as good as it gets if nothing is earlier.  And for a
 * gang it may be better: where others begin meanwhile, what fit.c tries first
 * is not what it tried then. */
int pai__plan_find(pai__plan *p, pai_sched *s, uint32_t req, int strategy,
                   pai_time latest, const pai__hint *hint)
{
  pai_time before = latest, start;
  pai__flat sites;
  int held = 0, rc;

  p->sites.len = 0;
  if (pai__flat_reserve(&p->sites, &p->alloc, 1) < 0)
    return PAI_ENOMEM;
  if (hint != NULL)
    held = pai__plan_holds(p, s, req, hint);
  if (held < 0)
    return held;
  start = p->start;
  if (held > 0 && start <= latest)
    before = start - 1;
  p->start = PAI__NEVER;
  rc = search(p, s, req, strategy, before);
  if (rc != 0 || held == 0 || start > latest)
    return rc;
  sites = p->sites;
  p->sites = p->spare;
  p->spare = sites;
  p->start = start;
  return 1;
}
