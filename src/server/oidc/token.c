/*
 * token.c - verification of ID tokens: signature, client and expiry
 *
 * The key determines the algorithm: the token's own "alg" must match it and be
 * one of the few known ones.  "none" and algorithms with a shared secret are
 * not among them, so a public key cannot be used as a secret.
 */
#include "server/oidc/token.h"

#include "base/text/encode.h"
#include "json/json.h"

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <string.h>

enum { LEAST_RSA = 2048, SKEW = 60, MOST_SIGNATURE = 2048 };

typedef struct kind {
  const char *alg;
  const char *type, *curve; /* of the key; curve NULL: none */
  size_t half;              /* bytes of half an ECDSA signature */
  gnutls_sign_algorithm_t sign;
  gnutls_ecc_curve_t ecc;
} kind;

static const kind kinds[] = {
  { "RS256", "RSA", NULL, 0, GNUTLS_SIGN_RSA_SHA256, 0 },
  { "RS384", "RSA", NULL, 0, GNUTLS_SIGN_RSA_SHA384, 0 },
  { "RS512", "RSA", NULL, 0, GNUTLS_SIGN_RSA_SHA512, 0 },
  { "PS256", "RSA", NULL, 0, GNUTLS_SIGN_RSA_PSS_RSAE_SHA256, 0 },
  { "PS384", "RSA", NULL, 0, GNUTLS_SIGN_RSA_PSS_RSAE_SHA384, 0 },
  { "PS512", "RSA", NULL, 0, GNUTLS_SIGN_RSA_PSS_RSAE_SHA512, 0 },
  { "ES256", "EC", "P-256", 32, GNUTLS_SIGN_ECDSA_SHA256,
    GNUTLS_ECC_CURVE_SECP256R1 },
  { "ES384", "EC", "P-384", 48, GNUTLS_SIGN_ECDSA_SHA384,
    GNUTLS_ECC_CURVE_SECP384R1 },
  { "ES512", "EC", "P-521", 66, GNUTLS_SIGN_ECDSA_SHA512,
    GNUTLS_ECC_CURVE_SECP521R1 },
  { "EdDSA", "OKP", "Ed25519", 0, GNUTLS_SIGN_EDDSA_ED25519,
    GNUTLS_ECC_CURVE_ED25519 },
};

static int distrust(pai_error **err, const char *why)
{
  return pai__fail(err, PAI_EPERM, "the ID token is invalid: %s", why);
}

const char *pai__claim_text(const pai__tree *t, pai__node n, const char *name)
{
  size_t len = 0;
  const char *text;

  n = pai__tree_get(t, n, name);
  if (!pai__tree_is(t, n, PAI__STRING))
    return NULL;
  text = pai__tree_str(t, n, &len);
  return strlen(text) == len ? text : NULL;
}

static bool is(const char *text, const char *want)
{
  return text != NULL && strcmp(text, want) == 0;
}

/* --- keys ---------------------------------------------------------------- */

int pai__keys_read(pai__tree **out, const pai_alloc *alloc, const char *text,
                   size_t len, pai_error **err)
{
  const pai__json_options o = { .flags = PAI__JSON_DUPLICATES,
                                .max_depth = 8,
                                .alloc = alloc };
  pai__tree *t = NULL;
  int rc = pai__json_parse(&t, text, len, &o, err);
  pai__node keys;

  *out = NULL;
  if (rc < 0 || t == NULL)
    return rc;
  keys = pai__tree_get(t, 0, "keys");
  if (!pai__tree_is(t, keys, PAI__SEQUENCE))
    rc = pai__fail(err, PAI_EINVAL, "the provider's keys are not a JWK set");
  else if (pai__tree_count(t, keys) > PAI__MOST_KEYS)
    rc = pai__fail(err, PAI_ELIMIT, "the provider has more than %d keys",
                   PAI__MOST_KEYS);
  if (rc < 0)
    pai__tree_free(t);
  else
    *out = t;
  return rc;
}

static bool may_sign(const pai__tree *t, pai__node key, const kind *k)
{
  const char *use = pai__claim_text(t, key, "use");
  const char *alg = pai__claim_text(t, key, "alg");

  return is(pai__claim_text(t, key, "kty"), k->type) &&
         (k->curve == NULL || is(pai__claim_text(t, key, "crv"), k->curve)) &&
         (use == NULL || strcmp(use, "sig") == 0) &&
         (alg == NULL || strcmp(alg, k->alg) == 0);
}

/* Decodes a base64 member of a key. */
static bool get_number(pai__buf *out, const pai__tree *t, pai__node key,
                       const char *name)
{
  const char *text = pai__claim_text(t, key, name);

  return text != NULL && strlen(text) <= (size_t)4 * MOST_SIGNATURE &&
         pai__base64url_read(out, text, strlen(text)) && out->len > 0;
}

