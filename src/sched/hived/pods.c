/* pods.c - records pods that were bound or have ended */
#include "sched/hived/engine.h"

/* --- finding the virtual cell of a physical cell in use ------------------- */

typedef struct adding {
  pai__hived *h;
  uint32_t group;
  uint32_t vc, pin;
  int32_t priority;
  uint32_t chain;
  uint32_t level; /* level of the preassigned cell */
} adding;

/* Returns the better of two cells for a priority: one of lower priority, the
 * first with the lowest.  Free cells are not considered. */
static uint32_t lower(const adding *a, uint32_t best, uint32_t vcell)
{
  const pai__vcell *v = &a->h->vcells[vcell];

  if (v->priority == PAI__FREE_PRIORITY || v->priority >= a->priority)
    return best;
  return best == PAI__NOTHING || v->priority < a->h->vcells[best].priority
           ? vcell
           : best;
}

static bool is_idle(const pai__vcell *v)
{
  return v->bound == PAI__NOTHING && v->priority == PAI__FREE_PRIORITY;
}

static uint32_t lowest_child(const adding *a, uint32_t vcell)
{
  const pai__hived *h = a->h;
  uint32_t best = PAI__NOTHING;

  for (uint32_t i = vcell + 1; i < h->vcells[vcell].skip;
       i = h->vcells[i].skip) {
    if (is_idle(&h->vcells[i]))
      return i;
    best = lower(a, best, i);
  }
  return best;
}

static uint32_t lowest_root(const adding *a)
{
  const pai__hived *h = a->h;
  uint32_t pair = pai__pair_of(h, a->vc, a->chain), best;
  const pai__pair_level *l;

  if (pair == PAI__NOTHING)
    return PAI__NOTHING;
  l = &h->pair_levels[h->pairs[pair].level + a->level - 1];
  best = pai__unbound_root(h, l);
  for (uint32_t i = 0; best == PAI__NOTHING && i < l->nroots; i++)
    best = lower(a, best, h->roots[l->roots + i]);
  return best;
}

static uint32_t lowest_pinned(const adding *a)
{
  const pai__hived *h = a->h;
  uint32_t root = h->pins[a->pin].root, best = PAI__NOTHING;

  for (uint32_t i = root; i < h->vcells[root].skip; i++) {
    if (h->vcells[i].level != a->level)
      continue;
    if (is_idle(&h->vcells[i]))
      return i;
    best = lower(a, best, i);
  }
  return best;
}

static uint32_t map_up(const adding *a, uint32_t cell)
{
  const pai__hived *h = a->h;
  const pai__pcell *c = &h->pcells[cell];
  uint32_t above;

  if (c->bound != PAI__NOTHING) {
    const pai__vcell *v = &h->vcells[c->bound];

    /* The cell is doomed for another virtual cluster. */
    if (v->pinned || h->pairs[v->pair].vc == a->vc)
      return c->bound;
    pai__mend(a->h, PAI__MENDED_Q6);
    return PAI__NOTHING;
  }
  if (c->level == a->level && !pai__is_in_free(h, cell)) {
    /* It is inside a larger cell that is taken. */
    pai__mend(a->h, PAI__MENDED_Q16);
    return PAI__NOTHING;
  }
  if (c->level == a->level)
    return a->pin == PAI__NOTHING ? lowest_root(a) : lowest_pinned(a);
  if (c->parent == PAI__NOTHING)
    return PAI__NOTHING;
  above = map_up(a, c->parent);
  return above == PAI__NOTHING ? PAI__NOTHING : lowest_child(a, above);
}

/* --- level of the preassigned cell, if unknown ---------------------------- */

/* Returns the cell of a level that contains a leaf. */
static uint32_t cell_above(const pai__hived *h, uint32_t leaf, uint32_t level)
{
  uint32_t cell = h->pleaves[leaf].cell;

  while (h->pcells[cell].level < level)
    cell = h->pcells[cell].parent;
  return cell;
}

/* True if the cell is a preassigned cell of that virtual cluster. */
static bool is_root_of(const pai__hived *h, uint32_t cell, uint32_t pair)
{
  uint32_t vcell = h->pcells[cell].bound;

  return vcell != PAI__NOTHING && h->vcells[vcell].root == vcell &&
         h->vcells[vcell].pair == pair && !h->vcells[vcell].pinned;
}

