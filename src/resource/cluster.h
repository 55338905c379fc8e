/*
 * cluster.h - internal: the machines of a cluster, and who may use them
 *
 * A cluster is filled by one reader, ended, and then only changes in what is
 * sick.  Everything refers to everything else by its index.
 */
#ifndef PAI_SRC_RESOURCE_CLUSTER_H
#define PAI_SRC_RESOURCE_CLUSTER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "resource/part.h"

#include <openpai/cluster.h>

#define PAI__NOTHING UINT32_MAX              /* as an index */
#define PAI__MOST_MEMORY (UINT64_C(1) << 50) /* of a machine, of a GPU */

enum {
  PAI__CLUSTER_MAX_BYTES = 64 << 20, /* of a text, unless told otherwise */
  PAI__CLUSTER_MAX_NODES = 100000,
  PAI__CLUSTER_MAX_GPUS = 1 << 20, /* of all nodes; cells count like them */
  PAI__MAX_KINDS = 4096,           /* of GPUs */
  PAI__LONGEST_REASON = 253,       /* bytes: why something is sick */
  PAI__NODE_MAX_GPUS = 4096,
  PAI__CELLS_MAX_TYPES = 4096, /* that are given; not their leaf types */
  PAI__CELLS_MAX_LEVELS = 24,
  PAI__CELLS_MAX_TEXT = 128 << 20 /* of all their addresses */
};

/* A kind of GPU: what jobs ask for by name, the leaf cells of HiveD. */
typedef struct pai__gpu_kind {
  const char *name;
  const char *resource; /* as "nvidia.com/gpu", or NULL */
  uint64_t memory;      /* of each, in bytes; 0: not known */
} pai__gpu_kind;

/* So many GPUs of a kind, numbered after those of the groups before. */
typedef struct pai__gpu_group {
  uint32_t kind;
  uint32_t count;
} pai__gpu_group;

typedef struct pai__gpu {
  const char *uuid; /* or NULL */
  char *sick;       /* likewise */
  uint16_t number;  /* its device, as jobs are told; mostly its place */
  uint16_t kind;
} pai__gpu;

/* So many GPUs that share something: "switch", "nvlink". */
typedef struct pai__near_group {
  const char *name;
  uint32_t gpus;
} pai__near_group;

/* A type of machine. */
typedef struct pai__sku {
  const char *name;
  const pai__gpu_group *groups;
  const pai__gpu *fresh; /* the GPUs of a new node; made when it is added */
  uint32_t ngroups;
  uint32_t gpus; /* of all groups */
  uint32_t numa; /* NUMA nodes; the GPUs are spread over them; >= 1 */
  const pai__near_group *near; /* in any order */
  uint32_t nnear;
  uint32_t at; /* while it is read: the node of the text's tree that
                         tells of it, or 0; likewise below */
  uint32_t cpus, used_cpus;     /* used: by what runs on each node anyway */
  uint64_t memory, used_memory; /* bytes */
} pai__sku;

typedef struct pai__label {
  const char *key, *value;
} pai__label;

typedef struct pai__member {
  const char *name;
  const char *address; /* NULL: as the name */
  const char *pin;     /* a name for the cell that it is, or NULL */
  const pai__label *labels;
  char *sick; /* why it is out of use, or NULL; of the cluster's allocator */
  uint32_t nlabels;
  uint32_t sku;
  uint32_t rack;      /* or PAI__NOTHING */
  uint32_t first_gpu; /* as many as its SKU says, in `gpus` */
} pai__member;

/* --- cells ---------------------------------------------------------------- */

/* A type of cell: so many cells of another type, or one GPU. */
typedef struct pai__cell_type {
  const char *name;
  uint32_t child;    /* PAI__NOTHING: it is a kind of GPU */
  uint32_t children; /* how many; a leaf has 0 */
  bool is_node;      /* all GPUs of its kind that a node has */
  bool in_node;      /* a part of a node, or a leaf; neither: above nodes */
} pai__cell_type;

/* Cells lie depth first, as a tree's nodes do: the first child is the next
 * cell, the next sibling is `skip`. */
typedef struct pai__cell {
  const char *address; /* "rack/node/0/3": unique in its chain */
  const char *pin;     /* its name, if shares may be bound to it */
  uint32_t type;
  uint32_t parent; /* PAI__NOTHING for the top of a chain */
  uint32_t skip;
  uint32_t node; /* of parts of a node, else PAI__NOTHING */
  uint32_t gpu;  /* of leaves, in `gpus`, else PAI__NOTHING */
} pai__cell;

