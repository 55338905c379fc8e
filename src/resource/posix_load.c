/* posix_load.c - load a cluster from a file */
#include "base/os/posix_fs.h"
#include "resource/cluster/read.h"

int pai_cluster_load(pai_cluster **out, const char *path,
                     const pai_cluster_options *opts, pai_error **err)
{
  pai_cluster_options o;
  pai__buf text;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(path != NULL, err);
  rc = pai__cluster_options(&o, opts, err);
  if (rc < 0)
    return rc;
  pai__buf_init(&text, o.alloc);
  rc = pai__fs_read(&text, path, o.max_bytes, err);
  if (rc == PAI_OK)
    rc = pai_cluster_parse(out, pai__buf_text(&text), text.len, opts, err);
  pai__buf_dispose(&text);
  return rc;
}
