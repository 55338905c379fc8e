/* fake_accounts.c - accounts that do what a test says */
#include "fake.h"

#include "base/base.h"

#include <stdio.h>

static int fails(const pai_accounts *a, pai_error **err)
{
  if (err != NULL)
    *err = NULL;
  if (a->fail >= 0)
    return PAI_OK;
  (void)pai__fail(err, a->fail, "as the test wants");
  if (a->code != NULL)
    pai__error_api(err, a->status, a->code);
  pai__error_wait(err, a->wait);
  return a->fail;
}

static void did(pai_accounts *a, const char *fmt, ...) PAI__PRINTF(2, 3);

static void did(pai_accounts *a, const char *fmt, ...)
{
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(a->did, sizeof(a->did), fmt, ap);
  va_end(ap);
}

static int say(pai_accounts *a, pai_write_cb write, void *user_data,
               pai_error **err, const char *text)
{
  int rc = fails(a, err);

  return rc < 0 ? rc : fake_write(write, user_data, text);
}

static int wait_for(pai_accounts *a, pai_account_cb cb, void *user_data,
                    const char *json)
{
  a->waiting[a->nwaiting].cb = cb;
  a->waiting[a->nwaiting].user_data = user_data;
  (void)snprintf(a->waiting[a->nwaiting++].json, sizeof(a->waiting[0].json),
                 "%s", json);
  return PAI_OK;
}

void fake_accounts_done(pai_platform *p)
{
  pai_accounts *a = &p->accounts;
  size_t n = a->nwaiting;

  a->nwaiting = 0;
  for (size_t i = 0; i < n; i++) {
    pai_error *err = NULL;
    int rc = fails(a, &err);

    a->waiting[i].cb(a->waiting[i].user_data, rc, a->waiting[i].json,
                     strlen(a->waiting[i].json), err);
    pai_error_free(err);
  }
}

pai_accounts *pai_platform_accounts(pai_platform *p)
{
  return &p->accounts;
}

/* --- who somebody is ---------------------------------------------------------- */

static int is_user(const char *name)
{
  return strcmp(name, "alice") == 0 || strcmp(name, "bob") == 0 ||
         strcmp(name, "admin") == 0;
}

int pai_accounts_has_user(const pai_accounts *a, const char *user)
{
  (void)a;
  return is_user(user);
}

int pai_accounts_is_admin(const pai_accounts *a, const char *user)
{
  (void)a;
  return strcmp(user, "admin") == 0;
}

static int know(pai_identity *id, const char *token)
{
  static const struct {
    const char *token, *user;
    int admin, application;
    unsigned scopes;
  } rows[] = {
    { "alice", "alice", 0, 0, PAI_SCOPE_ALL },
    { "bob", "bob", 0, 0, PAI_SCOPE_ALL },
    { "admin", "admin", 1, 0, PAI_SCOPE_ALL },
    { "root", "root", 0, 0, PAI_SCOPE_ALL },
    { "nobody", "nobody", 0, 0, PAI_SCOPE_ALL },
    { "alice.app", "alice", 0, 1, PAI_SCOPE_ALL },
    { "alice.read", "alice", 0, 1, PAI_SCOPE_READ },
    { "alice.submit", "alice", 0, 1, PAI_SCOPE_SUBMIT },
    { "admin.app", "admin", 1, 1, PAI_SCOPE_ALL },
    { "admin.job", "admin", 1, 1, PAI_SCOPE_READ | PAI_SCOPE_SUBMIT },
  };

  id->why = PAI_TOKEN_FORGED;
  for (size_t i = 0; i < PAI__LEN(rows); i++)
    if (strcmp(rows[i].token, token) == 0) {
      id->user = rows[i].user;
      id->admin = rows[i].admin;
      id->scopes = rows[i].scopes;
      id->application = rows[i].application;
      id->issued = 5000000;
      id->expires = rows[i].application ? 0 : 9000000;
      id->why = PAI_TOKEN_GOOD;
      return PAI_OK;
    }
  return PAI_EPERM;
}

int pai_accounts_authorize(pai_identity *id, pai_accounts *a,
                           const char *header)
{
  (void)a;
  if (header != NULL && strncmp(header, "Bearer ", 7) == 0)
    return know(id, header + 7);
  if (header != NULL && strcmp(header, "Basic YWxpY2U6YWxpY2UuYXBw") == 0)
    return know(id, "alice.app"); /* "alice:alice.app" */
  id->why = PAI_TOKEN_NOT_BASIC;
  return PAI_EPERM;
}

int pai_accounts_ask_as(pai_accounts *a, const pai_asker *asker)
{
  (void)snprintf(a->asker, sizeof(a->asker), "%s", asker->who);
  a->is_gone = asker->is_gone;
  return PAI_OK;
}

