/* posix_file.c - reads files with settings and secrets, and checks their
 * mode */
#include "server/oidc/settings.h"

#include "base/os/posix_errno.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 64 << 10 };

static int fail(const char *path, int error, pai_error **err)
{
  return pai__fail(err,
                   error == ENOENT   ? PAI_ENOTFOUND
                   : error == EACCES ? PAI_EPERM
                                     : PAI_EIO,
                   "cannot read %s: %s", path, PAI__ERRNO_TEXT(error));
}

static int refuse(const char *path, pai_error **err)
{
  (void)pai__fail(err, PAI_EPERM,
                  "other users can read %s, or another user owns it", path);
  pai__error_help(err, "run chmod 600 %s: the file has a secret", path);
  return PAI_EPERM;
}

/* The file decides who is an administrator, or where alerts go. */
static int refuse_open(const char *path, pai_error **err)
{
  (void)pai__fail(err, PAI_EPERM,
                  "other users can write %s, or it belongs to another user",
                  path);
  pai__error_help(err, "run chmod go-w %s: the server does what the file says",
                  path);
  return PAI_EPERM;
}

static int read_all(pai__buf *b, int fd, const char *path, pai_error **err)
{
  char bytes[4096];
  ssize_t n;

  do {
    n = read(fd, bytes, sizeof(bytes));
    if (n > 0)
      pai__buf_add(b, bytes, (size_t)n);
  } while ((n > 0 && b->len <= MOST) || (n < 0 && errno == EINTR));
  if (n < 0)
    return fail(path, errno, err);
  if (b->len > MOST)
    return pai__fail(err, PAI_EINVAL, "%s is too long", path);
  if (pai__buf_ok(b) && strlen(pai__buf_text(b)) != b->len)
    return pai__fail(err, PAI_EINVAL, "%s is not text", path);
  return pai__buf_ok(b) ? PAI_OK : pai__oom(err);
}

int pai__settings_load(char **out, const pai_alloc *alloc, const char *path,
                       bool secret, bool *open_to_all, pai_error **err)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
  struct stat st;
  pai__buf b;

  *out = NULL;
  if (fd < 0)
    return fail(path, errno, err);
  pai__buf_init(&b, alloc);
  if (fstat(fd, &st) != 0)
    rc = fail(path, errno, err);
  else if (!S_ISREG(st.st_mode))
    rc = pai__fail(err, PAI_EINVAL, "%s is not a file", path);
  else
    rc = PAI_OK;
  *open_to_all = rc == PAI_OK && ((st.st_mode & 077) != 0 ||
                                  (st.st_uid != geteuid() && st.st_uid != 0));
  if (rc == PAI_OK && secret && *open_to_all)
    rc = refuse(path, err);
  else if (rc == PAI_OK && *open_to_all &&
           ((st.st_mode & 022) != 0 ||
            (st.st_uid != geteuid() && st.st_uid != 0)))
    rc = refuse_open(path, err);
  if (rc == PAI_OK)
    rc = read_all(&b, fd, path, err);
  (void)close(fd);
  if (rc == PAI_OK && (*out = pai__buf_take(&b)) == NULL)
    rc = pai__oom(err);
  pai__buf_wipe(&b);
  return rc;
}
