/*
 * bind.c - binds virtual to physical cells, and counts the use of leaf cells
 *
 * A virtual cell is bound while something in it is used or sick, and then so
 * are its parents.  A pinned cell is always bound.
 */
#include "sched/hived/engine.h"

/* --- unbound roots -------------------------------------------------------- */

static void mark_root(pai__hived *h, const pai__vcell *v, bool unbound)
{
  uint64_t bit = (uint64_t)1 << v->at % 64;
  uint64_t sum = (uint64_t)1 << v->at / 64 % 64;
  uint64_t *word = &h->unbound[v->at / 64];

  if (v->at == PAI__NOTHING)
    return;
  *word = unbound ? *word | bit : *word & ~bit;
  if (*word != 0)
    h->unbound_sums[v->at / 4096] |= sum;
  else
    h->unbound_sums[v->at / 4096] &= ~sum;
}

uint32_t pai__unbound_root(const pai__hived *h, const pai__pair_level *l)
{
  uint32_t at = l->roots, end = l->roots + l->nroots;

  while (at < end) {
    uint64_t word = h->unbound[at / 64] >> at % 64, sums;

    if (word != 0) {
      at += pai__lowest_bit(word);
      return at < end ? h->roots[at] : PAI__NOTHING;
    }
    at = (at / 64 + 1) * 64;
    if (at >= end)
      break;
    sums = h->unbound_sums[at / 4096] >> at / 64 % 64;
    at += 64 * (sums != 0 ? pai__lowest_bit(sums) : 64 - at / 64 % 64);
  }
  return PAI__NOTHING;
}

/* --- binding -------------------------------------------------------------- */

void pai__connect(pai__hived *h, uint32_t cell, uint32_t vcell)
{
  h->pcells[cell].bound = vcell;
  h->vcells[vcell].bound = cell;
  mark_root(h, &h->vcells[vcell], false);
  if (pai__is_sick(&h->pcells[cell]))
    pai__view_touch_virtual(h, vcell);
}

void pai__disconnect(pai__hived *h, uint32_t cell)
{
  uint32_t vcell = h->pcells[cell].bound;
  pai__vcell *v = &h->vcells[vcell];

  h->pcells[cell].bound = PAI__NOTHING;
  v->bound = PAI__NOTHING;
  mark_root(h, v, true);
  if (v->level == 1)
    h->vleaves[v->leaf].state = PAI__LEAF_FREE;
  if (pai__is_sick(&h->pcells[cell]))
    pai__view_touch_virtual(h, vcell);
}

void pai__bind(pai__hived *h, uint32_t cell, uint32_t vcell)
{
  while (h->vcells[vcell].bound == PAI__NOTHING) {
    pai__connect(h, cell, vcell);
    cell = h->pcells[cell].parent;
    vcell = h->vcells[vcell].parent;
    if (vcell == PAI__NOTHING || cell == PAI__NOTHING)
      break;
  }
}

static bool has_bound_child(const pai__hived *h, uint32_t vcell)
{
  for (uint32_t i = vcell + 1; i < h->vcells[vcell].skip;
       i = h->vcells[i].skip)
    if (h->vcells[i].bound != PAI__NOTHING)
      return true;
  return false;
}

static void unbind(pai__hived *h, uint32_t cell)
{
  uint32_t vcell = h->pcells[cell].bound;

  while (!pai__is_pinned(&h->pcells[cell])) {
    pai__disconnect(h, cell);
    vcell = h->vcells[vcell].parent;
    if (vcell == PAI__NOTHING || has_bound_child(h, vcell))
      break;
    cell = h->vcells[vcell].bound;
    if (cell == PAI__NOTHING)
      break;
  }
}

uint32_t pai__unbound_child(const pai__hived *h, uint32_t vcell)
{
  for (uint32_t i = vcell + 1; i < h->vcells[vcell].skip;
       i = h->vcells[i].skip)
    if (h->vcells[i].bound == PAI__NOTHING)
      return i;
  return PAI__NOTHING;
}

/* --- priorities of cells: the highest of their leaves --------------------- */

static void set_physical(pai__hived *h, uint32_t cell, int16_t x)
{
  pai__pcell *cells = h->pcells;

  for (;;) {
    uint32_t parent = cells[cell].parent;
    int16_t old = cells[cell].priority;

    cells[cell].priority = x;
    if (parent == PAI__NOTHING)
      return;
    if (x <= cells[parent].priority) {
      if (old != cells[parent].priority || x >= old)
        return;
      x = PAI__FREE_PRIORITY;
      for (uint32_t i = parent + 1; i < cells[parent].skip; i = cells[i].skip)
        x = cells[i].priority > x ? cells[i].priority : x;
    }
    cell = parent;
  }
}

