/* What is secret of users: who sees it, and what becomes of it without the key
 * that sealed it. */
#include "host.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
  assert_non_null(strstr(h.log, "secrets of 1 users"));
  assert_int_equal(access(in_folder(PAI__STORE_KEY), F_OK), -1);
  assert_non_null(strstr(show_user(&h, "admin", "admin"), "\"extension\":{}"));
  assert_int_equal(log_in(&h, "admin", "admin-passphrase"), PAI_EIO);
  assert_non_null(strstr(h.message, "is missing"));
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
  assert_int_equal(log_in(&h, "admin", "admin-passphrase"), PAI_OK);
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
  assert_int_equal(log_in(&h, "admin", "admin-passphrase"), PAI_OK);
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
    TEST(secrets_are_their_owners),
    TEST(openssh_reads_the_pair),
    TEST(what_was_sealed_outlives_its_key),
    TEST(what_was_sealed_outlives_another_key),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
