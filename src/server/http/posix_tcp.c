/* posix_tcp.c - TCP addresses at which a server listens */
#define _GNU_SOURCE /* accept4() */
#include "server/http/conn.h"
#include "server/http/peer.h"

#include "base/os/posix_errno.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  BACKLOG = 4096,
  LONGEST = 256, /* characters of an address */
  /* TCP keepalive: seconds of silence, interval and number of probes. */
  SILENT = 60,
  AGAIN = 20,
  OFTEN = 3
};

/* A parsed address. */
typedef struct place {
  char host[LONGEST], port[8];
  bool any; /* no host given: all addresses of this machine */
  struct sockaddr_storage address;
  socklen_t size;
} place;

/* --- parsing ------------------------------------------------------------- */

static int misunderstood(const char *text, size_t len, pai_error **err)
{
  (void)pai__fail(err, PAI_EINVAL, "'%.*s' is not an address to listen on",
                  (int)(len < LONGEST ? len : LONGEST), text);
  pai__error_help(err, "examples: 127.0.0.1:9186, [::1]:9186, or :9186 for "
                       "all addresses of this machine");
  return PAI_EINVAL;
}

/* Parses "127.0.0.1:80", "[::1]:80", ":80" or "localhost:80". */
static bool split(place *p, const char *text, size_t len)
{
  size_t colon = len, from = 0, to;

  while (colon > 0 && text[colon - 1] != ':')
    colon--;
  if (colon == 0 || len == colon || len - colon >= sizeof(p->port) ||
      len >= LONGEST)
    return false;
  to = colon - 1;
  if (to >= 2 && text[0] == '[' && text[to - 1] == ']') {
    from = 1;
    to--;
  } else if (memchr(text, ':', to) != NULL) {
    return false;
  }
  (void)snprintf(p->host, sizeof(p->host), "%.*s", (int)(to - from),
                 text + from);
  (void)snprintf(p->port, sizeof(p->port), "%.*s", (int)(len - colon),
                 text + colon);
  p->any = to == from;
  if (strcmp(p->host, "localhost") == 0)
    (void)snprintf(p->host, sizeof(p->host), "127.0.0.1");
  for (const char *c = p->port; *c != '\0'; c++)
    if (*c < '0' || *c > '9')
      return false;
  return strtoul(p->port, NULL, 10) <= 65535;
}

static bool find(place *p, const char *host)
{
  struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                            .ai_socktype = SOCK_STREAM };
  struct addrinfo *found;

  if (getaddrinfo(host, p->port, &hints, &found) != 0)
    return false;
  memcpy(&p->address, found->ai_addr, found->ai_addrlen);
  p->size = found->ai_addrlen;
  freeaddrinfo(found);
  return true;
}

/* --- listening ----------------------------------------------------------- */

static int fail(int error, const char *text, size_t len, pai_error **err)
{
  int rc = error == EACCES       ? PAI_EPERM
           : error == EADDRINUSE ? PAI_EEXISTS
                                 : PAI_EIO;

  if (error == EADDRINUSE)
    (void)pai__fail(err, rc, "another program already listens on %.*s",
                    (int)len, text);
  else
    (void)pai__fail(err, rc, "cannot listen on %.*s: %s", (int)len, text,
                    PAI__ERRNO_TEXT(error));
  if (error == EADDRINUSE)
    pai__error_help(err, "use another port, or 0 for any free port; 'ss "
                         "-ltnp' shows the program that uses it");
  else if (error == EACCES)
    pai__error_help(
      err, "ports below 1024 need root: use a higher port behind a proxy");
  else if (error == EADDRNOTAVAIL)
    pai__error_help(err,
                    "use an address of this machine: 'ip address' lists them");
  return rc;
}

