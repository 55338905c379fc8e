/* clusters.h - clusters in tests of the room `resource` */
#ifndef PAI_TESTS_RESOURCE_CLUSTERS_H
#define PAI_TESTS_RESOURCE_CLUSTERS_H

#include "testing.h"

#include <openpai/cluster.h>

/* What must be a cluster. */
pai_cluster *test_cluster(const char *text, const char *form);
pai_cluster *test_synthetic(const char *description);

/* The cluster in our own form, and in HiveD's; freed with free(). */
char *test_cluster_text(const pai_cluster *c, int format);
char *test_hived_text(pai_cluster *c, int format);

/* What is found in a text: "CODE POINTER LINE:COLUMN" for each, a line each,
 * with a ? before the code of warnings; `says` and `help` are parts of the
 * first one's (NULL: any, and none). */
/* From now on findings with this code do not count; NULL: all do. */
void test_cluster_ignore(const char *code);
void test_cluster_found(const char *text, const char *form, const char *list,
                        const char *says, const char *help);

#endif
