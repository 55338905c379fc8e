/* posix_files.c - ownership, permissions and renaming of a root's files */
#include "base/os/posix_fs.h"
#include "base/os/posix_errno.h"
#include "store/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int sys_fail(pai_error **err, const char *what, const char *path)
{
  int code = errno == EACCES || errno == EPERM ? PAI_EPERM : PAI_EIO;
  bool full = errno == ENOSPC || errno == EDQUOT;

  code = pai__fail(err, code, "cannot %s %s: %s", what, path,
                   PAI__ERRNO_TEXT(errno));
  if (full)
    pai__error_retriable(err);
  return code;
}

static int not_ours(pai_error **err, const char *path)
{
  int code = pai__fail(err, PAI_EPERM, "%s belongs to another user", path);

  pai__error_help(err, "use another folder with --root");
  return code;
}

/* Makes the existence of a name durable, too. */
static int sync_folder_of(const char *path, pai_error **err)
{
  const char *slash = strrchr(path, '/');
  char *folder = pai__strndup(&pai__libc_alloc, path,
                              slash != NULL ? (size_t)(slash - path) : 0);
  int fd = -1, rc = PAI_OK;

  if (folder == NULL)
    return pai__oom(err);
  fd =
    open(*folder != '\0' ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || fsync(fd) != 0)
    rc = sys_fail(err, "sync the folder of", path);
  if (fd >= 0)
    (void)close(fd);
  pai__strfree(&pai__libc_alloc, folder);
  return rc;
}

/* Never opens an existing file: closing it would drop this process' locks of
 * SQLite on it. */
int pai__store_own_file(const char *path, pai_error **err)
{
  struct stat st;
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

  if (fd >= 0)
    return close(fd) == 0 ? PAI_OK : sys_fail(err, "make", path);
  if (errno != EEXIST)
    return sys_fail(err, "make", path);
  if (lstat(path, &st) != 0)
    return sys_fail(err, "look at", path);
  if (!S_ISREG(st.st_mode))
    return pai__fail(err, PAI_EINVAL, "%s is not a file", path);
  if (st.st_uid != geteuid())
    return not_ours(err, path);
  if ((st.st_mode & 077) != 0 && chmod(path, 0600) != 0)
    return sys_fail(err, "close to others", path);
  /* SQLite would open it read-only. */
  if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) != 0) {
    int rc = sys_fail(err, "write", path);
    pai__error_help(err, "check that this user may write it and that the file "
                         "system is not read-only");
    return rc;
  }
  return PAI_OK;
}

bool pai__store_is_there(const char *path)
{
  struct stat st;

  return lstat(path, &st) == 0; /* also for a dangling link */
}

/* True also if it does not exist. */
static bool is_no_newer(const struct stat *than, const char *path)
{
  struct stat st;

  return lstat(path, &st) != 0 ||
         (st.st_mtim.tv_sec != than->st_mtim.tv_sec
            ? st.st_mtim.tv_sec < than->st_mtim.tv_sec
            : st.st_mtim.tv_nsec <= than->st_mtim.tv_nsec);
}

bool pai__store_is_newest(const char *rebuilt, const char *path)
{
  pai__buf wal;
  struct stat st;
  bool newest;

  pai__buf_init(&wal, &pai__libc_alloc);
  pai__buf_printf(&wal, "%s-wal", path);
  newest = pai__buf_ok(&wal) && lstat(rebuilt, &st) == 0 &&
           is_no_newer(&st, path) && is_no_newer(&st, wal.data);
  pai__buf_dispose(&wal);
  return newest;
}

int pai__store_rename(const char *from, const char *to, pai_error **err)
{
  if (rename(from, to) != 0)
    return sys_fail(err, "make", to);
  return sync_folder_of(to, err);
}

