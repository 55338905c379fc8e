/* Groups, what comes and goes with virtual clusters, and storages. */
#include "cases.h"
#include "host.h"

#define INVALID PAI_EINVAL, "InvalidParametersError", 400

#define SMALL(json) json, sizeof(json) - 1

static const struct {
  unsigned flags;
  const char *json;
  int code;
  const char *api;
  int http;
} refused[] = {
  { PAI_PUT_CREATE, "{}", INVALID },
  { PAI_PUT_CREATE, "7", INVALID },
  { PAI_PUT_CREATE, "{\"groupname\":\"a-b\"}", INVALID },
  { PAI_PUT_CREATE, "{\"groupname\":\"\"}", INVALID },
  { PAI_PUT_CREATE, "{\"groupname\":\"ab\",\"x\":1}", INVALID },
  { PAI_PUT_CREATE, "{\"groupname\":\"ab\",\"description\":1}", INVALID },
  { PAI_PUT_CREATE, "{\"groupname\":\"ab\",\"extension\":{\"acls\":1}}",
    INVALID },
  { PAI_PUT_CREATE,
    "{\"groupname\":\"ab\",\"extension\":{\"acls\":{\"admin\":1}}}", INVALID },
  { PAI_PUT_CREATE,
    "{\"groupname\":\"ab\",\"extension\":{\"acls\":{\"virtualClusters\":\"x\""
    "}}}",
    INVALID },
  { PAI_PUT_CREATE,
    "{\"groupname\":\"ab\",\"extension\":{\"acls\":{\"storageConfigs\":[1]}}}",
    INVALID },
  { PAI_PUT_CREATE, "{\"groupname\":\"default\"}", PAI_EEXISTS, "UnknownError",
    409 },
  { 0, "{\"groupname\":\"ab\"}", PAI_ENOTFOUND, "NoGroupError", 400 },
  { PAI_PUT_PATCH, "{\"groupname\":\"ab\"}", PAI_ENOTFOUND, "NoGroupError",
    400 },
};

TEST(bad_groups_are_refused)
{
  set_up();
  for (size_t i = 0; i < PAI__LEN(refused); i++)
    expect(put_group(refused[i].flags, refused[i].json), refused[i].code,
           refused[i].api, refused[i].http);
  assert_int_equal(h.a->groups.n, 2);
  (void)show_group("ab");
  expect(PAI_ENOTFOUND, PAI_ENOTFOUND, "NoGroupError", 400);
  assert_string_equal(h.message, "Group ab is not found.");
}

TEST(groups_are_replaced_or_patched)
{
  pai_error *err;

  assert_ok(put_group(PAI_PUT_CREATE,
                      "{\"groupname\":\"team\",\"description\":\"d\","
                      "\"externalName\":\"e\",\"extension\":{\"x\":{\"y\":1},"
                      "\"acls\":{\"storageConfigs\":[\"s\"]}}}"));
  assert_string_equal(
    show_group("team"),
    "{\"groupname\":\"team\",\"description\":\"d\",\"externalName\":\"e\","
    "\"extension\":{\"x\":{\"y\":1},\"acls\":{\"storageConfigs\":[\"s\"],"
    "\"admin\":false,\"virtualClusters\":[]}}}");
  assert_ok(put_group(PAI_PUT_PATCH,
                      "{\"groupname\":\"team\",\"extension\":{\"z\":2,"
                      "\"acls\":{\"admin\":true}}}"));
  assert_string_equal(
    show_group("team"),
    "{\"groupname\":\"team\",\"description\":\"d\",\"externalName\":\"e\","
    "\"extension\":{\"x\":{\"y\":1},\"z\":2,\"acls\":{\"admin\":true,"
    "\"virtualClusters\":[]}}}");
  /* At a path. */
  assert_ok(pai_accounts_set_group_value(h.a, "team", "x/n/m",
                                         SMALL("[1,\"2\"]"), &err));
  assert_ok(pai_accounts_set_group_value(h.a, "team", "acls/virtualClusters",
                                         SMALL("[\"default\"]"), &err));
  assert_has(show_group("team"), "\"x\":{\"y\":1,\"n\":{\"m\":[1,\"2\"]}}");
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
  assert_ok(put_group(0, "{\"groupname\":\"team\",\"description\":\"n\","
                         "\"externalName\":\"\",\"extension\":{}}"));
  host_reopen();
  assert_string_equal(
    show_group("team"),
    "{\"groupname\":\"team\",\"description\":\"n\",\"externalName\":\"\","
    "\"extension\":{\"acls\":{\"admin\":false,\"virtualClusters\":[]}}}");
}

