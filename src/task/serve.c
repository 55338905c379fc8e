/*
 * serve.c - socket in the task folder for connections to the task
 *
 * Only this user may connect.  Each connection gets its own process, so that
 * none makes the supervisor wait.
 */
#define _GNU_SOURCE
#include "task.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h> /* renameat() */
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 64 };

int serve_open(void)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  line path = { .len = 0 };
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  mode_t mask;
  int rc;

  if (fd < 0)
    return -1;
  /* The folder's path may be too long for a socket address. */
  line_add(&path, "/proc/self/fd/");
  line_number(&path, PAI_ORDER_DIR_FD);
  line_add(&path, "/" PAI_ORDER_SOCKET ".new");
  memcpy(address.sun_path, path.text, path.len);
  mask = umask(0177);
  rc = bind(fd, (struct sockaddr *)&address, sizeof(address));
  (void)umask(mask);
  /* Rename it after listen(): clients take a socket that does not listen for
   * that of an ended task. */
  if (rc == 0 && listen(fd, BACKLOG) == 0 &&
      renameat(PAI_ORDER_DIR_FD, PAI_ORDER_SOCKET ".new", PAI_ORDER_DIR_FD,
               PAI_ORDER_SOCKET) == 0)
    return fd;
  rc = errno;
  (void)unlinkat(PAI_ORDER_DIR_FD, PAI_ORDER_SOCKET ".new", 0);
  (void)close(fd);
  errno = rc;
  return -1;
}

void serve_close(int listener)
{
  if (listener < 0)
    return;
  (void)unlinkat(PAI_ORDER_DIR_FD, PAI_ORDER_SOCKET, 0);
  (void)close(listener);
}

pid_t serve_take(int listener, const pai_order *o, const task_input *input,
                 pid_t first)
{
  int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  pid_t parent = getpid(), pid;
  struct ucred peer;
  socklen_t size = sizeof(peer);

  if (fd < 0)
    return 0;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 ||
      (peer.uid != geteuid() && peer.uid != 0)) {
    (void)close(fd);
    return 0;
  }
  pid = fork();
  if (pid == 0) {
    child_bind_to_parent(parent, SIGKILL);
    (void)close(listener);
    stream_run(fd, o, input, first);
  }
  (void)close(fd);
  return pid > 0 ? pid : 0;
}
