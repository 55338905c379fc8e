/*
 * posix_system.c - a platform of all users of a machine (--system)
 *
 * It runs as root.  All users may pass through its root and the folders jobs/,
 * jobs/USER~NAME/ and code/, but only root may list or write them, so that only
 * root makes names there.  The folders jobs/USER~NAME/ATTEMPT/ and
 * code/USER~NAME/ are private to the user, and this process works there only as
 * that user (pai__as_user()).
 */
#define _XOPEN_SOURCE 700
#include "platform/records/record.h"

#include "base/os/posix_errno.h"
#include "base/os/posix_fs.h"
#include "base/os/posix_user.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PASSAGE = 0711 };

/* A file that marks such a root, so that no platform of one user takes over the
 * jobs of all users. */
#define MARK "system"

static int sys_fail(pai_error **err, const char *what, const char *path)
{
  return pai__fail(err,
                   errno == EACCES || errno == EPERM ? PAI_EPERM : PAI_EIO,
                   "cannot %s %s: %s", what, path, PAI__ERRNO_TEXT(errno));
}

static bool is_there(const pai_platform *p, const char *name)
{
  char *path = pai__fs_join(p->root, name, &p->alloc);
  struct stat st;
  bool there = path != NULL && lstat(path, &st) == 0;

  pai__strfree(&p->alloc, path);
  return there;
}

static int make_mark(const pai_platform *p, pai_error **err)
{
  char *path = pai__fs_join(p->root, MARK, &p->alloc);
  int fd, rc = PAI_OK;

  if (path == NULL)
    return pai__oom(err);
  fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    rc = sys_fail(err, "make", path);
  else
    (void)close(fd);
  pai__strfree(&p->alloc, path);
  return rc;
}

static int open_folder(const pai_platform *p, const char *name,
                       pai_error **err)
{
  char *path = pai__fs_join(p->root, name, &p->alloc);
  int rc;

  if (path == NULL)
    return pai__oom(err);
  rc = pai__fs_make_dirs(path, &p->alloc, err);
  if (rc == PAI_OK && chmod(path, PASSAGE) != 0)
    rc = sys_fail(err, "open", path);
  pai__strfree(&p->alloc, path);
  return rc;
}

static int begin(pai_platform *p, pai_error **err)
{
  char closed[4096];
  int rc = make_mark(p, err);

  if (rc == PAI_OK)
    rc = open_folder(p, "", err);
  if (rc == PAI_OK)
    rc = open_folder(p, "jobs", err);
  if (rc == PAI_OK)
    rc = open_folder(p, "code", err);
  if (rc == PAI_OK && !pai__is_open_to_all(p->root, closed, sizeof(closed))) {
    rc = pai__fail(err, PAI_EPERM,
                   "users cannot reach their jobs in %s: they cannot enter %s",
                   p->root, closed);
    pai__error_help(err, "chmod o+x that folder, or choose another root");
  }
  return rc;
}

int pai__system_open(pai_platform *p, pai_error **err)
{
  if (!p->system && is_there(p, MARK)) {
    (void)pai__fail(err, PAI_EPERM, "%s is the root of all users' platform",
                    p->root);
    pai__error_help(err, "openpai up --system --root %s", p->root);
    return PAI_EPERM;
  }
  if (!p->system)
    return PAI_OK;
  if (!pai__user_is_root()) {
    (void)pai__fail(err, PAI_EPERM,
                    "a platform of all users runs their jobs as them: only "
                    "root may do that");
    pai__error_help(err, "sudo openpai up --system");
    return PAI_EPERM;
  }
  if (!is_there(p, MARK) && is_there(p, "openpai.db")) {
    (void)pai__fail(err, PAI_EPERM, "%s is the root of one user's platform",
                    p->root);
    pai__error_help(err, "choose another root for that of all users");
    return PAI_EPERM;
  }
  return begin(p, err);
}

/* --- users of jobs -------------------------------------------------------- */

static const char *user_of(const pai__pjob *j)
{
  const pai_platform *p = j->platform;

  return p->system && strcmp(j->user, p->user) != 0 ? j->user : NULL;
}

const char *pai__system_owner(void *user_data, uint64_t task)
{
  uint32_t number;
  const pai__pjob *j = pai__platform_find_task(user_data, task, &number);

  return j != NULL ? user_of(j) : NULL;
}

int pai__system_find(pai__user **out, const pai_platform *p, const char *name,
                     pai_error **err)
{
  int rc;

  *out = NULL;
  if (!p->system || strcmp(name, p->user) == 0)
    return PAI_OK;
  *out = pai__zalloc(&p->alloc, sizeof(**out));
  if (*out == NULL)
    return pai__oom(err);
  rc = pai__user_by_name(*out, name, err);
  if (rc == PAI_OK)
    return PAI_OK;
  pai__free(&p->alloc, *out, sizeof(**out));
  *out = NULL;
  return rc;
}

/* Sets the mode of an existing folder, too: its maker may have been killed
 * before that. */
static int make_job(const pai__pjob *j, pai_error **err)
{
  int rc = pai__fs_make_dirs(j->dir, &j->platform->alloc, err);

  if (rc == PAI_OK && chmod(j->dir, PASSAGE) != 0)
    rc = sys_fail(err, "open", j->dir);
  return rc;
}

/* Safe without further checks: only root makes names in the job's folder. */
static int make_attempt(const pai__pjob *j, const pai__user *who,
                        pai_error **err)
{
  const pai_alloc *alloc = &j->platform->alloc;
  int fd = -1, rc = PAI_OK;
  char *path;
  pai__buf b;

  pai__buf_init(&b, alloc);
  pai__buf_printf(&b, "%s/%u", j->dir, j->job.attempt);
  path = pai__buf_take(&b);
  if (path == NULL)
    rc = pai__oom(err);
  else if (mkdir(path, 0700) != 0 && errno != EEXIST)
    rc = sys_fail(err, "make the folder", path);
  else if ((fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) <
             0 ||
           fchown(fd, who->uid, who->gid) != 0)
    rc = sys_fail(err, "hand over the folder", path);
  if (fd >= 0)
    (void)close(fd);
  pai__strfree(alloc, path);
  return rc;
}

int pai__system_make_attempt(const pai__pjob *j, pai_error **err)
{
  pai__user *who;
  int rc;

  if (!j->platform->system)
    return PAI_OK;
  rc = pai__system_find(&who, j->platform, j->user, err);
  if (rc == PAI_OK)
    rc = make_job(j, err);
  if (rc == PAI_OK && who != NULL)
    rc = make_attempt(j, who, err);
  pai__free(&j->platform->alloc, who, sizeof(*who));
  return rc;
}
