/*
 * posix_log_files.c - a platform's scheduler log: its last two files, read as
 * one
 *
 * Reads the bytes that are there when the files are opened, whatever is
 * appended or renamed later.
 */
#define _XOPEN_SOURCE 700 /* pread() */
#include "log_files.h"

#include "remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 3 };

void log_files_close(log_files *f)
{
  for (size_t i = 0; i < 2; i++)
    if (f->file[i] != NULL)
      (void)fclose(f->file[i]);
  *f = (log_files){ 0 };
}

static bool take(log_files *f, size_t i, int fd, struct stat *st)
{
  int error;

  if (fstat(fd, st) == 0) {
    errno = EISDIR;
    if (!S_ISDIR(st->st_mode) && (f->file[i] = fdopen(fd, "r")) != NULL) {
      f->size[i] = (uint64_t)st->st_size;
      return true;
    }
  }
  error = errno;
  (void)close(fd);
  errno = error;
  return false;
}

/* Opens a file.  A missing file is no error; returns false if one exists and
 * cannot be opened. */
static bool open_one(log_files *f, size_t i, const char *root,
                     const char *name, struct stat *st)
{
  char *path = cli_join(root, name);
  int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  int error = path != NULL ? errno : ENOMEM;

  free(path);
  errno = error;
  return fd >= 0 ? take(f, i, fd, st) : error == ENOENT;
}

static bool open_both(log_files *f, const char *root, bool all, bool *same)
{
  struct stat last = { 0 }, before = { 0 };

  *same = false;
  if (!open_one(f, 1, root, "scheduler.log", &last))
    return false;
  if (!all && f->size[1] != 0)
    return true;
  if (!open_one(f, 0, root, "scheduler.log.1", &before))
    return false;
  *same = f->file[0] != NULL && f->file[1] != NULL &&
          last.st_ino == before.st_ino && last.st_dev == before.st_dev;
  return true;
}

bool log_files_open(log_files *f, const char *root, bool all)
{
  bool same = true, good = true;

  /* If the log is rotated between the two calls of open(), both descriptors
   * are the same file: try again. */
  for (int i = 0; i < TRIES && good && same; i++) {
    log_files_close(f);
    good = open_both(f, root, all, &same);
  }
  if (same && good)
    f->size[0] = 0;
  if (good && f->size[0] + f->size[1] == 0) {
    errno = ENOENT;
    good = false;
  }
  return good;
}

static void tell(const char *what, int error)
{
  cli_fail("cannot %s: %s", what, strerror(error));
  cli_help(stderr, "set $TMPDIR to a folder with enough free space");
}

bool log_files_make(log_files *f)
{
  const char *tmp = getenv("TMPDIR");
  char *path =
    cli_join(tmp != NULL && tmp[0] == '/' ? tmp : "/tmp", "openpai-XXXXXX");
  int fd = path != NULL ? mkstemp(path) : -1;

  if (fd >= 0) {
    (void)unlink(path);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    f->file[1] = fdopen(fd, "r+");
  }
  if (f->file[1] == NULL) {
    tell("make a file for the log", path != NULL ? errno : ENOMEM);
    if (fd >= 0)
      (void)close(fd);
  }
  free(path);
  return f->file[1] != NULL;
}

int log_files_add(void *files, const char *bytes, size_t len)
{
  log_files *f = files;

  while (len > 0) {
    ssize_t n = write(fileno(f->file[1]), bytes, len);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      tell("keep the log", errno);
      return PAI_EUSER;
    }
    bytes += n;
    len -= (size_t)n;
    f->size[1] += (uint64_t)n;
  }
  return PAI_OK;
}

ptrdiff_t log_files_read(void *files, uint64_t offset, char *buffer,
                         size_t size)
{
  const log_files *f = files;
  size_t i = offset >= f->size[0];
  uint64_t from = i != 0 ? offset - f->size[0] : offset;
  uint64_t left = f->size[i] - from;
  ssize_t n;

  do
    n = pread(fileno(f->file[i]), buffer, left < size ? (size_t)left : size,
              (off_t)from);
  while (n < 0 && errno == EINTR);
  return n > 0 ? n : PAI_EIO;
}
