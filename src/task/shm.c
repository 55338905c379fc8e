/*
 * shm.c - folder that tasks of one job share as /dev/shm
 *
 * It is in the machine's /dev/shm, so its files are in memory, and no other
 * user may enter it.  The holder of the job's namespaces has a lock on it and
 * removes it at the end; a folder without a lock was left by a killed holder.
 */
#define _GNU_SOURCE
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIES = 100, PATIENCE_MS = 60000, PAUSE_US = 10000 };

static int folder = -1; /* /dev/shm, which is outside the holder's root */
static const char *own;

/* Opens and locks it; -1: another user's, or locked. */
static int lock(const char *name)
{
  int fd =
    openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat info;

  if (fd < 0)
    return -1;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &info) == 0 &&
      info.st_nlink > 0 && info.st_uid == geteuid())
    return fd;
  (void)close(fd);
  return -1;
}

static void remove_left(const char *name)
{
  int fd;

  if (strncmp(name, PAI_ORDER_SHM_BEGIN, strlen(PAI_ORDER_SHM_BEGIN)) != 0)
    return;
  fd = lock(name);
  if (fd < 0)
    return;
  (void)folder_remove(folder, name, monotonic_ms() + PATIENCE_MS);
  (void)close(fd);
}

static void remove_all_left(void)
{
  _Alignas(entry) char some[4096];
  long n;

  while ((n = syscall(SYS_getdents64, folder, some, sizeof(some))) > 0)
    for (long at = 0; at < n;) {
      const entry *e = (const void *)(some + at);

      at += e->length;
      remove_left(e->name);
    }
}

/* Between creating and locking, another holder may remove it as left over: try
 * again. */
bool shm_make(const char *name)
{
  int fd = -1;

  own = name;
  folder = open(PAI_ORDER_SHM, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < TRIES && fd < 0; i++) {
    if (folder < 0 || (mkdirat(folder, name, 0700) < 0 && errno != EEXIST))
      return false;
    fd = lock(name);
  }
  if (fd >= 0)
    remove_all_left();
  return fd >= 0;
}

/* Kills processes that could still write there first. */
void shm_remove(void)
{
  int64_t end = monotonic_ms() + PATIENCE_MS;

  (void)kill(-1, SIGKILL);
  while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
    continue;
  while (!folder_remove(folder, own, end) && monotonic_ms() < end)
    (void)usleep(PAUSE_US);
}