/* What a virtual cluster may use: so many cells, or one cell with a name. */
typedef struct pai__share {
  const char *path; /* "chain.type", as it was given; or NULL */
  const char *pin;  /* or NULL */
  uint32_t count;
  uint32_t at;
} pai__share;

/* Or a part of the whole: of each kind of GPU, of the CPUs and the memory. */
typedef struct pai__vc {
  const char *name;
  const pai__share *shares; /* of one with a part those that were derived */
  uint32_t nshares;
  uint32_t at;
  uint32_t part, most; /* in hundredths of a percent; most is no less */
  bool parted;         /* it has a part, and no shares that were given; */
  bool rest;           /* which is what all others leave */
  bool stopped;        /* nothing of it starts */
} pai__vc;

/* What a job is given with each leaf cell of a type: HiveD's skuTypes. */
typedef struct pai__unit {
  const char *name;
  const char *gpu_type; /* or NULL */
  uint32_t gpus, cpus;
  uint64_t memory;
} pai__unit;

/* A setting of HiveD itself, which is only kept. */
typedef struct pai__setting {
  const char *key; /* static */
  const char *text;
  int64_t number; /* when text is NULL */
} pai__setting;

/* --- the whole ------------------------------------------------------------ */

struct pai_cluster {
  pai_alloc alloc;
  pai__arena arena; /* strings, labels, groups, shares */
  const char *name; /* "" when it has none */
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
  size_t nsick;                 /* reasons that are kept */
  const pai__unit *units;       /* of the arena, as these */
  const pai__setting *settings; /* in the order HiveD knows them */
  size_t nunits, nsettings;
  bool derived;        /* the cells were made of the nodes, not given */
  uint32_t *by_name;   /* nodes in the order of their names; NULL: they are */
  pai__map sku_index;  /* names of SKUs -> 1 + their index */
  pai__map rack_index; /* while it is filled */
};

/* PAI_OK or PAI_ENOMEM, here and below; what is handed in is copied into the
 * cluster's arena but for what is said to be there. */
int pai__cluster_new(pai_cluster **out, const pai_alloc *alloc);

/* A string of the arena; len bytes. */
const char *pai__cluster_text(pai_cluster *c, const char *s, size_t len);

/* The index of what is there by that name, or PAI__NOTHING. */
uint32_t pai__cluster_find_kind(const pai_cluster *c, const char *name,
                                size_t len);
uint32_t pai__cluster_find_sku(const pai_cluster *c, const char *name,
                               size_t len);
uint32_t pai__cluster_find_type(const pai_cluster *c, const char *name,
                                size_t len);

/* These take strings of the arena. */
int pai__cluster_add_kind(pai_cluster *c, const pai__gpu_kind *kind,
                          uint32_t *index);
int pai__cluster_add_sku(pai_cluster *c, const pai__sku *sku, uint32_t *index);
int pai__cluster_add_vc(pai_cluster *c, const pai__vc *vc);

/* --- parts.c -------------------------------------------------------------- */

/* What a virtual cluster with a part has of an amount that the whole cluster
 * has, rounded down; the rest is what is left of it.  `most`: the most that it
 * may have. */
uint64_t pai__part_amount(const pai_cluster *c, size_t vc, uint64_t whole,
                          bool most);
bool pai__cluster_has_parts(const pai_cluster *c);
int pai__cluster_add_type(pai_cluster *c, const pai__cell_type *type);
int pai__cluster_add_cell(pai_cluster *c, const pai__cell *cell);

/* Finds a rack, or adds it. */
int pai__cluster_rack(pai_cluster *c, const char *name, size_t len,
                      uint32_t *index);

/* Room for so many nodes with so many GPUs in all, if that is known. */
int pai__cluster_reserve(pai_cluster *c, size_t nodes, size_t gpus);

/* A node of that SKU and its GPUs, numbered from 0; the rest of it is filled
 * in by the caller, with strings of the arena. */
int pai__cluster_add_node(pai_cluster *c, const char *name, uint32_t sku,
                          pai__member **node);

/* What is sick, and why; "" or NULL: well again. */
int pai__cluster_set_sick(pai_cluster *c, char **sick, const char *why);

/* Things in the order of their names, and then of their indices. */
typedef struct pai__named {
  const char *name;
  uint32_t index;
} pai__named;

void pai__sort_names(pai__named *list, size_t n);

/* Sorts the names.  PAI_EEXISTS with the indices of two nodes that have the
 * same one. */
int pai__cluster_end(pai_cluster *c, uint32_t same[2]);

static inline const pai__sku *pai__sku_of(const pai_cluster *c,
                                          const pai__member *node)
{
  return &c->skus[node->sku];
}

#endif
