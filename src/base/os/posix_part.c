/* posix_part.c - a local file that is being downloaded */
#define _GNU_SOURCE /* flock() */
#include "base/os/posix_part.h"

#include "base/hash.h"
#include "base/os/posix_errno.h"
#include "base/os/posix_fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define BEFORE ".openpai-"
#define BEHIND ".part"

/* A part of a smaller file is not kept. */
enum { LEAST_KEPT = 1 << 20 };

/* --- failures and folders ------------------------------------------------ */

int pai__file_part_fail(pai_error **err, const char *verb, const char *path,
                        int number)
{
  int code = PAI_EIO;

  if (number == ENOMEM)
    return pai__oom(err);
  if (number == EWOULDBLOCK)
    return pai__fail(err, PAI_EBUSY,
                     "another process is downloading the same file");
  if (number == EACCES || number == EPERM || number == EROFS)
    code = PAI_EPERM;
  else if ((number == ENOENT || number == ENOTDIR) &&
           strcmp(verb, "read") == 0)
    code = PAI_ENOTFOUND;
  code = pai__fail(err, code, "cannot %s %s: %s", verb, path,
                   PAI__ERRNO_TEXT(number));
  pai__error_file(err, path, number);
  if (strcmp(verb, "read") != 0)
    pai__error_help(err, "%s", pai__errno_write_help(number));
  if (pai__errno_is_shortage(number))
    pai__error_retriable(err);
  return code;
}

/* Returns "a" of "a/b", "." of "b", "/" of "/b". */
static char *folder_of(const char *path, const pai_alloc *alloc)
{
  const char *slash = strrchr(path, '/');

  if (slash == NULL)
    return pai__strdup(alloc, ".");
  return pai__strndup(alloc, path, slash == path ? 1 : (size_t)(slash - path));
}

int pai__file_part_make_folders(const char *path, const pai_alloc *alloc)
{
  char *above;
  int error;

  if (mkdir(path, 0777) == 0 || errno == EEXIST)
    return 0; /* the caller finds out if it is not a folder */
  if (errno != ENOENT)
    return errno;
  above = folder_of(path, alloc);
  if (above == NULL)
    return ENOMEM;
  error = strcmp(above, path) != 0 ? pai__file_part_make_folders(above, alloc)
                                   : ENOENT;
  pai__strfree(alloc, above);
  if (error == 0 && mkdir(path, 0777) != 0 && errno != EEXIST)
    error = errno;
  return error;
}

/* --- names ---------------------------------------------------------------- */

bool pai__file_part_is(const char *name)
{
  size_t len = strlen(name), end = sizeof(BEHIND) - 1;

  return strncmp(name, BEFORE, sizeof(BEFORE) - 1) == 0 && len > end &&
         strcmp(name + len - end, BEHIND) == 0;
}

static uint64_t hash_text(uint64_t h, const char *text)
{
  return pai__hash(h, text, strlen(text) + 1);
}

/* Without a job the second hash is unique to this process. */
static char *part_name(const pai__file_part *p, const char *job)
{
  static atomic_uint number;
  const char *slash = strrchr(p->path, '/');
  uint64_t file =
    hash_text(PAI__HASH_SEED, slash != NULL ? slash + 1 : p->path);
  uint64_t version = PAI__HASH_SEED;
  char name[64];
  pid_t self = getpid();
  unsigned mine;

  if (job != NULL) {
    version = hash_text(hash_text(version, job), p->of.path);
    version = pai__hash(version, &p->of.size, sizeof(p->of.size));
    version = pai__hash(version, &p->of.modified, sizeof(p->of.modified));
  } else {
    mine = atomic_fetch_add(&number, 1);
    version = pai__hash(version, &self, sizeof(self));
    version = pai__hash(version, &mine, sizeof(mine));
  }
  (void)snprintf(name, sizeof(name),
                 BEFORE "%016" PRIx64 "-%016" PRIx64 BEHIND, file, version);
  return pai__fs_join(p->folder, name, p->alloc);
}

/* Deletes a part, unless another process is writing it. */
static void delete_unused(int dir, const char *name)
{
  int fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

  if (fd < 0)
    return;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
    (void)unlinkat(dir, name, 0);
  (void)close(fd);
}

