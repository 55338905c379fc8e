/* Rights: who keeps them, who gets none, and what the log says of it. */
#include "host.h"

static void open_with_ada(host *h)
{
  host_open(h);
  set_up(h);
  add_user(h, "ada");
}

static const char *audit(host *h)
{
  pai_audit_query q = PAI_AUDIT_QUERY_INIT;

  host_commit(h);
  host_begin(h);
  assert_int_equal(pai_accounts_write_audit(h->a, &q, host_write, h, NULL),
                   PAI_OK);
  return h->text;
}

/* --- the last administrator ------------------------------------------------------- */

static void the_last_administrator_stays(void **state)
{
  static const char *const puts[] = {
    "{\"username\":\"admin\",\"admin\":false}",
    "{\"username\":\"admin\",\"grouplist\":[\"default\"]}",
  };
  static host h;
  pai_error *err;

  (void)state;
  open_with_ada(&h);
  for (size_t i = 0; i < PAI__LEN(puts); i++)
    expect(&h, put_user(&h, 0, puts[i]), PAI_EPERM, "RemoveAdminError", 403);
  expect(
    &h,
    host_take(&h,
              pai_accounts_set_member(h.a, "admin", PAI__ADMIN_GROUP, 0, &err),
              &err),
    PAI_EPERM, "RemoveAdminError", 403);
  expect(&h,
         host_take(&h,
                   pai_accounts_set_group_value(
                     h.a, PAI__ADMIN_GROUP, "acls/admin", "false", 5, &err),
                   &err),
         PAI_EPERM, "RemoveAdminError", 403);
  host_commit(&h);
  host_drop(&h); /* nor is it so in the database */
  assert_true(pai_accounts_is_admin(h.a, "admin"));
  /* With another one it is allowed. */
  assert_int_equal(put_user(&h, 0, "{\"username\":\"ada\",\"admin\":true}"),
                   PAI_OK);
  assert_int_equal(put_user(&h, 0, puts[0]), PAI_OK);
  expect(&h, put_user(&h, 0, "{\"username\":\"ada\",\"admin\":false}"),
         PAI_EPERM, "RemoveAdminError", 403);
  host_close(&h);
}

static void a_group_of_administrators_counts(void **state)
{
  static host h;
  pai_error *err;

  (void)state;
  open_with_ada(&h);
  assert_int_equal(put_group(&h, PAI_PUT_CREATE,
                             "{\"groupname\":\"ops\",\"extension\":{\"acls\":"
                             "{\"admin\":true}}}"),
                   PAI_OK);
  assert_int_equal(pai_accounts_set_member(h.a, "ada", "ops", 1, NULL),
                   PAI_OK);
  assert_int_equal(put_user(&h, 0, "{\"username\":\"admin\",\"admin\":false}"),
                   PAI_OK);
  expect(&h, host_take(&h, pai_accounts_remove_group(h.a, "ops", &err), &err),
         PAI_EPERM, "RemoveAdminError", 403);
  /* The platform's own user may, and a provider of logins. */
  assert_int_equal(pai_accounts_act_as(h.a, "me", NULL, PAI_ACT_OWNER),
                   PAI_OK);
  assert_int_equal(pai_accounts_set_member(h.a, "ada", "ops", 0, NULL),
                   PAI_OK);
  assert_int_equal(pai_accounts_set_member(h.a, "ada", "ops", 1, NULL),
                   PAI_OK);
  assert_int_equal(pai_accounts_act_as(h.a, NULL, NULL, 0), PAI_OK);
  assert_int_equal(
    put_user(&h, PAI_PUT_PROVIDED, "{\"username\":\"ada\",\"grouplist\":[]}"),
    PAI_OK);
  host_close(&h);
}

/* --- the audit log ------------------------------------------------------------------- */

