/* facade_identity.c - who somebody is, tokens, and what limits there are */
#include "facade_accounts_act.h"

#include <stdlib.h>
#include <string.h>

/* --- who somebody is -------------------------------------------------------------- */

static int do_configure(accounts_act *a, pai_error **err)
{
  pai_accounts_options o = PAI_ACCOUNTS_OPTIONS_INIT;

  o.token_time = a->w->token_time;
  o.hash_kib = a->w->hash_kib;
  o.hash_passes = a->w->hash_passes;
  o.hash_workers = a->w->hash_workers;
  o.least_password = a->w->least_password;
  o.reveal_tokens = a->w->reveal_tokens;
  return pai_accounts_configure(a->accounts, &o, err);
}

static int do_setup(accounts_act *a, pai_error **err)
{
  return accounts_await(a, pai_accounts_setup(a->accounts, a->w->user,
                                              a->w->password, accounts_on_done,
                                              a, err));
}

static int do_login(accounts_act *a, pai_error **err)
{
  return accounts_await(a, pai_accounts_login(a->accounts, a->w->user,
                                              a->w->password, accounts_on_done,
                                              a, err));
}

static const char *const why_not[] = { "good",     "none",    "forged",
                                       "expired",  "revoked", "no_group",
                                       "not_basic" };

static int put_identity(accounts_act *a, int rc, const pai_identity *id)
{
  json j;

  if (rc < 0 && rc != PAI_EPERM)
    return rc;
  json_start(&j);
  json_begin(&j, NULL, '{');
  json_text(&j, "user", rc == PAI_OK ? id->user : NULL);
  json_bool(&j, "admin", rc == PAI_OK && id->admin != 0);
  json_bool(&j, "application", rc == PAI_OK && id->application != 0);
  json_amount(&j, "issued", rc == PAI_OK ? (uint64_t)id->issued : 0);
  json_amount(&j, "expires", rc == PAI_OK ? (uint64_t)id->expires : 0);
  json_text(&j, "why", why_not[id->why]);
  json_end(&j, '}');
  *a->out = json_finish(&j, a->f).json;
  return a->f->code;
}

static int do_verify(accounts_act *a, pai_error **err)
{
  const char *token = a->w->token != NULL ? a->w->token : "";
  pai_identity id = PAI_IDENTITY_INIT;

  (void)err;
  return put_identity(
    a, pai_accounts_verify(&id, a->accounts, token, strlen(token)), &id);
}

static int do_authorize(accounts_act *a, pai_error **err)
{
  pai_identity id = PAI_IDENTITY_INIT;

  (void)err;
  return put_identity(
    a, pai_accounts_authorize(&id, a->accounts, a->w->header), &id);
}

static int do_new_token(accounts_act *a, pai_error **err)
{
  a->is_text = true;
  return pai_accounts_new_token(a->accounts, a->w->user, a->w->application,
                                facade_collect, a->out, err);
}

/* A list with commas, as bits; false: one of them is none. */
static bool read_scopes(unsigned *out, const char *list)
{
  char name[16];

  *out = 0;
  for (; list != NULL && *list != '\0'; list += *list == ',') {
    size_t len = strcspn(list, ",");
    unsigned scope = 0;

    if (len < sizeof(name)) {
      memcpy(name, list, len);
      name[len] = '\0';
      scope = pai_scope_of(name);
    }
    if (scope == 0)
      return false;
    *out |= scope;
    list += len;
  }
  return true;
}

static int do_make_token(accounts_act *a, pai_error **err)
{
  pai_token_request request = PAI_TOKEN_REQUEST_INIT;

  request.name = a->w->name;
  request.lifetime = a->w->lifetime;
  if (!read_scopes(&request.scopes, a->w->scopes)) {
    facade_fail(a->f, PAI_EINVAL, "scopes are read, submit and admin");
    return PAI_EINVAL;
  }
  return pai_accounts_make_token(a->accounts, a->w->user, &request,
                                 facade_collect, a->out, err);
}

