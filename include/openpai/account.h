/**
 * @file openpai/account.h
 * Users, groups, tokens, quotas and the audit log of a durable platform: the
 * rules and records of OpenPAI's REST API, without HTTP.
 *
 * Objects are passed as JSON, with the members of the REST API.  A change
 * takes effect at once.  It is durable when pai_platform_sync() calls back
 * with PAI_OK.  pai_error_api_code() returns OpenPAI's code of an error, such
 * as "NoUserError".  The caller must enforce rights, unless a function takes a
 * `viewer`.  Password hashes, private keys and secrets of storages are
 * encrypted in the database; tokens are not stored in any file.
 *
 * Threads: LOOP, the loop of the platform.  A callback is called once, from
 * the loop, never from inside a function of this header.  Passwords are hashed
 * on libuv's threads.
 */
#ifndef OPENPAI_ACCOUNT_H
#define OPENPAI_ACCOUNT_H

#include <openpai/platform.h>

PAI_BEGIN_DECLS

/** The accounts of a platform; valid as long as the platform. */
typedef struct pai_accounts pai_accounts;

/** The accounts of a durable platform; NULL for other platforms.
 *  @since 0.1 */
PAI_API pai_accounts *pai_platform_accounts(pai_platform *platform);

/** Settings of pai_accounts_configure(); or use PAI_ACCOUNTS_OPTIONS_INIT. */
typedef struct pai_accounts_options {
  size_t struct_size;
  pai_time token_time;   /**< lifetime of a browser's token; 0: 7 days */
  uint32_t hash_kib;     /**< memory for hashing a password; 0: 64 MiB; less is
                              for tests only */
  uint32_t hash_passes;  /**< number of passes over this memory; 0: 2 */
  uint32_t hash_workers; /**< passwords hashed at the same time; 0: 2; at most
                              8 */
  uint32_t least_password; /**< fewest characters of a new password; 0: 8; at
                                most 64.  If it is 8 or more, common passwords
                                and the user's own name are refused */
  int reveal_tokens; /**< 1: pai_accounts_write_tokens() writes whole tokens,
                          as OpenPAI does; 0: without their signature */
} pai_accounts_options;

#define PAI_ACCOUNTS_OPTIONS_INIT                  \
  {                                                \
    sizeof(pai_accounts_options), 0, 0, 0, 0, 0, 0 \
  }

/** Changes the settings, for operations that begin afterwards.  @return
 *  PAI_OK; PAI_EINVAL; PAI_ENOTSUP  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_configure(
  pai_accounts *accounts, const pai_accounts_options *opts, pai_error **err);

/** The client of a call, see pai_accounts_ask_as(); or use PAI_ASKER_INIT. */
typedef struct pai_asker {
  size_t struct_size;
  const char *who; /**< text that identifies the client, such as its address;
                        less than 48 bytes, copied */
  int (*is_gone)(void *user_data); /**< NULL, or called from the loop with the
                                        user_data of the waiting call; returns
                                        1 if the client no longer waits for the
                                        answer */
} pai_asker;

#define PAI_ASKER_INIT         \
  {                            \
    sizeof(pai_asker), NULL, 0 \
  }

/**
 * Sets the client on whose behalf the next call that hashes a password is
 * made.  Only a few passwords are hashed at the same time.  Users who have
 * logged in from this client before come first, then the clients with the
 * fewest wrong passwords, in turn.  At most 64 passwords of a client may wait.
 * A call whose client is gone is dropped and ends with PAI_ECANCELED.  Calls
 * without a client count as calls of one more client without this limit.
 *
 * @return PAI_OK; PAI_EINVAL; PAI_ENOTSUP
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_ask_as(pai_accounts *accounts,
                                              const pai_asker *asker);

/** Sets the user that the audit log records for the following changes, until
 *  the next call.  An operation that waits for a password hash keeps its user.
 *  @param user  NULL: unknown
 *  @param from  an address, or NULL
 *  @param flags PAI_ACT_*
 *  @return PAI_OK; PAI_EINVAL
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_act_as(pai_accounts *accounts,
                                              const char *user,
                                              const char *from,
                                              unsigned flags);

/** Flags of pai_accounts_act_as(). */
enum {
  PAI_ACT_OWNER = 1 /**< the platform's own user.  This user has all rights
                         regardless of accounts, and is the only user who may
                         remove the last administrator */
};

