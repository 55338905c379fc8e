/*
 * check.c - checks that hold whichever policy decides
 *
 * Keeps its own records of what runs hold: for each node a mask of used GPUs,
 * the number of used ports, the CPUs that are shared, and a mask of exclusive
 * CPUs.  They are written task by task, so that two tasks of one request are
 * checked against each other as those of two requests are.
 */
#include "sched/start.h"

#include "resource/bits.h"
#include "sched/fit.h"

/* Words of the record of a node: mask of GPUs; number of ports; thousandths of
 * shared CPUs; and from CPUs on the mask of exclusive CPUs. */
enum { GPUS, PORTS, SHARED, CPUS };

uint32_t pai__check_words(const pai__sched_cluster *cluster)
{
  return CPUS * cluster->nnodes + cluster->cpu_words;
}

/* Returns the record of a node. */
static uint64_t *page(const pai_sched *s, uint32_t node)
{
  return (uint64_t *)s->held.data + (size_t)CPUS * node +
         s->cluster->nodes[node].first_cpu_word;
}

uint64_t pai__check_gpus(const pai_sched *s, uint32_t node)
{
  return page(s, node)[GPUS];
}

/* A run, or some of its tasks; `first` is its first slot. */
typedef struct checked {
  pai_sched *s;
  const pai__want *wants;
  const pai__slot *first;
} checked;

static checked checked_of(pai_sched *s, const pai__run *run)
{
  return (checked){ .s = s,
                    .wants = pai__wants_of(s, pai__req_at(s, run->req)),
                    .first = pai__slots_of(s, run) };
}

static const uint64_t *cpus_of(const checked *c, const pai__slot *slot)
{
  return (const uint64_t *)c->first + slot->cpus;
}

static uint32_t cpu_words(const checked *c, const pai__slot *slot)
{
  return pai__own_cpus(&c->wants[slot->want]) != 0
           ? pai__sched_sku_of(c->s->cluster, slot->node)->cpu_words
           : 0;
}

/* Returns the thousandths that a task has of shared CPUs; 0 if the node does
 * not count CPUs. */
static uint64_t shared_of(const checked *c, const pai__slot *slot)
{
  const pai__want *w = &c->wants[slot->want];

  return pai__own_cpus(w) == 0 &&
             pai__sched_sku_of(c->s->cluster, slot->node)->cpus
           ? w->cpu_millis
           : 0;
}

/* --- booking -------------------------------------------------------------- */

static void book(const checked *c, const pai__slot *slot)
{
  uint64_t *to = page(c->s, slot->node);

  to[GPUS] |= slot->gpus;
  to[PORTS] += c->wants[slot->want].ports;
  to[SHARED] += shared_of(c, slot);
  for (uint32_t k = 0, n = cpu_words(c, slot); k < n; k++)
    to[CPUS + k] |= cpus_of(c, slot)[k];
}

static void unbook(const checked *c, const pai__slot *slot)
{
  uint64_t *to = page(c->s, slot->node);

  to[GPUS] &= ~slot->gpus;
  to[PORTS] -= c->wants[slot->want].ports;
  to[SHARED] -= shared_of(c, slot);
  for (uint32_t k = 0, n = cpu_words(c, slot); k < n; k++)
    to[CPUS + k] &= ~cpus_of(c, slot)[k];
}

void pai__check_given(pai_sched *s, const pai__run *run, uint32_t from,
                      uint32_t n)
{
  checked c = checked_of(s, run);

  for (uint32_t i = from; i < from + n; i++)
    unbook(&c, &c.first[i]);
}

void pai__check_again(pai_sched *s)
{
  (void)pai__flat_reset(&s->held, &s->alloc, pai__check_words(s->cluster));
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    checked c;

    if (run->req == PAI__NONE || run->state < PAI__RUN_PLACED)
      continue;
    c = checked_of(s, run);
    for (uint32_t k = 0; k < run->tasks; k++)
      book(&c, &c.first[k]);
  }
}

/* --- checking ------------------------------------------------------------- */

/* Does not count the CPUs again: that would cost more than all other checks. */
static const char *check_cpus(const checked *c, const pai__slot *slot,
                              uint32_t words)
{
  const uint64_t *given = page(c->s, slot->node) + CPUS;
  const uint64_t *own = cpus_of(c, slot);
  uint64_t twice = 0;

  for (uint32_t k = 0; k < words; k++)
    twice |= own[k] & given[k];
  return twice != 0 ? "a CPU is given twice" : NULL;
}

/* Checks that the CPUs that are not exclusive suffice for the tasks that share
 * them.  Counts only if there are such tasks. */
