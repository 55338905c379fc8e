/*
 * oidc_login.c - GET /authn/oidc/login, /return and /logout
 *
 * The browser goes to the provider and comes back with a code.  It has to be
 * the same browser: what only that one has is in a cookie, sealed, which says
 * what was asked for, where to go in the end, and until when.
 */
#include "server/oidc.h"

#include <string.h>

enum { MOST_PAGE = 1024 };

static const char purpose[] = "login";

void pai__answer_lead(pai__request *r, int status, const char *url)
{
  pai__strfree(&r->server->alloc, r->location);
  r->location = pai__strdup(&r->server->alloc, url);
  if (r->location == NULL)
    pai__answer_failure(r, PAI_ENOMEM, NULL);
  else
    pai__answer_text(r, status, "text/plain; charset=utf-8", "");
}

/* --- to the provider ------------------------------------------------------------- */

static bool make_secrets(pai__visit *v, char state[PAI__RANDOM_TEXT],
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

/* What has to be known when the browser is back. */
static bool keep(pai__visit *v, pai__request *r, const char *state)
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

static void write_url(const pai__oidc *o, const pai__visit *v,
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

static void send_there(pai__visit *v)
{
  char state[PAI__RANDOM_TEXT], challenge[PAI__RANDOM_TEXT];
  pai__request *r = pai__visit_request(v);
  pai__buf url;

  pai__buf_init(&url, &v->o->server->alloc);
  if (r != NULL && make_secrets(v, state, challenge) && keep(v, r, state))
    write_url(v->o, v, state, challenge, &url);
  if (r != NULL && url.len > 0 && pai__buf_ok(&url))
    pai__answer_lead(r, 302, pai__buf_text(&url));
  else if (r != NULL)
    pai__answer_failure(r, PAI_ENOMEM, NULL);
  pai__buf_dispose(&url);
  pai__visit_free(v);
}

/* Where to go in the end.  A program's code is shown if it has no page. */
static bool choose_page(pai__visit *v, const char *page, const char *from)
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

/* A page of this machine may belong to a program of anybody's: it gets a code
 * if it has a secret, or a token if the administrator says so. */
static bool may_lead(const pai__request *r, const char *page,
                     const char *challenge)
{
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

/* Why it is not begun, or NULL. */
static const char *refuse(const pai__request *r, const char *page,
                          const char *from, const char *challenge)
{
  if (!is_challenge(r, challenge))
    return "code_challenge is not a hash of method S256.";
  if (!may_lead(r, page, challenge))
    return "redirect_uri is none of the pages that a login may lead to: the "
           "administrator says which may be.";
  if (from != NULL &&
      (strlen(from) > MOST_PAGE || strpbrk(from, "\r\n") != NULL))
    return "from is too long.";
  return NULL;
}

/* Whether the browser is led to another name of this server first. */
static bool lead_home(pai__request *r)
{
  const char *host = pai__conn_field(r->conn, "Host");
  const char *query = strchr(r->uri, '?');
  pai__buf url;
  bool leads;

  if (host == NULL || pai__request_query(r, "home") != NULL)
    return false;
  pai__buf_init(&url, &r->server->alloc);
  pai__login_home(&url, r->server->oidc->said.redirect_uri, host,
                  query != NULL ? query + 1 : "");
  leads = url.len > 0 || !pai__buf_ok(&url);
  if (!pai__buf_ok(&url))
    pai__answer_failure(r, PAI_ENOMEM, NULL);
  else if (leads)
    pai__answer_lead(r, 302, pai__buf_text(&url));
  pai__buf_dispose(&url);
  return leads;
}

static void do_login(pai__request *r)
{
  const char *page = pai__request_query(r, "redirect_uri");
  const char *from = pai__request_query(r, "from");
  const char *challenge = pai__request_query(r, "code_challenge");
  const char *wrong = refuse(r, page, from, challenge);
  pai__visit *v;

  if (wrong != NULL) {
    pai__answer_error(r, 400, "InvalidParametersError", "%s", wrong);
    return;
  }
  if (lead_home(r))
    return;
  v = pai__visit_begin(r, send_there);
  if (v == NULL)
    return;
  if (challenge != NULL)
    v->challenge = pai__strdup(&r->server->alloc, challenge);
  if ((challenge == NULL || v->challenge != NULL) &&
      choose_page(v, page, from))
    pai__visit_go_on(v);
  else
    pai__visit_fail(v, 500, "UnknownError", "Out of memory.");
}

/* --- and back ------------------------------------------------------------------------ */

/* Whether this browser has begun that login. */
static bool read_cookie(pai__visit *v, pai__request *r, const char *state)
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
    pai__cookie_drop(r, state); /* it was good for once */
  return ok;
}

/* A form of POST, as some providers send it; NULL: there is none. */
static pai__tree *read_form(pai__request *r)
{
  const pai__json_options o = { .alloc = &r->server->alloc };
  pai__tree *form = NULL;
  pai_error *err = NULL;
  pai__buf json;

  if (r->body.len == 0)
    return NULL;
  pai__buf_init(&json, &r->server->alloc);
  if (pai__form_to_json(pai__buf_text(&r->body), r->body.len, &json) < 0 ||
      pai__json_parse(&form, pai__buf_text(&json), json.len, &o, &err) < 0)
    form = NULL;
  pai_error_free(err);
  pai__buf_dispose(&json);
  return form;
}

static const char *value_of(pai__request *r, const pai__tree *form,
                            const char *name)
{
  return form != NULL ? pai__claim_text(form, 0, name)
                      : pai__request_query(r, name);
}

static void come_back(pai__request *r, pai__visit *v, const pai__tree *form)
{
  const char *code = value_of(r, form, "code");
  const char *error = value_of(r, form, "error");
  const char *issuer = value_of(r, form, "iss");

  v->v1 = strstr(r->uri, "/api/v1/") != NULL;
  if (!read_cookie(v, r, value_of(r, form, "state"))) {
    pai__visit_fail(v, 400, "InvalidParametersError",
                    "This login was not started in this browser at this "
                    "address, or it took too long: start again.");
  } else if (error != NULL) {
    pai__visit_fail(v, 403, "ForbiddenUserError",
                    "The provider of logins says: %.200s", error);
  } else if (code == NULL ||
             (issuer != NULL && strcmp(issuer, v->o->said.issuer) != 0)) {
    pai__visit_fail(v, 400, "InvalidParametersError",
                    "The provider of logins gave no code.");
  } else {
    v->code = pai__strdup(&r->server->alloc, code);
    if (v->code != NULL)
      pai__visit_go_on(v);
    else
      pai__visit_fail(v, 500, "UnknownError", "Out of memory.");
  }
}

static void do_return(pai__request *r)
{
  pai__visit *v = pai__visit_begin(r, pai__visit_redeem);
  pai__tree *form = read_form(r);

  if (v != NULL)
    come_back(r, v, form);
  pai__tree_free(form);
}

/* --- and out ---------------------------------------------------------------------------- */

static void send_out(pai__visit *v)
{
  const pai__oidc *o = v->o;
  const char *end = pai__claim_text(o->provider, 0, "end_session_endpoint");
  pai__request *r = pai__visit_request(v);
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
    pai__answer_failure(r, PAI_ENOMEM, NULL);
  else if (r != NULL && url.len > 0)
    pai__answer_lead(r, 302, pai__buf_text(&url));
  else if (r != NULL)
    pai__answer_text(r, 200, "text/plain; charset=utf-8",
                     "The provider has no page to log out at.\n");
  pai__buf_dispose(&url);
  pai__visit_free(v);
}

static void do_logout(pai__request *r)
{
  pai__visit *v = pai__visit_begin(r, send_out);

  if (v == NULL)
    return;
  if (choose_page(v, NULL, NULL))
    pai__visit_go_on(v);
  else
    pai__visit_fail(v, 500, "UnknownError", "Out of memory.");
}

/* --- queries --- */

static const char *const methods[] = { "S256", NULL };

static const pai__field login_queries[] = {
  PAI__TAKES(TEXT, "redirect_uri",
             "page to redirect to; it must be allowed by the administrator"),
  PAI__TAKES(TEXT, "from", "state that is passed to that page"),
  PAI__TAKES(TEXT, "code_challenge",
             "of a program, which gets a code in place of a token"),
  { .name = "code_challenge_method",
    .kind = PAI__IS_TEXT,
    .choices = methods,
    .what = "secret whose hash is the challenge" },
  PAI__TAKES(TEXT, "home", "the browser was led to this name of the server"),
  { 0 }
};

/* Also of a form that has none. */
static const pai__field return_queries[] = {
  PAI__TAKES(TEXT, "code", "for which the provider gives a token"),
  PAI__TAKES(TEXT, "state", "as the login has sent it"),
  PAI__TAKES(TEXT, "iss", "the provider"),
  PAI__TAKES(TEXT, "error", "reason why there is no code"),
  { 0 }
};

/* --- routes --- */

#define OIDC(rest) "/api/v2/authn/oidc/" rest " /api/v1/authn/oidc/" rest

static const pai__route routes[] = {
  { .method = "GET",
    .path = OIDC("login"),
    .handle = do_login,
    .right = PAI__OF_ALL,
    .mode = PAI__WITH_OIDC,
    .status = 302,
    .result = &pai__no_result,
    .queries = login_queries,
    .summary = "Redirect a browser to the login provider",
    .errors = "400 InvalidParametersError" },
  { .method = "GET",
    .path = OIDC("return"),
    .handle = do_return,
    .right = PAI__OF_ALL,
    .mode = PAI__WITH_OIDC,
    .status = 302,
    .result = &pai__no_result,
    .queries = return_queries,
    .summary = "Create a token for a user who returns from the login provider",
    .errors = "400 InvalidParametersError, 403 ForbiddenUserError" },
  { .method = "POST",
    .path = OIDC("return"),
    .handle = do_return,
    .right = PAI__OF_ALL,
    .mode = PAI__WITH_OIDC,
    .status = 302,
    .result = &pai__no_result,
    .queries = return_queries,
    .summary = "Create a token, for a provider that posts a form",
    .errors = "400 InvalidParametersError, 403 ForbiddenUserError" },
  { .method = "GET",
    .path = OIDC("logout"),
    .handle = do_logout,
    .right = PAI__OF_ALL,
    .mode = PAI__WITH_OIDC,
    .status = 302,
    .result = &pai__no_result,
    .summary = "Redirect a browser to the provider's logout page" },
};

const pai__routes pai__oidc_routes = { routes, PAI__LEN(routes) };
