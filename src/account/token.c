/* token.c - tokens: made, kept, verified, revoked */
#include "account/inside.h"

#include <stdio.h>

enum { MOST_TOKENS = 500 /* of a user's, of each kind */ };

static pai_time now(const pai_accounts *a)
{
  return a->host.now(a->host.ctx);
}

/* --- life ----------------------------------------------------------------------------- */

static int take_key(pai_accounts *a, bool make, pai_error **err)
{
  int rc = PAI_OK;

  if (!a->has_key)
    rc =
      pai__store_derive(a->host.store, a->key, "openpai tokens 1", make, err);
  a->has_key = rc == PAI_OK;
  return rc;
}

int pai__find_key(pai_accounts *a, pai_error **err)
{
  return take_key(a, false, err);
}

/* A root has its first key with its first token. */
static int need_key(pai_accounts *a, pai_error **err)
{
  return take_key(a, true, err);
}

void pai__token_free(pai_accounts *a, pai__token *token)
{
  pai__token **at = &token->owner->tokens;

  while (*at != token)
    at = &(*at)->next;
  *at = token->next;
  (void)pai__map_remove(&a->tokens, token->uid, strlen(token->uid));
  pai__free(&a->alloc, token, sizeof(*token));
}

bool pai__token_is_over(const pai_accounts *a, const pai__token *token)
{
  return token->expires != 0 && token->expires <= now(a);
}

int pai__token_add(pai_accounts *a, const pai__token_row *row, pai_error **err)
{
  pai__account *owner = pai__find_account(a, row->user);
  pai__token **at, *token;

  if (owner == NULL || strlen(row->uid) >= sizeof(token->uid))
    return PAI_OK; /* nobody's */
  token = pai__zalloc(&a->alloc, sizeof(*token));
  if (token == NULL ||
      pai__map_set(&a->tokens, row->uid, strlen(row->uid), token) < 0) {
    pai__free(&a->alloc, token, sizeof(*token));
    return pai__oom(err);
  }
  memcpy(token->uid, row->uid, strlen(row->uid));
  token->application = row->application;
  token->issued = row->issued;
  token->expires = row->expires;
  token->owner = owner;
  for (at = &owner->tokens; *at != NULL;)
    at = &(*at)->next;
  *at = token;
  return PAI_OK;
}

/* Those that are over, and the oldest of too many browsers'. */
static int make_room(pai__amend *e, const pai__account *account,
                     bool application, pai_error **err)
{
  size_t n = 0;
  int rc = PAI_OK;

  for (pai__token *t = account->tokens; t != NULL; t = t->next)
    n += t->application == application && !pai__token_is_over(e->a, t);
  if (application && n >= MOST_TOKENS) {
    (void)pai__fail(err, PAI_ELIMIT, "%s has %d application tokens already.",
                    account->name, MOST_TOKENS);
    pai__error_help(err, "revoke those that are not used");
    return pai__as(err, PAI_ELIMIT, 400, "InvalidParametersError");
  }
  for (pai__token *t = account->tokens; t != NULL && rc == PAI_OK;
       t = t->next) {
    bool over = pai__token_is_over(e->a, t);
    if (over || (!t->application && !application && n >= MOST_TOKENS))
      rc = pai__amend_drop_token(e, t, err);
    n -= !over && t->application == application;
  }
  return rc;
}

int pai__token_new(pai__token **out, pai__amend *e, pai__account *account,
                   bool application, pai_error **err)
{
  pai_accounts *a = e->a;
  unsigned char uid[16];
  pai__token *token;
  int rc = need_key(a, err);

  *out = NULL;
  if (rc == PAI_OK)
    rc = make_room(e, account, application, err);
  if (rc < 0)
    return rc;
  token = pai__zalloc(&a->alloc, sizeof(*token));
  if (token == NULL)
    return pai__oom(err);
  randombytes_buf(uid, sizeof(uid));
  (void)sodium_bin2hex(token->uid, sizeof(token->uid), uid, sizeof(uid));
  token->owner = account;
  token->application = application;
  token->issued = now(a) / 1000000 * 1000000;
  token->expires = application ? 0 : token->issued + a->token_time;
  rc = pai__amend_token(e, token, err);
  if (rc == PAI_OK)
    *out = token;
  return rc;
}

