/* hived_count.c - what HiveD's engine counts, counted again */
#include "sched/hived_count.h"

#include <stdlib.h>

/* --- the free list -------------------------------------------------------- */

static bool is_free(const pai__hived *h, uint32_t cell)
{
  const pai__pcell *c = &h->pcells[cell];

  return c->bound == PAI__NOTHING && !pai__is_split(c) &&
         (c->parent == PAI__NOTHING || pai__is_split(&h->pcells[c->parent]));
}

static bool is_listed(const pai__hived *h, uint32_t first, uint32_t n,
                      uint32_t at, uint32_t cell)
{
  return at < n && h->lists[first + at] == cell;
}

static bool is_in_free(const pai__hived *h, uint32_t cell)
{
  for (; cell != PAI__NOTHING; cell = h->pcells[cell].parent)
    if (is_free(h, cell))
      return true;
  return false;
}

static const char *check_lists(const pai__hived *h)
{
  for (uint32_t i = 0; i < h->nlevels; i++) {
    const pai__hived_level *l = &h->levels[i];

    for (uint32_t k = 0; k < l->nfree; k++)
      if (!is_free(h, h->lists[l->free + k]))
        return "a cell is listed as free";
    for (uint32_t k = 0; k < l->nsick; k++)
      if (!is_in_free(h, h->lists[l->sick_free + k]) ||
          !pai__is_sick(&h->pcells[h->lists[l->sick_free + k]]))
        return "a cell is listed as sick and free";
  }
  for (uint32_t i = 0; i < h->npcells; i++) {
    const pai__pcell *c = &h->pcells[i];
    const pai__hived_level *l =
      &h->levels[h->chains[c->chain].level + c->level - 1];

    if (is_free(h, i) != is_listed(h, l->free, l->nfree, c->at_free, i))
      return "a cell is free, or listed as that, and not both";
    if ((pai__is_sick(c) && is_in_free(h, i)) !=
        is_listed(h, l->sick_free, l->nsick, c->at_sick, i))
      return "a sick cell is free, or listed as that, and not both";
    if (pai__is_sick(c) && !is_in_free(h, i) && c->bound == PAI__NOTHING &&
        !pai__is_split(c))
      return "a sick cell of somebody is not bound";
  }
  return NULL;
}

static const char *check_levels(const pai__hived *h)
{
  int32_t *left = calloc(h->nlevels, sizeof(*left));
  int32_t *wanted = calloc(h->nlevels, sizeof(*wanted));
  const char *wrong = NULL;

  assert_non_null(left);
  assert_non_null(wanted);
  for (uint32_t i = 0; i < h->npcells; i++)
    left[h->chains[h->pcells[i].chain].level + h->pcells[i].level - 1] +=
      is_in_free(h, i);
  for (uint32_t i = 0; i < h->npairs; i++) {
    const pai__hived_chain *chain = &h->chains[h->pairs[i].chain];

    for (uint32_t k = 0; k < chain->levels; k++) {
      const pai__pair_level *l = &h->pair_levels[h->pairs[i].level + k];
      int32_t unbound = 0;

      for (uint32_t j = 0; j < l->nroots; j++)
        unbound += h->vcells[h->roots[l->roots + j]].bound == PAI__NOTHING;
      if (unbound != l->free)
        wrong = "another number of preassigned cells is free";
      wanted[chain->level + k] += l->free;
      for (uint32_t j = 0; j < l->ndoomed; j++) {
        const pai__pcell *c = &h->pcells[h->lists[l->doomed + j]];

        if (c->at_doomed != j || c->bound == PAI__NOTHING ||
            h->vcells[c->bound].pair != i)
          wrong = "a doomed cell is not bound";
      }
    }
  }
  for (uint32_t i = 0; i < h->nlevels; i++)
    if (left[i] != h->levels[i].left || wanted[i] != h->levels[i].wanted)
      wrong = "another number of cells is left, or wanted";
  free(left);
  free(wanted);
  return wrong;
}

/* --- cells ---------------------------------------------------------------- */

static const char *check_bindings(const pai__hived *h)
{
  for (uint32_t i = 0; i < h->npcells; i++)
    if (h->pcells[i].bound != PAI__NOTHING &&
        h->vcells[h->pcells[i].bound].bound != i)
      return "a cell is bound to one that is not bound to it";
  for (uint32_t i = 0; i < h->nvcells; i++) {
    const pai__vcell *v = &h->vcells[i];
    const pai__pcell *c;

    if (v->parent == PAI__NOTHING && v->at != PAI__NOTHING &&
        ((h->unbound[v->at / 64] >> v->at % 64 & 1) != 0) !=
          (v->bound == PAI__NOTHING))
      return "a root is not marked as what it is";
    if (v->bound == PAI__NOTHING) {
      if (v->pinned && v->parent == PAI__NOTHING)
        return "a pinned cell is not bound";
      continue;
    }
    c = &h->pcells[v->bound];
    if (c->bound != i || c->level != v->level)
      return "a virtual cell is bound to one that is not bound to it";
    if (v->parent != PAI__NOTHING &&
        (c->parent == PAI__NOTHING || h->vcells[v->parent].bound != c->parent))
      return "a virtual cell is bound, and what it is in is not";
  }
  return NULL;
}

