/* linux_tcp.c - state of a TCP connection from the kernel */
#define _GNU_SOURCE /* POLLRDHUP */
#include "server/http/listener.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

uint64_t pai__tcp_sent(int fd)
{
  struct tcp_info info = { 0 };
  socklen_t size = sizeof(info);

  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
    return 0;
  return info.tcpi_bytes_acked;
}

/* Also works for UNIX sockets. */
bool pai__tcp_is_gone(int fd)
{
  struct pollfd p = { .fd = fd, .events = POLLRDHUP };

  return poll(&p, 1, 0) > 0 &&
         (p.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}
