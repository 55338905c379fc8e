/*
 * linux_user.c - users of this machine, and file access with a user's rights
 *
 * On Linux a thread can have its own rights to files (setfsuid), and its own
 * groups by the system call; the C library's function changes all threads.
 */
#define _GNU_SOURCE /* setfsuid(), getgrouplist() */

#include "base/os/posix_user.h"

#include "base/os/posix_errno.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NO_GROUP = 65534 }; /* nobody's group, as user 65534 is nobody */

typedef struct entry {
  struct passwd user;
  char text[16384];
} entry;

/* --- look-up ------------------------------------------------------------- */

static bool copy(char *to, size_t size, const char *text)
{
  return snprintf(to, size, "%s", text != NULL ? text : "") < (int)size;
}

static int fill(pai__user *out, const struct passwd *user)
{
  gid_t groups[PAI__GROUPS_MOST];
  int n = PAI__GROUPS_MOST;

  if (!copy(out->name, sizeof(out->name), user->pw_name))
    return PAI_EINVAL;
  out->uid = user->pw_uid;
  out->gid = user->pw_gid;
  if (!copy(out->home, sizeof(out->home), user->pw_dir))
    out->home[0] = '\0';
  if (!copy(out->shell, sizeof(out->shell), user->pw_shell))
    out->shell[0] = '\0';
  if (getgrouplist(user->pw_name, user->pw_gid, groups, &n) < 0)
    n = PAI__GROUPS_MOST; /* those that fit */
  out->ngroups = (size_t)n;
  for (int i = 0; i < n; i++)
    out->groups[i] = groups[i];
  return PAI_OK;
}

/* Fills in a uid without an entry; it has no group. */
static void fill_number(pai__user *out, unsigned long uid)
{
  (void)snprintf(out->name, sizeof(out->name), "%lu", uid);
  out->uid = (uint32_t)uid;
  out->gid = NO_GROUP;
}

/* Handles the result of getpw...().  If the user database, which may be
 * remote, could not be read, it is not known whether the user exists. */
static int told(int error, const struct passwd *found)
{
  if (error != 0 && error != ENOENT && error != ESRCH) {
    errno = error;
    return PAI_EIO;
  }
  return found != NULL ? PAI_OK : PAI_ENOTFOUND;
}

static int find_id(entry *e, unsigned long uid)
{
  struct passwd *found = NULL;
  int error =
    getpwuid_r((uid_t)uid, &e->user, e->text, sizeof(e->text), &found);

  return told(error, found);
}

static int find_name(entry *e, const char *name)
{
  struct passwd *found = NULL;
  int error = getpwnam_r(name, &e->user, e->text, sizeof(e->text), &found);

  return told(error, found);
}

int pai__user_by_id(pai__user *out, unsigned long uid)
{
  entry e;
  int rc;

  memset(out, 0, sizeof(*out));
  rc = find_id(&e, uid);
  if (rc == PAI_OK) {
    rc = fill(out, &e.user);
    if (rc < 0)
      return rc;
    rc = find_name(&e, out->name); /* check that the name belongs to this
                                      uid */
    return rc == PAI_EIO                                 ? PAI_EIO
           : rc == PAI_OK && e.user.pw_uid == (uid_t)uid ? PAI_OK
                                                         : PAI_EPERM;
  }
  if (rc != PAI_ENOTFOUND)
    return rc;
  fill_number(out, uid);
  rc = find_name(&e, out->name);
  return rc == PAI_OK ? PAI_EPERM : rc == PAI_ENOTFOUND ? PAI_OK : rc;
}

/* Returns the uid that a name of digits stands for, if no user has that name;
 * 0: none. */
static unsigned long read_number(const char *name)
{
  char *end;
  unsigned long uid;

  errno = 0;
  uid = strtoul(name, &end, 10);
  return name[0] >= '1' && name[0] <= '9' && *end == '\0' && errno == 0 &&
             uid < UINT32_MAX
           ? uid
           : 0;
}

int pai__user_by_name(pai__user *out, const char *name, pai_error **err)
{
  unsigned long uid = read_number(name);
  entry e;
  int rc;

  memset(out, 0, sizeof(*out));
  rc = find_name(&e, name);
  if (rc == PAI_OK) {
    rc = fill(out, &e.user);
    return rc < 0 ? pai__fail(err, rc, "the name of user %s is too long", name)
                  : rc;
  }
  if (rc == PAI_ENOTFOUND && uid != 0) {
    rc = find_id(&e, uid);
    if (rc == PAI_ENOTFOUND) {
      fill_number(out, uid);
      return PAI_OK;
    }
    if (rc == PAI_OK) /* the uid has another name */
      rc = PAI_ENOTFOUND;
  }
  if (rc == PAI_ENOTFOUND)
    return pai__fail(err, rc, "this machine has no user %s", name);
  rc = pai__fail(err, rc, "cannot look up user %s of this machine: %s", name,
                 PAI__ERRNO_TEXT(errno));
  pai__error_help(
    err, "check that its list of users can be read: getent passwd %s", name);
  return rc;
}

/* --- file access --------------------------------------------------------- */

bool pai__user_is_root(void)
{
  return geteuid() == 0;
}

static bool is_self(const pai__user *user)
{
  return user == NULL || user->uid == geteuid();
}

static bool set_groups(const gid_t *groups, size_t n)
{
  return syscall(SYS_setgroups, n, groups) == 0;
}

bool pai__as_user(const pai__user *user)
{
  gid_t groups[PAI__GROUPS_MOST];

  if (is_self(user))
    return true;
  for (size_t i = 0; i < user->ngroups; i++)
    groups[i] = user->groups[i];
  if (!set_groups(groups, user->ngroups))
    return false;
  (void)setfsgid(user->gid);
  (void)setfsuid(user->uid);
  /* They return the previous value, also when they fail. */
  if (setfsuid(user->uid) == (int)user->uid &&
      setfsgid(user->gid) == (int)user->gid)
    return true;
  pai__as_self(user);
  return false;
}

/* Root has all rights without groups. */
void pai__as_self(const pai__user *user)
{
  int error = errno;

  if (is_self(user))
    return;
  (void)setfsuid(geteuid());
  (void)setfsgid(getegid());
  (void)set_groups(NULL, 0);
  errno = error;
}

bool pai__is_open_to_all(const char *path, char *out, size_t size)
{
  struct stat st;

  for (const char *slash = path; slash != NULL;) {
    slash = strchr(slash + 1, '/');
    (void)snprintf(out, size, "%.*s",
                   slash != NULL ? (int)(slash - path) : (int)strlen(path),
                   path);
    if (stat(out, &st) != 0 || (st.st_mode & S_IXOTH) == 0)
      return false;
  }
  return true;
}
