/* Users: what may become of them, and what is said of them to whom. */
#include "host.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
  test_expect_error(err, PAI_EINVAL, "6 to 1024");
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
    PAI_EINVAL, "InvalidParametersError", 400, "at least 6" },
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
  assert_int_equal(log_in(&h, "admin", "admin-password"), PAI_OK);
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

static void login_wants_the_password(void **state)
{
  static host h;
  char token[PAI__TOKEN_TEXT];

  (void)state;
  host_open(&h);
  set_up(&h);
  assert_int_equal(log_in(&h, "admin", "admin-password"), PAI_OK);
  assert_non_null(strstr(h.text, "{\"user\":\"admin\",\"token\":\"eyJ"));
  assert_non_null(strstr(h.text, "\",\"admin\":true}"));
  expect(&h, log_in(&h, "admin", "admin-Password"), PAI_EPERM,
         "IncorrectPasswordError", 400);
  assert_string_equal(h.message, "Password is incorrect.");
  expect(&h, log_in(&h, "nobody", "admin-password"), PAI_ENOTFOUND,
         "NoUserError", 400);
  assert_string_equal(h.message, "User nobody is not found.");
  expect(&h, log_in(&h, "admin", ""), PAI_EPERM, "IncorrectPasswordError",
         400);
  assert_int_equal(put_user(&h, 0,
                            "{\"username\":\"admin\",\"extension\":"
                            "{\"githubPAT\":\"ghp_1\"}}"),
                   PAI_OK);
  assert_int_equal(log_in(&h, "admin", "admin-password"), PAI_OK);
  assert_non_null(strstr(h.text, "\"admin\":true,\"hasGitHubPAT\":true}"));
  /* A new password, by who knows the old one. */
  assert_int_equal(put_user(&h, 0,
                            "{\"username\":\"admin\",\"password\":\"another\","
                            "\"oldPassword\":\"admin-password\"}"),
                   PAI_OK);
  assert_int_equal(log_in(&h, "admin", "admin-password"), PAI_EPERM);
  assert_int_equal(log_in(&h, "admin", "another"), PAI_OK);
  /* The old one once more is none, and nobody is turned out. */
  new_token(&h, token, "admin", 0);
  assert_int_equal(put_user(&h, 0,
                            "{\"username\":\"admin\",\"password\":\"another\","
                            "\"oldPassword\":\"another\"}"),
                   PAI_OK);
  assert_int_equal(why(&h, token), PAI_TOKEN_GOOD);
  assert_int_equal(
    put_user(&h, 0, "{\"username\":\"admin\",\"password\":\"another\"}"),
    PAI_OK);
  assert_int_equal(why(&h, token), PAI_TOKEN_REVOKED);
  host_reopen(&h);
  assert_int_equal(log_in(&h, "admin", "another"), PAI_OK);
  assert_int_equal(bytes_in_folder("another", 7), 0);
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
  assert_int_equal(
    pai_accounts_put_user(h.a, "{\"username\":\"b\",\"password\":\"bbbbbb\"}",
                          36, PAI_PUT_CREATE, host_on_told, &h, &err),
    PAI_OK);
  assert_int_equal(
    pai_accounts_put_user(h.a, "{\"username\":\"b\",\"password\":\"cccccc\"}",
                          36, PAI_PUT_CREATE, host_on_told, &h, &err),
    PAI_OK);
  host_run(&h);
  expect(&h, h.status, PAI_EEXISTS, "ConflictUserError", 409);
  assert_int_equal(log_in(&h, "b", "bbbbbb"), PAI_OK);
  host_close(&h);
}

