/* identity.c - calls of accounts_do() about identities, tokens and limits that are
 * more than a function of the library */
#include "facade_accounts_act.h"

#include <stdlib.h>
#include <string.h>

/* --- logins and tokens --------------------------------------------------- */

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

int do_verify(accounts_act *a, pai_error **err)
{
  const char *token = a->w->token != NULL ? a->w->token : "";
  pai_identity id = PAI_IDENTITY_INIT;

  (void)err;
  return put_identity(
    a, pai_accounts_verify(&id, a->accounts, token, strlen(token)), &id);
}

int do_authorize(accounts_act *a, pai_error **err)
{
  pai_identity id = PAI_IDENTITY_INIT;

  (void)err;
  return put_identity(
    a, pai_accounts_authorize(&id, a->accounts, a->w->header), &id);
}

/* Reads scopes separated by commas as bits. Returns false for an unknown
 * one. */
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

int do_make_token(accounts_act *a, pai_error **err)
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

/* --- limits ---------------------------------------------------------------------------- */

int do_set_quota(accounts_act *a, pai_error **err)
{
  const char *name;

  for (int i = 0; a->w->name != NULL && (name = pai_quota_name(i)) != NULL;
       i++)
    if (strcmp(name, a->w->name) == 0)
      return pai_accounts_set_quota(a->accounts, a->w->user, i,
                                    a->w->amount != NULL
                                      ? strtoll(a->w->amount, NULL, 10)
                                      : PAI_QUOTA_USUAL,
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

int do_usage(accounts_act *a, pai_error **err)
{
  static const char *const names[] = { "jobs", "tasks" };
  pai_usage u = { .struct_size = sizeof(u) };
  int rc = pai_platform_usage(a->platform->platform, a->w->user, &u);

  (void)err;
  return rc < 0
           ? rc
           : put_amounts(a, names, (const uint64_t[]){ u.jobs, u.tasks }, 2);
}

int do_logins(accounts_act *a, pai_error **err)
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

int do_owner(accounts_act *a, pai_error **err)
{
  const char *owner = pai_accounts_owner(a->accounts, a->w->user, a->w->job);

  (void)err;
  a->is_text = owner != NULL;
  if (owner == NULL)
    return facade_collect(a->out, "null", 4);
  return facade_collect(a->out, owner, strlen(owner));
}
