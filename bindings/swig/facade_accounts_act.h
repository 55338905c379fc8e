/* facade_accounts_act.h - calls that accounts_do() makes by name; most are
 * generated from bindings/accounts.txt */
#ifndef OPENPAI_BINDINGS_FACADE_ACCOUNTS_ACT_H
#define OPENPAI_BINDINGS_FACADE_ACCOUNTS_ACT_H

#include "facade_accounts.h"
#include "facade_platform.h"
#include "options.h"

/* A call in progress. */
typedef struct accounts_act {
  Platform *platform;
  pai_accounts *accounts;
  const accounts_wish *w;
  job_text *out; /* `out` is plain text, to be quoted as JSON */
  bool is_text;
  platform_promise promise;
  failure *f;
} accounts_act;

/* A call and its name. */
typedef struct accounts_deed {
  const char *name;
  int (*run)(accounts_act *a, pai_error **err);
  bool changes;          /* waits for the database */
  const char *arguments; /* for a language that makes methods at run time */
} accounts_deed;

/* Generated. The calls end with a row without a name. */
extern const accounts_deed accounts_deeds[];
extern const option accounts_options[];

/* Calls by hand. */
int do_verify(accounts_act *a, pai_error **err);
int do_authorize(accounts_act *a, pai_error **err);
int do_make_token(accounts_act *a, pai_error **err);
int do_set_quota(accounts_act *a, pai_error **err);
int do_usage(accounts_act *a, pai_error **err);
int do_logins(accounts_act *a, pai_error **err);
int do_owner(accounts_act *a, pai_error **err);

int accounts_answer(accounts_act *a, int answer);
void accounts_on_done(void *user_data, int status, const char *told,
                      size_t len, const pai_error *err);

/* Waits until accounts_on_done() was called, unless `rc` is a failure. Returns
 * the code of the call. */
int accounts_await(accounts_act *a, int rc);

#endif
