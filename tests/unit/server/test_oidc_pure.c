/* Codes of one use, settings of a file, pages; and each allocation of what is
 * pure of OpenID Connect, failing. */
#include "cases.h"

#include "server/oidc/provider.h"

#include <stdio.h>
#include <string.h>

/* --- codes ----------------------------------------------------------------------- */

static void challenge_of(char out[PAI__RANDOM_TEXT], const char *verifier)
{
  assert_true(pai__challenge(out, verifier));
}

static int put(pai__codes *c, const char *code, const char *user, pai_time now)
{
  char challenge[PAI__RANDOM_TEXT];

  challenge_of(challenge, "secret");
  return pai__codes_put(c, code, user, challenge, now, now + 60);
}

/* Who it is, or NULL. */
static bool takes(pai__codes *c, const char *code, const char *verifier,
                  pai_time now, const char *want)
{
  char *user;
  int rc = pai__codes_take(&user, c, code, verifier, now);
  bool good = want == NULL ? rc == PAI_EPERM && user == NULL
                           : rc == PAI_OK && strcmp(user, want) == 0;

  pai__strfree(&pai__libc_alloc, user);
  return good;
}

TEST(codes_are_for_once)
{
  pai__codes c;

  pai__codes_init(&c, &pai__libc_alloc);
  assert_true(takes(&c, "a", "secret", 0, NULL));
  assert_ok(put(&c, "a", "ann", 100));
  assert_ok(put(&c, "b", "bob", 100));
  assert_true(takes(&c, "b", "secret", 159, "bob"));
  assert_true(takes(&c, "b", "secret", 159, NULL));
  assert_true(takes(&c, "A", "secret", 159, NULL));
  assert_true(takes(&c, "a", "secret", 159, "ann"));
  assert_int_equal(c.count, 0);
  pai__codes_dispose(&c);
}

TEST(codes_that_are_of_no_use)
{
  pai__codes c;

  pai__codes_init(&c, &pai__libc_alloc);
  assert_ok(put(&c, "late", "ann", 100));
  assert_true(takes(&c, "late", "secret", 160, NULL));
  assert_ok(put(&c, "a", "ann", 100));
  assert_true(takes(&c, "a", "Secret", 101, NULL)); /* it is used up */
  assert_true(takes(&c, "a", "secret", 101, NULL));
  assert_int_equal(pai__codes_put(&c, "a", "ann", "no challenge", 100, 200),
                   PAI_EINVAL);
  assert_int_equal(c.count, 0);
  pai__codes_dispose(&c);
}

TEST(codes_do_not_pile_up)
{
  pai__codes c;
  char name[32];

  pai__codes_init(&c, &pai__libc_alloc);
  for (int i = 0; i < 10; i++) {
    (void)snprintf(name, sizeof(name), "%d", i);
    assert_ok(put(&c, name, "ann", 100));
  }
  assert_int_equal(c.count, PAI__CODES_OF_ONE);
  assert_true(takes(&c, "5", "secret", 101, NULL));
  assert_true(takes(&c, "6", "secret", 101, "ann"));
  for (int i = 0; c.count < PAI__MOST_CODES; i++) {
    (void)snprintf(name, sizeof(name), "u%d", i);
    assert_ok(put(&c, name, name, 100));
  }
  assert_int_equal(put(&c, "more", "more", 159), PAI_EBUSY);
  assert_ok(put(&c, "more", "more", 160));
  assert_int_equal(c.count, 1);
  pai__codes_dispose(&c);
}

TEST(challenges)
{
  char one[PAI__RANDOM_TEXT], words[PAI__WORDS], other[PAI__WORDS];
  char typed[PAI__TYPED_CODE + 1];

  challenge_of(one, "secret");
  assert_true(pai__challenge_is_one(one));
  pai__challenge_words(words, one);
  assert_int_equal(strlen(words), 9);
  assert_int_equal(words[4], '-');
  challenge_of(one, "other");
  pai__challenge_words(other, one);
  assert_string_not_equal(words, other);
  one[3] = '+';
  assert_false(pai__challenge_is_one(one));
  assert_false(pai__challenge_is_one(one + 1));
  assert_false(pai__challenge_is_one(""));
  assert_true(pai__code_typed(typed));
  assert_int_equal(strspn(typed, "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"),
                   PAI__TYPED_CODE);
}

