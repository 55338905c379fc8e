/*
 * park.h - internal: what a scheduler knows of a cluster and never changes
 *
 * Made of a cluster, and shared by all forks, also of other threads.  What
 * changes about a node is in room.h.
 *
 * Threads: IMMUTABLE; counting its owners is ANY.
 */
#ifndef PAI_SRC_SCHED_PARK_H
#define PAI_SRC_SCHED_PARK_H

#include "resource/cluster.h"
#include "sched/flat.h"

#include <openpai/allocation.h>

#include <stdatomic.h>

/* So many GPUs of a node that share something: bits 0 to gpus - 1 are the
 * first such group. */
typedef struct pai__near {
  const char *name;
  uint32_t gpus;
} pai__near;

/* Nodes of one SKU. */
typedef struct pai__build {
  const char *name;
  uint64_t all;          /* mask of the GPUs */
  const uint64_t *kinds; /* of each kind */
  const pai__near *near; /* the smallest first */
  uint32_t nnear;
  uint32_t gpus, numa;
  uint32_t cpus;      /* 0: nobody knows, and nobody counts */
  uint32_t first_cpu; /* those before are used by what runs anyway */
  uint32_t cpu_words; /* for a mask of CPUs */
  uint64_t memory;    /* for jobs; 0 as for CPUs */
} pai__build;

typedef struct pai__spot {
  const char *name;
  uint32_t build;
  uint32_t rack;           /* or PAI__NONE */
  uint32_t first_cpu_word; /* in the masks of all nodes */
  uint32_t first_gpu;      /* in `numbers` */
} pai__spot;

/* A part of a node. */
typedef struct pai__part {
  uint32_t node;
  uint64_t gpus;
} pai__part;

/* What a pin names: parts, by their nodes. */
typedef struct pai__pin {
  const char *name;
  uint32_t first, count; /* in `parts` */
} pai__pin;

/* What a virtual cluster has a share of: each kind of GPU; and CPUs and memory,
 * which stand behind those, if it has a part of the whole. */
enum { PAI__SHARE_CPUS, PAI__SHARE_MEMORY, PAI__SHARES_BESIDE };
#define PAI__NO_LIMIT \
  INT64_MAX /* of a share: nobody knows how much there is */

/* A virtual cluster. */
typedef struct pai__tenant {
  const char *name;
  const uint64_t *shares; /* what it may have; NULL: there are no shares */
  const uint64_t *own;    /* what it is to have, if others want that, too */
  uint32_t nshares;       /* that count: 0, of cells the GPUs, of a part all */
  bool parted;            /* it has a part of the whole, and gets no more than
                             its shares whatever a policy may lend */
  bool stopped;           /* nothing of it starts */
} pai__tenant;

typedef struct pai__park {
  atomic_uint owners;
  pai_alloc alloc;
  pai__arena arena;
  const pai__build *builds;
  const pai__spot *spots;
  const char **kinds;
  const char **racks;
  const pai__tenant *tenants;
  const pai__pin *pins;
  const pai__part *parts;
  const uint16_t *numbers; /* of all GPUs, as jobs are told */
  const uint32_t *by_name; /* nodes */
  const uint32_t *by_rack; /* nodes, rack by rack in their order, and then */
  const uint32_t *rack_first; /* those without; where each rack begins, and
                                 the end of the last */
  uint32_t nbuilds, nspots, nkinds, nracks, ntenants, npins;
  uint32_t cpu_words; /* of all nodes */
  char *text;         /* the cluster in our own form, as JSON in one line */
  size_t text_len;
} pai__park;

/* PAI_OK; PAI_ELIMIT: too many GPUs on a node; PAI_ENOMEM. */
int pai__park_new(pai__park **out, const pai_cluster *c,
                  const pai_alloc *alloc, pai_error **err);
pai__park *pai__park_ref(pai__park *park);
void pai__park_unref(pai__park *park);

/* Each answers PAI__NONE where there is none of that name. */
uint32_t pai__park_node(const pai__park *park, const char *name);
uint32_t pai__park_tenant(const pai__park *park, const char *name);
uint32_t pai__park_pin(const pai__park *park, const char *name);

/* What a request may name as its type: a kind of GPU, or nkinds + a SKU. */
uint32_t pai__park_type(const pai__park *park, const char *name);

/* Which GPUs of a node are in a pinned cell. */
uint64_t pai__park_pinned(const pai__park *park, uint32_t pin, uint32_t node);

/* Are all of its GPUs, if it has any, of one kind? */
bool pai__build_is_plain(const pai__park *park, const pai__build *b);

/* How many amounts there are of each tenant. */
static inline uint32_t pai__park_shares(const pai__park *park)
{
  return park->nkinds + PAI__SHARES_BESIDE;
}

static inline const pai__build *pai__build_of(const pai__park *park,
                                              uint32_t node)
{
  return &park->builds[park->spots[node].build];
}

/* Which GPUs of a node are of a type; PAI__NONE: any. */
static inline uint64_t pai__park_mask(const pai__park *park, uint32_t node,
                                      uint32_t type)
{
  const pai__build *b = pai__build_of(park, node);

  if (type == PAI__NONE)
    return b->all;
  if (type < park->nkinds)
    return b->kinds[type];
  return park->spots[node].build == type - park->nkinds ? b->all : 0;
}

#endif
