/*
 * hived.h - internal: the decisions of HiveD, as typed calls
 *
 * Gangs ("groups") are placed on cells: those of a virtual cluster that they
 * belong to, or any that are free.  docs/internals/sched.md tells how, and
 * docs/compatibility.md where this differs from HiveD itself.
 *
 * Nodes, kinds, cells and types have the numbers they have in the cluster; leaf
 * cells are counted from 0 in the order of its cells.  Virtual clusters are
 * counted in the order of their names.
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
  PAI__HIVED_MAX_LEAVES = 1 << 20 /* of a group */
};
#define PAI__HIVED_UNKNOWN (UINT32_MAX - 1) /* named, and is not there */
#define PAI__HIVED_NO_TYPE (UINT32_MAX - 2) /* nothing is said of its type */
#define PAI__HIVED_ANY_TYPE \
  (UINT32_MAX - 3) /* one of those that the virtual cluster owns */
/* Set in the number of a node, type or virtual cluster that the cluster does
 * not have: the rest is a name of pai__hived_name(). */
#define PAI__HIVED_NAME 0x40000000u

/* So many pods, each with so many leaf cells. */
typedef struct pai__hived_member {
  uint32_t leaves, pods;
} pai__hived_member;

/* What a pod asks for, and its group. */
typedef struct pai__hived_request {
  const char *group;
  size_t group_len;
  const pai__hived_member *members; /* by ascending leaves, each once */
  uint32_t nmembers;
  uint32_t leaves;    /* of this pod; one of these */
  uint32_t vc;        /* or PAI__HIVED_UNKNOWN, or a name */
  uint32_t pin;       /* PAI__NOTHING: not asked for; or PAI__HIVED_UNKNOWN */
  uint32_t leaf_type; /* likewise: pai__hived_find_leaf_type() */
  int32_t priority;   /* -1: opportunistic */
  bool lazy;          /* it may be preempted lazily */
  bool ignores_suggested;
} pai__hived_request;

/* A device by name, where there may be no such cell any more. */
typedef struct pai__hived_spot {
  uint32_t node, index, type, chain;
} pai__hived_spot;

/* What is known of a group that was bound: of each leaf cell, pods by ascending
 * size. */
typedef struct pai__hived_info {
  const uint32_t *leaves;       /* PAI__NOTHING: it is no more */
  const uint32_t *types;        /* of the preassigned cells; PAI__NOTHING for
                                   opportunistic ones, PAI__HIVED_NO_TYPE,
                                   _ANY_TYPE, or PAI__HIVED_UNKNOWN */
  const pai__hived_spot *spots; /* NULL: none is lost */
} pai__hived_info;

enum { PAI__HIVED_FILTERING, PAI__HIVED_PREEMPTING };

/* Why a pod waits; and, from PAI__WHY_NO_VC on, why it never can run. */
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
  uint32_t vc;    /* that was searched; PAI__NOTHING: the whole cluster */
  uint32_t cell;  /* the node's */
  bool suggested; /* the suggestions counted, too */
  uint32_t leaves,
    pods;            /* of a group that is complete; of what lacks capacity:
                            what a pod wants, and how many had found a node */
  uint32_t nvirtual; /* of the mapping: leaves in pai__hived's scratch */
} pai__hived_why;

enum {
  PAI__HIVED_BIND,
  PAI__HIVED_PREEMPT,
  PAI__HIVED_WAIT,
  PAI__HIVED_REFUSE
};

/* A whole group as it is placed; valid until the next call. */
typedef struct pai__hived_gang {
  const pai__hived_member *members;
  const uint32_t *leaves;       /* or PAI__NOTHING */
  const uint32_t *vcell;        /* cells; NULL: it has none */
  const pai__hived_spot *spots; /* NULL: none is lost */
  uint32_t nmembers, nleaves;
} pai__hived_gang;

typedef struct pai__hived_result {
  int kind;
  pai__hived_why why; /* to wait, or refused */
  pai__hived_gang gang;
  uint32_t index;         /* of the pod among those of its size */
  uint32_t first;         /* its first leaf, in the gang's */
  const uint32_t *groups; /* to preempt: whose pods have to go */
  uint32_t ngroups;
  pai__hived_info info; /* of a new group: what pai__hived_add() wants */
} pai__hived_result;

/* --- life (build.c, clone.c) ---------------------------------------------- */

/* All nodes are sick at first.  The cluster must have cells, and outlive it.
 * PAI_OK; PAI_EINVAL: virtual clusters want more than there is; PAI_ENOTSUP: it
 * has no cells; PAI_ENOMEM. */
int pai__hived_new(pai__hived **out, const pai_cluster *cluster,
                   const pai_alloc *alloc, pai_error **err);
/* The same, to go its own way. */
int pai__hived_clone(pai__hived **out, const pai__hived *h);
void pai__hived_free(pai__hived *h);

const pai_cluster *pai__hived_cluster(const pai__hived *h);

/* --- names ---------------------------------------------------------------- */

uint32_t pai__hived_find_vc(const pai__hived *h, const char *name, size_t len);
uint32_t pai__hived_find_pin(const pai__hived *h, uint32_t vc,
                             const char *name, size_t len);
uint32_t pai__hived_find_leaf_type(const pai__hived *h, const char *name,
                                   size_t len);
/* A leaf cell by its node and device, first in this chain; or PAI__NOTHING. */
uint32_t pai__hived_find_leaf(const pai__hived *h, uint32_t node,
                              uint32_t index, uint32_t chain);
/* By the name of its type, or PAI__NOTHING. */
uint32_t pai__hived_find_chain(const pai__hived *h, const char *name,
                               size_t len);
