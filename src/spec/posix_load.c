/* posix_load.c - reads a job file from disk */
#include "spec/read.h"

#include "base/os/posix_fs.h"

int pai_spec_load(pai_spec **out, const char *path,
                  const pai_spec_options *opts, pai_error **err)
{
  pai_spec_options o;
  pai__buf text;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(path != NULL, err);
  rc = pai__spec_options(&o, opts, err);
  if (rc < 0)
    return rc;
  pai__buf_init(&text, o.alloc);
  rc = pai__fs_read(&text, path, o.max_bytes, err);
  if (rc == PAI_OK)
    rc = pai_spec_parse(out, pai__buf_text(&text), text.len, opts, err);
  pai__buf_dispose(&text);
  return rc;
}
