/* fit_want.c - which nodes equal tasks get, of those with room */
#include "sched/fit_node.h"

#include "resource/bits.h"

/* How many tasks go to a node before the next one is looked for. */
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
  pai__room *n = pai__room_touch(f->s, node);

  for (; tasks > 0; tasks--) {
    uint64_t gpus =
      pai__pick_gpus(pai__build_of(f->s->park, node), free, w->gpus);

    ((pai__slot *)f->s->slots.data)[f->placed++] =
      (pai__slot){ .gpus = gpus, .node = node, .want = want };
    pai__room_count(n, w, gpus);
    free &= ~gpus;
  }
}

/* --- many tasks ----------------------------------------------------------- */

/* A node with room for some of them. */
typedef struct candidate {
  uint64_t points;
  uint32_t at; /* in the pai__area */
  uint32_t fits;
} candidate;

/* Of equals the first in the area. */
static bool is_better(const candidate *a, const candidate *b)
{
  return a->points != b->points ? a->points > b->points : a->at < b->at;
}

/* The root of a heap sinks to its place. */
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

/* How it stands with a node of the area, if it is not the last one. */
static bool rate(const pai__fitting *f, const pai__area *a, const pai__want *w,
                 candidate *c, uint64_t *free)
{
  uint32_t node = pai__area_node(a, c->at), lack;

  c->fits = pai__fit_room(f, w, node, a->mask, free, &lack);
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

/* All but the last tasks, for which another node may be the best one: how many
 * these are.  The same as if each was looked for by itself. */
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

/* As few are looked for one by one. */
enum { FEW_TASKS = 3 };

static bool is_worth_a_heap(const pai__fitting *f, const pai__area *a,
                            uint32_t tasks)
{
  if (tasks <= FEW_TASKS || f->ask->strategy == PAI_PLACE_FIRST || a->n <= 1)
    return false;
  return !pai__walk_begin(f, a, 0).shelves ||
         (uint64_t)tasks * f->s->shelves.live > a->n;
}

/* A node for the next tasks of a want. */
typedef struct choice {
  uint64_t points, free; /* 0 points: there is none */
  uint32_t node, fits;
  uint32_t at; /* in the pai__area */
} choice;

/* The best one, the first of equals. */
static choice choose(const pai__fitting *f, const pai__area *a,
                     const pai__want *w, uint32_t from, uint32_t tasks)
{
  choice best = { 0 };

  for (pai__walk x = pai__walk_begin(f, a, from); pai__walk_next(f, a, &x);) {
    uint64_t free, points;
    uint32_t lack, fits;

    if (x.ones < w->gpus)
      continue;
    fits = pai__fit_room(f, w, x.node, a->mask, &free, &lack);
    if (fits == 0)
      continue;
    points = pai__fit_score(f, w, x.node, free, fits, tasks);
    if (points < best.points || (points == best.points && x.node > best.node))
      continue;
    best = (choice){ points, free, x.node, fits, x.shelves ? 0 : x.at - 1 };
    if (f->ask->strategy == PAI_PLACE_FIRST && !x.shelves)
      break;
  }
  return best;
}

bool pai__fit_want(pai__fitting *f, const pai__area *a, uint32_t want,
                   uint32_t tasks)
{
  const pai__want *w = &f->wants[want];
  uint32_t from = 0; /* those before have no room */

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

void pai__fit_init(pai_sched *s)
{
  pai__flat_init(&s->candidates, sizeof(candidate));
}
