/* reserve.c - which request has waited for too long, and which nodes are kept
 * free for it */
#include "sched/reserve.h"

#include "resource/bits.h"
#include "sched/ends.h"
#include "sched/event.h"
#include "sched/guarantee.h"
#include "sched/policy.h"

#include <stdlib.h>

enum { MOST_LOOKED_AT = 64 }; /* requests, in one decision */

/* --- who ------------------------------------------------------------------ */

/* Did it find no room on nodes, or none in the share of its virtual cluster? */
static bool lacks_room(const pai__why *why)
{
  switch (why->lack) {
  case PAI_LACK_QUOTA: return why->text == PAI__NONE;
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

/* A request of which something runs is served. */
static bool is_old(const pai_sched *s, uint32_t req, pai_time age)
{
  const pai__req *r = pai__req_at(s, req);

  return age != 0 && r->active == 0 && r->priority >= 0 &&
         s->m.now >= r->submitted && s->m.now - r->submitted >= age;
}

/* Has it waited for too long, with no promise of a start? */
static bool is_due(const pai_sched *s, uint32_t req)
{
  pai__why why;

  if (!is_old(s, req, s->terms.reserve_after))
    return false;
  why = pai__req_why(s, req);
  return lacks_room(&why) && why.until == 0 &&
         (!s->terms.promises || pai__is_first(s, req));
}

/* Does it find no place for what is its own? */
static bool is_owed_nodes(const pai_sched *s, uint32_t req)
{
  pai__why why;

  if (!pai__guarantee_counts(s) ||
      !pai__tenant_at(s, pai__req_at(s, req)->tenant)->parted ||
      !pai__is_owed(s, req))
    return false;
  why = pai__req_why(s, req);
  return lacks_room(&why) && why.until == 0 &&
         (why.lack != PAI_LACK_LATER || pai__is_first(s, req));
}

/* --- which nodes ---------------------------------------------------------- */

typedef struct ready {
  pai_time at; /* everything that runs there has ended, as far as one knows */
  uint32_t node;
  uint32_t counted; /* a run */
} ready;

typedef struct choosing {
  pai_sched *s;
  uint32_t req;
  ready *nodes;   /* in the order in which they are taken */
  uint32_t *left; /* tasks of each want that have no node yet */
  uint64_t *bits; /* of those that are chosen */
  uint64_t *best; /* of a kind of GPU before */
  uint32_t words;
  bool known; /* the ends of all that runs */
  bool owed;  /* what is borrowed stops for it */
} choosing;

static int by_time(const void *a, const void *b)
{
  const ready *x = a, *y = b;

  if (x->at != y->at)
    return x->at < y->at ? -1 : 1;
  return x->node < y->node ? -1 : x->node > y->node;
}

/* What nobody knows the end of goes on for as long as it has run.  What is
 * borrowed of a part is no obstacle to who is owed it. */
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

/* The first to be free first. */
static void order_by_ends(choosing *c)
{
  const pai_sched *s = c->s;

  c->known = true;
  for (uint32_t i = 0; i < s->park->nspots; i++)
    c->nodes[i] = (ready){ s->m.now, i, PAI__NONE };
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    const pai__slot *slots;
    pai_time end;

    if (!pai__run_holds(run))
      continue;
    end = end_of(c, run);
    slots = pai__slots_of(s, run);
    for (uint32_t k = 0; k < run->tasks; k++)
      if (c->nodes[slots[k].node].at < end)
        c->nodes[slots[k].node].at = end;
  }
  qsort(c->nodes, s->park->nspots, sizeof(ready), by_time);
}

/* Those first on which fewest runs keep to a part.  On what is kept these only
 * become fewer, so that as a rule the choice stays as it is; a guess of ends that
 * nobody knows would change it again and again. */
static void order_by_runs(choosing *c)
{
  const pai_sched *s = c->s;

  for (uint32_t i = 0; i < s->park->nspots; i++)
    c->nodes[i] = (ready){ 0, i, PAI__NONE };
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    const pai__slot *slots;

    if (!pai__run_holds(run) || run->state == PAI__RUN_STOPPING || run->beyond)
      continue;
    slots = pai__slots_of(s, run);
    for (uint32_t k = 0; k < run->tasks; k++) {
      ready *x = &c->nodes[slots[k].node];

      x->at += x->counted != i;
      x->counted = i;
    }
  }
  qsort(c->nodes, s->park->nspots, sizeof(ready), by_time);
}

/* As they are in the cluster: the same ones at each decision. */
static void order_by_index(choosing *c)
{
  c->known = false;
  for (uint32_t i = 0; i < c->s->park->nspots; i++)
    c->nodes[i] = (ready){ c->s->m.now, i, PAI__NONE };
}

static uint64_t least(uint64_t n, uint64_t all, uint64_t each)
{
  return each == 0 || all / each >= n ? n : all / each;
}

/* So many tasks of a want have room on a node if it is empty. */
static uint32_t tasks_on(const choosing *c, const pai__want *w, uint32_t kind,
                         uint32_t node)
{
  const pai_sched *s = c->s;
  const pai__req *r = pai__req_at(s, c->req);
  const pai__build *b = pai__build_of(s->park, node);
  uint32_t pin =
    r->pin == PAI__NONE
      ? PAI__NONE
      : pai__park_pin(s->park, pai__texts_text(&s->names, r->pin));
  uint32_t lack;
  uint64_t gpus, n;

  if (pai__req_node_lack(s, r, node) != PAI_LACK_NOTHING ||
      (r->pin != PAI__NONE && pin == PAI__NONE))
    return 0;
  gpus = pai__want_gpus(s, w, kind, pin, node, &lack);
  if (lack != PAI_LACK_NOTHING)
    return 0;
  gpus &= ~pai__room_at(s, node)->sick;
  n = least(w->tasks, pai__bits_ones(gpus), w->gpus);
  n = least(n, b->cpus - b->first_cpu, w->cpus);
  return (uint32_t)least(n, b->memory, w->memory);
}

