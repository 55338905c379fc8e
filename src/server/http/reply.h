/* reply.h - internal to the room: rate limits, CORS, compression and sending
 * of answers */
#ifndef PAI_SRC_SERVER_HTTP_REPLY_H
#define PAI_SRC_SERVER_HTTP_REPLY_H

#include "server/http/request.h"

/* Count a request for its address, or with its route for its user.  Return
 * false if it is one too many, which is then the answer. */
bool pai__reply_may_go_on(pai__request *r);
bool pai__reply_may_go_on_with_route(pai__request *r);
/* Answers a CORS preflight request; returns false if it is not one. */
bool pai__reply_to_preflight(pai__request *r);
/* pack.c: returns whether the answer may be compressed; compresses it if the
 * client accepts that and it saves bytes. */
bool pai__pack_may(const pai__request *r);
bool pai__pack(pai__request *r);
/* Sends the ready answer; returns false if the connection is to be closed. */
bool pai__reply_send(pai__request *r);

#endif
