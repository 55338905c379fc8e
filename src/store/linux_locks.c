/*
 * linux_locks.c - finds out why SQLite cannot lock the database on opening
 *
 * SQLite says "busy" also for a file system without locks, after waiting.
 */
#define _GNU_SOURCE /* mkostemp() */
#include "base/os/posix_errno.h"
#include "store/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Tries to lock a temporary file: closing the database itself would drop
 * SQLite's locks on it. 0, or an errno: locks are refused here. */
static int try_lock(const char *database)
{
  struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
  int fd, rc = 0;
  pai__buf path;

  pai__buf_init(&path, &pai__libc_alloc);
  pai__buf_printf(&path, "%s-lock-XXXXXX", database);
  fd = pai__buf_ok(&path) ? mkostemp(path.data, O_CLOEXEC) : -1;
  if (fd >= 0) {
    rc = fcntl(fd, F_SETLK, &lock) == 0 ? 0 : errno;
    (void)close(fd);
    (void)unlink(path.data);
  }
  pai__buf_dispose(&path);
  return rc;
}

/* Returns the pid of a line of /proc/locks if it is a write lock on that file:
 * "1: POSIX ADVISORY WRITE 77 fd:01:1234 0 EOF"; else 0. */
static long holder_of(const char *line, const struct stat *st)
{
  static const char write[] = " WRITE ";
  const char *at = strstr(line, write);
  unsigned long of_major, of_minor, inode;
  char *end;
  long pid;

  if (at == NULL)
    return 0;
  pid = strtol(at + sizeof(write) - 1, &end, 10);
  of_major = strtoul(end, &end, 16);
  of_minor = *end == ':' ? strtoul(end + 1, &end, 16) : 0;
  inode = *end == ':' ? strtoul(end + 1, &end, 10) : 0;
  return inode == st->st_ino && of_major == major(st->st_dev) &&
             of_minor == minor(st->st_dev)
           ? pid
           : 0;
}

/* Returns another process with a write lock on a file, or 0. */
static long find_holder(const char *path)
{
  struct stat st;
  long found = 0;
  char line[256];
  FILE *locks;

  if (stat(path, &st) != 0 || (locks = fopen("/proc/locks", "re")) == NULL)
    return 0;
  while (found == 0 && fgets(line, sizeof(line), locks) != NULL) {
    found = holder_of(line, &st);
    if (found == (long)getpid())
      found = 0;
  }
  (void)fclose(locks);
  return found > 0 ? found : 0;
}

/* In WAL mode SQLite locks the -shm file. */
static long find_any_holder(const char *database)
{
  long pid = find_holder(database);
  pai__buf index;

  pai__buf_init(&index, &pai__libc_alloc);
  pai__buf_printf(&index, "%s-shm", database);
  if (pid == 0 && pai__buf_ok(&index))
    pid = find_holder(index.data);
  pai__buf_dispose(&index);
  return pid;
}

int pai__store_explain_lock(const char *database, pai_error **err)
{
  int refused = try_lock(database);
  long pid = refused == 0 ? find_any_holder(database) : 0;
  int code;

  if (err != NULL) {
    pai_error_free(*err);
    *err = NULL;
  }
  if (refused != 0) {
    code =
      pai__fail(err, PAI_EIO,
                "cannot open %s: its file system does not support locks: %s",
                database, PAI__ERRNO_TEXT(refused));
    pai__error_help(
      err, "use a folder on a local disk with --root, or enable file locks "
           "(on NFS: the lock service, without the option nolock)");
    return code;
  }
  if (pid != 0)
    code = pai__fail(err, PAI_EIO, "cannot open %s: process %ld has locked it",
                     database, pid);
  else
    code = pai__fail(
      err, PAI_EIO, "cannot open %s: another process has locked it", database);
  pai__error_help(err, "end that process (a sqlite3 shell or a backup, for "
                       "example) or wait for its end, then try again");
  pai__error_retriable(err);
  return code;
}
