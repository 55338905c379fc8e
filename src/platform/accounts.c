/* accounts.c - lends accounts the clock, the batch and the threads */
#include "platform/accounts.h"

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
  if (urgent)
    pai__platform_hurry(p);
  else
    pai__turn_ask(p->kick);
}

static void on_soon(void *ctx)
{
  pai__turn_ask(((pai_platform *)ctx)->kick);
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
                              .vcs = on_vcs };

  return pai__accounts_open(&p->accounts, &p->alloc, &host, err);
}

pai_accounts *pai_platform_accounts(pai_platform *platform)
{
  return platform != NULL ? platform->accounts : NULL;
}
