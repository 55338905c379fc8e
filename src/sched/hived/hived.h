/*
 * hived.h - internal: interface of the HiveD engine, which places gangs on
 * cells
 *
 * Gangs ("groups") are placed on the cells of their virtual cluster, or
 * opportunistically on any free cells. docs/internals/sched.md describes how,
 * and docs/compatibility.md lists the differences from HiveD.
 *
 * Nodes, kinds, cells and types have the numbers they have in the cluster.
 * Leaf cells are counted from 0 in the order of its cells, and virtual
 * clusters in the order of their names.
 *
 * Pure: no clock, no files.  Threads: SERIAL.
 */
#ifndef PAI_SRC_SCHED_HIVED_HIVED_H
#define PAI_SRC_SCHED_HIVED_HIVED_H

#include "base/buf.h"
#include "resource/cluster.h"

typedef struct pai__hived pai__hived;

enum {
  PAI__HIVED_MAX_PRIORITY = 1000,
  PAI__HIVED_MAX_LEAVES = 1 << 20 /* leaf cells of a group */
};
#define PAI__HIVED_UNKNOWN (UINT32_MAX - 1) /* named, but does not exist */
#define PAI__HIVED_NO_TYPE (UINT32_MAX - 2) /* the bind info gives no type */
#define PAI__HIVED_ANY_TYPE \
  (UINT32_MAX - 3) /* any type of which the virtual cluster owns cells */
/* Flag in the number of a node, type or virtual cluster that the cluster
 * lacks: the rest is a name of pai__hived_name(). */
#define PAI__HIVED_NAME 0x40000000u

/* Number of pods with the same number of leaf cells. */
typedef struct pai__hived_member {
  uint32_t leaves, pods;
} pai__hived_member;

/* Counts the members before the one whose pods have `leaves` leaf cells, with
 * their pods and leaf cells.  0 for `leaves` counts all members. */
typedef struct pai__hived_sums {
  uint32_t members, pods, leaves;
} pai__hived_sums;
static inline pai__hived_sums pai__hived_before(const pai__hived_member *list,
                                                uint32_t n, uint32_t leaves)
{
  pai__hived_sums s = { 0, 0, 0 };

  for (; s.members < n && list[s.members].leaves != leaves; s.members++) {
    s.pods += list[s.members].pods;
    s.leaves += list[s.members].pods * list[s.members].leaves;
  }
  return s;
}

/* A pod's request, and its group. */
typedef struct pai__hived_request {
  const char *group;
  size_t group_len;
  const pai__hived_member *members; /* by ascending leaves, each size once */
  uint32_t nmembers;
  uint32_t leaves;    /* of this pod; the size of one of the members */
  uint32_t vc;        /* or PAI__HIVED_UNKNOWN, or a name */
  uint32_t pin;       /* PAI__NOTHING: none asked for; or PAI__HIVED_UNKNOWN */
  uint32_t leaf_type; /* as `pin`; index of pai__hived_find_leaf_type() */
  int32_t priority;   /* -1: opportunistic */
  bool lazy;          /* lazyPreemptionEnable: it may be preempted lazily */
  bool ignores_suggested;
} pai__hived_request;

/* A device by node, index, cell type and chain, whose cell may not exist any
 * more. */
typedef struct pai__hived_spot {
  uint32_t node, index, type, chain;
} pai__hived_spot;

/* Placement of a bound group, for each of its leaf cells; pods by ascending
 * size. */
typedef struct pai__hived_info {
  const uint32_t *leaves;       /* PAI__NOTHING: the cell is lost */
  const uint32_t *types;        /* type of the preassigned cell; PAI__NOTHING
                                   for opportunistic use, or
                                   PAI__HIVED_NO_TYPE, _ANY_TYPE or
                                   PAI__HIVED_UNKNOWN */
  const pai__hived_spot *spots; /* NULL: no cell was lost */
} pai__hived_info;

enum { PAI__HIVED_FILTERING, PAI__HIVED_PREEMPTING };

/* Reasons why a pod waits; from PAI__WHY_NO_VC on, why it can never run. */
enum {
  PAI__WHY_NOTHING, /* no chain qualifies */
  PAI__WHY_NO_CELLS,
  PAI__WHY_CAPACITY,
  PAI__WHY_SICK_NODE,
  PAI__WHY_UNSUGGESTED_NODE,
  PAI__WHY_MAPPING, /* only sick or unsuggested cells are left */
  PAI__WHY_NO_VC,
  PAI__WHY_NO_PIN,
  PAI__WHY_OPPORTUNISTIC_PIN,
  PAI__WHY_NO_TYPE,
  PAI__WHY_VC_WITHOUT_TYPE,
  PAI__WHY_TOO_MANY_PODS
};

