/*
 * posix_cpus.c - locks of CPUs: a file with one byte for each CPU, locked by
 * the platform that gives the CPU to a task
 *
 * As with leases of GPUs, locks end with their process.  One descriptor serves
 * all CPUs, because a machine may have hundreds.  These locks belong to the
 * descriptor, so that two platforms of one process exclude each other, too.
 */
#define _GNU_SOURCE /* F_OFD_SETLK */

#include "platform/place/cores.h"
#include "platform/place/gpus.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Write locks need a file that is writable for all; it stays empty. */
int pai__cpus_open(void)
{
  return pai__lock_file_open("openpai-cpus", O_RDWR, 0666);
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
