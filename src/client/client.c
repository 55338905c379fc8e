/* client.c - the client object: options, raw requests, closing */
#include "client/inside.h"

enum {
  MOST_ANSWER = 256 << 20, /* of an answer kept in memory */
  CONNECT_TIME = 10 * 1000 * 1000,
  IDLE_TIME = 60 * 1000 * 1000,
  STREAM_TIME = 50 * 1000 * 1000, /* less than a minute */
  LOCAL_STREAM_TIME = 300 * 1000 * 1000,
  MOST_TRIES = 5,
  FIRST_WAIT = 250 * 1000,
  MOST_WAIT = 15 * 1000 * 1000
};

/* --- raw requests -------------------------------------------------------- */

/* Returns whether a text is printable without blanks, so it cannot end a line
 * of the request. */
static bool is_word(const char *text)
{
  for (const char *p = text; *p != '\0'; p++)
    if ((unsigned char)*p <= ' ' || *p == 0x7f)
      return false;
  return text[0] != '\0';
}

/* The same, with blanks allowed. */
static bool is_line(const char *text)
{
  for (const char *p = text; *p != '\0'; p++)
    if ((unsigned char)*p < ' ' || *p == 0x7f)
      return false;
  return text[0] != '\0';
}

static int check(const pai__call *call, pai_error **err)
{
  if (!is_word(call->method))
    return pai__fail(err, PAI_EINVAL, "not an HTTP method: '%s'",
                     call->method);
  if (call->path[0] != '/' || !is_word(call->path) ||
      strchr(call->path, '#') != NULL)
    return pai__fail(err, PAI_EINVAL,
                     "a path must begin with / and have no blanks: '%s'",
                     call->path);
  if (!is_line(call->type) || !is_line(call->accept))
    return pai__fail(err, PAI_EINVAL, "the content type must be one line");
  return PAI_OK;
}

pai__call pai__call_of(const pai_client *client, const char *method,
                       const char *path)
{
  return (pai__call){ .method = method,
                      .path = path,
                      .type = "application/json",
                      .accept = "application/json",
                      .idle_time = client->idle_time,
                      .total_time = client->total_time,
                      .most_tries = client->most_tries };
}

/* A request whose body is passed to a pai_write_cb. */
typedef struct streaming {
  pai__client_sequence sequence;
  pai_write_cb on_body;
  void (*on_sent)(void *user_data, uint64_t sent, uint64_t total);
} streaming;

static int on_stream(void *user_data, int http_status, const char *bytes,
                     size_t len)
{
  streaming *s = user_data;

  (void)http_status;
  return s->on_body(s->sequence.user_data, bytes, len);
}

static void on_sent(void *user_data, uint64_t sent, uint64_t total)
{
  streaming *s = user_data;

  s->on_sent(s->sequence.user_data, sent, total);
}

static int ask_stream(pai_op **op, pai_client *client, pai__call *call,
                      const pai_client_request *q, pai_client_cb cb,
                      void *user_data, pai_error **err)
{
  pai__client_sequence *c;
  int rc = pai__client_sequence_new(&c, client, sizeof(streaming), NULL, cb,
                                    user_data, err);

  if (rc < 0)
    return rc;
  ((streaming *)c)->on_body = q->on_body;
  ((streaming *)c)->on_sent = q->on_sent;
  call->on_sent = q->on_sent != NULL ? on_sent : NULL;
  call->on_body = on_stream;
  call->stream = true;
  rc = pai__client_sequence_ask(c, call, pai__client_sequence_end, err);
  return pai__client_sequence_started(c, rc, op);
}

static pai__call call_of(const pai_client *client, const pai_client_request *q)
{
  pai__call call = pai__call_of(client, q->method != NULL ? q->method : "GET",
                                q->path != NULL ? q->path : "");

  if (q->type != NULL)
    call.type = q->type;
  if (q->accept != NULL)
    call.accept = q->accept;
  call.body = q->body;
  call.body_len = q->body != NULL ? q->body_len : 0;
  if (call.body == NULL &&
      (strcmp(call.method, "POST") == 0 || strcmp(call.method, "PUT") == 0))
    call.body = ""; /* an empty body makes the server see its end */
  if (q->idle_time != 0 || q->on_body != NULL)
    call.idle_time = q->idle_time > 0 ? q->idle_time : 0;
  if (q->total_time != 0)
    call.total_time = q->total_time > 0 ? q->total_time : 0;
  if (q->most_tries != 0)
    call.most_tries = q->most_tries;
  call.on_sent = q->on_sent;
  return call;
}

