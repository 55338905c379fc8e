/* posix_task_log.c - reads a task's log while it is written */
#define _GNU_SOURCE /* O_PATH */

#include "backend/task_log.h"

#include "base/os/posix_errno.h"
#include "base/os/posix_fs.h"
#include "task/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4400, MOST_FILES = 4 };

/* --- files --------------------------------------------------------------- */

static bool join(char path[PATH_SIZE], const char *dir, const char *name,
                 const char *suffix)
{
  bool fits =
    snprintf(path, PATH_SIZE, "%s/%s%s", dir, name, suffix) < PATH_SIZE;

  if (!fits)
    errno = ENAMETOOLONG;
  return fits;
}

int pai__task_log_file(const pai__task_log *f, const char *dir,
                       const char *name, const char *suffix)
{
  char path[PATH_SIZE];
  struct stat st;
  int fd;

  if (!join(path, dir, name, suffix))
    return -1;
  fd = f->no_links
         ? pai__fs_open_unlinked(path, O_RDONLY | O_NONBLOCK)
         : open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
    return fd;
  (void)close(fd);
  errno = ELOOP;
  return -1;
}

bool pai__task_log_is(const pai__task_log *f, const char *dir,
                      const char *suffix)
{
  char path[PATH_SIZE];
  struct stat st;

  return join(path, dir, f->name, suffix) && lstat(path, &st) == 0 &&
         f->at.inode == (uint64_t)st.st_ino &&
         f->at.device == (uint64_t)st.st_dev;
}

static uint64_t size_of(int fd)
{
  struct stat st;

  return fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0
           ? (uint64_t)st.st_size
           : 0;
}

/* Reads it from its first byte. */
static void take(pai__task_log *f, int fd)
{
  struct stat st;

  pai__task_log_close(f);
  f->fd = fd;
  f->searched = false;
  f->nbuffer = 0;
  f->at = (pai__task_log_at){ .until = UINT64_MAX };
  if (fd < 0 || fstat(fd, &st) < 0)
    return;
  f->at.device = (uint64_t)st.st_dev;
  f->at.inode = (uint64_t)st.st_ino;
}

void pai__task_log_close(pai__task_log *f)
{
  if (f->fd >= 0)
    (void)close(f->fd);
  if (f->entries >= 0)
    (void)close(f->entries);
  f->fd = f->entries = -1;
}

/* --- opening ------------------------------------------------------------- */

bool pai__task_log_init(pai__task_log *f, const char *name)
{
  static const char *const names[] = { "stdout", "stderr", "all", "runtime" };

  for (size_t i = 0; i < PAI__LEN(names); i++)
    if (strcmp(name, names[i]) == 0) {
      *f = (pai__task_log){ .name = names[i],
                            .only = i < 2 ? (int)i : -1,
                            .plain = i >= 2,
                            .fd = -1,
                            .entries = -1 };
      return true;
    }
  return false;
}

void pai__task_log_init_pieces(pai__task_log *f)
{
  (void)pai__task_log_init(f, PAI_STREAMS_LOG);
  f->plain = false;
}

bool pai__task_log_is_old(const char *dir)
{
  char path[PATH_SIZE];
  struct stat st;

  return join(path, dir, "stdout", "") && lstat(path, &st) == 0;
}

/* The server passes the error on, so it has no paths of this machine. */
static int fail(pai_error **err, const pai__task_log *f)
{
  int number = errno;
  int code = number == ENOENT                      ? PAI_ENOTFOUND
             : number == EACCES || number == ELOOP ? PAI_EPERM
                                                   : PAI_EIO;

  if (code == PAI_ENOTFOUND)
    return pai__fail(err, code, "there is no log %s", f->name);
  if (pai__errno_is_shortage(number))
    code = PAI_EBUSY;
  (void)pai__fail(err, code, "cannot read the log %s: %s", f->name,
                  PAI__ERRNO_TEXT(number));
  if (code == PAI_EBUSY)
    pai__error_retriable(err);
  return code;
}

/* Returns the offset of a file's first byte in the whole log, as an older
 * supervisor recorded it; a file without a record was never renamed, and
 * begins at 0. */
static uint64_t old_begin(const pai__task_log *f, const char *dir, int *rc)
{
  int fd = pai__task_log_file(f, dir, "begins", "");
  char text[512], *at = text;
  uint64_t begin = 0;
  ssize_t n;

  *rc = fd < 0 && pai__errno_is_shortage(errno) ? PAI_EBUSY : PAI_OK;
  if (fd < 0)
    return 0;
  n = read(fd, text, sizeof(text) - 1);
  (void)close(fd);
  text[n > 0 ? n : 0] = '\0';
  while (*at != '\0') {
    uint64_t inode = strtoull(at, &at, 10), offset = strtoull(at, &at, 10);

    if (inode == f->at.inode && offset <= INT64_MAX)
      begin = offset;
    if (*at++ != '\n')
      break;
  }
  return begin;
}

