/* call.c - calls the API by a call's name: arguments become path, query and
 * body */
#include "client/call.h"

#include "base/findings.h"
#include "json/node.h"

#include <stdio.h>

/* A call being composed. */
typedef struct draft {
  const pai__api_route *call;
  const pai__tree *args;
  pai__buf path, body, text;
  pai_error **err;
} draft;

static const pai__api_field *fields_of(const pai__api_route *call)
{
  return call->body != NULL ? call->body->fields : NULL;
}

/* --- checking arguments -------------------------------------------------- */

static bool has_param(const draft *d, const char *name)
{
  const char *param = d->call->path;
  size_t len;

  for (; (param = pai__call_param(param, &len)) != NULL; param += len)
    if (strncmp(param, name, len) == 0 && name[len] == '\0')
      return true;
  return false;
}

static bool has_field(const pai__api_field *f, const char *name)
{
  for (; f != NULL && f->kind != PAI__END; f++)
    if (strcmp(f->name, name) == 0)
      return true;
  return false;
}

static void add_fields(pai__names *names, const pai__api_field *f)
{
  for (; f != NULL && f->kind != PAI__END; f++)
    pai__names_add(names, f->name, strlen(f->name));
}

/* Adds "did you mean ...?", or the list of the call's arguments. */
static void help(const draft *d, const char *name)
{
  const char *param = d->call->path;
  pai__names names;
  size_t len;

  pai__names_init(&names, &d->args->alloc, name, strlen(name));
  for (; (param = pai__call_param(param, &len)) != NULL; param += len)
    pai__names_add(&names, param, len);
  add_fields(&names, d->call->queries);
  add_fields(&names, fields_of(d->call));
  if (d->call->content != NULL)
    pai__names_add(&names, "body", 4);
  pai__names_tell(&names, d->err, "arguments");
}

static int check_names(const draft *d)
{
  pai__tree_walk walk = pai__tree_iter(d->args, 0);
  pai__node key;

  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *name = pai__tree_str(d->args, key, NULL);

    if (has_param(d, name) || has_field(d->call->queries, name) ||
        has_field(fields_of(d->call), name) ||
        (d->call->content != NULL && strcmp(name, "body") == 0))
      continue;
    (void)pai__fail(d->err, PAI_EINVAL, "the call %s has no argument '%s'",
                    d->call->name, name);
    help(d, name);
    return PAI_EINVAL;
  }
  return PAI_OK;
}

/* --- the path and the query ---------------------------------------------- */

static int add_scalar(draft *d, const char *name, pai__node n)
{
  const char *text;
  size_t len;
  pai__json_writer w;

  switch (pai__tree_type(d->args, n)) {
  case PAI__STRING:
    text = pai__tree_str(d->args, n, &len);
    if (strlen(text) == len) {
      pai__buf_add(&d->text, text, len);
      return PAI_OK;
    }
    break;
  case PAI__BOOL:
  case PAI__INT:
  case PAI__FLOAT:
    pai__json_writer_init(&w, &d->text, false);
    pai__json_node(&w, d->args, n);
    return PAI_OK;
  default: break;
  }
  return pai__fail(
    d->err, PAI_EINVAL,
    "argument '%s' of the call %s must be a text, a number, true or false",
    name, d->call->name);
}

/* Writes a value to d->text; a list as items separated by commas. */
static int read_text(draft *d, const char *name, pai__node n)
{
  pai__tree_walk walk;
  pai__node item;

  pai__buf_clear(&d->text);
  if (pai__tree_type(d->args, n) != PAI__SEQUENCE)
    return add_scalar(d, name, n);
  walk = pai__tree_iter(d->args, n);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    if (d->text.len > 0)
      pai__buf_char(&d->text, ',');
    if (add_scalar(d, name, item) < 0)
      return PAI_EINVAL;
  }
  return PAI_OK;
}

