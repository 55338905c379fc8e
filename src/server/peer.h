/* peer.h - internal to the room: who asks, also from behind a proxy */
#ifndef PAI_SRC_SERVER_PEER_H
#define PAI_SRC_SERVER_PEER_H

#include "server/door.h"

/* Networks, with commas between them.  *out is to be freed on failure, too. */
int pai__nets_new(pai__nets **out, const pai_alloc *alloc, const char *list,
                  pai_error **err);
void pai__nets_free(pai__nets *nets, const pai_alloc *alloc);
/* Turns the address that has connected into the one that asks, where the first
 * is a proxy's; `forwarded`, which may be NULL, is X-Forwarded-For. */
void pai__peer_behind(const pai__nets *nets, char *peer, size_t size,
                      const char *forwarded);
/* What is counted as one of those who ask; how long that is, or 0. */
size_t pai__peer_key(unsigned char key[16], const char *peer);

#endif
