/* facade_accounts.c - accounts and virtual clusters, by the names of C */
#include "facade_platform.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

/* What any of them may be told. */
typedef struct wish {
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
} wish;

static const option wishes[] = {
  OPTION(wish, user, OPTION_TEXT),
  OPTION(wish, viewer, OPTION_TEXT),
  OPTION(wish, password, OPTION_TEXT),
  OPTION(wish, group, OPTION_TEXT),
  OPTION(wish, token, OPTION_TEXT),
  OPTION(wish, header, OPTION_TEXT),
  OPTION(wish, path, OPTION_TEXT),
  OPTION(wish, name, OPTION_TEXT),
  OPTION(wish, names, OPTION_TEXT),
  OPTION(wish, vc, OPTION_TEXT),
  OPTION(wish, description, OPTION_TEXT),
  OPTION(wish, external_name, OPTION_TEXT),
  OPTION(wish, from, OPTION_TEXT),
  OPTION(wish, what, OPTION_TEXT),
  OPTION(wish, why, OPTION_TEXT),
  OPTION(wish, heir, OPTION_TEXT),
  OPTION(wish, scopes, OPTION_TEXT),
  OPTION(wish, quota, OPTION_TEXT),
  OPTION(wish, least_password, OPTION_U32),
  OPTION(wish, reveal_tokens, OPTION_INT),
  OPTION(wish, lifetime, OPTION_TIME),
  OPTION(wish, most, OPTION_TEXT),
  OPTION(wish, form, OPTION_INT),
  OPTION(wish, usual, OPTION_INT),
  OPTION(wish, flags, OPTION_INT),
  OPTION(wish, application, OPTION_INT),
  OPTION(wish, in, OPTION_INT),
  OPTION(wish, on, OPTION_INT),
  OPTION(wish, status, OPTION_INT),
  OPTION(wish, capacity, OPTION_U32),
  OPTION(wish, max_capacity, OPTION_U32),
  OPTION(wish, hash_kib, OPTION_U32),
  OPTION(wish, hash_passes, OPTION_U32),
  OPTION(wish, hash_workers, OPTION_U32),
  OPTION(wish, token_time, OPTION_TIME),
  OPTION(wish, since, OPTION_TIME),
  OPTION(wish, until, OPTION_TIME),
  OPTION(wish, before, OPTION_U64),
  OPTION(wish, limit, OPTION_U64),
};

/* One that runs. */
typedef struct act {
  Platform *platform;
  pai_accounts *accounts;
  const wish *w;
  job_text *out; /* a text that is no JSON is made one */
  bool is_text;
  platform_promise promise;
  failure *f;
} act;

static int yes_or_no(act *a, int answer)
{
  const char *text = answer > 0 ? "true" : "false";

  return facade_collect(a->out, text, strlen(text));
}

/* --- what a callback tells ------------------------------------------------------ */

static char *copy(const char *text)
{
  return text != NULL ? strdup(text) : NULL;
}

static void on_done(void *user_data, int status, const char *told, size_t len,
                    const pai_error *err)
{
  act *a = user_data;

  a->promise.kept = true;
  if (status == PAI_OK)
    status = facade_collect(a->out, told, len);
  a->f->code = status;
  if (status == PAI_OK || err == NULL)
    return;
  a->f->made = copy(pai_error_message(err));
  a->f->help = copy(pai_error_help(err));
  a->f->api_code = copy(pai_error_api_code(err));
  a->f->http_status = pai_error_http_status(err);
  a->f->retriable = pai_error_retriable(err) != 0;
  a->f->wait = pai_error_retry_after(err);
}

/* Until on_done() was called, if it will be. */
static int awaited(act *a, int rc)
{
  if (rc < 0)
    return rc;
  platform_await(a->platform, &a->promise);
  return a->f->code;
}

/* --- who somebody is -------------------------------------------------------------- */

static int do_configure(act *a, pai_error **err)
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

static int do_setup(act *a, pai_error **err)
{
  return awaited(a, pai_accounts_setup(a->accounts, a->w->user, a->w->password,
                                       on_done, a, err));
}

static int do_login(act *a, pai_error **err)
{
  return awaited(a, pai_accounts_login(a->accounts, a->w->user, a->w->password,
                                       on_done, a, err));
}

static const char *const why_not[] = { "good",     "none",    "forged",
                                       "expired",  "revoked", "no_group",
                                       "not_basic" };

static int put_identity(act *a, int rc, const pai_identity *id)
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

