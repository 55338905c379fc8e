/*
 * posix_log.c - a log that is two files
 *
 * Whoever writes it renames X to X.1 when X is full, and begins X anew.  A
 * reader holds the file that it reads open, so that renaming takes nothing
 * from it, and finds the next one by what its own is called now.
 */
#define _GNU_SOURCE /* O_PATH */

#include "platform/logs.h"

#include "base/buf.h"
#include "base/posix_errno.h"
#include "base/posix_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *older(const char *path, const pai_alloc *alloc)
{
  pai__buf b;

  pai__buf_init(&b, alloc);
  pai__buf_printf(&b, "%s.1", path);
  return pai__buf_take(&b);
}

/* Part by part: whoever looks afterwards may find the link gone. */
static int open_plain(const char *path)
{
  char text[PATH_MAX];
  int fd;

  if (strlen(path) > sizeof(text)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(text, path + 1, strlen(path)); /* it is absolute */
  fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  fd = pai__fs_open_plain(fd, text);
  if (fd < 0 && errno == ENOTDIR)
    errno = ELOOP; /* so a link is told where a folder is wanted */
  return fd;
}

/* A file, whatever the task has put there, or in its folder's place. */
static int open_log(const char *path, bool no_links)
{
  int fd = no_links
             ? open_plain(path)
             : open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat st;

  if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
    return fd;
  (void)close(fd);
  errno = ELOOP;
  return -1;
}

static uint64_t size_of(int fd)
{
  struct stat st;

  return fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0
           ? (uint64_t)st.st_size
           : 0;
}

static int fail(pai_error **err, const char *path)
{
  int number = errno;
  int code = number == ENOENT                      ? PAI_ENOTFOUND
             : number == EACCES || number == ELOOP ? PAI_EPERM
                                                   : PAI_EIO;

  if (code == PAI_ENOTFOUND)
    return pai__fail(err, code, "there is no log %s", path);
  if (pai__errno_is_shortage(number))
    code = PAI_EBUSY;
  (void)pai__fail(err, code, "cannot read %s: %s", path,
                  PAI__ERRNO_TEXT(number));
  if (code == PAI_EBUSY)
    pai__error_retriable(err);
  return code;
}

/* Which byte of all a file begins with, as its writer said; one that it says
 * nothing of was never renamed, and begins with the first.  False: a shortage,
 * in errno. */
static bool begin_of(uint64_t *out, const pai__log_file *f, const char *path,
                     const pai_alloc *alloc)
{
  char text[512], *at = text;
  const char *slash = strrchr(path, '/');
  struct stat st;
  ssize_t n = -1;
  pai__buf b;
  int fd = -1;

  *out = 0;
  errno = 0;
  pai__buf_init(&b, alloc);
  pai__buf_add(&b, path, slash != NULL ? (size_t)(slash - path) : 0);
  pai__buf_str(&b, "/begins");
  if (slash != NULL && pai__buf_ok(&b) && fstat(f->fd, &st) == 0)
    fd = open_log(pai__buf_text(&b), f->no_links);
  if (fd < 0) {
    bool lacks = !pai__buf_ok(&b) || pai__errno_is_shortage(errno);

    if (!pai__buf_ok(&b))
      errno = ENOMEM;
    pai__buf_dispose(&b);
    return !lacks;
  }
  pai__buf_dispose(&b);
  n = read(fd, text, sizeof(text) - 1);
  (void)close(fd);
  text[n > 0 ? n : 0] = '\0';
  while (*at != '\0') {
    uint64_t inode = strtoull(at, &at, 10), offset = strtoull(at, &at, 10);

    if (inode == (uint64_t)st.st_ino && offset <= INT64_MAX)
      *out = offset;
    if (*at++ != '\n')
      break;
  }
  return true;
}

/* From its first byte on. */
static void take(pai__log_file *f, int fd)
{
  struct stat st;

  *f = (pai__log_file){ .fd = fd, .no_links = f->no_links };
  if (fd < 0 || fstat(fd, &st) < 0)
    return;
  f->device = (uint64_t)st.st_dev;
  f->inode = (uint64_t)st.st_ino;
}

int pai__log_file_open(pai__log_file *f, const char *path, uint64_t *kept,
                       uint64_t *gone, const pai_alloc *alloc, pai_error **err)
{
  char *first = older(path, alloc);
  int fd, rc;

  f->fd = -1;
  *kept = *gone = 0;
  if (first == NULL)
    return pai__oom(err);
  f->fd = open_log(first, f->no_links);
  pai__strfree(alloc, first);
  if (f->fd < 0 && pai__errno_is_shortage(errno))
    return fail(err, path);
  fd = open_log(path, f->no_links);
  *kept = size_of(f->fd) + size_of(fd);
  if (f->fd < 0)
    f->fd = fd;
  else if (fd >= 0)
    (void)close(fd);
  if (f->fd < 0)
    return fail(err, path);
  take(f, f->fd);
  if (begin_of(gone, f, path, alloc))
    return PAI_OK;
  rc = fail(err, path);
  pai__log_file_close(f);
  return rc;
}

static bool is_same(const pai__log_file *f, const char *path)
{
  struct stat st;

  return lstat(path, &st) == 0 && f->inode == (uint64_t)st.st_ino &&
         f->device == (uint64_t)st.st_dev;
}

/* The file behind this one, or -1; errno is 0 where there is none. */
static int open_next(const pai__log_file *f, const char *path,
                     const pai_alloc *alloc)
{
  char *first;
  int fd = -1;

  errno = 0;
  if (is_same(f, path))
    return -1;
  errno = ENOMEM;
  first = older(path, alloc);
  if (first == NULL)
    return -1;
  if (is_same(f, first))
    fd = open_log(path, f->no_links);
  else if ((fd = open_log(first, f->no_links)) < 0 &&
           !pai__errno_is_shortage(errno))
    fd = open_log(path, f->no_links);
  pai__strfree(alloc, first);
  return fd;
}

static ssize_t read_on(pai__log_file *f, char *bytes, size_t size)
{
  ssize_t n = pread(f->fd, bytes, size, (off_t)f->at);

  f->at += n > 0 ? (uint64_t)n : 0;
  return n;
}

int pai__log_file_read(pai__log_file *f, const char *path, char *bytes,
                       size_t size, const pai_alloc *alloc)
{
  ssize_t n = read_on(f, bytes, size);
  int next;

  while (n == 0) {
    next = open_next(f, path, alloc);
    if (next < 0)
      return pai__errno_is_shortage(errno) ? PAI_EBUSY : 0;
    n = read_on(f, bytes, size); /* written before it was renamed */
    if (n != 0) {
      (void)close(next);
      break;
    }
    (void)close(f->fd);
    take(f, next);
    n = read_on(f, bytes, size);
  }
  return n >= 0 ? (int)n : errno == EINTR || errno == EAGAIN ? 0 : PAI_EIO;
}

void pai__log_file_close(pai__log_file *f)
{
  if (f->fd >= 0)
    (void)close(f->fd);
  f->fd = -1;
}
