/* facade_accounts.c - accounts and virtual clusters, by the names of C */
#include "facade_accounts_act.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

static const option wishes[] = {
  OPTION(accounts_wish, user, OPTION_TEXT),
  OPTION(accounts_wish, viewer, OPTION_TEXT),
  OPTION(accounts_wish, password, OPTION_TEXT),
  OPTION(accounts_wish, group, OPTION_TEXT),
  OPTION(accounts_wish, token, OPTION_TEXT),
  OPTION(accounts_wish, header, OPTION_TEXT),
  OPTION(accounts_wish, path, OPTION_TEXT),
  OPTION(accounts_wish, name, OPTION_TEXT),
  OPTION(accounts_wish, names, OPTION_TEXT),
  OPTION(accounts_wish, vc, OPTION_TEXT),
  OPTION(accounts_wish, description, OPTION_TEXT),
  OPTION(accounts_wish, external_name, OPTION_TEXT),
  OPTION(accounts_wish, from, OPTION_TEXT),
  OPTION(accounts_wish, what, OPTION_TEXT),
  OPTION(accounts_wish, why, OPTION_TEXT),
  OPTION(accounts_wish, heir, OPTION_TEXT),
  OPTION(accounts_wish, scopes, OPTION_TEXT),
  OPTION(accounts_wish, quota, OPTION_TEXT),
  OPTION(accounts_wish, least_password, OPTION_U32),
  OPTION(accounts_wish, reveal_tokens, OPTION_INT),
  OPTION(accounts_wish, lifetime, OPTION_TIME),
  OPTION(accounts_wish, most, OPTION_TEXT),
  OPTION(accounts_wish, form, OPTION_INT),
  OPTION(accounts_wish, usual, OPTION_INT),
  OPTION(accounts_wish, flags, OPTION_INT),
  OPTION(accounts_wish, application, OPTION_INT),
  OPTION(accounts_wish, in, OPTION_INT),
  OPTION(accounts_wish, on, OPTION_INT),
  OPTION(accounts_wish, status, OPTION_INT),
  OPTION(accounts_wish, capacity, OPTION_U32),
  OPTION(accounts_wish, max_capacity, OPTION_U32),
  OPTION(accounts_wish, hash_kib, OPTION_U32),
  OPTION(accounts_wish, hash_passes, OPTION_U32),
  OPTION(accounts_wish, hash_workers, OPTION_U32),
  OPTION(accounts_wish, token_time, OPTION_TIME),
  OPTION(accounts_wish, since, OPTION_TIME),
  OPTION(accounts_wish, until, OPTION_TIME),
  OPTION(accounts_wish, before, OPTION_U64),
  OPTION(accounts_wish, limit, OPTION_U64),
};

int accounts_answer(accounts_act *a, int answer)
{
  const char *text = answer > 0 ? "true" : "false";

  return facade_collect(a->out, text, strlen(text));
}

/* --- what a callback tells ------------------------------------------------------ */

static char *copy(const char *text)
{
  return text != NULL ? strdup(text) : NULL;
}

void accounts_on_done(void *user_data, int status, const char *told,
                      size_t len, const pai_error *err)
{
  accounts_act *a = user_data;

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

int accounts_await(accounts_act *a, int rc)
{
  if (rc < 0)
    return rc;
  platform_await(a->platform, &a->promise);
  return a->f->code;
}

/* --- by their names --------------------------------------------------------------------- */

static const accounts_deed *find(const char *kind)
{
  static const accounts_deed *const subjects[] = {
    accounts_identities, accounts_users, accounts_groups,
    accounts_storages,   accounts_vcs,
  };

  for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
    for (const accounts_deed *d = subjects[i]; d->name != NULL; d++)
      if (strcmp(d->name, kind) == 0)
        return d;
  return NULL;
}

static void run(accounts_act *a, const accounts_deed *deed)
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

static void run_and_sync(accounts_act *a, const accounts_deed *deed)
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
  const accounts_deed *deed = find(kind);
  accounts_wish w = { .text = text, .len = len };
  job_text out = { NULL, 0 };
  accounts_act a = {
    .platform = p, .w = &w, .out = &out, .promise.f = f, .f = f
  };

  if (deed == NULL) {
    facade_fail(f, PAI_EINVAL, "a platform is not asked for that");
    return (listing){ out };
  }
  if (!options_read(&w, wishes, sizeof(wishes) / sizeof(wishes[0]), &fields,
                    f))
    return (listing){ out };
  if (deed->effect == ACCOUNTS_CHANGES) {
    run_and_sync(&a, deed);
  } else if (platform_take(p, f)) {
    run(&a, deed);
    platform_give(p);
  }
  out = facade_finished(out, f);
  return a.is_text && out.bytes != NULL ? quoted(out, f) : (listing){ out };
}
