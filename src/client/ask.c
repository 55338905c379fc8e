/*
 * ask.c - one request with its retries
 *
 * It waits for a login if one is needed, and is retried where that is safe.
 * The server's {"code", "message"} of a failure becomes its error.
 */
#include "client/inside.h"

enum {
  MOST_ERROR = 1 << 20,             /* of the body of an error */
  MOST_PATIENCE = 600 * 1000 * 1000 /* with a server's Retry-After */
};

struct pai__client_ask {
  pai__client_op op;
  pai__call call; /* its texts follow this struct */
  size_t size;    /* of the struct with the texts */
  pai_client_cb cb;
  void *user_data;
  pai__http_request *request;
  pai__timer *timer;
  pai__buf body;
  pai_time began;
  uint32_t tries;
  uint64_t token; /* number of the token that the request used */
  bool whole;     /* the path is a URL */
  bool streamed;  /* a part of the body was passed on */
  bool renewed;   /* it was retried with a new token */
  bool canceled;
};

static int start(pai__client_ask *ask, pai_error **err);

pai_op *pai__ask_op(pai__client_ask *ask)
{
  return &ask->op.head;
}

/* --- its end ------------------------------------------------------------- */

static void free_ask(pai__client_ask *ask)
{
  pai_client *client = ask->op.client;

  pai__timer_close(ask->timer);
  pai__buf_dispose(&ask->body);
  if (ask->call.secret && ask->call.body != NULL) {
    volatile char *p = (volatile char *)(uintptr_t)ask->call.body;
    for (size_t i = 0; i < ask->call.body_len; i++)
      p[i] = 0;
  }
  pai__free(&client->alloc, ask, ask->size);
}

static void finish(pai__client_ask *ask, int status, pai_client_answer *a)
{
  pai_client *client = ask->op.client;

  a->tries = ask->tries;
  pai__op_gone(&ask->op);
  ask->cb(ask->user_data, status, a);
  free_ask(ask);
  pai__client_rest(client);
}

static void finish_failed(pai__client_ask *ask, int status,
                          const pai_error *err)
{
  pai_client_answer a = pai__answer_none();

  a.err = err;
  finish(ask, status, &a);
}

static void end_canceled(pai__client_op *op)
{
  pai_error *err = NULL;
  int rc = pai__fail(&err, PAI_ECANCELED, "the request was cancelled");

  finish_failed((pai__client_ask *)op, rc, err);
  pai_error_free(err);
}

static void cancel(pai_op *op)
{
  pai__client_ask *ask = (pai__client_ask *)op;

  ask->canceled = true;
  if (ask->request != NULL)
    pai__http_cancel(ask->request);
  else
    pai__op_end_soon(&ask->op);
}

static void hold(pai_op *op, bool held)
{
  pai__client_ask *ask = (pai__client_ask *)op;

  if (ask->request != NULL)
    pai__http_hold(ask->request, held);
}

/* --- retries ------------------------------------------------------------- */

/* Starts the request; only the callback can report a failure. */
static void go(pai__client_ask *ask)
{
  pai_error *err = NULL;
  int rc = start(ask, &err);

  if (rc < 0)
    finish_failed(ask, rc, err);
  pai_error_free(err);
}

static void on_time(void *user_data)
{
  pai__client_ask *ask = user_data;

  if (!ask->op.head.ending)
    go(ask);
}

static void resume(pai__client_op *op, int status, const pai_error *err)
{
  if (status < 0)
    finish_failed((pai__client_ask *)op, status, err);
  else
    go((pai__client_ask *)op);
}

static pai_time left_of(const pai__client_ask *ask)
{
  return ask->call.total_time > 0
           ? ask->call.total_time - (pai__loop_time() - ask->began)
           : INT64_MAX;
}

static void tell_retry(pai__client_ask *ask, pai_time wait,
                       const pai_client_answer *a)
{
  pai_client *client = ask->op.client;
  const char *from = ask->whole ? strstr(ask->call.path, "://") + 3 : NULL,
             *path = from != NULL ? from + strcspn(from, "/") : ask->call.path;
  pai_client_retry retry = { .struct_size = sizeof(retry),
                             .method = ask->call.method,
                             .tries = ask->tries,
                             .wait = wait,
                             .http_status = a->http_status,
                             .err = a->err };
  char *text;

  if (client->on_retry == NULL)
    return;
  text = pai__strndup(&client->alloc, path, strcspn(path, "?"));
  retry.path = text != NULL ? text : "";
  client->on_retry(client->user_data, &retry);
  pai__strfree(&client->alloc, text);
}

