/* posix_try.c - runs a program once, to test whether it works */
#define _GNU_SOURCE /* setresuid() */
#include "backend/local/posix_try.h"

#include "task/order.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { PATIENCE_MS = 5000, SLICE_MS = 100 };

int64_t pai__try_now(void)
{
  struct timespec t;

  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Puts the namespaces at the descriptor numbers that the words name. */
static bool place_space(const pai__space *space)
{
  return space == NULL ||
         (dup2(space->pid, PAI_ORDER_PID_FD) >= 0 &&
          (space->user < 0 || dup2(space->user, PAI_ORDER_USER_FD) >= 0));
}

int pai__spawn(pid_t *pid, const char *program,
               const posix_spawn_file_actions_t *actions, char *const *argv,
               char *const *env)
{
  posix_spawnattr_t attr;
  sigset_t none;
  int rc = posix_spawnattr_init(&attr);

  if (rc != 0)
    return rc;
  (void)sigemptyset(&none);
  rc = posix_spawnattr_setsigmask(&attr, &none);
  if (rc == 0)
    rc = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
  if (rc == 0)
    rc = posix_spawn(pid, program, actions, &attr, argv, env);
  (void)posix_spawnattr_destroy(&attr);
  return rc;
}

/* Starts it as another user, with fork().  That is slower in a large process,
 * but done only once. */
static int spawn_as(pid_t *pid, const pai__backend_attempt *a, int out)
{
  sigset_t none;

  *pid = fork();
  if (*pid != 0)
    return *pid < 0 ? errno : 0;
  (void)sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  (void)close(0);
  if (open("/dev/null", O_RDWR) == 0 && dup2(out, 1) == 1 &&
      dup2(out, 2) == 2 && setgroups(0, NULL) == 0 &&
      setresgid(a->gid, a->gid, a->gid) == 0 &&
      setresuid(a->uid, a->uid, a->uid) == 0 && place_space(a->space))
    (void)execve(a->argv[0], (char *const *)(uintptr_t)a->argv, environ);
  _exit(127);
}

static int add_space(posix_spawn_file_actions_t *actions,
                     const pai__space *space)
{
  int rc = 0;

  if (space != NULL)
    rc =
      posix_spawn_file_actions_adddup2(actions, space->pid, PAI_ORDER_PID_FD);
  if (rc == 0 && space != NULL && space->user >= 0)
    rc = posix_spawn_file_actions_adddup2(actions, space->user,
                                          PAI_ORDER_USER_FD);
  return rc;
}

static int spawn(pid_t *pid, const pai__backend_attempt *a, int out)
{
  posix_spawn_file_actions_t actions;
  int rc = posix_spawn_file_actions_init(&actions);

  if (rc != 0)
    return rc;
  rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  if (rc == 0)
    rc = posix_spawn_file_actions_adddup2(&actions, out, 1);
  if (rc == 0)
    rc = posix_spawn_file_actions_adddup2(&actions, out, 2);
  if (rc == 0)
    rc = add_space(&actions, a->space);
  if (rc == 0) /* exec only reads the words */
    rc = pai__spawn(pid, a->argv[0], &actions,
                    (char *const *)(uintptr_t)a->argv, environ);
  (void)posix_spawn_file_actions_destroy(&actions);
  return rc;
}

/* Reads its output until its end or a timeout. */
static bool read_all(int fd, const pai__backend_attempt *a, char *text,
                     size_t size)
{
  int64_t end = pai__try_now() + (a->most_ms > 0 ? a->most_ms : PATIENCE_MS);
  size_t len = 0;
  ssize_t n = 1;

  while (n > 0) {
    struct pollfd at = { fd, POLLIN, 0 };
    char more[512];
    int64_t left = end - pai__try_now();
    int some;

    text[len] = '\0';
    if (left <= 0 || (a->stop != NULL && atomic_load(a->stop)))
      return false;
    some = poll(&at, 1, left < SLICE_MS ? (int)left : SLICE_MS);
    if (some <= 0) /* a signal may have come */
      continue;
    n = read(fd, more, sizeof(more));
    for (ssize_t i = 0; i < n && len + 1 < size; i++)
      text[len++] = more[i];
    if (n < 0 && errno == EINTR)
      n = 1;
  }
  text[len] = '\0';
  return n == 0;
}

bool pai__try_run(const pai__backend_attempt *a, char *text, size_t size)
{
  int ends[2], status = 0, rc;
  bool ended;
  pid_t pid;

  text[0] = '\0';
  if (pipe2(ends, O_CLOEXEC) < 0)
    return false;
  rc = a->other ? spawn_as(&pid, a, ends[1]) : spawn(&pid, a, ends[1]);
  (void)close(ends[1]);
  ended = rc == 0 && read_all(ends[0], a, text, size);
  (void)close(ends[0]);
  if (rc != 0)
    return false;
  if (!ended)
    (void)kill(pid, SIGKILL);
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR)
      break;
  return ended && status == 0 && text[0] != '\0';
}

/* Copies the last line of the output, for people. */
void pai__try_keep_last_line(char *out, size_t size, char *text)
{
  size_t len = strlen(text);
  const char *line;

  while (len > 0 && (unsigned char)text[len - 1] <= ' ')
    text[--len] = '\0';
  line = strrchr(text, '\n');
  (void)snprintf(out, size, "%.200s", line != NULL ? line + 1 : text);
}
