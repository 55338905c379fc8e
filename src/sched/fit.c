/*
 * fit.c - a place for a gang, or what it lacks
 *
 * Wants are placed one after the other, each task counted as it is placed: so
 * what one task takes the next does not find.  What is tried and fails is
 * given back before the next try.
 */
#include "sched/fit_node.h"
#include "sched/shelf.h"

#include "resource/bits.h"

/* Where a gang may be. */
typedef struct area {
  const uint32_t *nodes; /* NULL: the first n of all */
  uint32_t n;
  uint64_t mask; /* of the GPUs on each */
} area;

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

static uint32_t node_of(const area *a, uint32_t i)
{
  return a->nodes != NULL ? a->nodes[i] : i;
}

/* --- walks ---------------------------------------------------------------- */

/* Through the nodes of an area, or through one of each shelf of them: the first
 * of those that are alike. */
typedef struct walk {
  uint32_t node;
  uint32_t alike; /* nodes as this one, itself included */
  uint32_t at;    /* the next, in the area or a shelf */
  bool shelves;
} walk;

/* Only where all nodes are asked as they are is it all the same which one. */
static walk walk_begin(const pai__fitting *f, const area *a, uint32_t from)
{
  walk x = { .alike = 1, .at = from };

  x.shelves = a->nodes == NULL && f->pin == PAI__NONE && !f->ask->ideal &&
              pai__shelves_ready(f->s);
  if (x.shelves)
    x.at = f->s->shelves.first;
  return x;
}

static bool walk_next(const pai__fitting *f, const area *a, walk *x)
{
  const pai__shelf *shelf;

  if (!x->shelves) {
    if (x->at == a->n)
      return false;
    x->node = node_of(a, x->at++);
    return true;
  }
  if (x->at == PAI__NONE)
    return false;
  shelf = pai__shelf_at(f->s, x->at);
  x->node = shelf->first;
  x->alike = shelf->count;
  x->at = shelf->next;
  return true;
}

/* --- many tasks ----------------------------------------------------------- */

