/* inside.h - what the room's files share */
#ifndef PAI_SRC_ACCOUNT_INSIDE_H
#define PAI_SRC_ACCOUNT_INSIDE_H

#include "account/account.h"
#include "base/fork.h"
#include "base/map.h"
#include "json/json.h"
#include "json/node.h"
#include "json/writer.h"

#include <sodium.h>

/* --- lists of names (names.c) --------------------------------------------------- */

typedef struct pai__strings {
  char **at; /* owned, each too */
  size_t n, cap;
} pai__strings;

void pai__strings_free(const pai_alloc *alloc, pai__strings *s);
int pai__strings_copy(const pai_alloc *alloc, pai__strings *to,
                      const pai__strings *from);
bool pai__strings_has(const pai__strings *s, const char *name);
/* Adds it, though it may be there. */
int pai__strings_push(const pai_alloc *alloc, pai__strings *s,
                      const char *name);
/* Adds it, unless it is there. */
int pai__strings_add(const pai_alloc *alloc, pai__strings *s,
                     const char *name);
void pai__strings_drop(const pai_alloc *alloc, pai__strings *s,
                       const char *name);
/* As JSON, a list; pai__strfree() or NULL. */
char *pai__strings_json(const pai_alloc *alloc, const pai__strings *s);

/* Replaces a text that is owned. */
int pai__set_text(const pai_alloc *alloc, char **to, const char *text);
/* Replaces bytes that are owned; the old ones are freed. */
int pai__set_bytes(const pai_alloc *alloc, pai__bytes *to, pai__bytes bytes);
/* Wipes and frees one; NULL is allowed. */
void pai__forget(const pai_alloc *alloc, char *text);

bool pai__is_user_name(const char *name);  /* ^[\w.-]+$, as jobs' users */
bool pai__is_group_name(const char *name); /* ^[A-Za-z0-9_]+$ */

/* --- tables: owned things by name, which is their first member (names.c) ------------ */

typedef struct pai__table {
  void **at;
  size_t n, cap;
} pai__table;

void *pai__table_find(const pai__table *t, const char *name);
int pai__table_room(const pai_alloc *alloc, pai__table *t, size_t more);
void pai__table_add(pai__table *t, void *thing); /* there is room */
/* The place of one that is there. */
void **pai__table_place(const pai__table *t, const char *name);
void pai__table_drop(pai__table *t, const char *name);

/* --- what there is ------------------------------------------------------------------- */

typedef struct pai__user {
  char *name;
  char *password; /* argon2id's text, or 128 hex digits of OpenPAI's own */
  char *email;
  char *extension; /* JSON, an object */
  /* What the root's key does not open, as it is in the database; then the
   * extension is empty, and cannot be changed. */
  pai__bytes closed;
  pai__strings groups;
  pai_time created;
  int64_t quota[PAI_QUOTAS]; /* the user's own, */
  unsigned quota_set;        /* of these kinds */
} pai__user;

typedef struct pai__team {
  char *name;
  char *description, *external_name;
  char *extension; /* JSON, an object with acls */
  bool admin;      /* acls */
  pai__strings vcs, storages;
} pai__team;

typedef struct pai__account pai__account;

typedef struct pai__token {
  char uid[33];
  bool application;
  char *name;               /* or NULL */
  unsigned scopes;          /* PAI_SCOPE_* */
  pai_time issued, expires; /* 0: never */
  pai_time used;            /* last; 0: never */
  pai__account *owner;
  struct pai__token *next;
} pai__token;

/* What stays when a user changes. */
struct pai__account {
  char *name; /* the user's */
  pai__user *user;
  pai__token *tokens; /* the oldest first */
};

typedef struct pai__depot {
  char *name, *type;
  char *data;        /* JSON, an object */
  pai__bytes closed; /* as a user's */
  char *secret_name, *mounted_at;
  pai__strings options;
  bool has_options, shared, readonly;
} pai__depot;

/* A user who was removed (gone.c). */
typedef struct pai__gone {
  char *name;
  uint64_t job; /* the last one then */
  char *heir;   /* or NULL */
} pai__gone;

