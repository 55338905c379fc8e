/* files.c - listing and opening files in jobs' folders */
#define _GNU_SOURCE /* O_PATH */
#include "platform/files/files.h"

#include "base/os/posix_errno.h"
#include "base/text/encode.h"
#include "base/text/utf8.h"
#include "json/writer.h"
#include "platform/restore/resubmit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { LIMIT = 1000, MOST_LIMIT = 10000 };

/* --- folders -------------------------------------------------------------- */

static int no_folder(pai_error **err, const char *why)
{
  return pai__fail(err, PAI_ENOTFOUND, "%s", why);
}

int pai__job_folder_find(pai__job_folder *out, const pai_platform *p,
                         pai_job_id job, bool own, pai_error **err)
{
  pai__platform_like like = { 0 };
  int rc;

  *out = (pai__job_folder){ 0 };
  if (p->store == NULL)
    return pai__no_records(err);
  rc = pai__like_find(&like, p, job, err);
  if (rc == PAI_OK && own && !like.has_code)
    rc = no_folder(err, "the job has no folder of its own: it was submitted "
                        "without code");
  else if (rc == PAI_OK && like.work_dir == NULL)
    rc = no_folder(err, "the job has no folder");
  if (rc == PAI_OK)
    rc = pai__system_find(&out->who, p, like.user, err);
  if (rc == PAI_OK) {
    out->path = like.work_dir;
    out->own = like.has_code;
    like.work_dir = NULL;
  }
  pai__like_dispose(&like, p);
  return rc;
}

static int open_failed(const pai__job_folder *f, int number, pai_error **err)
{
  if (number == ENOENT || number == ENOTDIR || number == ELOOP)
    return no_folder(err, "the job's folder is gone");
  return pai__fail(
    err, number == EACCES || number == EPERM ? PAI_EPERM : PAI_EIO,
    "cannot open the job's folder%s%s: %s", f->who != NULL ? " as user " : "",
    f->who != NULL ? f->who->name : "", PAI__ERRNO_TEXT(number));
}

/* A link in the place of the job's own folder is not followed.  A folder that
 * the submitter named may be a link. */
int pai__job_folder_enter(pai__below *out, const pai__job_folder *f,
                          const pai_alloc *alloc, pai_error **err)
{
  const int how = O_PATH | O_DIRECTORY | O_CLOEXEC;
  int fd;

  if (f->path == NULL)
    return pai__fail(err, PAI_ENOTFOUND, "the job has no folder");
  if (!pai__as_user(f->who))
    return pai__fail(err, PAI_EPERM, "this process cannot act for %s",
                     f->who->name);
  fd = open(f->path, f->own ? how | O_NOFOLLOW : how);
  if (fd < 0) {
    int number = errno;

    pai__as_self(f->who);
    return open_failed(f, number, err);
  }
  *out =
    (pai__below){ .folder = fd, .what = "the job's folder", .alloc = alloc };
  return PAI_OK;
}

void pai__job_folder_leave(const pai__below *b, const pai__job_folder *f)
{
  (void)close(b->folder);
  pai__as_self(f->who);
}

int pai__job_folder_copy(pai__job_folder *out, const pai__job_folder *f,
                         const pai_alloc *alloc, pai_error **err)
{
  *out =
    (pai__job_folder){ .path = pai__strdup(alloc, f->path), .own = f->own };
  if (f->who != NULL &&
      (out->who = pai__zalloc(alloc, sizeof(*out->who))) != NULL)
    *out->who = *f->who;
  if (out->path != NULL && (f->who == NULL || out->who != NULL))
    return PAI_OK;
  pai__job_folder_dispose(out, alloc);
  return pai__oom(err);
}

void pai__job_folder_dispose(pai__job_folder *f, const pai_alloc *alloc)
{
  pai__strfree(alloc, f->path);
  pai__free(alloc, f->who, sizeof(*f->who));
  *f = (pai__job_folder){ 0 };
}

/* --- a file --------------------------------------------------------------- */

int pai_platform_open_file(int *fd, pai_platform *p, pai_job_id job,
                           const char *path, int own, pai_error **err)
{
  pai__job_folder f;
  pai__below b;
  int rc;

  PAI__CHECK_ARG_ERR(fd != NULL, err);
  *fd = -1;
  PAI__CHECK_ARG_ERR(p != NULL && path != NULL, err);
  PAI__CHECK_PROCESS(p, err);
  rc = pai__job_folder_find(&f, p, job, own != 0, err);
  if (rc == PAI_OK)
    rc = pai__job_folder_enter(&b, &f, &p->alloc, err);
  if (rc == PAI_OK) {
    rc = pai__below_open(fd, &b, path, err);
    pai__job_folder_leave(&b, &f);
  }
  pai__job_folder_dispose(&f, &p->alloc);
  return rc;
}

/* --- a list --------------------------------------------------------------- */

/* What the other thread writes uses libc's allocator. */
typedef struct listing {
  pai__file_task task;
  char *path, *after;
  uint32_t limit;
  bool recursive, total;
  pai__buf last;
  pai__json_writer w;
} listing;

