/*
 * posix_code.c - copying folders of code, and removing abandoned ones
 *
 * Links that users have made are not followed: each folder is opened by its
 * name in its parent, with O_NOFOLLOW.
 */
#define _DEFAULT_SOURCE /* mkdtemp(), d_type */
#include "platform/files/code.h"

#include "base/os/posix_errno.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/fs.h>
#endif

enum { BLOCK = 128 << 10, MOST_DEPTH = 64, LINK = 4096 };

typedef struct copying {
  char *block;
  int top; /* the copy's folder */
  unsigned depth;
  int why;        /* errno of the first failure, or 0 */
  char text[256]; /* name of the file that failed */
} copying;

static bool fail(copying *c, const char *name)
{
  if (c->why == 0) {
    c->why = errno != 0 ? errno : EIO;
    (void)snprintf(c->text, sizeof(c->text), "%s", name);
  }
  return false;
}

static bool is_dot(const char *name)
{
  return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Makes a reflink: both files share blocks until one is changed. */
static bool share_blocks(int in, int out)
{
#ifdef FICLONE
  return ioctl(out, FICLONE, in) == 0;
#else
  (void)in;
  (void)out;
  return false;
#endif
}

static bool pump(copying *c, int in, int out)
{
  ssize_t n;

  while ((n = read(in, c->block, BLOCK)) > 0)
    for (ssize_t at = 0, w; at < n; at += w) {
      w = write(out, c->block + at, (size_t)(n - at));
      if (w < 0 && errno == EINTR)
        w = 0;
      if (w < 0)
        return false;
    }
  return n == 0;
}

static bool copy_file(copying *c, int from, int to, const char *name,
                      const struct stat *st)
{
  const struct timespec times[2] = { st->st_atim, st->st_mtim };
  int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  struct stat now;
  int out;
  bool good;

  if (in < 0)
    return fail(c, name);
  if (fstat(in, &now) < 0 || !S_ISREG(now.st_mode)) { /* no longer a file */
    (void)close(in);
    return true;
  }
  out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
               0600 | (st->st_mode & 0700));
  good = out >= 0 && (share_blocks(in, out) || pump(c, in, out));
  if (!good)
    (void)fail(c, name);
  if (good) /* times matter to make(1); a failure is ignored */
    (void)!futimens(out, times);
  if (out >= 0 && close(out) != 0 && good)
    good = fail(c, name);
  (void)close(in);
  return good;
}

static bool copy_link(copying *c, int from, int to, const char *name)
{
  char text[LINK];
  ssize_t n = readlinkat(from, name, text, sizeof(text) - 1);

  if (n < 0)
    return fail(c, name);
  text[n] = '\0';
  return symlinkat(text, to, name) == 0 || fail(c, name);
}

static bool copy_folder(copying *c, int from, int to);

static bool copy_below(copying *c, int from, int to, const char *name)
{
  const int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int in = openat(from, name, how), out = -1;
  bool good = in >= 0 && mkdirat(to, name, 0700) == 0 &&
              (out = openat(to, name, how)) >= 0;

  if (!good)
    (void)fail(c, name);
  good = good && copy_folder(c, in, out);
  if (in >= 0)
    (void)close(in);
  if (out >= 0)
    (void)close(out);
  return good;
}

/* Sockets, pipes and devices are left out. */
static bool copy_one(copying *c, int from, int to, const char *name)
{
  struct stat st;

  if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT || fail(c, name); /* gone meanwhile */
  if (S_ISREG(st.st_mode))
    return copy_file(c, from, to, name, &st);
  if (S_ISLNK(st.st_mode))
    return copy_link(c, from, to, name);
  return !S_ISDIR(st.st_mode) || copy_below(c, from, to, name);
}

static bool copy_folder(copying *c, int from, int to)
{
  int again = dup(from);
  DIR *dir = again >= 0 ? fdopendir(again) : NULL;
  struct dirent *e;
  bool good = dir != NULL && ++c->depth <= MOST_DEPTH;

  if (!good) {
    errno = dir != NULL ? ELOOP : errno;
    (void)fail(c, "a folder");
    if (dir == NULL && again >= 0)
      (void)close(again);
  }
  while (good && (e = readdir(dir)) != NULL) {
    good = is_dot(e->d_name) || copy_one(c, from, to, e->d_name);
    (void)!futimens(c->top, NULL); /* in use, for pai__code_sweep() */
  }
  c->depth--;
  if (dir != NULL)
    (void)closedir(dir);
  return good;
}

static int copy_tree(copying *c, const char *from, const char *to)
{
  const int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int in = open(from, how), out = open(to, how);

  c->top = out;
  if (in < 0 || out < 0)
    (void)fail(c, in < 0 ? from : to);
  else
    (void)copy_folder(c, in, out);
  if (in >= 0)
    (void)close(in);
  if (out >= 0)
    (void)close(out);
  return c->why == 0 ? PAI_OK : c->why == ENOENT ? PAI_ENOTFOUND : PAI_EIO;
}

int pai__code_copy(char **out, const pai_alloc *alloc, const char *from,
                   const char *folder, pai_error **err)
{
  copying c = { .block = pai__zalloc(alloc, BLOCK) };
  pai__buf to;
  int rc;

  pai__buf_init(&to, alloc);
  pai__buf_printf(&to, "%s/new-XXXXXX", folder);
  *out = pai__buf_take(&to);
  if (*out == NULL || c.block == NULL) {
    rc = pai__oom(err);
  } else if (mkdtemp(*out) == NULL) {
    rc = pai__fail(err, PAI_EIO, "cannot make a folder in %s", folder);
  } else {
    rc = copy_tree(&c, from, *out);
    if (rc < 0)
      (void)pai__fail(err, rc, "cannot copy the job's code: %s: %s", c.text,
                      PAI__ERRNO_TEXT(c.why));
    if (rc < 0)
      pai__platform_remove_tree(*out, NULL);
  }
  pai__free(alloc, c.block, BLOCK);
  if (rc < 0) {
    pai__strfree(alloc, *out);
    *out = NULL;
  }
  return rc;
}

unsigned pai__code_sweep(const char *folder, const pai_alloc *alloc,
                         pai_time age, const atomic_bool *stop)
{
  DIR *dir = opendir(folder);
  struct dirent *e;
  struct stat st;
  unsigned swept = 0;
  pai__buf path;

  if (dir == NULL)
    return 0;
  pai__buf_init(&path, alloc);
  while (!atomic_load(stop) && (e = readdir(dir)) != NULL) {
    if (strncmp(e->d_name, "new-", 4) != 0 ||
        fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
        (pai_time)(time(NULL) - st.st_mtim.tv_sec) * 1000000 < age)
      continue;
    pai__buf_clear(&path);
    pai__buf_printf(&path, "%s/%s", folder, e->d_name);
    if (!pai__buf_ok(&path))
      break;
    pai__platform_remove_tree(pai__buf_text(&path), stop);
    swept++;
  }
  pai__buf_dispose(&path);
  (void)closedir(dir);
  return swept;
}
