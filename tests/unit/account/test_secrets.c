/* What is secret of users: who sees it, and what becomes of it without the key
 * that sealed it. */
#include "cases.h"
#include "host.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

TEST(secrets_are_their_owners)
{
  pai_error *err;
  char before[8192];

  set_up();
  add_user("ada");
  assert_ok(
    put_user(0, "{\"username\":\"ada\",\"extension\":{\"githubPAT\":\"ghp_1\","
                "\"sshKeys\":[{\"title\":\"t\"}],\"boundedClusters\":{\"x\":"
                "{\"uri\":\"u\",\"token\":\"tok-1\"},\"y\":\"odd-1\"}}}"));
  assert_ok(pai_accounts_need_ssh(h.a, "ada", &err));
  assert_fails(pai_accounts_need_ssh(h.a, "nobody", &err), err, PAI_ENOTFOUND,
               "nobody");
  assert_has(show_user("ada", "ada"), "BEGIN OPENSSH");
  assert_has(h.text, "ghp_1");
  assert_has(h.text, "tok-1");
  memcpy(before, h.text, h.len + 1);
  for (int i = 0; i < 2; i++) {
    (void)show_user("ada", i == 0 ? NULL : "admin");
    assert_null(strstr(h.text, "BEGIN OPENSSH"));
    assert_null(strstr(h.text, "ghp_1"));
    assert_null(strstr(h.text, "tok-1"));
    assert_null(strstr(h.text, "odd-1"));
    assert_has(h.text, "\"sshKeys\":[{\"title\":\"t\"}]");
    assert_has(h.text, "\"boundedClusters\":{\"x\":{\"uri\":"
                       "\"u\"},\"y\":null}");
    assert_has(h.text, "\"pubKey\":\"ssh-ed25519 AAAA");
  }
  /* Who writes back what was shown takes nothing away that was not. */
  assert_ok(
    put_user(0, "{\"username\":\"ada\",\"extension\":{\"jobSSH\":{\"pubKey\":"
                "\"new\"},\"boundedClusters\":{\"x\":{\"uri\":\"v\"}}}}"));
  assert_has(show_user("ada", "ada"), "BEGIN OPENSSH");
  assert_has(h.text, "\"pubKey\":\"new\"");
  assert_has(h.text, "\"boundedClusters\":{\"x\":{\"uri\":\"v\","
                     "\"token\":\"tok-1\"}}");
  memcpy(before, h.text, h.len + 1);
  host_begin();
  assert_ok(pai_accounts_write_users(h.a, NULL, host_write, &h, &err));
  assert_null(strstr(h.text, "tok-1"));
  assert_null(strstr(h.text, "$argon2id$"));
  assert_has(h.text, "[{\"username\":\"ada\"");
  assert_has(h.text, "},{\"username\":\"admin\"");
  /* Once there is a pair, it stays; and it is in no file. */
  assert_ok(pai_accounts_need_ssh(h.a, "ada", &err));
  host_reopen();
  assert_string_equal(show_user("ada", "ada"), before);
  assert_int_equal(bytes_in_folder("tok-1", 5), 0);
  assert_int_equal(bytes_in_folder("BEGIN OPENSSH", 13), 0);
  expect((show_user("nobody", NULL), PAI_ENOTFOUND), PAI_ENOTFOUND,
         "NoUserError", 400);
}

/* Where there is OpenSSH, it reads the key, and makes the same public one. */
TEST(openssh_reads_the_pair)
{
  char made[512], *text, *to;
  const char *from;
  FILE *file;

  if (system("command -v ssh-keygen >/dev/null 2>&1") != 0)
    skip();
  set_up();
  assert_ok(pai_accounts_need_ssh(h.a, "admin", NULL));
  text = strstr(show_user("admin", "admin"), "-----BEGIN");
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
  file = popen(test_string("chmod 600 %s; ssh-keygen -y -f %s",
                           in_folder("pair"), in_folder("pair")),
               "r");
  assert_non_null(file);
  assert_non_null(fgets(made, sizeof(made), file));
  assert_int_equal(pclose(file), 0);
  made[strcspn(made, "\n")] = '\0';
  assert_has(show_user("admin", "admin"), made);
  assert_int_equal(unlink(in_folder("pair")), 0);
}

