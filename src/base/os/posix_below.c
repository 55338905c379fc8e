/* posix_below.c - safe access to paths below a folder that belongs to another
 * user */
#define _GNU_SOURCE /* O_PATH */

#include "base/os/posix_below.h"

#include "base/buf.h"
#include "base/os/posix_errno.h"
#include "base/text/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  MOST_LINKS = 40,
  MOST_STEPS = 8192, /* folders opened on the way */
  PASS = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
  OUT = -1 /* instead of an error number: the path leads out */
};

/* Walking of a path. */
typedef struct walk {
  const pai__below *b;
  pai__buf done; /* path of the open folder, without links */
  pai__buf rest; /* the rest, from `pos` on */
  size_t pos;
  int at; /* the open folder, or -1 */
  unsigned links, steps;
  bool makes; /* create missing folders */
} walk;

/* --- failures ------------------------------------------------------------ */

static int refuse(const pai__below *b, const char *path, pai_error **err)
{
  char text[PAI__EXCERPT];

  return pai__fail(err, PAI_EINVAL, "'%s' leads out of %s",
                   pai__excerpt(text, path, strlen(path)), b->what);
}

int pai__below_fail(const pai__below *b, const char *path, int number,
                    pai_error **err)
{
  char text[PAI__EXCERPT];
  const char *shown = pai__excerpt(text, path, strlen(path));
  int code;

  switch (number) {
  case OUT: return refuse(b, path, err);
  case ENOMEM: return pai__oom(err);
  case ENOENT:
  case ENOTDIR:
    return pai__fail(err, PAI_ENOTFOUND, "there is no '%s' in %s", shown,
                     b->what);
  case EACCES:
  case EPERM:
  case EROFS: code = PAI_EPERM; break;
  case ELOOP:
  case EISDIR:
  case ENAMETOOLONG: code = PAI_EINVAL; break;
  default: code = PAI_EIO;
  }
  code = pai__fail(err, code, "cannot open '%s' in %s: %s", shown, b->what,
                   PAI__ERRNO_TEXT(number));
  if (pai__errno_is_shortage(number))
    pai__error_retriable(err);
  return code;
}

/* --- walking part by part ------------------------------------------------ */

static int step_into(walk *w, const char *name)
{
  int fd = openat(w->at, name, PASS);

  if (fd >= 0 && ++w->steps > MOST_STEPS) {
    (void)close(fd);
    fd = -1;
    errno = ELOOP;
  }
  if (fd < 0)
    return errno;
  (void)close(w->at);
  w->at = fd;
  return 0;
}

static int step_to_top(walk *w)
{
  int fd = openat(w->b->folder, ".", PASS);

  if (fd < 0)
    return errno;
  if (w->at >= 0)
    (void)close(w->at);
  w->at = fd;
  return 0;
}

/* Starts again at the top for "..": a folder may have been moved out, and what
 * is above it must not be visible. */
static int step_up(walk *w)
{
  char *part = w->done.data, *end, *last;
  int error;

  if (w->done.len == 0)
    return OUT;
  last = part + w->done.len;
  while (last > part && last[-1] != '/')
    last--;
  pai__buf_cut(&w->done, (size_t)(last > part ? last - 1 - part : 0));
  error = step_to_top(w);
  for (end = part + w->done.len; error == 0 && part < end;) {
    char *slash = memchr(part, '/', (size_t)(end - part));

    if (slash != NULL)
      *slash = '\0';
    error = step_into(w, part);
    if (slash != NULL)
      *slash = '/';
    part = slash != NULL ? slash + 1 : end;
  }
  return error;
}

/* Replaces a link by its target. 0, an error number, or EINVAL: not a link. */
static int follow(walk *w, const char *name)
{
  char target[PAI__BELOW_PATH];
  ssize_t n = readlinkat(w->at, name, target, sizeof(target));
  pai__buf rest;

  if (n < 0)
    return errno;
  if (w->b->no_links || ++w->links > MOST_LINKS)
    return ELOOP;
  if (n == 0 || target[0] == '/')
    return OUT;
  if ((size_t)n + w->rest.len - w->pos >= PAI__BELOW_PATH)
    return ENAMETOOLONG;
  pai__buf_init(&rest, w->b->alloc);
  pai__buf_add(&rest, target, (size_t)n);
  pai__buf_add(&rest, w->rest.data + w->pos, w->rest.len - w->pos);
  pai__buf_dispose(&w->rest);
  w->rest = rest;
  w->pos = 0;
  return pai__buf_ok(&rest) ? 0 : ENOMEM;
}

static int into_folder(walk *w, const char *name)
{
  int error = step_into(w, name), link;

  if (error == ENOENT && w->makes &&
      (mkdirat(w->at, name, 0777) == 0 || errno == EEXIST))
    error = step_into(w, name);
  else if (error == ENOENT && w->makes)
    error = errno;
  if (error == ENOTDIR || error == ELOOP) {
    link = follow(w, name);
    return link != EINVAL ? link : error;
  }
  if (error == 0 && w->done.len > 0)
    pai__buf_char(&w->done, '/');
  if (error == 0)
    pai__buf_str(&w->done, name);
  return error == 0 && !pai__buf_ok(&w->done) ? ENOMEM : error;
}

/* Returns the next part, cut off from the rest, which begins with the slash
 * after it; "": there is none. */
