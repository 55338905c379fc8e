/*
 * made.h - machines for tests: made up from a line, or read from the files of
 * real ones
 */
#ifndef PAI_TESTS_RESOURCE_MADE_H
#define PAI_TESTS_RESOURCE_MADE_H

#include "cases.h"

#include "resource/topology/topology.h"

/*
 * A machine from a line, as "p(ncc h(b(gg)))": p package, r group, n NUMA node
 * of 64 GiB, c core of two processing units, h host bridge, b PCI bridge, g
 * NVIDIA's GPU as NVML knows it, a AMD's as RSMI does, d NVSwitch, e network
 * card.  What is in brackets is in the letter before; blanks do not count.
 * PAI_OK or PAI_ENOMEM.
 */
int test_make(pai_topology **out, const char *line, const pai_alloc *alloc);
/* The same, which must not fail. */
pai_topology *test_machine(const char *line);

/* hwloc's XML, which must be right. */
pai_topology *test_xml(const char *text);

/* Its views, which must be there. */
pai_topology_summary test_sum(const pai_topology *t);
pai_topology_gpu test_gpu(const pai_topology *t, uint32_t i);
pai_topology_object test_object(const pai_topology *t, uint32_t i);
/* "INDEX PCI VENDOR MODEL UUID SERIAL BACKENDS BYTES ..."; freed with free(). */
char *test_gpu_line(const pai_topology *t, uint32_t i);
/* What must hold for every tree. */
void test_tree_holds(const pai_topology *t);

/* Adds a matrix over GPUs by their numbers; n * n values. */
int test_matrix(pai_topology *t, const char *name, uint32_t n,
                const uint64_t *values);

/* A file of topologies/, or NULL where there is none. */
pai_topology *test_real(const char *name);

#endif
