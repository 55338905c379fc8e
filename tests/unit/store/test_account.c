/* What accounts are kept in. */
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

static void what_is_put_is_there(void **state)
{
  static const char *const names[PAI__RECORDS] = {
    [PAI__ACCOUNT] = "ada",
    [PAI__GROUP] = "team",
    [PAI__TOKEN] = "0123456789abcdef0123456789abcdef",
    [PAI__STORAGE] = "data"
  };
  pai__store *store = open_folder();
  pai__batch *batch;

  (void)state;
  put_accounts(store);
  pai__store_close(store);
  store = open_folder();
  find_accounts(store, &text);
  assert_string_equal(text.text, all);
  put_accounts(store); /* in the place of what was there, but for the note */
  find_accounts(store, &text);
  assert_int_equal(strncmp(text.text, all, strlen(all) - 23), 0);
  assert_non_null(strstr(text.text, "2 9 ada - PUT /x 201\n1 9 ada"));
  batch = new_batch(store);
  for (int i = 0; i < PAI__RECORDS; i++) {
    assert_int_equal(pai__batch_drop(batch, (enum pai__record)i, names[i]),
                     PAI_OK);
    assert_int_equal(pai__batch_drop(batch, (enum pai__record)i, "none"),
                     PAI_OK);
  }
  commit_all(store, batch);
  find_accounts(store, &text);
  assert_string_equal(text.text,
                      "2 9 ada - PUT /x 201\n1 9 ada - PUT /x 201\n");
  pai__store_close(store);
}

static void secrets_are_in_no_file(void **state)
{
  pai__store *store = open_folder();
  pai__batch *batch;

  (void)state;
  put_accounts(store);
  assert_int_equal(bytes_in_folder("of-ada", 6), 0);
  assert_int_equal(bytes_in_folder("of-data", 7), 0);
  assert_true(bytes_in_folder("$hash", 5) > 0);
  batch = new_batch(store);
  assert_int_equal(pai__batch_drop(batch, PAI__ACCOUNT, "ada"), PAI_OK);
  commit_all(store, batch);
  assert_int_equal(pai__store_tidy(store, NULL), PAI_OK);
  assert_int_equal(bytes_in_folder("$hash", 5), 0);
  pai__store_close(store);
}

/* It opens only in the name of whom it is. */
static void a_secret_that_was_moved_is_lost(void **state)
{
  pai__store *store = open_folder();

  (void)state;
  put_accounts(store);
  pai__store_close(store);
  run_sql(PAI__STORE_FILE, "UPDATE account SET name='bob'");
  store = open_folder();
  find_accounts(store, &text);
  assert_non_null(strstr(text.text, "bob $hash ada@example.org [\"team\"] 5 "
                                    "lost\n"));
  assert_non_null(strstr(text.text, "of-data"));
  pai__store_close(store);
  run_sql(PAI__STORE_FILE, "UPDATE account SET sealed=x'00'");
  store = open_folder();
  find_accounts(store, &text);
  assert_non_null(strstr(text.text, "lost"));
  pai__store_close(store);
  assert_int_equal(unlink(in_folder(PAI__STORE_KEY)), 0);
  store = open_folder();
  find_accounts(store, &text);
  assert_non_null(strstr(text.text, "/srv/data lost"));
  pai__store_close(store);
}

static void a_batch_goes_back(void **state)
{
  pai__store *store = open_folder();
  pai__batch *batch = new_batch(store);
  pai__batch_mark mark = pai__batch_here(batch);
  pai__group_row group = { "one", "", "", "{}" };

  (void)state;
  assert_int_equal(pai__batch_put_group(batch, &group), PAI_OK);
  pai__batch_back(batch, mark);
  assert_true(pai__batch_is_empty(batch));
  assert_int_equal(pai__batch_put_group(batch, &group), PAI_OK);
  mark = pai__batch_here(batch);
  group.name = "two";
  assert_int_equal(pai__batch_put_group(batch, &group), PAI_OK);
  assert_int_equal(pai__batch_drop(batch, PAI__GROUP, "one"), PAI_OK);
  pai__batch_back(batch, mark);
  group.name = "three";
  assert_int_equal(pai__batch_put_group(batch, &group), PAI_OK);
  commit_all(store, batch);
  find_accounts(store, &text);
  assert_string_equal(text.text, "one   {}\nthree   {}\n");
  pai__store_close(store);
}

static int count_note(void *user_data, const pai__audit_row *row)
{
  (void)row;
  ++*(size_t *)user_data;
  return PAI_OK;
}

