/* token_calls.c - calls that make, list and revoke tokens */
#include "account/inside.h"

enum { LONGEST_NAME = 64 };

/* A name is one line that a terminal can print. */
static int check_request(const pai_token_request *r, pai_error **err)
{
  const size_t len = r->name != NULL ? strlen(r->name) : 0;

  if (len > LONGEST_NAME)
    return pai__invalid(err, "\"name\" must have at most %d bytes",
                        LONGEST_NAME);
  for (size_t i = 0; i < len; i++)
    if ((unsigned char)r->name[i] < ' ' || r->name[i] == 0x7f)
      return pai__invalid(err, "\"name\" must have no control characters");
  if ((r->scopes & ~(unsigned)(PAI_SCOPE_ALL | PAI_SCOPE_ALERTS)) != 0)
    return pai__invalid(
      err, "\"scopes\" must be of read, submit, admin and alerts");
  if (r->lifetime < 0 || r->lifetime > INT64_MAX / 4)
    return pai__invalid(err, "\"expiration\" is out of range");
  return PAI_OK;
}

static int make(pai__token **out, pai_accounts *a, const char *user,
                const pai_token_request *request, pai_error **err)
{
  pai__account *account = pai__find_account(a, user);
  pai__account_update e;

  if (account == NULL)
    return pai__no_user(err, 404, user);
  pai__account_update_begin(&e, a);
  return pai__account_update_end(
    &e, pai__token_new(out, &e, account, request, err), err);
}

int pai_accounts_new_token(pai_accounts *a, const char *user, int application,
                           pai_write_cb write, void *user_data,
                           pai_error **err)
{
  pai_token_request request = PAI_TOKEN_REQUEST_INIT;
  char text[PAI__TOKEN_TEXT];
  pai__token *token;
  int rc;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(user != NULL && write != NULL, err);
  request.application = application;
  rc = make(&token, a, user, &request, err);
  if (rc < 0)
    return rc;
  pai__jwt_write(a, token, text);
  rc = write(user_data, text, strlen(text));
  sodium_memzero(text, sizeof(text));
  return rc;
}

/* --- output -------------------------------------------------------------- */

/* By bit, from the lowest. */
static const char *const scope_names[] = { "read", "submit", "admin",
                                           "alerts" };

unsigned pai_scope_of(const char *name)
{
  for (size_t i = 0; name != NULL && i < PAI__LEN(scope_names); i++)
    if (strcmp(name, scope_names[i]) == 0)
      return 1u << i;
  return 0;
}

static int write_scopes(void *user_data, unsigned field, const void *of)
{
  const pai__token_row *row = of;
  pai__json_writer *w = user_data;

  (void)field; /* PAI__TokenKind_scopes */
  pai__json_begin_array(w);
  for (size_t i = 0; i < PAI__LEN(scope_names); i++)
    if ((row->scopes >> i & 1) != 0)
      pai__json_string(w, scope_names[i]);
  pai__json_end_array(w);
  return PAI_OK;
}

int pai_accounts_make_token(pai_accounts *a, const char *user,
                            const pai_token_request *request,
                            pai_write_cb write, void *user_data,
                            pai_error **err)
{
  static const pai_token_request usual = PAI_TOKEN_REQUEST_INIT;
  char text[PAI__TOKEN_TEXT];
  pai_token_request r;
  pai__token_row row;
  pai__token *token;
  pai__wire o;
  int rc;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(user != NULL && write != NULL, err);
  rc = PAI__COPY_IN(&r, request != NULL ? request : &usual, pai_token_request,
                    lifetime);
  if (rc < 0)
    return pai__fail_struct(err, rc, request != NULL ? request : &usual,
                            "pai_token_request");
  rc = check_request(&r, err);
  if (rc == PAI_OK)
    rc = make(&token, a, user, &r, err);
  if (rc < 0)
    return rc;
  pai__wire_begin(&o, &a->alloc, write, user_data);
  pai__jwt_write(a, token, text);
  pai__json_begin_object(&o.w);
  pai__json_put_text(&o.w, "token", text);
  row = pai__token_row_of(token);
  (void)pai__api_write(&o.w, &pai__api_TokenKind, &row, write_scopes, &o.w);
  (void)pai__api_write(&o.w, &pai__api_TokenExpiry, &row, NULL, NULL);
  pai__json_end_object(&o.w);
  sodium_memzero(text, sizeof(text));
  return pai__wire_end(&o, PAI_OK, err);
}

static void write_texts(pai__json_writer *w, const pai_accounts *a,
                        const pai__account *account)
{
  char text[PAI__TOKEN_TEXT];

  pai__json_put_array(w, "tokens");
  for (const pai__token *t = account->tokens; t != NULL; t = t->next) {
    pai__jwt_write(a, t, text);
    if (!a->reveals)
      pai__jwt_strip(text);
    pai__json_string(w, text);
  }
  pai__json_end_array(w);
  sodium_memzero(text, sizeof(text));
}

