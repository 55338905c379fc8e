/* account.c - pai_accounts: loaded when the platform starts, kept until it
 * ends */
#include "account/inside.h"

#define WEEK (INT64_C(7) * 24 * 3600 * 1000000)

/* --- loading ------------------------------------------------------------- */

typedef struct reading {
  pai_accounts *a;
  pai_error **err;
  size_t lost;
} reading;

/* An invalid row is skipped, so that the others can be used. */
static int skip(reading *r, int rc, const char *what, const char *name)
{
  if (rc == PAI_OK || rc == PAI_ENOMEM)
    return rc;
  pai__log_line(r->a->host.log, PAI_LOG_WARNING,
                "%s %s in the database is invalid and ignored: %s", what, name,
                r->err != NULL ? pai_error_message(*r->err) : "");
  if (r->err != NULL) {
    pai_error_free(*r->err);
    *r->err = NULL;
  }
  return PAI_OK;
}

static int on_account(void *user_data, const pai__account_row *row)
{
  reading *r = user_data;

  r->lost += row->lost;
  return skip(r, pai__user_add(r->a, row, r->err), "user", row->name);
}

static int on_group(void *user_data, const pai__group_row *row)
{
  reading *r = user_data;

  return skip(r, pai__account_group_add(r->a, row, r->err), "group",
              row->name);
}

static int on_storage(void *user_data, const pai__storage_row *row)
{
  reading *r = user_data;

  r->lost += row->lost;
  return skip(r, pai__account_storage_add(r->a, row, r->err), "storage",
              row->name);
}

static int on_token(void *user_data, const pai__token_row *row)
{
  reading *r = user_data;

  return skip(r, pai__token_add(r->a, row, r->err), "token of", row->user);
}

static int on_removed(void *user_data, const pai__removed_user_row *row)
{
  reading *r = user_data;

  return pai__account_removed_add(r->a, row) < 0 ? pai__oom(r->err) : PAI_OK;
}

/* Removes groups that no longer exist from all users.  Otherwise a later group
 * of the same name would have members. */
static void drop_unknown(pai_accounts *a)
{
  for (size_t i = 0; i < a->accounts.n; i++) {
    pai__strings *groups = &((pai__account *)a->accounts.at[i])->user->groups;

    for (size_t j = groups->n; j > 0; j--)
      if (pai__find_group(a, groups->at[j - 1]) == NULL)
        pai__strings_drop(&a->alloc, groups, groups->at[j - 1]);
  }
}

static int drop_expired(pai_accounts *a, pai_error **err)
{
  pai__account_update e;
  int rc = PAI_OK;

  pai__account_update_begin(&e, a);
  e.quiet = true;
  for (size_t i = 0; i < a->accounts.n; i++)
    for (pai__token *t = ((pai__account *)a->accounts.at[i])->tokens;
         t != NULL && rc == PAI_OK; t = t->next)
      if (pai__token_is_over(a, t))
        rc = pai__account_update_drop_token(&e, t, err);
  return pai__account_update_end(&e, rc, err);
}

static bool has_tokens(const pai_accounts *a)
{
  for (size_t i = 0; i < a->accounts.n; i++)
    if (((const pai__account *)a->accounts.at[i])->tokens != NULL)
      return true;
  return false;
}

/* Without their key tokens are worthless, but the platform can still start.
 * No key is made here: the old one may be restored. */
static int find_key(pai_accounts *a)
{
  pai_error *err = NULL;
  int rc = a->accounts.n > 0 ? pai__find_key(a, &err) : PAI_OK;

  if (rc < 0 && rc != PAI_ENOMEM && has_tokens(a))
    pai__log_line(a->host.log, PAI_LOG_WARNING, "tokens are not accepted: %s",
                  pai_error_message(err));
  pai_error_free(err);
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}

