/*
 * posix_copy_down.c - files of a job become local files
 *
 * The list of files of a server is not trusted: nothing is written outside the
 * folder, and nothing through a link in it.
 */
#define _GNU_SOURCE /* symlink() */
#include "base/os/posix_copy.h"
#include "base/os/posix_part.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 3 }; /* of a file that changes meanwhile */

typedef struct item {
  pai__below_entry e;
  char *path, *target; /* of `e` */
} item;

typedef struct items {
  item *at;
  size_t n, cap;
} items;

struct pai__copy_down {
  pai__copy copy;
  pai_alloc alloc;
  char *path; /* without slashes at its ends; "": the job's folder */
  char *to;
  char *place; /* local path of the file that is fetched */
  bool seen;   /* an entry came */
  bool ready;  /* `to` is a folder, or the place of the file */
  bool is_file;
  items queue, links; /* links are made last: nothing is written through one */
  size_t next;        /* in `queue` */
  pai__file_part part;
  unsigned changes; /* of the file that is fetched */
  pai_error *why;   /* why it cannot be written, or NULL */
};

/* --- parts of both copies --------------------------------------------------- */

int pai__copy_skip(pai__copy *c, const char *path, int rc,
                   const pai_error *why, pai_error **err)
{
  int wanted;

  if (c->stopped)
    return rc;
  c->skipped++;
  if (c->on_skip == NULL || rc == PAI_ECANCELED)
    return rc;
  wanted = c->on_skip(c->user_data, path, why);
  c->stopped = wanted < 0;
  if (c->stopped)
    return rc < 0 ? rc : wanted;
  pai_error_free(*err);
  *err = NULL;
  return PAI_OK;
}

void pai__copy_write(const pai__copy *c, pai__buf *json)
{
  pai__buf_printf(json,
                  "{\"files\":%llu,\"bytes\":%llu,\"skipped\":%llu,"
                  "\"into\":%s}",
                  (unsigned long long)c->files, (unsigned long long)c->bytes,
                  (unsigned long long)c->skipped, c->into ? "true" : "false");
}

/* --- entries ----------------------------------------------------------------- */

static void free_items(const pai_alloc *alloc, items *s)
{
  for (size_t i = 0; i < s->n; i++) {
    pai__strfree(alloc, s->at[i].path);
    pai__strfree(alloc, s->at[i].target);
  }
  pai__free(alloc, s->at, s->cap * sizeof(*s->at));
  *s = (items){ 0 };
}

static int add_item(pai__copy_down *d, items *s, const pai__below_entry *e,
                    pai_error **err)
{
  const char *target = e->target != NULL ? e->target : "";
  item i = { .e = *e };

  if (PAI__VEC_ROOM(&d->alloc, s->at, s->n, s->cap) < 0)
    return pai__oom(err);
  i.e.path = i.path = pai__strdup(&d->alloc, e->path);
  i.e.target = i.target = pai__strdup(&d->alloc, target);
  if (i.path == NULL || i.target == NULL) {
    pai__strfree(&d->alloc, i.path);
    pai__strfree(&d->alloc, i.target);
    return pai__oom(err);
  }
  s->at[s->n++] = i;
  return PAI_OK;
}

/* Returns whether each part of a path is a name: not empty, "." or "..". */
static bool goes_down(const char *path)
{
  for (const char *p = path;; p++) {
    size_t n = strcspn(p, "/");

    if (n == 0 || (n == 1 && p[0] == '.') ||
        (n == 2 && memcmp(p, "..", 2) == 0))
      return false;
    p += n;
    if (*p == '\0')
      return true;
  }
}

/* Returns the path of an entry below the folder, or NULL. */
static const char *below(const pai__copy_down *d, const char *path)
{
  size_t len = strlen(d->path);

  if (len > 0 && (strncmp(path, d->path, len) != 0 || path[len] != '/'))
    return NULL;
  path += len > 0 ? len + 1 : 0;
  return goes_down(path) ? path : NULL;
}

