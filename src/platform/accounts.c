/* accounts.c - a platform as the host of its accounts and marketplace */
#include "platform/accounts.h"

#include "platform/apart.h"

#include <openpai/records.h>
#include <openpai/vc.h>

static pai_time on_now(void *ctx)
{
  (void)ctx;
  return pai__loop_wall_time();
}

static pai__batch *on_batch(void *ctx)
{
  return ((pai_platform *)ctx)->batch;
}

static void on_changed(void *ctx, bool urgent, bool secret)
{
  pai_platform *p = ctx;

  p->untidy |= secret;
  pai__apart_tell(p);
  if (urgent)
    pai__platform_hurry(p);
  else
    pai__loop_step_ask(p->kick);
}

static void on_soon(void *ctx)
{
  pai__loop_step_ask(((pai_platform *)ctx)->kick);
}

static int on_sync(void *ctx, pai__safe_cb cb, void *user_data)
{
  return pai_platform_sync(ctx, cb, user_data);
}

static int beside_new(void **out, void *ctx, pai__beside_cb run,
                      pai__beside_cb done, void *user_data)
{
  pai_platform *p = ctx;
  pai__work *work;
  int rc = pai__work_new(&work, &p->alloc, p->loop, run, done, user_data);

  *out = work;
  return rc;
}

static void beside_start(void *beside)
{
  pai__work_start(beside);
}

static void beside_close(void *beside)
{
  pai__work_close(beside);
}

static int on_vcs(void *ctx, pai__name_cb cb, void *user_data)
{
  const char *name;
  int rc = PAI_OK;

  for (size_t i = 0;
       rc == PAI_OK && (name = pai_platform_vc_name(ctx, i)) != NULL; i++)
    rc = cb(user_data, name);
  return rc;
}

static uint64_t on_last_job(void *ctx)
{
  return ((const pai_platform *)ctx)->last_id;
}

static bool is_over(const pai__pjob *j)
{
  return pai__job_public_state(&j->job) >= PAI_STATE_SUCCEEDED;
}

/* Stops jobs without an owner: only administrators could stop them. */
static void on_orphaned(void *ctx)
{
  pai_platform *p = ctx;
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;) {
    const pai__pjob *j = e->value;

    if (!is_over(j) && pai_accounts_owner(p->accounts, j->user, j->id) == NULL)
      (void)pai_platform_stop(p, j->id);
  }
}

int pai_platform_usage(const pai_platform *p, const char *user, pai_usage *out)
{
  pai_usage sum = { .struct_size = sizeof(sum) };
  const pai__map_entry *e;

  PAI__CHECK_ARG(p != NULL && user != NULL && out != NULL);
  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;) {
    const pai__pjob *j = e->value;
    const char *owner = pai_accounts_owner(p->accounts, j->user, j->id);

    if (owner == NULL || strcmp(owner, user) != 0 || is_over(j))
      continue;
    sum.jobs++;
    sum.tasks += j->job.ntasks;
  }
  return PAI__FILL_VIEW(out, sum, pai_usage, tasks);
}

/* No limit for the only user of a platform. */
uint64_t pai__platform_processes(const pai__pjob *j)
{
  const pai_platform *p = j->platform;
  const char *owner = pai_accounts_owner(p->accounts, j->user, j->id);
  int64_t most = pai_accounts_quota(p->accounts, owner, PAI_QUOTA_PROCESSES);

  return owner != NULL && most > 0 &&
             (p->system || pai_accounts_has_user(p->accounts, owner))
           ? (uint64_t)most
           : 0;
}

void pai__platform_owner(pai__buf *out, const pai__pjob *j)
{
  const pai_platform *p = j->platform;
  const char *owner = pai_accounts_owner(p->accounts, j->user, j->id);

  pai__buf_clear(out);
  pai__buf_printf(out, "%s~%s", p->root != NULL ? p->root : "",
                  owner != NULL ? owner : j->user);
}

int pai__platform_open_accounts(pai_platform *p, pai_error **err)
{
  pai__accounts_host host = { .ctx = p,
                              .store = p->store,
                              .log = &p->log,
                              .now = on_now,
                              .batch = on_batch,
                              .changed = on_changed,
                              .soon = on_soon,
                              .sync = on_sync,
                              .beside_new = beside_new,
                              .beside_start = beside_start,
                              .beside_close = beside_close,
                              .vcs = on_vcs,
                              .last_job = on_last_job,
                              .orphaned = on_orphaned };

  int rc = pai__accounts_open(&p->accounts, &p->alloc, &host, err);

  return rc == PAI_OK
           ? pai__market_open(&p->market, &p->alloc, &host, p->accounts, err)
           : rc;
}

pai_market *pai_platform_market(pai_platform *platform)
{
  return platform != NULL ? platform->market : NULL;
}

pai_accounts *pai_platform_accounts(pai_platform *platform)
{
  return platform != NULL ? platform->accounts : NULL;
}
