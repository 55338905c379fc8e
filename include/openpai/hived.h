/**
 * @file openpai/hived.h
 * HiveD as an extender of Kubernetes' scheduler.
 *
 * The host of an extender passes it the nodes and pods of Kubernetes' API
 * server and the requests of Kubernetes' scheduler.  An extender opens no
 * connection and reads no clock.  See docs/guide/hived-extender.md.
 *
 * Threads: SERIAL.
 */
#ifndef OPENPAI_HIVED_H
#define OPENPAI_HIVED_H

#include <openpai/cluster.h>

PAI_BEGIN_DECLS

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
 * Creates an extender.  It knows no pods yet, and regards all nodes as sick.
 *
 * @param[out] out  the extender, owned by the caller; NULL on failure
 * @param cluster   a cluster with cells, such as a cluster from HiveD's
 *                  configuration, whose settings forcePodBindThreshold and
 *                  waitingPodSchedulingBlockMilliSec are used; must outlive
 *                  the extender and must not change
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: virtual clusters have more cells than the
 *         cluster, or bad options; PAI_ENOTSUP: the cluster has no cells, or
 *         newer options; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_extender_new(
  pai_hived_extender **out, const pai_cluster *cluster,
  const pai_hived_extender_options *opts, pai_error **err);

/** Frees an extender.  NULL is allowed.  @since 0.1 */
PAI_API void pai_hived_extender_free(pai_hived_extender *extender);

/**
 * Passes a message of the API server, one JSON object:
 *
 *   {"type":"ADDED","object":{...}}   an event of a watch: ADDED, MODIFIED,
 *                                     DELETED; BOOKMARK is ignored
 *   {"kind":"NodeList","items":[..]}  all nodes; others are removed
 *   {"kind":"PodList","items":[..]}   all pods; others are removed
 *   {"kind":"List","items":[..]}      existing nodes and pods
 *   {"kind":"Node",...}               a node; also "kind":"Pod"
 *
 * After a start, pass nodes first, then pods: bound pods get their cells
 * again.  Repeated messages change nothing.
 *
 * @param extender  after a failure within a list, all other items have been
 *                  applied
 * @param json      not kept
 * @param len       its length in bytes
 * @param now       since the epoch
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: not one of these objects, and nothing has
 *         changed; or invalid annotations of a bound pod, and the pod is
 *         ignored (HiveD writes this to its log); PAI_EEXISTS: a bound pod has
 *         cells of another pod, and is ignored; PAI_ECANCELED: the watch has
 *         ended with an error, and everything must be listed again;
 *         PAI_ELIMIT: more than 1 GiB; PAI_ENOMEM: pass the object again
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_extender_event(
  pai_hived_extender *extender, const char *json, size_t len, pai_time now,
  pai_error **err);

/** An HTTP request. */
typedef struct pai_hived_request {
  size_t struct_size;
  const char *method; /**< such as "POST" */
  const char *target; /**< path as sent, "/v1/extender/filter" */
  const char *body;   /**< NULL: none */
  size_t body_len;    /**< in bytes */
  pai_time now;       /**< since the epoch */
  /** Only for pai_hived_host_ask().  NULL: the body is copied.  Else the body
   *  must stay valid, if the call succeeds, until this function is called with
   *  `body_data`, once, before the answer. */
  void (*release)(void *body_data);
  void *body_data;
} pai_hived_request;

/** Actions of the host for a binding. */
enum {
  PAI_HIVED_BIND_NOTHING = 0, /**< there is no binding */
  PAI_HIVED_BIND_FIRST, /**< send it to the API server, then the answer; on
                             failure, answer with the result of
                             pai_hived_extender_unbound() */
  PAI_HIVED_BIND_ALSO   /**< send the answer and also the binding, because the
                             component that should bind the pod appears not to
                             do so */
};

/** The answer; its texts are valid until the next call for this extender. */
typedef struct pai_hived_answer {
  size_t struct_size;
  int status;               /**< of HTTP */
  const char *content_type; /**< NULL: no body */
  const char *body;
  size_t body_len;
  const char *location;  /**< target of a redirection, or NULL */
  int64_t hold_ms;       /**< delay before the answer is sent; HiveD answers no
                              other request meanwhile */
  int bind;              /**< PAI_HIVED_BIND_* */
  const char *bind_path; /**< path of the API server for a POST of the binding;
                              NULL: no binding, and bind_body and bind_uid are
                              NULL, too */
  const char *bind_body; /**< JSON, a Binding with annotations */
  size_t bind_body_len;
  const char *bind_uid; /**< UID of the pod */
} pai_hived_answer;

/**
 * Answers a request as HiveD does.  Every request gets an answer.
 *
 * @param extender     after a failure, repeat the call
 * @param request      not kept
 * @param[out] answer  its struct_size set by the caller
 * @param[out] err     NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: invalid arguments; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_extender_request(
  pai_hived_extender *extender, const pai_hived_request *request,
  pai_hived_answer *answer, pai_error **err);

/**
 * Makes the answer to a bind request after the API server has refused the
 * binding or failed.
 *
 * @param extender     the extender; the pod continues to wait for its binding
 * @param uid          UID of the pod, from bind_uid
 * @param why          one line for people
 * @param[out] answer  its struct_size set by the caller
 * @param[out] err     NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: invalid arguments; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_extender_unbound(
  pai_hived_extender *extender, const char *uid, const char *why,
  pai_hived_answer *answer, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_HIVED_H */
