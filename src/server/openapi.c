/*
 * openapi.c - GET /openapi.json: the API, as a document
 *
 * Written from the tables that requests are answered from.
 */
#include "server/openapi.h"

#include <stdio.h>

typedef pai__json_writer writer;

/* --- bodies ----------------------------------------------------------------------- */

static void put_body(writer *w, const pai__route *route)
{
  static const char *const types[] = { "application/json",
                                       "application/x-www-form-urlencoded" };

  if (route->fields == NULL)
    return;
  pai__openapi_begin(w, "requestBody");
  pai__openapi_begin(w, "content");
  for (size_t i = 0; i < PAI__LEN(types); i++) {
    pai__openapi_begin(w, types[i]);
    pai__openapi_body(w, route->fields);
    pai__json_end_object(w);
  }
  pai__json_end_object(w);
  pai__json_end_object(w);
}

/* --- answers ------------------------------------------------------------------------ */

/* What a right refuses with, beside its own route's. */
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
};

/* Adds the codes of a status that a list has, "404 NoJobError, ...". */
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

/* A result of NULL is an error. */
static void put_answer(writer *w, int status, const char *what,
                       const pai__result *result)
{
  static const pai__result error = { .kind = PAI__IS_OBJECT,
                                     .shape = &pai__error_shape };
  char name[16];

  (void)snprintf(name, sizeof(name), "%d", status);
  pai__openapi_begin(w, name);
  pai__openapi_text(w, "description", what);
  pai__openapi_content(w, result != NULL ? result : &error);
  pai__json_end_object(w);
}

/* Which are refused where they are none. */
static bool takes_numbers(const pai__route *route)
{
  const pai__field *f = route->queries;

  while (f != NULL && f->kind != PAI__END && f->kind != PAI__IS_WHOLE)
    f++;
  return f != NULL && f->kind != PAI__END;
}

static void put_answers(writer *w, const pai__route *route)
{
  /* What may be wrong with any body. */
  const char *body = route->fields != NULL
                       ? "400 InvalidParametersError, 413, 415"
                     : route->most_body != 0 ? "413, 415"
                                             : "";
  const char *query = takes_numbers(route) ? "400 InvalidParametersError" : "";
  const char *lists[] = { body, query, right_errors[route->right],
                          route->errors };

  pai__openapi_begin(w, "responses");
  put_answer(w, route->status != 0 ? route->status : 200, "done",
             route->result != NULL ? route->result : &pai__done_result);
  for (int status = 400; status < 600; status++) {
    pai__buf codes;
    bool any = false;

    pai__buf_init(&codes, w->out->alloc);
    for (size_t i = 0; i < PAI__LEN(lists); i++) {
      any = any || has_status(lists[i], status);
      add_codes(&codes, lists[i], status);
    }
    if (any)
      put_answer(w, status, codes.len > 0 ? pai__buf_text(&codes) : "refused",
                 NULL);
    pai__buf_dispose(&codes);
  }
  pai__json_end_object(w);
}

/* --- paths -------------------------------------------------------------------------- */

/* "{name}" for ":name" and "*name". */
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

static void end_text(writer *w)
{
  pai__openapi_begin(w, "schema");
  pai__openapi_text(w, "type", "string");
  pai__json_end_object(w);
  pai__json_end_object(w);
}

static void put_part(writer *w, const char *name, size_t len)
{
  pai__json_begin_object(w);
  pai__json_key(w, "name", 4);
  pai__json_text(w, name, len);
  pai__openapi_text(w, "in", "path");
  pai__json_key(w, "required", 8);
  pai__json_bool(w, true);
  end_text(w);
}

static void put_last_event(writer *w)
{
  pai__json_begin_object(w);
  pai__openapi_text(w, "name", "Last-Event-ID");
  pai__openapi_text(w, "in", "header");
  pai__openapi_text(w, "description",
                    "of the last event that was read; later events are sent, "
                    "as far as they are still known");
  end_text(w);
}

/* Those of the path, of the query, and where a stream goes on. */
static void put_parameters(writer *w, const pai__route *route)
{
  const char *path = route->path;
  const pai__field *f = route->queries;

  pai__json_key(w, "parameters", 10);
  pai__json_begin_array(w);
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
  pai__openapi_begin(w, name);
}