/* Returns a listening socket, or -1 and errno. */
static int open_socket(const place *p)
{
  const int on = 1, off = 0;
  int error, fd = socket(p->address.ss_family,
                         SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

  if (fd < 0)
    return -1;
  (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (p->any && p->address.ss_family == AF_INET6)
    (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  if (bind(fd, (const struct sockaddr *)&p->address, p->size) == 0 &&
      listen(fd, BACKLOG) == 0)
    return fd;
  error = errno;
  (void)close(fd);
  errno = error;
  return -1;
}

static int open_place(place *p)
{
  int fd;

  if (!p->any)
    return open_socket(p);
  fd = find(p, "::") ? open_socket(p) : -1;
  if (fd < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL) &&
      find(p, "0.0.0.0"))
    fd = open_socket(p);
  return fd;
}

static int port_of(int fd)
{
  struct sockaddr_storage a = { 0 };
  socklen_t size = sizeof(a);

  if (getsockname(fd, (struct sockaddr *)&a, &size) != 0)
    return 0;
  return ntohs(a.ss_family == AF_INET6
                 ? ((const struct sockaddr_in6 *)&a)->sin6_port
                 : ((const struct sockaddr_in *)&a)->sin_port);
}

int pai__tcp_listen(pai_server *server, const char *text, size_t len,
                    pai__server_listener **out, pai_error **err)
{
  place p = { .any = false };
  int fd, rc;

  *out = NULL;
  if (!split(&p, text, len) || (!p.any && !find(&p, p.host)))
    return misunderstood(text, len, err);
  fd = open_place(&p);
  if (fd < 0)
    return fail(errno, text, len, err);
  rc = pai__server_listener_new(out, server, fd, true, err);
  if (rc < 0)
    return rc;
  (*out)->port = port_of(fd);
  return PAI_OK;
}

size_t pai__tcp_most(size_t wanted)
{
  struct rlimit files;
  size_t most;

  if (getrlimit(RLIMIT_NOFILE, &files) != 0)
    return wanted;
  most = (size_t)(files.rlim_cur / 4 * 3); /* the rest is for tasks */
  return most < wanted ? most : wanted;
}

/* --- accepting ----------------------------------------------------------- */

static void write_address(char peer[PAI__PEER],
                          const struct sockaddr_storage *a)
{
  const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)a;

  peer[0] = '\0';
  if (a->ss_family == AF_INET)
    (void)inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, peer,
                    PAI__PEER);
  else if (a->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
    (void)inet_ntop(AF_INET, six->sin6_addr.s6_addr + 12, peer, PAI__PEER);
  else if (a->ss_family == AF_INET6)
    (void)inet_ntop(AF_INET6, &six->sin6_addr, peer, PAI__PEER);
}

void pai__tcp_peer(char peer[PAI__PEER], int fd)
{
  struct sockaddr_storage a = { 0 };
  socklen_t size = sizeof(a);

  peer[0] = '\0';
  if (getpeername(fd, (struct sockaddr *)&a, &size) == 0)
    write_address(peer, &a);
}

/* Keepalive finds peers that are gone without closing. */
static void set_up(int fd)
{
  const int on = 1, silent = SILENT, again = AGAIN, often = OFTEN;

  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &silent, sizeof(silent));
  (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &again, sizeof(again));
  (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &often, sizeof(often));
}

int pai__tcp_accept(pai__server_listener *listener)
{
  const pai_server *server = listener->server;
  struct sockaddr_storage a = { 0 };
  socklen_t size = sizeof(a);
  unsigned char key[16];
  char peer[PAI__PEER];
  int fd = accept4(listener->fd, (struct sockaddr *)&a, &size,
                   SOCK_CLOEXEC | SOCK_NONBLOCK);

  if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
                 errno == ENOMEM)) {
    pai__log_line(&server->log, PAI_LOG_WARNING, "cannot accept: %s",
                  PAI__ERRNO_TEXT(errno));
    return PAI__NO_ROOM;
  }
  if (fd < 0) /* an error of one connection does not concern the next one */
    return errno == EAGAIN ? PAI__NONE_LEFT : PAI__TAKEN;
  if (listener->tls)
    pai__certs_look(server->certs);
  write_address(peer, &a);
  if (server->most_per_address > 0 &&
      pai__server_listener_count(listener, key, pai__peer_key(key, peer)) >=
        server->most_per_address) {
    (void)close(fd);
    return PAI__TAKEN;
  }
  set_up(fd);
  (void)pai__conn_new(listener, fd); /* closed if out of memory */
  return PAI__TAKEN;
}

void pai__tcp_hang_up(int fd, bool drop)
{
  const struct linger none = { .l_onoff = 1, .l_linger = 0 };

  if (drop)
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
  (void)shutdown(fd, SHUT_RDWR);
}
