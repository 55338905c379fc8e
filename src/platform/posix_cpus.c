/*
 * posix_cpus.c - a file of which each byte stands for a CPU, which whoever
 * gives it to a task has locked
 *
 * As with leases of GPUs, locks end with their process.  There is one
 * descriptor for all, for a machine may have hundreds; such locks belong to
 * it, so that two platforms of one process are two as well.
 */
#define _GNU_SOURCE /* F_OFD_SETLK, sched_getaffinity() */

#include "platform/cores.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

bool pai__cpus_allowed(pai__cpus *out)
{
  unsigned long mask[PAI__MAX_CPUS / 8 / sizeof(long)] = { 0 };
  const size_t bits = sizeof(long) * 8;

  memset(out, 0, sizeof(*out));
  if (sched_getaffinity(0, sizeof(mask), (void *)mask) < 0)
    return false;
  for (uint32_t i = 0; i < PAI__MAX_CPUS; i++)
    if ((mask[i / bits] >> i % bits & 1) != 0)
      pai__bits_set(out->at, i, i);
  return true;
}

/* Nothing is ever written to it; so all may write to it, as locks need. */
int pai__cpus_open(void)
{
  enum { ALL = 0666 };
  const char *path = access("/run/lock", W_OK | X_OK) == 0
                       ? "/run/lock/openpai-cpus"
                       : "/tmp/openpai-cpus";
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

  if (fd >= 0 || errno != ENOENT)
    return fd;
  fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, ALL);
  if (fd >= 0)
    (void)fchmod(fd, ALL); /* whatever the umask is */
  else if (errno == EEXIST)
    fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  return fd;
}

void pai__cpus_close(int fd)
{
  if (fd >= 0)
    (void)close(fd);
}

static int set_lock(int fd, uint32_t cpu, int type)
{
  struct flock lock = { .l_type = (short)type,
                        .l_whence = SEEK_SET,
                        .l_start = (off_t)cpu,
                        .l_len = 1 };

  return fcntl(fd, F_OFD_SETLK, &lock);
}

bool pai__cpu_lock(int fd, uint32_t cpu)
{
  return fd < 0 || set_lock(fd, cpu, F_WRLCK) == 0 ||
         (errno != EAGAIN && errno != EACCES);
}

void pai__cpu_unlock(int fd, uint32_t cpu)
{
  if (fd >= 0)
    (void)set_lock(fd, cpu, F_UNLCK);
}
