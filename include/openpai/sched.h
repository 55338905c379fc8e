/**
 * @file openpai/sched.h
 * The scheduler core: events go in, decisions come out, and whatever waits has
 * a reason.
 *
 *   pai_sched_new(&s, cluster, NULL, &err);
 *   pai_sched_send(s, &event, &err);          what happened, in its order
 *   pai_sched_decide(s, now, &err);           what to do about it
 *   for (i = 0; pai_sched_decision(s, i, &decision) == PAI_OK; i++)
 *     ...                                     the caller does it
 *
 * It reads no clock, opens no file and draws no random number: the same events
 * give the same decisions on every machine.  A policy decides: a built-in one,
 * or one of the caller's (openpai/policy.h).
 *
 * A request is a gang of tasks that start together, or not at all; or many
 * such gangs, its instances, counted from 0.  What was started holds its
 * place until the caller tells that it has finished, also when it was asked to
 * stop.
 *
 * Nodes are the cluster's, by name and by index; GPUs of a node are counted
 * from 0 as in the cluster, and are what bit i of a mask stands for.
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

/** Most that a scheduler takes: nodes as an allocation, and of each */
enum {
  PAI_SCHED_GPUS = 64,       /**< GPUs on a node */
  PAI_SCHED_TASKS = 1 << 17, /**< tasks of one instance */
  PAI_SCHED_INSTANCES = 1 << 20,
  PAI_SCHED_MAX_PRIORITY = 1000,
  PAI_SCHED_OPPORTUNISTIC = -1 /**< priority: with what others leave, beyond
                                    the share of a virtual cluster */
};

/** Options; zero-fill, or use PAI_SCHED_OPTIONS_INIT. */
typedef struct pai_sched_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  const char *policy;     /**< a built-in one; NULL: "fifo" */
  const struct pai_policy
    *table; /**< one of the caller's instead; must outlive the
                                  scheduler and its forks */
  const char *policy_options;     /**< a JSON object, or NULL: all defaults */
  uint32_t first_port, last_port; /**< what tasks are given; 0: 15000 to
                                       39999 */
  uint32_t next_port; /**< the first one to be given out; 0: first_port */
  int unchecked; /**< 1: what a policy asks for is not checked a second time */
  const struct pai_policy *const
    *tables; /**< more of the caller's: events and snapshots may name them;
                  copied, but what they point to must live as long */
  size_t ntables;
} pai_sched_options;

#define PAI_SCHED_OPTIONS_INIT                                             \
  {                                                                        \
    sizeof(pai_sched_options), NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0 \
  }

/**
 * Makes a scheduler for a cluster; its clock begins at the first event's time.
 *
 * @param[out] out  the scheduler, owned by the caller; NULL on failure
 * @param cluster   its nodes and virtual clusters are copied; what is sick is
 *                  sick in the beginning
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
 * Makes a copy that is driven on its own, from where this one is.  It writes
 * no log and has no decisions to be read.
 *
 * @return PAI_OK; PAI_ENOTSUP: its policy cannot be copied; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sched_fork(pai_sched **out,
                                         const pai_sched *sched,
                                         pai_error **err);

/* --- requests ------------------------------------------------------------- */

/** What each of some equal tasks is given; all of an array have the same
 *  struct_size. */
typedef struct pai_want {
  size_t struct_size;
  const char *name;   /**< of the task role, or NULL */
  const char *type;   /**< a kind of GPU or a SKU; NULL: any one, the same for
                           all wants that leave it open */
  uint32_t tasks;     /**< how many; at least 1 */
  uint32_t min_tasks; /**< it is willing to run with so many; 0: all of them */
  uint32_t gpus;
  uint32_t cpus;
  uint32_t ports;
  uint64_t memory; /**< bytes */
} pai_want;

/** What another request must have done before. */
enum {
  PAI_AFTER_OK = 1,    /**< all instances have finished well */
  PAI_AFTER_ANY = 2,   /**< all instances have finished */
  PAI_AFTER_FAILED = 3 /**< all have finished, and one of them not well */
};

typedef struct pai_after {
  uint64_t id;
  int kind; /**< PAI_AFTER_OK, ... */
} pai_after;

