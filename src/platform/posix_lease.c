/*
 * posix_lease.c - one file for each GPU, which whoever uses it has locked
 *
 * Platforms of several users agree by them.  A lock ends with its process; so
 * nobody has to tidy up.  Files are found in the first of two folders that is
 * there: all users may make files in both.
 */
#define _DEFAULT_SOURCE /* flock() */

#include "platform/gpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *lease_dir(void)
{
  return access("/run/lock", W_OK | X_OK) == 0 ? "/run/lock" : "/tmp";
}

/* To lock a file of another user it need only be read; and made it is only if
 * it is not there, for what lies in such folders is not opened to be made. */
static int open_lease(const char *path)
{
  enum { ALL = 0444 };
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

  if (fd >= 0 || errno != ENOENT)
    return fd;
  fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, ALL);
  if (fd >= 0)
    (void)fchmod(fd, ALL); /* whatever the umask is */
  else if (errno == EEXIST)
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  return fd;
}

int pai__lease_take(uint32_t gpu)
{
  char path[64];
  int fd;

  (void)snprintf(path, sizeof(path), "%s/openpai-gpu-%u", lease_dir(), gpu);
  fd = open_lease(path);
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
