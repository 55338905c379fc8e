/* inside.h - types and functions shared by the files of src/account */
#ifndef PAI_SRC_ACCOUNT_INSIDE_H
#define PAI_SRC_ACCOUNT_INSIDE_H

#include "account/parts.h"
#include "api/write.h"
#include "base/os/fork.h"
#include "base/map.h"

#include <sodium.h>

/* --- objects ------------------------------------------------------------- */

typedef struct pai__account_user {
  char *name;
  char *password; /* argon2id text, or OpenPAI's 128 hex digits */
  char *email;
  char *extension; /* JSON object */
  /* Encrypted data as in the database, if the root's key cannot decrypt it.
   * The extension is then empty and cannot be changed. */
  pai__bytes closed;
  pai__strings groups;
  pai_time created;
  int64_t quota[PAI_QUOTAS]; /* the user's own limits */
  unsigned quota_set;        /* mask of the limits that `quota` sets */
} pai__account_user;

typedef struct pai__account_group {
  char *name;
  char *description, *external_name;
  char *extension; /* JSON object with acls */
  bool admin;      /* from the acls */
  pai__strings vcs, storages;
} pai__account_group;

typedef struct pai__account pai__account;

typedef struct pai__token {
  char uid[33];
  bool application;
  char *name;               /* or NULL */
  unsigned scopes;          /* PAI_SCOPE_* */
  pai_time issued, expires; /* 0: never */
  pai_time used;            /* last use; 0: never */
  pai__account *owner;
  struct pai__token *next;
} pai__token;

/* The part of a user that stays when the user is updated. */
struct pai__account {
  char *name; /* borrowed from `user` */
  pai__account_user *user;
  pai__token *tokens; /* oldest first */
};

typedef struct pai__account_storage {
  char *name, *type;
  char *data;        /* JSON object */
  pai__bytes closed; /* as pai__account_user.closed */
  char *secret_name, *mounted_at;
  pai__strings options;
  bool has_options, shared, readonly;
} pai__account_storage;

/* A user who was removed (removed.c). */
typedef struct pai__account_removed {
  char *name;
  uint64_t job; /* the last job id at that time */
  char *heir;   /* or NULL */
} pai__account_removed;

typedef struct pai__op pai__op;
/* Ranks of callers that wait for a password hash.  0: this user has logged in
 * from this address before.  Otherwise 1, plus 1 for each recent wrong
 * password from that address, plus 1 if passwords of this account are being
 * guessed. */
enum { PAI__RANKS = 10 };

typedef struct pai__guard pai__guard;

/* The user and address that make a change, for the audit log; "": unknown. */
typedef struct pai__actor {
  char user[128], from[48];
  bool owner; /* owner of the platform */
} pai__actor;

/* The client that an operation is for; "": no particular client. */
typedef struct pai__account_requester {
  char who[48];
  int (*is_gone)(void *user_data); /* or NULL */
} pai__account_requester;

enum { PAI__MOST_WORKERS = 8, PAI__TOKEN_TEXT = 640 };

/* A worker that makes one hash at a time. */
typedef struct pai__account_slot {
  pai_accounts *a;
  pai__op *op; /* NULL: free */
  void *beside;
} pai__account_slot;

struct pai_accounts {
  pai_alloc alloc;
  pai__accounts_host host;
  pai__account_table accounts, groups, storages;
  pai__map tokens; /* by uid */
  unsigned char key[PAI__DERIVED];
  pai_time token_time;
  uint64_t passes;
  size_t memory;
  uint32_t workers;
  uint32_t least_password;
  unsigned forks; /* see base/os/fork.h */
  bool has_key;
  bool reveals; /* list calls return the tokens themselves */
  bool stopped;
  pai__account_slot slots[PAI__MOST_WORKERS];
  pai__op *queue, **queue_end; /* operations that wait for a slot */
  pai__op *ready, **ready_end; /* done, but not called back yet */
  size_t nqueue;
  /* round of the operation started last, for each rank */
  uint64_t rounds[PAI__RANKS];
  pai__account_requester requester; /* for the next call */
  pai__actor actor;                 /* of the current change */
  pai__guard *guard;                /* of guard.c, or NULL */
  pai_login_counts logins;
  pai__account_removed *removed; /* oldest first */
  size_t nremoved, removed_cap;
  int64_t quota[PAI_QUOTAS]; /* for users without limits of their own */
  size_t unsafe;             /* number of operations that wait for a commit */
  /* hash of a generated password that was not shown yet, or NULL */
  char *untold;
};

