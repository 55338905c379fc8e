/*
 * asker.c - whose passwords wait to be hashed
 *
 * A hash is dear on purpose.  So each address has its own turn, and what was
 * asked by a connection that is gone is not made.
 */
#include "server/peer.h"

#include <stdio.h>

/* A connection that sleeps is not looked at. */
static int is_gone(void *waiting)
{
  const pai__request *r = pai__waiting_request(waiting);

  return r == NULL || (r->line != NULL && pai__tcp_is_gone(r->line->fd));
}

void pai__ask_accounts(const pai__request *r)
{
  pai_asker asker = { sizeof(asker), NULL, is_gone };
  unsigned char key[16] = { 0 };
  char who[48] = "local";
  size_t len = r->remote ? pai__peer_key(key, r->peer) : 0;

  if (len > 0)
    for (size_t i = 0; i < len; i++)
      (void)snprintf(who + 2 * i, 3, "%02x", key[i]);
  else if (r->line != NULL)
    (void)snprintf(who, sizeof(who), "user %lu", r->line->user);
  asker.who = who;
  (void)!pai_accounts_ask_as(r->server->accounts, &asker); /* it is as it is */
}