static uint32_t count_unbound(const pai__hived *h, const pai__pair_level *l)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < l->nroots; i++)
    n += h->vcells[h->roots[l->roots + i]].bound == PAI__NOTHING;
  return n;
}

/* Chooses the level of a preassigned cell.  The cell that the virtual cluster
 * has there already comes first; then the smallest with enough unbound cells
 * for the whole group; then any with an unbound cell; at last any, also one in
 * use at lower priority. */
static uint32_t choose_level(const adding *a, uint32_t leaf)
{
  const pai__hived *h = a->h;
  uint32_t pair = pai__pair_of(h, a->vc, a->chain);
  uint32_t levels = h->chains[a->chain].levels;
  uint32_t nleaves = h->groups[a->group].nleaves;

  if (a->pin != PAI__NOTHING && a->pin != PAI__HIVED_UNKNOWN)
    return h->pcells[h->pins[a->pin].cell].level;
  if (pair == PAI__NOTHING)
    return levels + 1;
  for (uint32_t i = 1; i <= levels; i++)
    if (is_root_of(h, cell_above(h, leaf, i), pair))
      return i;
  for (int may = 0; may < 3; may++)
    for (uint32_t i = 1; i <= levels; i++) {
      const pai__pair_level *l = &h->pair_levels[h->pairs[pair].level + i - 1];
      uint32_t size = h->levels[h->chains[a->chain].level + i - 1].leaves;
      uint32_t n = l->nroots;

      if (n == 0 || !pai__is_in_free(h, cell_above(h, leaf, i)))
        continue;
      if (may < 2)
        n = count_unbound(h, l);
      if (n > (may == 0 ? (nleaves - 1) / size : 0))
        return i;
    }
  return levels + 1;
}

static uint32_t find_virtual(adding *a, uint32_t leaf, uint32_t type)
{
  const pai__hived *h = a->h;
  const pai__pcell *c = &h->pcells[h->pleaves[leaf].cell];
  const pai__hived_chain *chain = &h->chains[c->chain];
  uint32_t pair, vcell;

  a->chain = c->chain;
  a->level = 1;
  if (type == PAI__HIVED_ANY_TYPE && a->vc < h->nvcs)
    a->level = choose_level(a, leaf);
  else
    while (a->level <= chain->levels &&
           h->levels[chain->level + a->level - 1].type != type)
      a->level++;
  if (a->level > chain->levels || a->vc >= h->nvcs ||
      a->pin == PAI__HIVED_UNKNOWN)
    return PAI__NOTHING;
  pair = pai__pair_of(h, a->vc, c->chain);
  if (a->pin == PAI__NOTHING &&
      (pair == PAI__NOTHING || h->pairs[pair].view == PAI__NOTHING))
    return PAI__NOTHING;
  if (a->pin != PAI__NOTHING &&
      h->pcells[h->pins[a->pin].cell].chain != c->chain)
    return PAI__NOTHING;
  vcell = map_up(a, h->pleaves[leaf].cell);
  return vcell != PAI__NOTHING && h->vcells[vcell].level == 1 ? vcell
                                                              : PAI__NOTHING;
}

void pai__gang_allocate(pai__hived *h, uint32_t group, uint32_t i)
{
  const pai__hived_group *g = &h->groups[group];
  uint32_t leaf = pai__words(h, g->physical)[i], *vcell = NULL;
  uint32_t cell = h->pleaves[leaf].cell, to = PAI__NOTHING;
  adding a = { .h = h,
               .group = group,
               .vc = g->vc,
               .pin = PAI__NOTHING,
               .priority = g->priority };

  if (g->vcell != PAI__NOTHING) {
    vcell = pai__words(h, g->vcell) + i;
    to = *vcell;
  }
  if (to != PAI__NOTHING && !pai__may_be(h, cell, to)) {
    pai__mend(h, PAI__MENDED_Q20);
    a.chain = h->pcells[cell].chain;
    a.level = h->vcells[h->vcells[to].root].level;
    to = map_up(&a, cell);
  }
  (void)pai__allocate_leaf(h, leaf, to, g->priority);
  if (vcell != NULL)
    *vcell = h->pleaves[leaf].guaranteed ? to : PAI__NOTHING;
}

