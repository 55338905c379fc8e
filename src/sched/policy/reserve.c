/* reserve.c - reservations for requests that wait too long: which request, and
 * which nodes */

#include "resource/bits.h"
#include "sched/start.h"
#include "sched/log/event.h"
#include "sched/policy/guarantee.h"
#include "sched/policy/policy.h"

#include <stdlib.h>

enum { MOST_LOOKED_AT = 64 }; /* requests checked in one decision */

/* --- which request -------------------------------------------------------- */

/* True if the request found no room on nodes or in its virtual cluster's
 * share. */
static bool lacks_room(const pai__sched_reason *reason)
{
  switch (reason->lack) {
  case PAI_LACK_QUOTA: return reason->text == PAI__NONE;
  case PAI_LACK_RESERVATION:
  case PAI_LACK_GPU:
  case PAI_LACK_CPU:
  case PAI_LACK_MEMORY:
  case PAI_LACK_PORT:
  case PAI_LACK_TOPOLOGY:
  case PAI_LACK_GANG:
  case PAI_LACK_PREEMPTION:
  case PAI_LACK_LATER:
  case PAI_LACK_POLICY: return true;
  default: return false;
  }
}

/* True if the request has waited for so long.  A request with an active run is
 * served. */
static bool is_old(const pai_sched *s, uint32_t req, pai_time age)
{
  const pai__req *r = pai__req_at(s, req);

  return age != 0 && r->active == 0 && r->priority >= 0 &&
         s->m.now >= r->submitted && s->m.now - r->submitted >= age;
}

/* True if the request has waited too long without a promised start. */
static bool is_due(const pai_sched *s, uint32_t req)
{
  pai__sched_reason reason;

  if (!is_old(s, req, s->terms.reserve_after))
    return false;
  reason = pai__req_reason(s, req);
  return lacks_room(&reason) && reason.until == 0 &&
         (!s->terms.promises || pai__is_first(s, req));
}

/* True if the request finds no place though its part has enough left. */
static bool is_owed_nodes(const pai_sched *s, uint32_t req)
{
  pai__sched_reason reason;

  if (!pai__guarantee_counts(s) ||
      !pai__sched_vc_at(s, pai__req_at(s, req)->vc_index)->parted ||
      !pai__is_owed(s, req))
    return false;
  reason = pai__req_reason(s, req);
  return lacks_room(&reason) && reason.until == 0 &&
         (reason.lack != PAI_LACK_LATER || pai__is_first(s, req));
}

/* --- which nodes ---------------------------------------------------------- */

typedef struct ready {
  pai_time at; /* expected time at which all its runs have ended */
  uint32_t node;
  uint32_t counted; /* last run counted */
} ready;

typedef struct choosing {
  pai_sched *s;
  uint32_t req;
  ready *nodes;   /* in the order in which they are taken */
  uint32_t *left; /* tasks of each want that have no node yet */
  uint64_t *bits; /* chosen nodes */
  uint64_t *best; /* best choice of the kinds tried so far */
  uint32_t words;
  bool known; /* the ends of all runs are known */
  bool owed;  /* borrowed runs stop for it */
} choosing;

static int by_time(const void *a, const void *b)
{
  const ready *x = a, *y = b;

  if (x->at != y->at)
    return x->at < y->at ? -1 : 1;
  return x->node < y->node ? -1 : x->node > y->node;
}

/* A run with unknown end is expected to go on for as long as it has run.
 * Borrowed runs do not count if they stop for the request. */
static pai_time end_of(choosing *c, const pai__run *run)
{
  pai_time now = c->s->m.now, end = pai__run_expected(c->s, run);

  if (run->state == PAI__RUN_STOPPING || (c->owed && run->beyond))
    return now;
  if (run->state == PAI__RUN_CLAIMED || end == INT64_MAX) {
    c->known = false;
    return run->state == PAI__RUN_CLAIMED || now > INT64_MAX / 2
             ? INT64_MAX
             : now + (now - run->since);
  }
  return end > now ? end : now;
}

