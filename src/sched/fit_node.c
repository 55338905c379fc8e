/* fit_node.c - one node: what a task may have of it, and its score */
#include "sched/fit_node.h"

#include "resource/bits.h"
#include "sched/pick_gpus.h"
#include "sched/policy/guarantee.h"

/* --- one node ------------------------------------------------------------- */

static bool may_use(const pai_sched *s, const pai__sched_reservation *k,
                    const pai__req *r)
{
  if (k->only != 0)
    return pai__sched_reservation_lets(s, k, r);
  if (k->vc == PAI__NONE && k->user == PAI__NONE)
    return false;
  return (k->vc == PAI__NONE || k->vc == r->vc) &&
         (k->user == PAI__NONE || k->user == r->user);
}

static bool is_kept(const pai_sched *s, const pai__sched_reservation *k,
                    uint32_t node)
{
  const uint64_t *bits;

  if (k->nodes == PAI__NONE)
    return true;
  bits = pai__pool_at(&s->pool, k->nodes);
  return pai__bits_has(bits, k->words, node);
}

pai_time pai__sched_reservation_until(const pai_sched *s, const pai__req *r,
                                      uint32_t node, pai_time from,
                                      pai_time to)
{
  for (uint32_t i = 0; i < s->reservations.len; i++) {
    const pai__sched_reservation *k =
      (pai__sched_reservation *)s->reservations.data + i;

    if (k->name != PAI__NONE && k->to > from && k->from < to &&
        is_kept(s, k, node) && !may_use(s, k, r))
      return k->to;
  }
  return 0;
}

/* A request that ends before a reservation begins is not kept off. */
static bool is_reserved_from(const pai_sched *s, const pai__req *r,
                             uint32_t node)
{
  pai_time length = pai__req_length(r);
  pai_time end = length == 0 || s->m.now > INT64_MAX - length
                   ? INT64_MAX
                   : s->m.now + length;

  return pai__sched_reservation_until(s, r, node, s->m.now, end) != 0;
}

static inline uint32_t node_lack(const pai_sched *s, const pai__req *r,
                                 uint32_t node)
{
  const pai__free_capacity *n = pai__free_capacity_at(s, node);

  if (n->state != PAI_NODE_UP)
    return PAI_LACK_HEALTH;
  if (n->reservations != 0 && is_reserved_from(s, r, node))
    return PAI_LACK_RESERVATION;
  return PAI_LACK_NOTHING;
}

uint32_t pai__req_node_lack(const pai_sched *s, const pai__req *r,
                            uint32_t node)
{
  return node_lack(s, r, node);
}

static inline uint64_t want_gpus(const pai_sched *s, const pai__want *w,
                                 uint32_t kind, uint32_t pin, uint32_t node,
                                 uint32_t *lack)
{
  uint32_t type = w->type;
  uint64_t mask;

  if (type == PAI__NONE && w->gpus != 0)
    type = kind;
  mask = pai__sched_cluster_mask(s->cluster, node, type);
  *lack = PAI_LACK_TYPE;
  if (mask == 0 && (type != PAI__NONE || w->gpus != 0) &&
      (type == PAI__NONE || type < s->cluster->nkinds ||
       s->cluster->nodes[node].sku != type - s->cluster->nkinds))
    return 0;
  if (pin != PAI__NONE) {
    uint64_t pinned = pai__sched_cluster_pinned(s->cluster, pin, node);

    *lack = PAI_LACK_PIN;
    if (pinned == 0)
      return 0;
    mask &= pinned;
  }
  *lack = PAI_LACK_NOTHING;
  return mask;
}

uint64_t pai__want_gpus(const pai_sched *s, const pai__want *w, uint32_t kind,
                        uint32_t pin, uint32_t node, uint32_t *lack)
{
  return want_gpus(s, w, kind, pin, node, lack);
}

/* Returns how many tasks fit if `free` is free and each takes `each`.  An
 * uncounted resource fits more tasks than there are. */
static inline uint32_t parts_of(int64_t free, uint32_t each)
{
  uint64_t parts;

  if (free <= UINT32_MAX)
    return free > 0 ? (uint32_t)free / each : 0;
  parts = (uint64_t)free / each;
  return parts < UINT32_MAX ? (uint32_t)parts : UINT32_MAX;
}

uint32_t pai__fit_capacity(const pai__fitting *f, const pai__want *w,
                           uint32_t node, uint64_t mask, uint64_t *free,
                           uint32_t *lack)
{
  const pai_sched *s = f->s;
  const pai__free_capacity *n = pai__free_capacity_at(s, node);
  uint64_t may = want_gpus(s, w, f->kind, f->pin, node, lack);
  uint32_t fits = UINT32_MAX, part;

  *free = may & mask & n->gpus;
  if (*lack != PAI_LACK_NOTHING)
    return 0;
  if (!f->ask->ideal) {
    *lack = node_lack(s, f->req, node);
    if (*lack != PAI_LACK_NOTHING)
      return 0;
    *free &= ~n->sick;
  }
  if (w->gpus != 0) {
    fits = pai__bits_ones(*free) / w->gpus;
    *lack = PAI_LACK_GPU;
    if (fits == 0)
      return 0;
  }
  if (w->cpu_millis != 0) {
    part = parts_of(n->cpu_millis, w->cpu_millis);
    *lack = part < fits ? PAI_LACK_CPU : *lack;
    fits = part < fits ? part : fits;
  }
  if (w->memory != 0) {
    uint64_t parts =
      n->memory > 0 ? (uint64_t)n->memory / w->memory : UINT64_C(0);

    *lack = parts < fits ? PAI_LACK_MEMORY : *lack;
    fits = parts < fits ? (uint32_t)parts : fits;
  }
  if (w->ports != 0) {
    part = n->ports > 0 ? (uint32_t)n->ports / w->ports : 0;
    *lack = part < fits ? PAI_LACK_PORT : *lack;
    fits = part < fits ? part : fits;
  }
  return fits;
}

