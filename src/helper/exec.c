/* exec.c - commands and terminals in tasks: output is a stream of the call,
 * input comes with requests of its own */
#include "helper.h"

#include <stdlib.h>
#include <string.h>

enum {
  TRIES = 40, /* a task that has just begun is not ready for a moment */
  PAUSE_MS = 100,
  MOST_WORDS = 1024,
  MOST_PENDING = 256 << 10 /* unsent input above which answers wait */
};

/* A request with input that is answered when the input is sent. */
typedef struct input {
  struct input *next;
  uint64_t request;
} input;

struct helper_exec {
  helper_call *call;    /* its text: the params */
  pai_session *session; /* NULL: not begun, or over */
  uv_timer_t again;
  int tries;
  bool started;
  helper_part parts[2]; /* of standard output and errors */
  input *inputs;
};

/* --- end ------------------------------------------------------------------------ */

static void answer_inputs(helper_exec *x)
{
  helper_editor *e = x->call->editor;

  while (x->inputs != NULL) {
    input *first = x->inputs;

    x->inputs = first->next;
    if (!e->closing)
      helper_respond(e, first->request, strdup("null"));
    free(first);
  }
}

static void on_timer_closed(uv_handle_t *handle)
{
  free(handle->data);
}

/* Frees it and its call, which was answered. */
static void finish(helper_exec *x)
{
  helper_call *c = x->call;

  answer_inputs(x);
  uv_close((uv_handle_t *)&x->again, on_timer_closed);
  helper_call_free(c);
}

void helper_exec_cancel(helper_exec *x)
{
  helper_editor *e = x->call->editor;

  pai_session_close(x->session);
  x->session = NULL;
  if (!e->closing)
    helper_refuse(e, x->call->request, HELPER_CANCELLED, "cancelled");
  finish(x);
}

void helper_exec_pause(helper_exec *x, bool paused)
{
  pai_session_pause(x->session, paused ? 1 : 0);
}

/* --- output --------------------------------------------------------------------- */

static void send_text(helper_exec *x, int stream, const char *text, size_t len)
{
  (void)!helper_send_part(
    x->call,
    cli_json_make("{\"event\":\"output\",\"stream\":%s,\"text\":%.*s}",
                  stream == 1 ? "stdout" : "stderr", (int)len, text));
}

static void on_started(void *user_data, int terminal)
{
  helper_exec *x = user_data;

  x->started = true;
  (void)!helper_send_part(
    x->call, cli_json_make("{\"event\":\"started\",\"terminal\":%c}",
                           cli_truth(terminal != 0)));
}

static void on_output(void *user_data, int stream, const char *bytes,
                      size_t len)
{
  helper_exec *x = user_data;
  size_t whole = 0;
  char *text = helper_whole_text(&x->parts[stream != 1], bytes, len, &whole);

  if (text != NULL && whole > 0)
    send_text(x, stream, text, whole);
  free(text);
}

static void on_room(void *user_data)
{
  answer_inputs(user_data);
}

/* Sends characters that have stayed incomplete. */
static void flush_parts(helper_exec *x)
{
  for (int i = 0; i < 2; i++)
    if (x->parts[i].len > 0)
      send_text(x, i + 1, x->parts[i].bytes, x->parts[i].len);
}

static void begin(helper_exec *x);

static void on_again(uv_timer_t *timer)
{
  begin(timer->data);
}

static void on_end(void *user_data, int status, const pai_session_end *end)
{
  static const char *const hows[] = { "none", "exit", "signal", "failed",
                                      "lost" };
  helper_exec *x = user_data;
  helper_editor *e = x->call->editor;

  x->session = NULL;
  if (status == PAI_EBUSY && !x->started && x->tries < TRIES && !e->closing) {
    (void)uv_timer_start(&x->again, on_again, PAUSE_MS, 0);
    return;
  }
  flush_parts(x);
  if (e->closing)
    ;
  else if (status < 0)
    helper_refuse_with(e, x->call->request, status, end->err, end->http_status,
                       end->api_code);
  else
    helper_respond(
      e, x->call->request,
      cli_json_make("{\"how\":%s,\"code\":%d,\"signal\":%d,\"text\":%s}",
                    hows[end->how > 0 && end->how < 5 ? end->how : 0],
                    end->code, end->signal, end->text));
  finish(x);
}

/* --- beginning ------------------------------------------------------------------ */

/* Lists the words of the command, then NULL; they belong to the params. */
static bool take_words(const char **words, const pai_json *params)
{
  size_t n = 0;

  for (cli_each i = cli_each_of(params, cli_json_get(params, 0, "command"));
       cli_next(&i);) {
    if (n == MOST_WORDS)
      return false;
    words[n++] = cli_json_text(params, i.at, "");
  }
  words[n] = NULL;
  return true;
}