typedef struct pai__hived_why {
  int kind;
  uint32_t vc; /* searched virtual cluster; PAI__NOTHING: the whole cluster */
  uint32_t cell;  /* cell of the sick or unsuggested node */
  bool suggested; /* suggested nodes were taken into account */
  uint32_t leaves,
    pods;            /* leaves of the pod, and TOO_MANY_PODS: pods of that size
                        in the group; CAPACITY: pods that found a node */
  uint32_t nvirtual; /* MAPPING: number of leaves in the engine's scratch */
} pai__hived_why;

enum {
  PAI__HIVED_BIND,
  PAI__HIVED_PREEMPT,
  PAI__HIVED_WAIT,
  PAI__HIVED_REFUSE
};

/* Placement of a whole group; valid until the next call. */
typedef struct pai__hived_gang {
  const pai__hived_member *members;
  const uint32_t *leaves;       /* leaf cells, or PAI__NOTHING for lost ones */
  const uint32_t *vcell;        /* virtual cells; NULL: the group has none */
  const pai__hived_spot *spots; /* NULL: no cell was lost */
  uint32_t nmembers, nleaves;
} pai__hived_gang;

typedef struct pai__hived_result {
  int kind;
  pai__hived_why why; /* for WAIT and REFUSE */
  pai__hived_gang gang;
  uint32_t index;         /* index of the pod among those of its size */
  uint32_t first;         /* index of its first leaf in gang.leaves */
  const uint32_t *groups; /* for PREEMPT: groups whose pods have to stop */
  uint32_t ngroups;
  pai__hived_info info; /* of a new group: argument of pai__hived_add() */
} pai__hived_result;

/* --- life (build.c, memory.c) --------------------------------------------- */

/* Creates an engine.  All nodes are sick at first.  The cluster must have
 * cells and outlive the engine.  Returns PAI_OK; PAI_EINVAL if virtual
 * clusters want more than there is; PAI_ENOTSUP if the cluster has no cells;
 * PAI_ENOMEM. */
int pai__hived_new(pai__hived **out, const pai_cluster *cluster,
                   const pai_alloc *alloc, pai_error **err);
/* Makes an independent copy.  Returns PAI_OK or PAI_ENOMEM. */
int pai__hived_clone(pai__hived **out, const pai__hived *h);
void pai__hived_free(pai__hived *h);

const pai_cluster *pai__hived_cluster(const pai__hived *h);

/* --- names ---------------------------------------------------------------- */

uint32_t pai__hived_find_vc(const pai__hived *h, const char *name, size_t len);
uint32_t pai__hived_find_pin(const pai__hived *h, uint32_t vc,
                             const char *name, size_t len);
uint32_t pai__hived_find_leaf_type(const pai__hived *h, const char *name,
                                   size_t len);
/* Finds a leaf cell by node and device, preferably in this chain; PAI__NOTHING
 * if there is none. */
uint32_t pai__hived_find_leaf(const pai__hived *h, uint32_t node,
                              uint32_t index, uint32_t chain);
/* Finds a chain by the name of its top type; PAI__NOTHING if there is none. */
uint32_t pai__hived_find_chain(const pai__hived *h, const char *name,
                               size_t len);
/* Sets *name to a number for a name that the cluster lacks.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__hived_name(pai__hived *h, const char *s, size_t len, uint32_t *name);
const char *pai__hived_name_text(const pai__hived *h, uint32_t name);

/* Name of a number, which may be one of pai__hived_name(); "" for
 * PAI__NOTHING. */
const char *pai__hived_node_name(const pai__hived *h, uint32_t node);
const char *pai__hived_type_name(const pai__hived *h, uint32_t type);

uint32_t pai__hived_leaf_node(const pai__hived *h, uint32_t leaf);
uint32_t pai__hived_leaf_index(const pai__hived *h, uint32_t leaf);
/* Type of the top cells of its chain. */
uint32_t pai__hived_leaf_chain(const pai__hived *h, uint32_t leaf);
/* Type of the preassigned cell of leaf i, or PAI__NOTHING. */
uint32_t pai__hived_gang_type(const pai__hived *h, const pai__hived_gang *g,
                              uint32_t i);

/* Type of the preassigned cell of a leaf cell of a group, or PAI__NOTHING. */
uint32_t pai__hived_group_type(const pai__hived *h, uint32_t group,
                               uint32_t leaf);

