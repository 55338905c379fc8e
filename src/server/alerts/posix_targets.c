/* posix_targets.c - private addresses, to which messages go only if they are
 * listed; when the file of settings changed */
#include "server/alerts/settings.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

static bool is_public_4(uint32_t a)
{
  static const struct {
    uint32_t net, bits;
  } closed[] = { { 0x00000000, 8 },  { 0x0a000000, 8 },  { 0x64400000, 10 },
                 { 0x7f000000, 8 },  { 0xa9fe0000, 16 }, { 0xac100000, 12 },
                 { 0xc0000000, 24 }, { 0xc0a80000, 16 }, { 0xc6120000, 15 },
                 { 0xe0000000, 3 } };

  for (size_t i = 0; i < PAI__LEN(closed); i++)
    if (a >> (32 - closed[i].bits) == closed[i].net >> (32 - closed[i].bits))
      return false;
  return true;
}

/* Only 2000::/3 is public, without the forms that have an IPv4 address
 * within. */
static bool is_public_6(const unsigned char a[16])
{
  return (a[0] & 0xe0) == 0x20 && !(a[0] == 0x20 && a[1] == 0x02) &&
         !(a[0] == 0x20 && a[1] == 0x01 && a[2] == 0 && a[3] == 0);
}

bool pai__alert_may_connect(const pai__alert_settings *s, const void *address)
{
  const struct sockaddr *any = address;
  char text[INET6_ADDRSTRLEN], target[INET6_ADDRSTRLEN + 16];

  if (any->sa_family == AF_INET) {
    struct sockaddr_in in;

    memcpy(&in, address, sizeof(in));
    if (is_public_4(ntohl(in.sin_addr.s_addr)))
      return true;
    (void)inet_ntop(AF_INET, &in.sin_addr, text, sizeof(text));
    (void)snprintf(target, sizeof(target), "%s:%d", text, ntohs(in.sin_port));
  } else if (any->sa_family == AF_INET6) {
    struct sockaddr_in6 in;

    memcpy(&in, address, sizeof(in));
    if (is_public_6(in.sin6_addr.s6_addr))
      return true;
    (void)inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof(text));
    (void)snprintf(target, sizeof(target), "[%s]:%d", text,
                   ntohs(in.sin6_port));
  } else {
    return false;
  }
  return pai__alert_target_is_listed(s, target);
}

uint64_t pai__alert_file_stamp(const char *path)
{
  struct stat st;

  if (stat(path, &st) != 0)
    return 0;
  return ((uint64_t)st.st_mtim.tv_sec * 1000000007u +
          (uint64_t)st.st_mtim.tv_nsec + (uint64_t)st.st_size * 31 +
          (uint64_t)st.st_ino * 7) |
         1;
}