static void set_virtual(pai__hived *h, uint32_t cell, int16_t x)
{
  pai__vcell *cells = h->vcells;

  h->vpriority[cells[cell].leaf] = x;
  for (;;) {
    uint32_t parent = cells[cell].parent;
    int16_t old = cells[cell].priority;

    cells[cell].priority = x;
    if (parent == PAI__NOTHING)
      return;
    if (x <= cells[parent].priority) {
      if (old != cells[parent].priority || x >= old)
        return;
      x = PAI__FREE_PRIORITY;
      for (uint32_t i = parent + 1; i < cells[parent].skip; i = cells[i].skip)
        x = cells[i].priority > x ? cells[i].priority : x;
    }
    cell = parent;
  }
}

/* --- use of leaf cells ---------------------------------------------------- */

static void count(pai__hived *h, const pai__pleaf *leaf, bool opp, bool more)
{
  pai__vnode *node = &h->vnodes[leaf->vnode];
  uint32_t by = more ? 1 : UINT32_MAX;

  node->used += by;
  if (opp) {
    node->opp += by;
    for (uint32_t i = leaf->cell; i != PAI__NOTHING; i = h->pcells[i].parent)
      h->pcells[i].opp += by;
  }
  pai__view_touch(h, leaf->vnode);
}

static void count_virtual(pai__hived *h, uint32_t vcell, bool more)
{
  uint32_t node = h->vleaves[h->vcells[vcell].leaf].vnode;

  h->vnodes[node].used += more ? 1 : UINT32_MAX;
  pai__view_touch(h, node);
}

void pai__set_leaf_state(pai__hived *h, uint32_t leaf, uint8_t state)
{
  const pai__pcell *c = &h->pcells[h->pleaves[leaf].cell];

  h->pleaves[leaf].state = state;
  if (c->bound != PAI__NOTHING)
    h->vleaves[h->vcells[c->bound].leaf].state = state;
}

bool pai__may_be(const pai__hived *h, uint32_t cell, uint32_t vcell)
{
  while (h->vcells[vcell].bound == PAI__NOTHING) {
    if (h->pcells[cell].bound != PAI__NOTHING)
      return false;
    vcell = h->vcells[vcell].parent;
    if (vcell == PAI__NOTHING)
      return pai__is_in_free(h, cell);
    cell = h->pcells[cell].parent;
    if (cell == PAI__NOTHING)
      return false;
  }
  return h->vcells[vcell].bound == cell;
}

bool pai__allocate_leaf(pai__hived *h, uint32_t leaf, uint32_t vcell,
                        int32_t priority)
{
  pai__pleaf *l = &h->pleaves[leaf];
  uint32_t cell = l->cell, root;
  bool good = vcell == PAI__NOTHING || pai__may_be(h, cell, vcell);

  l->guaranteed = vcell != PAI__NOTHING && good;
  count(h, l, !l->guaranteed, true);
  if (!l->guaranteed) {
    set_physical(h, cell, PAI__OPPORTUNISTIC);
    return good;
  }
  set_virtual(h, vcell, (int16_t)priority);
  count_virtual(h, vcell, true);
  set_physical(h, cell, (int16_t)priority);
  root = h->vcells[vcell].root;
  good = h->vcells[root].bound != PAI__NOTHING;
  if (h->pcells[cell].bound == PAI__NOTHING)
    pai__bind(h, cell, vcell);
  if (good)
    return true;
  return pai__preassigned_take(h, h->vcells[root].bound, h->vcells[root].pair,
                               false);
}

/* Gives a preassigned cell back when nothing in it is used. */
static void give_root(pai__hived *h, uint32_t root, uint32_t cell)
{
  bool doomed = h->pcells[cell].at_doomed != PAI__NOTHING;

  if (doomed && pai__is_sick(&h->pcells[cell]))
    return;
  /* It became healthy while it was used. */
  if (doomed) {
    pai__mend(h, PAI__MENDED_Q6);
    pai__doomed_remove(h, cell, root);
  }
  pai__preassigned_give(h, cell, h->vcells[root].pair, doomed);
}

void pai__release_leaf(pai__hived *h, uint32_t leaf)
{
  pai__pleaf *l = &h->pleaves[leaf];
  pai__pcell *c = &h->pcells[l->cell];

  if (l->guaranteed) {
    uint32_t vcell = c->bound, root = h->vcells[vcell].root;
    uint32_t cell = h->vcells[root].bound;

    count_virtual(h, vcell, false);
    set_virtual(h, vcell, PAI__FREE_PRIORITY);
    if (!pai__is_sick(c))
      unbind(h, l->cell);
    if (!pai__is_pinned(&h->pcells[cell]) && h->vcells[root].priority < 0)
      give_root(h, root, cell);
  }
  if (!l->guaranteed && c->bound != PAI__NOTHING)
    pai__mend(h, pai__is_pinned(c) ? PAI__MENDED_Q5 : PAI__MENDED_Q4);
  count(h, l, !l->guaranteed, false);
  l->guaranteed = false;
  set_physical(h, l->cell, PAI__FREE_PRIORITY);
}