typedef struct pai__op pai__op;
/* Ranks of who asks for a password to be hashed: 0: this user has logged in from
 * this address; else 1, and one more for each wrong password that came from
 * there of late, and one where others guess at this account. */
enum { PAI__RANKS = 10 };

typedef struct pai__guard pai__guard;

/* Who changes something, for the audit log; "": nobody known. */
typedef struct pai__actor {
  char user[128], from[48];
  bool owner; /* of the platform */
} pai__actor;

/* On whose behalf something is done; "": nobody's in particular. */
typedef struct pai__asker {
  char who[48];
  int (*is_gone)(void *user_data); /* or NULL */
} pai__asker;

enum { PAI__MOST_WORKERS = 8, PAI__TOKEN_TEXT = 640 };

/* A hash may be made in each of them at a time. */
typedef struct pai__slot {
  pai_accounts *a;
  pai__op *op; /* NULL: it is free */
  void *beside;
} pai__slot;

struct pai_accounts {
  pai_alloc alloc;
  pai__accounts_host host;
  pai__table accounts, groups, depots;
  pai__map tokens; /* by uid */
  unsigned char key[PAI__DERIVED];
  pai_time token_time;
  uint64_t passes;
  size_t memory;
  uint32_t workers;
  uint32_t least_password;
  unsigned forks; /* see base/fork.h */
  bool has_key;
  bool reveals; /* tokens are shown again */
  bool stopped;
  pai__slot slots[PAI__MOST_WORKERS];
  pai__op *queue, **queue_end; /* wait for a slot */
  pai__op *ready, **ready_end; /* are done, and not told */
  size_t nqueue;
  uint64_t rounds[PAI__RANKS]; /* of the last one of each whose turn came */
  pai__asker asker;            /* of the next call */
  pai__actor actor;            /* of what is changed now */
  pai__guard *guard;           /* guard.c's, or NULL */
  pai_login_counts logins;
  pai__gone *gone; /* the first one first */
  size_t ngone, gone_cap;
  int64_t quota[PAI_QUOTAS]; /* of users who have none of their own */
  size_t unsafe;             /* ops that wait for a commit */
  char *untold; /* hash of a password that was made and not told, or NULL */
};

/* --- errors (error.c) ------------------------------------------------------------------ */

/* Says of the error just made what the API calls it; returns rc. */
int pai__as(pai_error **err, int rc, int status, const char *api);
int pai__no_user(pai_error **err, int status, const char *name);
int pai__no_group(pai_error **err, int status, const char *name);
/* What is secret of it does not open. */
int pai__is_closed(pai_error **err, const char *kind, const char *name);
int pai__invalid(pai_error **err, const char *fmt, ...) PAI__PRINTF(2, 3);

/* --- what comes in as JSON (input.c) ---------------------------------------------------- */

/* An object that has no other members than these, which NULL ends. */
int pai__input_parse(pai__tree **out, const pai_alloc *alloc, const char *json,
                     size_t len, const char *const *members, pai_error **err);
/* Members; what is not there leaves *out as it is. */
int pai__input_text(const pai__tree *t, const char *key, const char **out,
                    pai_error **err);
int pai__input_bool(const pai__tree *t, const char *key, bool *out,
                    pai_error **err);
int pai__input_object(const pai__tree *t, const char *key, pai__node *out,
                      pai_error **err);
/* A list of texts, as a node; or in `out`, which has none yet. */
int pai__input_list(const pai__tree *t, const char *key, pai__node *out,
                    pai_error **err);
int pai__input_names(const pai_alloc *alloc, const pai__tree *t,
                     pai__node list, pai__strings *out);

/* --- objects that are kept as JSON (extension.c) ------------------------------------------ */

enum { PAI__MOST_EXTENSION = 1 << 20 };

/* An object with the members of both, the later ones' counting, replaces
 * *text; PAI_OK, PAI_ELIMIT or PAI_ENOMEM. */
int pai__extension_merge(const pai_alloc *alloc, char **text,
                         const pai__tree *t, pai__node n, pai_error **err);
