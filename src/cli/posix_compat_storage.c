/*
 * posix_compat_storage.c - the files of a storage that is a folder
 *
 * Others may write there, too: no path leaves the folder, and no link in it is
 * followed, so that what somebody has put there turns no copy elsewhere.
 */
#define _GNU_SOURCE /* renameat2() */
#include "compat.h"

#include "cells.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PART = 256, MOST_DEPTH = 64 };

static int fail(const char *what, const char *path)
{
  int error = errno;

  cli_fail("cannot %s %s: %s", what, path, strerror(error));
  if (error == ELOOP)
    cli_help(stderr, "links in a storage are not followed");
  errno = error;
  return CLI_NO;
}

/* --- a place below the folder --------------------------------------------------------- */

typedef struct place {
  int dir; /* that it is in */
  char name[MOST_PART];
} place;

/* The next part of a path; its length, 0: none is left. */
static size_t next_part(const char **path)
{
  *path += strspn(*path, "/");
  return strcspn(*path, "/");
}

static bool good_part(const char *part, size_t len)
{
  return len < MOST_PART && !(len == 1 && part[0] == '.') &&
         !(len == 2 && part[0] == '.' && part[1] == '.');
}

/* Into the folder of that name, which is made if that is wanted. */
static bool enter(place *p, bool make)
{
  int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, deeper;
  struct stat st;

  if (make && mkdirat(p->dir, p->name, 0777) < 0 && errno != EEXIST)
    return false;
  deeper = openat(p->dir, p->name, flags);
  if (deeper < 0 && errno == ENOTDIR &&
      fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
    errno = S_ISLNK(st.st_mode) ? ELOOP : ENOTDIR;
  if (deeper < 0)
    return false;
  (void)close(p->dir);
  p->dir = deeper;
  return true;
}

/* Its last part is only named: "." for the storage itself.  False, and told. */
static bool find(place *p, const char *folder, const char *path, bool make)
{
  const char *part = path;
  size_t len = next_part(&part);

  p->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (p->dir < 0) {
    (void)fail("open the storage's folder", folder);
    return false;
  }
  (void)snprintf(p->name, sizeof(p->name), ".");
  while (len > 0 && good_part(part, len)) {
    if (strcmp(p->name, ".") != 0 && !enter(p, make)) {
      (void)fail("enter a folder of", path);
      (void)close(p->dir);
      return false;
    }
    memcpy(p->name, part, len);
    p->name[len] = '\0';
    part += len;
    len = next_part(&part);
  }
  if (len == 0)
    return true;
  cli_fail("a path in a storage has no parts '.', '..' or longer than 255 "
           "bytes: %s",
           path);
  (void)close(p->dir);
  return false;
}

/* --- list, status ------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in it, sorted, for free(), each and all. */
static char **read_names(DIR *dir, size_t *count)
{
  const struct dirent *e;
  char **names = NULL;

  *count = 0;
  while ((e = readdir(dir)) != NULL) {
    char **more;

    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
      continue;
    more = (char **)realloc((void *)names, (*count + 1) * sizeof(*names));
    if (more == NULL)
      break;
    names = more;
    if ((names[*count] = strdup(e->d_name)) == NULL)
      break;
    ++*count;
  }
  if (*count > 0)
    qsort((void *)names, *count, sizeof(*names), by_name);
  return names;
}

int cli_old_files_list(const char *folder, const char *path)
{
  char **names;
  size_t count;
  DIR *dir;
  place p;

  if (!find(&p, folder, path, false))
    return CLI_NO;
  if (!enter(&p, false) || (dir = fdopendir(p.dir)) == NULL) {
    (void)fail("list", path);
    (void)close(p.dir);
    return CLI_NO;
  }
  names = read_names(dir, &count);
  for (size_t i = 0; i < count; i++) {
    (void)printf("- ");
    cli_old_scalar(stdout, names[i]);
    (void)printf("\n");
    free(names[i]);
  }
  (void)printf(count > 0 ? "\n" : "");
  free((void *)names);
  (void)closedir(dir);
  return CLI_OK;
}

int cli_old_files_status(const char *folder, const char *path)
{
  const struct passwd *owner;
  struct stat st;
  int rc;
  place p;

  if (!find(&p, folder, path, false))
    return CLI_NO;
  rc = fstatat(p.dir, p.name, &st, AT_SYMLINK_NOFOLLOW);
  (void)close(p.dir);
  if (rc < 0)
    return fail("look at", path);
  owner = getpwuid(st.st_uid);
  (void)printf("length: %lld\nmodificationTime: %lld\nowner: ",
               S_ISDIR(st.st_mode) ? 0LL : (long long)st.st_size,
               (long long)st.st_mtim.tv_sec * 1000 +
                 st.st_mtim.tv_nsec / 1000000);
  cli_old_scalar(stdout, owner != NULL ? owner->pw_name : "");
  (void)printf("\npathSuffix: ''\npermission: '%o'\ntype: %s\n\n",
               (unsigned)(st.st_mode & 07777),
               S_ISDIR(st.st_mode)   ? "DIRECTORY"
               : S_ISLNK(st.st_mode) ? "SYMLINK"
                                     : "FILE");
  return CLI_OK;
}

/* --- copies ---------------------------------------------------------------------------------- */

/* A file to read, and nothing else; -1, with errno. */
static int open_file(int dir, const char *name, int flags)
{
  int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);
  struct stat st;

  if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
    return fd;
  (void)close(fd);
  errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
  return -1;
}

