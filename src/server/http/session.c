/*
 * session.c - sessions of browsers: the token of a login in a cookie
 *
 * Scripts cannot read the cookie, and browsers send it with requests of this
 * site only.  Requests that change something must also say that they come from
 * this site, in headers that no script can set.
 */
#include "server/http/listener.h"

#include <stdio.h>
#include <strings.h>

#define COOKIE "openpai_session"

enum { SEVEN_DAYS = 604800 }; /* longer than a login's token is valid */

const char *pai__request_cookie(const pai__request *r, const char *name,
                                size_t *len)
{
  size_t at = 0, n = strlen(name);
  const char *list;

  while ((list = pai__conn_next_field(r->conn, "Cookie", &at)) != NULL)
    while (*list != '\0') {
      list += strspn(list, "; \t");
      *len = strcspn(list, "; \t");
      if (*len > n && list[n] == '=' && memcmp(list, name, n) == 0) {
        *len -= n + 1;
        return list + n + 1;
      }
      list += *len;
    }
  return NULL;
}

/* Browsers send Sec-Fetch-Site over TLS and on this machine, and Origin with
 * each request that changes something. */
static bool is_of_this_site(const pai__request *r)
{
  const char *site = pai__conn_field(r->conn, "Sec-Fetch-Site"),
             *origin = pai__conn_field(r->conn, "Origin"),
             *host = pai__conn_field(r->conn, "Host"), *name;

  if (strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0)
    return true;
  if (site != NULL)
    return strcmp(site, "same-origin") == 0;
  name = origin != NULL ? strstr(origin, "://") : NULL;
  return name != NULL && host != NULL && strcasecmp(name + 3, host) == 0;
}

char *pai__session_header(const pai__request *r)
{
  size_t len;
  const char *token = r->remote ? pai__request_cookie(r, COOKIE, &len) : NULL;
  pai__buf b;

  if (token == NULL || !is_of_this_site(r))
    return NULL;
  pai__buf_init(&b, &r->server->alloc);
  pai__buf_str(&b, "Bearer ");
  pai__buf_add(&b, token, len);
  return pai__buf_take(&b);
}

static bool put(pai__request *r, char **to, const char *value, int seconds)
{
  pai__buf b;

  pai__buf_init(&b, &r->server->alloc);
  pai__buf_printf(&b,
                  COOKIE "=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict"
                         "%s",
                  value, seconds, r->listener->tls ? "; Secure" : "");
  pai__strfree(&r->server->alloc, *to);
  *to = pai__buf_take(&b);
  return *to != NULL;
}

bool pai__session_begin(pai__request *r, const char *token)
{
  return put(r, &r->cookie, token, SEVEN_DAYS);
}

bool pai__session_end(pai__request *r)
{
  return put(r, &r->stale, "", 0);
}
