/* enter.c - the answer to a finished login: a token, sent to a page */
#include "server/oidc/provider.h"

/* Returns whether the user's extension has a githubPAT. */
static bool has_pat(pai_server *s, const char *user)
{
  pai__tree *t = pai__oidc_user(s, user);
  bool has =
    pai__claim_text(t, pai__tree_get(t, 0, "extension"), "githubPAT") != NULL;

  pai__tree_free(t);
  return has;
}

int pai__entry_make(pai__server_entry *e, pai_server *s, const char *user,
                    pai_error **err)
{
  int rc;

  *e = (pai__server_entry){ .user = user };
  pai__buf_init(&e->token, &s->alloc);
  rc = pai_accounts_new_token(s->accounts, user, 0, pai__answer_write,
                              &e->token, err);
  if (rc < 0) {
    pai__buf_wipe(&e->token);
    return rc;
  }
  pai__accounts_complete(s, user);
  e->admin = pai_accounts_is_admin(s->accounts, user) != 0;
  e->pat = has_pat(s, user);
  return PAI_OK;
}

void pai__entry_answer(pai__server_entry *e, pai__request *r)
{
  pai__login_answer(r, e->user, pai__buf_text(&e->token), e->admin, e->pat);
}

static void write_page(const pai__pending_login *v, const pai__server_entry *e,
                       pai__buf *url)
{
  pai__buf_str(url, v->page);
  pai__query_add(url, "user", e->user);
  pai__query_add(url, "token", pai__buf_text(&e->token));
  pai__query_add(url, "admin", e->admin ? "true" : "false");
  pai__query_add(url, "hasGitHubPAT", e->pat ? "true" : "false");
  if (v->from != NULL)
    pai__query_add(url, "from", v->from);
}

static void answer(pai__pending_login *v, pai__server_entry *e)
{
  pai__request *r = pai__pending_login_request(v);
  pai__buf url;

  if (r != NULL) {
    pai__buf_init(&url, &r->server->alloc);
    r->caller.name = pai__strdup(&r->server->alloc, e->user);
    if (v->page != NULL)
      write_page(v, e, &url);
    if (!pai__buf_ok(&url))
      pai__answer_failure(r, PAI_ENOMEM);
    else if (v->page != NULL)
      pai__answer_lead(r, 302, pai__buf_text(&url));
    else
      pai__entry_answer(e, r);
    if (pai__buf_ok(&url))
      pai__answer_when_safe(r);
    pai__buf_wipe(&url);
  }
  pai__pending_login_free(v);
}

void pai__pending_login_hand_over(pai__pending_login *v)
{
  pai_error *err = NULL;
  pai__server_entry e;

  if (pai__entry_make(&e, v->o->server, pai__buf_text(&v->user), &err) < 0) {
    pai__pending_login_fail(v, 500, "UnknownError",
                            "The token for %s could not be created: %s",
                            pai__buf_text(&v->user), pai_error_message(err));
  } else {
    answer(v, &e);
    pai__buf_wipe(&e.token);
  }
  pai_error_free(err);
}
