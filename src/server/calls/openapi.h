/* openapi.h - internal to the OpenAPI document: its schemas */
#ifndef PAI_SRC_SERVER_CALLS_OPENAPI_H
#define PAI_SRC_SERVER_CALLS_OPENAPI_H

#include "server/server.h"

/* Writes the members of a parameter object for a query field. */
void pai__openapi_query(pai__json_writer *w, const pai__api_field *f);
/* Writes "schema":{...} of a body with these fields. */
void pai__openapi_body(pai__json_writer *w, const pai__api_field *fields);
/* Writes "content":{...} of an answer; nothing if it has no body. */
void pai__openapi_content(pai__json_writer *w, const pai__api_answer *result);
/* Writes "schemas":{...} with all schemas that contents refer to. */
void pai__openapi_schemas(pai__json_writer *w, enum pai__api_mode mode);

#endif
