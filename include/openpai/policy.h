/**
 * @file openpai/policy.h
 * Policies decide which requests start, on which nodes, and which runs are
 * stopped for them.
 *
 * A policy is a table of functions.  The scheduler calls decide() with a host,
 * which is all the policy may use: to look at waiting requests, runs and free
 * capacity, and to start, refuse and preempt.  Each of these calls is checked:
 * under every policy, no device is assigned twice and no gang starts in part.
 *
 * A policy must decide from the host and its own state alone: no clock, no
 * random numbers, no floating point, no order of addresses.
 *
 * A shared object with a policy exports one symbol, `pai_plugin`, and uses no
 * symbol of the library:
 *
 *   const pai_plugin_entry pai_plugin = {
 *     sizeof(pai_plugin_entry), PAI_PLUGIN_ABI, PAI_PLUGIN_POLICY, &my_policy
 *   };
 *
 * Threads: all functions of a table are called in the thread that uses the
 * scheduler.
 */
#ifndef OPENPAI_POLICY_H
#define OPENPAI_POLICY_H

#include <openpai/sched.h>

PAI_BEGIN_DECLS

enum { PAI_POLICY_VERSION = 1 };

/** Placement strategies: which of the nodes with enough free capacity to
 *  use. */
enum {
  PAI_PLACE_PACK = 1,   /**< the fullest node, to keep large gaps */
  PAI_PLACE_SPREAD = 2, /**< the emptiest node, task by task */
  PAI_PLACE_TOPO = 3,   /**< as PAI_PLACE_PACK, in few racks, with GPUs near
                             each other */
  PAI_PLACE_FIRST = 4,  /**< the first node in the order of the cluster */
  PAI_PLACE_SCORE = 5   /**< as the default of Kubernetes' scheduler: the least
                             and most evenly used node, task by task */
};

/** Options of a placement; 0 means the default. */
typedef struct pai_place {
  size_t struct_size;
  int strategy;     /**< PAI_PLACE_TOPO, ... */
  int beyond_share; /**< 1: a guaranteed request may exceed the share of its
                         virtual cluster */
} pai_place;

typedef struct pai_policy pai_policy;
typedef struct pai_policy_host pai_policy_host;

/**
 * Functions for a policy.  Views return the same as the functions of the same
 * name in openpai/sched.h; all other functions are described here.  New
 * functions are only appended: see struct_size.
 */
struct pai_policy_host {
  size_t struct_size;
  pai_sched *sched; /**< for the read-only functions of openpai/sched.h */

  /** Returns the waiting request that follows @p id in order of arrival and
   *  may start: it is not held, its dependencies are done, and no victims are
   *  stopping for it.  @p id 0: the first.  Returns 0 at the end. */
  uint64_t (*next_waiting)(const pai_policy_host *host, uint64_t id);
  /** Finds the next instance that holds a place, in order of placement; *id 0:
   *  the first.
   *  @return 1; 0 at the end */
  int (*next_placed)(const pai_policy_host *host, uint64_t *id,
                     uint32_t *instance);
  int (*view_sums)(const pai_policy_host *host, pai_sched_view *view);
  int (*view_request)(const pai_policy_host *host, uint64_t id,
                      pai_request_view *view);
  int (*view_want)(const pai_policy_host *host, uint64_t id, uint32_t want,
                   pai_want *view);
  int (*view_node)(const pai_policy_host *host, size_t node,
                   pai_sched_node_view *view);
  int (*view_vc)(const pai_policy_host *host, size_t vc,
                 pai_sched_vc_view *view);
  int (*task)(const pai_policy_host *host, uint64_t id, uint32_t instance,
              uint32_t task, pai_task_place *place);