/* Returns leaf i of a gang as a device.  If a leaf of its pod (n leaves from
 * `first` on) is lost, the answer is what the bind info said. */
pai__hived_spot pai__hived_gang_spot(const pai__hived *h,
                                     const pai__hived_gang *g, uint32_t first,
                                     uint32_t n, uint32_t i);

/* --- events --------------------------------------------------------------- */

/* Sets the health of a node.  Has no effect if it is unchanged. */
void pai__hived_set_node(pai__hived *h, uint32_t node, bool good);

/*
 * Decides where a pod goes.  Changes only the order of views, preempts groups
 * lazily, and with PAI__HIVED_PREEMPTING begins or cancels preemptions.
 *
 * `suggested` has a bit for each node; NULL: all.  `pod` is any number but 0.
 * Returns PAI_OK or PAI_ENOMEM.  After PAI_ENOMEM nothing has changed but the
 * order of views, and a preemption whose nodes have become unsuitable may have
 * been cancelled.
 */
int pai__hived_schedule(pai__hived *h, const pai__hived_request *r,
                        uint64_t pod, const uint64_t *suggested, int phase,
                        pai__hived_result *result);

/* Returns why a group could not start even if all cells were free and healthy,
 * or PAI__WHY_NOTHING. */
int pai__hived_never(pai__hived *h, const pai__hived_request *r);

/* Records that a pod was bound, as the index-th of its size.  `info` is needed
 * for the first pod of a group.  Returns PAI_OK; PAI_ENOTFOUND if the group
 * has no such pod; PAI_EEXISTS if another group uses its cells; PAI_ENOMEM.
 * After an error nothing has changed. */
int pai__hived_add(pai__hived *h, const pai__hived_request *r, uint64_t pod,
                   uint32_t node, uint32_t index, const pai__hived_info *info);
/* Records that such a pod has ended.  Returns PAI_OK or PAI_ENOTFOUND. */
int pai__hived_delete(pai__hived *h, const char *group, size_t len,
                      uint32_t leaves, uint32_t index);
/* Records that all pods of a group have ended. */
void pai__hived_drop_group(pai__hived *h, uint32_t group);
/* Records that a pod that was never bound is gone.  Returns PAI_OK or
 * PAI_ENOTFOUND. */
int pai__hived_delete_unallocated(pai__hived *h, const char *group, size_t len,
                                  uint64_t pod);

/* --- queries -------------------------------------------------------------- */

/* Finds a group by name; PAI__NOTHING if there is none. */
uint32_t pai__hived_find_group(const pai__hived *h, const char *name,
                               size_t len);
const char *pai__hived_group_name(const pai__hived *h, uint32_t group);
/* Iterates over its pods; start with *i = 0.  Returns false at the end. */
bool pai__hived_next_pod(const pai__hived *h, uint32_t group, uint32_t *i,
                         uint64_t *pod, uint32_t *node);

/* Appends a cell's address, such as "vc/0/1". */
void pai__hived_virtual_address(const pai__hived *h, uint32_t vcell,
                                pai__buf *out);

/* Appends the reason in HiveD's words; the texts are those of the request.  If
 * the pod can never run, its name in brackets comes first, except for
 * TOO_MANY_PODS. */
typedef struct pai__hived_words {
  const char *pod, *group, *vc, *pin, *leaf_type;
} pai__hived_words;
void pai__hived_tell(const pai__hived *h, const pai__hived_why *why,
                     const pai__hived_words *words, pai__buf *out);

/* Defects of HiveD that are corrected here, numbered as in
 * docs/compatibility.md.  A bit of `mended` is set when a correction made a
 * difference. */
enum {
  PAI__MENDED_Q2 = 2, /* pods of groups that are or were being preempted */
  PAI__MENDED_Q3 = 3, /* a group was bound to cells that others had reserved */
  PAI__MENDED_Q4 = 4, /* a sick leaf in opportunistic use was bound */
  PAI__MENDED_Q5 = 5, /* the same with a pinned leaf */
  PAI__MENDED_Q6 = 6, /* a group was on a cell to which somebody is doomed */
  PAI__MENDED_Q10 = 10, /* the first pod added of a group was not its pod 0 */
  PAI__MENDED_Q16 = 16, /* no sick cell was left to be doomed to */
  PAI__MENDED_Q17 = 17, /* cells of a lazily preempted group were reserved */
  PAI__MENDED_Q21 = 21, /* lazy preemption made a placement sick */
  PAI__MENDED_Q20 = 20  /* a sick cell got a virtual cell of a placement */
};

#endif
