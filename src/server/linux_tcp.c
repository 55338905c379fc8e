/* linux_tcp.c - what the kernel tells of a connection of TCP */
#define _GNU_SOURCE /* POLLRDHUP */
#include "server/door.h"

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

/* Of a UNIX socket it tells the same. */
bool pai__tcp_is_gone(int fd)
{
  struct pollfd p = { .fd = fd, .events = POLLRDHUP };

  return poll(&p, 1, 0) > 0 &&
         (p.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}
