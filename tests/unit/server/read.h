/*
 * read.h - which queries the routes have read
 *
 * It stands between them and the table: in every test of the server that is
 * linked with it, a route that reads what its table has not ends the test.
 */
#ifndef PAI_TESTS_SERVER_READ_H
#define PAI_TESTS_SERVER_READ_H

#include "server/server.h"

/* Has the route read that row of its table? */
bool was_read(const pai__api_route *route, const pai__api_field *query);
/* Forgets what was read. */
void read_nothing(void);

#endif
