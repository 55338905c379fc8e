/*
 * provider.h - internal to the room: login at an OpenID Connect provider
 *
 * A pending login is a request of several steps: get the provider's document,
 * exchange a code for a token, get the keys, make an account.  While the
 * browser is at the provider, the state of the login is in a sealed cookie of
 * the browser.  The server keeps no state, so clients cannot exhaust it.
 */
#ifndef PAI_SRC_SERVER_OIDC_PROVIDER_H
#define PAI_SRC_SERVER_OIDC_PROVIDER_H

#include "server/oidc/code.h"
#include "server/oidc/settings.h"
#include "server/server.h"

enum {
  /* at a time; further ones are told to retry */
  PAI__MOST_PENDING_LOGINS = 64,
  PAI__LOGIN_TIME = 600 /* seconds a login may take at the provider */
};

typedef struct pai__fetch pai__fetch;

typedef struct pai__oidc {
  pai_server *server;
  pai__oidc_settings said;
  unsigned char key[PAI__RANDOM]; /* encrypts cookies */
  bool secure;                    /* browsers connect with TLS */
  pai__tree *provider;            /* discovery document, or NULL */
  pai_time provider_since;
  pai__tree *keys; /* or NULL */
  pai_time keys_since;
  /* when the keys were last fetched for a token with an unknown key */
  pai_time again_since;
  bool again; /* such a fetch has happened */
  pai__codes codes;
  pai__fetch *fetches;
  size_t pending_logins;
  bool closing;
} pai__oidc;

/* oidc/provider.c.  Errors as pai_server_new(). */
int pai__oidc_new(pai__oidc **out, pai_server *server,
                  const pai_oidc_options *opts, pai_error **err);
/* Logs where users log in, and a warning if no user can be an
 * administrator. */
void pai__oidc_tell(const pai__oidc *o);
/* Sends no more requests; checks the server's end when all are over. */
void pai__oidc_shut(pai__oidc *o);
bool pai__oidc_is_over(const pai__oidc *o);
void pai__oidc_free(pai__oidc *o);

/* --- oidc/fetch.c -------------------------------------------------------- */

/* Receives an answer, or the error; both are borrowed. */
typedef void (*pai__fetch_cb)(void *user_data, int status, const char *text,
                              size_t len, const pai_error *err);
/* Sends a GET, or with a form a POST.  PAI_OK: `cb` will be called. */
int pai__fetch_begin(pai__oidc *o, const char *url, const pai__buf *form,
                     pai__fetch_cb cb, void *user_data, pai_error **err);
void pai__fetch_end_all(pai__oidc *o);

/* --- oidc/claims.c: pure ------------------------------------------------- */

/* Parses the provider's discovery document.  PAI_OK; PAI_EINVAL;
 * PAI_ENOMEM. */
int pai__provider_read(pai__tree **out, const pai_alloc *alloc,
                       const char *issuer, const char *text, size_t len,
                       pai_error **err);
/* Returns whether the URL may be requested: https, or a port of this
 * machine. */
bool pai__url_is_safe(const char *url);
/* Returns whether a browser may be redirected to `url` with a token.  `pages`
 * is a list with commas of allowed URLs, or prefixes if they end with '/';
 * "http://localhost/" stands for all ports of the browser's machine. */
bool pai__page_is_allowed(const char *pages, const char *url);
/* Returns whether the URL is a port of the machine that the browser runs
 * on. */
bool pai__page_is_local(const char *url);
/* Gets the first URL of the list, for pai__strfree(); *out is NULL if the list
 * is empty. */
int pai__page_first(char **out, const pai_alloc *alloc, const char *pages);
/* Gets the account's name and mail address; returns false if the name cannot
 * be a user's.  *mail is NULL if there is no verified address. */
bool pai__claims_name(pai__buf *name, const char **mail,
                      const pai__tree *claims);
/* Returns whether a rule "CLAIM=VALUE" is valid. */
bool pai__claim_rule_is_one(const char *rule);
/* Return whether the claim has a value of the list, the verified address has a
 * domain of the list, or one of the rules fits; a list that is NULL never
 * does.  The list has commas. */
bool pai__claims_have_any(const pai__tree *claims, const char *claim,
                          const char *list);
bool pai__claims_have_domain(const pai__tree *claims, const char *list);
bool pai__claims_fit_any(const pai__tree *claims, char *const *rules);
/* Appends "name=value" with '?' or '&', escaped. */
void pai__query_add(pai__buf *url, const char *name, const char *value);
/* As pai__query_add(), for a form. */
void pai__form_add(pai__buf *form, const char *name, const char *value);
/* Writes the URL at which a browser that asked `host` has to begin its login,
 * as cookies are not sent to the host of `back` otherwise; nothing if `host`
 * is that one.  "home" in its query says that it was redirected already. */