/* --- existing groups ------------------------------------------------------ */

/* Preempts groups lazily that use a preassigned cell which belongs to another
 * physical cell. */
static void evict(const adding *a, uint32_t root)
{
  pai__hived *h = a->h;

  for (uint32_t i = root; i < h->vcells[root].skip; i++) {
    uint32_t cell = h->vcells[i].bound, group;

    if (h->vcells[i].level != 1 || cell == PAI__NOTHING ||
        h->vleaves[h->vcells[i].leaf].state != PAI__LEAF_USED)
      continue;
    group = h->pleaves[h->pcells[cell].leaf].user;
    if (group != PAI__NOTHING && group != a->group)
      pai__lazy_preempt(h, group, h->groups[a->group].name);
  }
}

/* Takes a leaf for the new group.  Returns false if it cannot have a virtual
 * cell. */
static bool take_leaf(adding *a, uint32_t i, uint32_t leaf, uint32_t type,
                      bool search)
{
  pai__hived *h = a->h;
  pai__hived_group *g = &h->groups[a->group];
  uint32_t vcell = PAI__NOTHING, root;
  bool good = true;

  if (search) {
    vcell = find_virtual(a, leaf, type);
    good = vcell != PAI__NOTHING;
  }
  if (good && search) {
    root = h->vcells[vcell].root;
    if (pai__is_in_free(h, h->pleaves[leaf].cell) &&
        h->vcells[root].priority > PAI__FREE_PRIORITY)
      evict(a, root);
  }
  if (!pai__allocate_leaf(h, leaf, vcell, g->priority))
    good = false;
  h->pleaves[leaf].user = a->group;
  pai__set_leaf_state(h, leaf, PAI__LEAF_USED);
  if (h->pleaves[leaf].guaranteed)
    pai__words(h, g->vcell)[i] = vcell;
  return good;
}

static void fill_group(adding *a, const pai__hived_info *info)
{
  pai__hived *h = a->h;
  pai__hived_group *g = &h->groups[a->group];
  bool lazy = false, opportunistic = false;

  g->vcell = pai__hived_pool_take(h, g->nleaves);
  memset(pai__words(h, g->vcell), 0xff, g->nleaves * sizeof(uint32_t));
  memcpy(pai__words(h, g->physical), info->leaves,
         g->nleaves * sizeof(uint32_t));
  if (info->spots != NULL) {
    g->spots = pai__hived_pool_take(h, (size_t)g->nleaves * PAI__SPOT_WORDS);
    memcpy(pai__words(h, g->spots), info->spots,
           g->nleaves * sizeof(*info->spots));
  }
  for (uint32_t i = 0; i < g->nleaves; i++) {
    uint32_t type = info->types[i];

    if (info->leaves[i] == PAI__NOTHING)
      continue;
    if (h->pleaves[info->leaves[i]].user == a->group) { /* listed twice */
      pai__words(h, g->physical)[i] = PAI__NOTHING;
      continue;
    }
    if (type == PAI__HIVED_NO_TYPE)
      lazy = true;
    else if (!lazy && type == PAI__NOTHING)
      opportunistic = true;
    if (!take_leaf(a, i, info->leaves[i], type, !lazy && !opportunistic))
      lazy = true;
  }
  if (opportunistic)
    pai__gang_drop_virtual(h, a->group);
  if (lazy)
    pai__lazy_preempt(h, a->group, g->name);
}

static int create(pai__hived *h, const pai__hived_request *r,
                  const pai__hived_info *info)
{
  adding a = { .h = h, .vc = r->vc, .pin = r->pin, .priority = r->priority };
  uint32_t nleaves = pai__hived_before(r->members, r->nmembers, 0).leaves;

  if (pai__scratch_reserve(h, 0, nleaves) < 0 || pai__gang_reserve(h, r) < 0)
    return PAI_ENOMEM;
  pai__find_victims(h, info->leaves, nleaves);
  for (uint32_t i = 0; i < nleaves; i++)
    if (info->leaves[i] != PAI__NOTHING &&
        h->pleaves[info->leaves[i]].user != PAI__NOTHING)
      return PAI_EEXISTS;
  pai__groups_sort(h, h->s.others, h->s.nothers);
  /* Groups that have reserved these cells lose them. */
  if (h->s.nothers > 0)
    pai__mend(h, PAI__MENDED_Q3);
  for (uint32_t i = 0; i < h->s.nothers; i++)
    pai__preempt_cancel(h, h->s.others[i]);
  a.group = pai__gang_add(h, r);
  h->groups[a.group].state = PAI__GROUP_ALLOCATED;
  fill_group(&a, info);
  return PAI_OK;
}