static int do_write_tokens(accounts_act *a, pai_error **err)
{
  return pai_accounts_write_tokens(a->accounts, a->w->user, facade_collect,
                                   a->out, err);
}

static int do_write_token(accounts_act *a, pai_error **err)
{
  return pai_accounts_write_token(a->accounts, a->w->token, facade_collect,
                                  a->out, err);
}

static int do_revoke(accounts_act *a, pai_error **err)
{
  return pai_accounts_revoke(a->accounts, a->w->user, a->w->token, err);
}

/* --- limits ---------------------------------------------------------------------------- */

static int do_write_quota(accounts_act *a, pai_error **err)
{
  return pai_accounts_write_quota(a->accounts, a->w->user, facade_collect,
                                  a->out, err);
}

static int do_set_quota(accounts_act *a, pai_error **err)
{
  const char *name;

  for (int i = 0; a->w->quota != NULL && (name = pai_quota_name(i)) != NULL;
       i++)
    if (strcmp(name, a->w->quota) == 0)
      return pai_accounts_set_quota(
        a->accounts, a->w->user, i,
        a->w->most != NULL ? strtoll(a->w->most, NULL, 10) : PAI_QUOTA_USUAL,
        err);
  facade_fail(a->f, PAI_EINVAL, "there is no such limit");
  return PAI_EINVAL;
}

static int put_amounts(accounts_act *a, const char *const *names,
                       const uint64_t *amounts, size_t n)
{
  json j;

  json_start(&j);
  json_begin(&j, NULL, '{');
  for (size_t i = 0; i < n; i++)
    json_number(&j, names[i], (int64_t)amounts[i]);
  json_end(&j, '}');
  *a->out = json_finish(&j, a->f).json;
  return a->f->code;
}

static int do_usage(accounts_act *a, pai_error **err)
{
  static const char *const names[] = { "jobs", "tasks" };
  pai_usage u = { .struct_size = sizeof(u) };
  int rc = pai_platform_usage(a->platform->platform, a->w->user, &u);

  (void)err;
  return rc < 0
           ? rc
           : put_amounts(a, names, (const uint64_t[]){ u.jobs, u.tasks }, 2);
}

static int do_logins(accounts_act *a, pai_error **err)
{
  static const char *const names[] = { "good", "wrong", "refused", "lockouts",
                                       "waiting" };
  pai_login_counts c = { .struct_size = sizeof(c) };
  int rc = pai_accounts_count_logins(a->accounts, &c);

  (void)err;
  return rc < 0 ? rc
                : put_amounts(a, names,
                              (const uint64_t[]){ c.good, c.wrong, c.refused,
                                                  c.lockouts, c.waiting },
                              5);
}

/* --- by their names --------------------------------------------------------------------- */

const accounts_deed accounts_identities[] = {
  { "configure", do_configure, ACCOUNTS_TELLS },
  { "setup", do_setup, ACCOUNTS_CHANGES },
  { "login", do_login, ACCOUNTS_CHANGES },
  { "verify", do_verify, ACCOUNTS_TELLS },
  { "authorize", do_authorize, ACCOUNTS_TELLS },
  { "new_token", do_new_token, ACCOUNTS_CHANGES },
  { "make_token", do_make_token, ACCOUNTS_CHANGES },
  { "write_tokens", do_write_tokens, ACCOUNTS_TELLS },
  { "write_quota", do_write_quota, ACCOUNTS_TELLS },
  { "set_quota", do_set_quota, ACCOUNTS_CHANGES },
  { "usage", do_usage, ACCOUNTS_TELLS },
  { "logins", do_logins, ACCOUNTS_TELLS },
  { "write_token", do_write_token, ACCOUNTS_TELLS },
  { "revoke", do_revoke, ACCOUNTS_CHANGES },
  { NULL, NULL, 0 },
};
