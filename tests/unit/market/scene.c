/* scene.c - a marketplace over the accounts of account/host.h, for tests */
#include "scene.h"

pai_market *market;
char last_id[PAI_MARKET_ID];

int market_open(const pai_alloc *alloc, pai_error **err)
{
  return pai__market_open(&market, alloc, &h.a->host, h.a, err);
}

static void need_open(void)
{
  if (market_open(&h.alloc, NULL) < 0)
    fail_msg("the marketplace does not open");
}

int market_set_up(void **state)
{
  if (host_set_up(state) != 0)
    return -1;
  set_up();
  add_user("ada");
  add_user("bob");
  add_user("eve");
  assert_ok(put_group(PAI_PUT_CREATE, "{\"groupname\":\"team\"}"));
  assert_ok(put_user(0, "{\"username\":\"ada\",\"grouplist\":[\"team\"]}"));
  assert_ok(put_user(0, "{\"username\":\"bob\",\"grouplist\":[\"team\"]}"));
  need_open();
  return 0;
}

int market_tear_down(void **state)
{
  pai__market_close(market);
  market = NULL;
  return host_tear_down(state);
}

void market_reopen(void)
{
  pai__market_close(market);
  host_reopen();
  need_open();
}

static pai_market_viewer as(const char *user)
{
  pai_market_viewer v = PAI_MARKET_VIEWER_INIT;

  v.user = user;
  v.admin = pai_accounts_is_admin(h.a, user);
  return v;
}

int put_item(const char *user, const char *id, const char *json)
{
  pai_market_viewer v = as(user);
  pai_error *err = NULL;
  char made[PAI_MARKET_ID];
  int rc = pai_market_put_item(made, market, &v, id, json, strlen(json), &err);

  if (rc == PAI_OK)
    memcpy(last_id, made, sizeof(made));
  return host_take(rc, &err);
}

int remove_item(const char *user, const char *id)
{
  pai_market_viewer v = as(user);
  pai_error *err = NULL;
  int rc = pai_market_remove_item(market, &v, id, &err);

  return host_take(rc, &err);
}

int star(const char *user, const char *id, int on)
{
  pai_market_viewer v = as(user);
  pai_error *err = NULL;
  int rc = pai_market_star(market, &v, id, on, &err);

  return host_take(rc, &err);
}

int use(const char *user, const char *id)
{
  pai_market_viewer v = as(user);
  pai_error *err = NULL;
  int rc = pai_market_use(market, &v, id, &err);

  return host_take(rc, &err);
}

int put_label(const char *user, int kind, const char *id, const char *json)
{
  pai_market_viewer v = as(user);
  pai_error *err = NULL;
  char made[PAI_MARKET_ID];
  int rc =
    pai_market_put_label(made, market, &v, kind, id, json, strlen(json), &err);

  if (rc == PAI_OK)
    memcpy(last_id, made, sizeof(made));
  return host_take(rc, &err);
}

int remove_label(const char *user, int kind, const char *id)
{
  pai_market_viewer v = as(user);
  pai_error *err = NULL;
  int rc = pai_market_remove_label(market, &v, kind, id, &err);

  return host_take(rc, &err);
}

int set_label(const char *user, const char *item, int kind, const char *id,
              int on)
{
  pai_market_viewer v = as(user);
  pai_error *err = NULL;
  int rc = pai_market_set_label(market, &v, item, kind, id, on, &err);

  return host_take(rc, &err);
}

const char *list_items(const char *user, const pai_market_query *query)
{
  pai_market_viewer v = as(user);
  pai_error *err = NULL;

  host_begin();
  (void)host_take(
    pai_market_write_items(market, &v, query, host_write, &h, &err), &err);
  return h.text;
}

const char *show_item(const char *user, const char *id)
{
  pai_market_query q = PAI_MARKET_QUERY_INIT;

  q.id = id;
  return list_items(user, &q);
}

const char *show_labels(const char *user, int kind, const char *id,
                        const char *item)
{
  pai_market_viewer v = as(user);
  pai_error *err = NULL;

  host_begin();
  (void)host_take(
    pai_market_write_labels(market, &v, kind, id, item, host_write, &h, &err),
    &err);
  return h.text;
}
