/* Users of the machine, and what is done in their name.  As root all of it is
 * tried, else what any user may. */
#define _XOPEN_SOURCE 700 /* mkstemp(), mkdtemp() */

#include "cases.h"

#include "base/os/posix_user.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOBODY = 65534, STRANGER = 54321 };

/* --- the list of users, which may be another machine's ------------------------- */

static int broken; /* an error number: it cannot be read */

int __real_getpwnam_r(const char *name, struct passwd *user, char *text,
                      size_t size, struct passwd **found);
int __wrap_getpwnam_r(const char *name, struct passwd *user, char *text,
                      size_t size, struct passwd **found);
int __wrap_getpwnam_r(const char *name, struct passwd *user, char *text,
                      size_t size, struct passwd **found)
{
  *found = NULL;
  return broken != 0 ? broken
                     : __real_getpwnam_r(name, user, text, size, found);
}

int __real_getpwuid_r(uid_t uid, struct passwd *user, char *text, size_t size,
                      struct passwd **found);
int __wrap_getpwuid_r(uid_t uid, struct passwd *user, char *text, size_t size,
                      struct passwd **found);
int __wrap_getpwuid_r(uid_t uid, struct passwd *user, char *text, size_t size,
                      struct passwd **found)
{
  *found = NULL;
  return broken != 0 ? broken
                     : __real_getpwuid_r(uid, user, text, size, found);
}

/* --- who they are --------------------------------------------------------------- */

TEST(users_are_found_both_ways)
{
  pai__user user, same;

  assert_ok(pai__user_by_id(&user, 0));
  assert_string_equal(user.name, "root");
  assert_ok(pai__user_by_name(&same, "root", NULL));
  assert_int_equal(same.uid, 0);
  assert_string_equal(same.home, user.home);
  assert_true(same.ngroups >= 1);
}

TEST(one_that_no_list_has_is_a_number)
{
  pai__user user;

  if (pai__user_by_id(&user, STRANGER) != PAI_OK ||
      strcmp(user.name, "54321") != 0)
    skip(); /* here it is somebody */
  assert_int_equal(user.gid, NOBODY);
  assert_string_equal(user.home, "");
  assert_int_equal(user.ngroups, 0);
  assert_ok(pai__user_by_name(&user, "54321", NULL));
  assert_int_equal(user.uid, STRANGER);
}

TEST(what_is_nobodys_name)
{
  static const char *const names[] = { "",           "no such user", "0",
                                       "00",         "-1",           "054321",
                                       "4294967295", "99999999999",  "5x",
                                       " 5432" };
  pai__user user;

  for (size_t i = 0; i < PAI__LEN(names); i++)
    assert_int_equal(pai__user_by_name(&user, names[i], NULL), PAI_ENOTFOUND);
}

/* Who cannot be looked for is not taken for nobody, nor for a number. */
TEST(a_list_that_cannot_be_read_is_an_error)
{
  static const int none[] = { ENOENT, ESRCH },
                   errors[] = { EIO, EMFILE, ERANGE, ETIMEDOUT };
  pai_error *err = NULL;
  pai__user user;

  for (size_t i = 0; i < PAI__LEN(errors); i++) {
    broken = errors[i];
    assert_int_equal(pai__user_by_id(&user, 0), PAI_EIO);
    assert_int_equal(pai__user_by_name(&user, "root", NULL), PAI_EIO);
    assert_int_equal(pai__user_by_name(&user, "54321", NULL), PAI_EIO);
  }
  broken = EIO;
  assert_int_equal(pai__user_by_name(&user, "root", &err), PAI_EIO);
  broken = 0;
  assert_string_equal(
    pai_error_message(err),
    "cannot look up user root of this machine: Input/output error");
  assert_string_equal(
    pai_error_help(err),
    "check that its list of users can be read: getent passwd root");
  pai_error_free(err);
  for (size_t i = 0; i < PAI__LEN(none); i++) {
    broken = none[i];
    assert_ok(pai__user_by_id(&user, STRANGER));
    assert_string_equal(user.name, "54321");
    assert_int_equal(pai__user_by_name(&user, "root", NULL), PAI_ENOTFOUND);
  }
  broken = 0;
}

static bool can_read(const char *path)
{
  int fd = open(path, O_RDONLY);

  if (fd >= 0)
    (void)close(fd);
  return fd >= 0;
}

TEST(rights_are_taken_and_given_back)
{
  char path[] = "/tmp/openpai-user-XXXXXX", made[64];
  pai__user nobody = { .uid = NOBODY, .gid = NOBODY };
  struct stat st;
  int fd = mkstemp(path);

  assert_true(fd >= 0);
  (void)close(fd);
  assert_true(pai__as_user(NULL)); /* as it is */
  assert_true(can_read(path));
  pai__as_self(NULL);
  if (!pai__user_is_root()) {
    nobody.uid = geteuid() + 1;
    assert_false(pai__as_user(&nobody));
    assert_int_equal(unlink(path), 0);
    print_message("SKIPPED: only root can act for others\n");
    skip();
  }
  assert_true(pai__as_user(&nobody));
  assert_false(can_read(path));
  assert_int_equal(errno, EACCES);
  assert_int_equal(chown(path, 0, 0), -1);
  (void)snprintf(made, sizeof(made), "%s.made", path);
  fd = open(made, O_WRONLY | O_CREAT | O_EXCL, 0600);
  errno = ENOTSUP;
  pai__as_self(&nobody);
  assert_int_equal(errno, ENOTSUP); /* it was somebody's */
  assert_true(can_read(path));
  assert_int_equal(fstat(fd, &st), 0);
  assert_int_equal(st.st_uid, NOBODY);
  assert_int_equal(st.st_gid, NOBODY);
  (void)close(fd);
  assert_int_equal(unlink(made), 0);
  assert_int_equal(unlink(path), 0);
}

/* Groups are what opens a folder, too. */
TEST(groups_go_with_them)
{
  char path[] = "/tmp/openpai-user-XXXXXX";
  pai__user user = { .uid = NOBODY, .gid = NOBODY };
  int fd;

  if (!pai__user_is_root())
    skip();
  fd = mkstemp(path);
  assert_int_equal(fchown(fd, 0, STRANGER), 0);
  assert_int_equal(fchmod(fd, 0640), 0);
  (void)close(fd);
  assert_true(pai__as_user(&user));
  assert_false(can_read(path));
  pai__as_self(&user);
  user.groups[user.ngroups++] = STRANGER;
  assert_true(pai__as_user(&user));
  assert_true(can_read(path));
  pai__as_self(&user);
  assert_int_equal(unlink(path), 0);
}

TEST(a_closed_folder_is_named)
{
  char top[] = "/tmp/openpai-user-XXXXXX", below[64], closed[64];

  assert_non_null(mkdtemp(top));
  (void)snprintf(below, sizeof(below), "%s/below", top);
  assert_int_equal(mkdir(below, 0755), 0);
  assert_int_equal(chmod(below, 0755), 0); /* whatever the umask */
  assert_false(pai__is_open_to_all(below, closed, sizeof(closed)));
  assert_string_equal(closed, top);
  assert_int_equal(chmod(top, 0711), 0);
  assert_true(pai__is_open_to_all(below, closed, sizeof(closed)));
  assert_int_equal(chmod(below, 0700), 0);
  assert_false(pai__is_open_to_all(below, closed, sizeof(closed)));
  assert_string_equal(closed, below);
  assert_int_equal(rmdir(below), 0);
  assert_int_equal(rmdir(top), 0);
}
