/* posix_fs.c - creates folders and reads files, with errors that name the
 * path */
#define _GNU_SOURCE /* realpath(), O_PATH */

#include "base/os/posix_fs.h"

#include "base/os/posix_errno.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes an error from an errno: "cannot ...: No such file or directory". */
static int sys_fail(pai_error **err, int sys_errno, const char *fmt, ...)
  PAI__PRINTF(3, 4);

static int sys_fail(pai_error **err, int sys_errno, const char *fmt, ...)
{
  char what[4096];
  int code = PAI_EIO;
  va_list ap;

  if (sys_errno == ENOENT || sys_errno == ENOTDIR)
    code = PAI_ENOTFOUND;
  else if (sys_errno == EACCES || sys_errno == EPERM || sys_errno == EROFS)
    code = PAI_EPERM;
  else if (sys_errno == ENOMEM)
    return pai__oom(err);
  va_start(ap, fmt);
  (void)vsnprintf(what, sizeof(what), fmt, ap);
  va_end(ap);
  code = pai__fail(err, code, "%s: %s", what, PAI__ERRNO_TEXT(sys_errno));
  if (pai__errno_is_shortage(sys_errno))
    pai__error_retriable(err);
  return code;
}

char *pai__fs_join(const char *dir, const char *name, const pai_alloc *alloc)
{
  pai__buf b;

  pai__buf_init(&b, alloc);
  pai__buf_printf(&b, "%s/%s", dir, name);
  return pai__buf_take(&b);
}

static bool make_new(const char *path, int *made)
{
  bool is_new = mkdir(path, 0700) == 0;

  *made += is_new;
  return is_new;
}

static int make_dir(const char *path, int *made, pai_error **err)
{
  struct stat st;

  if (make_new(path, made))
    return PAI_OK;
  if (errno != EEXIST)
    return sys_fail(err, errno, "cannot create folder %s", path);
  if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
    return PAI_OK;
  return pai__fail(err, PAI_EEXISTS, "%s is not a folder", path);
}

/* Mostly only the last few are missing. */
enum { MOST_NEW = 3 };

static bool make_last(char *path, int most, int *made)
{
  char *slash = strrchr(path, '/');
  bool has_parent;

  if (make_new(path, made))
    return true;
  if (errno != ENOENT || slash == NULL || slash == path || most == 1)
    return false;
  *slash = '\0';
  has_parent = make_last(path, most - 1, made);
  *slash = '/';
  return has_parent && make_new(path, made);
}

/* Removes the folders above `path` created by this call, if the disk was too
 * full for all. */
static void remove_made(char *path, int made)
{
  char *slash;

  for (; made > 0 && (slash = strrchr(path, '/')) != NULL; made--) {
    *slash = '\0';
    (void)rmdir(path);
  }
}

int pai__fs_make_dirs(const char *path, const pai_alloc *alloc,
                      pai_error **err)
{
  char *part = pai__strdup(alloc, path), *slash = part;
  int rc = PAI_OK, made = 0;

  if (part == NULL)
    return pai__oom(err);
  if (make_last(part, MOST_NEW, &made)) {
    pai__strfree(alloc, part);
    return PAI_OK;
  }
  while (rc == PAI_OK && (slash = strchr(slash + 1, '/')) != NULL) {
    *slash = '\0';
    rc = make_dir(part, &made, err);
    if (rc == PAI_OK)
      *slash = '/';
  }
  if (rc == PAI_OK)
    rc = make_dir(part, &made, err);
  if (rc < 0)
    remove_made(part, made);
  pai__strfree(alloc, part);
  return rc;
}

/* --- new folders --------------------------------------------------------- */

enum { NUMBER_MAX = 1 << 30, NUMBER_LEN = 11 /* "." and its digits */ };

/* Writes `path` with a number after its last part, 0 for none.  The part is
 * cut to the file system's limit, between characters. */
static void set_name(pai__buf *b, const char *path, unsigned number)
{
  const char *slash = strrchr(path, '/');
  size_t dir = slash != NULL ? (size_t)(slash + 1 - path) : 0;
  size_t len = strlen(path), longest;
  char suffix[NUMBER_LEN + 1] = "";

  if (number > 0)
    (void)snprintf(suffix, sizeof(suffix), ".%u", number);
  longest = dir + NAME_MAX - strlen(suffix);
  if (len > longest) {
    len = longest;
    while (len > dir && ((unsigned)path[len] & 0xc0) == 0x80)
      len--;
  }
  pai__buf_clear(b);
  pai__buf_add(b, path, len);
  pai__buf_str(b, suffix);
}

static bool is_taken(pai__buf *b, const char *path, unsigned number)
{
  struct stat st;

  set_name(b, path, number);
  return lstat(pai__buf_text(b), &st) == 0; /* also for a dangling link */
}

/* Finds a free number with few checks even if thousands are taken: numbers
 * were assigned in order, so a binary search finds the first free one after
 * them.  If earlier folders were removed, it may return one of their
 * numbers. */
