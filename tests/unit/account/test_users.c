/* Users: what may become of them, and what is said of them to whom. */
#include "cases.h"
#include "host.h"

#include <errno.h>
/* Of the user admin, with admin-password: the original's own. */
#define HASH                                                         \
  "822330e44ace9eba338341d3d6830ac5cd60661b12b8ea9a5fa62aa40bd23944" \
  "818021c11272f6f7bb16e34af5fbfa0b2f87bc30d51c6c2eeb75444a854cf882"

#define ADA "{\"username\":\"ada\",\"password\":\"secret-1\","
#define INVALID PAI_EINVAL, "InvalidParametersError", 400

TEST(the_old_hash_is_openpais)
{
  char hash[PAI__OLD_HASH];

  pai__hash_old(hash, "admin", "admin-password");
  assert_string_equal(hash, HASH);
}

TEST(it_begins_with_an_administrator)
{
  h.vcs[1] = "vision";
  assert_ok(pai_accounts_setup(h.a, "root", NULL, host_on_told, &h, NULL));
  assert_int_equal(h.calls, 0);
  host_run();
  assert_has(h.text, "{\"username\":\"root\",\"password\":\"");
  {
    char password[32] = "";
    assert_int_equal(sscanf(h.text,
                            "{\"username\":\"root\",\"password\":\"%20[^\"]",
                            password),
                     1);
    assert_int_equal(strlen(password), 20);
    assert_ok(log_in("root", password));
  }
  assert_string_equal(
    show_user("root", NULL),
    "{\"username\":\"root\",\"grouplist\":[\"default\",\"admingroup\"],"
    "\"email\":\"\",\"extension\":{},\"admin\":true,"
    "\"virtualCluster\":[\"default\",\"vision\"],\"storageConfig\":[]}");
  assert_string_equal(
    show_group("vision"),
    "{\"groupname\":\"vision\",\"description\":\"\",\"externalName\":\"\","
    "\"extension\":{\"acls\":{\"admin\":false,"
    "\"virtualClusters\":[\"vision\"]}}}");
  assert_has(show_group("admingroup"),
             "\"admin\":true,\"virtualClusters\":[\"default\","
             "\"vision\"]");
  /* Only once; also in the next life. */
  host_reopen();
  assert_ok(pai_accounts_setup(h.a, NULL, NULL, host_on_told, &h, NULL));
  host_run();
  assert_string_equal(h.text, "{}");
  assert_int_equal(pai_accounts_has_user(h.a, "admin"), 0);
  assert_int_equal(pai_accounts_is_admin(h.a, "root"), 1);
}

/* Where users log in elsewhere. */
TEST(it_begins_with_nobody)
{
  h.vcs[1] = "vision";
  assert_ok(pai_accounts_setup(h.a, "", NULL, host_on_told, &h, NULL));
  host_run();
  assert_string_equal(h.text, "{}");
  assert_int_equal(pai_accounts_has_user(h.a, "admin"), 0);
  assert_int_equal(pai_accounts_has_user(h.a, ""), 0);
  assert_has(show_group("admingroup"), "\"vision\"");
}

TEST(setup_refuses)
{
  pai_error *err;

  assert_fails(pai_accounts_setup(h.a, "a b", NULL, host_on_told, &h, &err),
               err, PAI_EINVAL, "a b");
  assert_fails(pai_accounts_setup(h.a, NULL, "short", host_on_told, &h, &err),
               err, PAI_EINVAL, "at least 8");
  assert_int_equal(
    pai_accounts_setup(NULL, NULL, NULL, host_on_told, &h, &err), PAI_EINVAL);
  pai_error_free(err);
  host_run();
  assert_int_equal(h.calls, 0);
  assert_int_equal(h.a->accounts.n, 0);
}

