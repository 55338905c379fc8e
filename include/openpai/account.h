/**
 * @file openpai/account.h
 * Users, groups, tokens, storages and the audit log of a durable platform, as
 * OpenPAI's REST API has them: rules and records, without HTTP.
 *
 * Objects go in and out as JSON, with the members of the wire.  A change is
 * seen at once and durable when pai_platform_sync() says so, as a job is.
 * Errors say what OpenPAI calls them: pai_error_api_code(), as "NoUserError",
 * and pai_error_http_status().
 *
 * Rights are looked up here and enforced by who asks: nothing in this header
 * knows on whose behalf it is called, unless it takes a `viewer`.
 *
 * Secrets (password hashes, private keys, tokens of other clusters, what a
 * storage is opened with) are encrypted in the database; tokens are in no file
 * at all.
 *
 * Threads: LOOP, that of the platform.  Callbacks come from the loop, once,
 * and never from inside a call of this header; passwords are hashed on libuv's
 * threads.
 */
#ifndef OPENPAI_ACCOUNT_H
#define OPENPAI_ACCOUNT_H

#include <openpai/platform.h>

PAI_BEGIN_DECLS

/** Borrowed from its platform, as long as that lives. */
typedef struct pai_accounts pai_accounts;

/** Those of a durable platform; NULL of any other.  @since 0.1 */
PAI_API pai_accounts *pai_platform_accounts(pai_platform *platform);

/** Settings of pai_accounts_configure(); or use PAI_ACCOUNTS_OPTIONS_INIT. */
typedef struct pai_accounts_options {
  size_t struct_size;
  pai_time token_time;   /**< how long a browser's token is good; 0: 7 days */
  uint32_t hash_kib;     /**< memory that a password's hash takes; 0: 64 MiB;
                              less is for tests */
  uint32_t hash_passes;  /**< and how often it is gone through; 0: 2 */
  uint32_t hash_workers; /**< hashes at once, others wait; 0: 2; at most 8 */
  uint32_t least_password; /**< fewest characters of a new password; 0: 8; at
                                most 64.  From 8 on common passwords, and the
                                user's own name, are refused */
  int reveal_tokens; /**< 1: pai_accounts_write_tokens() shows tokens again,
                          as OpenPAI does; 0: without their signature */
} pai_accounts_options;

#define PAI_ACCOUNTS_OPTIONS_INIT                  \
  {                                                \
    sizeof(pai_accounts_options), 0, 0, 0, 0, 0, 0 \
  }

/** For what begins after it.  @return PAI_OK; PAI_EINVAL; PAI_ENOTSUP
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_configure(
  pai_accounts *accounts, const pai_accounts_options *opts, pai_error **err);

/** Who asks, see pai_accounts_ask_as(); or use PAI_ASKER_INIT. */
typedef struct pai_asker {
  size_t struct_size;
  const char *who; /**< what stands for who asks, as an address; less than 48
                        bytes, copied */
  int (*is_gone)(void *user_data); /**< NULL, or called from the loop with the
                                        call's own user_data while that waits:
                                        1: nobody waits for the answer */
} pai_asker;

#define PAI_ASKER_INIT         \
  {                            \
    sizeof(pai_asker), NULL, 0 \
  }

/**
 * Says on whose behalf the next call is made that may wait for a password to
 * be hashed.  Few are hashed at a time: users who have logged in from there
 * before come first, then those with the fewest wrong passwords, each in its
 * turn.  64 passwords of one may wait, and what nobody waits for any more is left out
 * and ends with PAI_ECANCELED.  Who does not say it is one among those who do,
 * without that limit.
 *
 * @return PAI_OK; PAI_EINVAL; PAI_ENOTSUP
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_ask_as(pai_accounts *accounts,
                                              const pai_asker *asker);

/**
 * Says who makes the changes that follow, until the next call says something
 * else: the audit log has it.  What waits for a password to be hashed keeps who
 * asked for it.
 * @param user  NULL: nobody known
 * @param from  an address, or NULL
 * @param flags PAI_ACT_*
 * @return PAI_OK; PAI_EINVAL
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_act_as(pai_accounts *accounts,
                                              const char *user,
                                              const char *from,
                                              unsigned flags);

/** Of who makes changes. */
enum {
  PAI_ACT_OWNER = 1 /**< the platform's own user, who may do all whatever
                         accounts say: also take the last administrator away,
                         which nobody else may */
};

