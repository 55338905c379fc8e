/* Tokens: whose they are, and whose they are not. */
#include "cases.h"
#include "host.h"

#include <stdio.h>

#define SECOND INT64_C(1000000)
#define DAY (24 * 3600 * SECOND)

/* --- what is said in one ------------------------------------------------------------ */

TEST(a_token_says_whose_it_is)
{
  char token[PAI__TOKEN_TEXT], plain[512];
  pai_identity id = PAI_IDENTITY_INIT;
  const char *body, *end;
  size_t len;

  set_up_with_ada();
  h.now += 123456; /* whole seconds are told */
  new_token(token, "ada", 0);
  assert_ok(pai_accounts_verify(&id, h.a, token, strlen(token)));
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
  host_begin();
  assert_ok(pai_accounts_write_token(h.a, token, host_write, &h, NULL));
  assert_string_equal(
    h.text, "{\"username\":\"ada\",\"application\":false,\"jobSpecific\":"
            "false,\"encodedFrameworkName\":\"\",\"iat\":1700000000,\"exp\":"
            "1700604800,\"admin\":false}");
  new_token(token, "admin", 1);
  assert_ok(pai_accounts_verify(&id, h.a, token, strlen(token)));
  assert_int_equal(id.admin, 1);
  assert_int_equal(id.application, 1);
  assert_int_equal(id.expires, 0);
}

/* No byte of it may be another. */
TEST(a_changed_token_is_forged)
{
  char token[PAI__TOKEN_TEXT], changed[PAI__TOKEN_TEXT + 2];
  size_t len;

  set_up_with_ada();
  new_token(token, "ada", 0);
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
    assert_int_equal(why(changed), PAI_TOKEN_FORGED);
  }
  memcpy(changed, token, len);
  changed[len] = 'A';
  changed[len + 1] = '\0';
  assert_int_equal(why(changed), PAI_TOKEN_FORGED);
  assert_int_equal(why(token), PAI_TOKEN_GOOD);
}

TEST(other_algorithms_are_none)
{
  static const char *const heads[] = { "{\"alg\":\"none\",\"typ\":\"JWT\"}",
                                       "{\"alg\":\"HS512\",\"typ\":\"JWT\"}",
                                       "{\"alg\":\"RS256\",\"typ\":\"JWT\"}",
                                       "{\"typ\":\"JWT\",\"alg\":\"HS256\"}",
                                       "{}" };
  char token[PAI__TOKEN_TEXT], made[2 * PAI__TOKEN_TEXT];
  unsigned char mac[32];
  const char *body, *end;

  set_up_with_ada();
  new_token(token, "ada", 0);
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
    assert_int_equal(why(made), PAI_TOKEN_FORGED);
    (void)crypto_auth_hmacsha256(mac, (const unsigned char *)made, n - 1,
                                 h.a->key); /* and with a right one */
    (void)sodium_bin2base64(made + n, sizeof(made) - n, mac, sizeof(mac),
                            sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    assert_int_equal(why(made), PAI_TOKEN_FORGED);
  }
  assert_int_equal(why(""), PAI_TOKEN_FORGED);
  assert_int_equal(why(".."), PAI_TOKEN_FORGED);
  memset(made, 'a', sizeof(made) - 1);
  made[sizeof(made) - 1] = '\0';
  assert_int_equal(why(made), PAI_TOKEN_FORGED);
}

/* --- how long they are good ----------------------------------------------------------- */

static size_t count_tokens(const char *user)
{
  size_t n = 0;

  host_begin();
  assert_ok(pai_accounts_write_tokens(h.a, user, host_write, &h, NULL));
  for (const char *s = h.text; (s = strstr(s, "\"eyJ")) != NULL; s++)
    n++;
  return n;
}

