/* streams.c - streams of a cluster as partial results: events and logs */
#include "helper.h"

#include <stdlib.h>
#include <string.h>

enum { HIGH_WATER = 1 << 20 }; /* bytes to send before a stream is paused */

/* --- the stream of a call ----------------------------------------------------- */

static void pause_stream(helper_call *c)
{
  c->paused = true;
  if (c->op != NULL)
    pai_op_pause(c->op);
  else if (c->exec != NULL)
    helper_exec_pause(c->exec, true);
}

void helper_calls_resume(helper_editor *e)
{
  for (helper_call *c = e->calls; c != NULL; c = c->next) {
    if (!c->paused)
      continue;
    c->paused = false;
    if (c->op != NULL)
      pai_op_resume(c->op);
    else if (c->exec != NULL)
      helper_exec_pause(c->exec, false);
  }
}

helper_call *helper_new_stream(helper_editor *e, uint64_t request,
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
    c->token = helper_json_of(params, token);
  if (c != NULL && c->token != NULL)
    return c;
  helper_refuse(e, request, HELPER_FAILED, "out of memory");
  if (c != NULL)
    helper_call_free(c);
  return NULL;
}

int helper_send_part(helper_call *c, char *value)
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
  if (helper_editor_pending(e) > HIGH_WATER)
    pause_stream(c);
  return PAI_OK;
}

static int on_change(void *user_data, const pai_client_change *change)
{
  return helper_send_part(
    user_data,
    cli_json_make("{\"job\":%s,\"state\":%s,\"final\":%c,\"exitCode\":%d}",
                  change->job, change->state, cli_truth(change->final != 0),
                  change->exit_code));
}

HELPER_METHOD(events)
{
  pai_client *client = helper_find_client(e, request, params);
  const char *job = cli_json_text(params, 0, "job");
  helper_call *c =
    client != NULL ? helper_new_stream(e, request, params) : NULL;
  pai_error *err = NULL;
  int rc;

  if (c == NULL)
    return;
  rc = pai_client_watch(&c->op, client, job[0] != '\0' ? job : NULL, on_change,
                        helper_on_answer, c, &err);
  helper_check_begun(c, rc, err);
}

char *helper_whole_text(helper_part *part, const char *bytes, size_t len,
                        size_t *whole)
{
  size_t size = part->len + len, cut;
  char *text = malloc(size > 0 ? size : 1);

  if (text == NULL)
    return NULL;
  memcpy(text, part->bytes, part->len);
  memcpy(text + part->len, bytes, len);
  cut = cli_utf8_cut(text, size);
  memcpy(part->bytes, text + size - cut, cut);
  part->len = cut;
  *whole = size - cut;
  return text;
}

static int on_log(void *user_data, const char *bytes, size_t len)
{
  helper_call *c = user_data;
  size_t whole = 0;
  char *text = helper_whole_text(&c->part, bytes, len, &whole), *value = NULL;

  if (text == NULL)
    return PAI_ENOMEM;
  if (whole > 0)
    value = cli_json_make("{\"text\":%.*s}", (int)whole, text);
  free(text);
  return whole > 0 ? helper_send_part(c, value) : PAI_OK;
}

HELPER_METHOD(logs)
{
  pai_client_log_options o = PAI_CLIENT_LOG_OPTIONS_INIT;
  pai_client *client = helper_find_client(e, request, params);
  helper_call *c =
    client != NULL ? helper_new_stream(e, request, params) : NULL;
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
  rc = pai_client_logs(&c->op, client, &o, helper_on_answer, c, &err);
  helper_check_begun(c, rc, err);
}