/* The value at "a/b/c" becomes `value`, one of JSON. */
int pai__extension_set(const pai_alloc *alloc, char **text, const char *path,
                       const char *value, size_t len, pai_error **err);
/* Without what is its owner's alone, as the writer's next value. */
int pai__extension_write(const pai_alloc *alloc, pai__json_writer *w,
                         const char *text);
/* Does it have a member that is a text, and not empty? */
int pai__extension_has(const pai_alloc *alloc, const char *text,
                       const char *member, bool *out);

/* --- what goes out as JSON (output.c) ------------------------------------------------------- */

typedef struct pai__wire {
  pai__json_writer w;
  pai__buf buf;
} pai__wire;

void pai__wire_begin(pai__wire *o, pai_accounts *a, pai_write_cb write,
                     void *user_data);
int pai__wire_end(pai__wire *o, int rc, pai_error **err);
void pai__wire_key(pai__json_writer *w, const char *key);
void pai__wire_text(pai__json_writer *w, const char *key, const char *value);
void pai__wire_bool(pai__json_writer *w, const char *key, bool value);
void pai__wire_names(pai__json_writer *w, const char *key,
                     const pai__strings *names);

/* --- changes that belong together (amend.c) ---------------------------------------------------- */

enum pai__amend_kind {
  PAI__PUT_USER,
  PAI__DROP_USER,
  PAI__PUT_GROUP,
  PAI__DROP_GROUP,
  PAI__PUT_TOKEN,
  PAI__DROP_TOKEN,
  PAI__PUT_DEPOT,
  PAI__DROP_DEPOT
};

typedef struct pai__amend_item {
  enum pai__amend_kind kind;
  void *thing;           /* new, or to be dropped */
  pai__account *account; /* of a new user: owned; of one that is there */
  bool fresh;            /* the account is new */
  const char *heir;      /* of a user who goes, or NULL: borrowed */
  pai__gone gone;        /* likewise: owned */
} pai__amend_item;

/* Each call takes what it is given, also when it fails.  pai__amend_end() makes
 * all of it, or none if rc is negative, and returns rc. */
typedef struct pai__amend {
  pai_accounts *a;
  pai__batch_mark mark;
  pai__amend_item *items;
  size_t n, cap;
  bool secret;
  bool quiet;    /* nothing of it is in the audit log */
  bool provided; /* a provider of logins says who is an administrator */
  bool rehashed; /* the password is the same */
} pai__amend;

void pai__amend_begin(pai__amend *e, pai_accounts *a);
int pai__amend_user(pai__amend *e, pai__user *user, pai_error **err);
int pai__amend_drop_user(pai__amend *e, pai__account *account,
                         const char *heir, pai_error **err);
int pai__amend_group(pai__amend *e, pai__team *group, pai_error **err);
int pai__amend_drop_group(pai__amend *e, pai__team *group, pai_error **err);
int pai__amend_token(pai__amend *e, pai__token *token, pai_error **err);
int pai__amend_drop_token(pai__amend *e, pai__token *token, pai_error **err);
int pai__amend_depot(pai__amend *e, pai__depot *depot, pai_error **err);
int pai__amend_drop_depot(pai__amend *e, pai__depot *depot, pai_error **err);
int pai__amend_end(pai__amend *e, int rc, pai_error **err);

/* rights.c: whether somebody stays administrator; the notes of what changes. */
int pai__rights_check(const pai__amend *e, pai_error **err);
int pai__rights_tell(const pai__amend *e, pai_error **err);

/* --- users who were removed (gone.c) ------------------------------------------------- */

void pai__gone_free(pai_accounts *a);
int pai__gone_add(pai_accounts *a, const pai__gone_row *row);
/* Makes one, and room for it; PAI_OK or PAI_ENOMEM. */
int pai__gone_make(pai__gone *out, pai_accounts *a, const char *name,
                   uint64_t job, const char *heir);
void pai__gone_drop(pai_accounts *a, pai__gone *gone);

/* --- wrong passwords (guard.c) ------------------------------------------------------- */

void pai__guard_free(pai_accounts *a);
/* How long the next password has to wait; 0: not at all. */
pai_time pai__guard_wait(const pai_accounts *a, const char *user,
                         const char *from);
