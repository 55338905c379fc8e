/* posix_files.c - status, logs and folders of a task */
#define _GNU_SOURCE /* O_PATH */

#include "backend/local/posix_files.h"

#include "backend/local/runtime.h"
#include "base/os/posix_errno.h"
#include "base/os/posix_fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_STATUS = 4096, EMPTY_MS = 100, PATH_SIZE = 4400 };

static bool join(char path[PATH_SIZE], const char *dir, const char *name)
{
  return snprintf(path, PATH_SIZE, "%s/%s", dir, name) < PATH_SIZE;
}

static int sys_fail(pai_error **err, int number, const char *what,
                    const char *path)
{
  int code = number == ENOENT || number == ENOTDIR ? PAI_ENOTFOUND : PAI_EIO;

  if (number == EACCES || number == EPERM || number == EROFS)
    code = PAI_EPERM;
  code =
    pai__fail(err, code, "%s %s: %s", what, path, PAI__ERRNO_TEXT(number));
  if (pai__errno_is_shortage(number))
    pai__error_retriable(err);
  return code;
}

/* Opens a file that a task may have replaced: follows no link, and does not
 * block on a pipe. */
static int open_file(const char *path, bool no_links)
{
  int fd = no_links
             ? pai__fs_open_unlinked(path, O_RDONLY | O_NONBLOCK)
             : open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat info;

  if (fd < 0 || (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)))
    return fd;
  (void)close(fd);
  errno = ELOOP;
  return -1;
}

static int read_status(pai__status *out, const char *path, bool no_links,
                       pai_error **err)
{
  char text[MOST_STATUS];
  int fd = open_file(path, no_links), saved;
  ssize_t n;

  if (fd < 0)
    return sys_fail(err, errno, "cannot open", path);
  n = read(fd, text, sizeof(text));
  saved = errno;
  (void)close(fd);
  if (n < 0)
    return sys_fail(err, saved, "cannot read", path);
  pai__status_parse(out, text, (size_t)n);
  return PAI_OK;
}

/* The supervisor writes the first line just after creating the file; a reader
 * may come between. */
int pai__files_status(pai__status *out, const char *dir, bool no_links,
                      pai_error **err)
{
  char path[PATH_SIZE];
  int rc;

  if (!join(path, dir, "status"))
    return pai__fail(err, PAI_ELIMIT, "the path of %s is too long", dir);
  rc = read_status(out, path, no_links, err);
  for (int i = 0;
       i < EMPTY_MS && rc == PAI_OK && out->kind == PAI__STATUS_EMPTY; i++) {
    (void)poll(NULL, 0, 1);
    rc = read_status(out, path, no_links, err);
  }
  return rc;
}

int pai__files_tombstone(const char *dir, const pai_alloc *alloc,
                         pai_error **err)
{
  static const char words[] = "never\n";
  char path[PATH_SIZE], draft[PATH_SIZE];
  int fd, rc = pai__fs_make_dirs(dir, alloc, err);

  if (rc < 0)
    return rc;
  if (!join(path, dir, "status") || !join(draft, dir, "never.new"))
    return pai__fail(err, PAI_ELIMIT, "the path of %s is too long", dir);
  /* A file left by a killed process here is not in use. */
  fd =
    open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0)
    return sys_fail(err, errno, "cannot make", draft);
  rc = pai__fs_write(fd, words, sizeof(words) - 1, draft, err);
  if (rc == PAI_OK && fsync(fd) < 0)
    rc = sys_fail(err, errno, "cannot write", draft);
  (void)close(fd);
  /* It has its line before it gets its name, so it is never seen empty. */
  if (rc == PAI_OK && link(draft, path) == 0)
    rc = 1;
  else if (rc == PAI_OK && errno != EEXIST)
    rc = sys_fail(err, errno, "cannot make", path);
  (void)unlink(draft);
  return rc;
}

/* The supervisor continues writing to the same file. */
int pai__files_take_status(const char *own, const char *dir,
                           const pai__user *who, bool no_links,
                           pai_error **err)
{
  char path[PATH_SIZE], itself[64];
  int fd = -1, rc = PAI_OK;

  errno = EACCES;
  if (join(path, dir, "status") && pai__as_user(who)) {
    fd = open_file(path, no_links);
    pai__as_self(who);
  }
  if (fd < 0)
    return sys_fail(err, errno, "cannot open", path);
  (void)snprintf(itself, sizeof(itself), "/proc/self/fd/%d", fd);
  if (!join(path, own, "status"))
    rc = pai__fail(err, PAI_ELIMIT, "the path of %s is too long", own);
  else if (linkat(AT_FDCWD, itself, AT_FDCWD, path, AT_SYMLINK_FOLLOW) < 0 &&
           errno != EEXIST)
    rc = sys_fail(err, errno, "cannot make", path);
  (void)close(fd);
  return rc;
}

/* Removes the engine's files: an engine creates no container if its id file
 * exists. */
void pai__files_forget_start(const char *dir)
{
  static const char *const names[] = { PAI__BEGUN_FILE, PAI__ID_FILE "podman",
                                       PAI__ID_FILE "docker" };
  char path[PATH_SIZE];

  for (size_t i = 0; i < PAI__LEN(names); i++)
    if (join(path, dir, names[i]))
      (void)unlink(path);
}

