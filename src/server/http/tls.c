/* tls.c - reads the files of a certificate and its key */
#include "server/http/listener.h"

#include "base/os/posix_errno.h"

#include <errno.h>
#include <stdio.h>

enum { MOST = 1 << 20 };

static int fail(const char *path, const char *what, const char *why, int rc,
                pai_error **err)
{
  (void)pai__fail(err, rc, "%s %s: %s", what, path, why);
  pai__error_help(err,
                  "use a PEM file, which begins with -----BEGIN, with the "
                  "server's certificate first and its issuers' after it");
  return rc;
}

static int read_all(pai__buf *b, FILE *file)
{
  char bytes[4096];
  size_t n;

  while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0 && b->len <= MOST)
    pai__buf_add(b, bytes, n);
  return ferror(file) != 0 ? -1 : 0;
}

int pai__tls_read(char **out, const pai_alloc *alloc, const char *path,
                  const char *what, pai_error **err)
{
  FILE *file = fopen(path, "re");
  pai__buf b;
  int rc;

  *out = NULL;
  if (file == NULL)
    return fail(path, what, PAI__ERRNO_TEXT(errno),
                errno == EACCES ? PAI_EPERM : PAI_ENOTFOUND, err);
  pai__buf_init(&b, alloc);
  rc = read_all(&b, file);
  (void)fclose(file);
  if (!pai__buf_ok(&b))
    rc = pai__oom(err);
  else if (rc < 0)
    rc = fail(path, what, "it cannot be read", PAI_EIO, err);
  else if (b.len > MOST || strlen(pai__buf_text(&b)) != b.len ||
           strstr(pai__buf_text(&b), "-----BEGIN ") == NULL)
    rc = fail(path, what, "it is not in PEM", PAI_EINVAL, err);
  if (rc == PAI_OK)
    *out = pai__buf_take(&b);
  pai__buf_dispose(&b);
  return rc == PAI_OK && *out == NULL ? pai__oom(err) : rc;
}
