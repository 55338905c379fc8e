/*
 * token.h - ID tokens signed by an OpenID Connect provider
 *
 * Pure: texts go in, claims come out.  GnuTLS verifies the signatures.
 */
#ifndef PAI_SRC_SERVER_OIDC_TOKEN_H
#define PAI_SRC_SERVER_OIDC_TOKEN_H

#include "server/secret.h"

#include "base/tree.h"

enum {
  PAI__MOST_TOKEN = 64 << 10, /* bytes of an ID token */
  PAI__MOST_KEYS = 128        /* of a provider */
};

/* What a token must contain. */
typedef struct pai__token_expected {
  const char *issuer, *client, *nonce;
  int64_t now; /* seconds since 1970 */
} pai__token_expected;

/*
 * Parses the keys of a provider (a JWK set).  PAI_OK; PAI_EINVAL: not a key
 * set; PAI_ELIMIT; PAI_ENOMEM.
 */
int pai__keys_read(pai__tree **out, const pai_alloc *alloc, const char *text,
                   size_t len, pai_error **err);

/*
 * Gets the claims of an ID token that is signed by one of the keys, for this
 * client, and valid now.  PAI_OK; PAI_ENOTFOUND: the token names a key that is
 * not there; PAI_EPERM: the token is not valid; PAI_ENOMEM.
 */
int pai__id_token_read(pai__tree **claims, const pai_alloc *alloc,
                       const char *token, size_t len, const pai__tree *keys,
                       const pai__token_expected *expected, pai_error **err);

/* Returns the value of a member, or NULL if it is not a text. */
const char *pai__claim_text(const pai__tree *t, pai__node n, const char *name);
/* oidc/claims.c: returns whether a claim, a text or a list of texts, has that
 * value. */
bool pai__claims_have(const pai__tree *claims, const char *claim,
                      const char *text);

#endif