static int read_all(pai_accounts *a, pai_error **err)
{
  reading r = { a, err, 0 };
  pai__store *store = a->host.store;
  int rc = pai__store_groups(store, on_group, &r, err);

  if (rc == PAI_OK)
    rc = pai__store_accounts(store, on_account, &r, err);
  if (rc == PAI_OK)
    rc = pai__store_storages(store, on_storage, &r, err);
  if (rc == PAI_OK)
    rc = pai__store_tokens(store, on_token, &r, err);
  if (rc == PAI_OK)
    rc = pai__store_removed_users(store, on_removed, &r, err);
  if (rc < 0)
    return rc;
  if (r.lost > 0)
    pai__log_line(a->host.log, PAI_LOG_WARNING,
                  "secrets of %zu users and storages cannot be decrypted with "
                  "the root's key, and are kept as they are; restore the "
                  "root's former key, and start again",
                  r.lost);
  drop_unknown(a);
  if (find_key(a) < 0)
    return pai__oom(err);
  return drop_expired(a, err);
}

/* --- life ---------------------------------------------------------------- */

int pai__accounts_open(pai_accounts **out, const pai_alloc *alloc,
                       const pai__accounts_host *host, pai_error **err)
{
  static const pai_accounts_options usual = PAI_ACCOUNTS_OPTIONS_INIT;
  pai_accounts *a;
  int rc;

  PAI__CLEAR_OUT(out, err);
  a = pai__zalloc(alloc, sizeof(*a));
  if (a == NULL)
    return pai__oom(err);
  a->alloc = *alloc;
  a->forks = pai__forks();
  a->host = *host;
  a->queue_end = &a->queue;
  a->ready_end = &a->ready;
  pai__map_init(&a->tokens, &a->alloc);
  rc = pai_accounts_configure(a, &usual, err);
  if (rc == PAI_OK)
    rc = pai__quota_open(a, err);
  if (rc == PAI_OK)
    rc = read_all(a, err);
  if (rc == PAI_OK)
    rc = pai__first_read(a, err);
  if (rc < 0)
    pai__accounts_close(a);
  else
    *out = a;
  return rc;
}

static void free_table(pai_accounts *a, pai__account_table *t)
{
  pai__free(&a->alloc, t->at, t->cap * sizeof(*t->at));
}

void pai__accounts_close(pai_accounts *a)
{
  pai_alloc alloc;

  if (a == NULL)
    return;
  alloc = a->alloc;
  for (size_t i = 0; i < PAI__MOST_WORKERS; i++)
    a->host.beside_close(a->slots[i].beside);
  for (size_t i = 0; i < a->accounts.n; i++)
    pai__account_free(a, a->accounts.at[i]);
  for (size_t i = 0; i < a->groups.n; i++)
    pai__account_group_free(a, a->groups.at[i]);
  for (size_t i = 0; i < a->storages.n; i++)
    pai__account_storage_free(a, a->storages.at[i]);
  free_table(a, &a->accounts);
  free_table(a, &a->groups);
  free_table(a, &a->storages);
  pai__map_dispose(&a->tokens);
  pai__guard_free(a);
  pai__account_removed_free(a);
  pai__strfree(&alloc, a->untold);
  sodium_memzero(a->key, sizeof(a->key));
  pai__free(&alloc, a, sizeof(*a));
}

int pai_accounts_configure(pai_accounts *a, const pai_accounts_options *opts,
                           pai_error **err)
{
  pai_accounts_options o;
  int rc;

  PAI__CHECK_OBJECT(a, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_accounts_options, hash_workers);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_accounts_options");
  if (o.token_time < 0 || o.hash_workers > PAI__MOST_WORKERS ||
      (o.hash_kib != 0 && o.hash_kib < 8) || o.hash_kib > 1 << 20 ||
      o.hash_passes > 100 || o.least_password > 64)
    return pai__fail(err, PAI_EINVAL,
                     "pai_accounts_options: a value out of its range");
  a->token_time = o.token_time != 0 ? o.token_time : WEEK;
  a->memory = o.hash_kib != 0 ? (size_t)o.hash_kib * 1024
                              : crypto_pwhash_MEMLIMIT_INTERACTIVE;
  a->passes =
    o.hash_passes != 0 ? o.hash_passes : crypto_pwhash_OPSLIMIT_INTERACTIVE;
  a->workers = o.hash_workers != 0 ? o.hash_workers : 2;
  a->reveals = o.reveal_tokens != 0;
  a->least_password =
    o.least_password != 0 ? o.least_password : PAI__LEAST_PASSWORD;
  return PAI_OK;
}