TEST(pages_have_no_tags_of_others)
{
  char challenge[PAI__RANDOM_TEXT];
  pai__buf b = test_buf();

  challenge_of(challenge, "secret");
  pai__page_consent(&b, "<i>\"&'", challenge, "http://localhost:7/<path>",
                    "\"><s>");
  assert_has(pai__buf_text(&b), "&lt;i&gt;&quot;&amp;&#39;");
  assert_has(pai__buf_text(&b), "<b>localhost:7</b>");
  assert_null(strstr(pai__buf_text(&b), "path"));
  assert_null(strstr(pai__buf_text(&b), "<s>"));
  pai__buf_clear(&b);
  pai__page_code(&b, "ABCDEFGHJKLM");
  assert_has(pai__buf_text(&b), "<code>ABCD-EFGH-JKLM</code>");
  pai__buf_dispose(&b);
}

/* --- settings --------------------------------------------------------------------------- */

static const char good_file[] = "# of a test\n"
                                "issuer: https://a.org\n"
                                "client_id: me\n"
                                "client_secret: \"7\"\n"
                                "redirect_uri: https://b.org/return\n"
                                "pages: [https://b.org/, http://localhost/]\n"
                                "admins: [sub=s, \"g=CN=a,OU=b\"]\n"
                                "groups_claim: g\n"
                                "ca_file: ca.pem\n";

static int parse(pai__oidc_settings *s, const pai_alloc *alloc,
                 const char *text, pai_error **err)
{
  return pai__settings_parse(s, alloc, "f", text, strlen(text), err);
}

TEST(settings_are_read)
{
  pai__oidc_settings s;

  assert_ok(parse(&s, &pai__libc_alloc, good_file, NULL));
  assert_string_equal(s.issuer, "https://a.org");
  assert_string_equal(s.client_secret, "7");
  assert_string_equal(s.pages, "https://b.org/,http://localhost/");
  assert_int_equal(s.nadmins, 2);
  assert_string_equal(s.admins[1], "g=CN=a,OU=b");
  assert_null(s.admins[2]);
  assert_null(s.scope);
  pai__settings_dispose(&s, &pai__libc_alloc);
  assert_ok(parse(&s, &pai__libc_alloc, "# nothing\n", NULL));
  assert_null(s.issuer);
  pai__settings_dispose(&s, &pai__libc_alloc);
}

