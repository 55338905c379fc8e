/*
 * file_writer.c - writing a file in a job's folder
 *
 * Until the file is complete it is ".openpai-HASH-UPLOAD.part" in the same
 * folder.  HASH is that of the file's name, which may be as long as a name can
 * be.
 */
#define _GNU_SOURCE /* O_PATH */
#include "platform/files/files.h"

#include "base/text/md5.h"
#include "base/os/posix_errno.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define BEFORE ".openpai-"
#define BEHIND ".part"

enum {
  MOST_UPLOAD = 64,
  PART = 128,
  A_DAY = 24 * 3600,
  SWEEP_EVERY = 600, /* seconds */
  MOST_SWEPT = 10000 /* entries of a folder */
};

struct pai_file_writer {
  pai_alloc alloc;
  pai__job_folder of;
  int folder; /* O_PATH descriptor of the file's folder */
  char *name; /* of the file in that folder */
  char part[PART];
  int fd;            /* of the part, or -1 */
  uint64_t at, size; /* bytes received, and of the whole file */
  unsigned forks;    /* see base/os/fork.h */
  bool named;        /* the upload has a name: its part is kept on close */
};

bool pai__file_is_part(const char *name)
{
  size_t len = strlen(name);

  return len > sizeof(BEFORE BEHIND) - 1 + PAI__MD5_HEX &&
         strncmp(name, BEFORE, sizeof(BEFORE) - 1) == 0 &&
         strcmp(name + len - (sizeof(BEHIND) - 1), BEHIND) == 0;
}

static int fail(pai_file_writer *w, const char *what, pai_error **err)
{
  int number = errno, code = PAI_EIO;

  if (number == EACCES || number == EPERM || number == EROFS)
    code = PAI_EPERM;
  code = pai__fail(err, code, "cannot %s %.200s in the job's folder: %s", what,
                   w->name, PAI__ERRNO_TEXT(number));
  if (pai__errno_is_shortage(number))
    pai__error_retriable(err);
  return code;
}

/* --- the part ------------------------------------------------------------- */

static void name_part(pai_file_writer *w, const char *upload)
{
  static atomic_uint number;
  char hash[PAI__MD5_HEX];

  (void)pai__md5_hex(hash, w->name, strlen(w->name));
  if (upload != NULL)
    (void)snprintf(w->part, sizeof(w->part), BEFORE "%s-%s" BEHIND, hash,
                   upload);
  else /* names of uploads have no dot */
    (void)snprintf(w->part, sizeof(w->part), BEFORE "%s-%ld.%u" BEHIND, hash,
                   (long)getpid(), atomic_fetch_add(&number, 1) + 1);
}

/* False: a user has made something else with that name, such as a pipe or a
 * hard link. */
static bool is_ours(int fd, struct stat *st)
{
  return fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_nlink == 1;
}

static bool open_part(pai_file_writer *w, struct stat *st)
{
  const int how = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

  if (w->named) {
    w->fd = openat(w->folder, w->part, how);
    if (w->fd >= 0 && is_ours(w->fd, st))
      return true;
    if (w->fd >= 0)
      (void)close(w->fd);
  }
  (void)unlinkat(w->folder, w->part, 0);
  w->fd = openat(w->folder, w->part, how | O_CREAT | O_EXCL, 0666);
  return w->fd >= 0 && is_ours(w->fd, st);
}

static mode_t mode_of(const struct stat *st, bool executable)
{
  mode_t mode = st->st_mode & 0666;

  return executable ? mode | (mode & 0444) >> 2 : mode;
}

static int begin_part(pai_file_writer *w, const pai_file_write_options *o,
                      pai_error **err)
{
  struct stat st;
  uint64_t there;

  if (!open_part(w, &st))
    return fail(w, "write", err);
  there = (uint64_t)st.st_size;
  if (there > w->size) /* a part of another file */
    there = 0;
  w->at = o->offset != UINT64_MAX ? o->offset : there;
  if (w->at > there)
    return pai__fail(err, PAI_EINVAL,
                     "the upload cannot go on at byte %llu: %llu have arrived",
                     (unsigned long long)w->at, (unsigned long long)there);
  if (fchmod(w->fd, mode_of(&st, o->executable != 0)) != 0 ||
      ftruncate(w->fd, (off_t)w->at) != 0)
    return fail(w, "write", err);
  return PAI_OK;
}