static int leaf_priority(const pai__hived *h, const pai__pleaf *l)
{
  uint32_t group = l->state >= PAI__LEAF_RESERVING ? l->reserving : l->user;

  if (l->state == PAI__LEAF_FREE)
    return PAI__FREE_PRIORITY;
  return l->guaranteed ? h->groups[group].priority : PAI__OPPORTUNISTIC;
}

static const char *check_leaves(const pai__hived *h)
{
  for (uint32_t i = 0; i < h->npleaves; i++) {
    const pai__pleaf *l = &h->pleaves[i];
    const pai__pcell *c = &h->pcells[l->cell];
    bool used = l->state == PAI__LEAF_USED || l->state == PAI__LEAF_RESERVING;

    if (used != (l->user != PAI__NOTHING) ||
        (l->state >= PAI__LEAF_RESERVING) != (l->reserving != PAI__NOTHING))
      return "a leaf has another group than its state says";
    if (c->priority != leaf_priority(h, l))
      return "a leaf has another priority than its group";
    if (pai__is_sick(c) != h->node_sick[c->node])
      return "a leaf is sick and its node is not";
    if (l->guaranteed &&
        (c->bound == PAI__NOTHING ||
         h->vpriority[h->vcells[c->bound].leaf] != c->priority))
      return "a guaranteed leaf has no virtual cell";
    if (used && pai__gang_place(h, l->user, i) == PAI__NOTHING)
      return "a group does not know of a leaf";
  }
  for (uint32_t i = 0; i < h->nvleaves; i++) {
    uint32_t cell = h->vcells[h->vleaves[i].cell].bound;
    bool used =
      cell != PAI__NOTHING && h->pleaves[h->pcells[cell].leaf].guaranteed;

    if (used != (h->vpriority[i] != PAI__FREE_PRIORITY) ||
        h->vpriority[i] != h->vcells[h->vleaves[i].cell].priority)
      return "a virtual leaf is used, and nothing uses it";
  }
  return NULL;
}

/* From the last cell back: children come before what they are in. */
static const char *check_sums(const pai__hived *h)
{
  for (uint32_t i = 0; i < h->npcells; i++) {
    const pai__pcell *c = &h->pcells[i];
    uint32_t opp = 0, sick = 0;
    int priority = PAI__FREE_PRIORITY;

    if (c->level == 1) {
      opp = h->pleaves[c->leaf].state != PAI__LEAF_FREE &&
            !h->pleaves[c->leaf].guaranteed;
      if (c->opp != opp)
        return "a leaf is used opportunistically, and is not";
      continue;
    }
    for (uint32_t k = i + 1; k < c->skip; k = h->pcells[k].skip) {
      opp += h->pcells[k].opp;
      sick += pai__is_sick(&h->pcells[k]);
      if (h->pcells[k].priority > priority)
        priority = h->pcells[k].priority;
    }
    if (c->opp != opp || c->sick != sick || c->priority != priority ||
        pai__is_sick(c) != (sick > 0))
      return "a cell is not the sum of its children";
  }
  for (uint32_t i = 0; i < h->nvcells; i++) {
    const pai__vcell *v = &h->vcells[i];
    int priority = PAI__FREE_PRIORITY;

    for (uint32_t k = i + 1; k < v->skip; k = h->vcells[k].skip)
      if (h->vcells[k].priority > priority)
        priority = h->vcells[k].priority;
    if (v->level > 1 && v->priority != priority)
      return "a virtual cell has another priority than its children";
  }
  return NULL;
}

static const char *check_views(const pai__hived *h)
{
  uint32_t *used = calloc(h->nvnodes + 1, sizeof(*used));
  uint32_t *opp = calloc(h->nvnodes + 1, sizeof(*opp));
  const char *wrong = NULL;

  assert_non_null(used);
  assert_non_null(opp);
  for (uint32_t i = 0; i < h->npleaves; i++) {
    const pai__pleaf *l = &h->pleaves[i];

    used[l->vnode] += l->state != PAI__LEAF_FREE;
    opp[l->vnode] += l->state != PAI__LEAF_FREE && !l->guaranteed;
  }
  for (uint32_t i = 0; i < h->nvleaves; i++)
    used[h->vleaves[i].vnode] += h->vpriority[i] != PAI__FREE_PRIORITY;
  for (uint32_t i = 0; i < h->nvnodes; i++)
    if (h->vnodes[i].used != used[i] || h->vnodes[i].opp != opp[i])
      wrong = "a view counts otherwise";
  free(used);
  free(opp);
  return wrong;
}

