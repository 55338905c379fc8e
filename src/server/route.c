/* route.c - the table of routes, and the search in it */
#include "api/records.h"
#include "server/server.h"

#define HANDLE(name) .handle = pai__do_##name
#define TAKE(name) .take = pai__do_##name
#define ROUTE(...) { __VA_ARGS__ },

static const pai__api_route routes[] = {
#include "api/routes.inc"
};

const pai__api_route *pai__route_next(const pai__api_route *route,
                                      enum pai__api_mode mode)
{
  for (route = route != NULL ? route + 1 : routes;
       route < routes + PAI__LEN(routes); route++)
    if (mode == PAI__WITH_ANY || route->mode == PAI__WITH_ANY ||
        route->mode == mode)
      return route;
  return NULL;
}

static bool is_method(const char *have, const char *want)
{
  return want == NULL || strcmp(have, want) == 0 ||
         (strcmp(have, "HEAD") == 0 && strcmp(want, "GET") == 0);
}

static char lower(char c)
{
  return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool ends_part(char c)
{
  return c == '/' || c == ' ' || c == '\0';
}

/* Compares the part of a route that begins here with a part of a path, ignoring
 * case.  Returns where the route's part ends, or NULL if they differ. */
static const char *pass_part(const char *route, const char *part)
{
  for (; !ends_part(*route); part++, route++)
    if (lower(*part) != lower(*route))
      return NULL;
  return *part == '\0' ? route : NULL;
}

/* `path` is a sequence of texts, one for each part, ended by an empty text;
 * `pattern` may end with a space. */
static bool matches(const char *pattern, const char *path,
                    const char *params[PAI__PARAMS])
{
  size_t n = 0;

  if (strchr(" ", pattern[1]) != NULL) /* "/" has no parts */
    return *path == '\0';
  while (*pattern == '/') {
    pattern++;
    if (*path == '\0')
      return false;
    if (*pattern == '*') {
      params[n] = path;
      return true;
    }
    if (*pattern == ':') {
      params[n++] = path;
      pattern += strcspn(pattern, "/ ");
    } else if ((pattern = pass_part(pattern, path)) == NULL)
      return false;
    path += strlen(path) + 1;
  }
  return *path == '\0';
}

static bool leads_to(const pai__api_route *route, const char *path,
                     const char *params[PAI__PARAMS])
{
  for (const char *p = route->path; p != NULL; p = strchr(p, ' ')) {
    p += *p == ' ' ? 1 : 0;
    if (matches(p, path, params))
      return true;
  }
  return false;
}

const pai__api_route *pai__route_find(const char *method, char *path,
                                      enum pai__api_mode mode,
                                      const char *params[PAI__PARAMS])
{
  const pai__api_route *route = NULL;

  while ((route = pai__route_next(route, mode)) != NULL)
    if (is_method(method, route->method) && leads_to(route, path, params))
      return route;
  return NULL;
}

const pai__api_field *pai__query_find(const pai__api_route *route,
                                      const char *name)
{
  const pai__api_field *f = route->queries;

  while (f != NULL && f->kind != PAI__END && strcmp(f->name, name) != 0)
    f++;
  return f != NULL && f->kind != PAI__END ? f : NULL;
}
