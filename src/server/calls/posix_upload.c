/*
 * posix_upload.c - unpacks a user's code while it is received
 *
 * Archives are ustar with the long names of pax and GNU tar, and hold files,
 * folders and symbolic links.  Each folder of a name is opened separately and
 * never through a link, so nothing is written outside, whatever links an
 * archive has made.
 */
#define _XOPEN_SOURCE 700 /* nftw(), mkdtemp() */
#include "server/calls/upload.h"

#include "base/os/posix_errno.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  BLOCK = 512,
  MOST_NAME = 8192, /* of a file, or of all names in a pax header */
  NAME_AT = 0,
  MODE_AT = 100,
  SIZE_AT = 124,
  SUM_AT = 148,
  TYPE_AT = 156,
  LINK_AT = 157,
  MAGIC_AT = 257,
  PREFIX_AT = 345,
  OF_ENTRY = 4096 /* least disk space of an entry */
};

struct pai__upload {
  pai_alloc alloc;
  char *dir;
  /* writes with the rights of this user; NULL: of this process */
  pai__user *who;
  uint64_t left, most; /* bytes that may still come, and the initial number */
  char block[BLOCK];
  size_t have;            /* bytes in `block` */
  int file;               /* being written, or -1 */
  uint64_t rest, padding; /* of the entry */
  char type;              /* of the entry */
  pai__buf text;          /* of a header with names */
  pai__buf name, link;    /* for the next entry, if not empty */
  bool over, whole;
};

static int wrong(pai_error **err, const char *what)
{
  return pai__fail(err, PAI_EINVAL, "the code is not a tar archive: %s", what);
}

static int failed(pai_error **err, const char *what, const char *name)
{
  return pai__fail(err, PAI_EIO, "cannot %s %s: %s", what, name,
                   PAI__ERRNO_TEXT(errno));
}

/* --- names --------------------------------------------------------------- */

/* Parses an octal number; returns -1 on failure. */
static int64_t read_octal(const char *text, size_t len)
{
  int64_t n = 0;
  size_t i = 0;

  while (i < len && text[i] == ' ')
    i++;
  for (; i < len && text[i] >= '0' && text[i] <= '7'; i++) {
    if (n > INT64_MAX / 8 - 8)
      return -1;
    n = n * 8 + (text[i] - '0');
  }
  return i < len && text[i] != ' ' && text[i] != '\0' ? -1 : n;
}

static void add_field(pai__buf *to, const char *field, size_t size)
{
  const char *end = memchr(field, '\0', size);

  pai__buf_add(to, field, end != NULL ? (size_t)(end - field) : size);
}

/* Parses records "LEN KEY=VALUE
 * ". */
static int read_pax(pai__upload *u, pai_error **err)
{
  const char *p = pai__buf_text(&u->text), *end = p + u->text.len;

  while (p < end) {
    char *key;
    long len = strtol(p, &key, 10);
    if (*p < '0' || *p > '9' || len <= 0 || len > end - p || *key != ' ' ||
        p[len - 1] != '\n')
      return wrong(err, "invalid pax header");
    key++;
    if (strncmp(key, "path=", 5) == 0) {
      pai__buf_cut(&u->name, 0);
      pai__buf_add(&u->name, key + 5, (size_t)(p + len - 1 - (key + 5)));
    } else if (strncmp(key, "linkpath=", 9) == 0) {
      pai__buf_cut(&u->link, 0);
      pai__buf_add(&u->link, key + 9, (size_t)(p + len - 1 - (key + 9)));
    }
    p += len;
  }
  return PAI_OK;
}

/* Takes the names of a complete header. */
static int end_text(pai__upload *u, pai_error **err)
{
  pai__buf *to = u->type == 'L' ? &u->name : &u->link;

  if (u->type == 'x')
    return read_pax(u, err);
  pai__buf_cut(to, 0);
  add_field(to, pai__buf_text(&u->text), u->text.len);
  return PAI_OK;
}

/* --- entries ------------------------------------------------------------- */

