/*
 * code.h - single-use codes that are exchanged for a token (PKCE)
 *
 * A program that wants a token sends the browser here with the challenge of a
 * secret that it has made.  It gets back a code, which is worthless without
 * that secret.  So other programs that listen on this machine, or that read
 * the browser's history, get no token.
 *
 * Pure: the caller gives the time.
 */
#ifndef PAI_SRC_SERVER_OIDC_CODE_H
#define PAI_SRC_SERVER_OIDC_CODE_H

#include "server/oidc/token.h"

enum {
  PAI__MOST_CODES = 1024, /* at a time */
  PAI__CODES_OF_ONE = 4,  /* of one user: a new one replaces the oldest */
  PAI__TYPED_CODE = 12,   /* characters of a code to be typed */
  PAI__WORDS = 10         /* "ABCD-EFGH" and a NUL */
};

typedef struct pai__server_code pai__server_code;

typedef struct pai__codes {
  const pai_alloc *alloc;  /* borrowed */
  pai__server_code *first; /* the oldest */
  size_t count;
} pai__codes;

void pai__codes_init(pai__codes *c, const pai_alloc *alloc);
void pai__codes_dispose(pai__codes *c);
/* Adds a code for `user`, valid until `until` together with the secret of the
 * challenge.  PAI_OK; PAI_EBUSY: too many codes; PAI_ENOMEM; PAI_EIO. */
int pai__codes_put(pai__codes *c, const char *code, const char *user,
                   const char *challenge, pai_time now, pai_time until);
/* Exchanges a code for its user, for pai__strfree().  The code is used up in
 * any case.  PAI_OK; PAI_EPERM: unknown code, expired, or the wrong secret. */
int pai__codes_take(char **user, pai__codes *c, const char *code,
                    const char *verifier, pai_time now);

/* Makes a code to be typed, from letters that cannot be confused.  Returns
 * false if there are no random numbers. */
bool pai__code_typed(char out[PAI__TYPED_CODE + 1]);
/* Returns whether a text is a challenge: the base64url of a secret's hash. */
bool pai__challenge_is_one(const char *text);
/* Makes the words that the program and the page both show, so that users see
 * that they belong to one login. */
void pai__challenge_words(char out[PAI__WORDS], const char *challenge);

#endif
