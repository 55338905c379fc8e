/* calls.c - requests that wait for a cluster, their answers, and calls of the
 * cluster's API */
#include "helper.h"

#include <stdlib.h>
#include <string.h>

/* --- the calls of an editor --------------------------------------------------- */

helper_call *helper_call_new(helper_editor *e, uint64_t request)
{
  helper_call *c = calloc(1, sizeof(*c));

  if (c == NULL)
    return NULL;
  c->editor = e;
  c->request = request;
  c->next = e->calls;
  e->calls = c;
  return c;
}

void helper_call_free(helper_call *c)
{
  helper_editor *e = c->editor;
  helper_call **at = &e->calls;

  while (*at != c)
    at = &(*at)->next;
  *at = c->next;
  if (c->drop != NULL)
    c->drop(c->own);
  free(c->token);
  free(c->text);
  free(c->body);
  free(c->cluster);
  free(c);
  helper_calls_done(e);
}

void helper_call_cancel(helper_call *c)
{
  c->cancelled = true;
  if (c->op != NULL)
    pai_op_cancel(c->op);
  else if (c->exec != NULL)
    helper_exec_cancel(c->exec);
  else
    helper_call_free(c);
}

void helper_calls_cancel(helper_editor *e)
{
  helper_call *next;

  for (helper_call *c = e->calls; c != NULL; c = next) {
    next = c->next;
    helper_call_cancel(c);
  }
}

/* --- answers --------------------------------------------------------------------- */

void helper_respond(helper_editor *e, uint64_t request, char *json)
{
  if (json != NULL)
    (void)!pai_language_respond(e->language, request, json, strlen(json),
                                NULL);
  else
    helper_refuse(e, request, HELPER_FAILED, "out of memory");
  free(json);
}

void helper_refuse(helper_editor *e, uint64_t request, int code,
                   const char *message)
{
  (void)!pai_language_refuse(e->language, request, code, message, NULL, NULL);
}

void helper_refuse_with(helper_editor *e, uint64_t request, int status,
                        const pai_error *err, int http, const char *api_code)
{
  const char *help = pai_error_help(err);
  int no_answer = pai_error_no_answer(err);
  bool untrusted = no_answer == PAI_NO_ANSWER_UNTRUSTED;
  bool not_reached = no_answer == PAI_NO_ANSWER_NOT_REACHED;
  char *data = cli_json_make("{\"status\":%s,\"httpStatus\":%d,\"code\":%s,"
                             "\"help\":%s,\"untrusted\":%c,"
                             "\"notReached\":%c}",
                             pai_code_name(status), http, api_code, help,
                             cli_truth(untrusted), cli_truth(not_reached));
  const char *message = pai_error_message(err);

  (void)!pai_language_refuse(
    e->language, request,
    status == PAI_EINVAL && http == 0 ? HELPER_INVALID_PARAMS : HELPER_FAILED,
    message[0] != '\0' ? message : pai_code_name(status), data, NULL);
  free(data);
}

static bool is_json(const pai_client_answer *a)
{
  pai_json *json;

  if (strstr(a->type, "json") == NULL ||
      pai_json_read(&json, a->body, a->body_len, NULL, NULL) < 0)
    return false;
  pai_json_free(json);
  return true;
}

/* {"status", "type", "body"}; a body that is not JSON is a text. */
static char *make_answer(const pai_client_answer *a)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);

  if (out == NULL)
    return NULL;
  cli_json_print(out, "{\"status\":%d,\"type\":%s,\"body\":", a->http_status,
                 a->type);
  if (a->body_len == 0)
    (void)fputs("null", out);
  else if (is_json(a))
    (void)fwrite(a->body, 1, a->body_len, out);
  else
    cli_json_string(out, a->body, a->body_len);
  (void)fputs("}", out);
  if (fclose(out) == 0)
    return text;
  free(text);
  return NULL;
}

void helper_on_answer(void *user_data, int status, const pai_client_answer *a)
{
  helper_call *c = user_data;
  helper_editor *e = c->editor;

  c->op = NULL;
  if (e->closing)
    ;
  else if (status == PAI_OK)
    helper_respond(e, c->request,
                   c->token != NULL ? strdup("null") : make_answer(a));
  else if (c->cancelled)
    helper_refuse(e, c->request, HELPER_CANCELLED, "cancelled");
  else
    helper_refuse_with(e, c->request, status, a->err, a->http_status, a->code);
  helper_call_free(c);
}

/* --- beginning --------------------------------------------------------------------- */

pai_client *helper_find_client(helper_editor *e, uint64_t request,
                               const pai_json *params)
{
  const char *why = NULL;
  pai_client *client =
    helper_cluster_find(e, cli_json_text(params, 0, "cluster"), &why);

  if (client == NULL)
    helper_refuse(e, request, HELPER_INVALID_PARAMS, why);
  return client;
}

char *helper_json_of(const pai_json *json, size_t value)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  int rc = out != NULL ? pai_json_write(json, value, cli_write, out, NULL)
                       : PAI_ENOMEM;

  if (out != NULL && (fclose(out) != 0 || rc < 0)) {
    free(text);
    return NULL;
  }
  return text;
}

void helper_check_begun(helper_call *c, int rc, pai_error *err)
{
  if (rc == PAI_OK)
    return;
  helper_refuse_with(c->editor, c->request, rc, err, 0, NULL);
  pai_error_free(err);
  helper_call_free(c);
}

HELPER_METHOD(call)
{
  pai_client *client = helper_find_client(e, request, params);
  size_t at = cli_json_get(params, 0, "arguments");
  pai_error *err = NULL;
  char *arguments;
  helper_call *c;
  int rc;

  if (client == NULL)
    return;
  arguments = at != PAI_JSON_NONE ? helper_json_of(params, at) : strdup("{}");
  c = arguments != NULL ? helper_call_new(e, request) : NULL;
  if (c == NULL) {
    helper_refuse(e, request, HELPER_FAILED, "out of memory");
  } else {
    rc = pai_client_call(&c->op, client, cli_json_text(params, 0, "name"),
                         arguments, helper_on_answer, c, &err);
    helper_check_begun(c, rc, err);
  }
  free(arguments);
}

static int add_text(void *out, const char *bytes, size_t len)
{
  return fwrite(bytes, 1, len, out) == len ? PAI_OK : PAI_ENOMEM;
}

HELPER_METHOD(calls)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  int rc = PAI_ENOMEM;

  (void)params;
  if (out != NULL) {
    rc = pai_client_write_calls(add_text, out, NULL);
    if (fclose(out) != 0)
      rc = PAI_ENOMEM;
  }
  if (rc < 0) {
    free(text);
    text = NULL;
  }
  helper_respond(e, request, text);
}
