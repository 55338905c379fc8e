/* Rights: who keeps them, who gets none, and what the log says of it. */
#include "cases.h"
#include "host.h"

static const char *audit(void)
{
  pai_audit_query q = PAI_AUDIT_QUERY_INIT;

  host_commit();
  host_begin();
  assert_ok(pai_accounts_write_audit(h.a, &q, host_write, &h, NULL));
  return h.text;
}

/* --- the last administrator ------------------------------------------------------- */

TEST(the_last_administrator_stays)
{
  static const char *const puts[] = {
    "{\"username\":\"admin\",\"admin\":false}",
    "{\"username\":\"admin\",\"grouplist\":[\"default\"]}",
  };
  pai_error *err;

  set_up_with_ada();
  for (size_t i = 0; i < PAI__LEN(puts); i++)
    expect(put_user(0, puts[i]), PAI_EPERM, "RemoveAdminError", 403);
  expect(
    host_take(pai_accounts_set_member(h.a, "admin", PAI__ADMIN_GROUP, 0, &err),
              &err),
    PAI_EPERM, "RemoveAdminError", 403);
  expect(host_take(pai_accounts_set_group_value(
                     h.a, PAI__ADMIN_GROUP, "acls/admin", "false", 5, &err),
                   &err),
         PAI_EPERM, "RemoveAdminError", 403);
  host_commit();
  host_drop(); /* nor is it so in the database */
  assert_true(pai_accounts_is_admin(h.a, "admin"));
  /* With another one it is allowed. */
  assert_ok(put_user(0, "{\"username\":\"ada\",\"admin\":true}"));
  assert_ok(put_user(0, puts[0]));
  expect(put_user(0, "{\"username\":\"ada\",\"admin\":false}"), PAI_EPERM,
         "RemoveAdminError", 403);
}

TEST(a_group_of_administrators_counts)
{
  pai_error *err;

  set_up_with_ada();
  assert_ok(put_group(PAI_PUT_CREATE,
                      "{\"groupname\":\"ops\",\"extension\":{\"acls\":"
                      "{\"admin\":true}}}"));
  assert_ok(pai_accounts_set_member(h.a, "ada", "ops", 1, NULL));
  assert_ok(put_user(0, "{\"username\":\"admin\",\"admin\":false}"));
  expect(host_take(pai_accounts_remove_group(h.a, "ops", &err), &err),
         PAI_EPERM, "RemoveAdminError", 403);
  /* The platform's own user may, and a provider of logins. */
  assert_ok(pai_accounts_act_as(h.a, "me", NULL, PAI_ACT_OWNER));
  assert_ok(pai_accounts_set_member(h.a, "ada", "ops", 0, NULL));
  assert_ok(pai_accounts_set_member(h.a, "ada", "ops", 1, NULL));
  assert_ok(pai_accounts_act_as(h.a, NULL, NULL, 0));
  assert_ok(
    put_user(PAI_PUT_PROVIDED, "{\"username\":\"ada\",\"grouplist\":[]}"));
}

/* --- the audit log ------------------------------------------------------------------- */

TEST(changes_of_rights_are_noted)
{
  char token[PAI__TOKEN_TEXT];

  set_up_with_ada();
  assert_ok(pai_accounts_act_as(h.a, "admin", "10.0.0.7", 0));
  assert_ok(put_user(0, "{\"username\":\"ada\",\"admin\":true}"));
  assert_has(audit(), "\"user\":\"admin\",\"from\":\"10.0.0.7\","
                      "\"what\":\"user ada: +admingroup\",\"status\":0}");
  assert_ok(put_user(0, "{\"username\":\"ada\",\"password\":\"another-1\","
                        "\"admin\":false}"));
  assert_has(audit(), "\"what\":\"user ada: -admingroup new password\"");
  assert_ok(pai_accounts_set_group_value(h.a, "default", "acls/storageConfigs",
                                         "[\"nas\"]", 7, NULL));
  assert_has(audit(), "\"what\":\"group default: no administrators, "
                      "virtual clusters default, storages nas\"");
  new_token(token, "ada", 1);
  assert_has(audit(), " of ada added\"");
  assert_ok(pai_accounts_set_quota(h.a, "ada", PAI_QUOTA_JOBS, 3, NULL));
  assert_has(audit(), "\"what\":\"user ada: new quota\"");
  assert_ok(pai_accounts_act_as(h.a, NULL, NULL, 0));
  assert_ok(pai_accounts_remove_user(h.a, "ada", NULL));
  assert_has(audit(), "\"user\":null,\"from\":null,"
                      "\"what\":\"user ada removed\"");
  /* What says nothing of rights is not in it. */
  assert_ok(put_user(0, "{\"username\":\"admin\",\"email\":\"a@b.c\"}"));
  assert_has(audit(), "[{\"id\":");
  assert_null(strstr(h.text, "user admin:"));
}

/* --- users who were removed ------------------------------------------------------------ */

