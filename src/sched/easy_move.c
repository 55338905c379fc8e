/*
 * easy_move.c - a long request on nodes that are promised, where the promise
 * can move to others
 *
 * The promise is a time.  Its nodes are the ones that were found for it, and
 * others may do as well.  What matters is how many tasks of the first request
 * the nodes will have room for at that time: each node is counted, now and
 * then, and the long request is placed where that number falls least.
 */
#include "sched/easy.h"
#include "sched/ends.h"

#include "resource/bits.h"
#include "sched/fit.h"

/* What is free of a node. */
typedef struct amounts {
  int64_t gpus, cpus, ports, memory;
} amounts;

typedef struct side {
  amounts now;  /* for the request that starts now */
  amounts then; /* when the promise begins, if nothing more starts */
} side;

/* More than this many steps are not tried: then the request waits. */
enum { MOST_STEPS = 1 << 18 };

static side *side_at(const pai__easy *e, uint32_t node)
{
  return (side *)e->sides.data + node;
}

/* --- the nodes ------------------------------------------------------------ */

static void add_run(const pai__easy *e, const pai_sched *s,
                    const pai__run *run)
{
  const pai__want *wants = pai__wants_of(s, pai__req_at(s, run->req));
  const pai__slot *slots = pai__slots_of(s, run);

  for (uint32_t i = 0; i < run->tasks; i++) {
    const pai__want *w = &wants[slots[i].want];
    amounts *a = &side_at(e, slots[i].node)->then;

    a->gpus +=
      pai__bits_ones(slots[i].gpus & ~pai__room_at(s, slots[i].node)->sick);
    a->cpus += w->cpus;
    a->ports += w->ports;
    a->memory += (int64_t)w->memory;
  }
}

/* PAI_OK or PAI_ENOMEM. */
static int count_sides(pai__easy *e, const pai_sched *s, pai_time start)
{
  e->sides.len = 0;
  if (pai__flat_reserve(&e->sides, &s->alloc, s->rooms.len) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&e->sides, s->rooms.len);
  for (uint32_t i = 0; i < s->rooms.len; i++) {
    const pai__room *room = pai__room_at(s, i);
    amounts a = { pai__bits_ones(room->gpus & ~room->sick), room->cpus,
                  room->ports, room->memory };

    *side_at(e, i) = (side){ a, a };
  }
  for (uint32_t i = 0; i < s->ends.len && pai__end_at(s, i)->at <= start; i++)
    add_run(e, s, pai__run_at(s, pai__end_at(s, i)->run));
  return PAI_OK;
}

static uint64_t least(uint64_t most, int64_t free, uint64_t each)
{
  uint64_t n = each == 0 ? most : free > 0 ? (uint64_t)free / each : 0;

  return n < most ? n : most;
}

/* Tasks of a want that have room. */
static uint32_t tasks_in(const amounts *a, const pai__want *w)
{
  uint64_t n = least(w->tasks, a->gpus, w->gpus);

  n = least(n, a->cpus, w->cpus);
  n = least(n, a->ports, w->ports);
  return (uint32_t)least(n, a->memory, w->memory);
}

static amounts without(const amounts *a, const pai__want *w, int64_t tasks)
{
  return (amounts){ a->gpus - tasks * w->gpus, a->cpus - tasks * w->cpus,
                    a->ports - tasks * w->ports,
                    a->memory - tasks * (int64_t)w->memory };
}

/* Equal tasks, all of which it needs, on any nodes. */
static bool is_simple(const pai_sched *s, const pai__req *r)
{
  const pai__want *w = pai__wants_of(s, r);
  const char *within = pai__texts_text(&s->names, r->within);

  return r->nwants == 1 && w->min_tasks == w->tasks &&
         (within == NULL || (w->tasks == 1 && strcmp(within, "node") == 0));
}

/* --- placing -------------------------------------------------------------- */

typedef struct moving {
  pai__easy *e;
  const pai_sched *s;
  const pai__req *head, *r;
  const pai__want *first, *w; /* theirs */
  uint32_t kind_first, kind;  /* of GPUs, where they leave it open */
  uint32_t spare; /* tasks of the first that more have room than there are */
  uint32_t most;  /* tasks on a node */
} moving;

static bool may_be_on(const moving *m, const pai__req *r, const pai__want *w,
                      uint32_t kind, uint32_t node)
{
  uint32_t lack;

  (void)pai__want_gpus(m->s, w, kind, PAI__NONE, node, &lack);
  return lack == PAI_LACK_NOTHING &&
         pai__req_node_lack(m->s, r, node) == PAI_LACK_NOTHING;
}

/* What so many of its tasks on a node cost: tasks of the first, and then how
 * empty the node is. */
static uint64_t cost(const moving *m, uint32_t node, uint32_t tasks)
{
  const side *x = side_at(m->e, node);
  amounts left = without(&x->then, m->w, tasks);
  uint64_t fewer = may_be_on(m, m->head, m->first, m->kind_first, node)
                     ? tasks_in(&x->then, m->first) - tasks_in(&left, m->first)
                     : 0;

  return tasks == 0 ? 0 : fewer << 32 | (uint64_t)(x->now.gpus + 1);
}