TEST(tokens_expire_and_go)
{
  pai_accounts_options o = PAI_ACCOUNTS_OPTIONS_INIT;
  char week[PAI__TOKEN_TEXT], hour[PAI__TOKEN_TEXT], app[PAI__TOKEN_TEXT];
  pai_error *err;

  set_up_with_ada();
  new_token(week, "ada", 0);
  new_token(app, "ada", 1);
  o.token_time = 3600 * SECOND;
  o.hash_kib = 8;
  o.hash_passes = 1;
  assert_ok(pai_accounts_configure(h.a, &o, NULL));
  new_token(hour, "ada", 0);
  assert_int_equal(count_tokens("ada"), 3);
  assert_null(strstr(h.text, week)); /* they are shown once */
  assert_null(strstr(h.text, app));
  o.reveal_tokens = 1;
  assert_ok(pai_accounts_configure(h.a, &o, NULL));
  assert_int_equal(count_tokens("ada"), 3);
  assert_has(h.text, week);
  assert_has(h.text, app);
  h.now += 3600 * SECOND - 1;
  assert_int_equal(why(hour), PAI_TOKEN_GOOD);
  h.now += 1;
  assert_int_equal(why(hour), PAI_TOKEN_EXPIRED);
  assert_int_equal(h.a->tokens.live, 3);
  assert_int_equal(count_tokens("ada"), 2);
  assert_int_equal(h.a->tokens.live, 2);
  assert_int_equal(why(hour), PAI_TOKEN_EXPIRED);
  expect(host_take(pai_accounts_revoke(h.a, "ada", hour, &err), &err),
         PAI_EINVAL, "UnknownError", 500);
  expect(
    host_take(pai_accounts_write_token(h.a, hour, host_write, &h, &err), &err),
    PAI_EPERM, "UnauthorizedUserError", 401);
  assert_string_equal(h.message, "Your token is invalid.");
  host_reopen();
  h.now += 7 * DAY;
  assert_int_equal(why(week), PAI_TOKEN_EXPIRED);
  assert_int_equal(why(app), PAI_TOKEN_GOOD);
  host_commit();
  host_close();
  assert_int_equal(bytes_in_folder(strrchr(app, '.'), 44), 0);
}

TEST(what_is_revoked_is_worth_nothing)
{
  char one[PAI__TOKEN_TEXT], two[PAI__TOKEN_TEXT], app[PAI__TOKEN_TEXT],
    other[PAI__TOKEN_TEXT];
  pai_error *err;

  set_up_with_ada();
  new_token(one, "ada", 0);
  new_token(two, "ada", 0);
  new_token(app, "ada", 1);
  new_token(other, "admin", 0);
  expect(host_take(pai_accounts_revoke(h.a, "ada", other, &err), &err),
         PAI_EPERM, "ForbiddenUserError", 403);
  expect(host_take(pai_accounts_revoke(h.a, "ada", "none", &err), &err),
         PAI_EINVAL, "UnknownError", 500);
  assert_int_equal(why(other), PAI_TOKEN_GOOD);
  assert_ok(pai_accounts_revoke(h.a, "ada", one, &err));
  assert_int_equal(why(one), PAI_TOKEN_REVOKED);
  assert_ok(pai_accounts_revoke(h.a, "ada", one, &err));
  assert_ok(pai_accounts_revoke(h.a, NULL, other, &err));
  assert_int_equal(why(other), PAI_TOKEN_REVOKED);
  host_reopen();
  assert_int_equal(why(one), PAI_TOKEN_REVOKED);
  assert_int_equal(why(two), PAI_TOKEN_GOOD);
  /* A new password: browsers have to log in again, programs go on. */
  assert_ok(put_user(0, "{\"username\":\"ada\",\"password\":\"another-1\"}"));
  assert_int_equal(why(two), PAI_TOKEN_REVOKED);
  assert_int_equal(why(app), PAI_TOKEN_GOOD);
  host_reopen();
  assert_int_equal(why(two), PAI_TOKEN_REVOKED);
  assert_int_equal(why(app), PAI_TOKEN_GOOD);
}

TEST(another_root_has_another_key)
{
  char token[PAI__TOKEN_TEXT];

  set_up_with_ada();
  new_token(token, "ada", 1);
  h.a->key[7] ^= 1;
  assert_int_equal(why(token), PAI_TOKEN_FORGED);
}

/* Cannot be by what is here; who meddles with the database can. */
TEST(without_its_groups_a_user_is_nobody)
{
  char token[PAI__TOKEN_TEXT];

  set_up_with_ada();
  new_token(token, "ada", 1);
  assert_ok(pai__strings_add(
    &h.alloc, &pai__find_account(h.a, "ada")->user->groups, "gone"));
  assert_int_equal(why(token), PAI_TOKEN_NO_GROUP);
}

/* --- headers ----------------------------------------------------------------------------- */

static int header(const char *fmt, const char *user, const char *token)
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
  rc = pai_accounts_authorize(&id, h.a, plain);
  assert_int_equal(rc, id.why == PAI_TOKEN_GOOD ? PAI_OK : PAI_EPERM);
  return id.why;
}