static unsigned find_number(pai__buf *b, const char *path)
{
  unsigned taken = 0, number = 1;

  while (number < NUMBER_MAX && is_taken(b, path, number)) {
    taken = number;
    number *= 2;
  }
  while (number - taken > 1) {
    unsigned middle = taken + (number - taken) / 2;
    if (is_taken(b, path, middle))
      taken = middle;
    else
      number = middle;
  }
  return number;
}

int pai__fs_make_new_dir(char **out, const char *path, const pai_alloc *alloc,
                         pai_error **err)
{
  unsigned number = 0;
  int rc = PAI_OK;
  pai__buf b;

  *out = NULL;
  pai__buf_init(&b, alloc);
  if (!pai__buf_reserve(&b, strlen(path) + NUMBER_LEN))
    return pai__oom(err);
  set_name(&b, path, number);
  while (rc == PAI_OK && mkdir(pai__buf_text(&b), 0700) != 0) {
    if (errno != EEXIST)
      rc = sys_fail(err, errno, "cannot create folder %s", pai__buf_text(&b));
    else if (number == 0)
      number = find_number(&b, path);
    else
      number++; /* another process was faster */
    set_name(&b, path, number);
  }
  if (rc == PAI_OK)
    *out = pai__buf_take(&b);
  pai__buf_dispose(&b);
  return rc < 0 ? rc : *out != NULL ? PAI_OK : pai__oom(err);
}

int pai__fs_absolute(char **out, const char *path, const pai_alloc *alloc,
                     pai_error **err)
{
  char *full = realpath(path, NULL);

  *out = NULL;
  if (full == NULL)
    return sys_fail(err, errno, "cannot find folder %s", path);
  *out = pai__strdup(alloc, full);
  free(full); /* libc's own */
  return *out != NULL ? PAI_OK : pai__oom(err);
}

bool pai__fs_has_link(const char *path)
{
  char *real = realpath(path, NULL);
  bool has = real != NULL && strcmp(real, path) != 0;

  free(real); /* libc's own */
  return has;
}

/* Opens a folder in `folder`, and closes that. */
static int step(int folder, const char *name, int flags)
{
  int fd = openat(folder, name, O_CLOEXEC | O_NOFOLLOW | flags), error = errno;

  (void)close(folder);
  errno = error;
  return fd;
}

/* Opens part by part, because a link could be replaced between a check and the
 * use. */
static int walk(int folder, char *path, int flags)
{
  char *slash;

  for (; folder >= 0 && (slash = strchr(path, '/')) != NULL;
       path = slash + 1) {
    *slash = '\0';
    folder = step(folder, path, O_PATH | O_DIRECTORY);
  }
  return folder >= 0 ? step(folder, path, flags) : -1;
}

int pai__fs_open_plain(int folder, char *path)
{
  return walk(folder, path, O_RDONLY | O_NONBLOCK);
}

int pai__fs_open_unlinked(const char *path, int flags)
{
  char parts[PATH_MAX];
  int fd = -1, n = snprintf(parts, sizeof(parts), "%s", path);

  errno = n < (int)sizeof(parts) ? ENOENT : ENAMETOOLONG;
  if (n < (int)sizeof(parts) && parts[0] == '/')
    fd = walk(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), parts + 1, flags);
  if (fd < 0 && errno == ENOTDIR)
    errno = ELOOP; /* report a link where a folder is expected */
  return fd;
}

/* --- files --------------------------------------------------------------- */

int pai__fs_write(int fd, const char *data, size_t len, const char *path,
                  pai_error **err)
{
  while (len > 0) {
    ssize_t n = write(fd, data, len);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return sys_fail(err, errno, "cannot write %s", path);
    data += n;
    len -= (size_t)n;
  }
  return PAI_OK;
}

static int read_all(pai__buf *out, int fd, const char *name, size_t limit,
                    pai_error **err)
{
  for (;;) {
    ssize_t n;

    if (!pai__buf_reserve(out, 65536))
      return pai__oom(err);
    n = read(fd, out->data + out->len, 65536);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return sys_fail(err, errno, "cannot read %s", name);
    out->len += (size_t)n;
    out->data[out->len] = '\0';
    if (out->len > limit)
      return pai__fail(err, PAI_ELIMIT, "%s is longer than %zu bytes", name,
                       limit);
    if (n == 0)
      return PAI_OK;
  }
}

int pai__fs_read(pai__buf *out, const char *path, size_t limit,
                 pai_error **err)
{
  int fd, rc;

  if (strcmp(path, "-") == 0)
    return read_all(out, STDIN_FILENO, "standard input", limit, err);
  fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return sys_fail(err, errno, "cannot read %s", path);
  rc = read_all(out, fd, path, limit, err);
  (void)close(fd);
  return rc;
}

int pai__fs_read_regular(pai__buf *out, const char *path, size_t limit,
                         pai_error **err)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), rc;
  struct stat st;

  if (fd < 0 && errno != ELOOP && errno != ENXIO)
    return sys_fail(err, errno, "cannot read %s", path);
  if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
    rc = pai__fail(err, PAI_EINVAL, "%s is not a regular file", path);
  else
    rc = read_all(out, fd, path, limit, err);
  if (fd >= 0)
    (void)close(fd);
  return rc;
}