static void changes_of_rights_are_noted(void **state)
{
  static host h;
  char token[PAI__TOKEN_TEXT];

  (void)state;
  open_with_ada(&h);
  assert_int_equal(pai_accounts_act_as(h.a, "admin", "10.0.0.7", 0), PAI_OK);
  assert_int_equal(put_user(&h, 0, "{\"username\":\"ada\",\"admin\":true}"),
                   PAI_OK);
  assert_non_null(strstr(audit(&h),
                         "\"user\":\"admin\",\"from\":\"10.0.0.7\","
                         "\"what\":\"user ada: +admingroup\",\"status\":0}"));
  assert_int_equal(put_user(&h, 0,
                            "{\"username\":\"ada\",\"password\":\"another-1\","
                            "\"admin\":false}"),
                   PAI_OK);
  assert_non_null(
    strstr(audit(&h), "\"what\":\"user ada: -admingroup new password\""));
  assert_int_equal(pai_accounts_set_group_value(h.a, "default",
                                                "acls/storageConfigs",
                                                "[\"nas\"]", 7, NULL),
                   PAI_OK);
  assert_non_null(strstr(audit(&h),
                         "\"what\":\"group default: no administrators, "
                         "virtual clusters default, storages nas\""));
  new_token(&h, token, "ada", 1);
  assert_non_null(strstr(audit(&h), " of ada added\""));
  assert_int_equal(pai_accounts_set_quota(h.a, "ada", PAI_QUOTA_JOBS, 3, NULL),
                   PAI_OK);
  assert_non_null(strstr(audit(&h), "\"what\":\"user ada: new quota\""));
  assert_int_equal(pai_accounts_act_as(h.a, NULL, NULL, 0), PAI_OK);
  assert_int_equal(pai_accounts_remove_user(h.a, "ada", NULL), PAI_OK);
  assert_non_null(strstr(audit(&h), "\"user\":null,\"from\":null,"
                                    "\"what\":\"user ada removed\""));
  /* What says nothing of rights is not in it. */
  assert_int_equal(
    put_user(&h, 0, "{\"username\":\"admin\",\"email\":\"a@b.c\"}"), PAI_OK);
  assert_non_null(strstr(audit(&h), "[{\"id\":"));
  assert_null(strstr(h.text, "user admin:"));
  host_close(&h);
}

/* --- users who were removed ------------------------------------------------------------ */

static void a_name_has_no_past(void **state)
{
  static host h;
  pai_error *err;

  (void)state;
  open_with_ada(&h);
  add_user(&h, "bob");
  assert_string_equal(pai_accounts_owner(h.a, "ada", 0), "ada");
  h.last_job = 7;
  assert_int_equal(pai_accounts_remove_user(h.a, "ada", NULL), PAI_OK);
  assert_int_equal(h.orphaned, 1);
  add_user(&h, "ada");
  for (int i = 0; i < 2; i++) {
    assert_null(pai_accounts_owner(h.a, "ada", 0));
    assert_null(pai_accounts_owner(h.a, "ada", 7));
    assert_string_equal(pai_accounts_owner(h.a, "ada", 8), "ada");
    assert_string_equal(pai_accounts_owner(h.a, "bob", 3), "bob");
    host_reopen(&h);
    h.last_job = 9;
  }
  /* Handed over, and the heir goes as well. */
  expect(
    &h,
    host_take(&h, pai_accounts_hand_over_user(h.a, "ada", "eve", &err), &err),
    PAI_ENOTFOUND, "NoUserError", 404);
  expect(
    &h,
    host_take(&h, pai_accounts_hand_over_user(h.a, "ada", "ada", &err), &err),
    PAI_EINVAL, "InvalidParametersError", 400);
  h.orphaned = 0;
  assert_int_equal(pai_accounts_hand_over_user(h.a, "ada", "bob", NULL),
                   PAI_OK);
  assert_int_equal(h.orphaned, 0);
  add_user(&h, "ada");
  assert_null(pai_accounts_owner(h.a, "ada", 7));
  assert_string_equal(pai_accounts_owner(h.a, "ada", 8), "bob");
  assert_string_equal(pai_accounts_owner(h.a, "ada", 10), "ada");
  assert_int_equal(pai_accounts_remove_user(h.a, "bob", NULL), PAI_OK);
  assert_int_equal(h.orphaned, 1);
  add_user(&h, "bob");
  host_reopen(&h);
  assert_null(pai_accounts_owner(h.a, "ada", 8));
  assert_string_equal(pai_accounts_owner(h.a, "ada", 10), "ada");
  host_close(&h);
}

