/* Tokens: whose they are, and whose they are not. */
#include "host.h"

#include <stdio.h>

#define SECOND INT64_C(1000000)
#define DAY (24 * 3600 * SECOND)

static void open_with_ada(host *h)
{
  host_open(h);
  set_up(h);
  add_user(h, "ada");
}

/* --- what is said in one ------------------------------------------------------------ */

static void a_token_says_whose_it_is(void **state)
{
  static host h;
  char token[PAI__TOKEN_TEXT], plain[512];
  pai_identity id = PAI_IDENTITY_INIT;
  const char *body, *end;
  size_t len;

  (void)state;
  open_with_ada(&h);
  h.now += 123456; /* whole seconds are told */
  new_token(&h, token, "ada", 0);
  assert_int_equal(pai_accounts_verify(&id, h.a, token, strlen(token)),
                   PAI_OK);
  assert_string_equal(id.user, "ada");
  assert_int_equal(id.admin, 0);
  assert_int_equal(id.application, 0);
  assert_int_equal(id.issued, INT64_C(1700000000) * SECOND);
  assert_int_equal(id.expires, id.issued + 7 * DAY);
  body = strchr(token, '.') + 1;
  end = strchr(body, '.');
  assert_int_equal(sodium_base642bin((unsigned char *)plain, sizeof(plain) - 1,
                                     body, (size_t)(end - body), NULL, &len,
                                     NULL,
                                     sodium_base64_VARIANT_URLSAFE_NO_PADDING),
                   0);
  plain[len] = '\0';
  assert_ptr_equal(
    strstr(plain, "{\"username\":\"ada\",\"application\":false,"
                  "\"jobSpecific\":false,\"encodedFrameworkName\":\"\","
                  "\"iat\":1700000000,\"exp\":1700604800,\"jti\":\""),
    plain);
  host_begin(&h);
  assert_int_equal(pai_accounts_write_token(h.a, token, host_write, &h, NULL),
                   PAI_OK);
  assert_string_equal(
    h.text, "{\"username\":\"ada\",\"application\":false,\"jobSpecific\":"
            "false,\"encodedFrameworkName\":\"\",\"iat\":1700000000,\"exp\":"
            "1700604800,\"admin\":false}");
  new_token(&h, token, "admin", 1);
  assert_int_equal(pai_accounts_verify(&id, h.a, token, strlen(token)),
                   PAI_OK);
  assert_int_equal(id.admin, 1);
  assert_int_equal(id.application, 1);
  assert_int_equal(id.expires, 0);
  host_close(&h);
}

/* No byte of it may be another. */
static void a_changed_token_is_forged(void **state)
{
  static host h;
  char token[PAI__TOKEN_TEXT], changed[PAI__TOKEN_TEXT + 2];
  size_t len;

  (void)state;
  open_with_ada(&h);
  new_token(&h, token, "ada", 0);
  len = strlen(token);
  for (size_t i = 0; i < len; i++)
    for (int bit = 0; bit < 8; bit++) {
      memcpy(changed, token, len + 1);
      changed[i] = (char)(changed[i] ^ (1 << bit));
      if (pai_accounts_verify(&(pai_identity)PAI_IDENTITY_INIT, h.a, changed,
                              len) != PAI_EPERM)
        fail_msg("byte %zu, bit %d", i, bit);
    }
  for (size_t i = 0; i < len; i++) {
    memcpy(changed, token, i);
    changed[i] = '\0';
    assert_int_equal(why(&h, changed), PAI_TOKEN_FORGED);
  }
  memcpy(changed, token, len);
  changed[len] = 'A';
  changed[len + 1] = '\0';
  assert_int_equal(why(&h, changed), PAI_TOKEN_FORGED);
  assert_int_equal(why(&h, token), PAI_TOKEN_GOOD);
  host_close(&h);
}

