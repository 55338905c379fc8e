/*
 * posix_tree.c - removing, moving and measuring folders with their contents
 *
 * A folder may belong to another user, who changes it meanwhile, and may be of
 * any depth.  So only names with one part are used, no link is followed, and
 * deep folders are moved up before they are removed: at most two folders are
 * open.
 */
#define _XOPEN_SOURCE 700
#include "platform/platform.h"

#include "base/os/posix_errno.h"
#include "base/os/posix_fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  MOST_ROUNDS = 20000, /* each round goes at least one level deeper */
  DEEPEST = 64,
  PLAIN = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
};

static bool is_dots(const char *name)
{
  return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Opens a folder, and makes it readable if necessary. */
static DIR *open_in(int folder, const char *name)
{
  int fd = openat(folder, name, PLAIN);
  DIR *dir;

  if (fd < 0 && errno == EACCES && fchmodat(folder, name, 0700, 0) == 0)
    fd = openat(folder, name, PLAIN);
  dir = fd >= 0 ? fdopendir(fd) : NULL;
  if (dir == NULL && fd >= 0)
    (void)close(fd);
  return dir;
}

/* Moves a folder that is not empty to `top`, under a new name. */
static bool move_up(int from, const char *name, int top, unsigned *number)
{
  char to[32];

  for (int tries = 0; tries < 100; tries++) {
    (void)snprintf(to, sizeof(to), ".gone-%u", (*number)++);
    if (renameat(from, name, top, to) == 0)
      return true;
    if (errno == EACCES) /* a folder without permissions for its owner */
      (void)fchmodat(from, name, 0700, 0);
    else if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
      return false;
  }
  return false;
}

/* Empties a folder in `top`; its folders are moved to `top`. */
static void empty(DIR *dir, int top, unsigned *number)
{
  struct dirent *e;

  (void)fchmod(dirfd(dir), 0700);
  while ((e = readdir(dir)) != NULL)
    if (!is_dots(e->d_name) && unlinkat(dirfd(dir), e->d_name, 0) != 0 &&
        unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR) != 0)
      (void)move_up(dirfd(dir), e->d_name, top, number);
}

static bool is_stopped(const atomic_bool *stop)
{
  return stop != NULL && atomic_load(stop);
}

/* Removes what it can.  True: another round may remove more. */
static bool remove_in(DIR *dir, unsigned *number, const atomic_bool *stop)
{
  int top = dirfd(dir);
  bool some = false;
  struct dirent *e;

  rewinddir(dir);
  while (!is_stopped(stop) && (e = readdir(dir)) != NULL) {
    DIR *below;

    if (is_dots(e->d_name))
      continue;
    if (unlinkat(top, e->d_name, 0) == 0 ||
        unlinkat(top, e->d_name, AT_REMOVEDIR) == 0) {
      some = true;
      continue;
    }
    below = open_in(top, e->d_name);
    if (below == NULL)
      continue;
    empty(below, top, number);
    (void)closedir(below);
    some |= unlinkat(top, e->d_name, AT_REMOVEDIR) == 0;
  }
  return some && !is_stopped(stop);
}

void pai__platform_remove_tree(const char *path, const atomic_bool *stop)
{
  unsigned number = 0;
  DIR *dir = open_in(AT_FDCWD, path);

  if (dir != NULL) {
    /* The limit ends a race with a user who goes on filling it. */
    for (int i = 0; i < MOST_ROUNDS && remove_in(dir, &number, stop); i++)
      ;
    (void)closedir(dir);
    (void)rmdir(path);
  } else {
    (void)unlink(path); /* a link, or a file */
  }
}

/* --- moving --------------------------------------------------------------- */

/* A folder without permissions for its owner cannot be moved before a chmod. */
static bool move(const char *from, const char *to)
{
  return rename(from, to) == 0 ||
         (errno == EACCES && fchmodat(AT_FDCWD, from, 0700, 0) == 0 &&
          rename(from, to) == 0);
}

/* Makes ROOT/folder; with --system all users may pass through it. */
static int make_folder(char **out, const pai_platform *p, const char *folder,
                       pai_error **err)
{
  char *path = pai__fs_join(p->root, folder, &p->alloc);
  int rc;

  *out = NULL;
  if (path == NULL)
    return pai__oom(err);
  rc = pai__fs_make_dirs(path, &p->alloc, err);
  if (rc == PAI_OK && p->system && chmod(path, 0711) != 0)
    rc = pai__fail(err, PAI_EIO, "cannot open %s: %s", path,
                   PAI__ERRNO_TEXT(errno));
  if (rc < 0)
    pai__strfree(&p->alloc, path);
  *out = rc == PAI_OK ? path : NULL;
  return rc;
}

