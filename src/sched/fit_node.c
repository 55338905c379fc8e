/* fit_node.c - one node: what a task may have of it, and how well it fits */
#include "sched/fit_node.h"

#include "resource/bits.h"
#include "sched/reserve.h"

/* --- one node ------------------------------------------------------------- */

static bool may_use(const pai_sched *s, const pai__kept *k, const pai__req *r)
{
  if (k->only != 0)
    return pai__kept_lets(s, k, r);
  if (k->vc == PAI__NONE && k->user == PAI__NONE)
    return false;
  return (k->vc == PAI__NONE || k->vc == r->vc) &&
         (k->user == PAI__NONE || k->user == r->user);
}

static bool is_kept(const pai_sched *s, const pai__kept *k, uint32_t node)
{
  const uint64_t *bits;

  if (k->nodes == PAI__NONE)
    return true;
  bits = pai__pool_at(&s->pool, k->nodes);
  return pai__bits_has(bits, k->words, node);
}

pai_time pai__kept_until(const pai_sched *s, const pai__req *r, uint32_t node,
                         pai_time from, pai_time to)
{
  for (uint32_t i = 0; i < s->kept.len; i++) {
    const pai__kept *k = (pai__kept *)s->kept.data + i;

    if (k->name != PAI__NONE && k->to > from && k->from < to &&
        is_kept(s, k, node) && !may_use(s, k, r))
      return k->to;
  }
  return 0;
}

/* A request that would end before the reservation begins is let through. */
static bool is_kept_from(const pai_sched *s, const pai__req *r, uint32_t node)
{
  pai_time length = pai__req_length(r);
  pai_time end = length == 0 || s->m.now > INT64_MAX - length
                   ? INT64_MAX
                   : s->m.now + length;

  return pai__kept_until(s, r, node, s->m.now, end) != 0;
}

static inline uint32_t node_lack(const pai_sched *s, const pai__req *r,
                                 uint32_t node)
{
  const pai__room *n = pai__room_at(s, node);

  if (n->state != PAI_NODE_UP)
    return PAI_LACK_HEALTH;
  if (n->kept != 0 && is_kept_from(s, r, node))
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
  mask = pai__park_mask(s->park, node, type);
  *lack = PAI_LACK_TYPE;
  if (mask == 0 && (type != PAI__NONE || w->gpus != 0) &&
      (type == PAI__NONE || type < s->park->nkinds ||
       s->park->spots[node].build != type - s->park->nkinds))
    return 0;
  if (pin != PAI__NONE) {
    uint64_t pinned = pai__park_pinned(s->park, pin, node);

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

uint32_t pai__fit_room(const pai__fitting *f, const pai__want *w,
                       uint32_t node, uint64_t mask, uint64_t *free,
                       uint32_t *lack)
{
  const pai_sched *s = f->s;
  const pai__room *n = pai__room_at(s, node);
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
  if (w->cpus != 0) {
    part = n->cpus > 0 ? (uint32_t)n->cpus / w->cpus : 0;
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

/* --- which node ----------------------------------------------------------- */

/* A resource of a node as Kubernetes scores it. */
typedef struct scored {
  uint64_t used, all; /* all 0: nobody knows */
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

/* LeastAllocated, of 100. */
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

/* BalancedAllocation, of 100: less by the standard deviation of both parts,
 * rounded down.  There are few CPUs, and memory has at most 32 bits here. */
static uint64_t balanced(const scored *cpus, const scored *memory)
{
  uint64_t x = cpus->used * memory->all, y = memory->used * cpus->all;
  uint64_t all = cpus->all * memory->all;

  return all == 0 ? 100 : 100 - ((x > y ? x - y : y - x) * 50 + all - 1) / all;
}

/* As Kubernetes would by default with the task on the node: it looks at CPUs and
 * memory.  GPUs count where it knows of neither. */
static uint64_t kubernetes_score(const pai__fitting *f, const pai__want *w,
                                 uint32_t node, uint64_t free)
{
  const pai__build *b = pai__build_of(f->s->park, node);
  const pai__room *n = pai__room_at(f->s, node);
  scored list[] = { scored_of(n->cpus, w->cpus, b->cpus - b->first_cpu),
                    scored_of(n->memory, w->memory, b->memory) };
  scored gpus = scored_of(pai__bits_ones(free), w->gpus, b->gpus);

  if (list[0].all == 0 && list[1].all == 0)
    return least_allocated(&gpus, 1);
  /* What asks for nothing is not balanced. */
  return least_allocated(list, 2) +
         (w->cpus != 0 || w->memory != 0 ? balanced(&list[0], &list[1]) : 0);
}

/* GPUs that are nearer to one another: how many sizes of groups could hold the
 * task if they were free, and none of the node can. */
static uint32_t farness(const pai__fitting *f, const pai__want *w,
                        uint32_t node, uint64_t free)
{
  const pai__build *b = pai__build_of(f->s->park, node);
  uint32_t far = 0;

  if (w->gpus < 2 || f->ask->strategy != PAI_PLACE_TOPO)
    return 0;
  for (uint32_t i = 0; i < b->nnear && far < 15; i++)
    if (b->near[i].gpus >= w->gpus) {
      if (pai__has_group(b, free, b->near[i].gpus, w->gpus))
        break;
      far++;
    }
  return far;
}

uint64_t pai__fit_score(const pai__fitting *f, const pai__want *w,
                        uint32_t node, uint64_t free, uint32_t fits,
                        uint32_t left)
{
  const pai__room *n = pai__room_at(f->s, node);
  uint64_t gpus = pai__bits_ones(free);
  uint64_t cpus = n->cpus > 0 ? (uint64_t)n->cpus : 0;

  switch (f->ask->strategy) {
  case PAI_PLACE_FIRST: return 1;
  case PAI_PLACE_SPREAD: return (gpus << 32 | cpus) + 1;
  case PAI_PLACE_SCORE: return kubernetes_score(f, w, node, free) + 1;
  default: break;
  }
  /* Tasks without GPUs keep away from free ones. */
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

/* Only where all nodes are asked as they are is it all the same which one. */
pai__walk pai__walk_begin(const pai__fitting *f, const pai__area *a,
                          uint32_t from)
{
  pai__walk x = { .alike = 1, .at = from };

  x.shelves = a->nodes == NULL && f->pin == PAI__NONE && !f->ask->ideal &&
              pai__shelves_ready(f->s);
  if (x.shelves)
    x.at = f->s->shelves.first;
  return x;
}

bool pai__walk_next(const pai__fitting *f, const pai__area *a, pai__walk *x)
{
  const pai__shelf *shelf;

  if (!x->shelves) {
    if (x->at == a->n)
      return false;
    x->node = pai__area_node(a, x->at++);
    x->ones = pai__bits_ones(pai__room_at(f->s, x->node)->gpus);
    return true;
  }
  if (x->at == PAI__NONE)
    return false;
  shelf = pai__shelf_at(f->s, x->at);
  x->node = shelf->first;
  x->alike = shelf->count;
  x->ones = shelf->key.ones;
  x->at = shelf->next;
  return true;
}
