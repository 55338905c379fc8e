/*
 * posix_lease.c - leases of GPUs: one file for each GPU, locked by the platform
 * that uses it
 *
 * By them platforms of several users agree.  A lock ends with its process, so
 * no cleanup is needed.  The files are in the first of two folders that exists;
 * all users may make files in both.
 */
#define _DEFAULT_SOURCE /* flock() */

#include "platform/place/gpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* To lock another user's file, read permission is enough.  O_CREAT is used only
 * without a file: the kernel may refuse it for other users' files there. */
int pai__lock_file_open(const char *name, int flags, unsigned mode)
{
  const char *dir =
    access("/run/lock", W_OK | X_OK) == 0 ? "/run/lock" : "/tmp";
  char path[64];
  int fd;

  flags |= O_CLOEXEC | O_NOFOLLOW;
  (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
  fd = open(path, flags);
  if (fd >= 0 || errno != ENOENT)
    return fd;
  fd = open(path, flags | O_CREAT | O_EXCL, mode);
  if (fd >= 0)
    (void)fchmod(fd, mode); /* whatever the umask is */
  else if (errno == EEXIST)
    fd = open(path, flags);
  return fd;
}

int pai__lease_take(uint32_t gpu)
{
  char name[32];
  int fd;

  (void)snprintf(name, sizeof(name), "openpai-gpu-%u", gpu);
  fd = pai__lock_file_open(name, O_RDONLY, 0444);
  if (fd < 0)
    return -2;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0)
    return fd;
  (void)close(fd);
  return errno == EWOULDBLOCK ? -1 : -2;
}

void pai__lease_give(int fd)
{
  if (fd >= 0)
    (void)close(fd);
}