/** Tells how something ended: PAI_OK, and what it has to say, as JSON (`{}` if
 *  that is nothing); or why not. */
typedef void (*pai_account_cb)(void *user_data, int status, const char *json,
                               size_t len, const pai_error *err);

/**
 * Makes what a platform begins with: the groups `default` and `admingroup`,
 * one group for each virtual cluster that has none and, if there is no user, a
 * first one who is an administrator.
 *
 * @param user      NULL: "admin"; "": none is made, as where users log in
 *                  elsewhere
 * @param password  NULL: one is made.  It is told once, here, and kept nowhere
 * @param cb        called with {} if there was a user; else, as soon as the
 *                  database has that user, with {"username"}, and "password" if
 *                  that was made.  If it cannot be written: with why not, and
 *                  no password.  One that was never told, as the process ended
 *                  before, is made and told anew
 * @return PAI_OK: it will call; PAI_EINVAL: no user can be called that, or
 *         the password is too short or a common one, as least_password of
 *         pai_accounts_configure() says; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_setup(pai_accounts *accounts,
                                             const char *user,
                                             const char *password,
                                             pai_account_cb cb,
                                             void *user_data, pai_error **err);

/* --- who somebody is -------------------------------------------------------- */

/** Why somebody is not let in: nothing that a caller should be told. */
enum {
  PAI_TOKEN_GOOD = 0,
  PAI_TOKEN_NONE,   /**< there is no header */
  PAI_TOKEN_FORGED, /**< none of ours, or changed */
  PAI_TOKEN_EXPIRED,
  PAI_TOKEN_REVOKED,  /**< no longer kept; also what its user lost by a new
                           password, or with the account */
  PAI_TOKEN_NO_GROUP, /**< a group of its user is gone */
  PAI_TOKEN_NOT_BASIC /**< not an application's, or another user's, where user
                           and token came by Basic authentication */
};

/** What a token may be used for. */
enum {
  PAI_SCOPE_READ = 1,   /**< to see what its user may see */
  PAI_SCOPE_SUBMIT = 2, /**< to submit jobs, and to change the user's own */
  PAI_SCOPE_ADMIN =
    4, /**< for an administrator's rights, if the user is one */
  PAI_SCOPE_ALL = 7
};

/** The scope of a name, "read", "submit" or "admin"; 0: there is none.
 *  @since 0.1 */
PAI_API unsigned pai_scope_of(const char *name);

/** Somebody whose token is good; texts are borrowed until accounts change. */
typedef struct pai_identity {
  size_t struct_size;
  const char *user;
  int admin;        /**< 1: a group says so, now */
  int application;  /**< 1: the token is an application's */
  pai_time issued;  /**< when it was made; of whole seconds */
  pai_time expires; /**< 0: never */
  int why;          /**< PAI_TOKEN_*, also of those that are not let in */
  unsigned scopes;  /**< PAI_SCOPE_*; of a browser's token all */
  const char *name; /**< of the token, or NULL */
  const char *id;   /**< of the token: 32 hex digits */
} pai_identity;

