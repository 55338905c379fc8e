/*
 * quota.c - limits of what a user may have at a time
 *
 * A user without a limit of their own has the common one.  This room only
 * keeps the numbers; the server enforces them.
 */
#include "account/inside.h"

#define QUOTA "quota"

/* Names and initial values of the limits. */
static const struct {
  const char *name;
  int64_t usual;
} kinds[PAI_QUOTAS] = {
  [PAI_QUOTA_JOBS] = { "jobs", 1000 },
  [PAI_QUOTA_TASKS] = { "tasks", 10000 },
  [PAI_QUOTA_STREAMS] = { "streams", 64 },
  [PAI_QUOTA_UPLOADS] = { "uploads", INT64_C(20) << 30 },
  [PAI_QUOTA_PROCESSES] = { "processes", 16384 },
};

const char *pai_quota_name(int kind)
{
  return kind >= 0 && kind < PAI_QUOTAS ? kinds[kind].name : NULL;
}

/* --- as JSON ------------------------------------------------------------- */

int pai__quota_read(const pai_alloc *alloc, int64_t quota[PAI_QUOTAS],
                    unsigned *set, const char *json)
{
  pai__json_options o = { .alloc = alloc };
  pai__tree *t;
  int rc;

  *set = 0;
  if (json == NULL)
    return PAI_OK;
  rc = pai__json_parse(&t, json, strlen(json), &o, NULL);
  if (rc < 0)
    return rc == PAI_ENOMEM ? rc : PAI_OK;
  for (int i = 0; i < PAI_QUOTAS; i++) {
    pai__node n = pai__tree_get(t, 0, kinds[i].name);
    if (n == PAI__NO_NODE || pai__tree_type(t, n) != PAI__INT)
      continue;
    quota[i] = pai__tree_int(t, n);
    *set |= 1u << i;
  }
  pai__tree_free(t);
  return PAI_OK;
}

char *pai__quota_json(const pai_alloc *alloc, const int64_t quota[PAI_QUOTAS],
                      unsigned set)
{
  pai__json_writer w;
  pai__buf b;
  char *text = NULL;

  pai__buf_init(&b, alloc);
  pai__json_writer_init(&w, &b, false);
  pai__json_begin_object(&w);
  for (int i = 0; i < PAI_QUOTAS; i++)
    if ((set >> i & 1) != 0) {
      pai__json_member(&w, kinds[i].name);
      pai__json_int(&w, quota[i]);
    }
  pai__json_end_object(&w);
  if (pai__json_finish(&w) == PAI_OK)
    text = pai__buf_take(&b);
  pai__buf_dispose(&b);
  return text;
}

/* --- common limits ------------------------------------------------------- */

int pai__quota_open(pai_accounts *a, pai_error **err)
{
  char *json = NULL;
  unsigned set;
  int rc;

  for (int i = 0; i < PAI_QUOTAS; i++)
    a->quota[i] = kinds[i].usual;
  rc = pai__store_meta(a->host.store, &json, QUOTA, err);
  if (rc == PAI_OK && pai__quota_read(&a->alloc, a->quota, &set, json) < 0)
    rc = pai__oom(err);
  pai__strfree(&a->alloc, json);
  return rc;
}

static int set_usual(pai_accounts *a, int kind, int64_t most, pai_error **err)
{
  int64_t quota[PAI_QUOTAS];
  unsigned set = 0;
  char *json;
  int rc = PAI_OK;

  memcpy(quota, a->quota, sizeof(quota));
  quota[kind] = most == PAI_QUOTA_USUAL ? kinds[kind].usual : most;
  for (int i = 0; i < PAI_QUOTAS; i++)
    set |= quota[i] != kinds[i].usual ? 1u << i : 0;
  json = pai__quota_json(&a->alloc, quota, set);
  if (json == NULL ||
      pai__batch_put_meta(a->host.batch(a->host.ctx), QUOTA, json) < 0)
    rc = pai__oom(err);
  pai__strfree(&a->alloc, json);
  if (rc < 0)
    return rc;
  memcpy(a->quota, quota, sizeof(quota));
  a->host.changed(a->host.ctx, true, false);
  return PAI_OK;
}

/* --- the calls ----------------------------------------------------------- */

static int set_own(pai_accounts *a, const char *name, int kind, int64_t most,
                   pai_error **err)
{
  const pai__account *account = pai__find_account(a, name);
  pai__account_user *user;
  pai__account_update e;

  if (account == NULL)
    return pai__no_user(err, 404, name);
  user = pai__user_copy(a, account->user);
  if (user == NULL)
    return pai__oom(err);
  user->quota[kind] = most == PAI_QUOTA_USUAL ? 0 : most;
  if (most == PAI_QUOTA_USUAL)
    user->quota_set &= ~(1u << kind);
  else
    user->quota_set |= 1u << kind;
  pai__account_update_begin(&e, a);
  return pai__account_update_end(&e, pai__account_update_user(&e, user, err),
                                 err);
}

int pai_accounts_set_quota(pai_accounts *a, const char *user, int kind,
                           int64_t most, pai_error **err)
{
  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(kind >= 0 && kind < PAI_QUOTAS && most >= PAI_QUOTA_USUAL,
                     err);
  return user != NULL ? set_own(a, user, kind, most, err)
                      : set_usual(a, kind, most, err);
}

int64_t pai_accounts_quota(const pai_accounts *a, const char *user, int kind)
{
  const pai__account *account;

  if (a == NULL || kind < 0 || kind >= PAI_QUOTAS)
    return PAI_QUOTA_NONE;
  account = user != NULL ? pai__find_account(a, user) : NULL;
  return account != NULL && (account->user->quota_set >> kind & 1) != 0
           ? account->user->quota[kind]
           : a->quota[kind];
}

int pai_accounts_write_quota(pai_accounts *a, const char *user,
                             pai_write_cb write, void *user_data,
                             pai_error **err)
{
  pai__wire o;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(write != NULL, err);
  if (user != NULL && pai__find_account(a, user) == NULL)
    return pai__no_user(err, 404, user);
  pai__wire_begin(&o, &a->alloc, write, user_data);
  pai__json_begin_object(&o.w);
  for (int i = 0; i < PAI_QUOTAS; i++) {
    pai__json_member(&o.w, kinds[i].name);
    pai__json_int(&o.w, pai_accounts_quota(a, user, i));
  }
  pai__json_end_object(&o.w);
  return pai__wire_end(&o, PAI_OK, err);
}
