/*
 * facade_resource.h - machines, clusters, GPUs, samples and allocations, for
 * facade.h, which includes this
 *
 * Numbers of nodes and GPUs count from 0 in every language, as they do in C
 * and in allocations.
 */
#ifndef OPENPAI_BINDINGS_FACADE_RESOURCE_H
#define OPENPAI_BINDINGS_FACADE_RESOURCE_H

#include "facade.h"

typedef pai_topology Topology; /* named apart, as in facade.h */
typedef pai_cluster Cluster;
typedef pai_allocation Allocation;
typedef struct Sampler Sampler;

/* A node, by its name or, if that is NULL, its number. */
typedef struct node_ref {
  const char *name;
  size_t number;
} node_ref;

/* Machines of a cluster to be. */
typedef struct machine_list {
  const pai_cluster_machine *list;
  size_t count;
} machine_list;

/* All nodes, one after the other, for languages whose loops ask a function. */
typedef struct node_walk {
  const Cluster *cluster;
} node_walk;

/* --- machines (facade_topology.c) ----------------------------------------- */

Topology *facade_discover(bool drivers, failure *f);
Topology *facade_topology_load(const char *path, failure *f);
Topology *facade_parse_xml(const char *text, size_t len, failure *f);

listing facade_summary(const Topology *t, failure *f);
listing facade_objects(const Topology *t, failure *f);
listing facade_topology_gpus(const Topology *t, failure *f);
listing facade_between(const Topology *t, uint32_t a, uint32_t b, failure *f);
/* `gpus` are numbers. */
listing facade_affinity(const Topology *t, words gpus, uint32_t cores,
                        failure *f);
/* `marks` has four words a GPU: its node's name, or nothing, then `gpu` counts
 * from the first of all; the GPU's number; "free", "used" or "sick"; who uses
 * it, or why it is sick. */
job_text facade_topology_write(const Topology *t, int format, words marks,
                               failure *f);

/* --- clusters (facade_cluster.c) ------------------------------------------- */

Cluster *facade_cluster_load(const char *path, const char *form, failure *f);
Cluster *facade_cluster_parse(const char *text, size_t len, const char *form,
                              failure *f);
Cluster *facade_from_machines(machine_list machines, failure *f);
pai_report *facade_cluster_check(const char *text, size_t len,
                                 const char *form, failure *f);
pai_report *facade_cluster_check_file(const char *path, const char *form,
                                      failure *f);
listing facade_sums(const Cluster *cluster, failure *f);
size_t facade_node_count(const Cluster *cluster);
size_t facade_find(const Cluster *cluster, node_ref node, failure *f);
listing facade_node(const Cluster *cluster, node_ref node, failure *f);
listing facade_skus(const Cluster *cluster, failure *f);
listing facade_virtual_clusters(const Cluster *cluster, failure *f);
/* gpu -1: the node; why NULL: it is well. */
void facade_set_sick(Cluster *cluster, node_ref node, const char *why,
                     long gpu, failure *f);
job_text facade_cluster_write(const Cluster *cluster, int format, failure *f);
job_text facade_cluster_hived(Cluster *cluster, const char *format,
                              failure *f);
job_text facade_draw(const Cluster *cluster, int format, bool colour,
                     words marks, failure *f);

/* --- GPUs (facade_gpu.c) and samples (facade_sample.c) --------------------- */

/* `pids` and `groups` are numbers.  The GPUs of this machine, its driver, notes and links. */
listing facade_gpus(const char *root, const char *nvml, words pids,
                    words groups, failure *f);

Sampler *facade_sampler(const char *root, const char *nvml, words paths,
                        bool all_groups, failure *f);
void facade_sampler_free(Sampler *s);
void facade_sampler_close(Sampler *s); /* all else fails then */
void facade_watch(Sampler *s, const char *kind, int64_t id, failure *f);
void facade_watch_cgroup(Sampler *s, const char *path, failure *f);
void facade_unwatch(Sampler *s, const char *kind, int64_t id, failure *f);
void facade_unwatch_cgroup(Sampler *s, const char *path, failure *f);
/* `now` in microseconds; -1: of the machine's own clock. */
listing facade_take(Sampler *s, int64_t now, failure *f);
listing facade_sampler_gpus(Sampler *s, failure *f);

/* --- allocations (facade_allocation.c) ------------------------------------- */

/* `kind` is "gpu", "cpu" or "port"; `last` may be PAI_NONE: as `first`. */
void facade_allocation_add(Allocation *set, uint32_t node, const char *kind,
                           uint32_t first, uint32_t last, failure *f);
void facade_allocation_remove(Allocation *set, uint32_t node, const char *kind,
                              uint32_t first, uint32_t last, failure *f);
bool facade_allocation_has(const Allocation *set, uint32_t node,
                           const char *kind, uint32_t number, failure *f);
/* On all nodes if there is no node: PAI_NONE. */
int64_t facade_allocation_count(const Allocation *set, const char *kind,
                                uint32_t node, failure *f);
int64_t facade_allocation_memory(const Allocation *set, uint32_t node);
/* Node by node, lists of ranges. */
listing facade_allocation_nodes(const Allocation *set, failure *f);
job_text facade_allocation_write(const Allocation *set, bool json, failure *f);
enum { SET_UNITE = 1, SET_INTERSECT, SET_SUBTRACT, SET_GIVE, SET_TAKE };
void facade_allocation_change(Allocation *set, const Allocation *other,
                              int how, failure *f);
Allocation *facade_allocation_copy(const Allocation *set, failure *f);

#endif /* OPENPAI_BINDINGS_FACADE_RESOURCE_H */
