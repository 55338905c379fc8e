/* posix_load.c - a job file from disk: the room's one window */
#include "spec/spec.h"

#include "base/posix_fs.h"

int pai_spec_load(pai_spec **out, const char *path,
                  const pai_spec_options *opts, pai_error **err)
{
  pai_spec_options o;
  size_t limit;
  pai__buf text;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG(path != NULL);
  rc = PAI__COPY_IN(&o, opts, pai_spec_options, max_bytes);
  if (rc < 0)
    return pai__fail(err, rc, "pai_spec_options: bad or newer struct_size");
  limit = o.max_bytes != 0 ? o.max_bytes : PAI__SPEC_MAX_BYTES;
  pai__buf_init(&text, pai__alloc_or_libc(o.alloc));
  rc = pai__fs_read(&text, path, limit, err);
  if (rc == PAI_OK)
    rc = pai_spec_parse(out, pai__buf_text(&text), text.len, opts, err);
  pai__buf_dispose(&text);
  return rc;
}