/** A request; strings and arrays are copied. */
typedef struct pai_request {
  size_t struct_size;
  uint64_t id;        /**< the caller's; never 0, nor of one that is there */
  const char *name;   /**< for people, or NULL */
  const char *vc;     /**< its virtual cluster; NULL: "default" */
  const char *user;   /**< or NULL */
  const char *pin;    /**< only in the cell or node of this name, or NULL */
  const char *within; /**< "node", "rack", or what GPUs share, as "nvlink":
                            all tasks in one of them; NULL: they may be
                            anywhere */
  int priority;       /**< 0 to 1000, or PAI_SCHED_OPPORTUNISTIC */
  pai_time duration;  /**< how long it takes, as a guess; 0: not known */
  pai_time limit;     /**< it is stopped then; 0: it may run for ever */
  uint32_t instances; /**< 0: one */
  uint32_t at_once;   /**< no more of them at a time; 0: all */
  int held;           /**< 1: not before it is released */
  int lazy;           /**< 1: rather than be preempted it may go on as
                            opportunistic; HiveD's lazyPreemptionEnable */
  const pai_want *wants; /**< at least one */
  size_t nwants;
  const pai_after *after;
  size_t nafter;
} pai_request;

/* --- events --------------------------------------------------------------- */

/** What happened, and which members of the event tell of it. */
enum {
  PAI_SCHED_SUBMIT = 1, /**< request */
  PAI_SCHED_CHANGE,     /**< id, key, and text or number: see below */
  PAI_SCHED_CANCEL,     /**< id, instance: what waits is gone, what runs is
                             to be stopped */
  PAI_SCHED_STARTED,    /**< id, instance: it has begun to run; its limit and
                             duration count from here */
  PAI_SCHED_FINISHED,   /**< id, instance; number: 0 well, else not */
  PAI_SCHED_RETURNED,   /**< id, instance: it was stopped or not begun, holds
                             nothing, and waits again where it was */
  PAI_SCHED_RESIZED,    /**< id, instance: what a resize took is not in use */
  PAI_SCHED_NODE,       /**< node, and number: a PAI_NODE_* state; text: why,
                             or NULL; gpu: that GPU alone, or -1 */
  PAI_SCHED_CLUSTER,    /**< cluster: from now on it is this one; nodes are the
                             same by their names */
  PAI_SCHED_RESERVE,    /**< reservation */
  PAI_SCHED_UNRESERVE,  /**< text: the reservation's name */
  PAI_SCHED_LOSE_PORT,  /**< node, number: somebody else has it */
  PAI_SCHED_REGAIN_PORTS, /**< all lost ports may be tried again */
  PAI_SCHED_POLICY,       /**< text: a built-in one, or one of `tables`; or
                             table: one of the caller's; options: its own */
  PAI_SCHED_SHADOW,       /**< likewise, to decide beside the one that counts,
                             without effect; neither: no more */
  PAI_SCHED_TIME          /**< nothing but the time */
};

/** All instances. */
#define PAI_SCHED_ALL UINT32_MAX

/** States of a node or GPU. */
enum {
  PAI_NODE_UP = 0,
  PAI_NODE_DRAIN = 1, /**< what runs goes on, nothing new begins */
  PAI_NODE_SICK = 2   /**< likewise; what runs there is probably lost */
};

/** Nodes that are kept for some, or for nobody, for a time. */
typedef struct pai_reservation {
  size_t struct_size;
  const char *name;
  pai_time from, to;        /**< to 0: for ever */
  const char *vc;           /**< who may use them meanwhile; */
  const char *user;         /**< both NULL: nobody, as for maintenance */
  const char *const *nodes; /**< names; NULL: all nodes */
  size_t nnodes;
} pai_reservation;

/**
 * An event; zero-fill what its kind does not need.
 *
 * A change sets `key` of a request that waits, or, where it says so, also of
 * one that runs:
 *
 *   "priority"  number               "held"      number: 1, or 0 to release
 *   "duration"  number, also runs    "limit"     number, also runs
 *   "at_once"   number, also runs    "instances" number, also runs: more only
 *   "vc"        text                 "within"    text
 *   "pin"       text                 "type"      text; want
 *   "tasks"     number; want         "gpus"      number; want
 *   "cpus"      number; want         "memory"    number; want
 *   "ports"     number; want         "min_tasks" number; want
 *   "name"      text                 "after"     number: waits for it no more
 *
 * Instances that run keep what they have.
 */