/** Receives the result of an operation: PAI_OK and JSON (`{}` if there is no
 *  data), or an error. */
typedef void (*pai_account_cb)(void *user_data, int status, const char *json,
                               size_t len, const pai_error *err);

/**
 * Creates the initial accounts: the groups `default` and `admingroup`, a group
 * for each virtual cluster without one and, if there are no users, a first
 * administrator.
 *
 * @param user      name of the administrator; NULL: "admin"; "": create none,
 *                  e.g. if users log in at an OpenID Connect provider
 * @param password  NULL: generate a password; it is passed once to @p cb and
 *                  not stored
 * @param cb        called with {} if a user existed already; else with
 *                  {"username"}, and "password" if it was generated, when the
 *                  user is in the database; or with the error of the database,
 *                  without a password.  If the process ended before the
 *                  password was passed to @p cb, the next call generates a new
 *                  one
 * @return PAI_OK: @p cb will be called; PAI_EINVAL: an invalid user name, or
 *         the password is too short or too common, see least_password of
 *         pai_accounts_options; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_setup(pai_accounts *accounts,
                                             const char *user,
                                             const char *password,
                                             pai_account_cb cb,
                                             void *user_data, pai_error **err);

/* --- authentication ------------------------------------------------------ */

/** Results of checking a token.  Do not reveal them to clients. */
enum {
  PAI_TOKEN_GOOD = 0,
  PAI_TOKEN_NONE,   /**< there is no Authorization header */
  PAI_TOKEN_FORGED, /**< not a token of this platform, or modified */
  PAI_TOKEN_EXPIRED,
  PAI_TOKEN_REVOKED,  /**< revoked: by a call, by a new password, or by the
                           removal of its user */
  PAI_TOKEN_NO_GROUP, /**< a group of its user was removed */
  PAI_TOKEN_NOT_BASIC /**< with Basic authentication: not an application token,
                           or the token of another user */
};

/** Scopes: the operations that a token allows. */
enum {
  PAI_SCOPE_READ = 1,   /**< read what its user may read */
  PAI_SCOPE_SUBMIT = 2, /**< submit jobs, and change the user's own jobs */
  PAI_SCOPE_ADMIN = 4,  /**< use administrator rights, if the user has them */
  PAI_SCOPE_ALL = 7,    /**< these three: whatever the user may do */
  PAI_SCOPE_ALERTS = 8  /**< only send alerts, as an administrator */
};

/** The scope "read", "submit", "admin" or "alerts"; 0: none.  @since 0.1 */
PAI_API unsigned pai_scope_of(const char *name);

/** The user of a valid token; texts are valid until accounts change. */
typedef struct pai_identity {
  size_t struct_size;
  const char *user;
  int admin;        /**< 1: a group of the user currently grants administrator
                         rights */
  int application;  /**< 1: an application token */
  pai_time issued;  /**< time of creation, in whole seconds */
  pai_time expires; /**< 0: never */
  int why;          /**< result of the check, PAI_TOKEN_*; set also if the
                         token is refused */
  unsigned scopes;  /**< PAI_SCOPE_*; all for a browser's token */
  const char *name; /**< name of the token, or NULL */
  const char *id;   /**< id of the token: 32 hex digits */
} pai_identity;