static int enter(helper_exec *x, const pai_json *params, const char **words,
                 pai_error **err)
{
  pai_session_options o = PAI_SESSION_OPTIONS_INIT;
  const char *why, *terminal = cli_json_text(params, 0, "terminal");
  pai_client *client = helper_cluster_find(
    x->call->editor, cli_json_text(params, 0, "cluster"), &why);

  if (client == NULL) /* it was there when the request came */
    return PAI_ENOTFOUND;
  o.command = words[0] != NULL ? words : NULL;
  o.terminal = terminal[0] != '\0' ? terminal : NULL;
  o.tty = cli_json_true(params, 0, "tty");
  o.columns = (uint32_t)cli_json_number(params, 0, "columns", 0);
  o.rows = (uint32_t)cli_json_number(params, 0, "rows", 0);
  o.user_data = x;
  o.on_started = on_started;
  o.on_output = on_output;
  o.on_room = on_room;
  o.on_end = on_end;
  return pai_client_enter(&x->session, client, cli_json_text(params, 0, "job"),
                          cli_json_text(params, 0, "role"),
                          (uint32_t)cli_json_number(params, 0, "index", 0), &o,
                          err);
}

static void begin(helper_exec *x)
{
  const char *words[MOST_WORDS + 1];
  pai_error *err = NULL;
  pai_json *params;
  int rc = PAI_ENOMEM;

  x->tries++;
  if (cli_json_read(&params, x->call->text, strlen(x->call->text)))
    rc =
      take_words(words, params) ? enter(x, params, words, &err) : PAI_ELIMIT;
  cli_json_free(&params);
  if (rc < 0) {
    helper_refuse_with(x->call->editor, x->call->request, rc, err, 0, NULL);
    finish(x);
  }
  pai_error_free(err);
}

HELPER_METHOD(exec)
{
  pai_client *client = helper_find_client(e, request, params);
  helper_call *c =
    client != NULL ? helper_new_stream(e, request, params) : NULL;
  helper_exec *x;

  if (c == NULL)
    return;
  c->text = helper_json_of(params, 0);
  x = c->text != NULL ? calloc(1, sizeof(*x)) : NULL;
  if (x == NULL) {
    helper_refuse(e, request, HELPER_FAILED, "out of memory");
    helper_call_free(c);
    return;
  }
  x->call = c;
  c->exec = x;
  (void)uv_timer_init(&e->of->uv, &x->again);
  x->again.data = x;
  begin(x);
}

/* --- input ---------------------------------------------------------------------- */

/* Finds the command whose output has this token. */
static helper_exec *find(const helper_editor *e, const pai_json *params)
{
  size_t at = cli_json_get(params, 0, "token");
  char *token = at != PAI_JSON_NONE ? helper_json_of(params, at) : NULL;
  helper_call *c = e->calls;

  while (c != NULL && token != NULL &&
         (c->exec == NULL || strcmp(c->token, token) != 0))
    c = c->next;
  c = token != NULL ? c : NULL;
  free(token);
  return c != NULL ? c->exec : NULL;
}

/* Passes on what the params have of text, size, signal and end. */
static int pass_on(helper_exec *x, const pai_json *params)
{
  size_t at = cli_json_get(params, 0, "text"), len = 0;
  const char *text =
    at != PAI_JSON_NONE ? pai_json_text(params, at, &len) : NULL;
  int64_t columns = cli_json_number(params, 0, "columns", 0),
          rows = cli_json_number(params, 0, "rows", 0),
          number = cli_json_number(params, 0, "signal", 0);
  int rc = PAI_OK;

  if (columns != 0 || rows != 0)
    rc = pai_session_resize(x->session, (uint32_t)columns, (uint32_t)rows);
  if (rc == PAI_OK && text != NULL)
    rc = pai_session_write(x->session, text, len);
  if (rc == PAI_OK && number != 0)
    rc = number > 0 && number < 65
           ? pai_session_signal(x->session, (int)number)
           : PAI_EINVAL;
  if (rc == PAI_OK && cli_json_true(params, 0, "end"))
    rc = pai_session_end_input(x->session);
  return rc;
}

/* Answers when the input is sent: so an editor that waits for the answer
 * fills no memory. */
static void answer_later(helper_exec *x, uint64_t request)
{
  input *i = calloc(1, sizeof(*i)), **end = &x->inputs;

  if (i == NULL) {
    helper_refuse(x->call->editor, request, HELPER_FAILED, "out of memory");
    return;
  }
  i->request = request;
  while (*end != NULL)
    end = &(*end)->next;
  *end = i;
}

HELPER_METHOD(exec_input)
{
  helper_exec *x = find(e, params);
  int rc;

  if (x == NULL || x->session == NULL || !x->started) {
    helper_refuse(e, request, HELPER_INVALID_PARAMS,
                  "no command with this token runs: wait for its event "
                  "\"started\"");
    return;
  }
  rc = pass_on(x, params);
  if (rc < 0)
    helper_refuse(e, request, HELPER_INVALID_PARAMS,
                  rc == PAI_ENOMEM ? "out of memory"
                                   : "invalid size of a terminal, or signal");
  else if (pai_session_pending(x->session) > MOST_PENDING)
    answer_later(x, request);
  else
    helper_respond(e, request, strdup("null"));
}
