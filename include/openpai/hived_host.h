/**
 * @file openpai/hived_host.h
 * Host of a HiveD extender in Kubernetes: watches nodes and pods at the API
 * server, and binds pods.
 *
 * A pai_hived_host keeps a pai_hived_extender of <openpai/hived.h> up to date
 * and carries out its decisions.  Requests of the scheduler come through an
 * HTTP server: pai_server_new() with this host, or a server of the program.
 * docs/guide/hived-extender.md describes how to replace HiveD.
 *
 * Threads: LOOP.
 */
#ifndef OPENPAI_HIVED_HOST_H
#define OPENPAI_HIVED_HOST_H

#include <openpai/hived.h>
#include <openpai/loop.h>

PAI_BEGIN_DECLS

typedef struct pai_hived_host
  pai_hived_host; /**< opaque; pai_hived_host_close() */

/**
 * Options of pai_hived_host_new(); or use PAI_HIVED_HOST_OPTIONS_INIT.  The
 * address of the API server and the credentials come from the first available
 * of these sources, as in HiveD:
 *
 *   kube_url             with kube_token_file and kube_ca_file
 *   kube_config          a kubeconfig file
 *   the configuration    kubeApiServerAddress, kubeConfigFilePath
 *   the environment      KUBE_APISERVER_ADDRESS, KUBECONFIG
 *   $HOME/.kube/config   if it exists
 *   this process's pod   KUBERNETES_SERVICE_HOST and _PORT, with the token
 *                        and the CA of its service account
 *
 * An address given in addition to a kubeconfig file replaces the address in
 * that file.  The `exec` program of a kubeconfig file is run, with the
 * environment of this process, when a request needs a token and there is no
 * valid token.  The host waits for this child process only.
 */
typedef struct pai_hived_host_options {
  size_t struct_size;
  const pai_alloc *alloc;            /**< NULL: malloc; copied */
  const char *kube_url;              /**< "https://10.0.0.1:6443"; or NULL */
  const char *kube_token_file;       /**< read for each request; or NULL */
  const char *kube_ca_file;          /**< PEM; NULL: the system's
                                          authorities */
  const char *kube_config;           /**< path of a kubeconfig file; or NULL */
  pai_log_cb on_log;                 /**< NULL: no log lines */
  void (*on_ready)(void *user_data); /**< called once, when all nodes and pods
                                          are known and requests are answered;
                                          or NULL */
  void *user_data;
} pai_hived_host_options;

#define PAI_HIVED_HOST_OPTIONS_INIT                        \
  {                                                        \
    sizeof(pai_hived_host_options), 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/**
 * Creates a host and begins to list nodes, then pods, with their cells in
 * annotations.  The API server need not be reachable: requests are retried
 * with growing intervals.
 *
 * @param[out] out  the host, owned by the caller; NULL on failure
 * @param loop      the loop of the host
 * @param cluster   cluster of HiveD's configuration; must outlive the host and
 *                  must not change
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_ENOTFOUND: no address of the API server; PAI_EIO,
 *         PAI_EPERM: a file cannot be read; PAI_ENOTSUP: the kubeconfig file
 *         needs an unsupported feature (TLS without verification, an
 *         auth-provider), or newer options; PAI_EINVAL: an invalid file or
 *         address, or as pai_hived_extender_new(); PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_host_new(
  pai_hived_host **out, pai_loop *loop, const pai_cluster *cluster,
  const pai_hived_host_options *opts, pai_error **err);

/** Returns 1 if the host knows all nodes and pods, and answers requests.
 *  @since 0.1 */
PAI_API int pai_hived_host_ready(const pai_hived_host *host);

/** The address at which HiveD would listen: webServerAddress of the
 *  configuration, or its default, ":9096".  Valid as long as the cluster.
 *  @since 0.1 */
PAI_API const char *pai_hived_host_address(const pai_hived_host *host);

/**
 * Receives an answer, once, never from inside pai_hived_host_ask().
 *
 * @param status  PAI_OK: there is an answer, of any HTTP status;
 *                PAI_ECANCELED: the host was closed; PAI_ENOMEM
 * @param answer  NULL if there is no answer; valid during the call.  `hold_ms`
 *                and `bind` are 0, as the host has already carried them out
 * @param err     why there is no answer
 */
typedef void (*pai_hived_host_cb)(void *user_data, int status,
                                  const pai_hived_answer *answer,
                                  const pai_error *err);

/**
 * Answers an HTTP request as HiveD does, one at a time.  Until all nodes and
 * pods are known, the answer has status 503.
 *
 * @param host      the host
 * @param request   copied, except a body with `release`; its `now` is ignored
 * @param cb        receives the answer
 * @param user_data passed to @p cb
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK: @p cb will be called; PAI_EINVAL: invalid arguments;
 *         PAI_EBUSY: the host is being closed; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_host_ask(pai_hived_host *host,
                                             const pai_hived_request *request,
                                             pai_hived_host_cb cb,
                                             void *user_data, pai_error **err);

/**
 * Receives the result of pai_hived_host_reload(), once, from the loop.
 *
 * @param status  PAI_OK: the new configuration is in use, and the old cluster
 *                may be freed.  Otherwise the old configuration stays in use:
 *                PAI_EBUSY: running groups would lose cells or their
 *                guarantee; PAI_EIO: the API server has not answered within 30
 *                seconds; PAI_ECANCELED: the host was closed; PAI_ENOMEM
 * @param err     why the new configuration is not in use, or NULL
 */
typedef void (*pai_hived_reload_cb)(void *user_data, int status,
                                    const pai_error *err);

/**
 * Replaces the configuration if that is safe: pending bindings are completed,
 * all nodes and pods are listed again, and each running group must keep its
 * cells and its guarantee.  Requests wait meanwhile.  The address of the API
 * server does not change.
 *
 * @param host      a host that is ready
 * @param cluster   cluster of HiveD's configuration; must stay valid until it
 *                  is replaced, or @p cb reports that the cluster is not in
 *                  use
 * @param cb        receives the result
 * @param user_data passed to @p cb
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK: @p cb will be called; PAI_EBUSY: the host is not ready, is
 *         being closed, or is already reloading; PAI_EINVAL: as
 *         pai_hived_extender_new(); PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_host_reload(pai_hived_host *host,
                                                const pai_cluster *cluster,
                                                pai_hived_reload_cb cb,
                                                void *user_data,
                                                pai_error **err);

/**
 * Closes a host: disconnects from the API server, cancels pending requests,
 * calls @p closed from the loop, and frees the host.  NULL is allowed.
 * @since 0.1
 */
PAI_API void pai_hived_host_close(pai_hived_host *host,
                                  void (*closed)(void *user_data),
                                  void *user_data);

PAI_END_DECLS

#endif /* OPENPAI_HIVED_HOST_H */