/* Schedules a retry if one is allowed; returns whether it did. */
static bool try_again(pai__client_ask *ask, const pai_client_answer *a,
                      const pai__http_answer *http)
{
  pai_client *client = ask->op.client;
  pai_time wait;

  if (ask->canceled || ask->streamed || ask->tries >= ask->call.most_tries ||
      client->closing || http->retry_after > MOST_PATIENCE ||
      !pai__retry_may(ask->call.method, ask->call.again, a->http_status,
                      pai_error_retriable(a->err) != 0, http->sent))
    return false;
  wait = pai__retry_wait(&client->random, ask->tries, client->first_wait,
                         client->most_wait, http->retry_after);
  if (wait >= left_of(ask))
    return false;
  if (ask->timer == NULL && pai__timer_new(&ask->timer, &client->alloc,
                                           client->loop, on_time, ask) < 0)
    return false;
  tell_retry(ask, wait, a);
  if (!ask->op.head.ending) /* the retry callback may have canceled it */
    pai__timer_start(ask->timer, wait);
  return true;
}

/* Retries once with a new token if the server refused the token. */
static bool try_renewed(pai__client_ask *ask, int http_status)
{
  if (http_status != 401 || ask->call.nobody || ask->renewed ||
      ask->canceled || !pai__client_renew(ask->op.client, ask->token))
    return false;
  ask->renewed = true;
  ask->tries--; /* does not count as a try */
  pai__buf_cut(&ask->body, 0);
  go(ask);
  return true;
}

/* --- the answer ---------------------------------------------------------- */

/* Stores the log offset; only an answer with the log's bytes has a valid
 * one. */
static void note_offset(pai__client_ask *ask, int http_status, int64_t offset)
{
  if (ask->call.log_offset != NULL)
    *ask->call.log_offset =
      http_status == 200 || http_status == 206 ? offset : -1;
}

static int on_body(void *user_data, int http_status, const char *bytes,
                   size_t len)
{
  pai__client_ask *ask = user_data;
  bool good = pai__answer_is_good(http_status);
  uint64_t most = good ? ask->op.client->most_answer : MOST_ERROR;

  if (good && ask->call.on_body != NULL) {
    ask->streamed = true;
    if (ask->request != NULL)
      note_offset(ask, http_status, pai__http_log_offset(ask->request));
    return ask->call.on_body(ask->user_data, http_status, bytes, len);
  }
  if (len > most - ask->body.len)
    return PAI_ELIMIT;
  pai__buf_add(&ask->body, bytes, len);
  return pai__buf_ok(&ask->body) ? PAI_OK : PAI_ENOMEM;
}

static void on_sent(void *user_data, uint64_t sent)
{
  pai__client_ask *ask = user_data;

  ask->call.on_sent(ask->user_data, sent, ask->call.body_len);
}

static void tell_location(pai_error **err, const pai__http_answer *http)
{
  int shown = (int)strcspn(http->location, "?");

  if (shown > 0)
    pai__error_help(err,
                    "the server redirects to %.*s: check the server's URL",
                    shown, http->location);
}

static void on_done(void *user_data, int status, const pai__http_answer *http,
                    const pai_error *err)
{
  pai__client_ask *ask = user_data;
  pai_client_answer a = pai__answer_none();
  pai_error *refusal = NULL;
  pai__tree *tree = NULL;

  ask->request = NULL;
  note_offset(ask, http->status, http->log_offset);
  a.http_status = http->status;
  a.type = http->type;
  a.err = err;
  a.body = pai__buf_text(&ask->body);
  a.body_len = ask->body.len;
  if (status == PAI_OK && !pai__answer_is_good(http->status)) {
    if (try_renewed(ask, http->status))
      return;
    /* A body that is not JSON becomes the message as it is. */
    tree = pai__answer_tree(&ask->op.client->alloc, a.body, a.body_len);
    status = pai__answer_refuse(&refusal, tree, &a);
    tell_location(&refusal, http);
    a.err = refusal;
  } else if (status < 0) {
    a.http_status = 0; /* an incomplete answer is no answer */
  }
  if (status < 0 && try_again(ask, &a, http))
    pai__buf_cut(&ask->body, 0);
  else
    finish(ask, status, &a);
  pai_error_free(refusal);
  pai__tree_free(tree);
}