int pai_client_ask(pai_op **op, pai_client *client,
                   const pai_client_request *request, pai_client_cb cb,
                   void *user_data, pai_error **err)
{
  pai_client_request q;
  pai__call call;
  pai__client_ask *ask;
  int rc;

  rc = pai__op_check(op, client, cb, __func__, err);
  if (rc < 0)
    return rc;
  rc = PAI__COPY_IN(&q, request, pai_client_request, on_body);
  if (rc < 0)
    return pai__fail_struct(err, rc, request, "pai_client_request");
  call = call_of(client, &q);
  rc = check(&call, err);
  if (rc < 0)
    return rc;
  if (q.on_body != NULL)
    return ask_stream(op, client, &call, &q, cb, user_data, err);
  rc = pai__ask_new(&ask, client, &call, cb, user_data, err);
  if (rc == PAI_OK && op != NULL)
    *op = pai__ask_op(ask);
  return rc;
}

/* --- options ------------------------------------------------------------- */

static int check_options(const pai_client_options *o, pai_error **err)
{
  bool socket = o->socket != NULL && o->socket[0] != '\0';

  if (!socket && o->url == NULL)
    return pai__fail(err, PAI_EINVAL,
                     "pai_client_options: set a socket or a URL");
  if (socket && o->url != NULL)
    return pai__fail(err, PAI_EINVAL,
                     "pai_client_options: socket and url exclude each other");
  if (o->connect_time < 0)
    return pai__fail(err, PAI_EINVAL,
                     "pai_client_options: connect_time must not be negative");
  if (o->first_wait < 0 || o->most_wait < 0)
    return pai__fail(err, PAI_EINVAL,
                     "pai_client_options: a wait must not be negative");
  if ((o->user == NULL) != (o->password == NULL))
    return pai__fail(err, PAI_EINVAL,
                     "pai_client_options: set both user and password");
  if ((o->cert_file == NULL) != (o->key_file == NULL))
    return pai__fail(err, PAI_EINVAL,
                     "pai_client_options: set both cert_file and key_file");
  return PAI_OK;
}

static void take_limits(pai_client *client, const pai_client_options *o)
{
  bool far = o->url != NULL;

  client->idle_time = o->idle_time > 0           ? o->idle_time
                      : far && o->idle_time == 0 ? IDLE_TIME
                                                 : 0;
  client->total_time = o->total_time > 0 ? o->total_time : 0;
  client->most_tries = o->most_tries > 0 ? o->most_tries
                       : far             ? MOST_TRIES
                                         : 1;
  client->stream_time = o->stream_time > 0 ? o->stream_time
                        : far              ? STREAM_TIME
                                           : LOCAL_STREAM_TIME;
  client->connect_time = o->connect_time > 0 ? o->connect_time : CONNECT_TIME;
  client->first_wait = o->first_wait > 0 ? o->first_wait : FIRST_WAIT;
  client->most_wait = o->most_wait > 0 ? o->most_wait : MOST_WAIT;
  client->most_answer = o->most_answer > 0 ? o->most_answer : MOST_ANSWER;
  client->random.state = o->seed != 0 ? o->seed : pai__loop_seed();
  client->user_data = o->user_data;
  client->on_retry = o->on_retry;
}

static int take_place(pai_client *client, const pai_client_options *o,
                      pai_error **err)
{
  if (o->url != NULL)
    return pai__url_read(&client->origin, &client->base, &client->alloc,
                         o->url, err);
  client->server = PAI__OURS;
  client->socket = pai__strdup(&client->alloc, o->socket);
  client->origin = pai__strdup(&client->alloc, "http://localhost");
  client->base = pai__strdup(&client->alloc, "http://localhost");
  return client->socket != NULL && client->origin != NULL &&
             client->base != NULL
           ? PAI_OK
           : pai__oom(err);
}

