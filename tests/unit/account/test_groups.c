/* Groups, what comes and goes with virtual clusters, and storages. */
#include "host.h"

#define SMALL(json) json, sizeof(json) - 1

static const struct {
  unsigned flags;
  const char *json;
  int code;
  const char *api;
  int http;
} refused[] = {
  { PAI_PUT_CREATE, "{}", PAI_EINVAL, "InvalidParametersError", 400 },
  { PAI_PUT_CREATE, "7", PAI_EINVAL, "InvalidParametersError", 400 },
  { PAI_PUT_CREATE, "{\"groupname\":\"a-b\"}", PAI_EINVAL,
    "InvalidParametersError", 400 },
  { PAI_PUT_CREATE, "{\"groupname\":\"\"}", PAI_EINVAL,
    "InvalidParametersError", 400 },
  { PAI_PUT_CREATE, "{\"groupname\":\"ab\",\"x\":1}", PAI_EINVAL,
    "InvalidParametersError", 400 },
  { PAI_PUT_CREATE, "{\"groupname\":\"ab\",\"description\":1}", PAI_EINVAL,
    "InvalidParametersError", 400 },
  { PAI_PUT_CREATE, "{\"groupname\":\"ab\",\"extension\":{\"acls\":1}}",
    PAI_EINVAL, "InvalidParametersError", 400 },
  { PAI_PUT_CREATE,
    "{\"groupname\":\"ab\",\"extension\":{\"acls\":{\"admin\":1}}}",
    PAI_EINVAL, "InvalidParametersError", 400 },
  { PAI_PUT_CREATE,
    "{\"groupname\":\"ab\",\"extension\":{\"acls\":{\"virtualClusters\":\"x\""
    "}}}",
    PAI_EINVAL, "InvalidParametersError", 400 },
  { PAI_PUT_CREATE,
    "{\"groupname\":\"ab\",\"extension\":{\"acls\":{\"storageConfigs\":[1]}}}",
    PAI_EINVAL, "InvalidParametersError", 400 },
  { PAI_PUT_CREATE, "{\"groupname\":\"default\"}", PAI_EEXISTS, "UnknownError",
    409 },
  { 0, "{\"groupname\":\"ab\"}", PAI_ENOTFOUND, "NoGroupError", 400 },
  { PAI_PUT_PATCH, "{\"groupname\":\"ab\"}", PAI_ENOTFOUND, "NoGroupError",
    400 },
};

static void bad_groups_are_refused(void **state)
{
  static host h;

  (void)state;
  host_open(&h);
  set_up(&h);
  for (size_t i = 0; i < PAI__LEN(refused); i++)
    expect(&h, put_group(&h, refused[i].flags, refused[i].json),
           refused[i].code, refused[i].api, refused[i].http);
  assert_int_equal(h.a->groups.n, 2);
  (void)show_group(&h, "ab");
  expect(&h, PAI_ENOTFOUND, PAI_ENOTFOUND, "NoGroupError", 400);
  assert_string_equal(h.message, "Group ab is not found.");
  host_close(&h);
}