static void free_listing(pai__file_task *t)
{
  listing *l = (listing *)t;

  pai__strfree(&t->p->alloc, l->path);
  pai__strfree(&t->p->alloc, l->after);
  pai__buf_dispose(&l->last);
}

/* Writes a path that is not UTF-8 as part of a URL, because "path" is lossy
 * then. */
static void escaped(listing *l, const char *path)
{
  size_t len = strlen(path), i = 0, n;
  pai__buf b;

  while (i < len && (n = pai__utf8_len(path + i, len - i)) > 0)
    i += n;
  if (i == len) {
    pai__json_put_text(&l->w, "escaped", NULL);
    return;
  }
  pai__buf_init(&b, l->task.json.alloc);
  pai__put_escaped(&b, path, "/");
  pai__json_put_text(&l->w, "escaped", pai__buf_text(&b));
  l->last.failed |= !pai__buf_ok(&b);
  pai__buf_dispose(&b);
}

static void number(listing *l, const char *name, bool known, uint64_t value)
{
  pai__json_member(&l->w, name);
  if (known)
    pai__json_int(&l->w, (int64_t)value);
  else
    pai__json_null(&l->w);
}

static void on_entry(void *user_data, const pai__below_entry *e)
{
  static const char *const types[] = { [PAI__BELOW_FILE] = "file",
                                       [PAI__BELOW_FOLDER] = "folder",
                                       [PAI__BELOW_LINK] = "link",
                                       [PAI__BELOW_OTHER] = "other" };
  listing *l = user_data;

  pai__json_begin_object(&l->w);
  pai__json_put_text(&l->w, "path", e->path);
  pai__json_put_text(&l->w, "type", types[e->type]);
  number(l, "size", true, e->size);
  pai__json_put_int(&l->w, "modified", e->modified);
  pai__json_put_bool(&l->w, "executable", e->executable);
  pai__json_put_text(&l->w, "target", e->target);
  escaped(l, e->path);
  pai__json_end_object(&l->w);
  pai__buf_clear(&l->last);
  pai__buf_str(&l->last, e->path);
}

static void write_list(listing *l, const pai__below *b)
{
  const pai__below_ask ask = { .path = l->path,
                               .after = l->after,
                               .limit = l->limit,
                               .recursive = l->recursive,
                               .total = l->total,
                               .is_hidden = pai__file_is_part,
                               .on_entry = on_entry,
                               .user_data = l,
                               .stopped = pai__file_task_stopped(&l->task) };
  pai__below_answer a;

  pai__json_begin_object(&l->w);
  pai__json_put_text(&l->w, "folder", l->task.folder.path);
  pai__json_put_bool(&l->w, "own", l->task.folder.own);
  pai__json_put_array(&l->w, "entries");
  l->task.rc = pai__below_list(&a, b, &ask, &l->task.err);
  pai__json_end_array(&l->w);
  pai__json_put_text(&l->w, "next", a.more ? pai__buf_text(&l->last) : NULL);
  number(l, "files", l->total, a.files);
  number(l, "bytes", l->total, a.bytes);
  pai__json_end_object(&l->w);
}

static void list(pai__file_task *t)
{
  listing *l = (listing *)t;
  pai__below b;

  pai__json_writer_init(&l->w, &t->json, false);
  t->rc = pai__job_folder_enter(&b, &t->folder, &pai__libc_alloc, &t->err);
  if (t->rc < 0)
    return;
  write_list(l, &b);
  pai__job_folder_leave(&b, &t->folder);
  if (t->rc == PAI_OK &&
      (pai__json_finish(&l->w) < 0 || !pai__buf_ok(&l->last)))
    t->rc = pai__oom(&t->err);
}

static int copy_options(listing *l, const pai_files_options *o,
                        pai_error **err)
{
  const pai_alloc *alloc = &l->task.p->alloc;

  l->limit = o->limit != 0 ? o->limit : LIMIT;
  l->recursive = o->recursive != 0;
  l->total = o->total != 0;
  l->path = pai__strdup(alloc, o->path != NULL ? o->path : "");
  l->after = o->after != NULL ? pai__strdup(alloc, o->after) : NULL;
  return l->path != NULL && (l->after != NULL || o->after == NULL)
           ? PAI_OK
           : pai__oom(err);
}

int pai_platform_list_files(pai_platform *p, pai_job_id job,
                            const pai_files_options *opts, pai_files_cb cb,
                            void *user_data, pai_error **err)
{
  pai_files_options o = PAI_FILES_OPTIONS_INIT;
  pai__file_task *t;
  listing *l;
  int rc = PAI_OK;

  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(cb != NULL, err);
  if (opts != NULL)
    rc = PAI__OPTIONS_IN(&o, opts, pai_files_options, own);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_files_options");
  if (o.limit > MOST_LIMIT)
    return pai__fail(err, PAI_EINVAL, "a list has at most %d entries",
                     (int)MOST_LIMIT);
  rc = pai__file_task_new(&t, p, PAI__FILE_LIST, sizeof(*l), list,
                          free_listing, cb, user_data, err);
  if (rc < 0)
    return rc;
  l = (listing *)t;
  pai__buf_init(&l->last, &pai__libc_alloc);
  return pai__file_task_start(t, copy_options(l, &o, err), job, o.own != 0,
                              err);
}
