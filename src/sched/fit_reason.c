/* fit_reason.c - the reason why a gang has no place: what lacks on the node that
 * is nearest to fitting */
#include "sched/fit_node.h"

#include "resource/bits.h"

/* --- what lacks ----------------------------------------------------------- */

/* Ranks a lack.  Lacks are numbered in the order of the checks of a node, so a
 * later one is nearer to fitting. */
static uint64_t nearness(uint32_t lack, uint64_t found)
{
  return (uint64_t)lack << 56 |
         (found < UINT64_C(1) << 56 ? found : (UINT64_C(1) << 56) - 1);
}

static uint64_t wanted_of(const pai__want *w, uint32_t lack)
{
  switch (lack) {
  case PAI_LACK_GPU: return w->gpus;
  case PAI_LACK_CPU: return w->cpu_millis;
  case PAI_LACK_MEMORY: return w->memory;
  case PAI_LACK_PORT: return w->ports;
  default: return 0;
  }
}

static uint64_t found_of(const pai__free_capacity *n, uint32_t lack,
                         uint64_t free)
{
  switch (lack) {
  case PAI_LACK_GPU: return pai__bits_ones(free);
  case PAI_LACK_CPU: return n->cpu_millis > 0 ? (uint64_t)n->cpu_millis : 0;
  case PAI_LACK_MEMORY: return n->memory > 0 ? (uint64_t)n->memory : 0;
  case PAI_LACK_PORT: return n->ports > 0 ? (uint64_t)n->ports : 0;
  default: return 0;
  }
}

void pai__fit_reason(pai__fitting *f, const pai__area *a, uint32_t want)
{
  const pai__want *w = &f->wants[want];
  pai__sched_reason *reason = f->reason;
  uint64_t nearest = 0, sum = 0, free;

  *reason = (pai__sched_reason){ .node = PAI__NONE, .text = PAI__NONE };
  reason->want = want;
  reason->placed = f->placed;
  reason->tasks = f->total;
  for (pai__walk x = pai__walk_begin(f, a, 0); pai__walk_next(f, a, &x);) {
    uint32_t lack;
    uint64_t found, near;

    (void)pai__fit_capacity(f, w, x.node, a->mask, &free, &lack);
    reason->failed[lack] += x.alike;
    found = found_of(pai__free_capacity_at(f->s, x.node), lack, free);
    sum += lack == PAI_LACK_GPU ? found * x.alike : UINT64_C(0);
    near = nearness(lack, found);
    if (near > nearest || reason->node == PAI__NONE ||
        (near == nearest && x.node < reason->node)) {
      nearest = near;
      reason->lack = lack;
      reason->node = x.node;
      reason->found = found;
      reason->wanted = wanted_of(w, lack);
    }
  }
  reason->of = reason->lack;
  if (reason->lack == PAI_LACK_GPU && sum >= w->gpus)
    reason->lack = PAI_LACK_TOPOLOGY;
  else if (f->placed != 0 && reason->lack >= PAI_LACK_GPU)
    reason->lack = PAI_LACK_GANG;
}

/* --- kinds of GPUs -------------------------------------------------------- */

bool pai__fit_nearer(const pai__sched_reason *a, const pai__sched_reason *b)
{
  return a->lack != b->lack ? a->lack > b->lack : a->found > b->found;
}

void pai__fit_count_kinds(const pai__fitting *f, pai__sched_reason *reason,
                          const uint32_t *failed)
{
  uint32_t others = 0;

  reason->failed[PAI_LACK_TYPE] = 0;
  for (uint32_t l = 0; l < PAI_LACKS; l++)
    others += l != PAI_LACK_TYPE ? failed[l] : 0;
  if (others == 0 || others > f->s->cluster->nnodes)
    return; /* nothing else lacked, or nodes were counted twice */
  for (uint32_t l = 0; l < PAI_LACKS; l++)
    reason->failed[l] = l != PAI_LACK_TYPE ? failed[l] : 0;
  if (failed[PAI_LACK_TYPE] + others ==
      f->s->cluster->nkinds * f->s->cluster->nnodes)
    reason->failed[PAI_LACK_TYPE] = f->s->cluster->nnodes - others;
}
