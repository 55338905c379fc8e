/**
 * @file openpai/sched.h
 * The scheduler: events go in, decisions come out, and every waiting request
 * has a reason.
 *
 *   pai_sched_new(&s, cluster, NULL, &err);
 *   pai_sched_send(s, &event, &err);          events, in order
 *   pai_sched_decide(s, now, &err);           make decisions
 *   for (i = 0; pai_sched_decision(s, i, &decision) == PAI_OK; i++)
 *     ...                                     carry out the decision
 *
 * The scheduler reads no clock, opens no file and draws no random number: the
 * same events give the same decisions on every machine.  Decisions are made by
 * a policy: a built-in policy, or a policy of the caller (openpai/policy.h).
 *
 * A request is one or more gangs, its instances, counted from 0.  The tasks of
 * a gang start together or not at all.  A started instance holds its place
 * until the caller reports that it has finished, even after a decision to stop
 * it.
 *
 * Nodes have the names and indices of the cluster.  GPUs of a node are counted
 * from 0 as in the cluster; bit i of a mask stands for GPU i.
 *
 * Threads: SERIAL.  A scheduler and its forks may be used in different threads.
 */
#ifndef OPENPAI_SCHED_H
#define OPENPAI_SCHED_H

#include <openpai/allocation.h>
#include <openpai/cluster.h>

PAI_BEGIN_DECLS

typedef struct pai_sched pai_sched; /**< opaque; pai_sched_free() */
struct pai_policy;                  /* openpai/policy.h */

/** Limits of a scheduler.  The number of nodes is limited as in an
 *  allocation. */
enum {
  PAI_SCHED_GPUS = 64,       /**< GPUs of a node */
  PAI_SCHED_CPUS = 4294966,  /**< CPUs that a task may ask for  @since 0.1 */
  PAI_SCHED_TASKS = 1 << 17, /**< tasks of one instance */
  PAI_SCHED_INSTANCES = 1 << 20,
  PAI_SCHED_MAX_PRIORITY = 1000,
  PAI_SCHED_OPPORTUNISTIC = -1 /**< priority of requests that run on idle
                                    capacity, beyond the share of their virtual
                                    cluster */
};

/** Options; zero-fill, or use PAI_SCHED_OPTIONS_INIT. */
typedef struct pai_sched_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  const char *policy;     /**< name of a built-in policy; NULL: "fifo" */
  const struct pai_policy *table; /**< a policy of the caller instead; must
                                       outlive the scheduler and its forks */
  const char *policy_options;     /**< a JSON object; NULL: defaults */
  uint32_t first_port, last_port; /**< ports for tasks; 0: 15000 to 39999 */
  uint32_t next_port; /**< first port to be assigned; 0: first_port */
  int unchecked; /**< 1: actions of the policy are not checked a second time */
  const struct pai_policy *const *tables; /**< more policies of the caller,
                                               which events and snapshots may
                                               name; the array is copied, the
                                               policies must outlive the
                                               scheduler and its forks */
  size_t ntables;
} pai_sched_options;

#define PAI_SCHED_OPTIONS_INIT                                             \
  {                                                                        \
    sizeof(pai_sched_options), NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0 \
  }

/**
 * Creates a scheduler for a cluster.  Its time begins with that of the first
 * event.
 *
 * @param[out] out  the scheduler, owned by the caller; NULL on failure
 * @param cluster   its nodes and virtual clusters are copied, including which
 *                  nodes and GPUs are sick
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_ENOTFOUND: no such policy; PAI_EINVAL: bad options;
 *         PAI_ELIMIT: a node has more than PAI_SCHED_GPUS GPUs; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sched_new(pai_sched **out,
                                        const pai_cluster *cluster,
                                        const pai_sched_options *opts,
                                        pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_sched_free(pai_sched *sched);

/**
 * Makes an independent copy of a scheduler.  The copy has no log and no
 * decisions to be read.
 *
 * @return PAI_OK; PAI_ENOTSUP: its policy cannot be copied; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sched_fork(pai_sched **out,
                                         const pai_sched *sched,
                                         pai_error **err);

/* --- requests ------------------------------------------------------------- */

