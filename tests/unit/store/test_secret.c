/* Nobody reads a secret in the files of a root. */
#include "cases.h"
#include "folder.h"

#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char plain[] = "hunter2-correct-horse-battery-staple";
#define PLAIN plain, sizeof(plain) - 1

static int take(void *user_data, const void *data, size_t len)
{
  char *to = user_data;

  assert_true(len < 64);
  memcpy(to, data, len);
  to[len] = '\0';
  return PAI_OK;
}

static void put_secret(pai__store *store, uint64_t job, const char *name)
{
  pai__batch *batch = new_batch(store);
  pai_error *err;

  if (pai__batch_put_secret(batch, job, name, PLAIN, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  commit_all(store, batch);
}

/* The sealed bytes as they are in the database. */
static size_t read_sealed(char *out, size_t room)
{
  sqlite3_stmt *stmt;
  sqlite3 *db;
  size_t len;

  assert_int_equal(sqlite3_open(in_folder(PAI__STORE_FILE), &db), SQLITE_OK);
  assert_int_equal(
    sqlite3_prepare_v2(db, "SELECT sealed FROM secret", -1, &stmt, NULL),
    SQLITE_OK);
  assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
  len = (size_t)sqlite3_column_bytes(stmt, 0);
  assert_true(len <= room);
  memcpy(out, sqlite3_column_blob(stmt, 0), len);
  assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
  assert_int_equal(sqlite3_close(db), SQLITE_OK);
  return len;
}

TEST(a_secret_is_in_no_file)
{
  pai__store *store = open_folder();
  pai__batch *batch;
  char sealed[256], got[64];
  size_t len;
  found none = { .n = 0 };
  pai_error *err;

  put_jobs(store, 1, 2);
  put_secret(store, 1, "token");
  assert_ok(pai__store_secret(store, 1, "token", take, got, NULL));
  assert_string_equal(got, plain);
  assert_int_equal(bytes_in_folder(PLAIN), 0);
  len = read_sealed(sealed, sizeof(sealed));
  assert_int_equal(len, sizeof(plain) - 1 + 40);
  assert_true(bytes_in_folder(sealed, len) > 0); /* so that is found at all */
  batch = new_batch(store);
  assert_ok(pai__batch_drop_secrets(batch, 1));
  commit_all(store, batch);
  assert_ok(pai__store_hold(store, NULL));
  assert_ok(pai__store_live(store, find_job, &none, NULL));
  assert_int_equal(pai__store_tidy(store, &err), PAI_EBUSY); /* at once */
  assert_true(pai_error_retriable(err));
  pai_error_free(err);
  pai__store_let_go(store);
  assert_ok(pai__store_tidy(store, NULL));
  assert_int_equal(bytes_in_folder(sealed, len), 0);
  assert_int_equal(bytes_in_folder(PLAIN), 0);
  assert_fails(pai__store_secret(store, 1, "token", take, got, &err), err,
               PAI_ENOTFOUND, "no secret \"token\"");
  /* So it is for a job as a whole, and when nobody tidies but the end. */
  put_secret(store, 2, "token");
  assert_ok(pai__store_tidy(store, NULL));
  len = read_sealed(sealed, sizeof(sealed));
  batch = new_batch(store);
  assert_ok(pai__batch_drop_job(batch, 2));
  commit_all(store, batch);
  pai__store_close(store);
  assert_int_equal(bytes_in_folder(sealed, len), 0);
  store = open_folder();
  assert_ok(pai__store_live(store, find_job, &none, NULL));
  pai__store_close(store);
}

STORE_TEST(the_same_secret_never_looks_the_same)
{
  char first[256], second[256];
  size_t len;

  put_jobs(store, 1, 1);
  put_secret(store, 1, "token");
  len = read_sealed(first, sizeof(first));
  put_secret(store, 1, "token");
  assert_int_equal(read_sealed(second, sizeof(second)), len);
  assert_memory_not_equal(first + 24, second + 24, len - 24);
}

STORE_TEST(a_secret_opens_only_where_it_belongs)
{
  char got[64];
  pai_error *err;

  put_jobs(store, 1, 2);
  put_secret(store, 1, "token");
  run_sql(PAI__STORE_FILE,
          "INSERT INTO secret SELECT 2, name, sealed FROM secret");
  run_sql(PAI__STORE_FILE,
          "INSERT INTO secret SELECT 1, 'other', sealed FROM secret "
          "WHERE job=1");
  run_sql(PAI__STORE_FILE, "INSERT INTO secret VALUES(1, 'short', x'00')");
  assert_fails(pai__store_secret(store, 2, "token", take, got, &err), err,
               PAI_EIO, "cannot decrypt");
  assert_int_equal(pai__store_secret(store, 1, "other", take, got, NULL),
                   PAI_EIO);
  assert_int_equal(pai__store_secret(store, 1, "short", take, got, NULL),
                   PAI_EIO);
  assert_ok(pai__store_secret(store, 1, "token", take, got, NULL));
}

/* --- the key --------------------------------------------------------------------- */

static void expect_key_error(int code, const char *part)
{
  pai__store *store = open_folder();
  pai__batch *batch = new_batch(store);
  pai_error *err;
  char got[64];

  assert_fails(pai__store_secret(store, 1, "token", take, got, &err), err,
               code, part);
  if (access(in_folder("key"), F_OK) == 0) {
    assert_int_equal(pai__batch_put_secret(batch, 1, "new", PLAIN, &err),
                     code);
    assert_non_null(pai_error_help(err));
    test_expect_error(err, code, part);
    assert_true(pai__batch_is_empty(batch));
  }
  pai__batch_free(batch);
  pai__store_close(store);
}

/* It would open nothing of what is sealed. */
static void expect_no_other_key(void)
{
  pai__store *store = open_folder();
  pai__batch *batch = new_batch(store);
  unsigned char out[PAI__DERIVED];
  pai_error *err;

  assert_int_equal(pai__batch_put_secret(batch, 1, "new", PLAIN, &err),
                   PAI_EIO);
  assert_has(pai_error_help(err), "restore it");
  test_expect_error(err, PAI_EIO, "is missing");
  assert_int_equal(pai__store_derive(store, out, "a", true, NULL), PAI_EIO);
  assert_int_equal(access(in_folder("key"), F_OK), -1);
  pai__batch_free(batch);
  assert_fails(pai__store_check_key(&pai__libc_alloc, folder, &err), err,
               PAI_EIO, "is missing");
  pai__store_close(store);
}

TEST(the_key_is_looked_at)
{
  pai__store *store = open_folder();
  struct stat st;
  pai_error *err;
  char got[64];

  put_jobs(store, 1, 1);
  assert_int_equal(access(in_folder("key"), F_OK), -1); /* none is needed */
  put_secret(store, 1, "token");
  pai__store_close(store);
  assert_int_equal(stat(in_folder("key"), &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
  assert_int_equal(st.st_size, 32);

  assert_int_equal(chmod(in_folder("key"), 0640), 0);
  expect_key_error(PAI_EPERM, "other users may read");
  assert_int_equal(chmod(in_folder("key"), 0600), 0);
  if (geteuid() == 0) {
    assert_int_equal(chown(in_folder("key"), 12345, (gid_t)-1), 0);
    expect_key_error(PAI_EPERM, "another user");
    assert_int_equal(chown(in_folder("key"), 0, (gid_t)-1), 0);
  }
  assert_int_equal(rename(in_folder("key"), in_folder("kept")), 0);
  expect_key_error(PAI_EIO, "is missing");
  expect_no_other_key();
  assert_int_equal(symlink("kept", in_folder("key")), 0);
  expect_key_error(PAI_EPERM, "is a link");
  assert_int_equal(unlink(in_folder("key")), 0);
  assert_int_equal(rename(in_folder("kept"), in_folder("key")), 0);

  store = open_folder(); /* and it is still the right one */
  assert_ok(pai__store_secret(store, 1, "token", take, got, NULL));
  assert_string_equal(got, plain);
  pai__store_close(store);
  assert_ok(pai__store_check_key(&pai__libc_alloc, folder, NULL));
  assert_ok(pai__store_check_key(&pai__libc_alloc, "/nowhere", NULL));
  run_sql(PAI__STORE_FILE, "UPDATE secret SET name='moved'");
  assert_fails(pai__store_check_key(&pai__libc_alloc, folder, &err), err,
               PAI_EIO, "is not the key");
  run_sql(PAI__STORE_FILE, "UPDATE secret SET name='token'");
  assert_int_equal(truncate(in_folder("key"), 31), 0);
  expect_key_error(PAI_EINVAL, "32 bytes");
}

static int hold_nothing(const pai_alloc *alloc, void *user_data)
{
  pai__store *store;
  pai__batch *batch = NULL;
  char got[64];
  int rc = pai__store_open(&store, alloc, folder, NULL, NULL);

  (void)user_data;
  if (rc == PAI_OK)
    rc = pai__batch_new(&batch, store, NULL);
  if (rc == PAI_OK)
    rc = pai__batch_put_secret(batch, 1, "token", PLAIN, NULL);
  if (rc == PAI_OK)
    rc = pai__store_commit(store, batch, NULL);
  if (rc == PAI_OK)
    rc = pai__store_secret(store, 1, "token", take, got, NULL);
  pai__batch_free(batch);
  pai__store_close(store);
  return rc;
}

TEST(no_memory_is_survived)
{
  pai__store *store = open_folder();

  put_jobs(store, 1, 1);
  pai__store_close(store);
  test_faults(hold_nothing, NULL);
}

static int look(const pai_alloc *alloc, void *user_data)
{
  pai_error *err;
  int rc = pai__store_check_key(alloc, folder, &err);

  (void)user_data;
  pai_error_free(err);
  return rc;
}

TEST(looking_needs_memory)
{
  pai__store *store = open_folder();

  put_jobs(store, 1, 1);
  put_secret(store, 1, "token");
  pai__store_close(store);
  test_faults(look, NULL);
}

TEST_AROUND_EACH(folder_set_up, folder_tear_down);
