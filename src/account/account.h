/*
 * account.h - internal: users, groups, tokens and storages, used by the
 * platform
 *
 * All of them are in memory.  Each change is also added to the host's batch,
 * so what the host commits equals what is in memory.  This room has no clock,
 * thread or loop of its own: the host provides them.
 */
#ifndef PAI_SRC_ACCOUNT_ACCOUNT_H
#define PAI_SRC_ACCOUNT_ACCOUNT_H

#include "store/store.h"

#include <openpai/account.h>

/* Returns the number of users called `user` who were removed before `job` was
 * submitted. */
unsigned pai__accounts_before(const pai_accounts *a, const char *user,
                              uint64_t job);

/* Returns whether the user has an account that is a member of the group. */
bool pai__accounts_is_member(const pai_accounts *a, const char *user,
                             const char *group);
bool pai__accounts_has_group(const pai_accounts *a, const char *group);
/* Returns when the user's account was created, which tells it from an earlier
 * account of the same name; 0: the user has none. */
pai_time pai__accounts_since(const pai_accounts *a, const char *user);

/* Work on another thread: `run` is called there, then `done` on the loop. */
typedef void (*pai__beside_cb)(void *user_data);
typedef void (*pai__safe_cb)(void *user_data, int status,
                             const pai_error *err);
typedef int (*pai__name_cb)(void *user_data, const char *name);

/* The functions are called on the loop's thread, with `ctx`. */
typedef struct pai__accounts_host {
  void *ctx;
  pai__store *store;
  const pai__log *log;
  pai_time (*now)(void *ctx); /* wall-clock time */
  pai__batch *(*batch)(void *ctx);
  /* Something was added to the batch.  `urgent`: a caller waits for the
   * commit.  `secret`: data on disk has to be overwritten. */
  void (*changed)(void *ctx, bool urgent, bool secret);
  /* asks for pai__accounts_step() in the next loop step */
  void (*soon)(void *ctx);
  /* Calls `cb` later, when the batch is durable or has failed. */
  int (*sync)(void *ctx, pai__safe_cb cb, void *user_data);
  int (*beside_new)(void **out, void *ctx, pai__beside_cb run,
                    pai__beside_cb done, void *user_data);
  void (*beside_start)(void *beside);
  void (*beside_close)(void *beside); /* NULL is allowed */
  /* Enumerates the names of all virtual clusters; a negative result of `cb`
   * stops. */
  int (*vcs)(void *ctx, pai__name_cb cb, void *user_data);
  /* Returns the largest job id so far. */
  uint64_t (*last_job)(void *ctx);
  /* A user was removed without an heir: jobs without an owner must end. */
  void (*orphaned)(void *ctx);
} pai__accounts_host;

/* Reads all accounts from the store. */
int pai__accounts_open(pai_accounts **out, const pai_alloc *alloc,
                       const pai__accounts_host *host, pai_error **err);
/* Calls back the callers whose operations are done. */
void pai__accounts_step(pai_accounts *a);
/* Refuses new operations.  Waiting operations are called back with
 * PAI_ECANCELED; running ones are finished.  NULL is allowed. */
void pai__accounts_stop(pai_accounts *a);
bool pai__accounts_is_idle(const pai_accounts *a); /* nothing is running */
void pai__accounts_close(pai_accounts *a);         /* only when idle */

size_t pai__accounts_count(const pai_accounts *a); /* number of users */

/* A storage that this machine mounts, as a job of `user` sees it.  A user
 * without an account may use every storage.  The jobs of a removed user use
 * the storages of the heir. */
typedef struct pai__mounted {
  const char *name, *path; /* path NULL: not mounted on this machine */
  bool shared, readonly;
  /* granted to the user; default of one of the user's groups */
  bool granted, usual;
  unsigned before; /* number of removed users of that name */
} pai__mounted;
typedef int (*pai__mounted_cb)(void *user_data, const pai__mounted *m);
#define PAI__NEW_JOB UINT64_MAX /* a job that has no id yet */
int pai__accounts_mounted(const pai_accounts *a, const char *user,
                          uint64_t job, pai__mounted_cb cb, void *user_data);

#endif