/* Order in which nodes are taken. */
enum order {
  BY_ENDS,
  /* Nodes with the fewest guaranteed runs first.  On reserved nodes this
   * number only decreases, so the choice is stable as a rule; guessed ends
   * would change it again and again. */
  BY_RUNS,
  BY_INDEX /* order of the cluster: the same at each decision */
};

static void put_in_order(choosing *c, enum order order)
{
  const pai_sched *s = c->s;

  c->known = order == BY_ENDS;
  for (uint32_t i = 0; i < s->cluster->nnodes; i++)
    c->nodes[i] = (ready){ order == BY_RUNS ? 0 : s->m.now, i, PAI__NONE };
  for (uint32_t i = 0; i < s->runs.len && order != BY_INDEX; i++) {
    const pai__run *run = pai__run_at(s, i);
    const pai__slot *slots;
    pai_time end;

    if (!pai__run_holds(run) ||
        (order == BY_RUNS && (run->state == PAI__RUN_STOPPING || run->beyond)))
      continue;
    end = order == BY_ENDS ? end_of(c, run) : 0;
    slots = pai__slots_of(s, run);
    for (uint32_t k = 0; k < run->tasks; k++) {
      ready *x = &c->nodes[slots[k].node];

      if (order == BY_RUNS)
        x->at += x->counted != i;
      else if (x->at < end)
        x->at = end;
      x->counted = i;
    }
  }
  qsort(c->nodes, s->cluster->nnodes, sizeof(ready), by_time);
}

/* Number of tasks of a want that fit on the empty node. */
static uint32_t tasks_on(const choosing *c, const pai__want *w, uint32_t kind,
                         uint32_t node)
{
  const pai_sched *s = c->s;
  const pai__req *r = pai__req_at(s, c->req);
  const pai__sched_sku *b = pai__sched_sku_of(s->cluster, node);
  uint32_t pin =
    r->pin == PAI__NONE
      ? PAI__NONE
      : pai__sched_cluster_pin(s->cluster, pai__texts_text(&s->names, r->pin));
  pai__amounts all = { .cpu_millis = pai__sched_sku_cpu_millis(b),
                       .ports = INT64_MAX,
                       .memory = (int64_t)b->memory };
  uint32_t lack;
  uint64_t gpus;

  if (pai__req_node_lack(s, r, node) != PAI_LACK_NOTHING ||
      (r->pin != PAI__NONE && pin == PAI__NONE))
    return 0;
  gpus = pai__want_gpus(s, w, kind, pin, node, &lack);
  if (lack != PAI_LACK_NOTHING)
    return 0;
  all.gpus = pai__bits_ones(gpus & ~pai__free_capacity_at(s, node)->sick);
  return pai__amounts_tasks(&all, w, w->tasks);
}

/* Chooses nodes for all tasks, in their order.  Returns the `at` of the last
 * one: the time at which it is free, or its number of runs; INT64_MAX if there
 * are too few nodes. */
static pai_time choose_first(choosing *c, uint32_t kind)
{
  const pai_sched *s = c->s;
  const pai__req *r = pai__req_at(s, c->req);
  const pai__want *w = pai__wants_of(s, r);
  uint32_t open = 0;

  memset(c->bits, 0, c->words * sizeof(*c->bits));
  for (uint32_t i = 0; i < r->nwants; i++) {
    c->left[i] = w[i].min_tasks;
    open += w[i].min_tasks != 0;
  }
  for (uint32_t i = 0; i < s->cluster->nnodes; i++)
    for (uint32_t k = 0; k < r->nwants; k++) {
      uint32_t n =
        c->left[k] != 0 ? tasks_on(c, &w[k], kind, c->nodes[i].node) : 0;

      if (n == 0)
        continue;
      pai__bits_set(c->bits, c->nodes[i].node, c->nodes[i].node);
      c->left[k] = n < c->left[k] ? c->left[k] - n : 0;
      open -= c->left[k] == 0;
      if (open == 0)
        return c->nodes[i].at;
      break;
    }
  return INT64_MAX;
}

