/*
 * posix_launch.c - finds and starts the supervisor program
 *
 * posix_spawn() shares the host's memory until the exec, so its time does not
 * grow with the host's memory, as fork()'s does.
 */
#define _GNU_SOURCE
#include "backend/local/posix_launch.h"

#include "base/os/posix_errno.h"
#include "base/os/posix_fs.h"
#include "task/order.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PAI_TASK_FROM_LIB /* set by CMake */
#define PAI_TASK_FROM_LIB "../libexec/openpai/openpai-task"
#endif

static const char here[] = ""; /* an address in this library */

enum { HIGH_FD = 16 };

/* --- finding the program ------------------------------------------------- */

/* Tries places relative to a file's folder: as installed, as built, and as in
 * a Python package. */
static bool find_beside(char *out, size_t size, const char *file)
{
  static const char *const ways[] = { PAI_TASK_FROM_LIB,
                                      "../libexec/openpai/openpai-task",
                                      "../../libexec/openpai/openpai-task",
                                      "../../../libexec/openpai/openpai-task",
                                      "openpai-task" };
  char folder[PATH_MAX], *slash;

  /* Without a slash it is only the name by which the program was called. */
  if (strchr(file, '/') == NULL || realpath(file, folder) == NULL)
    return false;
  slash = strrchr(folder, '/');
  if (slash == NULL)
    return false;
  *slash = '\0';
  for (size_t i = 0; i < PAI__LEN(ways); i++) {
    int n = ways[i][0] == '/' ? snprintf(out, size, "%s", ways[i])
                              : snprintf(out, size, "%s/%s", folder, ways[i]);
    if (n < (int)size && access(out, X_OK) == 0)
      return true;
  }
  return false;
}

static int missing(pai_error **err, const char *path)
{
  int rc;

  if (path != NULL)
    rc =
      pai__fail(err, PAI_ENOTFOUND, "the task supervisor %s is missing", path);
  else
    rc = pai__fail(err, PAI_ENOTFOUND,
                   "the task supervisor openpai-task is missing");
  pai__error_help(err, "install libexec/openpai/openpai-task beside the "
                       "library, or set OPENPAI_TASK to its path");
  return rc;
}

int pai__local_find_program(char **out, const char *wished,
                            const pai_alloc *alloc, pai_error **err)
{
  char path[PATH_MAX + 64];
  Dl_info info;

  *out = NULL;
  if (wished == NULL)
    wished = getenv("OPENPAI_TASK");
  if (wished != NULL && wished[0] != '\0') {
    if (access(wished, X_OK) < 0)
      return missing(err, wished);
    (void)snprintf(path, sizeof(path), "%s", wished);
  } else if ((dladdr(here, &info) == 0 ||
              !find_beside(path, sizeof(path), info.dli_fname)) &&
             !find_beside(path, sizeof(path), "/proc/self/exe")) {
    return missing(err, NULL);
  }
  *out = pai__strdup(alloc, path);
  return *out != NULL ? PAI_OK : pai__oom(err);
}

/* Without /proc the program's path is used. */
int pai__local_pin_program(char **program, const pai_alloc *alloc)
{
  char path[64];
  char *pinned;
  int low = open(*program, O_PATH | O_CLOEXEC), fd;

  if (low < 0)
    return -1;
  fd = fcntl(low, F_DUPFD_CLOEXEC, HIGH_FD);
  (void)close(low);
  (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  pinned =
    fd >= 0 && access(path, X_OK) == 0 ? pai__strdup(alloc, path) : NULL;
  if (pinned == NULL) {
    if (fd >= 0)
      (void)close(fd);
    return -1;
  }
  pai__strfree(alloc, *program);
  *program = pinned;
  return fd;
}

/* --- starting ------------------------------------------------------------ */

static int sys_fail(pai_error **err, int number, const char *what)
{
  int code = PAI_EIO, rc;

  if (number == ENOMEM)
    return pai__oom(err);
  if (number == EPERM || number == EACCES)
    code = PAI_EPERM;
  if (number == ENOSYS)
    code = PAI_ENOTSUP;
  rc = pai__fail(err, code, "%s: %s", what, PAI__ERRNO_TEXT(number));
  if (pai__errno_is_shortage(number))
    pai__error_retriable(err);
  if (number == EMFILE)
    pai__error_help(
      err, "each task needs a file descriptor: raise the limit (ulimit -n)");
  if (number == ENOSYS)
    pai__error_help(err, "Linux 5.3 or newer is needed to run tasks");
  return rc;
}

/* Makes a memfd with the order, away from the numbers that it will get. */
static int make_order(int *fd, const void *order, size_t size, pai_error **err)
{
  const char *at = order;
  int low = (int)syscall(SYS_memfd_create, "openpai-order", 1u /* CLOEXEC */);
  int saved;

  if (low < 0)
    return sys_fail(err, errno, "cannot store a task's order in memory");
  *fd = fcntl(low, F_DUPFD_CLOEXEC, HIGH_FD);
  saved = errno;
  (void)close(low);
  if (*fd < 0)
    return sys_fail(err, saved, "cannot store a task's order in memory");
  while (size > 0) {
    ssize_t n = write(*fd, at, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      saved = errno;
      (void)close(*fd);
      *fd = -1;
      return sys_fail(err, saved, "cannot store a task's order in memory");
    }
    at += n;
    size -= (size_t)n;
  }
  return PAI_OK;
}

static int open_dir(int *fd, const char *dir, bool no_links,
                    const pai__user *who, pai_error **err)
{
  const int how = O_RDONLY | O_DIRECTORY;
  int low = -1, saved;

  errno = EPERM;
  if (pai__as_user(who)) {
    low =
      no_links ? pai__fs_open_unlinked(dir, how) : open(dir, how | O_CLOEXEC);
    pai__as_self(who);
  }
  *fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, HIGH_FD);
  saved = errno;
  if (low >= 0)
    (void)close(low);
  return *fd < 0 ? sys_fail(err, saved, "cannot open the task's folder")
                 : PAI_OK;
}

