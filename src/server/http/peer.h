/* peer.h - internal to the room: client addresses, also from behind a proxy */
#ifndef PAI_SRC_SERVER_HTTP_PEER_H
#define PAI_SRC_SERVER_HTTP_PEER_H

#include "server/http/listener.h"

/* Parses networks, separated by commas.  *out must be freed on failure,
 * too. */
int pai__nets_new(pai__nets **out, const pai_alloc *alloc, const char *list,
                  pai_error **err);
void pai__nets_free(pai__nets *nets, const pai_alloc *alloc);
/* If `peer` is a trusted proxy, replaces it by the client's address from
 * X-Forwarded-For in `forwarded`, which may be NULL. */
void pai__peer_behind(const pai__nets *nets, char *peer, size_t size,
                      const char *forwarded);
/* Gets the key under which a client is counted; returns its length, or 0. */
size_t pai__peer_key(unsigned char key[16], const char *peer);

#endif
