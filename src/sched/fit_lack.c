/* fit_lack.c - what lacks where a gang has no place, and the nearest miss */
#include "sched/fit_node.h"

#include "resource/bits.h"

/* Lacks in the order in which a node is asked: later ones are nearer. */
static uint64_t nearness(uint32_t lack, uint64_t found)
{
  return (uint64_t)lack << 56 |
         (found < UINT64_C(1) << 56 ? found : (UINT64_C(1) << 56) - 1);
}

static uint64_t wanted_of(const pai__want *w, uint32_t lack)
{
  switch (lack) {
  case PAI_LACK_GPU: return w->gpus;
  case PAI_LACK_CPU: return w->cpus;
  case PAI_LACK_MEMORY: return w->memory;
  case PAI_LACK_PORT: return w->ports;
  default: return 0;
  }
}

static uint64_t found_of(const pai__room *n, uint32_t lack, uint64_t free)
{
  switch (lack) {
  case PAI_LACK_GPU: return pai__bits_ones(free);
  case PAI_LACK_CPU: return n->cpus > 0 ? (uint64_t)n->cpus : 0;
  case PAI_LACK_MEMORY: return n->memory > 0 ? (uint64_t)n->memory : 0;
  case PAI_LACK_PORT: return n->ports > 0 ? (uint64_t)n->ports : 0;
  default: return 0;
  }
}

void pai__fit_blame(pai__fitting *f, const pai__area *a, uint32_t want)
{
  const pai__want *w = &f->wants[want];
  pai__why *why = f->why;
  uint64_t nearest = 0, sum = 0, free;

  *why = (pai__why){ .node = PAI__NONE, .text = PAI__NONE };
  why->want = want;
  why->placed = f->placed;
  why->tasks = f->total;
  for (pai__walk x = pai__walk_begin(f, a, 0); pai__walk_next(f, a, &x);) {
    uint32_t lack;
    uint64_t found, near;

    (void)pai__fit_room(f, w, x.node, a->mask, &free, &lack);
    why->failed[lack] += x.alike;
    found = found_of(pai__room_at(f->s, x.node), lack, free);
    sum += lack == PAI_LACK_GPU ? found * x.alike : UINT64_C(0);
    near = nearness(lack, found);
    if (near > nearest || why->node == PAI__NONE ||
        (near == nearest && x.node < why->node)) {
      nearest = near;
      why->lack = lack;
      why->node = x.node;
      why->found = found;
      why->wanted = wanted_of(w, lack);
    }
  }
  why->of = why->lack;
  if (why->lack == PAI_LACK_GPU && sum >= w->gpus)
    why->lack = PAI_LACK_TOPOLOGY;
  else if (f->placed != 0 && why->lack >= PAI_LACK_GPU)
    why->lack = PAI_LACK_GANG;
}

/* --- kinds of GPUs --------------------------------------------------------- */

bool pai__fit_nearer(const pai__why *a, const pai__why *b)
{
  return a->lack != b->lack ? a->lack > b->lack : a->found > b->found;
}

void pai__fit_count_kinds(const pai__fitting *f, pai__why *why,
                          const uint32_t *failed)
{
  uint32_t others = 0;

  why->failed[PAI_LACK_TYPE] = 0;
  for (uint32_t l = 0; l < PAI_LACKS; l++)
    others += l != PAI_LACK_TYPE ? failed[l] : 0;
  if (others == 0 || others > f->s->park->nspots)
    return; /* of other tasks, or not of nodes */
  for (uint32_t l = 0; l < PAI_LACKS; l++)
    why->failed[l] = l != PAI_LACK_TYPE ? failed[l] : 0;
  if (failed[PAI_LACK_TYPE] + others ==
      f->s->park->nkinds * f->s->park->nspots)
    why->failed[PAI_LACK_TYPE] = f->s->park->nspots - others;
}