typedef struct files {
  int order, dir;
  const pai__space *space;
} files;

static int add_space(posix_spawn_file_actions_t *actions,
                     const pai__space *space)
{
  int rc, user = space->user >= 0 ? space->user : space->pid;

  rc =
    posix_spawn_file_actions_adddup2(actions, space->life, PAI_ORDER_LIFE_FD);
  if (rc == 0)
    rc = posix_spawn_file_actions_adddup2(actions, user, PAI_ORDER_USER_FD);
  if (rc == 0)
    rc =
      posix_spawn_file_actions_adddup2(actions, space->pid, PAI_ORDER_PID_FD);
  return rc;
}

static int set_files(posix_spawn_file_actions_t *actions, const files *f)
{
  int rc = 0;

  for (int i = 0; i < 3 && rc == 0; i++)
    rc = posix_spawn_file_actions_addopen(actions, i, "/dev/null", O_RDWR, 0);
  if (rc == 0)
    rc = posix_spawn_file_actions_adddup2(actions, f->order, PAI_ORDER_FD);
  if (rc == 0)
    rc = posix_spawn_file_actions_adddup2(actions, f->dir, PAI_ORDER_DIR_FD);
  if (rc == 0 && f->space != NULL)
    rc = add_space(actions, f->space);
  return rc;
}

/* The supervisor begins with all signals blocked, so that none arrives too
 * early. */
static int spawn(pid_t *pid, const char *program, const files *f)
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attr;
  char name[] = "openpai-task", *argv[] = { name, NULL }, *env[] = { NULL };
  sigset_t all;
  int rc = posix_spawnattr_init(&attr);

  if (rc != 0)
    return rc;
  rc = posix_spawn_file_actions_init(&actions);
  if (rc == 0) {
    (void)sigfillset(&all);
    rc = posix_spawnattr_setsigmask(&attr, &all);
    if (rc == 0)
      rc = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    if (rc == 0)
      rc = set_files(&actions, f);
    if (rc == 0)
      rc = posix_spawn(pid, program, &actions, &attr, argv, env);
    (void)posix_spawn_file_actions_destroy(&actions);
  }
  (void)posix_spawnattr_destroy(&attr);
  return rc;
}

int pai__local_spawn(int *pid, const char *program, const char *dir,
                     bool no_links, const pai__user *who,
                     const pai__space *space, const void *order, size_t size,
                     pai_error **err)
{
  int order_fd = -1, dir_fd = -1, rc;
  pid_t started;

  rc = make_order(&order_fd, order, size, err);
  if (rc < 0)
    return rc;
  rc = open_dir(&dir_fd, dir, no_links, who, err);
  if (rc == PAI_OK) {
    const files f = { order_fd, dir_fd, space };
    int failed = spawn(&started, program, &f);
    if (failed == ENOENT)
      rc = missing(err, program);
    else if (failed != 0)
      rc = sys_fail(err, failed, "cannot start the supervisor of a task");
    else
      *pid = (int)started;
    (void)close(dir_fd);
  }
  (void)close(order_fd);
  return rc;
}

int pai__local_boot(char *out, size_t size, pai_error **err)
{
  ssize_t n;
  int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

  out[0] = '\0';
  if (fd < 0)
    return pai__errno_is_shortage(errno)
             ? sys_fail(err, errno, "cannot read the machine's boot id")
             : PAI_OK;
  n = read(fd, out, size - 1);
  (void)close(fd);
  out[n > 0 ? n : 0] = '\0';
  out[strcspn(out, "\n")] = '\0';
  return PAI_OK;
}

/* --- shortages ----------------------------------------------------------- */

int pai__local_spare(void)
{
  return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int pai__local_watch_errno(pai_error **err)
{
  return sys_fail(err, errno, "cannot watch the supervisor of a task");
}

int pai__local_short(pai_error **err)
{
  return sys_fail(err, EMFILE, "cannot watch a task");
}
