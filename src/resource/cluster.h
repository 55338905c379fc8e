/*
 * cluster.h - internal: the model of a cluster: nodes, GPUs, SKUs, cells and
 * virtual clusters
 *
 * A reader fills a cluster and calls pai__cluster_end().  After that only the
 * sick state of nodes and GPUs changes.  Objects refer to each other by index.
 */
#ifndef PAI_SRC_RESOURCE_CLUSTER_H
#define PAI_SRC_RESOURCE_CLUSTER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "resource/part.h"

#include <openpai/cluster.h>

#define PAI__NOTHING UINT32_MAX              /* no index */
#define PAI__MOST_MEMORY (UINT64_C(1) << 50) /* bytes, also of a GPU */

enum {
  PAI__CLUSTER_MAX_BYTES = 64 << 20, /* default limit of a cluster's text */
  PAI__CLUSTER_MAX_NODES = 100000,
  PAI__CLUSTER_MAX_GPUS = 1 << 20, /* in all nodes; also the limit of cells */
  PAI__MAX_KINDS = 4096,           /* kinds of GPUs */
  /* bytes of the reason why something is sick */
  PAI__LONGEST_REASON = 253,
  PAI__NODE_MAX_GPUS = 4096,
  PAI__CELLS_MAX_TYPES = 4096, /* types given in a text, without leaf types */
  PAI__CELLS_MAX_LEVELS = 24,
  PAI__CELLS_MAX_TEXT = 128 << 20 /* bytes of all addresses of cells */
};

/* A kind of GPU: the name by which jobs ask for it, and HiveD's leaf cell
 * type. */
typedef struct pai__gpu_kind {
  const char *name;
  const char *resource; /* Kubernetes resource, as "nvidia.com/gpu", or NULL */
  uint64_t memory;      /* bytes of each GPU; 0: unknown */
} pai__gpu_kind;

/* GPUs of one kind in a node; they are numbered after the GPUs of the groups
 * before. */
typedef struct pai__gpu_group {
  uint32_t kind;
  uint32_t count;
} pai__gpu_group;

typedef struct pai__gpu {
  const char *uuid; /* or NULL */
  char *sick;       /* why it is sick, or NULL */
  /* device number that jobs see; usually its index in the node */
  uint16_t number;
  uint16_t kind;
} pai__gpu;

/* A locality level: how many GPUs share something, such as "switch" or
 * "nvlink". */
typedef struct pai__gpu_locality {
  const char *name;
  uint32_t gpus;
} pai__gpu_locality;

/* A SKU: nodes of the same hardware. */
typedef struct pai__sku {
  const char *name;
  const pai__gpu_group *groups;
  /* template for the GPUs of a new node, made by pai__cluster_add_sku() */
  const pai__gpu *fresh;
  uint32_t ngroups;
  uint32_t gpus; /* GPUs of all groups */
  uint32_t numa; /* NUMA nodes, over which the GPUs are spread; >= 1 */
  const pai__gpu_locality *near; /* in any order */
  uint32_t nnear;
  /* while the text is read: the tree node that defines this object, or 0; the
   * same in pai__share and pai__vc */
  uint32_t at;
  /* used_cpus: taken on each node by system services */
  uint32_t cpus, used_cpus;
  uint64_t memory, used_memory; /* bytes */
} pai__sku;

typedef struct pai__label {
  const char *key, *value;
} pai__label;

typedef struct pai__member {
  const char *name;
  const char *address; /* NULL: the same as the name */
  const char *pin;     /* name of its cell if that is pinned, or NULL */
  const pai__label *labels;
  /* why it is sick, or NULL; allocated by the cluster's allocator */
  char *sick;
  uint32_t nlabels;
  uint32_t sku;
  uint32_t rack; /* index of its rack, or PAI__NOTHING */
  /* index in `gpus` of its first GPU; it has as many as its SKU */
  uint32_t first_gpu;
} pai__member;

/* --- cells --------------------------------------------------------------- */

/* A type of cell: a number of cells of a child type, or one GPU. */
typedef struct pai__cell_type {
  const char *name;
  /* child type; PAI__NOTHING: a leaf, which is a kind of GPU */
  uint32_t child;
  uint32_t children; /* number of children; 0 for a leaf */
  bool is_node;      /* a cell of it is all GPUs of one kind in a node */
  /* part of a node, or a leaf; if neither flag is set, it is above nodes */
  bool in_node;
} pai__cell_type;

/* Cells are stored depth first: the first child is the next cell, the next
 * sibling is `skip`. */
typedef struct pai__cell {
  const char *address; /* "rack/node/0/3": unique in its chain */
  const char *pin;     /* name of a pinned cell, or NULL */
  uint32_t type;
  uint32_t parent; /* PAI__NOTHING for the top of a chain */
  uint32_t skip;
  uint32_t node; /* node of a cell within a node, else PAI__NOTHING */
  uint32_t gpu;  /* index in `gpus` of a leaf, else PAI__NOTHING */
} pai__cell;

/* What a virtual cluster may use: a number of cells of a type, or one pinned
 * cell. */
typedef struct pai__share {
  const char *path; /* "chain.type" as given, or NULL */
  const char *pin;  /* or NULL */
  uint32_t count;
  uint32_t at;
} pai__share;

/* A virtual cluster.  It has either shares, or a part of the whole cluster: of
 * each kind of GPU, of the CPUs and of the memory. */