/* --- abandoned parts ------------------------------------------------------ */

/* Tells whether a part was not written to for a day. */
static bool is_given_up(int folder, const char *name, const char *own,
                        time_t now)
{
  struct stat st;

  return pai__file_is_part(name) && strcmp(name, own) != 0 &&
         fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(st.st_mode) && st.st_mtime < now - A_DAY;
}

static void remove_parts(int folder, const char *own, time_t now)
{
  int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
  const struct dirent *e;

  for (int i = 0; dir != NULL && i < MOST_SWEPT && (e = readdir(dir)) != NULL;
       i++)
    if (is_given_up(fd, e->d_name, own, now))
      (void)unlinkat(fd, e->d_name, 0);
  if (dir != NULL)
    (void)closedir(dir);
  else if (fd >= 0)
    (void)close(fd);
}

/* Removes abandoned parts before a file is written to their folder; once for
 * many files in one folder. */
static void sweep(pai__platform_swept *swept, const pai_file_writer *w)
{
  time_t now = (time_t)(pai__loop_wall_time() / 1000000);
  struct stat st;

  if (fstat(w->folder, &st) != 0 ||
      (swept->dev == st.st_dev && swept->ino == st.st_ino &&
       now >= swept->at && now < swept->at + SWEEP_EVERY))
    return;
  *swept = (pai__platform_swept){ st.st_dev, st.st_ino, now };
  remove_parts(w->folder, w->part, now);
}

/* --- opening -------------------------------------------------------------- */

static bool names_folder(const char *path)
{
  size_t len = strlen(path);

  return len > 0 && path[len - 1] == '/';
}

static int begin(pai_file_writer *w, pai__platform_swept *swept,
                 const pai_file_write_options *o, pai_error **err)
{
  pai__below b;
  int rc = pai__job_folder_enter(&b, &w->of, &w->alloc, err);

  if (rc < 0)
    return rc;
  if (names_folder(o->path)) {
    rc = pai__below_make(&b, o->path, err);
  } else {
    rc = pai__below_place(&w->folder, &w->name, &b, o->path, err);
    if (rc == PAI_OK) {
      name_part(w, o->upload);
      sweep(swept, w);
      rc = begin_part(w, o, err);
    }
  }
  pai__job_folder_leave(&b, &w->of);
  return rc;
}

/* --- public --------------------------------------------------------------- */

static bool is_upload(const char *text)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  size_t len = strlen(text);

  return len > 0 && len <= MOST_UPLOAD && strspn(text, letters) == len;
}

static int check(const pai_file_write_options *o, pai_error **err)
{
  if (o->path == NULL)
    return pai__fail(err, PAI_EINVAL, "pai_file_write_options: no path");
  if (o->upload != NULL && !is_upload(o->upload))
    return pai__fail(err, PAI_EINVAL,
                     "an upload's name has 1 to %d letters, digits, \"-\" and "
                     "\"_\"",
                     (int)MOST_UPLOAD);
  if (o->upload == NULL && o->offset != 0 && o->offset != UINT64_MAX)
    return pai__fail(err, PAI_EINVAL,
                     "an upload without a name begins with its first byte");
  if (names_folder(o->path) && o->size != 0)
    return pai__fail(err, PAI_EINVAL, "a folder has no bytes of its own");
  if (o->size > INT64_MAX)
    return pai__fail(err, PAI_EINVAL, "no file is that large");
  return PAI_OK;
}

