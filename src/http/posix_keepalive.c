/*
 * posix_keepalive.c - TCP keep-alive: detects a peer that has vanished
 *
 * A connection whose peer vanished silently (a lost NAT entry, a power
 * failure) stays silent for ever: nothing is sent that could fail.
 */
#if !defined(_GNU_SOURCE) && defined(__linux__)
#define _GNU_SOURCE
#endif
#include "http/http.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum {
  IDLE = 15,          /* seconds of silence before the first probe */
  EACH = 5,           /* seconds between probes */
  PROBES = 3,         /* unanswered probes that end the connection */
  UNACKED = 30 * 1000 /* ms without acknowledgement of sent data that end it,
                         too */
};

static void set(int fd, int level, int name, int value)
{
  (void)setsockopt(fd, level, name, &value,
                   sizeof(value)); /* not TCP: not needed */
}

void pai__http_watch_socket(int fd)
{
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
#ifdef TCP_KEEPIDLE
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, IDLE);
#endif
#ifdef TCP_KEEPINTVL
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, EACH);
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, PROBES);
#endif
#ifdef TCP_USER_TIMEOUT
  set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKED);
#endif
}
