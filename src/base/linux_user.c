/*
 * linux_user.c - users of this machine, and what is done in their name
 *
 * The rights to files are a thread's own on Linux (setfsuid), and so are
 * groups, if the kernel is asked itself: the C library would change all
 * threads.
 */
#define _GNU_SOURCE /* setfsuid(), getgrouplist() */

#include "base/posix_user.h"

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

enum { ENTRY = 16384 };

/* --- who they are -------------------------------------------------------------- */

static bool copy(char *to, size_t size, const char *text)
{
  return snprintf(to, size, "%s", text != NULL ? text : "") < (int)size;
}

static int fill(pai__user *out, const struct passwd *entry)
{
  gid_t groups[PAI__GROUPS_MOST];
  int n = PAI__GROUPS_MOST;

  if (!copy(out->name, sizeof(out->name), entry->pw_name))
    return PAI_EINVAL;
  out->uid = entry->pw_uid;
  out->gid = entry->pw_gid;
  if (!copy(out->home, sizeof(out->home), entry->pw_dir))
    out->home[0] = '\0';
  if (!copy(out->shell, sizeof(out->shell), entry->pw_shell))
    out->shell[0] = '\0';
  if (getgrouplist(entry->pw_name, entry->pw_gid, groups, &n) < 0)
    n = PAI__GROUPS_MOST; /* those that had room */
  out->ngroups = (size_t)n;
  for (int i = 0; i < n; i++)
    out->groups[i] = groups[i];
  return PAI_OK;
}

/* One that no list of users has. */
static int fill_number(pai__user *out, unsigned long uid)
{
  (void)snprintf(out->name, sizeof(out->name), "%lu", uid);
  out->uid = out->gid = (uint32_t)uid;
  return PAI_OK;
}

int pai__user_by_id(pai__user *out, unsigned long uid)
{
  struct passwd entry, *found = NULL;
  char text[ENTRY];

  memset(out, 0, sizeof(*out));
  if (getpwuid_r((uid_t)uid, &entry, text, sizeof(text), &found) == 0 &&
      found != NULL) {
    int rc = fill(out, found);
    /* And is that name the number's? */
    return rc == PAI_OK && (getpwnam_r(out->name, &entry, text, sizeof(text),
                                       &found) != 0 ||
                            found == NULL || found->pw_uid != (uid_t)uid)
             ? PAI_EPERM
             : rc;
  }
  (void)fill_number(out, uid);
  if (getpwnam_r(out->name, &entry, text, sizeof(text), &found) == 0 &&
      found != NULL)
    return PAI_EPERM;
  return PAI_OK;
}

int pai__user_by_name(pai__user *out, const char *name)
{
  struct passwd entry, *found = NULL;
  char text[ENTRY], *end;
  unsigned long uid;

  memset(out, 0, sizeof(*out));
  if (getpwnam_r(name, &entry, text, sizeof(text), &found) == 0 &&
      found != NULL)
    return fill(out, found);
  errno = 0;
  uid = strtoul(name, &end, 10);
  if (name[0] < '1' || name[0] > '9' || *end != '\0' || errno != 0 ||
      uid >= UINT32_MAX ||
      (getpwuid_r((uid_t)uid, &entry, text, sizeof(text), &found) == 0 &&
       found != NULL))
    return PAI_ENOTFOUND;
  return fill_number(out, uid);
}

/* --- in their name ---------------------------------------------------------------- */

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
  /* They tell what was before, also when they fail. */
  if (setfsuid(user->uid) == (int)user->uid &&
      setfsgid(user->gid) == (int)user->gid)
    return true;
  pai__as_self(user);
  return false;
}

/* Root has all rights without any group. */
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
