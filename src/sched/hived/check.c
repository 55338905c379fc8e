/* check.c - consistency check of the HiveD engine: recounts all counters */
#include "sched/hived/engine.h"

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

/* Counts the cells of a level that are free or inside a free cell. */
static int32_t count_left(const pai__hived *h, uint32_t level)
{
  int32_t left = 0;

  for (uint32_t i = 0; i < h->npcells; i++)
    left +=
      h->chains[h->pcells[i].chain].level + h->pcells[i].level - 1 == level &&
      is_in_free(h, i);
  return left;
}

/* Checks one level of a virtual cluster's cells of a chain. */
static const char *check_owned(const pai__hived *h, uint32_t pair,
                               const pai__pair_level *l)
{
  int32_t unbound = 0;

  for (uint32_t j = 0; j < l->nroots; j++)
    unbound += h->vcells[h->roots[l->roots + j]].bound == PAI__NOTHING;
  if (unbound != l->free)
    return "another number of preassigned cells is free";
  for (uint32_t j = 0; j < l->ndoomed; j++) {
    const pai__pcell *c = &h->pcells[h->lists[l->doomed + j]];

    if (c->at_doomed != j || c->bound == PAI__NOTHING ||
        h->vcells[c->bound].pair != pair)
      return "a doomed cell is not bound";
  }
  return NULL;
}

static const char *check_levels(const pai__hived *h)
{
  const char *wrong = NULL;

  for (uint32_t i = 0; i < h->nchains; i++)
    for (uint32_t k = 0; k < h->chains[i].levels && wrong == NULL; k++) {
      const pai__hived_level *l = &h->levels[h->chains[i].level + k];
      int32_t wanted = 0;

      for (uint32_t p = 0; p < h->npairs && wrong == NULL; p++) {
        const pai__pair_level *own = &h->pair_levels[h->pairs[p].level + k];

        if (h->pairs[p].chain != i)
          continue;
        wanted += own->free;
        wrong = check_owned(h, p, own);
      }
      if (wrong == NULL && (wanted != l->wanted ||
                            count_left(h, h->chains[i].level + k) != l->left))
        wrong = "another number of cells is left, or wanted";
    }
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

static const char *compare_views(const pai__hived *h, uint32_t *used,
                                 uint32_t *opp)
{
  for (uint32_t i = 0; i < h->npleaves; i++) {
    const pai__pleaf *l = &h->pleaves[i];

    used[l->vnode] += l->state != PAI__LEAF_FREE;
    opp[l->vnode] += l->state != PAI__LEAF_FREE && !l->guaranteed;
  }
  for (uint32_t i = 0; i < h->nvleaves; i++)
    used[h->vleaves[i].vnode] += h->vpriority[i] != PAI__FREE_PRIORITY;
  for (uint32_t i = 0; i < h->nvnodes; i++)
    if (h->vnodes[i].used != used[i] || h->vnodes[i].opp != opp[i])
      return "a view counts otherwise";
  return NULL;
}

/* `reserved`: how many of its leaves others have reserved. */
static const char *check_group(const pai__hived *h, uint32_t group,
                               uint32_t reserved)
{
  const pai__hived_group *g = &h->groups[group];
  const pai__hived_slot *slots = pai__gang_slots(h, group);
  const char *name = pai__hived_group_name(h, group);
  uint32_t taken = 0;

  for (uint32_t k = 0; k < g->npods; k++)
    taken += slots[k].low != 0 || slots[k].high != 0;
  if (taken != g->allocated || reserved != g->reserved_of)
    return "a group counts otherwise";
  if ((g->state == PAI__GROUP_PREEMPTING) != (taken == 0) ||
      (g->state == PAI__GROUP_PREEMPTED) != (reserved > 0))
    return "a group is in another state";
  if ((g->state == PAI__GROUP_PREEMPTING) != (g->npreempting > 0))
    return "nobody waits for what a group preempts";
  return pai__name_find(h, name, strlen(name)) == g->name
           ? NULL
           : "a group is not found by its name";
}

static const char *check_groups(const pai__hived *h, uint32_t *reserved)
{
  const char *wrong = NULL;
  size_t live = 0;

  for (uint32_t k = 0; k < h->npleaves; k++)
    if (h->pleaves[k].state == PAI__LEAF_RESERVING)
      reserved[h->pleaves[k].user]++;
  for (uint32_t i = 0; i < h->ngroups && wrong == NULL; i++)
    if (h->groups[i].state != PAI__GROUP_GONE) {
      live++;
      wrong = check_group(h, i, reserved[i]);
    }
  return wrong == NULL && live != h->live_groups
           ? "there is another number of groups"
           : wrong;
}

/* Checks that need no memory. */
static const char *check_cells(const pai__hived *h)
{
  const char *wrong = check_lists(h);

  if (wrong == NULL)
    wrong = check_levels(h);
  if (wrong == NULL)
    wrong = check_bindings(h);
  if (wrong == NULL)
    wrong = check_leaves(h);
  return wrong != NULL ? wrong : check_sums(h);
}

int pai__hived_check(const pai__hived *h, const char **wrong)
{
  size_t n = h->ngroups + 2 * h->nvnodes + 1;
  uint32_t *sums = pai__zalloc(&h->alloc, n * sizeof(*sums));

  *wrong = NULL;
  if (sums == NULL)
    return PAI_ENOMEM;
  *wrong = check_cells(h);
  if (*wrong == NULL)
    *wrong = compare_views(h, sums, sums + h->nvnodes);
  if (*wrong == NULL)
    *wrong = check_groups(h, sums + 2 * h->nvnodes);
  pai__free(&h->alloc, sums, n * sizeof(*sums));
  return *wrong == NULL ? PAI_OK : PAI_EINVAL;
}
