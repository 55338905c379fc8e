/**
 * @file openpai/server.h
 * OpenPAI's REST API over a platform.  Of libopenpai-server, which programs
 * that serve nothing need not load.
 *
 * Threads: LOOP, that of the platform.
 */
#ifndef OPENPAI_SERVER_H
#define OPENPAI_SERVER_H

#include <openpai/hived_host.h>
#include <openpai/platform.h>

PAI_BEGIN_DECLS

typedef struct pai_server pai_server; /**< opaque; pai_server_close() */

/** A provider of OpenID Connect at which users log in, with the flow of codes
 *  and PKCE; or use PAI_OIDC_OPTIONS_INIT.  Texts are copied.  What is NULL is
 *  as `file` says, if there is one. */
typedef struct pai_oidc_options {
  size_t struct_size;
  const char *issuer;        /**< "https://login.example.org/realm"; http only
                                  of this machine */
  const char *client_id;     /**< as whom this platform is registered there */
  const char *client_secret; /**< NULL: a public client */
  const char *redirect_uri;  /**< this server's /api/v1/authn/oidc/return, as
                                  browsers reach it */
  const char *scope;         /**< NULL: "openid profile email" */
  const char *pages; /**< that a login may lead to with its token, with commas
                          between: a URL, or what it begins with if that ends
                          with "/"; the first is where it leads if nobody says.
                          "http://localhost/" is all ports of the machine that
                          the browser runs on.  A program that shows a challenge
                          (PKCE) gets a code at any port there, and no token */
  const char *groups_claim; /**< of the ID token, whose names are externalName
                                 of groups; NULL: administrators say who is in
                                 which group */
  const char *ca_file;      /**< authorities that the provider's certificate is
                            signed by, in PEM; NULL: the system's */
  const char *client_secret_file; /**< whose one line is the secret, and which
                                       others cannot read; NULL: client_secret */
  const char *const *admins; /**< rules "CLAIM=VALUE", as "groups=pai-admins"
                                  or "sub=8f3a", and NULL: for whom one is true
                                  is an administrator from that login on; an
                                  "email" counts if "email_verified" is true.
                                  In addition to those of the file.  NULL: none
                                  */
  const char
    *file; /**< YAML with the names of these members, but `file`; lists
                         are lists, and paths as from its folder.  Others may
                         not be able to write it nor, with a client_secret, to
                         read it.  NULL: none */
  const char
    *domains; /**< who may log in: mail domains, with commas between, of
                            addresses that the provider has verified; "*":
                            everybody.  NULL: none */
  const char *groups; /**< likewise: values of the claim `groups_claim` (or
                            "groups"), with commas between.  With neither, only
                            who has an account already, for whom a rule of
                            `admins` is true, or whom `groups_claim` puts into a
                            group of this platform */
} pai_oidc_options;

#define PAI_OIDC_OPTIONS_INIT                                       \
  {                                                                 \
    sizeof(pai_oidc_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/** Options of pai_server_new(). */
typedef struct pai_server_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  const char *socket;     /**< path of a UNIX socket, made with mode 0600;
                               only this user may connect, unless `system`;
                               NULL: there is none, but `listen` and `root` */
  pai_log_cb on_log;      /**< NULL: no log lines */
  /** Somebody asked the platform to end: with `kill` 1 its tasks, too; with 0
   *  they go on and are adopted by the next one.  NULL: that is refused. */
  void (*on_shutdown)(void *user_data, int kill);
  void *user_data;
  const char *root; /**< the platform's root; NULL: the socket's folder */
  int system;       /**< 1: all users of this machine may connect, and are who
                         the kernel says: each submits as that user, sees the
                         list of all jobs, and of no other's job more than
                         that; this process's user may do all */
  /** Where it listens beside the socket, with commas between: "HOST:PORT",
   *  "[::1]:PORT", ":PORT" for all addresses of this machine; port 0 is any
   *  that is free.  NULL: nowhere.  What comes so has to say who it is. */
  const char *listen;
  const char *tls_cert; /**< file in PEM, with those that signed it: all of
                             `listen` speak TLS 1.2 or later; NULL: none do */
  const char *tls_key;  /**< its key's */
  const char *prefix;   /**< that paths may begin with, as "/pai"; NULL: none
                             but "/rest-server", which always may */
  const char *cors_origin;     /**< pages of which origin may ask; NULL: "*",
                                    all; "": none */
  const char *trusted_proxies; /**< addresses or networks, with commas between,
                                    whose X-Forwarded-For is believed; NULL:
                                    none */
  unsigned rate_requests; /**< a minute, of one address (of IPv6: of one /64);
                               0: any number.  Limits are of `listen` alone */
  unsigned rate_lists;    /**< lists of jobs a minute, of one user; 0: likewise
                            */
  unsigned rate_submits;  /**< jobs an hour, of one user; 0: likewise */
  unsigned most_connections; /**< of each address of `listen`; 0: 16,384, or as
                                  the descriptors of this process allow.  One
                                  more takes the place of one that is idle */
  unsigned most_per_address; /**< of those, by one address, or one /64 of
                                  IPv6; 0: any number */
  pai_time idle_timeout;     /**< an idle connection is closed after that; 0: a
                                  minute */
  pai_time request_timeout;  /**< as long may a head take, and each 64 KiB of a
                                  body or an answer; 0: half a minute */
  int tokens; /**< 1: at the socket, too, nobody is known without a token, as
                         behind a proxy that passes on what others ask.  0: who
                         comes without one is who the kernel says */
  const char *authn; /**< how users log in: NULL or "basic", with passwords;
                          or "OIDC", as `oidc` says */
  pai_hived_host *hived; /**< serves this in the place of a platform: its
                                  routes and /healthz, to whoever asks; `root`
                                  is not needed then, and of limits those of
                                  connections count, as do `tls_cert` and
                                  `tls_key` */
  const pai_oidc_options *oidc; /**< NULL: users log in with passwords */
  unsigned most_streams;        /**< of events and logs, at one time; 0: 4,096.
                              @since 0.1 */
  unsigned most_streams_per_user; /**< of those, over TCP by one user, if his
                                       quota is not smaller; 0: his quota.
                                       @since 0.1 */
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
 * @param loop      the platform's
 * @param platform  a durable one; must outlive the server; NULL: options say
 *                  what is served
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: an option is wrong, or the certificate or key
 *         is none; PAI_ENOTSUP: no such way to log in; PAI_ENOTFOUND: there is no such file; PAI_EBUSY: somebody
 *         serves at the socket; PAI_EEXISTS: somebody listens at an address;
 *         PAI_EPERM: what lies there is not this user's, or not to be read or
 *         taken; PAI_EIO; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_server_new(pai_server **out, pai_loop *loop,
                                         pai_platform *platform,
                                         const pai_server_options *opts,
                                         pai_error **err);

/**
 * The port of an address of `listen`, the first being 0; useful where it was
 * to be any.  0: there are fewer addresses.
 * @since 0.1
 */
PAI_API int pai_server_port(const pai_server *server, size_t n);

/**
 * The same address as "http://127.0.0.1:9186", with "https" if it speaks TLS;
 * the server's.  NULL: there are fewer.
 * @since 0.1
 */
PAI_API const char *pai_server_address(const pai_server *server, size_t n);

/**
 * Takes no new requests, answers those that are there (what follows a log is
 * ended), calls @p closed from the loop, and frees itself.  NULL is allowed.
 * @since 0.1
 */
PAI_API void pai_server_close(pai_server *server, pai_closed_cb closed,
                              void *user_data);

PAI_END_DECLS

#endif /* OPENPAI_SERVER_H */
