/* Users: what may become of them, and what is said of them to whom. */
#include "host.h"

#include <errno.h>
/* Of the user admin, with admin-password: the original's own. */
#define HASH                                                         \
  "822330e44ace9eba338341d3d6830ac5cd60661b12b8ea9a5fa62aa40bd23944" \
  "818021c11272f6f7bb16e34af5fbfa0b2f87bc30d51c6c2eeb75444a854cf882"

static void the_old_hash_is_openpais(void **state)
{
  char hash[PAI__OLD_HASH];

  (void)state;
  pai__hash_old(hash, "admin", "admin-password");
  assert_string_equal(hash, HASH);
}

static void it_begins_with_an_administrator(void **state)
{
  static host h;

  (void)state;
  host_open(&h);
  h.vcs[1] = "vision";
  assert_int_equal(
    pai_accounts_setup(h.a, "root", NULL, host_on_told, &h, NULL), PAI_OK);
  assert_int_equal(h.calls, 0);
  host_run(&h);
  assert_non_null(strstr(h.text, "{\"username\":\"root\",\"password\":\""));
  {
    char password[32] = "";
    assert_int_equal(sscanf(h.text,
                            "{\"username\":\"root\",\"password\":\"%20[^\"]",
                            password),
                     1);
    assert_int_equal(strlen(password), 20);
    assert_int_equal(log_in(&h, "root", password), PAI_OK);
  }
  assert_string_equal(
    show_user(&h, "root", NULL),
    "{\"username\":\"root\",\"grouplist\":[\"default\",\"admingroup\"],"
    "\"email\":\"\",\"extension\":{},\"admin\":true,"
    "\"virtualCluster\":[\"default\",\"vision\"],\"storageConfig\":[]}");
  assert_string_equal(
    show_group(&h, "vision"),
    "{\"groupname\":\"vision\",\"description\":\"\",\"externalName\":\"\","
    "\"extension\":{\"acls\":{\"admin\":false,"
    "\"virtualClusters\":[\"vision\"]}}}");
  assert_non_null(strstr(show_group(&h, "admingroup"),
                         "\"admin\":true,\"virtualClusters\":[\"default\","
                         "\"vision\"]"));
  /* Only once; also in the next life. */
  host_reopen(&h);
  assert_int_equal(pai_accounts_setup(h.a, NULL, NULL, host_on_told, &h, NULL),
                   PAI_OK);
  host_run(&h);
  assert_string_equal(h.text, "{}");
  assert_int_equal(pai_accounts_has_user(h.a, "admin"), 0);
  assert_int_equal(pai_accounts_is_admin(h.a, "root"), 1);
  host_close(&h);
}

/* Where users log in elsewhere. */
static void it_begins_with_nobody(void **state)
{
  static host h;

  (void)state;
  host_open(&h);
  h.vcs[1] = "vision";
  assert_int_equal(pai_accounts_setup(h.a, "", NULL, host_on_told, &h, NULL),
                   PAI_OK);
  host_run(&h);
  assert_string_equal(h.text, "{}");
  assert_int_equal(pai_accounts_has_user(h.a, "admin"), 0);
  assert_int_equal(pai_accounts_has_user(h.a, ""), 0);
  assert_non_null(strstr(show_group(&h, "admingroup"), "\"vision\""));
  host_close(&h);
}

static void setup_refuses(void **state)
{
  static host h;
  pai_error *err;

  (void)state;
  host_open(&h);
  assert_int_equal(
    pai_accounts_setup(h.a, "a b", NULL, host_on_told, &h, &err), PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "a b");
  assert_int_equal(
    pai_accounts_setup(h.a, NULL, "short", host_on_told, &h, &err),
    PAI_EINVAL);
  test_expect_error(err, PAI_EINVAL, "at least 8");
  assert_int_equal(
    pai_accounts_setup(NULL, NULL, NULL, host_on_told, &h, &err), PAI_EINVAL);
  pai_error_free(err);
  host_run(&h);
  assert_int_equal(h.calls, 0);
  assert_int_equal(h.a->accounts.n, 0);
  host_close(&h);
}