/* A node with room for some of them. */
typedef struct candidate {
  uint64_t points;
  uint32_t at; /* in the area */
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
static bool rate(const pai__fitting *f, const area *a, const pai__want *w,
                 candidate *c, uint64_t *free)
{
  uint32_t node = node_of(a, c->at), lack;

  c->fits = pai__fit_room(f, w, node, a->mask, free, &lack);
  if (c->fits != 0)
    c->points = pai__fit_score(f, w, node, *free, c->fits, UINT32_MAX);
  return c->fits != 0;
}

static uint32_t make_heap(const pai__fitting *f, const area *a,
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
static uint32_t place_most(pai__fitting *f, const area *a, uint32_t want,
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
    put(f, want, node_of(a, heap[0].at), free, part);
    tasks -= part;
    if (!rate(f, a, w, &heap[0], &free))
      heap[0] = heap[--n];
    sink(heap, n, 0);
  }
  return tasks;
}

/* As few are looked for one by one. */
enum { FEW_TASKS = 3 };

static bool is_worth_a_heap(const pai__fitting *f, const area *a,
                            uint32_t tasks)
{
  if (tasks <= FEW_TASKS || f->ask->strategy == PAI_PLACE_FIRST || a->n <= 1)
    return false;
  return !walk_begin(f, a, 0).shelves ||
         (uint64_t)tasks * f->s->shelves.live > a->n;
}

/* A node for the next tasks of a want. */
typedef struct choice {
  uint64_t points, free; /* 0 points: there is none */
  uint32_t node, fits;
  uint32_t at; /* in the area */
} choice;

/* The best one, the first of equals. */
static choice choose(const pai__fitting *f, const area *a, const pai__want *w,
                     uint32_t from, uint32_t tasks)
{
  choice best = { 0 };

  for (walk x = walk_begin(f, a, from); walk_next(f, a, &x);) {
    uint64_t free, points;
    uint32_t lack, fits = pai__fit_room(f, w, x.node, a->mask, &free, &lack);

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

static bool place_want(pai__fitting *f, const area *a, uint32_t want,
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

void pai__unfit(pai_sched *s, const pai__req *r, uint32_t n)
{
  const pai__want *wants = pai__wants_of(s, r);
  const pai__slot *slots = s->slots.data;

  for (uint32_t i = 0; i < n; i++)
    pai__room_uncount(pai__room_touch(s, slots[i].node), &wants[slots[i].want],
                      slots[i].gpus);
}

static uint32_t tasks_of(const pai__fitting *f, uint32_t want)
{
  return f->ask->tasks != NULL ? f->ask->tasks[want] : f->wants[want].tasks;
}

/* All wants, or the index of the one that lacks something. */
static uint32_t place_all(pai__fitting *f, const area *a)
{
  for (uint32_t w = 0; w < f->req->nwants; w++)
    if (!place_want(f, a, w, tasks_of(f, w)))
      return w;
  return PAI__NONE;
}

/* --- shares --------------------------------------------------------------- */

uint64_t pai__share_left(const pai_sched *s, uint32_t tenant, uint32_t kind)
{
  const pai__tenant *t = &s->park->tenants[tenant];
  uint64_t used;

  if (t->gpus == NULL)
    return UINT64_MAX;
  used = ((uint64_t *)s->gpus_used.data)[tenant * s->park->nkinds + kind];
  return t->gpus[kind] > used ? t->gpus[kind] - used : 0;
}

/* Does what was placed keep to the share?  Else what of it lacks is told. */
static bool keeps_share(pai__fitting *f)
{
  pai_sched *s = f->s;
  const pai__slot *slots = s->slots.data;

  if (f->ask->beyond_share || f->req->priority < 0 ||
      s->park->tenants[f->req->tenant].gpus == NULL)
    return true;
  for (uint32_t k = 0; k < s->park->nkinds; k++) {
    uint64_t left = f->ask->ideal ? s->park->tenants[f->req->tenant].gpus[k]
                                  : pai__share_left(s, f->req->tenant, k);
    uint64_t taken = 0;

    for (uint32_t i = 0; i < f->placed; i++)
      taken += pai__bits_ones(slots[i].gpus &
                              pai__build_of(s->park, slots[i].node)->kinds[k]);
    if (taken > left) {
      f->why->lack = PAI_LACK_QUOTA;
      f->why->wanted = taken;
      f->why->found = left;
      return false;
    }
  }
  return true;
}

/* --- what lacks ----------------------------------------------------------- */

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

/* Why the next task of a want has no place: called with all that was placed
 * before it still there. */
static void blame(pai__fitting *f, const area *a, uint32_t want)
{
  const pai__want *w = &f->wants[want];
  pai__why *why = f->why;
  uint64_t nearest = 0, sum = 0, free;

  *why = (pai__why){ .node = PAI__NONE, .text = PAI__NONE };
  why->want = want;
  why->placed = f->placed;
  why->tasks = f->total;
  for (walk x = walk_begin(f, a, 0); walk_next(f, a, &x);) {
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

/* --- areas ---------------------------------------------------------------- */

/* In one area; what was placed is undone if it fails. */
static bool try_area(pai__fitting *f, const area *a, bool tell)
{
  uint32_t want;

  f->placed = 0;
  want = place_all(f, a);
  if (want == PAI__NONE && keeps_share(f))
    return true;
  if (want != PAI__NONE && tell)
    blame(f, a, want);
  pai__unfit(f->s, f->req, f->placed);
  f->placed = 0;
  return false;
}

static uint32_t nodes_placed(const pai__fitting *f)
{
  const pai__slot *slots = f->s->slots.data;
  uint32_t n = 0;

  /* Tasks of a want on one node lie side by side. */
  for (uint32_t i = 0; i < f->placed; i++)
    n += i == 0 || slots[i].node != slots[i - 1].node;
  return n;
}

static area rack(const pai__fitting *f, uint32_t r)
{
  const pai__park *park = f->s->park;

  return (area){ park->by_rack + park->rack_first[r],
                 park->rack_first[r + 1] - park->rack_first[r], UINT64_MAX };
}

/* The rack where it needs the fewest nodes, and fewer than `below`. */
static bool try_racks(pai__fitting *f, uint32_t below)
{
  uint32_t best = PAI__NONE;

  for (uint32_t r = 0; r < f->s->park->nracks; r++) {
    area a = rack(f, r);

    if ((f->node != PAI__NONE && f->s->park->spots[f->node].rack != r) ||
        !try_area(f, &a, false))
      continue;
    if (nodes_placed(f) < below) {
      below = nodes_placed(f);
      best = r;
    }
    pai__unfit(f->s, f->req, f->placed);
  }
  if (best == PAI__NONE)
    return false;
  return try_area(
    f, &(area){ rack(f, best).nodes, rack(f, best).n, UINT64_MAX }, false);
}

/* Has any want no room for all of it there, all else being away? */
static bool hopeless(const pai__fitting *f, uint32_t node, uint64_t mask)
{
  uint64_t free;
  uint32_t lack;

  for (uint32_t w = 0; w < f->req->nwants; w++)
    if (tasks_of(f, w) != 0 && pai__fit_room(f, &f->wants[w], node, mask,
                                             &free, &lack) < tasks_of(f, w))
      return true;
  return false;
}

/* The fullest node on which all of it has room. */
static bool try_nodes(pai__fitting *f)
{
  area all = { NULL, f->s->park->nspots, UINT64_MAX };
  uint32_t best = PAI__NONE, most = UINT32_MAX;

  if (f->node != PAI__NONE)
    return try_area(f, &(area){ &f->node, 1, UINT64_MAX }, false);
  for (walk x = walk_begin(f, &all, 0); walk_next(f, &all, &x);) {
    area a = { &x.node, 1, UINT64_MAX };
    uint32_t free = f->ask->strategy != PAI_PLACE_FIRST
                      ? pai__bits_ones(pai__room_at(f->s, x.node)->gpus)
                      : 0;

    if (free > most || (free == most && x.node > best) ||
        hopeless(f, x.node, UINT64_MAX) || !try_area(f, &a, false))
      continue;
    pai__unfit(f->s, f->req, f->placed);
    most = free;
    best = x.node;
  }
  return best != PAI__NONE &&
         try_area(f, &(area){ &best, 1, UINT64_MAX }, false);
}

/* On one node, or in one rack unless fewer nodes are needed without that. */
static bool try_near(pai__fitting *f, const area *all)
{
  uint32_t nodes;

  if (try_nodes(f))
    return true;
  if (f->s->park->nracks < 2 || !try_area(f, all, false))
    return false;
  nodes = nodes_placed(f);
  pai__unfit(f->s, f->req, f->placed);
  return try_racks(f, nodes + 1);
}

/* Groups of that name of one node. */
static bool try_groups_of(pai__fitting *f, uint32_t node, const char *name)
{
  const pai__build *b = pai__build_of(f->s->park, node);

  for (uint32_t i = 0; i < b->nnear; i++) {
    uint32_t size = b->near[i].gpus;

    if (strcmp(b->near[i].name, name) != 0)
      continue;
    for (uint32_t at = 0; at < b->gpus; at += size) {
      uint32_t end = at + size < b->gpus ? at + size : b->gpus;
      area a = { &node, 1, pai__bits_mask(at, end - 1) };

      if (f->gpus != 0 && (f->gpus & a.mask) == 0)
        continue;
      if (!hopeless(f, node, a.mask) && try_area(f, &a, false))
        return true;
    }
  }
  return false;
}

static bool try_within(pai__fitting *f, const char *within)
{
  if (strcmp(within, "node") == 0)
    return try_nodes(f);
  if (strcmp(within, "rack") == 0)
    return try_racks(f, UINT32_MAX);
  for (uint32_t i = 0; i < f->s->park->nspots; i++)
    if ((f->node == PAI__NONE || f->node == i) && try_groups_of(f, i, within))
      return true;
  return false;
}

/* --- the whole ------------------------------------------------------------ */

static bool try_all(pai__fitting *f)
{
  const pai__park *park = f->s->park;
  const char *within = pai__texts_text(&f->s->names, f->req->within);
  area all = { NULL, park->nspots, UINT64_MAX };

  if (within != NULL) {
    if (try_within(f, within))
      return true;
    /* It may lack more than being together. */
    if (try_area(f, &all, true)) {
      pai__unfit(f->s, f->req, f->placed);
      *f->why = (pai__why){ .lack = PAI_LACK_TOPOLOGY,
                            .tasks = f->total,
                            .node = PAI__NONE,
                            .text = f->req->within };
      f->why->failed[PAI_LACK_TOPOLOGY] = park->nspots;
    }
    return false;
  }
  if (f->ask->strategy == PAI_PLACE_TOPO && f->total > 1 && try_near(f, &all))
    return true;
  return try_area(f, &all, true);
}

static bool has_open_want(const pai__fitting *f)
{
  for (uint32_t w = 0; w < f->req->nwants; w++)
    if (f->wants[w].type == PAI__NONE && f->wants[w].gpus != 0)
      return true;
  return false;
}

static bool is_nearer(const pai__why *a, const pai__why *b)
{
  return a->lack != b->lack ? a->lack > b->lack : a->found > b->found;
}

/* A node without GPUs of one kind may have lacked something with those of
 * another: it is counted once, for that. */
static void count_kinds(const pai__fitting *f, pai__why *why,
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

/* Wants that leave it open get one kind, the first with room for them; what
 * lacks is told of the kind that came nearest. */
static bool try_kinds(pai__fitting *f)
{
  pai__why *why = f->why, nearest = { 0 };
  uint32_t failed[PAI_LACKS] = { 0 };

  if (f->kind != PAI__NONE || f->s->park->nkinds < 2 || !has_open_want(f))
    return try_all(f);
  f->why = &f->of_kind;
  for (f->kind = 0; f->kind < f->s->park->nkinds; f->kind++) {
    f->of_kind = (pai__why){ .node = PAI__NONE, .text = PAI__NONE };
    if (try_all(f))
      return true;
    if (is_nearer(&f->of_kind, &nearest))
      nearest = f->of_kind;
    for (uint32_t l = 0; l < PAI_LACKS; l++)
      failed[l] += f->of_kind.failed[l];
  }
  count_kinds(f, &nearest, failed);
  *why = nearest;
  return false;
}

void pai__fit_init(pai_sched *s)
{
  pai__flat_init(&s->candidates, sizeof(candidate));
}

/* Where the rest of it is, there it must be, too; and of that kind. */
static void keep_together(pai__fitting *f, const pai__run *run)
{
  const pai__park *park = f->s->park;
  const pai__slot *slots = pai__slots_of(f->s, run);

  f->node = slots[0].node;
  for (uint32_t i = 0; i < run->tasks; i++) {
    const uint64_t *kinds = pai__build_of(park, slots[i].node)->kinds;

    if (slots[i].node == f->node)
      f->gpus |= slots[i].gpus;
    if (slots[i].gpus == 0 || f->wants[slots[i].want].type != PAI__NONE)
      continue;
    f->kind = 0;
    while (f->kind + 1 < park->nkinds && !(kinds[f->kind] & slots[i].gpus))
      f->kind++;
  }
}

int pai__fit_gang(pai_sched *s, const pai__ask *ask, uint32_t *n,
                  pai__why *why)
{
  const pai__req *r = pai__req_at(s, ask->req);
  pai__fitting f = { .s = s,
                     .ask = ask,
                     .req = r,
                     .wants = pai__wants_of(s, r),
                     .pin = PAI__NONE,
                     .node = PAI__NONE,
                     .kind = PAI__NONE,
                     .why = why };

  *why = (pai__why){ .node = PAI__NONE, .text = PAI__NONE };
  for (uint32_t w = 0; w < r->nwants; w++)
    f.total += tasks_of(&f, w);
  s->slots.len = 0;
  if (pai__flat_reserve(&s->slots, &s->alloc, f.total) < 0)
    return PAI_ENOMEM;
  if (r->pin != PAI__NONE) {
    f.pin = pai__park_pin(s->park, pai__texts_text(&s->names, r->pin));
    if (f.pin == PAI__NONE) {
      why->lack = PAI_LACK_PIN;
      why->failed[PAI_LACK_PIN] = s->park->nspots;
      return 0;
    }
  }
  if (ask->beside != NULL)
    keep_together(&f, ask->beside);
  if (!try_kinds(&f))
    return 0;
  *n = f.placed;
  return 1;
}