/* Moves a folder to ROOT/folder/name, or to name.1 and so on if that exists. */
static int move_to(char **out, const pai_platform *p, const char *folder,
                   const char *path, const char *name, pai_error **err)
{
  char *in, *to;
  int rc = make_folder(&in, p, folder, err);

  *out = NULL;
  if (rc < 0)
    return rc;
  to = pai__fs_join(in, name, &p->alloc);
  pai__strfree(&p->alloc, in);
  if (to == NULL)
    return pai__oom(err);
  rc = pai__fs_make_new_dir(out, to, &p->alloc, err);
  pai__strfree(&p->alloc, to);
  if (rc < 0 || *out == NULL || move(path, *out))
    return rc;
  rc = pai__fail(err, PAI_EIO, "cannot move %s to %s: %s", path, *out,
                 PAI__ERRNO_TEXT(errno));
  (void)rmdir(*out);
  pai__strfree(&p->alloc, *out);
  *out = NULL;
  return rc;
}

int pai__platform_set_aside(const pai_platform *p, const char *path,
                            const char *name, pai_error **err)
{
  char *lost;
  int rc;

  if (rmdir(path) == 0 || errno == ENOENT)
    return PAI_OK;
  rc = move_to(&lost, p, "lost", path, name, err);
  if (rc == PAI_OK)
    pai__log_line(&p->log, PAI_LOG_WARNING,
                  "%s belongs to no job in the database: it was moved to %s",
                  path, lost);
  pai__strfree(&p->alloc, lost);
  return rc;
}

int pai__platform_keep_tree(char **out, const pai_platform *p,
                            const char *path, pai_error **err)
{
  struct stat st;
  int rc;

  *out = NULL;
  if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode))
    return PAI_OK;
  rc = move_to(out, p, "kept", path, strrchr(path, '/') + 1, err);
  return rc < 0 && rc != PAI_ENOMEM
           ? pai__fail_above(err, PAI_EIO, "cannot move %s to %s/kept", path,
                             p->root)
           : rc;
}

void pai__platform_put_back(const pai_platform *p, const char *from,
                            const char *to)
{
  if (rename(from, to) != 0)
    pai__log_line(&p->log, PAI_LOG_WARNING, "cannot move %s back to %s: %s",
                  from, to, PAI__ERRNO_TEXT(errno));
}

/* --- trash ---------------------------------------------------------------- */

void pai__platform_make_trash(const char *trash)
{
  (void)mkdir(trash, 0700);
}

/* Only renames the folder, to its inode number, which is unique in the trash: a
 * full disk has no space to create more. */
bool pai__platform_trash(const char *trash, const char *path,
                         const pai_alloc *alloc)
{
  struct stat st;
  pai__buf to;
  bool good;

  if (lstat(path, &st) != 0)
    return errno == ENOENT;
  if (!S_ISDIR(st.st_mode))
    return unlink(path) == 0;
  pai__platform_make_trash(trash);
  pai__buf_init(&to, alloc);
  pai__buf_printf(&to, "%s/%llu", trash, (unsigned long long)st.st_ino);
  good = pai__buf_ok(&to) && move(path, pai__buf_text(&to));
  pai__buf_dispose(&to);
  return good;
}

void pai__platform_empty_trash(const char *trash, const pai_alloc *alloc,
                               const atomic_bool *stop)
{
  DIR *dir = opendir(trash);
  struct dirent *e;
  pai__buf path;

  if (dir == NULL)
    return;
  pai__buf_init(&path, alloc);
  while (!is_stopped(stop) && (e = readdir(dir)) != NULL) {
    if (is_dots(e->d_name))
      continue;
    pai__buf_clear(&path);
    pai__buf_printf(&path, "%s/%s", trash, e->d_name);
    if (pai__buf_ok(&path))
      pai__platform_remove_tree(pai__buf_text(&path), stop);
  }
  pai__buf_dispose(&path);
  (void)closedir(dir);
}

/* --- measuring ------------------------------------------------------------ */

static uint64_t bytes_below(DIR *dir, unsigned depth)
{
  uint64_t sum = 0;
  struct dirent *e;

  while ((e = readdir(dir)) != NULL) {
    struct stat st;
    DIR *below = NULL;

    if (is_dots(e->d_name) ||
        fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (S_ISDIR(st.st_mode) && depth < DEEPEST) {
      int fd = openat(dirfd(dir), e->d_name, PLAIN);
      below = fd >= 0 ? fdopendir(fd) : NULL;
      if (below == NULL && fd >= 0)
        (void)close(fd);
    }
    sum += (uint64_t)st.st_blocks * 512 +
           (below != NULL ? bytes_below(below, depth + 1) : 0);
  }
  (void)closedir(dir);
  return sum;
}

/* Without nftw(), which is not safe with threads. */
uint64_t pai__platform_tree_bytes(const char *path)
{
  DIR *dir = opendir(path);

  return dir != NULL ? bytes_below(dir, 0) : 0;
}
