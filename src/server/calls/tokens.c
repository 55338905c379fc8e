/*
 * tokens.c - GET, POST and DELETE /tokens: API tokens
 *
 * Callers handle their own tokens.  The user of this process, at its own
 * socket, handles those of all users with ?username=.
 */
#include "server/server.h"

/* Returns the owner of the tokens; NULL if that was refused. */
static const char *find_user(pai__request *r)
{
  const char *name = pai__request_query(r, "username");

  if (name == NULL || strcmp(name, r->caller.name) == 0)
    return r->caller.name;
  if (r->caller.self)
    return name;
  pai__answer_forbidden(r, "You may manage only your own tokens.");
  return NULL;
}

void pai__do_tokens_list(pai__request *r)
{
  const char *user = find_user(r);

  if (user != NULL)
    pai__answer_written(r, pai_accounts_write_tokens(r->server->accounts, user,
                                                     pai__answer_write,
                                                     &r->answer, &r->err));
}

static unsigned read_scopes(const pai__request *r)
{
  pai__node list = pai__tree_get(r->form, 0, "scopes"), n;
  unsigned scopes = 0, one;
  pai__tree_walk walk;

  if (list == PAI__NO_NODE)
    return 0;
  walk = pai__tree_iter(r->form, list);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
    if ((one = pai_scope_of(pai__tree_str(r->form, n, NULL))) == 0)
      return 0;
    else
      scopes |= one;
  return scopes;
}

static bool read_request(pai__request *r, pai_token_request *out)
{
  const pai__tree *form = r->form;
  pai__node seconds = pai__tree_get(form, 0, "expiration");
  pai__node name = pai__tree_get(form, 0, "name");

  *out = (pai_token_request)PAI_TOKEN_REQUEST_INIT;
  if (name != PAI__NO_NODE)
    out->name = pai__tree_str(form, name, NULL);
  out->scopes = read_scopes(r);
  if (seconds != PAI__NO_NODE)
    out->lifetime = pai__tree_int(form, seconds) * 1000000;
  if (out->scopes != 0 || pai__tree_get(form, 0, "scopes") == PAI__NO_NODE)
    return true;
  pai__answer_error(r, 400, "InvalidParametersError",
                    "\"scopes\" must be a list of read, submit, admin and "
                    "alerts");
  return false;
}

void pai__do_tokens_create(pai__request *r)
{
  const char *user = find_user(r);
  pai_token_request request;
  int rc;

  if (user == NULL || !read_request(r, &request))
    return;
  rc = pai_accounts_make_token(r->server->accounts, user, &request,
                               pai__answer_write, &r->answer, &r->err);
  pai__answer_written(r, rc);
  if (rc < 0)
    return;
  pai__accounts_complete(r->server, user);
  pai__answer_when_safe(r);
}

void pai__do_tokens_revoke(pai__request *r)
{
  const char *user = r->caller.self ? NULL : r->caller.name;

  pai__answer_changed(
    r, pai_accounts_revoke(r->server->accounts, user, r->params[0], &r->err),
    "revoke successfully");
}

static void put_seconds(pai__json_writer *w, const char *key, pai_time time)
{
  if (time == 0)
    return;
  pai__json_put_int(w, key, time / 1000000);
}

/* Returns the claims of the token, and whether its user is an
 * administrator. */
void pai__do_tokens_check(pai__request *r)
{
  const pai__caller *c = &r->caller;
  pai__json_writer *w = &r->json;

  pai__json_writer_init(w, &r->answer, false);
  pai__json_begin_object(w);
  pai__json_put_text(w, "username", c->name);
  pai__json_put_bool(w, "application", c->application);
  pai__json_put_bool(w, "jobSpecific", false);
  pai__json_put_text(w, "encodedFrameworkName", "");
  put_seconds(w, "iat", c->issued);
  put_seconds(w, "exp", c->expires);
  pai__json_put_bool(w, "admin", c->admin);
  pai__json_end_object(w);
  pai__answer_json(r, 200);
}
