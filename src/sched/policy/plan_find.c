/*
 * plan_find.c - finds the earliest time at which a request has a place in the
 * plan
 *
 * A single task is searched for on the line of each node.  For a gang each
 * time is tried at which something becomes free, with the capacity that stays
 * free for its whole length: so it gets the places it would get if it started
 * then.
 */
#include "sched/policy/plan.h"
#include "sched/node_class.h"

#include "resource/bits.h"
#include "sched/policy/guarantee.h"

#include <stdlib.h>

/* --- rows of times -------------------------------------------------------- */

enum { ROW_OF_TASKS, ROW_OF_SHARES, ROW_OF_GANGS };

/* Returns the shortest length of a class; lengths of one class differ by less
 * than a quarter. */
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
  pai__plan_amount need;
  pai_time length, shortest;
  pai_time *row;
  pai_time floor; /* shares have no room before this time */
  uint32_t floor_row;
  bool raised; /* floor is the first time with room for the whole length */
  bool alike;  /* it takes the same of the shares on each node */
  int strategy;
  /* The best place so far. */
  pai_time at;
  uint64_t score;
  uint32_t node; /* PAI__NONE: none */
  uint64_t some;
} looking;

/* Sets *some to the GPU groups that the task may use on a node.  Returns false
 * if it may not run there. */
static bool may_be_on(const looking *k, uint32_t node, uint64_t *some)
{
  const pai__sched_cluster *cluster = k->s->cluster;
  uint32_t kind =
    cluster->nkinds > 1 ? pai__plan_groups_of(k->p, node)->kind : PAI__NONE;
  uint32_t lack;
  uint64_t gpus;

  if (pai__free_capacity_at(k->s, node)->state != PAI_NODE_UP ||
      (k->p->only != PAI__NONE && k->p->only != node))
    return false;
  gpus = pai__want_gpus(k->s, k->w, kind, k->pin, node, &lack);
  *some = k->w->gpus != 0 ? pai__plan_groups_within(k->p, node, gpus) : 0;
  return lack == PAI_LACK_NOTHING && (k->w->gpus == 0 || *some != 0);
}

static pai_time one_share_from(const looking *k, uint32_t share,
                               uint64_t amount, pai_time from)
{
  pai__plan_amount need = { .memory = (int64_t)amount };

  if (from == PAI__NEVER || amount == 0 ||
      share >= pai__sched_vc_at(k->s, k->r->vc_index)->nshares)
    return from;
  return pai__line_earliest(k->p, pai__share_line(k->s, k->r->vc_index, share),
                            from, k->length, &need, 0, 0);
}

/* Returns the earliest time with the least of each share that the request
 * takes, for `length`. */
static pai_time all_shares_from(const looking *k, pai_time length,
                                pai_time from)
{
  looking x = *k;
  pai_time before;

  x.length = length;
  do {
    before = from;
    for (uint32_t i = 0; i < pai__sched_vc_at(k->s, k->r->vc_index)->nshares;
         i++)
      from = one_share_from(&x, i, pai__share_least(k->s, k->r, i), from);
  } while (from != before && from != PAI__NEVER);
  return from;
}

/* Reads the bound of the class: before `floor` a share has too little for
 * requests of this class that take as long or longer. */
static int find_floor(pai__plan *p, looking *k)
{
  const pai__sched_cluster *cluster = k->s->cluster;

  k->floor = p->now;
  if (!pai__req_keeps_share(k->s, k->r))
    return PAI_OK;
  k->floor_row =
    pai__plan_row(p,
                  (pai__row){ .like = { ROW_OF_SHARES, (uint64_t)k->shortest,
                                        k->r->class } },
                  1);
  if (k->floor_row == PAI__NONE)
    return PAI_ENOMEM;
  k->floor = *pai__row_at(p, k->floor_row);
  k->alike =
    cluster->nkinds == 1 || k->w->type < cluster->nkinds || k->w->gpus == 0;
  return PAI_OK;
}

/* Done only when some node has room. */
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
  uint32_t kind = pai__plan_groups_of(k->p, node)->kind,
           beside = k->s->cluster->nkinds;

  if (!pai__req_keeps_share(k->s, k->r))
    return from;
  raise_floor(k);
  if (from <= k->floor && (k->alike || k->floor > k->at))
    return k->floor;
  if (kind != PAI__NONE)
    from = one_share_from(k, kind, k->w->gpus, from);
  from = one_share_from(k, beside + PAI__SHARE_CPUS, k->w->cpu_millis, from);
  return one_share_from(k, beside + PAI__SHARE_MEMORY, k->w->memory, from);
}

/* Node, shares and reservations have to agree.  Times after the best so far do
 * not matter. */