typedef struct pai_sched_event {
  size_t struct_size;
  int kind;
  pai_time time; /**< not before that of the event before, and from
                      -INT64_MAX / 4 to INT64_MAX / 4, as all times here;
                      durations are not longer than that */
  uint64_t id;
  uint32_t instance; /**< or PAI_SCHED_ALL for PAI_SCHED_CANCEL */
  uint32_t want;     /**< which, for PAI_SCHED_CHANGE */
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
                                       scheduler and its forks, if it is
                                       taken */
} pai_sched_event;

/**
 * Tells what happened.  An event that cannot be true changes nothing.
 *
 * @param sched     the scheduler
 * @param event     not kept
 * @param[out] err  NULL, or receives the error, with the event's number
 * @return PAI_OK; PAI_EINVAL: the event is broken, or earlier than the last
 *         one; PAI_ENOTFOUND: no such request, instance, node, virtual
 *         cluster, ...; PAI_EEXISTS: it is there already; PAI_ENOROOM: it could
 *         not start if all nodes were empty; PAI_EBUSY: that cannot be done to
 *         what runs; PAI_ELIMIT; PAI_ENOMEM; or what the policy answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sched_send(pai_sched *sched,
                                         const pai_sched_event *event,
                                         pai_error **err);

/**
 * Reads an event, or "decide", from JSON: docs/internals/sched-log.md has the
 * form.
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
 * From now on each event that was taken is written as one line of JSON, and so
 * is each call of pai_sched_decide().  First comes the state as it is now, as
 * pai_sched_save() writes it.  Called again it begins another log, which needs
 * none of the lines of the one before.
 *
 * A line that cannot be written: the event was taken, the log ends before its
 * line, and the call returns what @p write answered.
 *
 * @param write      NULL: no more
 * @param user_data  handed to @p write
 * @return PAI_OK; PAI_ENOTSUP: its policy cannot be saved; PAI_ENOMEM; or what
 *         @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sched_set_log(pai_sched *sched,
                                            pai_write_cb write,
                                            void *user_data, pai_error **err);

/** How a log is written; zero-fill. */
typedef struct pai_sched_log_options {
  size_t struct_size;
  int snapshots;  /**< 1: there are some in its middle, as soon as the lines
                      since the last one are twice as long as it was; a reader
                      may begin at each: openpai/replay.h */
  uint64_t every; /**< and not before there are so many bytes of lines; 0:
                       64 KiB */
} pai_sched_log_options;

/**
 * Says how the log is written from here on: the one there is, and those that
 * are begun later.  A snapshot for which there is no memory is left out.
 *
 * @return PAI_OK; PAI_EINVAL
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sched_set_log_options(
  pai_sched *sched, const pai_sched_log_options *opts, pai_error **err);

/** Writes the whole state as one line of JSON.
 *  @return as pai_sched_set_log()  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sched_save(const pai_sched *sched,
                                         pai_write_cb write, void *user_data,
                                         pai_error **err);

/**
 * Makes a scheduler of what pai_sched_save() has written; it goes on exactly
 * as that one would have.
 *
 * @param opts  alloc; table and tables, where policies were no built-in ones;
 *              policy and policy_options, if another one is to decide from
 *              now on; the rest is in the text
 * @return PAI_OK; PAI_EINVAL: not such a text; PAI_ENOTFOUND: its policy is
 *         not here; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sched_load(pai_sched **out, const char *text,
                                         size_t len,
                                         const pai_sched_options *opts,
                                         pai_error **err);

/* --- decisions ------------------------------------------------------------ */

/** What the caller is to do. */
enum {
  PAI_DECISION_START = 1, /**< start its tasks: pai_sched_task() */
  PAI_DECISION_STOP = 2,  /**< stop it; cause says why */
  PAI_DECISION_GROW = 3,  /**< start tasks that it had not before */
  PAI_DECISION_SHRINK = 4 /**< stop tasks, then tell PAI_SCHED_RESIZED: until
                               then they hold their places */
};

