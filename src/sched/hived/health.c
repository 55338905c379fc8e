/* health.c - health of nodes and cells: a cell is sick if one of its leaves
 * is */
#include "sched/hived/engine.h"

static void sicken(pai__hived *h, uint32_t cell)
{
  pai__pcell *c = &h->pcells[cell];
  uint32_t to = PAI__NOTHING;

  if (pai__is_sick(c))
    return;
  c->flags |= PAI__CELL_SICK;
  pai__view_touch_physical(h, cell);
  if (c->parent != PAI__NOTHING) {
    h->pcells[c->parent].sick++;
    sicken(h, c->parent);
  }
  if (pai__is_in_free(h, cell)) {
    const pai__hived_level *l = pai__level_of(h, c);

    pai__sick_add(h, cell);
    if (l->wanted > l->left - (int32_t)l->nsick)
      pai__doomed_bind(h, c->chain, c->level);
    return;
  }
  if (c->bound != PAI__NOTHING || pai__is_split(c) ||
      c->parent == PAI__NOTHING)
    return;
  if (h->pcells[c->parent].bound != PAI__NOTHING)
    to = pai__unbound_child(h, h->pcells[c->parent].bound);
  if (to != PAI__NOTHING)
    pai__connect(h, cell, to);
}

static void unbind_idle(pai__hived *h, uint32_t cell)
{
  uint32_t vcell = h->pcells[cell].bound;
  const pai__vcell *v = &h->vcells[vcell];

  pai__disconnect(h, cell);
  if (v->parent != PAI__NOTHING || h->pcells[cell].at_doomed == PAI__NOTHING)
    return;
  pai__doomed_remove(h, cell, vcell);
  pai__preassigned_give(h, cell, v->pair, true);
}

static void heal(pai__hived *h, uint32_t cell)
{
  for (;;) {
    pai__pcell *c = &h->pcells[cell];

    if (!pai__is_sick(c))
      return;
    c->flags &= (uint8_t)~PAI__CELL_SICK;
    pai__view_touch_physical(h, cell);
    if (c->parent != PAI__NOTHING)
      h->pcells[c->parent].sick--;
    if (pai__is_in_free(h, cell)) {
      pai__sick_remove(h, cell);
      pai__doomed_unbind(h, c->chain, c->level);
    } else if (c->bound != PAI__NOTHING && !pai__is_pinned(c) &&
               c->priority < 0) {
      unbind_idle(h, cell);
    }
    cell = c->parent;
    if (cell == PAI__NOTHING || h->pcells[cell].sick > 0)
      return;
  }
}

void pai__hived_set_node(pai__hived *h, uint32_t node, bool good)
{
  if (node >= h->nnodes || h->node_sick[node] == !good)
    return;
  h->node_sick[node] = !good;
  for (uint32_t i = h->node_first[node]; i < h->node_first[node + 1]; i++) {
    uint32_t cell = h->pleaves[h->node_leaves[i]].cell;

    if (good)
      heal(h, cell);
    else
      sicken(h, cell);
  }
}