static const struct {
  unsigned flags;
  const char *json;
  int code;
  const char *api;
  int http;
  const char *says;
} refused[] = {
  { PAI_PUT_CREATE, "{", PAI_EINVAL, "InvalidParametersError", 400, "" },
  { PAI_PUT_CREATE, "[]", PAI_EINVAL, "InvalidParametersError", 400,
    "must be an object" },
  { PAI_PUT_CREATE, "{\"password\":\"secret-1\"}", PAI_EINVAL,
    "InvalidParametersError", 400, "\"username\" is required" },
  { PAI_PUT_CREATE, "{\"username\":\"ada\"}", PAI_EINVAL,
    "InvalidParametersError", 400, "\"password\" is required" },
  { PAI_PUT_CREATE, "{\"username\":\"ada\",\"password\":\"five5\"}",
    PAI_EINVAL, "InvalidParametersError", 400, "at least 8" },
  { PAI_PUT_CREATE, "{\"username\":\"ada\",\"password\":\"PassWord123\"}",
    PAI_EINVAL, "InvalidParametersError", 400, "common password" },
  { PAI_PUT_CREATE,
    "{\"username\":\"adalovelace\",\"password\":\"AdaLovelace\"}", PAI_EINVAL,
    "InvalidParametersError", 400, "user name" },
  { PAI_PUT_CREATE, "{\"username\":\"ada\",\"password\":\"abcdefghijkl\"}",
    PAI_EINVAL, "InvalidParametersError", 400, "common password" },
  { PAI_PUT_CREATE,
    "{\"username\":\"ada\",\"password\":\"secret-1\",\"email\":\"a..b@c.d\"}",
    PAI_EINVAL, "InvalidParametersError", 400, "\"email\"" },
  { PAI_PUT_CREATE,
    "{\"username\":\"ada\",\"password\":\"secret-1\",\"email\":\"a@-c-.d\"}",
    PAI_EINVAL, "InvalidParametersError", 400, "\"email\"" },
  { PAI_PUT_CREATE, "{\"username\":\"a da\",\"password\":\"secret-1\"}",
    PAI_EINVAL, "InvalidParametersError", 400, "\"username\"" },
  { PAI_PUT_CREATE, "{\"username\":\"..\",\"password\":\"secret-1\"}",
    PAI_EINVAL, "InvalidParametersError", 400, "begin with a dot" },
  { PAI_PUT_CREATE, "{\"username\":\"a\\u0000b\",\"password\":\"secret-1\"}",
    PAI_EINVAL, "InvalidParametersError", 400, "must be a string" },
  { PAI_PUT_CREATE, "{\"username\":7,\"password\":\"secret-1\"}", PAI_EINVAL,
    "InvalidParametersError", 400, "must be a string" },
  { PAI_PUT_CREATE,
    "{\"username\":\"ada\",\"password\":\"secret-1\",\"colour\":1}",
    PAI_EINVAL, "InvalidParametersError", 400, "\"colour\" is not allowed" },
  { PAI_PUT_CREATE,
    "{\"username\":\"ada\",\"username\":\"bob\",\"password\":\"secret-1\"}",
    PAI_EINVAL, "InvalidParametersError", 400, "username" },
  { PAI_PUT_CREATE,
    "{\"username\":\"ada\",\"password\":\"secret-1\",\"email\":\"here\"}",
    PAI_EINVAL, "InvalidParametersError", 400, "valid email" },
  { PAI_PUT_CREATE,
    "{\"username\":\"ada\",\"password\":\"secret-1\",\"email\":\"a@b\\nc\"}",
    PAI_EINVAL, "InvalidParametersError", 400, "valid email" },
  { PAI_PUT_CREATE,
    "{\"username\":\"ada\",\"password\":\"secret-1\",\"admin\":\"yes\"}",
    PAI_EINVAL, "InvalidParametersError", 400, "boolean" },
  { PAI_PUT_CREATE,
    "{\"username\":\"ada\",\"password\":\"secret-1\",\"extension\":[]}",
    PAI_EINVAL, "InvalidParametersError", 400, "object" },
  { PAI_PUT_CREATE,
    "{\"username\":\"ada\",\"password\":\"secret-1\","
    "\"virtualCluster\":\"default\"}",
    PAI_EINVAL, "InvalidParametersError", 400, "array" },
  { PAI_PUT_CREATE,
    "{\"username\":\"ada\",\"password\":\"secret-1\",\"grouplist\":[1]}",
    PAI_EINVAL, "InvalidParametersError", 400, "array of strings" },
  { PAI_PUT_CREATE,
    "{\"username\":\"ada\",\"password\":\"secret-1\","
    "\"virtualCluster\":[\"none\"]}",
    PAI_ENOTFOUND, "NoGroupError", 404, "Group none is not found." },
  { PAI_PUT_CREATE,
    "{\"username\":\"ada\",\"password\":\"secret-1\","
    "\"virtualCluster\":[\"team\"]}",
    PAI_EINVAL, "NoVirtualClusterError", 400, "team" },
  { PAI_PUT_CREATE,
    "{\"username\":\"ada\",\"password\":\"secret-1\","
    "\"grouplist\":[\"none\"]}",
    PAI_ENOTFOUND, "NoGroupError", 404, "none" },
  { PAI_PUT_CREATE, "{\"username\":\"admin\",\"password\":\"secret-1\"}",
    PAI_EEXISTS, "ConflictUserError", 409, "admin" },
  { PAI_PUT_CREATE, "{\"username\":\"ada\",\"passwordHash\":\"abc\"}",
    PAI_EINVAL, "InvalidParametersError", 400, "passwordHash" },
  { PAI_PUT_CREATE,
    "{\"username\":\"ada\",\"passwordHash\":"
    "\"$argon2id$v=19$m=99999999,t=2,p=1$c29tZXNhbHQ$aGFzaA\"}",
    PAI_EINVAL, "InvalidParametersError", 400, "passwordHash" },
  { 0, "{\"username\":\"ada\",\"email\":\"\"}", PAI_ENOTFOUND, "NoUserError",
    404, "User ada is not found." },
  { 0, "{\"username\":\"admin\",\"virtualCluster\":[\"none\"]}", PAI_EINVAL,
    "NoVirtualClusterError", 400, "none" },
  { PAI_PUT_NO_ADMIN, "{\"username\":\"admin\",\"virtualCluster\":[]}",
    PAI_EPERM, "ForbiddenUserError", 403, "administrator" },
  { PAI_PUT_NO_ADMIN, "{\"username\":\"ada\",\"virtualCluster\":[\"none\"]}",
    PAI_EINVAL, "NoVirtualClusterError", 400, "none" },
  { 0,
    "{\"username\":\"admin\",\"password\":\"secret-2\","
    "\"oldPassword\":\"wrong-one\"}",
    PAI_EPERM, "ForbiddenUserError", 403, "old password" },
};

