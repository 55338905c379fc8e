/*
 * oidc_code.h - codes of one use, in the place of a token
 *
 * A program that wants a token sends the browser here with the challenge of a
 * secret that it has made (PKCE).  What it gets back is a code, which is worth
 * nothing without that secret: whoever else listens on this machine, or reads
 * the browser's history, has no token.
 *
 * Pure: the time is told.
 */
#ifndef PAI_SRC_SERVER_OIDC_CODE_H
#define PAI_SRC_SERVER_OIDC_CODE_H

#include "server/oidc_token.h"

enum {
  PAI__MOST_CODES = 1024, /* at once */
  PAI__CODES_OF_ONE = 4,  /* of one user: the oldest makes room */
  PAI__TYPED_CODE = 12,   /* characters of one that is typed, */
  PAI__WORDS = 10         /* "ABCD-EFGH" and a NUL */
};

typedef struct pai__code pai__code;

typedef struct pai__codes {
  const pai_alloc *alloc; /* borrowed */
  pai__code *first;       /* the oldest */
  size_t count;
} pai__codes;

void pai__codes_init(pai__codes *c, const pai_alloc *alloc);
void pai__codes_dispose(pai__codes *c);
/* Who has the secret of that challenge and shows the code until then is the
 * user.  PAI_OK; PAI_EBUSY: there are too many; PAI_ENOMEM; PAI_EIO. */
int pai__codes_put(pai__codes *c, const char *code, const char *user,
                   const char *challenge, pai_time now, pai_time until);
/* The user, for pai__strfree().  Whatever comes of it, the code is used up.
 * PAI_OK; PAI_EPERM: it is none, or too old, or the secret is another's. */
int pai__codes_take(char **user, pai__codes *c, const char *code,
                    const char *verifier, pai_time now);

/* A code that can be typed, of letters that are not like others.  False: this
 * machine gives no random numbers. */
bool pai__code_typed(char out[PAI__TYPED_CODE + 1]);
/* Whether that is a challenge: the hash of a secret, as text of URLs. */
bool pai__challenge_is_one(const char *text);
/* What the program and the page both show, so that a user sees that they are of
 * one login. */
void pai__challenge_words(char out[PAI__WORDS], const char *challenge);

#endif