  /** Starts the next instance of a waiting request where there is free
   *  capacity.
   *  @return 1: started; 0: not enough free capacity, and the reason is
   *          stored; a PAI_E* code */
  int (*start)(const pai_policy_host *host, uint64_t id, const pai_place *how);
  /** Starts the next instance at given places: one for each task, want by
   *  want.  Only node and GPUs of a place are used; CPUs, memory and ports are
   *  chosen.
   *  @return PAI_OK; PAI_EBUSY: a place is not free; PAI_EINVAL: the places do
   *          not fit the request */
  int (*start_at)(const pai_policy_host *host, uint64_t id,
                  const pai_task_place *places, size_t n);
  /** As start_at(), but places may be in use: the runs there are preempted,
   *  the places are kept for this instance, and it starts as soon as these
   *  runs have stopped.
   *  @return 1: started at once, the places were free; 0: it will start; a
   *          PAI_E* code */
  int (*claim_at)(const pai_policy_host *host, uint64_t id,
                  const pai_task_place *places, size_t n);
  /** As start(), but if there is not enough free capacity, preempts instances
   *  of lower priority as claim_at() does: a small number of the least
   *  important instances, and none that could continue.
   *  @return 1: started; 0: not started, and the reason of the request says
   *          whether victims are stopping; a PAI_E* code */
  int (*start_over)(const pai_policy_host *host, uint64_t id,
                    const pai_place *how);
  /** Preempts an instance.  @param by  id of the request for which the
   *  instance is stopped, or 0 */
  int (*preempt)(const pai_policy_host *host, uint64_t id, uint32_t instance,
                 uint64_t by);
  /** Changes the number of tasks of a want of an instance, within min_tasks
   *  and tasks of the want.  @return 1; 0: not enough free capacity; a PAI_E*
   *  code */
  int (*resize)(const pai_policy_host *host, uint64_t id, uint32_t instance,
                uint32_t want, uint32_t tasks);
  /** Stores a reason of the policy for a waiting request.  Strings are
   *  copied. */
  int (*refuse)(const pai_policy_host *host, uint64_t id,
                const pai_reason *reason);
  /** Sets the message of the error that the failing call reports.  @return
   *  @p code */
  int (*give_up)(const pai_policy_host *host, int code, const char *message);
};

/** A policy.  Only name and decide are required.  Without clone, schedulers
 *  cannot be forked; without save and load, they have no log and no
 *  snapshots. */
struct pai_policy {
  size_t struct_size;
  uint32_t version; /**< PAI_POLICY_VERSION */
  const char *name;
  const char *about; /**< one line for people, or NULL */
  void *data;        /**< the caller's data for the functions below */
  int lends; /**< 1: guaranteed requests may exceed the share of their virtual
                  cluster; 0: requests larger than the share are refused */

  /** Creates the state for one scheduler.  @param options a JSON object, "{}"
   *  if there are none */
  int (*open)(void **state, void *data, const pai_policy_host *host,
              const pai_cluster *cluster, const char *options);
  void (*close)(void *state);
  /** Makes decisions: starts, refuses and preempts requests by calls of the
   *  host. */
  int (*decide)(void *state, void *data, const pai_policy_host *host);
  /** Called after an event was accepted.  On failure, the call of
   *  pai_sched_send() fails, but the event stays accepted. */
  int (*event)(void *state, void *data, const pai_policy_host *host,
               const pai_sched_event *event);
  int (*clone)(void **copy, const void *state, void *data,
               const pai_policy_host *host);
  /** Writes the state as one JSON value. */
  int (*save)(const void *state, void *data, pai_write_cb write,
              void *user_data);
  /** As open(), from a state that save() wrote. */
  int (*load)(void **state, void *data, const pai_policy_host *host,
              const pai_cluster *cluster, const char *options,
              const char *saved, size_t len);
  /** Called for a new or changed request: checks whether the policy could ever
   *  start it.  A PAI_E* code, such as PAI_ENOROOM after give_up(), refuses
   *  the request or change. */
  int (*admit)(void *state, void *data, const pai_policy_host *host,
               uint64_t id);
};

/** Built-in policy @p i, from 0; NULL beyond the last.  @since 0.1 */
PAI_API const pai_policy *pai_policy_builtin(size_t i);

/* --- shared objects ------------------------------------------------------- */

enum { PAI_PLUGIN_ABI = 1, PAI_PLUGIN_POLICY = 1 };

/** The symbol `pai_plugin` of a shared object. */
typedef struct pai_plugin_entry {
  size_t struct_size;
  uint32_t abi;  /**< PAI_PLUGIN_ABI */
  uint32_t kind; /**< PAI_PLUGIN_POLICY */
  const void *table;
} pai_plugin_entry;

/**
 * Loads a shared object with a policy.  It stays loaded until the process
 * exits.
 *
 * @param[out] out  the policy, owned by the shared object; NULL on failure
 * @param path      as for dlopen()
 * @return PAI_OK; PAI_ENOTFOUND: no such file; PAI_EINVAL: not a policy;
 *         PAI_ENOTSUP: built for another version
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_policy_load(const pai_policy **out,
                                          const char *path, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_POLICY_H */