static void other_algorithms_are_none(void **state)
{
  static const char *const heads[] = { "{\"alg\":\"none\",\"typ\":\"JWT\"}",
                                       "{\"alg\":\"HS512\",\"typ\":\"JWT\"}",
                                       "{\"alg\":\"RS256\",\"typ\":\"JWT\"}",
                                       "{\"typ\":\"JWT\",\"alg\":\"HS256\"}",
                                       "{}" };
  static host h;
  char token[PAI__TOKEN_TEXT], made[2 * PAI__TOKEN_TEXT];
  unsigned char mac[32];
  const char *body, *end;

  (void)state;
  open_with_ada(&h);
  new_token(&h, token, "ada", 0);
  body = strchr(token, '.');
  end = strrchr(token, '.');
  for (size_t i = 0; i < PAI__LEN(heads); i++) {
    size_t n;
    (void)sodium_bin2base64(made, sizeof(made),
                            (const unsigned char *)heads[i], strlen(heads[i]),
                            sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    n = strlen(made);
    memcpy(made + n, body, (size_t)(end - body) + 1);
    n += (size_t)(end - body) + 1;
    made[n] = '\0'; /* without a signature, */
    assert_int_equal(why(&h, made), PAI_TOKEN_FORGED);
    (void)crypto_auth_hmacsha256(mac, (const unsigned char *)made, n - 1,
                                 h.a->key); /* and with a right one */
    (void)sodium_bin2base64(made + n, sizeof(made) - n, mac, sizeof(mac),
                            sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    assert_int_equal(why(&h, made), PAI_TOKEN_FORGED);
  }
  assert_int_equal(why(&h, ""), PAI_TOKEN_FORGED);
  assert_int_equal(why(&h, ".."), PAI_TOKEN_FORGED);
  memset(made, 'a', sizeof(made) - 1);
  made[sizeof(made) - 1] = '\0';
  assert_int_equal(why(&h, made), PAI_TOKEN_FORGED);
  host_close(&h);
}

/* --- how long they are good ----------------------------------------------------------- */

static size_t count_tokens(host *h, const char *user)
{
  size_t n = 0;

  host_begin(h);
  assert_int_equal(pai_accounts_write_tokens(h->a, user, host_write, h, NULL),
                   PAI_OK);
  for (const char *s = h->text; (s = strstr(s, "\"eyJ")) != NULL; s++)
    n++;
  return n;
}

static void tokens_expire_and_go(void **state)
{
  static host h;
  pai_accounts_options o = PAI_ACCOUNTS_OPTIONS_INIT;
  char week[PAI__TOKEN_TEXT], hour[PAI__TOKEN_TEXT], app[PAI__TOKEN_TEXT];
  pai_error *err;

  (void)state;
  open_with_ada(&h);
  new_token(&h, week, "ada", 0);
  new_token(&h, app, "ada", 1);
  o.token_time = 3600 * SECOND;
  o.hash_kib = 8;
  o.hash_passes = 1;
  assert_int_equal(pai_accounts_configure(h.a, &o, NULL), PAI_OK);
  new_token(&h, hour, "ada", 0);
  assert_int_equal(count_tokens(&h, "ada"), 3);
  assert_null(strstr(h.text, week)); /* they are shown once */
  assert_null(strstr(h.text, app));
  o.reveal_tokens = 1;
  assert_int_equal(pai_accounts_configure(h.a, &o, NULL), PAI_OK);
  assert_int_equal(count_tokens(&h, "ada"), 3);
  assert_non_null(strstr(h.text, week));
  assert_non_null(strstr(h.text, app));
  h.now += 3600 * SECOND - 1;
  assert_int_equal(why(&h, hour), PAI_TOKEN_GOOD);
  h.now += 1;
  assert_int_equal(why(&h, hour), PAI_TOKEN_EXPIRED);
  assert_int_equal(h.a->tokens.live, 3);
  assert_int_equal(count_tokens(&h, "ada"), 2);
  assert_int_equal(h.a->tokens.live, 2);
  assert_int_equal(why(&h, hour), PAI_TOKEN_EXPIRED);
  expect(&h, host_take(&h, pai_accounts_revoke(h.a, "ada", hour, &err), &err),
         PAI_EINVAL, "UnknownError", 500);
  expect(&h,
         host_take(&h,
                   pai_accounts_write_token(h.a, hour, host_write, &h, &err),
                   &err),
         PAI_EPERM, "UnauthorizedUserError", 401);
  assert_string_equal(h.message, "Your token is invalid.");
  host_reopen(&h);
  h.now += 7 * DAY;
  assert_int_equal(why(&h, week), PAI_TOKEN_EXPIRED);
  assert_int_equal(why(&h, app), PAI_TOKEN_GOOD);
  host_commit(&h);
  host_close(&h);
  assert_int_equal(bytes_in_folder(strrchr(app, '.'), 44), 0);
}

static void what_is_revoked_is_worth_nothing(void **state)
{
  static host h;
  char one[PAI__TOKEN_TEXT], two[PAI__TOKEN_TEXT], app[PAI__TOKEN_TEXT],
    other[PAI__TOKEN_TEXT];
  pai_error *err;

  (void)state;
  open_with_ada(&h);
  new_token(&h, one, "ada", 0);
  new_token(&h, two, "ada", 0);
  new_token(&h, app, "ada", 1);
  new_token(&h, other, "admin", 0);
  expect(&h, host_take(&h, pai_accounts_revoke(h.a, "ada", other, &err), &err),
         PAI_EPERM, "ForbiddenUserError", 403);
  expect(&h,
         host_take(&h, pai_accounts_revoke(h.a, "ada", "none", &err), &err),
         PAI_EINVAL, "UnknownError", 500);
  assert_int_equal(why(&h, other), PAI_TOKEN_GOOD);
  assert_int_equal(pai_accounts_revoke(h.a, "ada", one, &err), PAI_OK);
  assert_int_equal(why(&h, one), PAI_TOKEN_REVOKED);
  assert_int_equal(pai_accounts_revoke(h.a, "ada", one, &err), PAI_OK);
  assert_int_equal(pai_accounts_revoke(h.a, NULL, other, &err), PAI_OK);
  assert_int_equal(why(&h, other), PAI_TOKEN_REVOKED);
  host_reopen(&h);
  assert_int_equal(why(&h, one), PAI_TOKEN_REVOKED);
  assert_int_equal(why(&h, two), PAI_TOKEN_GOOD);
  /* A new password: browsers have to log in again, programs go on. */
  assert_int_equal(
    put_user(&h, 0, "{\"username\":\"ada\",\"password\":\"another-1\"}"),
    PAI_OK);
  assert_int_equal(why(&h, two), PAI_TOKEN_REVOKED);
  assert_int_equal(why(&h, app), PAI_TOKEN_GOOD);
  host_reopen(&h);
  assert_int_equal(why(&h, two), PAI_TOKEN_REVOKED);
  assert_int_equal(why(&h, app), PAI_TOKEN_GOOD);
  host_close(&h);
}

static void another_root_has_another_key(void **state)
{
  static host h;
  char token[PAI__TOKEN_TEXT];

  (void)state;
  open_with_ada(&h);
  new_token(&h, token, "ada", 1);
  h.a->key[7] ^= 1;
  assert_int_equal(why(&h, token), PAI_TOKEN_FORGED);
  host_close(&h);
}

/* Cannot be by what is here; who meddles with the database can. */
static void without_its_groups_a_user_is_nobody(void **state)
{
  static host h;
  char token[PAI__TOKEN_TEXT];

  (void)state;
  open_with_ada(&h);
  new_token(&h, token, "ada", 1);
  assert_int_equal(
    pai__strings_add(&h.alloc, &pai__find_account(h.a, "ada")->user->groups,
                     "gone"),
    PAI_OK);
  assert_int_equal(why(&h, token), PAI_TOKEN_NO_GROUP);
  host_close(&h);
}

/* --- headers ----------------------------------------------------------------------------- */

static int header(host *h, const char *fmt, const char *user,
                  const char *token)
{
  pai_identity id = PAI_IDENTITY_INIT;
  char plain[1024], text[2048];
  int rc;

  if (user != NULL) {
    (void)snprintf(plain, sizeof(plain), "%s:%s", user, token);
    (void)sodium_bin2base64(text, sizeof(text), (unsigned char *)plain,
                            strlen(plain), sodium_base64_VARIANT_ORIGINAL);
    token = text;
  }
  (void)snprintf(plain, sizeof(plain), fmt, token);
  rc = pai_accounts_authorize(&id, h->a, plain);
  assert_int_equal(rc, id.why == PAI_TOKEN_GOOD ? PAI_OK : PAI_EPERM);
  return id.why;
}

static void headers_bring_tokens(void **state)
{
  static host h;
  char browser[PAI__TOKEN_TEXT], app[PAI__TOKEN_TEXT];
  pai_identity id = PAI_IDENTITY_INIT;

  (void)state;
  open_with_ada(&h);
  new_token(&h, browser, "ada", 0);
  new_token(&h, app, "ada", 1);
  assert_int_equal(header(&h, "Bearer %s", NULL, browser), PAI_TOKEN_GOOD);
  assert_int_equal(header(&h, "bEARER  %s", NULL, app), PAI_TOKEN_GOOD);
  assert_int_equal(header(&h, "Basic %s", "ada", app), PAI_TOKEN_GOOD);
  assert_int_equal(header(&h, "Basic %s", "ada", browser),
                   PAI_TOKEN_NOT_BASIC);
  assert_int_equal(header(&h, "Basic %s", "admin", app), PAI_TOKEN_NOT_BASIC);
  assert_int_equal(header(&h, "Basic %s", "ad", app), PAI_TOKEN_NOT_BASIC);
  assert_int_equal(header(&h, "Basic %s", "ada", "ada-password"),
                   PAI_TOKEN_FORGED);
  assert_int_equal(header(&h, "Basic %s", NULL, "!!"), PAI_TOKEN_FORGED);
  assert_int_equal(header(&h, "Basic %s", NULL, "YWRh"), PAI_TOKEN_FORGED);
  assert_int_equal(header(&h, "Digest %s", NULL, app), PAI_TOKEN_FORGED);
  assert_int_equal(header(&h, "Bearer%s", NULL, app), PAI_TOKEN_FORGED);
  assert_int_equal(header(&h, "%s", NULL, ""), PAI_TOKEN_FORGED);
  assert_int_equal(pai_accounts_authorize(&id, h.a, NULL), PAI_EPERM);
  assert_int_equal(id.why, PAI_TOKEN_NONE);
  assert_int_equal(pai_accounts_authorize(NULL, h.a, "x"), PAI_EINVAL);
  id.struct_size = 3;
  assert_int_equal(pai_accounts_authorize(&id, h.a, "x"), PAI_EINVAL);
  host_close(&h);
}

/* --- how many there are ----------------------------------------------------------------------- */

static void there_are_not_too_many(void **state)
{
  static host h;
  char first[PAI__TOKEN_TEXT], token[PAI__TOKEN_TEXT];
  pai_error *err;

  (void)state;
  open_with_ada(&h);
  new_token(&h, first, "ada", 0);
  for (int i = 0; i < 499; i++)
    new_token(&h, token, "ada", 0);
  assert_int_equal(why(&h, first), PAI_TOKEN_GOOD);
  new_token(&h, token, "ada", 0); /* of browsers' the oldest goes */
  assert_int_equal(why(&h, first), PAI_TOKEN_REVOKED);
  assert_int_equal(h.a->tokens.live, 500);
  for (int i = 0; i < 500; i++)
    new_token(&h, first, "ada", 1);
  expect(&h,
         host_take(&h,
                   pai_accounts_new_token(h.a, "ada", 1, host_write, &h, &err),
                   &err),
         PAI_ELIMIT, "InvalidParametersError", 400);
  assert_int_equal(why(&h, first), PAI_TOKEN_GOOD);
  expect(&h,
         host_take(&h,
                   pai_accounts_new_token(h.a, "bob", 1, host_write, &h, &err),
                   &err),
         PAI_ENOTFOUND, "NoUserError", 404);
  host_close(&h);
}

/* --- notes --------------------------------------------------------------------------------------- */

static const char *notes(host *h, pai_audit_query q)
{
  pai_error *err;

  q.struct_size = sizeof(q);
  host_begin(h);
  (void)host_take(h, pai_accounts_write_audit(h->a, &q, host_write, h, &err),
                  &err);
  return h->text;
}

static void what_was_done_is_noted(void **state)
{
  static host h;
  char what[40];

  (void)state;
  host_open(&h);
  for (int i = 1; i <= 4; i++) {
    (void)snprintf(what, sizeof(what), "PUT /api/v2/users/%d", i);
    assert_int_equal(pai_accounts_note(h.a, i % 2 == 0 ? "ada" : NULL,
                                       i == 1 ? "::1" : NULL, what, 200 + i),
                     PAI_OK);
    h.now += SECOND;
  }
  assert_string_equal(notes(&h, (pai_audit_query){ 0 }), "[]");
  host_commit(&h);
  (void)notes(&h, (pai_audit_query){ .limit = 2 });
  assert_string_equal(
    h.text, "[{\"id\":4,\"time\":1700000003000,\"user\":\"ada\",\"from\":null,"
            "\"what\":\"PUT /api/v2/users/4\",\"status\":204},"
            "{\"id\":3,\"time\":1700000002000,\"user\":null,\"from\":null,"
            "\"what\":\"PUT /api/v2/users/3\",\"status\":203}]");
  (void)notes(&h, (pai_audit_query){ .user = "ada", .before = 4 });
  assert_non_null(strstr(h.text, "[{\"id\":2,"));
  assert_null(strstr(h.text, "},{"));
  (void)notes(&h, (pai_audit_query){ .until = h.now - 3 * SECOND });
  assert_string_equal(
    h.text, "[{\"id\":1,\"time\":1700000000000,\"user\":null,\"from\":\"::1\","
            "\"what\":\"PUT /api/v2/users/1\",\"status\":201}]");
  (void)notes(&h, (pai_audit_query){ .since = h.now - SECOND });
  assert_non_null(strstr(h.text, "[{\"id\":4,"));
  assert_null(strstr(h.text, "},{"));
  (void)notes(&h, (pai_audit_query){ .limit = 1001 });
  expect(&h, PAI_EINVAL, PAI_EINVAL, "InvalidParametersError", 400);
  (void)notes(&h, (pai_audit_query){ .since = -1 });
  expect(&h, PAI_EINVAL, PAI_EINVAL, "InvalidParametersError", 400);
  host_close(&h);
}

static const char *make_token(host *h, const pai_token_request *request)
{
  pai_error *err;

  host_begin(h);
  (void)host_take(
    h, pai_accounts_make_token(h->a, "ada", request, host_write, h, &err),
    &err);
  return h->text;
}

static void tokens_have_a_name_and_scopes(void **state)
{
  pai_token_request request = PAI_TOKEN_REQUEST_INIT;
  pai_identity id = PAI_IDENTITY_INIT;
  char token[PAI__TOKEN_TEXT] = "", uid[33] = "", shown[PAI__TOKEN_TEXT];
  static host h;

  (void)state;
  open_with_ada(&h);
  request.name = "night build";
  request.scopes = PAI_SCOPE_READ | PAI_SCOPE_SUBMIT;
  request.lifetime = DAY;
  assert_int_equal(sscanf(make_token(&h, &request),
                          "{\"token\":\"%639[^\"]\",\"id\":\"%32[^\"]", token,
                          uid),
                   2);
  assert_non_null(strstr(h.text,
                         "\"name\":\"night build\",\"application\":true,"
                         "\"scopes\":[\"read\",\"submit\"],"
                         "\"expires\":1700086400000}"));
  assert_int_equal(count_tokens(&h, "ada"), 1);
  assert_non_null(strstr(h.text, "\"lastUsed\":null}]}"));
  assert_int_equal(pai_accounts_verify(&id, h.a, token, strlen(token)),
                   PAI_OK);
  assert_int_equal(id.scopes, PAI_SCOPE_READ | PAI_SCOPE_SUBMIT);
  assert_string_equal(id.name, "night build");
  assert_string_equal(id.id, uid);
  h.now += 59 * SECOND;
  assert_int_equal(why(&h, token), PAI_TOKEN_GOOD);
  host_reopen(&h); /* all of it is kept; of its use the minute */
  assert_int_equal(count_tokens(&h, "ada"), 1);
  assert_non_null(strstr(h.text, "\"name\":\"night build\""));
  assert_non_null(strstr(h.text, "\"lastUsed\":1700000000000}]}"));
  assert_int_equal(sscanf(h.text, "{\"tokens\":[\"%639[^\"]", shown), 1);
  assert_int_equal(why(&h, shown), PAI_TOKEN_FORGED);
  h.now += 60 * SECOND;
  assert_int_equal(why(&h, token), PAI_TOKEN_GOOD);
  (void)count_tokens(&h, "ada");
  assert_non_null(strstr(h.text, "\"lastUsed\":1700000119000}]}"));
  h.now += DAY;
  assert_int_equal(why(&h, token), PAI_TOKEN_EXPIRED);
  host_close(&h);
}

static void what_a_list_shows_can_be_revoked(void **state)
{
  char shown[PAI__TOKEN_TEXT], token[PAI__TOKEN_TEXT], uid[33] = "";
  static host h;
  pai_error *err;

  (void)state;
  open_with_ada(&h);
  add_user(&h, "bob");
  new_token(&h, token, "ada", 1);
  (void)count_tokens(&h, "ada");
  assert_int_equal(sscanf(h.text, "{\"tokens\":[\"%639[^\"]", shown), 1);
  /* Only by its own user. */
  expect(&h, host_take(&h, pai_accounts_revoke(h.a, "bob", shown, &err), &err),
         PAI_ENOTFOUND, "UnknownError", 404);
  assert_int_equal(pai_accounts_revoke(h.a, "ada", shown, &err), PAI_OK);
  assert_int_equal(why(&h, token), PAI_TOKEN_REVOKED);
  expect(&h, host_take(&h, pai_accounts_revoke(h.a, "ada", shown, &err), &err),
         PAI_ENOTFOUND, "UnknownError", 404);
  new_token(&h, token, "ada", 1);
  (void)count_tokens(&h, "ada");
  assert_int_equal(sscanf(strstr(h.text, "\"id\":"), "\"id\":\"%32[^\"]", uid),
                   1);
  expect(&h, host_take(&h, pai_accounts_revoke(h.a, "bob", uid, &err), &err),
         PAI_ENOTFOUND, "UnknownError", 404);
  assert_int_equal(pai_accounts_revoke(h.a, "ada", uid, &err), PAI_OK);
  assert_int_equal(why(&h, token), PAI_TOKEN_REVOKED);
  host_close(&h);
}

static void bad_requests_of_tokens_are_refused(void **state)
{
  char name[66];
  const pai_token_request bad[] = {
    { sizeof(*bad), 1, name, 0, 0 },
    { sizeof(*bad), 1, "a\nb", 0, 0 },
    { sizeof(*bad), 1, NULL, 8, 0 },
    { sizeof(*bad), 1, NULL, 0, -1 },
  };
  static host h;

  (void)state;
  open_with_ada(&h);
  memset(name, 'x', 65);
  name[65] = '\0';
  for (size_t i = 0; i < PAI__LEN(bad); i++) {
    (void)make_token(&h, &bad[i]);
    assert_string_equal(h.api, "InvalidParametersError");
  }
  assert_int_equal(count_tokens(&h, "ada"), 0);
  host_close(&h);
}

int main(void)
{
#define TEST(name) \
  cmocka_unit_test_setup_teardown(name, folder_set_up, folder_tear_down)
  const struct CMUnitTest tests[] = {
    TEST(a_token_says_whose_it_is),
    TEST(a_changed_token_is_forged),
    TEST(other_algorithms_are_none),
    TEST(tokens_expire_and_go),
    TEST(what_is_revoked_is_worth_nothing),
    TEST(another_root_has_another_key),
    TEST(without_its_groups_a_user_is_nobody),
    TEST(headers_bring_tokens),
    TEST(there_are_not_too_many),
    TEST(what_was_done_is_noted),
    TEST(tokens_have_a_name_and_scopes),
    TEST(what_a_list_shows_can_be_revoked),
    TEST(bad_requests_of_tokens_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