static bool take(pai__upload *u, uint64_t bytes)
{
  if (bytes > u->left)
    return false;
  u->left -= bytes;
  return true;
}

static int too_large(const pai__upload *u, pai_error **err)
{
  return pai__fail(err, PAI_ELIMIT,
                   "the code exceeds %llu bytes (each file and folder counts "
                   "as at least 4096)",
                   (unsigned long long)u->most);
}

/* Opens the folder of `name` and makes missing folders, which count as
 * entries.  *last is the rest of the name, NULL if the name is the folder
 * itself.  Returns -1 and errno: EPERM for a name that leads outside, EDQUOT
 * if the limit is reached. */
static int open_folder(pai__upload *u, char *name, const char **last)
{
  int folder = open(u->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), next;
  char *part = name, *slash;

  *last = NULL;
  for (; folder >= 0 && *part != '\0'; part = slash + 1) {
    slash = strchr(part, '/');
    if (slash != NULL)
      *slash = '\0';
    if (strcmp(part, "..") == 0) {
      (void)close(folder);
      errno = EPERM;
      return -1;
    }
    if (part[0] != '\0' && strcmp(part, ".") != 0) {
      if (slash == NULL || slash[1 + strspn(slash + 1, "/")] == '\0') {
        *last = part;
        return folder;
      }
      if (mkdirat(folder, part, 0700) == 0 && !take(u, OF_ENTRY)) {
        (void)close(folder);
        errno = EDQUOT;
        return -1;
      }
      next =
        openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      (void)close(folder);
      folder = next;
    }
    if (slash == NULL)
      break;
  }
  return folder;
}

/* Makes the entry; the bytes of a file follow. */
static int make(pai__upload *u, int folder, const char *name, mode_t mode)
{
  if (u->type == '5')
    return mkdirat(folder, name, 0700) == 0 || errno == EEXIST ? 0 : -1;
  (void)unlinkat(folder, name, 0); /* a later entry replaces an earlier one */
  if (u->type == '2')
    return symlinkat(pai__buf_text(&u->link), folder, name);
  u->file =
    openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
           0600 | (mode & 0100));
  return u->file < 0 ? -1 : 0;
}

static int begin_entry(pai__upload *u, mode_t mode, pai_error **err)
{
  size_t size = u->name.len + 1; /* the name is cut into parts */
  char *name = pai__buf_take(&u->name);
  const char *last;
  int folder, rc = PAI_OK;

  if (name == NULL)
    return pai__oom(err);
  folder = name[0] == '/' ? -1 : open_folder(u, name, &last);
  if (name[0] == '/')
    errno = EPERM;
  if (folder < 0 && errno == EDQUOT)
    rc = too_large(u, err);
  else if (folder < 0 || (last != NULL && make(u, folder, last, mode) < 0))
    rc =
      errno == EPERM || errno == ELOOP || errno == ENOTDIR
        ? pai__fail(
            err, PAI_EINVAL,
            "the archive has a path outside of the code folder: %.200s", name)
        : failed(err, "make", name);
  if (folder >= 0)
    (void)close(folder);
  pai__free(&u->alloc, name, size);
  pai__buf_cut(&u->link, 0);
  return rc;
}

/* --- the archive --------------------------------------------------------- */

static bool is_zero(const char block[BLOCK])
{
  for (size_t i = 0; i < BLOCK; i++)
    if (block[i] != '\0')
      return false;
  return true;
}

static bool has_sum(const char block[BLOCK])
{
  int64_t sum = 0;

  for (size_t i = 0; i < BLOCK; i++)
    sum += i >= SUM_AT && i < SUM_AT + 8 ? ' ' : (unsigned char)block[i];
  return sum == read_octal(block + SUM_AT, 8);
}

static void add_name(pai__buf *to, const char block[BLOCK])
{
  if (block[PREFIX_AT] != '\0' && memcmp(block + MAGIC_AT, "ustar", 6) == 0) {
    add_field(to, block + PREFIX_AT, 155);
    pai__buf_char(to, '/');
  }
  add_field(to, block + NAME_AT, 100);
}