static void put_operation(writer *w, const pai__route *route)
{
  put_lower(w, route->method != NULL ? route->method : "GET");
  if (route->summary != NULL)
    pai__openapi_text(w, "summary", route->summary);
  if (route->right == PAI__OF_ALL) { /* else as for all */
    pai__json_key(w, "security", 8);
    pai__json_begin_array(w);
    pai__json_end_array(w);
  }
  put_parameters(w, route);
  put_body(w, route);
  put_answers(w, route);
  pai__json_end_object(w);
}

static bool is_same_path(const pai__route *a, const pai__route *b)
{
  size_t len = strcspn(a->path, " ");

  return strcspn(b->path, " ") == len && strncmp(a->path, b->path, len) == 0;
}

typedef struct place {
  size_t table, row;
  enum pai__mode mode; /* routes of others are passed over */
} place;

/* The next route, in the order of the tables; NULL: there are no more. */
static const pai__route *next_route(place *at)
{
  const pai__routes *table;

  while ((table = pai__routes_at(at->table)) != NULL) {
    while (at->row < table->n) {
      const pai__route *route = &table->at[at->row++];
      if (route->mode == PAI__WITH_ANY || route->mode == at->mode)
        return route;
    }
    at->table++;
    at->row = 0;
  }
  return NULL;
}

static bool is_first_of_path(const pai__route *route, enum pai__mode mode)
{
  const pai__route *other;
  place at = { .mode = mode };

  while ((other = next_route(&at)) != route)
    if (is_same_path(other, route))
      return false;
  return true;
}

static void put_path(writer *w, const pai__route *first, enum pai__mode mode)
{
  const pai__route *route;
  place at = { .mode = mode };
  pai__buf name;

  pai__buf_init(&name, w->out->alloc);
  add_path(&name, first->path);
  pai__openapi_begin(w, pai__buf_text(&name));
  pai__buf_dispose(&name);
  while ((route = next_route(&at)) != NULL)
    if (is_same_path(route, first))
      put_operation(w, route);
  pai__json_end_object(w);
}

/* --- the document ------------------------------------------------------------------- */

static void put_scheme(writer *w, const char *name, const char *scheme)
{
  pai__openapi_begin(w, name);
  pai__openapi_text(w, "type", "http");
  pai__openapi_text(w, "scheme", scheme);
  pai__json_end_object(w);
}

static void put_components(writer *w, enum pai__mode mode)
{
  static const char either[] = "[{\"bearer\":[]},{\"basic\":[]}]";

  pai__openapi_begin(w, "components");
  pai__openapi_schemas(w, mode);
  pai__openapi_begin(w, "securitySchemes");
  put_scheme(w, "bearer", "bearer");
  put_scheme(w, "basic", "basic");
  pai__json_end_object(w);
  pai__json_end_object(w);
  pai__json_key(w, "security", 8);
  pai__json_ready(w, either, sizeof(either) - 1);
}

static void do_openapi(pai__request *r)
{
  writer *w = &r->json;
  enum pai__mode mode = pai__server_mode(r->server);
  const pai__route *route;
  place at = { .mode = mode };

  pai__json_writer_init(w, &r->answer, false);
  pai__json_begin_object(w);
  pai__openapi_text(w, "openapi", "3.0.3");
  pai__openapi_begin(w, "info");
  pai__openapi_text(w, "title", "OpenPAI");
  pai__openapi_text(w, "version", pai_version());
  pai__json_end_object(w);
  pai__openapi_begin(w, "paths");
  while ((route = next_route(&at)) != NULL)
    if (is_first_of_path(route, mode))
      put_path(w, route, mode);
  pai__json_end_object(w);
  put_components(w, mode);
  pai__json_end_object(w);
  pai__answer_json(r, 200);
}

/* --- routes --- */

static const pai__result document = { .kind = PAI__IS_OBJECT };

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/openapi.json",
    .packs = true,
    .handle = do_openapi,
    .right = PAI__OF_ALL,
    .result = &document,
    .summary = "Get this document" },
};

const pai__routes pai__openapi_routes = { routes, PAI__LEN(routes) };
