/* posix_copies.c - copying files and folders from and to a job */
#define _XOPEN_SOURCE 700
#include "file.h"
#include "job_files.h"
#include "jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_is_folder(const char *path)
{
  struct stat st;

  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* --- a copy -------------------------------------------------------------- */

typedef struct copying {
  const char *job, *from, *to;
  bool up; /* to the job */
  cli_copied *copied;
} copying;

static void on_progress(void *user_data, const char *path, uint64_t done,
                        uint64_t total)
{
  const copying *c = cli_remote_data(user_data);

  cli_copy_progress(c->copied, path, done, total);
}

static int on_skip(void *user_data, const char *path, const pai_error *why)
{
  const copying *c = cli_remote_data(user_data);
  const char *help = pai_error_help(why);

  if (why == NULL) {
    (void)fprintf(stderr, "openpai: note: not copied, as %s: %s\n",
                  c->up ? "it is not a regular file"
                        : "this link leads out of the folder",
                  path);
    return 0;
  }
  if (pai_error_no_answer(why) != 0 || pai_error_number(why) == ENOSPC)
    return PAI_EIO; /* others would fail, too */
  c->copied->failed = true;
  cli_fail("%s", pai_error_message(why));
  if (help != NULL)
    cli_help(stderr, help);
  return 0;
}

static int start(cli_remote *r, void *data, pai_client_cb cb, void *user_data,
                 pai_error **err)
{
  const copying *c = data;
  pai_download_options down = PAI_DOWNLOAD_OPTIONS_INIT;
  pai_upload_options up = PAI_UPLOAD_OPTIONS_INIT;
  char *job = cli_whole_name(c->job);
  int rc;

  down.path = c->from;
  down.to = c->to;
  up.from = c->from;
  up.path = c->to;
  down.on_progress = up.on_progress = on_progress;
  down.on_skip = up.on_skip = on_skip;
  rc = c->up ? pai_client_upload(NULL, r->client, job, &up, cb, user_data, err)
             : pai_client_download(NULL, r->client, job, &down, cb, user_data,
                                   err);
  free(job);
  return rc;
}

static bool copy(cli_remote *r, copying *c)
{
  bool failed = c->copied->failed, good;
  cli_answer a;
  pai_json *j;

  c->copied->failed = false;
  cli_remote_call(r, &a, start, c, NULL);
  good = a.status == PAI_OK && !c->copied->failed;
  if (a.status != PAI_OK)
    cli_answer_tell(&a);
  if (a.status == PAI_EIO && a.http == 0)
    cli_help(stderr, "run the same command again to continue");
  if (a.len > 0 && cli_json_read(&j, a.body, a.len)) {
    c->copied->files += cli_json_number(j, 0, "files", 0);
    c->copied->bytes += cli_json_number(j, 0, "bytes", 0);
    cli_json_free(&j);
  }
  c->copied->failed = failed || !good;
  cli_answer_free(&a);
  return good;
}

/* Returns the path of what keeps its name `from` in a folder, for free(). */
static char *path_in(const char *folder, const char *from)
{
  size_t from_len = strlen(from), len = strlen(folder), size;
  char *path, *name = strdup(from);

  while (name != NULL && from_len > 1 && name[from_len - 1] == '/')
    name[--from_len] = '\0';
  size = len + from_len + 2;
  path = name != NULL ? malloc(size) : NULL;
  if (path != NULL)
    (void)snprintf(path, size, "%s%s%s", folder,
                   len > 0 && folder[len - 1] != '/' ? "/" : "",
                   cli_last_part(name));
  free(name);
  return path;
}

/* --- to standard output -------------------------------------------------- */

typedef struct printing {
  const char *job;
  cli_entry entry;
  char *path; /* of the entry, for free(); NULL: not a file */
  cli_copied *copied;
  uint64_t offset; /* of the next byte */
  int error;       /* errno of a failed write */
} printing;

static int on_data(void *user_data, const char *bytes, size_t len)
{
  printing *p = cli_remote_data(user_data);

  while (len > 0) {
    ssize_t n = write(STDOUT_FILENO, bytes, len);
    if (n < 0 && errno != EINTR) {
      p->error = errno;
      return PAI_EUSER;
    }
    if (n > 0) {
      bytes += n;
      len -= (size_t)n;
      p->offset += (size_t)n;
    }
  }
  cli_copy_progress(p->copied, p->path, p->offset, (uint64_t)p->entry.size);
  return PAI_OK;
}

static int start_printing(cli_remote *r, void *data, pai_client_cb cb,
                          void *user_data, pai_error **err)
{
  const printing *p = data;
  pai_client_get_file_options o = PAI_CLIENT_GET_FILE_OPTIONS_INIT;
  char *job = cli_whole_name(p->job);
  int rc;

  o.job = job;
  o.path = p->path;
  o.modified = p->entry.modified;
  o.on_data = on_data;
  rc = pai_client_get_file(NULL, r->client, &o, cb, user_data, err);
  free(job);
  return rc;
}

/* A list of a file has that file as its only entry. */
static bool on_first(void *user_data, const cli_entry *e)
{
  printing *p = user_data;

  p->entry = *e;
  p->path = strdup(e->path);
  return false;
}

static bool print(cli_remote *r, printing *p)
{
  cli_answer a;
  bool good;

  cli_remote_call(r, &a, start_printing, p, NULL);
  good = a.status == PAI_OK && p->offset >= (uint64_t)p->entry.size;
  errno = p->error;
  if (p->error != 0)
    cli_fail("cannot write standard output: %s", strerror(errno));
  else if (a.status == PAI_EEXISTS || (a.status == PAI_OK && !good))
    cli_fail("%s changed while it was copied", p->path);
  else if (!good)
    cli_answer_tell(&a);
  cli_answer_free(&a);
  p->copied->files += good;
  p->copied->bytes += (int64_t)p->offset;
  return good;
}

static bool to_stdout(cli_remote *r, const cli_place *from, cli_copied *c)
{
  printing p = { .job = from->job, .copied = c };
  cli_listing l = { .job = from->job,
                    .path = from->path,
                    .one = true,
                    .on_entry = on_first,
                    .user_data = &p };
  cli_answer a;
  bool good = cli_list_files(r, &l, &a);

  if (!good)
    cli_answer_tell(&a);
  cli_answer_free(&a);
  if (good && (p.path == NULL || strcmp(p.path, from->path) != 0)) {
    cli_fail("a folder cannot go to standard output: %s:%s", from->job,
             from->path);
    good = false;
  }
  good = good && print(r, &p);
  free(p.path);
  return good;
}

/* --- the verb's ---------------------------------------------------------- */

/* Folders that are missing are probably mistyped. */
static bool has_folder(const char *path)
{
  size_t len = strlen(path);
  char *folder;
  bool good;

  while (len > 1 && path[len - 1] == '/')
    len--;
  while (len > 0 && path[len - 1] != '/')
    len--;
  folder = strndup(path, len);
  good = folder != NULL && (len == 0 || access(folder, F_OK) == 0);
  if (!good)
    (void)cli_write_fail(path, errno);
  free(folder);
  return good;
}

bool cli_download(cli_remote *r, const cli_place *from, const char *to,
                  bool into, cli_copied *c)
{
  copying copied = { .job = from->job, .from = from->path, .copied = c };
  char *path;
  bool good;

  if (strcmp(to, "-") == 0)
    return to_stdout(r, from, c);
  path = into ? path_in(to, from->path) : strdup(to);
  copied.to = path;
  good = path != NULL && has_folder(path) && copy(r, &copied);
  free(path);
  return good;
}

bool cli_upload(cli_remote *r, const char *from, const cli_place *to,
                bool into, cli_copied *c)
{
  copying copied = { .job = to->job, .from = from, .up = true, .copied = c };
  size_t len = strlen(to->path);
  char *folder, *path;
  bool good;

  while (len > 0 && to->path[len - 1] == '/')
    len--;
  folder = strndup(to->path, len);
  path = folder != NULL && into ? path_in(folder, from) : folder;
  copied.to = path;
  good = path != NULL && copy(r, &copied);
  if (path != folder)
    free(path);
  free(folder);
  return good;
}