static const char *members(const char *group)
{
  host_begin();
  assert_ok(pai_accounts_write_members(h.a, group, host_write, &h, NULL));
  return h.text;
}

TEST(a_group_goes_with_its_members)
{
  pai_error *err;

  set_up();
  add_user("ada");
  add_user("bob");
  assert_ok(put_group(PAI_PUT_CREATE, "{\"groupname\":\"team\"}"));
  assert_ok(pai_accounts_set_member(h.a, "ada", "team", 1, &err));
  assert_ok(pai_accounts_set_member(h.a, "ada", "team", 1, &err));
  assert_ok(pai_accounts_set_member(h.a, "admin", "team", 1, &err));
  expect(
    host_take(pai_accounts_set_member(h.a, "nobody", "none", 1, &err), &err),
    PAI_ENOTFOUND, "NoGroupError", 404);
  expect(
    host_take(pai_accounts_set_member(h.a, "nobody", "team", 1, &err), &err),
    PAI_ENOTFOUND, "NoUserError", 404);
  expect(
    host_take(pai_accounts_set_member(h.a, "nobody", "none", 0, &err), &err),
    PAI_ENOTFOUND, "NoUserError", 404);
  assert_string_equal(members("team"),
                      "[{\"username\":\"ada\",\"clusterAdmin\":false},"
                      "{\"username\":\"admin\",\"clusterAdmin\":true}]");
  assert_string_equal(members("none"), "[]");
  assert_ok(pai_accounts_remove_group(h.a, "team", &err));
  assert_string_equal(members("team"), "[]");
  expect(host_take(pai_accounts_remove_group(h.a, "team", &err), &err),
         PAI_ENOTFOUND, "UnknownError", 404);
  expect(host_take(pai_accounts_remove_group(h.a, "default", &err), &err),
         PAI_EPERM, "ForbiddenUserError", 403);
  /* Another of the same name begins without members, also later. */
  assert_ok(put_group(PAI_PUT_CREATE, "{\"groupname\":\"team\"}"));
  host_reopen();
  assert_string_equal(members("team"), "[]");
  assert_ok(pai_accounts_set_member(h.a, "ada", "team", 1, &err));
  assert_ok(pai_accounts_set_member(h.a, "ada", "team", 0, &err));
  assert_ok(pai_accounts_set_member(h.a, "ada", "gone", 0, &err));
  assert_string_equal(members("team"), "[]");
}

