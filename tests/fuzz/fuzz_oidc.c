/*
 * fuzz_oidc.c - what comes from a provider of OpenID Connect, or from who
 * plays one: its document, its keys, and a token; and a file of settings
 *
 * The first line is the token, what follows the keys; all of it is a document,
 * too.  Nobody has a key that signs for the keys of an input, so no token is
 * good unless the corpus has it.
 */
#include "check.h"

#include "base/text/encode.h"
#include "server/oidc/provider.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char issuer[] = "https://a.org";

static void try_token(const char *token, size_t len, const char *keys,
                      size_t keys_len)
{
  const pai__token_expected wish = { issuer, "me", "n", 1500 };
  pai__tree *set, *claims;

  if (pai__keys_read(&set, &pai__libc_alloc, keys, keys_len, NULL) < 0) {
    CHECK(set == NULL);
    return;
  }
  int rc = pai__id_token_read(&claims, &pai__libc_alloc, token, len, set,
                              &wish, NULL);
  CHECK((rc == PAI_OK) == (claims != NULL));
  pai__tree_free(claims);
  pai__tree_free(set);
}

static void try_claims(const char *text, size_t len)
{
  pai__tree *t;
  const char *mail;
  pai__buf name;

  if (pai__provider_read(&t, &pai__libc_alloc, issuer, text, len, NULL) ==
      PAI_OK)
    CHECK(pai__url_is_safe(pai__claim_text(t, 0, "token_endpoint")));
  if (t == NULL)
    return;
  pai__buf_init(&name, &pai__libc_alloc);
  if (pai__claims_name(&name, &mail, t))
    CHECK(name.len > 0 && strchr(pai__buf_text(&name), '/') == NULL);
  (void)pai__claims_have(t, "groups", "x");
  pai__buf_dispose(&name);
  pai__tree_free(t);
}

/* A file of settings: good ones are safe, and of others nothing is left. */
static void try_settings(const char *text, size_t len)
{
  pai__oidc_settings s;
  pai_error *err = NULL;
  int rc = pai__settings_parse(&s, &pai__libc_alloc, "f", text, len, &err);

  CHECK((rc == PAI_OK) == (err == NULL));
  CHECK(s.issuer == NULL || pai__url_is_safe(s.issuer));
  for (size_t i = 0; i < s.nadmins; i++)
    CHECK(pai__claim_rule_is_one(s.admins[i]));
  CHECK(rc == PAI_OK || (s.client_secret == NULL && s.admins == NULL));
  pai_error_free(err);
  pai__settings_dispose(&s, &pai__libc_alloc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *text = (const char *)data;
  const char *line = size > 0 ? memchr(text, '\n', size) : NULL;
  pai__buf out;

  if (line != NULL)
    try_token(text, (size_t)(line - text), line + 1,
              size - (size_t)(line + 1 - text));
  try_claims(text, size);
  try_settings(text, size);
  pai__buf_init(&out, &pai__libc_alloc);
  if (pai__base64url_read(&out, text, size)) {
    pai__buf again;
    pai__buf_init(&again, &pai__libc_alloc);
    pai__base64url(&again, pai__buf_text(&out), out.len);
    CHECK(again.len == size && memcmp(pai__buf_text(&again), text, size) == 0);
    pai__buf_dispose(&again);
  }
  pai__buf_dispose(&out);
  return 0;
}