/* --- pods ----------------------------------------------------------------- */

int pai__hived_add(pai__hived *h, const pai__hived_request *r, uint64_t pod,
                   uint32_t node, uint32_t index, const pai__hived_info *info)
{
  uint32_t group = pai__hived_find_group(h, r->group, r->group_len), slot;
  pai__hived_slot *s;

  if (group == PAI__NOTHING) {
    int rc = create(h, r, info);

    if (rc < 0)
      return rc;
    if (index != 0)
      pai__mend(h, PAI__MENDED_Q10);
    group = pai__hived_find_group(h, r->group, r->group_len);
  } else if (h->groups[group].state == PAI__GROUP_PREEMPTING) {
    pai__preempt_complete(h, group);
  }
  slot = pai__gang_slot(h, group, r->leaves, index);
  if (slot == PAI__NOTHING)
    return PAI_ENOTFOUND;
  s = &pai__gang_slots(h, group)[slot];
  h->groups[group].allocated += s->low == 0 && s->high == 0;
  *s = (pai__hived_slot){ (uint32_t)pod, (uint32_t)(pod >> 32), node };
  return PAI_OK;
}

static void free_group(pai__hived *h, uint32_t group)
{
  const pai__hived_group *g = &h->groups[group];
  const uint32_t *leaves = pai__words(h, g->physical);

  for (uint32_t i = 0; i < g->nleaves; i++) {
    pai__pleaf *l;

    if (leaves[i] == PAI__NOTHING)
      continue;
    l = &h->pleaves[leaves[i]];
    if (l->user != group)
      continue;
    l->user = PAI__NOTHING;
    if (l->state == PAI__LEAF_USED) {
      pai__release_leaf(h, leaves[i]);
      pai__set_leaf_state(h, leaves[i], PAI__LEAF_FREE);
    } else if (l->state == PAI__LEAF_RESERVING) {
      pai__set_leaf_state(h, leaves[i], PAI__LEAF_RESERVED);
    }
  }
  pai__gang_remove(h, group);
}

int pai__hived_delete(pai__hived *h, const char *group, size_t len,
                      uint32_t leaves, uint32_t index)
{
  uint32_t at = pai__hived_find_group(h, group, len), slot;
  pai__hived_slot *s;

  if (at == PAI__NOTHING)
    return PAI_ENOTFOUND;
  slot = pai__gang_slot(h, at, leaves, index);
  if (slot == PAI__NOTHING)
    return PAI_ENOTFOUND;
  s = &pai__gang_slots(h, at)[slot];
  h->groups[at].allocated -= s->low != 0 || s->high != 0;
  *s = (pai__hived_slot){ 0, 0, 0 };
  if (h->groups[at].allocated == 0 &&
      h->groups[at].state != PAI__GROUP_PREEMPTING)
    free_group(h, at);
  return PAI_OK;
}

void pai__hived_drop_group(pai__hived *h, uint32_t group)
{
  if (h->groups[group].state == PAI__GROUP_PREEMPTING)
    pai__preempt_cancel(h, group);
  else
    free_group(h, group);
}

int pai__hived_delete_unallocated(pai__hived *h, const char *group, size_t len,
                                  uint64_t pod)
{
  uint32_t at = pai__hived_find_group(h, group, len);

  if (at == PAI__NOTHING || h->groups[at].state != PAI__GROUP_PREEMPTING ||
      !pai__gang_remove_preempting(h, at, pod))
    return PAI_ENOTFOUND;
  if (h->groups[at].npreempting == 0)
    pai__preempt_cancel(h, at);
  return PAI_OK;
}
