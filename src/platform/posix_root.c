/* posix_root.c - a platform's root folder, user name and lock */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE /* flock() */

#include "platform/files/code.h"
#include "platform/records/record.h"

#include "base/os/posix_errno.h"
#include "base/os/posix_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int pai__platform_default_root(char **out, const pai_alloc *alloc,
                               pai_error **err)
{
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  pai__buf b;

  *out = NULL;
  pai__buf_init(&b, alloc);
  if (state != NULL && state[0] == '/')
    pai__buf_printf(&b, "%s/openpai", state);
  else if (home != NULL && home[0] == '/')
    pai__buf_printf(&b, "%s/.local/state/openpai", home);
  else {
    int rc = pai__fail(err, PAI_ENOTFOUND,
                       "there is no folder to keep jobs in: HOME is not set");
    pai__error_help(err, "set HOME or XDG_STATE_HOME, or name a root");
    return rc;
  }
  *out = pai__buf_take(&b);
  return *out != NULL ? PAI_OK : pai__oom(err);
}

int pai__platform_find_root(char **out, const char *root,
                            const pai_alloc *alloc, pai_error **err)
{
  char *own = NULL;
  int rc = PAI_OK;

  *out = NULL;
  if (root == NULL)
    rc = pai__platform_default_root(&own, alloc, err);
  if (rc == PAI_OK)
    rc = pai__fs_absolute(out, root != NULL ? root : own, alloc, err);
  pai__strfree(alloc, own);
  return rc;
}

int pai__platform_user_name(char **out, const pai_alloc *alloc,
                            pai_error **err)
{
  struct passwd entry, *found = NULL;
  unsigned long uid = getuid();
  char text[16384];
  int error = getpwuid_r(getuid(), &entry, text, sizeof(text), &found);

  *out = NULL;
  if (found == NULL && error != 0 && error != ENOENT && error != ESRCH) {
    int rc =
      pai__fail(err, PAI_EIO, "cannot look for the name of user %lu: %s", uid,
                PAI__ERRNO_TEXT(error));
    pai__error_help(err,
                    "see whether this machine's list of users can be read "
                    "(getent passwd %lu)",
                    uid);
    return rc;
  }
  if (found == NULL) /* a user without an entry */
    (void)snprintf(text, sizeof(text), "%lu", uid);
  *out = pai__strdup(alloc, found != NULL ? found->pw_name : text);
  return *out != NULL ? PAI_OK : pai__oom(err);
}

/* --- the lock ------------------------------------------------------------- */

static int lock_fail(pai_error **err, const char *path)
{
  return pai__fail(err,
                   errno == EACCES || errno == EROFS ? PAI_EPERM : PAI_EIO,
                   "cannot lock %s: %s", path, PAI__ERRNO_TEXT(errno));
}

/* Returns the process id that the holder wrote to the lock's file, or 0. */
static long read_pid(int fd)
{
  char pid[24] = "";
  ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);

  pid[n > 0 ? n : 0] = '\0';
  return strtol(pid, NULL, 10);
}

static int lock_taken(pai_error **err, int fd, const char *root)
{
  (void)pai__fail(err, PAI_EBUSY, "another platform has %s: process %ld", root,
                  read_pid(fd));
  pai__error_help(err,
                  "end it first: openpai down; or kill %ld, if that does "
                  "not help",
                  read_pid(fd));
  pai__error_retriable(err);
  return PAI_EBUSY;
}

/* A child of a killed platform may hold the lock until its exec(): tries again
 * for a while if the holder does not exist. */
static bool lock(int fd)
{
  enum { TRIES = 200, PAUSE = 10000000 /* ns */ };
  const struct timespec pause = { 0, PAUSE };

  for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
    int why = errno;
    long pid = read_pid(fd);

    if (why != EWOULDBLOCK || i == TRIES || pid == 0 ||
        kill((pid_t)pid, 0) == 0 || errno != ESRCH) {
      errno = why;
      return false;
    }
    (void)nanosleep(&pause, NULL);
  }
  return true;
}

int pai__platform_lock(int *fd, const char *root, const pai_alloc *alloc,
                       pai_error **err)
{
  char *path = pai__fs_join(root, "lock", alloc);
  char pid[24];
  int rc = PAI_OK, len;

  *fd = -1;
  if (path == NULL)
    return pai__oom(err);
  *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (*fd < 0)
    rc = lock_fail(err, path);
  else if (!lock(*fd))
    rc =
      errno == EWOULDBLOCK ? lock_taken(err, *fd, root) : lock_fail(err, path);
  len = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
  if (rc == PAI_OK && (ftruncate(*fd, 0) != 0 ||
                       pwrite(*fd, pid, (size_t)len, 0) != (ssize_t)len))
    rc = lock_fail(err, path);
  if (rc < 0 && *fd >= 0) {
    (void)close(*fd);
    *fd = -1;
  }
  pai__strfree(alloc, path);
  return rc;
}

