/*
 * linux_reserve.c - disk space that is the store's alone
 *
 * The log of changes has blocks beyond its end.  What jobs write may fill the
 * disk: that they are stopped and removed can be written all the same, and makes
 * room.  A platform that sees the reserve shrink takes no new jobs.
 */
#define _GNU_SOURCE /* fallocate() */
#include "store/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RESERVE = 4 << 20, LEAST = 2 << 20, BLOCK = 512 };

/* SQLite locks other files than this one, so it may be opened and closed. */
bool pai__store_reserve(pai__store *store)
{
  struct stat st;
  pai__buf wal;
  bool full = false;
  int fd = -1;

  pai__buf_init(&wal, &pai__libc_alloc);
  pai__buf_printf(&wal, "%s-wal", store->path);
  if (pai__buf_ok(&wal))
    fd = open(wal.data, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  pai__buf_dispose(&wal);
  if (fd < 0)
    return true; /* it is not there yet, or will be told of elsewhere */
  if (fstat(fd, &st) == 0 &&
      (int64_t)st.st_blocks * BLOCK < (int64_t)st.st_size + LEAST)
    full = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, st.st_size + RESERVE) < 0 &&
           (errno == ENOSPC || errno == EDQUOT);
  (void)close(fd);
  return !full;
}