/* Nodes for all its tasks, in their order; the time at which the last of them is
 * free, or how many runs there are; INT64_MAX: there are too few. */
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
  for (uint32_t i = 0; i < s->park->nspots; i++)
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

/* All that may serve it. */
static bool choose_all(const choosing *c)
{
  const pai__req *r = pai__req_at(c->s, c->req);
  const pai__want *w = pai__wants_of(c->s, r);
  bool some = false;

  for (uint32_t i = 0; i < c->s->park->nspots; i++)
    for (uint32_t k = 0; k < r->nwants; k++)
      for (uint32_t kind = 0; kind < c->s->park->nkinds || kind == 0; kind++)
        if (tasks_on(c, &w[k], kind, i) != 0) {
          pai__bits_set(c->bits, i, i);
          some = true;
        }
  return some;
}

/* Of GPUs of one kind, where it leaves that open. */
static bool choose_of_kinds(choosing *c, pai_time *from)
{
  uint32_t kinds = c->s->park->nkinds;
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

/* Where it has room now: who comes before it in the policy's order is not to take
 * that.  1, 0 or PAI_ENOMEM. */
static int choose_room(const choosing *c)
{
  pai__ask ask = { .req = c->req,
                   .strategy = c->s->terms.place,
                   .beyond_share = c->s->terms.lends };
  pai__why why;
  uint32_t n;
  int rc = pai__fit(c->s, &ask, &n, &why);

  if (rc <= 0)
    return rc;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t node = ((const pai__slot *)c->s->slots.data)[i].node;

    pai__bits_set(c->bits, node, node);
  }
  pai__unfit(c->s, pai__req_at(c->s, c->req), n);
  return 1;
}

/* Is no more left of a share than it takes?  Then others of its virtual cluster
 * are not to have that, wherever they are. */
static bool needs_share(const pai_sched *s, const pai__req *r)
{
  uint32_t n = pai__tenant_at(s, r->tenant)->nshares;

  for (uint32_t k = 0; k < n && pai__req_keeps_share(s, r); k++) {
    uint64_t takes = pai__share_least(s, r, k);

    if (takes != 0 && pai__share_left(s, r->tenant, k) <= takes)
      return true;
  }
  return false;
}

/* May it need more than so many empty nodes: to be near to each other, or for
 * tasks that take each other's? */
static bool is_particular(const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);

  return r->within != PAI__NONE || r->nwants > 1;
}

/* 1: nodes are chosen; 0: it could not start if they were free; or
 * PAI_ENOMEM. */
static int choose(choosing *c, pai_time *from)
{
  int rc = choose_room(c);

  if (rc != 0)
    return rc;
  if (is_particular(c->s, c->req) &&
      is_old(c->s, c->req, 4 * c->s->terms.reserve_after))
    return choose_all(c);
  if (is_old(c->s, c->req, 2 * c->s->terms.reserve_after)) {
    order_by_index(c);
    return choose_of_kinds(c, from);
  }
  if (pai__req_why(c->s, c->req).lack == PAI_LACK_QUOTA &&
      needs_share(c->s, pai__req_at(c->s, c->req)))
    return 1;
  order_by_ends(c);
  if (c->owed && !c->known)
    order_by_runs(c);
  return choose_of_kinds(c, from);
}

/* --- keeping -------------------------------------------------------------- */

/* For the time of the decision. */
static int push(pai_sched *s, const pai__kept *k)
{
  if (pai__kept_push(s, k) < 0)
    return PAI_ENOMEM;
  s->reserved++;
  s->reserved_for = k->only;
  return PAI_OK;
}

static int push_nodes(const choosing *c, pai__kept k, pai_time from)
{
  pai_sched *s = c->s;

  k.from = from;
  k.tenant = PAI__NONE;
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
  pai__kept k = { .from = s->m.now,
                  .to = INT64_MAX,
                  .nodes = PAI__NONE,
                  .vc = PAI__NONE,
                  .user = PAI__NONE,
                  .tenant = r->tenant,
                  .only = r->id,
                  .req = c->req,
                  .turn = r->turn,
                  .above = s->terms.ranked ? r->priority : INT32_MAX };

  if (pai__texts_add(&s->names, &s->alloc, "", &k.name) < 0 ||
      (needs_share(s, r) && push(s, &k) < 0))
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < c->words; i++)
    if (c->bits[i] != 0)
      return push_nodes(c, k, from);
  return PAI_OK;
}

/* 1: nodes are kept for it; 0; or PAI_ENOMEM. */
static int keep_for(pai_sched *s, uint32_t req)
{
  uint32_t nodes = s->park->nspots, words = PAI__BITS_WORDS(nodes);
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

bool pai__kept_lets(const pai_sched *s, const pai__kept *k, const pai__req *r)
{
  return r->id == k->only || r->priority > k->above ||
         (k->tenant != PAI__NONE && r->tenant != k->tenant) ||
         (r->turn < k->turn &&
          pai__req_fits_alike(s, r, pai__req_at(s, k->req)));
}

void pai__reserve_end(pai_sched *s)
{
  for (; s->reserved != 0; s->reserved--)
    pai__kept_pop(s);
  s->reserved_for = 0;
}