/* Those that are over go when their user's are looked at. */
static int purge(pai_accounts *a, pai__account *account, pai_error **err)
{
  pai__amend e;
  int rc = PAI_OK;

  pai__amend_begin(&e, a);
  for (pai__token *t = account->tokens; t != NULL && rc == PAI_OK; t = t->next)
    if (pai__token_is_over(a, t))
      rc = pai__amend_drop_token(&e, t, err);
  return pai__amend_end(&e, rc);
}

/* --- looking at one ---------------------------------------------------------------------- */

/* PAI_TOKEN_*. */
static int look(pai__token **out, const pai_accounts *a, const char *text,
                size_t len)
{
  pai__claims claims;
  pai__token *token;

  *out = NULL;
  if (!pai__jwt_read(a, &claims, text, len))
    return PAI_TOKEN_FORGED;
  token = pai__map_get(&a->tokens, claims.uid, strlen(claims.uid));
  if (claims.expires != 0 && claims.expires <= now(a) / 1000000)
    return PAI_TOKEN_EXPIRED;
  if (token == NULL)
    return PAI_TOKEN_REVOKED;
  for (size_t i = 0; i < token->owner->user->groups.n; i++)
    if (pai__find_group(a, token->owner->user->groups.at[i]) == NULL)
      return PAI_TOKEN_NO_GROUP;
  *out = token;
  return PAI_TOKEN_GOOD;
}

static int tell(pai_identity *id, const pai_accounts *a, int why,
                const pai__token *token)
{
  pai_identity full = { .why = why };
  int rc;

  if (why == PAI_TOKEN_GOOD) {
    full.user = token->owner->name;
    full.admin = pai__user_is_admin(a, token->owner->user);
    full.application = token->application;
    full.issued = token->issued;
    full.expires = token->expires;
  }
  rc = PAI__FILL_VIEW(id, full, pai_identity, why);
  return rc < 0 || why == PAI_TOKEN_GOOD ? rc : PAI_EPERM;
}

int pai_accounts_verify(pai_identity *id, pai_accounts *a, const char *token,
                        size_t len)
{
  pai__token *found = NULL;
  int why;

  PAI__CHECK_ARG(id != NULL && a != NULL && token != NULL);
  why = look(&found, a, token, len);
  return tell(id, a, why, found);
}

/* "user:token" in base64. */
static int look_basic(pai__token **out, const pai_accounts *a,
                      const char *text)
{
  char plain[PAI__TOKEN_TEXT + 160];
  const char *colon;
  size_t len, user;
  int why;

  *out = NULL;
  if (sodium_base642bin((unsigned char *)plain, sizeof(plain) - 1, text,
                        strlen(text), NULL, &len, NULL,
                        sodium_base64_VARIANT_ORIGINAL) != 0)
    return PAI_TOKEN_FORGED;
  plain[len] = '\0';
  colon = memchr(plain, ':', len);
  if (colon == NULL)
    return PAI_TOKEN_FORGED;
  user = (size_t)(colon - plain);
  why = look(out, a, colon + 1, len - user - 1);
  if (why == PAI_TOKEN_GOOD &&
      (!(*out)->application || strlen((*out)->owner->name) != user ||
       memcmp((*out)->owner->name, plain, user) != 0))
    why = PAI_TOKEN_NOT_BASIC;
  sodium_memzero(plain, sizeof(plain));
  return why;
}

/* What stands behind a scheme, in any case, and spaces; or NULL. */
static const char *behind(const char *header, const char *scheme)
{
  for (; *scheme != '\0'; scheme++, header++)
    if ((*header | 0x20) != *scheme)
      return NULL;
  if (*header != ' ')
    return NULL;
  while (*header == ' ')
    header++;
  return header;
}

int pai_accounts_authorize(pai_identity *id, pai_accounts *a,
                           const char *header)
{
  pai__token *found = NULL;
  const char *text;
  int why = PAI_TOKEN_FORGED;

  PAI__CHECK_ARG(id != NULL && a != NULL);
  if (header == NULL)
    why = PAI_TOKEN_NONE;
  else if ((text = behind(header, "bearer")) != NULL)
    why = look(&found, a, text, strlen(text));
  else if ((text = behind(header, "basic")) != NULL)
    why = look_basic(&found, a, text);
  return tell(id, a, why, found);
}

/* --- the calls ----------------------------------------------------------------------------- */

