/*
 * oidc.h - internal to the room: users who log in at a provider
 *
 * A visit is a request that takes several steps: what the provider is, a code
 * for a token, its keys, an account.  Between them the browser is at the
 * provider, and what has to be known then is in a sealed cookie of the
 * browser's: the server keeps nothing, so nobody can fill it.
 */
#ifndef PAI_SRC_SERVER_OIDC_H
#define PAI_SRC_SERVER_OIDC_H

#include "server/oidc_code.h"
#include "server/oidc_settings.h"
#include "server/server.h"

enum {
  PAI__MOST_VISITS = 64, /* at once; others are asked to come again */
  PAI__LOGIN_TIME = 600  /* seconds that a browser may take at the provider */
};

typedef struct pai__fetch pai__fetch;

typedef struct pai__oidc {
  pai_server *server;
  pai__oidc_settings said;
  unsigned char key[PAI__RANDOM]; /* of cookies */
  bool secure;                    /* browsers come by TLS */
  pai__tree *provider;            /* its document, or NULL */
  pai_time provider_since;
  pai__tree *keys; /* or NULL */
  pai_time keys_since;
  pai_time again_since; /* when they were asked for because of a token */
  bool again;           /* which has happened */
  pai__codes codes;
  pai__fetch *fetches;
  size_t visits;
  bool closing;
} pai__oidc;

/* oidc.c.  As pai_server_new(). */
int pai__oidc_new(pai__oidc **out, pai_server *server,
                  const pai_oidc_options *opts, pai_error **err);
/* Says in the log where users log in, and if nobody can be an administrator. */
void pai__oidc_tell(const pai__oidc *o);
/* Nothing more is asked; the server is looked at when all is over. */
void pai__oidc_shut(pai__oidc *o);
bool pai__oidc_is_over(const pai__oidc *o);
void pai__oidc_free(pai__oidc *o);

/* --- oidc_fetch.c ----------------------------------------------------------------- */

/* An answer, or why there is none; borrowed. */
typedef void (*pai__fetch_cb)(void *user_data, int status, const char *text,
                              size_t len, const pai_error *err);
/* GET, or with a form POST.  PAI_OK: it will call. */
int pai__fetch_begin(pai__oidc *o, const char *url, const pai__buf *form,
                     pai__fetch_cb cb, void *user_data, pai_error **err);
void pai__fetch_end_all(pai__oidc *o);

/* --- oidc_claims.c: pure --------------------------------------------------------- */

/* Reads what a provider says of itself.  PAI_OK; PAI_EINVAL; PAI_ENOMEM. */
int pai__provider_read(pai__tree **out, const pai_alloc *alloc,
                       const char *issuer, const char *text, size_t len,
                       pai_error **err);
/* May it be asked there?  https, or a port of this machine. */
bool pai__url_is_safe(const char *url);
/* Whether a browser may be led there with a token: `pages` is a list with
 * commas of what may be, or what it may begin with if that ends with '/';
 * "http://localhost/" is all ports of this machine. */
bool pai__page_is_allowed(const char *pages, const char *url);
/* Whether it is a port of the machine that the browser runs on. */
bool pai__page_is_local(const char *url);
/* The first of the list, for pai__strfree(); *out is NULL if there is none. */
int pai__page_first(char **out, const pai_alloc *alloc, const char *pages);
/* The account's name, and the address; false: no user can be called that.
 * *mail is NULL if it says none that was verified. */
bool pai__claims_name(pai__buf *name, const char **mail,
                      const pai__tree *claims);
/* Whether a claim, a text or a list of them, has that. */
bool pai__claims_have(const pai__tree *claims, const char *claim,
                      const char *text);
/* Whether a rule "CLAIM=VALUE" can be one; and whether one of them, which may
 * be NULL, is true.  An address counts only if the provider has verified it. */
bool pai__rule_is_one(const char *rule);
/* Whether one of a list with commas is in the claim; or is the domain of the
 * verified address.  NULL: none is. */
bool pai__claims_have_any(const pai__tree *claims, const char *claim,
                          const char *list);