static void groups_are_replaced_or_patched(void **state)
{
  static host h;
  pai_error *err;

  (void)state;
  host_open(&h);
  assert_int_equal(
    put_group(&h, PAI_PUT_CREATE,
              "{\"groupname\":\"team\",\"description\":\"d\","
              "\"externalName\":\"e\",\"extension\":{\"x\":{\"y\":1},"
              "\"acls\":{\"storageConfigs\":[\"s\"]}}}"),
    PAI_OK);
  assert_string_equal(
    show_group(&h, "team"),
    "{\"groupname\":\"team\",\"description\":\"d\",\"externalName\":\"e\","
    "\"extension\":{\"x\":{\"y\":1},\"acls\":{\"storageConfigs\":[\"s\"],"
    "\"admin\":false,\"virtualClusters\":[]}}}");
  assert_int_equal(put_group(&h, PAI_PUT_PATCH,
                             "{\"groupname\":\"team\",\"extension\":{\"z\":2,"
                             "\"acls\":{\"admin\":true}}}"),
                   PAI_OK);
  assert_string_equal(
    show_group(&h, "team"),
    "{\"groupname\":\"team\",\"description\":\"d\",\"externalName\":\"e\","
    "\"extension\":{\"x\":{\"y\":1},\"z\":2,\"acls\":{\"admin\":true,"
    "\"virtualClusters\":[]}}}");
  /* At a path. */
  assert_int_equal(pai_accounts_set_group_value(h.a, "team", "x/n/m",
                                                SMALL("[1,\"2\"]"), &err),
                   PAI_OK);
  assert_int_equal(pai_accounts_set_group_value(h.a, "team",
                                                "acls/virtualClusters",
                                                SMALL("[\"default\"]"), &err),
                   PAI_OK);
  assert_non_null(
    strstr(show_group(&h, "team"), "\"x\":{\"y\":1,\"n\":{\"m\":[1,\"2\"]}}"));
  assert_true(pai__strings_has(&pai__find_group(h.a, "team")->vcs, "default"));
  static const struct {
    const char *group, *path, *value;
    int code;
  } bad[] = { { "team", "", "1", PAI_EINVAL },
              { "team", "/a", "1", PAI_EINVAL },
              { "team", "a//b", "1", PAI_EINVAL },
              { "team", "a/", "1", PAI_EINVAL },
              { "team", "a", "x", PAI_EINVAL },
              { "team", "acls", "1", PAI_EINVAL },
              { "team", "acls/admin", "\"no\"", PAI_EINVAL },
              { "none", "a", "1", PAI_ENOTFOUND } };
  for (size_t i = 0; i < PAI__LEN(bad); i++) {
    assert_int_equal(pai_accounts_set_group_value(h.a, bad[i].group,
                                                  bad[i].path, bad[i].value,
                                                  strlen(bad[i].value), &err),
                     bad[i].code);
    assert_non_null(pai_error_api_code(err));
    pai_error_free(err);
  }
  assert_int_equal(put_group(&h, 0,
                             "{\"groupname\":\"team\",\"description\":\"n\","
                             "\"externalName\":\"\",\"extension\":{}}"),
                   PAI_OK);
  host_reopen(&h);
  assert_string_equal(
    show_group(&h, "team"),
    "{\"groupname\":\"team\",\"description\":\"n\",\"externalName\":\"\","
    "\"extension\":{\"acls\":{\"admin\":false,\"virtualClusters\":[]}}}");
  host_close(&h);
}

static const char *members(host *h, const char *group)
{
  host_begin(h);
  assert_int_equal(
    pai_accounts_write_members(h->a, group, host_write, h, NULL), PAI_OK);
  return h->text;
}

static void a_group_goes_with_its_members(void **state)
{
  static host h;
  pai_error *err;

  (void)state;
  host_open(&h);
  set_up(&h);
  add_user(&h, "ada");
  add_user(&h, "bob");
  assert_int_equal(put_group(&h, PAI_PUT_CREATE, "{\"groupname\":\"team\"}"),
                   PAI_OK);
  assert_int_equal(pai_accounts_set_member(h.a, "ada", "team", 1, &err),
                   PAI_OK);
  assert_int_equal(pai_accounts_set_member(h.a, "ada", "team", 1, &err),
                   PAI_OK);
  assert_int_equal(pai_accounts_set_member(h.a, "admin", "team", 1, &err),
                   PAI_OK);
  expect(&h,
         host_take(&h, pai_accounts_set_member(h.a, "nobody", "none", 1, &err),
                   &err),
         PAI_ENOTFOUND, "NoGroupError", 404);
  expect(&h,
         host_take(&h, pai_accounts_set_member(h.a, "nobody", "team", 1, &err),
                   &err),
         PAI_ENOTFOUND, "NoUserError", 404);
  expect(&h,
         host_take(&h, pai_accounts_set_member(h.a, "nobody", "none", 0, &err),
                   &err),
         PAI_ENOTFOUND, "NoUserError", 404);
  assert_string_equal(members(&h, "team"),
                      "[{\"username\":\"ada\",\"clusterAdmin\":false},"
                      "{\"username\":\"admin\",\"clusterAdmin\":true}]");
  assert_string_equal(members(&h, "none"), "[]");
  assert_int_equal(pai_accounts_remove_group(h.a, "team", &err), PAI_OK);
  assert_string_equal(members(&h, "team"), "[]");
  expect(&h, host_take(&h, pai_accounts_remove_group(h.a, "team", &err), &err),
         PAI_ENOTFOUND, "UnknownError", 404);
  expect(&h,
         host_take(&h, pai_accounts_remove_group(h.a, "default", &err), &err),
         PAI_EPERM, "ForbiddenUserError", 403);
  /* Another of the same name begins without members, also later. */
  assert_int_equal(put_group(&h, PAI_PUT_CREATE, "{\"groupname\":\"team\"}"),
                   PAI_OK);
  host_reopen(&h);
  assert_string_equal(members(&h, "team"), "[]");
  assert_int_equal(pai_accounts_set_member(h.a, "ada", "team", 1, &err),
                   PAI_OK);
  assert_int_equal(pai_accounts_set_member(h.a, "ada", "team", 0, &err),
                   PAI_OK);
  assert_int_equal(pai_accounts_set_member(h.a, "ada", "gone", 0, &err),
                   PAI_OK);
  assert_string_equal(members(&h, "team"), "[]");
  host_close(&h);
}