#define PAI_IDENTITY_INIT                           \
  {                                                 \
    sizeof(pai_identity), 0, 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/** Verifies a token in constant time.  The time of the last use of a valid
 *  token is recorded, to the minute.
 *  @param[out] id  filled in, up to its struct_size
 *  @return PAI_OK; PAI_EPERM: the token is refused, see id->why; PAI_EINVAL
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_verify(pai_identity *id,
                                              pai_accounts *accounts,
                                              const char *token, size_t len);

/** Verifies the value of an HTTP header `Authorization`: "Bearer TOKEN", or
 *  "Basic" with a user and one of the user's application tokens.
 *  @param header  NULL: the request has no such header
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_authorize(pai_identity *id,
                                                 pai_accounts *accounts,
                                                 const char *header);

/**
 * Logs a user in with a password, and creates a browser's token.  A password
 * hash from OpenPAI is replaced by an argon2id hash.  The call takes equally
 * long for an unknown user.
 *
 * Wrong passwords are counted for the user, for the client (see
 * pai_accounts_ask_as()) and for the pair of both.  After a few wrong
 * passwords, further attempts are refused for a time that doubles from a
 * second to 15 minutes.  A user who has logged in from an address before is
 * delayed only by wrong passwords from that address.
 *
 * @param cb  called with {"user", "token", "admin"}, and "hasGitHubPAT" if a
 *            GitHub token is stored; or with NoUserError or
 *            IncorrectPasswordError, and pai_error_retry_after() if the next
 *            attempt has to wait
 * @return PAI_OK: @p cb will be called; PAI_EBUSY: too many logins wait, or
 *         this user has to wait (pai_error_retry_after()), retriable;
 *         PAI_EINVAL; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_login(pai_accounts *accounts,
                                             const char *user,
                                             const char *password,
                                             pai_account_cb cb,
                                             void *user_data, pai_error **err);

/* --- tokens ------------------------------------------------------------------ */

/** Creates a token and writes it as text.
 *  @param application  1: for a program, valid until it is revoked; 0: a
 *                      browser's token, as of a login
 *  @return PAI_OK; PAI_ENOTFOUND: no such user; PAI_ELIMIT: too many tokens;
 *          PAI_EIO or PAI_EPERM: the root's key cannot be read; PAI_ENOMEM;
 *          the return value of @p write
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_new_token(
  pai_accounts *accounts, const char *user, int application,
  pai_write_cb write, void *user_data, pai_error **err);

/** Properties of a new token; or use PAI_TOKEN_REQUEST_INIT. */
typedef struct pai_token_request {
  size_t struct_size;
  int application;   /**< 1: for a program; 0: a browser's token, which ignores
                          the members below */
  const char *name;  /**< at most 64 bytes of UTF-8 without control characters;
                          NULL: none */
  unsigned scopes;   /**< PAI_SCOPE_*; 0: all */
  pai_time lifetime; /**< time until it expires; 0: never */
} pai_token_request;

#define PAI_TOKEN_REQUEST_INIT            \
  {                                       \
    sizeof(pai_token_request), 1, 0, 0, 0 \
  }

/** Creates a token and writes it as {"token", "application", "id", "name",
 *  "scopes", "expires"}.  Later, lists show the token without its signature.
 *  @param request  NULL: an application token, as POST /tokens/application
 *                  does
 *  @return as pai_accounts_new_token(); PAI_EINVAL: InvalidParametersError
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_make_token(
  pai_accounts *accounts, const char *user, const pai_token_request *request,
  pai_write_cb write, void *user_data, pai_error **err);

/** Writes {"tokens": [...], "details": [{"id", "name", "application",
 *  "scopes", "created", "expires", "lastUsed"}]} of a user's valid tokens,
 *  oldest first; times are in milliseconds.  Texts in `tokens` lack the
 *  signature and cannot be used as tokens, unless the option `reveal_tokens`
 *  is set.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_write_tokens(pai_accounts *accounts,
                                                    const char *user,
                                                    pai_write_cb write,
                                                    void *user_data,
                                                    pai_error **err);

/** Writes the contents of a valid token, and "admin", as GET /tokens/check.
 *  @return as pai_accounts_verify(), with an error  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_write_token(pai_accounts *accounts,
                                                   const char *token,
                                                   pai_write_cb write,
                                                   void *user_data,
                                                   pai_error **err);

/**
 * Revokes a token.  A token that was already revoked is not an error.
 * @param user   required user of the token; NULL: any user
 * @param token  the token, its form in pai_accounts_write_tokens(), or its id
 * @return PAI_OK; PAI_EPERM: a token of another user (ForbiddenUserError);
 *         PAI_EINVAL: not a token of this platform, or expired (UnknownError);
 *         PAI_ENOTFOUND: no token of that user has this id (UnknownError);
 *         PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_revoke(pai_accounts *accounts,
                                              const char *user,
                                              const char *token,
                                              pai_error **err);

/* --- users ------------------------------------------------------------------- */

/** Writes a user, as {"username", "grouplist", "email", "extension", "admin",
 *  "virtualCluster", "storageConfig"}.
 *  @param viewer  user who reads the record; NULL: none.  Private keys and
 *                 tokens in the extension are shown only to their own user
 *  @return PAI_OK; PAI_ENOTFOUND: NoUserError, with status 400; PAI_ENOMEM;
 *          the return value of @p write
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_write_user(
  pai_accounts *accounts, const char *user, const char *viewer,
  pai_write_cb write, void *user_data, pai_error **err);

/** Writes all users as a list, sorted by name.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_write_users(pai_accounts *accounts,
                                                   const char *viewer,
                                                   pai_write_cb write,
                                                   void *user_data,
                                                   pai_error **err);

/** Flags of pai_accounts_put_user() and pai_accounts_put_group(). */
enum {
  PAI_PUT_CREATE = 1, /**< create: the name must not exist; without this flag
                           it must exist */
  PAI_PUT_PATCH = 2,  /**< groups: missing members stay unchanged, and members
                           of the extension are merged */
  PAI_PUT_NO_ADMIN = 4, /**< users: refuse administrators; virtual clusters are
                             checked before the user */
  PAI_PUT_PROVIDED = 8, /**< users: the groups come from a login provider,
                             which may remove the last administrator */
};

/**
 * Creates or changes a user.
 *
 * @param json   {"username"!, "password", "oldPassword", "passwordHash",
 *               "email", "virtualCluster", "grouplist", "admin", "extension"}:
 *               all members present are applied, in the order email,
 *               virtualCluster, grouplist, admin, password, extension, or none
 *               on failure.  "oldPassword" must be the current password.
 *               "passwordHash" is a hash of argon2id or of OpenPAI (128 hex
 *               digits), instead of a password.  A new password revokes the
 *               tokens of browsers, unless it equals "oldPassword".
 *               Extensions are merged, member by member
 * @param flags  PAI_PUT_*
 * @param cb     called with {} on success, or with the error
 * @return PAI_OK: @p cb will be called.  After a failure it is not called:
 *         PAI_EINVAL: InvalidParametersError, or NoVirtualClusterError;
 *         PAI_ENOTFOUND: NoUserError or NoGroupError; PAI_EEXISTS:
 *         ConflictUserError; PAI_EPERM: ForbiddenUserError; PAI_ELIMIT;
 *         PAI_EBUSY: too many passwords wait to be hashed, retriable;
 *         PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_put_user(
  pai_accounts *accounts, const char *json, size_t len, unsigned flags,
  pai_account_cb cb, void *user_data, pai_error **err);

/** Removes a user with all tokens, and stops the user's live jobs.  The jobs
 *  keep their names.  From then on only administrators may use these jobs; a
 *  later user of the same name may not.
 *  @return PAI_OK; PAI_ENOTFOUND: NoUserError; PAI_EPERM: RemoveAdminError;
 *          PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_remove_user(pai_accounts *accounts,
                                                   const char *user,
                                                   pai_error **err);

/** Removes a user with all tokens, and gives the jobs to another user, the
 *  heir.  Live jobs continue, and jobs keep their names.
 *  @return as pai_accounts_remove_user(); PAI_ENOTFOUND: also if the heir does
 *          not exist; PAI_EINVAL: the heir is the same user  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_hand_over_user(pai_accounts *accounts,
                                                      const char *user,
                                                      const char *heir,
                                                      pai_error **err);

/** Returns the owner of a job: the user in the job's name or, if that user was
 *  removed since, the heir; NULL: no owner.
 *  @param job  id of the job; 0: as for a job older than all others.  With 0,
 *              a result other than @p user means that such a user was removed
 *  @return @p user, or a name that is valid until accounts change
 *  @since 0.1 */
PAI_API const char *pai_accounts_owner(const pai_accounts *accounts,
                                       const char *user, uint64_t job);

/** Adds a user to a group, or removes the user from it.  It is not an error if
 *  nothing changes.
 *  @return PAI_OK; PAI_ENOTFOUND: NoGroupError (only if @p in), then
 *          NoUserError; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_set_member(pai_accounts *accounts,
                                                  const char *user,
                                                  const char *group, int in,
                                                  pai_error **err);

/** Creates a pair of SSH keys for a user without one, in "jobSSH" of the
 *  extension: {"key", "pubKey"}.
 *  @return PAI_OK; PAI_ENOTFOUND; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_need_ssh(pai_accounts *accounts,
                                                const char *user,
                                                pai_error **err);

/** Returns 1 if the user exists.  @since 0.1 */
PAI_API int pai_accounts_has_user(const pai_accounts *accounts,
                                  const char *user);

/** Returns 1 if a group of the user grants administrator rights.
 *  @since 0.1 */
PAI_API int pai_accounts_is_admin(const pai_accounts *accounts,
                                  const char *user);

/* --- groups ------------------------------------------------------------------ */

/** Writes a group, as {"groupname", "description", "externalName",
 *  "extension"}.
 *  @return PAI_OK; PAI_ENOTFOUND: NoGroupError, of status 400; PAI_ENOMEM;
 *          the return value of @p write  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_write_group(pai_accounts *accounts,
                                                   const char *group,
                                                   pai_write_cb write,
                                                   void *user_data,
                                                   pai_error **err);

/** Writes all of them as a list, sorted by name.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_write_groups(pai_accounts *accounts,
                                                    pai_write_cb write,
                                                    void *user_data,
                                                    pai_error **err);

/** Writes the members of a group: [{"username", "clusterAdmin"}]; [] for an
 *  unknown group.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_write_members(pai_accounts *accounts,
                                                     const char *group,
                                                     pai_write_cb write,
                                                     void *user_data,
                                                     pai_error **err);

/** Creates or changes a group.
 *  @param json   {"groupname"!, "description", "externalName", "extension"}.
 *                In the extension, "acls": {"admin", "virtualClusters",
 *                "storageConfigs"} define the rights of members
 *  @param flags  PAI_PUT_CREATE, PAI_PUT_PATCH
 *  @return PAI_OK; PAI_EINVAL: InvalidParametersError; PAI_ENOTFOUND:
 *          NoGroupError, of status 400; PAI_EEXISTS: UnknownError, of status
 *          409; PAI_ELIMIT; PAI_ENOMEM
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_put_group(pai_accounts *accounts,
                                                 const char *json, size_t len,
                                                 unsigned flags,
                                                 pai_error **err);

/** Sets a value in the extension of a group, at a path such as "a/b/c";
 *  missing objects on the path are created.
 *  @return as pai_accounts_put_group()  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_set_group_value(
  pai_accounts *accounts, const char *group, const char *path,
  const char *json, size_t len, pai_error **err);

/** Removes a group, also from its members.
 *  @return PAI_OK; PAI_ENOTFOUND: UnknownError, of status 404; PAI_EPERM: a
 *          built-in group, ForbiddenUserError; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_remove_group(pai_accounts *accounts,
                                                    const char *group,
                                                    pai_error **err);

/* --- limits of users ------------------------------------------------------------ */

/** Quotas: limits of what a user may have at the same time. */
enum {
  PAI_QUOTA_JOBS,      /**< live jobs */
  PAI_QUOTA_TASKS,     /**< tasks of live jobs */
  PAI_QUOTA_STREAMS,   /**< streams of events and logs */
  PAI_QUOTA_UPLOADS,   /**< bytes of uploaded code and files */
  PAI_QUOTA_PROCESSES, /**< processes and threads of tasks of live jobs */
  PAI_QUOTAS
};
enum {
  PAI_QUOTA_NONE = -1, /**< no limit */
  PAI_QUOTA_USUAL = -2 /**< for a user: the default of all users; for the
                            default of all users: the default of the library */
};

/** The name of a quota, such as "jobs"; NULL: unknown number.  @since 0.1 */
PAI_API const char *pai_quota_name(int quota);

/** The quota of a user, or the default of users without their own quota.
 *  @param user  NULL or an unknown user: the default  @since 0.1 */
PAI_API int64_t pai_accounts_quota(const pai_accounts *accounts,
                                   const char *user, int quota);

/** Sets a quota of a user, or the default of users without their own quota.
 *  @param user  NULL: the default
 *  @param most  a number, PAI_QUOTA_NONE or PAI_QUOTA_USUAL
 *  @return PAI_OK; PAI_EINVAL; PAI_ENOTFOUND: NoUserError; PAI_ENOMEM
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_set_quota(pai_accounts *accounts,
                                                 const char *user, int quota,
                                                 int64_t most,
                                                 pai_error **err);

/** Writes the quotas of a user, or the defaults: {"jobs", "tasks", "streams",
 *  "uploads", "processes"}.
 *  @return PAI_OK; PAI_ENOTFOUND: NoUserError; PAI_ENOMEM; the return value of
 *          @p write  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_write_quota(pai_accounts *accounts,
                                                   const char *user,
                                                   pai_write_cb write,
                                                   void *user_data,
                                                   pai_error **err);

/* --- virtual clusters --------------------------------------------------------- */

/** Returns 1 if the user may submit jobs to a virtual cluster: a group grants
 *  it, or the user is an administrator and the virtual cluster exists.
 *  @since 0.1 */
PAI_API int pai_accounts_may_use_vc(const pai_accounts *accounts,
                                    const char *user, const char *vc);

/** Updates groups after a virtual cluster was created or changed: creates a
 *  group of the same name, and grants the virtual cluster to administrators'
 *  groups.
 *  @param description, external_name of the group; NULL: unchanged, or ""
 *  @return PAI_OK; PAI_EINVAL: not a valid group name; PAI_EEXISTS: there is a
 *          group of another kind with this name (ConflictVcError, 409);
 *          PAI_ENOMEM
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_add_vc(pai_accounts *accounts,
                                              const char *vc,
                                              const char *description,
                                              const char *external_name,
                                              pai_error **err);

/** Updates groups after a virtual cluster was removed: removes its group, and
 *  its name from all groups.
 *  @return PAI_OK; PAI_EPERM: it has the name of the administrators' group
 *          (ForbiddenUserError); PAI_ENOMEM
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_remove_vc(pai_accounts *accounts,
                                                 const char *vc,
                                                 pai_error **err);

/* --- audit ----------------------------------------------------------------------- */

/** Adds an entry to the audit log.  The latest 100,000 entries are kept.
 *  @param user    user who made the change; NULL: unknown
 *  @param from    address of the client, or NULL
 *  @param what    method and path only, such as "PUT /api/v2/users"
 *  @param status  HTTP status of the answer; 0: not answered
 *  @return PAI_OK; PAI_ENOMEM
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_note(pai_accounts *accounts,
                                            const char *user, const char *from,
                                            const char *what, int status);

/** Filter of audit entries; members that are 0 do not restrict. */
typedef struct pai_audit_query {
  size_t struct_size;
  const char *user; /**< entries of this user; NULL: of all users */
  pai_time since;   /**< earliest time, inclusive */
  pai_time until;   /**< latest time, exclusive */
  uint64_t before;  /**< "id" of the last entry of the previous page: continue
                         after it */
  uint64_t limit;   /**< most entries; 0: 100; at most 1000 */
} pai_audit_query;

#define PAI_AUDIT_QUERY_INIT               \
  {                                        \
    sizeof(pai_audit_query), 0, 0, 0, 0, 0 \
  }

/** Writes the durable audit entries, newest first: [{"id", "time", "user",
 *  "from", "what", "status"}]; times are as in jobs.
 *  @return PAI_OK; PAI_EINVAL; PAI_EIO; PAI_ENOMEM; the return value of
 *          @p write
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_write_audit(
  pai_accounts *accounts, const pai_audit_query *query, pai_write_cb write,
  void *user_data, pai_error **err);

/** Counters of logins since the platform was created. */
typedef struct pai_login_counts {
  size_t struct_size;
  uint64_t good, wrong; /**< numbers of right and wrong passwords */
  uint64_t refused;     /**< attempts refused without a check, after too many
                             wrong passwords */
  uint64_t lockouts;    /**< waits of half a minute or longer that were
                             imposed */
  uint64_t waiting;     /**< users, addresses and pairs that have to wait
                             now */
} pai_login_counts;

/** Fills @p counts, up to its struct_size.
 *  @return PAI_OK; PAI_EINVAL  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_count_logins(
  const pai_accounts *accounts, pai_login_counts *counts);

PAI_END_DECLS

#include <openpai/storage.h>

#endif /* OPENPAI_ACCOUNT_H */