static const char *check_groups(const pai__hived *h)
{
  size_t live = 0;

  for (uint32_t i = 0; i < h->ngroups; i++) {
    const pai__hived_group *g = &h->groups[i];
    const pai__hived_slot *slots;
    uint32_t taken = 0, reserved = 0;

    if (g->state == PAI__GROUP_GONE)
      continue;
    live++;
    slots = pai__gang_slots(h, i);
    for (uint32_t k = 0; k < g->npods; k++)
      taken += slots[k].low != 0 || slots[k].high != 0;
    for (uint32_t k = 0; k < h->npleaves; k++)
      reserved +=
        h->pleaves[k].state == PAI__LEAF_RESERVING && h->pleaves[k].user == i;
    if (taken != g->allocated || reserved != g->reserved_of)
      return "a group counts otherwise";
    if ((g->state == PAI__GROUP_PREEMPTING) != (taken == 0) ||
        (g->state == PAI__GROUP_PREEMPTED) != (reserved > 0))
      return "a group is in another state";
    if ((g->state == PAI__GROUP_PREEMPTING) != (g->npreempting > 0))
      return "nobody waits for what a group preempts";
    if (pai__name_find(h, pai__hived_group_name(h, i),
                       strlen(pai__hived_group_name(h, i))) != g->name)
      return "a group is not found by its name";
  }
  return live == h->live_groups ? NULL : "there is another number of groups";
}

const char *test_hived_wrong(const pai__hived *h)
{
  const char *(*const checks[])(const pai__hived *h) = {
    check_lists, check_levels, check_bindings, check_leaves,
    check_sums,  check_views,  check_groups
  };
  const char *wrong = NULL;

  for (size_t i = 0; i < PAI__LEN(checks) && wrong == NULL; i++)
    wrong = checks[i](h);
  return wrong;
}

bool test_hived_is_safe(const pai__hived *h, bool whole)
{
  for (uint32_t i = 0; i < h->nchains; i++) {
    const pai__hived_chain *c = &h->chains[i];
    int64_t left = 0;

    for (uint32_t l = c->levels; l-- > 0;) {
      const pai__hived_level *at = &h->levels[c->level + l];

      left += (int64_t)at->nfree - at->wanted;
      if ((whole && left < 0) || at->left < at->wanted)
        return false;
      left *= at->children;
    }
  }
  return true;
}

/* --- all of it ------------------------------------------------------------ */

static void mix(uint64_t *digest, uint64_t word)
{
  *digest = (*digest ^ word) * 0x100000001b3u;
  *digest ^= *digest >> 29;
}

static void mix_views(uint64_t *digest, const pai__hived *h)
{
  uint32_t *list = calloc(h->nvnodes + 1, sizeof(*list));

  assert_non_null(list);
  for (uint32_t i = 0; i < h->nviews; i++) {
    pai__view_list(h, &h->views[i], list);
    for (uint32_t k = 0; k < h->views[i].count; k++)
      mix(digest, list[k]);
  }
  free(list);
}

static void mix_group(uint64_t *digest, const pai__hived *h, uint32_t group)
{
  const pai__hived_group *g = &h->groups[group];
  const char *name = pai__hived_group_name(h, group);
  const uint32_t *leaves = pai__words(h, g->physical);
  uint32_t i = 0, node;
  uint64_t pod;

  for (; *name != '\0'; name++)
    mix(digest, (unsigned char)*name);
  mix(digest, g->state);
  mix(digest, g->was_lazy);
  for (uint32_t k = 0; k < g->nleaves; k++) {
    mix(digest, leaves[k]);
    if (g->vcell != PAI__NOTHING)
      mix(digest, pai__words(h, g->vcell)[k]);
  }
  while (pai__hived_next_pod(h, group, &i, &pod, &node))
    mix(digest, pod);
  mix(digest, g->npreempting);
}

uint64_t test_hived_digest(const pai__hived *h)
{
  uint64_t digest = 0xcbf29ce484222325u;

  for (uint32_t i = 0; i < h->npcells; i++) {
    mix(&digest, h->pcells[i].bound);
    mix(&digest, h->pcells[i].flags);
    mix(&digest, (uint64_t)h->pcells[i].priority);
    mix(&digest, h->pcells[i].at_free);
    mix(&digest, h->pcells[i].at_sick);
    mix(&digest, h->pcells[i].at_doomed);
  }
  for (uint32_t i = 0; i < h->npleaves; i++) {
    mix(&digest, h->pleaves[i].state);
    mix(&digest, h->pleaves[i].guaranteed);
  }
  for (uint32_t i = 0; i < h->nvcells; i++)
    mix(&digest, (uint64_t)h->vcells[i].priority);
  for (uint32_t i = 0; i < h->npair_levels; i++)
    mix(&digest, (uint64_t)h->pair_levels[i].free);
  mix_views(&digest, h);
  for (uint32_t i = 0; i < h->ngroups; i++)
    if (h->groups[i].state != PAI__GROUP_GONE)
      mix_group(&digest, h, i);
  return digest;
}
