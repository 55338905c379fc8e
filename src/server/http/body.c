/*
 * body.c - parsing of request bodies
 *
 * Clients of OpenPAI send JSON, a form, or JSON sent as text; the handler
 * always gets JSON.
 */
#include "server/http/request.h"

static const char *header(const pai__request *r, const char *name)
{
  return pai__conn_field(r->conn, name);
}

/* Compares the start of a text, ignoring case. */
static bool begins(const char *text, const char *word)
{
  while (*word != '\0' && (*text | 32) == *word)
    text++, word++;
  return *word == '\0';
}

/* Returns the value of "charset=" and its length, or NULL. */
static const char *find_charset(const char *type, size_t *len)
{
  const char *at = type != NULL ? strchr(type, ';') : NULL;

  for (; at != NULL; at = strchr(at, ';')) {
    at += 1 + strspn(at + 1, " \t");
    if (!begins(at, "charset="))
      continue;
    at += 8 + (at[8] == '"' ? 1 : 0);
    *len = strcspn(at, "\"; \t");
    return at;
  }
  return NULL;
}

static bool is_utf8(const char *name, size_t len)
{
  return (len == 5 && begins(name, "utf-8")) ||
         (len == 4 && begins(name, "utf8")) ||
         (len == 8 && begins(name, "us-ascii"));
}

bool pai__body_is_known(pai__request *r)
{
  const char *encoding = header(r, "Content-Encoding");
  const char *charset;
  size_t len = 0;

  if (r->body.len == 0)
    return true;
  if (encoding != NULL && !begins(encoding, "identity")) {
    pai__answer_error(r, 415, NULL, "unsupported content encoding \"%s\"",
                      encoding);
    return false;
  }
  charset = find_charset(header(r, "Content-Type"), &len);
  if (charset == NULL || is_utf8(charset, len))
    return true;
  pai__answer_error(r, 415, NULL, "unsupported charset \"%.*s\"", (int)len,
                    charset);
  return false;
}

/* curl labels everything as a form, and without a type it may be one: the body
 * itself decides. */
static bool is_form(const pai__request *r)
{
  const char *type = header(r, "Content-Type");
  const char *body = pai__buf_text(&r->body);

  body += strspn(body, " \t\r\n");
  return (type == NULL || begins(type, "application/x-www-form-urlencoded")) &&
         body[0] != '{' && body[0] != '[';
}

static bool is_text(const pai__request *r)
{
  const char *type = header(r, "Content-Type");

  return type != NULL && begins(type, "text/");
}

/* Replaces the body by `json`. */
static void replace_body(pai__request *r, pai__buf *json)
{
  pai__buf_dispose(&r->body);
  r->body = *json;
  pai__buf_init(json, &r->server->alloc);
}

static bool read_form(pai__request *r)
{
  pai__buf json;
  int rc;

  pai__buf_init(&json, &r->server->alloc);
  rc = pai__form_to_json(pai__buf_text(&r->body), r->body.len, &json);
  if (rc == PAI_OK)
    replace_body(r, &json);
  else if (rc == PAI_ELIMIT)
    pai__answer_error(r, 413, NULL, "too many parameters");
  else
    pai__answer_failure(r, rc);
  pai__buf_dispose(&json);
  return rc == PAI_OK;
}

static bool parse(pai__request *r, pai__tree **out)
{
  const pai__json_options options = { .alloc = &r->server->alloc,
                                      .flags = PAI__JSON_DUPLICATES };
  pai_error *err = NULL;
  int rc =
    pai__json_parse(out, pai__buf_text(&r->body), r->body.len, &options, &err);

  if (rc == PAI_ENOMEM)
    pai__answer_failure(r, rc);
  else if (rc < 0 && is_text(r))
    pai__answer_error(r, 400, "InvalidParametersError",
                      "\"value\" must be an object");
  else if (rc < 0)
    pai__answer_error(r, 400, NULL, "%s", pai_error_message(err));
  pai_error_free(err);
  return rc == PAI_OK;
}

/* Checks and converts the body for the handler. */
static bool check(pai__request *r, const pai__tree *tree)
{
  pai__buf json, wrong;
  int rc;

  pai__buf_init(&json, &r->server->alloc);
  pai__buf_init(&wrong, &r->server->alloc);
  rc = pai__fields_check(r->route->body->fields, tree, &json, &wrong);
  if (rc == PAI_OK)
    replace_body(r, &json);
  else if (rc == PAI_EINVAL)
    pai__answer_error(r, 400, "InvalidParametersError", "%s",
                      pai__buf_text(&wrong));
  else
    pai__answer_failure(r, rc);
  pai__buf_dispose(&wrong);
  pai__buf_dispose(&json);
  return rc == PAI_OK;
}

bool pai__body_read(pai__request *r)
{
  pai__tree *tree = NULL;
  bool good;

  if (r->body.len == 0)
    pai__buf_str(&r->body, "{}");
  if (!pai__buf_ok(&r->body)) {
    pai__answer_failure(r, PAI_ENOMEM);
    return false;
  }
  if ((is_form(r) && !read_form(r)) || !parse(r, &tree))
    return false;
  good = check(r, tree) && parse(r, &r->form);
  pai__tree_free(tree);
  return good;
}
