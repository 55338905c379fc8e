/*
 * session.c - sessions of browsers: a sealed token in a cookie
 *
 * Browsers send a cookie to every port of a host, also to a job that serves a
 * page there.  So the cookie's token is sealed with a key that only the pages
 * of this origin have, and send in a header: who has one of the two has
 * nothing.  The server keeps neither.  Scripts cannot read the cookie, and a
 * request counts only if headers which no script can set name this origin.
 */
#include "server/http/listener.h"
#include "server/secret.h"

#include <strings.h>

#define COOKIE "openpai_session"
/* Browsers take it over TLS only, from this host only. */
#define TLS_COOKIE "__Host-" COOKIE
#define KEY "OpenPAI-Session-Key"

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

/* Returns whether the request changes nothing.  A WebSocket is a GET that
 * does. */
static bool is_reading(const pai__request *r)
{
  return (strcmp(r->method, "GET") == 0 || strcmp(r->method, "HEAD") == 0) &&
         pai__conn_field(r->conn, "Upgrade") == NULL;
}

/* Browsers send Sec-Fetch-Site over TLS and on this machine ("none": the user
 * typed the address), and Origin with each request that changes something, for
 * a WebSocket, and when a script of another origin wants to read the answer. */
bool pai__session_is_here(const pai__request *r)
{
  const char *site = pai__conn_field(r->conn, "Sec-Fetch-Site"),
             *origin = pai__conn_field(r->conn, "Origin");
  bool reads = is_reading(r);

  if (site != NULL)
    return strcmp(site, "same-origin") == 0 ||
           (reads && strcmp(site, "none") == 0);
  return origin != NULL ? is_own(r, origin) : reads;
}

bool pai__session_is_elsewhere(const pai__request *r)
{
  return (pai__conn_field(r->conn, "Sec-Fetch-Site") != NULL ||
          pai__conn_field(r->conn, "Origin") != NULL) &&
         !pai__session_is_here(r);
}

/* Reads the key that the page has sent with the request.  A WebSocket has no
 * fields of the page's own, but its protocols. */
static bool read_key(unsigned char key[PAI__RANDOM], const pai__request *r)
{
  const char *text = pai__conn_field(r->conn, KEY);

  if (text == NULL) {
    text = pai__conn_field(r->conn, "Sec-WebSocket-Protocol");
    text = text != NULL ? strstr(text, PAI__SESSION_PROTOCOL) : NULL;
    text = text != NULL ? text + strlen(PAI__SESSION_PROTOCOL) : NULL;
  }
  return text != NULL && pai__random_read(key, text, strcspn(text, ", \t"));
}

bool pai__session_header(pai__buf *out, const pai__request *r)
{
  const char *name = cookie_name(r), *sealed;
  unsigned char key[PAI__RANDOM];
  size_t len;
  bool ok;

  sealed = r->remote ? pai__request_cookie(r, name, &len) : NULL;
  if (sealed == NULL || !pai__session_is_here(r) || !read_key(key, r))
    return false;
  pai__buf_str(out, "Bearer ");
  ok = pai__cookie_open(out, key, name, sealed, len) == PAI_OK;
  pai__secret_wipe(key, sizeof(key));
  return ok;
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

bool pai__session_begin(pai__request *r, const char *token,
                        char key[PAI__SESSION_KEY])
{
  unsigned char bytes[PAI__RANDOM];
  pai__buf sealed;
  bool ok;

  pai__buf_init(&sealed, &r->server->alloc);
  ok = pai__random_text(key) && pai__random_read(bytes, key, strlen(key)) &&
       pai__cookie_seal(&sealed, bytes, cookie_name(r), token,
                        strlen(token)) == PAI_OK &&
       put(r, &r->cookie, pai__buf_text(&sealed), SEVEN_DAYS);
  pai__buf_dispose(&sealed);
  pai__secret_wipe(bytes, sizeof(bytes));
  return ok;
}

bool pai__session_end(pai__request *r)
{
  return put(r, &r->stale, "", 0);
}
