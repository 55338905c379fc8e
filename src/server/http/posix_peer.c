/*
 * posix_peer.c - client addresses, also from behind a proxy
 *
 * Anybody can send X-Forwarded-For; only what a trusted proxy has appended is
 * reliable.  So it is read from its end, as long as the addresses are those of
 * trusted proxies.
 */
#include "server/http/peer.h"

#include <arpa/inet.h>
#include <stdio.h>

enum { MOST = 32 };

struct pai__nets {
  size_t n;
  struct {
    unsigned char address[16]; /* IPv6, or IPv4 mapped to IPv6 */
    unsigned bits;
  } at[MOST];
};

/* Parses an address to IPv6 form; returns false if it is invalid. */
static bool parse(unsigned char out[16], const char *text)
{
  static const unsigned char mapped[12] = { 0, 0, 0, 0, 0,    0,
                                            0, 0, 0, 0, 0xff, 0xff };

  if (inet_pton(AF_INET6, text, out) == 1)
    return true;
  memcpy(out, mapped, sizeof(mapped));
  return inet_pton(AF_INET, text, out + sizeof(mapped)) == 1;
}

/* Adds "10.0.0.0/8" or an address. */
static bool add_net(pai__nets *nets, const char *text, size_t len)
{
  char copy[64], *slash;
  unsigned most, bits = 0;

  if (len >= sizeof(copy) || nets->n == MOST)
    return false;
  memcpy(copy, text, len);
  copy[len] = '\0';
  slash = strchr(copy, '/');
  if (slash != NULL)
    *slash++ = '\0';
  most = strchr(copy, ':') != NULL ? 128 : 32;
  for (const char *c = slash; c != NULL && *c != '\0'; c++)
    if (*c < '0' || *c > '9' ||
        (bits = bits * 10 + (unsigned)(*c - '0')) > most)
      return false;
  if (slash == NULL || *slash == '\0')
    bits = most;
  nets->at[nets->n].bits = bits + 128 - most;
  return parse(nets->at[nets->n++].address, copy);
}

int pai__nets_new(pai__nets **out, const pai_alloc *alloc, const char *list,
                  pai_error **err)
{
  pai__nets *nets = pai__zalloc(alloc, sizeof(*nets));

  *out = nets;
  if (nets == NULL)
    return pai__oom(err);
  while (*list != '\0') {
    size_t len = strcspn(list, ", ");
    if (len > 0 && !add_net(nets, list, len)) {
      (void)pai__fail(err, PAI_EINVAL, "'%.*s' is not an address of a proxy",
                      (int)(len < 64 ? len : 64), list);
      pai__error_help(
        err,
        "examples: 10.0.0.7 or 10.0.0.0/8, separated by commas, at most %d",
        (int)MOST);
      return PAI_EINVAL;
    }
    list += len + (list[len] != '\0' ? 1 : 0);
  }
  return PAI_OK;
}

void pai__nets_free(pai__nets *nets, const pai_alloc *alloc)
{
  pai__free(alloc, nets, sizeof(*nets));
}

static bool has_prefix(const unsigned char *a, const unsigned char *b,
                       unsigned bits)
{
  unsigned whole = bits / 8, rest = bits % 8;

  return memcmp(a, b, whole) == 0 &&
         (rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0);
}

static bool is_proxy(const pai__nets *nets, const char *peer)
{
  unsigned char address[16];

  if (!parse(address, peer))
    return false;
  for (size_t i = 0; i < nets->n; i++)
    if (has_prefix(address, nets->at[i].address, nets->at[i].bits))
      return true;
  return false;
}

/* Takes the last address off the list, without the separators around it;
 * returns false if it is invalid. */
static bool take_last(char *peer, size_t size, const char *list, size_t *len)
{
  unsigned char address[16];
  size_t end = *len, begin;

  while (end > 0 && strchr(", \t", list[end - 1]) != NULL)
    end--;
  begin = end;
  while (begin > 0 && strchr(", \t", list[begin - 1]) == NULL)
    begin--;
  *len = begin;
  if (end == begin || end - begin >= size)
    return false;
  memcpy(peer, list + begin, end - begin);
  peer[end - begin] = '\0';
  return parse(address, peer);
}

void pai__peer_behind(const pai__nets *nets, char *peer, size_t size,
                      const char *forwarded)
{
  size_t len = forwarded != NULL ? strlen(forwarded) : 0;
  char next[PAI__PEER];

  while (len > 0 && is_proxy(nets, peer) &&
         take_last(next, sizeof(next), forwarded, &len))
    (void)snprintf(peer, size, "%s", next);
}

size_t pai__peer_key(unsigned char key[16], const char *peer)
{
  static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

  if (!parse(key, peer))
    return 0;
  /* One IPv6 client has 2^64 addresses; "::ffff:1.2.3.4" is IPv4. */
  return strchr(peer, ':') != NULL && memcmp(key, mapped, sizeof(mapped)) != 0
           ? 8
           : 16;
}