static void secrets_are_their_owners(void **state)
{
  static host h;
  pai_error *err;
  char before[8192];

  (void)state;
  host_open(&h);
  set_up(&h);
  add_user(&h, "ada");
  assert_int_equal(
    put_user(&h, 0,
             "{\"username\":\"ada\",\"extension\":{\"githubPAT\":\"ghp_1\","
             "\"sshKeys\":[{\"title\":\"t\"}],\"boundedClusters\":{\"x\":"
             "{\"uri\":\"u\",\"token\":\"tok-1\"},\"y\":\"odd-1\"}}}"),
    PAI_OK);
  assert_int_equal(pai_accounts_need_ssh(h.a, "ada", &err), PAI_OK);
  assert_int_equal(pai_accounts_need_ssh(h.a, "nobody", &err), PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "nobody");
  assert_non_null(strstr(show_user(&h, "ada", "ada"), "BEGIN OPENSSH"));
  assert_non_null(strstr(h.text, "ghp_1"));
  assert_non_null(strstr(h.text, "tok-1"));
  memcpy(before, h.text, h.len + 1);
  for (int i = 0; i < 2; i++) {
    (void)show_user(&h, "ada", i == 0 ? NULL : "admin");
    assert_null(strstr(h.text, "BEGIN OPENSSH"));
    assert_null(strstr(h.text, "ghp_1"));
    assert_null(strstr(h.text, "tok-1"));
    assert_null(strstr(h.text, "odd-1"));
    assert_non_null(strstr(h.text, "\"sshKeys\":[{\"title\":\"t\"}]"));
    assert_non_null(strstr(h.text, "\"boundedClusters\":{\"x\":{\"uri\":"
                                   "\"u\"},\"y\":null}"));
    assert_non_null(strstr(h.text, "\"pubKey\":\"ssh-ed25519 AAAA"));
  }
  /* Who writes back what was shown takes nothing away that was not. */
  assert_int_equal(
    put_user(&h, 0,
             "{\"username\":\"ada\",\"extension\":{\"jobSSH\":{\"pubKey\":"
             "\"new\"},\"boundedClusters\":{\"x\":{\"uri\":\"v\"}}}}"),
    PAI_OK);
  assert_non_null(strstr(show_user(&h, "ada", "ada"), "BEGIN OPENSSH"));
  assert_non_null(strstr(h.text, "\"pubKey\":\"new\""));
  assert_non_null(strstr(h.text, "\"boundedClusters\":{\"x\":{\"uri\":\"v\","
                                 "\"token\":\"tok-1\"}}"));
  memcpy(before, h.text, h.len + 1);
  host_begin(&h);
  assert_int_equal(pai_accounts_write_users(h.a, NULL, host_write, &h, &err),
                   PAI_OK);
  assert_null(strstr(h.text, "tok-1"));
  assert_null(strstr(h.text, "$argon2id$"));
  assert_non_null(strstr(h.text, "[{\"username\":\"ada\""));
  assert_non_null(strstr(h.text, "},{\"username\":\"admin\""));
  /* Once there is a pair, it stays; and it is in no file. */
  assert_int_equal(pai_accounts_need_ssh(h.a, "ada", &err), PAI_OK);
  host_reopen(&h);
  assert_string_equal(show_user(&h, "ada", "ada"), before);
  assert_int_equal(bytes_in_folder("tok-1", 5), 0);
  assert_int_equal(bytes_in_folder("BEGIN OPENSSH", 13), 0);
  expect(&h, (show_user(&h, "nobody", NULL), PAI_ENOTFOUND), PAI_ENOTFOUND,
         "NoUserError", 400);
  host_close(&h);
}

