/* What a provider of OpenID Connect has signed, with keys made here, and what
 * is like it but is not. */
#include "cases.h"

#include "base/text/encode.h"
#include "server/oidc/provider.h"

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <string.h>

#define ISSUER "https://login.example.org/realm"
#define CLAIMS                                                            \
  "{\"iss\":\"" ISSUER "\",\"aud\":\"me\",\"sub\":\"s\",\"nonce\":\"n\"," \
  "\"iat\":1000,\"exp\":2000"

static const pai__token_expected wish = { ISSUER, "me", "n", 1500 };
static gnutls_privkey_t rsa, ec, other;

static gnutls_privkey_t new_key(gnutls_pk_algorithm_t kind, unsigned bits)
{
  gnutls_privkey_t key;

  assert_int_equal(gnutls_privkey_init(&key), 0);
  assert_int_equal(gnutls_privkey_generate(key, kind, bits, 0), 0);
  return key;
}

static int make_keys(void **state)
{
  (void)state;
  rsa = new_key(GNUTLS_PK_RSA, 2048);
  other = new_key(GNUTLS_PK_RSA, 2048);
  ec =
    new_key(GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1));
  return 0;
}

static int drop_keys(void **state)
{
  (void)state;
  gnutls_privkey_deinit(rsa);
  gnutls_privkey_deinit(other);
  gnutls_privkey_deinit(ec);
  return 0;
}

/* --- as a provider does ------------------------------------------------------------ */

static void put_member(pai__buf *b, const char *name, const gnutls_datum_t *d)
{
  pai__buf_printf(b, ",\"%s\":\"", name);
  pai__base64url(b, d->data, d->size);
  pai__buf_char(b, '"');
}

static void put_key(pai__buf *b, const char *kid, gnutls_privkey_t key)
{
  gnutls_datum_t x, y;
  gnutls_ecc_curve_t curve;
  gnutls_pubkey_t pub;
  bool is_rsa = gnutls_privkey_get_pk_algorithm(key, NULL) == GNUTLS_PK_RSA;

  assert_int_equal(gnutls_pubkey_init(&pub), 0);
  assert_int_equal(gnutls_pubkey_import_privkey(pub, key, 0, 0), 0);
  pai__buf_printf(b, "{\"kid\":\"%s\",\"use\":\"sig\",\"kty\":\"%s\"", kid,
                  is_rsa ? "RSA" : "EC\",\"crv\":\"P-256");
  if (is_rsa)
    assert_int_equal(gnutls_pubkey_export_rsa_raw2(pub, &x, &y, 0), 0);
  else
    assert_int_equal(gnutls_pubkey_export_ecc_raw2(pub, &curve, &x, &y, 0), 0);
  put_member(b, is_rsa ? "n" : "x", &x);
  put_member(b, is_rsa ? "e" : "y", &y);
  pai__buf_char(b, '}');
  gnutls_free(x.data);
  gnutls_free(y.data);
  gnutls_pubkey_deinit(pub);
}

static pai__tree *new_keys(void)
{
  pai__tree *keys;
  pai__buf b = test_buf();

  pai__buf_str(&b, "{\"keys\":[");
  put_key(&b, "r", rsa);
  pai__buf_char(&b, ',');
  put_key(&b, "e", ec);
  pai__buf_str(&b, "]}");
  assert_ok(
    pai__keys_read(&keys, &pai__libc_alloc, pai__buf_text(&b), b.len, NULL));
  pai__buf_dispose(&b);
  return keys;
}

static void sign(pai__buf *token, gnutls_privkey_t key, bool pss)
{
  gnutls_datum_t text = { (unsigned char *)token->data, (unsigned)token->len };
  gnutls_datum_t sig, r, s;
  unsigned char raw[64] = { 0 };
  bool is_ec = key == ec;

  assert_int_equal(
    gnutls_privkey_sign_data2(key,
                              is_ec ? GNUTLS_SIGN_ECDSA_SHA256
                              : pss ? GNUTLS_SIGN_RSA_PSS_RSAE_SHA256
                                    : GNUTLS_SIGN_RSA_SHA256,
                              0, &text, &sig),
    0);
  pai__buf_char(token, '.');
  if (!is_ec) {
    pai__base64url(token, sig.data, sig.size);
  } else {
    assert_int_equal(gnutls_decode_rs_value(&sig, &r, &s), 0);
    for (unsigned i = 0; i < r.size && i < 32; i++)
      raw[31 - i] = r.data[r.size - 1 - i];
    for (unsigned i = 0; i < s.size && i < 32; i++)
      raw[63 - i] = s.data[s.size - 1 - i];
    pai__base64url(token, raw, sizeof(raw));
    gnutls_free(r.data);
    gnutls_free(s.data);
  }
  gnutls_free(sig.data);
}

