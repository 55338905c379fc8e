/* password.c - password hashes: OpenPAI's own and argon2id */
#include "account/inside.h"

#include "base/text/md5.h"

#include <stdlib.h>

enum { ROUNDS = 10000 };

bool pai__is_old_hash(const char *text)
{
  size_t len = strspn(text, "0123456789abcdef");

  return len == PAI__OLD_HASH - 1 && text[len] == '\0';
}

/* Hashes that need more than 1 GiB are refused. */
static bool is_argon(const char *text)
{
  static const char start[] = "$argon2id$v=19$m=";
  const size_t len = sizeof(start) - 1;

  return strncmp(text, start, len) == 0 &&
         strlen(text) < crypto_pwhash_STRBYTES &&
         strtoul(text + len, NULL, 10) <= 1 << 20 &&
         crypto_pwhash_str_needs_rehash(text, crypto_pwhash_OPSLIMIT_MIN,
                                        crypto_pwhash_MEMLIMIT_MIN) >= 0;
}

bool pai__is_hash(const char *text)
{
  return pai__is_old_hash(text) || is_argon(text);
}

/* PBKDF2 with HMAC-SHA-512; the hash is one block. */
void pai__hash_old(char out[PAI__OLD_HASH], const char *user,
                   const char *password)
{
  static const unsigned char first[4] = { 0, 0, 0, 1 };
  unsigned char round[crypto_auth_hmacsha512_BYTES], sum[sizeof(round)];
  crypto_auth_hmacsha512_state keyed, state;
  char salt[PAI__MD5_HEX];

  (void)pai__md5_hex(salt, user, strlen(user));
  (void)crypto_auth_hmacsha512_init(&keyed, (const unsigned char *)password,
                                    strlen(password));
  state = keyed;
  (void)crypto_auth_hmacsha512_update(&state, (unsigned char *)salt,
                                      strlen(salt));
  (void)crypto_auth_hmacsha512_update(&state, first, sizeof(first));
  (void)crypto_auth_hmacsha512_final(&state, round);
  memcpy(sum, round, sizeof(sum));
  for (int i = 1; i < ROUNDS; i++) {
    state = keyed;
    (void)crypto_auth_hmacsha512_update(&state, round, sizeof(round));
    (void)crypto_auth_hmacsha512_final(&state, round);
    for (size_t j = 0; j < sizeof(sum); j++)
      sum[j] ^= round[j];
  }
  (void)sodium_bin2hex(out, PAI__OLD_HASH, sum, sizeof(sum));
  sodium_memzero(&keyed, sizeof(keyed));
  sodium_memzero(&state, sizeof(state));
}
