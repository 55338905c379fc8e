/* victims.c - choosing runs to stop, and trial placements without them */

#include "sched/policy/victims.h"
#include "sched/node_class.h"

#include "resource/bits.h"

#include <stdlib.h>

int pai__victims_order(const void *a, const void *b)
{
  const pai__victim *x = a, *y = b;

  if (x->priority != y->priority)
    return x->priority < y->priority ? -1 : 1;
  return x->order > y->order ? -1 : x->order < y->order;
}

int pai__victims_by_size(const void *a, const void *b)
{
  const pai__victim *x = a, *y = b;

  if (x->priority == y->priority && x->gpus != y->gpus)
    return x->gpus > y->gpus ? -1 : 1;
  return pai__victims_order(a, b);
}

bool pai__victim_may_stay(pai_sched *s, uint32_t run)
{
  const pai__run *x = pai__run_at(s, run);
  const pai__slot *slots = pai__slots_of(s, x);

  pai__run_lift(s, run, false);
  for (uint32_t i = 0; i < x->tasks; i++)
    if (!pai__free_capacity_settled(pai__free_capacity_at(s, slots[i].node),
                                    slots[i].gpus)) {
      pai__run_lift(s, run, true);
      return false;
    }
  return true;
}

bool pai__victims_keep_share(const pai_sched *s, const pai__req *r, uint32_t n)
{
  for (uint32_t k = 0; k < pai__sched_vc_at(s, r->vc_index)->nshares; k++)
    if (pai__share_taken(s, r, n, k) > pai__share_left(s, r->vc_index, k))
      return false;
  return true;
}

/* --- order of victims, node by node --------------------------------------- */

/* What is free on a node, and what it takes to make room there. */
typedef struct tally {
  pai__amounts free;
  int32_t most;   /* highest priority of its victims */
  uint32_t count; /* number of its victims */
  bool enough;
} tally;

typedef struct sorting {
  pai_sched *s;
  const pai__want *want; /* the largest want of the request */
  tally *nodes;
} sorting;

static const pai__want *largest(const pai_sched *s, const pai__req *r)
{
  const pai__want *w = pai__wants_of(s, r), *best = w;

  for (uint32_t i = 1; i < r->nwants; i++)
    if (w[i].gpus != best->gpus ? w[i].gpus > best->gpus
                                : w[i].cpu_millis > best->cpu_millis)
      best = &w[i];
  return best;
}

static void see(const sorting *k, tally *t)
{
  t->enough = t->free.gpus >= k->want->gpus &&
              t->free.cpu_millis >= k->want->cpu_millis &&
              t->free.memory >= (int64_t)k->want->memory &&
              t->free.ports >= k->want->ports;
}

static void begin(const sorting *k)
{
  for (uint32_t i = 0; i < k->s->free_capacity.len; i++) {
    k->nodes[i] = (tally){ .free = pai__free_capacity_amounts(
                             pai__free_capacity_at(k->s, i)),
                           .most = INT32_MIN };
    see(k, &k->nodes[i]);
  }
}

static uint64_t cost_of(const tally *t)
{
  return t->enough ? (uint64_t)((int64_t)t->most - INT32_MIN) << 32 | t->count
                   : UINT64_MAX;
}

/* Counts a victim on each of its nodes that has not enough yet, and assigns it
 * to the first of them. */
static void take(const sorting *k, pai__victim *v)
{
  const pai__run *run = pai__run_at(k->s, v->run);
  const pai__want *wants = pai__wants_of(k->s, pai__req_at(k->s, run->req));
  const pai__slot *slots = pai__slots_of(k->s, run);
  uint32_t last = PAI__NONE;

  v->node = PAI__NONE;
  for (uint32_t i = 0; i < run->tasks; i++) {
    tally *t = &k->nodes[slots[i].node];

    if (t->enough)
      continue;
    if (v->node == PAI__NONE)
      v->node = slots[i].node;
    if (slots[i].node != last) {
      last = slots[i].node;
      t->count++;
      t->most = v->priority > t->most ? v->priority : t->most;
    }
    pai__amounts_add_slot(&t->free, &wants[slots[i].want], slots[i].gpus);
  }
  for (uint32_t i = 0; i < run->tasks; i++)
    see(k, &k->nodes[slots[i].node]);
}

/* Runs that are stopping stay first. */
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
  size_t size = s->free_capacity.len * sizeof(*k.nodes);

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

/* --- trial copies of capacity and shares ---------------------------------- */

static int take_copy(pai__flat *real, pai__flat *f, const pai_alloc *alloc)
{
  *real = *f;
  pai__flat_init(f, real->size);
  return pai__flat_copy(f, real, alloc);
}

int pai__trial_begin(pai__trial *t, pai_sched *s)
{
  int free_capacity, used, lent;

  pai__node_classes_leave(s);
  free_capacity = take_copy(&t->free_capacity, &s->free_capacity, &s->alloc);
  used = take_copy(&t->used, &s->shares_used, &s->alloc);
  lent = take_copy(&t->lent, &s->shares_lent, &s->alloc);
  return free_capacity < 0 || used < 0 || lent < 0 ? PAI_ENOMEM : PAI_OK;
}

static void copy_again(const pai__flat *real, pai__flat *f)
{
  if (real->len != 0)
    memcpy(f->data, real->data, (size_t)real->len * real->size);
}

void pai__trial_again(const pai__trial *t, pai_sched *s)
{
  copy_again(&t->free_capacity, &s->free_capacity);
  copy_again(&t->used, &s->shares_used);
  copy_again(&t->lent, &s->shares_lent);
}

static void give_back(pai__flat *real, pai__flat *f, const pai_alloc *alloc)
{
  pai__flat_dispose(f, alloc);
  *f = *real;
}

void pai__trial_end(pai__trial *t, pai_sched *s)
{
  give_back(&t->free_capacity, &s->free_capacity, &s->alloc);
  give_back(&t->used, &s->shares_used, &s->alloc);
  give_back(&t->lent, &s->shares_lent, &s->alloc);
  pai__node_classes_return(s);
}
