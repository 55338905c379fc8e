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
  pai__room *n = pai__room_at(f->s, node);

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

bool pai__fit_want(pai__fitting *f, const pai__area *a, uint32_t want,
                   uint32_t tasks)
{
  const pai__want *w = &f->wants[want];
  uint32_t from = 0; /* those before have no room */

  if (tasks > FEW_TASKS && f->ask->strategy != PAI_PLACE_FIRST && a->n > 1)
    tasks = place_most(f, a, want, tasks);
  while (tasks > 0) {
    uint64_t best = 0, best_free = 0, free;
    uint32_t best_node = 0, best_fits = 0, lack;

    for (uint32_t i = from; i < a->n; i++) {
      uint32_t node = pai__area_node(a, i);
      uint32_t fits = pai__fit_room(f, w, node, a->mask, &free, &lack);
      uint64_t points = fits != 0
                          ? pai__fit_score(f, w, node, free, fits, tasks)
                          : UINT64_C(0);

      if (points > best) {
        best = points;
        best_free = free;
        best_node = node;
        best_fits = fits;
        if (f->ask->strategy == PAI_PLACE_FIRST) {
          from = i;
          break;
        }
      }
    }
    if (best == 0)
      return false;
    best_fits = batch(f, best_fits, tasks);
    put(f, want, best_node, best_free, best_fits);
    tasks -= best_fits;
  }
  return true;
}

void pai__fit_init(pai_sched *s)
{
  pai__flat_init(&s->candidates, sizeof(candidate));
}
