/**
 * @file openpai/reason.h
 * Reasons why requests wait, and changes that would let them start.
 * <openpai/sched.h> includes this header.
 *
 * Threads: SERIAL, as pai_sched.
 */
#ifndef OPENPAI_REASON_H
#define OPENPAI_REASON_H

#include <openpai/sched.h>

PAI_BEGIN_DECLS

/** Causes for which a request cannot start.  A node counts only for the first
 *  check that it fails. */
enum {
  PAI_LACK_NOTHING = 0, /**< the request was not considered yet */
  PAI_LACK_RELEASE,     /**< the request is held */
  PAI_LACK_AFTER,       /**< the request waits for another request to finish */
  PAI_LACK_TURN,        /**< another request goes first */
  PAI_LACK_THROTTLE,    /**< at_once instances of the request already run */
  PAI_LACK_QUOTA,       /**< the share of the virtual cluster or the user is
                             used up; for shares of CPUs and memory, `of` names
                             the resource */
  PAI_LACK_TYPE,        /**< nodes without GPUs of this type */
  PAI_LACK_HEALTH,      /**< nodes that are sick or drained */
  PAI_LACK_PIN,         /**< nodes outside the pinned cell */
  PAI_LACK_RESERVATION, /**< nodes reserved for other users */
  PAI_LACK_GPU,         /**< too few free GPUs */
  PAI_LACK_CPU,
  PAI_LACK_MEMORY,
  PAI_LACK_PORT,
  PAI_LACK_TOPOLOGY,   /**< enough resources in total, but not in one locality
                            level */
  PAI_LACK_GANG,       /**< only some tasks of the gang have a place */
  PAI_LACK_PREEMPTION, /**< the runs that hold the resources may not be
                            preempted */
  PAI_LACK_VICTIMS,    /**< the victims have not stopped yet */
  PAI_LACK_LATER,      /**< the request would delay a request that is planned
                            earlier */
  PAI_LACK_POLICY,     /**< a reason of the policy: text */
  PAI_LACK_STOPPED,    /**< the virtual cluster of the request is stopped */
  PAI_LACKS            /**< number of values */
};

/** Why a request waits, as found when the policy last considered it. */
typedef struct pai_reason {
  size_t struct_size;
  int lack;         /**< PAI_LACK_*: the deciding cause */
  int of;           /**< PAI_LACK_GANG, _TOPOLOGY: the cause for the next task;
                         _QUOTA: PAI_LACK_CPU or _MEMORY if the quota is a
                         quota of these; else equal to lack */
  uint32_t want;    /**< index of the resource request of the first task
                         without a place */
  uint32_t placed;  /**< tasks with a place */
  uint32_t tasks;   /**< tasks in all */
  uint64_t wanted;  /**< wanted amount of the lacking resource, at the nearest
                         miss */
  uint64_t found;   /**< found amount of this resource, at the nearest miss */
  const char *node; /**< node of the nearest miss; NULL: none, as for a
                         quota */
  uint64_t behind;  /**< id of the request that it waits for, or 0 */
  pai_time until;   /**< earliest start as planned; 0: not known */
  const char *text; /**< text of the policy, or NULL */
  uint32_t wanted_millis; /**< CPUs: thousandths in addition to `wanted`, 0 to
                               999 */
  uint32_t found_millis;  /**< CPUs: thousandths in addition to `found`, 0 to
                               999  @since 0.1 */
} pai_reason;

/** Fills @p reason.  @return PAI_OK; PAI_ENOTFOUND: no such request, or it is
 *  not waiting; PAI_EINVAL  @since 0.1 */
PAI_API int pai_sched_reason(const pai_sched *sched, uint64_t id,
                             pai_reason *reason);

/** Number of nodes that failed for @p lack when the request was last
 *  considered.  @since 0.1 */
PAI_API uint32_t pai_sched_failed(const pai_sched *sched, uint64_t id,
                                  int lack);

/** The name of a lack, such as "quota"; "" for an unknown value.
 *  @since 0.1 */
PAI_API const char *pai_lack_name(int lack);

/**
 * Explains why a request waits, and suggests changes with which it would start
 * now: one change of the request itself, and one change of other requests or
 * of nodes.  Each suggested change has been tried on a copy of the scheduler.
 *
 * Single changes are tried first, with the smallest amount that works.  If no
 * single change is enough, a set of changes is suggested, none of which can be
 * left out.  The text says so, because a smaller set may exist.  In large
 * schedulers not all changes are tried.
 *
 * Under a built-in policy the last explanations are cached until the next
 * event or decision, for both formats.
 *
 * @param format  PAI_FORMAT_TEXT or 0: one paragraph; PAI_FORMAT_JSON: the
 *                numbers of the reason, and the changes as events
 * @return PAI_OK; PAI_ENOTFOUND: no such request; PAI_ENOMEM; or the return
 *         value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_sched_explain(const pai_sched *sched,
                                            uint64_t id, int format,
                                            pai_write_cb write,
                                            void *user_data, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_REASON_H */
