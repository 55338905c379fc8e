/*
 * files.c - files of jobs: listed, and opened
 *
 * Lists are made beside the loop, some at a time; the others wait for their
 * turn.
 */
#define _GNU_SOURCE /* O_PATH */
#include "platform/files.h"

#include "base/posix_errno.h"
#include "base/utf8.h"
#include "json/writer.h"
#include "platform/like.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum {
  AT_ONCE = 2, /* of the loop's threads, which commits are made in, too */
  MOST_WAITING = 256,
  LIMIT = 1000,
  MOST_LIMIT = 10000
};

/* --- where they are ----------------------------------------------------------- */

static int no_folder(pai_error **err, const char *why)
{
  return pai__fail(err, PAI_ENOTFOUND, "%s", why);
}

int pai__job_folder_find(pai__job_folder *out, const pai_platform *p,
                         pai_job_id job, bool own, pai_error **err)
{
  pai__like like = { 0 };
  int rc;

  *out = (pai__job_folder){ 0 };
  if (p->store == NULL)
    return pai__fail(err, PAI_ENOTSUP, "the platform keeps no records");
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

/* In the place of its own folder there may be a link; another one is where
 * somebody said it was. */
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

void pai__job_folder_dispose(pai__job_folder *f, const pai_alloc *alloc)
{
  pai__strfree(alloc, f->path);
  pai__free(alloc, f->who, sizeof(*f->who));
  *f = (pai__job_folder){ 0 };
}

/* --- a file --------------------------------------------------------------------- */

int pai_platform_open_file(int *fd, pai_platform *p, pai_job_id job,
                           const char *path, int own, pai_error **err)
{
  pai__job_folder f;
  pai__below b;
  int rc;

  if (err != NULL)
    *err = NULL;
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

/* --- a list --------------------------------------------------------------------- */

/* What the other thread makes is libc's. */
typedef struct listing {
  pai_platform *p;
  struct listing *next; /* that waits */
  pai__work *work;
  pai__job_folder folder;
  char *path, *after;
  uint32_t limit;
  bool recursive, total;
  pai_files_cb cb;
  void *user_data;
  pai__buf json, last;
  pai__json_writer w;
  int rc;
  pai_error *err;
} listing;

struct pai__listings {
  listing *first, **end; /* those that wait */
  unsigned waiting, running;
  atomic_bool stopped;
};

static void free_listing(listing *l)
{
  const pai_alloc *alloc = &l->p->alloc;

  pai__work_close(l->work);
  pai__job_folder_dispose(&l->folder, alloc);
  pai__strfree(alloc, l->path);
  pai__strfree(alloc, l->after);
  pai__buf_dispose(&l->json);
  pai__buf_dispose(&l->last);
  pai_error_free(l->err);
  pai__free(alloc, l, sizeof(*l));
}

static void key(listing *l, const char *name)
{
  pai__json_key(&l->w, name, strlen(name));
}

static void text(listing *l, const char *name, const char *value)
{
  key(l, name);
  if (value != NULL)
    pai__json_text(&l->w, value, strlen(value));
  else
    pai__json_null(&l->w);
}

/* As a part of a URL, if it is no UTF-8: then "path" is not all of it. */
static void escaped(listing *l, const char *path)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~/";
  size_t len = strlen(path), i = 0, n;
  pai__buf b;

  while (i < len && (n = pai__utf8_len(path + i, len - i)) > 0)
    i += n;
  if (i == len) {
    text(l, "escaped", NULL);
    return;
  }
  pai__buf_init(&b, l->json.alloc);
  for (i = 0; i < len; i++)
    if (strchr(plain, path[i]) != NULL)
      pai__buf_char(&b, path[i]);
    else
      pai__buf_printf(&b, "%%%02X", (unsigned)(unsigned char)path[i]);
  text(l, "escaped", pai__buf_text(&b));
  l->last.failed |= !pai__buf_ok(&b);
  pai__buf_dispose(&b);
}

static void number(listing *l, const char *name, bool known, uint64_t value)
{
  key(l, name);
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
  text(l, "path", e->path);
  text(l, "type", types[e->type]);
  number(l, "size", true, e->size);
  key(l, "modified");
  pai__json_int(&l->w, e->modified);
  key(l, "executable");
  pai__json_bool(&l->w, e->executable);
  text(l, "target", e->target);
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
                               .stopped = &l->p->listings->stopped };
  pai__below_answer a;

  pai__json_begin_object(&l->w);
  text(l, "folder", l->folder.path);
  key(l, "own");
  pai__json_bool(&l->w, l->folder.own);
  key(l, "entries");
  pai__json_begin_array(&l->w);
  l->rc = pai__below_list(&a, b, &ask, &l->err);
  pai__json_end_array(&l->w);
  text(l, "next", a.more ? pai__buf_text(&l->last) : NULL);
  number(l, "files", l->total, a.files);
  number(l, "bytes", l->total, a.bytes);
  pai__json_end_object(&l->w);
}

