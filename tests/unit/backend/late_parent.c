/*
 * late_parent.c - a process that starts bash is slow to end
 *
 * Preloaded into bubblewrap that joins a pid namespace, whose first child
 * creates the process inside and exits: it exits only after bash has begun
 * there, and bash continues only after that.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PIDFD_OPEN = 434, BEGUN = 40, PARENT = 41 };

__attribute__((visibility("default"))) pid_t fork(void)
{
  static pid_t (*real)(void);
  int self = (int)syscall(PIDFD_OPEN, getpid(), 0u), begun[2];
  char byte;
  pid_t pid;

  if (real == NULL)
    *(void **)&real = dlsym(RTLD_NEXT, "fork");
  if (self < 0 || pipe(begun) < 0)
    return real();
  pid = real();
  if (pid == 0) {
    (void)dup2(begun[1], BEGUN);
    (void)dup2(self, PARENT);
  }
  (void)close(begun[1]);
  (void)close(self);
  if (pid > 0)
    (void)!read(begun[0], &byte, 1);
  (void)close(begun[0]);
  return pid;
}

/* In bash: its descriptor of the parent says when that has ended. */
__attribute__((constructor)) static void await_parent(void)
{
  struct pollfd parent = { PARENT, POLLIN, 0 };

  if (fcntl(PARENT, F_GETFD) < 0)
    return;
  (void)!write(BEGUN, "", 1);
  (void)poll(&parent, 1, -1);
  (void)close(BEGUN);
  (void)close(PARENT);
}