static int do_verify(act *a, pai_error **err)
{
  const char *token = a->w->token != NULL ? a->w->token : "";
  pai_identity id = PAI_IDENTITY_INIT;

  (void)err;
  return put_identity(
    a, pai_accounts_verify(&id, a->accounts, token, strlen(token)), &id);
}

static int do_authorize(act *a, pai_error **err)
{
  pai_identity id = PAI_IDENTITY_INIT;

  (void)err;
  return put_identity(
    a, pai_accounts_authorize(&id, a->accounts, a->w->header), &id);
}

static int do_new_token(act *a, pai_error **err)
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

static int do_make_token(act *a, pai_error **err)
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

static int do_write_tokens(act *a, pai_error **err)
{
  return pai_accounts_write_tokens(a->accounts, a->w->user, facade_collect,
                                   a->out, err);
}

static int do_write_token(act *a, pai_error **err)
{
  return pai_accounts_write_token(a->accounts, a->w->token, facade_collect,
                                  a->out, err);
}

static int do_revoke(act *a, pai_error **err)
{
  return pai_accounts_revoke(a->accounts, a->w->user, a->w->token, err);
}

/* --- users ---------------------------------------------------------------------------- */

static int do_write_user(act *a, pai_error **err)
{
  return pai_accounts_write_user(a->accounts, a->w->user, a->w->viewer,
                                 facade_collect, a->out, err);
}

static int do_write_users(act *a, pai_error **err)
{
  return pai_accounts_write_users(a->accounts, a->w->viewer, facade_collect,
                                  a->out, err);
}

static int do_put_user(act *a, pai_error **err)
{
  return awaited(a, pai_accounts_put_user(a->accounts, a->w->text, a->w->len,
                                          (unsigned)a->w->flags, on_done, a,
                                          err));
}

static int do_remove_user(act *a, pai_error **err)
{
  return a->w->heir != NULL
           ? pai_accounts_hand_over_user(a->accounts, a->w->user, a->w->heir,
                                         err)
           : pai_accounts_remove_user(a->accounts, a->w->user, err);
}

static int do_owner(act *a, pai_error **err)
{
  const char *owner =
    pai_accounts_owner(a->accounts, a->w->user, a->w->before);

  (void)err;
  a->is_text = owner != NULL;
  if (owner == NULL)
    return facade_collect(a->out, "null", 4);
  return facade_collect(a->out, owner, strlen(owner));
}

static int do_act_as(act *a, pai_error **err)
{
  (void)err;
  return pai_accounts_act_as(a->accounts, a->w->user, a->w->from, 0);
}

/* --- limits ---------------------------------------------------------------------------- */

static int do_write_quota(act *a, pai_error **err)
{
  return pai_accounts_write_quota(a->accounts, a->w->user, facade_collect,
                                  a->out, err);
}

static int do_set_quota(act *a, pai_error **err)
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

