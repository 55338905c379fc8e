/* posix_copy_up.c - local files are sent to a job's folder */
#define _GNU_SOURCE /* O_PATH */
#include "base/hash.h"
#include "base/os/posix_copy.h"
#include "base/os/posix_part.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  PAGE = 1000,            /* entries */
  MOST_AT_ONCE = 1 << 20, /* a larger file can be continued */
  NAME = 40
};

struct pai__copy_up {
  pai__copy copy;
  pai_alloc alloc;
  char *from, *to;
  pai__below below; /* `from`, if that is a folder; else its folder is -1 */
  char **queue;     /* a page of paths below it; folders end with "/" */
  size_t n, cap, next;
  char *folder;       /* the last folder of the list, or NULL */
  char *after;        /* path of the last entry of the list, or NULL */
  bool listed;        /* there are no more pages */
  bool begun;         /* something was found to be sent */
  bool failed;        /* out of memory in a callback */
  char *local, *path; /* of the file that is sent */
  char name[NAME];
  int fd; /* that file, or -1 */
  uint64_t size;
};

/* --- the list ---------------------------------------------------------------- */

static void queue(pai__copy_up *u, const char *path, const char *end)
{
  pai__buf b;
  char *text;

  pai__buf_init(&b, &u->alloc);
  pai__buf_printf(&b, "%s%s", path, end);
  text = pai__buf_take(&b);
  if (text != NULL && PAI__VEC_ROOM(&u->alloc, u->queue, u->n, u->cap) == 0) {
    u->queue[u->n++] = text;
    return;
  }
  pai__strfree(&u->alloc, text);
  u->failed = true;
}

/* An empty folder is sent; others are made with their files. */
static void leave_folder(pai__copy_up *u, const char *path)
{
  size_t len = u->folder != NULL ? strlen(u->folder) : 0;

  if (len > 0 && (strncmp(path, u->folder, len) != 0 || path[len] != '/'))
    queue(u, u->folder, "/");
  pai__strfree(&u->alloc, u->folder);
  u->folder = NULL;
}

static void on_entry(void *user_data, const pai__below_entry *e)
{
  pai__copy_up *u = user_data;

  leave_folder(u, e->path);
  pai__strfree(&u->alloc, u->after);
  u->after = pai__strdup(&u->alloc, e->path);
  u->failed |= u->after == NULL;
  if (e->type != PAI__BELOW_FOLDER) {
    queue(u, e->path, "");
  } else {
    u->folder = pai__strdup(&u->alloc, e->path);
    u->failed |= u->folder == NULL;
  }
}

static void free_queue(pai__copy_up *u)
{
  for (size_t i = 0; i < u->n; i++)
    pai__strfree(&u->alloc, u->queue[i]);
  u->n = u->next = 0;
}

static int list_page(pai__copy_up *u, pai_error **err)
{
  const pai__below_ask ask = { .path = "",
                               .after = u->after,
                               .limit = PAGE,
                               .recursive = true,
                               .is_hidden = pai__file_part_is,
                               .on_entry = on_entry,
                               .user_data = u };
  char *after = u->after;
  pai__below_answer a;
  int rc;

  free_queue(u);
  u->after = NULL;
  rc = pai__below_list(&a, &u->below, &ask, err);
  pai__strfree(&u->alloc, after);
  u->listed = rc < 0 || !a.more;
  if (u->listed)
    leave_folder(u, "");
  if (rc == PAI_OK && u->listed && !u->begun && u->n == 0 && u->to[0] != '\0')
    queue(u, "", "/"); /* the folder itself is empty */
  u->begun |= u->n > 0;
  return rc == PAI_OK && u->failed ? pai__oom(err) : rc;
}

/* --- a file ------------------------------------------------------------------- */