/* --- objects stored as JSON (extension.c) -------------------------------- */

enum { PAI__MOST_EXTENSION = 1 << 20 };

/* Replaces *text by an object with the members of both; those of `n` win.
 * Returns PAI_OK, PAI_ELIMIT or PAI_ENOMEM. */
int pai__extension_merge(const pai_alloc *alloc, char **text,
                         const pai__tree *t, pai__node n, pai_error **err);
/* Sets the member at a path like "a/b/c" to the JSON value `value`. */
int pai__extension_set(const pai_alloc *alloc, char **text, const char *path,
                       const char *value, size_t len, pai_error **err);
/* Writes the object without its secret members as the writer's next value. */
int pai__extension_write(const pai_alloc *alloc, pai__json_writer *w,
                         const char *text);
/* Sets *out if `member` is a text that is not empty. */
int pai__extension_has(const pai_alloc *alloc, const char *text,
                       const char *member, bool *out);

/* --- transactions (update.c) --------------------------------------------- */

enum pai__account_update_kind {
  PAI__PUT_USER,
  PAI__DROP_USER,
  PAI__PUT_GROUP,
  PAI__DROP_GROUP,
  PAI__PUT_TOKEN,
  PAI__DROP_TOKEN,
  PAI__PUT_DEPOT,
  PAI__DROP_DEPOT
};

typedef struct pai__account_update_item {
  enum pai__account_update_kind kind;
  void *thing;                  /* new, or to be removed */
  pai__account *account;        /* owned for a new user, else borrowed */
  bool fresh;                   /* the account is new */
  const char *heir;             /* of a removed user, or NULL: borrowed */
  pai__account_removed removed; /* of a removed user: owned */
} pai__account_update_item;

/* A transaction.  Each call takes ownership of its object, also on failure.
 * pai__account_update_end() applies all changes, or none if rc is negative,
 * and returns rc. */
typedef struct pai__account_update {
  pai_accounts *a;
  pai__batch_mark mark;
  pai__account_update_item *items;
  size_t n, cap;
  bool secret;
  bool quiet;    /* leaves no entry in the audit log */
  bool provided; /* the login provider decides who is an administrator */
  bool rehashed; /* rehashed, but still the same password */
} pai__account_update;

void pai__account_update_begin(pai__account_update *e, pai_accounts *a);
int pai__account_update_user(pai__account_update *e, pai__account_user *user,
                             pai_error **err);
int pai__account_update_drop_user(pai__account_update *e,
                                  pai__account *account, const char *heir,
                                  pai_error **err);
int pai__account_update_group(pai__account_update *e,
                              pai__account_group *group, pai_error **err);
int pai__account_update_drop_group(pai__account_update *e,
                                   pai__account_group *group, pai_error **err);
int pai__account_update_token(pai__account_update *e, pai__token *token,
                              pai_error **err);
int pai__account_update_drop_token(pai__account_update *e, pai__token *token,
                                   pai_error **err);
int pai__account_update_storage(pai__account_update *e,
                                pai__account_storage *storage,
                                pai_error **err);
int pai__account_update_drop_storage(pai__account_update *e,
                                     pai__account_storage *storage,
                                     pai_error **err);
int pai__account_update_end(pai__account_update *e, int rc, pai_error **err);

/* rights.c: checks that an administrator remains; adds audit entries for the
 * rights that change. */
int pai__rights_check(const pai__account_update *e, pai_error **err);
int pai__rights_tell(const pai__account_update *e, pai_error **err);

/* --- removed users (removed.c) ------------------------------------------- */

void pai__account_removed_free(pai_accounts *a);
int pai__account_removed_add(pai_accounts *a,
                             const pai__removed_user_row *row);
/* Makes an entry and reserves capacity for it.  Returns PAI_OK or
 * PAI_ENOMEM. */
int pai__account_removed_make(pai__account_removed *out, pai_accounts *a,
                              const char *name, uint64_t job,
                              const char *heir);
void pai__account_removed_drop(pai_accounts *a, pai__account_removed *removed);

/* --- wrong passwords (guard.c) ------------------------------------------- */

void pai__guard_free(pai_accounts *a);
/* Returns how long the next password has to wait; 0: not at all. */
pai_time pai__guard_wait(const pai_accounts *a, const char *user,
                         const char *from);
