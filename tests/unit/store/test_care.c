/* Backups, exports, what is to go, older versions. */
#include "cases.h"
#include "folder.h"

#include "json/json.h"
#include "store/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_on(void *user_data, uint64_t left, uint64_t total)
{
  pai__store *store = user_data;
  uint64_t last;

  assert_true(left < total);
  assert_ok(pai__store_last_id(store, &last, NULL));
  put_jobs(store, last + 1, last + 20);
  return PAI_OK;
}

static int stop_it(void *user_data, uint64_t left, uint64_t total)
{
  (void)user_data;
  return left < total ? PAI_ECANCELED : PAI_OK;
}

static uint64_t count_jobs(pai__store *store)
{
  pai__job_query all = { .limit = 0 };
  uint64_t total;

  assert_ok(pai__store_list(store, &all, find_job, NULL, &total, NULL));
  return total;
}

TEST(a_backup_is_of_one_moment)
{
  pai__store *store = open_folder();
  char original[64];
  pai_error *err;

  put_jobs(store, 1, 5000);
  assert_int_equal(mkdir(in_folder("copy"), 0700), 0);
  assert_ok(pai__store_backup(store, in_folder("copy/openpai.db"), write_on,
                              store, &err));
  assert_true(count_jobs(store) > 5000);
  assert_fails(
    pai__store_backup(store, in_folder("copy/openpai.db"), NULL, NULL, &err),
    err, PAI_EEXISTS, "already exists");
  assert_int_equal(
    pai__store_backup(store, in_folder("half"), stop_it, NULL, &err),
    PAI_ECANCELED);
  assert_null(err);
  assert_int_equal(access(in_folder("half"), F_OK), -1);
  assert_fails(
    pai__store_backup(store, in_folder("not/there"), NULL, NULL, &err), err,
    PAI_EIO, "No such file");
  pai__store_close(store);
  memcpy(original, folder, sizeof(folder));
  memcpy(folder, in_folder("copy"), sizeof(folder)); /* it opens as a root's */
  store = open_folder();
  assert_int_equal(count_jobs(store), 5000);
  put_jobs(store, 5001, 5001);
  pai__store_close(store);
  memcpy(folder, original, sizeof(folder));
}

/* --- export ---------------------------------------------------------------------- */

static int refuse(void *user_data, const char *bytes, size_t len)
{
  (void)user_data, (void)bytes, (void)len;
  return PAI_EUSER;
}

static void put_one_of_each(pai__store *store)
{
  pai__batch *batch = new_batch(store);
  pai__task_row task = { .job = 1, .attempt = 2, .role = "worker" };
  pai__start_row start = { .uid = "former" };
  pai__event_row event = { .job = 1, .type = "Normal", .last = 10 };
  pai__attempt_row attempt = { .number = 1, .trigger = "earlier" };

  assert_ok(pai__batch_put_task(batch, &task));
  assert_ok(pai__batch_put_task_attempt(batch, &task, &start));
  assert_ok(pai__batch_put_event(batch, &event));
  assert_ok(pai__batch_put_attempt(batch, 1, &attempt));
  assert_ok(pai__batch_put_tag(batch, 1, "nice"));
  assert_ok(pai__batch_put_secret(batch, 1, "token", "hunter2", 7, NULL));
  commit_all(store, batch);
}

STORE_TEST(an_export_is_lines_of_json)
{
  const char *line;
  size_t lines = 0;
  pai_error *err;
  pai__buf text = test_buf();

  put_jobs(store, 1, 3);
  put_one_of_each(store);
  assert_ok(pai__store_export(store, 0, 0, test_collect, &text, NULL));
  for (line = text.data; *line != '\0'; lines++) {
    const char *end = strchr(line, '\n');
    pai__tree *tree;
    assert_non_null(end);
    assert_ok(pai__json_parse(&tree, line, (size_t)(end - line), NULL, NULL));
    pai__tree_free(tree);
    line = end + 1;
  }
  assert_int_equal(lines, 3);
  assert_has(text.data, "\"name\":\"job_1\"");
  assert_has(text.data, "\"config\":\"protocolVersion: 2\\n\"");
  assert_has(text.data, "\"tags\":[\"nice\"]");
  assert_has(text.data, "\"trigger\":\"earlier\"");
  assert_has(text.data, "\"uid\":\"former\"");
  assert_has(text.data, "\"now_diagnostics\":\"what \\\"it\\\"");
  assert_null(strstr(text.data, "hunter2"));
  assert_null(strstr(text.data, "fold"));
  assert_int_equal(pai__store_export(store, 0, 0, refuse, NULL, &err),
                   PAI_EUSER);
  assert_null(err);
  pai__buf_dispose(&text);
}

