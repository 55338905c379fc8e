/*
 * files.c - files of a job: list, download, upload
 *
 * A caller with a token sees only the files in the job's own folder.  A caller
 * without one is a user of this machine and can look at the other files
 * directly.
 */
#include "server/calls/quotas.h"

#include "base/os/posix_errno.h"
#include "base/text/encode.h"

#include <openpai/files.h>

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_FILE "NoFileError"

/* Returns whether the caller may see only the job's own folder. */
static int is_own_only(const pai__request *r)
{
  return r->caller.token;
}

/* Returns whether the caller may see paths of this machine. */
static bool may_see_places(const pai__request *r)
{
  return !r->caller.token || r->caller.admin;
}

/* --- list ---------------------------------------------------------------- */

/* {"folder": null, ...} */
static void hide_folder(pai__request *r, const char *json, size_t len)
{
  pai__tree *tree = pai__server_tree(r->server, json, len);
  pai__node n = pai__tree_get(tree, 0, "folder");

  if (n != PAI__NO_NODE) {
    pai__buf_add(&r->answer, json, tree->nodes[n].start);
    pai__buf_str(&r->answer, "null");
    pai__buf_add(&r->answer, json + tree->nodes[n].end,
                 len - tree->nodes[n].end);
  } else {
    r->answer.failed = true;
  }
  pai__tree_free(tree);
}

static void on_listed(void *user_data, int status, const char *json,
                      size_t len, const pai_error *err)
{
  pai__request *r = pai__answer_now(user_data);

  if (r == NULL)
    return;
  if (status < 0) {
    pai__answer_why(r, status, err);
    return;
  }
  if (may_see_places(r))
    pai__buf_add(&r->answer, json, len);
  else
    hide_folder(r, json, len);
  pai__answer_written(r, PAI_OK);
}

void pai__do_files_list(pai__request *r)
{
  pai_files_options o = PAI_FILES_OPTIONS_INIT;
  pai_job_id job = pai__request_job(r);
  struct pai__waiting *w;
  int rc;

  if (job == 0)
    return;
  r->missing = NO_FILE;
  o.path = pai__request_query(r, "path");
  o.after = pai__request_query(r, "after");
  o.limit = (uint32_t)pai__request_number(r, "limit");
  o.recursive = pai__request_flag(r, "recursive");
  o.total = pai__request_flag(r, "total");
  o.own = is_own_only(r);
  w = pai__answer_later(r);
  if (w == NULL)
    return;
  rc = pai_platform_list_files(r->server->platform, job, &o, on_listed, w,
                               &r->err);
  if (rc < 0) {
    (void)pai__answer_now(w);
    pai__answer_failure(r, rc);
  }
}

/* --- environment of commands --------------------------------------------- */

void pai__do_jobs_environment(pai__request *r)
{
  pai_job_id job = pai__request_job(r);

  if (job == 0)
    return;
  r->missing = "NoJobConfigError";
  pai__answer_written(
    r, pai_platform_environment(r->server->platform, job, may_see_places(r),
                                pai__answer_write, &r->answer, &r->err));
}

/* --- download ------------------------------------------------------------ */

/* Parses up to 18 digits; returns what follows them, or NULL if there are
 * none. */
static const char *read_digits(uint64_t *out, const char *text)
{
  size_t n = strspn(text, "0123456789");

  if (n == 0 || n > 18)
    return NULL;
  for (*out = 0; n > 0; n--)
    *out = *out * 10 + (uint64_t)(*text++ - '0');
  return text;
}

/* Parses "bytes=N-" or "bytes=N-M"; other ranges are ignored.  Returns false
 * if the file has no such byte, which is then the answer. */