/** A resource request: what each of a number of equal tasks asks for.  All
 *  elements of an array have the same struct_size. */
typedef struct pai_want {
  size_t struct_size;
  const char *name;   /**< name of the task role, or NULL */
  const char *type;   /**< GPU type or SKU; NULL: any, but the same for all
                           wants without a type */
  uint32_t tasks;     /**< number of tasks; at least 1 */
  uint32_t min_tasks; /**< least number of tasks to run with; 0: all */
  uint32_t gpus;
  uint32_t cpus; /**< whole CPUs, at most PAI_SCHED_CPUS */
  uint32_t ports;
  uint64_t memory;     /**< bytes */
  uint32_t cpu_millis; /**< thousandths of a CPU in addition to `cpus`, 0 to
                            999.  A task with whole CPUs has them exclusively;
                            a task with a fraction runs on the CPUs that no
                            task has exclusively.  @since 0.1 */
} pai_want;

/** Conditions on another request. */
enum {
  PAI_AFTER_OK = 1,    /**< all instances have succeeded */
  PAI_AFTER_ANY = 2,   /**< all instances have finished */
  PAI_AFTER_FAILED = 3 /**< all instances have finished, at least one without
                            success */
};

typedef struct pai_after {
  uint64_t id;
  int kind; /**< PAI_AFTER_OK, ... */
} pai_after;

/** A request; strings and arrays are copied. */
typedef struct pai_request {
  size_t struct_size;
  uint64_t id;        /**< chosen by the caller; not 0, and not the id of an
                           existing request */
  const char *name;   /**< for people, or NULL */
  const char *vc;     /**< virtual cluster; NULL: "default" */
  const char *user;   /**< or NULL */
  const char *pin;    /**< name of a pinned cell or node that all tasks must
                           use, or NULL */
  const char *within; /**< locality level: "node", "rack", or a GPU group such
                           as "nvlink".  All tasks must be in the same unit of
                           this level; NULL: anywhere */
  int priority;       /**< 0 to 1000, or PAI_SCHED_OPPORTUNISTIC */
  pai_time duration;  /**< estimated run time; 0: not known */
  pai_time limit;     /**< run time after which it is stopped; 0: none */
  uint32_t instances; /**< number of instances; 0: one */
  uint32_t at_once;   /**< most instances that run at a time; 0: all */
  int held;           /**< 1: it does not start before it is released */
  int lazy;           /**< 1: instead of being preempted, it may continue as
                           opportunistic; HiveD's lazyPreemptionEnable */
  const pai_want *wants; /**< at least one */
  size_t nwants;
  const pai_after *after;
  size_t nafter;
} pai_request;

/* --- events --------------------------------------------------------------- */

/** Kinds of events, each with the members of pai_sched_event that it uses. */
enum {
  PAI_SCHED_SUBMIT = 1, /**< request */
  PAI_SCHED_CHANGE,     /**< id, key, and text or number: see
                             pai_sched_event */
  PAI_SCHED_CANCEL,     /**< id, instance: waiting instances are removed,
                             running instances are to be stopped */
  PAI_SCHED_STARTED,    /**< id, instance: it has begun to run; its limit and
                             duration count from now */
  PAI_SCHED_FINISHED,   /**< id, instance; number: 0: success, else failure */
  PAI_SCHED_RETURNED,   /**< id, instance: it was stopped or did not start; it
                             holds no resources, and waits again at its old
                             position */
  PAI_SCHED_RESIZED,    /**< id, instance: the tasks that were to be removed
                             have stopped */
  PAI_SCHED_NODE,       /**< node; number: PAI_NODE_*; text: reason or NULL;
                             gpu: a single GPU, or -1 */
  PAI_SCHED_CLUSTER,    /**< cluster: the new cluster; nodes are matched by
                             name */
  PAI_SCHED_RESERVE,    /**< reservation */
  PAI_SCHED_UNRESERVE,  /**< text: the reservation's name */
  PAI_SCHED_LOSE_PORT,  /**< node; number: a port that is used by another
                             program */
  PAI_SCHED_REGAIN_PORTS, /**< all lost ports may be tried again */
  PAI_SCHED_POLICY,       /**< text: name of a built-in policy or of one in
                               `tables`; or table: a policy of the caller;
                               options: its options */
  PAI_SCHED_SHADOW,       /**< as PAI_SCHED_POLICY, for the shadow; neither
                               text nor table: no shadow */
  PAI_SCHED_TIME          /**< time has passed */
};

