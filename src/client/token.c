/*
 * token.c - reads the claims of a token; pure
 *
 * The token is not verified: only the server can do that.
 */
#include "client/inside.h"

#include "base/text/encode.h"

enum { MOST = 64 << 10 };

static int read_claims(pai__client_token *out, const pai_alloc *alloc,
                       const pai__buf *json)
{
  pai__tree *tree = pai__answer_tree(alloc, pai__buf_text(json), json->len);
  const char *user = pai__tree_look_text(tree, 0, "username", "");
  int rc = PAI_OK;

  out->issued = pai__tree_look_int(tree, 0, "iat");
  out->expires = pai__tree_look_int(tree, 0, "exp");
  if (user[0] != '\0') {
    out->user = pai__strdup(alloc, user);
    rc = out->user != NULL ? PAI_OK : PAI_ENOMEM;
  }
  pai__tree_free(tree);
  return rc;
}

int pai__token_read(pai__client_token *out, const pai_alloc *alloc,
                    const char *token)
{
  const char *claims = strchr(token, '.'), *end;
  pai__buf json;
  int rc = PAI_OK;

  *out = (pai__client_token){ 0 };
  end = claims != NULL ? strchr(claims + 1, '.') : NULL;
  if (end == NULL || end - claims > MOST)
    return PAI_OK;
  pai__buf_init(&json, alloc);
  if (pai__base64url_read(&json, claims + 1, (size_t)(end - claims - 1)))
    rc = pai__buf_ok(&json) ? read_claims(out, alloc, &json) : PAI_ENOMEM;
  pai__buf_dispose(&json);
  return rc;
}
