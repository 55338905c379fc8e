/*
 * linux_reserve.c - disk space reserved for the store
 *
 * Blocks are allocated beyond the end of the write-ahead log.  When the output
 * of jobs fills the disk, stopping and removing jobs can still be recorded,
 * which frees space.  A platform that sees the reserve shrink takes no new
 * jobs.
 */
#define _GNU_SOURCE /* fallocate() */
#include "store/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RESERVE = 4 << 20, LEAST = 2 << 20, BLOCK = 512 };

/* SQLite does not lock this file, so it may be opened and closed. */
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
    return true; /* the file does not exist yet, or the error is reported
                    elsewhere */
  if (fstat(fd, &st) == 0 &&
      (int64_t)st.st_blocks * BLOCK < (int64_t)st.st_size + LEAST)
    full = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, st.st_size + RESERVE) < 0 &&
           (errno == ENOSPC || errno == EDQUOT);
  (void)close(fd);
  return !full;
}