static void list(void *user_data)
{
  listing *l = user_data;
  pai__below b;

  pai__json_writer_init(&l->w, &l->json, false);
  l->rc = pai__job_folder_enter(&b, &l->folder, &pai__libc_alloc, &l->err);
  if (l->rc < 0)
    return;
  write_list(l, &b);
  pai__job_folder_leave(&b, &l->folder);
  if (l->rc == PAI_OK &&
      (pai__json_finish(&l->w) < 0 || !pai__buf_ok(&l->last)))
    l->rc = pai__oom(&l->err);
}

static void start_next(pai_platform *p)
{
  struct pai__listings *s = p->listings;

  while (s->first != NULL && s->running < AT_ONCE) {
    listing *l = s->first;

    s->first = l->next;
    if (s->first == NULL)
      s->end = &s->first;
    s->waiting--;
    s->running++;
    pai__work_start(l->work);
  }
}

static int is_closing(pai_error **err)
{
  return pai__fail(err, PAI_EBUSY, "the platform is closing");
}

static void on_listed(void *user_data)
{
  listing *l = user_data;
  pai_platform *p = l->p;

  p->listings->running--;
  start_next(p);
  pai__turn_ask(p->kick);
  if (l->rc == PAI_ECANCELED) {
    pai_error_free(l->err);
    l->err = NULL;
    l->rc = is_closing(&l->err);
  }
  l->cb(l->user_data, l->rc, l->rc == PAI_OK ? pai__buf_text(&l->json) : NULL,
        l->rc == PAI_OK ? l->json.len : 0, l->err);
  free_listing(l);
}

static int copy_options(listing *l, const pai_files_options *o)
{
  const pai_alloc *alloc = &l->p->alloc;

  l->limit = o->limit != 0 ? o->limit : LIMIT;
  l->recursive = o->recursive != 0;
  l->total = o->total != 0;
  l->path = pai__strdup(alloc, o->path != NULL ? o->path : "");
  l->after = o->after != NULL ? pai__strdup(alloc, o->after) : NULL;
  return l->path != NULL && (l->after != NULL || o->after == NULL)
           ? PAI_OK
           : PAI_ENOMEM;
}

static int begin(listing *l, pai_job_id job, const pai_files_options *o,
                 pai_error **err)
{
  pai_platform *p = l->p;
  struct pai__listings *s = p->listings;
  int rc;

  if (s->waiting == MOST_WAITING) {
    rc = pai__fail(err, PAI_EBUSY, "too many lists of files are being made");
    pai__error_retriable(err);
    return rc;
  }
  rc = pai__job_folder_find(&l->folder, p, job, o->own != 0, err);
  if (rc < 0)
    return rc;
  if (copy_options(l, o) < 0 ||
      pai__work_new(&l->work, &p->alloc, p->loop, list, on_listed, l) < 0)
    return pai__oom(err);
  *s->end = l;
  s->end = &l->next;
  s->waiting++;
  start_next(p);
  return PAI_OK;
}

int pai_platform_list_files(pai_platform *p, pai_job_id job,
                            const pai_files_options *opts, pai_files_cb cb,
                            void *user_data, pai_error **err)
{
  pai_files_options o = PAI_FILES_OPTIONS_INIT;
  listing *l;
  int rc = PAI_OK;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(p != NULL && cb != NULL, err);
  PAI__CHECK_PROCESS(p, err);
  if (opts != NULL)
    rc = PAI__OPTIONS_IN(&o, opts, pai_files_options, own);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_files_options");
  if (o.limit > MOST_LIMIT)
    return pai__fail(err, PAI_EINVAL, "a list has at most %d entries",
                     (int)MOST_LIMIT);
  if (p->store == NULL)
    return pai__fail(err, PAI_ENOTSUP, "the platform keeps no records");
  if (p->closing)
    return is_closing(err);
  l = pai__zalloc(&p->alloc, sizeof(*l));
  if (l == NULL)
    return pai__oom(err);
  *l = (listing){ .p = p, .cb = cb, .user_data = user_data };
  pai__buf_init(&l->json, &pai__libc_alloc);
  pai__buf_init(&l->last, &pai__libc_alloc);
  rc = begin(l, job, &o, err);
  if (rc < 0)
    free_listing(l);
  return rc;
}

/* --- all of them ------------------------------------------------------------------ */

int pai__listings_open(pai_platform *p, pai_error **err)
{
  p->listings = pai__zalloc(&p->alloc, sizeof(*p->listings));
  if (p->listings == NULL)
    return pai__oom(err);
  atomic_init(&p->listings->stopped, false);
  p->listings->end = &p->listings->first;
  return PAI_OK;
}

void pai__listings_stop(pai_platform *p)
{
  if (p->listings != NULL)
    atomic_store_explicit(&p->listings->stopped, true, memory_order_relaxed);
}

bool pai__listings_are_idle(const pai_platform *p)
{
  return p->listings == NULL ||
         (p->listings->running == 0 && p->listings->waiting == 0);
}

void pai__listings_close(pai_platform *p)
{
  pai__free(&p->alloc, p->listings, sizeof(*p->listings));
  p->listings = NULL;
}