TEST(headers_bring_tokens)
{
  char browser[PAI__TOKEN_TEXT], app[PAI__TOKEN_TEXT];
  pai_identity id = PAI_IDENTITY_INIT;

  set_up_with_ada();
  new_token(browser, "ada", 0);
  new_token(app, "ada", 1);
  assert_int_equal(header("Bearer %s", NULL, browser), PAI_TOKEN_GOOD);
  assert_int_equal(header("bEARER  %s", NULL, app), PAI_TOKEN_GOOD);
  assert_int_equal(header("Basic %s", "ada", app), PAI_TOKEN_GOOD);
  assert_int_equal(header("Basic %s", "ada", browser), PAI_TOKEN_NOT_BASIC);
  assert_int_equal(header("Basic %s", "admin", app), PAI_TOKEN_NOT_BASIC);
  assert_int_equal(header("Basic %s", "ad", app), PAI_TOKEN_NOT_BASIC);
  assert_int_equal(header("Basic %s", "ada", "ada-password"),
                   PAI_TOKEN_FORGED);
  assert_int_equal(header("Basic %s", NULL, "!!"), PAI_TOKEN_FORGED);
  assert_int_equal(header("Basic %s", NULL, "YWRh"), PAI_TOKEN_FORGED);
  assert_int_equal(header("Digest %s", NULL, app), PAI_TOKEN_FORGED);
  assert_int_equal(header("Bearer%s", NULL, app), PAI_TOKEN_FORGED);
  assert_int_equal(header("%s", NULL, ""), PAI_TOKEN_FORGED);
  assert_int_equal(pai_accounts_authorize(&id, h.a, NULL), PAI_EPERM);
  assert_int_equal(id.why, PAI_TOKEN_NONE);
  assert_int_equal(pai_accounts_authorize(NULL, h.a, "x"), PAI_EINVAL);
  id.struct_size = 3;
  assert_int_equal(pai_accounts_authorize(&id, h.a, "x"), PAI_EINVAL);
}

/* --- how many there are ----------------------------------------------------------------------- */

TEST(there_are_not_too_many)
{
  char first[PAI__TOKEN_TEXT], token[PAI__TOKEN_TEXT];
  pai_error *err;

  set_up_with_ada();
  new_token(first, "ada", 0);
  for (int i = 0; i < 499; i++)
    new_token(token, "ada", 0);
  assert_int_equal(why(first), PAI_TOKEN_GOOD);
  new_token(token, "ada", 0); /* of browsers' the oldest goes */
  assert_int_equal(why(first), PAI_TOKEN_REVOKED);
  assert_int_equal(h.a->tokens.live, 500);
  for (int i = 0; i < 500; i++)
    new_token(first, "ada", 1);
  expect(host_take(pai_accounts_new_token(h.a, "ada", 1, host_write, &h, &err),
                   &err),
         PAI_ELIMIT, "InvalidParametersError", 400);
  assert_int_equal(why(first), PAI_TOKEN_GOOD);
  expect(host_take(pai_accounts_new_token(h.a, "bob", 1, host_write, &h, &err),
                   &err),
         PAI_ENOTFOUND, "NoUserError", 404);
}

/* --- notes --------------------------------------------------------------------------------------- */

static const char *notes(pai_audit_query q)
{
  pai_error *err;

  q.struct_size = sizeof(q);
  host_begin();
  (void)host_take(pai_accounts_write_audit(h.a, &q, host_write, &h, &err),
                  &err);
  return h.text;
}

TEST(what_was_done_is_noted)
{
  char what[40];

  for (int i = 1; i <= 4; i++) {
    (void)snprintf(what, sizeof(what), "PUT /api/v2/users/%d", i);
    assert_ok(pai_accounts_note(h.a, i % 2 == 0 ? "ada" : NULL,
                                i == 1 ? "::1" : NULL, what, 200 + i));
    h.now += SECOND;
  }
  assert_string_equal(notes((pai_audit_query){ 0 }), "[]");
  host_commit();
  (void)notes((pai_audit_query){ .limit = 2 });
  assert_string_equal(
    h.text, "[{\"id\":4,\"time\":1700000003000,\"user\":\"ada\",\"from\":null,"
            "\"what\":\"PUT /api/v2/users/4\",\"status\":204},"
            "{\"id\":3,\"time\":1700000002000,\"user\":null,\"from\":null,"
            "\"what\":\"PUT /api/v2/users/3\",\"status\":203}]");
  (void)notes((pai_audit_query){ .user = "ada", .before = 4 });
  assert_has(h.text, "[{\"id\":2,");
  assert_null(strstr(h.text, "},{"));
  (void)notes((pai_audit_query){ .until = h.now - 3 * SECOND });
  assert_string_equal(
    h.text, "[{\"id\":1,\"time\":1700000000000,\"user\":null,\"from\":\"::1\","
            "\"what\":\"PUT /api/v2/users/1\",\"status\":201}]");
  (void)notes((pai_audit_query){ .since = h.now - SECOND });
  assert_has(h.text, "[{\"id\":4,");
  assert_null(strstr(h.text, "},{"));
  (void)notes((pai_audit_query){ .limit = 1001 });
  expect(PAI_EINVAL, PAI_EINVAL, "InvalidParametersError", 400);
  (void)notes((pai_audit_query){ .since = -1 });
  expect(PAI_EINVAL, PAI_EINVAL, "InvalidParametersError", 400);
}

