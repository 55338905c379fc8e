/* oidc_enter.c - what somebody gets who has logged in: a token, told to a page */
#include "server/oidc.h"

#include <string.h>

static void put_text(pai__json_writer *w, const char *key, const char *value)
{
  pai__json_key(w, key, strlen(key));
  pai__json_text(w, value, strlen(value));
}

/* Whether the user has such a token; it is not looked at. */
static bool has_pat(pai_server *s, const char *user)
{
  const pai__json_options o = { .alloc = &s->alloc };
  pai__tree *t = NULL;
  pai__buf json;
  bool has = false;

  pai__buf_init(&json, &s->alloc);
  if (pai_accounts_write_user(s->accounts, user, user, pai__answer_write,
                              &json, NULL) == PAI_OK &&
      pai__json_parse(&t, pai__buf_text(&json), json.len, &o, NULL) ==
        PAI_OK &&
      t != NULL)
    has = pai__claim_text(t, pai__tree_get(t, 0, "extension"), "githubPAT") !=
          NULL;
  pai__tree_free(t);
  pai__buf_wipe(&json);
  return has;
}

int pai__entry_make(pai__entry *e, pai_server *s, const char *user,
                    pai_error **err)
{
  int rc;

  *e = (pai__entry){ .user = user };
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

void pai__entry_answer(pai__entry *e, pai__request *r)
{
  pai__json_writer *w = &r->json;

  pai__json_writer_init(w, &r->answer, false);
  pai__json_begin_object(w);
  put_text(w, "user", e->user);
  put_text(w, "token", pai__buf_text(&e->token));
  pai__json_key(w, "admin", 5);
  pai__json_bool(w, e->admin);
  pai__json_key(w, "hasGitHubPAT", 12);
  pai__json_bool(w, e->pat);
  pai__json_end_object(w);
  pai__answer_json(r, 200);
}

static void write_page(const pai__visit *v, const pai__entry *e, pai__buf *url)
{
  pai__buf_str(url, v->page);
  pai__query_add(url, "user", e->user);
  pai__query_add(url, "token", pai__buf_text(&e->token));
  pai__query_add(url, "admin", e->admin ? "true" : "false");
  pai__query_add(url, "hasGitHubPAT", e->pat ? "true" : "false");
  if (v->from != NULL)
    pai__query_add(url, "from", v->from);
}

static void answer(pai__visit *v, pai__entry *e)
{
  pai__request *r = pai__visit_request(v);
  pai__buf url;

  if (r != NULL) {
    pai__buf_init(&url, &r->server->alloc);
    r->caller.name = pai__strdup(&r->server->alloc, e->user);
    if (v->page != NULL)
      write_page(v, e, &url);
    if (!pai__buf_ok(&url))
      pai__answer_failure(r, PAI_ENOMEM, NULL);
    else if (v->page != NULL)
      pai__answer_lead(r, 302, pai__buf_text(&url));
    else
      pai__entry_answer(e, r);
    if (pai__buf_ok(&url))
      pai__answer_when_safe(r);
    pai__buf_wipe(&url);
  }
  pai__visit_free(v);
}

void pai__visit_hand_over(pai__visit *v)
{
  pai_error *err = NULL;
  pai__entry e;

  if (pai__entry_make(&e, v->o->server, pai__buf_text(&v->user), &err) < 0) {
    pai__visit_fail(v, 500, "UnknownError",
                    "The token for %s could not be created: %s",
                    pai__buf_text(&v->user), pai_error_message(err));
  } else {
    answer(v, &e);
    pai__buf_wipe(&e.token);
  }
  pai_error_free(err);
}