static int put_amounts(act *a, const char *const *names,
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

static int do_usage(act *a, pai_error **err)
{
  static const char *const names[] = { "jobs", "tasks" };
  pai_usage u = { .struct_size = sizeof(u) };
  int rc = pai_platform_usage(a->platform->platform, a->w->user, &u);

  (void)err;
  return rc < 0
           ? rc
           : put_amounts(a, names, (const uint64_t[]){ u.jobs, u.tasks }, 2);
}

static int do_logins(act *a, pai_error **err)
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

static int do_set_member(act *a, pai_error **err)
{
  return pai_accounts_set_member(a->accounts, a->w->user, a->w->group,
                                 a->w->in, err);
}

static int do_need_ssh(act *a, pai_error **err)
{
  return pai_accounts_need_ssh(a->accounts, a->w->user, err);
}

static int do_has_user(act *a, pai_error **err)
{
  (void)err;
  return yes_or_no(a, pai_accounts_has_user(a->accounts, a->w->user));
}

static int do_is_admin(act *a, pai_error **err)
{
  (void)err;
  return yes_or_no(a, pai_accounts_is_admin(a->accounts, a->w->user));
}

/* --- groups ------------------------------------------------------------------------------ */

static int do_write_group(act *a, pai_error **err)
{
  return pai_accounts_write_group(a->accounts, a->w->group, facade_collect,
                                  a->out, err);
}

static int do_write_groups(act *a, pai_error **err)
{
  return pai_accounts_write_groups(a->accounts, facade_collect, a->out, err);
}

static int do_write_members(act *a, pai_error **err)
{
  return pai_accounts_write_members(a->accounts, a->w->group, facade_collect,
                                    a->out, err);
}

static int do_put_group(act *a, pai_error **err)
{
  return pai_accounts_put_group(a->accounts, a->w->text, a->w->len,
                                (unsigned)a->w->flags, err);
}

static int do_set_group_value(act *a, pai_error **err)
{
  return pai_accounts_set_group_value(a->accounts, a->w->group, a->w->path,
                                      a->w->text, a->w->len, err);
}

static int do_remove_group(act *a, pai_error **err)
{
  return pai_accounts_remove_group(a->accounts, a->w->group, err);
}

static int do_may_use_vc(act *a, pai_error **err)
{
  (void)err;
  return yes_or_no(a,
                   pai_accounts_may_use_vc(a->accounts, a->w->user, a->w->vc));
}

static int do_add_vc(act *a, pai_error **err)
{
  return pai_accounts_add_vc(a->accounts, a->w->vc, a->w->description,
                             a->w->external_name, err);
}

static int do_remove_vc(act *a, pai_error **err)
{
  return pai_accounts_remove_vc(a->accounts, a->w->vc, err);
}

/* --- storages, and what was changed --------------------------------------------------- */

static int do_write_storages(act *a, pai_error **err)
{
  pai_storage_query q = PAI_STORAGE_QUERY_INIT;

  q.form = a->w->form;
  q.user = a->w->user;
  q.name = a->w->name;
  q.names = a->w->names;
  q.usual = a->w->usual;
  return pai_accounts_write_storages(a->accounts, &q, facade_collect, a->out,
                                     err);
}

static int do_put_storage(act *a, pai_error **err)
{
  return pai_accounts_put_storage(a->accounts, a->w->text, a->w->len, err);
}

static int do_remove_storage(act *a, pai_error **err)
{
  return pai_accounts_remove_storage(a->accounts, a->w->name, err);
}

static int do_may_use_storage(act *a, pai_error **err)
{
  (void)err;
  return yes_or_no(
    a, pai_accounts_may_use_storage(a->accounts, a->w->user, a->w->name));
}

static int do_note(act *a, pai_error **err)
{
  (void)err;
  return pai_accounts_note(a->accounts, a->w->user, a->w->from, a->w->what,
                           a->w->status);
}

static int do_write_audit(act *a, pai_error **err)
{
  pai_audit_query q = PAI_AUDIT_QUERY_INIT;

  q.user = a->w->user;
  q.since = a->w->since;
  q.until = a->w->until;
  q.before = a->w->before;
  q.limit = a->w->limit;
  return pai_accounts_write_audit(a->accounts, &q, facade_collect, a->out,
                                  err);
}

/* --- virtual clusters and nodes --------------------------------------------------------- */

static int do_put_vc(act *a, pai_error **err)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;

  o.capacity = a->w->capacity;
  o.max_capacity = a->w->max_capacity;
  o.description = a->w->description;
  o.external_name = a->w->external_name;
  return pai_platform_put_vc(a->platform->platform, a->w->name, &o, err);
}

static int do_stop_vc(act *a, pai_error **err)
{
  return pai_platform_stop_vc(a->platform->platform, a->w->name, a->w->on,
                              err);
}

static int do_delete_vc(act *a, pai_error **err)
{
  return pai_platform_remove_vc(a->platform->platform, a->w->name, err);
}

static int do_write_vcs(act *a, pai_error **err)
{
  return pai_platform_write_vcs(a->platform->platform, a->w->name,
                                facade_collect, a->out, err);
}

static int do_write_vc_nodes(act *a, pai_error **err)
{
  return pai_platform_write_vc_nodes(a->platform->platform, facade_collect,
                                     a->out, err);
}

static int do_write_skus(act *a, pai_error **err)
{
  return pai_platform_write_skus(a->platform->platform, a->w->name,
                                 facade_collect, a->out, err);
}

static int do_write_nodes(act *a, pai_error **err)
{
  return pai_platform_write_nodes(a->platform->platform, a->w->name,
                                  facade_collect, a->out, err);
}

static int do_drain(act *a, pai_error **err)
{
  return pai_platform_drain(a->platform->platform, a->w->name, a->w->on,
                            a->w->why, err);
}

/* --- by their names --------------------------------------------------------------------- */

enum { TELLS, CHANGES };

