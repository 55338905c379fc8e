/* derive.h - internal to the room: derive the cells of a cluster from its
 * nodes */
#ifndef PAI_SRC_RESOURCE_CLUSTER_DERIVE_H
#define PAI_SRC_RESOURCE_CLUSTER_DERIVE_H

#include "resource/cluster.h"

/*
 * Derives the cells of a cluster that has none from its nodes: GPU, GPUs that
 * share a switch or a link, NUMA node, node, rack.  Levels without information
 * are left out.  There is one chain for each SKU and kind of GPU.
 *
 * Shares name the cell types made here; docs/guide/clusters.md lists them.
 * Returns PAI_OK, also if there are cells already; PAI_ENOTFOUND if no node
 * has a GPU; PAI_ELIMIT for too many cells or too much text in their
 * addresses; PAI_ENOMEM.
 */
int pai__cells_derive(pai_cluster *c);

/* Message for PAI_ELIMIT; takes PAI__CLUSTER_MAX_GPUS and a number of MiB. */
#define PAI__CELLS_LIMIT                                            \
  "the machines are more than %d cells, or the addresses of these " \
  "more than %d MiB"

/* Maps a character of a GPU kind to one of its leaf type, whose name must not
 * contain the separators of paths. */
static inline char pai__leaf_char(char c)
{
  return c == '.' || c == '/' ? '-' : c;
}

/* Returns the index of the entry with that name in a list sorted by name, or
 * PAI__NOTHING. */
uint32_t pai__named_find(const pai__named *list, size_t n, const char *s,
                         size_t len);

/* --- as_hived.c ----------------------------------------------------------- */

/* Derives cells as HiveD needs them.  Returns PAI_OK; PAI_ENOTSUP without
 * GPUs; PAI_ELIMIT; PAI_ENOMEM. */
int pai__hived_cells(pai_cluster *c, pai_error **err);
/* Lists the virtual clusters as HiveD needs them, in the arena.  Returns
 * PAI_OK or PAI_ENOMEM. */
int pai__hived_vcs(const pai_cluster *c, pai__arena *a, pai__vc **vcs,
                   size_t *n);

/* -------------------------------------------------------------------------- */

/* Last step of pai__cells_derive(): completes the shares (derive_shares.c). */
int pai__derive_shares(pai_cluster *c);

#endif