static void what_makes_no_sense_is_refused(void **state)
{
  static host h;

  (void)state;
  host_open(&h);
  set_up(&h);
  assert_int_equal(put_group(&h, PAI_PUT_CREATE, "{\"groupname\":\"team\"}"),
                   PAI_OK);
  for (size_t i = 0; i < PAI__LEN(refused); i++) {
    int rc = put_user(&h, refused[i].flags, refused[i].json);

    expect(&h, rc, refused[i].code, refused[i].api, refused[i].http);
    if (strstr(h.message, refused[i].says) == NULL)
      fail_msg("%s: %s", refused[i].json, h.message);
  }
  assert_int_equal(h.a->accounts.n, 1);
  assert_int_equal(log_in(&h, "admin", "admin-passphrase"), PAI_OK);
  host_close(&h);
}

static void a_user_becomes_what_is_asked_for(void **state)
{
  static host h;

  (void)state;
  host_open(&h);
  h.vcs[1] = "vision";
  set_up(&h);
  assert_int_equal(
    put_user(&h, PAI_PUT_CREATE,
             "{\"username\":\"ada\",\"password\":\"secret-1\","
             "\"email\":\"ada@example.org\",\"virtualCluster\":[\"vision\"],"
             "\"extension\":{\"a\":1,\"b\":{\"c\":[true,null,-2.5]}}}"),
    PAI_OK);
  assert_string_equal(h.text, "{}");
  assert_string_equal(
    show_user(&h, "ada", NULL),
    "{\"username\":\"ada\",\"grouplist\":[\"vision\",\"default\"],"
    "\"email\":\"ada@example.org\","
    "\"extension\":{\"a\":1,\"b\":{\"c\":[true,null,-2.5]}},\"admin\":false,"
    "\"virtualCluster\":[\"vision\",\"default\"],\"storageConfig\":[]}");
  assert_int_equal(pai_accounts_may_use_vc(h.a, "ada", "vision"), 1);
  assert_int_equal(pai_accounts_may_use_vc(h.a, "ada", "speech"), 0);
  assert_int_equal(pai_accounts_may_use_vc(h.a, "admin", "vision"), 1);
  assert_int_equal(pai_accounts_may_use_vc(h.a, "admin", "speech"), 0);
  assert_int_equal(pai_accounts_may_use_vc(h.a, "nobody", "default"), 0);
  /* Members of the extension are merged, not what is in them. */
  assert_int_equal(put_user(&h, 0,
                            "{\"username\":\"ada\",\"email\":\"\","
                            "\"extension\":{\"b\":2,\"d\":\"\\\"x\"}}"),
                   PAI_OK);
  assert_non_null(
    strstr(show_user(&h, "ada", NULL),
           "\"email\":\"\",\"extension\":{\"a\":1,\"b\":2,\"d\":\"\\\"x\"}"));
  /* An administrator has all, and is one until that is said. */
  assert_int_equal(put_user(&h, 0, "{\"username\":\"ada\",\"admin\":true}"),
                   PAI_OK);
  assert_int_equal(pai_accounts_is_admin(h.a, "ada"), 1);
  assert_int_equal(
    put_user(&h, 0, "{\"username\":\"ada\",\"virtualCluster\":[]}"), PAI_OK);
  assert_non_null(strstr(show_user(&h, "ada", NULL),
                         "\"grouplist\":[\"default\",\"admingroup\"]"));
  assert_int_equal(put_user(&h, 0,
                            "{\"username\":\"ada\",\"admin\":false,"
                            "\"virtualCluster\":[\"vision\"]}"),
                   PAI_OK);
  assert_non_null(strstr(show_user(&h, "ada", NULL),
                         "\"grouplist\":[\"vision\",\"default\"]"));
  assert_int_equal(
    put_user(&h, 0, "{\"username\":\"ada\",\"grouplist\":[\"admingroup\"]}"),
    PAI_OK);
  host_reopen(&h);
  assert_non_null(
    strstr(show_user(&h, "ada", NULL),
           "\"grouplist\":[\"admingroup\"],\"email\":\"\",\"extension\":"
           "{\"a\":1,\"b\":2,\"d\":\"\\\"x\"},\"admin\":true"));
  assert_int_equal(log_in(&h, "ada", "secret-1"), PAI_OK);
  host_close(&h);
}

