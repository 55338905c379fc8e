/* fake.c - a marketplace for tests of the server, that does what a test says: it fails as the
 * accounts do */
#include "server/fake.h"

#include "base/base.h"

#include <openpai/market.h>

#include <stdio.h>

struct pai_market {
  pai_platform platform; /* the market is at the platform's address */
};

pai_market *pai_platform_market(pai_platform *platform)
{
  return (pai_market *)platform;
}

static int fails(pai_market *m, pai_error **err)
{
  const pai_accounts *a = &m->platform.accounts;

  if (err != NULL)
    *err = NULL;
  if (a->fail >= 0)
    return PAI_OK;
  (void)pai__fail(err, a->fail, "as the test wants");
  if (a->code != NULL)
    pai__error_api(err, a->status, a->code);
  return a->fail;
}

static void did(pai_market *m, const pai_market_viewer *v, const char *what,
                const char *id)
{
  (void)snprintf(m->platform.accounts.did, sizeof(m->platform.accounts.did),
                 "%s%s %s %s", v->user, v->admin != 0 ? "!" : "", what,
                 id != NULL ? id : "-");
}

static int say(pai_market *m, const pai_market_viewer *v, const char *what,
               const char *id, pai_write_cb write, void *user_data,
               pai_error **err)
{
  int rc = fails(m, err);

  did(m, v, what, id);
  return rc < 0 ? rc : fake_write(write, user_data, "[]");
}

int pai_market_write_items(pai_market *m, const pai_market_viewer *v,
                           const pai_market_query *q, pai_write_cb write,
                           void *user_data, pai_error **err)
{
  return say(m, v, "items", q->id, write, user_data, err);
}

int pai_market_put_item(char out[PAI_MARKET_ID], pai_market *m,
                        const pai_market_viewer *v, const char *id,
                        const char *json, size_t len, pai_error **err)
{
  char what[512];

  (void)snprintf(out, PAI_MARKET_ID, "new");
  (void)snprintf(what, sizeof(what), "put %.*s", (int)len, json);
  did(m, v, what, id);
  return fails(m, err);
}

int pai_market_remove_item(pai_market *m, const pai_market_viewer *v,
                           const char *id, pai_error **err)
{
  did(m, v, "remove", id);
  return fails(m, err);
}

int pai_market_star(pai_market *m, const pai_market_viewer *v, const char *id,
                    int on, pai_error **err)
{
  did(m, v, on != 0 ? "star" : "unstar", id);
  return fails(m, err);
}

int pai_market_use(pai_market *m, const pai_market_viewer *v, const char *id,
                   pai_error **err)
{
  did(m, v, "use", id);
  return fails(m, err);
}

int pai_market_write_labels(pai_market *m, const pai_market_viewer *v,
                            int kind, const char *id, const char *item,
                            pai_write_cb write, void *user_data,
                            pai_error **err)
{
  return say(m, v, kind == PAI_MARKET_TAG ? "tags" : "categories",
             id != NULL ? id : item, write, user_data, err);
}

int pai_market_put_label(char out[PAI_MARKET_ID], pai_market *m,
                         const pai_market_viewer *v, int kind, const char *id,
                         const char *json, size_t len, pai_error **err)
{
  char what[512];

  (void)snprintf(out, PAI_MARKET_ID, "new");
  (void)snprintf(what, sizeof(what), "put %s %.*s",
                 kind == PAI_MARKET_TAG ? "tag" : "category", (int)len, json);
  did(m, v, what, id);
  return fails(m, err);
}

int pai_market_remove_label(pai_market *m, const pai_market_viewer *v,
                            int kind, const char *id, pai_error **err)
{
  did(m, v, kind == PAI_MARKET_TAG ? "remove tag" : "remove category", id);
  return fails(m, err);
}

int pai_market_set_label(pai_market *m, const pai_market_viewer *v,
                         const char *item, int kind, const char *id, int on,
                         pai_error **err)
{
  char what[128];

  (void)snprintf(what, sizeof(what), "%s %s %s", on != 0 ? "add" : "drop",
                 kind == PAI_MARKET_TAG ? "tag" : "category", id);
  did(m, v, what, item);
  return fails(m, err);
}
