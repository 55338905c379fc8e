/*
 * oidc_consent.c - a program that asked for a login gets a code, if its user
 * says so, and for that a token
 *
 * The provider often asks nobody anything: who can make a browser go to our
 * login could have a code sent to a program of his own.  So the user is asked
 * here, by a page that no other page can answer or show: what it needs is in a
 * cookie that only comes from pages of this server, and its name in the form.
 */
#include "server/oidc.h"

#include <string.h>

enum { SECOND = 1000 * 1000, CODE_TIME = 60, TYPED_TIME = 300 };

static const char purpose[] = "consent", html[] = "text/html; charset=utf-8";

/* --- asking the user --------------------------------------------------------------- */

static bool keep(pai__visit *v, pai__request *r, const char *state)
{
  pai__buf text;
  bool ok;

  pai__buf_init(&text, &r->server->alloc);
  pai__buf_printf(&text, "%s\n%s\n%s", pai__buf_text(&v->user), v->challenge,
                  v->page != NULL ? v->page : "");
  ok = pai__cookie_put(r, purpose, state, &text);
  pai__buf_dispose(&text);
  return ok;
}

void pai__visit_ask(pai__visit *v)
{
  pai__request *r = pai__visit_request(v);
  char state[PAI__RANDOM_TEXT];
  pai__buf page;

  if (r != NULL) {
    pai__buf_init(&page, &r->server->alloc);
    pai__strfree(&r->server->alloc, r->caller.name);
    r->caller.name = pai__strdup(&r->server->alloc, pai__buf_text(&v->user));
    if (pai__random_text(state) && keep(v, r, state))
      pai__page_consent(&page, pai__buf_text(&v->user), v->challenge, v->page,
                        state);
    if (page.len > 0 && pai__buf_ok(&page)) {
      pai__answer_text(r, 200, html, pai__buf_text(&page));
      pai__answer_when_safe(r); /* there may be a new account */
    } else {
      pai__answer_failure(r, PAI_ENOMEM, NULL);
    }
    pai__buf_dispose(&page);
  }
  pai__visit_free(v);
}

/* --- what the user says --------------------------------------------------------------- */

typedef struct consent {
  char *user, *challenge, *page; /* NULL: the code is typed */
} consent;

static const char *text_of(const pai__request *r, const char *name)
{
  return pai__tree_str(r->form, pai__tree_get(r->form, 0, name), NULL);
}

static bool read_consent(consent *c, pai__request *r)
{
  const pai_alloc *a = &r->server->alloc;
  const char *at;
  pai__buf text;
  bool ok;

  *c = (consent){ NULL, NULL, NULL };
  pai__buf_init(&text, a);
  ok = pai__cookie_get(&text, r, purpose, text_of(r, "state"));
  at = pai__buf_text(&text);
  ok = ok && pai__cookie_line(&c->user, a, &at) &&
       pai__cookie_line(&c->challenge, a, &at) &&
       pai__cookie_line(&c->page, a, &at) && c->user != NULL &&
       c->challenge != NULL;
  pai__buf_wipe(&text);
  return ok;
}

static void free_consent(consent *c, const pai_alloc *a)
{
  pai__strfree(a, c->user);
  pai__strfree(a, c->challenge);
  pai__strfree(a, c->page);
}

/* Tells the page or, where there is none, the user. */
static void tell(pai__request *r, const consent *c, const char *name,
                 const char *value, const char *typed)
{
  pai__buf b;

  pai__buf_init(&b, &r->server->alloc);
  if (c->page != NULL) {
    pai__buf_str(&b, c->page);
    pai__query_add(&b, name, value);
  } else {
    pai__page_code(&b, typed);
  }
  if (!pai__buf_ok(&b))
    pai__answer_failure(r, PAI_ENOMEM, NULL);
  else if (c->page != NULL)
    pai__answer_lead(r, 303, pai__buf_text(&b));
  else
    pai__answer_text(r, 200, html, pai__buf_text(&b));
  pai__buf_wipe(&b);
}