/* "HEAD.CLAIMS", signed if there is a key. */
static void make(pai__buf *token, const char *head, const char *claims,
                 gnutls_privkey_t key)
{
  pai__buf_init(token, &pai__libc_alloc);
  pai__base64url(token, head, strlen(head));
  pai__buf_char(token, '.');
  pai__base64url(token, claims, strlen(claims));
  if (key != NULL)
    sign(token, key, strstr(head, "PS256") != NULL);
}

static int read_it(const pai__buf *token)
{
  pai__tree *keys = new_keys(), *claims;
  int rc = pai__id_token_read(&claims, &pai__libc_alloc, pai__buf_text(token),
                              token->len, keys, &wish, NULL);

  assert_true((rc == PAI_OK) == (claims != NULL));
  pai__tree_free(claims);
  pai__tree_free(keys);
  return rc;
}

static int try_it(const char *head, const char *claims, gnutls_privkey_t key)
{
  pai__buf token;
  int rc;

  make(&token, head, claims, key);
  rc = read_it(&token);
  pai__buf_dispose(&token);
  return rc;
}

/* --- what is believed, and what is not ------------------------------------------------ */

TEST(good_ones)
{
  assert_ok(try_it("{\"alg\":\"RS256\",\"kid\":\"r\"}", CLAIMS "}", rsa));
  assert_ok(try_it("{\"alg\":\"PS256\",\"kid\":\"r\"}", CLAIMS "}", rsa));
  assert_ok(try_it("{\"alg\":\"ES256\",\"kid\":\"e\"}", CLAIMS "}", ec));
  assert_ok(try_it("{\"alg\":\"RS256\"}", CLAIMS "}", rsa));
}

/* A good one, as far as it can be read. */
static int read_good(const pai_alloc *alloc, void *token)
{
  const pai__buf *text = token;
  pai__tree *keys = new_keys(), *claims;
  int rc = pai__id_token_read(&claims, alloc, pai__buf_text(text), text->len,
                              keys, &wish, NULL);

  if (rc == PAI_OK)
    assert_string_equal(pai__claim_text(claims, 0, "sub"), "s");
  pai__tree_free(claims);
  pai__tree_free(keys);
  return rc;
}

TEST(memory_is_short)
{
  pai__buf token;

  make(&token, "{\"alg\":\"ES256\",\"kid\":\"e\"}", CLAIMS "}", ec);
  test_faults(read_good, &token);
  pai__buf_dispose(&token);
}

TEST(claims_are_checked)
{
#define WITH(iss, aud, nonce, times)                                      \
  "{\"sub\":\"s\",\"iss\":\"" iss "\",\"aud\":" aud ",\"nonce\":\"" nonce \
  "\"," times "}"
#define NOW "\"iat\":1000,\"exp\":2000"
  static const struct {
    const char *claims;
    int rc;
  } rows[] = {
    { WITH(ISSUER, "\"me\"", "n", NOW), PAI_OK },
    { WITH(ISSUER, "[\"me\"]", "n", NOW), PAI_OK },
    { WITH(ISSUER, "[\"me\",\"you\"]", "n", "\"azp\":\"me\"," NOW), PAI_OK },
    { WITH(ISSUER, "[\"me\",\"you\"]", "n", NOW), PAI_EPERM },
    { WITH(ISSUER, "\"me\"", "n", "\"azp\":\"you\"," NOW), PAI_EPERM },
    { WITH(ISSUER, "\"you\"", "n", NOW), PAI_EPERM },
    { WITH(ISSUER, "[]", "n", NOW), PAI_EPERM },
    { WITH(ISSUER, "7", "n", NOW), PAI_EPERM },
    { WITH(ISSUER "/", "\"me\"", "n", NOW), PAI_EPERM },
    { WITH(ISSUER, "\"me\"", "m", NOW), PAI_EPERM },
    { WITH(ISSUER, "\"me\"", "n", "\"iat\":1000,\"exp\":1440"), PAI_EPERM },
    { WITH(ISSUER, "\"me\"", "n", "\"iat\":1000,\"exp\":1441"), PAI_OK },
    { WITH(ISSUER, "\"me\"", "n", "\"iat\":1000,\"exp\":\"2000\""),
      PAI_EPERM },
    { WITH(ISSUER, "\"me\"", "n", "\"iat\":1000,\"exp\":-1"), PAI_EPERM },
    { WITH(ISSUER, "\"me\"", "n", "\"iat\":1000"), PAI_EPERM },
    { WITH(ISSUER, "\"me\"", "n", "\"exp\":2000"), PAI_EPERM },
    { WITH(ISSUER, "\"me\"", "n", "\"nbf\":1561," NOW), PAI_EPERM },
    { WITH(ISSUER, "\"me\"", "n", "\"nbf\":1560," NOW), PAI_OK },
    { WITH(ISSUER, "\"me\"", "n", "\"iat\":1561,\"exp\":2000"), PAI_EPERM },
    { "{\"iss\":\"" ISSUER "\",\"aud\":\"me\",\"nonce\":\"n\"," NOW "}",
      PAI_EPERM },
    { "[]", PAI_EPERM },
    { "{", PAI_EPERM },
    /* said twice: nobody knows which one others read */
    { CLAIMS ",\"aud\":\"you\"}", PAI_EPERM },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    int rc = try_it("{\"alg\":\"RS256\",\"kid\":\"r\"}", rows[i].claims, rsa);
    if (rc != rows[i].rc)
      fail_msg("%s: %d", rows[i].claims, rc);
  }
}

