/* route.c - what is served */
#include "server/server.h"

static const pai__routes *const tables[] = {
  &pai__jobs_routes,     &pai__change_routes,    &pai__code_routes,
  &pai__enter_routes,    &pai__follow_routes,    &pai__logs_routes,
  &pai__backup_routes,   &pai__sched_log_routes, &pai__submit_routes,
  &pai__watch_routes,    &pai__authn_routes,     &pai__tokens_routes,
  &pai__users_routes,    &pai__groups_routes,    &pai__audit_routes,
  &pai__openapi_routes,  &pai__storages_routes,  &pai__front_routes,
  &pai__attempts_routes, &pai__absent_routes,    &pai__pages_routes,
  &pai__v1_routes,       &pai__alerts_routes,    &pai__kube_routes,
  &pai__metrics_routes,  &pai__vcs_routes,       &pai__oidc_routes,
  &pai__consent_routes,  &pai__estimate_routes,  &pai__ssh_routes,
  &pai__quota_routes,    &pai__files_routes,
};

const pai__routes *pai__routes_at(size_t i)
{
  return i < PAI__LEN(tables) ? tables[i] : NULL;
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

/* Whether a part of a path is that of a route, whatever its case. */
static bool is_part(const char *part, const char *of, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (part[i] == '\0' || lower(part[i]) != lower(of[i]))
      return false;
  return part[len] == '\0';
}

/* The path is a row of texts, one for each part, and an empty one; the pattern
 * ends with a space, too. */
static bool matches(const char *pattern, const char *path,
                    const char *params[PAI__PARAMS])
{
  size_t n = 0;

  while (*pattern == '/') {
    size_t len = strcspn(++pattern, "/ ");
    if (*path == '\0')
      return false;
    if (*pattern == '*') {
      params[n] = path;
      return true;
    }
    if (*pattern == ':')
      params[n++] = path;
    else if (!is_part(path, pattern, len))
      return false;
    pattern += len;
    path += strlen(path) + 1;
  }
  return *path == '\0';
}

static bool leads_to(const pai__route *route, const char *path,
                     const char *params[PAI__PARAMS])
{
  for (const char *p = route->path; p != NULL; p = strchr(p, ' ')) {
    p += *p == ' ' ? 1 : 0;
    if (matches(p, path, params))
      return true;
  }
  return false;
}

const pai__route *pai__route_find(const char *method, char *path,
                                  enum pai__mode mode,
                                  const char *params[PAI__PARAMS])
{
  for (size_t t = 0; t < PAI__LEN(tables); t++)
    for (size_t i = 0; i < tables[t]->n; i++) {
      const pai__route *route = &tables[t]->at[i];
      if ((route->mode == PAI__WITH_ANY || route->mode == mode) &&
          is_method(method, route->method) && leads_to(route, path, params))
        return route;
    }
  return NULL;
}

const pai__field *pai__query_find(const pai__route *route, const char *name)
{
  const pai__field *f = route->queries;

  while (f != NULL && f->kind != PAI__END && strcmp(f->name, name) != 0)
    f++;
  return f != NULL && f->kind != PAI__END ? f : NULL;
}