int pai_accounts_new_token(pai_accounts *a, const char *user, int application,
                           pai_write_cb write, void *user_data,
                           pai_error **err)
{
  pai__account *account;
  char text[PAI__TOKEN_TEXT];
  pai__token *token;
  pai__amend e;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(a != NULL && user != NULL && write != NULL, err);
  account = pai__find_account(a, user);
  if (account == NULL)
    return pai__no_user(err, 404, user);
  pai__amend_begin(&e, a);
  rc = pai__amend_end(
    &e, pai__token_new(&token, &e, account, application != 0, err));
  if (rc < 0)
    return rc;
  pai__jwt_write(a, token, text);
  rc = write(user_data, text, strlen(text));
  sodium_memzero(text, sizeof(text));
  return rc;
}

int pai_accounts_write_tokens(pai_accounts *a, const char *user,
                              pai_write_cb write, void *user_data,
                              pai_error **err)
{
  pai__account *account;
  char text[PAI__TOKEN_TEXT];
  pai__wire o;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(a != NULL && user != NULL && write != NULL, err);
  account = pai__find_account(a, user);
  if (account == NULL)
    return pai__no_user(err, 404, user);
  rc = purge(a, account, err);
  if (rc == PAI_OK)
    rc = need_key(a, err);
  if (rc < 0)
    return rc;
  pai__wire_begin(&o, a, write, user_data);
  pai__json_begin_object(&o.w);
  pai__wire_key(&o.w, "tokens");
  pai__json_begin_array(&o.w);
  for (const pai__token *t = account->tokens; t != NULL; t = t->next) {
    pai__jwt_write(a, t, text);
    pai__json_text(&o.w, text, strlen(text));
  }
  pai__json_end_array(&o.w);
  pai__json_end_object(&o.w);
  sodium_memzero(text, sizeof(text));
  return pai__wire_end(&o, PAI_OK, err);
}

static int not_ours(pai_error **err)
{
  (void)pai__fail(err, PAI_EPERM, "Your token is invalid.");
  return pai__as(err, PAI_EPERM, 401, "UnauthorizedUserError");
}

int pai_accounts_write_token(pai_accounts *a, const char *token,
                             pai_write_cb write, void *user_data,
                             pai_error **err)
{
  pai__token *found;
  pai__wire o;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(a != NULL && token != NULL && write != NULL, err);
  if (look(&found, a, token, strlen(token)) != PAI_TOKEN_GOOD)
    return not_ours(err);
  pai__wire_begin(&o, a, write, user_data);
  pai__json_begin_object(&o.w);
  pai__wire_text(&o.w, "username", found->owner->name);
  pai__wire_bool(&o.w, "application", found->application);
  pai__wire_bool(&o.w, "jobSpecific", false);
  pai__wire_text(&o.w, "encodedFrameworkName", "");
  pai__wire_key(&o.w, "iat");
  pai__json_int(&o.w, found->issued / 1000000);
  if (found->expires != 0) {
    pai__wire_key(&o.w, "exp");
    pai__json_int(&o.w, found->expires / 1000000);
  }
  pai__wire_bool(&o.w, "admin", pai__user_is_admin(a, found->owner->user));
  pai__json_end_object(&o.w);
  return pai__wire_end(&o, PAI_OK, err);
}

int pai_accounts_revoke(pai_accounts *a, const char *user, const char *token,
                        pai_error **err)
{
  pai__claims claims;
  pai__token *found;
  pai__amend e;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(a != NULL && token != NULL, err);
  if (!pai__jwt_read(a, &claims, token, strlen(token)) ||
      (claims.expires != 0 && claims.expires <= now(a) / 1000000)) {
    (void)pai__fail(err, PAI_EINVAL, "Your token is invalid.");
    return pai__as(err, PAI_EINVAL, 500, "UnknownError");
  }
  if (user != NULL && strcmp(user, claims.user) != 0) {
    (void)pai__fail(err, PAI_EPERM,
                    "The token is another user's: only that user can revoke "
                    "it.");
    return pai__as(err, PAI_EPERM, 403, "ForbiddenUserError");
  }
  found = pai__map_get(&a->tokens, claims.uid, strlen(claims.uid));
  if (found == NULL)
    return PAI_OK;
  pai__amend_begin(&e, a);
  return pai__amend_end(&e, pai__amend_drop_token(&e, found, err));
}