#define PAI_IDENTITY_INIT                           \
  {                                                 \
    sizeof(pai_identity), 0, 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/**
 * Whose token it is.  Does not tell by its time how much of a wrong token is
 * right.  When a good one was used is kept, to the minute.
 * @param[out] id  filled in, as far as its struct_size goes
 * @return PAI_OK; PAI_EPERM: nobody's, id->why says why; PAI_EINVAL
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_verify(pai_identity *id,
                                              pai_accounts *accounts,
                                              const char *token, size_t len);

/**
 * The same for the value of an HTTP header `Authorization`: "Bearer TOKEN", or
 * "Basic" with a user and one of the user's application tokens.
 * @param header  NULL: there is none
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_authorize(pai_identity *id,
                                                 pai_accounts *accounts,
                                                 const char *header);

/**
 * Makes a browser's token for who knows a password.  A hash of OpenPAI's own
 * becomes one of argon2id here.  It takes as long for a user that is none.
 *
 * Wrong passwords are counted for the user, for who asks (see
 * pai_accounts_ask_as()) and for both: after a few, the next one is refused for a
 * time that doubles, from a second to 15 minutes.  A user who has logged in from
 * an address before is held up only by wrong passwords from that address.
 *
 * @param cb  called with {"user", "token", "admin"}, and "hasGitHubPAT" if one
 *            is kept; or NoUserError or IncorrectPasswordError, with
 *            pai_error_retry_after() if the next one has to wait
 * @return PAI_OK: it will call; PAI_EBUSY: too many wait, or this user has to
 *         wait (pai_error_retry_after()), retriable; PAI_EINVAL; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_login(pai_accounts *accounts,
                                             const char *user,
                                             const char *password,
                                             pai_account_cb cb,
                                             void *user_data, pai_error **err);

/* --- tokens ------------------------------------------------------------------ */

/**
 * Makes a token, and writes it as text.
 * @param application  1: for a program, good until it is revoked; 0: as a login
 *                     does
 * @return PAI_OK; PAI_ENOTFOUND: no such user; PAI_ELIMIT: too many; PAI_EIO or
 *         PAI_EPERM: the root's key; PAI_ENOMEM; what @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_new_token(
  pai_accounts *accounts, const char *user, int application,
  pai_write_cb write, void *user_data, pai_error **err);

/** What a token is to be like; or use PAI_TOKEN_REQUEST_INIT. */
typedef struct pai_token_request {
  size_t struct_size;
  int application;   /**< 1: for a program; 0: as a login makes one, and then
                          the members below do not count */
  const char *name;  /**< at most 64 bytes of UTF-8 without control characters;
                          NULL: none */
  unsigned scopes;   /**< PAI_SCOPE_*; 0: all */
  pai_time lifetime; /**< it expires after that; 0: never */
} pai_token_request;

#define PAI_TOKEN_REQUEST_INIT            \
  {                                       \
    sizeof(pai_token_request), 1, 0, 0, 0 \
  }

/**
 * Makes a token, and writes it as {"token", "application", "id", "name",
 * "scopes", "expires"}: lists show it without its signature from then on.
 * @param request  NULL: an application's, as POST /tokens/application makes it
 * @return as pai_accounts_new_token(); PAI_EINVAL: InvalidParametersError
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_make_token(
  pai_accounts *accounts, const char *user, const pai_token_request *request,
  pai_write_cb write, void *user_data, pai_error **err);

/** Writes {"tokens": [...], "details": [{"id", "name", "application",
 *  "scopes", "created", "expires", "lastUsed"}]} of a user's good ones, the
 *  oldest first; times are in milliseconds.  `tokens` are without their
 *  signature, so that they tell what they are and open nothing, unless the
 *  option `reveal_tokens` shows them whole.
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_write_tokens(pai_accounts *accounts,
                                                    const char *user,
                                                    pai_write_cb write,
                                                    void *user_data,
                                                    pai_error **err);

/** Writes what a good token says, and "admin", as GET /tokens/check does.
 *  @return as pai_accounts_verify(), with an error  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_write_token(pai_accounts *accounts,
                                                   const char *token,
                                                   pai_write_cb write,
                                                   void *user_data,
                                                   pai_error **err);

/**
 * Revokes a token.  One that was revoked already is no failure.
 * @param user   whose it must be; NULL: anybody's
 * @param token  whole, or as pai_accounts_write_tokens() shows it, or its id
 * @return PAI_OK; PAI_EPERM: another's (ForbiddenUserError); PAI_EINVAL: none
 *         of ours, or expired (UnknownError); PAI_ENOTFOUND: no token of that
 *         user has this id (UnknownError); PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_revoke(pai_accounts *accounts,
                                              const char *user,
                                              const char *token,
                                              pai_error **err);

/* --- users ------------------------------------------------------------------- */

/**
 * Writes a user, as {"username", "grouplist", "email", "extension", "admin",
 * "virtualCluster", "storageConfig"}.
 * @param viewer  who looks; NULL: nobody in particular.  Private keys and tokens
 *                in the extension are for the user alone
 * @return PAI_OK; PAI_ENOTFOUND: NoUserError, of status 400 as GET has it;
 *         PAI_ENOMEM; what @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_write_user(
  pai_accounts *accounts, const char *user, const char *viewer,
  pai_write_cb write, void *user_data, pai_error **err);

/** All of them, by name, in a list.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_write_users(pai_accounts *accounts,
                                                   const char *viewer,
                                                   pai_write_cb write,
                                                   void *user_data,
                                                   pai_error **err);

/** How a user or a group is put. */
enum {
  PAI_PUT_CREATE = 1, /**< there must be none of that name; else one must be */
  PAI_PUT_PATCH = 2,  /**< of a group: what is not named stays, and the
                           extension's members are merged */
  PAI_PUT_NO_ADMIN = 4, /**< of a user: an administrator is refused; virtual
                             clusters are looked at before the user is */
  PAI_PUT_PROVIDED = 8, /**< of a user: a provider of logins says which groups
                             the user is in, also if that takes the last
                             administrator away */
};

/**
 * Makes or changes a user.
 *
 * @param json   {"username"!, "password", "oldPassword", "passwordHash",
 *               "email", "virtualCluster", "grouplist", "admin", "extension"}:
 *               what is named is done, in the order email, virtualCluster,
 *               grouplist, admin, password, extension, or nothing of it.
 *               "oldPassword" must be the one that is.  "passwordHash" is
 *               argon2id's or that of OpenPAI (128 hex digits), in the place of
 *               a password.  A new password revokes the tokens of browsers;
 *               "oldPassword" once more is no new one.
 *               Extensions are merged, member by member
 * @param flags  PAI_PUT_*
 * @param cb     called with {}, when it is done or failed
 * @return PAI_OK: it will call.  Or a failure, and then nothing calls:
 *         PAI_EINVAL: InvalidParametersError, or NoVirtualClusterError;
 *         PAI_ENOTFOUND: NoUserError or NoGroupError; PAI_EEXISTS:
 *         ConflictUserError; PAI_EPERM: ForbiddenUserError; PAI_ELIMIT;
 *         PAI_EBUSY: too many wait, retriable; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_put_user(
  pai_accounts *accounts, const char *json, size_t len, unsigned flags,
  pai_account_cb cb, void *user_data, pai_error **err);

/** Removes a user with all tokens, and stops the user's live jobs.  Jobs keep
 *  their names, but are nobody's from then on, but administrators': also
 *  not of a later user of that name.
 *  @return PAI_OK; PAI_ENOTFOUND: NoUserError; PAI_EPERM: RemoveAdminError;
 *          PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_remove_user(pai_accounts *accounts,
                                                   const char *user,
                                                   pai_error **err);

/** Removes a user likewise, and another one has all of the jobs from then on:
 *  they go on under their names.
 *  @return as pai_accounts_remove_user(); PAI_ENOTFOUND: also where there is no
 *          heir; PAI_EINVAL: the heir is the same user  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_hand_over_user(pai_accounts *accounts,
                                                      const char *user,
                                                      const char *heir,
                                                      pai_error **err);

/**
 * Whose a job is: the user whose name it has or, where that user was removed
 * since, the one it was handed to; NULL: nobody's.
 * @param job  its id; 0: as of a job that is older than all others, so that
 *             another answer than @p user means that one of that name was
 *             removed
 * @return @p user, or a name that is borrowed until accounts change
 * @since 0.1
 */
PAI_API const char *pai_accounts_owner(const pai_accounts *accounts,
                                       const char *user, uint64_t job);

/** Puts a user into a group, or takes the user out; as it is already is no
 *  failure.
 *  @return PAI_OK; PAI_ENOTFOUND: NoGroupError (only if @p in), then
 *          NoUserError; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_set_member(pai_accounts *accounts,
                                                  const char *user,
                                                  const char *group, int in,
                                                  pai_error **err);

/** Sees to it that a user has a pair of SSH keys, in the extension's "jobSSH":
 *  {"key", "pubKey"}.
 *  @return PAI_OK; PAI_ENOTFOUND; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_need_ssh(pai_accounts *accounts,
                                                const char *user,
                                                pai_error **err);

/** 1: there is such a user.  @since 0.1 */
PAI_API int pai_accounts_has_user(const pai_accounts *accounts,
                                  const char *user);

/** 1: a group of the user says so.  @since 0.1 */
PAI_API int pai_accounts_is_admin(const pai_accounts *accounts,
                                  const char *user);

/* --- groups ------------------------------------------------------------------ */

/** Writes a group, as {"groupname", "description", "externalName",
 *  "extension"}.
 *  @return PAI_OK; PAI_ENOTFOUND: NoGroupError, of status 400; PAI_ENOMEM; what
 *          @p write answered  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_write_group(pai_accounts *accounts,
                                                   const char *group,
                                                   pai_write_cb write,
                                                   void *user_data,
                                                   pai_error **err);

/** All of them, by name, in a list.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_write_groups(pai_accounts *accounts,
                                                    pai_write_cb write,
                                                    void *user_data,
                                                    pai_error **err);

/** Writes who is in it: [{"username", "clusterAdmin"}]; [] for a group that is
 *  none.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_write_members(pai_accounts *accounts,
                                                     const char *group,
                                                     pai_write_cb write,
                                                     void *user_data,
                                                     pai_error **err);

/**
 * Makes or changes a group.
 * @param json   {"groupname"!, "description", "externalName", "extension"}.  In
 *               the extension, "acls": {"admin", "virtualClusters",
 *               "storageConfigs"} say what members may do
 * @param flags  PAI_PUT_CREATE, PAI_PUT_PATCH
 * @return PAI_OK; PAI_EINVAL: InvalidParametersError; PAI_ENOTFOUND:
 *         NoGroupError, of status 400; PAI_EEXISTS: UnknownError, of status
 *         409; PAI_ELIMIT; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_put_group(pai_accounts *accounts,
                                                 const char *json, size_t len,
                                                 unsigned flags,
                                                 pai_error **err);

/** Sets one value in a group's extension, at "a/b/c"; what is missing on the
 *  way becomes objects.
 *  @return as pai_accounts_put_group()  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_set_group_value(
  pai_accounts *accounts, const char *group, const char *path,
  const char *json, size_t len, pai_error **err);

/** Removes a group, also from its users.
 *  @return PAI_OK; PAI_ENOTFOUND: UnknownError, of status 404; PAI_EPERM: the
 *          platform's own, ForbiddenUserError; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_remove_group(pai_accounts *accounts,
                                                    const char *group,
                                                    pai_error **err);

/* --- limits of users ------------------------------------------------------------ */

/** What a user may have at a time. */
enum {
  PAI_QUOTA_JOBS,      /**< jobs that are not over */
  PAI_QUOTA_TASKS,     /**< tasks of those */
  PAI_QUOTA_STREAMS,   /**< streams of events and logs */
  PAI_QUOTA_UPLOADS,   /**< bytes of code and files that were uploaded */
  PAI_QUOTA_PROCESSES, /**< processes and threads of all those tasks */
  PAI_QUOTAS
};
enum {
  PAI_QUOTA_NONE = -1, /**< there is no limit */
  PAI_QUOTA_USUAL = -2 /**< that of all users; of these: that of the library */
};

/** What a limit is called, as "jobs"; NULL: there is none of that number.
 *  @since 0.1 */
PAI_API const char *pai_quota_name(int quota);

/** The limit of a user, or of all who have none of their own: a number, or
 *  PAI_QUOTA_NONE.
 *  @param user  NULL, or one that is none: the limit of all  @since 0.1 */
PAI_API int64_t pai_accounts_quota(const pai_accounts *accounts,
                                   const char *user, int quota);

/** Sets a limit: of a user, or of all who have none of their own.
 *  @param user  NULL: of all
 *  @param most  a number, PAI_QUOTA_NONE or PAI_QUOTA_USUAL
 *  @return PAI_OK; PAI_EINVAL; PAI_ENOTFOUND: NoUserError; PAI_ENOMEM
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_set_quota(pai_accounts *accounts,
                                                 const char *user, int quota,
                                                 int64_t most,
                                                 pai_error **err);

/** Writes the limits of a user, or of all: {"jobs", "tasks", "streams",
 *  "uploads", "processes"}.
 *  @return PAI_OK; PAI_ENOTFOUND: NoUserError; PAI_ENOMEM; what @p write
 *          answered  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_write_quota(pai_accounts *accounts,
                                                   const char *user,
                                                   pai_write_cb write,
                                                   void *user_data,
                                                   pai_error **err);

/* --- virtual clusters --------------------------------------------------------- */

/** 1: jobs of the user may go to it: a group says so, or the user is an
 *  administrator and there is such a virtual cluster.  @since 0.1 */
PAI_API int pai_accounts_may_use_vc(const pai_accounts *accounts,
                                    const char *user, const char *vc);

/**
 * A virtual cluster is made or changed: it has a group of its own, of the same
 * name, and administrators' groups have it, too.
 * @param description, external_name  of the group; NULL: as they are, or ""
 * @return PAI_OK; PAI_EINVAL: no group can be called that; PAI_EEXISTS: there
 *         is a group of another kind (ConflictVcError, 409); PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_add_vc(pai_accounts *accounts,
                                              const char *vc,
                                              const char *description,
                                              const char *external_name,
                                              pai_error **err);

/** A virtual cluster is gone: its group, too, and no group has it any more.
 *  @return PAI_OK; PAI_EPERM: it is called as the administrators' group
 *          (ForbiddenUserError); PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_remove_vc(pai_accounts *accounts,
                                                 const char *vc,
                                                 pai_error **err);

/* --- storages ------------------------------------------------------------------ */

/** What is written of storages. */
enum {
  PAI_STORAGE_SUMMARY = 0, /**< GET /storages: {"storages": [...]} of "name",
                                "share", "volumeName", "default" */
  PAI_STORAGE_DETAIL,      /**< GET /storages/NAME: a name is needed */
  PAI_STORAGE_CONFIG,      /**< GET /storage/config: a list, or one of it */
  PAI_STORAGE_SERVER       /**< GET /storage/server: a list, or one of it */
};

/** Which storages; zeros are no limit. */
typedef struct pai_storage_query {
  size_t struct_size;
  int form;          /**< PAI_STORAGE_* */
  const char *user;  /**< to whom they must be granted; NULL: all */
  const char *name;  /**< this one alone, and not in a list; needed for
                          PAI_STORAGE_DETAIL */
  const char *names; /**< of a list, only these; with commas */
  int usual; /**< 1: of a list, only those that are the first of a group
                          of the user's */
} pai_storage_query;

#define PAI_STORAGE_QUERY_INIT               \
  {                                          \
    sizeof(pai_storage_query), 0, 0, 0, 0, 0 \
  }

/**
 * Writes storages.
 * @return PAI_OK; PAI_ENOTFOUND: NoStorageError (UnknownError of status 500 for
 *         the last two forms); PAI_EPERM: not granted, ForbiddenUserError;
 *         PAI_EINVAL; PAI_ENOMEM; what @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_write_storages(
  pai_accounts *accounts, const pai_storage_query *query, pai_write_cb write,
  void *user_data, pai_error **err);

/**
 * Makes or replaces a storage.
 * @param json  {"name"!, "type"!, "data", "share", "readOnly", "mountOptions",
 *              "secretName", "mountedAt"}.  Type is "local" (data: {"path"}),
 *              "nfs", "azureFile", "azureBlob", "samba", "dshuttle" or "other".
 *              `mountedAt` is the folder where this machine has it: jobs here
 *              can use it
 * @return PAI_OK; PAI_EINVAL: InvalidParametersError; PAI_ELIMIT; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_put_storage(pai_accounts *accounts,
                                                   const char *json,
                                                   size_t len,
                                                   pai_error **err);

/** @return PAI_OK; PAI_ENOTFOUND: NoStorageError; PAI_ENOMEM  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_remove_storage(pai_accounts *accounts,
                                                      const char *name,
                                                      pai_error **err);

/** 1: a group of the user has it.  @since 0.1 */
PAI_API int pai_accounts_may_use_storage(const pai_accounts *accounts,
                                         const char *user, const char *name);

/* --- audit ----------------------------------------------------------------------- */

/**
 * Notes that somebody changed something.  The latest 100,000 are kept.
 * @param user    who; NULL: nobody known
 * @param from    the address of the peer, or NULL
 * @param what    "PUT /api/v2/users", no more than the path
 * @param status  what it was answered with; 0: it was not answered
 * @return PAI_OK; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_accounts_note(pai_accounts *accounts,
                                            const char *user, const char *from,
                                            const char *what, int status);

/** Which notes; zeros are no limit. */
typedef struct pai_audit_query {
  size_t struct_size;
  const char *user; /**< whose; NULL: everybody's */
  pai_time since;   /**< not before */
  pai_time until;   /**< and before */
  uint64_t before; /**< behind the note of this "id", which was the last one of
                         the page before */
  uint64_t limit;  /**< at most so many; 0: 100; at most 1000 */
} pai_audit_query;

#define PAI_AUDIT_QUERY_INIT               \
  {                                        \
    sizeof(pai_audit_query), 0, 0, 0, 0, 0 \
  }

/** Writes a list, the newest first, of those that are durable: [{"id", "time",
 *  "user", "from", "what", "status"}]; times as jobs have them.
 *  @return PAI_OK; PAI_EINVAL; PAI_EIO; PAI_ENOMEM; what @p write answered
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_write_audit(
  pai_accounts *accounts, const pai_audit_query *query, pai_write_cb write,
  void *user_data, pai_error **err);

/** Logins since the platform began. */
typedef struct pai_login_counts {
  size_t struct_size;
  uint64_t good, wrong; /**< passwords that were checked */
  uint64_t refused;     /**< that were not, since too many had been wrong */
  uint64_t lockouts;    /**< waits of half a minute and more that began */
  uint64_t waiting;     /**< accounts, addresses and pairs that wait now */
} pai_login_counts;

/** Fills in as much as the caller's struct_size holds.
 *  @return PAI_OK; PAI_EINVAL  @since 0.1 */
PAI_API PAI_NODISCARD int pai_accounts_count_logins(
  const pai_accounts *accounts, pai_login_counts *counts);

PAI_END_DECLS

#endif /* OPENPAI_ACCOUNT_H */
