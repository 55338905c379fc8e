/* host.c - accounts without a loop, for tests */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>

host h;

static pai_time on_now(void *ctx)
{
  return ((host *)ctx)->now;
}

static pai__batch *on_batch(void *ctx)
{
  return ((host *)ctx)->batch;
}

static void on_changed(void *ctx, bool urgent, bool secret)
{
  (void)ctx;
  (void)urgent;
  h.secret |= secret;
}

static void on_soon(void *ctx)
{
  ((host *)ctx)->soon = true;
}

/* At once: nobody is in a call of these tests then. */
static int on_sync(void *ctx, pai__safe_cb cb, void *user_data)
{
  cb(user_data, ((host *)ctx)->full ? PAI_EIO : PAI_OK, NULL);
  return PAI_OK;
}

static int beside_new(void **out, void *ctx, pai__beside_cb run,
                      pai__beside_cb done, void *user_data)
{
  void *p = pai__zalloc(&h.alloc, 1); /* so that it may fail */

  (void)ctx;
  *out = NULL;
  if (p == NULL)
    return PAI_ENOMEM;
  pai__free(&h.alloc, p, 1);
  for (size_t i = 0; i < HOST_BESIDES; i++)
    if (!h.besides[i].used) {
      h.besides[i] = (host_beside){ run, done, user_data, true, false };
      *out = &h.besides[i];
      return PAI_OK;
    }
  return PAI_ENOMEM;
}

static void beside_start(void *beside)
{
  host_beside *b = beside;
  size_t n = 0;

  assert_false(b->started);
  b->started = true;
  for (size_t i = 0; i < HOST_BESIDES; i++)
    n += h.besides[i].started;
  if (n > h.most)
    h.most = n;
}

static void beside_close(void *beside)
{
  if (beside != NULL)
    ((host_beside *)beside)->used = false;
}

static int on_vcs(void *ctx, pai__name_cb cb, void *user_data)
{
  int rc = PAI_OK;

  (void)ctx;
  for (size_t i = 0; h.vcs[i] != NULL && rc >= 0; i++)
    rc = cb(user_data, h.vcs[i]);
  return rc;
}

static uint64_t on_last_job(void *ctx)
{
  return ((host *)ctx)->last_job;
}

static void on_orphaned(void *ctx)
{
  ((host *)ctx)->orphaned++;
}

static void on_log(void *user_data, int level, const char *line)
{
  (void)user_data;
  (void)level;
  (void)snprintf(h.log, sizeof(h.log), "%s", line);
}

/* --- life ------------------------------------------------------------------------- */

