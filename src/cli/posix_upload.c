/*
 * posix_upload.c - a file or folder of this machine goes into a job's folder
 *
 * An upload has a name made of the file's size, number and time of change, by
 * which the server knows what has arrived of it already.
 */
#define _XOPEN_SOURCE 700
#include "job_files.h"
#include "jobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH = 100 };

static bool fail(const char *what, const char *path)
{
  cli_fail("cannot %s %s: %s", what, path, strerror(errno));
  return false;
}

/* --- a file ------------------------------------------------------------------------- */

typedef struct sending {
  const char *from, *job, *to;
  int fd;
  struct stat st;
  cli_copied *copied;
} sending;

static ptrdiff_t read_at(void *user_data, uint64_t offset, char *buffer,
                         size_t size)
{
  const sending *s = cli_remote_data(user_data);
  ssize_t n;

  do
    n = pread(s->fd, buffer, size, (off_t)offset);
  while (n < 0 && errno == EINTR);
  return n > 0 ? n : PAI_EIO;
}

static void on_progress(void *user_data, uint64_t sent, uint64_t total)
{
  const sending *s = cli_remote_data(user_data);

  cli_copy_progress(s->copied, s->from, sent, total);
}

static int start_folder(cli_remote *r, void *data, pai_client_cb cb,
                        void *user_data, pai_error **err)
{
  const sending *s = data;
  pai_client_put_file_options o = PAI_CLIENT_PUT_FILE_OPTIONS_INIT;
  char *job = cli_whole_name(s->job);
  int rc;

  o.job = job;
  o.path = s->to;
  o.read = read_at; /* of nothing */
  rc = pai_client_put_file(NULL, r->client, &o, cb, user_data, err);
  free(job);
  return rc;
}

static int start(cli_remote *r, void *data, pai_client_cb cb, void *user_data,
                 pai_error **err)
{
  const sending *s = data;
  pai_client_put_file_options o = PAI_CLIENT_PUT_FILE_OPTIONS_INIT;
  char *job = cli_whole_name(s->job), name[64];
  int rc;

  (void)snprintf(name, sizeof(name), "%llx-%llx-%llx-%lx",
                 (unsigned long long)s->st.st_size,
                 (unsigned long long)s->st.st_ino,
                 (unsigned long long)s->st.st_mtim.tv_sec,
                 (unsigned long)s->st.st_mtim.tv_nsec);
  o.job = job;
  o.path = s->to;
  o.upload = name;
  o.size = (uint64_t)s->st.st_size;
  o.read = read_at;
  o.executable = (s->st.st_mode & 0100) != 0;
  o.on_progress = on_progress;
  rc = pai_client_put_file(NULL, r->client, &o, cb, user_data, err);
  free(job);
  return rc;
}

static bool send_open(cli_remote *r, sending *s)
{
  cli_answer a;
  bool good;

  cli_remote_call(r, &a, start, s, NULL);
  good = a.status == PAI_OK;
  if (!good)
    cli_answer_tell(&a);
  if (a.status == PAI_EIO && a.http == 0)
    cli_help(stderr, "the same command goes on where this one ended");
  cli_answer_free(&a);
  s->copied->files += good;
  s->copied->bytes += good ? (int64_t)s->st.st_size : 0;
  return good;
}

static bool send_file(cli_remote *r, const char *from, const char *job,
                      const char *to, cli_copied *c)
{
  sending s = { .from = from, .job = job, .to = to, .copied = c };
  bool good = false;

  s.fd = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (s.fd < 0 || fstat(s.fd, &s.st) != 0)
    (void)fail("read", from);
  else if (!S_ISREG(s.st.st_mode))
    cli_fail("%s is neither a file nor a folder", from);
  else
    good = send_open(r, &s);
  if (s.fd >= 0)
    (void)close(s.fd);
  return good;
}

/* --- a folder ------------------------------------------------------------------------- */

/* One that has nothing: others are made with what they have. */
static bool send_empty(cli_remote *r, const char *job, const char *to)
{
  char *path = cli_join(to, "");
  sending s = { .job = job, .to = path, .fd = -1 };
  cli_answer a;
  bool good;

  if (path == NULL)
    return false;
  cli_remote_call(r, &a, start_folder, &s, NULL);
  good = a.status == PAI_OK;
  if (!good)
    cli_answer_tell(&a);
  cli_answer_free(&a);
  free(path);
  return good;
}

static bool send_folder(cli_remote *r, const char *from, const char *job,
                        const char *to, int depth, cli_copied *c);

/* Links are followed to files, and to no folders: those may go round. */
static bool send_one(cli_remote *r, const char *from, const char *job,
                     const char *to, int depth, cli_copied *c)
{
  struct stat st, linked;

  if (lstat(from, &st) != 0)
    return fail("read", from);
  if (S_ISDIR(st.st_mode))
    return send_folder(r, from, job, to, depth + 1, c);
  if (S_ISREG(st.st_mode) ||
      (S_ISLNK(st.st_mode) && stat(from, &linked) == 0 &&
       S_ISREG(linked.st_mode)))
    return send_file(r, from, job, to, c);
  (void)fprintf(stderr,
                "openpai: note: not copied, as it is not a regular file: %s\n",
                from);
  return true;
}

static bool send_folder(cli_remote *r, const char *from, const char *job,
                        const char *to, int depth, cli_copied *c)
{
  DIR *dir = depth < DEPTH ? opendir(from) : NULL;
  bool good = true, empty = true;
  struct dirent *e;

  if (depth >= DEPTH)
    errno = ELOOP;
  if (dir == NULL)
    return fail("read", from);
  while ((e = readdir(dir)) != NULL) {
    char *a, *b;
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
      continue;
    empty = false;
    a = cli_join(from, e->d_name);
    b = to[0] != '\0' ? cli_join(to, e->d_name) : strdup(e->d_name);
    if (a == NULL || b == NULL || !send_one(r, a, job, b, depth, c))
      good = false;
    free(a);
    free(b);
  }
  (void)closedir(dir);
  return empty && to[0] != '\0' ? send_empty(r, job, to) && good : good;
}

/* --- either ------------------------------------------------------------------------------ */

bool cli_upload(cli_remote *r, const char *from, const cli_place *to,
                bool into, cli_copied *c)
{
  size_t len = strlen(to->path);
  char *folder, *path;
  bool good;

  while (len > 0 && to->path[len - 1] == '/')
    len--;
  folder = strndup(to->path, len);
  if (folder == NULL)
    return false;
  path = !into      ? strdup(folder)
         : len == 0 ? strdup(cli_last_part(from))
                    : cli_join(folder, cli_last_part(from));
  good = path != NULL &&
         (cli_is_folder(from) ? send_folder(r, from, to->job, path, 0, c)
                              : send_file(r, from, to->job, path, c));
  free(path);
  free(folder);
  return good;
}