/* --- scores --------------------------------------------------------------- */

/* A resource of a node, for scoring as Kubernetes does. */
typedef struct scored {
  uint64_t used, all; /* all: 0 if unknown */
} scored;

static scored scored_of(int64_t free, uint64_t wanted, uint64_t all)
{
  uint64_t left = free > 0 ? (uint64_t)free : 0;
  uint64_t used = left < all ? all - left : 0;

  used = used + wanted < all ? used + wanted : all;
  while (all > UINT32_MAX) {
    all >>= 1;
    used >>= 1;
  }
  return (scored){ used, all };
}

/* LeastAllocated, up to 100. */
static uint64_t least_allocated(const scored *list, uint32_t n)
{
  uint64_t sum = 0, weight = 0;

  for (uint32_t i = 0; i < n; i++)
    if (list[i].all != 0) {
      sum += (list[i].all - list[i].used) * 100 / list[i].all;
      weight++;
    }
  return weight != 0 ? sum / weight : 0;
}

/* BalancedAllocation, up to 100: reduced by the standard deviation of both
 * fractions, and rounded down.  CPUs have at most 22 bits here, and memory at
 * most 32. */
static uint64_t balanced(const scored *cpus, const scored *memory)
{
  uint64_t x = cpus->used * memory->all, y = memory->used * cpus->all;
  uint64_t all = cpus->all * memory->all;

  return all == 0 ? 100 : 100 - ((x > y ? x - y : y - x) * 50 + all - 1) / all;
}

/* Returns the default score of Kubernetes with the task on the node, of CPUs
 * and memory; of GPUs if neither is known. */
static uint64_t kubernetes_score(const pai__fitting *f, const pai__want *w,
                                 uint32_t node, uint64_t free)
{
  const pai__sched_sku *b = pai__sched_sku_of(f->s->cluster, node);
  const pai__free_capacity *n = pai__free_capacity_at(f->s, node);
  scored list[] = { scored_of(n->cpu_millis, w->cpu_millis,
                              pai__sched_sku_cpu_millis(b)),
                    scored_of(n->memory, w->memory, b->memory) };
  scored gpus = scored_of(pai__bits_ones(free), w->gpus, b->gpus);

  if (list[0].all == 0 && list[1].all == 0)
    return least_allocated(&gpus, 1);
  /* A task that asks for neither is not balanced. */
  return least_allocated(list, 2) + (w->cpu_millis != 0 || w->memory != 0
                                       ? balanced(&list[0], &list[1])
                                       : 0);
}

/* Returns how far apart GPUs of the task would be: the number of group sizes
 * that could hold it, but of which no group on the node has enough free
 * GPUs. */
static uint32_t farness(const pai__fitting *f, const pai__want *w,
                        uint32_t node, uint64_t free)
{
  const pai__sched_sku *b = pai__sched_sku_of(f->s->cluster, node);
  uint32_t far = 0;

  if (w->gpus < 2 || f->ask->strategy != PAI_PLACE_TOPO)
    return 0;
  for (uint32_t i = 0; i < b->nlocalities && far < 15; i++)
    if (b->localities[i].gpus >= w->gpus) {
      if (pai__has_group(b, free, b->localities[i].gpus, w->gpus))
        break;
      far++;
    }
  return far;
}

uint64_t pai__fit_score(const pai__fitting *f, const pai__want *w,
                        uint32_t node, uint64_t free, uint32_t fits,
                        uint32_t left)
{
  const pai__free_capacity *n = pai__free_capacity_at(f->s, node);
  uint64_t gpus = pai__bits_ones(free);
  uint64_t cpus = n->cpu_millis > 0 ? (uint64_t)n->cpu_millis : 0;

  switch (f->ask->strategy) {
  case PAI_PLACE_FIRST: return 1;
  case PAI_PLACE_SPREAD: return (gpus << 40 | cpus) + 1;
  case PAI_PLACE_SCORE: return kubernetes_score(f, w, node, free) + 1;
  default: break;
  }
  /* Keep tasks without GPUs away from free GPUs. */
  if (w->gpus == 0)
    gpus = pai__bits_ones(n->gpus);
  cpus = cpus < 0xffffff ? cpus : 0xffffff;
  cpus = 0xffffff - cpus;
  gpus = (uint64_t)(15 - farness(f, w, node, free)) << 8 | (64 - gpus);
  if (fits >= left)
    return UINT64_C(1) << 62 | gpus << 24 | cpus;
  return (uint64_t)(fits < 0xffffff ? fits : 0xffffff) << 36 | gpus << 24 |
         cpus;
}

/* --- walks ---------------------------------------------------------------- */

/* Node classes can be used only if all nodes are looked at in their real
 * state. */
pai__walk pai__walk_begin(const pai__fitting *f, const pai__area *a,
                          uint32_t from)
{
  pai__walk x = { .alike = 1, .at = from };

  x.node_classes = a->nodes == NULL && f->pin == PAI__NONE && !f->ask->ideal &&
                   pai__node_classes_ready(f->s);
  if (x.node_classes)
    x.at = f->s->node_classes.first;
  return x;
}
