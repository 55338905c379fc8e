/*
 * session.c - sessions of browsers: the token of a login in a cookie
 *
 * Scripts cannot read the cookie, and browsers send it with requests of this
 * site only.  But other ports of this host are the same site: what counts is
 * that headers which no script can set name this origin.
 */
#include "server/http/listener.h"

#include <stdio.h>
#include <strings.h>

#define COOKIE "openpai_session"
/* Browsers take it over TLS only, from this host only. */
#define TLS_COOKIE "__Host-" COOKIE

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

static const char *cookie_name(const pai__request *r)
{
  return r->listener->tls ? TLS_COOKIE : COOKIE;
}

static bool is_https(const char *origin)
{
  return strncasecmp(origin, "https://", 8) == 0;
}

/* Returns whether the origin is this host and port.  A proxy may have added or
 * removed TLS, but not if TLS ends here. */
static bool is_own(const pai__request *r, const char *origin)
{
  const char *host = pai__conn_field(r->conn, "Host");
  bool plain = strncasecmp(origin, "http://", 7) == 0;

  if (host == NULL || (!is_https(origin) && (!plain || r->listener->tls)))
    return false;
  return strcasecmp(origin + (plain ? 7 : 8), host) == 0;
}

/* Browsers send Sec-Fetch-Site over TLS and on this machine ("none": the user
 * typed the address), and Origin with each request that changes something, and
 * when a script of another origin wants to read the answer. */
bool pai__session_is_here(const pai__request *r)
{
  const char *site = pai__conn_field(r->conn, "Sec-Fetch-Site"),
             *origin = pai__conn_field(r->conn, "Origin");
  bool reads = strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0;

  if (site != NULL)
    return strcmp(site, "same-origin") == 0 ||
           (reads && strcmp(site, "none") == 0);
  return origin != NULL ? is_own(r, origin) : reads;
}

char *pai__session_header(const pai__request *r)
{
  size_t len;
  const char *token =
    r->remote ? pai__request_cookie(r, cookie_name(r), &len) : NULL;
  pai__buf b;

  if (token == NULL || !pai__session_is_here(r))
    return NULL;
  pai__buf_init(&b, &r->server->alloc);
  pai__buf_str(&b, "Bearer ");
  pai__buf_add(&b, token, len);
  return pai__buf_take(&b);
}

static bool put(pai__request *r, char **to, const char *value, int seconds)
{
  const char *origin = pai__conn_field(r->conn, "Origin");
  bool secure = r->listener->tls || (origin != NULL && is_https(origin));
  pai__buf b;

  pai__buf_init(&b, &r->server->alloc);
  pai__buf_printf(&b, "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s",
                  cookie_name(r), value, seconds, secure ? "; Secure" : "");
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