/** Why it is to stop. */
enum {
  PAI_STOP_PREEMPTED = 1, /**< for another: tell PAI_SCHED_RETURNED, and it
                               waits again */
  PAI_STOP_CANCELLED = 2,
  PAI_STOP_LIMIT = 3
};

typedef struct pai_decision {
  size_t struct_size;
  int kind;  /**< PAI_DECISION_START, ... */
  int cause; /**< PAI_STOP_PREEMPTED, ...; or 0 */
  uint64_t id;
  uint32_t instance;
  uint32_t want;  /**< of which it has more or fewer tasks: the last ones are
                       new, or to be stopped */
  uint32_t tasks; /**< how many tasks it has now, of that want or of all */
  uint64_t by;    /**< the request for which it is stopped, or 0 */
  int agreed;     /**< 1: the shadow has decided the same, or it is none of a
                       policy, as a stop of what was cancelled; and of a
                       shadow's own: it was decided.  0: else, or there is no
                       shadow */
} pai_decision;

/**
 * Lets the policy decide.
 *
 * @param now       not before the last event
 * @param[out] err  NULL, or receives the error of a failure
 * @return how many decisions there are, to be read until the next call that
 *         changes the scheduler; PAI_EINVAL; PAI_ENOMEM; PAI_EINTERNAL: the
 *         policy asked for what cannot be, and that was not done; or what the
 *         policy answered.  Decisions before a failure stand.
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sched_decide(pai_sched *sched, pai_time now,
                                           pai_error **err);

/** Fills @p decision with decision @p i, in their order.
 *  @return PAI_OK; PAI_ENOTFOUND: there are fewer; PAI_EINVAL  @since 0.1 */
PAI_API int pai_sched_decision(const pai_sched *sched, size_t i,
                               pai_decision *decision);

/**
 * The scheduler as the shadow (PAI_SCHED_SHADOW) would have left it in the last
 * pai_sched_decide(), to look at: its decisions, their places, its reasons.
 * @return NULL: there is no shadow, it has failed, or something was sent since;
 *         else good until the next call that changes the scheduler
 * @since 0.1
 */
PAI_API const pai_sched *pai_sched_shadow(const pai_sched *sched);

/** Writes decision @p i as one line of JSON, with all its tasks' places.
 *  @return PAI_OK; PAI_ENOTFOUND; PAI_ENOMEM; or what @p write answered
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sched_write_decision(const pai_sched *sched,
                                                   size_t i,
                                                   pai_write_cb write,
                                                   void *user_data,
                                                   pai_error **err);

/** The next time at which something may change without an event, so that
 *  pai_sched_decide() should be called; INT64_MAX: none.  @since 0.1 */
PAI_API pai_time pai_sched_next_time(const pai_sched *sched);

/** Where a task is. */
typedef struct pai_task_place {
  size_t struct_size;
  uint32_t want;        /**< of its request */
  uint32_t index;       /**< in that want, from 0 */
  uint32_t node;        /**< pai_sched_view_node() */
  uint64_t gpus;        /**< mask of the node's GPUs */
  uint64_t memory;      /**< bytes */
  const uint64_t *cpus; /**< mask of CPUs, in words */
  size_t cpu_words;
  const uint32_t *ports; /**< all until the scheduler is changed */
  size_t nports;
} pai_task_place;

/** Where task @p task of an instance is, counted through all its wants.
 *  @return PAI_OK; PAI_ENOTFOUND: it has no place, or fewer tasks; PAI_EINVAL
 *  @since 0.1 */
PAI_API int pai_sched_task(const pai_sched *sched, uint64_t id,
                           uint32_t instance, uint32_t task,
                           pai_task_place *place);

/** Makes the allocation that an instance holds, owned by the caller.
 *  @return PAI_OK; PAI_ENOTFOUND: it holds none; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_sched_allocation(pai_allocation **out,
                                               const pai_sched *sched,
                                               uint64_t id, uint32_t instance,
                                               pai_error **err);

/* --- reasons -------------------------------------------------------------- */

