/*
 * linux_userns.c - a user name space that sandboxes have in common
 *
 * bubblewrap makes one for each sandbox of who is not root, and a process of
 * one may not read the memory of another's: MPI's ranks in two tasks of a job
 * would find each other and fail.  So there is one for the tasks of a job that
 * share more than the machine.  It lives as long as somebody is in it or has it
 * open.
 */
#define _GNU_SOURCE /* clone() */
#include "backend/local/runtime.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 16384 };

/* All that it does is be there; it shares the memory of who made it. */
static int wait_for_end(void *none)
{
  (void)none;
  for (;;)
    (void)pause();
  return 0;
}

static bool write_file(int pid, const char *name, const char *text)
{
  size_t len = strlen(text);
  char path[64];
  bool good;
  int fd;

  (void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
  fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  good = write(fd, text, len) == (ssize_t)len;
  (void)close(fd);
  return good;
}

/* This user alone, as itself. */
static bool write_maps(int pid)
{
  char users[48], groups[48];

  (void)snprintf(users, sizeof(users), "%u %u 1\n", (unsigned)geteuid(),
                 (unsigned)geteuid());
  (void)snprintf(groups, sizeof(groups), "%u %u 1\n", (unsigned)getegid(),
                 (unsigned)getegid());
  return write_file(pid, "setgroups", "deny") &&
         write_file(pid, "uid_map", users) &&
         write_file(pid, "gid_map", groups);
}

static int open_name_space(int pid)
{
  char path[64];

  (void)snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
  return open(path, O_RDONLY | O_CLOEXEC);
}

int pai__userns_make(const pai_alloc *alloc)
{
  char *stack = pai__zalloc(alloc, STACK);
  sigset_t all, old;
  int pid, fd = -1;

  if (stack == NULL)
    return -1;
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &old); /* no handler runs in it */
  pid = clone(wait_for_end, stack + STACK, CLONE_VM | CLONE_NEWUSER, NULL);
  (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (pid > 0) {
    if (write_maps(pid))
      fd = open_name_space(pid);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, __WALL);
  }
  pai__free(alloc, stack, STACK);
  return fd;
}

/* Each is a descriptor, of which others want some, too. */
size_t pai__userns_most(void)
{
  struct rlimit limit;
  rlim_t most = PAI__USERNS;

  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 4 < most)
    most = limit.rlim_cur / 4;
  return most > 0 ? (size_t)most : 1;
}