static int find_one(void *user_data, const pai__mounted *m)
{
  *(pai__mounted *)user_data = *m;
  return PAI_OK;
}

static void storages_are_not_inherited(void **state)
{
  static const char nas[] =
    "{\"name\":\"nas\",\"type\":\"other\",\"mountedAt\":\"/tmp\"}";
  static host h;
  pai__mounted m;

  (void)state;
  open_with_ada(&h);
  assert_int_equal(pai_accounts_put_storage(h.a, nas, strlen(nas), NULL),
                   PAI_OK);
  h.last_job = 7;
  assert_int_equal(pai_accounts_remove_user(h.a, "ada", NULL), PAI_OK);
  /* A job of hers that is tried again has no more than before. */
  assert_int_equal(pai__accounts_mounted(h.a, "ada", 7, find_one, &m), PAI_OK);
  assert_false(m.granted);
  assert_int_equal(m.before, 0);
  add_user(&h, "ada");
  assert_int_equal(
    pai__accounts_mounted(h.a, "ada", PAI__NEW_JOB, find_one, &m), PAI_OK);
  assert_int_equal(m.before, 1); /* another folder of it */
  host_close(&h);
}

/* --- limits --------------------------------------------------------------------------- */

static void limits_are_the_users_or_all(void **state)
{
  static host h;
  pai_error *err;

  (void)state;
  open_with_ada(&h);
  assert_int_equal(pai_accounts_quota(h.a, "ada", PAI_QUOTA_JOBS), 1000);
  assert_int_equal(pai_accounts_set_quota(h.a, NULL, PAI_QUOTA_JOBS, 5, NULL),
                   PAI_OK);
  assert_int_equal(
    pai_accounts_set_quota(h.a, "ada", PAI_QUOTA_TASKS, PAI_QUOTA_NONE, NULL),
    PAI_OK);
  assert_int_equal(
    pai_accounts_set_quota(h.a, "ada", PAI_QUOTA_STREAMS, 1, NULL), PAI_OK);
  host_reopen(&h);
  assert_int_equal(pai_accounts_quota(h.a, "ada", PAI_QUOTA_JOBS), 5);
  assert_int_equal(pai_accounts_quota(h.a, NULL, PAI_QUOTA_JOBS), 5);
  assert_int_equal(pai_accounts_quota(h.a, "ada", PAI_QUOTA_TASKS), -1);
  assert_int_equal(pai_accounts_quota(h.a, "admin", PAI_QUOTA_TASKS), 10000);
  host_begin(&h);
  assert_int_equal(pai_accounts_write_quota(h.a, "ada", host_write, &h, NULL),
                   PAI_OK);
  assert_non_null(strstr(h.text, "{\"jobs\":5,\"tasks\":-1,\"streams\":1,"));
  assert_int_equal(
    pai_accounts_set_quota(h.a, "ada", PAI_QUOTA_TASKS, PAI_QUOTA_USUAL, NULL),
    PAI_OK);
  assert_int_equal(pai_accounts_quota(h.a, "ada", PAI_QUOTA_TASKS), 10000);
  assert_int_equal(
    pai_accounts_set_quota(h.a, NULL, PAI_QUOTA_JOBS, PAI_QUOTA_USUAL, NULL),
    PAI_OK);
  assert_int_equal(pai_accounts_quota(h.a, "ada", PAI_QUOTA_JOBS), 1000);
  expect(&h,
         host_take(&h,
                   pai_accounts_set_quota(h.a, "eve", PAI_QUOTA_JOBS, 1, &err),
                   &err),
         PAI_ENOTFOUND, "NoUserError", 404);
  assert_null(pai_quota_name(PAI_QUOTAS));
  host_close(&h);
}

int main(void)
{
#define TEST(name) \
  cmocka_unit_test_setup_teardown(name, folder_set_up, folder_tear_down)
  const struct CMUnitTest tests[] = {
    TEST(the_last_administrator_stays), TEST(a_group_of_administrators_counts),
    TEST(changes_of_rights_are_noted),  TEST(a_name_has_no_past),
    TEST(storages_are_not_inherited),   TEST(limits_are_the_users_or_all),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
