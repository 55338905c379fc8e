/*
 * consent.c - asks the user whether a program may log in, and gives programs
 * and the portal a code for a token
 *
 * The provider often does not ask the user.  So whoever can open our login
 * page in a browser could have a code sent to their own program.  Therefore
 * the user is asked here, on a page that no other page can submit or embed:
 * its data are in a cookie that is only sent from pages of this server, and
 * the cookie's name is in the form.
 */
#include "server/oidc/provider.h"

#include <string.h>

enum { SECOND = 1000 * 1000, CODE_TIME = 60, TYPED_TIME = 300 };

static const char purpose[] = "consent", html[] = "text/html; charset=utf-8";

/* --- asking the user ----------------------------------------------------- */

static bool keep(pai__pending_login *v, pai__request *r, const char *state)
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

void pai__pending_login_ask(pai__pending_login *v)
{
  pai__request *r = pai__pending_login_request(v);
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
      pai__answer_when_safe(r); /* the login may have made an account */
    } else {
      pai__answer_failure(r, PAI_ENOMEM);
    }
    pai__buf_dispose(&page);
  }
  pai__pending_login_free(v);
}

/* --- the user's answer --------------------------------------------------- */

typedef struct consent {
  char *user, *challenge, *page; /* NULL: the code is typed */
} consent;

static bool read_consent(consent *c, pai__request *r)
{
  const pai_alloc *a = &r->server->alloc;
  const char *at;
  pai__buf text;
  bool ok;

  *c = (consent){ NULL, NULL, NULL };
  pai__buf_init(&text, a);
  ok = pai__cookie_get(&text, r, purpose, pai__body_text(r, "state"));
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

/* Sends the result to the page, or shows it if there is no page. */
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
    pai__answer_failure(r, PAI_ENOMEM);
  else if (c->page != NULL)
    pai__answer_lead(r, 303, pai__buf_text(&b));
  else
    pai__answer_text(r, 200, html, pai__buf_text(&b));
  pai__buf_wipe(&b);
}

/* A code for a page is not typed. */
static int new_code(pai__request *r, const char *user, const char *challenge,
                    bool typed, char code[PAI__RANDOM_TEXT])
{
  pai_time now = pai__loop_time();

  if (typed ? !pai__code_typed(code) : !pai__random_text(code))
    return PAI_EIO;
  return pai__codes_put(&r->server->oidc->codes, code, user, challenge, now,
                        now +
                          (pai_time)(typed ? TYPED_TIME : CODE_TIME) * SECOND);
}

/* Nobody is asked: only the portal's own page can read the code, and only the
 * page that began this login has the verifier. */
void pai__pending_login_open_portal(pai__pending_login *v)
{
  pai__request *r = pai__pending_login_request(v);
  const char *user = pai__buf_text(&v->user);
  char code[PAI__RANDOM_TEXT];
  int rc;

  if (r != NULL) {
    pai__strfree(&r->server->alloc, r->caller.name);
    r->caller.name = pai__strdup(&r->server->alloc, user);
    rc = new_code(r, user, v->challenge, false, code);
    if (rc == PAI_OK) {
      pai__answer_portal(r, "code", code);
      pai__answer_when_safe(r); /* the login may have made an account */
    } else {
      pai__answer_failure(r, rc);
    }
  }
  pai__pending_login_free(v);
}

void pai__do_oidc_confirm(pai__request *r)
{
  char code[PAI__RANDOM_TEXT];
  consent c;
  int rc;

  if (!read_consent(&c, r)) {
    pai__answer_error(r, 400, "InvalidParametersError",
                      "This login was not started in this browser, or it has "
                      "expired. Start again.");
  } else if (strcmp(pai__body_text(r, "answer"), "yes") != 0) {
    pai__cookie_drop(r, pai__body_text(r, "state"));
    tell(r, &c, "errorMessage", "The user refused the login.", NULL);
  } else {
    /* The cookie stays: pressing the button twice gives two codes. */
    r->caller.name = pai__strdup(&r->server->alloc, c.user);
    rc = new_code(r, c.user, c.challenge, c.page == NULL, code);
    if (rc == PAI_OK)
      tell(r, &c, "code", code, code);
    else
      pai__answer_failure(r, rc);
  }
  free_consent(&c, &r->server->alloc);
}

/* --- exchanging a code for a token --------------------------------------- */

void pai__do_oidc_token(pai__request *r)
{
  pai_server *s = r->server;
  char *user = NULL;
  pai__server_entry e;
  int rc;

  if (!pai__login_may_keep(r))
    return;
  rc = pai__codes_take(&user, &s->oidc->codes, pai__body_text(r, "code"),
                       pai__body_text(r, "code_verifier"), pai__loop_time());
  if (rc == PAI_EPERM) {
    pai__answer_error(r, 400, "InvalidParametersError",
                      "The code is wrong, expired or already used: log in "
                      "again.");
    return;
  }
  if (rc == PAI_OK)
    rc = pai__entry_make(&e, s, user, &r->err);
  if (rc == PAI_OK) {
    r->caller.name = pai__strdup(&s->alloc, user);
    pai__entry_answer(&e, r);
    pai__answer_when_safe(r);
    pai__buf_wipe(&e.token);
  } else {
    pai__answer_failure(r, rc);
  }
  pai__strfree(&s->alloc, user);
}
