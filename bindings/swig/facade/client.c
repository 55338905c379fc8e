/* client.c - clients of a server with their loops, and calls */
#include "client_shared.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* As for a platform: a signal may come just before poll(). */
enum { LOOK_MS = 250 };

/* Bytes not yet taken above which a call is paused. */
enum { MOST_HELD = 256 << 10 };

void client_take(Client *c)
{
  (void)pthread_mutex_lock(&c->owner);
}

void client_give(Client *c)
{
  (void)pthread_mutex_unlock(&c->owner);
}

void client_leave(Client *c)
{
  if (atomic_fetch_sub(&c->users, 1) > 1)
    return;
  (void)pthread_mutex_destroy(&c->owner);
  free(c);
}

bool client_enter(Client *c, failure *f)
{
  while (pthread_mutex_trylock(&c->owner) != 0) {
    if (atomic_load(&c->runs)) {
      facade_fail(f, PAI_EBUSY, "the client is in use by another thread");
      return false;
    }
    (void)sched_yield(); /* soon done: a free or cancel */
  }
  if (c->client != NULL)
    return true;
  facade_fail(f, PAI_EINVAL, "the client is closed");
  client_give(c);
  return false;
}

/* --- life ----------------------------------------------------------------- */

/* Returns the socket of `openpai up`, allocated. */
static char *usual_socket(void)
{
  const char *root = getenv("OPENPAI_ROOT"), *below = "/socket";
  size_t size;
  char *path;

  if (root == NULL || root[0] == '\0') {
    root = getenv("XDG_STATE_HOME");
    below = "/openpai/socket";
  }
  if (root == NULL || root[0] == '\0') {
    root = getenv("HOME");
    below = "/.local/state/openpai/socket";
  }
  if (root == NULL)
    root = "";
  size = strlen(root) + strlen(below) + 1;
  path = malloc(size);
  if (path != NULL)
    (void)snprintf(path, size, "%s%s", root, below);
  return path;
}

static void make_client(Client *c, pai_client_options *o, failure *f)
{
  char *usual = NULL;

  if (o->url == NULL && o->socket == NULL)
    o->socket = usual = usual_socket();
  f->code = pai_loop_new(&c->loop, NULL, &f->err);
  if (f->code == PAI_OK)
    f->code = pai_client_new(&c->client, c->loop, o, &f->err);
  free(usual);
}

Client *client_open(words fields, failure *f)
{
  pai_client_options o = PAI_CLIENT_OPTIONS_INIT;
  Client *c;

  if (!options_read(&o, options_client, &fields, f))
    return NULL;
  c = calloc(1, sizeof(*c));
  if (c == NULL) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
    return NULL;
  }
  (void)pthread_mutex_init(&c->owner, NULL);
  atomic_init(&c->users, 1);
  make_client(c, &o, f);
  if (f->code < 0) {
    client_free(c);
    return NULL;
  }
  return c;
}

static void on_closed(void *user_data)
{
  Client *c = user_data;

  c->client = NULL;
  atomic_store(&c->is_shut, true);
}

static int step(Client *c, int most_ms)
{
  struct pollfd fd = { .fd = pai_loop_fd(c->loop), .events = POLLIN };
  int timeout = pai_loop_timeout_ms(c->loop), more;

  if (most_ms < 0 || most_ms > LOOK_MS)
    most_ms = LOOK_MS;
  atomic_store(&c->runs, true);
  (void)poll(&fd, 1, timeout < 0 || timeout > most_ms ? most_ms : timeout);
  more = pai_loop_dispatch(c->loop);
  atomic_store(&c->runs, false);
  return more;
}

static void shut(Client *c)
{
  int rc = PAI_OK;

  execs_close(&c->execs); /* commands need the client's loop */
  if (c->client != NULL)
    pai_client_close(c->client, on_closed, c);
  while (c->client != NULL && rc >= 0)
    rc = step(c, -1);
  if (rc == PAI_EBUSY)
    on_closed(c); /* in a child of fork() the client belongs to the parent */
}

void client_shut(Client *c, failure *f)
{
  if (client_is_shut(c) || !client_enter(c, f))
    return;
  shut(c);
  client_give(c);
}

bool client_is_shut(const Client *c)
{
  return atomic_load(&c->is_shut);
}

void client_free(Client *c)
{
  client_take(c); /* another thread may free a call meanwhile */
  shut(c);
  pai_loop_free(c->loop);
  client_give(c);
  client_leave(c);
}

/* --- loops ------------------------------------------------------------------ */

bool client_dispatch(Client *c, failure *f)
{
  return client_step(c, 0, f);
}

bool client_step(Client *c, int most_ms, failure *f)
{
  int more;

  if (!client_enter(c, f))
    return false;
  more = step(c, most_ms);
  client_give(c);
  if (more < 0)
    facade_fail(f, more, "the loop cannot be run");
  return more > 0;
}

