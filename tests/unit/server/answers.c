/* answers.c - see answers.h */
#include "answers.h"

#include "api/records.h"
#include "json/json.h"

#include <stdio.h>

enum { LONGEST = 1024 };

/* What was found wrong, and where. */
typedef struct finding {
  char text[400];
  char where[128]; /* the members that lead there */
} finding;

static bool refuse(finding *f, const char *what, const char *name)
{
  (void)snprintf(f->text, sizeof(f->text), "%s %.80s %.120s", f->where, what,
                 name);
  return false;
}

/* --- values -------------------------------------------------------------------- */

static bool is_kind(enum pai__api_kind kind, int type)
{
  switch (kind) {
  case PAI__IS_TEXT: return type == PAI__STRING;
  case PAI__IS_FLAG: return type == PAI__BOOL;
  case PAI__IS_NUMBER: return type == PAI__INT || type == PAI__FLOAT;
  case PAI__IS_WHOLE:
  case PAI__IS_TIME: return type == PAI__INT;
  case PAI__IS_OBJECT:
  case PAI__IS_MAP: return type == PAI__MAPPING;
  case PAI__IS_TEXTS:
  case PAI__IS_LIST: return type == PAI__SEQUENCE;
  default: return true;
  }
}

static bool is_record(finding *f, const pai__api_record *record,
                      const pai__tree *t, pai__node n);

static bool is_value(finding *f, enum pai__api_kind kind,
                     const pai__api_record *record, const pai__tree *t,
                     pai__node n)
{
  pai__tree_walk walk = pai__tree_iter(t, n);
  pai__node k;

  if (!is_kind(kind, pai__tree_type(t, n)))
    return refuse(f, "is of another kind", "");
  if (kind == PAI__IS_OBJECT && record != NULL)
    return is_record(f, record, t, n);
  if (kind != PAI__IS_LIST && kind != PAI__IS_MAP && kind != PAI__IS_TEXTS)
    return true;
  while ((k = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__node item = kind == PAI__IS_MAP ? pai__tree_value(t, k) : k;
    if (kind == PAI__IS_TEXTS && pai__tree_type(t, item) != PAI__STRING)
      return refuse(f, "has what is no text", "");
    if (record != NULL && !is_value(f, PAI__IS_OBJECT, record, t, item))
      return false;
  }
  return true;
}

static const pai__api_field *find_field(const pai__api_record *record,
                                        const char *name)
{
  const pai__api_field *field = record->fields;

  while (field->kind != PAI__END && strcmp(field->name, name) != 0)
    field++;
  return field->kind != PAI__END ? field : NULL;
}

static bool is_member(finding *f, const pai__api_field *field,
                      const pai__tree *t, pai__node n)
{
  size_t len = strlen(f->where);
  bool good;

  if (pai__tree_type(t, n) == PAI__NULL &&
      ((field->flags & PAI__MAY_BE_NULL) != 0 || field->kind == PAI__IS_ANY))
    return true;
  (void)snprintf(f->where + len, sizeof(f->where) - len, ".%s", field->name);
  good = is_value(f, field->kind, field->record, t, n);
  f->where[len] = '\0';
  return good;
}

static bool is_record(finding *f, const pai__api_record *record,
                      const pai__tree *t, pai__node n)
{
  pai__tree_walk walk = pai__tree_iter(t, n);
  pai__node k;

  while ((k = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name = pai__tree_str(t, k, NULL);
    const pai__api_field *field = find_field(record, name);
    if (field == NULL)
      return refuse(f, "should not have", name);
    if (!is_member(f, field, t, pai__tree_value(t, k)))
      return false;
  }
  for (const pai__api_field *at = record->fields; at->kind != PAI__END; at++)
    if ((at->flags & PAI__NEEDED) != 0 &&
        pai__tree_get(t, n, at->name) == PAI__NO_NODE)
      return refuse(f, "lacks", at->name);
  return true;
}

bool fits_result(char *why, size_t size, const pai__api_answer *result,
                 const char *json)
{
  pai__tree *tree = NULL;
  finding f = { .text = "is no JSON" };
  bool good = false;

  if (pai__json_parse(&tree, json, strlen(json), NULL, NULL) == PAI_OK)
    for (; result != NULL && !good; result = result->other)
      good = result->type == NULL &&
             is_value(&f, result->kind, result->record, tree, 0);
  pai__tree_free(tree);
  (void)snprintf(why, size, "%s", f.text);
  return good;
}

/* --- answers --------------------------------------------------------------------- */

/* The route of what was asked; NULL: there is none. */
static const pai__api_route *find_route(const scene *s, const char *method,
                                        const char *path)
{
  const char *params[PAI__PARAMS] = { NULL };
  const char *api = strstr(path, "/api/"); /* behind a proxy's prefix */
  char parts[LONGEST + 2] = "";
  size_t n = 0;

  for (path = api != NULL ? api : path; *path == '/' && n < LONGEST;) {
    size_t len = strcspn(path + 1, "/?");
    n += (size_t)snprintf(parts + n, LONGEST - n, "%.*s", (int)len, path + 1);
    path += len + 1;
    parts[++n] = '\0'; /* the last part is empty */
  }
  return pai__route_find(method, parts, pai__server_mode(s->server), params);
}

/* What is answered with that status. */
static const pai__api_answer *find_result(const pai__api_route *route,
                                          int status)
{
  static const pai__api_answer error = { .kind = PAI__IS_OBJECT,
                                         .record = &pai__api_Error };
  int done = route->status != 0 ? route->status : 200;

  if (status != done)
    return status >= 400 ? &error : NULL;
  return route->result;
}

/* A job that is not there has no attempts for older clients. */
static bool is_null(const pai__api_route *route, const char *body)
{
  return strcmp(body, "null") == 0 &&
         strstr(route->path, "/job-attempts") != NULL;
}

void check_answer(const scene *s, const char *request, const char *answer)
{
  const char *body = strstr(answer, "\r\n\r\n");
  const pai__api_answer *result;
  const pai__api_route *route;
  char method[16], path[LONGEST], why[256];
  int status;

  if (s->server == NULL || s->server->hived != NULL || body == NULL ||
      sscanf(request, "%15s %1023s", method, path) != 2 ||
      sscanf(answer, "HTTP/1.1 %d", &status) != 1 ||
      strstr(answer, "\r\nContent-Type: application/json") == NULL ||
      strcmp(method, "HEAD") == 0 || fake_has_written(body + 4))
    return;
  route = find_route(s, method, path);
  result = route != NULL ? find_result(route, status) : NULL;
  if (result == NULL || is_null(route, body + 4) ||
      fits_result(why, sizeof(why), result, body + 4))
    return;
  print_error("%s %s: the answer %s\n%s\n", method, path, why, answer);
  fail();
}