static bool choose_all(const choosing *c)
{
  const pai__req *r = pai__req_at(c->s, c->req);
  const pai__want *w = pai__wants_of(c->s, r);
  bool some = false;

  for (uint32_t i = 0; i < c->s->cluster->nnodes; i++)
    for (uint32_t k = 0; k < r->nwants; k++)
      for (uint32_t kind = 0; kind < c->s->cluster->nkinds || kind == 0;
           kind++)
        if (tasks_on(c, &w[k], kind, i) != 0) {
          pai__bits_set(c->bits, i, i);
          some = true;
        }
  return some;
}

/* Chooses nodes with GPUs of one kind, if the request accepts any. */
static bool choose_of_kinds(choosing *c, pai_time *from)
{
  uint32_t kinds = c->s->cluster->nkinds;
  pai_time first = INT64_MAX;

  for (uint32_t k = 0; k < kinds || k == 0; k++) {
    pai_time at = choose_first(c, kinds > 1 ? k : PAI__NONE);

    if (at >= first)
      continue;
    first = at;
    memcpy(c->best, c->bits, c->words * sizeof(*c->bits));
  }
  memcpy(c->bits, c->best, c->words * sizeof(*c->bits));
  if (c->known)
    *from = first;
  return first != INT64_MAX;
}

/* Chooses nodes on which the request has room now, so that requests before it
 * in the policy's order do not take it.  Returns 1, 0 or PAI_ENOMEM. */
static int choose_room(const choosing *c)
{
  pai__ask ask = { .req = c->req,
                   .strategy = c->s->terms.place,
                   .beyond_share = c->s->terms.lends };
  pai__sched_reason reason;
  uint32_t n;
  int rc = pai__fit_elastic(c->s, &ask, &n, &reason);

  if (rc <= 0)
    return rc;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t node = ((const pai__slot *)c->s->slots.data)[i].node;

    pai__bits_set(c->bits, node, node);
  }
  pai__unfit(c->s, pai__req_at(c->s, c->req), n);
  return 1;
}

/* True if a share has no more left than the request takes.  Then it is
 * reserved too, on all nodes, against others of the virtual cluster. */
static bool needs_share(const pai_sched *s, const pai__req *r)
{
  uint32_t n = pai__sched_vc_at(s, r->vc_index)->nshares;

  for (uint32_t k = 0; k < n && pai__req_keeps_share(s, r); k++) {
    uint64_t takes = pai__share_least(s, r, k);

    if (takes != 0 && pai__share_left(s, r->vc_index, k) <= takes)
      return true;
  }
  return false;
}

/* True if enough empty nodes may not suffice: tasks must be near each other,
 * or different wants compete for nodes. */
static bool is_particular(const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);

  return r->within != PAI__NONE || r->nwants > 1;
}

/* Returns 1 if nodes are chosen; 0 if the request could not start even if they
 * were free; or PAI_ENOMEM. */
static int choose(choosing *c, pai_time *from)
{
  int rc = choose_room(c);

  if (rc != 0)
    return rc;
  if (is_particular(c->s, c->req) &&
      is_old(c->s, c->req, 4 * c->s->terms.reserve_after))
    return choose_all(c);
  if (is_old(c->s, c->req, 2 * c->s->terms.reserve_after)) {
    put_in_order(c, BY_INDEX);
    return choose_of_kinds(c, from);
  }
  if (pai__req_reason(c->s, c->req).lack == PAI_LACK_QUOTA &&
      needs_share(c->s, pai__req_at(c->s, c->req)))
    return 1;
  put_in_order(c, BY_ENDS);
  if (c->owed && !c->known)
    put_in_order(c, BY_RUNS);
  return choose_of_kinds(c, from);
}

/* --- reserving ------------------------------------------------------------ */

static int push(pai_sched *s, const pai__sched_reservation *k)
{
  if (pai__sched_reservation_push(s, k) < 0)
    return PAI_ENOMEM;
  s->reserved++;
  s->reserved_for = k->only;
  return PAI_OK;
}