TEST(forged_ones)
{
  static const struct {
    const char *head;
    int rc;
  } rows[] = {
    { "{\"alg\":\"RS256\",\"kid\":\"r\"}", PAI_EPERM },
    { "{\"alg\":\"RS256\",\"kid\":\"x\"}", PAI_ENOTFOUND },
    { "{\"alg\":\"RS256\",\"kid\":\"e\"}", PAI_ENOTFOUND },
    { "{\"alg\":\"ES256\",\"kid\":\"r\"}", PAI_ENOTFOUND },
    { "{\"alg\":\"none\",\"kid\":\"r\"}", PAI_EPERM },
    { "{\"alg\":\"HS256\",\"kid\":\"r\"}", PAI_EPERM },
    { "{\"kid\":\"r\"}", PAI_EPERM },
    { "{\"alg\":\"RS256\",\"kid\":\"r\",\"crit\":[\"x\"]}", PAI_EPERM },
    { "[]", PAI_EPERM },
  };
  pai__buf token;

  for (size_t i = 0; i < PAI__LEN(rows); i++)
    assert_int_equal(try_it(rows[i].head, CLAIMS "}", other), rows[i].rc);
  assert_int_equal(try_it("{\"alg\":\"none\"}", CLAIMS "}", NULL), PAI_EPERM);
  make(&token, "{\"alg\":\"none\"}", CLAIMS "}", NULL);
  pai__buf_char(&token, '.');
  assert_int_equal(read_it(&token), PAI_EPERM);
  pai__buf_dispose(&token);
}

/* The provider's public key as a secret of HMAC. */
TEST(public_key_as_secret)
{
  unsigned char mac[32];
  gnutls_datum_t pem;
  gnutls_pubkey_t pub;
  pai__buf token;

  assert_int_equal(gnutls_pubkey_init(&pub), 0);
  assert_int_equal(gnutls_pubkey_import_privkey(pub, rsa, 0, 0), 0);
  assert_int_equal(gnutls_pubkey_export2(pub, GNUTLS_X509_FMT_PEM, &pem), 0);
  make(&token, "{\"alg\":\"HS256\",\"kid\":\"r\"}", CLAIMS "}", NULL);
  assert_int_equal(gnutls_hmac_fast(GNUTLS_MAC_SHA256, pem.data, pem.size,
                                    pai__buf_text(&token), token.len, mac),
                   0);
  pai__buf_char(&token, '.');
  pai__base64url(&token, mac, sizeof(mac));
  assert_int_equal(read_it(&token), PAI_EPERM);
  pai__buf_dispose(&token);
  gnutls_free(pem.data);
  gnutls_pubkey_deinit(pub);
}

/* No byte of it may change, nor may it be cut. */
TEST(changed_ones)
{
  pai__buf token;

  make(&token, "{\"alg\":\"ES256\",\"kid\":\"e\"}", CLAIMS "}", ec);
  for (size_t i = 0; i < token.len; i++) {
    char was = token.data[i];
    token.data[i] = was == 'A' ? 'B' : 'A';
    assert_true(read_it(&token) < 0);
    token.data[i] = was;
  }
  assert_ok(read_it(&token));
  while (token.len > 0) {
    pai__buf_cut(&token, token.len - 1);
    assert_true(read_it(&token) < 0);
  }
  pai__buf_dispose(&token);
}