/* Some file systems, NFS among them, know no RENAME_NOREPLACE. */
static bool move(int dir, const char *from, const char *to, bool replace)
{
  if (renameat2(dir, from, dir, to, replace ? 0 : RENAME_NOREPLACE) == 0)
    return true;
  if (replace || (errno != EINVAL && errno != ENOSYS))
    return false;
  return linkat(dir, from, dir, to, 0) == 0 && unlinkat(dir, from, 0) == 0;
}

/* Writes a file as a whole or not at all: beside its place first.  What is
 * there is replaced if that is wanted. */
static bool put(int from, const place *to, bool replace)
{
  char chance[16 + 1], beside[32];
  int out;
  bool good;

  if (!cli_old_random(chance, 16))
    return false;
  (void)snprintf(beside, sizeof(beside), ".new-%s", chance);
  out = openat(to->dir, beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (out < 0)
    return false;
  good = cli_old_pump(from, out);
  good = close(out) == 0 && good;
  good = good && move(to->dir, beside, to->name, replace);
  if (!good) {
    int error = errno;
    (void)unlinkat(to->dir, beside, 0);
    errno = error;
  }
  return good;
}

int cli_old_files_upload(const char *folder, const char *from,
                         const char *path, bool overwrite)
{
  int in = open_file(AT_FDCWD, from, 0), code = CLI_NO;
  place p;

  if (in < 0)
    return fail("read", from);
  if (find(&p, folder, path, true)) {
    if (put(in, &p, overwrite))
      code = CLI_OK;
    else
      (void)fail("write", path);
    if (code != CLI_OK && errno == EEXIST)
      cli_help(stderr, "--overwrite replaces it");
    (void)close(p.dir);
  }
  (void)close(in);
  return code;
}

/* Where a copy goes: a folder takes it under its own name.  False, and told. */
static bool find_target(place *to, const char *path, const char *name)
{
  const char *slash = strrchr(path, '/');
  char *above =
    slash != NULL ? strndup(path, (size_t)(slash - path + 1)) : strdup(".");

  to->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (to->dir >= 0) {
    (void)snprintf(to->name, sizeof(to->name), "%s", name);
  } else if (above != NULL) {
    to->dir = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)snprintf(to->name, sizeof(to->name), "%s",
                   slash != NULL ? slash + 1 : path);
  }
  free(above);
  if (to->dir >= 0 && to->name[0] != '\0')
    return true;
  (void)fail("write", path);
  return false;
}

int cli_old_files_download(const char *folder, const char *path,
                           const char *to)
{
  int in, code = CLI_NO;
  place p, target;

  if (!find(&p, folder, path, false))
    return CLI_NO;
  in = open_file(p.dir, p.name, O_NOFOLLOW);
  if (in < 0) {
    (void)fail("read", path);
  } else if (find_target(&target, to, p.name)) {
    if (put(in, &target, true))
      code = CLI_OK;
    else
      (void)fail("write", to);
    (void)close(target.dir);
  }
  if (in >= 0)
    (void)close(in);
  (void)close(p.dir);
  return code;
}

/* --- delete ------------------------------------------------------------------------------------ */

static bool remove_all(int dir, const char *name, int depth);

/* What is in it; `dir` is closed. */
static bool empty(int dir, int depth)
{
  DIR *list = fdopendir(dir);
  size_t count = 0;
  char **names;
  bool good = true;

  if (list == NULL) {
    (void)close(dir);
    return false;
  }
  names = read_names(list, &count);
  for (size_t i = 0; i < count; i++) {
    good = good && remove_all(dir, names[i], depth + 1);
    free(names[i]);
  }
  free((void *)names);
  (void)closedir(list);
  return good;
}

static bool remove_all(int dir, const char *name, int depth)
{
  int deeper;

  if (unlinkat(dir, name, 0) == 0)
    return true;
  if (errno != EISDIR && errno != EPERM)
    return false;
  deeper = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (deeper < 0)
    return false;
  if (depth == MOST_DEPTH) {
    (void)close(deeper);
    errno = ELOOP;
    return false;
  }
  return empty(deeper, depth) && unlinkat(dir, name, AT_REMOVEDIR) == 0;
}

int cli_old_files_delete(const char *folder, const char *path, bool recursive)
{
  bool good;
  place p;

  if (!find(&p, folder, path, false))
    return CLI_NO;
  if (strcmp(p.name, ".") == 0) {
    cli_fail("the storage itself is not deleted: %s", path);
    (void)close(p.dir);
    return CLI_NO;
  }
  if (recursive)
    good = remove_all(p.dir, p.name, 0);
  else
    good = unlinkat(p.dir, p.name, 0) == 0 ||
           (errno == EISDIR && unlinkat(p.dir, p.name, AT_REMOVEDIR) == 0);
  if (!good) {
    bool full = errno == ENOTEMPTY || errno == EEXIST;
    (void)fail("delete", path);
    if (full)
      cli_help(stderr, "--recursive deletes what is in it, too");
  }
  (void)close(p.dir);
  return good ? CLI_OK : CLI_NO;
}
