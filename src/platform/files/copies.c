/* copies.c - copies files and folders from and to a job's folder, in another
 * thread */
#include "platform/files/files.h"

#include "base/os/posix_copy.h"

#include <errno.h>
#include <unistd.h>

enum { PIECE = 256 << 10, PAGE = 1000 /* entries */ };

/* Of pai_platform_download() or pai_platform_upload(). */
typedef struct copying {
  pai__file_task task;
  pai__copy_down *down;
  pai__copy_up *up;
  pai__buf after; /* path of the last entry */
  pai__platform_swept swept;
  char piece[PIECE];
} copying;

static void dispose(pai__file_task *t)
{
  copying *c = (copying *)t;

  pai__copy_down_free(c->down);
  pai__copy_up_free(c->up);
  pai__buf_dispose(&c->after);
}

static bool is_stopped(const copying *c)
{
  return atomic_load_explicit(pai__file_task_stopped(&c->task),
                              memory_order_relaxed);
}

/* --- downloads ------------------------------------------------------------ */

static void on_entry(void *user_data, const pai__below_entry *e)
{
  copying *c = user_data;

  if (c->task.rc == PAI_OK)
    c->task.rc = pai__copy_down_entry(c->down, e, &c->task.err);
  pai__buf_clear(&c->after);
  pai__buf_str(&c->after, e->path);
}

static void on_again(void *user_data, const pai__below_entry *e)
{
  pai__copy_down_again(((copying *)user_data)->down, e);
}

static int list(copying *c, pai__below_ask ask, bool *more, pai_error **err)
{
  pai__file_task *t = &c->task;
  pai__below_answer a;
  pai__below b;
  int rc = pai__job_folder_enter(&b, &t->folder, &pai__libc_alloc, err);

  if (rc < 0)
    return rc;
  ask.is_hidden = pai__file_is_part;
  ask.user_data = c;
  ask.stopped = pai__file_task_stopped(t);
  rc = pai__below_list(&a, &b, &ask, err);
  pai__job_folder_leave(&b, &t->folder);
  *more = rc == PAI_OK && a.more;
  return rc == PAI_OK ? t->rc : rc;
}

static int list_page(copying *c, bool *more)
{
  const pai__below_ask ask = { .path = pai__copy_down_path(c->down),
                               .after = c->after.len > 0
                                          ? pai__buf_text(&c->after)
                                          : NULL,
                               .limit = PAGE,
                               .recursive = true,
                               .on_entry = on_entry };

  return list(c, ask, more, &c->task.err);
}

static int list_again(copying *c, const char *path, pai_error **err)
{
  const pai__below_ask ask = { .path = path,
                               .limit = 1,
                               .on_entry = on_again };
  bool more;

  return list(c, ask, &more, err);
}

static int open_file(const copying *c, int *fd, const char *path,
                     pai_error **err)
{
  pai__below b;
  int rc = pai__job_folder_enter(&b, &c->task.folder, &pai__libc_alloc, err);

  if (rc < 0)
    return rc;
  rc = pai__below_open(fd, &b, path, err);
  pai__job_folder_leave(&b, &c->task.folder);
  return rc;
}

static int read_file(copying *c, int fd, const char *path, pai_error **err)
{
  ssize_t n;
  int rc;

  do {
    if (is_stopped(c))
      return PAI_ECANCELED;
    n = read(fd, c->piece, PIECE);
    if (n < 0 && errno != EINTR)
      return pai__fail(err, PAI_EIO, "cannot read %s in the job's folder",
                       path);
    rc = n > 0 ? pai__copy_down_add(c->down, c->piece, (size_t)n) : PAI_OK;
  } while (n != 0 && rc == PAI_OK);
  return rc;
}

static int fetch(copying *c, const pai__below_entry *file)
{
  pai_error *why = NULL;
  int fd = -1, rc = open_file(c, &fd, file->path, &why);

  if (rc == PAI_OK)
    rc = read_file(c, fd, file->path, &why);
  if (fd >= 0)
    (void)close(fd);
  rc = pai__copy_down_end(c->down, rc, why, &c->task.err);
  if (rc == PAI_EEXISTS && c->task.err == NULL) { /* it has changed */
    rc = list_again(c, file->path, &why);
    if (rc < 0)
      rc = pai__copy_down_end(c->down, rc, why, &c->task.err);
  }
  if (rc < 0 && c->task.err == NULL)
    c->task.err = why;
  else
    pai_error_free(why);
  return rc;
}

static void download(pai__file_task *t)
{
  copying *c = (copying *)t;
  const pai__below_entry *file;
  uint64_t offset;
  bool more;
  int rc;

  do {
    rc = list_page(c, &more);
    while (rc == PAI_OK &&
           (rc = pai__copy_down_begin(c->down, &file, &offset, &t->err)) == 1)
      rc = fetch(c, file);
  } while (rc == PAI_OK && more);
  if (rc == PAI_OK)
    rc = pai__copy_down_finish(c->down, &t->err);
  pai__copy_write(pai__copy_down_state(c->down), &t->json);
  t->rc = rc;
}