/* Returns an argument that is not null, or PAI__NO_NODE. */
static pai__node argument(const draft *d, const char *name)
{
  pai__node n = pai__tree_get(d->args, 0, name);

  return n != PAI__NO_NODE && pai__tree_type(d->args, n) != PAI__NULL
           ? n
           : PAI__NO_NODE;
}

static int put_param(draft *d, const char *name, bool is_rest)
{
  pai__node n = argument(d, name);
  char *text, *part;
  int rc;

  if (n == PAI__NO_NODE) {
    (void)pai__fail(d->err, PAI_EINVAL, "the call %s needs an argument '%s'",
                    d->call->name, name);
    pai__error_help(d->err, "%s: %s %.*s", d->call->summary,
                    pai__call_method(d->call),
                    (int)strcspn(d->call->path, " "), d->call->path);
    return PAI_EINVAL;
  }
  rc = read_text(d, name, n);
  if (rc == PAI_OK && strcmp(name, "job") == 0)
    rc = pai__client_check_job(pai__buf_text(&d->text), d->err);
  else if (rc == PAI_OK && d->text.len == 0)
    rc = pai__fail(d->err, PAI_EINVAL, "argument '%s' of the call %s is empty",
                   name, d->call->name);
  if (rc < 0 || !is_rest) {
    if (rc == PAI_OK)
      pai__put_escaped(&d->path, pai__buf_text(&d->text), "");
    return rc;
  }
  for (text = d->text.data; text != NULL; text = part) {
    part = strchr(text, '/');
    if (part != NULL)
      *part++ = '\0';
    pai__put_escaped(&d->path, text, "");
    if (part != NULL)
      pai__buf_char(&d->path, '/');
  }
  return PAI_OK;
}

static int put_path(draft *d)
{
  const char *part = d->call->path;
  char name[64];

  while (*part == '/') {
    size_t len = strcspn(++part, "/ ");

    pai__buf_char(&d->path, '/');
    if (*part == ':' || *part == '*') {
      (void)snprintf(name, sizeof(name), "%.*s", (int)len - 1, part + 1);
      if (put_param(d, name, *part == '*') < 0)
        return PAI_EINVAL;
    } else {
      pai__buf_add(&d->path, part, len);
    }
    part += len;
  }
  return PAI_OK;
}

static int put_query(draft *d)
{
  const pai__api_field *f = d->call->queries;

  for (; f != NULL && f->kind != PAI__END; f++) {
    pai__node n = argument(d, f->name);

    if (n == PAI__NO_NODE)
      continue;
    if (read_text(d, f->name, n) < 0)
      return PAI_EINVAL;
    pai__url_query(&d->path, f->name, pai__buf_text(&d->text));
  }
  return PAI_OK;
}

/* --- the body ------------------------------------------------------------ */

/* Writes a text as it is, anything else as JSON. */
static void put_whole(draft *d)
{
  pai__node n = argument(d, "body");
  pai__json_writer w;
  const char *text;
  size_t len;

  if (n == PAI__NO_NODE)
    return;
  if (pai__tree_type(d->args, n) == PAI__STRING) {
    text = pai__tree_str(d->args, n, &len);
    pai__buf_add(&d->body, text, len);
    return;
  }
  pai__json_writer_init(&w, &d->body, false);
  pai__json_node(&w, d->args, n);
}

static void put_body(draft *d)
{
  pai__json_writer w;

  if (d->call->body == NULL) {
    put_whole(d);
    return;
  }
  pai__json_writer_init(&w, &d->body, false);
  pai__json_begin_object(&w);
  for (const pai__api_field *f = d->call->body->fields; f->kind != PAI__END;
       f++) {
    pai__node n = pai__tree_get(d->args, 0, f->name);

    if (n == PAI__NO_NODE)
      continue;
    pai__json_member(&w, f->name);
    pai__json_node(&w, d->args, n);
  }
  pai__json_end_object(&w);
}

