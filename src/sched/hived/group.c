/* group.c - groups of the HiveD engine, stored in its pool */
#include "sched/hived/engine.h"

uint32_t pai__hived_find_group(const pai__hived *h, const char *name,
                               size_t len)
{
  uint32_t text = pai__name_find(h, name, len);

  return text != PAI__NOTHING ? h->names[text].group : PAI__NOTHING;
}

int pai__gang_reserve(pai__hived *h, const pai__hived_request *r)
{
  pai__hived_sums s = pai__hived_before(r->members, r->nmembers, 0);
  size_t words = r->group_len / sizeof(uint32_t) + 1 + 2u * r->nmembers +
                 (size_t)s.leaves * (2 + PAI__SPOT_WORDS) +
                 (size_t)s.pods * PAI__SLOT_WORDS + 8;

  if (pai__names_reserve(h, r->group_len) < 0 ||
      pai__hived_pool_reserve(h, words, 7) < 0)
    return PAI_ENOMEM;
  if (h->free_group == PAI__NOTHING)
    return PAI__VEC_ROOM(&h->alloc, h->groups, h->ngroups, h->groups_cap);
  return PAI_OK;
}

uint32_t pai__gang_add(pai__hived *h, const pai__hived_request *r)
{
  pai__hived_sums s = pai__hived_before(r->members, r->nmembers, 0);
  uint32_t at = h->free_group;
  pai__hived_group *g;

  if (at != PAI__NOTHING)
    h->free_group = h->groups[at].name;
  else
    at = (uint32_t)h->ngroups++;
  g = &h->groups[at];
  *g = (pai__hived_group){ .vc = r->vc,
                           .priority = r->priority,
                           .lazy = r->lazy,
                           .by = PAI__NOTHING,
                           .nsizes = r->nmembers,
                           .npods = s.pods,
                           .nleaves = s.leaves,
                           .vcell = PAI__NOTHING,
                           .spots = PAI__NOTHING,
                           .preempting = PAI__NOTHING };
  g->name = pai__name_use(h, r->group, r->group_len);
  h->names[g->name].group = at;
  g->sizes = pai__hived_pool_take(h, 2u * r->nmembers);
  g->physical = pai__hived_pool_take(h, s.leaves);
  g->slots = pai__hived_pool_take(h, (size_t)s.pods * PAI__SLOT_WORDS);
  memcpy(pai__words(h, g->sizes), r->members,
         r->nmembers * sizeof(*r->members));
  memset(pai__words(h, g->slots), 0, s.pods * sizeof(pai__hived_slot));
  h->live_groups++;
  return at;
}

void pai__gang_drop_virtual(pai__hived *h, uint32_t group)
{
  pai__hived_group *g = &h->groups[group];

  if (g->vcell != PAI__NOTHING)
    pai__hived_pool_give(h, g->vcell, g->nleaves);
  g->vcell = PAI__NOTHING;
}

void pai__gang_remove(pai__hived *h, uint32_t group)
{
  pai__hived_group *g = &h->groups[group];

  pai__gang_drop_virtual(h, group);
  pai__hived_pool_give(h, g->sizes, 2u * g->nsizes);
  pai__hived_pool_give(h, g->physical, g->nleaves);
  pai__hived_pool_give(h, g->slots, (size_t)g->npods * PAI__SLOT_WORDS);
  if (g->spots != PAI__NOTHING)
    pai__hived_pool_give(h, g->spots, (size_t)g->nleaves * PAI__SPOT_WORDS);
  if (g->preempting != PAI__NOTHING)
    pai__hived_pool_give(h, g->preempting, 2u * g->preempting_cap);
  h->names[g->name].group = PAI__NOTHING;
  pai__name_drop(h, g->name);
  if (g->by != PAI__NOTHING)
    pai__name_drop(h, g->by);
  *g = (pai__hived_group){ .name = h->free_group };
  h->free_group = group;
  h->live_groups--;
}

pai__hived_slot *pai__gang_slots(const pai__hived *h, uint32_t group)
{
  return (pai__hived_slot *)pai__words(h, h->groups[group].slots);
}