/* Reads the block that begins an entry. */
static int read_head(pai__upload *u, pai_error **err)
{
  const char *b = u->block;
  int64_t size = read_octal(b + SIZE_AT, 12), mode;

  if (is_zero(b)) {
    u->over = true;
    return PAI_OK;
  }
  if (!has_sum(b) || size < 0)
    return wrong(err, "invalid header");
  if (!take(u, OF_ENTRY - BLOCK))
    return too_large(u, err);
  u->type = b[TYPE_AT] == '\0' ? '0' : b[TYPE_AT];
  if (strchr("05xgLK2", u->type) == NULL)
    return pai__fail(
      err, PAI_EINVAL,
      "the archive has an entry that is no file, folder or link: %.100s",
      b + NAME_AT);
  u->rest = u->type == '2' || u->type == '5' ? 0 : (uint64_t)size;
  u->padding = (BLOCK - u->rest % BLOCK) % BLOCK;
  pai__buf_cut(&u->text, 0);
  if (strchr("xgLK", u->type) != NULL)
    return u->rest <= MOST_NAME
             ? PAI_OK
             : wrong(err, "a name in the archive is too long");
  if (u->name.len == 0) /* else an earlier header has set it */
    add_name(&u->name, b);
  if (u->link.len == 0)
    add_field(&u->link, b + LINK_AT, 100);
  mode = read_octal(b + MODE_AT, 8);
  return begin_entry(u, (mode_t)(mode > 0 ? mode : 0), err);
}

static int write_file(const pai__upload *u, const char *bytes, size_t len,
                      pai_error **err)
{
  while (len > 0) {
    ssize_t n = write(u->file, bytes, len);
    if (n < 0 && errno != EINTR)
      return failed(err, "write in", u->dir);
    if (n > 0) {
      bytes += n;
      len -= (size_t)n;
    }
  }
  return PAI_OK;
}

/* Consumes bytes of the entry; returns true after the last ones. */
static bool end_entry(pai__upload *u)
{
  if (u->rest > 0)
    return false;
  if (u->file >= 0)
    (void)close(u->file);
  u->file = -1;
  return true;
}

static int take_rest(pai__upload *u, const char *bytes, size_t len,
                     pai_error **err)
{
  int rc = PAI_OK;

  if (u->file >= 0)
    rc = write_file(u, bytes, len, err);
  /* a 'g' header has no name that counts */
  else if (strchr("xLK", u->type) != NULL)
    pai__buf_add(&u->text, bytes, len);
  u->rest -= len;
  if (rc == PAI_OK && !pai__buf_ok(&u->text))
    rc = pai__oom(err);
  if (rc == PAI_OK && end_entry(u) && strchr("xLK", u->type) != NULL)
    rc = end_text(u, err);
  return rc;
}

static int add(pai__upload *u, const char *bytes, size_t len, pai_error **err)
{
  int rc = PAI_OK;

  if (!take(u, len))
    return too_large(u, err);
  while (len > 0 && rc == PAI_OK && !u->over) {
    size_t n = BLOCK - u->have;
    if (u->rest > 0 || u->padding > 0) {
      n = (size_t)(u->rest > 0 ? u->rest : u->padding);
      if (n > len || (u->rest > len && u->rest > 0))
        n = len;
      if (u->rest > 0)
        rc = take_rest(u, bytes, n, err);
      else
        u->padding -= n;
    } else {
      if (n > len)
        n = len;
      memcpy(u->block + u->have, bytes, n);
      u->have += n;
      if (u->have == BLOCK) {
        u->have = 0;
        rc = read_head(u, err);
        if (rc == PAI_OK)
          (void)end_entry(u);
      }
    }
    bytes += n;
    len -= n;
  }
  return rc;
}