/* Where there is OpenSSH, it reads the key, and makes the same public one. */
static void openssh_reads_the_pair(void **state)
{
  static host h;
  char public_key[512], made[512], *text, *to;
  const char *from;
  FILE *file;

  (void)state;
  if (system("command -v ssh-keygen >/dev/null 2>&1") != 0)
    skip();
  host_open(&h);
  set_up(&h);
  assert_int_equal(pai_accounts_need_ssh(h.a, "admin", NULL), PAI_OK);
  text = strstr(show_user(&h, "admin", "admin"), "-----BEGIN");
  assert_non_null(text);
  for (from = to = text; *from != '"'; from++)
    if (from[0] == '\\' && from[1] == 'n') {
      *to++ = '\n';
      from++;
    } else {
      *to++ = *from;
    }
  file = fopen(in_folder("pair"), "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, (size_t)(to - text), file),
                   (size_t)(to - text));
  assert_int_equal(fclose(file), 0);
  (void)snprintf(public_key, sizeof(public_key),
                 "chmod 600 %s; ssh-keygen -y -f %s", in_folder("pair"),
                 in_folder("pair"));
  file = popen(public_key, "r");
  assert_non_null(file);
  assert_non_null(fgets(made, sizeof(made), file));
  assert_int_equal(pclose(file), 0);
  made[strcspn(made, "\n")] = '\0';
  assert_non_null(strstr(show_user(&h, "admin", "admin"), made));
  assert_int_equal(unlink(in_folder("pair")), 0);
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

/* Without its key a root has users; what was secret of them is kept as it is,
 * whatever else becomes of them, and is there again with the key. */
static void what_was_sealed_outlives_its_key(void **state)
{
  static host h;

  (void)state;
  host_open(&h);
  set_up(&h);
  assert_int_equal(
    put_user(&h, 0, "{\"username\":\"admin\",\"extension\":{\"a\":1}}"),
    PAI_OK);
  host_commit(&h);
  host_close(&h);
  assert_int_equal(rename(in_folder(PAI__STORE_KEY), in_folder("kept")), 0);
  host_open(&h);
  assert_non_null(strstr(h.log, "secret of 1 users"));
  assert_int_equal(access(in_folder(PAI__STORE_KEY), F_OK), -1);
  assert_non_null(strstr(show_user(&h, "admin", "admin"), "\"extension\":{}"));
  assert_int_equal(log_in(&h, "admin", "admin-password"), PAI_EIO);
  assert_non_null(strstr(h.message, "is gone"));
  assert_int_equal(
    put_user(&h, 0, "{\"username\":\"admin\",\"email\":\"a@b\"}"), PAI_OK);
  assert_int_equal(
    put_user(&h, 0, "{\"username\":\"admin\",\"extension\":{\"b\":2}}"),
    PAI_EIO);
  assert_int_equal(pai_accounts_need_ssh(h.a, "admin", NULL), PAI_EIO);
  assert_int_equal(access(in_folder(PAI__STORE_KEY), F_OK), -1);
  host_reopen(&h);
  host_close(&h);
  assert_int_equal(rename(in_folder("kept"), in_folder(PAI__STORE_KEY)), 0);
  host_open(&h);
  assert_non_null(
    strstr(show_user(&h, "admin", "admin"), "\"extension\":{\"a\":1}"));
  assert_non_null(strstr(show_user(&h, "admin", "admin"), "a@b"));
  assert_int_equal(log_in(&h, "admin", "admin-password"), PAI_OK);
  host_close(&h);
}

static void write_key(void)
{
  int fd = open(in_folder(PAI__STORE_KEY), O_WRONLY | O_CREAT | O_EXCL, 0600);
  char key[32] = "another one";

  assert_int_equal(write(fd, key, sizeof(key)), sizeof(key));
  assert_int_equal(close(fd), 0);
}

/* With another key there are tokens, and what was sealed stays closed. */
static void what_was_sealed_outlives_another_key(void **state)
{
  static const char storage[] =
    "{\"name\":\"data\",\"type\":\"nfs\",\"data\":{\"address\":\"x\"}}",
                    bare[] =
                      "{\"name\":\"data\",\"type\":\"nfs\",\"share\":false}";
  static host h;

  (void)state;
  host_open(&h);
  set_up(&h);
  assert_int_equal(
    put_user(&h, 0, "{\"username\":\"admin\",\"extension\":{\"a\":1}}"),
    PAI_OK);
  assert_int_equal(
    pai_accounts_put_storage(h.a, storage, sizeof(storage) - 1, NULL), PAI_OK);
  host_commit(&h);
  host_close(&h);
  assert_int_equal(rename(in_folder(PAI__STORE_KEY), in_folder("kept")), 0);
  write_key();
  host_open(&h);
  assert_int_equal(log_in(&h, "admin", "admin-password"), PAI_OK);
  assert_int_equal(
    put_user(&h, 0, "{\"username\":\"admin\",\"extension\":{\"b\":2}}"),
    PAI_EIO);
  assert_int_equal(pai_accounts_put_storage(h.a, bare, sizeof(bare) - 1, NULL),
                   PAI_OK);
  host_commit(&h);
  host_close(&h);
  assert_int_equal(rename(in_folder("kept"), in_folder(PAI__STORE_KEY)), 0);
  host_open(&h);
  assert_non_null(
    strstr(show_user(&h, "admin", "admin"), "\"extension\":{\"a\":1}"));
  assert_non_null(strstr(show_storages(&h, PAI_STORAGE_DETAIL, NULL, "data"),
                         "\"data\":{\"address\":\"x\"}"));
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
    TEST(an_old_hash_becomes_a_new_one_at_login),
    TEST(what_changes_meanwhile_counts),
    TEST(secrets_are_their_owners),
    TEST(openssh_reads_the_pair),
    TEST(users_go_but_administrators),
    TEST(what_was_sealed_outlives_its_key),
    TEST(what_was_sealed_outlives_another_key),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