static void virtual_clusters_have_groups(void **state)
{
  static host h;
  pai_error *err;

  (void)state;
  host_open(&h);
  set_up(&h);
  add_user(&h, "ada");
  assert_int_equal(put_group(&h, PAI_PUT_CREATE, "{\"groupname\":\"team\"}"),
                   PAI_OK);
  assert_int_equal(pai_accounts_add_vc(h.a, "vision", "cameras", NULL, &err),
                   PAI_OK);
  assert_string_equal(
    show_group(&h, "vision"),
    "{\"groupname\":\"vision\",\"description\":\"cameras\","
    "\"externalName\":\"\",\"extension\":{\"acls\":{\"admin\":false,"
    "\"virtualClusters\":[\"vision\"]}}}");
  assert_non_null(strstr(show_group(&h, "admingroup"),
                         "\"virtualClusters\":[\"default\",\"vision\"]"));
  assert_int_equal(pai_accounts_add_vc(h.a, "vision", NULL, "ext", &err),
                   PAI_OK);
  assert_non_null(strstr(show_group(&h, "vision"),
                         "\"description\":\"cameras\",\"externalName\":"
                         "\"ext\""));
  expect(
    &h,
    host_take(&h, pai_accounts_add_vc(h.a, "team", NULL, NULL, &err), &err),
    PAI_EEXISTS, "ConflictVcError", 409);
  expect(
    &h, host_take(&h, pai_accounts_add_vc(h.a, "a b", NULL, NULL, &err), &err),
    PAI_EINVAL, "InvalidParametersError", 400);
  assert_int_equal(
    put_user(&h, 0, "{\"username\":\"ada\",\"virtualCluster\":[\"vision\"]}"),
    PAI_OK);
  assert_int_equal(pai_accounts_set_group_value(h.a, "team",
                                                "acls/virtualClusters",
                                                SMALL("[\"vision\"]"), &err),
                   PAI_OK);
  assert_int_equal(pai_accounts_may_use_vc(h.a, "ada", "vision"), 1);
  assert_int_equal(pai_accounts_remove_vc(h.a, "vision", &err), PAI_OK);
  assert_int_equal(pai_accounts_may_use_vc(h.a, "ada", "vision"), 0);
  assert_null(strstr(show_group(&h, "team"), "vision"));
  assert_null(strstr(show_group(&h, "admingroup"), "vision"));
  assert_null(strstr(show_user(&h, "ada", NULL), "vision"));
  assert_null(pai__find_group(h.a, "vision"));
  assert_int_equal(pai_accounts_remove_vc(h.a, "none", &err), PAI_OK);
  expect(&h,
         host_take(&h, pai_accounts_remove_vc(h.a, "admingroup", &err), &err),
         PAI_EPERM, "ForbiddenUserError", 403);
  host_reopen(&h);
  assert_null(strstr(show_user(&h, "ada", NULL), "vision"));
  assert_null(pai__find_group(h.a, "vision"));
  host_close(&h);
}

/* --- storages ---------------------------------------------------------------------------- */

