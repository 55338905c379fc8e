/* calls.c - requests that wait for a cluster: calls of its API, and streams of
 * events and logs */
#include "helper.h"

#include <stdlib.h>
#include <string.h>

enum { HIGH_WATER = 1 << 20 }; /* bytes to send before a stream is paused */

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
  free(c->token);
  free(c->text);
  free(c->body);
  free(c->cluster);
  free(c);
  helper_calls_done(e);
}

void helper_calls_cancel(helper_editor *e)
{
  helper_call *next;

  for (helper_call *c = e->calls; c != NULL; c = next) {
    next = c->next;
    if (c->op != NULL)
      pai_op_cancel(c->op);
    else
      helper_call_free(c);
  }
}

void helper_calls_resume(helper_editor *e)
{
  for (helper_call *c = e->calls; c != NULL; c = c->next)
    if (c->paused && c->op != NULL) {
      c->paused = false;
      pai_op_resume(c->op);
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

/* Refuses with an error, the answer's status and the API's code. */
static void refuse_with(helper_editor *e, uint64_t request, int status,
                        const pai_error *err, int http, const char *api_code)
{
  const char *help = pai_error_help(err);
  char *data =
    cli_json_make("{\"status\":%s,\"httpStatus\":%d,\"code\":%s,\"help\":%s}",
                  pai_code_name(status), http, api_code, help);
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

static void on_answer(void *user_data, int status, const pai_client_answer *a)
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
    refuse_with(e, c->request, status, a->err, a->http_status, a->code);
  helper_call_free(c);
}

/* --- beginning --------------------------------------------------------------------- */

/* Finds the cluster of a request's params; NULL after refusing. */
static pai_client *find_client(helper_editor *e, uint64_t request,
                               const pai_json *params)
{
  const char *why = NULL;
  pai_client *client =
    helper_cluster_find(e, cli_json_text(params, 0, "cluster"), &why);

  if (client == NULL)
    helper_refuse(e, request, HELPER_INVALID_PARAMS, why);
  return client;
}

/* Returns a value as JSON, for free(); NULL without memory. */
static char *json_of(const pai_json *json, size_t value)
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

/* Refuses a request whose operation could not begin. */
static void check_begun(helper_call *c, int rc, pai_error *err)
{
  if (rc == PAI_OK)
    return;
  refuse_with(c->editor, c->request, rc, err, 0, NULL);
  pai_error_free(err);
  helper_call_free(c);
}

HELPER_METHOD(call)
{
  pai_client *client = find_client(e, request, params);
  size_t at = cli_json_get(params, 0, "arguments");
  pai_error *err = NULL;
  char *arguments;
  helper_call *c;
  int rc;

  if (client == NULL)
    return;
  arguments = at != PAI_JSON_NONE ? json_of(params, at) : strdup("{}");
  c = arguments != NULL ? helper_call_new(e, request) : NULL;
  if (c == NULL) {
    helper_refuse(e, request, HELPER_FAILED, "out of memory");
  } else {
    rc = pai_client_call(&c->op, client, cli_json_text(params, 0, "name"),
                         arguments, on_answer, c, &err);
    check_begun(c, rc, err);
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

/* --- streams ---------------------------------------------------------------------------- */

/* Makes the call of a stream, whose partial results need a token; NULL after
 * refusing. */
static helper_call *new_stream(helper_editor *e, uint64_t request,
                               const pai_json *params)
{
  size_t token = cli_json_get(params, 0, "partialResultToken");
  helper_call *c;

  if (token == PAI_JSON_NONE) {
    helper_refuse(e, request, HELPER_INVALID_PARAMS,
                  "partialResultToken is missing: the stream is sent as "
                  "$/progress with it");
    return NULL;
  }
  c = helper_call_new(e, request);
  if (c != NULL)
    c->token = json_of(params, token);
  if (c != NULL && c->token != NULL)
    return c;
  helper_refuse(e, request, HELPER_FAILED, "out of memory");
  if (c != NULL)
    helper_call_free(c);
  return NULL;
}

/* Sends a partial result, and frees it.  Pauses the stream while the editor
 * does not read. */
static int send_part(helper_call *c, char *value)
{
  helper_editor *e = c->editor;
  size_t size;
  char *text = NULL;

  if (value != NULL) {
    size = strlen(value) + strlen(c->token) + 32;
    text = malloc(size);
    if (text != NULL)
      (void)snprintf(text, size, "{\"token\":%s,\"value\":%s}", c->token,
                     value);
  }
  free(value);
  if (text == NULL)
    return PAI_ENOMEM;
  if (!e->closing)
    (void)!pai_language_notify(e->language, "$/progress", text, strlen(text),
                               NULL);
  free(text);
  if (helper_editor_pending(e) > HIGH_WATER && c->op != NULL) {
    c->paused = true;
    pai_op_pause(c->op);
  }
  return PAI_OK;
}

static int on_change(void *user_data, const pai_client_change *change)
{
  return send_part(
    user_data,
    cli_json_make("{\"job\":%s,\"state\":%s,\"final\":%c,\"exitCode\":%d}",
                  change->job, change->state, cli_truth(change->final != 0),
                  change->exit_code));
}

HELPER_METHOD(events)
{
  pai_client *client = find_client(e, request, params);
  const char *job = cli_json_text(params, 0, "job");
  helper_call *c = client != NULL ? new_stream(e, request, params) : NULL;
  pai_error *err = NULL;
  int rc;

  if (c == NULL)
    return;
  rc = pai_client_watch(&c->op, client, job[0] != '\0' ? job : NULL, on_change,
                        on_answer, c, &err);
  check_begun(c, rc, err);
}

/* Sends text; a character that is not whole waits for its other bytes. */
static int on_log(void *user_data, const char *bytes, size_t len)
{
  helper_call *c = user_data;
  size_t whole = c->nrest + len, cut;
  char *text = malloc(whole > 0 ? whole : 1), *value;

  if (text == NULL)
    return PAI_ENOMEM;
  memcpy(text, c->rest, c->nrest);
  memcpy(text + c->nrest, bytes, len);
  cut = cli_utf8_cut(text, whole);
  whole -= cut;
  value =
    whole > 0 ? cli_json_make("{\"text\":%.*s}", (int)whole, text) : NULL;
  memcpy(c->rest, text + whole, cut);
  c->nrest = cut;
  free(text);
  return whole > 0 ? send_part(c, value) : PAI_OK;
}

HELPER_METHOD(logs)
{
  pai_client_log_options o = PAI_CLIENT_LOG_OPTIONS_INIT;
  pai_client *client = find_client(e, request, params);
  helper_call *c = client != NULL ? new_stream(e, request, params) : NULL;
  const char *name = cli_json_text(params, 0, "name");
  pai_error *err = NULL;
  int rc;

  if (c == NULL)
    return;
  o.job = cli_json_text(params, 0, "job");
  o.role = cli_json_text(params, 0, "role");
  o.index = (uint32_t)cli_json_number(params, 0, "index", 0);
  o.name = name[0] != '\0' ? name : NULL;
  o.offset = (uint64_t)cli_json_number(params, 0, "offset", 0);
  o.tail = cli_json_number(params, 0, "tail", 0);
  o.follow = cli_json_true(params, 0, "follow");
  o.timestamps = cli_json_true(params, 0, "timestamps");
  o.on_data = on_log;
  rc = pai_client_logs(&c->op, client, &o, on_answer, c, &err);
  check_begun(c, rc, err);
}
