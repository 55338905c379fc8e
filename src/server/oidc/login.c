/*
 * login.c - GET /authn/oidc/login, /return and /logout
 *
 * The browser goes to the provider and comes back with a code.  A sealed
 * cookie ensures that it is the same browser.  The cookie holds the request,
 * the final page and the expiry time.
 */
#include "server/oidc/provider.h"

#include "base/text/encode.h"

#include <string.h>

enum { MOST_PAGE = 1024 };

static const char purpose[] = "login";

void pai__answer_lead(pai__request *r, int status, const char *url)
{
  pai__strfree(&r->server->alloc, r->location);
  r->location = pai__strdup(&r->server->alloc, url);
  if (r->location == NULL)
    pai__answer_failure(r, PAI_ENOMEM);
  else
    pai__answer_text(r, status, "text/plain; charset=utf-8", "");
}

void pai__answer_portal(pai__request *r, const char *name, const char *value)
{
  pai__buf url;

  pai__buf_init(&url, &r->server->alloc);
  pai__buf_printf(&url, "/#%s=", name);
  pai__put_escaped(&url, value, "");
  if (pai__buf_ok(&url))
    pai__answer_lead(r, 303, pai__buf_text(&url));
  else
    pai__answer_failure(r, PAI_ENOMEM);
  pai__buf_wipe(&url);
}

/* --- to the provider ----------------------------------------------------- */

static bool make_secrets(pai__pending_login *v, char state[PAI__RANDOM_TEXT],
                         char challenge[PAI__RANDOM_TEXT])
{
  const pai_alloc *a = &v->o->server->alloc;
  char nonce[PAI__RANDOM_TEXT], verifier[PAI__RANDOM_TEXT];

  if (!pai__random_text(state) || !pai__random_text(nonce) ||
      !pai__random_text(verifier) || !pai__challenge(challenge, verifier))
    return false;
  v->nonce = pai__strdup(a, nonce);
  v->verifier = pai__strdup(a, verifier);
  return v->nonce != NULL && v->verifier != NULL;
}

/* Keeps the state of the login until the browser is back. */
static bool keep(pai__pending_login *v, pai__request *r, const char *state)
{
  pai__buf text;
  bool ok;

  pai__buf_init(&text, &v->o->server->alloc);
  pai__buf_printf(&text, "%s\n%s\n%s\n%s\n%s", v->nonce, v->verifier,
                  v->page != NULL ? v->page : "",
                  v->from != NULL ? v->from : "",
                  v->challenge != NULL ? v->challenge : "");
  ok = pai__cookie_put(r, purpose, state, &text);
  pai__buf_wipe(&text);
  return ok;
}

static void write_url(const pai__oidc *o, const pai__pending_login *v,
                      const char *state, const char *challenge, pai__buf *url)
{
  pai__buf_str(url, pai__claim_text(o->provider, 0, "authorization_endpoint"));
  pai__query_add(url, "client_id", o->said.client_id);
  pai__query_add(url, "response_type", "code");
  pai__query_add(url, "redirect_uri", o->said.redirect_uri);
  pai__query_add(url, "scope", o->said.scope);
  pai__query_add(url, "state", state);
  pai__query_add(url, "nonce", v->nonce);
  pai__query_add(url, "code_challenge", challenge);
  pai__query_add(url, "code_challenge_method", "S256");
}

static void send_there(pai__pending_login *v)
{
  char state[PAI__RANDOM_TEXT], challenge[PAI__RANDOM_TEXT];
  pai__request *r = pai__pending_login_request(v);
  pai__buf url;

  pai__buf_init(&url, &v->o->server->alloc);
  if (r != NULL && make_secrets(v, state, challenge) && keep(v, r, state))
    write_url(v->o, v, state, challenge, &url);
  if (r != NULL && url.len > 0 && pai__buf_ok(&url))
    pai__answer_lead(r, 302, pai__buf_text(&url));
  else if (r != NULL)
    pai__answer_failure(r, PAI_ENOMEM);
  pai__buf_dispose(&url);
  pai__pending_login_free(v);
}