static bool short_of_memory;

int __real_crypto_pwhash_str_verify(const char *hash, const char *password,
                                    unsigned long long len);
int __wrap_crypto_pwhash_str_verify(const char *hash, const char *password,
                                    unsigned long long len);
int __wrap_crypto_pwhash_str_verify(const char *hash, const char *password,
                                    unsigned long long len)
{
  if (!short_of_memory)
    return __real_crypto_pwhash_str_verify(hash, password, len);
  errno = ENOMEM;
  return -1;
}

/* Nobody is told that his password is wrong when it could not be looked at. */
static void a_password_is_not_wrong_for_lack_of_memory(void **state)
{
  static host h;

  (void)state;
  host_open(&h);
  set_up(&h);
  short_of_memory = true;
  assert_int_equal(log_in(&h, "admin", "admin-passphrase"), PAI_ENOMEM);
  short_of_memory = false;
  assert_int_equal(log_in(&h, "admin", "admin-passphrase"), PAI_OK);
  host_close(&h);
}

static void login_wants_the_password(void **state)
{
  static host h;
  char token[PAI__TOKEN_TEXT];

  (void)state;
  host_open(&h);
  set_up(&h);
  assert_int_equal(log_in(&h, "admin", "admin-passphrase"), PAI_OK);
  assert_non_null(strstr(h.text, "{\"user\":\"admin\",\"token\":\"eyJ"));
  assert_non_null(strstr(h.text, "\",\"admin\":true}"));
  expect(&h, log_in(&h, "admin", "admin-Passphrase"), PAI_EPERM,
         "IncorrectPasswordError", 400);
  assert_string_equal(h.message, "Password is incorrect.");
  expect(&h, log_in(&h, "nobody", "admin-passphrase"), PAI_ENOTFOUND,
         "NoUserError", 400);
  assert_string_equal(h.message, "User nobody is not found.");
  expect(&h, log_in(&h, "admin", ""), PAI_EPERM, "IncorrectPasswordError",
         400);
  assert_int_equal(put_user(&h, 0,
                            "{\"username\":\"admin\",\"extension\":"
                            "{\"githubPAT\":\"ghp_1\"}}"),
                   PAI_OK);
  assert_int_equal(log_in(&h, "admin", "admin-passphrase"), PAI_OK);
  assert_non_null(strstr(h.text, "\"admin\":true,\"hasGitHubPAT\":true}"));
  /* A new password, by who knows the old one. */
  assert_int_equal(
    put_user(&h, 0,
             "{\"username\":\"admin\",\"password\":\"another-1\","
             "\"oldPassword\":\"admin-passphrase\"}"),
    PAI_OK);
  assert_int_equal(log_in(&h, "admin", "admin-passphrase"), PAI_EPERM);
  assert_int_equal(log_in(&h, "admin", "another-1"), PAI_OK);
  /* The old one once more is none, and nobody is turned out. */
  new_token(&h, token, "admin", 0);
  assert_int_equal(
    put_user(&h, 0,
             "{\"username\":\"admin\",\"password\":\"another-1\","
             "\"oldPassword\":\"another-1\"}"),
    PAI_OK);
  assert_int_equal(why(&h, token), PAI_TOKEN_GOOD);
  assert_int_equal(
    put_user(&h, 0, "{\"username\":\"admin\",\"password\":\"another-1\"}"),
    PAI_OK);
  assert_int_equal(why(&h, token), PAI_TOKEN_REVOKED);
  host_reopen(&h);
  assert_int_equal(log_in(&h, "admin", "another-1"), PAI_OK);
  assert_int_equal(bytes_in_folder("another-1", 9), 0);
  host_close(&h);
}