listing client_who(Client *c, failure *f)
{
  json j;

  if (!client_enter(c, f))
    return (listing){ { NULL, 0 } };
  json_start(&j);
  json_begin(&j, NULL, '{');
  json_text(&j, "user", pai_client_user(c->client));
  json_text(&j, "token", pai_client_token(c->client));
  json_end(&j, '}');
  client_give(c);
  return json_finish(&j, f);
}

/* --- calls -------------------------------------------------------------------- */

static void dispose(Call *call)
{
  Client *c = call->client;

  free(call->taken.bytes);
  free(call->body.bytes);
  free(call->type);
  free(call->state);
  facade_failure_dispose(&call->failed);
  free(call);
  client_leave(c);
}

int call_add(void *user_data, const char *bytes, size_t len)
{
  Call *call = user_data;

  if (call->dropped)
    return PAI_ECANCELED;
  call->broken = facade_collect(&call->taken, bytes, len) < 0;
  atomic_store(&call->held, call->taken.len);
  if (call->taken.len > MOST_HELD && !call->paused) {
    call->paused = true;
    pai_op_pause(call->op);
  }
  return call->broken ? PAI_ENOMEM : PAI_OK;
}

static void keep_answer(Call *call, int status,
                        const pai_client_answer *answer)
{
  if (status < 0) {
    facade_keep(&call->failed, status, answer->err);
    free(call->failed.api_code);
    call->failed.api_code = facade_copy(answer->code);
    call->failed.http_status = answer->http_status;
  }
  call->http_status = answer->http_status;
  call->exit_code = answer->exit_code;
  call->tries = answer->tries;
  call->type = facade_copy(answer->type);
  call->state = facade_copy(answer->state);
  if (call->broken ||
      (answer->body != NULL &&
       facade_collect(&call->body, answer->body, answer->body_len) < 0))
    call->failed.code = PAI_ENOMEM;
}

void call_over(void *user_data, int status, const pai_client_answer *answer)
{
  Call *call = user_data;

  call->op = NULL;
  if (call->dropped) {
    dispose(call);
    return;
  }
  keep_answer(call, status, answer);
  atomic_store(&call->over, true);
}

Call *client_call(Client *c, const char *kind, words fields, const char *text,
                  size_t len, const char *code, size_t code_len, failure *f)
{
  call_bodies bodies = { text, code, len, code_len };
  Call *call;

  if (!client_enter(c, f))
    return NULL;
  call = calloc(1, sizeof(*call));
  if (call == NULL) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
  } else {
    call->client = c;
    atomic_fetch_add(&c->users, 1);
    f->code = call_begin(call, kind, &fields, &bodies, f);
    if (f->code < 0) {
      dispose(call);
      call = NULL;
    }
  }
  client_give(c);
  return call;
}

void call_free(Call *call)
{
  Client *c = call->client;
  bool is_over;

  client_take(c);
  is_over = call->op == NULL;
  call->dropped = !is_over;
  if (!is_over)
    pai_op_cancel(call->op);
  client_give(c);
  if (is_over)
    dispose(call);
}

void call_cancel(Call *call)
{
  client_take(call->client);
  if (call->op != NULL)
    pai_op_cancel(call->op);
  client_give(call->client);
}

int call_state(Call *call)
{
  bool over = atomic_load(&call->over); /* first: then no more comes */

  if (atomic_load(&call->held) > 0)
    return 1;
  return over ? -1 : 0;
}

log_bytes call_take(Call *call)
{
  log_bytes taken;

  client_take(call->client);
  taken = (log_bytes){ call->taken.bytes, call->taken.len };
  call->taken = (job_text){ NULL, 0 };
  atomic_store(&call->held, 0);
  if (call->paused && call->op != NULL)
    pai_op_resume(call->op);
  call->paused = false;
  client_give(call->client);
  return taken;
}

log_bytes call_body(Call *call)
{
  log_bytes body = { NULL, 0 };

  if (!atomic_load(&call->over))
    return body;
  body = (log_bytes){ call->body.bytes, call->body.len };
  call->body = (job_text){ NULL, 0 };
  return body;
}

listing call_answer(Call *call, failure *f)
{
  listing none = { { NULL, 0 } };
  json j;

  if (!atomic_load(&call->over)) {
    facade_fail(f, PAI_EBUSY, "it is not over");
    return none;
  }
  if (call->failed.code < 0) {
    facade_fail_as(f, &call->failed);
    return none;
  }
  json_start(&j);
  json_begin(&j, NULL, '{');
  json_number(&j, "status", call->http_status);
  json_number(&j, "tries", call->tries);
  json_text(&j, "type", call->type);
  json_text(&j, "state", call->state);
  json_number(&j, "code", call->exit_code);
  json_end(&j, '}');
  return json_finish(&j, f);
}