void pai__login_home(pai__buf *url, const char *back, const char *host,
                     const char *query);
/* Returns whether the page is the portal of this server. */
bool pai__page_is_portal(const char *page);

/* --- oidc/page.c: HTML pages, pure --------------------------------------- */

/* Writes the page that asks a user whether a program may have a code; `page`
 * NULL: the code is typed. */
void pai__page_consent(pai__buf *out, const char *user, const char *challenge,
                       const char *page, const char *state);
/* Writes the page that shows a code; NULL: there is no code. */
void pai__page_code(pai__buf *out, const char *code);

/* --- oidc/cookie.c: sealed cookies --------------------------------------- */

/* Keeps a text in a cookie of the browser; returns false if out of memory or
 * random numbers. */
bool pai__cookie_put(pai__request *r, const char *purpose, const char *state,
                     const pai__buf *text);
/* Adds the text of a cookie to `out`; returns false if it is missing or too
 * old. */
bool pai__cookie_get(pai__buf *out, pai__request *r, const char *purpose,
                     const char *state);
void pai__cookie_drop(pai__request *r, const char *state);
/* Takes the next line, for pai__strfree(); NULL if it is empty.  Returns false
 * if out of memory. */
bool pai__cookie_line(char **out, const pai_alloc *alloc, const char **text);

/* --- oidc/login.c, oidc/pending_login.c, oidc/account.c ------------------ */

typedef struct pai__pending_login {
  pai__oidc *o;
  struct pai__waiting *waiting;
  /* called when the provider is known */
  void (*next)(struct pai__pending_login *v);
  bool v1;           /* failures are reported to the page */
  char *page, *from; /* where to redirect at the end; NULL: nowhere */
  char *nonce, *verifier, *code;
  char
    /* challenge of a program that gets a code; NULL: a page that gets a
     * token */
    *challenge;
  bool admin;     /* as decided by the rules */
  bool was_admin; /* before this login */
  char *id_token;
  pai__tree *claims;
  pai__buf user; /* name of the account */
} pai__pending_login;

/* Begins a login for the request; returns NULL if it failed, which is then
 * answered. */
pai__pending_login *pai__pending_login_begin(
  pai__request *r, void (*next)(pai__pending_login *v));
/* Fetches what is missing, then goes on. */
void pai__pending_login_go_on(pai__pending_login *v);
/* Returns the request, to answer it; NULL if it is gone.  The login goes
 * on. */
pai__request *pai__pending_login_request(pai__pending_login *v);
void pai__pending_login_free(pai__pending_login *v);
/* Ends the login: reports the failure and frees the login. */
void pai__pending_login_fail(pai__pending_login *v, int status,
                             const char *code, const char *fmt, ...)
  PAI__PRINTF(4, 5);
/* Exchanges the code for an ID token and reads its claims. */
void pai__pending_login_redeem(pai__pending_login *v);
/* Returns the user as JSON, as the user sees it; NULL on failure. */
pai__tree *pai__oidc_user(pai_server *s, const char *name);
/* The claims are valid: makes or finds the account, and answers. */
void pai__pending_login_enter(pai__pending_login *v);

/* The account is ready: sends its token to the page. */
void pai__pending_login_hand_over(pai__pending_login *v); /* oidc/enter.c */
/* Asks the user whether a program may have a code. */
void pai__pending_login_ask(pai__pending_login *v); /* oidc/consent.c */
/* Leads to the portal with a code. */
void pai__pending_login_open_portal(pai__pending_login *v);

/* Redirects the browser to a URL, with 302 or 303. */
void pai__answer_lead(pai__request *r, int status, const char *url);
/* Redirects the browser to the portal; what it is told is in the fragment,
 * which browsers do not send to servers. */
void pai__answer_portal(pai__request *r, const char *name, const char *value);

/* --- oidc/enter.c -------------------------------------------------------- */

/* A user who has logged in: a new token, and the rest of the answer. */
typedef struct pai__server_entry {
  const char *user; /* borrowed */
  pai__buf token;   /* pai__buf_wipe() */
  bool admin, pat;
} pai__server_entry;

int pai__entry_make(pai__server_entry *e, pai_server *s, const char *user,
                    pai_error **err);
/* Answers with the entry as JSON. */
void pai__entry_answer(pai__server_entry *e, pai__request *r);

#endif
