/* accounts.c - accounts_do(): calls account functions by name */
#include "facade_accounts_act.h"

#include <stdlib.h>
#include <string.h>

int accounts_answer(accounts_act *a, int answer)
{
  const char *text = answer > 0 ? "true" : "false";

  return facade_collect(a->out, text, strlen(text));
}

/* --- asynchronous calls -------------------------------------------------- */

void accounts_on_done(void *user_data, int status, const char *told,
                      size_t len, const pai_error *err)
{
  accounts_act *a = user_data;

  a->promise.kept = true;
  if (status == PAI_OK)
    status = facade_collect(a->out, told, len);
  if (status < 0)
    facade_keep(a->f, status, err);
}

int accounts_await(accounts_act *a, int rc)
{
  if (rc < 0)
    return rc;
  platform_await(a->platform, &a->promise);
  return a->f->code;
}

/* --- functions by name --------------------------------------------------- */

static const accounts_deed *find(const char *kind)
{
  for (const accounts_deed *d = accounts_deeds; d->name != NULL; d++)
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

/* Returns a text as a JSON string, and frees `t`. */
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
  if (!options_read(&w, accounts_options, &fields, f))
    return (listing){ out };
  if (deed->changes) {
    run_and_sync(&a, deed);
  } else if (platform_take(p, f)) {
    run(&a, deed);
    platform_give(p);
  }
  out = facade_finished(out, f);
  return a.is_text && out.bytes != NULL ? quoted(out, f) : (listing){ out };
}

listing facade_account_calls(failure *f)
{
  json j;

  json_start(&j);
  json_begin(&j, NULL, '{');
  for (const accounts_deed *d = accounts_deeds; d->name != NULL; d++)
    json_text(&j, d->name, d->arguments);
  json_end(&j, '}');
  return json_finish(&j, f);
}
