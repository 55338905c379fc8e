/* What accounts are kept in. */
#include "cases.h"
#include "folder.h"

#include "store/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char all[] =
  "ada $hash ada@example.org [\"team\"] 5 {\"secret\":\"of-ada\"}\n"
  "team us them {}\n"
  "0123456789abcdef0123456789abcdef ada 1 7 0\n"
  "data nfs 1 0 [\"ro\"] - /srv/data {\"accountKey\":\"of-data\"}\n"
  "1 9 ada - PUT /x 201\n";

static found text;

TEST(what_is_put_is_there)
{
  static const char *const names[PAI__RECORDS] = {
    [PAI__ACCOUNT] = "ada",
    [PAI__GROUP] = "team",
    [PAI__TOKEN] = "0123456789abcdef0123456789abcdef",
    [PAI__STORAGE] = "data",
    [PAI__MARKET_ITEM] = "item",
    [PAI__MARKET_COUNT] = "item",
    [PAI__MARKET_LABEL] = "label"
  };
  pai__store *store = open_folder();
  pai__batch *batch;

  put_accounts(store);
  pai__store_close(store);
  store = open_folder();
  find_accounts(store, &text);
  assert_string_equal(text.text, all);
  put_accounts(store); /* in the place of what was there, but for the note */
  find_accounts(store, &text);
  assert_int_equal(strncmp(text.text, all, strlen(all) - 23), 0);
  assert_has(text.text, "2 9 ada - PUT /x 201\n1 9 ada");
  batch = new_batch(store);
  for (int i = 0; i < PAI__RECORDS; i++) {
    assert_ok(pai__batch_drop(batch, (enum pai__record)i, names[i]));
    assert_ok(pai__batch_drop(batch, (enum pai__record)i, "none"));
  }
  commit_all(store, batch);
  find_accounts(store, &text);
  assert_string_equal(text.text,
                      "2 9 ada - PUT /x 201\n1 9 ada - PUT /x 201\n");
  pai__store_close(store);
}

STORE_TEST(secrets_are_in_no_file)
{
  pai__batch *batch;

  put_accounts(store);
  assert_int_equal(bytes_in_folder("of-ada", 6), 0);
  assert_int_equal(bytes_in_folder("of-data", 7), 0);
  assert_true(bytes_in_folder("$hash", 5) > 0);
  batch = new_batch(store);
  assert_ok(pai__batch_drop(batch, PAI__ACCOUNT, "ada"));
  commit_all(store, batch);
  assert_ok(pai__store_tidy(store, NULL));
  assert_int_equal(bytes_in_folder("$hash", 5), 0);
}

/* It opens only in the name of whom it is. */
TEST(a_secret_that_was_moved_is_lost)
{
  pai__store *store = open_folder();

  put_accounts(store);
  pai__store_close(store);
  run_sql(PAI__STORE_FILE, "UPDATE account SET name='bob'");
  store = open_folder();
  find_accounts(store, &text);
  assert_has(text.text, "bob $hash ada@example.org [\"team\"] 5 "
                        "lost\n");
  assert_has(text.text, "of-data");
  pai__store_close(store);
  run_sql(PAI__STORE_FILE, "UPDATE account SET sealed=x'00'");
  store = open_folder();
  find_accounts(store, &text);
  assert_has(text.text, "lost");
  pai__store_close(store);
  assert_int_equal(unlink(in_folder(PAI__STORE_KEY)), 0);
  store = open_folder();
  find_accounts(store, &text);
  assert_has(text.text, "/srv/data lost");
  pai__store_close(store);
}

STORE_TEST(a_batch_goes_back)
{
  pai__batch *batch = new_batch(store);
  pai__batch_mark mark = pai__batch_here(batch);
  pai__group_row group = { "one", "", "", "{}" };

  assert_ok(pai__batch_put_group(batch, &group));
  pai__batch_back(batch, mark);
  assert_true(pai__batch_is_empty(batch));
  assert_ok(pai__batch_put_group(batch, &group));
  mark = pai__batch_here(batch);
  group.name = "two";
  assert_ok(pai__batch_put_group(batch, &group));
  assert_ok(pai__batch_drop(batch, PAI__GROUP, "one"));
  pai__batch_back(batch, mark);
  group.name = "three";
  assert_ok(pai__batch_put_group(batch, &group));
  commit_all(store, batch);
  find_accounts(store, &text);
  assert_string_equal(text.text, "one   {}\nthree   {}\n");
}

