/*
 * shape.h - internal to the room: make SKUs from what single nodes have
 *
 * This is the only place that decides which nodes are of the same hardware.
 */
#ifndef PAI_SRC_RESOURCE_SHAPE_H
#define PAI_SRC_RESOURCE_SHAPE_H

#include "resource/cluster/read.h"

/* Additional data of a SKU. */
typedef struct pai__shape_sku {
  /* memory of its first node, in all and without used_memory */
  uint64_t memory, left;
  uint32_t before; /* 1 + the previous SKU with the same key, or 0 */
} pai__shape_sku;

typedef struct pai__shapes {
  pai_cluster *c;
  /* key (all fields but the memory) -> 1 + the last SKU with it */
  pai__map by_key;
  pai__map names; /* name of a SKU -> how often it was asked for */
  pai__shape_sku *skus;
  size_t cap;
  pai__buf text;
} pai__shapes;

/* The cluster must have no SKUs yet, and must get all of them from
 * pai__shapes_sku(). */
void pai__shapes_init(pai__shapes *s, pai_cluster *c);
void pai__shapes_dispose(pai__shapes *s);

/* The longest name of a SKU, before a suffix such as "-2". */
enum { PAI__SHAPE_NAME = 200 };

/* Finds or adds the SKU of nodes with the hardware `has`.  Returns
 * PAI__NOTHING if memory is short.  `has` is copied, except its name: the SKU
 * is called `name`, or after its hardware if `name` is NULL or too long.
 *
 * Memory that differs by up to a 64th counts as the same, because kernels keep
 * a varying amount for themselves.  The SKU then has the least memory of its
 * nodes. */
uint32_t pai__shapes_sku(pai__shapes *s, pai__piece name, const pai__sku *has);

#endif
