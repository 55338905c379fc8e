/* fit_want.c - choosing nodes for equal tasks */
#include "sched/fit_node.h"

#include "resource/bits.h"
#include "sched/pick_gpus.h"

/* Returns how many tasks go to a node before the next one is chosen. */
static uint32_t batch(const pai__fitting *f, uint32_t fits, uint32_t left)
{
  if (f->ask->strategy == PAI_PLACE_SPREAD ||
      f->ask->strategy == PAI_PLACE_SCORE)
    return 1;
  return fits < left ? fits : left;
}

static void put(pai__fitting *f, uint32_t want, uint32_t node, uint64_t free,
                uint32_t tasks)
{
  const pai__want *w = &f->wants[want];
  pai__free_capacity *n = pai__free_capacity_touch(f->s, node);

  for (; tasks > 0; tasks--) {
    uint64_t gpus =
      pai__pick_gpus(pai__sched_sku_of(f->s->cluster, node), free, w->gpus);

    ((pai__slot *)f->s->slots.data)[f->placed++] =
      (pai__slot){ .gpus = gpus, .node = node, .want = want };
    pai__free_capacity_count(n, w, gpus);
    free &= ~gpus;
  }
}

/* --- many tasks ----------------------------------------------------------- */

/* A node with room for some of the tasks. */
typedef struct candidate {
  uint64_t points;
  uint32_t at; /* index in the pai__area */
  uint32_t fits;
} candidate;

_Static_assert(sizeof(candidate) == 16, "as sched.c makes them");

/* Of equal candidates, the first in the area is better. */
static bool is_better(const candidate *a, const candidate *b)
{
  return a->points != b->points ? a->points > b->points : a->at < b->at;
}

static void sink(candidate *heap, uint32_t n, uint32_t i)
{
  candidate moving = heap[i];

  for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
    child += child + 1 < n && is_better(&heap[child + 1], &heap[child]);
    if (!is_better(&heap[child], &moving))
      break;
    heap[i] = heap[child];
  }
  heap[i] = moving;
}

/* Rates a node of the area that will not take the last tasks.  Returns whether
 * it has room. */
static bool rate(const pai__fitting *f, const pai__area *a, const pai__want *w,
                 candidate *c, uint64_t *free)
{
  uint32_t node = pai__area_node(a, c->at), lack;

  c->fits = pai__fit_capacity(f, w, node, a->mask, free, &lack);
  if (c->fits != 0)
    c->points = pai__fit_score(f, w, node, *free, c->fits, UINT32_MAX);
  return c->fits != 0;
}

static uint32_t make_heap(const pai__fitting *f, const pai__area *a,
                          const pai__want *w, candidate *heap)
{
  uint32_t n = 0;
  uint64_t free;

  for (uint32_t i = 0; i < a->n; i++) {
    heap[n].at = i;
    n += rate(f, a, w, &heap[n], &free);
  }
  for (uint32_t i = n / 2; i-- > 0;)
    sink(heap, n, i);
  return n;
}

/* Places tasks with a heap of nodes.  Returns how many are left: another node
 * may be best for the last ones.  The result is the same as if each node was
 * searched for. */
static uint32_t place_most(pai__fitting *f, const pai__area *a, uint32_t want,
                           uint32_t tasks)
{
  const pai__want *w = &f->wants[want];
  pai__flat *scratch = &f->s->candidates;
  bool singly = batch(f, 2, 2) == 1;
  candidate *heap;
  uint32_t n;

  scratch->len = 0;
  if (pai__flat_reserve(scratch, &f->s->alloc, a->n) < 0)
    return tasks;
  heap = scratch->data;
  n = make_heap(f, a, w, heap);
  while (n > 0 && tasks > 0 && (singly || heap[0].fits < tasks)) {
    uint64_t free;
    uint32_t part;

    (void)rate(f, a, w, &heap[0], &free);
    part = batch(f, heap[0].fits, tasks);
    put(f, want, pai__area_node(a, heap[0].at), free, part);
    tasks -= part;
    if (!rate(f, a, w, &heap[0], &free))
      heap[0] = heap[--n];
    sink(heap, n, 0);
  }
  return tasks;
}

/* For up to this many tasks, nodes are searched one by one. */
enum { FEW_TASKS = 3 };

static bool is_worth_a_heap(const pai__fitting *f, const pai__area *a,
                            uint32_t tasks)
{
  if (tasks <= FEW_TASKS || f->ask->strategy == PAI_PLACE_FIRST || a->n <= 1)
    return false;
  return !pai__walk_begin(f, a, 0).node_classes ||
         (uint64_t)tasks * f->s->node_classes.live > a->n;
}

/* A node for the next tasks of a want. */
typedef struct choice {
  uint64_t points, free; /* points: 0 if there is none */
  uint32_t node, fits;
  uint32_t at; /* index in the pai__area */
} choice;

/* Returns the best node; of equal ones the first. */
static choice choose(const pai__fitting *f, const pai__area *a,
                     const pai__want *w, uint32_t from, uint32_t tasks)
{
  choice best = { 0 };

  for (pai__walk x = pai__walk_begin(f, a, from); pai__walk_next(f, a, &x);) {
    uint64_t free, points;
    uint32_t lack, fits;

    if (x.ones < w->gpus)
      continue;
    fits = pai__fit_capacity(f, w, x.node, a->mask, &free, &lack);
    if (fits == 0)
      continue;
    points = pai__fit_score(f, w, x.node, free, fits, tasks);
    if (points < best.points || (points == best.points && x.node > best.node))
      continue;
    best =
      (choice){ points, free, x.node, fits, x.node_classes ? 0 : x.at - 1 };
    if (f->ask->strategy == PAI_PLACE_FIRST && !x.node_classes)
      break;
  }
  return best;
}

bool pai__fit_want(pai__fitting *f, const pai__area *a, uint32_t want,
                   uint32_t tasks)
{
  const pai__want *w = &f->wants[want];
  uint32_t from = 0; /* nodes before this have no room */

  if (is_worth_a_heap(f, a, tasks))
    tasks = place_most(f, a, want, tasks);
  while (tasks > 0) {
    choice best = choose(f, a, w, from, tasks);

    if (best.points == 0)
      return false;
    if (f->ask->strategy == PAI_PLACE_FIRST)
      from = best.at;
    best.fits = batch(f, best.fits, tasks);
    put(f, want, best.node, best.free, best.fits);
    tasks -= best.fits;
  }
  return true;
}