/* A number for a name that the cluster does not have, which stays. */
int pai__hived_name(pai__hived *h, const char *s, size_t len, uint32_t *name);
const char *pai__hived_name_text(const pai__hived *h, uint32_t name);

/* Of numbers, of these names also; "" for PAI__NOTHING. */
const char *pai__hived_node_name(const pai__hived *h, uint32_t node);
const char *pai__hived_type_name(const pai__hived *h, uint32_t type);

uint32_t pai__hived_leaf_node(const pai__hived *h, uint32_t leaf);
uint32_t pai__hived_leaf_index(const pai__hived *h, uint32_t leaf);
/* The type of its chain's top cells. */
uint32_t pai__hived_leaf_chain(const pai__hived *h, uint32_t leaf);
/* The type of the preassigned cell of leaf i, or PAI__NOTHING. */
uint32_t pai__hived_gang_type(const pai__hived *h, const pai__hived_gang *g,
                              uint32_t i);

/* Likewise of a leaf that a group has, by its number. */
uint32_t pai__hived_group_type(const pai__hived *h, uint32_t group,
                               uint32_t leaf);

/* Device i of a pod that has n leaves of a gang, from the first on: as cells,
 * or as they were called where one is lost. */
pai__hived_spot pai__hived_gang_spot(const pai__hived *h,
                                     const pai__hived_gang *g, uint32_t first,
                                     uint32_t n, uint32_t i);

/* --- events --------------------------------------------------------------- */

/* What is told from now on happens at this time, in seconds. */
void pai__hived_set_time(pai__hived *h, int64_t now);

/* A node is well, or is not.  What it already is changes nothing. */
void pai__hived_set_node(pai__hived *h, uint32_t node, bool good);

/*
 * Where a pod goes.  Changes only the order of views, lazily preempts groups,
 * and with PAI__HIVED_PREEMPTING begins or cancels preemptions.
 *
 * `suggested` has a bit of each node; NULL: all.  `pod` is any number but 0.
 * PAI_OK, or PAI_ENOMEM, and then nothing has changed but the order of views,
 * and that a preemption to which the nodes are not suited any more has ended.
 */
int pai__hived_schedule(pai__hived *h, const pai__hived_request *r,
                        uint64_t pod, const uint64_t *suggested, int phase,
                        pai__hived_result *result);

/* Why a group could not start if all cells were free and well: PAI__WHY_NOTHING,
 * or what is wrong with what it asks for. */
int pai__hived_never(pai__hived *h, const pai__hived_request *r);

/* A pod was bound: the index-th of its size.  `info` is needed for the first of
 * a group.  PAI_OK; PAI_ENOTFOUND: its group has no such pod; PAI_ENOMEM, and
 * nothing has changed. */
int pai__hived_add(pai__hived *h, const pai__hived_request *r, uint64_t pod,
                   uint32_t node, uint32_t index, const pai__hived_info *info);
/* That pod is gone.  PAI_OK; PAI_ENOTFOUND. */
int pai__hived_delete(pai__hived *h, const char *group, size_t len,
                      uint32_t leaves, uint32_t index);
/* All its pods are gone. */
void pai__hived_drop_group(pai__hived *h, uint32_t group);
/* A pod that was never bound is gone.  PAI_OK; PAI_ENOTFOUND. */
int pai__hived_delete_unallocated(pai__hived *h, const char *group, size_t len,
                                  uint64_t pod);

/* --- looking -------------------------------------------------------------- */

/* The group of that name, or PAI__NOTHING. */
uint32_t pai__hived_find_group(const pai__hived *h, const char *name,
                               size_t len);
const char *pai__hived_group_name(const pai__hived *h, uint32_t group);
/* Its pods one after the other; for (i = 0; ..(h, g, &i, &pod, &node);) */
bool pai__hived_next_pod(const pai__hived *h, uint32_t group, uint32_t *i,
                         uint64_t *pod, uint32_t *node);

/* Adds a cell's address, as "vc/0/1". */
void pai__hived_virtual_address(const pai__hived *h, uint32_t vcell,
                                pai__buf *out);

/* Why, in HiveD's words; `r` and the texts as they were given.  Of what never
 * can run the name of the pod, in brackets, stands before it. */
typedef struct pai__hived_words {
  const char *pod, *group, *vc, *pin, *leaf_type;
} pai__hived_words;
void pai__hived_tell(const pai__hived *h, const pai__hived_why *why,
                     const pai__hived_words *words, pai__buf *out);

/* Defects of HiveD that we mend, as docs/compatibility.md numbers them. */
enum {
  PAI__MENDED_Q2 = 2,   /* pods of groups that are, or were, being preempted */
  PAI__MENDED_Q3 = 3,   /* who reserved cells is told that they are taken */
  PAI__MENDED_Q4 = 4,   /* a sick leaf, used opportunistically, was bound */
  PAI__MENDED_Q5 = 5,   /* and a pinned one always is */
  PAI__MENDED_Q6 = 6,   /* a group was on a cell that somebody is doomed to */
  PAI__MENDED_Q10 = 10, /* the first pod of a group was not its first */
  PAI__MENDED_Q16 = 16, /* nothing sick was left to be doomed to */
  PAI__MENDED_Q17 = 17, /* a group lost cells that were reserved already */
  PAI__MENDED_Q21 = 21, /* a placement became sick by preempting lazily */
  PAI__MENDED_Q20 = 20 /* a sick cell was given a virtual one of a placement */
};
/* Those that made a difference, a bit each. */
uint32_t pai__hived_mended(const pai__hived *h);

#endif