/* Sets the final page.  A program without a page has its code shown. */
static bool choose_page(pai__pending_login *v, const char *page,
                        const char *from)
{
  const pai_alloc *a = &v->o->server->alloc;
  bool ok = true;

  if (page != NULL && page[0] != '\0')
    ok = (v->page = pai__strdup(a, page)) != NULL;
  else if (v->challenge == NULL &&
           pai__page_first(&v->page, a, v->o->said.pages) < 0)
    ok = false;
  if (ok && from != NULL)
    ok = (v->from = pai__strdup(a, from)) != NULL;
  return ok;
}

/* The portal gets a code, never a token: a page of another site could send
 * the browser here, and have it signed in as somebody else.
 * A page on the browser's machine may belong to any program: it gets a code if
 * it has sent a challenge.  It gets a token only if the administrator has
 * listed it. */
static bool may_lead(const pai__request *r, const char *page,
                     const char *challenge)
{
  if (pai__page_is_portal(page))
    return challenge != NULL;
  return page == NULL || page[0] == '\0' ||
         (strlen(page) <= MOST_PAGE &&
          (pai__page_is_allowed(r->server->oidc->said.pages, page) ||
           (challenge != NULL && pai__page_is_local(page))));
}

static bool is_challenge(const pai__request *r, const char *challenge)
{
  const char *method = pai__request_query(r, "code_challenge_method");

  return challenge == NULL || (method != NULL && strcmp(method, "S256") == 0 &&
                               pai__challenge_is_one(challenge));
}

/* Returns why the login is refused, or NULL. */
static const char *refuse(const pai__request *r, const char *page,
                          const char *from, const char *challenge)
{
  if (!is_challenge(r, challenge))
    return "code_challenge must be an S256 hash.";
  if (!may_lead(r, page, challenge))
    return "redirect_uri is not an allowed page: ask the administrator to add "
           "it to the setting pages.";
  if (from != NULL &&
      (strlen(from) > MOST_PAGE || strpbrk(from, "\r\n") != NULL))
    return "from is too long.";
  return NULL;
}

/* Returns whether the browser was redirected to another name of this server.
 * A portal has to begin again there, as its verifier stays with its page. */
static bool lead_home(pai__request *r)
{
  const char *back = r->server->oidc->said.redirect_uri;
  const char *host = pai__conn_field(r->conn, "Host");
  const char *query = strchr(r->uri, '?');
  pai__buf url;
  bool leads;

  if (host == NULL || pai__request_query(r, "home") != NULL)
    return false;
  pai__buf_init(&url, &r->server->alloc);
  pai__login_home(&url, back, host, query != NULL ? query + 1 : "");
  leads = url.len > 0 || !pai__buf_ok(&url);
  if (leads && pai__page_is_portal(pai__request_query(r, "redirect_uri"))) {
    const char *name = strstr(back, "://") + 3;

    pai__buf_cut(&url, (size_t)(name - back) + strcspn(name, "/?"));
    pai__buf_str(&url, "/#sign-in");
  }
  if (!pai__buf_ok(&url))
    pai__answer_failure(r, PAI_ENOMEM);
  else if (leads)
    pai__answer_lead(r, 302, pai__buf_text(&url));
  pai__buf_dispose(&url);
  return leads;
}

void pai__do_oidc_login(pai__request *r)
{
  const char *page = pai__request_query(r, "redirect_uri");
  const char *from = pai__request_query(r, "from");
  const char *challenge = pai__request_query(r, "code_challenge");
  const char *wrong = refuse(r, page, from, challenge);
  pai__pending_login *v;

  if (wrong != NULL) {
    pai__answer_error(r, 400, "InvalidParametersError", "%s", wrong);
    return;
  }
  if (lead_home(r))
    return;
  v = pai__pending_login_begin(r, send_there);
  if (v == NULL)
    return;
  if (challenge != NULL)
    v->challenge = pai__strdup(&r->server->alloc, challenge);
  if ((challenge == NULL || v->challenge != NULL) &&
      choose_page(v, page, from))
    pai__pending_login_go_on(v);
  else
    pai__pending_login_fail(v, 500, "UnknownError", "Out of memory.");
}

/* --- return -------------------------------------------------------------- */

/* Reads the cookie of the login; returns false if this browser did not begin
 * it. */
