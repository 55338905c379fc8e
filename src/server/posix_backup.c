/*
 * posix_backup.c - GET /backup and /export: all that is on record
 *
 * A copy of the database is made beside the loop, in a file that has no name
 * any more when it is sent.
 */
#include "server/server.h"

#include "base/posix_errno.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- a copy ------------------------------------------------------------------ */

typedef struct backup {
  pai_alloc alloc;
  struct pai__waiting *waiting;
  char *path;
} backup;

static void free_backup(backup *b)
{
  pai_alloc alloc = b->alloc;

  pai__strfree(&alloc, b->path);
  pai__free(&alloc, b, sizeof(*b));
}

/* Its name goes at once. */
static void answer(pai__request *r, const char *path)
{
  struct stat st;

  r->file = open(path, O_RDONLY | O_CLOEXEC);
  if (r->file < 0 || fstat(r->file, &st) != 0) {
    pai__answer_error(r, 500, "UnknownError", "cannot read %s: %s", path,
                      PAI__ERRNO_TEXT(errno));
    pai__file_close(r);
    return;
  }
  r->file_size = (uint64_t)st.st_size;
  r->type = "application/vnd.sqlite3";
  pai__answer_written(r, PAI_OK, NULL);
}

static void on_copied(void *user_data, int status, const pai_error *err)
{
  backup *b = user_data;
  pai__request *r = pai__answer_now(b->waiting);

  if (r != NULL && status == PAI_OK)
    answer(r, b->path);
  else if (r != NULL)
    pai__answer_error(r, 500, "UnknownError", "%s", pai_error_message(err));
  if (status == PAI_OK)
    (void)unlink(b->path);
  free_backup(b);
}

/* Where uploads are: what is left there goes after some time. */
static backup *new_backup(pai__request *r)
{
  static unsigned number;
  const pai_alloc *alloc = &r->server->alloc;
  backup *b = pai__zalloc(alloc, sizeof(*b));
  pai__buf path;

  if (b == NULL)
    return NULL;
  b->alloc = *alloc;
  pai__buf_init(&path, alloc);
  pai__buf_printf(&path, "%s/new-backup-%ld-%u", r->server->uploads,
                  (long)getpid(), ++number);
  b->path = pai__buf_take(&path);
  if (b->path != NULL)
    return b;
  free_backup(b);
  return NULL;
}

static void do_backup(pai__request *r)
{
  backup *b = new_backup(r);
  pai_error *err = NULL;
  int rc;

  if (b == NULL) {
    pai__answer_failure(r, PAI_ENOMEM, NULL);
    return;
  }
  b->waiting = pai__answer_later(r);
  if (b->waiting == NULL) {
    free_backup(b);
    return;
  }
  (void)mkdir(r->server->uploads, 0700);
  (void)unlink(b->path);
  rc = pai_platform_backup(r->server->platform, b->path, on_copied, b, &err);
  if (rc == PAI_OK)
    return;
  (void)pai__answer_now(b->waiting);
  free_backup(b);
  pai__answer_failure(r, rc, err);
}

/* --- a file as an answer ----------------------------------------------------------- */

static long read_file(void *request, uint64_t at, char *to, size_t max)
{
  const pai__request *r = request;
  uint64_t left = r->file_size - at;
  ssize_t n;

  do
    n = pread(r->file, to, left < max ? (size_t)left : max,
              (off_t)(r->file_from + at));
  while (n < 0 && errno == EINTR);
  return n > 0 ? (long)n : PAI__READ_BROKEN; /* it was cut meanwhile */
}

pai__payload pai__file_payload(pai__request *r)
{
  return (pai__payload){ .size = (int64_t)r->file_size,
                         .read = read_file,
                         .user_data = r };
}

void pai__file_close(pai__request *r)
{
  if (r->file >= 0)
    (void)close(r->file);
  r->file = -1;
}

/* --- lines --------------------------------------------------------------------------- */

/* Some jobs at a time: who wants all asks for those behind the last one. */
static void do_export(pai__request *r)
{
  int64_t after = pai__request_number(r, "after");
  int64_t limit = pai__request_number(r, "limit");
  pai_error *err = NULL;
  int rc;

  r->type = "application/x-ndjson";
  rc =
    pai_platform_export(r->server->platform, (uint64_t)after, (uint64_t)limit,
                        pai__answer_write, &r->answer, &err);
  pai__answer_written(r, rc, err);
}

/* --- answers --- */

static const pai__result database = { .type = "application/vnd.sqlite3" };

static const pai__result lines = { .type = "application/x-ndjson" };

/* --- queries --- */

static const pai__field queries[] = {
  { .name = "after",
    .kind = PAI__IS_WHOLE,
    .most = PAI__MOST_WHOLE,
    .missing = "0",
    .what = "after the job with this id, the last one of the previous page" },
  { .name = "limit",
    .kind = PAI__IS_WHOLE,
    .least = 1,
    .most = 1000,
    .missing = "100",
    .what = "at most so many" },
  { 0 }
};

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/backup",
    .handle = do_backup,
    .right = PAI__OF_ADMIN_PERSONS,
    .noted = true,
    .result = &database,
    .summary = "Download a copy of the database",
    .errors = "503 UnknownError" },
  { .method = "GET",
    .path = "/api/v2/export",
    .handle = do_export,
    .right = PAI__OF_ADMIN_PERSONS,
    .noted = true,
    .result = &lines,
    .queries = queries,
    .summary = "Export jobs as lines of JSON" },
};

const pai__routes pai__backup_routes = { routes, PAI__LEN(routes) };