/* A password was wrong: the wait that this means; or it was right. */
uint32_t pai__guard_rank(const pai_accounts *a, const char *user,
                         const char *from);
/* Were there wrong passwords in the last seconds? */
bool pai__guard_is_attacked(const pai_accounts *a);
pai_time pai__guard_wrong(pai_accounts *a, const char *user, const char *from);
void pai__guard_right(pai_accounts *a, const char *user, const char *from);
/* Refuses one that has to wait; returns PAI_EBUSY. */
int pai__guard_refuse(pai_accounts *a, const char *user, pai_time wait,
                      pai_error **err);

/* --- limits of users (quota.c) ------------------------------------------------------- */

/* Reads what was written; what makes no sense is left out. */
int pai__quota_read(const pai_alloc *alloc, int64_t quota[PAI_QUOTAS],
                    unsigned *set, const char *json);
/* NULL: no memory. */
char *pai__quota_json(const pai_alloc *alloc, const int64_t quota[PAI_QUOTAS],
                      unsigned set);
int pai__quota_open(pai_accounts *a, pai_error **err);

/* --- users (user.c, put_user.c) ------------------------------------------------------------------ */

void pai__user_free(pai_accounts *a, pai__user *user);
pai__user *pai__user_new(pai_accounts *a, const char *name);
pai__user *pai__user_copy(pai_accounts *a, const pai__user *user);
pai__account *pai__find_account(const pai_accounts *a, const char *name);
bool pai__user_is_admin(const pai_accounts *a, const pai__user *user);
int pai__user_add(pai_accounts *a, const pai__account_row *row,
                  pai_error **err);
void pai__account_free(pai_accounts *a, pai__account *account);

/* What a user is to become. */
typedef struct pai__user_put {
  pai__tree *tree;
  const char *name, *password, *old_password, *hash, *email;
  pai__node vcs, groups, extension; /* or PAI__NO_NODE */
  bool admin, has_admin;
  unsigned flags;
} pai__user_put;

void pai__user_put_free(pai__user_put *put);
/* Makes it so. */
int pai__user_put_do(pai_accounts *a, const pai__user_put *put,
                     const char *hash, pai_error **err);

/* --- groups (group.c) -------------------------------------------------------------------------------- */

#define PAI__DEFAULT_GROUP "default"
#define PAI__ADMIN_GROUP "admingroup"

pai__team *pai__find_group(const pai_accounts *a, const char *name);
void pai__team_free(pai_accounts *a, pai__team *group);
pai__team *pai__team_copy(pai_accounts *a, const pai__team *group);
/* Reads its acls, which get what they lack. */
int pai__team_read(pai_accounts *a, pai__team *group, pai_error **err);
int pai__team_add(pai_accounts *a, const pai__group_row *row, pai_error **err);
/* One whose members may use virtual clusters, and no more. */
int pai__team_of_vcs(pai__team **out, pai_accounts *a, const char *name,
                     bool admin, const pai__strings *vcs, pai_error **err);
int pai__team_set_vcs(pai_accounts *a, pai__team *group,
                      const pai__strings *vcs, pai_error **err);
/* Of a virtual cluster alone. */
bool pai__team_is_vcs(const pai__team *group);

/* --- storages (storage.c) ------------------------------------------- */

void pai__depot_free(pai_accounts *a, pai__depot *depot);
int pai__depot_add(pai_accounts *a, const pai__storage_row *row,
                   pai_error **err);

/* --- tokens (token.c, jwt.c) ---------------------------------------------------------------------------- */

/* What is said in a token that is ours. */
typedef struct pai__claims {
  char user[129], uid[33];
  int64_t expires; /* seconds; 0: never */
} pai__claims;

void pai__jwt_write(const pai_accounts *a, const pai__token *token,
                    char out[PAI__TOKEN_TEXT]);
/* False: it is none of ours. */
bool pai__jwt_read(const pai_accounts *a, pai__claims *out, const char *token,
                   size_t len);
