/*
 * bridge.h - internal: between requests of the scheduler and HiveD's groups
 *
 * An instance of a request is a group, and its tasks are the pods.
 */
#ifndef PAI_SRC_SCHED_HIVED_BRIDGE_H
#define PAI_SRC_SCHED_HIVED_BRIDGE_H

#include "sched/hived/hived.h"
#include "sched/policy.h"
#include "sched/waiters.h"

/* Where a leaf cell is for the scheduler. */
typedef struct pai__leaf_place {
  uint32_t node; /* of the park, or PAI__NONE */
  uint32_t bit;
} pai__leaf_place;

/* What a node has left besides GPUs. */
typedef struct pai__beside {
  int64_t memory, cpus, ports;
} pai__beside;

/* A group that reserves cells until its victims have stopped. */
typedef struct pai__reserving {
  uint64_t id;
  uint32_t instance;
} pai__reserving;

/* Who is where for whom: of all forks, also of other threads. */
typedef struct pai__banks {
  atomic_uint owners;
  pai_alloc alloc;
  pai_cluster *cluster; /* HiveD's view of the scheduler's */
  pai__flat places;     /* of each leaf cell */
  pai__flat leaves;     /* of each GPU of the park: its leaf, or PAI__NONE */
  pai__flat nodes;      /* of each node of the park: the cluster's, or none */
} pai__banks;

/* The state of the policy. */
typedef struct pai__bridge {
  pai_alloc alloc;
  pai__banks *banks;
  pai__hived *engine;
  bool claims;         /* another policy's, which may start any time */
  pai__flat reserving; /* in the order in which they began to */
  pai__flat members, wanted, types, suggested; /* for one call */
  pai__flat tasks;                             /* likewise: their places */
  pai__flat beside; /* of each node: what is left of all but GPUs */
  pai__waiters waiters;
} pai__bridge;

/* A group's name, "id.instance". */
typedef struct pai__bridge_name {
  char text[40];
  size_t len;
} pai__bridge_name;

void pai__bridge_name_of(pai__bridge_name *name, uint64_t id,
                         uint32_t instance);
bool pai__bridge_name_read(const char *text, uint64_t *id, uint32_t *instance);

/* Any number but 0, another one for each task. */
uint64_t pai__bridge_pod(uint64_t id, uint32_t instance, uint32_t task);

/* --- life ----------------------------------------------------------------- */

/* The cells of the scheduler's cluster; what runs is there, what is sick is
 * not to be used.  `before` is the state for the cluster before, or NULL.
 * PAI_OK, or a code, and the host has been told. */
int pai__bridge_new(pai__bridge **out, const pai_policy_host *host,
                    const pai__bridge *before);
/* Likewise, with what pai__bridge_save() wrote instead of what runs. */
int pai__bridge_load(pai__bridge **out, const pai_policy_host *host,
                     const char *saved, size_t len);
/* As JSON.  PAI_OK or PAI_ENOMEM. */
int pai__bridge_save(const pai__bridge *g, pai__buf *out);
/* PAI_OK or PAI_ENOMEM. */
int pai__bridge_clone(pai__bridge **out, const pai__bridge *g,
                      const pai_alloc *alloc);
void pai__bridge_free(pai__bridge *g);

/* --- requests ------------------------------------------------------------- */

/* What HiveD is asked for an instance; in the state until the next call.
 * PAI_OK; PAI_ENOTSUP: it has no GPUs; PAI_EINVAL: it wants GPUs of several
 * types; PAI_ENOMEM. */
int pai__bridge_request(pai__bridge *g, const pai_sched *s, uint32_t req,
                        const pai__bridge_name *name, pai__hived_request *out);

/* What runs is bound to its cells: as HiveD decided, by `info`; else as the
 * state before this one has it, if there is one, and it knows; else as cells of
 * its virtual cluster fit it.  PAI_OK or a code. */
int pai__bridge_bind(pai__bridge *g, const pai_sched *s, uint32_t run,
                     const pai__hived_info *info, const pai__bridge *before);
/* What has started without it, for another policy had claimed a place for
 * it.  PAI_OK or a code. */
int pai__bridge_catch_up(pai__bridge *g, const pai_sched *s);

/* Starts the next instance of a request where HiveD decides, or asks those to
 * stop that are there.  1: it was started; 0: it waits, and its reason is kept;
 * or a code (place.c). */
int pai__bridge_place(pai__bridge *g, pai_sched *s, uint32_t req);

/* part.c: has the virtual cluster of a request a part that is enough for it, if
 * less important ones of it stop?  Else what of it lacks is told. */
bool pai__bridge_part_allows(pai_sched *s, const pai__req *r, pai__why *why);
/* Do the first `slots` of s->slots keep to the part?  1; 0: no, and *stopping
 * are stopped for it, if it is any use; or PAI_ENOMEM. */
int pai__bridge_keeps_part(pai_sched *s, uint32_t req, uint32_t slots,
                           uint32_t *stopping);

/* Why a request can never start, in words, or NULL; in *text.  PAI_OK or
 * PAI_ENOMEM (place.c). */
int pai__bridge_never(pai__bridge *g, const pai_sched *s, uint32_t req,
                      const char **text);

/* It holds nothing any more. */
void pai__bridge_drop(pai__bridge *g, uint64_t id, uint32_t instance);
/* It reserves cells; and not any more, for it has them.  PAI_ENOMEM. */
int pai__bridge_list(pai__bridge *g, uint64_t id, uint32_t instance);
void pai__bridge_unlist(pai__bridge *g, uint64_t id, uint32_t instance);
/* It reserves nothing any more. */
void pai__bridge_forget(pai__bridge *g, uint64_t id);

/* A node is as it is by now for the scheduler. */
void pai__bridge_see_node(pai__bridge *g, const pai_sched *s, uint32_t node);

#endif