/* Without its key a root has users; what was secret of them is kept as it is,
 * whatever else becomes of them, and is there again with the key. */
TEST(what_was_sealed_outlives_its_key)
{
  set_up();
  assert_ok(put_user(0, "{\"username\":\"admin\",\"extension\":{\"a\":1}}"));
  host_commit();
  host_close();
  assert_int_equal(rename(in_folder(PAI__STORE_KEY), in_folder("kept")), 0);
  host_open();
  assert_has(h.log, "secrets of 1 users");
  assert_int_equal(access(in_folder(PAI__STORE_KEY), F_OK), -1);
  assert_has(show_user("admin", "admin"), "\"extension\":{}");
  assert_int_equal(log_in("admin", "admin-passphrase"), PAI_EIO);
  assert_has(h.message, "is missing");
  assert_ok(put_user(0, "{\"username\":\"admin\",\"email\":\"a@b\"}"));
  assert_int_equal(
    put_user(0, "{\"username\":\"admin\",\"extension\":{\"b\":2}}"), PAI_EIO);
  assert_int_equal(pai_accounts_need_ssh(h.a, "admin", NULL), PAI_EIO);
  assert_int_equal(access(in_folder(PAI__STORE_KEY), F_OK), -1);
  host_reopen();
  host_close();
  assert_int_equal(rename(in_folder("kept"), in_folder(PAI__STORE_KEY)), 0);
  host_open();
  assert_has(show_user("admin", "admin"), "\"extension\":{\"a\":1}");
  assert_has(show_user("admin", "admin"), "a@b");
  assert_ok(log_in("admin", "admin-passphrase"));
}

static void write_key(void)
{
  int fd = open(in_folder(PAI__STORE_KEY), O_WRONLY | O_CREAT | O_EXCL, 0600);
  char key[32] = "another one";

  assert_int_equal(write(fd, key, sizeof(key)), sizeof(key));
  assert_int_equal(close(fd), 0);
}

/* With another key there are tokens, and what was sealed stays closed. */
TEST(what_was_sealed_outlives_another_key)
{
  static const char storage[] =
    "{\"name\":\"data\",\"type\":\"nfs\",\"data\":{\"address\":\"x\"}}",
                    bare[] =
                      "{\"name\":\"data\",\"type\":\"nfs\",\"share\":false}";

  set_up();
  assert_ok(put_user(0, "{\"username\":\"admin\",\"extension\":{\"a\":1}}"));
  assert_ok(pai_accounts_put_storage(h.a, storage, sizeof(storage) - 1, NULL));
  host_commit();
  host_close();
  assert_int_equal(rename(in_folder(PAI__STORE_KEY), in_folder("kept")), 0);
  write_key();
  host_open();
  assert_ok(log_in("admin", "admin-passphrase"));
  assert_int_equal(
    put_user(0, "{\"username\":\"admin\",\"extension\":{\"b\":2}}"), PAI_EIO);
  assert_ok(pai_accounts_put_storage(h.a, bare, sizeof(bare) - 1, NULL));
  host_commit();
  host_close();
  assert_int_equal(rename(in_folder("kept"), in_folder(PAI__STORE_KEY)), 0);
  host_open();
  assert_has(show_user("admin", "admin"), "\"extension\":{\"a\":1}");
  assert_has(show_storages(PAI_STORAGE_DETAIL, NULL, "data"),
             "\"data\":{\"address\":\"x\"}");
}

TEST_AROUND_EACH(host_set_up, host_tear_down);