/* Hashes what a file has when it has not changed. */
static void name_upload(pai__copy_up *u, const struct stat *st)
{
  uint64_t h = PAI__HASH_SEED;

  h = pai__hash(h, u->copy.job, strlen(u->copy.job) + 1);
  h = pai__hash(h, u->path, strlen(u->path) + 1);
  h = pai__hash(h, &st->st_dev, sizeof(st->st_dev));
  h = pai__hash(h, &st->st_ino, sizeof(st->st_ino));
  h = pai__hash(h, &st->st_size, sizeof(st->st_size));
  h = pai__hash(h, &st->st_mtim.tv_sec, sizeof(st->st_mtim.tv_sec));
  h = pai__hash(h, &st->st_mtim.tv_nsec, sizeof(st->st_mtim.tv_nsec));
  (void)snprintf(u->name, sizeof(u->name), "file-%016" PRIx64, h);
}

/* Sets the local path and that in the job's folder. */
static int find_paths(pai__copy_up *u, const char *path, pai_error **err)
{
  size_t len = strlen(u->to);
  bool is_empty = strcmp(path, "/") == 0; /* the folder itself */
  pai__buf local, to;

  pai__strfree(&u->alloc, u->local);
  pai__strfree(&u->alloc, u->path);
  pai__buf_init(&local, &u->alloc);
  pai__buf_init(&to, &u->alloc);
  pai__buf_str(&local, u->from);
  pai__buf_str(&to, u->to);
  if (u->below.folder >= 0) {
    if (len > 0 && u->to[len - 1] != '/' && !is_empty)
      pai__buf_str(&to, "/");
    if (u->from[strlen(u->from) - 1] != '/')
      pai__buf_str(&local, "/");
    pai__buf_str(&local, path);
    if (!is_empty || u->to[len - 1] != '/')
      pai__buf_str(&to, path);
  }
  u->local = pai__buf_take(&local);
  u->path = pai__buf_take(&to);
  return u->local != NULL && u->path != NULL ? PAI_OK : pai__oom(err);
}