int pai_accounts_login(pai_accounts *a, const char *user, const char *password,
                       pai_account_cb cb, void *user_data, pai_error **err)
{
  char json[128];

  if (err != NULL)
    *err = NULL;
  did(a, "login %s %s", user, password);
  (void)snprintf(json, sizeof(json),
                 "{\"user\":\"%s\",\"token\":\"%s\",\"admin\":false}", user,
                 user);
  return wait_for(a, cb, user_data, json);
}

/* --- tokens ------------------------------------------------------------------- */

int pai_accounts_new_token(pai_accounts *a, const char *user, int application,
                           pai_write_cb write, void *user_data,
                           pai_error **err)
{
  did(a, "new token %s %d", user, application);
  return say(a, write, user_data, err, "new");
}

unsigned pai_scope_of(const char *name)
{
  return strcmp(name, "read") == 0     ? PAI_SCOPE_READ
         : strcmp(name, "submit") == 0 ? PAI_SCOPE_SUBMIT
         : strcmp(name, "admin") == 0  ? PAI_SCOPE_ADMIN
                                       : 0;
}

int pai_accounts_make_token(pai_accounts *a, const char *user,
                            const pai_token_request *request,
                            pai_write_cb write, void *user_data,
                            pai_error **err)
{
  did(a, "new token %s %s %u %lld", user,
      request->name != NULL ? request->name : "-", request->scopes,
      (long long)request->lifetime);
  return say(a, write, user_data, err,
             "{\"token\":\"new\",\"id\":\"1\",\"name\":null,"
             "\"application\":true,\"scopes\":[],\"expires\":null}");
}

int pai_accounts_write_tokens(pai_accounts *a, const char *user,
                              pai_write_cb write, void *user_data,
                              pai_error **err)
{
  char text[64];

  (void)snprintf(text, sizeof(text), "{\"tokens\":[\"%s\"],\"details\":[]}",
                 user);
  return say(a, write, user_data, err, text);
}

int pai_accounts_revoke(pai_accounts *a, const char *user, const char *token,
                        pai_error **err)
{
  did(a, "revoke %s %s", user != NULL ? user : "-", token);
  return fails(a, err);
}

/* --- users --------------------------------------------------------------------- */

int pai_accounts_write_user(pai_accounts *a, const char *user,
                            const char *viewer, pai_write_cb write,
                            void *user_data, pai_error **err)
{
  char text[128];

  if (!is_user(user)) {
    (void)pai__fail(err, PAI_ENOTFOUND, "User %s is not found.", user);
    pai__error_api(err, 400, "NoUserError");
    return PAI_ENOTFOUND;
  }
  (void)snprintf(text, sizeof(text), "{\"username\":\"%s\",\"viewer\":\"%s\"}",
                 user, viewer);
  return say(a, write, user_data, err, text);
}

int pai_accounts_write_users(pai_accounts *a, const char *viewer,
                             pai_write_cb write, void *user_data,
                             pai_error **err)
{
  char text[128];

  (void)snprintf(text, sizeof(text), "[{\"viewer\":\"%s\"}]", viewer);
  return say(a, write, user_data, err, text);
}

int pai_accounts_put_user(pai_accounts *a, const char *json, size_t len,
                          unsigned flags, pai_account_cb cb, void *user_data,
                          pai_error **err)
{
  if (err != NULL)
    *err = NULL;
  did(a, "put user %u %.*s", flags, (int)len, json);
  return wait_for(a, cb, user_data, "{}");
}

int pai_accounts_remove_user(pai_accounts *a, const char *user,
                             pai_error **err)
{
  did(a, "remove user %s", user);
  return fails(a, err);
}

int pai_accounts_hand_over_user(pai_accounts *a, const char *user,
                                const char *heir, pai_error **err)
{
  did(a, "hand over %s %s", user, heir);
  return fails(a, err);
}

const char *pai_accounts_owner(const pai_accounts *a, const char *user,
                               uint64_t job)
{
  return a != NULL && a->gone && strcmp(user, "alice") == 0 &&
             job <= a->gone_job
           ? a->heir
           : user;
}

const char *pai_quota_name(int kind)
{
  static const char *const names[] = { "jobs", "tasks", "streams", "uploads",
                                       "processes" };

  return kind < PAI_QUOTAS ? names[kind] : NULL;
}

int64_t pai_accounts_quota(const pai_accounts *a, const char *user, int kind)
{
  (void)user;
  return a->quota[kind] != 0 ? a->quota[kind] : PAI_QUOTA_NONE;
}

int pai_accounts_set_quota(pai_accounts *a, const char *user, int kind,
                           int64_t most, pai_error **err)
{
  did(a, "quota %s %d %lld", user != NULL ? user : "-", kind, (long long)most);
  return fails(a, err);
}

int pai_accounts_write_quota(pai_accounts *a, const char *user,
                             pai_write_cb write, void *user_data,
                             pai_error **err)
{
  (void)user;
  return say(a, write, user_data, err,
             "{\"jobs\":1,\"tasks\":2,\"streams\":3,\"uploads\":4,"
             "\"processes\":-1}");
}

