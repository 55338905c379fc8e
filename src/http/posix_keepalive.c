/*
 * posix_keepalive.c - TCP asks whether the other end is still there
 *
 * A connection whose other end went without a word (a lost entry of a NAT, a
 * machine without power) is silent for ever: nothing is sent that could fail.
 */
#if !defined(_GNU_SOURCE) && defined(__linux__)
#define _GNU_SOURCE
#endif
#include "http/http.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum {
  IDLE = 15,          /* seconds of silence, and then it is asked, */
  EACH = 5,           /* every so many seconds; */
  PROBES = 3,         /* after so many without an answer it is over, */
  UNACKED = 30 * 1000 /* as it is when what was sent is not taken; in ms */
};

static void set(int fd, int level, int name, int value)
{
  (void)setsockopt(fd, level, name, &value,
                   sizeof(value)); /* no TCP: no need */
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
