/*
 * posix_download.c - a file or folder of a job becomes one of this machine
 *
 * A file comes under another name, which says its size and time of change, and
 * is renamed when it is whole: so a copy that was cut goes on.
 */
#define _XOPEN_SOURCE 700
#include "job_files.h"
#include "jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = CLI_COPY_PATH, CHANGES = 3 };

bool cli_is_folder(const char *path)
{
  struct stat st;

  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool fail(const char *what, const char *path)
{
  cli_fail("cannot %s %s: %s", what, path, strerror(errno));
  return false;
}

/* --- bytes --------------------------------------------------------------------------- */

typedef struct fetching {
  const char *job;
  const cli_entry *entry;
  cli_copied *copied;
  int fd;
  uint64_t offset; /* of the next byte */
  int error;       /* errno of what could not be written */
} fetching;

static int on_data(void *user_data, const char *bytes, size_t len)
{
  fetching *f = cli_remote_data(user_data);

  while (len > 0) {
    ssize_t n = write(f->fd, bytes, len);
    if (n < 0 && errno != EINTR) {
      f->error = errno;
      return PAI_EUSER;
    }
    if (n > 0) {
      bytes += n;
      len -= (size_t)n;
      f->offset += (size_t)n;
    }
  }
  cli_copy_progress(f->copied, f->entry->path, f->offset,
                    (uint64_t)f->entry->size);
  return PAI_OK;
}

static int start(cli_remote *r, void *data, pai_client_cb cb, void *user_data,
                 pai_error **err)
{
  const fetching *f = data;
  pai_client_get_file_options o = PAI_CLIENT_GET_FILE_OPTIONS_INIT;
  char *job = cli_whole_name(f->job);
  int rc;

  o.job = job;
  o.path = f->entry->path;
  o.offset = f->offset;
  o.modified = f->entry->modified;
  o.on_data = on_data;
  rc = pai_client_get_file(NULL, r->client, &o, cb, user_data, err);
  free(job);
  return rc;
}

/* PAI_OK; PAI_EEXISTS: the file has changed; else it is told. */
static int fetch(cli_remote *r, fetching *f, const char *to)
{
  cli_answer a;
  int rc;

  cli_remote_call(r, &a, start, f, NULL);
  rc = a.status;
  if (f->error != 0) {
    errno = f->error;
    (void)fail("write", to);
    rc = PAI_EIO;
  } else if (rc == PAI_OK && f->offset < (uint64_t)f->entry->size) {
    rc = PAI_EEXISTS; /* it was cut short while it was read */
  } else if (rc != PAI_OK && rc != PAI_EEXISTS) {
    cli_answer_tell(&a);
    if (rc == PAI_EIO && f->offset > 0)
      cli_help(stderr, "the same command goes on where this one ended");
  }
  cli_answer_free(&a);
  return rc;
}

static bool to_stdout(cli_remote *r, const char *job, const cli_entry *e,
                      cli_copied *c)
{
  fetching f = { .job = job, .entry = e, .copied = c, .fd = STDOUT_FILENO };
  int rc = fetch(r, &f, "standard output");

  if (rc == PAI_EEXISTS)
    cli_fail("%s changed while it was copied", e->path);
  c->files += rc == PAI_OK;
  c->bytes += (int64_t)f.offset;
  return rc == PAI_OK;
}

/* --- a file ------------------------------------------------------------------------------ */

static bool part_name(char out[PATH], const char *to, const cli_entry *e)
{
  const char *name = cli_last_part(to);
  int n = snprintf(out, PATH, "%.*s.%s.%lld-%lld.part", (int)(name - to), to,
                   name, (long long)e->size, (long long)e->modified);

  if (n > 0 && n < PATH)
    return true;
  errno = ENAMETOOLONG;
  return fail("write", to);
}

/* Its time is that of the job's file, so that it is known again. */
static bool finish(const fetching *f, const char *part, const char *to)
{
  const struct timespec times[2] = {
    { .tv_nsec = UTIME_NOW },
    { .tv_sec = (time_t)(f->entry->modified / 1000),
      .tv_nsec = (long)(f->entry->modified % 1000) * 1000000 }
  };
  struct stat st;
  mode_t mask = umask(0);

  (void)umask(mask);
  if (f->entry->executable && fstat(f->fd, &st) == 0)
    (void)!fchmod(f->fd, (st.st_mode & 0777) | (0111 & ~mask));
  (void)futimens(f->fd, times);
  return rename(part, to) == 0 || fail("write", to);
}

static bool is_copied(const char *to, const cli_entry *e)
{
  struct stat st;

  return lstat(to, &st) == 0 && S_ISREG(st.st_mode) &&
         st.st_size == (off_t)e->size &&
         (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 ==
           e->modified;
}

/* As fetch(); of a file that has changed nothing stays here. */
static int copy_once(cli_remote *r, fetching *f, const char *part,
                     const char *to)
{
  struct stat st;
  int rc = PAI_EIO;

  f->fd = open(part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (f->fd < 0 || fstat(f->fd, &st) != 0) {
    (void)fail("write", to);
  } else {
    f->offset = st.st_size <= (off_t)f->entry->size ? (uint64_t)st.st_size : 0;
    if (ftruncate(f->fd, (off_t)f->offset) != 0 ||
        lseek(f->fd, 0, SEEK_END) < 0)
      (void)fail("write", to);
    else if (f->offset < (uint64_t)f->entry->size || f->entry->size == 0)
      rc = fetch(r, f, to);
    else
      rc = PAI_OK;
  }
  if (rc == PAI_OK && !finish(f, part, to))
    rc = PAI_EIO;
  if (rc == PAI_EEXISTS)
    (void)unlink(part);
  if (f->fd >= 0)
    (void)close(f->fd);
  return rc;
}

static bool on_again(void *user_data, const cli_entry *e)
{
  int64_t *now = user_data;

  now[0] = e->size;
  now[1] = e->modified;
  return false;
}

/* What the file is now. */
static bool look_again(cli_remote *r, const char *job, cli_entry *e)
{
  int64_t now[2] = { -1, 0 };
  cli_listing l = { .job = job,
                    .path = e->path,
                    .one = true,
                    .on_entry = on_again,
                    .user_data = now };
  cli_answer a;
  bool good = cli_list_files(r, &l, &a) && now[0] >= 0;

  cli_answer_free(&a);
  e->size = now[0];
  e->modified = now[1];
  return good;
}

bool cli_download_file(cli_remote *r, const char *job, const cli_entry *entry,
                       const char *to, cli_copied *c)
{
  cli_entry e = *entry;
  fetching f = { .job = job, .entry = &e, .copied = c };
  int rc = PAI_OK;
  char part[PATH];

  for (int i = 0; !is_copied(to, &e); i++) {
    if (!part_name(part, to, &e))
      return false;
    rc = copy_once(r, &f, part, to);
    if (rc != PAI_EEXISTS || i == CHANGES || !look_again(r, job, &e))
      break;
  }
  if (rc == PAI_EEXISTS)
    cli_fail("%s keeps changing while it is copied", e.path);
  c->files += rc == PAI_OK;
  c->bytes += rc == PAI_OK ? (int64_t)f.offset : 0;
  return rc == PAI_OK;
}

/* --- either --------------------------------------------------------------------------------- */

typedef struct source {
  char path[PATH]; /* without slashes at the end */
  cli_entry entry; /* of a file */
  bool is_file, is_folder;
} source;

/* The list of a file is that file. */
static bool on_first(void *user_data, const cli_entry *e)
{
  source *s = user_data;

  if (strcmp(e->path, s->path) != 0)
    return false;
  s->is_folder = false;
  s->is_file = strcmp(e->type, "file") == 0;
  s->entry = *e;
  s->entry.path = s->path;
  s->entry.type = "file";
  s->entry.target = "";
  return false;
}

static bool find_source(cli_remote *r, const cli_place *from, source *s)
{
  size_t len = strlen(from->path);
  cli_listing l = { .job = from->job,
                    .path = s->path,
                    .one = true,
                    .on_entry = on_first,
                    .user_data = s };
  cli_answer a;
  bool good;

  while (len > 0 && from->path[len - 1] == '/')
    len--;
  (void)snprintf(s->path, sizeof(s->path), "%.*s", (int)len, from->path);
  s->is_folder = true;
  s->is_file = false;
  good = cli_list_files(r, &l, &a);
  if (!good)
    cli_answer_tell(&a);
  cli_answer_free(&a);
  if (good && !s->is_file && !s->is_folder)
    cli_fail("%s is neither a file nor a folder", s->path);
  return good && (s->is_file || s->is_folder);
}

bool cli_download(cli_remote *r, const cli_place *from, const char *to,
                  bool into, cli_copied *c)
{
  bool prints = strcmp(to, "-") == 0, slash = to[strlen(to) - 1] == '/';
  char path[PATH];
  cli_place folder = { from->job, NULL };
  source s;

  if (!find_source(r, from, &s))
    return false;
  if (prints && s.is_folder)
    cli_fail("a folder cannot go to standard output: %s:%s", from->job,
             s.path);
  if (prints)
    return s.is_file && to_stdout(r, from->job, &s.entry, c);
  if (snprintf(path, sizeof(path), "%s%s%s", to, into && !slash ? "/" : "",
               into ? cli_last_part(s.path) : "") >= PATH) {
    errno = ENAMETOOLONG;
    return fail("write below", to);
  }
  folder.path = s.path;
  return s.is_file ? cli_download_file(r, from->job, &s.entry, path, c)
                   : cli_download_folder(r, &folder, path, c);
}