int pai__task_log_begin(uint64_t *gone, pai__task_log *f, const char *dir)
{
  bool is_output = strcmp(f->name, PAI_STREAMS_LOG) == 0;
  uint64_t begin[2];
  int rc = PAI_OK;

  if (!is_output || !pai__task_streams_begin(f, dir, begin, &rc))
    *gone = rc == PAI_OK ? old_begin(f, dir, &rc) : 0;
  else
    *gone = f->only < 0    ? begin[0]
            : f->only == 0 ? begin[1]
                           : begin[0] - begin[1];
  if (f->plain && f->entries >= 0) {
    (void)close(f->entries);
    f->entries = -1;
  }
  return rc;
}

/* Counts the wanted bytes of a file, and closes it; < 0: an error code. */
static int64_t count(const pai__task_log *like, const char *dir, int fd)
{
  pai__task_log f = *like;
  uint64_t size = size_of(fd), wanted = 0;
  int rc = PAI_OK;

  f.fd = f.entries = -1;
  take(&f, fd);
  if (f.plain)
    wanted = size;
  while (!f.plain && f.at.next < size &&
         (rc = pai__task_streams_settle(&f, dir)) == PAI_OK) {
    uint64_t end = f.at.until < size ? f.at.until : size;

    wanted += f.at.stream == f.only && end > f.at.next ? end - f.at.next : 0;
    f.at.next = end;
  }
  pai__task_log_close(&f);
  return rc < 0 ? rc : (int64_t)wanted;
}

/* Counts both files, while they are not renamed. */
static int64_t count_both(const pai__task_log *f, const char *dir)
{
  int64_t sum = 0, n;

  for (int i = 0; i < 2; i++) {
    int fd = pai__task_log_file(f, dir, f->name, i == 0 ? ".1" : "");

    if (fd < 0 && pai__errno_is_shortage(errno))
      return PAI_EBUSY;
    n = fd >= 0 ? count(f, dir, fd) : 0;
    if (n < 0)
      return n;
    sum += n;
  }
  return sum;
}

/* Opens the first of both.  A file that is renamed meanwhile is found under
 * the other name. */
static int open_either(const pai__task_log *f, const char *dir)
{
  int fd = -1;

  errno = ENOENT;
  for (int i = 0; i < 3 && fd < 0 && errno == ENOENT; i++)
    fd = pai__task_log_file(f, dir, f->name, i == 1 ? "" : ".1");
  return fd;
}

/* A stream with a file of its own is read from that. */
static int open_first(pai__task_log *f, const char *dir)
{
  static const char *const own[] = { "stdout", "stderr" };
  int fd;

  if (f->only < 0)
    return open_either(f, dir);
  f->name = own[f->only];
  fd = open_either(f, dir);
  f->plain = fd >= 0;
  if (fd >= 0 || errno != ENOENT)
    return fd;
  f->name = PAI_STREAMS_LOG;
  return open_either(f, dir);
}

int pai__task_log_open(pai__task_log *f, const char *dir, uint64_t *kept,
                       uint64_t *gone, pai_error **err)
{
  int64_t n = 0;
  int fd, rc;

  *gone = 0;
  fd = open_first(f, dir);
  if (fd < 0)
    return fail(err, f);
  take(f, fd);
  rc = pai__task_log_begin(gone, f, dir);
  if (rc == PAI_OK && kept != NULL && (n = count_both(f, dir)) < 0)
    rc = (int)n;
  if (kept != NULL)
    *kept = n > 0 ? (uint64_t)n : 0;
  if (rc == PAI_OK)
    return PAI_OK;
  rc = fail(err, f);
  pai__task_log_close(f);
  return rc;
}

/* --- the next file ------------------------------------------------------- */

/* Opens the file after this one; or -1, with errno 0 if there is none. */
static int open_next(pai__task_log *f, const char *dir)
{
  int fd;

  errno = 0;
  if (pai__task_log_is(f, dir, ""))
    return -1;
  if (pai__task_log_is(f, dir, ".1"))
    return pai__task_log_file(f, dir, f->name, "");
  fd = pai__task_log_file(f, dir, f->name, ".1");
  f->missed = f->missed || fd >= 0;
  if (fd < 0 && !pai__errno_is_shortage(errno))
    fd = pai__task_log_file(f, dir, f->name, "");
  return fd;
}