static char *next_part(walk *w, char part[PAI__BELOW_PATH])
{
  const char *rest = pai__buf_text(&w->rest);
  size_t len;

  w->pos += strspn(rest + w->pos, "/");
  len = strcspn(rest + w->pos, "/");
  memcpy(part, rest + w->pos, len);
  part[len] = '\0';
  w->pos += len;
  return part;
}

/* Walks to the end of the path.  `last` is then a name in w->at that is not a
 * link and was not requested as a folder; or "". */
static int go(walk *w, char last[PAI__BELOW_PATH])
{
  int error = step_to_top(w);

  while (error == 0 && next_part(w, last)[0] != '\0') {
    if (strcmp(last, ".") == 0)
      continue;
    if (strcmp(last, "..") == 0) {
      error = step_up(w);
    } else if (w->pos < w->rest.len) {
      error = into_folder(w, last);
    } else {
      error = follow(w, last);
      if (error == EINVAL || error == ENOENT)
        return 0; /* a missing file may be created */
    }
  }
  last[0] = '\0';
  return error;
}

static int begin(walk *w, const pai__below *b, const char *path, bool makes)
{
  *w = (walk){ .b = b, .at = -1, .makes = makes };
  pai__buf_init(&w->done, b->alloc);
  pai__buf_init(&w->rest, b->alloc);
  if (path[0] == '/')
    return OUT;
  if (strlen(path) >= PAI__BELOW_PATH)
    return ENAMETOOLONG;
  pai__buf_str(&w->rest, path);
  return pai__buf_ok(&w->rest) ? 0 : ENOMEM;
}

static void end(walk *w)
{
  if (w->at >= 0)
    (void)close(w->at);
  pai__buf_dispose(&w->done);
  pai__buf_dispose(&w->rest);
}

/* --- public functions ---------------------------------------------------- */

static int no_file(const pai__below *b, const char *path, pai_error **err)
{
  char text[PAI__EXCERPT];

  return pai__fail(err, PAI_EINVAL, "%s in %s is not a regular file",
                   pai__excerpt(text, path, strlen(path)), b->what);
}

/* Checks the type before opening, because opening a device or pipe may have
 * effects, and again afterwards. */
static int open_regular(int *fd, int folder, const char *name, bool *regular)
{
  struct stat st;

  if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
    return errno;
  *regular = S_ISREG(st.st_mode);
  if (!*regular)
    return 0;
  *fd = openat(folder, name,
               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (*fd < 0)
    return errno;
  *regular = fstat(*fd, &st) == 0 && S_ISREG(st.st_mode);
  if (!*regular) {
    (void)close(*fd);
    *fd = -1;
  }
  return 0;
}

int pai__below_open(int *fd, const pai__below *b, const char *path,
                    pai_error **err)
{
  char last[PAI__BELOW_PATH];
  bool regular = false;
  walk w;
  int error = begin(&w, b, path, false);

  *fd = -1;
  if (error == 0)
    error = go(&w, last);
  if (error == 0 && last[0] != '\0')
    error = open_regular(fd, w.at, last, &regular);
  end(&w);
  if (error != 0)
    return pai__below_fail(b, path, error, err);
  return regular ? PAI_OK : no_file(b, path, err);
}

int pai__below_place(int *folder, char **name, const pai__below *b,
                     const char *path, pai_error **err)
{
  char last[PAI__BELOW_PATH];
  struct stat st;
  walk w;
  int error = begin(&w, b, path, true), rc = PAI_OK;

  *folder = -1;
  *name = NULL;
  if (error == 0)
    error = go(&w, last);
  if (error != 0)
    rc = pai__below_fail(b, path, error, err);
  else if (last[0] == '\0' ||
           (fstatat(w.at, last, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            !S_ISREG(st.st_mode)))
    rc = no_file(b, path, err);
  else if ((*name = pai__strdup(b->alloc, last)) == NULL)
    rc = pai__oom(err);
  if (rc == PAI_OK) {
    *folder = w.at;
    w.at = -1;
  }
  end(&w);
  return rc;
}

int pai__below_make(const pai__below *b, const char *path, pai_error **err)
{
  char last[PAI__BELOW_PATH];
  walk w;
  int error = begin(&w, b, path, true);

  if (error == 0)
    error = go(&w, last);
  end(&w);
  return error == 0 ? PAI_OK : pai__below_fail(b, path, error, err);
}

int pai__below_find(int *fd, int *in, char **name, const pai__below *b,
                    const char *path, pai_error **err)
{
  char last[PAI__BELOW_PATH];
  struct stat st;
  walk w;
  int error = begin(&w, b, path, false);

  *fd = *in = -1;
  *name = NULL;
  if (error == 0)
    error = go(&w, last);
  if (error == 0 && fstatat(w.at, last[0] != '\0' ? last : ".", &st,
                            AT_SYMLINK_NOFOLLOW) != 0)
    error = errno;
  if (error == 0 && S_ISDIR(st.st_mode)) {
    *fd = openat(w.at, last[0] != '\0' ? last : ".",
                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    error = *fd < 0 ? errno : 0;
  } else if (error == 0) {
    *name = pai__strdup(b->alloc, last);
    error = *name != NULL ? 0 : ENOMEM;
    if (error == 0) {
      *in = w.at;
      w.at = -1;
    }
  }
  end(&w);
  return error == 0 ? PAI_OK : pai__below_fail(b, path, error, err);
}