static int push_nodes(const choosing *c, pai__sched_reservation k,
                      pai_time from)
{
  pai_sched *s = c->s;

  k.from = from;
  k.vc_index = PAI__NONE;
  k.words = c->words;
  k.nodes = pai__pool_take(&s->pool, &s->alloc, c->words);
  if (k.nodes == PAI__NONE)
    return PAI_ENOMEM;
  memcpy(pai__pool_at(&s->pool, k.nodes), c->bits,
         c->words * sizeof(*c->bits));
  if (push(s, &k) == PAI_OK)
    return PAI_OK;
  pai__pool_give(&s->pool, k.nodes, k.words);
  return PAI_ENOMEM;
}

static int keep(const choosing *c, pai_time from)
{
  pai_sched *s = c->s;
  const pai__req *r = pai__req_at(s, c->req);
  pai__sched_reservation k = { .from = s->m.now,
                               .to = INT64_MAX,
                               .nodes = PAI__NONE,
                               .vc = PAI__NONE,
                               .user = PAI__NONE,
                               .vc_index = r->vc_index,
                               .only = r->id,
                               .req = c->req,
                               .turn = r->turn,
                               .above =
                                 s->terms.ranked ? r->priority : INT32_MAX };

  if (pai__texts_add(&s->names, &s->alloc, "", &k.name) < 0 ||
      (needs_share(s, r) && push(s, &k) < 0))
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < c->words; i++)
    if (c->bits[i] != 0)
      return push_nodes(c, k, from);
  return PAI_OK;
}

/* Returns 1 if nodes are reserved for the request; 0; or PAI_ENOMEM. */
static int keep_for(pai_sched *s, uint32_t req)
{
  uint32_t nodes = s->cluster->nnodes, words = PAI__BITS_WORDS(nodes);
  uint32_t wants = pai__req_at(s, req)->nwants;
  size_t size = nodes * sizeof(ready) + 2 * words * sizeof(uint64_t) +
                wants * sizeof(uint32_t);
  pai_time from = s->m.now;
  choosing c = { .s = s, .req = req, .words = words };
  char *block = pai__zalloc(&s->alloc, size);
  int rc;

  if (block == NULL)
    return PAI_ENOMEM;
  c.owed = is_owed_nodes(s, req);
  if (c.owed && pai__guarantee_mark(s) < 0) {
    pai__free(&s->alloc, block, size);
    return PAI_ENOMEM;
  }
  c.nodes = (ready *)(void *)block;
  c.bits = (uint64_t *)(void *)(block + nodes * sizeof(ready));
  c.best = c.bits + words;
  c.left = (uint32_t *)(void *)(c.best + words);
  rc = choose(&c, &from);
  if (rc > 0)
    rc = keep(&c, from) < 0 ? PAI_ENOMEM : 1;
  pai__free(&s->alloc, block, size);
  return rc;
}

int pai__reserve_begin(pai_sched *s, bool owed)
{
  uint32_t req = pai__next_waiting(s, PAI__NONE), n = 0;
  int rc = 0;

  if (s->reserved_for != 0) {
    uint32_t old = pai__req_find(s, s->reserved_for);

    if (old != PAI__NONE && pai__req_waiting(pai__req_at(s, old)) != 0)
      return PAI_OK;
    pai__reserve_end(s);
  }
  if (s->m.nqueued < 2)
    return PAI_OK;
  if (s->terms.reserve_after == 0 && !pai__guarantee_counts(s))
    return PAI_OK;
  for (; req != PAI__NONE && n < MOST_LOOKED_AT && rc == 0;
       req = pai__next_waiting(s, req), n++)
    if (is_owed_nodes(s, req) || (!owed && is_due(s, req)))
      rc = keep_for(s, req);
  return rc < 0 ? rc : PAI_OK;
}

bool pai__sched_reservation_lets(const pai_sched *s,
                                 const pai__sched_reservation *k,
                                 const pai__req *r)
{
  return r->id == k->only || r->priority > k->above ||
         (k->vc_index != PAI__NONE && r->vc_index != k->vc_index) ||
         (r->turn < k->turn && r->class == pai__req_at(s, k->req)->class);
}

void pai__reserve_end(pai_sched *s)
{
  for (; s->reserved != 0; s->reserved--)
    pai__sched_reservation_pop(s);
  s->reserved_for = 0;
}
