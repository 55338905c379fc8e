/**
 * @file openpai/hived.h
 * HiveD's decisions: what was recorded of it is done again, and compared; and
 * HiveD as an extender of Kubernetes' scheduler.
 *
 * A record has one JSON object a line: a configuration to begin with, events of
 * nodes and pods, and what HiveD decided.  docs/guide/hived-replay.md tells its
 * form.
 *
 * An extender is told what Kubernetes' API server tells of nodes and pods, and
 * is asked by Kubernetes' scheduler where pods go.  It opens no connection and
 * asks no clock: its host does.  docs/guide/hived-extender.md tells how.
 *
 * Threads: SERIAL.
 */
#ifndef OPENPAI_HIVED_H
#define OPENPAI_HIVED_H

#include <openpai/cluster.h>

PAI_BEGIN_DECLS

typedef struct pai_hived_replay
  pai_hived_replay; /**< opaque; pai_hived_replay_free() */

/**
 * Hands over the text of a configuration by its name: calls @p write with @p to,
 * in as many pieces as it likes.
 * @return PAI_OK; or a negative code, which pai_hived_replay_step() then
 *         answers
 */
typedef int (*pai_hived_config_cb)(void *user_data, const char *name,
                                   pai_write_cb write, void *to);

/** Options of a replay; or use PAI_HIVED_REPLAY_OPTIONS_INIT. */
typedef struct pai_hived_replay_options {
  size_t struct_size;
  const pai_alloc *alloc;     /**< NULL: malloc; copied */
  pai_hived_config_cb config; /**< must be given */
  void *user_data;            /**< handed to it */
} pai_hived_replay_options;

#define PAI_HIVED_REPLAY_OPTIONS_INIT               \
  {                                                 \
    sizeof(pai_hived_replay_options), 0, NULL, NULL \
  }

/** How a step came out. */
enum {
  PAI_HIVED_DONE = 1,    /**< there was nothing to compare */
  PAI_HIVED_AGREES,      /**< as recorded */
  PAI_HIVED_ALTERNATIVE, /**< as HiveD itself does in another run */
  PAI_HIVED_FIXED,       /**< otherwise, by a defect of HiveD that we mend */
  PAI_HIVED_DIFFERS
};

/** What came of a step; its strings are valid until the next one. */
typedef struct pai_hived_verdict {
  size_t struct_size;
  int kind;            /**< PAI_HIVED_* */
  int64_t step;        /**< as it is numbered, or -1 */
  const char *name;    /**< of the case it is in, or "" */
  const char *op;      /**< what was done, as "schedule" */
  const char *subject; /**< the pod or node of it, or "" */
  const char *fix;     /**< the defect that we mend, as "Q4"; "Q3, Q10" if it
                            may be one of several; or NULL */
  const char *place;   /**< the first place that differs, or NULL */
  const char *want;    /**< what was recorded there, or NULL */
  const char *got;     /**< what came of it, or NULL */
} pai_hived_verdict;

/**
 * Makes a replay.
 *
 * @param[out] out  the replay, owned by the caller; NULL on failure
 * @param opts      where configurations come from; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL for bad options; PAI_ENOTSUP for newer ones;
 *         PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_replay_new(
  pai_hived_replay **out, const pai_hived_replay_options *opts,
  pai_error **err);

/**
 * Does the next step.
 *
 * @param replay    after a failure, the step was not done
 * @param line      one JSON object
 * @param len       its length in bytes
 * @param verdict   receives how it came out
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: the line is no step, or bad options;
 *         PAI_ENOMEM; or what the configuration's callback answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_replay_step(pai_hived_replay *replay,
                                                const char *line, size_t len,
                                                pai_hived_verdict *verdict,
                                                pai_error **err);

/** Frees a replay.  NULL is allowed.  @since 0.1 */
PAI_API void pai_hived_replay_free(pai_hived_replay *replay);

/* --- as an extender of Kubernetes' scheduler ------------------------------ */

typedef struct pai_hived_extender
  pai_hived_extender; /**< opaque; pai_hived_extender_free() */

/** Options of an extender; or use PAI_HIVED_EXTENDER_OPTIONS_INIT. */
typedef struct pai_hived_extender_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
} pai_hived_extender_options;

#define PAI_HIVED_EXTENDER_OPTIONS_INIT   \
  {                                       \
    sizeof(pai_hived_extender_options), 0 \
  }

