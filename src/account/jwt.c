/*
 * jwt.c - text form of tokens: JSON Web Tokens with HS256
 *
 * The key is derived from the root's key and is in no file.  Reading allocates
 * nothing: a text signed with the key was written here, so its members are
 * where this file writes them.
 */
#include "account/inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* {"alg":"HS256","typ":"JWT"}: no other header is accepted. */
static const char header[] = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.";

enum {
  HEADER = sizeof(header) - 1,
  SIGNATURE = 43, /* 32 bytes in base64 */
  PAYLOAD = 384
};

#define BASE64 sodium_base64_VARIANT_URLSAFE_NO_PADDING

static void sign(const pai_accounts *a, const char *text, size_t len,
                 char out[SIGNATURE + 1])
{
  unsigned char mac[crypto_auth_hmacsha256_BYTES];

  (void)crypto_auth_hmacsha256(mac, (const unsigned char *)text, len, a->key);
  (void)sodium_bin2base64(out, SIGNATURE + 1, mac, sizeof(mac), BASE64);
}

void pai__jwt_write(const pai_accounts *a, const pai__token *token,
                    char out[PAI__TOKEN_TEXT])
{
  char payload[PAYLOAD], until[40] = "";
  size_t len;
  int n;

  if (token->expires != 0)
    (void)snprintf(until, sizeof(until), "\"exp\":%" PRId64 ",",
                   token->expires / 1000000);
  n = snprintf(payload, sizeof(payload),
               "{\"username\":\"%s\",\"application\":%s,"
               "\"jobSpecific\":false,\"encodedFrameworkName\":\"\","
               "\"iat\":%" PRId64 ",%s\"jti\":\"%s\"}",
               token->owner->name, token->application ? "true" : "false",
               token->issued / 1000000, until, token->uid);
  memcpy(out, header, HEADER);
  (void)sodium_bin2base64(out + HEADER, PAI__TOKEN_TEXT - HEADER,
                          (const unsigned char *)payload, (size_t)n, BASE64);
  len = strlen(out);
  out[len] = '.';
  sign(a, out, len, out + len + 1);
}

/* Copies the text of a member, up to its closing quote. */
static bool take_text(char *out, size_t room, const char *payload,
                      const char *member)
{
  const char *at = strstr(payload, member);
  size_t len = 0;

  if (at == NULL)
    return false;
  at += strlen(member);
  while (at[len] != '"' && at[len] != '\0' && len < room)
    len++;
  if (at[len] != '"' || len == room)
    return false;
  memcpy(out, at, len);
  out[len] = '\0';
  return true;
}

static bool take_claims(pai__claims *out, const char *payload)
{
  const char *expires = strstr(payload, "\"exp\":");

  out->expires = expires != NULL ? strtoll(expires + 6, NULL, 10) : 0;
  return take_text(out->user, sizeof(out->user), payload,
                   "{\"username\":\"") &&
         take_text(out->uid, sizeof(out->uid), payload, "\"jti\":\"");
}

/* Keeps the last dot. */
void pai__jwt_strip(char token[PAI__TOKEN_TEXT])
{
  char *dot = strrchr(token, '.');

  sodium_memzero(dot + 1, strlen(dot + 1));
}

/* Reads the claims of a token of this form. */
static bool decode(pai__claims *out, const char *token, size_t body)
{
  char payload[PAYLOAD];
  size_t n;

  if (sodium_base642bin((unsigned char *)payload, sizeof(payload) - 1,
                        token + HEADER, body - HEADER, NULL, &n, NULL,
                        BASE64) != 0)
    return false;
  payload[n] = '\0';
  return take_claims(out, payload);
}

bool pai__jwt_peek(pai__claims *out, const char *token, size_t len)
{
  const char *dot;

  if (len >= PAI__TOKEN_TEXT || len <= HEADER ||
      memcmp(token, header, HEADER) != 0)
    return false;
  dot = memchr(token + HEADER, '.', len - HEADER);
  return dot != NULL && decode(out, token, (size_t)(dot - token));
}

bool pai__jwt_read(const pai_accounts *a, pai__claims *out, const char *token,
                   size_t len)
{
  char expected[SIGNATURE + 1];
  size_t body;

  if (!a->has_key || len >= PAI__TOKEN_TEXT || len <= HEADER + SIGNATURE + 1 ||
      memcmp(token, header, HEADER) != 0)
    return false;
  body = len - SIGNATURE - 1;
  if (token[body] != '.')
    return false;
  sign(a, token, body, expected);
  if (sodium_memcmp(expected, token + body + 1, SIGNATURE) != 0)
    return false;
  return decode(out, token, body);
}