TEST(settings_that_are_wrong)
{
  static const struct {
    const char *text, *said;
  } rows[] = {
    { "issuer: https://a.org\nisuer: x\n", "f:2:1: isuer is not a setting" },
    { "a\n", "f:1:1: \"issuer: https" },
    { "issuer: ftp://a.org", "f:1:9: issuer is not a URL" },
    { "client_id: 7", "f:1:12: client_id is not text" },
    { "client_id: |\n  a\n  b\n", "is empty, or more than one line" },
    { "client_id: \"a\\0b\"", "is empty, or more than one line" },
    { "client_id: a\nclient_id: b\n", "f:2:" },
    { "admins: [a=b, [c=d]]", "f:1:15: admins is not text" },
    { "admins: {a: b}", "f:1:9: admins is not text" },
    { "pages: [\"https://a.org/,https://b.org/\"]", "has a comma" },
    { "scope: [\n", "f:" },
    { "client_secret: hush\nclient_secret_file: x\n", "f:1:1: client_secret" },
    { "client_secret: [hush]\n", "f:1:16: client_secret is not text" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai_error *err = NULL;
    pai__oidc_settings s;
    assert_int_equal(parse(&s, &pai__libc_alloc, rows[i].text, &err),
                     PAI_EINVAL);
    if (strstr(pai_error_message(err), rows[i].said) == NULL ||
        strstr(pai_error_message(err), "hush") != NULL)
      fail_msg("%s: %s", rows[i].text, pai_error_message(err));
    assert_null(s.issuer);
    pai_error_free(err);
  }
}

static int set_up(const pai_alloc *alloc, void *user_data)
{
  pai__oidc_settings s;
  pai_error *err = NULL;
  int rc = parse(&s, alloc, good_file, &err);

  (void)user_data;
  if (rc == PAI_OK)
    assert_int_equal(s.nadmins, 2);
  pai_error_free(err);
  pai__settings_dispose(&s, alloc);
  return rc;
}

/* --- what comes from a provider -------------------------------------------------------------- */

#define TOKEN                                                                \
  "eyJhbGciOiJFUzI1NiIsImtpZCI6ImsifQ."                                      \
  "eyJpc3MiOiJodHRwczovL2Eub3JnIiwiYXVkIjoibWUiLCJzdWIiOiJzIiwibm9uY2UiOi"   \
  "JuIiwiaWF0IjoxMDAwLCJleHAiOjIwMDB9."                                      \
  "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" \
  "AAAAAAAAAAAAAA"

/* Nobody has the key for it: all else is done until that is seen. */
static int read_token(const pai_alloc *alloc, void *user_data)
{
  static const char keys[] =
    "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"k\","
    "\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
    "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}]}";
  const pai__token_expected wish = { "https://a.org", "me", "n", 1500 };
  pai__tree *set = NULL, *claims = NULL;
  int rc = pai__keys_read(&set, alloc, keys, sizeof(keys) - 1, NULL);

  (void)user_data;
  if (rc == PAI_OK) {
    rc = pai__id_token_read(&claims, alloc, TOKEN, sizeof(TOKEN) - 1, set,
                            &wish, NULL);
    assert_null(claims);
    if (rc == PAI_EPERM)
      rc = PAI_OK;
  }
  pai__tree_free(set);
  return rc;
}

static int read_provider(const pai_alloc *alloc, void *user_data)
{
  static const char text[] =
    "{\"issuer\":\"https://a.org\",\"jwks_uri\":\"https://a.org/k\","
    "\"authorization_endpoint\":\"https://a.org/a\","
    "\"token_endpoint\":\"https://a.org/t\",\"email\":\"ann@b\"}";
  pai__tree *t = NULL;
  const char *mail;
  pai__buf name;
  int rc = pai__provider_read(&t, alloc, "https://a.org", text,
                              sizeof(text) - 1, NULL);

  (void)user_data;
  pai__buf_init(&name, alloc);
  if (rc == PAI_OK && !pai__claims_name(&name, &mail, t))
    rc = pai__buf_ok(&name) ? PAI_EINVAL : PAI_ENOMEM;
  if (rc == PAI_OK)
    assert_string_equal(pai__buf_text(&name), "ann");
  pai__buf_dispose(&name);
  pai__tree_free(t);
  return rc;
}

static int write_texts(const pai_alloc *alloc, void *user_data)
{
  unsigned char key[PAI__RANDOM] = { 1 };
  char *first = NULL;
  pai__buf url, form, sealed, text;
  int rc;

  (void)user_data;
  pai__buf_init(&url, alloc);
  pai__buf_init(&form, alloc);
  pai__buf_init(&sealed, alloc);
  pai__buf_init(&text, alloc);
  pai__query_add(&url, "a", "b c");
  pai__query_add(&url, "d", "/");
  pai__form_add(&form, "a", "b");
  rc = pai__buf_ok(&url) && pai__buf_ok(&form) ? PAI_OK : PAI_ENOMEM;
  if (rc == PAI_OK)
    rc = pai__cookie_seal(&sealed, key, "n", "said", 4);
  if (rc == PAI_OK)
    rc = pai__cookie_open(&text, key, "n", sealed.data, sealed.len);
  if (rc == PAI_OK)
    rc = pai__page_first(&first, alloc, "http://localhost/,https://a.org");
  if (rc == PAI_OK) {
    assert_string_equal(pai__buf_text(&text), "said");
    assert_string_equal(pai__buf_text(&url), "?a=b%20c&d=%2F");
    assert_string_equal(first, "https://a.org");
  }
  pai__strfree(alloc, first);
  pai__buf_dispose(&url);
  pai__buf_dispose(&form);
  pai__buf_dispose(&sealed);
  pai__buf_dispose(&text);
  return rc;
}

static int keep_codes(const pai_alloc *alloc, void *user_data)
{
  pai__codes c;
  char *user = NULL;
  int rc;

  (void)user_data;
  pai__codes_init(&c, alloc);
  rc = put(&c, "a", "ann", 0);
  assert_int_equal(c.count, rc == PAI_OK ? 1 : 0);
  if (rc == PAI_OK)
    rc = put(&c, "b", "bob", 0);
  if (rc == PAI_OK)
    rc = pai__codes_take(&user, &c, "a", "secret", 1);
  if (rc == PAI_OK)
    assert_string_equal(user, "ann");
  pai__strfree(alloc, user);
  pai__codes_dispose(&c);
  return rc;
}

static int write_pages(const pai_alloc *alloc, void *user_data)
{
  char challenge[PAI__RANDOM_TEXT];
  pai__buf b;
  int rc;

  (void)user_data;
  challenge_of(challenge, "secret");
  pai__buf_init(&b, alloc);
  pai__page_consent(&b, "ann", challenge, NULL, "s");
  pai__page_code(&b, NULL);
  rc = pai__buf_ok(&b) ? PAI_OK : PAI_ENOMEM;
  pai__buf_dispose(&b);
  return rc;
}

TEST(memory_is_short)
{
  test_faults(set_up, NULL);
  test_faults(read_token, NULL);
  test_faults(read_provider, NULL);
  test_faults(write_texts, NULL);
  test_faults(keep_codes, NULL);
  test_faults(write_pages, NULL);
}
