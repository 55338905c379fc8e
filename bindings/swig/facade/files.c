/* files.c - files of a platform's jobs: lists, copies, reading */
#include "facade_platform.h"
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 4 << 20 };

/* --- lists ---------------------------------------------------------------- */

/* Shared by the script and the platform, which calls back once. */
struct FileList {
  Platform *platform;
  pai_op *op; /* a copy, until it has called back; NULL: a list */
  atomic_int refs;
  atomic_bool over; /* set last: what follows is constant then */
  failure failed;
  job_text json;
};

void file_list_free(FileList *l)
{
  if (atomic_fetch_sub(&l->refs, 1) > 1)
    return;
  free(l->json.bytes);
  facade_failure_dispose(&l->failed);
  free(l);
}

/* Waits for the platform if another thread uses it. */
void file_list_cancel(FileList *l)
{
  if (atomic_load(&l->over))
    return; /* the platform may be freed */
  (void)pthread_mutex_lock(&l->platform->owner);
  if (!atomic_load(&l->over))
    pai_op_cancel(l->op);
  (void)pthread_mutex_unlock(&l->platform->owner);
}

static void on_list(void *user_data, int status, const char *text, size_t len,
                    const pai_error *err)
{
  FileList *l = user_data;

  if (status < 0)
    facade_keep(&l->failed, status, err);
  else if (facade_collect(&l->json, text, len) < 0)
    l->failed.code = PAI_ENOMEM;
  atomic_store(&l->over, true);
  file_list_free(l);
}

/* Returns what waits for the answer, if `p` is locked for the call that asks
 * for it; NULL after a failure. */
static FileList *begin(Platform *p, failure *f)
{
  FileList *l;

  if (f->code < 0 || !platform_take(p, f))
    return NULL;
  l = calloc(1, sizeof(*l));
  if (l != NULL) {
    atomic_init(&l->refs, 2);
    l->platform = p;
    return l;
  }
  platform_give(p);
  facade_fail(f, PAI_ENOMEM, "out of memory");
  return NULL;
}

/* Unlocks it. Nothing calls back after a failure. */
static FileList *begun(Platform *p, FileList *l, failure *f)
{
  platform_give(p);
  if (f->code >= 0)
    return l;
  free(l);
  return NULL;
}

FileList *facade_list_files(Platform *p, pai_job_id job, words fields,
                            failure *f)
{
  pai_files_options o = PAI_FILES_OPTIONS_INIT;
  FileList *l;

  (void)options_read(&o, options_files, &fields, f);
  l = begin(p, f);
  if (l == NULL)
    return NULL;
  f->code = pai_platform_list_files(p->platform, job, &o, on_list, l, &f->err);
  return begun(p, l, f);
}

FileList *facade_download(Platform *p, pai_job_id job, words fields,
                          failure *f)
{
  pai_download_options o = PAI_DOWNLOAD_OPTIONS_INIT;
  FileList *l;

  (void)options_read(&o, options_download, &fields, f);
  l = begin(p, f);
  if (l == NULL)
    return NULL;
  f->code =
    pai_platform_download(&l->op, p->platform, job, &o, on_list, l, &f->err);
  return begun(p, l, f);
}

FileList *facade_upload(Platform *p, pai_job_id job, words fields, failure *f)
{
  pai_upload_options o = PAI_UPLOAD_OPTIONS_INIT;
  FileList *l;

  (void)options_read(&o, options_upload, &fields, f);
  l = begin(p, f);
  if (l == NULL)
    return NULL;
  f->code =
    pai_platform_upload(&l->op, p->platform, job, &o, on_list, l, &f->err);
  return begun(p, l, f);
}

int file_list_state(const FileList *l)
{
  return atomic_load(&l->over);
}

listing file_list_answer(const FileList *l, failure *f)
{
  job_text t = { NULL, 0 };

  if (!atomic_load(&l->over)) {
    facade_fail(f, PAI_EBUSY, "there is no answer yet");
  } else if (l->failed.code < 0) {
    facade_fail_as(f, &l->failed);
  } else if (facade_collect(&t, l->json.bytes, l->json.len) < 0) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
  }
  return (listing){ facade_finished(t, f) };
}

/* --- reading ---------------------------------------------------------------- */

struct FileReader {
  int fd; /* -1: the script has it */
};

static int open_job_file(Platform *p, pai_job_id job, const char *path,
                         failure *f)
{
  int fd = -1;

  if (!platform_take(p, f))
    return -1;
  f->code = pai_platform_open_file(&fd, p->platform, job, path, 0, &f->err);
  platform_give(p);
  return fd;
}

FileReader *facade_open_file(Platform *p, pai_job_id job, const char *path,
                             failure *f)
{
  int fd = open_job_file(p, job, path, f);
  FileReader *r;

  if (fd < 0)
    return NULL;
  r = malloc(sizeof(*r));
  if (r == NULL) {
    (void)close(fd);
    facade_fail(f, PAI_ENOMEM, "out of memory");
  } else {
    r->fd = fd;
  }
  return r;
}

void file_reader_free(FileReader *r)
{
  if (r->fd >= 0)
    (void)close(r->fd);
  free(r);
}

int file_reader_detach(FileReader *r)
{
  int fd = r->fd;

  r->fd = -1;
  return fd;
}

static ssize_t read_some(int fd, char *buffer, size_t size)
{
  ssize_t n;

  do
    n = read(fd, buffer, size);
  while (n < 0 && errno == EINTR);
  return n;
}

log_bytes file_reader_read(FileReader *r, uint32_t most, failure *f)
{
  size_t size = most > 0 && most < PIECE ? most : PIECE;
  log_bytes piece = { malloc(size), 0 };
  ssize_t n;

  if (piece.bytes == NULL) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
    return piece;
  }
  n = read_some(r->fd, piece.bytes, size);
  if (n >= 0) {
    piece.len = (size_t)n;
    return piece;
  }
  f->error = errno;
  facade_fail(f, PAI_EIO, "the file cannot be read");
  free(piece.bytes);
  return (log_bytes){ NULL, 0 };
}

/* --- forgetting a job ------------------------------------------------------------ */

listing facade_forget_keep(Platform *p, pai_job_id job, failure *f)
{
  pai_forget_options options = PAI_FORGET_OPTIONS_INIT;
  job_text t = { NULL, 0 };

  options.keep_files = 1;
  if (!platform_take(p, f))
    return (listing){ t };
  f->code = pai_platform_forget_as(p->platform, job, &options, facade_collect,
                                   &t, &f->err);
  platform_give(p);
  return (listing){ facade_finished(t, f) };
}
