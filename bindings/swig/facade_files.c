/* facade_files.c - files of a platform's job: lists, reading, copies */
#include "facade_platform.h"
#include "local_file.h"
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 4 << 20 };

/* --- lists ---------------------------------------------------------------- */

/* Of the script and of the platform, which answers once. */
struct FileList {
  atomic_int refs;
  atomic_bool over; /* set last: what follows does not change any more */
  int status;
  job_text json;
  char *message, *help;
};

static const option list_options[] = {
  OPTION(pai_files_options, path, OPTION_TEXT),
  OPTION(pai_files_options, after, OPTION_TEXT),
  OPTION(pai_files_options, limit, OPTION_U32),
  OPTION(pai_files_options, recursive, OPTION_INT),
};

void file_list_free(FileList *l)
{
  if (atomic_fetch_sub(&l->refs, 1) > 1)
    return;
  free(l->json.bytes);
  free(l->message);
  free(l->help);
  free(l);
}

static char *copy(const char *text)
{
  return text != NULL && *text != '\0' ? strdup(text) : NULL;
}

static void on_list(void *user_data, int status, const char *text, size_t len,
                    const pai_error *err)
{
  FileList *l = user_data;

  l->status = status;
  if (status < 0) {
    l->message = copy(pai_error_message(err));
    l->help = copy(pai_error_help(err));
  } else if (facade_collect(&l->json, text, len) < 0) {
    l->status = PAI_ENOMEM;
  }
  atomic_store(&l->over, true);
  file_list_free(l);
}

FileList *facade_list_files(Platform *p, pai_job_id job, words fields,
                            failure *f)
{
  pai_files_options options = PAI_FILES_OPTIONS_INIT;
  FileList *l;

  if (!options_read(&options, list_options,
                    sizeof(list_options) / sizeof(list_options[0]), &fields,
                    f) ||
      !platform_take(p, f))
    return NULL;
  l = calloc(1, sizeof(*l));
  if (l == NULL) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
  } else {
    atomic_init(&l->refs, 2);
    f->code =
      pai_platform_list_files(p->platform, job, &options, on_list, l, &f->err);
    if (f->code < 0) {
      free(l);
      l = NULL;
    }
  }
  platform_give(p);
  return l;
}

int file_list_state(const FileList *l)
{
  return atomic_load(&l->over);
}

listing file_list_answer(const FileList *l, failure *f)
{
  job_text t = { NULL, 0 };

  if (!atomic_load(&l->over)) {
    facade_fail(f, PAI_EBUSY, "the files are not listed yet");
  } else if (l->status < 0) {
    f->code = l->status;
    f->made = copy(l->message);
    f->help = copy(l->help);
  } else if (facade_collect(&t, l->json.bytes, l->json.len) < 0) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
  }
  return (listing){ facade_finished(t, f) };
}

/* --- reading ---------------------------------------------------------------- */