/** Instance number that means "all instances". */
#define PAI_SCHED_ALL UINT32_MAX

/** States of a node or GPU. */
enum {
  PAI_NODE_UP = 0,
  PAI_NODE_DRAIN = 1, /**< running tasks continue, no new ones start */
  PAI_NODE_SICK = 2   /**< as PAI_NODE_DRAIN; tasks there are probably lost */
};

/** A reservation: nodes that for some time only one user or one virtual
 *  cluster, or nobody, may use. */
typedef struct pai_reservation {
  size_t struct_size;
  const char *name;
  pai_time from, to;        /**< to 0: without end */
  const char *vc;           /**< virtual cluster that may use the nodes */
  const char *user;         /**< user who may use them; both NULL: nobody, e.g.
                                 for maintenance */
  const char *const *nodes; /**< names; NULL: all nodes */
  size_t nnodes;
} pai_reservation;

/**
 * An event; zero-fill members that its kind does not use.
 *
 * PAI_SCHED_CHANGE sets `key` of a waiting request.  Keys marked "also runs"
 * can be set for a running request, too:
 *
 *   "priority"  number               "held"      number: 1, or 0 to release
 *   "duration"  number, also runs    "limit"     number, also runs
 *   "at_once"   number, also runs    "instances" number, also runs: more only
 *   "vc"        text                 "within"    text
 *   "pin"       text                 "type"      text; want
 *   "tasks"     number; want         "gpus"      number; want
 *   "cpus"      number and cpu_millis; want
 *   "memory"    number; want
 *   "ports"     number; want         "min_tasks" number; want
 *   "name"      text                 "after"     number: id to remove
 *
 * Running instances keep their resources.
 */
typedef struct pai_sched_event {
  size_t struct_size;
  int kind;
  pai_time time; /**< not before the previous event, and from -INT64_MAX / 4 to
                      INT64_MAX / 4, as all times in this header; durations are
                      at most INT64_MAX / 4 */
  uint64_t id;
  uint32_t instance; /**< or PAI_SCHED_ALL for PAI_SCHED_CANCEL */
  uint32_t want;     /**< for PAI_SCHED_CHANGE: index of the resource
                          request */
  int64_t number;
  const char *key;
  const char *text;
  const char *options;
  const char *node;
  int32_t gpu;
  const pai_request *request;
  const pai_reservation *reservation;
  const pai_cluster *cluster;
  const struct pai_policy *table; /**< instead of text; must outlive the
                                       scheduler and its forks if the event is
                                       accepted */
  uint32_t cpu_millis; /**< for "cpus": thousandths in addition to number, 0 to
                            999  @since 0.1 */
} pai_sched_event;