/* Deletes parts of other versions of the file. */
static void delete_old(const pai__file_part *p)
{
  const char *name = strrchr(p->name, '/') + 1;
  size_t same = sizeof(BEFORE) - 1 + 16;
  DIR *dir = opendir(p->folder);
  struct dirent *entry;

  if (dir == NULL)
    return;
  while ((entry = readdir(dir)) != NULL)
    if (strncmp(entry->d_name, name, same) == 0 &&
        strcmp(entry->d_name, name) != 0 &&
        strlen(entry->d_name) == strlen(name))
      delete_unused(dirfd(dir), entry->d_name);
  (void)closedir(dir);
}

/* --- its life -------------------------------------------------------------- */

/* Opens and locks the part.  Before the lock is taken, another process may
 * finish and move the file: then the name is missing or of another file. */
static int open_locked(pai__file_part *p)
{
  struct stat opened, named;

  for (;;) {
    p->fd = open(p->name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_APPEND,
                 0666);
    if (p->fd < 0)
      return errno;
    if (flock(p->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      (void)close(p->fd); /* the part is another process's */
      p->fd = -1;
      return EWOULDBLOCK;
    } /* other errors: the file system has no locks */
    if (fstat(p->fd, &opened) != 0)
      return errno;
    if (lstat(p->name, &named) == 0 && named.st_ino == opened.st_ino &&
        named.st_dev == opened.st_dev)
      break;
    (void)close(p->fd);
  }
  p->received = (uint64_t)opened.st_size;
  if (p->received > p->of.size) { /* not of this version */
    p->received = 0;
    return ftruncate(p->fd, 0) == 0 ? 0 : errno;
  }
  return 0;
}

int pai__file_part_open(pai__file_part *p, const pai_alloc *alloc,
                        const char *path, const char *job,
                        const pai__below_entry *of, pai_error **err)
{
  int error = ENOMEM;

  *p = (pai__file_part){ .alloc = alloc, .of = *of, .fd = -1 };
  p->keep = job != NULL && of->size >= LEAST_KEPT;
  p->path = pai__strdup(alloc, path);
  p->folder = folder_of(path, alloc);
  if (p->path != NULL && p->folder != NULL &&
      (p->name = part_name(p, job)) != NULL)
    error = pai__file_part_make_folders(p->folder, alloc);
  if (error == 0)
    error = open_locked(p);
  if (error == 0 && p->keep && p->received == 0)
    delete_old(p);
  return error == 0 ? PAI_OK : pai__file_part_fail(err, "write", path, error);
}

int pai__file_part_add(pai__file_part *p, const char *bytes, size_t len,
                       pai_error **err)
{
  while (len > 0) {
    ssize_t n = write(p->fd, bytes, len);

    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return pai__file_part_fail(err, "write", p->path, errno);
    bytes += n;
    len -= (size_t)n;
    p->received += (uint64_t)n;
  }
  return PAI_OK;
}

int pai__file_part_finish(pai__file_part *p, pai_error **err)
{
  int64_t ms = p->of.modified, seconds = ms / 1000 - (ms % 1000 < 0);
  struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
                               { .tv_sec = (time_t)seconds,
                                 .tv_nsec =
                                   (long)(ms - seconds * 1000) * 1000000 } };
  struct stat st;

  if (p->received < p->of.size) {
    p->keep = false; /* it has bytes of an older version */
    return PAI_EEXISTS;
  }
  if (ms == 0)
    times[1].tv_nsec = UTIME_OMIT; /* unknown */
  if (fstat(p->fd, &st) != 0)
    return pai__file_part_fail(err, "write", p->path, errno);
  if ((uint64_t)st.st_size != p->received) {
    p->keep = false; /* without locks another process may have written it */
    return PAI_EEXISTS;
  }
  if (p->of.executable) /* for all who may read the file */
    st.st_mode |= (st.st_mode & 0444) >> 2;
  if (fchmod(p->fd, st.st_mode & 0777) != 0 || futimens(p->fd, times) != 0 ||
      rename(p->name, p->path) != 0)
    return pai__file_part_fail(err, "write", p->path, errno);
  (void)close(p->fd);
  p->fd = -1;
  return PAI_OK;
}

void pai__file_part_close(pai__file_part *p)
{
  if (p->fd >= 0) {
    if (!p->keep || p->received == 0)
      (void)unlink(p->name);
    (void)close(p->fd);
  }
  if (p->alloc == NULL)
    return;
  pai__strfree(p->alloc, p->path);
  pai__strfree(p->alloc, p->folder);
  pai__strfree(p->alloc, p->name);
  *p = (pai__file_part){ .fd = -1 };
}