static int export_all(const pai_alloc *alloc, void *user_data)
{
  pai__store *store;
  pai_error *err = NULL;
  pai__buf text = test_buf();
  int rc = pai__store_open(&store, alloc, folder, NULL, NULL);

  (void)user_data;
  if (rc == PAI_OK)
    rc = pai__store_export(store, 0, 0, test_collect, &text, &err);
  assert_true(rc == PAI_OK || store == NULL || err != NULL);
  pai_error_free(err);
  pai__buf_dispose(&text);
  pai__store_close(store);
  return rc;
}

TEST(no_memory_is_survived)
{
  pai__store *store = open_folder();

  put_jobs(store, 1, 3);
  put_one_of_each(store);
  pai__store_close(store);
  test_faults(export_all, NULL);
}

/* --- what is to go ---------------------------------------------------------------- */

static void expect_expired(pai__store *store, pai__keep keep,
                           const char *wanted)
{
  found jobs = { .n = 0 };

  assert_ok(pai__store_expired(store, &keep, find_job, &jobs, NULL));
  assert_string_equal(jobs.text, wanted);
}

STORE_TEST(who_ended_first_goes_first)
{
  put_jobs(store, 1, 12); /* 10 9 6 5 2 1 are over, in this order */
  expect_expired(store, (pai__keep){ .since = 0 }, "");
  expect_expired(store, (pai__keep){ .since = 1700000100000000 - 5 },
                 "10 9 6 ");
  expect_expired(store, (pai__keep){ .since = INT64_MAX }, "10 9 6 5 2 1 ");
  expect_expired(store, (pai__keep){ .max_jobs = 4 }, "10 9 ");
  expect_expired(store, (pai__keep){ .max_jobs = 6 }, "");
  expect_expired(store,
                 (pai__keep){ .max_jobs = 5, .since = 1700000100000000 - 5 },
                 "10 9 6 ");
}

static int drop(void *user_data, const pai__job_row *row)
{
  return pai__batch_drop_job(user_data, row->id);
}

static void drop_rest(pai__store *store)
{
  pai__batch *batch = new_batch(store);

  assert_ok(pai__store_live(store, drop, batch, NULL));
  commit_all(store, batch);
}

STORE_TEST(a_database_is_kept_small)
{
  pai__keep keep = { .max_bytes = 400000 };
  uint64_t bytes, size;

  put_jobs(store, 1, 3000);
  assert_ok(pai__store_tidy(store, NULL));
  assert_ok(pai__store_bytes(store, &bytes, NULL));
  assert_true(bytes > 2 * keep.max_bytes);
  for (int i = 0; bytes > keep.max_bytes && i < 20; i++) {
    pai__batch *batch = new_batch(store);
    assert_ok(pai__store_expired(store, &keep, drop, batch, NULL));
    if (pai__batch_is_empty(batch))
      i = 20; /* the rest is live */
    commit_all(store, batch);
    assert_ok(pai__store_bytes(store, &bytes, NULL));
  }
  assert_int_equal(count_jobs(store), 1500); /* half of them is live */
  assert_ok(pai__store_tidy(store, NULL));
  drop_rest(store);
  assert_ok(pai__store_tidy(store, NULL));
  size = pai__store_file_size(in_folder(PAI__STORE_FILE));
  assert_true(size < keep.max_bytes);
}

/* --- versions ----------------------------------------------------------------------- */

static void copy_golden(const char *name)
{
  test_shell("cp %s/tests/golden/store/%s %s", SOURCE_DIR, name,
             in_folder(PAI__STORE_FILE));
}

