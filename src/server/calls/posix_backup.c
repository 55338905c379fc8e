/*
 * posix_backup.c - GET /backup and /export: all records of the platform
 *
 * The database is copied on another thread, to a file that is unlinked before
 * it is sent.
 */
#include "server/server.h"

#include "base/os/posix_errno.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- backup -------------------------------------------------------------- */

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

/* Opens the file, which is unlinked at once. */
static void answer(pai__request *r, const char *path)
{
  pai__sent_file *f = &r->files[0];
  struct stat st;

  f->fd = open(path, O_RDONLY | O_CLOEXEC);
  if (f->fd < 0 || fstat(f->fd, &st) != 0) {
    pai__answer_error(r, 500, "UnknownError", "cannot read %s: %s", path,
                      PAI__ERRNO_TEXT(errno));
    pai__sent_files_close(r);
    return;
  }
  f->size = (uint64_t)st.st_size;
  r->type = "application/vnd.sqlite3";
  pai__answer_written(r, PAI_OK);
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

/* The file is in the folder of uploads, which is swept from time to time. */
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

void pai__do_server_backup(pai__request *r)
{
  backup *b = new_backup(r);
  int rc;

  if (b == NULL) {
    pai__answer_failure(r, PAI_ENOMEM);
    return;
  }
  b->waiting = pai__answer_later(r);
  if (b->waiting == NULL) {
    free_backup(b);
    return;
  }
  (void)mkdir(r->server->uploads, 0700);
  (void)unlink(b->path);
  rc =
    pai_platform_backup(r->server->platform, b->path, on_copied, b, &r->err);
  if (rc == PAI_OK)
    return;
  (void)pai__answer_now(b->waiting);
  free_backup(b);
  pai__answer_failure(r, rc);
}

/* --- export -------------------------------------------------------------- */

/* Exports some jobs at a time; the client asks for those after the last
 * one. */
void pai__do_server_export(pai__request *r)
{
  r->type = "application/x-ndjson";
  pai__answer_written(
    r, pai_platform_export(r->server->platform,
                           (uint64_t)pai__request_number(r, "after"),
                           (uint64_t)pai__request_number(r, "limit"),
                           pai__answer_write, &r->answer, &r->err));
}
