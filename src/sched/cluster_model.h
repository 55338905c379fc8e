/*
 * cluster_model.h - internal: the scheduler's model of a cluster
 *
 * The model is built from a pai_cluster and never changes.  All forks share
 * it, also those of other threads.  The changing state of nodes is in
 * free_capacity.h.
 *
 * Threads: IMMUTABLE; counting its owners is ANY.
 */
#ifndef PAI_SRC_SCHED_CLUSTER_MODEL_H
#define PAI_SRC_SCHED_CLUSTER_MODEL_H

#include "resource/cluster.h"
#include "base/flat.h"

#include <openpai/allocation.h>

#include <stdatomic.h>

/* A locality level of a node: groups of `gpus` GPUs that share something.
 * Bits 0 to gpus - 1 are the first group. */
typedef struct pai__sched_locality {
  const char *name;
  uint32_t gpus;
} pai__sched_locality;

/* Amounts of CPUs are in thousandths, as tasks may ask for fractions.  The
 * CPUs of a node are counted as whole ones. */
enum { PAI__CPU = 1000 };

/* Nodes of one SKU. */
typedef struct pai__sched_sku {
  const char *name;
  uint64_t all;                          /* mask of the GPUs */
  const uint64_t *kinds;                 /* mask of the GPUs of each kind */
  const pai__sched_locality *localities; /* smallest groups first */
  uint32_t nlocalities;
  uint32_t gpus, numa;
  uint32_t cpus;      /* 0: unknown, and CPUs are not counted */
  uint32_t first_cpu; /* CPUs below this are used by other software */
  uint32_t cpu_words; /* words of a mask of its CPUs */
  uint64_t memory;    /* available to jobs; 0: unknown, and memory is not
                         counted */
} pai__sched_sku;

typedef struct pai__sched_node {
  const char *name;
  uint32_t sku;
  uint32_t rack;           /* or PAI__NONE */
  uint32_t first_cpu_word; /* index in the masks of CPUs of all nodes */
  uint32_t first_gpu;      /* index in `numbers` */
} pai__sched_node;

/* Some GPUs of a node. */
typedef struct pai__part {
  uint32_t node;
  uint64_t gpus;
} pai__part;

/* A pin, with its parts in the order of nodes. */
typedef struct pai__sched_pin {
  const char *name;
  uint32_t first, count; /* range of `parts` */
} pai__sched_pin;

/* What a virtual cluster has shares of: each kind of GPU and, if it has a part
 * of the whole, CPUs in thousandths and memory.  These two follow the kinds of
 * GPUs. */
enum { PAI__SHARE_CPUS, PAI__SHARE_MEMORY, PAI__SHARES_BESIDE };
#define PAI__NO_LIMIT \
  INT64_MAX /* of a share: the amount of the cluster is unknown */

/* A virtual cluster. */
typedef struct pai__sched_vc {
  const char *name;
  const uint64_t *shares; /* the most that it may have; NULL: no shares */
  const uint64_t *own;    /* what is guaranteed to it */
  uint32_t nshares;       /* number of shares that limit it: 0; for cells the
                             kinds of GPUs; for a part of the whole all */
  bool parted;            /* its shares are a part of the whole, and never
                             exceeded, even if the policy lends */
  bool stopped;           /* none of its requests may start */
} pai__sched_vc;

typedef struct pai__sched_cluster {
  atomic_uint owners;
  pai_alloc alloc;
  pai__arena arena;
  const pai__sched_sku *skus;
  const pai__sched_node *nodes;
  const char **kinds;
  const char **racks;
  const pai__sched_vc *vcs;
  const pai__sched_pin *pins;
  const pai__part *parts;
  const uint16_t *numbers; /* of all GPUs: their numbers, as jobs see them */
  const uint32_t *by_name; /* nodes, sorted by name */
  const uint32_t *by_rack; /* nodes by rack, those without a rack last */
  const uint32_t *rack_first; /* index in `by_rack` where each rack begins, and
                                 the end of the last rack */
  uint32_t nskus, nnodes, nkinds, nracks, nvcs, npins;
  uint32_t cpu_words; /* in the masks of all nodes */
  char *text;         /* the cluster as one line of JSON in OpenPAI's own
                         form */
  size_t text_len;
} pai__sched_cluster;

/* Appends to a pai__buf: a pai_write_cb. */
int pai__collect(void *user_data, const char *bytes, size_t len);

/* Builds a model.  Returns PAI_OK; PAI_ELIMIT if a node has too many GPUs or
 * CPUs; or PAI_ENOMEM. */
int pai__sched_cluster_new(pai__sched_cluster **out, const pai_cluster *c,
                           const pai_alloc *alloc, pai_error **err);
pai__sched_cluster *pai__sched_cluster_ref(pai__sched_cluster *cluster);
void pai__sched_cluster_unref(pai__sched_cluster *cluster);

/* Find a node, virtual cluster or pin by name.  Return PAI__NONE if there is
 * none. */
uint32_t pai__sched_cluster_node(const pai__sched_cluster *cluster,
                                 const char *name);
uint32_t pai__sched_cluster_vc(const pai__sched_cluster *cluster,
                               const char *name);
uint32_t pai__sched_cluster_pin(const pai__sched_cluster *cluster,
                                const char *name);
/* Returns the virtual cluster of that name.  For NULL, returns "default" or,
 * if that does not exist, the only virtual cluster. */
uint32_t pai__sched_cluster_default(const pai__sched_cluster *cluster,
                                    const char *vc);

/* Returns the type of that name: the index of a kind of GPU, or nkinds + the
 * index of a SKU; or PAI__NONE. */
uint32_t pai__sched_cluster_type(const pai__sched_cluster *cluster,
                                 const char *name);

/* Returns which GPUs of a node belong to a pin. */
uint64_t pai__sched_cluster_pinned(const pai__sched_cluster *cluster,
                                   uint32_t pin, uint32_t node);

/* Returns whether all GPUs of a SKU are of one kind, or it has none. */
bool pai__sched_sku_is_plain(const pai__sched_cluster *cluster,
                             const pai__sched_sku *b);

/* Returns the number of amounts stored for each virtual cluster. */
static inline uint32_t pai__sched_cluster_shares(
  const pai__sched_cluster *cluster)
{
  return cluster->nkinds + PAI__SHARES_BESIDE;
}

/* Returns the CPUs available to jobs, in thousandths; 0: unknown. */
static inline uint32_t pai__sched_sku_cpu_millis(const pai__sched_sku *b)
{
  return (b->cpus - b->first_cpu) * PAI__CPU;
}

static inline const pai__sched_sku *pai__sched_sku_of(
  const pai__sched_cluster *cluster, uint32_t node)
{
  return &cluster->skus[cluster->nodes[node].sku];
}

/* Returns which GPUs of a node are of a type; of all types for PAI__NONE. */
static inline uint64_t pai__sched_cluster_mask(
  const pai__sched_cluster *cluster, uint32_t node, uint32_t type)
{
  const pai__sched_sku *b = pai__sched_sku_of(cluster, node);

  if (type == PAI__NONE)
    return b->all;
  if (type < cluster->nkinds)
    return b->kinds[type];
  return cluster->nodes[node].sku == type - cluster->nkinds ? b->all : 0;
}

#endif