/* --- creation ------------------------------------------------------------ */

static void fill(pai__http_want *want, pai__client_ask *ask, const char *url)
{
  const pai__call *call = &ask->call;
  const pai_client *client = ask->op.client;
  pai_time left = left_of(ask);

  *want = (pai__http_want){
    .method = call->method,
    .url = url,
    .type = call->type,
    .accept = call->accept,
    .authorization = ask->whole || call->nobody ? NULL : client->authorization,
    .range = call->range,
    .last_event = call->last_event,
    .body = call->body,
    .body_len = call->body_len,
    .total_time = call->total_time > 0 ? (left > 0 ? left : 1) : 0,
    .idle_time = call->idle_time,
    .once = !pai__retry_may(call->method, false, 0, true, true),
    .stream = call->stream,
    .on_body = on_body,
    .on_sent = call->on_sent != NULL ? on_sent : NULL,
    .on_done = on_done,
    .user_data = ask
  };
}

static int start(pai__client_ask *ask, pai_error **err)
{
  pai_client *client = ask->op.client;
  pai__http_want want;
  pai__buf url;
  int rc = 1;

  if (!ask->whole && !ask->call.nobody)
    rc = pai__client_admit(client, &ask->op, err);
  if (rc <= 0)
    return rc;
  pai__buf_init(&url, &client->alloc);
  (void)pai__buf_reserve(&url, strlen(client->base) + strlen(ask->call.path));
  if (!ask->whole)
    pai__buf_str(&url, client->base);
  pai__buf_str(&url, ask->call.path);
  fill(&want, ask, pai__buf_text(&url));
  ask->token = client->token_number;
  ask->tries++;
  rc = pai__buf_ok(&url)
         ? pai__http_ask(&ask->request, client->http, &want, err)
         : pai__oom(err);
  pai__buf_dispose(&url);
  if (rc == PAI_OK)
    pai__http_hold(ask->request, ask->op.head.held);
  return rc;
}

static char *put(char **at, const char *text)
{
  size_t size = text != NULL ? strlen(text) + 1 : 0;
  char *to = *at;

  if (text == NULL)
    return NULL;
  memcpy(to, text, size);
  *at += size;
  return to;
}

static size_t size_of(const char *text)
{
  return text != NULL ? strlen(text) + 1 : 0;
}

static pai__client_ask *make(pai_client *client, const pai__call *call)
{
  size_t size = sizeof(pai__client_ask) + size_of(call->method) +
                size_of(call->path) + size_of(call->type) +
                size_of(call->accept) + size_of(call->range) +
                size_of(call->last_event) + call->body_len + 1;
  pai__client_ask *ask = pai__zalloc(&client->alloc, size);
  char *at;

  if (ask == NULL)
    return NULL;
  at = (char *)(ask + 1);
  ask->size = size;
  ask->call = *call;
  ask->call.method = put(&at, call->method);
  ask->call.path = put(&at, call->path);
  ask->call.type = put(&at, call->type);
  ask->call.accept = put(&at, call->accept);
  ask->call.range = put(&at, call->range);
  ask->call.last_event = put(&at, call->last_event);
  if (call->body != NULL) { /* an empty body is a body, too */
    if (call->body_len > 0)
      memcpy(at, call->body, call->body_len);
    ask->call.body = at;
  }
  ask->whole = call->path[0] != '/';
  return ask;
}

int pai__ask_new(pai__client_ask **out, pai_client *client,
                 const pai__call *call, pai_client_cb cb, void *user_data,
                 pai_error **err)
{
  pai__client_ask *ask;
  int rc;

  if (client->closing)
    return pai__fail(err, PAI_EBUSY, "the client is being closed");
  ask = make(client, call);
  if (ask == NULL)
    return pai__oom(err);
  ask->cb = cb;
  ask->user_data = user_data;
  ask->began = call->total_time > 0 ? pai__loop_time() : 0;
  ask->op.head.cancel = cancel;
  ask->op.head.hold = hold;
  ask->op.end = end_canceled;
  ask->op.resume = resume;
  pai__buf_init(&ask->body, &client->alloc);
  pai__op_begin(&ask->op, client);
  rc = start(ask, err);
  if (rc < 0) {
    pai__op_gone(&ask->op);
    free_ask(ask);
    return rc;
  }
  if (out != NULL)
    *out = ask;
  return PAI_OK;
}
