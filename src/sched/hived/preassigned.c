/*
 * preassigned.c - allocates preassigned cells of virtual clusters, and binds
 * doomed cells
 *
 * Of a level, `left` cells are free, alone or in a larger cell, and `nsick` of
 * them are sick.  Virtual clusters may still ask for `wanted` cells.  A
 * virtual cluster that may ask for more cells than are healthy gets a sick one
 * at once: it is doomed to it.  So it does not count on a cell that is not
 * there.
 */
#include "sched/hived/engine.h"

static pai__pair_level *pair_level(const pai__hived *h, uint32_t pair,
                                   uint32_t level)
{
  return &h->pair_levels[h->pairs[pair].level + level - 1];
}

static pai__hived_level *chain_level(const pai__hived *h, uint32_t chain,
                                     uint32_t level)
{
  return &h->levels[h->chains[chain].level + level - 1];
}

uint32_t pai__pair_of(const pai__hived *h, uint32_t vc, uint32_t chain)
{
  uint32_t low = h->chains[chain].pair, n = h->chains[chain].npairs;

  while (n > 0) {
    uint32_t half = n / 2;

    if (h->pairs[low + half].vc == vc)
      return low + half;
    if (h->pairs[low + half].vc < vc) {
      low += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return PAI__NOTHING;
}

static uint32_t count_children(const pai__hived *h, uint32_t cell)
{
  uint32_t n = 0;

  for (uint32_t i = cell + 1; i < h->pcells[cell].skip; i = h->pcells[i].skip)
    n++;
  return n;
}

/* --- doomed cells --------------------------------------------------------- */

void pai__doomed_bind(pai__hived *h, uint32_t chain, uint32_t level)
{
  const pai__hived_chain *c = &h->chains[chain];
  pai__hived_level *l = chain_level(h, chain, level);

  for (uint32_t i = c->pair; i < c->pair + c->npairs; i++) {
    pai__pair_level *mine = pair_level(h, i, level);

    while (mine->free > l->left - (int32_t)l->nsick) {
      uint32_t cell = h->lists[l->sick_free];
      uint32_t root = pai__unbound_root(h, mine);

      /* A new configuration took away cells in use. */
      if (l->nsick == 0 || root == PAI__NOTHING) {
        pai__mend(h, PAI__MENDED_Q16);
        break;
      }
      pai__connect(h, cell, root);
      pai__list_add(h, PAI__LIST_DOOMED, mine->doomed, &mine->ndoomed, cell);
      (void)pai__preassigned_take(h, cell, i, true);
    }
  }
}

void pai__doomed_remove(pai__hived *h, uint32_t cell, uint32_t root)
{
  pai__pair_level *mine =
    pair_level(h, h->vcells[root].pair, h->vcells[root].level);

  pai__list_remove(h, PAI__LIST_DOOMED, mine->doomed, &mine->ndoomed, cell);
}

/* Returns the first doomed cell that is not in use; runs stay where they
 * are. */
static uint32_t idle_doomed(pai__hived *h, const pai__pair_level *mine)
{
  for (uint32_t i = 0; i < mine->ndoomed; i++) {
    uint32_t cell = h->lists[mine->doomed + i];

    if (h->vcells[h->pcells[cell].bound].priority < 0)
      return cell;
    pai__mend(h, PAI__MENDED_Q6);
  }
  return PAI__NOTHING;
}

void pai__doomed_unbind(pai__hived *h, uint32_t chain, uint32_t level)
{
  const pai__hived_chain *c = &h->chains[chain];
  pai__hived_level *l = chain_level(h, chain, level);

  for (uint32_t i = c->pair; i < c->pair + c->npairs; i++) {
    pai__pair_level *mine = pair_level(h, i, level);

    while (mine->ndoomed > 0 && mine->free < l->left - (int32_t)l->nsick) {
      uint32_t cell = idle_doomed(h, mine);

      if (cell == PAI__NOTHING)
        break;
      pai__doomed_remove(h, cell, h->pcells[cell].bound);
      pai__disconnect(h, cell);
      pai__preassigned_give(h, cell, i, true);
    }
  }
}

/* --- sick cells in a cell that is taken ----------------------------------- */

/* Sick cells are bound, so the virtual cluster sees that they are sick. */
static void take_sick(pai__hived *h, uint32_t cell)
{
  const pai__pcell *c = &h->pcells[cell];

  pai__sick_remove(h, cell);
  if (c->bound == PAI__NOTHING && c->parent != PAI__NOTHING &&
      h->pcells[c->parent].bound != PAI__NOTHING) {
    uint32_t to = pai__unbound_child(h, h->pcells[c->parent].bound);

    if (to != PAI__NOTHING)
      pai__connect(h, cell, to);
  }
  for (uint32_t i = cell + 1; i < c->skip; i = h->pcells[i].skip)
    if (pai__is_sick(&h->pcells[i]))
      take_sick(h, i);
}

static void give_sick(pai__hived *h, uint32_t cell)
{
  const pai__pcell *c = &h->pcells[cell];

  pai__sick_add(h, cell);
  if (c->bound != PAI__NOTHING)
    pai__disconnect(h, cell);
  for (uint32_t i = cell + 1; i < c->skip; i = h->pcells[i].skip)
    if (pai__is_sick(&h->pcells[i]))
      give_sick(h, i);
}

/* --- preassigned cells ---------------------------------------------------- */

bool pai__preassigned_take(pai__hived *h, uint32_t cell, uint32_t pair,
                           bool doomed)
{
  const pai__pcell *c = &h->pcells[cell];
  uint32_t chain = c->chain, above = c->parent, top, n;
  pai__hived_level *l = pai__level_of(h, c);
  bool safe = true;

  pair_level(h, pair, c->level)->free--;
  l->wanted--;
  l->left--;
  top = pai__free_take(h, cell);
  for (uint32_t i = c->level + 1u; i <= top; i++) {
    l = chain_level(h, chain, i);
    l->left--;
    safe = safe && l->left >= l->wanted;
    if (pai__is_sick(&h->pcells[above]))
      pai__sick_remove(h, above);
    else
      pai__doomed_bind(h, chain, i);
    above = h->pcells[above].parent;
  }
  if (!pai__is_sick(c)) {
    pai__doomed_bind(h, chain, c->level);
  } else {
    take_sick(h, cell);
    if (!doomed)
      pai__doomed_unbind(h, chain, c->level);
  }
  n = count_children(h, cell);
  for (uint32_t i = c->level; --i > 0;) {
    l = chain_level(h, chain, i);
    l->left -= (int32_t)n;
    safe = safe && l->left >= l->wanted;
    if (!doomed)
      pai__doomed_bind(h, chain, i);
    n *= l->children;
  }
  return safe;
}

void pai__preassigned_give(pai__hived *h, uint32_t cell, uint32_t pair,
                           bool doomed)
{
  const pai__pcell *c = &h->pcells[cell];
  uint32_t chain = c->chain, above = c->parent, top, n;
  pai__hived_level *l = pai__level_of(h, c);

  pair_level(h, pair, c->level)->free++;
  l->wanted++;
  l->left++;
  top = pai__free_give(h, cell);
  for (uint32_t i = c->level + 1u; i <= top; i++) {
    chain_level(h, chain, i)->left++;
    if (pai__is_sick(&h->pcells[above]))
      pai__sick_add(h, above);
    else
      pai__doomed_unbind(h, chain, i);
    above = h->pcells[above].parent;
  }
  if (!pai__is_sick(c)) {
    pai__doomed_unbind(h, chain, c->level);
  } else {
    give_sick(h, cell);
    if (!doomed)
      pai__doomed_bind(h, chain, c->level);
  }
  n = count_children(h, cell);
  for (uint32_t i = c->level; --i > 0;) {
    l = chain_level(h, chain, i);
    l->left += (int32_t)n;
    if (!doomed)
      pai__doomed_unbind(h, chain, i);
    n *= l->children;
  }
}