uint64_t pai__store_file_size(const char *path)
{
  struct stat st;

  return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* --- the key ------------------------------------------------------------- */

/* Writes a temporary file first, so a key is complete or missing. */
static int make_key(const unsigned char *key, size_t len, const char *path,
                    pai_error **err)
{
  pai__buf draft;
  int fd = -1, rc = PAI_ENOMEM;

  pai__buf_init(&draft, &pai__libc_alloc);
  pai__buf_printf(&draft, "%s.XXXXXX", path);
  if (!pai__buf_ok(&draft))
    return pai__oom(err);
  fd = mkstemp(draft.data); /* 0600 */
  if (fd < 0 || write(fd, key, len) != (ssize_t)len || fsync(fd) != 0)
    rc = sys_fail(err, "write", path);
  else if (link(draft.data, path) == 0 || errno == EEXIST)
    rc = sync_folder_of(path, err); /* if another process was first, its key is
                                       read */
  else
    rc = sys_fail(err, "make", path);
  if (fd >= 0) {
    (void)close(fd);
    (void)unlink(draft.data);
  }
  pai__buf_dispose(&draft);
  return rc;
}

static int check_key(const struct stat *st, size_t len, const char *path,
                     pai_error **err)
{
  int code;

  if (!S_ISREG(st->st_mode) || st->st_size != (off_t)len) {
    code = pai__fail(err, PAI_EINVAL, "%s is not a key: a key has %zu bytes",
                     path, len);
    pai__error_help(
      err, "restore the root's key; without it the secrets of jobs are lost");
    return code;
  }
  if (st->st_uid != geteuid()) {
    code = pai__fail(err, PAI_EPERM, "%s belongs to another user", path);
    pai__error_help(err, "change its owner to the user who runs the platform");
    return code;
  }
  if ((st->st_mode & 077) != 0) {
    code = pai__fail(err, PAI_EPERM, "other users may read or write %s", path);
    pai__error_help(err, "chmod 600 %s", path);
    return code;
  }
  return PAI_OK;
}

static int read_key(unsigned char *key, size_t len, const char *path,
                    pai_error **err)
{
  struct stat st;
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), rc;

  if (fd < 0 && errno == ENOENT) {
    rc = pai__fail(err, PAI_EIO, "the key %s is missing", path);
    pai__error_help(err, "restore it, or submit the jobs with secrets again");
    return rc;
  }
  if (fd < 0 && errno == ELOOP) {
    rc = pai__fail(err, PAI_EPERM, "%s is a link, which is not allowed", path);
    pai__error_help(err, "replace it with the key itself");
    return rc;
  }
  if (fd < 0)
    return sys_fail(err, "read", path);
  if (fstat(fd, &st) != 0)
    rc = sys_fail(err, "look at", path);
  else
    rc = check_key(&st, len, path, err);
  if (rc == PAI_OK && read(fd, key, len) != (ssize_t)len)
    rc = sys_fail(err, "read", path);
  (void)close(fd);
  return rc;
}

int pai__store_read_key(unsigned char *key, size_t len, const char *path,
                        bool make, pai_error **err)
{
  if (make && access(path, F_OK) != 0 && errno == ENOENT) {
    int rc = make_key(key, len, path, err);
    if (rc < 0)
      return rc;
  }
  return read_key(key, len, path, err);
}

/* --- a rebuilt database -------------------------------------------------- */

static bool copy_bytes(int from, int to)
{
  char bytes[65536];
  ssize_t n;

  while ((n = read(from, bytes, sizeof(bytes))) > 0)
    if (write(to, bytes, (size_t)n) != n)
      return false;
  return n == 0;
}

/* The write-ahead log is copied with its database: the original must stay
 * until both are safe. */
static int copy_file(const char *from, const char *to, pai_error **err)
{
  int in = open(from, O_RDONLY | O_CLOEXEC), out, rc = PAI_OK;

  if (in < 0)
    return errno == ENOENT ? PAI_OK : sys_fail(err, "read", from);
  out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (out < 0 || !copy_bytes(in, out) || fsync(out) != 0)
    rc = sys_fail(err, "write", to);
  if (out >= 0)
    (void)close(out);
  (void)close(in);
  return rc;
}

/* Writes a big-endian number of a file header. */
static void put_number(unsigned char *at, uint32_t n)
{
  for (int i = 3; i >= 0; i--, n >>= 8)
    at[i] = (unsigned char)(n & 0xff);
}

static uint32_t get_number(const unsigned char *at)
{
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 |
         at[3];
}

/* Reads the pages of sqlite_schema other than the first: its leaves.  The copy
 * is extended if the file was cut off before one. */
static int put_schema(int fd, const unsigned char *image, size_t size,
                      size_t page, const char *path, pai_error **err)
{
  enum { TYPE = 100, INTERIOR = 5, COUNT = 103, LAST = 108, CELLS = 112 };
  uint32_t n = (uint32_t)image[COUNT] << 8 | image[COUNT + 1];

  if (image[TYPE] != INTERIOR)
    return PAI_OK;
  for (uint32_t i = 0; i <= n && CELLS + 2 * i + 2 <= page; i++) {
    const unsigned char *cell = image + CELLS + (size_t)2 * i;
    size_t at = i < n ? (size_t)cell[0] << 8 | cell[1] : LAST;
    uint64_t child = at + 4 <= page ? get_number(image + at) : 0;

    if (child < 2 || child * page > size)
      return pai__fail(err, PAI_EIO, "%s is not a database", path);
    if (pwrite(fd, image + (child - 1) * page, page,
               (off_t)((child - 1) * page)) != (ssize_t)page)
      return sys_fail(err, "write", path);
  }
  return PAI_OK;
}