static pai_time earliest_on(looking *k, uint32_t node, uint64_t some)
{
  const pai__free_capacity *capacity = pai__free_capacity_at(k->s, node);
  pai_time at = k->row[node] > k->floor ? k->row[node] : k->floor, before;

  do {
    before = at;
    at = pai__line_earliest(k->p, node, at, k->length, &k->need, k->w->gpus,
                            some);
    if (at != PAI__NEVER)
      at = share_from(k, node, at);
    if (at != PAI__NEVER && capacity->reservations != 0) {
      pai_time kept = pai__sched_reservation_until(
        k->s, k->r, node, at, pai__plan_end(at, k->length));

      at = kept != 0 ? kept : at;
    }
  } while (at != before && at <= k->at && at != PAI__NEVER);
  return at;
}

/* At equal times the node with the higher score wins, as in fit.c. */
static uint64_t score(const looking *k, uint32_t node, pai_time at)
{
  const pai__step *step =
    pai__steps_of(k->p, node) + pai__line_find(k->p, node, at);
  uint64_t gpus = pai__plan_groups_sum(step->free.groups);
  uint64_t cpus =
    step->free.cpu_millis > 0 ? (uint64_t)step->free.cpu_millis : 0;
  uint64_t kind = pai__plan_groups_of(k->p, node)->kind;

  cpus = cpus < 0xffffff ? cpus : 0xffffff;
  /* A task of any type gets the first kind. */
  kind = k->w->gpus != 0 && kind < 0xffff ? 0xffff - kind : 0;
  switch (k->strategy) {
  case PAI_PLACE_FIRST: return kind << 40;
  case PAI_PLACE_SPREAD: return kind << 40 | gpus << 24 | cpus;
  default: return kind << 40 | (64 - gpus) << 24 | (0xffffff - cpus);
  }
}

/* Raises the bound in the row: no such task has a place on the node before. */
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

/* The most promising node comes first: then most others can be skipped. */
static void look_at_all(looking *k)
{
  uint32_t n = k->s->cluster->nnodes, first = 0;

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

/* Takes GPUs from the first of the groups that stay free. */
static uint64_t take_groups(const pai__plan *p, uint32_t node, pai_time at,
                            pai_time length, uint32_t gpus, uint64_t some)
{
  uint64_t free =
    some & pai__line_least(p, node, at, pai__plan_end(at, length)).groups;
  uint64_t groups = 0;

  for (uint32_t i = 0; i < PAI__PLAN_GROUPS && gpus != 0; i++) {
    uint32_t n = free >> (8 * i) & 0xff;

    n = n < gpus ? n : gpus;
    groups |= (uint64_t)n << (8 * i);
    gpus -= n;
  }
  return groups;
}

static int set_row(pai__plan *p, looking *k)
{
  const pai__want *w = k->w;
  uint32_t row = pai__plan_row(
    p,
    (pai__row){ .like = { ROW_OF_TASKS,
                          (uint64_t)w->gpus << 32 | w->cpu_millis, w->ports,
                          w->memory, w->type, k->pin,
                          (uint64_t)k->shortest } },
    k->s->cluster->nnodes);

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
                 .groups = take_groups(p, k->node, k->at, k->length,
                                       k->w->gpus, k->some) };
  return 1;
}

/* --- a gang --------------------------------------------------------------- */

/* Sets capacity and shares to what stays free from `at` to the end of the
 * run. */
static void make_capacity(pai__plan *p, const pai_sched *s, const pai__req *r,
                          pai_time at)
{
  const pai__sched_cluster *cluster = s->cluster;
  pai_time end = pai__plan_end(at, pai__plan_length(p, r));
  const pai__sched_vc *t = pai__sched_vc_at(s, r->vc_index);
  uint64_t *used = pai__shares_of(s, &p->used, r->vc_index);

  for (uint32_t i = 0; i < cluster->nnodes; i++) {
    pai__plan_amount least = pai__line_least(p, i, at, end);
    const pai__plan_groups *l = pai__plan_groups_of(p, i);
    pai__free_capacity *capacity =
      (pai__free_capacity *)p->free_capacity.data + i;

    *capacity = *pai__free_capacity_at(s, i);
    capacity->gpus = capacity->promised = 0;
    capacity->memory = least.memory;
    capacity->cpu_millis = least.cpu_millis;
    capacity->ports = least.ports;
    for (uint32_t k = 0; k < l->n; k++) {
      uint64_t mask = l->masks[k];

      for (uint32_t n = least.groups >> (8 * k) & 0xff; n > 0; n--) {
        capacity->gpus |= mask & -mask;
        mask &= mask - 1;
      }
    }
  }
  for (uint32_t k = 0; k < t->nshares; k++)
    used[k] =
      pai__share_most(s, r->vc_index, k) -
      (uint64_t)pai__line_least(p, pai__share_line(s, r->vc_index, k), at, end)
        .memory;
}

static int reserve_capacity(pai__plan *p, const pai_sched *s)
{
  p->free_capacity.len = p->used.len = 0;
  if (pai__flat_reserve(&p->free_capacity, &p->alloc, s->free_capacity.len) <
        0 ||
      pai__flat_reserve(&p->used, &p->alloc, s->shares_used.len) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&p->free_capacity, s->free_capacity.len);
  (void)pai__flat_push(&p->used, s->shares_used.len);
  return PAI_OK;
}