int pai__file_writer_new(pai_file_writer **out, const pai_alloc *alloc,
                         pai__job_folder *of, pai__platform_swept *swept,
                         const pai_file_write_options *o, pai_error **err)
{
  pai_file_writer *w = pai__zalloc(alloc, sizeof(*w));
  int rc;

  *out = NULL;
  if (w == NULL) {
    pai__job_folder_dispose(of, alloc);
    return pai__oom(err);
  }
  *w = (pai_file_writer){ .alloc = *alloc,
                          .of = *of,
                          .folder = -1,
                          .fd = -1,
                          .size = o->size,
                          .forks = pai__forks(),
                          .named = o->upload != NULL };
  rc = begin(w, swept, o, err);
  if (rc == PAI_OK)
    *out = w;
  else
    pai_file_writer_close(w);
  return rc;
}

int pai_file_writer_open(pai_file_writer **out, pai_platform *p,
                         pai_job_id job, const pai_file_write_options *opts,
                         pai_error **err)
{
  pai_file_write_options o = PAI_FILE_WRITE_OPTIONS_INIT;
  pai__job_folder of;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(opts != NULL, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_file_write_options, own);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_file_write_options");
  rc = check(&o, err);
  if (rc < 0)
    return rc;
  rc = pai__job_folder_find(&of, p, job, o.own != 0, err);
  return rc < 0
           ? rc
           : pai__file_writer_new(out, &p->alloc, &of, &p->swept, &o, err);
}

uint64_t pai_file_writer_received(const pai_file_writer *w)
{
  return w->at;
}

static int as_user(const pai_file_writer *w, pai_error **err)
{
  return pai__as_user(w->of.who)
           ? PAI_OK
           : pai__fail(err, PAI_EPERM, "this process cannot act for %s",
                       w->of.who->name);
}

int pai_file_writer_add(pai_file_writer *w, const char *bytes, size_t len,
                        pai_error **err)
{
  int rc;

  PAI__CHECK_OBJECT(w, err);
  PAI__CHECK_ARG_ERR((bytes != NULL || len == 0), err);
  if (len > w->size - w->at)
    return pai__fail(err, PAI_ELIMIT, "the file is larger than %llu bytes",
                     (unsigned long long)w->size);
  rc = as_user(w, err);
  if (rc < 0)
    return rc;
  while (len > 0 && rc == PAI_OK) {
    ssize_t n = pwrite(w->fd, bytes, len, (off_t)w->at);

    if (n < 0 && errno != EINTR)
      rc = fail(w, "write", err);
    if (n > 0) {
      bytes += n;
      len -= (size_t)n;
      w->at += (uint64_t)n;
    }
  }
  pai__as_self(w->of.who);
  return rc;
}

/* False: another writer of this upload has completed or replaced the part. */
static bool is_there(const pai_file_writer *w)
{
  struct stat here, there;

  return fstat(w->fd, &here) == 0 &&
         fstatat(w->folder, w->part, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

static int put(pai_file_writer *w, pai_error **err)
{
  if (!is_there(w))
    return pai__fail(err, PAI_EIO,
                     "cannot write %.200s in the job's folder: the bytes that "
                     "had arrived are missing",
                     w->name);
  if (renameat(w->folder, w->part, w->folder, w->name) != 0)
    return fail(w, "write", err);
  (void)close(w->fd);
  w->fd = -1;
  return 1;
}

int pai_file_writer_end(pai_file_writer *w, pai_error **err)
{
  int rc;

  PAI__CHECK_OBJECT(w, err);
  if (w->at < w->size)
    return 0;
  if (w->fd < 0)
    return 1;
  rc = as_user(w, err);
  if (rc < 0)
    return rc;
  rc = put(w, err);
  pai__as_self(w->of.who);
  return rc;
}

void pai_file_writer_close(pai_file_writer *w)
{
  pai_alloc alloc;

  if (w == NULL || PAI__IS_FORKED(w))
    return;
  alloc = w->alloc;
  if (w->fd >= 0) {
    if (!w->named && is_there(w) && pai__as_user(w->of.who)) {
      (void)unlinkat(w->folder, w->part, 0);
      pai__as_self(w->of.who);
    }
    (void)close(w->fd);
  }
  if (w->folder >= 0)
    (void)close(w->folder);
  pai__strfree(&alloc, w->name);
  pai__job_folder_dispose(&w->of, &alloc);
  pai__free(&alloc, w, sizeof(*w));
}
