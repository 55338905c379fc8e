/**
 * @file openpai/hived_host.h
 * HiveD in Kubernetes: an extender of Kubernetes' scheduler that hears of nodes
 * and pods from the API server, and binds pods there.
 *
 * A pai_hived_host keeps a pai_hived_extender of <openpai/hived.h> up to date
 * and carries out what it decides.  Requests of the scheduler come from whoever
 * speaks HTTP: pai_server_new() with this host, or a program of its own.
 * docs/guide/hived-extender.md tells how it takes HiveD's place.
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
 * Options of pai_hived_host_new(); or use PAI_HIVED_HOST_OPTIONS_INIT.  Where
 * the API server is, and as whom to ask it, is said by the first of these that
 * says it, as HiveD does:
 *
 *   kube_url             with kube_token_file and kube_ca_file
 *   kube_config          a kubeconfig file
 *   the configuration    kubeApiServerAddress, kubeConfigFilePath
 *   the environment      KUBE_APISERVER_ADDRESS, KUBECONFIG
 *   $HOME/.kube/config   if it is there
 *   the pod we are in    KUBERNETES_SERVICE_HOST and _PORT, with the token
 *                        and the CA of its service account
 *
 * An address beside a kubeconfig file takes the place of the address in it.
 * The program that such a file names as `exec` is run, with this process'
 * environment, when a request needs a token and there is none that is good;
 * then the host waits for children of its own, and no others.
 */
typedef struct pai_hived_host_options {
  size_t struct_size;
  const pai_alloc *alloc;            /**< NULL: malloc; copied */
  const char *kube_url;              /**< "https://10.0.0.1:6443"; or NULL */
  const char *kube_token_file;       /**< read for each request; or NULL */
  const char *kube_ca_file;          /**< PEM; NULL: whom the system trusts */
  const char *kube_config;           /**< path of a kubeconfig file; or NULL */
  pai_log_cb on_log;                 /**< NULL: no log lines */
  void (*on_ready)(void *user_data); /**< all nodes and pods are known, and
                                          requests are answered; once; or
                                          NULL */
  void *user_data;
} pai_hived_host_options;

#define PAI_HIVED_HOST_OPTIONS_INIT                        \
  {                                                        \
    sizeof(pai_hived_host_options), 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/**
 * Makes a host, and begins to ask the API server: nodes first, then pods, whose
 * annotations say what they have.  That server need not be there yet, and may
 * go away: it is asked again, ever more seldom.
 *
 * @param[out] out  the host, owned by the caller; NULL on failure
 * @param loop      it works on this one
 * @param cluster   of HiveD's configuration; borrowed, and must not change
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_ENOTFOUND: nothing says where the API server is; PAI_EIO,
 *         PAI_EPERM: a file that was named cannot be read; PAI_ENOTSUP: the
 *         kubeconfig file asks for what is not there (TLS without a check,
 *         an auth-provider), or newer options; PAI_EINVAL: such a file, or an
 *         address, is wrong, or as pai_hived_extender_new(); PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_host_new(
  pai_hived_host **out, pai_loop *loop, const pai_cluster *cluster,
  const pai_hived_host_options *opts, pai_error **err);

/** Whether it knows all nodes and pods, and so answers.  @since 0.1 */
PAI_API int pai_hived_host_ready(const pai_hived_host *host);

/** Where HiveD would listen: webServerAddress of the configuration, or its
 *  default, ":9096".  Valid as long as the cluster is.  @since 0.1 */
PAI_API const char *pai_hived_host_address(const pai_hived_host *host);

/**
 * Receives an answer, once, never from inside pai_hived_host_ask().
 *
 * @param status  PAI_OK: there is an answer, whatever it says; PAI_ECANCELED:
 *                the host was closed; PAI_ENOMEM
 * @param answer  NULL if there is none; gone when this returns.  `hold_ms` and
 *                `bind` are 0: both is done
 * @param err     why there is none
 */
typedef void (*pai_hived_host_cb)(void *user_data, int status,
                                  const pai_hived_answer *answer,
                                  const pai_error *err);

/**
 * Answers a request of HTTP as HiveD does, one after the other; before all
 * nodes and pods are known with status 503.
 *
 * @param host      it
 * @param request   copied, but for a body that is lent; its `now` does not
 *                  count
 * @param cb        receives the answer
 * @param user_data handed to it
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK: @p cb will be called; PAI_EINVAL for a broken call;
 *         PAI_EBUSY: the host is being closed; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_host_ask(pai_hived_host *host,
                                             const pai_hived_request *request,
                                             pai_hived_host_cb cb,
                                             void *user_data, pai_error **err);

/**
 * Receives how pai_hived_host_reload() went, once, from the loop.
 *
 * @param status  PAI_OK: the new configuration counts, and the old cluster may
 *                be freed.  Else the old one counts: PAI_EBUSY: groups that
 *                run would lose cells or their guarantee; PAI_EIO: the API
 *                server has not answered within 30 seconds; PAI_ECANCELED: the
 *                host was closed; PAI_ENOMEM
 * @param err     why it does not count; or NULL
 */
typedef void (*pai_hived_reload_cb)(void *user_data, int status,
                                    const pai_error *err);

/**
 * Takes another configuration, if it is safe: bindings that are under way end,
 * all nodes and pods are listed anew, and each group that runs must keep its
 * cells and its guarantee.  Requests wait meanwhile.  The address of the API
 * server stays.
 *
 * @param host      one that is ready
 * @param cluster   of HiveD's configuration; borrowed until it is replaced, or
 *                  @p cb says that it does not count
 * @param cb        is told how it went
 * @param user_data handed to it
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK: @p cb will be called; PAI_EBUSY: the host is not ready, is
 *         being closed, or tries another one; PAI_EINVAL: as
 *         pai_hived_extender_new(); PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_hived_host_reload(pai_hived_host *host,
                                                const pai_cluster *cluster,
                                                pai_hived_reload_cb cb,
                                                void *user_data,
                                                pai_error **err);

/**
 * Asks the API server no more, ends requests that have no answer, calls
 * @p closed from the loop, and frees itself.  NULL is allowed.
 * @since 0.1
 */
PAI_API void pai_hived_host_close(pai_hived_host *host,
                                  void (*closed)(void *user_data),
                                  void *user_data);

PAI_END_DECLS

#endif /* OPENPAI_HIVED_HOST_H */
