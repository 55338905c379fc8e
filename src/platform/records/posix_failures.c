/* posix_failures.c - a platform's own known failures, ROOT/failures.yaml */
#include "platform/platform.h"

#include "base/os/posix_fs.h"
#include "job/end/failure.h"

#include <openpai/records.h>

/* *out is NULL if there is no such file. */
static int read_file(pai__failures **out, const char *root,
                     const pai_alloc *alloc, pai_error **err)
{
  char *path = pai__fs_join(root, "failures.yaml", alloc);
  pai_error *why = NULL;
  pai__buf text;
  int rc;

  *out = NULL;
  if (path == NULL)
    return pai__oom(err);
  pai__buf_init(&text, alloc);
  rc = pai__fs_read_regular(&text, path, PAI__FAILURES_MOST_BYTES, &why);
  if (rc == PAI_OK)
    rc = pai__failures_read(out, pai__buf_text(&text), text.len, path, alloc,
                            &why);
  pai__buf_dispose(&text);
  pai__strfree(alloc, path);
  if (rc == PAI_ENOTFOUND) { /* as usual */
    pai_error_free(why);
    return PAI_OK;
  }
  if (rc < 0 && err != NULL)
    *err = why;
  else
    pai_error_free(why);
  return rc;
}

int pai__failures_open(pai_platform *p, pai_error **err)
{
  return read_file(&p->failures, p->root, &p->alloc, err);
}

int pai_platform_check_failures(const char *root, pai_error **err)
{
  const pai_alloc *alloc = &pai__libc_alloc;
  pai__failures *failures = NULL;
  char *path = NULL;
  int rc;

  pai__clear_err(err);
  rc = pai__platform_find_root(&path, root, alloc, err);
  if (rc == PAI_OK)
    rc = read_file(&failures, path, alloc, err);
  pai__failures_free(failures);
  pai__strfree(alloc, path);
  return rc;
}