static int fit_at(pai__plan *p, pai_sched *s, const pai__ask *ask, pai_time at)
{
  const pai__req *r = pai__req_at(s, ask->req);
  pai__flat free_capacity = s->free_capacity, used = s->shares_used;
  pai_time now = s->m.now;
  pai__sched_reason reason;
  uint32_t n = 0;
  int rc;

  make_capacity(p, s, r, at);
  pai__node_classes_leave(s);
  s->free_capacity = p->free_capacity;
  s->shares_used = p->used;
  s->m.now = at;
  rc = pai__fit_elastic(s, ask, &n, &reason);
  s->free_capacity = free_capacity;
  pai__node_classes_return(s);
  s->shares_used = used;
  s->m.now = now;
  if (rc <= 0)
    return rc;
  if (pai__flat_reset(&p->sites, &p->alloc, n) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < n; i++) {
    const pai__slot *slot = (pai__slot *)s->slots.data + i;

    ((pai__site *)p->sites.data)[i] =
      (pai__site){ pai__plan_groups_count(p, slot->node, slot->gpus),
                   slot->node, slot->want };
  }
  p->start = at;
  return 1;
}

static pai_time sooner(pai_time a, pai_time b)
{
  return a < b ? a : b;
}

/* Next time at which more may be free. */
static pai_time next_time(const pai__plan *p, const pai_sched *s,
                          const pai__req *r, pai_time at)
{
  const pai__sched_cluster *cluster = s->cluster;
  pai_time next = PAI__NEVER;

  for (uint32_t i = 0; i < cluster->nnodes; i++)
    next = sooner(next, pai__line_more(p, i, at));
  for (uint32_t k = 0; k < pai__sched_vc_at(s, r->vc_index)->nshares; k++)
    next =
      sooner(next, pai__line_more(p, pai__share_line(s, r->vc_index, k), at));
  for (uint32_t i = 0; i < s->reservations.len; i++) {
    const pai__sched_reservation *kept =
      (pai__sched_reservation *)s->reservations.data + i;

    if (kept->to > at)
      next = sooner(next, kept->to);
  }
  return next;
}

/* True if all nodes together have so many free GPUs at a time. */
static bool has_enough(const pai__plan *p, const pai_sched *s, pai_time at,
                       uint64_t gpus)
{
  uint64_t sum = 0;

  for (uint32_t i = 0; i < s->cluster->nnodes && sum < gpus; i++)
    sum += pai__plan_groups_sum(
      pai__steps_of(p, i)[pai__line_find(p, i, at)].free.groups);
  return sum >= gpus;
}

typedef struct promising {
  pai_time from;
  uint64_t tasks; /* tasks that the empty node has room for */
} promising;

static int by_time(const void *a, const void *b)
{
  const promising *x = a, *y = b;

  return x->from < y->from ? -1 : x->from > y->from;
}

/* Lower bound for a gang of equal tasks: the time at which enough nodes have
 * room for one task, if each then took as many as it ever could. */
static int gang_from(pai__plan *p, looking *k, uint32_t tasks, pai_time *from)
{
  uint32_t n = k->s->cluster->nnodes;
  uint64_t sum = 0, some;
  promising *list;

  p->nodes.len = 0;
  if (set_row(p, k) < 0 || pai__flat_reserve(&p->nodes, &p->alloc, n) < 0)
    return PAI_ENOMEM;
  list = p->nodes.data;
  for (uint32_t i = 0; i < n; i++)
    list[i] =
      (promising){ bound_of(k, i, &some),
                   pai__sched_sku_of(k->s->cluster, i)->gpus / k->w->gpus };
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

/* The row's time is a bound: no gang of this class and length starts
 * before. */
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
  /* Reservations treat requests of one class differently. */
  row = pai__plan_row(
    p,
    (pai__row){ .like = { ROW_OF_GANGS, (uint64_t)length, r->class,
                          s->reservations.len != 0 ? r->id : 0 } },
    1);
  if (row == PAI__NONE || reserve_capacity(p, s) < 0)
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
                .need = { 0, (int64_t)w->memory, w->cpu_millis,
                          (int32_t)w->ports },
                .length = pai__plan_length(p, r),
                .shortest = shortest_alike(pai__plan_length(p, r)),
                .strategy = strategy,
                .at = latest,
                .node = PAI__NONE };

  if (latest < p->now)
    return 0;
  if (r->pin != PAI__NONE) {
    k.pin =
      pai__sched_cluster_pin(s->cluster, pai__texts_text(&s->names, r->pin));
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

/* A hint that holds is the result unless an earlier time is found.  The hint
 * may even be the better result: if other runs start meanwhile, fit.c tries
 * nodes in another order than it did then. */
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
