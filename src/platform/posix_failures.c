/* posix_failures.c - a platform's own known failures, ROOT/failures.yaml */
#include "platform/platform.h"

#include "base/posix_fs.h"
#include "job/failure.h"

static int read_file(pai_platform *p, const char *path, pai_error **err)
{
  pai_error *why = NULL;
  pai__buf text;
  int rc;

  pai__buf_init(&text, &p->alloc);
  rc = pai__fs_read(&text, path, PAI__FAILURES_MOST_BYTES, &why);
  if (rc == PAI_OK)
    rc = pai__failures_read(&p->failures, pai__buf_text(&text), text.len, path,
                            &p->alloc, &why);
  pai__buf_dispose(&text);
  if (rc == PAI_ENOTFOUND) { /* most have none */
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
  char *path = pai__fs_join(p->root, "failures.yaml", &p->alloc);
  int rc = path != NULL ? read_file(p, path, err) : pai__oom(err);

  pai__strfree(&p->alloc, path);
  return rc;
}