/* --- uploads -------------------------------------------------------------- */

static int write_file(copying *c, pai_file_writer *w,
                      const pai__copy_up_file *file, pai_error **err)
{
  int rc = PAI_OK;

  for (uint64_t at = 0; rc == PAI_OK && at < file->size;) {
    uint64_t left = file->size - at;
    ptrdiff_t n = pai__copy_up_read(c->up, at, c->piece,
                                    left < PIECE ? (size_t)left : PIECE);

    if (is_stopped(c))
      return PAI_ECANCELED;
    if (n < 0)
      return pai__fail(err, (int)n, "cannot read the file that goes to %s",
                       file->path);
    rc = pai_file_writer_add(w, c->piece, (size_t)n, err);
    at += (uint64_t)n;
  }
  if (rc == PAI_OK)
    rc = pai_file_writer_end(w, err);
  return rc < 0 ? rc : PAI_OK;
}

static int send_file(copying *c, const pai__copy_up_file *file)
{
  pai_file_write_options o = PAI_FILE_WRITE_OPTIONS_INIT;
  pai_file_writer *w = NULL;
  pai__job_folder of;
  pai_error *why = NULL;
  int rc = is_stopped(c) ? PAI_ECANCELED
                         : pai__job_folder_copy(&of, &c->task.folder,
                                                &pai__libc_alloc, &why);

  o.path = file->path;
  o.size = file->size;
  o.executable = file->executable;
  if (rc == PAI_OK)
    rc = pai__file_writer_new(&w, &pai__libc_alloc, &of, &c->swept, &o, &why);
  if (rc == PAI_OK)
    rc = write_file(c, w, file, &why);
  pai_file_writer_close(w);
  rc = pai__copy_up_end(c->up, rc, why, &c->task.err);
  if (rc < 0 && c->task.err == NULL)
    c->task.err = why;
  else
    pai_error_free(why);
  return rc;
}

static void upload(pai__file_task *t)
{
  copying *c = (copying *)t;
  pai__copy_up_file file;
  int rc = PAI_OK;

  while (rc == PAI_OK && (rc = pai__copy_up_begin(c->up, &file, &t->err)) == 1)
    rc = send_file(c, &file);
  pai__copy_write(pai__copy_up_state(c->up), &t->json);
  t->rc = rc;
}

/* --- public --------------------------------------------------------------- */

static int no_callbacks(pai_copy_progress_cb on_progress,
                        pai_copy_skip_cb on_skip, pai_error **err)
{
  if (on_progress == NULL && on_skip == NULL)
    return PAI_OK;
  return pai__fail(err, PAI_ENOTSUP,
                   "copies of a platform have no on_progress and on_skip");
}

static int new_copying(pai__file_task **out, pai_platform *p,
                       void (*run)(pai__file_task *t), pai_files_cb cb,
                       void *user_data, pai_error **err)
{
  int rc = pai__file_task_new(out, p, PAI__FILE_COPY, sizeof(copying), run,
                              dispose, cb, user_data, err);

  if (rc == PAI_OK)
    pai__buf_init(&((copying *)*out)->after, &pai__libc_alloc);
  return rc;
}

static int start(pai_op **op, pai__file_task *t, int rc, pai_job_id job,
                 pai_error **err)
{
  rc = pai__file_task_start(t, rc, job, false, err);
  if (rc == PAI_OK && op != NULL)
    *op = &t->op;
  return rc;
}

int pai_platform_download(pai_op **op, pai_platform *p, pai_job_id job,
                          const pai_download_options *opts, pai_files_cb cb,
                          void *user_data, pai_error **err)
{
  const pai__copy how = { .alloc = &pai__libc_alloc };
  pai_download_options o;
  pai__file_task *t;
  int rc;

  if (op != NULL)
    *op = NULL;
  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(cb != NULL, err);
  rc = pai__copy_down_options(&o, opts, err);
  if (rc == PAI_OK)
    rc = no_callbacks(o.on_progress, o.on_skip, err);
  if (rc == PAI_OK)
    rc = new_copying(&t, p, download, cb, user_data, err);
  if (rc < 0)
    return rc;
  rc = pai__copy_down_new(&((copying *)t)->down, &how, &o, err);
  return start(op, t, rc, job, err);
}

int pai_platform_upload(pai_op **op, pai_platform *p, pai_job_id job,
                        const pai_upload_options *opts, pai_files_cb cb,
                        void *user_data, pai_error **err)
{
  const pai__copy how = { .alloc = &pai__libc_alloc };
  pai_upload_options o;
  pai__file_task *t;
  int rc;

  if (op != NULL)
    *op = NULL;
  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(cb != NULL, err);
  rc = pai__copy_up_options(&o, opts, err);
  if (rc == PAI_OK)
    rc = no_callbacks(o.on_progress, o.on_skip, err);
  if (rc == PAI_OK)
    rc = new_copying(&t, p, upload, cb, user_data, err);
  if (rc < 0)
    return rc;
  rc = pai__copy_up_new(&((copying *)t)->up, &how, &o, err);
  return start(op, t, rc, job, err);
}