void pai__files_forget_status(const char *own)
{
  char path[PATH_SIZE];

  if (join(path, own, "status"))
    (void)unlink(path);
}

/* Appends the last bytes of a file, up to a total of `most`. */
static void add_tail(pai__buf *out, const char *path, size_t most,
                     bool no_links)
{
  int fd = open_file(path, no_links);
  off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : -1;
  ssize_t n = 1;

  if (size > (off_t)most)
    (void)lseek(fd, size - (off_t)most, SEEK_SET);
  else if (size >= 0)
    (void)lseek(fd, 0, SEEK_SET);
  while (fd >= 0 && most > 0 && n > 0 && pai__buf_reserve(out, most)) {
    n = read(fd, out->data + out->len, most);
    if (n > 0) {
      out->len += (size_t)n;
      most -= (size_t)n;
    }
  }
  if (out->data != NULL)
    out->data[out->len] = '\0';
  if (fd >= 0)
    (void)close(fd);
}

void pai__files_tail(pai__buf *out, const char *dir, const char *name,
                     size_t most, bool no_links)
{
  char path[PATH_SIZE], old[PATH_SIZE + 2];
  struct stat now;
  size_t have;

  pai__buf_clear(out);
  if (!join(path, dir, name))
    return;
  (void)snprintf(old, sizeof(old), "%s.1", path);
  have = stat(path, &now) == 0 && now.st_size > 0 ? (size_t)now.st_size : 0;
  if (have < most)
    add_tail(out, old, most - have, no_links);
  add_tail(out, path, most - out->len, no_links);
}

void pai__files_close(int fd)
{
  if (fd >= 0)
    (void)close(fd);
}

/* Also creates missing folders above it. */
static int make_folder(const char *path, const pai_alloc *alloc,
                       pai_error **err)
{
  char above[PATH_SIZE];
  int n = snprintf(above, sizeof(above), "%s", path), rc;
  char *slash = strrchr(above, '/');
  struct stat st;

  if (n >= (int)sizeof(above) || slash == NULL)
    return pai__fail(err, PAI_ELIMIT, "the path of %s is too long", path);
  *slash = '\0';
  rc = pai__fs_make_dirs(above, alloc, err);
  if (rc < 0)
    return rc;
  if (mkdir(path, 0700) < 0 &&
      (errno != EEXIST || lstat(path, &st) < 0 || !S_ISDIR(st.st_mode)))
    return sys_fail(err, errno, "cannot create folder", path);
  return PAI_OK;
}

int pai__files_make_home(const char *path, const pai_alloc *alloc,
                         pai_error **err)
{
  return make_folder(path, alloc, err);
}

int pai__files_make_tmp(const char *path, const pai_alloc *alloc,
                        pai_error **err)
{
  int rc = make_folder(path, alloc, err);

  if (rc < 0)
    return rc;
  if (chmod(path, S_ISVTX | 0777) < 0)
    return sys_fail(err, errno, "cannot open folder", path);
  return PAI_OK;
}

/* Returns NULL for a home that is not the user's own, as daemon's
 * /usr/sbin. */
static const char *own_home(const char *home)
{
  struct stat st;

  return home != NULL && home[0] == '/' && strcmp(home, "/") != 0 &&
             strcmp(home, "/tmp") != 0 && stat(home, &st) == 0 &&
             S_ISDIR(st.st_mode) && st.st_uid == getuid()
           ? home
           : NULL;
}

void pai__files_homes(const char *homes[PAI__HOMES + 1], pai__user *self)
{
  const char *found[PAI__HOMES];
  size_t n = 0;

  if (self->name[0] == '\0' &&
      pai__user_by_id(self, (unsigned long)geteuid()) < 0)
    *self = (pai__user){ .name = "?" };
  found[0] = own_home(getenv("HOME"));
  found[1] = own_home(self->home);

  for (size_t i = 0; i < PAI__HOMES; i++)
    if (found[i] != NULL && (n == 0 || strcmp(homes[0], found[i]) != 0))
      homes[n++] = found[i];
  homes[n] = NULL;
}

bool pai__files_are_real(const char *path)
{
  char *real = realpath(path, NULL);
  bool same = real != NULL && strcmp(real, path) == 0;

  free(real); /* libc's own */
  return same;
}

void pai__files_look(char *real, char identity[PAI_ORDER_IDENTITY],
                     const char *path)
{
  int fd = open(path, O_PATH | O_CLOEXEC);
  char itself[64];
  struct stat st;
  ssize_t n = -1;

  if (fd >= 0 && fstat(fd, &st) == 0) {
    (void)snprintf(itself, sizeof(itself), "/proc/self/fd/%d", fd);
    n = readlink(itself, real, PATH_MAX - 1);
  }
  if (fd >= 0)
    (void)close(fd);
  real[n > 0 ? n : 0] = '\0';
  identity[0] = '\0';
  if (n > 0)
    (void)snprintf(identity, PAI_ORDER_IDENTITY, "%lld:%lld",
                   (long long)st.st_dev, (long long)st.st_ino);
}

bool pai__files_here(char *out, size_t size)
{
  return getcwd(out, size) != NULL;
}
