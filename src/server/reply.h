/* reply.h - internal to the room: what stands around an answer */
#ifndef PAI_SRC_SERVER_REPLY_H
#define PAI_SRC_SERVER_REPLY_H

#include "server/request.h"

/* Counts a request of this address, or with `route` of this user.  False: it
 * was one too many, and that is the answer. */
bool pai__reply_may_go_on(pai__request *r);
bool pai__reply_may_go_on_with_route(pai__request *r);
/* What a browser asks before it lets a page of elsewhere ask; false: it did not,
 * else it is answered. */
bool pai__reply_to_preflight(pai__request *r);
/* pack.c: may its answer be compressed?  Compresses it, if that is wanted and
 * does good. */
bool pai__pack_may(const pai__request *r);
bool pai__pack(pai__request *r);
/* Sends the answer that is ready; false: the connection is to be closed. */
bool pai__reply_send(pai__request *r);

#endif
