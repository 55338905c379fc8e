/* authn.c - how users log in and out */
#include "server/server.h"

#include <stdio.h>

/* Microseconds: shorter ones happen to whoever mistypes. */
#define LONG_WAIT (INT64_C(30) * 1000000)

static void put_text(pai__json_writer *w, const char *key, const char *value)
{
  pai__json_key(w, key, strlen(key));
  pai__json_text(w, value, strlen(value));
}

static void do_authn_info(pai__request *r)
{
  bool oidc = r->server->oidc != NULL;
  pai__json_writer *w = &r->json;

  pai__json_writer_init(w, &r->answer, false);
  pai__json_begin_object(w);
  put_text(w, "authn_type", oidc ? "OIDC" : "basic");
  put_text(w, "loginURI",
           oidc ? "/api/v1/authn/oidc/login" : "/api/v1/authn/basic/login");
  put_text(w, "loginURIMethod", oidc ? "get" : "post");
  pai__json_end_object(w);
  pai__answer_json(r, 200);
}

/* --- logging in --------------------------------------------------------------- */

/* All that is wrong with what was sent is 400 here. */
static void refuse_login(pai__request *r, int status, const pai_error *err)
{
  const char *code = pai_error_api_code(err);

  if (code != NULL && status != PAI_EBUSY)
    pai__answer_error(r, 400, code, "%s", pai_error_message(err));
  else
    pai__answer_why(r, status, err);
}

static const char *text_of(const pai__request *r, const char *name)
{
  return pai__tree_str(r->form, pai__tree_get(r->form, 0, name), NULL);
}

/* Jobs of who has a token may want the user's SSH keys.  Without them they
 * still run. */
void pai__accounts_complete(pai_server *s, const char *user)
{
  pai_error *err = NULL;

  if (user != NULL && pai_accounts_need_ssh(s->accounts, user, &err) < 0)
    pai__log_line(&s->log, PAI_LOG_WARNING, "%s has no SSH keys: %s", user,
                  pai_error_message(err));
  pai_error_free(err);
}

/* That a password was wrong is noted, and that the next one has to wait; one that
 * comes before is not: else whoever guesses could fill the log. */
static void note_failure(pai__request *r, int status, const pai_error *err)
{
  pai_accounts *accounts = r->server->accounts;
  const char *user = text_of(r, "username");
  pai_time wait = pai_error_retry_after(err);
  char what[64];

  if (status != PAI_EPERM && status != PAI_ENOTFOUND)
    return;
  r->claimed = pai__strdup(&r->server->alloc, user);
  if (wait < LONG_WAIT)
    return;
  (void)snprintf(what, sizeof(what), "logins are held up for %lld s",
                 (long long)(wait / 1000000));
  (void)!pai_accounts_note(accounts, user, r->remote ? r->peer : NULL, what,
                           429);
  pai__log_line(&r->server->log, PAI_LOG_WARNING,
                "wrong passwords for %s from %s: %s", user,
                r->remote ? r->peer : "this machine", what);
}

static void on_login(void *user_data, int status, const char *json, size_t len,
                     const pai_error *err)
{
  pai__request *r = pai__answer_now(user_data);

  if (r == NULL)
    return;
  if (status == PAI_ECANCELED) {
    pai__answer_cancelled(r);
    return;
  }
  if (status < 0) {
    note_failure(r, status, err);
    refuse_login(r, status, err);
    return;
  }
  /* Who it was is known now. */
  r->caller.name = pai__strdup(&r->server->alloc, text_of(r, "username"));
  pai__accounts_complete(r->server, r->caller.name);
  pai__json_writer_init(&r->json, &r->answer, false);
  pai__json_ready(&r->json, json, len);
  pai__answer_json(r, 200);
  pai__answer_when_safe(r);
}

static void do_login(pai__request *r)
{
  struct pai__waiting *w = pai__answer_later(r);
  pai_error *err = NULL;
  int rc;

  if (w == NULL)
    return;
  pai__ask_accounts(r);
  rc = pai_accounts_login(r->server->accounts, text_of(r, "username"),
                          text_of(r, "password"), on_login, w, &err);
  if (rc < 0) {
    (void)pai__answer_now(w);
    refuse_login(r, rc, err);
  }
  pai_error_free(err);
}

/* --- logging out ---------------------------------------------------------------- */

/* The token that was shown, or NULL: none was. */
static const char *find_token(const pai__request *r)
{
  const char *header = pai__conn_field(r->conn, "Authorization");
  const char *space = header != NULL ? strchr(header, ' ') : NULL;

  return space != NULL ? space + strspn(space, " ") : NULL;
}

static void do_logout(pai__request *r)
{
  const char *token = find_token(r);
  pai_error *err = NULL;
  int rc = PAI_OK;

  if (token != NULL)
    rc = pai_accounts_revoke(r->server->accounts, r->caller.name, token, &err);
  r->said = "Logout successfully";
  pai__answer_changed(r, rc, err);
}

/* --- answers --- */

static const pai__field authn_fields[] = { PAI__HAS(TEXT, "authn_type"),
                                           PAI__HAS(TEXT, "loginURI"),
                                           PAI__HAS(TEXT, "loginURIMethod"),
                                           { 0 } };

static const pai__shape authn_shape = { "AuthnInfo", authn_fields };

static const pai__result authn = { .kind = PAI__IS_OBJECT,
                                   .shape = &authn_shape };

/* --- routes --- */

static const pai__field login_fields[] = {
  { .name = "username",
    .kind = PAI__IS_TEXT,
    .flags = PAI__NEEDED,
    .pattern = &pai__user_pattern },
  { .name = "password",
    .kind = PAI__IS_TEXT,
    .flags = PAI__NEEDED,
    .least = 6 },
  /* As with OpenPAI it changes nothing. */
  { .name = "expiration",
    .kind = PAI__IS_WHOLE,
    .least = 60,
    .most = 604800,
    .missing = "86400" },
  { 0 }
};

#define LOGIN_ERRORS                                                          \
  "400 InvalidParametersError, 400 NoUserError, 400 IncorrectPasswordError, " \
  "429 UnknownError, 503 UnknownError"

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/authn/info /api/v1/authn/info",
    .handle = do_authn_info,
    .right = PAI__OF_ALL,
    .result = &authn,
    .summary = "Get the way in which users log in" },
  { .method = "POST",
    .path = "/api/v2/authn/basic/login /api/v1/authn/basic/login",
    .handle = do_login,
    .right = PAI__OF_ALL,
    .mode = PAI__WITH_PASSWORDS,
    .fields = login_fields,
    .result = &pai__login_result,
    .summary = "Log in with a password, and create a token",
    .errors = LOGIN_ERRORS },
  { .method = "DELETE",
    .path = "/api/v2/authn/basic/logout /api/v1/authn/basic/logout",
    .handle = do_logout,
    .right = PAI__OF_PERSONS,
    .mode = PAI__WITH_PASSWORDS,
    .summary = "Log out: revoke the token of this request" },
  { .method = "POST",
    .path = "/api/v2/tokens /api/v1/token",
    .handle = do_login,
    .right = PAI__OF_ALL,
    .mode = PAI__WITH_PASSWORDS,
    .fields = login_fields,
    .result = &pai__login_result,
    .summary = "Log in with a password, and create a token",
    .errors = LOGIN_ERRORS },
};

const pai__routes pai__authn_routes = { routes, PAI__LEN(routes) };