/**
 * Passes an event to the scheduler.  An impossible event changes nothing.
 *
 * @param sched     the scheduler
 * @param event     not kept
 * @param[out] err  NULL, or receives the error, with the number of the event
 * @return PAI_OK; PAI_EINVAL: the event is invalid, or earlier than the last
 *         one; PAI_ENOTFOUND: no such request, instance, node, virtual
 *         cluster, ...; PAI_EEXISTS: the object already exists; PAI_ENOROOM:
 *         the request could not start even if all nodes were empty; PAI_EBUSY:
 *         not possible while the request runs; PAI_ELIMIT; PAI_ENOMEM; or the
 *         return value of the policy
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sched_send(pai_sched *sched,
                                         const pai_sched_event *event,
                                         pai_error **err);

/**
 * Executes an event or a "decide" from JSON; docs/internals/sched-log.md
 * describes the format.
 *
 * @param line  one object; not kept
 * @param len   its length in bytes
 * @return as pai_sched_send() and pai_sched_decide()
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sched_send_json(pai_sched *sched,
                                              const char *line, size_t len,
                                              pai_error **err);

/**
 * Begins a log: a snapshot, as pai_sched_save() writes it, then a line of JSON
 * for each accepted event and for each call of pai_sched_decide().  A second
 * call begins a new log, which does not depend on the previous one.
 *
 * If a line cannot be written, its event stays accepted, the log ends before
 * the line, and the call returns the return value of @p write.
 *
 * @param write      NULL: end the log
 * @param user_data  passed to @p write
 * @return PAI_OK; PAI_ENOTSUP: the policy cannot be saved; PAI_ENOMEM; or the
 *         return value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sched_set_log(pai_sched *sched,
                                            pai_write_cb write,
                                            void *user_data, pai_error **err);

/** Options of a log; zero-fill. */
typedef struct pai_sched_log_options {
  size_t struct_size;
  int snapshots;  /**< 1: a new snapshot is written as soon as the lines since
                       the last snapshot are twice as long as that snapshot; a
                       reader may begin at any snapshot: openpai/replay.h */
  uint64_t every; /**< least bytes of lines between snapshots; 0: 64 KiB */
} pai_sched_log_options;

/**
 * Sets the options of the current log and of later ones.  A snapshot is left
 * out if memory runs out.
 *
 * @return PAI_OK; PAI_EINVAL
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sched_set_log_options(
  pai_sched *sched, const pai_sched_log_options *opts, pai_error **err);

/** Writes a snapshot of the scheduler: its whole state as one line of JSON.
 *  @return as pai_sched_set_log()  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sched_save(const pai_sched *sched,
                                         pai_write_cb write, void *user_data,
                                         pai_error **err);

/**
 * Creates a scheduler from a snapshot of pai_sched_save().  It continues
 * exactly as the saved one would have.
 *
 * @param opts  used are alloc; table and tables, if policies were not built
 *              in; policy and policy_options, to continue with another policy.
 *              All other settings come from the snapshot
 * @return PAI_OK; PAI_EINVAL: not a snapshot; PAI_ENOTFOUND: its policy is
 *         unknown; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sched_load(pai_sched **out, const char *text,
                                         size_t len,
                                         const pai_sched_options *opts,
                                         pai_error **err);

/* --- decisions ------------------------------------------------------------ */

/** Kinds of decisions, to be carried out by the caller. */
enum {
  PAI_DECISION_START = 1, /**< start the tasks of the instance:
                               pai_sched_task() */
  PAI_DECISION_STOP = 2,  /**< stop the instance; cause says why */
  PAI_DECISION_GROW = 3,  /**< start its additional tasks */
  PAI_DECISION_SHRINK = 4 /**< stop tasks, then send PAI_SCHED_RESIZED; until
                               then they hold their places */
};

/** Causes of PAI_DECISION_STOP. */
enum {
  PAI_STOP_PREEMPTED = 1, /**< for another request: send PAI_SCHED_RETURNED
                               after the instance has stopped; it then waits
                               again */
  PAI_STOP_CANCELLED = 2,
  PAI_STOP_LIMIT = 3
};

typedef struct pai_decision {
  size_t struct_size;
  int kind;  /**< PAI_DECISION_START, ... */
  int cause; /**< PAI_STOP_PREEMPTED, ...; or 0 */
  uint64_t id;
  uint32_t instance;
  uint32_t want;  /**< resource request that grows or shrinks: its last tasks
                       are new, or to be stopped */
  uint32_t tasks; /**< new number of tasks, of that want or of all */
  uint64_t by;    /**< id of the request for which the instance is stopped, or
                       0 */
  int agreed;     /**< 1: live policy and shadow made the same decision, or no
                       policy decided, as for a cancelled instance; 0: the
                       decisions differ, or there is no shadow */
} pai_decision;