/** What a request lacks.  A node is counted for the first one it fails. */
enum {
  PAI_LACK_NOTHING = 0, /**< it was not considered yet */
  PAI_LACK_RELEASE,     /**< it is held */
  PAI_LACK_AFTER,       /**< waits for another request */
  PAI_LACK_TURN,        /**< one before it goes first */
  PAI_LACK_THROTTLE,    /**< as many of its instances run as may */
  PAI_LACK_QUOTA,       /**< the virtual cluster, or the user, has no more; of
                             CPUs or memory, if `of` says so */
  PAI_LACK_TYPE,        /**< nodes that have no such GPUs */
  PAI_LACK_HEALTH,      /**< nodes that are sick or drained */
  PAI_LACK_PIN,         /**< nodes outside the cell */
  PAI_LACK_RESERVATION, /**< nodes that are kept for others */
  PAI_LACK_GPU,         /**< too few free GPUs */
  PAI_LACK_CPU,
  PAI_LACK_MEMORY,
  PAI_LACK_PORT,
  PAI_LACK_TOPOLOGY,   /**< enough in sum, not together */
  PAI_LACK_GANG,       /**< some tasks have a place, not all */
  PAI_LACK_PREEMPTION, /**< those that hold it may not be preempted */
  PAI_LACK_VICTIMS,    /**< those that make room have not stopped yet */
  PAI_LACK_LATER,      /**< it would delay what is planned before it */
  PAI_LACK_POLICY,     /**< the policy says why: text */
  PAI_LACK_STOPPED,    /**< its virtual cluster is stopped */
  PAI_LACKS            /**< how many there are */
};

/** Why a request waits, as it was found when it was last considered. */
typedef struct pai_reason {
  size_t struct_size;
  int lack;         /**< what decided */
  int of;           /**< PAI_LACK_GANG, _TOPOLOGY: what lacked the next task;
                          _QUOTA: PAI_LACK_CPU or _MEMORY, if it is of these;
                          else as lack */
  uint32_t want;    /**< of which the first task without a place is */
  uint32_t placed;  /**< tasks that had one */
  uint32_t tasks;   /**< of all there are */
  uint64_t wanted;  /**< of what lacks; for the nearest miss, */
  uint64_t found;   /**< and what there was */
  const char *node; /**< the nearest miss, or NULL */
  uint64_t behind;  /**< the request it waits for, or 0 */
  pai_time until;   /**< it will not start before, as planned; 0: not known */
  const char *text; /**< what the policy says, or NULL */
} pai_reason;

/** Fills @p reason.  @return PAI_OK; PAI_ENOTFOUND: no such request, or it
 *  does not wait; PAI_EINVAL  @since 0.1 */
PAI_API int pai_sched_reason(const pai_sched *sched, uint64_t id,
                             pai_reason *reason);

/** How many nodes failed for that lack when it was last considered.
 *  @since 0.1 */
PAI_API uint32_t pai_sched_failed(const pai_sched *sched, uint64_t id,
                                  int lack);

/** The name of a lack, as "quota"; "" for none.  @since 0.1 */
PAI_API const char *pai_lack_name(int lack);

/**
 * Tells a person why a request waits, and changes with which it would start
 * now: one of the request itself, and one of others or of nodes.  Each was tried
 * on a copy: none is told where none was found.
 *
 * Changes of one thing are tried first, and of an amount the least that works
 * is told.  Where none of them is enough, several are told that work together
 * and of which none can be left out; the text says so then, as there may be
 * smaller ones.  In large schedulers not all changes are tried.
 *
 * Under a built-in policy the last explanations are kept until the next event
 * or decision: who asks again, also in the other format, is told the same.
 *
 * @param format  PAI_FORMAT_TEXT or 0: one paragraph; PAI_FORMAT_JSON: the
 *                reason's numbers, the change as events
 * @return PAI_OK; PAI_ENOTFOUND: no such request; PAI_ENOMEM; or what @p write
 *         answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sched_explain(const pai_sched *sched,
                                            uint64_t id, int format,
                                            pai_write_cb write,
                                            void *user_data, pai_error **err);

/* --- looking -------------------------------------------------------------- */

/** States of a request, and of an instance. */
enum {
  PAI_REQUEST_WAITING = 1, /**< some instance has not begun */
  PAI_REQUEST_RUNNING = 2, /**< all that are left run, or are to */
  PAI_REQUEST_STOPPING = 3 /**< cancelled; some still hold their places */
};

/** A request as it was changed last; strings are the scheduler's, until it is
 *  changed. */