static void an_old_hash_becomes_a_new_one_at_login(void **state)
{
  static host h;
  const pai__account *account;
  char hash[PAI__OLD_HASH], json[512];

  (void)state;
  host_open(&h);
  set_up(&h);
  pai__hash_old(hash, "ada", "once-upon-a-time");
  (void)snprintf(json, sizeof(json),
                 "{\"username\":\"ada\",\"passwordHash\":\"%s\"}", hash);
  assert_int_equal(put_user(&h, PAI_PUT_CREATE, json), PAI_OK);
  account = pai__find_account(h.a, "ada");
  assert_string_equal(account->user->password, hash);
  assert_int_equal(log_in(&h, "ada", "once-upon"), PAI_EPERM);
  assert_string_equal(account->user->password, hash);
  assert_int_equal(log_in(&h, "ada", "once-upon-a-time"), PAI_OK);
  assert_int_equal(strncmp(account->user->password, "$argon2id$", 10), 0);
  assert_int_equal(log_in(&h, "ada", "once-upon-a-time"), PAI_OK);
  host_reopen(&h);
  assert_int_equal(log_in(&h, "ada", "once-upon-a-time"), PAI_OK);
  assert_int_equal(bytes_in_folder(hash, strlen(hash)), 0);
  host_close(&h);
}

