/* facade_accounts_act.h - what accounts_do() is asked for; not for SWIG */
#ifndef OPENPAI_BINDINGS_FACADE_ACCOUNTS_ACT_H
#define OPENPAI_BINDINGS_FACADE_ACCOUNTS_ACT_H

#include "facade_platform.h"

/* What any of them may be told. */
typedef struct accounts_wish {
  const char *user, *viewer, *password, *group, *token, *header, *path;
  const char *name, *names, *vc, *description, *external_name;
  const char *from, *what, *why, *heir, *scopes, *quota;
  int form, usual, flags, application, in, on, status;
  uint32_t capacity, max_capacity, hash_kib, hash_passes, hash_workers;
  uint32_t least_password;
  int reveal_tokens;
  pai_time token_time, since, until, lifetime;
  const char *most; /* a number, which may be below 0 */
  uint64_t before, limit;
  const char *text;
  size_t len;
} accounts_wish;

/* One that runs. */
typedef struct accounts_act {
  Platform *platform;
  pai_accounts *accounts;
  const accounts_wish *w;
  job_text *out; /* a text that is no JSON is made one */
  bool is_text;
  platform_promise promise;
  failure *f;
} accounts_act;

enum { ACCOUNTS_TELLS, ACCOUNTS_CHANGES };

/* One of them, by its name. */
typedef struct accounts_deed {
  const char *name;
  int (*run)(accounts_act *a, pai_error **err);
  int effect;
} accounts_deed;

/* Each ends with a row without a name. */
extern const accounts_deed accounts_identities[]; /* facade_identity.c */
extern const accounts_deed accounts_users[];      /* facade_users.c */
extern const accounts_deed accounts_groups[];     /* facade_users.c */
extern const accounts_deed accounts_storages[];   /* facade_storages.c */
extern const accounts_deed accounts_vcs[];        /* facade_vcs.c */

int accounts_answer(accounts_act *a, int answer);
void accounts_on_done(void *user_data, int status, const char *told,
                      size_t len, const pai_error *err);

/* Until accounts_on_done() was called, if it will be. */
int accounts_await(accounts_act *a, int rc);

#endif