static const char *const bad_storages[] = {
  "[]",
  "{\"name\":\"a\"}",
  "{\"type\":\"nfs\"}",
  "{\"name\":\"..\",\"type\":\"nfs\"}",
  "{\"name\":\"a\",\"type\":\"tape\"}",
  "{\"name\":\"a\",\"type\":\"local\"}",
  "{\"name\":\"a\",\"type\":\"local\",\"data\":{\"path\":7}}",
  "{\"name\":\"a\",\"type\":\"local\",\"data\":{\"path\":\"here\"}}",
  "{\"name\":\"a\",\"type\":\"local\",\"data\":{\"path\":\"/a/../../etc\"}}",
  "{\"name\":\"a\",\"type\":\"nfs\",\"mountedAt\":\"/a/..\"}",
  "{\"name\":\"a\",\"type\":\"nfs\",\"data\":[]}",
  "{\"name\":\"a\",\"type\":\"nfs\",\"share\":\"no\"}",
  "{\"name\":\"a\",\"type\":\"nfs\",\"mountOptions\":\"ro\"}",
  "{\"name\":\"a\",\"type\":\"nfs\",\"other\":1}",
};

static int put_storage(host *h, const char *json)
{
  pai_error *err;
  int rc = pai_accounts_put_storage(h->a, json, strlen(json), &err);

  return host_take(h, rc, &err);
}

static void bad_storages_are_refused(void **state)
{
  static host h;

  (void)state;
  host_open(&h);
  for (size_t i = 0; i < PAI__LEN(bad_storages); i++)
    expect(&h, put_storage(&h, bad_storages[i]), PAI_EINVAL,
           "InvalidParametersError", 400);
  assert_int_equal(h.a->depots.n, 0);
  host_close(&h);
}

static void open_with_storages(host *h)
{
  host_open(h);
  set_up(h);
  add_user(h, "ada");
  assert_int_equal(
    put_storage(h, "{\"name\":\"files\",\"type\":\"azureFile\",\"data\":"
                   "{\"shareName\":\"s\",\"accountName\":\"n\","
                   "\"accountKey\":\"key-7\"},\"share\":false,"
                   "\"secretName\":\"sec\",\"mountOptions\":[\"nolock\"]}"),
    PAI_OK);
  assert_int_equal(
    put_storage(h, "{\"name\":\"data\",\"type\":\"local\",\"data\":"
                   "{\"path\":\"/srv/data\"},\"readOnly\":true}"),
    PAI_OK);
  assert_int_equal(put_storage(h, "{\"name\":\"more\",\"type\":\"nfs\","
                                  "\"mountedAt\":\"/mnt/more\"}"),
                   PAI_OK);
  assert_int_equal(
    put_group(h, PAI_PUT_CREATE,
              "{\"groupname\":\"team\",\"extension\":{\"acls\":"
              "{\"storageConfigs\":[\"files\",\"data\",\"none\"]}}}"),
    PAI_OK);
  assert_int_equal(pai_accounts_set_member(h->a, "ada", "team", 1, NULL),
                   PAI_OK);
}

