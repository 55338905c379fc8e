/* clusters.h - clusters in tests of the room `resource`: made of texts, shown
 * as short lines, written and read again */
#ifndef PAI_TESTS_RESOURCE_CLUSTERS_H
#define PAI_TESTS_RESOURCE_CLUSTERS_H

#include "cases.h"

#include <openpai/cluster.h>

/* What must be a cluster.  Here and below, a text that begins with {' is JSON
 * with ' for each ". */
pai_cluster *test_cluster(const char *text, const char *form);
pai_cluster *test_synthetic(const char *description);

/* Its views, which must be there. */
pai_cluster_view test_sums(const pai_cluster *c);
pai_node_view test_node(const pai_cluster *c, size_t i);
pai_node_gpu_view test_node_gpu(const pai_cluster *c, size_t node, size_t i);
pai_sku_view test_sku(const pai_cluster *c, size_t i);

/* The cluster in our own form, and in HiveD's; freed with free(). */
char *test_cluster_text(const pai_cluster *c, int format);
char *test_hived_text(pai_cluster *c, int format);

/*
 * All of a cluster, freed with free(); numbers of 0, and names that are not
 * there, are left out:
 *   NAME FORM: 2 nodes, 9 GPUs, 1 racks, 1+3 sick, 72 cpus, 3T
 *   kind KIND RESOURCE 80G
 *   sku SKU: 8 KIND numa=2 NEAR=4 128-4 cpus 2T-32G, 2 nodes
 *   NODE: SKU rack=RACK address=ADDRESS pin=PIN KEY=VALUE sick=WHY
 *     gpu 3: number=9 uuid=UUID sick=WHY   (those with something of their own)
 *   vc VC: 2 PATH, pin PIN
 */
char *test_cluster_lines(const pai_cluster *c);

/* What is found in a text: "CODE POINTER LINE:COLUMN" for each, a line each,
 * with a ? before the code of warnings; `says` and `help` are parts of the
 * first one's (NULL: any, and none). */
void test_cluster_found(const char *text, const char *form, const char *list,
                        const char *says, const char *help);

/* With one node less allowed than it has, a text is refused. */
void test_cluster_limit(const char *text, uint32_t nodes);

/* For test_faults(): the text in user_data is checked, and changed and written
 * in both forms if it is valid. */
int test_cluster_memory(const pai_alloc *alloc, void *user_data);

/* Through both forms, in both syntaxes; and each writes the same again.  HiveD
 * needs a virtual cluster, and is given one where there is none. */
void test_hived_round_trip(const char *text);

/* A pai_write_cb that fails with PAI_EUSER. */
int test_cluster_refuse(void *user_data, const char *bytes, size_t len);

#endif