/**
 * Runs the policy.
 *
 * @param now       not before the last event
 * @param[out] err  NULL, or receives the error of a failure
 * @return the number of decisions, which can be read until the next call that
 *         changes the scheduler; PAI_EINVAL; PAI_ENOMEM; PAI_EINTERNAL: the
 *         policy attempted an impossible action, which was not done; or the
 *         return value of the policy.  Decisions before a failure remain
 *         valid.
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sched_decide(pai_sched *sched, pai_time now,
                                           pai_error **err);

/** Fills @p decision with decision @p i, in their order.
 *  @return PAI_OK; PAI_ENOTFOUND: no such decision; PAI_EINVAL  @since 0.1 */
PAI_API int pai_sched_decision(const pai_sched *sched, size_t i,
                               pai_decision *decision);

/**
 * The scheduler in the state in which the shadow (PAI_SCHED_SHADOW) would have
 * left it after the last pai_sched_decide(), with the shadow's decisions,
 * places and reasons.  For reading only.
 * @return valid until the next call that changes the scheduler; NULL: there is
 *         no shadow, it has failed, or an event was sent since
 * @since 0.1
 */
PAI_API const pai_sched *pai_sched_shadow(const pai_sched *sched);

/** Writes decision @p i as one line of JSON, with the places of all its tasks.
 *  @return PAI_OK; PAI_ENOTFOUND; PAI_ENOMEM; or the return value of @p write
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sched_write_decision(const pai_sched *sched,
                                                   size_t i,
                                                   pai_write_cb write,
                                                   void *user_data,
                                                   pai_error **err);

/** The next time at which pai_sched_decide() should be called even without an
 *  event; INT64_MAX: none.  @since 0.1 */
PAI_API pai_time pai_sched_next_time(const pai_sched *sched);

/** The place of a task. */
typedef struct pai_task_place {
  size_t struct_size;
  uint32_t want;        /**< index of its resource request */
  uint32_t index;       /**< index in that want, from 0 */
  uint32_t node;        /**< pai_sched_view_node() */
  uint64_t gpus;        /**< mask of GPUs of the node */
  uint64_t memory;      /**< bytes */
  const uint64_t *cpus; /**< mask of CPUs, in words */
  size_t cpu_words;
  const uint32_t *ports; /**< arrays are valid until the scheduler is
                              changed */
  size_t nports;
} pai_task_place;

/** Fills @p place with the place of task @p task of an instance, counted
 *  across all its wants.
 *  @return PAI_OK; PAI_ENOTFOUND: the task has no place, or does not exist;
 *          PAI_EINVAL  @since 0.1 */
PAI_API int pai_sched_task(const pai_sched *sched, uint64_t id,
                           uint32_t instance, uint32_t task,
                           pai_task_place *place);

/** Creates the allocation of an instance, owned by the caller.
 *  @return PAI_OK; PAI_ENOTFOUND: the instance holds nothing; PAI_ENOMEM
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sched_allocation(pai_allocation **out,
                                               const pai_sched *sched,
                                               uint64_t id, uint32_t instance,
                                               pai_error **err);

/* --- views --------------------------------------------------------------- */

/** States of a request. */
enum {
  PAI_REQUEST_WAITING = 1, /**< some instance has not started */
  PAI_REQUEST_RUNNING = 2, /**< all unfinished instances run, or are about to
                                run */
  PAI_REQUEST_STOPPING = 3 /**< cancelled, but some instances still hold their
                                places */
};

/** Current state of a request; strings are valid until the scheduler is
 *  changed. */
typedef struct pai_request_view {
  size_t struct_size;
  int state;
  uint64_t id;
  uint64_t turn; /**< order of arrival: lower came first */
  pai_time submitted;
  pai_time duration, limit;
  int priority;
  uint32_t instances, at_once;
  int held, lazy;
  const char *name, *vc, *user, *pin, *within; /**< or NULL */
  uint32_t wants;                              /**< pai_sched_view_want() */
  uint32_t after; /**< number of requests that it depends or depended on */
  uint32_t waiting, running, finished, failed; /**< numbers of instances */
} pai_request_view;