int pai__upload_add(pai__upload *u, const char *bytes, size_t len,
                    pai_error **err)
{
  int rc;

  if (!pai__as_user(u->who))
    return pai__fail(err, PAI_EPERM, "this process cannot act for %s",
                     u->who->name);
  rc = add(u, bytes, len, err);
  /* Writing deeper in the folder does not change its mtime.  Without this, it
   * would be swept away like an upload that no job has taken. */
  (void)!utimensat(AT_FDCWD, u->dir, NULL, AT_SYMLINK_NOFOLLOW);
  pai__as_self(u->who);
  return rc;
}

int pai__upload_end(pai__upload *u, pai_error **err)
{
  if (!u->over || u->rest > 0)
    return wrong(err, "unexpected end");
  u->whole = true;
  return PAI_OK;
}

/* --- begin and end ------------------------------------------------------- */

/* This process makes the folder, then gives it to the user. */
static int make_folder(pai__upload *u, const char *folder, pai_error **err)
{
  (void)mkdir(folder, 0700);
  if (mkdtemp(u->dir) == NULL)
    return failed(err, "make a folder in", folder);
  if (u->who != NULL && lchown(u->dir, u->who->uid, u->who->gid) != 0) {
    int rc = failed(err, "hand over", u->dir);
    (void)rmdir(u->dir);
    return rc;
  }
  return PAI_OK;
}

bool pai__upload_is_of(const char *dir, const pai__user *who)
{
  struct stat st;

  return who == NULL || (lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) &&
                         st.st_uid == who->uid);
}

bool pai__upload_is_there(const char *dir)
{
  struct stat st;

  return lstat(dir, &st) == 0;
}

uint64_t pai__upload_size(const pai__upload *u)
{
  return u->most - u->left;
}

int pai__upload_new(pai__upload **out, const pai_alloc *alloc,
                    const char *folder, const pai__user *who, uint64_t most,
                    pai_error **err)
{
  pai__upload *u = pai__zalloc(alloc, sizeof(*u));
  pai__buf dir;
  int rc;

  *out = NULL;
  if (u == NULL)
    return pai__oom(err);
  *u =
    (pai__upload){ .alloc = *alloc, .left = most, .most = most, .file = -1 };
  pai__buf_init(&u->text, &u->alloc);
  pai__buf_init(&u->name, &u->alloc);
  pai__buf_init(&u->link, &u->alloc);
  pai__buf_init(&dir, &u->alloc);
  pai__buf_printf(&dir, "%s/new-XXXXXX", folder);
  u->dir = pai__buf_take(&dir);
  if (who != NULL && (u->who = pai__zalloc(alloc, sizeof(*who))) != NULL)
    *u->who = *who;
  rc = u->dir == NULL || (who != NULL && u->who == NULL)
         ? pai__oom(err)
         : make_folder(u, folder, err);
  if (rc < 0) {
    u->whole = true; /* nothing to remove */
    pai__upload_free(u);
    return rc;
  }
  *out = u;
  return PAI_OK;
}

bool pai__upload_is_whole(const pai__upload *u)
{
  return u->whole;
}

const char *pai__upload_dir(const pai__upload *u)
{
  return u->dir;
}

static int on_left(const char *path, const struct stat *st, int what,
                   struct FTW *where)
{
  (void)st;
  (void)what;
  (void)where;
  return remove(path);
}

void pai__upload_free(pai__upload *u)
{
  pai_alloc alloc;

  if (u == NULL)
    return;
  alloc = u->alloc;
  if (u->file >= 0)
    (void)close(u->file);
  if (!u->whole && u->dir != NULL && pai__as_user(u->who)) {
    (void)nftw(u->dir, on_left, 16, FTW_DEPTH | FTW_PHYS);
    pai__as_self(u->who);
    (void)rmdir(u->dir);
  }
  pai__buf_dispose(&u->text);
  pai__buf_dispose(&u->name);
  pai__buf_dispose(&u->link);
  pai__strfree(&alloc, u->dir);
  pai__free(&alloc, u->who, sizeof(*u->who));
  pai__free(&alloc, u, sizeof(*u));
}
