/* openapi.h - internal to the document of the API: its schemas */
#ifndef PAI_SRC_SERVER_OPENAPI_H
#define PAI_SRC_SERVER_OPENAPI_H

#include "server/server.h"

/* "key":"text", "key":{ and "key":{"$ref":"to"}. */
void pai__openapi_text(pai__json_writer *w, const char *key, const char *text);
void pai__openapi_begin(pai__json_writer *w, const char *key);

/* What a parameter says of one of a route's queries, in its object. */
void pai__openapi_query(pai__json_writer *w, const pai__field *f);
/* "schema":{...} of a body that has these fields. */
void pai__openapi_body(pai__json_writer *w, const pai__field *fields);
/* "content":{...} of what is answered; nothing where there is no body. */
void pai__openapi_content(pai__json_writer *w, const pai__result *result);
/* "schemas":{...}: all that contents name. */
void pai__openapi_schemas(pai__json_writer *w, enum pai__mode mode);

#endif