int pai__copy_down_entry(pai__copy_down *d, const pai__below_entry *e,
                         pai_error **err)
{
  if (!d->seen) /* the list of a file has the file as its only entry */
    d->is_file = d->path[0] != '\0' && strcmp(e->path, d->path) == 0;
  else if (d->is_file)
    return PAI_OK;
  d->seen = true;
  if (!d->is_file && below(d, e->path) == NULL)
    return pai__fail(err, PAI_EIO,
                     "the server sent an invalid file name: %.200s", e->path);
  if (d->next == d->queue.n) { /* all of the page before are done */
    free_items(&d->alloc, &d->queue);
    d->next = 0;
  }
  return add_item(d, &d->queue, e, err);
}

/* --- folders and links --------------------------------------------------------- */

static bool is_folder(const char *path)
{
  struct stat st;

  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int make_folder(const pai__copy_down *d, const char *path,
                       pai_error **err)
{
  int error = pai__file_part_make_folders(path, &d->alloc);

  if (error == 0 && !is_folder(path))
    error = ENOTDIR;
  return error == 0 ? PAI_OK
                    : pai__file_part_fail(err, "make the folder", path, error);
}

/* Makes the folders above `path`, after its first `skip` bytes.  `path` is
 * changed meanwhile. */
static int make_above(char *path, size_t skip, pai_error **err)
{
  struct stat st;
  int rc = PAI_OK;

  for (char *slash = strchr(path + skip, '/'); slash != NULL && rc == PAI_OK;
       slash = strchr(slash + 1, '/')) {
    int error = 0;

    *slash = '\0';
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
      error = errno;
    else if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode))
      error = ENOTDIR;
    if (error != 0)
      rc = pai__file_part_fail(err, "make the folder", path, error);
    *slash = '/';
  }
  return rc;
}

/* Sets the local path of an entry, and makes the folders above it. */
static int find_place(pai__copy_down *d, const char *path, pai_error **err)
{
  pai__buf b;

  pai__strfree(&d->alloc, d->place);
  pai__buf_init(&b, &d->alloc);
  pai__buf_str(&b, d->to);
  if (!d->is_file)
    pai__buf_printf(&b, "/%s", below(d, path));
  d->place = pai__buf_take(&b);
  if (d->place == NULL)
    return pai__oom(err);
  return d->is_file ? PAI_OK : make_above(d->place, strlen(d->to) + 1, err);
}

/* Returns whether a link stays in the folder: it goes up at most to the
 * folder, and then only down.  A path through other links may lead
 * anywhere. */
static bool stays(const char *path, const char *target)
{
  size_t depth = 0;

  for (const char *p = path; *p != '\0'; p++)
    depth += *p == '/';
  if (*target == '\0')
    return false;
  while (strcmp(target, "..") == 0 || strncmp(target, "../", 3) == 0) {
    if (depth-- == 0)
      return false;
    target += target[2] == '/' ? 3 : 2;
  }
  return *target == '\0' || strcmp(target, ".") == 0 || goes_down(target);
}

static int make_link(pai__copy_down *d, const item *i, pai_error **err)
{
  struct stat st;
  int rc = find_place(d, i->path, err);

  if (rc < 0)
    return rc;
  if (lstat(d->place, &st) == 0 && S_ISLNK(st.st_mode))
    (void)unlink(d->place);
  return symlink(i->target, d->place) == 0
           ? PAI_OK
           : pai__file_part_fail(err, "make the link", d->place, errno);
}

/* --- files -------------------------------------------------------------------- */

