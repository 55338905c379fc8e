/*
 * bridge.h - internal: maps the scheduler's requests to HiveD groups, and GPUs
 * to leaf cells
 *
 * An instance of a request is a group, and its tasks are the pods.
 */
#ifndef PAI_SRC_SCHED_HIVED_BRIDGE_H
#define PAI_SRC_SCHED_HIVED_BRIDGE_H

#include "sched/hived/hived.h"
#include "sched/policy/policy.h"
#include "sched/policy/waiters.h"

/* Node and GPU of a leaf cell, in the scheduler's cluster model. */
typedef struct pai__leaf_place {
  uint32_t node; /* PAI__NONE: not in the model */
  uint32_t bit;
} pai__leaf_place;

/* Free capacity of a node other than GPUs. */
typedef struct pai__beside {
  int64_t memory, cpu_millis, ports;
} pai__beside;

/* A group that reserves cells until its victims have stopped. */
typedef struct pai__reserving {
  uint64_t id;
  uint32_t instance;
} pai__reserving;

/* Shared by forks, also in other threads. */
typedef struct pai__bridge_shared {
  atomic_uint owners;
  pai_alloc alloc;
  pai_cluster *cluster; /* the scheduler's cluster as HiveD reads it */
  pai__flat places;     /* pai__leaf_place of each leaf cell */
  pai__flat leaves;     /* of each GPU: its leaf cell, or PAI__NONE */
  pai__flat nodes;      /* of each node: HiveD's number, or PAI__NONE */
} pai__bridge_shared;

/* State of the policy `hived`. */
typedef struct pai__bridge {
  pai_alloc alloc;
  pai__bridge_shared *shared;
  pai__hived *engine;
  bool claims;         /* another policy's claims are left, and may start */
  pai__flat reserving; /* groups that reserve cells, the oldest first */
  pai__flat members, wanted, types, suggested; /* scratch of one call */
  pai__flat tasks;                             /* likewise: places of tasks */
  pai__flat beside; /* likewise: pai__beside of each node */
  pai__waiters waiters;
} pai__bridge;

/* Name of a group, "id.instance". */
typedef struct pai__bridge_name {
  char text[40];
  size_t len;
} pai__bridge_name;

void pai__bridge_name_of(pai__bridge_name *name, uint64_t id,
                         uint32_t instance);
bool pai__bridge_name_read(const char *text, uint64_t *id, uint32_t *instance);

/* Pod number of a task, not 0, and different for each task. */
uint64_t pai__bridge_pod(uint64_t id, uint32_t instance, uint32_t task);

/* --- life ----------------------------------------------------------------- */

/* Builds the cells from the scheduler's cluster.  With `saved`, the output of
 * pai__bridge_save() is restored; else current runs are bound to their cells
 * and sick nodes marked.  `before` is the state for the previous cluster, or
 * NULL.  Returns PAI_OK, or a code after host->give_up(). */
int pai__bridge_new(pai__bridge **out, const pai_policy_host *host,
                    const pai__bridge *before, const char *saved, size_t len);
/* Appends the state as JSON.  Returns PAI_OK or PAI_ENOMEM. */
int pai__bridge_save(const pai__bridge *g, pai__buf *out);
/* Returns PAI_OK or PAI_ENOMEM. */
int pai__bridge_clone(pai__bridge **out, const pai__bridge *g,
                      const pai_alloc *alloc);
void pai__bridge_free(pai__bridge *g);

/* --- requests ------------------------------------------------------------- */

/* Makes HiveD's request for an instance; it points into the state and is valid
 * until the next call.  Returns PAI_OK; PAI_ENOTSUP if the request has no
 * GPUs; PAI_EINVAL if it wants GPUs of several types; PAI_ENOMEM. */
int pai__bridge_request(pai__bridge *g, const pai_sched *s, uint32_t req,
                        const pai__bridge_name *name, pai__hived_request *out);

/* Binds a run to its leaf cells.  Virtual cells are those of HiveD's decision
 * `info`, else the run's former ones in `before` (may be NULL), else any of
 * its virtual cluster that suit.  Returns PAI_OK or a code. */
int pai__bridge_bind(pai__bridge *g, const pai_sched *s, uint32_t run,
                     const pai__hived_info *info, const pai__bridge *before);
/* Binds runs that have started from claims of another policy.  Returns PAI_OK
 * or a code. */
int pai__bridge_catch_up(pai__bridge *g, const pai_sched *s);

/* Starts the next instance of a request where HiveD decides, or stops its
 * victims.  Returns 1 if it started; 0 if it waits, with its reason set; or a
 * code (place.c). */
int pai__bridge_place(pai__bridge *g, pai_sched *s, uint32_t req);

/* Returns true if the guaranteed part of the request's virtual cluster has
 * enough left, once its less important runs have stopped; else fills `why`
 * (part.c). */
bool pai__bridge_part_allows(pai_sched *s, const pai__req *r,
                             pai__sched_reason *why);
/* Checks the first `slots` of s->slots against the part.  Returns 1 if they
 * keep to it; else 0, after stopping *stopping victims if that helps; or
 * PAI_ENOMEM. */
int pai__bridge_keeps_part(pai_sched *s, uint32_t req, uint32_t slots,
                           uint32_t *stopping);

/* Sets *text to the reason why a request can never start, or NULL.  Returns
 * PAI_OK or PAI_ENOMEM (place.c). */
int pai__bridge_never(pai__bridge *g, const pai_sched *s, uint32_t req,
                      const char **text);

/* Removes the group of an instance, with all that it holds. */
void pai__bridge_drop(pai__bridge *g, uint64_t id, uint32_t instance);
/* Lists an instance as reserving cells, or removes it from that list.
 * pai__bridge_list() returns PAI_OK or PAI_ENOMEM. */
int pai__bridge_list(pai__bridge *g, uint64_t id, uint32_t instance);
void pai__bridge_unlist(pai__bridge *g, uint64_t id, uint32_t instance);
/* Ends all reserving groups of a request. */
void pai__bridge_forget(pai__bridge *g, uint64_t id);

/* Updates the health of a node from the scheduler. */
void pai__bridge_see_node(pai__bridge *g, const pai_sched *s, uint32_t node);

#endif