struct FileReader {
  int fd; /* -1: it is the script's */
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

/* --- copies -------------------------------------------------------------------- */

/* From a descriptor to a file of this machine, or to one of a job. */
struct FileCopy {
  Platform *platform; /* of a writer; the script keeps it */
  FileCopy *next;     /* in its list */
  atomic_bool open;   /* the writer is */
  int from;
  LocalFile *local;
  pai_file_writer *writer;
  uint64_t left; /* of a writer: its file has a size */
  char *buffer;
};

typedef struct copy_wish {
  const char *path, *to, *local;
  uint64_t size;
  pai_time modified;
  int executable;
} copy_wish;

static const option copy_options[] = {
  OPTION(copy_wish, path, OPTION_TEXT),
  OPTION(copy_wish, to, OPTION_TEXT),
  OPTION(copy_wish, local, OPTION_TEXT),
  OPTION(copy_wish, size, OPTION_U64),
  OPTION(copy_wish, modified, OPTION_TIME),
  OPTION(copy_wish, executable, OPTION_INT),
};

static bool read_wish(copy_wish *w, const words *fields, failure *f)
{
  *w = (copy_wish){ 0 };
  return options_read(w, copy_options,
                      sizeof(copy_options) / sizeof(copy_options[0]), fields,
                      f);
}

static FileCopy *new_copy(Platform *p, failure *f)
{
  FileCopy *c = calloc(1, sizeof(*c));
  char *buffer = malloc(PIECE);

  if (c == NULL || buffer == NULL) {
    free(buffer);
    free(c);
    facade_fail(f, PAI_ENOMEM, "out of memory");
    return NULL;
  }
  c->platform = p;
  c->buffer = buffer;
  c->from = -1;
  return c;
}

static FileCopy *begun(FileCopy *c, const failure *f)
{
  if (f->code >= 0)
    return c;
  file_copy_free(c);
  return NULL;
}

FileCopy *facade_download(Platform *p, pai_job_id job, words fields,
                          failure *f)
{
  file_version v = { .job = NULL };
  copy_wish w;
  FileCopy *c;

  if (!read_wish(&w, &fields, f))
    return NULL;
  if (w.path == NULL || w.to == NULL) {
    facade_fail(f, PAI_EINVAL, "a download has a path, and where it goes to");
    return NULL;
  }
  c = new_copy(p, f);
  if (c == NULL)
    return NULL;
  v.size = w.size;
  v.modified = w.modified;
  v.executable = w.executable;
  c->from = open_job_file(p, job, w.path, f);
  if (c->from >= 0)
    c->local = local_open(w.to, &v, f);
  return begun(c, f);
}

/* Until it is closed, which the platform does at the latest. */
static void open_writer(FileCopy *c, pai_job_id job, const copy_wish *w,
                        failure *f)
{
  pai_file_write_options o = PAI_FILE_WRITE_OPTIONS_INIT;
  Platform *p = c->platform;

  c->from = local_open_read(w->local, w->path, &o.size, &o.executable, f);
  if (c->from < 0 || !platform_take(p, f))
    return;
  o.path = w->path;
  c->left = o.size;
  f->code = pai_file_writer_open(&c->writer, p->platform, job, &o, &f->err);
  if (f->code == PAI_OK) {
    c->next = p->copies;
    p->copies = c;
    atomic_store(&c->open, true);
  }
  platform_give(p);
}

FileCopy *facade_upload(Platform *p, pai_job_id job, words fields, failure *f)
{
  copy_wish w;
  FileCopy *c;

  if (!read_wish(&w, &fields, f))
    return NULL;
  if (w.path == NULL || w.local == NULL) {
    facade_fail(f, PAI_EINVAL, "an upload has a file, and a path");
    return NULL;
  }
  c = new_copy(p, f);
  if (c == NULL)
    return NULL;
  open_writer(c, job, &w, f);
  return begun(c, f);
}

static void close_writer(FileCopy *c)
{
  FileCopy **at = &c->platform->copies;

  if (!atomic_load(&c->open))
    return;
  while (*at != c)
    at = &(*at)->next;
  *at = c->next;
  pai_file_writer_close(c->writer);
  c->writer = NULL;
  atomic_store(&c->open, false);
}

void copies_close(Platform *p)
{
  while (p->copies != NULL)
    close_writer(p->copies);
}

void file_copy_free(FileCopy *c)
{
  /* What was never begun, or is closed, needs no platform, which may be gone. */
  if (atomic_load(&c->open)) {
    (void)pthread_mutex_lock(&c->platform->owner);
    close_writer(c);
    (void)pthread_mutex_unlock(&c->platform->owner);
  }
  if (c->from >= 0)
    (void)close(c->from);
  local_free(c->local);
  free(c->buffer);
  free(c);
}

static bool step_download(FileCopy *c, failure *f)
{
  ssize_t n = read_some(c->from, c->buffer, PIECE);
  int rc = PAI_OK;

  if (n < 0) {
    f->error = errno;
    facade_fail(f, PAI_EIO, "the file of the job cannot be read");
    return false;
  }
  rc =
    n > 0 ? local_add(c->local, c->buffer, (size_t)n) : local_finish(c->local);
  if (rc == PAI_EEXISTS)
    facade_fail(f, rc, "the file was changed while it was copied");
  else if (rc < 0)
    local_explain(c->local, f);
  return rc == PAI_OK && n > 0;
}

static bool write_piece(FileCopy *c, failure *f)
{
  size_t want = c->left < PIECE ? (size_t)c->left : PIECE;
  ssize_t n = want > 0 ? read_some(c->from, c->buffer, want) : 0;

  if (n < 0 || (n == 0 && want > 0)) {
    f->error = n < 0 ? errno : 0;
    facade_fail(f, PAI_EIO,
                n < 0 ? "the file cannot be read"
                      : "the file has become shorter meanwhile");
    return false;
  }
  if (n > 0)
    f->code = pai_file_writer_add(c->writer, c->buffer, (size_t)n, &f->err);
  c->left -= (uint64_t)n;
  if (f->code < 0 || c->left > 0)
    return f->code >= 0;
  f->code = pai_file_writer_end(c->writer, &f->err);
  if (f->code >= 0)
    f->code = PAI_OK;
  return false;
}

static bool step_upload(FileCopy *c, failure *f)
{
  bool more = false;

  if (!platform_take(c->platform, f))
    return false;
  if (c->writer == NULL)
    facade_fail(f, PAI_ECANCELED, "the platform was closed");
  else
    more = write_piece(c, f);
  if (!more)
    close_writer(c);
  platform_give(c->platform);
  return more;
}

bool file_copy_step(FileCopy *c, failure *f)
{
  return c->local != NULL ? step_download(c, f) : step_upload(c, f);
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
