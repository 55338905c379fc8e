/* New folders: how they are named, and how few looks that takes. */
#define _XOPEN_SOURCE 700 /* realpath() */

#include "cases.h"

#include "base/os/posix_errno.h"
#include "base/os/posix_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned calls;     /* of mkdir() and lstat() */
static const char *snatch; /* what somebody makes just before mkdir() does */

/* These stand before libc's: the room's calls are counted here. */
int mkdir(const char *path, mode_t mode)
{
  calls++;
  if (snatch != NULL && strcmp(path, snatch) == 0)
    (void)mkdirat(AT_FDCWD, path, mode);
  return mkdirat(AT_FDCWD, path, mode);
}

int lstat(const char *path, struct stat *st)
{
  calls++;
  return fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

static char dir[] = "/tmp/openpai-fs-XXXXXX";

static int set_up(void **state)
{
  (void)state;
  snatch = NULL;
  memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
  return mkdtemp(dir) == NULL ? -1 : 0;
}

static int tear_down(void **state)
{
  (void)state;
  return system(test_string("rm -rf %s", dir));
}

/* Makes dir/NAME, or NAME.number, and expects the folder's own name. */
static void expect_new(const char *name, const char *wanted)
{
  char *made;

  assert_ok(pai__fs_make_new_dir(&made, test_string("%s/%s", dir, name),
                                 &pai__libc_alloc, NULL));
  assert_memory_equal(made, dir, strlen(dir));
  assert_string_equal(made + strlen(dir) + 1, wanted);
  pai__strfree(&pai__libc_alloc, made);
}

static void make(const char *name, unsigned number)
{
  assert_int_equal(
    mkdirat(AT_FDCWD, test_string("%s/%s.%u", dir, name, number), 0700), 0);
}

TEST(names_are_numbered)
{
  expect_new("job", "job");
  for (unsigned i = 1; i <= 40; i++) { /* over several powers of two */
    expect_new("job", test_string("job.%u", i));
  }
  expect_new("job.1", "job.1.1");
  assert_int_equal(symlink("nowhere", test_string("%s/job.41", dir)),
                   0); /* taken as well */
  expect_new("job", "job.42");
}

TEST(thousands_of_folders_take_few_looks)
{
  enum { THERE = 3000 };

  expect_new("job", "job");
  for (unsigned i = 1; i <= THERE; i++)
    make("job", i);
  calls = 0;
  expect_new("job", "job.3001");
  assert_in_range(calls, 1, 2 + 2 * 12); /* 2^12 is more than THERE */
}

TEST(gaps_are_used_or_passed_over)
{
  expect_new("job", "job");
  for (unsigned i = 1; i <= 20; i++)
    if (i != 8 && i != 19)
      make("job", i);
  expect_new("job", "job.8"); /* found on the way */
  expect_new("job", "job.21");
  make("far", 1);
  make("far", 4);
  expect_new("far", "far");
  expect_new("far", "far.2");
  expect_new("far", "far.5"); /* 3 is passed over */
}

TEST(who_comes_second_gets_the_next)
{
  char path[64], last[64];

  (void)snprintf(path, sizeof(path), "%s/job", dir);
  (void)snprintf(last, sizeof(last), "%s/job.1", dir);
  snatch = path;
  expect_new("job", "job.1");
  snatch = last;
  assert_int_equal(rmdir(last), 0);
  expect_new("job", "job.2");
}

TEST(long_names_are_cut)
{
  char name[NAME_MAX + 50], wanted[NAME_MAX + 1];

  memset(name, 'a', sizeof(name));
  name[sizeof(name) - 1] = '\0';
  memset(wanted, 'a', sizeof(wanted));
  wanted[NAME_MAX] = '\0';
  expect_new(name, wanted);
  for (unsigned i = 1; i <= 10; i++) {
    size_t keep = NAME_MAX - (i < 10 ? 2 : 3);
    (void)snprintf(wanted + keep, sizeof(wanted) - keep, ".%u", i);
    expect_new(name, wanted);
  }
}

TEST(names_are_not_cut_inside_a_character)
{
  char name[NAME_MAX + 1], wanted[NAME_MAX + 1];

  memset(name, 'a', sizeof(name));
  memcpy(name + NAME_MAX - 3, "\xc3\xa9z", 4); /* é, of which one byte fits */
  memcpy(wanted, name, sizeof(name));
  expect_new(name, wanted);
  memcpy(wanted + NAME_MAX - 3, ".1", 3);
  expect_new(name, wanted);
}

TEST(errors_name_the_path_and_why)
{
  char path[64], *out = path;
  pai_error *err;

  (void)snprintf(path, sizeof(path), "%s/none/job", dir);
  assert_int_equal(pai__fs_make_new_dir(&out, path, &pai__libc_alloc, &err),
                   PAI_ENOTFOUND);
  assert_null(out);
  test_expect_error(err, PAI_ENOTFOUND, path);
  out = path;
  assert_int_equal(pai__fs_absolute(&out, path, &pai__libc_alloc, &err),
                   PAI_ENOTFOUND);
  assert_null(out);
  test_expect_error(err, PAI_ENOTFOUND, path);
  assert_fails(pai__fs_absolute(&out, path, &pai__libc_alloc, &err), err,
               PAI_ENOTFOUND, "No such file or directory");
}

/* The libc's words end with the room there is. */
TEST(numbers_have_words)
{
  char few[8];

  assert_string_equal(PAI__ERRNO_TEXT(EACCES), "Permission denied");
  assert_has(PAI__ERRNO_TEXT(7777), "7777");
  assert_ptr_equal(pai__errno_text(EACCES, few, sizeof(few)), few);
  assert_string_equal(few, "error 1");
}

TEST(a_folder_has_one_absolute_path)
{
  char path[64], wanted[PATH_MAX], *out;

  assert_non_null(realpath(dir, wanted)); /* where /tmp is a link */
  (void)snprintf(path, sizeof(path), "%s/link", dir);
  assert_int_equal(symlink("../..//tmp/./", path), 0);
  (void)snprintf(path, sizeof(path), "%s/link/%s", dir, dir + strlen("/tmp/"));
  assert_ok(pai__fs_absolute(&out, path, &pai__libc_alloc, NULL));
  assert_string_equal(out, wanted);
  pai__strfree(&pai__libc_alloc, out);
}

TEST_FAULTS(failing_memory)
{
  char *made, *full;
  int rc;

  rc = pai__fs_make_new_dir(&made, test_string("%s/job", dir), alloc, NULL);
  if (rc < 0)
    return rc;
  rc = pai__fs_absolute(&full, made, alloc, NULL);
  if (rc == PAI_OK)
    assert_string_equal(strrchr(full, '/'), strrchr(made, '/'));
  pai__strfree(alloc, full);
  pai__strfree(alloc, made);
  return rc;
}

TEST_AROUND_EACH(set_up, tear_down);