static bool read_range(pai__request *r, uint64_t size)
{
  static const char unit[] = "bytes=";
  const char *text = pai__conn_field(r->conn, "Range");
  uint64_t from, to = size - 1;

  r->files[0].size = size;
  if (text == NULL || strncmp(text, unit, sizeof(unit) - 1) != 0)
    return true;
  text = read_digits(&from, text + sizeof(unit) - 1);
  if (text == NULL || *text++ != '-')
    return true;
  if (*text != '\0') {
    text = read_digits(&to, text);
    if (text == NULL || *text != '\0' || to < from)
      return true;
  }
  if (from >= size) {
    (void)snprintf(r->range, sizeof(r->range), "bytes */%llu",
                   (unsigned long long)size);
    pai__answer_error(r, 416, "InvalidParametersError",
                      "The file has %llu bytes.", (unsigned long long)size);
    return false;
  }
  if (to >= size)
    to = size - 1;
  (void)snprintf(r->range, sizeof(r->range), "bytes %llu-%llu/%llu",
                 (unsigned long long)from, (unsigned long long)to,
                 (unsigned long long)size);
  r->files[0].from = from;
  r->files[0].size = to - from + 1;
  return true;
}

static bool is_as_known(pai__request *r, const struct stat *st)
{
  int64_t modified =
    (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;

  if (pai__request_query(r, "modified") == NULL ||
      pai__request_number(r, "modified") == modified)
    return true;
  pai__answer_error(r, 409, "ConflictFileError",
                    "%s has changed: it was modified at %lld.",
                    pai__request_query(r, "path"), (long long)modified);
  return false;
}

static void send_file(pai__request *r, int fd)
{
  struct stat st;

  if (fstat(fd, &st) != 0) {
    pai__answer_error(r, 500, "UnknownError", "Cannot read the file: %s",
                      PAI__ERRNO_TEXT(errno));
  } else if (is_as_known(r, &st) && read_range(r, (uint64_t)st.st_size)) {
    r->files[0].fd = fd;
    r->attached = true;
    pai__answer_ready(r, r->range[0] != '\0' ? 206 : 200,
                      "application/octet-stream");
    return;
  }
  (void)close(fd);
}

/* Adds the file's name, as an attachment, so that it is never shown as a page
 * of this server. */
static void add_name(pai__buf *out, const char *path)
{
  const char *slash = strrchr(path, '/');

  pai__buf_str(out, "attachment; filename*=UTF-8''");
  pai__put_escaped(out, slash != NULL ? slash + 1 : path, "");
}

void pai__file_headers(const pai__request *r)
{
  pai__buf name;

  if (r->range[0] != '\0')
    pai__conn_add_field(r->conn, "Content-Range", r->range);
  if (!r->attached)
    return;
  pai__buf_init(&name, &r->server->alloc);
  add_name(&name, pai__request_query(r, "path"));
  pai__conn_add_field(r->conn, "Content-Disposition",
                      pai__buf_ok(&name) ? pai__buf_text(&name)
                                         : "attachment");
  pai__conn_add_field(r->conn, "Accept-Ranges", "bytes");
  pai__buf_dispose(&name);
}

/* Returns the requested path; NULL: none, which is then the answer. */
static const char *read_path(pai__request *r)
{
  const char *path = pai__request_query(r, "path");

  if (path == NULL || path[0] == '\0')
    pai__answer_error(r, 400, "InvalidParametersError",
                      "path must name a file.");
  return path != NULL && path[0] != '\0' ? path : NULL;
}

void pai__do_files_read(pai__request *r)
{
  const char *path = read_path(r);
  pai_job_id job = path != NULL ? pai__request_job(r) : 0;
  int fd, rc;

  if (job == 0)
    return;
  r->missing = NO_FILE;
  rc = pai_platform_open_file(&fd, r->server->platform, job, path,
                              is_own_only(r), &r->err);
  if (rc == PAI_OK)
    send_file(r, fd);
  else
    pai__answer_failure(r, rc);
}

/* --- upload -------------------------------------------------------------- */

/* Corrects the user's upload count: a complete file counts without the file
 * that it replaces, an incomplete one not at all. */
static void end_writer(pai__request *r, bool complete)
{
  uint64_t less = complete ? r->replaced : r->came;

  if (r->writer == NULL)
    return;
  if (!complete && pai__request_query(r, "upload") != NULL)
    less = 0;
  (void)pai__quota_has_sent(r, r->written, -(int64_t)less);
  pai_file_writer_close(r->writer);
  r->writer = NULL;
}

void pai__files_give_up(pai__request *r)
{
  end_writer(r, false);
}

static void give_up(pai__request *r, int rc)
{
  end_writer(r, false);
  pai__answer_failure(r, rc);
}

/* Returns the size of the file that will be replaced, or 0. */
static uint64_t size_of(pai__request *r, pai_job_id job, const char *path)
{
  struct stat st = { .st_size = 0 };
  int fd;

  if (pai_platform_open_file(&fd, r->server->platform, job, path,
                             is_own_only(r), NULL) < 0)
    return 0;
  if (fstat(fd, &st) != 0)
    st.st_size = 0;
  (void)close(fd);
  return (uint64_t)st.st_size;
}

/* Returns whether the quota allows the missing bytes of the file. */
static bool has_room(pai__request *r, uint64_t size)
{
  uint64_t have = pai_file_writer_received(r->writer);

  if (pai__quota_may_upload(r, size > have ? size - have : 0))
    return true;
  end_writer(r, false);
  pai__quota_refuse_upload(r);
  return false;
}

/* Returns false on failure, which is then the answer. */
static bool open_writer(pai__request *r)
{
  pai_file_write_options o = PAI_FILE_WRITE_OPTIONS_INIT;
  pai_job_id job;
  int rc;

  if (r->writer != NULL)
    return true;
  if (!pai__query_check(r) || (o.path = read_path(r)) == NULL)
    return false;
  if (pai__request_query(r, "size") == NULL) {
    pai__answer_error(r, 400, "InvalidParametersError",
                      "size must be the size of the file in bytes.");
    return false;
  }
  job = pai__request_job(r);
  if (job == 0 || !pai__request_may_enter(r))
    return false;
  o.size = (uint64_t)pai__request_number(r, "size");
  o.upload = pai__request_query(r, "upload");
  o.offset = pai__request_query(r, "offset") != NULL
               ? (uint64_t)pai__request_number(r, "offset")
               : UINT64_MAX;
  o.executable = pai__request_flag(r, "executable");
  o.own = is_own_only(r);
  r->written = job;
  r->replaced = size_of(r, job, o.path);
  r->missing = NO_FILE;
  rc = pai_file_writer_open(&r->writer, r->server->platform, job, &o, &r->err);
  if (rc < 0)
    pai__answer_failure(r, rc);
  return rc == PAI_OK && has_room(r, o.size);
}

void pai__do_take_file(pai__request *r, const char *bytes, size_t len)
{
  int rc;

  if (!open_writer(r))
    return;
  r->came += len;
  if (!pai__quota_has_sent(r, r->written, (int64_t)len)) {
    end_writer(r, false);
    pai__quota_refuse_upload(r);
    return;
  }
  rc = r->came > PAI__MOST_CODE
         ? pai__fail(&r->err, PAI_ELIMIT, "a request has at most %d bytes",
                     (int)PAI__MOST_CODE)
         : pai_file_writer_add(r->writer, bytes, len, &r->err);
  if (rc < 0)
    give_up(r, rc);
}

static void answer_taken(pai__request *r, bool complete)
{
  const char *path = pai__request_query(r, "path");
  pai__json_writer *w = &r->json;

  pai__json_writer_init(w, &r->answer, false);
  pai__json_begin_object(w);
  pai__json_put_text(w, "path", path);
  pai__json_put_int(w, "received",
                    (int64_t)pai_file_writer_received(r->writer));
  pai__json_put_int(w, "size", pai__request_number(r, "size"));
  pai__json_put_bool(w, "complete", complete);
  pai__json_end_object(w);
  pai__answer_json(r, 200);
}

void pai__do_files_write(pai__request *r)
{
  int rc;

  if (!open_writer(r))
    return;
  rc = pai_file_writer_end(r->writer, &r->err);
  if (rc < 0) {
    give_up(r, rc);
    return;
  }
  if (rc == 0 && pai__request_query(r, "upload") == NULL)
    pai__answer_error(r, 400, "InvalidParametersError",
                      "Only %llu of %lld bytes were received. To upload a "
                      "file in pieces, set the parameter upload.",
                      (unsigned long long)pai_file_writer_received(r->writer),
                      (long long)pai__request_number(r, "size"));
  else
    answer_taken(r, rc == 1);
  end_writer(r, rc == 1);
}
