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

static void do_new_token(pai__request *r)
{
  const char *user = find_user(r);
  pai__json_writer *w = &r->json;
  pai_error *err = NULL;
  pai__buf token;
  int rc;

  if (user == NULL)
    return;
  pai__buf_init(&token, &r->server->alloc);
  rc = pai_accounts_new_token(r->server->accounts, user, 1, pai__answer_write,
                              &token, &err);
  if (rc < 0) {
    pai__answer_failure(r, rc, err);
  } else {
    pai__accounts_complete(r->server, user);
    pai__json_writer_init(w, &r->answer, false);
    pai__json_begin_object(w);
    pai__json_key(w, "token", 5);
    pai__json_text(w, pai__buf_text(&token), token.len);
    pai__json_key(w, "application", 11);
    pai__json_bool(w, true);
    pai__json_end_object(w);
    pai__answer_json(r, 200);
    pai__answer_when_safe(r);
  }
  pai__buf_dispose(&token);
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

static const pai__field tokens_fields[] = { PAI__HAS(TEXTS, "tokens"), { 0 } };

static const pai__shape tokens_shape = { "Tokens", tokens_fields };

static const pai__result tokens = { .kind = PAI__IS_OBJECT,
                                    .shape = &tokens_shape };

static const pai__field made_fields[] = { PAI__HAS(TEXT, "token"),
                                          PAI__HAS(FLAG, "application"),
                                          { 0 } };

static const pai__shape made_shape = { "ApplicationToken", made_fields };

static const pai__result made = { .kind = PAI__IS_OBJECT,
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

/* --- queries --- */

static const pai__field queries[] = {
  PAI__TAKES(TEXT, "username",
             "whose, where the platform's own user asks at its socket"),
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
    .summary = "The caller's tokens",
    .errors = "404 NoUserError" },
  { .method = "GET",
    .path = "/api/v2/tokens/check /api/v1/token/check",
    .handle = do_check_token,
    .right = PAI__OF_USERS,
    .result = &known,
    .summary = "What the caller's token says" },
  { .method = "POST",
    .path = "/api/v2/tokens/application /api/v1/token/application",
    .handle = do_new_token,
    .right = PAI__OF_PERSONS,
    .result = &made,
    .queries = queries,
    .summary = "Make a token for a program, good until it is revoked",
    .errors = "404 NoUserError, 500 UnknownError" },
  { .method = "DELETE",
    .path = "/api/v2/tokens/:token /api/v1/token/:token",
    .handle = do_revoke,
    .right = PAI__OF_PERSONS,
    .summary = "Revoke a token of the caller's",
    .errors = "500 UnknownError" },
};

const pai__routes pai__tokens_routes = { routes, PAI__LEN(routes) };
