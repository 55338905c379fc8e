/*
 * hived.h - clusters as HiveD's configuration, in tests: there and back again
 */
#ifndef PAI_TESTS_RESOURCE_HIVED_H
#define PAI_TESTS_RESOURCE_HIVED_H

#include "resource/clusters.h"

/* Two types of nodes, M and N, for `physicalCluster:`. */
#define TYPES                                                          \
  "  cellTypes:\n"                                                     \
  "    R: {childCellType: N, childCellNumber: 2}\n"                    \
  "    N: {childCellType: G, childCellNumber: 2, isNodeLevel: true}\n" \
  "    M: {childCellType: H, childCellNumber: 2, isNodeLevel: yes}\n"

/* Through both forms, in both syntaxes; and each writes the same again.  HiveD
 * needs a virtual cluster, and is given one where there is none. */
void test_hived_round_trip(const char *text);

/* For test_faults(): the text in user_data is checked, and written in both
 * forms if it is valid. */
int test_hived_memory(const pai_alloc *alloc, void *user_data);

#endif