static gnutls_datum_t datum_of(pai__buf *b)
{
  return (gnutls_datum_t){ (unsigned char *)b->data, (unsigned)b->len };
}

static bool import(gnutls_pubkey_t to, const pai__tree *t, pai__node key,
                   const kind *k)
{
  bool rsa = k->curve == NULL, has_y = is(k->type, "EC"), ok;
  gnutls_datum_t a, b;
  unsigned bits = 0;
  pai__buf x, y;

  pai__buf_init(&x, &t->alloc);
  pai__buf_init(&y, &t->alloc);
  ok = get_number(&x, t, key, rsa ? "n" : "x") &&
       ((!rsa && !has_y) || get_number(&y, t, key, rsa ? "e" : "y")) &&
       pai__buf_ok(&x) && pai__buf_ok(&y);
  a = datum_of(&x);
  b = datum_of(&y);
  if (ok && rsa)
    ok = gnutls_pubkey_import_rsa_raw(to, &a, &b) >= 0 &&
         gnutls_pubkey_get_pk_algorithm(to, &bits) == GNUTLS_PK_RSA &&
         bits >= LEAST_RSA;
  else if (ok)
    ok = gnutls_pubkey_import_ecc_raw(to, k->ecc, &a, has_y ? &b : NULL) >= 0;
  pai__buf_dispose(&x);
  pai__buf_dispose(&y);
  return ok;
}

static bool verify(gnutls_pubkey_t key, const kind *k, const char *token,
                   size_t len, pai__buf *signature)
{
  gnutls_datum_t text = { (unsigned char *)token, (unsigned)len };
  gnutls_datum_t sig = datum_of(signature), r, s, der = { NULL, 0 };
  bool ok;

  if (k->half == 0)
    return gnutls_pubkey_verify_data2(key, k->sign, 0, &text, &sig) >= 0;
  if (signature->len != 2 * k->half)
    return false;
  r = (gnutls_datum_t){ sig.data, (unsigned)k->half };
  s = (gnutls_datum_t){ sig.data + k->half, (unsigned)k->half };
  ok = gnutls_encode_rs_value(&der, &r, &s) >= 0 &&
       gnutls_pubkey_verify_data2(key, k->sign, 0, &text, &der) >= 0;
  gnutls_free(der.data);
  return ok;
}

/* Verifies the signature with one key. */
static bool has_signed(const pai__tree *keys, pai__node key, const kind *k,
                       const char *token, size_t len, pai__buf *signature)
{
  gnutls_pubkey_t pub = NULL;
  bool ok = gnutls_pubkey_init(&pub) >= 0 && import(pub, keys, key, k) &&
            verify(pub, k, token, len, signature);

  if (pub != NULL)
    gnutls_pubkey_deinit(pub);
  return ok;
}

/* --- tokens -------------------------------------------------------------- */

static int read_part(pai__tree **out, const pai_alloc *alloc, const char *text,
                     size_t len, pai_error **err)
{
  const pai__json_options o = { .max_depth = 32, .alloc = alloc };
  pai_error *why = NULL;
  int rc = PAI_EINVAL;
  pai__buf b;

  *out = NULL;
  pai__buf_init(&b, alloc);
  if (pai__base64url_read(&b, text, len)) {
    rc = pai__buf_ok(&b)
           ? pai__json_parse(out, pai__buf_text(&b), b.len, &o, &why)
           : PAI_ENOMEM;
    pai_error_free(why);
  }
  pai__buf_dispose(&b);
  if (rc == PAI_OK && pai__tree_type(*out, 0) != PAI__MAPPING) {
    pai__tree_free(*out);
    *out = NULL;
    rc = PAI_EINVAL;
  }
  return rc == PAI_OK       ? PAI_OK
         : rc == PAI_ENOMEM ? pai__oom(err)
                            : distrust(err, "it is not a JWT");
}

static const kind *find_kind(const pai__tree *head)
{
  const char *alg = pai__claim_text(head, 0, "alg");

  for (size_t i = 0; i < PAI__LEN(kinds); i++)
    if (is(alg, kinds[i].alg))
      return &kinds[i];
  return NULL;
}

/* Uses the key that the token names; if it names none, tries all keys. */
static int check_signature(const pai__tree *head, const pai__tree *keys,
                           const char *token, size_t len, pai__buf *signature,
                           pai_error **err)
{
  const kind *k = find_kind(head);
  const char *kid = pai__claim_text(head, 0, "kid");
  pai__tree_walk w = pai__tree_iter(keys, pai__tree_get(keys, 0, "keys"));
  bool known = false;
  pai__node key;

  if (k == NULL)
    return distrust(err, "its signature algorithm is not accepted");
  if (pai__tree_get(head, 0, "crit") != PAI__NO_NODE)
    return distrust(err, "it requires an unknown extension");
  while ((key = pai__tree_next(&w)) != PAI__NO_NODE) {
    const char *name = pai__claim_text(keys, key, "kid");
    if ((kid != NULL && !is(name, kid)) || !may_sign(keys, key, k))
      continue;
    known = true;
    if (has_signed(keys, key, k, token, len, signature))
      return PAI_OK;
  }
  return known ? distrust(err, "the signature is wrong")
               : pai__fail(err, PAI_ENOTFOUND,
                           "the ID token is signed with a key that the "
                           "provider does not have");
}

