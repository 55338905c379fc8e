/*
 * files.c - files of a job: listed, sent, and taken
 *
 * Who comes with a token is shown what lies in the job's own folder alone; what
 * the kernel says is a user of this machine, and may look for the rest himself.
 */
#include "server/quotas.h"

#include "base/posix_errno.h"

#include <openpai/files.h>

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_own_only(const pai__request *r)
{
  return r->caller.token ? 1 : 0;
}

/* Where things lie on this machine is not for all. */
static bool may_see_places(const pai__request *r)
{
  return !r->caller.token || r->caller.admin;
}

static void refuse(pai__request *r, int rc, const pai_error *err)
{
  if (rc == PAI_ENOTFOUND)
    pai__answer_coded(r, 404, "NoFileError", err);
  else
    pai__answer_why(r, rc, err);
}

static void refuse_and_free(pai__request *r, int rc, pai_error *err)
{
  refuse(r, rc, err);
  pai_error_free(err);
}

/* --- a list ------------------------------------------------------------------- */

/* {"folder": null, ...} */
static void hide_folder(pai__request *r, const char *json, size_t len)
{
  pai__json_options options = { .alloc = &r->server->alloc };
  pai__tree *tree = NULL;
  pai__node n = PAI__NO_NODE;

  if (pai__json_parse(&tree, json, len, &options, NULL) == PAI_OK)
    n = pai__tree_get(tree, 0, "folder");
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
    refuse(r, status, err);
    return;
  }
  if (may_see_places(r))
    pai__buf_add(&r->answer, json, len);
  else
    hide_folder(r, json, len);
  pai__answer_written(r, PAI_OK, NULL);
}

static void do_list(pai__request *r)
{
  pai_files_options o = PAI_FILES_OPTIONS_INIT;
  pai_job_id job = pai__request_job(r);
  struct pai__waiting *w;
  pai_error *err = NULL;
  int rc;

  if (job == 0)
    return;
  o.path = pai__request_query(r, "path");
  o.after = pai__request_query(r, "after");
  o.limit = (uint32_t)pai__request_number(r, "limit");
  o.recursive = pai__request_flag(r, "recursive");
  o.total = pai__request_flag(r, "total");
  o.own = is_own_only(r);
  w = pai__answer_later(r);
  if (w == NULL)
    return;
  rc =
    pai_platform_list_files(r->server->platform, job, &o, on_listed, w, &err);
  if (rc == PAI_OK)
    return;
  (void)pai__answer_now(w);
  refuse_and_free(r, rc, err);
}

/* --- sent --------------------------------------------------------------------- */

/* Up to 18 digits; what stands behind them, or NULL: there are none. */
static const char *read_digits(uint64_t *out, const char *text)
{
  size_t n = strspn(text, "0123456789");

  if (n == 0 || n > 18)
    return NULL;
  for (*out = 0; n > 0; n--)
    *out = *out * 10 + (uint64_t)(*text++ - '0');
  return text;
}

/* "bytes=N-" or "bytes=N-M"; what is no such range is as if it was missing.
 * False: there is no such byte, and that is the answer. */
static bool read_range(pai__request *r, uint64_t size)
{
  static const char unit[] = "bytes=";
  const char *text = pai__conn_field(r->conn, "Range");
  uint64_t from, to = size - 1;

  r->file_size = size;
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
  r->file_from = from;
  r->file_size = to - from + 1;
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
    r->file = fd;
    r->attached = true;
    pai__answer_ready(r, r->range[0] != '\0' ? 206 : 200,
                      "application/octet-stream");
    return;
  }
  (void)close(fd);
}