static bool read_cookie(pai__pending_login *v, pai__request *r,
                        const char *state)
{
  const pai_alloc *a = &v->o->server->alloc;
  const char *at;
  pai__buf text;
  bool ok;

  pai__buf_init(&text, a);
  ok = pai__cookie_get(&text, r, purpose, state);
  at = pai__buf_text(&text);
  ok = ok && pai__cookie_line(&v->nonce, a, &at) &&
       pai__cookie_line(&v->verifier, a, &at) &&
       pai__cookie_line(&v->page, a, &at) &&
       pai__cookie_line(&v->from, a, &at) &&
       pai__cookie_line(&v->challenge, a, &at) && v->nonce != NULL &&
       v->verifier != NULL;
  pai__buf_wipe(&text);
  if (ok)
    pai__cookie_drop(r, state); /* valid once */
  return ok;
}

/* Reads a POST form, as some providers send it; NULL if there is none. */
static pai__tree *read_form(pai__request *r)
{
  pai__buf json;

  if (r->body.len == 0)
    return NULL;
  pai__buf_init(&json, &r->server->alloc);
  (void)!pai__form_to_json(pai__buf_text(&r->body), r->body.len, &json);
  return pai__written_tree(&json);
}

static const char *value_of(pai__request *r, const pai__tree *form,
                            const char *name)
{
  return form != NULL ? pai__claim_text(form, 0, name)
                      : pai__request_query(r, name);
}

static void come_back(pai__request *r, pai__pending_login *v,
                      const pai__tree *form)
{
  const char *code = value_of(r, form, "code");
  const char *error = value_of(r, form, "error");
  const char *issuer = value_of(r, form, "iss");

  v->v1 = strstr(r->uri, "/api/v1/") != NULL;
  if (!read_cookie(v, r, value_of(r, form, "state"))) {
    pai__pending_login_fail(v, 400, "InvalidParametersError",
                            "This login was not started in this browser at "
                            "this address, or it has expired. Start again.");
  } else if (error != NULL) {
    pai__pending_login_fail(v, 403, "ForbiddenUserError",
                            "The login provider returned an error: %.200s",
                            error);
  } else if (code == NULL ||
             (issuer != NULL && strcmp(issuer, v->o->said.issuer) != 0)) {
    pai__pending_login_fail(v, 400, "InvalidParametersError",
                            "The login provider returned no code.");
  } else {
    v->code = pai__strdup(&r->server->alloc, code);
    if (v->code != NULL)
      pai__pending_login_go_on(v);
    else
      pai__pending_login_fail(v, 500, "UnknownError", "Out of memory.");
  }
}

void pai__do_oidc_return(pai__request *r)
{
  pai__pending_login *v =
    pai__pending_login_begin(r, pai__pending_login_redeem);
  pai__tree *form = read_form(r);

  if (v != NULL)
    come_back(r, v, form);
  pai__tree_free(form);
}

/* --- logout -------------------------------------------------------------- */

static void send_out(pai__pending_login *v)
{
  const pai__oidc *o = v->o;
  const char *end = pai__claim_text(o->provider, 0, "end_session_endpoint");
  pai__request *r = pai__pending_login_request(v);
  pai__buf url;

  pai__buf_init(&url, &o->server->alloc);
  if (end != NULL && pai__url_is_safe(end)) {
    pai__buf_str(&url, end);
    pai__query_add(&url, "client_id", o->said.client_id);
    if (v->page != NULL)
      pai__query_add(&url, "post_logout_redirect_uri", v->page);
  } else if (v->page != NULL) {
    pai__buf_str(&url, v->page);
  }
  if (r != NULL && !pai__buf_ok(&url))
    pai__answer_failure(r, PAI_ENOMEM);
  else if (r != NULL && url.len > 0)
    pai__answer_lead(r, 302, pai__buf_text(&url));
  else if (r != NULL)
    pai__answer_text(r, 200, "text/plain; charset=utf-8",
                     "The login provider has no logout page.\n");
  pai__buf_dispose(&url);
  pai__pending_login_free(v);
}

void pai__do_oidc_logout(pai__request *r)
{
  pai__pending_login *v = pai__pending_login_begin(r, send_out);

  if (v == NULL)
    return;
  if (choose_page(v, NULL, NULL))
    pai__pending_login_go_on(v);
  else
    pai__pending_login_fail(v, 500, "UnknownError", "Out of memory.");
}
