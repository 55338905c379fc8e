/*
 * signed.c - signed URLs of logs that are valid for a while
 *
 * A web portal gives such URLs to a browser, which sends no Authorization
 * header.  The token holds its expiry time and user.  It is signed for one
 * path with a key that lives until the server ends or a user is removed.  So
 * no URL of a removed user works, even if the name is used again.
 */
#include "server/http/request.h"

#include "base/text/encode.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <stdlib.h>

enum { LASTS = 3600, MAC = 32, HEX = 2 * MAC + 1 };

#define SECONDS(time) ((time) / 1000000)

static bool sign(char out[HEX], const pai__request *r, int64_t until,
                 const char *user, const char *path, size_t len)
{
  unsigned char mac[MAC];
  pai__buf text;
  bool good;

  pai__buf_init(&text, &r->server->alloc);
  pai__buf_printf(&text, "%" PRId64 "\n%s\n", until, user);
  pai__buf_add(&text, path, len);
  good = pai__buf_ok(&text) && r->server->signs &&
         gnutls_hmac_fast(GNUTLS_MAC_SHA256, r->server->sign_key,
                          sizeof(r->server->sign_key), text.data, text.len,
                          mac) == 0;
  pai__buf_dispose(&text);
  if (good)
    pai__put_hex(out, mac, MAC);
  return good;
}

void pai__signed_open(pai_server *s)
{
  s->signs = gnutls_rnd(GNUTLS_RND_KEY, s->sign_key, sizeof(s->sign_key)) == 0;
}

void pai__signed_add(pai__buf *address, const pai__request *r)
{
  int64_t until = SECONDS(pai__loop_wall_time()) + LASTS;
  char mac[HEX];

  if (pai__buf_ok(address) &&
      sign(mac, r, until, r->caller.name, address->data, address->len))
    pai__buf_printf(address, "?token=%" PRId64 "-%s-%s", until, mac,
                    r->caller.name);
}

/* Returns whether the user has an account or needs none. */
static bool is_there(const pai_server *s, const char *user)
{
  return s->accounts == NULL || s->system ||
         (s->self != NULL && strcmp(user, s->self) == 0) ||
         pai_accounts_has_user(s->accounts, user);
}

bool pai__signed_holds(pai__request *r)
{
  const char *token = pai__request_query(r, "token");
  char mac[HEX], *end;
  int64_t until;

  if (token == NULL || token[0] < '0' || token[0] > '9')
    return false;
  until = strtoll(token, &end, 10);
  if (until < SECONDS(pai__loop_wall_time()) || *end != '-' ||
      strlen(end) < HEX + 2 || end[HEX] != '-' ||
      !sign(mac, r, until, end + HEX + 1, r->uri, strcspn(r->uri, "?")) ||
      gnutls_memcmp(mac, end + 1, HEX - 1) != 0 ||
      !is_there(r->server, end + HEX + 1))
    return false;
  r->caller.name = pai__strdup(&r->server->alloc, end + HEX + 1);
  r->caller.token = r->caller.application = r->caller.granted = true;
  r->caller.scopes = PAI_SCOPE_READ;
  return r->caller.name != NULL;
}
