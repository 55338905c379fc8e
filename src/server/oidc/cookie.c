/*
 * cookie.c - sealed cookies for the state of logins
 *
 * One browser may have several logins in progress: each has a random `state`
 * that is part of its cookie's name.  The cookie is sealed for one purpose and
 * one state, so it cannot be used for another, and it contains its expiry
 * time.
 */
#include "server/oidc/provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COOKIE_NAME = 24, STATE_IN_NAME = 8, SEALED_NAME = 64 };

static void name_cookie(char name[COOKIE_NAME], const char *state)
{
  (void)snprintf(name, COOKIE_NAME, "openpai_oidc_%.*s", STATE_IN_NAME, state);
}

/* The name that the seal binds the cookie to. */
static void name_seal(char name[SEALED_NAME], const char *purpose,
                      const char *state)
{
  (void)snprintf(name, SEALED_NAME, "%s:%s", purpose, state);
}

/* Sets or deletes a cookie.  An answer can do both: the login's cookie is
 * deleted when the consent's is set. */
static void put(pai__request *r, const char *state, const char *value)
{
  char **to = value[0] != '\0' ? &r->cookie : &r->stale;
  char name[COOKIE_NAME];
  pai__buf b;

  name_cookie(name, state);
  pai__buf_init(&b, &r->server->alloc);
  pai__buf_printf(&b, "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax%s",
                  name, value, value[0] != '\0' ? PAI__LOGIN_TIME : 0,
                  r->server->oidc->secure ? "; Secure" : "");
  pai__strfree(&r->server->alloc, *to);
  *to = pai__buf_take(&b);
}

bool pai__cookie_put(pai__request *r, const char *purpose, const char *state,
                     const pai__buf *text)
{
  long long until = pai__loop_wall_time() / 1000000 + PAI__LOGIN_TIME;
  char name[SEALED_NAME];
  pai__buf whole, sealed;
  bool ok;

  name_seal(name, purpose, state);
  pai__buf_init(&whole, &r->server->alloc);
  pai__buf_init(&sealed, &r->server->alloc);
  pai__buf_printf(&whole, "%lld\n%s", until, pai__buf_text(text));
  ok = pai__buf_ok(text) && pai__buf_ok(&whole) &&
       pai__cookie_seal(&sealed, r->server->oidc->key, name,
                        pai__buf_text(&whole), whole.len) == PAI_OK;
  if (ok) {
    put(r, state, pai__buf_text(&sealed));
    ok = r->cookie != NULL;
  }
  pai__buf_wipe(&whole);
  pai__buf_dispose(&sealed);
  return ok;
}

void pai__cookie_drop(pai__request *r, const char *state)
{
  put(r, state, "");
}

/* Removes the expiry time; returns false if it has passed. */
static bool is_good(pai__buf *text)
{
  long long until = strtoll(pai__buf_text(text), NULL, 10);
  const char *line = strchr(pai__buf_text(text), '\n');
  size_t head;

  if (line == NULL || until <= pai__loop_wall_time() / 1000000)
    return false;
  head = (size_t)(line + 1 - text->data);
  memmove(text->data, line + 1, text->len - head + 1);
  text->len -= head;
  return true;
}

bool pai__cookie_get(pai__buf *out, pai__request *r, const char *purpose,
                     const char *state)
{
  char name[COOKIE_NAME], seal[SEALED_NAME];
  const char *value;
  size_t len;

  if (state == NULL || strlen(state) != PAI__RANDOM_TEXT - 1)
    return false;
  name_cookie(name, state);
  name_seal(seal, purpose, state);
  value = pai__request_cookie(r, name, &len);
  return value != NULL &&
         pai__cookie_open(out, r->server->oidc->key, seal, value, len) ==
           PAI_OK &&
         is_good(out);
}

bool pai__cookie_line(char **out, const pai_alloc *alloc, const char **text)
{
  size_t len = strcspn(*text, "\n");

  *out = len > 0 ? pai__strndup(alloc, *text, len) : NULL;
  if (len > 0 && *out == NULL)
    return false;
  *text += len + ((*text)[len] != '\0' ? 1 : 0);
  return true;
}
