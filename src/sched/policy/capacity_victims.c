/* capacity_victims.c - policy `capacity`: which runs are stopped for a
 * request, and in which order */
#include "sched/policy/capacity.h"

#include <stdlib.h>

/* By leaf; in a leaf lowest priority first, then youngest first. */
static int by_leaf(const void *a, const void *b)
{
  const pai__runner *x = a, *y = b;

  if (x->leaf != y->leaf)
    return x->leaf < y->leaf ? -1 : 1;
  if (x->priority != y->priority)
    return x->priority < y->priority ? -1 : 1;
  return x->order > y->order ? -1 : x->order < y->order;
}

static pai__runner *runner_at(const pai__deciding *d, uint32_t i)
{
  return (pai__runner *)d->runners.data + i;
}

/* Lists runs that may be stopped.  Runs that are stopping do not count as
 * staying. */
static int list_runners(pai__deciding *d)
{
  pai__queue *list = d->c->q.list;
  const pai_sched *s = d->s;

  d->runners.len = 0;
  for (uint32_t i = 0; i < d->c->q.n; i++) {
    list[i].staying = list[i].used;
    list[i].next_run = list[i].last_run = 0;
  }
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    pai__runner r = { .order = run->order, .run = i };

    if (run->req == PAI__NONE || run->state < PAI__RUN_PLACED)
      continue;
    r.gpus = pai__run_gpus(s, run);
    r.leaf = 1 + pai__req_at(s, run->req)->vc_index;
    r.priority = run->borrowed ? -1 : pai__req_at(s, run->req)->priority;
    if (run->state == PAI__RUN_STOPPING) {
      for (uint32_t q = r.leaf; q != PAI__NONE; q = list[q].parent)
        list[q].staying -= r.gpus;
      continue;
    }
    if (pai__flat_add(&d->runners, &d->s->alloc, &r) < 0)
      return PAI_ENOMEM;
  }
  if (d->runners.len != 0)
    qsort(d->runners.data, d->runners.len, sizeof(pai__runner), by_leaf);
  for (uint32_t i = d->runners.len; i-- > 0;) {
    pai__queue *leaf = &list[runner_at(d, i)->leaf];

    leaf->last_run = leaf->last_run != 0 ? leaf->last_run : i + 1;
    leaf->next_run = i;
  }
  return PAI_OK;
}

/* Finds the ancestors of two different leaves that have the same parent. */
static void find_sides(const pai__queue *list, uint32_t a, uint32_t b,
                       uint32_t *of_a, uint32_t *of_b)
{
  while (list[a].depth > list[b].depth)
    a = list[a].parent;
  while (list[b].depth > list[a].depth)
    b = list[b].parent;
  while (list[a].parent != list[b].parent) {
    a = list[a].parent;
    b = list[b].parent;
  }
  *of_a = a;
  *of_b = b;
}

static bool is_below(const pai__queue *list, uint32_t i, uint32_t above)
{
  while (i != PAI__NONE && i != above)
    i = list[i].parent;
  return i == above;
}

/* True if the next run of leaf `victim` may be stopped for the first request
 * of `leaf`.  *side is the queue that holds too much. */
static bool may_stop(const pai__deciding *d, uint32_t leaf, uint32_t victim,
                     uint32_t *side)
{
  const pai__queue *list = d->c->q.list;
  uint32_t req = pai__head_of(d, leaf), mine;
  const pai__runner *r;

  *side = victim;
  if (list[victim].next_run == list[victim].last_run)
    return false;
  r = runner_at(d, list[victim].next_run);
  if (leaf == victim)
    return r->priority < 0 && pai__req_at(d->s, req)->priority >= 0;
  find_sides(list, leaf, victim, &mine, side);
  return pai__keeps_to_guaranteed(d, &list[mine], req) &&
         (r->priority < 0 || list[*side].staying > list[*side].guaranteed);
}

/* True if a run of queue a is stopped rather than one of queue b.
 * Opportunistic runs go first; then the queue that exceeds its guaranteed
 * amount most, on the level where it is reclaimed, and then by its own
 * amount. */
static bool is_rather(const pai__deciding *d, uint32_t a, uint32_t side_a,
                      uint32_t b, uint32_t side_b)
{
  const pai__queue *list = d->c->q.list;
  bool lent_a = runner_at(d, list[a].next_run)->priority < 0;
  bool lent_b = runner_at(d, list[b].next_run)->priority < 0;

  if (lent_a != lent_b)
    return lent_a;
  if (side_a != side_b)
    return pai__is_less_used(list[side_b].staying, list[side_b].guaranteed,
                             list[side_a].staying, list[side_a].guaranteed);
  return pai__is_less_used(list[b].staying, list[b].guaranteed,
                           list[a].staying, list[a].guaranteed);
}

/* Returns the leaf below `within` whose next run is stopped, or PAI__NONE. */
static uint32_t next_victim(const pai__deciding *d, uint32_t leaf,
                            uint32_t within)
{
  uint32_t best = PAI__NONE, best_side = PAI__NONE, side;

  for (uint32_t v = 1; v <= d->s->cluster->nvcs; v++)
    if (is_below(d->c->q.list, v, within) && may_stop(d, leaf, v, &side) &&
        (best == PAI__NONE || is_rather(d, v, side, best, best_side))) {
      best = v;
      best_side = side;
    }
  return best;
}

int pai__capacity_victims(pai__deciding *d, uint32_t leaf, uint32_t within,
                          uint64_t enough)
{
  pai__queue *list = d->c->q.list;
  uint32_t v;
  int rc = list_runners(d);

  d->victims.len = 0;
  if (rc == PAI_OK)
    rc = pai__flat_reserve(&d->victims, &d->s->alloc, d->runners.len);
  while (rc == PAI_OK && list[within].staying > enough &&
         (v = next_victim(d, leaf, within)) != PAI__NONE) {
    const pai__runner *r = runner_at(d, list[v].next_run++);

    ((uint32_t *)d->victims.data)[pai__flat_push(&d->victims, 1)] = r->run;
    for (uint32_t q = v; q != PAI__NONE; q = list[q].parent)
      list[q].staying -= r->gpus;
  }
  return rc;
}