TEST(virtual_clusters_have_groups)
{
  pai_error *err;

  set_up();
  add_user("ada");
  assert_ok(put_group(PAI_PUT_CREATE, "{\"groupname\":\"team\"}"));
  assert_ok(pai_accounts_add_vc(h.a, "vision", "cameras", NULL, &err));
  assert_string_equal(
    show_group("vision"),
    "{\"groupname\":\"vision\",\"description\":\"cameras\","
    "\"externalName\":\"\",\"extension\":{\"acls\":{\"admin\":false,"
    "\"virtualClusters\":[\"vision\"]}}}");
  assert_has(show_group("admingroup"),
             "\"virtualClusters\":[\"default\",\"vision\"]");
  assert_ok(pai_accounts_add_vc(h.a, "vision", NULL, "ext", &err));
  assert_has(show_group("vision"),
             "\"description\":\"cameras\",\"externalName\":"
             "\"ext\"");
  expect(host_take(pai_accounts_add_vc(h.a, "team", NULL, NULL, &err), &err),
         PAI_EEXISTS, "ConflictVcError", 409);
  expect(host_take(pai_accounts_add_vc(h.a, "a b", NULL, NULL, &err), &err),
         INVALID);
  assert_ok(
    put_user(0, "{\"username\":\"ada\",\"virtualCluster\":[\"vision\"]}"));
  assert_ok(pai_accounts_set_group_value(h.a, "team", "acls/virtualClusters",
                                         SMALL("[\"vision\"]"), &err));
  assert_int_equal(pai_accounts_may_use_vc(h.a, "ada", "vision"), 1);
  assert_ok(pai_accounts_remove_vc(h.a, "vision", &err));
  assert_int_equal(pai_accounts_may_use_vc(h.a, "ada", "vision"), 0);
  assert_null(strstr(show_group("team"), "vision"));
  assert_null(strstr(show_group("admingroup"), "vision"));
  assert_null(strstr(show_user("ada", NULL), "vision"));
  assert_null(pai__find_group(h.a, "vision"));
  assert_ok(pai_accounts_remove_vc(h.a, "none", &err));
  expect(host_take(pai_accounts_remove_vc(h.a, "admingroup", &err), &err),
         PAI_EPERM, "ForbiddenUserError", 403);
  host_reopen();
  assert_null(strstr(show_user("ada", NULL), "vision"));
  assert_null(pai__find_group(h.a, "vision"));
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

static int put_storage(const char *json)
{
  pai_error *err;
  int rc = pai_accounts_put_storage(h.a, json, strlen(json), &err);

  return host_take(rc, &err);
}

TEST(bad_storages_are_refused)
{
  for (size_t i = 0; i < PAI__LEN(bad_storages); i++)
    expect(put_storage(bad_storages[i]), INVALID);
  assert_int_equal(h.a->storages.n, 0);
}

static void set_up_with_storages(void)
{
  set_up();
  add_user("ada");
  assert_ok(
    put_storage("{\"name\":\"files\",\"type\":\"azureFile\",\"data\":"
                "{\"shareName\":\"s\",\"accountName\":\"n\","
                "\"accountKey\":\"key-7\"},\"share\":false,"
                "\"secretName\":\"sec\",\"mountOptions\":[\"nolock\"]}"));
  assert_ok(put_storage("{\"name\":\"data\",\"type\":\"local\",\"data\":"
                        "{\"path\":\"/srv/data\"},\"readOnly\":true}"));
  assert_ok(put_storage("{\"name\":\"more\",\"type\":\"nfs\","
                        "\"mountedAt\":\"/mnt/more\"}"));
  assert_ok(put_group(PAI_PUT_CREATE,
                      "{\"groupname\":\"team\",\"extension\":{\"acls\":"
                      "{\"storageConfigs\":[\"files\",\"data\",\"none\"]}}}"));
  assert_ok(pai_accounts_set_member(h.a, "ada", "team", 1, NULL));
}

TEST(storages_are_told_to_whom_they_are_granted)
{
  set_up_with_storages();
  host_reopen();
  assert_int_equal(bytes_in_folder("key-7", 5), 0);
  assert_string_equal(
    show_storages(PAI_STORAGE_SUMMARY, "ada", NULL),
    "{\"storages\":[{\"name\":\"data\",\"share\":true,\"volumeName\":"
    "\"data\",\"default\":false},{\"name\":\"files\",\"share\":false,"
    "\"volumeName\":\"files\",\"default\":true}]}");
  assert_string_equal(show_storages(PAI_STORAGE_SUMMARY, "admin", NULL),
                      "{\"storages\":[]}");
  assert_has(show_storages(PAI_STORAGE_SUMMARY, NULL, NULL), "\"more\"");
  assert_string_equal(
    show_storages(PAI_STORAGE_DETAIL, "ada", "files"),
    "{\"name\":\"files\",\"share\":false,\"volumeName\":\"files\",\"type\":"
    "\"azureFile\",\"data\":{\"shareName\":\"s\",\"accountName\":\"n\","
    "\"accountKey\":\"key-7\"},\"readOnly\":false,\"mountOptions\":"
    "[\"nolock\"],\"secretName\":\"sec\"}");
  assert_string_equal(
    show_storages(PAI_STORAGE_DETAIL, "ada", "data"),
    "{\"name\":\"data\",\"share\":true,\"volumeName\":\"data\",\"type\":"
    "\"unknown\",\"local\":true,\"data\":{\"path\":\"/srv/"
    "data\"},\"readOnly\":true}");
  assert_string_equal(
    show_storages(PAI_STORAGE_CONFIG, "ada", "files"),
    "{\"name\":\"files\",\"default\":true,\"servers\":[\"files\"],"
    "\"mountInfos\":[{\"mountPoint\":\"/mnt/files\",\"path\":"
    "\"${PAI_USER_NAME}\",\"server\":\"files\",\"permission\":\"rw\"}]}");
  assert_string_equal(
    show_storages(PAI_STORAGE_SERVER, "ada", "files"),
    "{\"spn\":\"files\",\"type\":\"azurefile\",\"data\":{\"shareName\":\"s\","
    "\"accountName\":\"n\",\"accountKey\":\"key-7\"},\"extension\":{}}");
  (void)show_storages(PAI_STORAGE_DETAIL, "ada", "none");
  expect(PAI_ENOTFOUND, PAI_ENOTFOUND, "NoStorageError", 404);
  (void)show_storages(PAI_STORAGE_DETAIL, "ada", "more");
  expect(PAI_EPERM, PAI_EPERM, "ForbiddenUserError", 403);
  (void)show_storages(PAI_STORAGE_DETAIL, "nobody", "more");
  expect(PAI_EPERM, PAI_EPERM, "ForbiddenUserError", 403);
  (void)show_storages(PAI_STORAGE_SERVER, "ada", "none");
  expect(PAI_ENOTFOUND, PAI_ENOTFOUND, "UnknownError", 500);
  (void)show_storages(PAI_STORAGE_DETAIL, "ada", NULL);
  expect(PAI_EINVAL, PAI_EINVAL, "", 0);
  (void)show_storages(9, "ada", NULL);
  expect(PAI_EINVAL, PAI_EINVAL, "", 0);
  assert_int_equal(pai_accounts_may_use_storage(h.a, "ada", "data"), 1);
  assert_int_equal(pai_accounts_may_use_storage(h.a, "ada", "more"), 0);
  assert_int_equal(pai_accounts_may_use_storage(h.a, "nobody", "data"), 0);
}

TEST(lists_of_storages_are_narrowed)
{
  pai_storage_query q = PAI_STORAGE_QUERY_INIT;
  pai_error *err;

  set_up_with_storages();
  q.form = PAI_STORAGE_SUMMARY;
  q.user = "ada";
  q.usual = 1;
  host_begin();
  assert_ok(pai_accounts_write_storages(h.a, &q, host_write, &h, &err));
  assert_has(h.text, "\"files\"");
  assert_null(strstr(h.text, "\"data\""));
  q.form = PAI_STORAGE_CONFIG;
  q.usual = 0;
  q.names = "dat,data,fil";
  host_begin();
  assert_ok(pai_accounts_write_storages(h.a, &q, host_write, &h, &err));
  assert_has(h.text, "[{\"name\":\"data\"");
  assert_null(strstr(h.text, "\"files\""));
  expect(host_take(pai_accounts_remove_storage(h.a, "none", &err), &err),
         PAI_ENOTFOUND, "NoStorageError", 404);
  assert_ok(pai_accounts_remove_storage(h.a, "data", &err));
  host_reopen();
  q.names = NULL;
  host_begin();
  assert_ok(pai_accounts_write_storages(h.a, &q, host_write, &h, &err));
  assert_null(strstr(h.text, "\"data\""));
  assert_has(h.text, "\"files\"");
}

TEST_AROUND_EACH(host_set_up, host_tear_down);