/* The password of a user who was removed, and made anew, opens nothing. */
static void what_changes_meanwhile_counts(void **state)
{
  static const char other[] =
    "{\"username\":\"ada\",\"passwordHash\":\"" HASH "\"}";
  static host h;
  pai_error *err;

  (void)state;
  host_open(&h);
  set_up(&h);
  add_user(&h, "ada");
  assert_int_equal(
    pai_accounts_login(h.a, "ada", "ada-password", host_on_told, &h, NULL),
    PAI_OK);
  assert_int_equal(pai_accounts_remove_user(h.a, "ada", NULL), PAI_OK);
  host_run(&h);
  expect(&h, h.status, PAI_ENOTFOUND, "NoUserError", 400);
  add_user(&h, "ada");
  assert_int_equal(
    pai_accounts_login(h.a, "ada", "ada-password", host_on_told, &h, NULL),
    PAI_OK);
  assert_int_equal(pai_accounts_put_user(h.a, other, strlen(other), 0,
                                         host_on_told, &h, &err),
                   PAI_OK);
  host_run(&h); /* it was right when it was asked */
  expect(&h, h.status, PAI_EPERM, "IncorrectPasswordError", 400);
  assert_int_equal(log_in(&h, "ada", "ada-password"), PAI_EPERM);
  /* Two come for one name: the second finds the first. */
  assert_int_equal(pai_accounts_put_user(
                     h.a, "{\"username\":\"b\",\"password\":\"b-secret\"}", 38,
                     PAI_PUT_CREATE, host_on_told, &h, &err),
                   PAI_OK);
  assert_int_equal(pai_accounts_put_user(
                     h.a, "{\"username\":\"b\",\"password\":\"c-secret\"}", 38,
                     PAI_PUT_CREATE, host_on_told, &h, &err),
                   PAI_OK);
  host_run(&h);
  expect(&h, h.status, PAI_EEXISTS, "ConflictUserError", 409);
  assert_int_equal(log_in(&h, "b", "b-secret"), PAI_OK);
  host_close(&h);
}

static void users_go_but_administrators(void **state)
{
  static host h;
  pai_error *err;
  char token[PAI__TOKEN_TEXT];

  (void)state;
  host_open(&h);
  set_up(&h);
  add_user(&h, "ada");
  new_token(&h, token, "ada", 1);
  expect(&h, host_take(&h, pai_accounts_remove_user(h.a, "admin", &err), &err),
         PAI_EPERM, "RemoveAdminError", 403);
  expect(&h,
         host_take(&h, pai_accounts_remove_user(h.a, "nobody", &err), &err),
         PAI_ENOTFOUND, "NoUserError", 404);
  assert_int_equal(pai_accounts_remove_user(h.a, "ada", &err), PAI_OK);
  assert_int_equal(pai_accounts_has_user(h.a, "ada"), 0);
  assert_int_equal(why(&h, token), PAI_TOKEN_REVOKED);
  add_user(&h, "ada"); /* another one, of the same name */
  assert_int_equal(why(&h, token), PAI_TOKEN_REVOKED);
  host_reopen(&h);
  assert_int_equal(why(&h, token), PAI_TOKEN_REVOKED);
  assert_true(pai_accounts_has_user(h.a, "ada"));
  host_close(&h);
}

int main(void)
{
#define TEST(name) \
  cmocka_unit_test_setup_teardown(name, folder_set_up, folder_tear_down)
  const struct CMUnitTest tests[] = {
    TEST(the_old_hash_is_openpais),
    TEST(it_begins_with_an_administrator),
    TEST(it_begins_with_nobody),
    TEST(setup_refuses),
    TEST(what_makes_no_sense_is_refused),
    TEST(a_user_becomes_what_is_asked_for),
    TEST(login_wants_the_password),
    TEST(a_password_is_not_wrong_for_lack_of_memory),
    TEST(an_old_hash_becomes_a_new_one_at_login),
    TEST(what_changes_meanwhile_counts),
    TEST(users_go_but_administrators),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