int pai__task_log_next(pai__task_log *f, const char *dir)
{
  int fd = open_next(f, dir);

  if (fd < 0)
    return pai__errno_is_shortage(errno) ? PAI_EBUSY : 0;
  take(f, fd);
  return 1;
}

/* --- reading ------------------------------------------------------------- */

typedef bool (*tell_fn)(void *user_data, int stream, const char *piece,
                        size_t len);

/* Splits the bytes read into pieces: passes them on, or moves the wanted ones
 * together and returns their number. */
static long divide(pai__task_log *f, const char *dir, char *bytes, size_t n,
                   tell_fn tell, void *user_data)
{
  size_t at = 0, kept = 0, len;
  int rc;

  while (at < n) {
    rc = pai__task_streams_settle(f, dir);
    if (rc < 0)
      return kept > 0 ? (long)kept : rc;
    len = n - at;
    if (f->at.until - f->at.next < len)
      len = (size_t)(f->at.until - f->at.next);
    f->at.next += len;
    if (tell == NULL && f->at.stream == f->only)
      memmove(bytes + kept, bytes + at, len);
    if (tell != NULL || f->at.stream == f->only)
      kept += len;
    if (tell != NULL && !tell(user_data, f->at.stream, bytes + at, len))
      break;
    at += len;
  }
  return (long)kept;
}

static long fetch(pai__task_log *f, const char *dir, char *bytes, size_t size)
{
  uint64_t until;
  ssize_t n;

  do
    n = pread(f->fd, bytes, size, (off_t)f->at.next);
  while (n < 0 && errno == EINTR);
  if (n > 0 && f->timed) { /* checked after reading: bytes that came meanwhile
                              are later */
    f->time = pai__task_times_of(f, dir, f->at.next, &until);
    if (until - f->at.next < (uint64_t)n)
      n = (ssize_t)(until - f->at.next);
  }
  return n >= 0 ? (long)n : errno == EAGAIN ? 0 : PAI_EIO;
}

/* Returns a number of bytes; 0: none yet; or an error code. */
static long read_on(pai__task_log *f, const char *dir, char *bytes,
                    size_t size, tell_fn tell, void *user_data)
{
  long n;

  if (f->plain) {
    n = fetch(f, dir, bytes, size);
    f->at.next += n > 0 ? (uint64_t)n : 0;
    if (n > 0 && tell != NULL)
      (void)tell(user_data, f->only, bytes, (size_t)n);
    return n;
  }
  for (;;) {
    n = pai__task_streams_settle(f, dir);
    if (n < 0)
      return n;
    if (f->only >= 0 && f->at.stream != f->only) {
      if (f->at.until == UINT64_MAX)
        return 0;
      f->at.next = f->at.until;
      continue;
    }
    n = fetch(f, dir, bytes, size);
    if (n <= 0)
      return n;
    n = divide(f, dir, bytes, (size_t)n, tell, user_data);
    if (n != 0)
      return n;
  }
}

static int read_any(pai__task_log *f, const char *dir, char *bytes,
                    size_t size, tell_fn tell, void *user_data)
{
  long n = read_on(f, dir, bytes, size, tell, user_data);
  int next;

  /* Two tries suffice for two files; continuous renaming must not block. */
  for (int i = 0; n == 0 && i < MOST_FILES; i++) {
    next = open_next(f, dir);
    if (next < 0)
      return pai__errno_is_shortage(errno) ? PAI_EBUSY : 0;
    /* It was written before the renaming. */
    n = read_on(f, dir, bytes, size, tell, user_data);
    if (n != 0) {
      (void)close(next);
      break;
    }
    take(f, next);
    n = read_on(f, dir, bytes, size, tell, user_data);
  }
  return (int)n;
}

int pai__task_log_read(pai__task_log *f, const char *dir, char *bytes,
                       size_t size)
{
  return read_any(f, dir, bytes, size, NULL, NULL);
}

int pai__task_log_pieces(pai__task_log *f, const char *dir, char *bytes,
                         size_t size, tell_fn tell, void *user_data)
{
  return read_any(f, dir, bytes, size, tell, user_data);
}

void pai__task_log_to_end(pai__task_log *f, const char *dir)
{
  f->at.next = size_of(f->fd);
  if (!f->plain)
    (void)pai__task_streams_settle(f, dir);
}

bool pai__task_log_meets(const pai__task_log *f, const pai__task_log *other,
                         const pai__task_log_at *at)
{
  return f->fd >= 0 && other->fd >= 0 && f->only == other->only &&
         f->plain == other->plain && f->at.inode == at->inode &&
         f->at.device == at->device && f->at.next == at->next;
}
