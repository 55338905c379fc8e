/*
 * free_list.c - lists of free cells, and of the sick cells among them
 *
 * A cell is in the free list if it is neither bound nor split, and its parent
 * is split or does not exist.  The order of a list decides which of equal
 * cells is used first, so it is HiveD's: a removed cell is replaced by the
 * last one.
 */
#include "sched/hived/engine.h"

bool pai__is_in_free(const pai__hived *h, uint32_t cell)
{
  for (;;) {
    const pai__pcell *c = &h->pcells[cell];

    if (c->bound != PAI__NOTHING || pai__is_split(c))
      return false;
    if (c->parent == PAI__NOTHING || pai__is_split(&h->pcells[c->parent]))
      return true;
    cell = c->parent;
  }
}

static void add(pai__hived *h, uint32_t cell)
{
  pai__hived_level *l = pai__level_of(h, &h->pcells[cell]);

  pai__list_add(h, PAI__LIST_FREE, l->free, &l->nfree, cell);
}

static void drop(pai__hived *h, uint32_t cell)
{
  pai__hived_level *l = pai__level_of(h, &h->pcells[cell]);

  if (h->pcells[cell].at_free != PAI__NOTHING)
    pai__list_remove(h, PAI__LIST_FREE, l->free, &l->nfree, cell);
}

uint32_t pai__free_take(pai__hived *h, uint32_t cell)
{
  for (;;) {
    uint32_t parent = h->pcells[cell].parent;
    bool split = parent != PAI__NOTHING && !pai__is_split(&h->pcells[parent]);

    if (split) {
      for (uint32_t i = parent + 1; i < h->pcells[parent].skip;
           i = h->pcells[i].skip)
        add(h, i);
      h->pcells[parent].flags |= PAI__CELL_SPLIT;
    }
    drop(h, cell);
    if (!split)
      return h->pcells[cell].level;
    cell = parent;
  }
}

/* True if all siblings of a cell are free. */
static bool is_last(const pai__hived *h, uint32_t cell)
{
  uint32_t parent = h->pcells[cell].parent;

  if (parent == PAI__NOTHING)
    return false;
  for (uint32_t i = parent + 1; i < h->pcells[parent].skip;
       i = h->pcells[i].skip)
    if (i != cell && h->pcells[i].at_free == PAI__NOTHING)
      return false;
  return true;
}

uint32_t pai__free_give(pai__hived *h, uint32_t cell)
{
  while (is_last(h, cell)) {
    uint32_t parent = h->pcells[cell].parent;

    for (uint32_t i = parent + 1; i < h->pcells[parent].skip;
         i = h->pcells[i].skip)
      if (i != cell)
        drop(h, i);
    h->pcells[parent].flags &= (uint8_t)~PAI__CELL_SPLIT;
    cell = parent;
  }
  add(h, cell);
  return h->pcells[cell].level;
}

/* --- sick free cells ------------------------------------------------------ */

void pai__sick_add(pai__hived *h, uint32_t cell)
{
  pai__hived_level *l = pai__level_of(h, &h->pcells[cell]);

  if (h->pcells[cell].at_sick == PAI__NOTHING)
    pai__list_add(h, PAI__LIST_SICK, l->sick_free, &l->nsick, cell);
}

void pai__sick_remove(pai__hived *h, uint32_t cell)
{
  pai__hived_level *l = pai__level_of(h, &h->pcells[cell]);

  if (h->pcells[cell].at_sick != PAI__NOTHING)
    pai__list_remove(h, PAI__LIST_SICK, l->sick_free, &l->nsick, cell);
}
