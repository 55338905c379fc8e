/* local_file.c - files of this machine that are downloaded and uploaded */
#include "local_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A smaller file is downloaded again from its beginning. */
enum { LEAST_KEPT = 1 << 20 };

struct LocalFile {
  char *path, *folder; /* the file, and where it lies */
  char *part;          /* the unfinished download in that folder */
  file_version version;
  uint64_t received;
  int fd, error; /* the errno of what failed, or 0 */
  bool keep;
};

/* --- names ---------------------------------------------------------------- */

static uint64_t hash(uint64_t h, const void *bytes, size_t len)
{
  const unsigned char *b = bytes;

  while (len-- > 0)
    h = (h ^ *b++) * UINT64_C(0x100000001b3); /* FNV-1a */
  return h;
}

static uint64_t hash_text(uint64_t h, const char *text)
{
  return hash(h, text, strlen(text) + 1);
}

static const uint64_t seed = UINT64_C(0xcbf29ce484222325);

void local_upload_name(char *name, int fd, const char *job, const char *path)
{
  uint64_t h = hash_text(hash_text(seed, job), path);
  struct stat st;

  if (fstat(fd, &st) == 0) {
    h = hash(h, &st.st_dev, sizeof(st.st_dev));
    h = hash(h, &st.st_ino, sizeof(st.st_ino));
    h = hash(h, &st.st_size, sizeof(st.st_size));
    h = hash(h, &st.st_mtim.tv_sec, sizeof(st.st_mtim.tv_sec));
    h = hash(h, &st.st_mtim.tv_nsec, sizeof(st.st_mtim.tv_nsec));
  }
  (void)snprintf(name, UPLOAD_NAME, "file-%016" PRIx64, h);
}

static char *join(const char *folder, const char *name)
{
  size_t size = strlen(folder) + strlen(name) + 2;
  char *path = malloc(size);

  if (path != NULL)
    (void)snprintf(path, size, "%s%s%s", folder,
                   folder[strlen(folder) - 1] == '/' ? "" : "/", name);
  return path;
}

char *local_folder_of(const char *path)
{
  const char *slash = strrchr(path, '/');
  char *folder;

  if (slash == NULL)
    return strdup(".");
  folder = strdup(path);
  if (folder != NULL)
    folder[slash == path ? 1 : slash - path] = '\0';
  return folder;
}

/* ".openpai-FILE-VERSION.part", of two numbers; without a job the second one
 * is of this process. */
static char *part_name(const char *path, const file_version *v)
{
  static atomic_uint number;
  const char *slash = strrchr(path, '/');
  uint64_t file = hash_text(seed, slash != NULL ? slash + 1 : path);
  uint64_t version = seed;
  char name[64];
  pid_t self = getpid();
  unsigned mine;

  if (v->job != NULL) {
    version = hash_text(hash_text(version, v->job), v->path);
    version = hash(version, &v->size, sizeof(v->size));
    version = hash(version, &v->modified, sizeof(v->modified));
  } else {
    mine = atomic_fetch_add(&number, 1);
    version = hash(version, &self, sizeof(self));
    version = hash(version, &mine, sizeof(mine));
  }
  (void)snprintf(name, sizeof(name),
                 ".openpai-%016" PRIx64 "-%016" PRIx64 ".part", file, version);
  return strdup(name);
}

/* --- failures --------------------------------------------------------------- */

static void fail(failure *f, const char *verb, const char *path, int error)
{
  facade_fail_file(f, verb, path, error);
  if (error != EWOULDBLOCK)
    return;
  free(f->made);
  f->made = NULL;
  facade_fail(f, PAI_EBUSY, "another process is downloading the same file");
}

bool local_failed(const LocalFile *l)
{
  return l != NULL && l->error != 0;
}

void local_explain(const LocalFile *l, failure *f)
{
  fail(f, "write", l->path, l->error);
}

static int keep_error(LocalFile *l)
{
  if (l->error == 0)
    l->error = errno;
  return PAI_EIO;
}

/* --- a download ---------------------------------------------------------------- */