static const char *check_shared(const checked *c, const pai__slot *slot)
{
  const uint64_t *given = page(c->s, slot->node);
  const pai__sched_sku *b = pai__sched_sku_of(c->s->cluster, slot->node);
  const uint64_t *own = cpus_of(c, slot);
  uint64_t shared = given[SHARED] + shared_of(c, slot);
  uint32_t left = b->cpus - b->first_cpu;

  if (shared == 0 || c->s->claims.len != 0)
    return NULL;
  left -= pai__bits_count(given + CPUS, b->cpu_words);
  left -= pai__bits_count(own, cpu_words(c, slot));
  return shared > (uint64_t)left * PAI__CPU ? "parts of CPUs are too many"
                                            : NULL;
}

/* Checks that each port is used once on its node.  That no other run has it
 * follows from the number of ports, once all tasks are recorded. */
static const char *check_ports(const checked *c, const pai__slot *slot)
{
  const uint32_t *ports =
    (const uint32_t *)((const uint64_t *)c->first + slot->ports);

  for (uint32_t k = 0; k < c->wants[slot->want].ports; k++)
    if (!pai__port_is_single(c->s, slot->node, ports[k]))
      return "a port is given twice";
  return NULL;
}

static const char *check_slot(const checked *c, const pai__slot *slot)
{
  const pai__free_capacity *capacity = pai__free_capacity_at(c->s, slot->node);
  const pai__want *w = &c->wants[slot->want];
  uint32_t words = cpu_words(c, slot);
  const char *wrong = NULL;

  if (pai__bits_ones(slot->gpus) != w->gpus ||
      (slot->gpus & ~pai__sched_sku_of(c->s->cluster, slot->node)->all) != 0)
    return "a task has other GPUs than it wants";
  if ((slot->gpus & (page(c->s, slot->node)[GPUS] | capacity->gpus)) != 0)
    return "a GPU is given twice";
  if (words != 0)
    wrong = check_cpus(c, slot, words);
  if (wrong == NULL)
    wrong = check_shared(c, slot);
  if (wrong == NULL && w->ports != 0)
    wrong = check_ports(c, slot);
  /* Claims may take what others still hold. */
  if (wrong == NULL && c->s->claims.len == 0 &&
      (capacity->cpu_millis < 0 || capacity->memory < 0 ||
       capacity->ports < 0))
    wrong = "a node gives more than it has";
  return wrong;
}

static const char *count_ports(const checked *c, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    if (c->wants[c->first[i].want].ports != 0 &&
        page(c->s, c->first[i].node)[PORTS] !=
          pai__free_capacity_at(c->s, c->first[i].node)->used.len)
      return "a port is given twice";
  return NULL;
}

/* Fails if the run holds something of which its virtual cluster exceeds its
 * share. */
bool pai__check_share(const pai_sched *s, const pai__run *run)
{
  const pai__req *r = pai__req_at(s, run->req);
  const pai__sched_vc *t = pai__sched_vc_at(s, r->vc_index);
  const uint64_t *used = pai__shares_of(s, &s->shares_used, r->vc_index);
  const pai__slot *slots = pai__slots_of(s, run);
  const pai__want *wants = pai__wants_of(s, r);

  if (run->borrowed || s->m.unchecked ||
      ((s->terms.lends || s->terms.own_shares) && !t->parted))
    return true;
  for (uint32_t k = 0; k < t->nshares; k++)
    for (uint32_t i = 0; used[k] > t->shares[k] && i < run->tasks; i++)
      if (pai__slot_share(s, &slots[i], &wants[slots[i].want], k) != 0)
        return false;
  return true;
}

const char *pai__check_more(pai_sched *s, const pai__run *run)
{
  checked c = checked_of(s, run);
  const char *wrong = NULL;
  uint32_t done = 0;

  while (done < run->tasks && wrong == NULL) {
    if (!s->m.unchecked)
      wrong = check_slot(&c, &c.first[done]);
    if (wrong == NULL)
      book(&c, &c.first[done++]);
  }
  if (wrong == NULL && !s->m.unchecked)
    wrong = count_ports(&c, run->tasks);
  while (wrong != NULL && done > 0)
    unbook(&c, &c.first[--done]);
  return wrong;
}

const char *pai__check_start(pai_sched *s, const pai__run *run)
{
  const pai__req *r = pai__req_at(s, run->req);
  uint32_t want;

  return !s->m.unchecked && (pai__slots_whole(s, r, pai__slots_of(s, run),
                                              run->tasks, &want) != 0 ||
                             want != r->nwants)
           ? "a gang is not whole"
           : pai__check_more(s, run);
}
