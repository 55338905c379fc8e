/*
 * secret.h - random texts, challenges, and sealed texts
 *
 * Pure, but for random numbers: GnuTLS encrypts and hashes.
 */
#ifndef PAI_SRC_SERVER_SECRET_H
#define PAI_SRC_SERVER_SECRET_H

#include "base/buf.h"

enum {
  PAI__RANDOM = 32,     /* bytes of a random secret */
  PAI__RANDOM_TEXT = 44 /* the secret as text, with a NUL */
};

/* Makes a random secret as text. */
bool pai__random_text(char out[PAI__RANDOM_TEXT]);
/* Reads such a text of `len` bytes back; returns false if it is none. */
bool pai__random_read(unsigned char out[PAI__RANDOM], const char *text,
                      size_t len);
/* Makes the challenge of a verifier, as PKCE's S256. */
bool pai__challenge(char out[PAI__RANDOM_TEXT], const char *verifier);
/*
 * Encrypt a text with a key for the cookie `name`, as base64url, and decrypt
 * it.  PAI_OK; PAI_EPERM: sealed with another key, or changed; PAI_ENOMEM;
 * PAI_EIO.
 */
int pai__cookie_seal(pai__buf *out, const unsigned char key[PAI__RANDOM],
                     const char *name, const char *text, size_t len);
int pai__cookie_open(pai__buf *out, const unsigned char key[PAI__RANDOM],
                     const char *name, const char *sealed, size_t len);
/* Overwrites a secret. */
void pai__secret_wipe(void *bytes, size_t len);

#endif
