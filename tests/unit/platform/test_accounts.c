/* Accounts on a platform's loop: hashes beside it, and its database. */
#include "durable.h"

#include <openpai/account.h>
#include <openpai/records.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITE(json) json, sizeof(json) - 1

static const char *root(const char *name)
{
  static char path[300];

  (void)snprintf(path, sizeof(path), "%s/%s", story_root, name);
  return path;
}

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
  assert_int_equal(pai_accounts_configure(a, &o, NULL), PAI_OK);
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

static void who_logs_in_is_known_after_a_restart(void **state)
{
  static durable d;
  static told t;
  char token[1024] = "";
  pai_identity id = PAI_IDENTITY_INIT;
  pai_accounts *a;

  (void)state;
  durable_open(&d, root("one"));
  a = quick(&d);
  assert_int_equal(
    pai_accounts_setup(a, NULL, "admin-passphrase", on_told, &t, NULL),
    PAI_OK);
  assert_int_equal(t.calls, 0);
  wait_told(&d, &t, 1);
  assert_string_equal(t.text, "{\"username\":\"admin\"}");
  assert_int_equal(
    pai_accounts_login(a, "admin", "admin-passphrase", on_told, &t, NULL),
    PAI_OK);
  assert_int_equal(pai_accounts_login(a, "admin", "not-it", on_told, &t, NULL),
                   PAI_OK);
  wait_told(&d, &t, 3);
  assert_int_equal(
    pai_accounts_new_token(a, "admin", 1, take_text, token, NULL), PAI_OK);
  assert_int_equal(pai_accounts_note(a, "admin", NULL, "PUT /x", 201), PAI_OK);
  assert_int_equal(durable_sync(&d), PAI_OK);
  durable_close(&d);
  durable_open(&d, root("one"));
  a = quick(&d);
  assert_int_equal(pai_accounts_verify(&id, a, token, strlen(token)), PAI_OK);
  assert_string_equal(id.user, "admin");
  assert_int_equal(id.admin, 1);
  token[0] = '\0';
  assert_int_equal(
    pai_accounts_write_audit(a, &(pai_audit_query)PAI_AUDIT_QUERY_INIT,
                             take_text, token, NULL),
    PAI_OK);
  assert_non_null(strstr(token, "\"what\":\"PUT /x\",\"status\":201}"));
  durable_close(&d);
}

/* What goes on is finished, what waits is told that it will not be. */
static void closing_waits_for_hashes(void **state)
{
  static durable d;
  static told t;
  pai_accounts *a;

  (void)state;
  memset(&t, 0, sizeof(t));
  durable_open(&d, root("two"));
  a = quick(&d);
  assert_int_equal(pai_accounts_setup(a, NULL, NULL, on_told, &t, NULL),
                   PAI_OK);
  for (int i = 0; i < 20; i++)
    assert_int_equal(
      pai_accounts_login(a, "admin", "password", on_told, &t, NULL), PAI_OK);
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

static void jobs_have_what_is_granted_to_their_user(void **state)
{
  static durable d;
  static told t;
  char path[512], json[1024];
  pai_accounts *a;
  pai_error *err;
  pai_job_id id;

  (void)state;
  memset(&t, 0, sizeof(t));
  durable_open(&d, root("three"));
  a = quick(&d);
  assert_int_equal(pai_accounts_setup(a, NULL, NULL, on_told, &t, NULL),
                   PAI_OK);
  wait_told(&d, &t, 1);
  expect_no_storage(&d, "none-yet", "ada");
  (void)snprintf(path, sizeof(path), "%s/lent", story_root);
  assert_int_equal(mkdir(path, 0700), 0);
  (void)snprintf(json, sizeof(json),
                 "{\"name\":\"lent\",\"type\":\"local\",\"data\":{\"path\":"
                 "\"%s\"}}",
                 path);
  assert_int_equal(pai_accounts_put_storage(a, json, strlen(json), &err),
                   PAI_OK);
  assert_int_equal(submit(&d, "nobodys", "carol", &id, &err), PAI_OK);
  assert_int_equal(pai_accounts_put_user(
                     a,
                     WRITE("{\"username\":\"ada\",\"password\":\"secret-1\"}"),
                     PAI_PUT_CREATE, on_told, &t, &err),
                   PAI_OK);
  wait_told(&d, &t, 2);
  expect_no_storage(&d, "not-granted", "ada");
  assert_int_equal(pai_accounts_set_group_value(a, "default",
                                                "acls/storageConfigs",
                                                WRITE("[\"lent\"]"), &err),
                   PAI_OK);
  assert_int_equal(submit(&d, "granted", "ada", &id, &err), PAI_OK);
  assert_int_equal(pai_accounts_remove_storage(a, "lent", &err), PAI_OK);
  expect_no_storage(&d, "gone", "ada");
  /* The folder of everybody, as it always was. */
  (void)snprintf(json, sizeof(json), "mkdir -p %s/storages/lent",
                 root("three"));
  assert_int_equal(system(json), 0);
  assert_int_equal(submit(&d, "everybodys", "ada", &id, &err), PAI_OK);
  durable_close(&d);
}

static void others_have_none(void **state)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  pai_platform *p;
  pai_loop *loop;

  (void)state;
  o.root = story_root; /* not one in HOME, which may have none */
  assert_null(pai_platform_accounts(NULL));
  assert_int_equal(pai_loop_new(&loop, NULL, NULL), PAI_OK);
  assert_int_equal(pai_platform_new(&p, loop, &o, NULL), PAI_OK);
  assert_null(pai_platform_accounts(p));
  pai_platform_close(p, NULL, NULL);
  assert_int_equal(pai_loop_run(loop), PAI_OK);
  pai_loop_free(loop);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(who_logs_in_is_known_after_a_restart),
    cmocka_unit_test(closing_waits_for_hashes),
    cmocka_unit_test(jobs_have_what_is_granted_to_their_user),
    cmocka_unit_test(others_have_none),
  };

  return cmocka_run_group_tests(tests, story_make_root, story_remove_root);
}
