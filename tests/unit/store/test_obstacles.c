/* What disks and other processes do to a store, and files that are none. */
#define _GNU_SOURCE /* unshare() */

#include "cases.h"
#include "folder.h"

#include "store/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- not ours ---------------------------------------------------------------------- */

TEST(a_newer_version_is_refused)
{
  pai__store_close(open_folder());
  run_sql(PAI__STORE_FILE, "PRAGMA user_version=99");
  expect_no_store(PAI_ENOTSUP,
                  "its version is 99, the newest known version is", false);
  run_sql(PAI__STORE_FILE,
          test_string("PRAGMA user_version=%d", pai__schema_version()));
  pai__store_close(open_folder());
}

TEST(other_files_are_refused)
{
  FILE *file;

  run_sql(PAI__STORE_FILE, "CREATE TABLE theirs(a); INSERT INTO theirs "
                           "VALUES(1)");
  expect_no_store(PAI_EINVAL, "another program's", false);
  assert_int_equal(unlink(in_folder(PAI__STORE_FILE)), 0);
  file = fopen(in_folder(PAI__STORE_FILE), "w");
  assert_non_null(file);
  for (int i = 0; i < 1000; i++)
    (void)fprintf(file, "this is no database\n");
  assert_int_equal(fclose(file), 0);
  expect_no_store(PAI_EIO, "damaged", false);
  assert_int_equal(unlink(in_folder(PAI__STORE_FILE)), 0);
  assert_int_equal(mkdir(in_folder(PAI__STORE_FILE), 0700), 0);
  expect_no_store(PAI_EINVAL, "is not a file", false);
  assert_int_equal(rmdir(in_folder(PAI__STORE_FILE)), 0);
  assert_int_equal(symlink("/etc/passwd", in_folder(PAI__STORE_FILE)), 0);
  expect_no_store(PAI_EINVAL, "is not a file", false);
}

TEST(a_missing_folder_is_told)
{
  pai__store *store;
  pai_error *err;

  assert_fails(pai__store_open(&store, &pai__libc_alloc,
                               in_folder("not/there"), NULL, &err),
               err, PAI_EIO, "No such file");
}

/* --- others, and disks --------------------------------------------------------------- */

TEST(a_lock_is_told_and_passes)
{
  pai__store_options opts = { .busy_ms = -1 };
  pai__store *store;
  pai__batch *batch;
  pai__job_row row = job_of(2);
  found jobs = { .n = 0 };
  pai_error *err;
  sqlite3 *other;

  assert_ok(pai__store_open(&store, &pai__libc_alloc, folder, &opts, NULL));
  put_jobs(store, 1, 1);
  batch = new_batch(store);
  assert_ok(pai__batch_put_job(batch, &row));
  assert_int_equal(sqlite3_open(in_folder(PAI__STORE_FILE), &other),
                   SQLITE_OK);
  assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL),
                   SQLITE_OK);
  assert_int_equal(pai__store_commit(store, batch, &err), PAI_EBUSY);
  assert_true(pai_error_retriable(err));
  test_expect_error(err, PAI_EBUSY, "another process");
  assert_ok(pai__store_job(store, 1, find_job, &jobs, NULL));
  assert_int_equal(sqlite3_close(other), SQLITE_OK);
  commit_all(store, batch);
  assert_ok(pai__store_job(store, 2, find_job, &jobs, NULL));
  pai__store_close(store);
}

static bool no_locks; /* as on a file system without them */

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);

int __wrap_fcntl(int fd, int command, ...)
{
  va_list args;
  void *what;

  va_start(args, command);
  what = va_arg(args, void *);
  va_end(args);
  if (!no_locks || command != F_SETLK)
    return __real_fcntl(fd, command, what);
  errno = ENOLCK;
  return -1;
}

/* SQLite says of that what it says of another process. */
TEST(a_file_system_without_locks_is_told)
{
  pai__store_options opts = { .busy_ms = -1 };
  sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
  pai__store *store;
  pai_error *err;

  assert_int_equal(
    vfs->xSetSystemCall(vfs, "fcntl", (sqlite3_syscall_ptr)__wrap_fcntl),
    SQLITE_OK);
  no_locks = true;
  assert_int_equal(
    pai__store_open(&store, &pai__libc_alloc, folder, &opts, &err), PAI_EIO);
  no_locks = false;
  assert_int_equal(vfs->xSetSystemCall(vfs, "fcntl", NULL), SQLITE_OK);
  assert_false(pai_error_retriable(err));
  assert_has(pai_error_help(err), "--root");
  test_expect_error(
    err, PAI_EIO, PAI__STORE_FILE ": its file system does not support locks");
  store = open_folder();
  pai__store_close(store);
}