/* Of each node and each number of tasks up to it: how many are on that node, at
 * the least cost.  1: they have a place; 0; or PAI_ENOMEM. */
static int choose(const moving *m)
{
  uint32_t n = m->s->rooms.len, tasks = m->w->tasks;
  uint64_t *costs;
  uint32_t *taken;
  uint64_t steps = (uint64_t)n * (tasks + 1);

  if (steps * (m->most + 1) > MOST_STEPS)
    return 0;
  m->e->choices.len = m->e->costs.len = 0;
  if (pai__flat_reserve(&m->e->choices, &m->s->alloc, (uint32_t)steps) < 0 ||
      pai__flat_reserve(&m->e->costs, &m->s->alloc, tasks + 1) < 0)
    return PAI_ENOMEM;
  taken = m->e->choices.data;
  costs = m->e->costs.data;
  memset(costs, 0xff, (tasks + 1) * sizeof(*costs));
  costs[0] = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t fits = may_be_on(m, m->r, m->w, m->kind, i)
                      ? tasks_in(&side_at(m->e, i)->now, m->w)
                      : 0;

    for (uint32_t t = tasks + 1; t-- > 0;) {
      uint32_t *best = &taken[(size_t)i * (tasks + 1) + t];

      *best = 0;
      for (uint32_t k = 1; k <= fits && k <= t; k++)
        if (costs[t - k] != UINT64_MAX &&
            costs[t - k] + cost(m, i, k) < costs[t]) {
          costs[t] = costs[t - k] + cost(m, i, k);
          *best = k;
        }
    }
  }
  return costs[tasks] != UINT64_MAX && costs[tasks] >> 32 <= m->spare;
}

/* Their GPUs.  PAI_OK or PAI_ENOMEM. */
static int take_places(const moving *m, pai_sched *s)
{
  uint32_t tasks = m->w->tasks, left = tasks;
  const uint32_t *taken = m->e->choices.data;

  s->slots.len = 0;
  if (pai__flat_reserve(&s->slots, &s->alloc, tasks) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = s->rooms.len; i-- > 0 && left != 0;) {
    uint32_t k = taken[(size_t)i * (tasks + 1) + left];

    for (; k > 0; k--) {
      pai__room *room = pai__room_touch(s, i);
      uint64_t gpus = m->w->gpus != 0
                        ? pai__pick_gpus(pai__build_of(s->park, i),
                                         room->gpus & ~room->sick, m->w->gpus)
                        : 0;

      ((pai__slot *)s->slots.data)[--left] =
        (pai__slot){ .node = i, .gpus = gpus };
      pai__room_count(room, m->w, gpus);
    }
  }
  return PAI_OK;
}

/* Tasks of the first that have room then, beyond those that it has.  Without
 * any, and without another kind, the promise cannot move. */
static bool find_spare(moving *m, bool kinds)
{
  uint64_t sum = 0;

  for (uint32_t i = 0; i < m->s->rooms.len; i++)
    if (may_be_on(m, m->head, m->first, m->kind_first, i))
      sum += tasks_in(&side_at(m->e, i)->then, m->first);
  m->spare = sum > m->first->tasks ? (uint32_t)(sum - m->first->tasks) : 0;
  return m->spare != 0 || (kinds && sum == m->first->tasks);
}

/* Kinds that are to be tried one by one: of GPUs whose kind is left open. */
static uint32_t kinds_of(const pai_sched *s, const pai__want *w)
{
  return w->gpus != 0 && w->type == PAI__NONE && s->park->nkinds > 1
           ? s->park->nkinds
           : 1;
}

static int choose_kinds(moving *m)
{
  uint32_t heads = kinds_of(m->s, m->first), kinds = kinds_of(m->s, m->w);
  int rc = 0;

  for (uint32_t i = 0; i < heads && rc == 0; i++) {
    m->kind_first = heads > 1 ? i : PAI__NONE;
    if (!find_spare(m, heads > 1))
      continue;
    for (uint32_t k = 0; k < kinds && rc == 0; k++) {
      m->kind = kinds > 1 ? k : PAI__NONE;
      rc = choose(m);
    }
  }
  return rc;
}

int pai__easy_start_moving(pai__easy *e, pai_sched *s, uint32_t req,
                           uint32_t head, const pai__promise *p)
{
  moving m = { .e = e,
               .s = s,
               .head = pai__req_at(s, head),
               .r = pai__req_at(s, req),
               .first = pai__wants_of(s, pai__req_at(s, head)),
               .w = pai__wants_of(s, pai__req_at(s, req)) };
  int rc;

  if (!is_simple(s, m.head) || !is_simple(s, m.r))
    return 0;
  if (!e->counted && count_sides(e, s, p->start) < 0)
    return PAI_ENOMEM;
  e->counted = true;
  m.most = 0;
  for (uint32_t i = 0; i < s->rooms.len; i++) {
    uint32_t fits = tasks_in(&side_at(e, i)->now, m.w);

    m.most = fits > m.most ? fits : m.most;
  }
  rc = choose_kinds(&m);
  if (rc > 0)
    rc = take_places(&m, s) < 0 ? PAI_ENOMEM : 1;
  if (rc <= 0)
    return rc;
  rc = pai__start(s, req, m.w->tasks);
  return rc < 0 ? rc : 1;
}
