/*
 * enter.c - requests a session's stream from the server
 *
 * Through a socket it is requested at once.  With a URL it may wait for a
 * login, and be retried with a new token: until it is connected it is one of
 * the client's operations, and ends with the client.
 */
#include "client/session.h"

/* The session does not need the client any more. */
static void leave_client(pai_session *s)
{
  if (!s->listed)
    return;
  s->listed = false;
  pai__op_gone(&s->op);
  pai__client_rest(s->op.client);
}

static int start(pai_session *s, pai_error **err);

/* Retries once with a new token if possible; returns whether it did. */
static bool try_renewed(pai_session *s)
{
  pai_error *err = NULL;
  int rc;

  if (s->renewed || !s->listed || !pai__client_renew(s->op.client, s->token))
    return false;
  s->renewed = true;
  rc = start(s, &err);
  if (rc < 0)
    pai__session_fail(s, rc, err);
  pai_error_free(err);
  return true;
}

static void on_upgrade(void *user_data, int status, int http_status,
                       pai__http_stream *stream, const char *bytes, size_t len,
                       const pai_error *err)
{
  pai_session *s = user_data;
  pai_error *why = NULL;
  int rc;

  s->upgrade = NULL; /* it frees itself */
  if (stream == NULL) {
    if (http_status == 401 && try_renewed(s))
      return;
    if (status < 0)
      pai__session_fail(s, status, err);
    else
      pai__session_refuse(s, http_status, bytes, len);
    return;
  }
  leave_client(s);
  pai__buf_add(&s->in, bytes, len);
  if (pai__buf_ok(&s->in)) {
    rc = pai__session_connect(s, stream, &why);
  } else {
    pai__http_stream_close(stream);
    rc = pai__oom(&why);
  }
  if (rc < 0)
    pai__session_fail(s, rc, why);
  pai_error_free(why);
}

static int begin_upgrade(pai_session *s, pai_client *client, pai_error **err)
{
  pai__http_upgrade_want want = { .protocol = "openpai-stream",
                                  .on_done = on_upgrade,
                                  .socket = client->socket,
                                  .user_data = s };
  pai__buf path;
  int rc;

  pai__buf_init(&path, &s->alloc);
  if (client->socket == NULL) {
    want.url = client->base;
    want.like = client->http;
    want.host = strstr(client->origin, "://") + 3;
    want.authorization = client->authorization;
    want.time =
      client->total_time > 0 ? client->total_time : client->idle_time;
    pai__buf_str(&path, client->base + strlen(client->origin));
  }
  pai__buf_str(&path, s->path);
  want.path = pai__buf_text(&path);
  s->token = client->token_number;
  rc = pai__buf_ok(&path)
         ? pai__http_upgrade_new(&s->upgrade, &s->alloc, s->loop, &want, err)
         : pai__oom(err);
  pai__buf_dispose(&path);
  return rc;
}

/* May wait for a login. */
static int start(pai_session *s, pai_error **err)
{
  int rc = pai__client_admit(s->op.client, &s->op, err);

  return rc <= 0 ? rc : begin_upgrade(s, s->op.client, err);
}

static void resume(pai__client_op *op, int status, const pai_error *err)
{
  pai_session *s = (pai_session *)op;
  pai_error *why = NULL;
  int rc;

  if (status < 0) {
    pai__session_fail(s, status, err);
    return;
  }
  rc = start(s, &why);
  if (rc < 0)
    pai__session_fail(s, rc, why);
  pai_error_free(why);
}

/* The client is closing. */
static void cancel(pai_op *op)
{
  pai_session *s = (pai_session *)op;

  pai__http_upgrade_close(s->upgrade);
  s->upgrade = NULL;
  pai__op_end_soon(&s->op);
}

/* No callback if the session was closed. */
static void end_op(pai__client_op *op)
{
  pai_session *s = (pai_session *)op;
  pai_client *client = op->client;
  pai_error *err = NULL;
  int rc;

  if (s->closed) {
    pai__op_gone(op);
    pai__session_free(s);
    pai__client_rest(client);
    return;
  }
  rc = pai__fail(&err, PAI_ECANCELED, "the client was closed");
  pai__session_fail(s, rc, err);
  pai_error_free(err);
}

/* Until it is connected it is an operation of the client. */
static int start_far(pai_session *s, pai_client *client, pai_error **err)
{
  int rc;

  s->far = s->listed = true;
  s->secure = strncmp(client->base, "https:", 6) == 0;
  s->op.head.cancel = cancel;
  s->op.end = end_op;
  s->op.resume = resume;
  pai__op_begin(&s->op, client);
  rc = start(s, err);
  if (rc >= 0)
    return PAI_OK;
  s->listed = false;
  pai__op_gone(&s->op);
  return rc;
}

int pai_client_enter(pai_session **out, pai_client *client, const char *job,
                     const char *role, uint32_t index,
                     const pai_session_options *opts, pai_error **err)
{
  pai_session *s = NULL;
  pai__buf path;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(client != NULL, err);
  PAI__CHECK_PROCESS(client, err);
  PAI__CHECK_ARG_ERR(job != NULL && role != NULL && job[0] != '\0', err);
  if (client->closing)
    return pai__fail(err, PAI_EBUSY, "the client is being closed");
  rc = pai__session_make(&s, client->loop, &client->alloc, opts, err);
  if (s == NULL)
    return rc;
  pai__buf_init(&path, &client->alloc);
  pai__buf_str(&path, "/api/v2/jobs/");
  pai__put_escaped(&path, job, "");
  pai__buf_str(&path, "/taskRoles/");
  pai__put_escaped(&path, role, "");
  pai__buf_printf(&path, "/taskIndex/%u/stream", index);
  s->path = pai__buf_take(&path);
  if (s->path == NULL)
    rc = pai__oom(err);
  else if (client->socket != NULL)
    rc = begin_upgrade(s, client, err);
  else
    rc = start_far(s, client, err);
  if (rc < 0)
    pai_session_close(s);
  else
    *out = s;
  return rc;
}
