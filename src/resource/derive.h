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
 * node has a GPU; PAI_ENOMEM.
 */
int pai__cells_derive(pai_cluster *c);

/* The last step of it: completes the shares (derive_shares.c). */
int pai__derive_shares(pai_cluster *c);

#endif