static int put_first_page(int fd, const unsigned char *image, size_t size,
                          const char *path, pai_error **err)
{
  enum {
    SIZE_AT = 16,
    FORMAT_AT = 18,
    PAGES_AT = 28,
    FREE_AT = 32,
    MOST = 65536
  };
  size_t page =
    size > 100 ? (size_t)image[SIZE_AT] << 8 | image[SIZE_AT + 1] : 0;
  unsigned char first[MOST];
  struct stat st;

  if (page < 512 || page > size ||
      put_schema(fd, image, size, page, path, err) < 0 || fstat(fd, &st) != 0)
    return err != NULL && *err != NULL
             ? pai_error_code(*err)
             : pai__fail(err, PAI_EIO, "%s is not a database", path);
  memcpy(first, image, page);
  first[FORMAT_AT] = first[FORMAT_AT + 1] =
    2; /* there may be a log beside it */
  put_number(first + PAGES_AT, (uint32_t)((uint64_t)st.st_size / page));
  put_number(first + FREE_AT, 0); /* the free list is unknown */
  put_number(first + FREE_AT + 4, 0);
  return pwrite(fd, first, page, 0) == (ssize_t)page
           ? PAI_OK
           : sys_fail(err, "write", path);
}

int pai__store_graft(const char *path, const char *copy,
                     const unsigned char *image, size_t size, pai_error **err)
{
  pai__buf from, to;
  int fd, rc;

  pai__store_remove(copy);
  pai__buf_init(&from, &pai__libc_alloc);
  pai__buf_init(&to, &pai__libc_alloc);
  pai__buf_printf(&from, "%s-wal", path);
  pai__buf_printf(&to, "%s-wal", copy);
  rc = copy_file(path, copy, err);
  if (rc == PAI_OK && (!pai__buf_ok(&from) || !pai__buf_ok(&to)))
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = copy_file(from.data, to.data, err);
  fd = rc == PAI_OK ? open(copy, O_RDWR | O_CLOEXEC) : -1;
  if (rc == PAI_OK && fd < 0)
    rc = sys_fail(err, "write", copy);
  if (rc == PAI_OK)
    rc = put_first_page(fd, image, size, copy, err);
  if (fd >= 0)
    (void)close(fd);
  pai__buf_dispose(&from);
  pai__buf_dispose(&to);
  return rc;
}

/* Finds a free name: path.damaged, path.damaged.1, … and links it to the
 * database. */
static int link_aside(pai__buf *name, const char *path, pai_error **err)
{
  for (unsigned i = 0; i < 100000; i++) {
    pai__buf_clear(name);
    pai__buf_printf(name, "%s.damaged", path);
    if (i > 0)
      pai__buf_printf(name, ".%u", i);
    if (!pai__buf_ok(name))
      return pai__oom(err);
    if (link(path, name->data) == 0)
      return PAI_OK;
    if (errno != EEXIST)
      return sys_fail(err, "keep aside", path);
  }
  return pai__fail(err, PAI_EIO, "%s was set aside too often", path);
}

static void remove_beside(const char *path, const char *suffix)
{
  pai__buf name;

  pai__buf_init(&name, &pai__libc_alloc);
  pai__buf_printf(&name, "%s%s", path, suffix);
  if (pai__buf_ok(&name))
    (void)unlink(name.data);
  pai__buf_dispose(&name);
}

int pai__store_swap(char **aside, const char *path, const char *rebuilt,
                    const pai_alloc *alloc, pai_error **err)
{
  pai__buf name, from, to;
  int rc;

  *aside = NULL;
  pai__buf_init(&name, alloc);
  pai__buf_init(&from, alloc);
  pai__buf_init(&to, alloc);
  rc = link_aside(&name, path, err);
  if (rc == PAI_OK) {
    pai__buf_printf(&from, "%s-wal", path);
    pai__buf_printf(&to, "%s-wal", name.data);
    rc = pai__buf_ok(&from) && pai__buf_ok(&to)
           ? copy_file(from.data, to.data, err)
           : pai__oom(err);
  }
  if (rc == PAI_OK)
    rc = sync_folder_of(path, err);
  if (rc == PAI_OK) {
    /* If it is interrupted from here on, the next repair finds the complete
     * rebuilt file. */
    remove_beside(path, "-wal");
    remove_beside(path, "-shm");
    rc = pai__store_rename(rebuilt, path, err);
    if (rc == PAI_OK)
      *aside = pai__buf_take(&name);
  }
  pai__buf_dispose(&name);
  pai__buf_dispose(&from);
  pai__buf_dispose(&to);
  return rc;
}

void pai__store_remove(const char *path)
{
  (void)unlink(path);
  remove_beside(path, "-wal");
  remove_beside(path, "-shm");
  remove_beside(path, "-journal");
}