static const struct {
  unsigned flags;
  const char *json;
  int code;
  const char *api;
  int http;
  const char *says;
} refused[] = {
  { PAI_PUT_CREATE, "{", INVALID, "" },
  { PAI_PUT_CREATE, "[]", INVALID, "must be an object" },
  { PAI_PUT_CREATE, "{\"password\":\"secret-1\"}", INVALID,
    "\"username\" is required" },
  { PAI_PUT_CREATE, "{\"username\":\"ada\"}", INVALID,
    "\"password\" is required" },
  { PAI_PUT_CREATE, "{\"username\":\"ada\",\"password\":\"five5\"}", INVALID,
    "at least 8" },
  { PAI_PUT_CREATE, "{\"username\":\"ada\",\"password\":\"PassWord123\"}",
    INVALID, "common password" },
  { PAI_PUT_CREATE,
    "{\"username\":\"adalovelace\",\"password\":\"AdaLovelace\"}", INVALID,
    "user name" },
  { PAI_PUT_CREATE, "{\"username\":\"ada\",\"password\":\"abcdefghijkl\"}",
    INVALID, "common password" },
  { PAI_PUT_CREATE, ADA "\"email\":\"a..b@c.d\"}", INVALID, "\"email\"" },
  { PAI_PUT_CREATE, ADA "\"email\":\"a@-c-.d\"}", INVALID, "\"email\"" },
  { PAI_PUT_CREATE, "{\"username\":\"a da\",\"password\":\"secret-1\"}",
    INVALID, "\"username\"" },
  { PAI_PUT_CREATE, "{\"username\":\"..\",\"password\":\"secret-1\"}", INVALID,
    "begin with a dot" },
  { PAI_PUT_CREATE, "{\"username\":\"a\\u0000b\",\"password\":\"secret-1\"}",
    INVALID, "must be a string" },
  { PAI_PUT_CREATE, "{\"username\":7,\"password\":\"secret-1\"}", INVALID,
    "must be a string" },
  { PAI_PUT_CREATE, ADA "\"colour\":1}", INVALID,
    "\"colour\" is not allowed" },
  { PAI_PUT_CREATE,
    "{\"username\":\"ada\",\"username\":\"bob\",\"password\":\"secret-1\"}",
    INVALID, "username" },
  { PAI_PUT_CREATE, ADA "\"email\":\"here\"}", INVALID, "valid email" },
  { PAI_PUT_CREATE, ADA "\"email\":\"a@b\\nc\"}", INVALID, "valid email" },
  { PAI_PUT_CREATE, ADA "\"admin\":\"yes\"}", INVALID, "boolean" },
  { PAI_PUT_CREATE, ADA "\"extension\":[]}", INVALID, "object" },
  { PAI_PUT_CREATE, ADA "\"virtualCluster\":\"default\"}", INVALID, "array" },
  { PAI_PUT_CREATE, ADA "\"grouplist\":[1]}", INVALID, "array of strings" },
  { PAI_PUT_CREATE, ADA "\"virtualCluster\":[\"none\"]}", PAI_ENOTFOUND,
    "NoGroupError", 404, "Group none is not found." },
  { PAI_PUT_CREATE, ADA "\"virtualCluster\":[\"team\"]}", PAI_EINVAL,
    "NoVirtualClusterError", 400, "team" },
  { PAI_PUT_CREATE, ADA "\"grouplist\":[\"none\"]}", PAI_ENOTFOUND,
    "NoGroupError", 404, "none" },
  { PAI_PUT_CREATE, "{\"username\":\"admin\",\"password\":\"secret-1\"}",
    PAI_EEXISTS, "ConflictUserError", 409, "admin" },
  { PAI_PUT_CREATE, "{\"username\":\"ada\",\"passwordHash\":\"abc\"}", INVALID,
    "passwordHash" },
  { PAI_PUT_CREATE,
    "{\"username\":\"ada\",\"passwordHash\":"
    "\"$argon2id$v=19$m=99999999,t=2,p=1$c29tZXNhbHQ$aGFzaA\"}",
    INVALID, "passwordHash" },
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

TEST(what_makes_no_sense_is_refused)
{
  set_up();
  assert_ok(put_group(PAI_PUT_CREATE, "{\"groupname\":\"team\"}"));
  for (size_t i = 0; i < PAI__LEN(refused); i++) {
    int rc = put_user(refused[i].flags, refused[i].json);

    expect(rc, refused[i].code, refused[i].api, refused[i].http);
    if (strstr(h.message, refused[i].says) == NULL)
      fail_msg("%s: %s", refused[i].json, h.message);
  }
  assert_int_equal(h.a->accounts.n, 1);
  assert_ok(log_in("admin", "admin-passphrase"));
}

TEST(a_user_becomes_what_is_asked_for)
{
  h.vcs[1] = "vision";
  set_up();
  assert_ok(
    put_user(PAI_PUT_CREATE,
             "{\"username\":\"ada\",\"password\":\"secret-1\","
             "\"email\":\"ada@example.org\",\"virtualCluster\":[\"vision\"],"
             "\"extension\":{\"a\":1,\"b\":{\"c\":[true,null,-2.5]}}}"));
  assert_string_equal(h.text, "{}");
  assert_string_equal(
    show_user("ada", NULL),
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
  assert_ok(put_user(0, "{\"username\":\"ada\",\"email\":\"\","
                        "\"extension\":{\"b\":2,\"d\":\"\\\"x\"}}"));
  assert_has(show_user("ada", NULL),
             "\"email\":\"\",\"extension\":{\"a\":1,\"b\":2,\"d\":\"\\\"x\"}");
  /* An administrator has all, and is one until that is said. */
  assert_ok(put_user(0, "{\"username\":\"ada\",\"admin\":true}"));
  assert_int_equal(pai_accounts_is_admin(h.a, "ada"), 1);
  assert_ok(put_user(0, "{\"username\":\"ada\",\"virtualCluster\":[]}"));
  assert_has(show_user("ada", NULL),
             "\"grouplist\":[\"default\",\"admingroup\"]");
  assert_ok(put_user(0, "{\"username\":\"ada\",\"admin\":false,"
                        "\"virtualCluster\":[\"vision\"]}"));
  assert_has(show_user("ada", NULL), "\"grouplist\":[\"vision\",\"default\"]");
  assert_ok(
    put_user(0, "{\"username\":\"ada\",\"grouplist\":[\"admingroup\"]}"));
  host_reopen();
  assert_has(show_user("ada", NULL),
             "\"grouplist\":[\"admingroup\"],\"email\":\"\",\"extension\":"
             "{\"a\":1,\"b\":2,\"d\":\"\\\"x\"},\"admin\":true");
  assert_ok(log_in("ada", "secret-1"));
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
TEST(a_password_is_not_wrong_for_lack_of_memory)
{
  set_up();
  short_of_memory = true;
  assert_int_equal(log_in("admin", "admin-passphrase"), PAI_ENOMEM);
  short_of_memory = false;
  assert_ok(log_in("admin", "admin-passphrase"));
}

TEST(login_wants_the_password)
{
  char token[PAI__TOKEN_TEXT];

  set_up();
  assert_ok(log_in("admin", "admin-passphrase"));
  assert_has(h.text, "{\"user\":\"admin\",\"token\":\"eyJ");
  assert_has(h.text, "\",\"admin\":true}");
  expect(log_in("admin", "admin-Passphrase"), PAI_EPERM,
         "IncorrectPasswordError", 400);
  assert_string_equal(h.message, "Password is incorrect.");
  expect(log_in("nobody", "admin-passphrase"), PAI_ENOTFOUND, "NoUserError",
         400);
  assert_string_equal(h.message, "User nobody is not found.");
  expect(log_in("admin", ""), PAI_EPERM, "IncorrectPasswordError", 400);
  assert_ok(put_user(0, "{\"username\":\"admin\",\"extension\":"
                        "{\"githubPAT\":\"ghp_1\"}}"));
  assert_ok(log_in("admin", "admin-passphrase"));
  assert_has(h.text, "\"admin\":true,\"hasGitHubPAT\":true}");
  /* A new password, by who knows the old one. */
  assert_ok(put_user(0, "{\"username\":\"admin\",\"password\":\"another-1\","
                        "\"oldPassword\":\"admin-passphrase\"}"));
  assert_int_equal(log_in("admin", "admin-passphrase"), PAI_EPERM);
  assert_ok(log_in("admin", "another-1"));
  /* The old one once more is none, and nobody is turned out. */
  new_token(token, "admin", 0);
  assert_ok(put_user(0, "{\"username\":\"admin\",\"password\":\"another-1\","
                        "\"oldPassword\":\"another-1\"}"));
  assert_int_equal(why(token), PAI_TOKEN_GOOD);
  assert_ok(
    put_user(0, "{\"username\":\"admin\",\"password\":\"another-1\"}"));
  assert_int_equal(why(token), PAI_TOKEN_REVOKED);
  host_reopen();
  assert_ok(log_in("admin", "another-1"));
  assert_int_equal(bytes_in_folder("another-1", 9), 0);
}

TEST(an_old_hash_becomes_a_new_one_at_login)
{
  const pai__account *account;
  char hash[PAI__OLD_HASH];

  set_up();
  pai__hash_old(hash, "ada", "once-upon-a-time");
  assert_ok(put_user(
    PAI_PUT_CREATE,
    test_string("{\"username\":\"ada\",\"passwordHash\":\"%s\"}", hash)));
  account = pai__find_account(h.a, "ada");
  assert_string_equal(account->user->password, hash);
  assert_int_equal(log_in("ada", "once-upon"), PAI_EPERM);
  assert_string_equal(account->user->password, hash);
  assert_ok(log_in("ada", "once-upon-a-time"));
  assert_int_equal(strncmp(account->user->password, "$argon2id$", 10), 0);
  assert_ok(log_in("ada", "once-upon-a-time"));
  host_reopen();
  assert_ok(log_in("ada", "once-upon-a-time"));
  assert_int_equal(bytes_in_folder(hash, strlen(hash)), 0);
}

/* The password of a user who was removed, and made anew, opens nothing. */
TEST(what_changes_meanwhile_counts)
{
  static const char other[] =
    "{\"username\":\"ada\",\"passwordHash\":\"" HASH "\"}";
  pai_error *err;

  set_up();
  add_user("ada");
  assert_ok(
    pai_accounts_login(h.a, "ada", "ada-password", host_on_told, &h, NULL));
  assert_ok(pai_accounts_remove_user(h.a, "ada", NULL));
  host_run();
  expect(h.status, PAI_ENOTFOUND, "NoUserError", 400);
  add_user("ada");
  assert_ok(
    pai_accounts_login(h.a, "ada", "ada-password", host_on_told, &h, NULL));
  assert_ok(pai_accounts_put_user(h.a, other, strlen(other), 0, host_on_told,
                                  &h, &err));
  host_run(); /* it was right when it was asked */
  expect(h.status, PAI_EPERM, "IncorrectPasswordError", 400);
  assert_int_equal(log_in("ada", "ada-password"), PAI_EPERM);
  /* Two come for one name: the second finds the first. */
  assert_ok(pai_accounts_put_user(
    h.a, "{\"username\":\"b\",\"password\":\"b-secret\"}", 38, PAI_PUT_CREATE,
    host_on_told, &h, &err));
  assert_ok(pai_accounts_put_user(
    h.a, "{\"username\":\"b\",\"password\":\"c-secret\"}", 38, PAI_PUT_CREATE,
    host_on_told, &h, &err));
  host_run();
  expect(h.status, PAI_EEXISTS, "ConflictUserError", 409);
  assert_ok(log_in("b", "b-secret"));
}

TEST(users_go_but_administrators)
{
  pai_error *err;
  char token[PAI__TOKEN_TEXT];

  set_up();
  add_user("ada");
  new_token(token, "ada", 1);
  expect(host_take(pai_accounts_remove_user(h.a, "admin", &err), &err),
         PAI_EPERM, "RemoveAdminError", 403);
  expect(host_take(pai_accounts_remove_user(h.a, "nobody", &err), &err),
         PAI_ENOTFOUND, "NoUserError", 404);
  assert_ok(pai_accounts_remove_user(h.a, "ada", &err));
  assert_int_equal(pai_accounts_has_user(h.a, "ada"), 0);
  assert_int_equal(why(token), PAI_TOKEN_REVOKED);
  add_user("ada"); /* another one, of the same name */
  assert_int_equal(why(token), PAI_TOKEN_REVOKED);
  host_reopen();
  assert_int_equal(why(token), PAI_TOKEN_REVOKED);
  assert_true(pai_accounts_has_user(h.a, "ada"));
}

TEST_AROUND_EACH(host_set_up, host_tear_down);
