/* posix_enter.c - connects to a task's supervisor */
#define _GNU_SOURCE /* O_PATH */

#include "backend/local/local.h"

#include "backend/local/posix_files.h"
#include "base/os/posix_errno.h"
#include "base/os/posix_fs.h"
#include "base/os/posix_socket.h"
#include "base/os/posix_user.h"
#include "task/order.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* There is no socket yet, or not any more, or the supervisor's version has
 * none. */
static int fail_absent(const local_task *t, pai_error **err)
{
  pai__status status = { .kind = PAI__STATUS_EMPTY };
  int rc = pai__local_task_status(&status, t, NULL);

  if (rc == PAI_OK && status.kind != PAI__STATUS_EMPTY &&
      status.kind != PAI__STATUS_RUNS)
    return pai__fail(err, PAI_ENOTFOUND, "the task has ended");
  rc = pai__fail(err, PAI_EBUSY,
                 "the task has just started, or an older version started it");
  pai__error_retriable(err);
  return rc;
}

static int fail(const local_task *t, int error, pai_error **err)
{
  int rc;

  switch (error) {
  case ENOENT: return fail_absent(t, err);
  case ECONNREFUSED:
    return pai__fail(err, PAI_ENOTFOUND, "the task has ended");
  case EAGAIN:
    rc = pai__fail(err, PAI_EBUSY, "too many sessions wait to enter the task");
    pai__error_retriable(err);
    return rc;
  default:
    return pai__fail(err, error == EACCES ? PAI_EPERM : PAI_EIO,
                     "cannot enter the task: %s", PAI__ERRNO_TEXT(error));
  }
}

/* Connects to the opened socket itself: its path may lead elsewhere later. */
static int connect_unlinked(int *fd, const char *path)
{
  int at = pai__fs_open_unlinked(path, O_PATH), rc, saved;
  char itself[64];
  struct stat st;

  if (at < 0)
    return -1;
  (void)snprintf(itself, sizeof(itself), "/proc/self/fd/%d", at);
  errno = ELOOP; /* not a socket */
  rc = fstat(at, &st) == 0 && S_ISSOCK(st.st_mode)
         ? pai__socket_connect(fd, itself)
         : -1;
  saved = errno;
  (void)close(at);
  errno = saved;
  return rc;
}

/* Returns whether the supervisor listens, not a process of the task, which
 * could listen there, too. */
static bool is_supervisor(const local_task *t, int fd)
{
  pai__status status = { .kind = PAI__STATUS_EMPTY };
  unsigned long user;
  long pid;

  if (pai__socket_peer(&user, fd) < 0 ||
      pai__socket_peer_process(&pid, fd) < 0 ||
      user != (t->who != NULL ? t->who->uid : geteuid()))
    return false;
  if (t->child != 0)
    return pid == t->child;
  return pai__local_task_status(&status, t, NULL) == PAI_OK &&
         pid == status.pid;
}

int pai__local_task_enter(const local_task *t, int *fd, pai_error **err)
{
  const pai_alloc *alloc = &t->owner->alloc;
  char *path = pai__fs_join(t->dir, PAI_ORDER_SOCKET, alloc);
  int rc, error;

  *fd = -1;
  if (path == NULL)
    return pai__oom(err);
  rc = -1;
  error = EACCES;
  if (pai__as_user(t->who)) { /* the folder's owner may have put links there */
    rc = pai__local_hides(t->owner) ? connect_unlinked(fd, path)
                                    : pai__socket_connect(fd, path);
    error = errno;
    pai__as_self(t->who);
  }
  pai__strfree(alloc, path);
  if (rc < 0 && error == ELOOP)
    return pai__fail(err, PAI_EPERM,
                     "the task has replaced its folder, or a file in it, with "
                     "a link, which is not allowed");
  if (rc < 0)
    return fail(t, error, err);
  if (is_supervisor(t, *fd))
    return PAI_OK;
  (void)close(*fd);
  *fd = -1;
  return pai__fail(err, PAI_EPERM,
                   "the listener in the task's folder is not its supervisor");
}

/* The first process of a task leads its own session. */
int pai__local_task_processes(const local_task *t, int64_t *session,
                              char *cgroup, size_t size)
{
  pai__status status = { .kind = PAI__STATUS_EMPTY };
  int rc = pai__local_task_status(&status, t, NULL);

  *session = 0;
  if (size > 0)
    cgroup[0] = '\0';
  if (rc < 0 || status.kind != PAI__STATUS_RUNS || status.first == 0)
    return PAI_ENOTFOUND;
  *session = status.first;
  pai__groups_path(&t->owner->groups, t->dir, cgroup, size);
  return PAI_OK;
}
