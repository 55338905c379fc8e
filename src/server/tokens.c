/*
 * tokens.c - GET, POST and DELETE /tokens: what somebody asks with
 *
 * Everybody has to do with the own ones; this process' user, at its own
 * socket, with everybody's: ?username= says whose.
 */
#include "server/server.h"

/* Whose; NULL: that is refused. */
static const char *find_user(pai__request *r)
{
  const char *name = pai__request_query(r, "username");

  if (name == NULL || strcmp(name, r->caller.name) == 0)
    return r->caller.name;
  if (r->caller.self)
    return name;
  pai__answer_forbidden(r, "Tokens are for their own user alone.");
  return NULL;
}

static void do_list_tokens(pai__request *r)
{
  const char *user = find_user(r);
  pai_error *err = NULL;
  int rc;

  if (user == NULL)
    return;
  rc = pai_accounts_write_tokens(r->server->accounts, user, pai__answer_write,
                                 &r->answer, &err);
  pai__answer_written(r, rc, err);
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
                    "\"scopes\" must be a list of read, submit and admin");
  return false;
}

static void do_new_token(pai__request *r)
{
  const char *user = find_user(r);
  pai_token_request request;
  pai_error *err = NULL;
  pai__buf made;
  int rc;

  if (user == NULL || !read_request(r, &request))
    return;
  pai__buf_init(&made, &r->server->alloc);
  rc = pai_accounts_make_token(r->server->accounts, user, &request,
                               pai__answer_write, &made, &err);
  if (rc < 0) {
    pai__answer_failure(r, rc, err);
  } else {
    pai__accounts_complete(r->server, user);
    pai__json_writer_init(&r->json, &r->answer, false);
    pai__json_ready(&r->json, pai__buf_text(&made), made.len);
    pai__answer_json(r, 200);
    pai__answer_when_safe(r);
  }
  pai__buf_dispose(&made);
}

static void do_revoke(pai__request *r)
{
  const char *user = r->caller.self ? NULL : r->caller.name;
  pai_error *err = NULL;
  int rc = pai_accounts_revoke(r->server->accounts, user, r->params[0], &err);

  r->said = "revoke successfully";
  pai__answer_changed(r, rc, err);
}

static void put_flag(pai__json_writer *w, const char *key, bool value)
{
  pai__json_key(w, key, strlen(key));
  pai__json_bool(w, value);
}

static void put_seconds(pai__json_writer *w, const char *key, pai_time time)
{
  if (time == 0)
    return;
  pai__json_key(w, key, strlen(key));
  pai__json_int(w, time / 1000000);
}

/* What the token says, and whether its user is an administrator. */
static void do_check_token(pai__request *r)
{
  const pai__caller *c = &r->caller;
  pai__json_writer *w = &r->json;

  pai__json_writer_init(w, &r->answer, false);
  pai__json_begin_object(w);
  pai__json_key(w, "username", 8);
  pai__json_text(w, c->name, strlen(c->name));
  put_flag(w, "application", c->application);
  put_flag(w, "jobSpecific", false);
  pai__json_key(w, "encodedFrameworkName", 20);
  pai__json_text(w, "", 0);
  put_seconds(w, "iat", c->issued);
  put_seconds(w, "exp", c->expires);
  put_flag(w, "admin", c->admin);
  pai__json_end_object(w);
  pai__answer_json(r, 200);
}

/* --- answers --- */

static const pai__field detail_fields[] = { PAI__HAS(TEXT, "id"),
                                            PAI__HAS_OR_NULL(TEXT, "name"),
                                            PAI__HAS(FLAG, "application"),
                                            PAI__HAS(TEXTS, "scopes"),
                                            PAI__HAS(TIME, "created"),
                                            PAI__HAS_OR_NULL(TIME, "expires"),
                                            PAI__HAS_OR_NULL(TIME, "lastUsed"),
                                            { 0 } };

static const pai__shape detail_shape = { "TokenDetail", detail_fields };

static const pai__field tokens_fields[] = {
  PAI__HAS(TEXTS, "tokens"), PAI__HAS_OF(LIST, "details", &detail_shape), { 0 }
};

static const pai__shape tokens_shape = { "Tokens", tokens_fields };

static const pai__result tokens = { .kind = PAI__IS_OBJECT,
                                    .shape = &tokens_shape };

static const pai__field made_fields[] = { PAI__HAS(TEXT, "token"),
                                          PAI__HAS(TEXT, "id"),
                                          PAI__HAS_OR_NULL(TEXT, "name"),
                                          PAI__HAS(FLAG, "application"),
                                          PAI__HAS(TEXTS, "scopes"),
                                          PAI__HAS_OR_NULL(TIME, "expires"),
                                          { 0 } };

static const pai__shape made_shape = { "ApplicationToken", made_fields };

static const pai__result new_token = { .kind = PAI__IS_OBJECT,
                                       .shape = &made_shape };

static const pai__field known_fields[] = {
  PAI__HAS(TEXT, "username"),    PAI__HAS(FLAG, "application"),
  PAI__HAS(FLAG, "jobSpecific"), PAI__HAS(TEXT, "encodedFrameworkName"),
  PAI__MAY_HAVE(WHOLE, "iat"),   PAI__MAY_HAVE(WHOLE, "exp"),
  PAI__HAS(FLAG, "admin"),       { 0 }
};

static const pai__shape known_shape = { "TokenInfo", known_fields };

static const pai__result known = { .kind = PAI__IS_OBJECT,
                                   .shape = &known_shape };

/* --- bodies --- */

#define YEAR (INT64_C(366) * 24 * 3600)

/* Nothing of it is as OpenPAI's: good for all, until it is revoked. */
static const pai__field new_fields[] = {
  { .name = "name", .kind = PAI__IS_TEXT, .least = 1, .most = 64 },
  { .name = "scopes", .kind = PAI__IS_TEXTS },
  { .name = "expiration",
    .kind = PAI__IS_WHOLE,
    .least = 60,
    .most = 10 * YEAR },
  { 0 }
};

/* --- queries --- */

static const pai__field queries[] = {
  PAI__TAKES(TEXT, "username",
             "owner of the tokens, for requests of the platform's own user at "
             "its socket"),
  { 0 }
};

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/tokens /api/v1/token",
    .handle = do_list_tokens,
    .right = PAI__OF_PERSONS,
    .result = &tokens,
    .queries = queries,
    .summary = "List the tokens of the caller",
    .errors = "404 NoUserError" },
  { .method = "GET",
    .path = "/api/v2/tokens/check /api/v1/token/check",
    .handle = do_check_token,
    .right = PAI__OF_USERS,
    .result = &known,
    .summary = "Get the claims of the caller's token" },
  { .method = "POST",
    .path = "/api/v2/tokens/application /api/v1/token/application",
    .handle = do_new_token,
    .right = PAI__OF_PERSONS,
    .fields = new_fields,
    .result = &new_token,
    .queries = queries,
    .summary = "Create a token for a program",
    .errors = "404 NoUserError, 500 UnknownError" },
  { .method = "DELETE",
    .path = "/api/v2/tokens/:token /api/v1/token/:token",
    .handle = do_revoke,
    .right = PAI__OF_PERSONS,
    .summary = "Revoke a token of the caller, by its text or id",
    .errors = "404 UnknownError, 500 UnknownError" },
};

const pai__routes pai__tokens_routes = { routes, PAI__LEN(routes) };