static int count_note(void *user_data, const pai__audit_row *row)
{
  (void)row;
  ++*(size_t *)user_data;
  return PAI_OK;
}

STORE_TEST(of_notes_the_latest_stay)
{
  pai__audit_row note = { .time = 1, .what = "PUT /x" };
  pai__audit_query query = { 0 };
  pai__batch *batch = new_batch(store);
  size_t n = 0;

  for (int i = 0; i < PAI__STORE_NOTES + 128; i++)
    assert_ok(pai__batch_put_note(batch, &note));
  commit_all(store, batch);
  assert_ok(pai__store_notes(store, &query, count_note, &n, NULL));
  assert_in_range(n, PAI__STORE_NOTES, PAI__STORE_NOTES + 63);
  batch = new_batch(store);
  note.time = 0;
  assert_int_equal(pai__batch_put_note(batch, &note), PAI_EINVAL);
  pai__batch_free(batch);
}

static void copy_golden(const char *name)
{
  test_shell("cp %s/tests/golden/store/%s %s", SOURCE_DIR, name,
             in_folder(PAI__STORE_FILE));
}

static void put_key(void)
{
  test_shell("umask 077; head -c 32 /dev/urandom >%s",
             in_folder(PAI__STORE_KEY));
}

TEST(version_1_gets_them)
{
  pai__store *store;
  found jobs = { .n = 0 };

  copy_golden("version_1.db");
  store = open_folder();
  find_accounts(store, &text);
  assert_string_equal(text.text, "");
  put_key(); /* that of its secrets was made elsewhere */
  put_accounts(store);
  find_accounts(store, &text);
  assert_string_equal(text.text, all);
  assert_ok(pai__store_live(store, find_job, &jobs, NULL));
  assert_string_equal(jobs.text, "3 4 7 8 ");
  pai__store_close(store);
}

/* Its key is not there: it was made elsewhere. */
TEST(version_2_opens)
{
  pai__store *store;

  copy_golden("version_2.db");
  store = open_folder();
  find_accounts(store, &text);
  assert_has(text.text,
             "ada $hash ada@example.org [\"team\"] 5 lost\nteam us them");
  assert_has(text.text, "data nfs 1 0 [\"ro\"] - /srv/data lost");
  assert_has(text.text, "PUT /x 201");
  pai__store_close(store);
}

TEST(a_repair_keeps_them)
{
  pai__repaired result;
  pai__store *store = open_folder();

  put_accounts(store);
  pai__store_close(store);
  assert_ok(pai__store_repair(&result, &pai__libc_alloc, folder, NULL));
  assert_false(result.holes);
  pai__strfree(&pai__libc_alloc, result.aside);
  store = open_folder();
  find_accounts(store, &text);
  assert_string_equal(text.text, all);
  pai__store_close(store);
}

TEST(keys_are_derived)
{
  unsigned char one[PAI__DERIVED], two[PAI__DERIVED], again[PAI__DERIVED];
  pai__store *store = open_folder();

  assert_ok(pai__store_derive(store, one, "a", true, NULL));
  assert_ok(pai__store_derive(store, two, "b", true, NULL));
  assert_memory_not_equal(one, two, sizeof(one));
  pai__store_close(store);
  store = open_folder();
  assert_ok(pai__store_derive(store, again, "a", true, NULL));
  assert_memory_equal(one, again, sizeof(one));
  pai__store_close(store);
  assert_int_equal(bytes_in_folder(one, sizeof(one)), 0);
}

static int use(const pai_alloc *alloc, void *user_data)
{
  pai__store *store;
  pai__audit_query query = { 0 };
  size_t n = 0;
  pai_error *err = NULL;
  int rc = pai__store_open(&store, alloc, folder, NULL, &err);

  (void)user_data;
  text.n = 0;
  if (rc == PAI_OK)
    rc = pai__store_notes(store, &query, count_note, &n, &err);
  if (rc == PAI_OK) {
    unsigned char key[PAI__DERIVED];
    rc = pai__store_derive(store, key, "a", true, &err);
  }
  pai_error_free(err);
  pai__store_close(store);
  return rc;
}

TEST(no_memory_is_survived)
{
  pai__store *store = open_folder();

  put_accounts(store);
  pai__store_close(store);
  test_faults(use, NULL);
}

TEST_AROUND_EACH(folder_set_up, folder_tear_down);
