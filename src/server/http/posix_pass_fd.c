/* posix_pass_fd.c - passes a socket to another process */
#include "server/server.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

bool pai__pass_fd(int to, int fd, const char *bytes, size_t len)
{
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(fd))] = { 0 };
  char first = 0;
  struct iovec parts[] = { { &first, 1 }, { (void *)bytes, len } };
  struct msghdr message = { .msg_iov = parts,
                            .msg_iovlen = len > 0 ? 2 : 1,
                            .msg_control = control,
                            .msg_controllen = sizeof(control) };
  struct cmsghdr *c = CMSG_FIRSTHDR(&message);

  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof(fd));
  memcpy(CMSG_DATA(c), &fd, sizeof(fd));
  return sendmsg(to, &message, MSG_NOSIGNAL) == (ssize_t)(len + 1);
}

void pai__pass_fd_close(int fd)
{
  if (fd >= 0)
    (void)close(fd);
}