/* Returns the rank of a login attempt (PAI__RANKS). */
uint32_t pai__guard_rank(const pai_accounts *a, const char *user,
                         const char *from);
/* Returns whether there were wrong passwords in the last seconds. */
bool pai__guard_is_attacked(const pai_accounts *a);
/* Counts a wrong password; returns the wait that it causes. */
pai_time pai__guard_wrong(pai_accounts *a, const char *user, const char *from);
/* Notes a right password from this address. */
void pai__guard_right(pai_accounts *a, const char *user, const char *from);
/* Fails with PAI_EBUSY: the login has to wait. */
int pai__guard_refuse(pai_accounts *a, const char *user, pai_time wait,
                      pai_error **err);

/* --- quotas (quota.c) ---------------------------------------------------- */

/* Parses stored quotas; skips invalid ones. */
int pai__quota_read(const pai_alloc *alloc, int64_t quota[PAI_QUOTAS],
                    unsigned *set, const char *json);
/* Returns NULL if out of memory. */
char *pai__quota_json(const pai_alloc *alloc, const int64_t quota[PAI_QUOTAS],
                      unsigned set);
int pai__quota_open(pai_accounts *a, pai_error **err);

/* --- users (user.c, put_user.c) ------------------------------------------ */

void pai__user_free(pai_accounts *a, pai__account_user *user);
pai__account_user *pai__user_new(pai_accounts *a, const char *name);
pai__account_user *pai__user_copy(pai_accounts *a,
                                  const pai__account_user *user);
pai__account *pai__find_account(const pai_accounts *a, const char *name);
bool pai__user_is_admin(const pai_accounts *a, const pai__account_user *user);
int pai__user_add(pai_accounts *a, const pai__account_row *row,
                  pai_error **err);
void pai__account_free(pai_accounts *a, pai__account *account);

/* A request to create or change a user. */
typedef struct pai__user_put {
  pai__tree *tree;
  const char *name, *password, *old_password, *hash, *email;
  pai__node vcs, groups, extension; /* or PAI__NO_NODE */
  bool admin, has_admin;
  unsigned flags;
} pai__user_put;

void pai__user_put_free(pai__user_put *put);
/* Carries out the request. */
int pai__user_put_do(pai_accounts *a, const pai__user_put *put,
                     const char *hash, pai_error **err);

/* --- groups (group.c) ---------------------------------------------------- */

#define PAI__DEFAULT_GROUP "default"
#define PAI__ADMIN_GROUP "admingroup"

pai__account_group *pai__find_group(const pai_accounts *a, const char *name);
void pai__account_group_free(pai_accounts *a, pai__account_group *group);
pai__account_group *pai__account_group_copy(pai_accounts *a,
                                            const pai__account_group *group);
/* Reads the acls of the extension and adds missing ones. */
int pai__account_group_read(pai_accounts *a, pai__account_group *group,
                            pai_error **err);
pai__group_row pai__account_group_row(const pai__account_group *group);
int pai__account_group_add(pai_accounts *a, const pai__group_row *row,
                           pai_error **err);
/* Makes a group that grants virtual clusters only. */
int pai__account_group_of_vcs(pai__account_group **out, pai_accounts *a,
                              const char *name, bool admin,
                              const pai__strings *vcs, pai_error **err);
int pai__account_group_set_vcs(pai_accounts *a, pai__account_group *group,
                               const pai__strings *vcs, pai_error **err);
/* Returns whether it is the own group of the virtual cluster of that name. */
bool pai__account_group_is_vcs(const pai__account_group *group);

/* --- storages (storage.c) ------------------------------------------- */

void pai__account_storage_free(pai_accounts *a, pai__account_storage *storage);
int pai__account_storage_add(pai_accounts *a, const pai__storage_row *row,
                             pai_error **err);

/* --- tokens (token.c, jwt.c) --------------------------------------------- */

/* The claims of a token that was signed here. */
typedef struct pai__claims {
  char user[129], uid[33];
  int64_t expires; /* seconds; 0: never */
} pai__claims;

void pai__jwt_write(const pai_accounts *a, const pai__token *token,
                    char out[PAI__TOKEN_TEXT]);
/* Returns false if the token was not signed here. */
bool pai__jwt_read(const pai_accounts *a, pai__claims *out, const char *token,
                   size_t len);
