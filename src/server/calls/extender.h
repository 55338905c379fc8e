/* extender.h - internal to the room: routes of HiveD's web server */
#ifndef PAI_SRC_SERVER_CALLS_EXTENDER_H
#define PAI_SRC_SERVER_CALLS_EXTENDER_H

#include "server/server.h"

/* Returns the route; never NULL. */
const pai__api_route *pai__extender_route(const char *method, const char *uri);

#endif
