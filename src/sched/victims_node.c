/*
 * victims_node.c - the order in which victims are tried, node by node
 *
 * Of each node it is counted how many of those that are on it have to go, and
 * how important they are, until one task of the request has room.  Who is on
 * the node with the least of that goes first.  Only an order: what fits is
 * found out later.
 */
#include "sched/victims.h"

#include "resource/bits.h"

#include <stdlib.h>

/* What is left of a node, and what it takes to make room there. */
typedef struct tally {
  int64_t gpus, cpus, memory, ports;
  int32_t most;   /* the most important one's priority */
  uint32_t count; /* of those that go */
  bool enough;
} tally;

typedef struct sorting {
  pai_sched *s;
  const pai__want *want; /* the largest of the request */
  tally *nodes;
} sorting;

static const pai__want *largest(const pai_sched *s, const pai__req *r)
{
  const pai__want *w = pai__wants_of(s, r), *best = w;

  for (uint32_t i = 1; i < r->nwants; i++)
    if (w[i].gpus != best->gpus ? w[i].gpus > best->gpus
                                : w[i].cpus > best->cpus)
      best = &w[i];
  return best;
}

static void see(const sorting *k, tally *t)
{
  t->enough = t->gpus >= k->want->gpus && t->cpus >= k->want->cpus &&
              t->memory >= (int64_t)k->want->memory &&
              t->ports >= k->want->ports;
}

static void begin(const sorting *k)
{
  for (uint32_t i = 0; i < k->s->rooms.len; i++) {
    const pai__room *room = pai__room_at(k->s, i);

    k->nodes[i] = (tally){ .gpus = pai__bits_ones(room->gpus & ~room->sick),
                           .cpus = room->cpus,
                           .memory = room->memory,
                           .ports = room->ports,
                           .most = INT32_MIN };
    see(k, &k->nodes[i]);
  }
}

static uint64_t cost_of(const tally *t)
{
  return t->enough ? (uint64_t)((int64_t)t->most - INT32_MIN) << 32 | t->count
                   : UINT64_MAX;
}

/* It goes from each of its nodes that has not enough yet; the first of these is
 * the one it is counted for. */
static void take(const sorting *k, pai__victim *v)
{
  const pai__run *run = pai__run_at(k->s, v->run);
  const pai__want *wants = pai__wants_of(k->s, pai__req_at(k->s, run->req));
  const pai__slot *slots = pai__slots_of(k->s, run);
  uint32_t last = PAI__NONE;

  v->node = PAI__NONE;
  for (uint32_t i = 0; i < run->tasks; i++) {
    tally *t = &k->nodes[slots[i].node];
    const pai__want *w = &wants[slots[i].want];

    if (t->enough)
      continue;
    if (v->node == PAI__NONE)
      v->node = slots[i].node;
    if (slots[i].node != last) {
      last = slots[i].node;
      t->count++;
      t->most = v->priority > t->most ? v->priority : t->most;
    }
    t->gpus += pai__bits_ones(slots[i].gpus);
    t->cpus += w->cpus;
    t->memory += (int64_t)w->memory;
    t->ports += w->ports;
  }
  for (uint32_t i = 0; i < run->tasks; i++)
    see(k, &k->nodes[slots[i].node]);
}

/* Those that stop already stay the first. */
static int by_node(const void *a, const void *b)
{
  const pai__victim *x = a, *y = b;
  bool stops = x->priority == INT32_MIN;

  if (stops || y->priority == INT32_MIN)
    return stops == (y->priority == INT32_MIN) ? pai__victims_by_size(a, b)
           : stops                             ? -1
                                               : 1;
  if (x->cost != y->cost)
    return x->cost < y->cost ? -1 : 1;
  if (x->node != y->node)
    return x->node < y->node ? -1 : 1;
  return pai__victims_by_size(a, b);
}

int pai__victims_by_node(pai_sched *s, const pai__req *r, pai__victim *list,
                         uint32_t first, uint32_t n)
{
  sorting k = { .s = s, .want = largest(s, r) };
  size_t size = s->rooms.len * sizeof(*k.nodes);

  k.nodes = pai__zalloc(&s->alloc, size);
  if (k.nodes == NULL)
    return PAI_ENOMEM;
  qsort(list, n, sizeof(*list), pai__victims_by_size);
  for (uint32_t i = 0; i < first; i++)
    pai__run_lift(s, list[i].run, true);
  begin(&k);
  for (uint32_t i = first; i < n; i++)
    take(&k, &list[i]);
  for (uint32_t i = first; i < n; i++)
    list[i].cost =
      list[i].node != PAI__NONE ? cost_of(&k.nodes[list[i].node]) : UINT64_MAX;
  qsort(list, n, sizeof(*list), by_node);
  pai__free(&s->alloc, k.nodes, size);
  return PAI_OK;
}