typedef struct pai_request_view {
  size_t struct_size;
  int state;
  uint64_t id;
  uint64_t turn; /**< of two requests, the lower came first */
  pai_time submitted;
  pai_time duration, limit;
  int priority;
  uint32_t instances, at_once;
  int held, lazy;
  const char *name, *vc, *user, *pin, *within; /**< or NULL */
  uint32_t wants;                              /**< pai_sched_view_want() */
  uint32_t after; /**< how many others it is, or was, to come after */
  uint32_t waiting, running, finished, failed; /**< instances */
} pai_request_view;

typedef struct pai_sched_node_view {
  size_t struct_size;
  const char *name;
  int state;                           /**< PAI_NODE_UP, ... */
  const char *why;                     /**< it is not up, or NULL */
  uint32_t gpus, free_gpus, sick_gpus; /**< free ones are not sick */
  uint64_t free_mask, sick_mask;       /**< which ones */
  uint32_t cpus, free_cpus; /**< 0 CPUs: not known, nobody counts them */
  uint64_t memory, free_memory;
} pai_sched_node_view;

typedef struct pai_sched_vc_view {
  size_t struct_size;
  const char *name;
  int limited;   /**< 0: the cluster has no shares, and it may have all */
  uint64_t gpus; /**< its own, of all kinds */
  uint64_t used; /**< in use by guaranteed instances */
  uint64_t lent; /**< in use by opportunistic ones */
  uint32_t waiting, running; /**< requests; instances */
  int stopped;               /**< 1: nothing of it starts */
  int parted; /**< 1: it has a part of the whole, of CPUs and memory, too, and
                   `used` counts opportunistic instances as well */
  uint64_t most_gpus;                        /**< it may have at most */
  uint64_t cpus, most_cpus, used_cpus;       /**< of a part; 0: not known */
  uint64_t memory, most_memory, used_memory; /**< likewise; bytes */
} pai_sched_vc_view;

/** Of the whole, for a look. */
typedef struct pai_sched_view {
  size_t struct_size;
  const char *policy;
  const char *shadow; /**< or NULL */
  pai_time now;       /**< of the last event or decision */
  uint64_t events;    /**< taken so far */
  size_t nodes, virtual_clusters;
  uint64_t gpus, free_gpus;
  uint32_t requests, waiting, running; /**< requests; of them; instances */
  uint64_t live_decisions;             /**< since there is a shadow; */
  uint64_t shadow_decisions;           /**< its own, */
  uint64_t shadow_agreed;              /**< and those that were the same */
  uint64_t shadow_failed;              /**< times it has failed */
  uint64_t set_aside; /**< times that deciding failed on one request, which
                           waits with PAI_LACK_POLICY; the others went on */
} pai_sched_view;

/** @return PAI_OK; PAI_ENOTFOUND; PAI_EINVAL: bad struct_size  @since 0.1 */
PAI_API int pai_sched_view_sums(const pai_sched *sched, pai_sched_view *view);
/** @since 0.1 */
PAI_API int pai_sched_view_request(const pai_sched *sched, uint64_t id,
                                   pai_request_view *view);
/** Want @p want of a request.  @since 0.1 */
PAI_API int pai_sched_view_want(const pai_sched *sched, uint64_t id,
                                uint32_t want, pai_want *view);
/** @since 0.1 */
PAI_API int pai_sched_view_node(const pai_sched *sched, size_t node,
                                pai_sched_node_view *view);
/** @since 0.1 */
PAI_API int pai_sched_view_vc(const pai_sched *sched, size_t vc,
                              pai_sched_vc_view *view);

/** The request behind @p id in the order of their turns, or the first for 0;
 *  0 at the end.  Requests that are done are not kept.  @since 0.1 */
PAI_API uint64_t pai_sched_next(const pai_sched *sched, uint64_t id);

/** The running instance behind @p *instance of a request, and its start;
 *  PAI_SCHED_ALL: the first.  @return PAI_OK; PAI_ENOTFOUND: no more
 *  @since 0.1 */
PAI_API int pai_sched_next_running(const pai_sched *sched, uint64_t id,
                                   uint32_t *instance, pai_time *started);

PAI_END_DECLS

#endif /* OPENPAI_SCHED_H */
