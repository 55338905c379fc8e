/*
 * posix_process.c - watches processes by a descriptor, and inspects them by
 * /proc
 *
 * The descriptor is a pidfd.  Where there is none (Linux before 5.3, valgrind
 * of Debian 12, a container's system call filter) it is a timer, and the
 * process is checked each time it expires.
 */
#define _GNU_SOURCE
#include "backend/local/posix_process.h"

#include "base/os/posix_errno.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIDFD_OPEN = 434, PIDFD_SIGNAL = 424, LOOK_NS = 20 * 1000 * 1000 };

/* --- reading /proc ------------------------------------------------------- */

/* Reads /proc/PID/NAME; -1: there is none. */
static int read_proc(char *text, size_t size, int64_t pid, const char *name)
{
  char path[64];
  ssize_t len;
  int fd;

  (void)snprintf(path, sizeof(path), "/proc/%lld/%s", (long long)pid, name);
  fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return -1;
  len = read(fd, text, size - 1);
  (void)close(fd);
  text[len > 0 ? len : 0] = '\0';
  return 0;
}

/* Returns field `n`, from 3, of /proc/PID/stat, in `text`; NULL: there is
 * none, and errno tells whether because of a shortage. */
static const char *find_field(char *text, size_t size, int64_t pid, int n)
{
  char *at;

  if (read_proc(text, size, pid, "stat") < 0)
    return NULL;
  errno = ESRCH;
  at = strrchr(text, ')');
  for (int field = 2; at != NULL && field < n; field++)
    at = strchr(at + 1, ' ');
  return at != NULL ? at + 1 : NULL;
}

/* 0: there is none; -1: a shortage. */
static int64_t stat_field(int64_t pid, int n)
{
  char text[1024];
  const char *at = find_field(text, sizeof(text), pid, n);

  if (at == NULL)
    return pai__errno_is_shortage(errno) ? -1 : 0;
  return strtoll(at, NULL, 10);
}

/* It has ended and was not reaped. */
static bool is_zombie(int64_t pid)
{
  char text[1024];
  const char *at = find_field(text, sizeof(text), pid, 3);

  return at != NULL && (*at == 'Z' || *at == 'X');
}

int64_t pai__local_start_ticks(int64_t pid)
{
  return stat_field(pid, 22);
}

/* Compares all its uids, not the owner of its /proc files: those of a
 * supervisor belong to root. */
int pai__local_is_of(int64_t pid, const pai__user *who)
{
  char text[4096], *at;
  int is = 0;

  if (who == NULL)
    return 1;
  if (read_proc(text, sizeof(text), pid, "status") < 0)
    return pai__errno_is_shortage(errno) ? -1 : 0;
  at = strstr(text, "\nUid:");
  at = at != NULL ? at + strlen("\nUid:") : NULL;
  for (int i = 0; at != NULL && i < 4; i++) {
    char *end;

    is = strtoul(at, &end, 10) == who->uid && end != at;
    at = is ? end : NULL;
  }
  return is;
}

/* If its files may not be inspected, as for an unreadable program, it is
 * identified by its name only. */
static int has_name(int64_t pid)
{
  char text[64];

  if (read_proc(text, sizeof(text), pid, "comm") < 0)
    return pai__errno_is_shortage(errno) ? -1 : 0;
  return strcmp(text, "openpai-task\n") == 0;
}

int pai__local_has_open(int64_t pid, const char *dir, const char *name)
{
  char path[PATH_MAX];
  struct stat file, at;
  struct dirent *e;
  int has = 0;
  DIR *fds;

  if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path) ||
      lstat(path, &file) < 0)
    return 0;
  (void)snprintf(path, sizeof(path), "/proc/%lld/fd", (long long)pid);
  fds = opendir(path);
  if (fds == NULL && errno == EACCES)
    return has_name(pid);
  if (fds == NULL)
    return pai__errno_is_shortage(errno) ? -1 : 0;
  while (has == 0 && (e = readdir(fds)) != NULL)
    has = fstatat(dirfd(fds), e->d_name, &at, 0) == 0 &&
          at.st_dev == file.st_dev && at.st_ino == file.st_ino;
  (void)closedir(fds);
  return has;
}

int64_t pai__local_session(int64_t pid)
{
  return stat_field(pid, 6);
}

/* --- the end ------------------------------------------------------------- */

static int open_timer(void)
{
  const struct itimerspec every = { { 0, LOOK_NS }, { 0, LOOK_NS } };
  int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

  if (fd >= 0)
    (void)timerfd_settime(fd, 0, &every, NULL); /* cannot fail: its values are
                                                   valid */
  return fd;
}

int pai__process_watch(pai__process *out, int64_t pid)
{
  *out = (pai__process){ .pid = pid };
  out->fd = (int)syscall(PIDFD_OPEN, (pid_t)pid, 0u);
  if (out->fd >= 0)
    return 1;
  if (errno != ENOSYS && errno != EPERM)
    return errno == ESRCH ? 0 : -1;
  out->timed = true;
  out->ticks = pai__local_start_ticks(pid);
  if (out->ticks < 0)
    return -1;
  if (out->ticks == 0 && kill((pid_t)pid, 0) < 0)
    return errno == ESRCH ? 0 : -1;
  out->fd = open_timer();
  return out->fd < 0 ? -1 : 1;
}

/* A child's pid stays valid until it is reaped; another process's pid may be
 * reused. */
static bool is_there(const pai__process *p)
{
  siginfo_t info = { .si_pid = 0 };
  int64_t ticks;

  if (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
    return info.si_pid != (pid_t)p->pid;
  ticks = pai__local_start_ticks(p->pid);
  return ticks < 0 || (ticks != 0 && ticks == p->ticks && !is_zombie(p->pid));
}

bool pai__process_has_ended(const pai__process *p)
{
  uint64_t times;

  if (!p->timed)
    return true;
  (void)!read(p->fd, &times, sizeof(times)); /* makes the timer wait again */
  return !is_there(p);
}

void pai__process_signal(const pai__process *p, int signal)
{
  if (!p->timed)
    (void)syscall(PIDFD_SIGNAL, p->fd, signal, NULL, 0u);
  else if (is_there(p))
    (void)kill((pid_t)p->pid, signal);
}

void pai__process_forget(pai__process *p)
{
  if (p->fd >= 0)
    (void)close(p->fd);
  p->fd = -1;
}

void pai__local_kill(int pid)
{
  (void)kill((pid_t)pid, SIGKILL);
  while (waitpid((pid_t)pid, NULL, 0) < 0)
    if (errno != EINTR)
      break;
}

void pai__local_await_gone(int64_t pid)
{
  enum { TRIES = 1000 };

  for (int i = 0; i < TRIES && kill((pid_t)pid, 0) == 0; i++)
    (void)poll(NULL, 0, 1);
}

int pai__local_reap(int pid)
{
  int status;
  pid_t ended;

  do
    ended = waitpid((pid_t)pid, &status, WNOHANG);
  while (ended < 0 && errno == EINTR);
  return ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}
