/**
 * @file openpai/server.h
 * Serves OpenPAI's REST API for a platform.  This header belongs to the
 * separate library libopenpai-server, so that programs without a server need
 * not load an HTTP server.
 *
 * Threads: LOOP, the loop of the platform.
 */
#ifndef OPENPAI_SERVER_H
#define OPENPAI_SERVER_H

#include <openpai/hived_host.h>
#include <openpai/platform.h>

PAI_BEGIN_DECLS

typedef struct pai_server pai_server; /**< opaque; pai_server_close() */

/** OpenID Connect provider with which users log in (authorization code flow
 *  with PKCE); or use PAI_OIDC_OPTIONS_INIT.  Texts are copied.  A member that
 *  is NULL is taken from `file`, if there is one. */
typedef struct pai_oidc_options {
  size_t struct_size;
  const char *issuer;        /**< "https://login.example.org/realm"; http is
                                  allowed for this machine only */
  const char *client_id;     /**< client id of this platform at the provider */
  const char *client_secret; /**< NULL: a public client */
  const char *redirect_uri;  /**< this server's /api/v1/authn/oidc/return, as
                                  browsers reach it */
  const char *scope;         /**< NULL: "openid profile email" */
  const char *pages; /**< pages to which a login may redirect with its token,
                          separated by commas: URLs, or prefixes that end with
                          "/"; the first is the default.  "http://localhost/"
                          includes all ports of the browser's machine.  A
                          program that sends a challenge (PKCE) gets a code,
                          not a token, at any port of that machine */
  const char *groups_claim; /**< claim of the ID token with the external names
                                 of the user's groups; NULL: administrators
                                 assign users to groups */
  const char *ca_file;      /**< certificate authorities to trust for the
                                 provider, in PEM; NULL: the system's */
  const char *client_secret_file; /**< file with the secret in its only line,
                                       not readable by others; NULL:
                                       client_secret */
  const char *const *admins;      /**< rules "CLAIM=VALUE", such as
                                       "groups=pai-admins" or "sub=8f3a", then
                                       NULL: a user who matches a rule becomes
                                       an administrator at login.  A rule for
                                       "email" requires that "email_verified"
                                       is true.  Rules of `file` apply in
                                       addition.  NULL: none */
  const char
    *file; /**< YAML file whose keys are the names of these members, except
                `file`.  Members with commas are YAML lists there, and paths
                are relative to its folder.  Other users must not be able to
                write the file, or, if it has a client_secret, to read it.
                NULL: none */
  const char *domains; /**< mail domains whose users may log in, separated by
                            commas; the provider must have verified the address;
                            "*": all users.  NULL: none */
  const char *groups; /**< groups whose members may log in: values of the claim
                           `groups_claim` (or "groups"), separated by commas.
                           Without `domains` and `groups` only these users may
                           log in: users with an account, users who match a
                           rule of `admins`, and users for whom `groups_claim`
                           names a group of this platform */
} pai_oidc_options;