static int new_code(pai__request *r, const consent *c,
                    char code[PAI__RANDOM_TEXT])
{
  bool typed = c->page == NULL;
  pai_time now = pai__loop_time();

  if (typed ? !pai__code_typed(code) : !pai__random_text(code))
    return PAI_EIO;
  return pai__codes_put(
    &r->server->oidc->codes, code, c->user, c->challenge, now,
    now + (pai_time)(typed ? TYPED_TIME : CODE_TIME) * SECOND);
}

static void do_confirm(pai__request *r)
{
  char code[PAI__RANDOM_TEXT];
  consent c;
  int rc;

  if (!read_consent(&c, r)) {
    pai__answer_error(r, 400, "InvalidParametersError",
                      "This login was not started in this browser, or it took "
                      "too long: start again.");
  } else if (strcmp(text_of(r, "answer"), "yes") != 0) {
    pai__cookie_drop(r, text_of(r, "state"));
    tell(r, &c, "errorMessage", "The user refused the login.", NULL);
  } else {
    /* The cookie stays: who presses the button twice gets two codes. */
    r->caller.name = pai__strdup(&r->server->alloc, c.user);
    rc = new_code(r, &c, code);
    if (rc == PAI_OK)
      tell(r, &c, "code", code, code);
    else
      pai__answer_failure(r, rc, NULL);
  }
  free_consent(&c, &r->server->alloc);
}

/* --- a code becomes a token ------------------------------------------------------------ */

static void do_token(pai__request *r)
{
  pai_server *s = r->server;
  pai_error *err = NULL;
  char *user = NULL;
  pai__entry e;
  int rc = pai__codes_take(&user, &s->oidc->codes, text_of(r, "code"),
                           text_of(r, "code_verifier"), pai__loop_time());

  if (rc == PAI_EPERM) {
    pai__answer_error(r, 400, "InvalidParametersError",
                      "The code is wrong, or too old, or was used already: "
                      "log in again.");
    return;
  }
  if (rc == PAI_OK)
    rc = pai__entry_make(&e, s, user, &err);
  if (rc == PAI_OK) {
    r->caller.name = pai__strdup(&s->alloc, user);
    pai__entry_answer(&e, r);
    pai__answer_when_safe(r);
    pai__buf_wipe(&e.token);
  } else {
    pai__answer_why(r, rc, err);
  }
  pai_error_free(err);
  pai__strfree(&s->alloc, user);
}

/* --- routes --- */

static const char *const answers[] = { "yes", "no", NULL };

static const pai__field confirm_fields[] = { { .name = "state",
                                               .kind = PAI__IS_TEXT,
                                               .flags = PAI__NEEDED,
                                               .least = 1,
                                               .most = 64 },
                                             { .name = "answer",
                                               .kind = PAI__IS_TEXT,
                                               .flags = PAI__NEEDED,
                                               .choices = answers },
                                             { 0 } };

/* A secret of PKCE has 43 to 128 characters. */
static const pai__field token_fields[] = { { .name = "code",
                                             .kind = PAI__IS_TEXT,
                                             .flags = PAI__NEEDED,
                                             .least = 1,
                                             .most = 64 },
                                           { .name = "code_verifier",
                                             .kind = PAI__IS_TEXT,
                                             .flags = PAI__NEEDED,
                                             .least = 43,
                                             .most = 128 },
                                           { 0 } };

#define OIDC(rest) "/api/v2/authn/oidc/" rest " /api/v1/authn/oidc/" rest

static const pai__route routes[] = {
  { .method = "POST",
    .path = OIDC("confirm"),
    .handle = do_confirm,
    .right = PAI__OF_ALL,
    .mode = PAI__WITH_OIDC,
    .fields = confirm_fields,
    .status = 303,
    .result = &pai__no_result,
    .summary = "Confirm or refuse the login of a program",
    .errors = "400 InvalidParametersError, 503 UnknownError" },
  { .method = "POST",
    .path = OIDC("token"),
    .handle = do_token,
    .right = PAI__OF_ALL,
    .mode = PAI__WITH_OIDC,
    .fields = token_fields,
    .result = &pai__login_result,
    .summary = "Create a token for a code, which can be used once",
    .errors = "400 InvalidParametersError" },
};

const pai__routes pai__consent_routes = { routes, PAI__LEN(routes) };