/* --- sending ------------------------------------------------------------- */

static int ask(pai_op **op, pai_client *client, draft *d, pai_client_cb cb,
               void *user_data)
{
  const pai__api_route *call = d->call;
  pai__call request =
    pai__call_of(client, pai__call_method(call), pai__buf_text(&d->path));
  pai__client_ask *made = NULL;
  int rc;

  if (call->content != NULL)
    request.type = call->content;
  if (call->result->type != NULL && call->result->other == NULL)
    request.accept = call->result->type;
  if (strcmp(request.method, "GET") != 0 &&
      (d->body.len > 0 || strcmp(request.method, "DELETE") != 0))
    request.body = pai__buf_text(&d->body);
  request.body_len = d->body.len;
  request.nobody = call->right == PAI__OF_ALL;
  request.secret = true; /* it may contain a password */
  if (!pai__buf_ok(&d->path) || !pai__buf_ok(&d->body) ||
      !pai__buf_ok(&d->text))
    return pai__oom(d->err);
  rc = pai__ask_new(&made, client, &request, cb, user_data, d->err);
  if (rc == PAI_OK && op != NULL)
    *op = pai__ask_op(made);
  return rc;
}

static int write_down(draft *d)
{
  int rc = check_names(d);

  if (rc == PAI_OK && d->call->streams) {
    rc = pai__fail(d->err, PAI_EINVAL,
                   "the answer of the call %s is an endless stream",
                   d->call->name);
    pai__error_help(d->err, "%s",
                    "use pai_client_watch(), pai_client_enter(), or "
                    "pai_client_ask() with on_body");
  }
  if (rc == PAI_OK)
    rc = put_path(d);
  if (rc == PAI_OK)
    rc = put_query(d);
  if (rc == PAI_OK)
    put_body(d);
  return rc;
}

static int read_arguments(pai__tree **out, const pai_client *client,
                          const char *call, const char *text, pai_error **err)
{
  pai__json_options options = { .alloc = &client->alloc };
  pai_error *why = NULL;
  int rc;

  if (text == NULL)
    text = "{}";
  rc = pai__json_parse(out, text, strlen(text), &options, &why);
  if (rc == PAI_EINVAL)
    (void)pai__fail(err, rc, "the arguments of the call %s are not JSON: %s",
                    call, pai_error_message(why));
  else if (rc == PAI_OK && pai__tree_type(*out, 0) != PAI__MAPPING)
    rc = pai__fail(err, PAI_EINVAL,
                   "the arguments of the call %s are not a JSON object", call);
  else if (rc < 0)
    (void)pai__fail(err, rc, "the arguments of the call %s: %s", call,
                    pai_error_message(why));
  pai_error_free(why);
  return rc;
}

int pai_client_call(pai_op **op, pai_client *client, const char *call,
                    const char *arguments, pai_client_cb cb, void *user_data,
                    pai_error **err)
{
  draft d = { .err = err };
  pai__tree *args = NULL;
  int rc;

  rc = pai__op_check(op, client, cb, __func__, err);
  if (rc < 0)
    return rc;
  PAI__CHECK_ARG_ERR(call != NULL, err);
  d.call = pai__call_find(call, &client->alloc, err);
  if (d.call == NULL)
    return PAI_EINVAL;
  rc = read_arguments(&args, client, call, arguments, err);
  if (rc == PAI_OK) {
    d.args = args;
    pai__buf_init(&d.path, &client->alloc);
    pai__buf_init(&d.body, &client->alloc);
    pai__buf_init(&d.text, &client->alloc);
    rc = write_down(&d);
    if (rc == PAI_OK)
      rc = ask(op, client, &d, cb, user_data);
    pai__buf_dispose(&d.path);
    pai__buf_dispose(&d.body);
    pai__buf_dispose(&d.text);
  }
  pai__tree_free(args);
  return rc;
}