/* As long as files may not grow: what a full disk is, for one process. */
static void fill_disk(rlim_t most)
{
  struct rlimit limit;

  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = most;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST(a_full_disk_loses_nothing)
{
  static char large[300000];
  pai__store *store = open_folder();
  pai__batch *batch = new_batch(store);
  found jobs = { .n = 0 };
  pai__job_row row;
  pai_error *err;

  (void)signal(SIGXFSZ, SIG_IGN);
  memset(large, 'x', sizeof(large) - 1);
  put_jobs(store, 1, 3);
  row = job_of(4);
  row.config = large;
  assert_ok(pai__batch_put_job(batch, &row));
  fill_disk(200000);
  for (int again = 0; again < 3; again++) {
    assert_int_equal(pai__store_commit(store, batch, &err), PAI_EIO);
    assert_true(pai_error_retriable(err));
    assert_non_null(pai_error_help(err));
    test_expect_error(err, PAI_EIO, "the disk is full");
    assert_ok(pai__store_job(store, 3, find_job, &jobs, NULL));
  }
  fill_disk(RLIM_INFINITY);
  commit_all(store, batch); /* the same batch */
  assert_ok(pai__store_job(store, 4, find_job, &jobs, NULL));
  fill_disk(100000); /* also when the log goes into the file */
  assert_ok(pai__store_tidy(store, NULL));
  pai__store_close(store);
  fill_disk(RLIM_INFINITY);
  store = open_folder();
  jobs = (found){ .n = 0 };
  for (uint64_t id = 1; id <= 4; id++)
    assert_ok(pai__store_job(store, id, find_job, &jobs, NULL));
  assert_string_equal(jobs.text, "1 2 3 4 ");
  pai__store_close(store);
}

/* By a user who may not write: the owner of all files may do anything. */
TEST(what_cannot_be_written_is_told)
{
  pid_t child;
  int status;

  pai__store_close(open_folder());
  assert_int_equal(chmod(folder, 0755), 0);
  if (geteuid() != 0) {
    assert_int_equal(chmod(in_folder(PAI__STORE_FILE), 0400), 0);
    assert_int_equal(chmod(folder, 0500), 0);
    return;
  }
  child = fork();
  if (child == 0) {
    pai__store *store;
    pai_error *err = NULL;
    int rc = setuid(12345) == 0
               ? pai__store_open(&store, &pai__libc_alloc, folder, NULL, &err)
               : PAI_OK;
    _exit(rc == PAI_EPERM && pai_error_help(err) != NULL ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

enum { NO_MOUNT = 77 };

#define CHECK(expr)                                                   \
  do {                                                                \
    if (!(expr)) {                                                    \
      print_error("line %d: %s: %s\n", __LINE__, #expr,               \
                  err != NULL ? pai_error_message(err) : "no error"); \
      return 1;                                                       \
    }                                                                 \
  } while (0)

/* Commits until there is no room, makes some, and goes on with the same. */
static int fill_small_disk(pai__store *store, uint64_t *last)
{
  static char large[100000];
  pai_error *err = NULL;
  pai__batch *batch;
  int rc = PAI_OK;

  memset(large, 'x', sizeof(large) - 1);
  CHECK(pai__batch_new(&batch, store, &err) == PAI_OK);
  while (rc == PAI_OK && *last < 200) {
    pai__job_row row = job_of(++*last);
    row.config = large;
    pai__batch_clear(batch);
    CHECK(pai__batch_put_job(batch, &row) == PAI_OK);
    rc = pai__store_commit(store, batch, &err);
  }
  CHECK(rc == PAI_EIO && pai_error_retriable(err) == 1);
  CHECK(strstr(pai_error_message(err), "the disk is full") != NULL);
  pai_error_free(err);
  CHECK(unlink(in_folder("ballast")) == 0);
  CHECK(pai__store_commit(store, batch, &err) == PAI_OK);
  pai__batch_free(batch);
  return 0;
}

/* In a mount of its own, which nobody else sees, and which goes with it. */
static int use_small_disk(void)
{
  pai__store *store;
  found jobs = { .n = 0 };
  pai_error *err = NULL;
  uint64_t last = 0;
  int fd, rc;

  if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
      mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("none", folder, "tmpfs", 0, "size=4m") != 0)
    return NO_MOUNT;
  fd = open(in_folder("ballast"), O_WRONLY | O_CREAT, 0600);
  CHECK(fd >= 0 && posix_fallocate(fd, 0, 2 << 20) == 0 && close(fd) == 0);
  CHECK(pai__store_open(&store, &pai__libc_alloc, folder, NULL, &err) ==
        PAI_OK);
  CHECK(fill_small_disk(store, &last) == 0);
  pai__store_close(store);
  CHECK(mount("none", folder, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
  rc = pai__store_open(&store, &pai__libc_alloc, folder, NULL, &err);
  CHECK(rc == PAI_EIO && pai_error_help(err) != NULL);
  CHECK(pai_error_retriable(err) == 0);
  CHECK(strstr(pai_error_message(err), "ead-only") != NULL);
  pai_error_free(err);
  CHECK(mount("none", folder, NULL, MS_REMOUNT, "size=4m") == 0);
  CHECK(pai__store_open(&store, &pai__libc_alloc, folder, NULL, &err) ==
        PAI_OK);
  for (uint64_t id = 1; id <= last; id++)
    CHECK(pai__store_job(store, id, find_job, &jobs, &err) == PAI_OK);
  pai__store_close(store);
  return 0;
}

TEST(small_and_read_only_disks_are_told)
{
  pid_t child = fork();
  int status;

  if (child == 0)
    _exit(use_small_disk());
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  if (WEXITSTATUS(status) == NO_MOUNT) {
    print_message("skipped: this user may not mount a small disk\n");
    skip();
  }
  assert_int_equal(WEXITSTATUS(status), 0);
}

TEST_AROUND_EACH(folder_set_up, folder_tear_down);