/**
 * Makes an extender.  It knows no pods yet, and takes all nodes for sick.
 *
 * @param[out] out  the extender, owned by the caller; NULL on failure
 * @param cluster   with cells, as of HiveD's configuration, whose settings
 *                  forcePodBindThreshold and waitingPodSchedulingBlockMilliSec
 *                  count; borrowed, and must not change
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: virtual clusters have more than there is, or bad
 *         options; PAI_ENOTSUP: it has no cells, or newer options; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_extender_new(
  pai_hived_extender **out, const pai_cluster *cluster,
  const pai_hived_extender_options *opts, pai_error **err);

/** Frees an extender.  NULL is allowed.  @since 0.1 */
PAI_API void pai_hived_extender_free(pai_hived_extender *extender);

/**
 * Tells what the API server tells.  One JSON object:
 *
 *   {"type":"ADDED","object":{...}}   an event of a watch: ADDED, MODIFIED,
 *                                     DELETED; BOOKMARK is nothing
 *   {"kind":"NodeList","items":[..]}  all nodes: others are gone
 *   {"kind":"PodList","items":[..]}   all pods, likewise
 *   {"kind":"List","items":[..]}      nodes and pods that are there
 *   {"kind":"Node",...}               one that is there; likewise a Pod
 *
 * After a start nodes come first, then pods: those that are bound get their
 * cells again.  What is told twice changes nothing.
 *
 * @param extender  of a list, all is done that can be
 * @param json      not kept
 * @param len       its length in bytes
 * @param now       since the epoch
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: it is none of these, and nothing has changed, or
 *         the annotations of a bound pod are wrong, which HiveD ignores with a
 *         line in its log; PAI_EEXISTS: a bound pod has cells that are another
 *         one's, and is ignored likewise; PAI_ECANCELED: the watch has ended
 *         with an error, and all has to be listed again; PAI_ELIMIT: more than
 *         1 GiB; PAI_ENOMEM: tell it again
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_extender_event(
  pai_hived_extender *extender, const char *json, size_t len, pai_time now,
  pai_error **err);

/** A request of HTTP. */
typedef struct pai_hived_request {
  size_t struct_size;
  const char *method; /**< as "POST" */
  const char *target; /**< as it was sent: "/v1/extender/filter" */
  const char *body;   /**< NULL: none */
  size_t body_len;    /**< in bytes */
  pai_time now;       /**< since the epoch */
  /** Of pai_hived_host_ask() alone.  NULL: the body is copied there.  Else it
   *  is borrowed, if that call succeeds, until this is called with `body_data`,
   *  once and before the answer. */
  void (*release)(void *body_data);
  void *body_data;
} pai_hived_request;

/** What the host does with a binding. */
enum {
  PAI_HIVED_BIND_NOTHING = 0, /**< there is none */
  PAI_HIVED_BIND_FIRST, /**< sends it, and answers when it is done; when it
                             cannot be, with what pai_hived_extender_unbound()
                             makes */
  PAI_HIVED_BIND_ALSO   /**< answers, and sends it, too: whoever should have
                             does not seem to */
};

/** The answer; its texts are valid until the next call for this extender. */
typedef struct pai_hived_answer {
  size_t struct_size;
  int status;               /**< of HTTP */
  const char *content_type; /**< NULL: without a body */
  const char *body;
  size_t body_len;
  const char *location;  /**< where a redirection leads, or NULL */
  int64_t hold_ms;       /**< it is sent so much later; HiveD answers nobody
                              meanwhile */
  int bind;              /**< PAI_HIVED_BIND_* */
  const char *bind_path; /**< where to POST the binding at the API server; or
                              NULL, as the next ones */
  const char *bind_body; /**< JSON, a Binding with annotations */
  size_t bind_body_len;
  const char *bind_uid; /**< of the pod */
} pai_hived_answer;

/**
 * Answers a request, as HiveD does: whatever is asked, there is an answer.
 *
 * @param extender     after a failure, ask again
 * @param request      not kept
 * @param[out] answer  its struct_size set by the caller
 * @param[out] err     NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL for a broken call; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_extender_request(
  pai_hived_extender *extender, const pai_hived_request *request,
  pai_hived_answer *answer, pai_error **err);

/**
 * What to answer to a request to bind when the API server did not do it.
 *
 * @param extender     the pod goes on waiting to be bound
 * @param uid          the pod's, as bind_uid said
 * @param why          a line for people
 * @param[out] answer  its struct_size set by the caller
 * @param[out] err     NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL for a broken call; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_extender_unbound(
  pai_hived_extender *extender, const char *uid, const char *why,
  pai_hived_answer *answer, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_HIVED_H */
