/* answer.c - parses answers and refusals of the server */
#include "client/inside.h"

#include "base/text/utf8.h"

bool pai__answer_is_good(int http_status)
{
  return http_status >= 200 && http_status < 300;
}

pai_client_answer pai__answer_none(void)
{
  return (pai_client_answer){ .struct_size = sizeof(pai_client_answer),
                              .body = "",
                              .type = "",
                              .code = "",
                              .state = "" };
}

/* --- JSON ---------------------------------------------------------------- */

pai__tree *pai__answer_tree(const pai_alloc *alloc, const char *body,
                            size_t len)
{
  pai__json_options options = { .alloc = alloc };
  pai__tree *tree = NULL;

  (void)pai__json_parse(&tree, body, len, &options, NULL);
  return tree;
}

int pai__answer_read(pai__tree **out, const pai_alloc *alloc, const char *body,
                     size_t len)
{
  pai__json_options options = { .alloc = alloc };

  *out = NULL;
  return pai__json_parse(out, body, len, &options, NULL) == PAI_ENOMEM
           ? PAI_ENOMEM
           : PAI_OK;
}

/* --- refusals ------------------------------------------------------------ */

static int status_code(int http_status)
{
  switch (http_status) {
  case 401:
  case 403: return PAI_EPERM;
  case 404: return PAI_ENOTFOUND;
  case 409: return PAI_EEXISTS;
  case 413: return PAI_ELIMIT;
  case 429:
  case 503: return PAI_EBUSY;
  default:
    return http_status >= 400 && http_status < 500 ? PAI_EINVAL : PAI_EIO;
  }
}

int pai__answer_refuse(pai_error **err, const pai__tree *tree,
                       pai_client_answer *a)
{
  const char *message = pai__tree_look_text(tree, 0, "message", ""),
             *help = pai__tree_look_text(tree, 0, "help", "");
  char text[PAI__EXCERPT];
  int rc = status_code(a->http_status);

  a->code = pai__tree_look_text(tree, 0, "code", "");
  if (message[0] != '\0')
    (void)pai__fail(err, rc, "%s", message);
  else
    (void)pai__fail(err, rc, "the server answered %d%s%s", a->http_status,
                    a->body_len > 0 ? ": " : "",
                    pai__excerpt(text, a->body, a->body_len));
  if (help[0] != '\0')
    pai__error_help(err, "%s", help);
  if (rc == PAI_EBUSY || a->http_status == 502 || a->http_status == 504)
    pai__error_retriable(err);
  return rc;
}
