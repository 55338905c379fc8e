/**
 * @file openpai/policy.h
 * Policies: they decide which requests start, where, and which runs stop for
 * them.
 *
 * A policy is a table of functions.  The scheduler calls decide() with a host,
 * which is all the policy may use: to look at waiting requests, runs and free
 * capacity, and to start, refuse and preempt.  Each of these calls is checked:
 * no device is given twice and no gang in part, whichever policy decides.
 *
 * A policy must decide from the host and its own state alone: no clock, no
 * random numbers, no floating point, no order of addresses.
 *
 * A shared object with a policy exports one symbol, `pai_plugin`, and needs no
 * other of the library:
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

/** Which of the nodes with enough free capacity is taken. */
enum {
  PAI_PLACE_PACK = 1,   /**< the fullest: large gaps stay */
  PAI_PLACE_SPREAD = 2, /**< the emptiest, task by task */
  PAI_PLACE_TOPO = 3,   /**< as packed, in few racks, with GPUs that are near
                             to each other */
  PAI_PLACE_FIRST = 4,  /**< the first of the cluster */
  PAI_PLACE_SCORE = 5   /**< as Kubernetes' scheduler by default: the least
                             and the most evenly used, task by task */
};

/** How a request is to be placed; 0 is the default of each. */
typedef struct pai_place {
  size_t struct_size;
  int strategy;     /**< PAI_PLACE_TOPO, ... */
  int beyond_share; /**< 1: a guaranteed request may have more than its virtual
                         cluster owns */
} pai_place;

typedef struct pai_policy pai_policy;
typedef struct pai_policy_host pai_policy_host;

/**
 * What a policy may do.  Functions return what the like-named ones of
 * openpai/sched.h do; where none is, it is said here.  Slots are only ever
 * appended: see struct_size.
 */
struct pai_policy_host {
  size_t struct_size;
  pai_sched *sched; /**< for openpai/sched.h, to look only */

  /** Of those that wait and may begin: nobody holds them, what they are after
   *  is done, and no victims stop for them.  By turn; 0: the first; 0 at the
   *  end. */
  uint64_t (*next_waiting)(const pai_policy_host *host, uint64_t id);
  /** Instances that hold places, as they were placed; *id 0: the first.
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

  /** Starts the next instance of a request that waits, where there is room.
   *  @return 1: it was started; 0: there is no room, and its reason is kept; a
   *  PAI_E* code */
  int (*start)(const pai_policy_host *host, uint64_t id, const pai_place *how);
  /** Starts it just there: as many places as it has tasks, want by want, of
   *  which node and GPUs count (CPUs, memory and ports follow).
   *  @return PAI_OK; PAI_EBUSY: that is not free; PAI_EINVAL: that is not what
   *  it wants */
  int (*start_at)(const pai_policy_host *host, uint64_t id,
                  const pai_task_place *places, size_t n);
  /** As start_at(), also where others are; as soon as these have stopped, it is
   *  started there, and nobody else is meanwhile.  They are preempted.
   *  @return 1: it was started, for there was nobody; 0: it will be; a code */
  int (*claim_at)(const pai_policy_host *host, uint64_t id,
                  const pai_task_place *places, size_t n);
  /** As start(), and if there is no room, where few and the least important
   *  instances of lower priority have to stop for it, none of which could stay;
   *  as claim_at().
   *  @return 1: it was started; 0: it was not, and its reason says whether
   *  victims stop; a code */
  int (*start_over)(const pai_policy_host *host, uint64_t id,
                    const pai_place *how);
  /** Has an instance stopped.  @param by for whom, or 0 */
  int (*preempt)(const pai_policy_host *host, uint64_t id, uint32_t instance,
                 uint64_t by);
  /** Changes how many tasks of a want an instance has, from min_tasks to
   *  tasks.  @return 1; 0: there is no room; a code */
  int (*resize)(const pai_policy_host *host, uint64_t id, uint32_t instance,
                uint32_t want, uint32_t tasks);
  /** Keeps the policy's own reason.  Strings are copied. */
  int (*refuse)(const pai_policy_host *host, uint64_t id,
                const pai_reason *reason);
  /** Keeps a message for the error that the failing call gives.  @return code */
  int (*give_up)(const pai_policy_host *host, int code, const char *message);
};

/** A policy.  Only name and decide are needed; without clone there are no
 *  forks, without save and load no log and no snapshots. */
struct pai_policy {
  size_t struct_size;
  uint32_t version; /**< PAI_POLICY_VERSION */
  const char *name;
  const char *about; /**< one line for people, or NULL */
  void *data;        /**< for the functions below, of the caller */
  int lends; /**< 1: guaranteed requests may get more than their virtual
                  cluster owns; else those that want more are refused */

  /** Makes the state for one scheduler.  @param options a JSON object, "{}" if
   *  none were given. */
  int (*open)(void **state, void *data, const pai_policy_host *host,
              const pai_cluster *cluster, const char *options);
  void (*close)(void *state);
  /** Starts, refuses and preempts, by means of the host. */
  int (*decide)(void *state, void *data, const pai_policy_host *host);
  /** An event was taken.  A failure fails the event's call; the event stays. */
  int (*event)(void *state, void *data, const pai_policy_host *host,
               const pai_sched_event *event);
  int (*clone)(void **copy, const void *state, void *data,
               const pai_policy_host *host);
  /** Writes the state as one JSON value. */
  int (*save)(const void *state, void *data, pai_write_cb write,
              void *user_data);
  /** Instead of open(), with what save() wrote. */
  int (*load)(void **state, void *data, const pai_policy_host *host,
              const pai_cluster *cluster, const char *options,
              const char *saved, size_t len);
  /** A request has come, or was changed: could it ever start, as far as the
   *  policy goes?  A code, as PAI_ENOROOM after give_up(), refuses that. */
  int (*admit)(void *state, void *data, const pai_policy_host *host,
               uint64_t id);
};

/** Built-in policy @p i, from 0; NULL beyond the last.  @since 0.1 */
PAI_API const pai_policy *pai_policy_builtin(size_t i);

/* --- shared objects ------------------------------------------------------- */

enum { PAI_PLUGIN_ABI = 1, PAI_PLUGIN_POLICY = 1 };

/** What a shared object exports as `pai_plugin`. */
typedef struct pai_plugin_entry {
  size_t struct_size;
  uint32_t abi;  /**< PAI_PLUGIN_ABI */
  uint32_t kind; /**< PAI_PLUGIN_POLICY */
  const void *table;
} pai_plugin_entry;

/**
 * Opens a shared object with a policy; it stays loaded as long as the process.
 *
 * @param[out] out  the policy, of the shared object; NULL on failure
 * @param path      as for dlopen()
 * @return PAI_OK; PAI_ENOTFOUND: there is no such file; PAI_EINVAL: it is no
 *         policy; PAI_ENOTSUP: it is made for another version
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_policy_load(const pai_policy **out,
                                          const char *path, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_POLICY_H */
