/*
 * check.c - what must hold, whichever policy decides
 *
 * The second book: of each node a mask of the GPUs that are given, masks of its
 * CPUs, and how many of its ports.  It is written task by task, so that two
 * tasks of one request are told apart as those of two requests are.
 */
#include "sched/check.h"

#include "resource/bits.h"
#include "sched/fit.h"

uint32_t pai__check_words(const pai__park *park)
{
  return 2 * park->nspots + park->cpu_words;
}

/* Of a node: its GPUs, how many ports, and its CPUs. */
static uint64_t *page(const pai_sched *s, uint32_t node)
{
  return (uint64_t *)s->held.data + (size_t)2 * node +
         s->park->spots[node].first_cpu_word;
}

enum { GPUS, PORTS, CPUS };

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
  return c->wants[slot->want].cpus != 0
           ? pai__build_of(c->s->park, slot->node)->cpu_words
           : 0;
}

/* --- booking -------------------------------------------------------------- */

static void book(const checked *c, const pai__slot *slot)
{
  uint64_t *to = page(c->s, slot->node);

  to[GPUS] |= slot->gpus;
  to[PORTS] += c->wants[slot->want].ports;
  for (uint32_t k = 0, n = cpu_words(c, slot); k < n; k++)
    to[CPUS + k] |= cpus_of(c, slot)[k];
}

static void unbook(const checked *c, const pai__slot *slot)
{
  uint64_t *to = page(c->s, slot->node);

  to[GPUS] &= ~slot->gpus;
  to[PORTS] -= c->wants[slot->want].ports;
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
  s->held.len = 0;
  (void)pai__flat_push(&s->held, pai__check_words(s->park));
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

/* As many tasks of each want as it may have, in their order. */
static bool is_whole(const pai__req *r, const pai__want *wants,
                     const pai__slot *slots, uint32_t tasks)
{
  uint32_t i = 0;

  for (uint32_t w = 0; w < r->nwants; w++) {
    uint32_t n = 0;

    for (; i < tasks && slots[i].want == w; i++)
      n++;
    if (n < wants[w].min_tasks || n > wants[w].tasks)
      return false;
  }
  return i == tasks;
}

/* How many they are is not counted again: that would cost more than all else
 * that is checked. */
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

/* Each is in use once; that nobody else has it follows from their number, once
 * all tasks are booked. */
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
  const pai__room *room = pai__room_at(c->s, slot->node);
  const pai__want *w = &c->wants[slot->want];
  uint32_t words = cpu_words(c, slot);
  const char *wrong = NULL;

  if (pai__bits_ones(slot->gpus) != w->gpus ||
      (slot->gpus & ~pai__build_of(c->s->park, slot->node)->all) != 0)
    return "a task has other GPUs than it wants";
  if ((slot->gpus & (page(c->s, slot->node)[GPUS] | room->gpus)) != 0)
    return "a GPU is given twice";
  if (words != 0)
    wrong = check_cpus(c, slot, words);
  if (wrong == NULL && w->ports != 0)
    wrong = check_ports(c, slot);
  /* Claims may take what is still held by others. */
  if (wrong == NULL && c->s->claims.len == 0 &&
      (room->cpus < 0 || room->memory < 0 || room->ports < 0))
    wrong = "a node gives more than it has";
  return wrong;
}

static const char *count_ports(const checked *c, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    if (c->wants[c->first[i].want].ports != 0 &&
        page(c->s, c->first[i].node)[PORTS] !=
          pai__room_at(c->s, c->first[i].node)->used.len)
      return "a port is given twice";
  return NULL;
}

/* Has it anything of which its virtual cluster has more than its share? */
bool pai__check_share(const pai_sched *s, const pai__run *run)
{
  const pai__req *r = pai__req_at(s, run->req);
  const pai__tenant *t = pai__tenant_at(s, r->tenant);
  const uint64_t *used = pai__shares_of(s, &s->shares_used, r->tenant);
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

  return !s->m.unchecked && !is_whole(r, pai__wants_of(s, r),
                                      pai__slots_of(s, run), run->tasks)
           ? "a gang is not whole"
           : pai__check_more(s, run);
}
