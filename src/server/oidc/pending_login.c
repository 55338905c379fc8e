/*
 * pending_login.c - requests to the provider that a login needs
 *
 * The provider's document and keys are kept for an hour.  If a token is signed
 * with an unknown key, the keys are fetched again, but only once a minute,
 * however many such tokens come.
 */
#include "server/oidc/provider.h"

#include <string.h>

static const pai_time HOUR = (pai_time)3600 * 1000 * 1000;
static const pai_time MINUTE = (pai_time)60 * 1000 * 1000;

/* --- begin and end ------------------------------------------------------- */

pai__pending_login *pai__pending_login_begin(
  pai__request *r, void (*next)(pai__pending_login *v))
{
  pai__oidc *o = r->server->oidc;
  pai__pending_login *v;

  if (o->pending_logins >= PAI__MOST_PENDING_LOGINS) {
    pai__answer_error(
      r, 503, "UnknownError",
      "Too many logins are in progress: try again in a moment.");
    return NULL;
  }
  v = pai__zalloc(&r->server->alloc, sizeof(*v));
  if (v == NULL) {
    pai__answer_failure(r, PAI_ENOMEM);
    return NULL;
  }
  v->o = o;
  v->next = next;
  pai__buf_init(&v->user, &r->server->alloc);
  o->pending_logins++;
  v->waiting = pai__answer_later(r);
  if (v->waiting != NULL)
    return v;
  pai__pending_login_free(v);
  return NULL;
}

pai__request *pai__pending_login_request(pai__pending_login *v)
{
  struct pai__waiting *w = v->waiting;

  v->waiting = NULL;
  return w != NULL ? pai__answer_now(w) : NULL;
}

void pai__pending_login_free(pai__pending_login *v)
{
  pai__oidc *o = v->o;
  const pai_alloc *a = &o->server->alloc;

  (void)pai__pending_login_request(v);
  pai__strfree(a, v->page);
  pai__strfree(a, v->from);
  pai__strfree(a, v->nonce);
  pai__strfree(a, v->verifier);
  pai__strfree(a, v->code);
  pai__strfree(a, v->challenge);
  pai__strfree(a, v->id_token);
  pai__tree_free(v->claims);
  pai__buf_dispose(&v->user);
  pai__free(a, v, sizeof(*v));
  o->pending_logins--;
  if (o->closing)
    pai__server_check_end(o->server);
}

/* Reports an error to the page that wanted the token or code. */
static void tell_page(pai__request *r, const char *page, const char *text)
{
  pai__buf url;

  if (pai__page_is_portal(page)) {
    pai__answer_portal(r, "error", text);
    return;
  }
  pai__buf_init(&url, &r->server->alloc);
  pai__buf_str(&url, page);
  pai__query_add(&url, "errorMessage", text);
  if (pai__buf_ok(&url))
    pai__answer_lead(r, 302, pai__buf_text(&url));
  else
    pai__answer_failure(r, PAI_ENOMEM);
  pai__buf_dispose(&url);
}

void pai__pending_login_fail(pai__pending_login *v, int status,
                             const char *code, const char *fmt, ...)
{
  pai__request *r = pai__pending_login_request(v);
  pai__buf text;
  va_list ap;

  if (r != NULL) {
    pai__buf_init(&text, &r->server->alloc);
    va_start(ap, fmt);
    pai__buf_vprintf(&text, fmt, ap);
    va_end(ap);
    if ((v->v1 || v->challenge != NULL) && v->page != NULL)
      tell_page(r, v->page, pai__buf_text(&text));
    else
      pai__answer_error(r, status, code, "%s", pai__buf_text(&text));
    pai__buf_dispose(&text);
  }
  pai__pending_login_free(v);
}

/* The provider failed: details are only logged. */
static void fail_there(pai__pending_login *v, const pai_error *err)
{
  const char *help = pai_error_help(err);
  bool untrusted = pai_error_no_answer(err) == PAI_NO_ANSWER_UNTRUSTED;

  pai__log_line(&v->o->server->log, PAI_LOG_WARNING,
                "the provider %s: %s%s%s%s", v->o->said.issuer,
                err != NULL ? pai_error_message(err) : "no answer",
                help != NULL ? "; " : "", help != NULL ? help : "",
                untrusted ? " (of oidc.yaml, or --oidc-ca-file)" : "");
  pai__pending_login_fail(
    v, 502, "UnknownError",
    "The login provider did not answer, or its answer was not trusted. The "
    "platform's log has the reason.");
}

/* --- the provider's document --------------------------------------------- */

static bool is_old(const pai__tree *t, pai_time since)
{
  return t == NULL || pai__loop_time() - since > HOUR;
}

static void on_provider(void *user_data, int status, const char *text,
                        size_t len, const pai_error *failure)
{
  pai__pending_login *v = user_data;
  pai__tree *t = NULL;
  pai_error *err = NULL;

  if (status == PAI_OK)
    status = pai__provider_read(&t, &v->o->server->alloc, v->o->said.issuer,
                                text, len, &err);
  if (status == PAI_OK) {
    pai__tree_free(v->o->provider);
    v->o->provider = t;
    v->o->provider_since = pai__loop_time();
    v->next(v);
  } else {
    fail_there(v, err != NULL ? err : failure);
  }
  pai_error_free(err);
}