void pai__platform_unlock(int fd)
{
  if (fd >= 0)
    (void)close(fd);
}

/* Returns the size of a regular file of the root; -1: there is none. */
static off_t size_of(const char *root, const char *name,
                     const pai_alloc *alloc)
{
  char *path = pai__fs_join(root, name, alloc);
  struct stat st;
  off_t size = path != NULL && stat(path, &st) == 0 && S_ISREG(st.st_mode)
                 ? st.st_size
                 : -1;

  pai__strfree(alloc, path);
  return size;
}

int pai__platform_check_database(const char *root, const pai_alloc *alloc,
                                 pai_error **err)
{
  off_t size = size_of(root, PAI__STORE_FILE, alloc);
  int rc;

  if (size > 0 || size_of(root, "scheduler.log", alloc) <= 0)
    return PAI_OK;
  rc = pai__fail(err, PAI_EIO,
                 "the database %s/" PAI__STORE_FILE " is %s, but there is a "
                 "log of the scheduler: jobs would be lost",
                 root, size < 0 ? "missing" : "empty");
  pai__error_help(err,
                  "`openpai doctor --repair` makes a new database from the "
                  "log and the jobs' folders; to begin without jobs, "
                  "remove %s/scheduler.log",
                  root);
  return rc;
}

void pai__platform_replace_database(const char *root, const pai_alloc *alloc)
{
  char *path = pai__fs_join(root, PAI__STORE_FILE, alloc);
  int fd = -1;

  if (path != NULL && size_of(root, PAI__STORE_FILE, alloc) < 0 &&
      size_of(root, "scheduler.log", alloc) > 0)
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0)
    (void)close(fd);
  pai__strfree(alloc, path);
}

bool pai__platform_lock_is_gone(int fd)
{
  struct stat st;

  return fstat(fd, &st) == 0 && st.st_nlink == 0;
}

long pai__platform_pid(void)
{
  return (long)getpid();
}

void pai__platform_boot_id(char *out)
{
  enum { ID = 36 };
  int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read(fd, out, ID) : -1;

  out[n == ID ? ID : 0] = '\0';
  if (fd >= 0)
    (void)close(fd);
}

/* --- folders -------------------------------------------------------------- */

char *pai__platform_path(const pai_platform *p, const char *folder,
                         const char *user, const char *name)
{
  pai__buf b;

  pai__buf_init(&b, &p->alloc);
  pai__buf_printf(&b, "%s/%s/%s~%s", p->root, folder, user, name);
  return pai__buf_take(&b);
}

/* Moves the folder only if it is in the root: others belong to their users. */
int pai__platform_take_code(pai__pjob *j, const char *dir, pai_error **err)
{
  const pai_platform *p = j->platform;
  size_t root = strlen(p->root);
  char *from = NULL, *to = NULL;
  int rc = pai__fs_absolute(&from, dir, &p->alloc, err);

  if (rc < 0)
    return rc;
  if (strncmp(from, p->root, root) != 0 || from[root] != '/') {
    j->work_dir = from;
    return PAI_OK;
  }
  to = pai__fs_join(p->root, "code", &p->alloc);
  rc = to != NULL ? pai__fs_make_dirs(to, &p->alloc, err) : pai__oom(err);
  pai__strfree(&p->alloc, to);
  to = rc == PAI_OK ? pai__platform_path(p, "code", j->user, j->name) : NULL;
  if (rc == PAI_OK && to == NULL)
    rc = pai__oom(err);
  if (to != NULL && strcmp(from, to) != 0) {
    pai__code_remove(j->platform, to);
    if (rename(from, to) != 0)
      rc = pai__fail(err, PAI_EIO, "cannot move %s to %s", from, to);
  }
  pai__strfree(&p->alloc, from);
  if (rc == PAI_OK)
    j->work_dir = to;
  else
    pai__strfree(&p->alloc, to);
  return rc;
}

/* Tells whether the job has a folder of code in the root; needs no memory. */
static bool has_own_code(const pai__pjob *j)
{
  static const char folder[] = "/code/";
  size_t root = strlen(j->platform->root), user = strlen(j->user);
  const char *dir = j->work_dir;

  if (dir == NULL || strncmp(dir, j->platform->root, root) != 0 ||
      strncmp(dir + root, folder, sizeof(folder) - 1) != 0)
    return false;
  dir += root + sizeof(folder) - 1;
  return strncmp(dir, j->user, user) == 0 && dir[user] == '~' &&
         strcmp(dir + user + 1, j->name) == 0;
}

void pai__platform_give_code_back(const pai__pjob *j, const char *dir)
{
  if (has_own_code(j) && (dir == NULL || rename(j->work_dir, dir) != 0))
    pai__code_remove(j->platform, j->work_dir);
}
