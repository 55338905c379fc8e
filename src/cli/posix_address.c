/* posix_address.c - the address of this machine that others reach */
#include "serve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* That with which a packet to elsewhere would leave; none is sent. */
static bool find_own(char *out, size_t size, int family, const char *elsewhere)
{
  const struct addrinfo hints = { .ai_family = family,
                                  .ai_socktype = SOCK_DGRAM,
                                  .ai_flags = AI_NUMERICHOST };
  struct addrinfo *to = NULL;
  struct sockaddr_storage own;
  socklen_t len = sizeof(own);
  bool found = false;
  int fd = -1;

  if (getaddrinfo(elsewhere, "9", &hints, &to) != 0)
    return false;
  fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  found = fd >= 0 && connect(fd, to->ai_addr, to->ai_addrlen) == 0 &&
          getsockname(fd, (struct sockaddr *)&own, &len) == 0 &&
          getnameinfo((struct sockaddr *)&own, len, out, (socklen_t)size, NULL,
                      0, NI_NUMERICHOST) == 0;
  if (fd >= 0)
    (void)close(fd);
  freeaddrinfo(to);
  return found;
}

static bool is_loopback(const char *host)
{
  return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 ||
         strcmp(host, "localhost") == 0;
}

bool cli_find_address(char *out, size_t size, const char *listen)
{
  unsigned char bytes[sizeof(struct in6_addr)];
  char host[256];
  const char *end;
  size_t len;

  out[0] = '\0';
  if (listen == NULL || *listen == '\0')
    return false;
  len = strcspn(listen, ",");
  end = memchr(listen, ']', len);
  if (listen[0] == '[' && end != NULL) {
    listen++;
    len = (size_t)(end - listen);
  } else {
    for (size_t i = len; i > 0; i--)
      if (listen[i - 1] == ':') {
        len = i - 1;
        break;
      }
  }
  if (len >= sizeof(host) || len >= size)
    return false;
  memcpy(host, listen, len);
  host[len] = '\0';
  if (is_loopback(host))
    return false;
  if (strcmp(host, "::") != 0 && strcmp(host, "0.0.0.0") != 0 &&
      (inet_pton(AF_INET, host, bytes) == 1 ||
       inet_pton(AF_INET6, host, bytes) == 1)) {
    memcpy(out, host, len + 1);
    return true;
  }
  return find_own(out, size, AF_INET, "192.0.2.1") ||
         find_own(out, size, AF_INET6, "2001:db8::1");
}