/* The key that tokens are signed with, if there is one. */
int pai__find_key(pai_accounts *a, pai_error **err);
/* What is said in a token, whoever signed it. */
bool pai__jwt_peek(pai__claims *out, const char *token, size_t len);
/* Without its signature: it tells what it is for, and opens nothing. */
void pai__jwt_strip(char token[PAI__TOKEN_TEXT]);
/* A new one, added to the edit; `request` may be NULL: a browser's. */
int pai__token_new(pai__token **out, pai__amend *e, pai__account *account,
                   const pai_token_request *request, pai_error **err);
/* Frees one that is in no list. */
void pai__token_dispose(pai_accounts *a, pai__token *token);
/* Puts it into the batch, as it is. */
int pai__token_put(const pai_accounts *a, const pai__token *token);
int pai__token_add(pai_accounts *a, const pai__token_row *row,
                   pai_error **err);
/* Takes it out of its user's list. */
void pai__token_free(pai_accounts *a, pai__token *token);
bool pai__token_is_over(const pai_accounts *a, const pai__token *token);
/* Those that are over go when their user's are looked at. */
int pai__token_purge(pai_accounts *a, pai__account *account, pai_error **err);
/* PAI_TOKEN_*. */
int pai__token_look(pai__token **out, const pai_accounts *a, const char *text,
                    size_t len);
/* The key that tokens are signed with: the first token makes it. */
int pai__need_key(pai_accounts *a, pai_error **err);

/* --- passwords (password.c, op.c) -------------------------------------------------------------------------- */

/* Whether it is an argon2id text or 128 hex digits. */
bool pai__is_hash(const char *text);
bool pai__is_old_hash(const char *text);
/* OpenPAI's own: 128 hex digits and a NUL. */
enum { PAI__OLD_HASH = 129 };
void pai__hash_old(char out[PAI__OLD_HASH], const char *user,
                   const char *password);

enum { PAI__LEAST_PASSWORD = 8, PAI__MOST_PASSWORD = 1024 };

/* strength.c: whether it may be a user's new password. */
int pai__password_check(const pai_accounts *a, const char *what,
                        const char *user, const char *text, pai_error **err);

/* Something with passwords, beside the loop: `stored` is what `given` must be
 * (NULL: there is no such user), if `given` is not NULL; `fresh` gets a hash,
 * if it is not NULL and `given` was right. */
struct pai__op {
  pai__op *next;
  pai__asker asker;
  pai__actor actor;
  uint32_t rank;  /* guard.c's; who was not wrong comes first */
  uint64_t round; /* when its turn is, as of those who ask each has one */
  pai_accounts *a;
  pai_account_cb cb;
  void *user_data;
  /* On the loop, with the hash if there is one; writes what is told. */
  int (*finish)(pai__op *op, pai__buf *answer, pai_error **err);
  char *user, *stored, *given, *fresh;
  pai__user_put put; /* if it is about one */
  bool tell_fresh;   /* it was made here */
  bool safe;         /* is told when the database has it */
  /* Of the other thread. */
  uint64_t passes;
  size_t memory;
  bool right, old, failed;
  char hash[crypto_pwhash_STRBYTES];
  /* Of what is ready. */
  int rc;
  pai_error *err;
  pai__buf answer;
};

/* first.c: what the store knows of a password that was not told. */
int pai__first_read(pai_accounts *a, pai_error **err);
/* It is told now; or could not be written: says so, returns rc. */
void pai__first_told(const pai__op *op);
int pai__first_lost(const pai_error *why, int rc, pai_error **err);
/* login.c: its hash becomes that of the op. */
int pai__renew_password(pai__amend *e, const pai__op *op,
                        const pai__account *account, pai_error **err);

/* What pai_accounts_ask_as() said is of one call. */
void pai__forget_asker(pai_accounts *a);
int pai__op_new(pai__op **out, pai_accounts *a, pai_account_cb cb,
                void *user_data, pai_error **err);
int pai__op_text(pai__op *op, char **to, const char *text, pai_error **err);
void pai__op_free(pai__op *op);
/* Hashes, then finishes; takes the op, unless it fails. */
int pai__op_start(pai__op *op, pai_error **err);
/* It is done; takes the op. */
void pai__op_ready(pai__op *op);

#endif