typedef struct pai__vc {
  const char *name;
  const pai__share *shares; /* with a part: the derived shares */
  uint32_t nshares;
  uint32_t at;
  /* capacity and maximum, in hundredths of a percent; part <= most */
  uint32_t part, most;
  bool parted;  /* it was given a part instead of shares */
  bool rest;    /* its part is what all others leave */
  bool stopped; /* no request of it starts */
} pai__vc;

/* What a job gets with each leaf cell of a type: an entry of HiveD's
 * skuTypes. */
typedef struct pai__unit {
  const char *name;
  const char *gpu_type; /* or NULL */
  uint32_t gpus, cpus;
  uint64_t memory;
} pai__unit;

/* A setting of HiveD, which is kept but not used. */
typedef struct pai__setting {
  const char *key; /* static */
  const char *text;
  int64_t number; /* when text is NULL */
} pai__setting;

/* --- the whole ----------------------------------------------------------- */

struct pai_cluster {
  pai_alloc alloc;
  pai__arena arena; /* owns strings, labels, groups and shares */
  const char *name; /* "" if it has no name */
  const char *form; /* static */
  pai__gpu_kind *kinds;
  pai__sku *skus;
  const char **racks;
  pai__member *nodes;
  pai__gpu *gpus;
  pai__vc *vcs;
  pai__cell_type *types;
  pai__cell *cells;
  size_t nkinds, nskus, nracks, nnodes, ngpus, nvcs, ntypes, ncells;
  size_t kind_cap, sku_cap, rack_cap, node_cap, gpu_cap, vc_cap, type_cap,
    cell_cap;
  size_t nsick;                 /* number of nodes and GPUs that are sick */
  const pai__unit *units;       /* in the arena, as the settings are */
  const pai__setting *settings; /* in HiveD's order */
  size_t nunits, nsettings;
  bool derived;        /* the cells were derived from the nodes, not given */
  uint32_t *by_name;   /* nodes sorted by name; NULL if `nodes` is sorted */
  pai__map sku_index;  /* names of SKUs -> 1 + their index */
  pai__map rack_index; /* used while the cluster is filled */
};

/* The functions below that return int return PAI_OK or PAI_ENOMEM.  They copy
 * their arguments into the cluster's arena, except strings that must be in the
 * arena already. */
int pai__cluster_new(pai_cluster **out, const pai_alloc *alloc);

/* Copies len bytes into the arena as a string. */
const char *pai__cluster_text(pai_cluster *c, const char *s, size_t len);

/* Return the index of the object with that name, or PAI__NOTHING. */
uint32_t pai__cluster_find_kind(const pai_cluster *c, const char *name,
                                size_t len);
uint32_t pai__cluster_find_sku(const pai_cluster *c, const char *name,
                               size_t len);
uint32_t pai__cluster_find_type(const pai_cluster *c, const char *name,
                                size_t len);

/* The strings must be in the arena. */
int pai__cluster_add_kind(pai_cluster *c, const pai__gpu_kind *kind,
                          uint32_t *index);
int pai__cluster_add_sku(pai_cluster *c, const pai__sku *sku, uint32_t *index);
int pai__cluster_add_vc(pai_cluster *c, const pai__vc *vc);

/* --- derive_shares.c ----------------------------------------------------- */

/* Returns how much of the whole cluster's amount a virtual cluster with a part
 * has, rounded down; a virtual cluster with `rest` has what the others leave.
 * `most`: returns its maximum instead of its capacity. */
uint64_t pai__part_amount(const pai_cluster *c, size_t vc, uint64_t whole,
                          bool most);
bool pai__cluster_has_parts(const pai_cluster *c);
int pai__cluster_add_type(pai_cluster *c, const pai__cell_type *type);
int pai__cluster_add_cell(pai_cluster *c, const pai__cell *cell);

/* Finds or adds a rack. */
int pai__cluster_rack(pai_cluster *c, const char *name, size_t len,
                      uint32_t *index);

/* Reserves memory for a number of nodes and GPUs. */
int pai__cluster_reserve(pai_cluster *c, size_t nodes, size_t gpus);

/* Adds a node of a SKU with its GPUs, numbered from 0.  The caller fills in
 * the other fields, with strings of the arena. */
int pai__cluster_add_node(pai_cluster *c, const char *name, uint32_t sku,
                          pai__member **node);

/* Sets why a node or GPU is sick; "" or NULL: it is usable again. */
int pai__cluster_set_sick(pai_cluster *c, char **sick, const char *why);

/* Changes a cluster to what HiveD's configuration of it would be: with cells,
 * at least one virtual cluster, and only nodes that have cells.  Returns the
 * codes of pai_cluster_write_hived() (as_hived.c). */
int pai__cluster_as_hived(pai_cluster *c, pai_error **err);

/* An entry of a list that is sorted by name, then by index. */
typedef struct pai__named {
  const char *name;
  uint32_t index;
} pai__named;

void pai__sort_names(pai__named *list, size_t n);

/* Ends the filling: sorts the nodes by name.  Returns PAI_EEXISTS, with the
 * indices of two nodes in `same`, if both have the same name. */
int pai__cluster_end(pai_cluster *c, uint32_t same[2]);

static inline const pai__sku *pai__sku_of(const pai_cluster *c,
                                          const pai__member *node)
{
  return &c->skus[node->sku];
}

#endif