TEST(a_name_has_no_past)
{
  pai_error *err;

  set_up_with_ada();
  add_user("bob");
  assert_string_equal(pai_accounts_owner(h.a, "ada", 0), "ada");
  h.last_job = 7;
  assert_ok(pai_accounts_remove_user(h.a, "ada", NULL));
  assert_int_equal(h.orphaned, 1);
  add_user("ada");
  for (int i = 0; i < 2; i++) {
    assert_null(pai_accounts_owner(h.a, "ada", 0));
    assert_null(pai_accounts_owner(h.a, "ada", 7));
    assert_string_equal(pai_accounts_owner(h.a, "ada", 8), "ada");
    assert_string_equal(pai_accounts_owner(h.a, "bob", 3), "bob");
    host_reopen();
    h.last_job = 9;
  }
  /* Handed over, and the heir goes as well. */
  expect(host_take(pai_accounts_hand_over_user(h.a, "ada", "eve", &err), &err),
         PAI_ENOTFOUND, "NoUserError", 404);
  expect(host_take(pai_accounts_hand_over_user(h.a, "ada", "ada", &err), &err),
         PAI_EINVAL, "InvalidParametersError", 400);
  h.orphaned = 0;
  assert_ok(pai_accounts_hand_over_user(h.a, "ada", "bob", NULL));
  assert_int_equal(h.orphaned, 0);
  add_user("ada");
  assert_null(pai_accounts_owner(h.a, "ada", 7));
  assert_string_equal(pai_accounts_owner(h.a, "ada", 8), "bob");
  assert_string_equal(pai_accounts_owner(h.a, "ada", 10), "ada");
  assert_ok(pai_accounts_remove_user(h.a, "bob", NULL));
  assert_int_equal(h.orphaned, 1);
  add_user("bob");
  host_reopen();
  assert_null(pai_accounts_owner(h.a, "ada", 8));
  assert_string_equal(pai_accounts_owner(h.a, "ada", 10), "ada");
}

static int find_one(void *user_data, const pai__mounted *m)
{
  *(pai__mounted *)user_data = *m;
  return PAI_OK;
}

TEST(storages_are_not_inherited)
{
  static const char nas[] =
    "{\"name\":\"nas\",\"type\":\"other\",\"mountedAt\":\"/tmp\"}";
  pai__mounted m;

  set_up_with_ada();
  assert_ok(pai_accounts_put_storage(h.a, nas, strlen(nas), NULL));
  h.last_job = 7;
  assert_ok(pai_accounts_remove_user(h.a, "ada", NULL));
  /* A job of hers that is tried again has no more than before. */
  assert_ok(pai__accounts_mounted(h.a, "ada", 7, find_one, &m));
  assert_false(m.granted);
  assert_int_equal(m.before, 0);
  add_user("ada");
  assert_ok(pai__accounts_mounted(h.a, "ada", PAI__NEW_JOB, find_one, &m));
  assert_int_equal(m.before, 1); /* another folder of it */
}

/* --- limits --------------------------------------------------------------------------- */

TEST(limits_are_the_users_or_all)
{
  pai_error *err;

  set_up_with_ada();
  assert_int_equal(pai_accounts_quota(h.a, "ada", PAI_QUOTA_JOBS), 1000);
  assert_ok(pai_accounts_set_quota(h.a, NULL, PAI_QUOTA_JOBS, 5, NULL));
  assert_ok(
    pai_accounts_set_quota(h.a, "ada", PAI_QUOTA_TASKS, PAI_QUOTA_NONE, NULL));
  assert_ok(pai_accounts_set_quota(h.a, "ada", PAI_QUOTA_STREAMS, 1, NULL));
  host_reopen();
  assert_int_equal(pai_accounts_quota(h.a, "ada", PAI_QUOTA_JOBS), 5);
  assert_int_equal(pai_accounts_quota(h.a, NULL, PAI_QUOTA_JOBS), 5);
  assert_int_equal(pai_accounts_quota(h.a, "ada", PAI_QUOTA_TASKS), -1);
  assert_int_equal(pai_accounts_quota(h.a, "admin", PAI_QUOTA_TASKS), 10000);
  host_begin();
  assert_ok(pai_accounts_write_quota(h.a, "ada", host_write, &h, NULL));
  assert_has(h.text, "{\"jobs\":5,\"tasks\":-1,\"streams\":1,");
  assert_ok(pai_accounts_set_quota(h.a, "ada", PAI_QUOTA_TASKS,
                                   PAI_QUOTA_USUAL, NULL));
  assert_int_equal(pai_accounts_quota(h.a, "ada", PAI_QUOTA_TASKS), 10000);
  assert_ok(
    pai_accounts_set_quota(h.a, NULL, PAI_QUOTA_JOBS, PAI_QUOTA_USUAL, NULL));
  assert_int_equal(pai_accounts_quota(h.a, "ada", PAI_QUOTA_JOBS), 1000);
  expect(host_take(pai_accounts_set_quota(h.a, "eve", PAI_QUOTA_JOBS, 1, &err),
                   &err),
         PAI_ENOTFOUND, "NoUserError", 404);
  assert_null(pai_quota_name(PAI_QUOTAS));
}

TEST_AROUND_EACH(host_set_up, host_tear_down);
