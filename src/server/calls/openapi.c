/*
 * openapi.c - GET /openapi.json: the OpenAPI document of the API
 *
 * It is generated from the tables that requests are answered from.
 */
#include "server/calls/openapi.h"

#include "api/records.h"

#include <stdio.h>

typedef pai__json_writer writer;

/* --- bodies -------------------------------------------------------------- */

static void put_body(writer *w, const pai__api_route *route)
{
  static const char *const types[] = { "application/json",
                                       "application/x-www-form-urlencoded" };

  if (route->body == NULL)
    return;
  pai__json_write(w, "requestBody:{content:{");
  for (size_t i = 0; i < PAI__LEN(types); i++) {
    pai__json_put_object(w, types[i]);
    pai__openapi_body(w, route->body->fields);
    pai__json_end_object(w);
  }
  pai__json_write(w, "}}");
}

/* --- answers ------------------------------------------------------------- */

/* Errors of each right, in addition to those of the route. */
static const char *const right_errors[PAI__RIGHTS] = {
  [PAI__OF_ALL] = "",
  [PAI__OF_USERS] = "401 UnauthorizedUserError, 403 ForbiddenUserError",
  [PAI__OF_PERSONS] = "401 UnauthorizedUserError, 403 ForbiddenUserError",
  [PAI__OF_READERS] = "401 UnauthorizedUserError, 403 ForbiddenUserError",
  [PAI__OF_OWNER] = "401 UnauthorizedUserError, 403 ForbiddenUserError",
  [PAI__OF_OWNER_ALONE] = "401 UnauthorizedUserError, 403 ForbiddenUserError",
  [PAI__OF_ADMIN] = "401 UnauthorizedUserError, 403 ForbiddenUserError",
  [PAI__OF_ADMIN_PERSONS] =
    "401 UnauthorizedUserError, 403 ForbiddenUserError",
  [PAI__OF_ALERT_SENDERS] =
    "401 UnauthorizedUserError, 403 ForbiddenUserError",
};

/* Adds the codes that a list like "404 NoJobError, ..." has for a status. */
static void add_codes(pai__buf *out, const char *list, int status)
{
  for (; list != NULL && *list != '\0'; list += strspn(list, ", ")) {
    size_t len = strcspn(list, ",");

    if ((list[0] - '0') * 100 + (list[1] - '0') * 10 + list[2] - '0' == status)
      pai__buf_printf(out, "%s%.*s", out->len > 0 ? ", " : "",
                      len > 4 ? (int)len - 4 : 0, len > 4 ? list + 4 : "");
    list += len;
  }
}

static bool has_status(const char *list, int status)
{
  for (; list != NULL && *list != '\0'; list += strspn(list, ", ")) {
    if ((list[0] - '0') * 100 + (list[1] - '0') * 10 + list[2] - '0' == status)
      return true;
    list += strcspn(list, ",");
  }
  return false;
}

/* `result` NULL: an error. */
static void put_answer(writer *w, int status, const char *what,
                       const pai__api_answer *result)
{
  static const pai__api_answer error = { .kind = PAI__IS_OBJECT,
                                         .record = &pai__api_Error };
  char name[16];

  (void)snprintf(name, sizeof(name), "%d", status);
  pai__json_write(w, "*:{description:s", name, what);
  if (result != NULL && result->header != NULL)
    pai__json_write(w, "headers:{*:{description:s,schema:{type:s}}}",
                    result->header, result->header_what, "integer");
  pai__openapi_content(w, result != NULL ? result : &error);
  pai__json_end_object(w);
}

/* Returns whether the query has numbers, which may be invalid. */
static bool takes_numbers(const pai__api_route *route)
{
  const pai__api_field *f = route->queries;

  while (f != NULL && f->kind != PAI__END && f->kind != PAI__IS_WHOLE)
    f++;
  return f != NULL && f->kind != PAI__END;
}

static void put_answers(writer *w, const pai__api_route *route)
{
  /* Errors of any body. */
  const char *body = route->body != NULL
                       ? "400 InvalidParametersError, 413, 415"
                     : route->most_body != 0 ? "413, 415"
                                             : "";
  const char *query = takes_numbers(route) ? "400 InvalidParametersError" : "";
  const char *lists[] = { body, query, right_errors[route->right],
                          route->errors };

  pai__json_put_object(w, "responses");
  put_answer(w, route->status != 0 ? route->status : 200, "success",
             route->result);
  for (int status = 400; status < 600; status++) {
    pai__buf codes;
    bool any = false;

    pai__buf_init(&codes, w->out->alloc);
    for (size_t i = 0; i < PAI__LEN(lists); i++) {
      any = any || has_status(lists[i], status);
      add_codes(&codes, lists[i], status);
    }
    if (any)
      put_answer(w, status, codes.len > 0 ? pai__buf_text(&codes) : "error",
                 NULL);
    pai__buf_dispose(&codes);
  }
  pai__json_end_object(w);
}