static void fetch(pai__pending_login *v, const char *url, const pai__buf *form,
                  pai__fetch_cb cb)
{
  pai_error *err = NULL;
  int rc = PAI_ENOMEM;

  if (v->o->closing)
    rc = PAI_ECANCELED;
  else if (url != NULL && (form == NULL || pai__buf_ok(form)))
    rc = pai__fetch_begin(v->o, url, form, cb, v, &err);
  if (rc < 0)
    fail_there(v, err);
  pai_error_free(err);
}

void pai__pending_login_go_on(pai__pending_login *v)
{
  size_t len = strlen(v->o->said.issuer);
  pai__buf url;

  if (!is_old(v->o->provider, v->o->provider_since)) {
    v->next(v);
    return;
  }
  while (len > 0 && v->o->said.issuer[len - 1] == '/')
    len--;
  pai__buf_init(&url, &v->o->server->alloc);
  pai__buf_add(&url, v->o->said.issuer, len);
  pai__buf_str(&url, "/.well-known/openid-configuration");
  fetch(v, pai__buf_ok(&url) ? pai__buf_text(&url) : NULL, NULL, on_provider);
  pai__buf_dispose(&url);
}

/* --- from a code to claims ----------------------------------------------- */

static void verify(pai__pending_login *v);

static void on_keys(void *user_data, int status, const char *text, size_t len,
                    const pai_error *failure)
{
  pai__pending_login *v = user_data;
  pai__tree *t = NULL;
  pai_error *err = NULL;

  if (status == PAI_OK)
    status = pai__keys_read(&t, &v->o->server->alloc, text, len, &err);
  if (status == PAI_OK) {
    pai__tree_free(v->o->keys);
    v->o->keys = t;
    v->o->keys_since = pai__loop_time();
    verify(v);
  } else {
    fail_there(v, err != NULL ? err : failure);
  }
  pai_error_free(err);
}

static void get_keys(pai__pending_login *v)
{
  fetch(v, pai__claim_text(v->o->provider, 0, "jwks_uri"), NULL, on_keys);
}

/* Limits such fetches to one a minute. */
static bool may_ask_again(pai__oidc *o)
{
  pai_time now = pai__loop_time();

  if (o->again && now - o->again_since < MINUTE)
    return false;
  o->again = true;
  o->again_since = now;
  return true;
}

static void verify(pai__pending_login *v)
{
  pai__oidc *o = v->o;
  const pai__token_expected expected = { o->said.issuer, o->said.client_id,
                                         v->nonce,
                                         pai__loop_wall_time() / 1000000 };
  pai_error *err = NULL;
  int rc;

  if (is_old(o->keys, o->keys_since)) {
    get_keys(v);
    return;
  }
  rc = pai__id_token_read(&v->claims, &o->server->alloc, v->id_token,
                          strlen(v->id_token), o->keys, &expected, &err);
  if (rc == PAI_ENOTFOUND && may_ask_again(o))
    get_keys(v);
  else if (rc < 0)
    fail_there(v, err);
  else
    pai__pending_login_enter(v);
  pai_error_free(err);
}

static void on_token(void *user_data, int status, const char *text, size_t len,
                     const pai_error *failure)
{
  pai__pending_login *v = user_data;
  const pai_alloc *a = &v->o->server->alloc;
  const pai__json_options o = { .flags = PAI__JSON_DUPLICATES,
                                .max_depth = 16,
                                .alloc = a };
  pai__tree *t = NULL;
  pai_error *err = NULL;
  const char *token;

  if (status == PAI_OK)
    status = pai__json_parse(&t, text, len, &o, &err);
  if (status == PAI_OK && t != NULL) {
    token = pai__claim_text(t, 0, "id_token");
    v->id_token = token != NULL ? pai__strdup(a, token) : NULL;
    if (token == NULL)
      status = pai__fail(&err, PAI_EINVAL, "it returned no ID token");
    else if (v->id_token == NULL)
      status = pai__oom(&err);
  }
  pai__tree_free(t);
  if (status == PAI_OK && v->id_token != NULL)
    verify(v);
  else
    fail_there(v, err != NULL ? err : failure);
  pai_error_free(err);
}

void pai__pending_login_redeem(pai__pending_login *v)
{
  pai__oidc *o = v->o;
  pai__buf form;

  pai__buf_init(&form, &o->server->alloc);
  pai__form_add(&form, "grant_type", "authorization_code");
  pai__form_add(&form, "code", v->code);
  pai__form_add(&form, "redirect_uri", o->said.redirect_uri);
  pai__form_add(&form, "client_id", o->said.client_id);
  pai__form_add(&form, "code_verifier", v->verifier);
  if (o->said.client_secret != NULL)
    pai__form_add(&form, "client_secret", o->said.client_secret);
  fetch(v, pai__claim_text(o->provider, 0, "token_endpoint"), &form, on_token);
  pai__buf_wipe(&form);
}
