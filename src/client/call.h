/* call.h - internal to src/client: the table of API calls */
#ifndef PAI_SRC_CLIENT_CALL_H
#define PAI_SRC_CLIENT_CALL_H

#include "api/api.h"
#include "client/inside.h"

/* Returns the call of that name; NULL if there is none. */
const pai__api_route *pai__call_find(const char *name, const pai_alloc *alloc,
                                     pai_error **err);

/* Returns the first parameter in the rest of a path, as "job" of
 * "/jobs/:job/tag", or NULL. */
const char *pai__call_param(const char *path, size_t *len);

static inline const char *pai__call_method(const pai__api_route *call)
{
  return call->method != NULL ? call->method : "GET";
}

#endif
