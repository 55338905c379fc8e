/* posix_files.c - a task's folder: its script and its log files */
#include "backend/local/local.h"

#include "base/posix_fs.h"

#include <unistd.h>

static int write_script(char **path, const pai_alloc *alloc,
                        const pai__plan *plan, pai_error **err)
{
  int fd, rc;

  *path = pai__fs_join(plan->dir, "run.sh", alloc);
  rc = *path != NULL ? pai__fs_create(&fd, *path, err) : pai__oom(err);
  if (rc < 0)
    return rc;
  rc = pai__fs_write(fd, plan->script, strlen(plan->script), *path, err);
  (void)close(fd);
  return rc;
}

static int open_log(int *fd, const char *name, const pai_alloc *alloc,
                    const pai__plan *plan, pai_error **err)
{
  char *path = pai__fs_join(plan->dir, name, alloc);
  int rc = path != NULL ? pai__fs_create(fd, path, err) : pai__oom(err);

  pai__strfree(alloc, path);
  return rc;
}

int pai__local_files_make(pai__local_files *out, const pai_alloc *alloc,
                          const pai__plan *plan, pai_error **err)
{
  int rc;

  *out = (pai__local_files){ NULL, { -1, -1 } };
  rc = pai__fs_make_dirs(plan->dir, alloc, err);
  if (rc == PAI_OK)
    rc = write_script(&out->script, alloc, plan, err);
  if (rc == PAI_OK)
    rc = open_log(&out->log_fds[0], "stdout", alloc, plan, err);
  if (rc == PAI_OK)
    rc = open_log(&out->log_fds[1], "stderr", alloc, plan, err);
  if (rc < 0)
    pai__local_files_dispose(out, alloc);
  return rc;
}

void pai__local_files_dispose(pai__local_files *files, const pai_alloc *alloc)
{
  pai__strfree(alloc, files->script);
  for (int i = 0; i < 2; i++)
    if (files->log_fds[i] >= 0)
      (void)close(files->log_fds[i]);
  *files = (pai__local_files){ NULL, { -1, -1 } };
}
