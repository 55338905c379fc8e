/*
 * easy_move.c - starts a long request on promised nodes if the promise can
 * move to other nodes
 *
 * A promise is a time.  Its nodes are the ones found for it, but others may do
 * as well.  What matters is how many tasks of the first request the nodes have
 * room for at that time.  So each node is counted now and at that time, and
 * the long request is placed where that number decreases least.
 */
#include "sched/pick_gpus.h"
#include "sched/policy/backfill.h"
#include "sched/start.h"

#include "resource/bits.h"
#include "sched/fit.h"

typedef struct side {
  pai__amounts now;  /* free now, for the request that starts */
  pai__amounts then; /* free when the promise begins, if nothing more starts */
} side;

/* Limit of search steps: a request that needs more waits. */
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

  for (uint32_t i = 0; i < run->tasks; i++)
    pai__amounts_add_slot(
      &side_at(e, slots[i].node)->then, &wants[slots[i].want],
      slots[i].gpus & ~pai__free_capacity_at(s, slots[i].node)->sick);
}

/* Returns PAI_OK or PAI_ENOMEM. */
static int count_sides(pai__easy *e, const pai_sched *s, pai_time start)
{
  if (pai__flat_reset(&e->sides, &s->alloc, s->free_capacity.len) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < s->free_capacity.len; i++) {
    pai__amounts a = pai__free_capacity_amounts(pai__free_capacity_at(s, i));

    *side_at(e, i) = (side){ a, a };
  }
  for (uint32_t i = 0; i < s->ends.len && pai__end_at(s, i)->at <= start; i++)
    add_run(e, s, pai__run_at(s, pai__end_at(s, i)->run));
  return PAI_OK;
}

/* Number of tasks of a want that fit. */
static uint32_t tasks_in(const pai__amounts *a, const pai__want *w)
{
  return pai__amounts_tasks(a, w, w->tasks);
}

/* True if the request has equal tasks, needs all of them, and runs on any
 * nodes. */
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
  const pai__want *first, *w; /* their wants */
  uint32_t kind_first, kind;  /* kind of GPU to try, if they accept any */
  uint32_t spare; /* tasks of the first request that fit beyond those it has */
  uint32_t most;  /* most tasks that fit on a node */
} moving;

static bool may_be_on(const moving *m, const pai__req *r, const pai__want *w,
                      uint32_t kind, uint32_t node)
{
  uint32_t lack;

  (void)pai__want_gpus(m->s, w, kind, PAI__NONE, node, &lack);
  return lack == PAI_LACK_NOTHING &&
         pai__req_node_lack(m->s, r, node) == PAI_LACK_NOTHING;
}

/* Cost of so many tasks on a node: first, tasks of the first request that lose
 * their room; second, how empty the node is. */
static uint64_t cost(const moving *m, uint32_t node, uint32_t tasks)
{
  const side *x = side_at(m->e, node);
  pai__amounts left = x->then;
  uint64_t fewer = 0;

  pai__amounts_add(&left, m->w, -(int64_t)tasks, -(int64_t)tasks * m->w->gpus);
  if (may_be_on(m, m->head, m->first, m->kind_first, node))
    fewer = tasks_in(&x->then, m->first) - tasks_in(&left, m->first);
  return tasks == 0 ? 0 : fewer << 32 | (uint64_t)(x->now.gpus + 1);
}

/* Dynamic programming: for each node and number of tasks, how many go on that
 * node at the least cost.  Returns 1 if they have a place; 0; or
 * PAI_ENOMEM. */
static int choose(const moving *m)
{
  uint32_t n = m->s->free_capacity.len, tasks = m->w->tasks;
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

/* Takes GPUs for the chosen nodes.  Returns PAI_OK or PAI_ENOMEM. */
static int take_places(const moving *m, pai_sched *s)
{
  uint32_t tasks = m->w->tasks, left = tasks;
  const uint32_t *taken = m->e->choices.data;

  s->slots.len = 0;
  if (pai__flat_reserve(&s->slots, &s->alloc, tasks) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = s->free_capacity.len; i-- > 0 && left != 0;) {
    uint32_t k = taken[(size_t)i * (tasks + 1) + left];

    for (; k > 0; k--) {
      pai__free_capacity *capacity = pai__free_capacity_touch(s, i);
      uint64_t gpus =
        m->w->gpus != 0
          ? pai__pick_gpus(pai__sched_sku_of(s->cluster, i),
                           capacity->gpus & ~capacity->sick, m->w->gpus)
          : 0;

      ((pai__slot *)s->slots.data)[--left] =
        (pai__slot){ .node = i, .gpus = gpus };
      pai__free_capacity_count(capacity, m->w, gpus);
    }
  }
  return PAI_OK;
}

/* Counts tasks of the first request that fit beyond those it has.  If there
 * are none, and no other kind to try, the promise cannot move. */
static bool find_spare(moving *m, bool kinds)
{
  uint64_t sum = 0;

  for (uint32_t i = 0; i < m->s->free_capacity.len; i++)
    if (may_be_on(m, m->head, m->first, m->kind_first, i))
      sum += tasks_in(&side_at(m->e, i)->then, m->first);
  m->spare = sum > m->first->tasks ? (uint32_t)(sum - m->first->tasks) : 0;
  return m->spare != 0 || (kinds && sum == m->first->tasks);
}

/* Number of GPU kinds to try one by one. */
static uint32_t kinds_of(const pai_sched *s, const pai__want *w)
{
  return w->gpus != 0 && w->type == PAI__NONE && s->cluster->nkinds > 1
           ? s->cluster->nkinds
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
  for (uint32_t i = 0; i < s->free_capacity.len; i++) {
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