int pai_platform_usage(const pai_platform *p, const char *user, pai_usage *out)
{
  (void)p;
  (void)user;
  out->jobs = 2;
  out->tasks = 5;
  return PAI_OK;
}

int pai_accounts_act_as(pai_accounts *a, const char *user, const char *from,
                        unsigned flags)
{
  a->owner = (flags & PAI_ACT_OWNER) != 0;
  if (user != NULL)
    (void)snprintf(a->actor, sizeof(a->actor), "%s|%s", user,
                   from != NULL ? from : "");
  return PAI_OK;
}

int pai_accounts_count_logins(const pai_accounts *a, pai_login_counts *c)
{
  (void)a;
  c->good = 1;
  c->wrong = 2;
  c->refused = 3;
  c->lockouts = 4;
  c->waiting = 5;
  return PAI_OK;
}

int pai_accounts_set_member(pai_accounts *a, const char *user,
                            const char *group, int in, pai_error **err)
{
  did(a, "member %s %s %d", user, group, in);
  return fails(a, err);
}

int pai_accounts_need_ssh(pai_accounts *a, const char *user, pai_error **err)
{
  (void)snprintf(a->keys, sizeof(a->keys), "%s", user);
  return fails(a, err);
}

/* --- groups -------------------------------------------------------------------- */

int pai_accounts_write_group(pai_accounts *a, const char *group,
                             pai_write_cb write, void *user_data,
                             pai_error **err)
{
  char text[64];

  (void)snprintf(text, sizeof(text), "{\"groupname\":\"%s\"}", group);
  return say(a, write, user_data, err, text);
}

int pai_accounts_write_groups(pai_accounts *a, pai_write_cb write,
                              void *user_data, pai_error **err)
{
  return say(a, write, user_data, err, "[{\"groupname\":\"default\"}]");
}

int pai_accounts_write_members(pai_accounts *a, const char *group,
                               pai_write_cb write, void *user_data,
                               pai_error **err)
{
  char text[64];

  (void)snprintf(text, sizeof(text), "[{\"username\":\"in %s\"}]", group);
  return say(a, write, user_data, err, text);
}

int pai_accounts_put_group(pai_accounts *a, const char *json, size_t len,
                           unsigned flags, pai_error **err)
{
  did(a, "put group %u %.*s", flags, (int)len, json);
  return fails(a, err);
}

int pai_accounts_set_group_value(pai_accounts *a, const char *group,
                                 const char *path, const char *json,
                                 size_t len, pai_error **err)
{
  did(a, "set %s %s %.*s", group, path, (int)len, json);
  return fails(a, err);
}

int pai_accounts_remove_group(pai_accounts *a, const char *group,
                              pai_error **err)
{
  did(a, "remove group %s", group);
  return fails(a, err);
}

int pai_accounts_add_vc(pai_accounts *a, const char *vc,
                        const char *description, const char *external_name,
                        pai_error **err)
{
  (void)description;
  (void)external_name;
  did(a, "add vc %s", vc);
  return fails(a, err);
}

int pai_accounts_may_use_vc(const pai_accounts *a, const char *user,
                            const char *vc)
{
  (void)a;
  return strcmp(user, "admin") == 0 || strcmp(vc, "default") == 0;
}

/* --- storages ------------------------------------------------------------------ */

int pai_accounts_write_storages(pai_accounts *a, const pai_storage_query *q,
                                pai_write_cb write, void *user_data,
                                pai_error **err)
{
  char text[128];

  (void)snprintf(text, sizeof(text), "[\"%d %s %s %s %d\"]", q->form,
                 q->user != NULL ? q->user : "-",
                 q->name != NULL ? q->name : "-",
                 q->names != NULL ? q->names : "-", q->usual);
  return say(a, write, user_data, err, text);
}

int pai_accounts_put_storage(pai_accounts *a, const char *json, size_t len,
                             pai_error **err)
{
  did(a, "put storage %.*s", (int)len, json);
  return fails(a, err);
}

int pai_accounts_remove_storage(pai_accounts *a, const char *name,
                                pai_error **err)
{
  did(a, "remove storage %s", name);
  return fails(a, err);
}

/* --- audit --------------------------------------------------------------------- */

int pai_accounts_note(pai_accounts *a, const char *user, const char *from,
                      const char *what, int status)
{
  a->notes++;
  (void)snprintf(a->noted, sizeof(a->noted), "%s|%s|%s|%d", user,
                 from != NULL ? from : "", what, status);
  return PAI_OK;
}

int pai_accounts_write_audit(pai_accounts *a, const pai_audit_query *q,
                             pai_write_cb write, void *user_data,
                             pai_error **err)
{
  char text[128];

  (void)snprintf(text, sizeof(text), "[\"%s %lld %lld %llu %llu\"]",
                 q->user != NULL ? q->user : "", (long long)q->since,
                 (long long)q->until, (unsigned long long)q->before,
                 (unsigned long long)q->limit);
  return say(a, write, user_data, err, text);
}
