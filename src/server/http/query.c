/*
 * query.c - the query of a request, by the table of its route; where a stream
 * resumes
 */
#include "server/server.h"

#include <stdio.h>

static const char *value_of(const pai__request *r, const char *name)
{
  for (size_t i = r->nquery; i > 0; i--) /* the last one wins */
    if (strcmp(r->query[i - 1].name, name) == 0)
      return r->query[i - 1].value;
  return NULL;
}

const char *pai__request_query(const pai__request *r, const char *name)
{
  return pai__query_find(r->route, name) != NULL ? value_of(r, name) : NULL;
}

bool pai__request_flag(const pai__request *r, const char *name)
{
  const char *value = pai__request_query(r, name);

  return value != NULL && (value[0] == '\0' || strcmp(value, "true") == 0 ||
                           strcmp(value, "1") == 0);
}

const char *pai__request_last_event(const pai__request *r)
{
  return r->route->resumes ? pai__conn_field(r->conn, "Last-Event-ID") : NULL;
}

/* --- numbers ------------------------------------------------------------- */

/* Returns false if the text is no integer or out of range. */
static bool read_whole(const pai__api_field *f, const char *text, int64_t *out)
{
  bool negative = text[0] == '-' && f->least < 0;

  if (pai__param_number(text + negative, out) < 0)
    return false;
  *out = negative ? -*out : *out;
  return *out >= f->least && *out <= f->most;
}

int64_t pai__request_number(const pai__request *r, const char *name)
{
  const pai__api_field *f = pai__query_find(r->route, name);
  const char *value = value_of(r, name);
  int64_t n = 0;

  if (f == NULL || (value == NULL && f->missing == NULL))
    return 0;
  return read_whole(f, value != NULL ? value : f->missing, &n) ? n : 0;
}

static void refuse(pai__request *r, const pai__api_field *f, const char *value)
{
  char range[64] = "";

  if (f->most < PAI__MOST_WHOLE)
    (void)snprintf(range, sizeof(range), " of %lld to %lld",
                   (long long)f->least, (long long)f->most);
  else if (f->least >= 0)
    (void)snprintf(range, sizeof(range), " of %lld or more",
                   (long long)f->least);
  pai__answer_error(r, 400, "InvalidParametersError",
                    "%s must be a whole number%s, not '%s'.", f->name, range,
                    value);
}

bool pai__query_check(pai__request *r)
{
  const pai__api_field *f = r->route->queries;
  int64_t n;

  for (; f != NULL && f->kind != PAI__END; f++) {
    const char *value = f->kind == PAI__IS_WHOLE ? value_of(r, f->name) : NULL;

    if (value == NULL || read_whole(f, value, &n))
      continue;
    refuse(r, f, value);
    return false;
  }
  return true;
}
