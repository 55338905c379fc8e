/*
 * hash_requester.c - names the requester of a password hash
 *
 * A hash is expensive on purpose.  So addresses take turns, and the hash of a
 * request whose connection was closed is not made.
 */
#include "server/http/peer.h"

#include <stdio.h>

/* A suspended connection is not polled, so the socket is checked here. */
static int is_gone(void *waiting)
{
  const pai__request *r = pai__waiting_request(waiting);

  return r == NULL ||
         (r->deadline != NULL && pai__tcp_is_gone(r->deadline->fd));
}

void pai__ask_accounts(const pai__request *r)
{
  pai_asker requester = { sizeof(requester), NULL, is_gone };
  unsigned char key[16] = { 0 };
  char who[48] = "local";
  size_t len = r->remote ? pai__peer_key(key, r->peer) : 0;

  if (len > 0)
    for (size_t i = 0; i < len; i++)
      (void)snprintf(who + 2 * i, 3, "%02x", key[i]);
  else if (r->deadline != NULL)
    (void)snprintf(who, sizeof(who), "user %lu", r->deadline->user);
  requester.who = who;
  (void)!pai_accounts_ask_as(r->server->accounts,
                             /* on failure the hash has no requester */
                             &requester);
}