bool local_has(const char *path, uint64_t size, int64_t modified)
{
  struct stat st;

  return lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
         (uint64_t)st.st_size == size &&
         (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 ==
           modified;
}

/* Those of other versions of the file. */
static void delete_old(const LocalFile *l)
{
  const char *name = strrchr(l->part, '/') + 1;
  size_t same = strlen(".openpai-") + 16;
  DIR *dir = opendir(l->folder);
  struct dirent *entry;

  if (dir == NULL)
    return;
  while ((entry = readdir(dir)) != NULL)
    if (strncmp(entry->d_name, name, same) == 0 &&
        strcmp(entry->d_name, name) != 0 &&
        strlen(entry->d_name) == strlen(name))
      (void)unlinkat(dirfd(dir), entry->d_name, 0);
  (void)closedir(dir);
}

/* The part, which nobody else has.  Until the lock is ours another process may
 * have finished it: then its name is another file's, or nobody's. */
static int open_part(LocalFile *l)
{
  struct stat opened, named;

  for (;;) {
    l->fd = open(l->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_APPEND,
                 0666);
    if (l->fd < 0)
      return errno;
    if (flock(l->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      return errno; /* some file systems have no locks */
    if (fstat(l->fd, &opened) != 0)
      return errno;
    if (lstat(l->part, &named) == 0 && named.st_ino == opened.st_ino &&
        named.st_dev == opened.st_dev)
      break;
    (void)close(l->fd);
  }
  l->received = (uint64_t)opened.st_size;
  if (l->received > l->version.size) { /* not of ours */
    l->received = 0;
    return ftruncate(l->fd, 0) == 0 ? 0 : errno;
  }
  return 0;
}

static int open_local(LocalFile *l, const file_version *v)
{
  char *name = part_name(l->path, v);
  int error;

  l->version = *v;
  l->version.job = l->version.path = NULL;
  l->keep = v->job != NULL && v->size >= LEAST_KEPT;
  l->folder = local_folder_of(l->path);
  if (name != NULL && l->folder != NULL)
    l->part = join(l->folder, name);
  free(name);
  if (l->part == NULL)
    return ENOMEM;
  error = local_make_folders(l->folder);
  if (error == 0)
    error = open_part(l);
  if (error == 0 && l->keep && l->received == 0)
    delete_old(l);
  return error;
}

static void dispose(LocalFile *l)
{
  if (l->fd >= 0)
    (void)close(l->fd);
  free(l->path);
  free(l->folder);
  free(l->part);
  free(l);
}

LocalFile *local_open(const char *path, const file_version *v, failure *f)
{
  LocalFile *l = calloc(1, sizeof(*l));
  int error;

  if (l != NULL) {
    l->fd = -1;
    l->path = strdup(path);
  }
  error = l == NULL || l->path == NULL ? ENOMEM : open_local(l, v);
  if (error == 0)
    return l;
  fail(f, "write", path, error);
  if (l != NULL)
    dispose(l);
  return NULL;
}

uint64_t local_received(const LocalFile *l)
{
  return l->received;
}

int local_add(LocalFile *l, const char *bytes, size_t len)
{
  while (len > 0) {
    ssize_t n = write(l->fd, bytes, len);

    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return keep_error(l);
    bytes += n;
    len -= (size_t)n;
    l->received += (uint64_t)n;
  }
  return PAI_OK;
}

int local_finish(LocalFile *l)
{
  int64_t ms = l->version.modified;
  struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
                               { .tv_sec = (time_t)(ms / 1000),
                                 .tv_nsec = (long)(ms % 1000) * 1000000 } };
  struct stat st;

  if (l->received < l->version.size)
    return PAI_EEXISTS;
  if (fstat(l->fd, &st) != 0)
    return keep_error(l);
  if (ms == 0)
    times[1].tv_nsec = UTIME_OMIT; /* it is not known */
  if (l->version.executable)       /* for those who may read it */
    st.st_mode |= (st.st_mode & 0444) >> 2;
  if (fchmod(l->fd, st.st_mode & 0777) != 0 || futimens(l->fd, times) != 0 ||
      rename(l->part, l->path) != 0)
    return keep_error(l);
  (void)close(l->fd);
  l->fd = -1;
  return PAI_OK;
}

void local_discard(LocalFile *l)
{
  l->keep = false;
}

void local_close(LocalFile *l)
{
  if (l->fd < 0)
    return;
  if (!l->keep || l->received == 0)
    (void)unlink(l->part);
  (void)close(l->fd);
  l->fd = -1;
}

void local_free(LocalFile *l)
{
  if (l == NULL)
    return;
  local_close(l);
  dispose(l);
}

/* --- what is uploaded ------------------------------------------------------------- */

static bool names_folder(const char *path)
{
  size_t len = strlen(path);

  return len > 0 && path[len - 1] == '/';
}

int local_open_read(const char *path, const char *to, uint64_t *size,
                    int *executable, failure *f)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat st = { 0 };
  int error = 0;

  if (fd < 0 || fstat(fd, &st) != 0)
    error = errno;
  else if (S_ISDIR(st.st_mode) && !names_folder(to))
    error = EISDIR;
  else if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
    error = EINVAL;
  if (error != 0) {
    fail(f, "read", path, error);
    if (fd >= 0)
      (void)close(fd);
    return -1;
  }
  *size = S_ISDIR(st.st_mode) ? 0 : (uint64_t)st.st_size;
  *executable = S_ISREG(st.st_mode) && (st.st_mode & 0100) != 0;
  return fd;
}
