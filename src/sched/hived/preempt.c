/* preempt.c - groups that take the cells of others */
#include "sched/hived/engine.h"

/* --- lazily: the others only lose what they were promised ----------------- */

/* Cells that somebody reserves are his already. */
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
  pai__scratch *s = &h->s;

  lose_virtual(h, group, by);
  s->preempted[2u * s->npreempted] = group;
  s->preempted[2u * s->npreempted + 1] = h->groups[group].vcell;
  s->npreempted++;
  h->groups[group].vcell = PAI__NOTHING;
}

static void regain_virtual(pai__hived *h, uint32_t group, uint32_t vcell)
{
  pai__hived_group *g = &h->groups[group];
  const uint32_t *leaves = pai__words(h, g->physical);

  g->vcell = vcell;
  for (uint32_t i = 0; i < g->nleaves; i++) {
    if (!is_own(h, group, leaves[i]) || h->pleaves[leaves[i]].guaranteed ||
        pai__words(h, vcell)[i] == PAI__NOTHING)
      continue;
    pai__release_leaf(h, leaves[i]);
    pai__gang_allocate(h, group, i);
    pai__set_leaf_state(h, leaves[i], PAI__LEAF_USED);
  }
  g->was_lazy = false;
  pai__name_drop(h, g->by);
  g->by = PAI__NOTHING;
}

/* By their names. */
static void sort_tried(const pai__hived *h, uint32_t *pairs, uint32_t n)
{
  for (uint32_t i = 1; i < n; i++) {
    uint32_t group = pairs[2u * i], vcell = pairs[2u * i + 1], k = i;
    const char *name = pai__hived_group_name(h, group);

    for (; k > 0 &&
           strcmp(pai__hived_group_name(h, pairs[2u * k - 2]), name) > 0;
         k--) {
      pairs[2u * k] = pairs[2u * k - 2];
      pairs[2u * k + 1] = pairs[2u * k - 1];
    }
    pairs[2u * k] = group;
    pairs[2u * k + 1] = vcell;
  }
}

void pai__lazy_settle(pai__hived *h, bool undo)
{
  pai__scratch *s = &h->s;

  if (undo)
    sort_tried(h, s->preempted, s->npreempted);
  for (uint32_t i = 0; i < s->npreempted; i++) {
    uint32_t group = s->preempted[2u * i];
    uint32_t vcell = s->preempted[2u * i + 1];

    if (undo)
      regain_virtual(h, group, vcell);
    else
      pai__hived_pool_give(&h->pool, vcell, h->groups[group].nleaves);
  }
  s->npreempted = 0;
}

/* --- for good ------------------------------------------------------------- */

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

/* The group that uses a leaf has it back, or keeps it. */
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
    pai__hived_pool_give(&h->pool, g->preempting, 2u * g->preempting_cap);
  g->preempting = PAI__NOTHING;
  g->npreempting = g->preempting_cap = 0;
}