TEST(weak_keys)
{
  gnutls_privkey_t weak = new_key(GNUTLS_PK_RSA, 1024);
  pai__tree *keys, *claims;
  pai__buf b = test_buf(), token;

  pai__buf_str(&b, "{\"keys\":[");
  put_key(&b, "w", weak);
  pai__buf_str(&b, "]}");
  assert_ok(
    pai__keys_read(&keys, &pai__libc_alloc, pai__buf_text(&b), b.len, NULL));
  make(&token, "{\"alg\":\"RS256\",\"kid\":\"w\"}", CLAIMS "}", weak);
  assert_int_equal(pai__id_token_read(&claims, &pai__libc_alloc, token.data,
                                      token.len, keys, &wish, NULL),
                   PAI_EPERM);
  pai__tree_free(keys);
  pai__buf_dispose(&b);
  pai__buf_dispose(&token);
  gnutls_privkey_deinit(weak);
}

/* --- beside tokens ---------------------------------------------------------------------- */

TEST(cookies_are_sealed)
{
  unsigned char key[PAI__RANDOM] = { 1 }, wrong[PAI__RANDOM] = { 2 };
  pai__buf sealed = test_buf(), text = test_buf();

  assert_ok(pai__cookie_seal(&sealed, key, "one", "said", 4));
  assert_ok(pai__cookie_open(&text, key, "one", sealed.data, sealed.len));
  assert_string_equal(pai__buf_text(&text), "said");
  assert_int_equal(
    pai__cookie_open(&text, key, "two", sealed.data, sealed.len), PAI_EPERM);
  assert_int_equal(
    pai__cookie_open(&text, wrong, "one", sealed.data, sealed.len), PAI_EPERM);
  sealed.data[sealed.len / 2] ^= 1;
  assert_true(pai__cookie_open(&text, key, "one", sealed.data, sealed.len) <
              0);
  assert_true(pai__cookie_open(&text, key, "one", "", 0) < 0);
  pai__buf_dispose(&sealed);
  pai__buf_dispose(&text);
}

