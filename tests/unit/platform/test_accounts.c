/* Accounts on a platform's loop: hashes beside it, and its database. */
#include "cases.h"
#include "durable.h"

#include <openpai/account.h>
#include <openpai/records.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITE(json) json, sizeof(json) - 1

typedef struct told {
  int calls, status;
  char text[1024];
} told;

static void on_told(void *user_data, int status, const char *json, size_t len,
                    const pai_error *err)
{
  told *t = user_data;

  (void)err;
  t->calls++;
  t->status = status;
  assert_true(len < sizeof(t->text));
  memcpy(t->text, json != NULL ? json : "", len);
  t->text[len] = '\0';
}

static void wait_told(durable *d, const told *t, int calls)
{
  while (t->calls < calls)
    durable_turn(d);
}

static pai_accounts *quick(durable *d)
{
  pai_accounts_options o = PAI_ACCOUNTS_OPTIONS_INIT;
  pai_accounts *a = pai_platform_accounts(d->platform);

  o.hash_kib = 8;
  o.hash_passes = 1;
  assert_non_null(a);
  assert_ok(pai_accounts_configure(a, &o, NULL));
  return a;
}

static int take_text(void *user_data, const char *bytes, size_t len)
{
  char *to = user_data;
  size_t n = strlen(to);

  assert_true(n + len < 1024);
  memcpy(to + n, bytes, len);
  to[n + len] = '\0';
  return PAI_OK;
}

TEST(who_logs_in_is_known_after_a_restart)
{
  static durable d;
  static told t;
  char token[1024] = "";
  pai_identity id = PAI_IDENTITY_INIT;
  pai_accounts *a;

  durable_open(&d, story_in("one"));
  a = quick(&d);
  assert_ok(
    pai_accounts_setup(a, NULL, "admin-passphrase", on_told, &t, NULL));
  assert_int_equal(t.calls, 0);
  wait_told(&d, &t, 1);
  assert_string_equal(t.text, "{\"username\":\"admin\"}");
  assert_ok(
    pai_accounts_login(a, "admin", "admin-passphrase", on_told, &t, NULL));
  assert_ok(pai_accounts_login(a, "admin", "not-it", on_told, &t, NULL));
  wait_told(&d, &t, 3);
  assert_ok(pai_accounts_new_token(a, "admin", 1, take_text, token, NULL));
  assert_ok(pai_accounts_note(a, "admin", NULL, "PUT /x", 201));
  assert_ok(durable_sync(&d));
  durable_close(&d);
  durable_open(&d, story_in("one"));
  a = quick(&d);
  assert_ok(pai_accounts_verify(&id, a, token, strlen(token)));
  assert_string_equal(id.user, "admin");
  assert_int_equal(id.admin, 1);
  token[0] = '\0';
  assert_ok(pai_accounts_write_audit(a, &(pai_audit_query)PAI_AUDIT_QUERY_INIT,
                                     take_text, token, NULL));
  assert_has(token, "\"what\":\"PUT /x\",\"status\":201}");
  durable_close(&d);
}

/* What goes on is finished, what waits is told that it will not be. */
TEST(closing_waits_for_hashes)
{
  static durable d;
  static told t;
  pai_accounts *a;

  memset(&t, 0, sizeof(t));
  durable_open(&d, story_in("two"));
  a = quick(&d);
  assert_ok(pai_accounts_setup(a, NULL, NULL, on_told, &t, NULL));
  for (int i = 0; i < 20; i++)
    assert_ok(pai_accounts_login(a, "admin", "password", on_told, &t, NULL));
  durable_close(&d);
  assert_int_equal(t.calls, 21);
}

static const char job[] =
  "protocolVersion: 2\nname: %s\ntype: job\n"
  "prerequisites: [{type: dockerimage, uri: a, name: i}]\n"
  "taskRoles: {w: {dockerImage: i, resourcePerInstance: {cpu: 1, memoryMB: "
  "64, gpu: 0}, commands: [cat /mnt/lent/told]}}\n"
  "extras: {storages: [{name: lent}]}\n";

static int submit(durable *d, const char *name, const char *user,
                  pai_job_id *id, pai_error **err)
{
  pai_submit_options o = PAI_SUBMIT_OPTIONS_INIT;
  char text[1024];
  pai_spec *spec;
  int rc;

  (void)snprintf(text, sizeof(text), job, name);
  rc = pai_spec_parse(&spec, text, strlen(text), NULL, err);
  if (rc < 0)
    fail_msg("%s", pai_error_message(*err));
  o.user = user;
  rc = pai_platform_submit_as(id, d->platform, spec, &o, err);
  pai_spec_unref(spec);
  return rc;
}

static void expect_no_storage(durable *d, const char *name, const char *user)
{
  pai_error *err;
  pai_job_id id;

  assert_int_equal(submit(d, name, user, &id, &err), PAI_ENOTFOUND);
  assert_string_equal(pai_error_api_code(err), "NoStorageError");
  assert_int_equal(pai_error_http_status(err), 404);
  test_expect_error(err, PAI_ENOTFOUND, "no storage \"lent\"");
}

TEST(jobs_have_what_is_granted_to_their_user)
{
  static durable d;
  static told t;
  char path[512], json[1024];
  pai_accounts *a;
  pai_error *err;
  pai_job_id id;

  memset(&t, 0, sizeof(t));
  durable_open(&d, story_in("three"));
  a = quick(&d);
  assert_ok(pai_accounts_setup(a, NULL, NULL, on_told, &t, NULL));
  wait_told(&d, &t, 1);
  expect_no_storage(&d, "none-yet", "ada");
  (void)snprintf(path, sizeof(path), "%s/lent", story_root);
  assert_int_equal(mkdir(path, 0700), 0);
  (void)snprintf(json, sizeof(json),
                 "{\"name\":\"lent\",\"type\":\"local\",\"data\":{\"path\":"
                 "\"%s\"}}",
                 path);
  assert_ok(pai_accounts_put_storage(a, json, strlen(json), &err));
  assert_ok(submit(&d, "nobodys", "carol", &id, &err));
  assert_ok(pai_accounts_put_user(
    a, WRITE("{\"username\":\"ada\",\"password\":\"secret-1\"}"),
    PAI_PUT_CREATE, on_told, &t, &err));
  wait_told(&d, &t, 2);
  expect_no_storage(&d, "not-granted", "ada");
  assert_ok(pai_accounts_set_group_value(a, "default", "acls/storageConfigs",
                                         WRITE("[\"lent\"]"), &err));
  assert_ok(submit(&d, "granted", "ada", &id, &err));
  assert_ok(pai_accounts_remove_storage(a, "lent", &err));
  expect_no_storage(&d, "gone", "ada");
  /* The folder of everybody, as it always was. */
  test_shell("mkdir -p %s/storages/lent", story_in("three"));
  assert_ok(submit(&d, "everybodys", "ada", &id, &err));
  durable_close(&d);
}

TEST(others_have_none)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  pai_platform *p;
  pai_loop *loop;

  o.root = story_root; /* not one in HOME, which may have none */
  assert_null(pai_platform_accounts(NULL));
  assert_ok(pai_loop_new(&loop, NULL, NULL));
  assert_ok(pai_platform_new(&p, loop, &o, NULL));
  assert_null(pai_platform_accounts(p));
  pai_platform_close(p, NULL, NULL);
  assert_ok(pai_loop_run(loop));
  pai_loop_free(loop);
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