static bool is_copied(const char *path, const pai__below_entry *e)
{
  struct stat st;

  return lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
         (uint64_t)st.st_size == e->size &&
         (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 ==
           e->modified;
}

/* Makes the folder.  A file keeps its name in a folder. */
static int get_ready(pai__copy_down *d, pai_error **err)
{
  size_t len = strlen(d->to);
  const char *slash = strrchr(d->path, '/');
  pai__buf b;

  d->ready = true;
  if (!d->is_file)
    return make_folder(d, d->to, err);
  d->copy.into = is_folder(d->to) || (len > 0 && d->to[len - 1] == '/');
  if (!d->copy.into)
    return PAI_OK;
  pai__buf_init(&b, &d->alloc);
  pai__buf_printf(&b, "%s%s%s", d->to,
                  len > 0 && d->to[len - 1] == '/' ? "" : "/",
                  slash != NULL ? slash + 1 : d->path);
  pai__strfree(&d->alloc, d->to);
  d->to = pai__buf_take(&b);
  return d->to != NULL ? PAI_OK : pai__oom(err);
}

static int finish_file(pai__copy_down *d, pai_error **err)
{
  int rc = pai__file_part_finish(&d->part, err);

  d->copy.files += rc == PAI_OK;
  return rc;
}

/* 1: it is to be fetched; 0: it is there. */
static int open_file(pai__copy_down *d, const pai__below_entry *e,
                     pai_error **err)
{
  int rc;

  if (is_copied(d->place, e)) {
    d->copy.files++;
    return 0;
  }
  rc = pai__file_part_open(&d->part, &d->alloc, d->place, d->copy.job, e, err);
  if (rc < 0)
    pai__file_part_close(&d->part);
  if (rc < 0 || e->size == 0 || d->part.received < e->size)
    return rc < 0 ? rc : 1;
  rc = finish_file(d, err); /* all of it had arrived */
  pai__file_part_close(&d->part);
  return rc;
}

/* Makes an entry.  1: it is a file to be fetched. */
static int make(pai__copy_down *d, const item *i, pai_error **err)
{
  int rc;

  if (!d->is_file && i->e.type == PAI__BELOW_LINK) {
    if (stays(below(d, i->path), i->target))
      return add_item(d, &d->links, &i->e, err);
    return pai__copy_skip(&d->copy, below(d, i->path), PAI_OK, NULL, err);
  }
  rc = find_place(d, i->path, err);
  if (rc == PAI_OK && !d->is_file && i->e.type == PAI__BELOW_FOLDER)
    rc = make_folder(d, d->place, err);
  else if (rc == PAI_OK && (d->is_file || i->e.type == PAI__BELOW_FILE))
    rc = open_file(d, &i->e, err);
  return rc;
}

int pai__copy_down_begin(pai__copy_down *d, const pai__below_entry **file,
                         uint64_t *offset, pai_error **err)
{
  int rc = d->ready ? PAI_OK : get_ready(d, err);

  while (rc == PAI_OK && d->next < d->queue.n) {
    const item *i = &d->queue.at[d->next];

    rc = make(d, i, err);
    if (rc == 1) {
      *file = &i->e;
      *offset = d->part.received;
      return 1;
    }
    if (rc < 0)
      rc = pai__copy_skip(&d->copy, i->path, rc, *err, err);
    d->next++;
  }
  return rc;
}

int pai__copy_down_add(pai__copy_down *d, const char *bytes, size_t len)
{
  const pai__below_entry *e = &d->queue.at[d->next].e;
  int rc = pai__file_part_add(&d->part, bytes, len, &d->why);

  if (rc == PAI_OK)
    d->copy.bytes += len;
  if (rc == PAI_OK && d->copy.on_progress != NULL)
    d->copy.on_progress(d->copy.user_data, e->path, d->part.received, e->size);
  return rc;
}

int pai__copy_down_end(pai__copy_down *d, int status, const pai_error *why,
                       pai_error **err)
{
  const char *path = d->queue.at[d->next].path;

  if (d->why != NULL) {
    *err = d->why;
    status = pai_error_code(d->why);
    d->why = NULL;
  } else if (status == PAI_OK) {
    status = finish_file(d, err);
  } else if (status == PAI_EEXISTS) {
    d->part.keep = false;
  }
  pai__file_part_close(&d->part);
  if (status == PAI_EEXISTS && ++d->changes < TRIES)
    return status;
  if (status == PAI_EEXISTS)
    (void)pai__fail(err, status, "%s keeps changing while it is copied", path);
  d->next++;
  d->changes = 0;
  return status == PAI_OK ? PAI_OK
                          : pai__copy_skip(&d->copy, path, status,
                                           *err != NULL ? *err : why, err);
}

void pai__copy_down_again(pai__copy_down *d, const pai__below_entry *e)
{
  pai__below_entry *was = &d->queue.at[d->next].e;

  was->size = e->size;
  was->modified = e->modified;
  was->executable = e->executable;
}

int pai__copy_down_finish(pai__copy_down *d, pai_error **err)
{
  int rc = d->ready ? PAI_OK : get_ready(d, err);

  for (size_t i = 0; rc == PAI_OK && i < d->links.n; i++) {
    rc = make_link(d, &d->links.at[i], err);
    if (rc < 0)
      rc = pai__copy_skip(&d->copy, d->links.at[i].path, rc, *err, err);
  }
  return rc;
}

/* --- its life ------------------------------------------------------------------ */

/* Returns "a/b" of "./a//b/", "" of NULL. */
static char *plain(const char *path, const pai_alloc *alloc)
{
  pai__buf b;

  pai__buf_init(&b, alloc);
  while (path != NULL && *path != '\0') {
    size_t n = strcspn(path, "/");

    if (n > 0 && !(n == 1 && path[0] == '.')) {
      pai__buf_str(&b, b.len > 0 ? "/" : "");
      pai__buf_add(&b, path, n);
    }
    path += n + (path[n] == '/');
  }
  if (b.len == 0)
    pai__buf_str(&b, "");
  return pai__buf_take(&b);
}

int pai__copy_down_options(pai_download_options *out,
                           const pai_download_options *opts, pai_error **err)
{
  int rc;

  PAI__CHECK_ARG_ERR(opts != NULL, err);
  rc = PAI__OPTIONS_IN(out, opts, pai_download_options, on_skip);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_download_options");
  if (out->to == NULL || out->to[0] == '\0')
    return pai__fail(err, PAI_EINVAL, "pai_download_options: no `to`");
  return PAI_OK;
}

int pai__copy_down_new(pai__copy_down **out, const pai__copy *how,
                       const pai_download_options *o, pai_error **err)
{
  pai__copy_down *d = pai__zalloc(how->alloc, sizeof(*d));

  *out = NULL;
  if (d == NULL)
    return pai__oom(err);
  d->alloc = *how->alloc;
  d->copy = *how;
  d->copy.on_progress = o->on_progress;
  d->copy.on_skip = o->on_skip;
  d->part.fd = -1;
  d->path = plain(o->path, &d->alloc);
  d->to = pai__strdup(&d->alloc, o->to);
  if (d->path != NULL && d->to != NULL) {
    *out = d;
    return PAI_OK;
  }
  pai__copy_down_free(d);
  return pai__oom(err);
}

void pai__copy_down_free(pai__copy_down *d)
{
  pai_alloc alloc;

  if (d == NULL)
    return;
  alloc = d->alloc;
  pai__file_part_close(&d->part);
  free_items(&alloc, &d->queue);
  free_items(&alloc, &d->links);
  pai__strfree(&alloc, d->path);
  pai__strfree(&alloc, d->to);
  pai__strfree(&alloc, d->place);
  pai_error_free(d->why);
  pai__free(&alloc, d, sizeof(*d));
}

const char *pai__copy_down_path(const pai__copy_down *d)
{
  return d->path;
}

const pai__copy *pai__copy_down_state(const pai__copy_down *d)
{
  return &d->copy;
}
