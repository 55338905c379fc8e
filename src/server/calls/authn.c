/* authn.c - login and logout with passwords */
#include "server/server.h"

#include <stdio.h>

/* Microseconds.  A few typing errors cause shorter waits. */
#define LONG_WAIT (INT64_C(30) * 1000000)

void pai__do_authn_info(pai__request *r)
{
  bool oidc = r->server->oidc != NULL;
  pai__json_writer *w = &r->json;

  pai__json_writer_init(w, &r->answer, false);
  pai__json_begin_object(w);
  pai__json_put_text(w, "authn_type", oidc ? "OIDC" : "basic");
  pai__json_put_text(w, "loginURI",
                     oidc ? "/api/v1/authn/oidc/login"
                          : "/api/v1/authn/basic/login");
  pai__json_put_text(w, "loginURIMethod", oidc ? "get" : "post");
  pai__json_end_object(w);
  pai__answer_json(r, 200);
}

/* --- login --------------------------------------------------------------- */

/* An invalid body and a wrong password are both 400 here. */
static void refuse_login(pai__request *r, int status, const pai_error *err)
{
  const char *code = pai_error_api_code(err);

  if (code != NULL && status != PAI_EBUSY)
    pai__answer_error(r, 400, code, "%s", pai_error_message(err));
  else
    pai__answer_why(r, status, err);
}

/* Jobs of a user with a token may need the user's SSH keys.  Without keys they
 * still run. */
void pai__accounts_complete(pai_server *s, const char *user)
{
  pai_error *err = NULL;

  if (user != NULL && pai_accounts_need_ssh(s->accounts, user, &err) < 0)
    pai__log_line(&s->log, PAI_LOG_WARNING, "%s has no SSH keys: %s", user,
                  pai_error_message(err));
  pai_error_free(err);
}

/* Logs a wrong password that causes a long wait.  Logins refused during a wait
 * are not logged, so that an attacker cannot fill the log. */
static void note_failure(pai__request *r, int status, const pai_error *err)
{
  pai_accounts *accounts = r->server->accounts;
  const char *user = pai__body_text(r, "username");
  pai_time wait = pai_error_retry_after(err);
  char what[64];

  if (status != PAI_EPERM && status != PAI_ENOTFOUND)
    return;
  r->claimed = pai__strdup(&r->server->alloc, user);
  if (wait < LONG_WAIT)
    return;
  (void)snprintf(what, sizeof(what), "logins are locked out for %lld s",
                 (long long)(wait / 1000000));
  (void)!pai_accounts_note(accounts, user, r->remote ? r->peer : NULL, what,
                           429);
  pai__log_line(&r->server->log, PAI_LOG_WARNING,
                "wrong passwords for %s from %s: %s", user,
                r->remote ? r->peer : "this machine", what);
}

/* Returns whether a member is there and true. */
static bool is_set(const pai__tree *t, const char *name)
{
  pai__node n = pai__tree_look(t, 0, name);

  return n != PAI__NO_NODE && pai__tree_bool(t, n);
}

static bool wants_session(const pai__request *r)
{
  return is_set(r->form, "cookie");
}

/* A page of another site must not sign a browser in as a user of its own. */
bool pai__login_may_keep(pai__request *r)
{
  if (!wants_session(r) || pai__session_is_here(r))
    return true;
  pai__answer_error(r, 403, "ForbiddenUserError",
                    "A login with a cookie must come from a page of this "
                    "server: its Origin must be this host.");
  return false;
}

void pai__login_answer(pai__request *r, const char *user, const char *token,
                       bool admin, bool pat)
{
  bool keeps = wants_session(r);
  pai__json_writer *w = &r->json;
  char key[PAI__SESSION_KEY];

  if (keeps && !pai__session_begin(r, token, key)) {
    pai__answer_failure(r, PAI_ENOMEM);
    return;
  }
  pai__json_writer_init(w, &r->answer, false);
  pai__json_begin_object(w);
  pai__json_put_text(w, "user", user);
  pai__json_put_text(w, "token", keeps ? "" : token);
  pai__json_put_bool(w, "admin", admin);
  pai__json_put_bool(w, "hasGitHubPAT", pat);
  if (keeps)
    pai__json_put_text(w, "sessionKey", key);
  pai__json_end_object(w);
  pai__answer_json(r, 200);
}

/* Answers with a login that is JSON already, unless a session begins. */
static void answer_login(pai__request *r, const char *json, size_t len)
{
  pai__tree *login;

  if (!wants_session(r)) {
    pai__json_writer_init(&r->json, &r->answer, false);
    pai__json_ready(&r->json, json, len);
    pai__answer_json(r, 200);
    return;
  }
  login = pai__server_tree(r->server, json, len);
  if (login == NULL)
    pai__answer_failure(r, PAI_ENOMEM);
  else
    pai__login_answer(r, pai__tree_look_text(login, 0, "user", ""),
                      pai__tree_look_text(login, 0, "token", ""),
                      is_set(login, "admin"), is_set(login, "hasGitHubPAT"));
  pai__tree_free(login);
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
  /* The user is authenticated now. */
  r->caller.name =
    pai__strdup(&r->server->alloc, pai__body_text(r, "username"));
  pai__accounts_complete(r->server, r->caller.name);
  answer_login(r, json, len);
  pai__answer_when_safe(r);
}

void pai__do_authn_login(pai__request *r)
{
  struct pai__waiting *w;
  int rc;

  if (!pai__login_may_keep(r))
    return;
  w = pai__answer_later(r);
  if (w == NULL)
    return;
  pai__ask_accounts(r);
  rc = pai_accounts_login(r->server->accounts, pai__body_text(r, "username"),
                          pai__body_text(r, "password"), on_login, w, &r->err);
  if (rc < 0) {
    (void)pai__answer_now(w);
    refuse_login(r, rc, r->err);
  }
}

/* --- logout -------------------------------------------------------------- */

/* Returns the token in an Authorization header. */
static const char *token_of(const char *header)
{
  const char *space = strchr(header, ' ');

  return space != NULL ? space + strspn(space, " ") : "";
}

void pai__do_authn_logout(pai__request *r)
{
  const char *header = pai__conn_field(r->conn, "Authorization");
  pai__buf session;
  int rc = PAI_OK;

  pai__buf_init(&session, &r->server->alloc);
  if (r->caller.session && pai__session_header(&session, r))
    header = pai__buf_text(&session);
  if (header != NULL)
    rc = pai_accounts_revoke(r->server->accounts, r->caller.name,
                             token_of(header), &r->err);
  if (r->caller.session && !pai__session_end(r))
    rc = PAI_ENOMEM;
  pai__buf_wipe(&session);
  pai__answer_changed(r, rc, "Logout successfully");
}
