/* columns.c - what changes of cells, leaves and views, as columns of numbers */
#include "sched/hived/engine.h"
#include "sched/hived/save.h"

#define COLUMN(key, array, count, member, kind, low, high)                   \
  {                                                                          \
    (key), h->array != NULL ? (void *)&h->array[0].member : NULL, h->count,  \
      sizeof(h->array[0]), sizeof(h->array[0].member), (kind), (low), (high) \
  }
#define NUMBERS(key, array, count, member, low, high) \
  COLUMN(key, array, count, member, PAI__COLUMN_NUMBER, low, high)

size_t pai__hived_columns(const pai__hived *h, pai__column *out)
{
  int64_t leaves = (int64_t)h->npleaves, most = INT32_MAX;
  pai__column list[] = {
    COLUMN("bound", pcells, npcells, bound, PAI__COLUMN_VCELL, 0, 0),
    NUMBERS("opportunistic", pcells, npcells, opp, 0, leaves),
    NUMBERS("sick_children", pcells, npcells, sick, 0, leaves),
    NUMBERS("priority", pcells, npcells, priority, -2, 1000),
    NUMBERS("flags", pcells, npcells, flags, 0, 7),
    COLUMN("user", pleaves, npleaves, user, PAI__COLUMN_GROUP, 0, 0),
    COLUMN("reserving", pleaves, npleaves, reserving, PAI__COLUMN_GROUP, 0, 0),
    NUMBERS("state", pleaves, npleaves, state, 0, PAI__LEAF_RESERVED),
    NUMBERS("guaranteed", pleaves, npleaves, guaranteed, 0, 1),
    COLUMN("virtual_bound", vcells, nvcells, bound, PAI__COLUMN_CELL, 0, 0),
    NUMBERS("virtual_priority", vcells, nvcells, priority, -2, 1000),
    NUMBERS("virtual_state", vleaves, nvleaves, state, 0, PAI__LEAF_RESERVED),
    NUMBERS("left", levels, nlevels, left, -most, most),
    NUMBERS("wanted", levels, nlevels, wanted, -most, most),
    NUMBERS("owned", pair_levels, npair_levels, free, -most, most),
    NUMBERS("view_used", vnodes, nvnodes, used, 0, leaves),
    NUMBERS("view_opportunistic", vnodes, nvnodes, opp, 0, leaves),
    { "virtual_leaf_priority", h->vpriority, h->nvleaves,
      sizeof(*h->vpriority), sizeof(*h->vpriority), PAI__COLUMN_NUMBER, -2,
      1000 },
    { "sick_nodes", h->node_sick, h->nnodes, sizeof(*h->node_sick),
      sizeof(*h->node_sick), PAI__COLUMN_NUMBER, 0, 1 },
  };

  memcpy(out, list, sizeof(list));
  return PAI__LEN(list);
}