bool pai__claims_have_domain(const pai__tree *claims, const char *list);
bool pai__claims_fit_any(const pai__tree *claims, char *const *rules);
/* Adds "name=value" with its '?' or '&', escaped. */
void pai__query_add(pai__buf *url, const char *name, const char *value);
/* The same of a form. */
void pai__form_add(pai__buf *form, const char *name, const char *value);
/* Where a browser that asks `host` for a login has to begin, or its cookies are
 * not sent when it is led `back`; nothing if that is here.  "home" in its query
 * says that it was told already. */
void pai__login_home(pai__buf *url, const char *back, const char *host,
                     const char *query);

/* --- oidc_page.c: pure, and HTML ---------------------------------------------------- */

/* Asks a user whether a program may have a code; `page` NULL: it is typed. */
void pai__page_consent(pai__buf *out, const char *user, const char *challenge,
                       const char *page, const char *state);
/* Shows a code; NULL: there is none. */
void pai__page_code(pai__buf *out, const char *code);

/* --- oidc_cookie.c: what one browser keeps ------------------------------------------- */

/* Keeps a text in the browser that asks; false: no memory, or no randomness. */
bool pai__cookie_put(pai__request *r, const char *purpose, const char *state,
                     const pai__buf *text);
/* Adds that text to `out`; false: there is none, or it is too old. */
bool pai__cookie_get(pai__buf *out, pai__request *r, const char *purpose,
                     const char *state);
void pai__cookie_drop(pai__request *r, const char *state);
/* Its next line, for pai__strfree(); an empty one is NULL.  False: no memory. */
bool pai__cookie_line(char **out, const pai_alloc *alloc, const char **text);

/* --- oidc_login.c, oidc_visit.c, oidc_account.c ------------------------------------ */

typedef struct pai__visit {
  pai__oidc *o;
  struct pai__waiting *waiting;
  void (*next)(struct pai__visit *v); /* when the provider is known */
  bool v1;                            /* failures are told to the page */
  char *page, *from;                  /* where to in the end; NULL: nowhere */
  char *nonce, *verifier, *code;
  char
    *challenge; /* of a program that gets a code; NULL: a page, and a token */
  bool admin;   /* as the rules say */
  bool was_admin; /* before this login */
  char *id_token;
  pai__tree *claims;
  pai__buf user; /* whose account it is */
} pai__visit;

/* A visit of this request; NULL: that is answered. */
pai__visit *pai__visit_begin(pai__request *r, void (*next)(pai__visit *v));
/* Gets what is missing, and goes on. */
void pai__visit_go_on(pai__visit *v);
/* The request, for the answer; NULL: it is gone.  The visit lives on. */
pai__request *pai__visit_request(pai__visit *v);
void pai__visit_free(pai__visit *v);
/* Ends it: tells why, and frees it. */
void pai__visit_fail(pai__visit *v, int status, const char *code,
                     const char *fmt, ...) PAI__PRINTF(4, 5);
/* The ID token becomes claims: from its code on. */
void pai__visit_redeem(pai__visit *v);
/* The claims are good: makes or finds the account, and answers. */
void pai__visit_enter(pai__visit *v);

/* There is an account: its token is told to the page. */
void pai__visit_hand_over(pai__visit *v); /* oidc_enter.c */
/* Or the user is asked whether a program may have a code. */
void pai__visit_ask(pai__visit *v); /* oidc_consent.c */

/* Leads the browser to a URL, with 302 or 303. */
void pai__answer_lead(pai__request *r, int status, const char *url);

/* --- oidc_enter.c ---------------------------------------------------------------------- */

/* Who has logged in: a new token, and what is told beside it. */
typedef struct pai__entry {
  const char *user; /* borrowed */
  pai__buf token;   /* pai__buf_wipe() */
  bool admin, pat;
} pai__entry;

int pai__entry_make(pai__entry *e, pai_server *s, const char *user,
                    pai_error **err);
/* As JSON. */
void pai__entry_answer(pai__entry *e, pai__request *r);

#endif