static void of_notes_the_latest_stay(void **state)
{
  pai__audit_row note = { .time = 1, .what = "PUT /x" };
  pai__audit_query query = { 0 };
  pai__store *store = open_folder();
  pai__batch *batch = new_batch(store);
  size_t n = 0;

  (void)state;
  for (int i = 0; i < PAI__STORE_NOTES + 128; i++)
    assert_int_equal(pai__batch_put_note(batch, &note), PAI_OK);
  commit_all(store, batch);
  assert_int_equal(pai__store_notes(store, &query, count_note, &n, NULL),
                   PAI_OK);
  assert_in_range(n, PAI__STORE_NOTES, PAI__STORE_NOTES + 63);
  batch = new_batch(store);
  note.time = 0;
  assert_int_equal(pai__batch_put_note(batch, &note), PAI_EINVAL);
  pai__batch_free(batch);
  pai__store_close(store);
}

static void copy_golden(const char *name)
{
  char command[512];

  (void)snprintf(command, sizeof(command), "cp %s/tests/golden/store/%s %s",
                 SOURCE_DIR, name, in_folder(PAI__STORE_FILE));
  assert_int_equal(system(command), 0);
}

static void put_key(void)
{
  char command[512];

  (void)snprintf(command, sizeof(command),
                 "umask 077; head -c 32 /dev/urandom >%s",
                 in_folder(PAI__STORE_KEY));
  assert_int_equal(system(command), 0);
}

static void version_1_gets_them(void **state)
{
  pai__store *store;
  found jobs = { .n = 0 };

  (void)state;
  copy_golden("version_1.db");
  store = open_folder();
  find_accounts(store, &text);
  assert_string_equal(text.text, "");
  put_key(); /* that of its secrets was made elsewhere */
  put_accounts(store);
  find_accounts(store, &text);
  assert_string_equal(text.text, all);
  assert_int_equal(pai__store_live(store, find_job, &jobs, NULL), PAI_OK);
  assert_string_equal(jobs.text, "3 4 7 8 ");
  pai__store_close(store);
}

/* Its key is not there: it was made elsewhere. */
static void version_2_opens(void **state)
{
  pai__store *store;

  (void)state;
  copy_golden("version_2.db");
  store = open_folder();
  find_accounts(store, &text);
  assert_non_null(strstr(
    text.text, "ada $hash ada@example.org [\"team\"] 5 lost\nteam us them"));
  assert_non_null(strstr(text.text, "data nfs 1 0 [\"ro\"] - /srv/data lost"));
  assert_non_null(strstr(text.text, "PUT /x 201"));
  pai__store_close(store);
}

static void a_repair_keeps_them(void **state)
{
  pai__repaired result;
  pai__store *store = open_folder();

  (void)state;
  put_accounts(store);
  pai__store_close(store);
  assert_int_equal(pai__store_repair(&result, &pai__libc_alloc, folder, NULL),
                   PAI_OK);
  assert_false(result.holes);
  pai__strfree(&pai__libc_alloc, result.aside);
  store = open_folder();
  find_accounts(store, &text);
  assert_string_equal(text.text, all);
  pai__store_close(store);
}

static void keys_are_derived(void **state)
{
  unsigned char one[PAI__DERIVED], two[PAI__DERIVED], again[PAI__DERIVED];
  pai__store *store = open_folder();

  (void)state;
  assert_int_equal(pai__store_derive(store, one, "a", true, NULL), PAI_OK);
  assert_int_equal(pai__store_derive(store, two, "b", true, NULL), PAI_OK);
  assert_memory_not_equal(one, two, sizeof(one));
  pai__store_close(store);
  store = open_folder();
  assert_int_equal(pai__store_derive(store, again, "a", true, NULL), PAI_OK);
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

static void no_memory_is_survived(void **state)
{
  pai__store *store = open_folder();

  (void)state;
  put_accounts(store);
  pai__store_close(store);
  test_faults(use, NULL);
}

#define HERE(test) \
  cmocka_unit_test_setup_teardown(test, folder_set_up, folder_tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
    HERE(what_is_put_is_there),
    HERE(secrets_are_in_no_file),
    HERE(a_secret_that_was_moved_is_lost),
    HERE(a_batch_goes_back),
    HERE(of_notes_the_latest_stay),
    HERE(version_1_gets_them),
    HERE(version_2_opens),
    HERE(a_repair_keeps_them),
    HERE(keys_are_derived),
    HERE(no_memory_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
