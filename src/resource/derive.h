/* derive.h - internal to the room: cells made of machines */
#ifndef PAI_SRC_RESOURCE_DERIVE_H
#define PAI_SRC_RESOURCE_DERIVE_H

#include "resource/cluster.h"

/*
 * Gives a cluster without cells the cells that its machines are: GPU, what
 * shares a switch or a link, NUMA node, machine, rack; levels that would say
 * nothing are left out.  A chain for each SKU and kind of GPU: machines of
 * equal build.
 *
 * Shares name the types of cells that this makes, as docs/guide/clusters.md
 * lists them.  PAI_OK, also when there are cells already; PAI_ENOTFOUND: no
 * node has a GPU; PAI_ELIMIT: more cells than one cluster may have, or more
 * text in their addresses; PAI_ENOMEM.
 */
int pai__cells_derive(pai_cluster *c);

/* What PAI_ELIMIT means, for a message; of PAI__CLUSTER_MAX_GPUS and MiB. */
#define PAI__CELLS_LIMIT                                            \
  "the machines are more than %d cells, or the addresses of these " \
  "more than %d MiB"

/* Leaf cells are called as their kind of GPU, but for what would part a path. */
static inline char pai__leaf_char(char c)
{
  return c == '.' || c == '/' ? '-' : c;
}

/* The last step of it: completes the shares (derive_shares.c). */
int pai__derive_shares(pai_cluster *c);

/* --- derive_nodes.c ------------------------------------------------------- */

typedef struct pai__placed {
  uint32_t rack, node;
} pai__placed;

/* The nodes of each SKU, in the order of the cluster: those of sku are
 * list[first[sku]] to before list[first[sku + 1]]. */
typedef struct pai__sku_nodes {
  const pai_cluster *c;
  pai__placed *list;
  size_t *first;
} pai__sku_nodes;

/* PAI_OK or PAI_ENOMEM; dispose it in either case. */
int pai__sku_nodes_init(pai__sku_nodes *n, const pai_cluster *c);
void pai__sku_nodes_dispose(pai__sku_nodes *n);

/* How many nodes of a SKU there are in each rack that has any, and then they
 * are listed rack by rack; 0: it is one, or they differ, or some are in no
 * rack. */
uint32_t pai__sku_nodes_rack(pai__sku_nodes *n, uint32_t sku);

#endif
