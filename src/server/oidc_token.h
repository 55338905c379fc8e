/*
 * oidc_token.h - what a provider of OpenID Connect has signed
 *
 * Pure: texts go in, claims come out.  GnuTLS looks at the signatures.
 */
#ifndef PAI_SRC_SERVER_OIDC_TOKEN_H
#define PAI_SRC_SERVER_OIDC_TOKEN_H

#include "base/tree.h"

enum {
  PAI__MOST_TOKEN = 64 << 10, /* bytes of an ID token */
  PAI__MOST_KEYS = 128,       /* of a provider */
  PAI__RANDOM = 32,           /* bytes of what nobody may guess, */
  PAI__RANDOM_TEXT = 44       /* as text, with a NUL */
};

/* What a token must say. */
typedef struct pai__token_wish {
  const char *issuer, *client, *nonce;
  int64_t now; /* seconds since 1970 */
} pai__token_wish;

/*
 * Reads the keys of a provider (a JWK set).
 * PAI_OK; PAI_EINVAL: it is none; PAI_ELIMIT; PAI_ENOMEM.
 */
int pai__keys_read(pai__tree **out, const pai_alloc *alloc, const char *text,
                   size_t len, pai_error **err);

/*
 * The claims of an ID token, which is signed by one of the keys, for this
 * client, and good now.  PAI_OK; PAI_ENOTFOUND: none of the keys is the one
 * that it names; PAI_EPERM: it is not to be believed; PAI_ENOMEM.
 */
int pai__id_token_read(pai__tree **claims, const pai_alloc *alloc,
                       const char *token, size_t len, const pai__tree *keys,
                       const pai__token_wish *wish, pai_error **err);

/* A member that is a text, or NULL. */
const char *pai__claim_text(const pai__tree *t, pai__node n, const char *name);

/* oidc_secret.c: base64 of URLs, without '='.  Both add to `out`; false: it is
 * no such text. */
void pai__base64url(pai__buf *out, const void *bytes, size_t len);
bool pai__base64url_read(pai__buf *out, const char *text, size_t len);
/* What nobody can guess, as text. */
bool pai__random_text(char out[PAI__RANDOM_TEXT]);
/* The challenge of a verifier, as of PKCE's S256. */
bool pai__challenge(char out[PAI__RANDOM_TEXT], const char *verifier);
/*
 * Seals a text with a key, for who knows `name`, as text of URLs; and opens
 * it.  PAI_OK; PAI_EPERM: it is not ours, or was changed; PAI_ENOMEM; PAI_EIO.
 */
int pai__cookie_seal(pai__buf *out, const unsigned char key[PAI__RANDOM],
                     const char *name, const char *text, size_t len);
int pai__cookie_open(pai__buf *out, const unsigned char key[PAI__RANDOM],
                     const char *name, const char *sealed, size_t len);

#endif
