/*
 * fuzz_account.c - what comes from outside to accounts: tokens, headers, and
 * the JSON of users, groups and storages
 *
 * Nothing is ever committed, and nothing is hashed.  Whatever is taken can be
 * written, and reads as JSON; no text is a token, but the one that was made.
 */
#include "check.h"

#include "account/inside.h"

#include <unistd.h>

typedef struct world {
  pai__store *store;
  pai__batch *batch;
  pai_accounts *a;
  char token[PAI__TOKEN_TEXT];
} world;

static world w;

static pai_time on_now(void *ctx)
{
  (void)ctx;
  return INT64_C(1700000000) * 1000000;
}

static pai__batch *on_batch(void *ctx)
{
  return ((world *)ctx)->batch;
}

static void on_changed(void *ctx, bool urgent, bool secret)
{
  (void)ctx;
  (void)urgent;
  (void)secret;
}

static void on_soon(void *ctx)
{
  (void)ctx;
}

/* No hash begins. */
static int beside_new(void **out, void *ctx, pai__beside_cb run,
                      pai__beside_cb done, void *user_data)
{
  (void)ctx;
  (void)run;
  (void)done;
  (void)user_data;
  *out = NULL;
  return PAI_ENOMEM;
}

static void beside_do(void *beside)
{
  (void)beside;
}

static int on_vcs(void *ctx, pai__name_cb cb, void *user_data)
{
  (void)ctx;
  return cb(user_data, "default");
}

static void on_told(void *user_data, int status, const char *json, size_t len,
                    const pai_error *err)
{
  (void)user_data;
  CHECK((status == PAI_OK) == (json != NULL && len > 0));
  CHECK((status == PAI_OK) == (err == NULL));
}

/* In a folder that is gone by then. */
static void open_store(void)
{
  char folder[] = "/tmp/openpai-fuzz-XXXXXX", command[64];
  unsigned char key[PAI__DERIVED];

  CHECK(mkdtemp(folder) != NULL);
  CHECK(pai__store_open(&w.store, &pai__libc_alloc, folder, NULL, NULL) ==
        PAI_OK);
  CHECK(pai__batch_new(&w.batch, w.store, NULL) == PAI_OK);
  CHECK(pai__store_derive(w.store, key, "fuzz", true, NULL) == PAI_OK);
  (void)snprintf(command, sizeof(command), "rm -rf %s", folder);
  CHECK(system(command) == 0);
}

static uint64_t on_last_job(void *ctx)
{
  (void)ctx;
  return 1;
}

static void on_orphaned(void *ctx)
{
  (void)ctx;
}

static void open_accounts(void)
{
  static const pai__log log;
  pai__accounts_host host = { .ctx = &w,
                              .store = w.store,
                              .log = &log,
                              .now = on_now,
                              .batch = on_batch,
                              .changed = on_changed,
                              .soon = on_soon,
                              .beside_new = beside_new,
                              .beside_start = beside_do,
                              .beside_close = beside_do,
                              .vcs = on_vcs,
                              .last_job = on_last_job,
                              .orphaned = on_orphaned };
  static const char user[] =
    "{\"username\":\"ada\",\"passwordHash\":"
    "\"822330e44ace9eba338341d3d6830ac5cd60661b12b8ea9a5fa62aa40bd23944818021"
    "c11272f6f7bb16e34af5fbfa0b2f87bc30d51c6c2eeb75444a854cf882\"}";
  static const char group[] = "{\"groupname\":\"team\"}";
  pai__buf b;

  CHECK(pai__accounts_open(&w.a, &pai__libc_alloc, &host, NULL) == PAI_OK);
  CHECK(pai_accounts_put_user(w.a, user, sizeof(user) - 1, PAI_PUT_CREATE,
                              on_told, NULL, NULL) == PAI_OK);
  CHECK(pai_accounts_put_group(w.a, group, sizeof(group) - 1, PAI_PUT_CREATE,
                               NULL) == PAI_OK);
  pai__buf_init(&b, &pai__libc_alloc);
  CHECK(pai_accounts_new_token(w.a, "ada", 1, test_collect, &b, NULL) ==
        PAI_OK);
  memcpy(w.token, b.data, b.len + 1);
  pai__buf_dispose(&b);
}

/* Writing ended well, and gave JSON. */
static void check_json(int rc, pai__buf *b)
{
  pai__tree *t;

  CHECK(rc == PAI_OK);
  CHECK(pai__json_parse(&t, pai__buf_text(b), b->len, NULL, NULL) == PAI_OK);
  pai__tree_free(t);
  pai__buf_clear(b);
}

static void check_all(void)
{
  pai_storage_query q = PAI_STORAGE_QUERY_INIT;
  pai__buf b;

  pai__buf_init(&b, &pai__libc_alloc);
  check_json(pai_accounts_write_users(w.a, "ada", test_collect, &b, NULL), &b);
  check_json(pai_accounts_write_users(w.a, NULL, test_collect, &b, NULL), &b);
  check_json(pai_accounts_write_groups(w.a, test_collect, &b, NULL), &b);
  check_json(pai_accounts_write_storages(w.a, &q, test_collect, &b, NULL), &b);
  pai__buf_dispose(&b);
}

/* What was refused says why. */
static void check_answer(int rc, pai_error *err)
{
  if (rc < 0)
    check_error(err, rc);
  else
    CHECK(err == NULL);
  pai_error_free(err);
}

static void ask(const char *text, size_t len)
{
  pai_identity id = PAI_IDENTITY_INIT;
  pai_error *err = NULL;
  int rc = pai_accounts_verify(&id, w.a, text, len);

  CHECK((rc == PAI_OK) == (id.user != NULL));
  CHECK(rc == PAI_EPERM ||
        (len == strlen(w.token) && memcmp(text, w.token, len) == 0));
  rc = pai_accounts_authorize(&id, w.a, text);
  CHECK(rc == PAI_EPERM || strstr(text, w.token) != NULL ||
        strncmp(text, "Basic", 5) == 0);
  for (unsigned flags = 0; flags < 8; flags++) {
    rc = pai_accounts_put_user(w.a, text, len, flags, on_told, NULL, &err);
    check_answer(rc, err);
    if (flags < 4) {
      rc = pai_accounts_put_group(w.a, text, len, flags, &err);
      check_answer(rc, err);
    }
  }
  rc = pai_accounts_put_storage(w.a, text, len, &err);
  check_answer(rc, err);
  rc = pai_accounts_set_group_value(w.a, "team", "a/b", text, len, &err);
  check_answer(rc, err);
  rc = pai_accounts_set_group_value(w.a, "team", text, "1", 1, &err);
  check_answer(rc, err);
  rc = pai_accounts_revoke(w.a, "ada", text, &err);
  check_answer(rc, err);
  pai__accounts_step(w.a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = malloc(size + 1);

  if (text == NULL)
    abort();
  if (size > 0)
    memcpy(text, data, size);
  text[size] = '\0';
  if (w.store == NULL)
    open_store();
  open_accounts();
  ask(text, size);
  check_all();
  pai__accounts_close(w.a);
  pai__batch_clear(w.batch);
  free(text);
  return 0;
}