TEST(version_1_opens)
{
  pai__store *store;
  found text = { .n = 0 };
  uint64_t last;

  copy_golden("version_1.db");
  store = open_folder();
  assert_int_equal(count_jobs(store), 8);
  assert_ok(pai__store_live(store, find_job, &text, NULL));
  assert_ok(pai__store_tags(store, 1, find_text, &text, NULL));
  assert_ok(pai__store_config(store, 8, find_text, &text, NULL));
  assert_string_equal(text.text, "3 4 7 8 nice protocolVersion: 2\n ");
  assert_ok(pai__store_last_id(store, &last, NULL));
  assert_int_equal(last, 8);
  put_jobs(store, 9, 9);
  pai__store_close(store);
}

TEST(migrations_are_whole_or_not_at_all)
{
  static const char *const second[] = {
    "ALTER TABLE job ADD COLUMN colour TEXT", "UPDATE job SET colour='red'",
    NULL
  };
  static const char *const wrong[] = { "UPDATE job SET colour='green'",
                                       "UPDATE job SET no_such=1", NULL };
  static const char *const right[] = { "UPDATE job SET colour='blue'", NULL };
  pai__migration steps[] = {
    { 1, wrong }, { 2, second }, { 3, wrong }, { 0, NULL }
  };
  int64_t count, version;
  pai_error *err;
  sqlite3 *db;

  copy_golden("version_1.db");
  assert_int_equal(sqlite3_open(in_folder(PAI__STORE_FILE), &db), SQLITE_OK);
  assert_fails(pai__schema_migrate(db, steps, "db", &err), err, PAI_EINTERNAL,
               "no_such");
  assert_int_equal(sqlite3_get_autocommit(db), 1);
  assert_ok(pai__sql_number(&count, db,
                            "SELECT count(*) FROM job "
                            "WHERE colour='red'",
                            "db", NULL));
  assert_int_equal(count, 8);
  assert_ok(pai__sql_number(&version, db, "PRAGMA user_version", "db", NULL));
  assert_int_equal(version, 2);
  steps[2].texts = right; /* the next try goes on from there */
  assert_ok(pai__schema_migrate(db, steps, "db", NULL));
  assert_ok(pai__sql_number(&version, db, "PRAGMA user_version", "db", NULL));
  assert_int_equal(version, 3);
  assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static char *read_text(const char *sql)
{
  sqlite3_stmt *stmt;
  sqlite3 *db;
  char *text;

  assert_int_equal(sqlite3_open(in_folder(PAI__STORE_FILE), &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
  text = strdup((const char *)sqlite3_column_text(stmt, 0));
  assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
  assert_int_equal(sqlite3_close(db), SQLITE_OK);
  return text;
}

/* Whoever changes a version that was released, or adds one without its golden
 * database, is told here. */
TEST(the_newest_version_is_golden)
{
  static const char schema[] =
    "SELECT group_concat(sql, ';') FROM sqlite_schema ORDER BY rowid";
  char *golden, *made;

  copy_golden(test_string("version_%d.db", pai__schema_version()));
  golden = read_text(schema);
  assert_int_equal(unlink(in_folder(PAI__STORE_FILE)), 0);
  pai__store_close(open_folder());
  made = read_text(schema);
  assert_string_equal(golden, made);
  free(golden);
  free(made);
}

/* With OPENPAI_GOLDEN=FILE it writes a golden database of this version. */
static int write_golden(const char *path)
{
  pai__store *store;

  if (folder_set_up(NULL) != 0)
    return 1;
  store = open_folder();
  put_jobs(store, 1, 8);
  put_one_of_each(store);
  put_accounts(store);
  pai__store_close(store);
  return rename(in_folder(PAI__STORE_FILE), path) != 0 ||
         folder_tear_down(NULL) != 0;
}

TEST_AROUND_EACH(folder_set_up, folder_tear_down);

int main(void)
{
  if (getenv("OPENPAI_GOLDEN") != NULL)
    return write_golden(getenv("OPENPAI_GOLDEN"));
  return test_main(NULL);
}
