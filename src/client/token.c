/*
 * token.c - what a token says of itself; pure
 *
 * It is read, not trusted: whether it is good only the server knows.
 */
#include "client/inside.h"

enum { MOST = 64 << 10 };

static int digit(char c)
{
  if (c >= 'A' && c <= 'Z')
    return c - 'A';
  if (c >= 'a' && c <= 'z')
    return c - 'a' + 26;
  if (c >= '0' && c <= '9')
    return c - '0' + 52;
  return c == '-' ? 62 : c == '_' ? 63 : -1;
}

/* False: it is no base64url. */
static bool decode(pai__buf *out, const char *text, size_t len)
{
  uint32_t bits = 0;
  int n = 0;

  for (size_t i = 0; i < len; i++) {
    int d = digit(text[i]);
    if (d < 0)
      return false;
    bits = (bits << 6 | (uint32_t)d) & 0xffff;
    n += 6;
    if (n >= 8) {
      n -= 8;
      pai__buf_char(out, (char)(bits >> n & 0xff));
    }
  }
  return true;
}

static int read_claims(pai__token *out, const pai_alloc *alloc,
                       const pai__buf *json)
{
  pai__tree *tree = pai__answer_tree(alloc, pai__buf_text(json), json->len);
  const char *user = pai__client_text(tree, 0, "username");
  int rc = PAI_OK;

  out->issued = pai__answer_number(tree, 0, "iat");
  out->expires = pai__answer_number(tree, 0, "exp");
  if (user[0] != '\0') {
    out->user = pai__strdup(alloc, user);
    rc = out->user != NULL ? PAI_OK : PAI_ENOMEM;
  }
  pai__tree_free(tree);
  return rc;
}

int pai__token_read(pai__token *out, const pai_alloc *alloc, const char *token)
{
  const char *claims = strchr(token, '.'), *end;
  pai__buf json;
  int rc = PAI_OK;

  *out = (pai__token){ 0 };
  end = claims != NULL ? strchr(claims + 1, '.') : NULL;
  if (end == NULL || end - claims > MOST)
    return PAI_OK;
  pai__buf_init(&json, alloc);
  if (decode(&json, claims + 1, (size_t)(end - claims - 1)))
    rc = pai__buf_ok(&json) ? read_claims(out, alloc, &json) : PAI_ENOMEM;
  pai__buf_dispose(&json);
  return rc;
}