/* --- paths --------------------------------------------------------------- */

/* Writes "{name}" for ":name" and "*name". */
static void add_path(pai__buf *out, const char *path)
{
  while (*path == '/') {
    size_t len = strcspn(++path, "/ ");
    bool open = *path == ':' || *path == '*';

    pai__buf_printf(out, open ? "/{%.*s}" : "/%.*s",
                    (int)(open ? len - 1 : len), open ? path + 1 : path);
    path += len;
  }
}

static void put_part(writer *w, const char *name, size_t len)
{
  pai__json_write(w, "{name:");
  pai__json_text(w, name, len);
  pai__json_write(w, "in:s,required:true,schema:{type:s}}", "path", "string");
}

static void put_last_event(writer *w)
{
  pai__json_write(w, "{name:s,in:s,description:s,schema:{type:s}}",
                  "Last-Event-ID", "header",
                  "id of the last event that was read; the stream continues "
                  "after it, as far as the server still has the events",
                  "string");
}

/* Writes the parameters of the path, of the query, and for resuming a
 * stream. */
static void put_parameters(writer *w, const pai__api_route *route)
{
  const char *path = route->path;
  const pai__api_field *f = route->queries;

  pai__json_put_array(w, "parameters");
  while (*path == '/') {
    size_t len = strcspn(++path, "/ ");
    if (*path == ':' || *path == '*')
      put_part(w, path + 1, len - 1);
    path += len;
  }
  for (; f != NULL && f->kind != PAI__END; f++) {
    pai__json_begin_object(w);
    pai__openapi_query(w, f);
    pai__json_end_object(w);
  }
  if (route->resumes)
    put_last_event(w);
  pai__json_end_array(w);
}

static void put_lower(writer *w, const char *method)
{
  char name[16];
  size_t i = 0;

  for (; method[i] != '\0' && i + 1 < sizeof(name); i++)
    name[i] = (char)(method[i] | 32);
  name[i] = '\0';
  pai__json_put_object(w, name);
}

static void put_operation(writer *w, const pai__api_route *route)
{
  put_lower(w, route->method != NULL ? route->method : "GET");
  pai__json_put_known(w, "summary", route->summary);
  /* other routes use the document's default */
  if (route->right == PAI__OF_ALL)
    pai__json_write(w, "security:[]");
  put_parameters(w, route);
  put_body(w, route);
  put_answers(w, route);
  pai__json_end_object(w);
}

static bool is_same_path(const pai__api_route *a, const pai__api_route *b)
{
  size_t len = strcspn(a->path, " ");

  return strcspn(b->path, " ") == len && strncmp(a->path, b->path, len) == 0;
}

static bool is_first_of_path(const pai__api_route *route,
                             enum pai__api_mode mode)
{
  const pai__api_route *other = NULL;

  while ((other = pai__route_next(other, mode)) != route)
    if (is_same_path(other, route))
      return false;
  return true;
}

static void put_path(writer *w, const pai__api_route *first,
                     enum pai__api_mode mode)
{
  const pai__api_route *route = NULL;
  pai__buf name;

  pai__buf_init(&name, w->out->alloc);
  add_path(&name, first->path);
  pai__json_put_object(w, pai__buf_text(&name));
  pai__buf_dispose(&name);
  while ((route = pai__route_next(route, mode)) != NULL)
    if (is_same_path(route, first))
      put_operation(w, route);
  pai__json_end_object(w);
}

/* --- the document -------------------------------------------------------- */

static void put_components(writer *w, enum pai__api_mode mode)
{
  pai__json_put_object(w, "components");
  pai__openapi_schemas(w, mode);
  pai__json_write(w,
                  "securitySchemes:{bearer:{type:s,scheme:s},basic:{type:s,"
                  "scheme:s}}},security:[{bearer:[]},{basic:[]}]",
                  "http", "bearer", "http", "basic");
}

void pai__do_server_openapi(pai__request *r)
{
  writer *w = &r->json;
  enum pai__api_mode mode = pai__server_mode(r->server);
  const pai__api_route *route = NULL;

  pai__json_writer_init(w, &r->answer, false);
  pai__json_write(w, "{openapi:s,info:{title:s,version:s},paths:{", "3.0.3",
                  "OpenPAI", pai_version());
  while ((route = pai__route_next(route, mode)) != NULL)
    if (is_first_of_path(route, mode))
      put_path(w, route, mode);
  pai__json_end_object(w);
  put_components(w, mode);
  pai__json_end_object(w);
  pai__answer_json(r, 200);
}
