/* check.c - what must hold, whichever policy decides */
#include "sched/check.h"

#include "resource/bits.h"
#include "sched/fit.h"

static uint64_t *book(const pai_sched *s, uint32_t node)
{
  return (uint64_t *)s->held.data + node;
}

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

static const char *check_slot(const pai_sched *s, const pai__slot *slot,
                              const pai__want *w)
{
  const pai__room *room = pai__room_at(s, slot->node);
  const pai__build *b = pai__build_of(s->park, slot->node);

  if (pai__bits_ones(slot->gpus) != w->gpus || (slot->gpus & ~b->all) != 0)
    return "a task has other GPUs than it wants";
  if ((slot->gpus & (*book(s, slot->node) | room->gpus)) != 0)
    return "a GPU is given twice";
  /* Claims may take what is still held by others. */
  if (s->claims.len == 0 &&
      (room->cpus < 0 || room->memory < 0 || room->ports < 0))
    return "a node gives more than it has";
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

const char *pai__check_start(pai_sched *s, const pai__run *run)
{
  const pai__req *r = pai__req_at(s, run->req);
  const pai__want *wants = pai__wants_of(s, r);
  const pai__slot *slots = pai__slots_of(s, run);
  const char *wrong = NULL;

  if (s->m.unchecked)
    return NULL;
  if (!is_whole(r, wants, slots, run->tasks))
    return "a gang is not whole";
  for (uint32_t i = 0; i < run->tasks && wrong == NULL; i++)
    wrong = check_slot(s, &slots[i], &wants[slots[i].want]);
  return wrong;
}

void pai__check_taken(pai_sched *s, const pai__run *run)
{
  const pai__slot *slots = pai__slots_of(s, run);

  for (uint32_t i = 0; i < run->tasks; i++)
    *book(s, slots[i].node) |= slots[i].gpus;
}

void pai__check_given(pai_sched *s, const pai__slot *slots, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    *book(s, slots[i].node) &= ~slots[i].gpus;
}

void pai__check_again(pai_sched *s)
{
  if (s->held.len != 0)
    memset(s->held.data, 0, (size_t)s->held.len * s->held.size);
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);

    if (run->req != PAI__NONE && run->state >= PAI__RUN_PLACED)
      pai__check_taken(s, run);
  }
}