typedef struct pai_sched_node_view {
  size_t struct_size;
  const char *name;
  int state;                           /**< PAI_NODE_UP, ... */
  const char *why;                     /**< reason why it is not up, or NULL */
  uint32_t gpus, free_gpus, sick_gpus; /**< sick GPUs are not free */
  uint64_t free_mask, sick_mask;       /**< masks of free and sick GPUs */
  uint32_t cpus, free_cpus; /**< 0 CPUs: not known and not counted */
  uint64_t memory, free_memory;
  uint32_t free_cpu_millis; /**< thousandths in addition to free_cpus, 0 to 999
                                 @since 0.1 */
} pai_sched_node_view;

typedef struct pai_sched_vc_view {
  size_t struct_size;
  const char *name;
  int limited;   /**< 0: the cluster has no shares, so the virtual cluster may
                      use all resources */
  uint64_t gpus; /**< GPUs of its share, of all types */
  uint64_t used; /**< GPUs in use by guaranteed instances */
  uint64_t lent; /**< GPUs in use by opportunistic instances */
  uint32_t waiting, running; /**< requests; instances */
  int stopped;               /**< 1: stopped: its requests do not start */
  int parted; /**< 1: its share is a part of the whole cluster, including CPUs
                   and memory, and `used` includes opportunistic instances */
  uint64_t most_gpus;                        /**< most GPUs that it may use */
  uint64_t cpus, most_cpus, used_cpus;       /**< if `parted`; 0: not known */
  uint64_t memory, most_memory, used_memory; /**< if `parted`; bytes */
  uint32_t used_cpu_millis; /**< thousandths in addition to used_cpus, 0 to 999
                                 @since 0.1 */
} pai_sched_vc_view;

/** Sums over a scheduler. */
typedef struct pai_sched_view {
  size_t struct_size;
  const char *policy;
  const char *shadow; /**< or NULL */
  pai_time now;       /**< time of the last event or decision */
  uint64_t events;    /**< number of accepted events */
  size_t nodes, virtual_clusters;
  uint64_t gpus, free_gpus;
  uint32_t requests, waiting, running; /**< requests; of these, waiting ones;
                                            running instances */
  uint64_t live_decisions;             /**< decisions since the shadow was
                                            set */
  uint64_t shadow_decisions;           /**< decisions of the shadow */
  uint64_t shadow_agreed;              /**< decisions that were the same */
  uint64_t shadow_failed;              /**< number of failures of the shadow */
  uint64_t set_aside; /**< number of times that the policy failed on a single
                           request, which then waits with PAI_LACK_POLICY while
                           other requests are scheduled */
} pai_sched_view;

/** @return PAI_OK; PAI_ENOTFOUND; PAI_EINVAL: bad struct_size  @since 0.1 */
PAI_API int pai_sched_view_sums(const pai_sched *sched, pai_sched_view *view);
/** @since 0.1 */
PAI_API int pai_sched_view_request(const pai_sched *sched, uint64_t id,
                                   pai_request_view *view);
/** Fills @p view with resource request @p want of a request.  @since 0.1 */
PAI_API int pai_sched_view_want(const pai_sched *sched, uint64_t id,
                                uint32_t want, pai_want *view);
/** @since 0.1 */
PAI_API int pai_sched_view_node(const pai_sched *sched, size_t node,
                                pai_sched_node_view *view);
/** @since 0.1 */
PAI_API int pai_sched_view_vc(const pai_sched *sched, size_t vc,
                              pai_sched_vc_view *view);

/** Returns the request that follows @p id in order of arrival; the first for
 *  0; 0 at the end.  Finished requests are not kept.  @since 0.1 */
PAI_API uint64_t pai_sched_next(const pai_sched *sched, uint64_t id);

/** Finds the running instance of a request that follows @p *instance, and its
 *  start time; PAI_SCHED_ALL: the first.  @return PAI_OK; PAI_ENOTFOUND: no
 *  more  @since 0.1 */
PAI_API int pai_sched_next_running(const pai_sched *sched, uint64_t id,
                                   uint32_t *instance, pai_time *started);

PAI_END_DECLS

#include <openpai/reason.h>

#endif /* OPENPAI_SCHED_H */