static const char *make_token(const pai_token_request *request)
{
  pai_error *err;

  host_begin();
  (void)host_take(
    pai_accounts_make_token(h.a, "ada", request, host_write, &h, &err), &err);
  return h.text;
}

TEST(tokens_have_a_name_and_scopes)
{
  pai_token_request request = PAI_TOKEN_REQUEST_INIT;
  pai_identity id = PAI_IDENTITY_INIT;
  char token[PAI__TOKEN_TEXT] = "", uid[33] = "", shown[PAI__TOKEN_TEXT];

  set_up_with_ada();
  request.name = "night build";
  request.scopes = PAI_SCOPE_READ | PAI_SCOPE_SUBMIT;
  request.lifetime = DAY;
  assert_int_equal(sscanf(make_token(&request),
                          "{\"token\":\"%639[^\"]\",\"id\":\"%32[^\"]", token,
                          uid),
                   2);
  assert_has(h.text, "\"name\":\"night build\",\"application\":true,"
                     "\"scopes\":[\"read\",\"submit\"],"
                     "\"expires\":1700086400000}");
  assert_int_equal(count_tokens("ada"), 1);
  assert_has(h.text, "\"lastUsed\":null}]}");
  assert_ok(pai_accounts_verify(&id, h.a, token, strlen(token)));
  assert_int_equal(id.scopes, PAI_SCOPE_READ | PAI_SCOPE_SUBMIT);
  assert_string_equal(id.name, "night build");
  assert_string_equal(id.id, uid);
  h.now += 59 * SECOND;
  assert_int_equal(why(token), PAI_TOKEN_GOOD);
  host_reopen(); /* all of it is kept; of its use the minute */
  assert_int_equal(count_tokens("ada"), 1);
  assert_has(h.text, "\"name\":\"night build\"");
  assert_has(h.text, "\"lastUsed\":1700000000000}]}");
  assert_int_equal(sscanf(h.text, "{\"tokens\":[\"%639[^\"]", shown), 1);
  assert_int_equal(why(shown), PAI_TOKEN_FORGED);
  h.now += 60 * SECOND;
  assert_int_equal(why(token), PAI_TOKEN_GOOD);
  (void)count_tokens("ada");
  assert_has(h.text, "\"lastUsed\":1700000119000}]}");
  h.now += DAY;
  assert_int_equal(why(token), PAI_TOKEN_EXPIRED);
}

TEST(what_a_list_shows_can_be_revoked)
{
  char shown[PAI__TOKEN_TEXT], token[PAI__TOKEN_TEXT], uid[33] = "";
  pai_error *err;

  set_up_with_ada();
  add_user("bob");
  new_token(token, "ada", 1);
  (void)count_tokens("ada");
  assert_int_equal(sscanf(h.text, "{\"tokens\":[\"%639[^\"]", shown), 1);
  /* Only by its own user. */
  expect(host_take(pai_accounts_revoke(h.a, "bob", shown, &err), &err),
         PAI_ENOTFOUND, "UnknownError", 404);
  assert_ok(pai_accounts_revoke(h.a, "ada", shown, &err));
  assert_int_equal(why(token), PAI_TOKEN_REVOKED);
  expect(host_take(pai_accounts_revoke(h.a, "ada", shown, &err), &err),
         PAI_ENOTFOUND, "UnknownError", 404);
  new_token(token, "ada", 1);
  (void)count_tokens("ada");
  assert_int_equal(sscanf(strstr(h.text, "\"id\":"), "\"id\":\"%32[^\"]", uid),
                   1);
  expect(host_take(pai_accounts_revoke(h.a, "bob", uid, &err), &err),
         PAI_ENOTFOUND, "UnknownError", 404);
  assert_ok(pai_accounts_revoke(h.a, "ada", uid, &err));
  assert_int_equal(why(token), PAI_TOKEN_REVOKED);
}

TEST(bad_requests_of_tokens_are_refused)
{
  char name[66];
  const pai_token_request bad[] = {
    { sizeof(*bad), 1, name, 0, 0 },
    { sizeof(*bad), 1, "a\nb", 0, 0 },
    { sizeof(*bad), 1, NULL, 16, 0 },
    { sizeof(*bad), 1, NULL, 0, -1 },
  };

  set_up_with_ada();
  memset(name, 'x', 65);
  name[65] = '\0';
  for (size_t i = 0; i < PAI__LEN(bad); i++) {
    (void)make_token(&bad[i]);
    assert_string_equal(h.api, "InvalidParametersError");
  }
  assert_int_equal(count_tokens("ada"), 0);
}

TEST_AROUND_EACH(host_set_up, host_tear_down);
