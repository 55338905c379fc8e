/*
 * account.h - internal: users, groups, tokens and storages, for the room that
 * has the loop
 *
 * All of them are in memory, and each change goes into the host's batch, too:
 * what the host commits is what is known here.  No clock, no thread and no
 * loop in this room: the host lends them.
 */
#ifndef PAI_SRC_ACCOUNT_ACCOUNT_H
#define PAI_SRC_ACCOUNT_ACCOUNT_H

#include "store/store.h"

#include <openpai/account.h>

/* How many users of that name were removed before a job came. */
unsigned pai__accounts_before(const pai_accounts *a, const char *user,
                              uint64_t job);

/* What goes on beside the loop: `run` there, then `done` on the loop. */
typedef void (*pai__beside_cb)(void *user_data);
typedef void (*pai__safe_cb)(void *user_data, int status,
                             const pai_error *err);
typedef int (*pai__name_cb)(void *user_data, const char *name);

/* All but `store` and `log` are called on the loop's thread, with `ctx`. */
typedef struct pai__accounts_host {
  void *ctx;
  pai__store *store;
  const pai__log *log;
  pai_time (*now)(void *ctx); /* the wall's */
  pai__batch *(*batch)(void *ctx);
  /* Something was put into the batch: `urgent` says that it is waited for,
   * `secret` that something is to be overwritten. */
  void (*changed)(void *ctx, bool urgent, bool secret);
  void (*soon)(void *ctx); /* pai__accounts_turn() in the loop's next turn */
  /* Calls when what was put there is durable, or cannot be now; later. */
  int (*sync)(void *ctx, pai__safe_cb cb, void *user_data);
  int (*beside_new)(void **out, void *ctx, pai__beside_cb run,
                    pai__beside_cb done, void *user_data);
  void (*beside_start)(void *beside);
  void (*beside_close)(void *beside); /* NULL is allowed */
  /* The names of all virtual clusters; a negative answer ends it. */
  int (*vcs)(void *ctx, pai__name_cb cb, void *user_data);
  /* The largest id of a job so far. */
  uint64_t (*last_job)(void *ctx);
  /* A user was removed, and some jobs are nobody's now: they are to end. */
  void (*orphaned)(void *ctx);
} pai__accounts_host;

/* Reads what the store has. */
int pai__accounts_open(pai_accounts **out, const pai_alloc *alloc,
                       const pai__accounts_host *host, pai_error **err);
/* Calls who waits for what is done. */
void pai__accounts_turn(pai_accounts *a);
/* Takes nothing more that is done beside the loop; what waits is called with
 * PAI_ECANCELED, what goes on is finished.  NULL is allowed. */
void pai__accounts_stop(pai_accounts *a);
bool pai__accounts_is_idle(const pai_accounts *a); /* nothing goes on */
void pai__accounts_close(pai_accounts *a);         /* when it is idle */

size_t pai__accounts_count(const pai_accounts *a); /* of users */

/* A storage that this machine has somewhere, as a job of `user` finds it.  Who
 * has no account may use all, but of who was removed the heir's are. */
typedef struct pai__mounted {
  const char *name, *path; /* path NULL: it is mounted nowhere here */
  bool shared, readonly;
  bool granted, usual; /* to the user; the first of one of the user's groups */
  unsigned before;     /* users of that name who were removed before */
} pai__mounted;
typedef int (*pai__mounted_cb)(void *user_data, const pai__mounted *m);
#define PAI__NEW_JOB UINT64_MAX /* one that has no id yet */
int pai__accounts_mounted(const pai_accounts *a, const char *user,
                          uint64_t job, pai__mounted_cb cb, void *user_data);

#endif
