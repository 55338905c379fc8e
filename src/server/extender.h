/* extender.h - internal to the room: a server that is HiveD's web server */
#ifndef PAI_SRC_SERVER_EXTENDER_H
#define PAI_SRC_SERVER_EXTENDER_H

#include "server/server.h"

/* There is one, whatever is asked. */
const pai__route *pai__extender_route(const char *method, const char *uri);

#endif
