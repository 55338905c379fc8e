/* preempt.c - preemption of groups, lazily or by reserving their cells */
#include "sched/hived/engine.h"

/* --- lazily: groups only lose their virtual cells ------------------------- */

/* True if the group uses the leaf.  A leaf that another group has reserved
 * counts as that group's. */
static bool is_own(const pai__hived *h, uint32_t group, uint32_t leaf)
{
  return leaf != PAI__NOTHING && h->pleaves[leaf].user == group &&
         h->pleaves[leaf].state == PAI__LEAF_USED;
}

static void lose_virtual(pai__hived *h, uint32_t group, uint32_t by)
{
  pai__hived_group *g = &h->groups[group];
  const uint32_t *leaves = pai__words(h, g->physical);

  for (uint32_t i = 0; g->vcell != PAI__NOTHING && i < g->nleaves; i++) {
    if (leaves[i] != PAI__NOTHING && !is_own(h, group, leaves[i]))
      pai__mend(h, PAI__MENDED_Q17);
    if (!is_own(h, group, leaves[i]) || !h->pleaves[leaves[i]].guaranteed)
      continue;
    pai__release_leaf(h, leaves[i]);
    (void)pai__allocate_leaf(h, leaves[i], PAI__NOTHING, PAI__OPPORTUNISTIC);
  }
  g->was_lazy = true;
  g->lazy_at = h->now;
  h->names[by].uses++;
  if (g->by != PAI__NOTHING)
    pai__name_drop(h, g->by);
  g->by = by;
}

void pai__lazy_preempt(pai__hived *h, uint32_t group, uint32_t by)
{
  lose_virtual(h, group, by);
  pai__gang_drop_virtual(h, group);
}

void pai__lazy_try(pai__hived *h, uint32_t group, uint32_t by)
{
  lose_virtual(h, group, by);
  h->s.preempted[h->s.npreempted++] = group;
  h->groups[group].tried = h->groups[group].vcell;
  h->groups[group].vcell = PAI__NOTHING;
}

static void regain_virtual(pai__hived *h, uint32_t group)
{
  pai__hived_group *g = &h->groups[group];
  const uint32_t *leaves = pai__words(h, g->physical);

  g->vcell = g->tried;
  for (uint32_t i = 0; i < g->nleaves; i++) {
    if (!is_own(h, group, leaves[i]) || h->pleaves[leaves[i]].guaranteed ||
        pai__words(h, g->vcell)[i] == PAI__NOTHING)
      continue;
    pai__release_leaf(h, leaves[i]);
    pai__gang_allocate(h, group, i);
    pai__set_leaf_state(h, leaves[i], PAI__LEAF_USED);
  }
  g->was_lazy = false;
  pai__name_drop(h, g->by);
  g->by = PAI__NOTHING;
}

void pai__lazy_settle(pai__hived *h, bool undo)
{
  pai__scratch *s = &h->s;

  if (undo)
    pai__groups_sort(h, s->preempted, s->npreempted);
  for (uint32_t i = 0; i < s->npreempted; i++) {
    uint32_t group = s->preempted[i];

    if (undo)
      regain_virtual(h, group);
    else
      pai__hived_pool_give(h, h->groups[group].tried,
                           h->groups[group].nleaves);
  }
  s->npreempted = 0;
}

/* --- by reserving --------------------------------------------------------- */

static uint32_t collect(pai__hived *h, const uint32_t *leaves, uint32_t n,
                        bool user, uint32_t *out)
{
  uint32_t mark = ++h->marks, found = 0;

  for (uint32_t i = 0; i < n; i++) {
    const pai__pleaf *l;
    uint32_t group;

    if (leaves[i] == PAI__NOTHING)
      continue;
    l = &h->pleaves[leaves[i]];
    group = user ? l->user : l->reserving;
    if (group == PAI__NOTHING || h->groups[group].mark == mark)
      continue;
    h->groups[group].mark = mark;
    out[found++] = group;
  }
  return found;
}

void pai__find_victims(pai__hived *h, const uint32_t *leaves, uint32_t n)
{
  h->s.ngroups = collect(h, leaves, n, true, h->s.groups);
  h->s.nothers = collect(h, leaves, n, false, h->s.others);
}

void pai__preempt_begin(pai__hived *h, uint32_t group)
{
  const pai__hived_group *g = &h->groups[group];
  const uint32_t *leaves = pai__words(h, g->physical);

  for (uint32_t i = 0; i < g->nleaves; i++) {
    pai__pleaf *l = &h->pleaves[leaves[i]];
    bool used = l->state == PAI__LEAF_USED;

    if (used) {
      pai__release_leaf(h, leaves[i]);
      h->groups[l->user].state = PAI__GROUP_PREEMPTED;
      h->groups[l->user].reserved_of++;
      h->groups[l->user].was_preempted = true;
    }
    pai__gang_allocate(h, group, i);
    l->reserving = group;
    pai__set_leaf_state(h, leaves[i],
                        used ? PAI__LEAF_RESERVING : PAI__LEAF_RESERVED);
  }
}

/* The group that uses a leaf keeps it, or has lost it for good: it is reserved
 * no more. */
static void unreserve(pai__hived *h, const pai__pleaf *l)
{
  pai__hived_group *victim = &h->groups[l->user];

  if (--victim->reserved_of == 0)
    victim->state = PAI__GROUP_ALLOCATED;
}

void pai__preempt_cancel(pai__hived *h, uint32_t group)
{
  const pai__hived_group *g = &h->groups[group];
  const uint32_t *leaves = pai__words(h, g->physical);

  for (uint32_t i = 0; i < g->nleaves; i++) {
    pai__pleaf *l = &h->pleaves[leaves[i]];

    pai__release_leaf(h, leaves[i]);
    l->reserving = PAI__NOTHING;
    if (l->state == PAI__LEAF_RESERVED) {
      pai__set_leaf_state(h, leaves[i], PAI__LEAF_FREE);
      continue;
    }
    pai__gang_allocate(h, l->user, pai__gang_place(h, l->user, leaves[i]));
    pai__set_leaf_state(h, leaves[i], PAI__LEAF_USED);
    unreserve(h, l);
  }
  pai__gang_remove(h, group);
}

void pai__preempt_complete(pai__hived *h, uint32_t group)
{
  pai__hived_group *g = &h->groups[group];
  const uint32_t *leaves = pai__words(h, g->physical);

  for (uint32_t i = 0; i < g->nleaves; i++) {
    pai__pleaf *l = &h->pleaves[leaves[i]];

    if (l->state == PAI__LEAF_RESERVING)
      unreserve(h, l);
    l->reserving = PAI__NOTHING;
    l->user = group;
    pai__set_leaf_state(h, leaves[i], PAI__LEAF_USED);
  }
  g->state = PAI__GROUP_ALLOCATED;
  if (g->preempting != PAI__NOTHING)
    pai__hived_pool_give(h, g->preempting, 2u * g->preempting_cap);
  g->preempting = PAI__NOTHING;
  g->npreempting = g->preempting_cap = 0;
}