static const struct deed {
  const char *name;
  int (*run)(act *a, pai_error **err);
  int effect;
} deeds[] = {
  { "configure", do_configure, TELLS },
  { "setup", do_setup, CHANGES },
  { "login", do_login, CHANGES },
  { "verify", do_verify, TELLS },
  { "authorize", do_authorize, TELLS },
  { "new_token", do_new_token, CHANGES },
  { "make_token", do_make_token, CHANGES },
  { "write_tokens", do_write_tokens, TELLS },
  { "owner", do_owner, TELLS },
  { "act_as", do_act_as, TELLS },
  { "write_quota", do_write_quota, TELLS },
  { "set_quota", do_set_quota, CHANGES },
  { "usage", do_usage, TELLS },
  { "logins", do_logins, TELLS },
  { "write_token", do_write_token, TELLS },
  { "revoke", do_revoke, CHANGES },
  { "write_user", do_write_user, TELLS },
  { "write_users", do_write_users, TELLS },
  { "put_user", do_put_user, CHANGES },
  { "remove_user", do_remove_user, CHANGES },
  { "set_member", do_set_member, CHANGES },
  { "need_ssh", do_need_ssh, CHANGES },
  { "has_user", do_has_user, TELLS },
  { "is_admin", do_is_admin, TELLS },
  { "write_group", do_write_group, TELLS },
  { "write_groups", do_write_groups, TELLS },
  { "write_members", do_write_members, TELLS },
  { "put_group", do_put_group, CHANGES },
  { "set_group_value", do_set_group_value, CHANGES },
  { "remove_group", do_remove_group, CHANGES },
  { "may_use_vc", do_may_use_vc, TELLS },
  { "add_vc", do_add_vc, CHANGES },
  { "remove_vc", do_remove_vc, CHANGES },
  { "write_storages", do_write_storages, TELLS },
  { "put_storage", do_put_storage, CHANGES },
  { "remove_storage", do_remove_storage, CHANGES },
  { "may_use_storage", do_may_use_storage, TELLS },
  { "note", do_note, CHANGES },
  { "write_audit", do_write_audit, TELLS },
  { "platform_put_vc", do_put_vc, CHANGES },
  { "platform_stop_vc", do_stop_vc, CHANGES },
  { "platform_remove_vc", do_delete_vc, CHANGES },
  { "platform_write_vcs", do_write_vcs, TELLS },
  { "platform_write_vc_nodes", do_write_vc_nodes, TELLS },
  { "platform_write_skus", do_write_skus, TELLS },
  { "platform_write_nodes", do_write_nodes, TELLS },
  { "platform_drain", do_drain, CHANGES },
};

static const struct deed *find(const char *kind)
{
  for (size_t i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++)
    if (strcmp(deeds[i].name, kind) == 0)
      return &deeds[i];
  return NULL;
}

static void run(act *a, const struct deed *deed)
{
  a->accounts = pai_platform_accounts(a->platform->platform);
  if (a->accounts == NULL) {
    facade_fail(a->f, PAI_ENOTSUP, "the platform is not durable");
    return;
  }
  a->f->code = deed->run(a, &a->f->err);
  if (a->f->code == PAI_OK && a->out->bytes == NULL)
    a->f->code = facade_collect(a->out, "true", 4);
}

static void run_and_sync(act *a, const struct deed *deed)
{
  if (!platform_enter(a->platform, a->f))
    return;
  run(a, deed);
  if (a->f->code == PAI_OK)
    platform_sync(a->platform, a->f);
  platform_leave(a->platform, a->f);
}

/* `t` as JSON's text. */
static listing quoted(job_text t, failure *f)
{
  json j;

  json_start(&j);
  json_text(&j, NULL, t.bytes);
  free(t.bytes);
  return json_finish(&j, f);
}

listing accounts_do(Platform *p, const char *kind, words fields,
                    const char *text, size_t len, failure *f)
{
  const struct deed *deed = find(kind);
  wish w = { .text = text, .len = len };
  job_text out = { NULL, 0 };
  act a = { .platform = p, .w = &w, .out = &out, .promise.f = f, .f = f };

  if (deed == NULL) {
    facade_fail(f, PAI_EINVAL, "a platform is not asked for that");
    return (listing){ out };
  }
  if (!options_read(&w, wishes, sizeof(wishes) / sizeof(wishes[0]), &fields,
                    f))
    return (listing){ out };
  if (deed->effect == CHANGES) {
    run_and_sync(&a, deed);
  } else if (platform_take(p, f)) {
    run(&a, deed);
    platform_give(p);
  }
  out = facade_finished(out, f);
  return a.is_text && out.bytes != NULL ? quoted(out, f) : (listing){ out };
}
