/*
 * posix_replace.c - a file with another text, all of it or not at all
 *
 * A new file takes its place, with its rights and its owner.  Where it has other
 * names, or its owner cannot be kept, it is written itself.
 */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 64 << 10 };

typedef struct replacement {
  const char *path, *text;
  size_t len;
  int old;         /* the file, open for writing */
  struct stat was; /* of it */
} replacement;

/* 1: the file has this text; 0: another one; -1: errno. */
static int has_text(int fd, const char *text, size_t len)
{
  char piece[PIECE];
  size_t at = 0;
  ssize_t n;

  while ((n = pread(fd, piece, sizeof(piece), (off_t)at)) > 0) {
    if ((size_t)n > len - at || memcmp(piece, text + at, (size_t)n) != 0)
      return 0;
    at += (size_t)n;
  }
  return n < 0 ? -1 : at == len;
}

static int write_all(int fd, const char *text, size_t len)
{
  size_t at = 0;

  while (at < len) {
    ssize_t n = pwrite(fd, text + at, len - at, (off_t)at);

    if (n < 0 && errno != EINTR)
      return errno;
    at += n > 0 ? (size_t)n : 0;
  }
  return ftruncate(fd, (off_t)len) == 0 && fsync(fd) == 0 ? 0 : errno;
}

/* The new file is this user's, if it cannot be another's. */
static bool keeps_owner(const replacement *r, int fd)
{
  struct stat now;

  if (fstat(fd, &now) != 0)
    return false;
  return (now.st_uid == r->was.st_uid && now.st_gid == r->was.st_gid) ||
         fchown(fd, r->was.st_uid, r->was.st_gid) == 0;
}

/* 0 or an errno; EXDEV: it has to be written itself. */
static int exchange(const replacement *r)
{
  size_t size = strlen(r->path) + sizeof(".XXXXXX");
  char *fresh = malloc(size);
  int fd, error = 0;

  if (fresh == NULL)
    return ENOMEM;
  (void)snprintf(fresh, size, "%s.XXXXXX", r->path);
  fd = mkstemp(fresh);
  if (fd < 0) {
    error = errno == EACCES || errno == EROFS ? EXDEV : errno;
    free(fresh);
    return error;
  }
  if (!keeps_owner(r, fd))
    error = EXDEV;
  if (error == 0 && fchmod(fd, r->was.st_mode & 07777) != 0)
    error = errno;
  if (error == 0)
    error = write_all(fd, r->text, r->len);
  if (close(fd) != 0 && error == 0)
    error = errno;
  if (error == 0 && rename(fresh, r->path) != 0)
    error = errno;
  if (error != 0)
    (void)unlink(fresh);
  free(fresh);
  return error;
}

static const char *replace(replacement *r, const char *was, size_t was_len)
{
  int error = 0, same;

  if (fstat(r->old, &r->was) != 0)
    return strerror(errno);
  if (!S_ISREG(r->was.st_mode))
    return "it is not a regular file";
  same = has_text(r->old, was, was_len);
  if (same < 0)
    return strerror(errno);
  if (same == 0)
    return "it has been changed meanwhile";
  error = r->was.st_nlink > 1 ? EXDEV : exchange(r);
  if (error == EXDEV)
    error = write_all(r->old, r->text, r->len);
  return error != 0 ? strerror(error) : NULL;
}

const char *cli_replace(const char *name, const char *was, size_t was_len,
                        const char *text, size_t len)
{
  char *path = realpath(name, NULL);
  replacement r = { .path = path, .text = text, .len = len };
  const char *why;

  r.old =
    path != NULL ? open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
  why = r.old >= 0 ? replace(&r, was, was_len) : strerror(errno);
  if (r.old >= 0)
    (void)close(r.old);
  free(path);
  return why;
}