#define PAI_OIDC_OPTIONS_INIT                                       \
  {                                                                 \
    sizeof(pai_oidc_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/** Options of pai_server_new(). */
typedef struct pai_server_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  const char *socket;     /**< path of a UNIX socket, created with mode 0600;
                               only this user may connect, unless `system` is
                               set; NULL: no socket: `listen` and `root` are
                               required */
  pai_log_cb on_log;      /**< NULL: no log lines */
  /** Called when a client asks to stop the platform.  With `kill` 1, its tasks
   *  are stopped, too; with 0, the tasks continue, and the next platform
   *  adopts them.  NULL: such requests are refused. */
  void (*on_shutdown)(void *user_data, int kill);
  void *user_data;
  const char *root; /**< the platform's root; NULL: the socket's folder */
  int system;       /**< 1: all users of this machine may connect.  The kernel
                         reports the user of a connection: each user submits
                         jobs as this user, and sees the list of all jobs, but
                         no details of jobs of other users.  The user of this
                         process may do everything */
  /** Addresses to listen at in addition to the socket, separated by commas:
   *  "HOST:PORT", "[::1]:PORT", ":PORT" for all addresses of this machine;
   *  port 0 is any free port.  NULL: none.  Clients at these addresses must
   *  authenticate. */
  const char *listen;
  const char *tls_cert; /**< file of the certificate with its chain, in PEM:
                             enables TLS 1.2 and later for all of `listen`;
                             NULL: no TLS */
  const char *tls_key;  /**< file of its key */
  const char *prefix;   /**< prefix of paths to accept, such as "/pai"; NULL:
                             only "/rest-server", which is always accepted */
  const char *cors_origin;     /**< origin of web pages that may use the API;
                                    NULL: "*", all; "": none */
  const char *trusted_proxies; /**< addresses or networks of proxies whose
                                    X-Forwarded-For is trusted, separated by
                                    commas; NULL: none */
  unsigned rate_requests;    /**< requests a minute from one address (IPv6: one
                                  /64); 0: any number.  Rate limits apply to
                                  `listen` only */
  unsigned rate_lists;       /**< lists of jobs a minute for one user; 0: any
                                  number */
  unsigned rate_submits;     /**< jobs an hour for one user; 0: any number */
  unsigned most_connections; /**< most connections to each address of `listen`;
                                  0: 16,384, or the number that the limit of
                                  descriptors allows.  A further connection
                                  replaces an idle one */
  unsigned most_per_address; /**< most connections from one client address
                                  (IPv6: one /64); 0: any number */
  pai_time idle_timeout;     /**< time after which an idle connection is
                                  closed; 0: a minute */
  pai_time request_timeout;  /**< most time for the head of a request, and for
                                  each 64 KiB of a body or an answer; 0: half a
                                  minute */
  int tokens; /**< 1: clients need a token at the socket, too, e.g. behind a
                   proxy that passes on requests of other users.  0: a client
                   without a token is the user that the kernel reports */
  const char *authn; /**< how users log in: NULL or "basic": with passwords;
                          "OIDC": at the provider in `oidc` */
  pai_hived_host *hived; /**< host of HiveD to serve instead of a platform: its
                              routes and /healthz, without authentication.
                              `root` is then not needed, and only the options
                              of connections and of TLS apply */
  const pai_oidc_options *oidc;   /**< NULL: users log in with passwords */
  unsigned most_streams;          /**< most open streams of events and logs; 0:
                                       4,096.  @since 0.1 */
  unsigned most_streams_per_user; /**< most open streams of one user over TCP;
                                       a smaller quota of the user applies
                                       instead; 0: the quota.  @since 0.1 */
} pai_server_options;

#define PAI_SERVER_OPTIONS_INIT                                              \
  {                                                                          \
    sizeof(pai_server_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                        \
  }

/**
 * Serves a platform.
 *
 * @param[out] out  the server, owned by the caller; NULL on failure
 * @param loop      loop of the platform
 * @param platform  a durable platform; must outlive the server; NULL: serve
 *                  `opts->hived`
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: an option is invalid, or a file is not a
 *         certificate or a key; PAI_ENOTSUP: unknown value of `authn`;
 *         PAI_ENOTFOUND: no such file; PAI_EBUSY: another server listens at
 *         the socket; PAI_EEXISTS: another program listens at an address;
 *         PAI_EPERM: a file belongs to another user, or may not be read, or
 *         the address may not be used; PAI_EIO; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_server_new(pai_server **out, pai_loop *loop,
                                         pai_platform *platform,
                                         const pai_server_options *opts,
                                         pai_error **err);

/**
 * The port of address @p n of `listen`, from 0, e.g. to find out which port
 * was chosen for port 0.  Returns 0 if there are fewer addresses.
 * @since 0.1
 */
PAI_API int pai_server_port(const pai_server *server, size_t n);

/**
 * Address @p n of `listen`, from 0, as a URL such as "http://127.0.0.1:9186",
 * with "https" if the server uses TLS.  The text belongs to the server.
 * Returns NULL if there are fewer addresses.
 * @since 0.1
 */
PAI_API const char *pai_server_address(const pai_server *server, size_t n);

/**
 * Accepts no new requests, answers pending ones, ends streams, calls @p closed
 * from the loop, and frees the server.  NULL is allowed.
 * @since 0.1
 */
PAI_API void pai_server_close(pai_server *server, pai_closed_cb closed,
                              void *user_data);

PAI_END_DECLS

#endif /* OPENPAI_SERVER_H */