static int open_accounts(pai_error **err)
{
  static pai__log log;
  pai__accounts_host lent = { .ctx = &h,
                              .store = h.store,
                              .log = &log,
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
  pai_accounts_options o = PAI_ACCOUNTS_OPTIONS_INIT;
  int rc;

  log = (pai__log){ on_log, &h, PAI_LOG_DEBUG };
  o.hash_kib = 8;
  o.hash_passes = 1;
  rc = pai__accounts_open(&h.a, &h.alloc, &lent, err);
  return rc == PAI_OK ? pai_accounts_configure(h.a, &o, err) : rc;
}

int host_try(const pai_alloc *alloc, pai_error **err)
{
  int rc;

  memset(&h, 0, sizeof(h));
  h.alloc = *alloc;
  h.now = INT64_C(1700000000) * 1000000;
  h.vcs[0] = "default";
  rc = pai__store_open(&h.store, &h.alloc, folder, NULL, err);
  if (rc == PAI_OK)
    rc = pai__batch_new(&h.batch, h.store, err);
  return rc == PAI_OK ? open_accounts(err) : rc;
}

void host_open(void)
{
  pai_error *err = NULL;

  if (host_try(&pai__libc_alloc, &err) < 0)
    fail_msg("%s", pai_error_message(err));
}

void host_commit(void)
{
  pai_error *err;

  if (pai__store_commit(h.store, h.batch, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  pai__batch_clear(h.batch);
}

void host_close(void)
{
  pai__accounts_stop(h.a);
  if (h.a != NULL)
    host_run();
  pai__accounts_close(h.a);
  pai__batch_free(h.batch);
  pai__store_close(h.store);
  h.a = NULL;
  h.batch = NULL;
  h.store = NULL;
}

int host_set_up(void **state)
{
  if (folder_set_up(state) != 0)
    return -1;
  host_open();
  return 0;
}

int host_tear_down(void **state)
{
  host_close();
  return folder_tear_down(state);
}

void host_drop(void)
{
  pai__accounts_close(h.a);
  pai__batch_clear(h.batch);
  if (open_accounts(NULL) < 0)
    fail_msg("accounts do not open again");
}

void host_reopen(void)
{
  pai_time now = h.now;
  const char *vcs[8];

  memcpy(vcs, h.vcs, sizeof(vcs));
  host_commit();
  host_close();
  host_open();
  h.now = now;
  memcpy(h.vcs, vcs, sizeof(vcs));
}

void host_run(void)
{
  bool some = true;

  while (some) {
    some = h.soon;
    h.soon = false;
    pai__accounts_step(h.a);
    for (size_t i = 0; i < HOST_BESIDES; i++) {
      host_beside *b = &h.besides[i];
      if (!b->started)
        continue;
      b->run(b->user_data);
      b->started = false;
      b->done(b->user_data);
      some = true;
    }
  }
}

/* --- calls -------------------------------------------------------------------------- */

int host_take(int rc, pai_error **err)
{
  const char *api = pai_error_api_code(*err);

  assert_int_equal(pai_error_code(*err), rc < 0 ? rc : PAI_OK);
  (void)snprintf(h.api, sizeof(h.api), "%s", api != NULL ? api : "");
  (void)snprintf(h.message, sizeof(h.message), "%s", pai_error_message(*err));
  h.http = pai_error_http_status(*err);
  h.wait = pai_error_retry_after(*err);
  pai_error_free(*err);
  return rc;
}

void expect(int rc, int code, const char *api, int http)
{
  if (rc != code || strcmp(h.api, api) != 0 || h.http != http)
    fail_msg("want %s %s %d, got %s %s %d: %s", pai_code_name(code), api, http,
             pai_code_name(rc), h.api, h.http, h.message);
}

void host_begin(void)
{
  h.len = 0;
  h.text[0] = '\0';
}

int host_write(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  if (h.len + len >= sizeof(h.text))
    return PAI_EUSER;
  memcpy(h.text + h.len, bytes, len);
  h.len += len;
  h.text[h.len] = '\0';
  return PAI_OK;
}

void host_on_told(void *user_data, int status, const char *json, size_t len,
                  const pai_error *err)
{
  const char *api = pai_error_api_code(err);

  (void)user_data;
  h.calls++;
  h.status = status;
  assert_int_equal(pai_error_code(err), status < 0 ? status : PAI_OK);
  assert_true((json != NULL) == (status == PAI_OK));
  host_begin();
  if (json != NULL) {
    assert_int_equal(strlen(json), len);
    (void)host_write(NULL, json, len);
  }
  (void)snprintf(h.api, sizeof(h.api), "%s", api != NULL ? api : "");
  (void)snprintf(h.message, sizeof(h.message), "%s", pai_error_message(err));
  h.http = pai_error_http_status(err);
  h.wait = pai_error_retry_after(err);
}

/* Nothing calls before the loop runs, and then one thing does. */
static int wait_for_it(int rc, pai_error *err)
{
  int calls = h.calls;

  if (rc < 0) {
    (void)host_take(rc, &err);
    host_run();
    assert_int_equal(h.calls, calls);
    return rc;
  }
  assert_null(err);
  host_run();
  assert_int_equal(h.calls, calls + 1);
  return h.status;
}

int put_user(unsigned flags, const char *json)
{
  pai_error *err;
  int rc = pai_accounts_put_user(h.a, json, strlen(json), flags, host_on_told,
                                 &h, &err);

  return wait_for_it(rc, err);
}

int put_group(unsigned flags, const char *json)
{
  pai_error *err;
  int rc = pai_accounts_put_group(h.a, json, strlen(json), flags, &err);

  return host_take(rc, &err);
}

int log_in(const char *user, const char *password)
{
  pai_error *err;
  int rc = pai_accounts_login(h.a, user, password, host_on_told, &h, &err);

  return wait_for_it(rc, err);
}

void set_up(void)
{
  assert_ok(
    pai_accounts_setup(h.a, NULL, "admin-passphrase", host_on_told, &h, NULL));
  host_run();
  assert_ok(h.status);
}

void add_user(const char *name)
{
  if (put_user(
        PAI_PUT_CREATE,
        test_string("{\"username\":\"%s\",\"password\":\"%s-password\"}", name,
                    name)) < 0)
    fail_msg("%s", h.message);
}

void set_up_with_ada(void)
{
  set_up();
  add_user("ada");
}

void new_token(char out[PAI__TOKEN_TEXT], const char *user, int application)
{
  pai_error *err;

  host_begin();
  if (pai_accounts_new_token(h.a, user, application, host_write, &h, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  assert_true(h.len < PAI__TOKEN_TEXT);
  memcpy(out, h.text, h.len + 1);
}

int why(const char *token)
{
  pai_identity id = PAI_IDENTITY_INIT;
  int rc = pai_accounts_verify(&id, h.a, token, strlen(token));

  assert_int_equal(rc, id.why == PAI_TOKEN_GOOD ? PAI_OK : PAI_EPERM);
  assert_true((id.user != NULL) == (id.why == PAI_TOKEN_GOOD));
  return id.why;
}

/* --- what is written -------------------------------------------------------------------- */

const char *show_user(const char *user, const char *viewer)
{
  pai_error *err;

  host_begin();
  (void)host_take(
    pai_accounts_write_user(h.a, user, viewer, host_write, &h, &err), &err);
  return h.text;
}

const char *show_group(const char *group)
{
  pai_error *err;

  host_begin();
  (void)host_take(pai_accounts_write_group(h.a, group, host_write, &h, &err),
                  &err);
  return h.text;
}

const char *show_storages(int form, const char *user, const char *name)
{
  pai_storage_query q = PAI_STORAGE_QUERY_INIT;
  pai_error *err;

  q.form = form;
  q.user = user;
  q.name = name;
  host_begin();
  (void)host_take(pai_accounts_write_storages(h.a, &q, host_write, &h, &err),
                  &err);
  return h.text;
}