/* "aud" must be the client, or a list with it; then "azp" must be the
 * client. */
static bool is_for(const pai__tree *t, const char *client)
{
  const char *party = pai__claim_text(t, 0, "azp");
  pai__node aud = pai__tree_get(t, 0, "aud");

  if (party != NULL && strcmp(party, client) != 0)
    return false;
  return pai__claims_have(t, "aud", client) &&
         (pai__tree_size(t, aud) <= 1 || party != NULL);
}

/* Gets a time; returns false if it is out of range. */
static bool get_time(const pai__tree *t, const char *name, int64_t *out)
{
  pai__node n = pai__tree_get(t, 0, name);
  double f;

  if (n == PAI__NO_NODE ||
      (pai__tree_type(t, n) != PAI__INT && pai__tree_type(t, n) != PAI__FLOAT))
    return false;
  f = pai__tree_float(t, n);
  *out = f > 0 && f < 1e15 ? (int64_t)f : 0;
  return *out > 0;
}

static int check_claims(const pai__tree *t,
                        const pai__token_expected *expected, pai_error **err)
{
  int64_t expires = 0, from = 0, issued = 0;

  if (!is(pai__claim_text(t, 0, "iss"), expected->issuer))
    return distrust(err, "it is from another issuer");
  if (!is_for(t, expected->client))
    return distrust(err, "it is for another client");
  if (!get_time(t, "exp", &expires) || expires <= expected->now - SKEW)
    return distrust(err, "it has expired");
  if (pai__tree_get(t, 0, "nbf") != PAI__NO_NODE &&
      (!get_time(t, "nbf", &from) || from > expected->now + SKEW))
    return distrust(err, "it is not valid yet");
  if (!get_time(t, "iat", &issued) || issued > expected->now + SKEW)
    return distrust(err,
                    "it was issued in the future, or has no time of issue");
  if (!is(pai__claim_text(t, 0, "nonce"), expected->nonce))
    return distrust(err, "it is not the answer to this login");
  if (pai__claim_text(t, 0, "sub") == NULL)
    return distrust(err, "it has no user");
  return PAI_OK;
}

static int read_signed(pai__tree **claims, const pai_alloc *alloc,
                       const char *token, const size_t part[3],
                       const pai__tree *keys,
                       const pai__token_expected *expected, pai_error **err)
{
  size_t size = part[0] + 1 + part[1];
  pai__tree *head = NULL;
  pai__buf signature;
  int rc = read_part(&head, alloc, token, part[0], err);

  pai__buf_init(&signature, alloc);
  if (rc == PAI_OK &&
      !pai__base64url_read(&signature, token + size + 1, part[2]))
    rc = distrust(err, "it is not a JWT");
  if (rc == PAI_OK && !pai__buf_ok(&signature))
    rc = pai__oom(err);
  if (rc == PAI_OK && head != NULL)
    rc = check_signature(head, keys, token, size, &signature, err);
  if (rc == PAI_OK)
    rc = read_part(claims, alloc, token + part[0] + 1, part[1], err);
  if (rc == PAI_OK && *claims != NULL)
    rc = check_claims(*claims, expected, err);
  pai__buf_dispose(&signature);
  pai__tree_free(head);
  return rc;
}

int pai__id_token_read(pai__tree **claims, const pai_alloc *alloc,
                       const char *token, size_t len, const pai__tree *keys,
                       const pai__token_expected *expected, pai_error **err)
{
  const char *dot = memchr(token, '.', len), *second;
  size_t part[3];
  int rc;

  *claims = NULL;
  second =
    dot != NULL ? memchr(dot + 1, '.', len - (size_t)(dot + 1 - token)) : NULL;
  if (second == NULL || len > PAI__MOST_TOKEN)
    return distrust(err, "it is not a JWT");
  part[0] = (size_t)(dot - token);
  part[1] = (size_t)(second - dot - 1);
  part[2] = len - (size_t)(second + 1 - token);
  if (part[2] == 0 || part[2] > MOST_SIGNATURE)
    return distrust(err, "it is not signed");
  rc = read_signed(claims, alloc, token, part, keys, expected, err);
  if (rc < 0) {
    pai__tree_free(*claims);
    *claims = NULL;
  }
  return rc;
}