static bool is_link(const char *path)
{
  struct stat st;

  return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* 1: it is open; 0: it is not to be sent. */
static int open_file(pai__copy_up *u, const char *path,
                     pai__copy_up_file *file, pai_error **err)
{
  size_t len = strlen(path);
  bool folder = len > 0 && path[len - 1] == '/';
  struct stat st;
  int rc = find_paths(u, path, err);

  if (rc < 0)
    return rc;
  u->fd = open(u->local, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if ((u->fd < 0 && len > 0 && is_link(u->local)) ||
      (u->fd >= 0 && fstat(u->fd, &st) == 0 && !folder &&
       !S_ISREG(st.st_mode)))
    return pai__copy_skip(&u->copy, u->local, PAI_OK, NULL, err);
  if (u->fd < 0 || fstat(u->fd, &st) != 0)
    return pai__file_part_fail(err, "read", u->local, errno);
  u->size = folder ? 0 : (uint64_t)st.st_size;
  *file = (pai__copy_up_file){ .path = u->path,
                               .size = u->size,
                               .executable = !folder && (st.st_mode & 0100) };
  if (u->copy.job != NULL && u->size > MOST_AT_ONCE) {
    name_upload(u, &st);
    file->name = u->name;
  }
  return 1;
}

static void close_file(pai__copy_up *u)
{
  if (u->fd >= 0)
    (void)close(u->fd);
  u->fd = -1;
}

int pai__copy_up_begin(pai__copy_up *u, pai__copy_up_file *file,
                       pai_error **err)
{
  int rc = PAI_OK;

  while (rc == PAI_OK && (u->next < u->n || !u->listed)) {
    if (u->next == u->n) {
      rc = list_page(u, err);
      continue;
    }
    rc = open_file(u, u->queue[u->next], file, err);
    if (rc == 1)
      return 1;
    close_file(u);
    if (rc < 0)
      rc = pai__copy_skip(&u->copy, u->local, rc, *err, err);
    u->next++;
  }
  return rc;
}

ptrdiff_t pai__copy_up_read(pai__copy_up *u, uint64_t offset, char *buffer,
                            size_t size)
{
  ssize_t n;

  do
    n = pread(u->fd, buffer, size, (off_t)offset);
  while (n < 0 && errno == EINTR);
  return n > 0 ? n : PAI_EIO; /* the file has become shorter */
}

void pai__copy_up_progress(pai__copy_up *u, uint64_t sent, uint64_t total)
{
  if (u->copy.on_progress != NULL && total > 0)
    u->copy.on_progress(u->copy.user_data, u->local, sent, total);
}

int pai__copy_up_end(pai__copy_up *u, int status, const pai_error *why,
                     pai_error **err)
{
  size_t len = strlen(u->path);

  close_file(u);
  u->next++;
  if (status < 0)
    return pai__copy_skip(&u->copy, u->local, status, why, err);
  u->copy.files += u->path[len - 1] != '/';
  u->copy.bytes += u->size;
  return PAI_OK;
}

/* --- its life ------------------------------------------------------------------ */

/* A file keeps its name in a folder of the job. */
static int keep_name(pai__copy_up *u, pai_error **err)
{
  const char *slash = strrchr(u->from, '/');
  size_t len = strlen(u->to);
  pai__buf b;

  u->listed = true;
  queue(u, "", "");
  u->copy.into = len == 0 || u->to[len - 1] == '/';
  if (u->copy.into) {
    pai__buf_init(&b, &u->alloc);
    pai__buf_printf(&b, "%s%s", u->to, slash != NULL ? slash + 1 : u->from);
    pai__strfree(&u->alloc, u->to);
    u->to = pai__buf_take(&b);
  }
  return u->failed || u->to == NULL ? pai__oom(err) : PAI_OK;
}

static int begin(pai__copy_up *u, pai_error **err)
{
  struct stat st;
  int fd;

  if (stat(u->from, &st) != 0)
    return pai__file_part_fail(err, "read", u->from, errno);
  if (S_ISREG(st.st_mode))
    return keep_name(u, err);
  if (!S_ISDIR(st.st_mode))
    return pai__fail(err, PAI_EINVAL, "%s is neither a file nor a folder",
                     u->from);
  fd = open(u->from, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return pai__file_part_fail(err, "read", u->from, errno);
  u->below = (pai__below){ .folder = fd, .what = u->from, .alloc = &u->alloc };
  return PAI_OK;
}

int pai__copy_up_options(pai_upload_options *out,
                         const pai_upload_options *opts, pai_error **err)
{
  int rc;

  PAI__CHECK_ARG_ERR(opts != NULL, err);
  rc = PAI__OPTIONS_IN(out, opts, pai_upload_options, on_skip);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_upload_options");
  if (out->from == NULL || out->from[0] == '\0')
    return pai__fail(err, PAI_EINVAL, "pai_upload_options: no `from`");
  return PAI_OK;
}

int pai__copy_up_new(pai__copy_up **out, const pai__copy *how,
                     const pai_upload_options *o, pai_error **err)
{
  pai__copy_up *u = pai__zalloc(how->alloc, sizeof(*u));
  int rc;

  *out = NULL;
  if (u == NULL)
    return pai__oom(err);
  u->alloc = *how->alloc;
  u->copy = *how;
  u->copy.on_progress = o->on_progress;
  u->copy.on_skip = o->on_skip;
  u->fd = u->below.folder = -1;
  u->from = pai__strdup(&u->alloc, o->from);
  u->to = pai__strdup(&u->alloc, o->path != NULL ? o->path : "");
  rc = u->from != NULL && u->to != NULL ? begin(u, err) : pai__oom(err);
  if (rc == PAI_OK)
    *out = u;
  else
    pai__copy_up_free(u);
  return rc;
}

void pai__copy_up_free(pai__copy_up *u)
{
  pai_alloc alloc;

  if (u == NULL)
    return;
  alloc = u->alloc;
  close_file(u);
  if (u->below.folder >= 0)
    (void)close(u->below.folder);
  free_queue(u);
  pai__free(&alloc, u->queue, u->cap * sizeof(*u->queue));
  pai__strfree(&alloc, u->from);
  pai__strfree(&alloc, u->to);
  pai__strfree(&alloc, u->folder);
  pai__strfree(&alloc, u->after);
  pai__strfree(&alloc, u->local);
  pai__strfree(&alloc, u->path);
  pai__free(&alloc, u, sizeof(*u));
}

const pai__copy *pai__copy_up_state(const pai__copy_up *u)
{
  return &u->copy;
}