/* RFC 7636, appendix B. */
TEST(challenge_of_the_rfc)
{
  char out[PAI__RANDOM_TEXT];

  assert_true(
    pai__challenge(out, "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"));
  assert_string_equal(out, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

TEST(pages)
{
  static const char list[] =
    "http://localhost/, https://a.org/x, https://b.org/y/,http://[::1],"
    "http://127.0.0.1:80/z/";
  static const char *const good[] = {
    "https://a.org/x",       "https://b.org/y/",
    "https://b.org/y/z?q=1", "http://localhost:1/callback",
    "http://localhost",      "http://127.0.0.1:80/z/a",
    "http://[::1]:8080"
  };
  static const char *const bad[] = { "https://a.org/x/",
                                     "http://127.0.0.1:80/",
                                     "http://127.0.0.1:81/z/",
                                     "http://127.0.0.1/z/",
                                     "http://[::1]x/",
                                     "https://a.org/",
                                     "https://b.org/y",
                                     "https://b.org/y/../",
                                     "https://b.org/y/%2e%2e/",
                                     "https://b.org/y/\r\nSet-Cookie: x",
                                     "http://localhost:1@evil.org/",
                                     "http://localhost.evil.org/",
                                     "http://localhost:/",
                                     "https://localhost:1/",
                                     "",
                                     "//b.org/y/",
                                     "javascript:alert(1)" };

  for (size_t i = 0; i < PAI__LEN(good); i++)
    assert_true(pai__page_is_allowed(list, good[i]));
  for (size_t i = 0; i < PAI__LEN(bad); i++)
    assert_false(pai__page_is_allowed(list, bad[i]));
  assert_false(pai__page_is_allowed(NULL, good[0]));
  /* A port of this machine needs to be said, or a secret. */
  assert_false(pai__page_is_allowed("https://a.org/", good[3]));
  assert_true(pai__page_is_local(good[3]));
  assert_true(pai__page_is_local("http://127.0.0.1:65535/"));
  for (size_t i = 0; i < PAI__LEN(bad); i++)
    assert_int_equal(pai__page_is_local(bad[i]),
                     strncmp(bad[i], "http://127", 10) == 0);
}

TEST(first_pages)
{
  static const struct {
    const char *pages, *first;
  } rows[] = {
    { NULL, NULL },
    { "", NULL },
    { "http://localhost/", NULL },
    { "http://localhost, http://[::1]/", NULL },
    { "http://localhost/,https://a.org/x,https://b", "https://a.org/x" },
    { " https://a.org/x", "https://a.org/x" },
    { "http://localhost:80/", "http://localhost:80/" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    char *first;
    assert_ok(pai__page_first(&first, &pai__libc_alloc, rows[i].pages));
    if (rows[i].first == NULL)
      assert_null(first);
    else
      assert_string_equal(first, rows[i].first);
    pai__strfree(&pai__libc_alloc, first);
  }
}

TEST(homes)
{
  static const char back[] = "https://pai.org:9186/x/api/v1/authn/oidc/return";
  static const struct {
    const char *back, *host, *query, *url;
  } rows[] = {
    { back, "pai.org:9186", "a=b", "" },
    { back, "PAI.org:9186", "", "" },
    { back, "10.0.0.1:9186", "a=b&c",
      "https://pai.org:9186/x/api/v1/authn/oidc/login?a=b&c&home=1" },
    { back, "pai.org", "",
      "https://pai.org:9186/x/api/v1/authn/oidc/login?home=1" },
    { back, "pai.org:91866", "",
      "https://pai.org:9186/x/api/v1/authn/oidc/login?home=1" },
    { "https://pai.org/elsewhere", "x", "a", "" },
    { "https://pai.org", "x", "a", "" },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__buf url = test_buf();
    pai__login_home(&url, rows[i].back, rows[i].host, rows[i].query);
    assert_string_equal(pai__buf_text(&url), rows[i].url);
    pai__buf_dispose(&url);
  }
}

static bool fits(const char *claims, const char *rule)
{
  const pai__json_options o = { .alloc = &pai__libc_alloc };
  char *rules[] = { (char *)"none=x", (char *)rule, NULL };
  pai__tree *t;
  bool fit;

  assert_ok(pai__json_parse(&t, claims, strlen(claims), &o, NULL));
  fit = pai__claims_fit_any(t, rules);
  assert_false(pai__claims_fit_any(t, NULL));
  pai__tree_free(t);
  return fit;
}

TEST(rules)
{
  static const char *const wrong[] = { "", "x", "=x", "x=", "=" };

  for (size_t i = 0; i < PAI__LEN(wrong); i++)
    assert_false(pai__claim_rule_is_one(wrong[i]));
  assert_true(pai__claim_rule_is_one("groups=CN=a,OU=b"));
  assert_true(fits("{\"sub\":\"s\"}", "sub=s"));
  assert_true(fits("{\"g\":[\"a\",\"CN=b\"]}", "g=CN=b"));
  assert_false(fits("{\"g\":[\"a\",\"b\"]}", "g=c"));
  assert_false(fits("{\"g\":[1,{\"c\":\"c\"}]}", "g=c"));
  assert_false(fits("{\"sub\":true}", "sub=true"));
  assert_false(fits("{}", "sub="));
  assert_false(fits("{\"email\":\"a@b\"}", "email=a@b"));
  assert_false(
    fits("{\"email\":\"a@b\",\"email_verified\":\"true\"}", "email=a@b"));
  assert_false(
    fits("{\"email\":\"a@b\",\"email_verified\":false}", "email=a@b"));
  assert_true(
    fits("{\"email\":\"a@b\",\"email_verified\":true}", "email=a@b"));
}

TEST(providers)
{
#define PROVIDER(iss, token)                                            \
  "{\"issuer\":\"" iss "\",\"authorization_endpoint\":\"https://a/b\"," \
  "\"token_endpoint\":\"" token "\",\"jwks_uri\":\"https://a/d\"}"
  static const struct {
    const char *text;
    int rc;
  } rows[] = {
    { PROVIDER(ISSUER, "https://a/c"), PAI_OK },
    { PROVIDER("https://evil", "https://a/c"), PAI_EINVAL },
    { PROVIDER(ISSUER, "http://a/c"), PAI_EINVAL },
    { PROVIDER(ISSUER, "file:///etc/passwd"), PAI_EINVAL },
    { "{\"issuer\":\"" ISSUER "\"}", PAI_EINVAL },
    { "[]", PAI_EINVAL },
    { "", PAI_EINVAL },
  };

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    pai__tree *t;
    assert_int_equal(pai__provider_read(&t, &pai__libc_alloc, ISSUER,
                                        rows[i].text, strlen(rows[i].text),
                                        NULL),
                     rows[i].rc);
    pai__tree_free(t);
  }
}

TEST_AROUND_ALL(make_keys, drop_keys);