/* Loads the key that signs tokens, if there is one. */
int pai__find_key(pai_accounts *a, pai_error **err);
/* Reads the claims of a token without checking its signature. */
bool pai__jwt_peek(pai__claims *out, const char *token, size_t len);
/* Removes the signature: the claims stay readable, but the token is
 * worthless. */
void pai__jwt_strip(char token[PAI__TOKEN_TEXT]);
/* Makes a token and adds it to the transaction.  `request` NULL: a
 * browser's. */
int pai__token_new(pai__token **out, pai__account_update *e,
                   pai__account *account, const pai_token_request *request,
                   pai_error **err);
/* Frees a token that is in no list. */
void pai__token_dispose(pai_accounts *a, pai__token *token);
/* Adds the token's row to the batch. */
pai__token_row pai__token_row_of(const pai__token *token);
int pai__token_put(const pai_accounts *a, const pai__token *token);
int pai__token_add(pai_accounts *a, const pai__token_row *row,
                   pai_error **err);
/* Removes a token from its user's list and frees it. */
void pai__token_free(pai_accounts *a, pai__token *token);
bool pai__token_is_over(const pai_accounts *a, const pai__token *token);
/* Removes expired tokens of the account. */
int pai__token_purge(pai_accounts *a, pai__account *account, pai_error **err);
/* Returns PAI_TOKEN_*. */
int pai__token_look(pai__token **out, const pai_accounts *a, const char *text,
                    size_t len);
/* Loads the key that signs tokens, or makes it. */
int pai__need_key(pai_accounts *a, pai_error **err);

/* --- passwords (password.c, op.c) ---------------------------------------- */

/* Returns whether the text is an argon2id text or 128 hex digits. */
bool pai__is_hash(const char *text);
bool pai__is_old_hash(const char *text);
/* size of OpenPAI's hash: 128 hex digits and a NUL */
enum { PAI__OLD_HASH = 129 };
void pai__hash_old(char out[PAI__OLD_HASH], const char *user,
                   const char *password);

enum { PAI__LEAST_PASSWORD = 8, PAI__MOST_PASSWORD = 1024 };

/* strength.c: checks that a text may be a user's new password. */
int pai__password_check(const pai_accounts *a, const char *what,
                        const char *user, const char *text, pai_error **err);

/* An operation that hashes passwords on another thread.  If `given` is not
 * NULL, it is checked against `stored` (NULL: no such user).  If `fresh` is
 * not NULL and the check passed, it is hashed. */
struct pai__op {
  pai__op *next;
  pai__account_requester requester;
  pai__actor actor;
  uint32_t rank;  /* rank of guard.c; lower ones go first */
  uint64_t round; /* its turn: the clients of a rank take turns */
  pai_accounts *a;
  pai_account_cb cb;
  void *user_data;
  /* Called on the loop, with the hash if one was made; writes the answer. */
  int (*finish)(pai__op *op, pai__buf *answer, pai_error **err);
  char *user, *stored, *given, *fresh;
  pai__user_put put; /* for operations that create or change a user */
  bool tell_fresh;   /* the password was generated here and is printed */
  bool safe;         /* called back only when the change is durable */
  /* Used by the other thread. */
  uint64_t passes;
  size_t memory;
  bool right, old, failed;
  char hash[crypto_pwhash_STRBYTES];
  /* The result. */
  int rc;
  pai_error *err;
  pai__buf answer;
};

/* first.c: reads what the store knows of a generated password that was not
 * shown yet. */
int pai__first_read(pai_accounts *a, pai_error **err);
/* Notes that the password was printed. */
void pai__first_told(const pai__op *op);
int pai__first_lost(const pai_error *why, int rc, pai_error **err);
/* login.c: replaces the account's hash by that of the operation. */
int pai__renew_password(pai__account_update *e, const pai__op *op,
                        const pai__account *account, pai_error **err);

/* Resets what pai_accounts_ask_as() set for one call. */
void pai__forget_requester(pai_accounts *a);
int pai__op_new(pai__op **out, pai_accounts *a, pai_account_cb cb,
                void *user_data, pai_error **err);
int pai__op_text(pai__op *op, char **to, const char *text, pai_error **err);
void pai__op_free(pai__op *op);
/* Hashes, then calls `finish`.  Takes ownership of the operation unless it
 * fails. */
int pai__op_start(pai__op *op, pai_error **err);
/* Marks the operation as done; takes ownership of it. */
void pai__op_ready(pai__op *op);

#endif