static int take_who(pai_client *client, const pai_client_options *o,
                    pai_error **err)
{
  int rc = PAI_OK;

  if (o->user != NULL)
    rc = pai__client_set_user(client, o->user, o->password);
  if (rc == PAI_OK && o->token != NULL)
    rc = pai__client_set_token(client, o->token, strlen(o->token));
  if (rc == PAI_EINVAL)
    return pai__fail(err, rc,
                     "pai_client_options: a token must not have blanks");
  client->token_until = 0; /* its age is not known */
  return rc < 0 ? pai__oom(err) : PAI_OK;
}

static int open_http(pai_client *client, const pai_client_options *o,
                     pai_error **err)
{
  pai__http_options options = { .socket = client->socket,
                                .place = client->socket != NULL
                                           ? client->socket
                                           : client->base,
                                .proxy = o->proxy,
                                .ca_file = o->ca_file,
                                .cert_file = o->cert_file,
                                .key_file = o->key_file,
                                .connect_time = client->connect_time };

  return pai__http_new(&client->http, &client->alloc, client->loop, &options,
                       err);
}

/* --- creation and closing ------------------------------------------------ */

static void free_client(pai_client *client)
{
  pai_alloc alloc = client->alloc;

  pai__client_forget(client);
  pai__loop_step_close(client->step);
  pai__strfree(&alloc, client->socket);
  pai__strfree(&alloc, client->origin);
  pai__strfree(&alloc, client->base);
  pai__free(&alloc, client, sizeof(*client));
}

/* Ends operations that are ending; their callbacks only mark others. */
static void on_step(void *user_data)
{
  pai_client *client = user_data;
  pai__client_op *after;

  if (!client->ends)
    return;
  client->ends = false;
  for (pai__client_op *op = client->first; op != NULL; op = after) {
    after = op->after;
    if (op->head.ending)
      op->end(op);
  }
}

int pai_client_new(pai_client **out, pai_loop *loop,
                   const pai_client_options *opts, pai_error **err)
{
  pai_client_options o;
  pai_client *client;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(loop != NULL, err);
  rc = PAI__OPTIONS_IN(&o, opts, pai_client_options, connect_time);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_client_options");
  rc = check_options(&o, err);
  if (rc == PAI_OK)
    rc = pai__loop_check(loop, err);
  if (rc < 0)
    return rc;
  o.alloc = pai__alloc_or_libc(o.alloc);
  client = pai__zalloc(o.alloc, sizeof(*client));
  if (client == NULL)
    return pai__oom(err);
  client->alloc = *o.alloc;
  client->forks = pai__forks();
  client->loop = loop;
  take_limits(client, &o);
  rc = take_place(client, &o, err);
  if (rc == PAI_OK)
    rc = take_who(client, &o, err);
  if (rc == PAI_OK &&
      pai__loop_step_new(&client->step, o.alloc, loop, on_step, client) < 0)
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = open_http(client, &o, err);
  if (rc < 0)
    free_client(client);
  else
    *out = client;
  return rc;
}

static void on_closed(void *user_data)
{
  pai_client *client = user_data;
  void (*closed)(void *) = client->closed;
  void *closed_data = client->closed_data;

  free_client(client);
  if (closed != NULL)
    closed(closed_data);
}

void pai__client_rest(pai_client *client)
{
  if (client->closing && client->first == NULL && client->http != NULL) {
    pai__http *http = client->http;
    client->http = NULL;
    pai__http_close(http, on_closed, client);
  }
}

void pai_client_close(pai_client *client, void (*closed)(void *),
                      void *user_data)
{
  if (client == NULL || client->closing || PAI__IS_FORKED(client))
    return;
  client->closing = true;
  client->closed = closed;
  client->closed_data = user_data;
  for (pai__client_op *op = client->first; op != NULL; op = op->after)
    pai_op_cancel(&op->head);
  pai__client_rest(client);
}
