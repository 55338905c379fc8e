/* code.c - single-use codes that are exchanged for a token */
#include "server/oidc/code.h"

#include <gnutls/crypto.h>
#include <string.h>

struct pai__server_code {
  pai__server_code *after;
  char *user;
  char hash[PAI__RANDOM_TEXT]; /* of the code, which itself is not stored */
  char challenge[PAI__RANDOM_TEXT];
  pai_time until;
};

/* 32 characters, without I, O, 0 and 1. */
static const char letters[] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

void pai__codes_init(pai__codes *c, const pai_alloc *alloc)
{
  *c = (pai__codes){ .alloc = alloc };
}

static void free_code(pai__codes *c, pai__server_code *code)
{
  pai__strfree(c->alloc, code->user);
  pai__free(c->alloc, code, sizeof(*code));
}

static void drop(pai__codes *c, pai__server_code **at)
{
  pai__server_code *code = *at;

  *at = code->after;
  c->count--;
  free_code(c, code);
}

void pai__codes_dispose(pai__codes *c)
{
  while (c->first != NULL)
    drop(c, &c->first);
}

/* Drops expired codes, and the user's oldest one if the user has too many. */
static void make_room(pai__codes *c, const char *user, pai_time now)
{
  pai__server_code **oldest = NULL, **at = &c->first;
  size_t his = 0;

  while (*at != NULL)
    if ((*at)->until <= now)
      drop(c, at);
    else
      at = &(*at)->after;
  for (at = &c->first; *at != NULL; at = &(*at)->after)
    if (strcmp((*at)->user, user) == 0) {
      oldest = oldest != NULL ? oldest : at;
      his++;
    }
  if (his >= PAI__CODES_OF_ONE && oldest != NULL)
    drop(c, oldest);
}

int pai__codes_put(pai__codes *c, const char *code, const char *user,
                   const char *challenge, pai_time now, pai_time until)
{
  pai__server_code *new, **at = &c->first;

  make_room(c, user, now);
  if (c->count >= PAI__MOST_CODES)
    return PAI_EBUSY;
  if (!pai__challenge_is_one(challenge))
    return PAI_EINVAL;
  new = pai__zalloc(c->alloc, sizeof(*new));
  if (new == NULL)
    return PAI_ENOMEM;
  new->user = pai__strdup(c->alloc, user);
  if (new->user == NULL || !pai__challenge(new->hash, code)) {
    int rc = new->user == NULL ? PAI_ENOMEM : PAI_EIO;
    free_code(c, new);
    return rc;
  }
  memcpy(new->challenge, challenge, PAI__RANDOM_TEXT);
  new->until = until;
  while (*at != NULL)
    at = &(*at)->after;
  *at = new;
  c->count++;
  return PAI_OK;
}

int pai__codes_take(char **user, pai__codes *c, const char *code,
                    const char *verifier, pai_time now)
{
  char hash[PAI__RANDOM_TEXT], challenge[PAI__RANDOM_TEXT];
  int rc = PAI_EPERM;

  *user = NULL;
  if (!pai__challenge(hash, code) || !pai__challenge(challenge, verifier))
    return PAI_EIO;
  for (pai__server_code **at = &c->first; *at != NULL; at = &(*at)->after) {
    if (strcmp((*at)->hash, hash) != 0)
      continue;
    if ((*at)->until > now &&
        gnutls_memcmp((*at)->challenge, challenge, sizeof(challenge)) == 0) {
      *user = (*at)->user;
      (*at)->user = NULL;
      rc = PAI_OK;
    }
    drop(c, at);
    break;
  }
  return rc;
}

bool pai__code_typed(char out[PAI__TYPED_CODE + 1])
{
  unsigned char bytes[PAI__TYPED_CODE];

  if (gnutls_rnd(GNUTLS_RND_KEY, bytes, sizeof(bytes)) < 0)
    return false;
  for (size_t i = 0; i < sizeof(bytes); i++)
    out[i] = letters[bytes[i] & 31];
  out[PAI__TYPED_CODE] = '\0';
  return true;
}

bool pai__challenge_is_one(const char *text)
{
  return strlen(text) == PAI__RANDOM_TEXT - 1 &&
         strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                      "0123456789-_") == PAI__RANDOM_TEXT - 1;
}

/* The program computes the same sums (src/cli/admin/browser.c). */
void pai__challenge_words(char out[PAI__WORDS], const char *challenge)
{
  for (size_t i = 0; i + 1 < PAI__WORDS; i++) {
    const unsigned char *c =
      (const unsigned char *)challenge + 4 * (i > 4 ? i - 1 : i);
    out[i] = i == 4 ? '-' : letters[(c[0] + 3U * c[1] + 5U * c[2]) & 31];
  }
  out[PAI__WORDS - 1] = '\0';
}