static void write_details(pai__json_writer *w, const pai__account *account)
{
  pai__json_put_array(w, "details");
  for (const pai__token *t = account->tokens; t != NULL; t = t->next) {
    const pai__token_row row = pai__token_row_of(t);
    (void)pai__api_object(w, &pai__api_TokenDetail, &row, write_scopes, w);
  }
  pai__json_end_array(w);
}

int pai_accounts_write_tokens(pai_accounts *a, const char *user,
                              pai_write_cb write, void *user_data,
                              pai_error **err)
{
  pai__account *account;
  pai__wire o;
  int rc;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(user != NULL && write != NULL, err);
  account = pai__find_account(a, user);
  if (account == NULL)
    return pai__no_user(err, 404, user);
  rc = pai__token_purge(a, account, err);
  if (rc == PAI_OK)
    rc = pai__need_key(a, err);
  if (rc < 0)
    return rc;
  pai__wire_begin(&o, &a->alloc, write, user_data);
  pai__json_begin_object(&o.w);
  write_texts(&o.w, a, account);
  write_details(&o.w, account);
  pai__json_end_object(&o.w);
  return pai__wire_end(&o, PAI_OK, err);
}

/* --- single tokens ------------------------------------------------------- */

static int not_ours(pai_error **err)
{
  (void)pai__fail(err, PAI_EPERM, "Your token is invalid.");
  return pai__as(err, PAI_EPERM, 401, "UnauthorizedUserError");
}

int pai_accounts_write_token(pai_accounts *a, const char *token,
                             pai_write_cb write, void *user_data,
                             pai_error **err)
{
  pai__token_info_row row;
  pai__token *found;
  pai__wire o;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(token != NULL && write != NULL, err);
  if (pai__token_look(&found, a, token, strlen(token)) != PAI_TOKEN_GOOD)
    return not_ours(err);
  row = (pai__token_info_row){
    .user = found->owner->name,
    .application = found->application,
    .job = "",
    .issued = { true, found->issued / 1000000 },
    .expires = { found->expires != 0, found->expires / 1000000 },
    .admin = pai__user_is_admin(a, found->owner->user)
  };
  pai__wire_begin(&o, &a->alloc, write, user_data);
  (void)pai__api_object(&o.w, &pai__api_TokenInfo, &row, NULL, NULL);
  return pai__wire_end(&o, PAI_OK, err);
}

static bool is_id(const char *token)
{
  return strspn(token, "0123456789abcdef") == 32 && token[32] == '\0';
}

/* Finds a token by what lists show of it.  That is no secret, so for tokens of
 * other users the error is the same as for unknown ones. */
static int find_shown(pai__token **out, const pai_accounts *a,
                      const char *user, const char *token, pai_error **err)
{
  size_t len = strlen(token);
  pai__claims claims = { .uid = "" };
  pai__token *found = NULL;

  if (is_id(token))
    memcpy(claims.uid, token, len + 1);
  else
    /* on failure the uid stays empty */
    (void)pai__jwt_peek(&claims, token, len);
  found = pai__map_get(&a->tokens, claims.uid, strlen(claims.uid));
  if (found != NULL &&
      (user == NULL || strcmp(user, found->owner->name) == 0)) {
    *out = found;
    return PAI_OK;
  }
  (void)pai__fail(err, PAI_ENOTFOUND, "There is no such token.");
  return pai__as(err, PAI_ENOTFOUND, 404, "UnknownError");
}

static int find_whole(pai__token **out, const pai_accounts *a,
                      const char *user, const char *token, pai_error **err)
{
  pai__claims claims;

  if (!pai__jwt_read(a, &claims, token, strlen(token)) ||
      (claims.expires != 0 &&
       claims.expires <= a->host.now(a->host.ctx) / 1000000)) {
    (void)pai__fail(err, PAI_EINVAL, "Your token is invalid.");
    return pai__as(err, PAI_EINVAL, 500, "UnknownError");
  }
  if (user != NULL && strcmp(user, claims.user) != 0) {
    (void)pai__fail(err, PAI_EPERM,
                    "The token is another user's: only that user can revoke "
                    "it.");
    return pai__as(err, PAI_EPERM, 403, "ForbiddenUserError");
  }
  *out = pai__map_get(&a->tokens, claims.uid, strlen(claims.uid));
  return PAI_OK;
}

int pai_accounts_revoke(pai_accounts *a, const char *user, const char *token,
                        pai_error **err)
{
  pai__token *found = NULL;
  pai__account_update e;
  size_t len;
  int rc;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(token != NULL, err);
  len = strlen(token);
  rc = is_id(token) || (len > 0 && token[len - 1] == '.')
         ? find_shown(&found, a, user, token, err)
         : find_whole(&found, a, user, token, err);
  if (rc < 0 || found == NULL)
    return rc;
  pai__account_update_begin(&e, a);
  return pai__account_update_end(
    &e, pai__account_update_drop_token(&e, found, err), err);
}