static void storages_are_told_to_whom_they_are_granted(void **state)
{
  static host h;

  (void)state;
  open_with_storages(&h);
  host_reopen(&h);
  assert_int_equal(bytes_in_folder("key-7", 5), 0);
  assert_string_equal(
    show_storages(&h, PAI_STORAGE_SUMMARY, "ada", NULL),
    "{\"storages\":[{\"name\":\"data\",\"share\":true,\"volumeName\":"
    "\"data\",\"default\":false},{\"name\":\"files\",\"share\":false,"
    "\"volumeName\":\"files\",\"default\":true}]}");
  assert_string_equal(show_storages(&h, PAI_STORAGE_SUMMARY, "admin", NULL),
                      "{\"storages\":[]}");
  assert_non_null(
    strstr(show_storages(&h, PAI_STORAGE_SUMMARY, NULL, NULL), "\"more\""));
  assert_string_equal(
    show_storages(&h, PAI_STORAGE_DETAIL, "ada", "files"),
    "{\"name\":\"files\",\"share\":false,\"volumeName\":\"files\",\"type\":"
    "\"azureFile\",\"data\":{\"shareName\":\"s\",\"accountName\":\"n\","
    "\"accountKey\":\"key-7\"},\"readOnly\":false,\"mountOptions\":"
    "[\"nolock\"],\"secretName\":\"sec\"}");
  assert_string_equal(
    show_storages(&h, PAI_STORAGE_DETAIL, "ada", "data"),
    "{\"name\":\"data\",\"share\":true,\"volumeName\":\"data\",\"type\":"
    "\"unknown\",\"local\":true,\"data\":{\"path\":\"/srv/"
    "data\"},\"readOnly\":true}");
  assert_string_equal(
    show_storages(&h, PAI_STORAGE_CONFIG, "ada", "files"),
    "{\"name\":\"files\",\"default\":true,\"servers\":[\"files\"],"
    "\"mountInfos\":[{\"mountPoint\":\"/mnt/files\",\"path\":"
    "\"${PAI_USER_NAME}\",\"server\":\"files\",\"permission\":\"rw\"}]}");
  assert_string_equal(
    show_storages(&h, PAI_STORAGE_SERVER, "ada", "files"),
    "{\"spn\":\"files\",\"type\":\"azurefile\",\"data\":{\"shareName\":\"s\","
    "\"accountName\":\"n\",\"accountKey\":\"key-7\"},\"extension\":{}}");
  (void)show_storages(&h, PAI_STORAGE_DETAIL, "ada", "none");
  expect(&h, PAI_ENOTFOUND, PAI_ENOTFOUND, "NoStorageError", 404);
  (void)show_storages(&h, PAI_STORAGE_DETAIL, "ada", "more");
  expect(&h, PAI_EPERM, PAI_EPERM, "ForbiddenUserError", 403);
  (void)show_storages(&h, PAI_STORAGE_DETAIL, "nobody", "more");
  expect(&h, PAI_EPERM, PAI_EPERM, "ForbiddenUserError", 403);
  (void)show_storages(&h, PAI_STORAGE_SERVER, "ada", "none");
  expect(&h, PAI_ENOTFOUND, PAI_ENOTFOUND, "UnknownError", 500);
  (void)show_storages(&h, PAI_STORAGE_DETAIL, "ada", NULL);
  expect(&h, PAI_EINVAL, PAI_EINVAL, "", 0);
  (void)show_storages(&h, 9, "ada", NULL);
  expect(&h, PAI_EINVAL, PAI_EINVAL, "", 0);
  assert_int_equal(pai_accounts_may_use_storage(h.a, "ada", "data"), 1);
  assert_int_equal(pai_accounts_may_use_storage(h.a, "ada", "more"), 0);
  assert_int_equal(pai_accounts_may_use_storage(h.a, "nobody", "data"), 0);
  host_close(&h);
}

static void lists_of_storages_are_narrowed(void **state)
{
  static host h;
  pai_storage_query q = PAI_STORAGE_QUERY_INIT;
  pai_error *err;

  (void)state;
  open_with_storages(&h);
  q.form = PAI_STORAGE_SUMMARY;
  q.user = "ada";
  q.usual = 1;
  host_begin(&h);
  assert_int_equal(pai_accounts_write_storages(h.a, &q, host_write, &h, &err),
                   PAI_OK);
  assert_non_null(strstr(h.text, "\"files\""));
  assert_null(strstr(h.text, "\"data\""));
  q.form = PAI_STORAGE_CONFIG;
  q.usual = 0;
  q.names = "dat,data,fil";
  host_begin(&h);
  assert_int_equal(pai_accounts_write_storages(h.a, &q, host_write, &h, &err),
                   PAI_OK);
  assert_non_null(strstr(h.text, "[{\"name\":\"data\""));
  assert_null(strstr(h.text, "\"files\""));
  expect(&h,
         host_take(&h, pai_accounts_remove_storage(h.a, "none", &err), &err),
         PAI_ENOTFOUND, "NoStorageError", 404);
  assert_int_equal(pai_accounts_remove_storage(h.a, "data", &err), PAI_OK);
  host_reopen(&h);
  q.names = NULL;
  host_begin(&h);
  assert_int_equal(pai_accounts_write_storages(h.a, &q, host_write, &h, &err),
                   PAI_OK);
  assert_null(strstr(h.text, "\"data\""));
  assert_non_null(strstr(h.text, "\"files\""));
  host_close(&h);
}

int main(void)
{
#define TEST(name) \
  cmocka_unit_test_setup_teardown(name, folder_set_up, folder_tear_down)
  const struct CMUnitTest tests[] = {
    TEST(bad_groups_are_refused),
    TEST(groups_are_replaced_or_patched),
    TEST(a_group_goes_with_its_members),
    TEST(virtual_clusters_have_groups),
    TEST(bad_storages_are_refused),
    TEST(storages_are_told_to_whom_they_are_granted),
    TEST(lists_of_storages_are_narrowed),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