uint32_t pai__gang_slot(const pai__hived *h, uint32_t group, uint32_t size,
                        uint32_t index)
{
  const pai__hived_group *g = &h->groups[group];
  const pai__hived_member *sizes =
    (const pai__hived_member *)pai__words(h, g->sizes);
  pai__hived_sums s = pai__hived_before(sizes, g->nsizes, size);

  return s.members < g->nsizes && index < sizes[s.members].pods
           ? s.pods + index
           : PAI__NOTHING;
}

uint32_t pai__gang_place(const pai__hived *h, uint32_t group, uint32_t leaf)
{
  const pai__hived_group *g = &h->groups[group];
  const uint32_t *physical = pai__words(h, g->physical);

  for (uint32_t i = 0; i < g->nleaves; i++)
    if (physical[i] == leaf)
      return i;
  return PAI__NOTHING;
}

/* --- pods that wait for victims ------------------------------------------- */

int pai__gang_add_preempting(pai__hived *h, uint32_t group, uint64_t pod)
{
  pai__hived_group *g = &h->groups[group];
  uint32_t *list = NULL;

  if (g->preempting != PAI__NOTHING)
    list = pai__words(h, g->preempting);
  for (uint32_t i = 0; list != NULL && i < g->npreempting; i++)
    if (list[2u * i] == (uint32_t)pod && list[2u * i + 1] == pod >> 32)
      return PAI_OK;
  if (g->npreempting == g->preempting_cap) {
    uint32_t cap = g->preempting_cap > 0 ? 2 * g->preempting_cap : 2, at;

    if (pai__hived_pool_reserve(h, 2u * (size_t)cap, 1) < 0)
      return PAI_ENOMEM;
    at = pai__hived_pool_take(h, 2u * (size_t)cap);
    if (g->npreempting > 0) {
      memcpy(pai__words(h, at), pai__words(h, g->preempting),
             2 * sizeof(*list) * g->npreempting);
      pai__hived_pool_give(h, g->preempting, 2u * g->preempting_cap);
    }
    g->preempting = at;
    g->preempting_cap = cap;
  }
  list = pai__words(h, g->preempting);
  list[2u * g->npreempting] = (uint32_t)pod;
  list[2u * g->npreempting + 1] = (uint32_t)(pod >> 32);
  g->npreempting++;
  return PAI_OK;
}

bool pai__gang_remove_preempting(pai__hived *h, uint32_t group, uint64_t pod)
{
  pai__hived_group *g = &h->groups[group];
  uint32_t *list, i = 0;

  if (g->npreempting == 0)
    return false;
  list = pai__words(h, g->preempting);
  while (i < g->npreempting &&
         (list[2u * i] != (uint32_t)pod || list[2u * i + 1] != pod >> 32))
    i++;
  if (i == g->npreempting)
    return false;
  memmove(list + 2u * i, list + 2u * (i + 1),
          2 * sizeof(*list) * (g->npreempting - i - 1));
  g->npreempting--;
  return true;
}

/* --- names of groups ------------------------------------------------------ */

void pai__groups_sort(const pai__hived *h, uint32_t *groups, uint32_t n)
{
  for (uint32_t i = 1; i < n; i++) {
    uint32_t group = groups[i], k = i;
    const char *name = pai__hived_group_name(h, group);

    for (; k > 0 && strcmp(pai__hived_group_name(h, groups[k - 1]), name) > 0;
         k--)
      groups[k] = groups[k - 1];
    groups[k] = group;
  }
}

size_t pai__groups_named(const pai__hived *h, pai__named *out)
{
  size_t n = 0;

  for (uint32_t i = 0; i < h->ngroups; i++)
    if (h->groups[i].state != PAI__GROUP_GONE)
      out[n++] = (pai__named){ pai__hived_group_name(h, i), i };
  pai__sort_names(out, n);
  return n;
}

const char *pai__hived_group_name(const pai__hived *h, uint32_t group)
{
  return pai__name_text(h, h->groups[group].name);
}

bool pai__hived_next_pod(const pai__hived *h, uint32_t group, uint32_t *i,
                         uint64_t *pod, uint32_t *node)
{
  const pai__hived_slot *slots = pai__gang_slots(h, group);

  for (; *i < h->groups[group].npods; ++*i) {
    *pod = (uint64_t)slots[*i].high << 32 | slots[*i].low;
    *node = slots[*i].node;
    if (*pod != 0) {
      ++*i;
      return true;
    }
  }
  return false;
}
