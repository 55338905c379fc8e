/* token.c - making, storing and verifying tokens */
#include "account/inside.h"

enum { MOST_TOKENS = 500 /* of each kind, for one user */ };

#define MINUTE INT64_C(60000000)

static pai_time now(const pai_accounts *a)
{
  return a->host.now(a->host.ctx);
}

/* --- life ---------------------------------------------------------------- */

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

/* The key is made with the first token. */
int pai__need_key(pai_accounts *a, pai_error **err)
{
  return take_key(a, true, err);
}

void pai__token_dispose(pai_accounts *a, pai__token *token)
{
  if (token == NULL)
    return;
  pai__strfree(&a->alloc, token->name);
  pai__free(&a->alloc, token, sizeof(*token));
}

pai__token_row pai__token_row_of(const pai__token *token)
{
  return (pai__token_row){ .uid = token->uid,
                           .user = token->owner->name,
                           .application = token->application,
                           .issued = token->issued,
                           .expires = token->expires,
                           .name = token->name,
                           .scopes = token->scopes,
                           .used = token->used };
}

int pai__token_put(const pai_accounts *a, const pai__token *token)
{
  pai__token_row row = pai__token_row_of(token);

  return pai__batch_put_token(a->host.batch(a->host.ctx), &row);
}

void pai__token_free(pai_accounts *a, pai__token *token)
{
  pai__token **at = &token->owner->tokens;

  while (*at != token)
    at = &(*at)->next;
  *at = token->next;
  (void)pai__map_remove(&a->tokens, token->uid, strlen(token->uid));
  pai__token_dispose(a, token);
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
    return PAI_OK; /* no owner */
  token = pai__zalloc(&a->alloc, sizeof(*token));
  if (token == NULL || pai__set_text(&a->alloc, &token->name, row->name) < 0 ||
      pai__map_set(&a->tokens, row->uid, strlen(row->uid), token) < 0) {
    pai__token_dispose(a, token);
    return pai__oom(err);
  }
  memcpy(token->uid, row->uid, strlen(row->uid));
  token->application = row->application;
  token->issued = row->issued;
  token->expires = row->expires;
  token->scopes = row->scopes != 0 ? row->scopes : PAI_SCOPE_ALL;
  token->used = row->used;
  token->owner = owner;
  for (at = &owner->tokens; *at != NULL;)
    at = &(*at)->next;
  *at = token;
  return PAI_OK;
}

/* Drops expired tokens, and the oldest browser tokens if there are too many;
 * refuses too many application tokens. */
static int make_room(pai__account_update *e, const pai__account *account,
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
      rc = pai__account_update_drop_token(e, t, err);
    n -= !over && t->application == application;
  }
  return rc;
}

int pai__token_new(pai__token **out, pai__account_update *e,
                   pai__account *account, const pai_token_request *request,
                   pai_error **err)
{
  bool application = request != NULL && request->application != 0;
  pai_accounts *a = e->a;
  unsigned char uid[16];
  pai__token *token;
  int rc = pai__need_key(a, err);

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
  token->scopes = PAI_SCOPE_ALL;
  token->expires = token->issued + a->token_time;
  if (application) {
    if (request->scopes != 0)
      token->scopes = request->scopes;
    token->expires =
      request->lifetime != 0 ? token->issued + request->lifetime : 0;
    if (pai__set_text(&a->alloc, &token->name, request->name) < 0) {
      pai__token_dispose(a, token);
      return pai__oom(err);
    }
  }
  rc = pai__account_update_token(e, token, err);
  if (rc == PAI_OK)
    *out = token;
  return rc;
}

/* Expired tokens are removed when the tokens of their user are listed. */
int pai__token_purge(pai_accounts *a, pai__account *account, pai_error **err)
{
  pai__account_update e;
  int rc = PAI_OK;

  pai__account_update_begin(&e, a);
  e.quiet = true;
  for (pai__token *t = account->tokens; t != NULL && rc == PAI_OK; t = t->next)
    if (pai__token_is_over(a, t))
      rc = pai__account_update_drop_token(&e, t, err);
  return pai__account_update_end(&e, rc, err);
}

/* --- verification -------------------------------------------------------- */

int pai__token_look(pai__token **out, const pai_accounts *a, const char *text,
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

/* Notes the time of last use, to the minute; if out of memory, at the next
 * use. */
static void use(pai_accounts *a, pai__token *token)
{
  pai_time before = token->used, at = now(a);

  if (before != 0 && at - before < MINUTE && before - at < MINUTE)
    return;
  token->used = at;
  if (pai__token_put(a, token) < 0)
    token->used = before;
  else
    a->host.changed(a->host.ctx, false, false);
}

static int tell(pai_identity *id, pai_accounts *a, int why, pai__token *token)
{
  pai_identity full = { .why = why };
  int rc;

  if (why == PAI_TOKEN_GOOD) {
    full.user = token->owner->name;
    full.admin = pai__user_is_admin(a, token->owner->user);
    full.application = token->application;
    full.issued = token->issued;
    full.expires = token->expires;
    full.scopes = token->scopes;
    full.name = token->name;
    full.id = token->uid;
    use(a, token);
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
  PAI__CHECK_PROCESS(a, NULL);
  why = pai__token_look(&found, a, token, len);
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
  why = pai__token_look(out, a, colon + 1, len - user - 1);
  if (why == PAI_TOKEN_GOOD &&
      (!(*out)->application || strlen((*out)->owner->name) != user ||
       memcmp((*out)->owner->name, plain, user) != 0))
    why = PAI_TOKEN_NOT_BASIC;
  sodium_memzero(plain, sizeof(plain));
  return why;
}

/* Returns what follows a scheme, in any case, and spaces; or NULL. */
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
  PAI__CHECK_PROCESS(a, NULL);
  if (header == NULL)
    why = PAI_TOKEN_NONE;
  else if ((text = behind(header, "bearer")) != NULL)
    why = pai__token_look(&found, a, text, strlen(text));
  else if ((text = behind(header, "basic")) != NULL)
    why = look_basic(&found, a, text);
  return tell(id, a, why, found);
}