/* Its own name, which is not to be shown as a page of ours, whatever it is. */
static void add_name(pai__buf *out, const char *path)
{
  const char *slash = strrchr(path, '/');
  const char *p = slash != NULL ? slash + 1 : path;

  pai__buf_str(out, "attachment; filename*=UTF-8''");
  for (; *p != '\0'; p++) {
    bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                 (*p >= '0' && *p <= '9') || strchr("-._~", *p) != NULL;
    pai__buf_printf(out, plain ? "%c" : "%%%02X", (unsigned char)*p);
  }
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

/* The path that is asked for; NULL: none, and that is the answer. */
static const char *read_path(pai__request *r)
{
  const char *path = pai__request_query(r, "path");

  if (path == NULL || path[0] == '\0')
    pai__answer_error(r, 400, "InvalidParametersError",
                      "path must name a file.");
  return path != NULL && path[0] != '\0' ? path : NULL;
}

static void do_send(pai__request *r)
{
  const char *path = read_path(r);
  pai_job_id job = path != NULL ? pai__request_job(r) : 0;
  pai_error *err = NULL;
  int fd, rc;

  if (job == 0)
    return;
  rc = pai_platform_open_file(&fd, r->server->platform, job, path,
                              is_own_only(r), &err);
  if (rc == PAI_OK)
    send_file(r, fd);
  else
    refuse_and_free(r, rc, err);
}

/* --- taken -------------------------------------------------------------------- */

/* What lies in the job's folder now counts for whoever has sent it: all that
 * has come, but for the file that was there, or nothing. */
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

static void give_up(pai__request *r, int rc, pai_error *err)
{
  end_writer(r, false);
  refuse_and_free(r, rc, err);
}

/* The bytes of the file that is to be replaced, or 0. */
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

/* Whether the caller may send what is missing of it. */
static bool has_room(pai__request *r, uint64_t size)
{
  uint64_t have = pai_file_writer_received(r->writer);

  if (pai__quota_may_upload(r, size > have ? size - have : 0))
    return true;
  end_writer(r, false);
  pai__quota_refuse_upload(r);
  return false;
}

/* False: that cannot be, and is the answer. */
static bool open_writer(pai__request *r)
{
  pai_file_write_options o = PAI_FILE_WRITE_OPTIONS_INIT;
  pai_error *err = NULL;
  pai_job_id job;
  int rc;

  if (r->writer != NULL)
    return true;
  if (!pai__query_check(r) || (o.path = read_path(r)) == NULL)
    return false;
  if (pai__request_query(r, "size") == NULL) {
    pai__answer_error(r, 400, "InvalidParametersError",
                      "size must say how many bytes the file has.");
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
  rc = pai_file_writer_open(&r->writer, r->server->platform, job, &o, &err);
  if (rc < 0)
    refuse_and_free(r, rc, err);
  return rc == PAI_OK && has_room(r, o.size);
}

static void take_file(pai__request *r, const char *bytes, size_t len)
{
  pai_error *err = NULL;
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
         ? pai__fail(&err, PAI_ELIMIT, "a request has at most %d bytes",
                     (int)PAI__MOST_CODE)
         : pai_file_writer_add(r->writer, bytes, len, &err);
  if (rc < 0)
    give_up(r, rc, err);
}

static void key(pai__json_writer *w, const char *name)
{
  pai__json_key(w, name, strlen(name));
}

static void answer_taken(pai__request *r, bool complete)
{
  const char *path = pai__request_query(r, "path");
  pai__json_writer *w = &r->json;

  pai__json_writer_init(w, &r->answer, false);
  pai__json_begin_object(w);
  key(w, "path");
  pai__json_text(w, path, strlen(path));
  key(w, "received");
  pai__json_int(w, (int64_t)pai_file_writer_received(r->writer));
  key(w, "size");
  pai__json_int(w, pai__request_number(r, "size"));
  key(w, "complete");
  pai__json_bool(w, complete);
  pai__json_end_object(w);
  pai__answer_json(r, 200);
}

static void do_take(pai__request *r)
{
  pai_error *err = NULL;
  int rc;

  if (!open_writer(r))
    return;
  rc = pai_file_writer_end(r->writer, &err);
  if (rc < 0) {
    give_up(r, rc, err);
    return;
  }
  if (rc == 0 && pai__request_query(r, "upload") == NULL)
    pai__answer_error(r, 400, "InvalidParametersError",
                      "%llu of %lld bytes came: an upload in pieces has a "
                      "name.",
                      (unsigned long long)pai_file_writer_received(r->writer),
                      (long long)pai__request_number(r, "size"));
  else
    answer_taken(r, rc == 1);
  end_writer(r, rc == 1);
}

/* --- answers --- */

static const pai__field entry_fields[] = {
  PAI__HAS(TEXT, "path"),           PAI__HAS_OR_NULL(TEXT, "escaped"),
  PAI__HAS(TEXT, "type"),           PAI__HAS(WHOLE, "size"),
  PAI__HAS(TIME, "modified"),       PAI__HAS(FLAG, "executable"),
  PAI__HAS_OR_NULL(TEXT, "target"), { 0 }
};

static const pai__shape entry_shape = { "File", entry_fields };

static const pai__field list_fields[] = { PAI__HAS_OR_NULL(TEXT, "folder"),
                                          PAI__HAS(FLAG, "own"),
                                          PAI__HAS_OF(LIST, "entries",
                                                      &entry_shape),
                                          PAI__HAS_OR_NULL(TEXT, "next"),
                                          PAI__HAS_OR_NULL(WHOLE, "files"),
                                          PAI__HAS_OR_NULL(WHOLE, "bytes"),
                                          { 0 } };

static const pai__shape list_shape = { "Files", list_fields };

static const pai__result files = { .kind = PAI__IS_OBJECT,
                                   .shape = &list_shape };

static const pai__result bytes = { .type = "application/octet-stream" };

static const pai__field taken_fields[] = { PAI__HAS(TEXT, "path"),
                                           PAI__HAS(WHOLE, "received"),
                                           PAI__HAS(WHOLE, "size"),
                                           PAI__HAS(FLAG, "complete"),
                                           { 0 } };

static const pai__shape taken_shape = { "FileUpload", taken_fields };

static const pai__result taken = { .kind = PAI__IS_OBJECT,
                                   .shape = &taken_shape };

/* --- queries --- */

static const pai__field list_queries[] = {
  PAI__TAKES(TEXT, "path", "a folder or a file; without it, the job's folder"),
  PAI__TAKES(TEXT, "after", "after this path, \"next\" of the previous page"),
  { .name = "limit",
    .kind = PAI__IS_WHOLE,
    .least = 1,
    .most = 10000,
    .missing = "1000",
    .what = "at most so many entries" },
  { .name = "recursive",
    .kind = PAI__IS_FLAG,
    .missing = "false",
    .what = "folders with all that is in them" },
  { .name = "total",
    .kind = PAI__IS_FLAG,
    .missing = "false",
    .what = "no entries: how many files, and their bytes" },
  { 0 }
};

#define PATH PAI__TAKES(TEXT, "path", "of the file, from the job's folder")

static const pai__field send_queries[] = {
  PATH,
  { .name = "modified",
    .kind = PAI__IS_WHOLE,
    .least = -PAI__MOST_WHOLE,
    .most = PAI__MOST_WHOLE,
    .what = "refuse it if it was modified at another time than this" },
  { 0 }
};

static const pai__field take_queries[] = {
  PAI__TAKES(TEXT, "path",
             "of the file, from the job's folder; one that ends with / is a "
             "folder, which is made: size is 0"),
  { .name = "size",
    .kind = PAI__IS_WHOLE,
    .most = PAI__MOST_WHOLE,
    .what = "bytes of the whole file" },
  PAI__TAKES(TEXT, "upload", "a name by which the upload goes on later"),
  { .name = "offset",
    .kind = PAI__IS_WHOLE,
    .most = PAI__MOST_WHOLE,
    .what = "offset of the body's first byte (default: the end of what has "
            "arrived)" },
  { .name = "executable",
    .kind = PAI__IS_FLAG,
    .missing = "false",
    .what = "the file may be executed" },
  { 0 }
};

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/jobs/:job/files",
    .packs = true,
    .handle = do_list,
    .right = PAI__OF_OWNER,
    .result = &files,
    .queries = list_queries,
    .summary = "List files of a job",
    .errors = "400 InvalidParametersError, 404 NoJobError, 404 NoFileError" },
  { .method = "GET",
    .path = "/api/v2/jobs/:job/file",
    .handle = do_send,
    .right = PAI__OF_OWNER,
    .result = &bytes,
    .queries = send_queries,
    .summary = "Get a file of a job",
    .errors = "400 InvalidParametersError, 404 NoJobError, 404 NoFileError, "
              "409 ConflictFileError, 416 InvalidParametersError" },
  { .method = "PUT",
    .path = "/api/v2/jobs/:job/file",
    .handle = do_take,
    .right = PAI__OF_OWNER,
    .most_body = PAI__MOST_CODE,
    .take = take_file,
    .acts = true,
    .result = &taken,
    .queries = take_queries,
    .summary = "Write a file of a job",
    .errors = "400 InvalidParametersError, 403 NoEnoughQuotaError, 404 "
              "NoJobError, 404 NoFileError, 413 InvalidParametersError" },
};

const pai__routes pai__files_routes = { routes, PAI__LEN(routes) };
