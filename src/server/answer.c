/* answer.c - answers to requests */
#include "server/http/request.h"

/* An answer that waits for the database; it may outlive its request. */
struct pai__waiting {
  pai_alloc alloc;
  pai__request *request; /* NULL: no client waits any more */
  pai__poll *hangup;     /* or NULL */
  void (*gone)(void *user_data);
  void *user_data;
};

/* --- inputs of a request ------------------------------------------------- */

int pai__param_number(const char *text, int64_t *out)
{
  int64_t n = 0;

  if (text[0] == '\0')
    return PAI_EINVAL;
  for (; *text >= '0' && *text <= '9'; text++) {
    if (n > (INT64_MAX - 9) / 10)
      return PAI_EINVAL;
    n = n * 10 + (*text - '0');
  }
  *out = n;
  return *text == '\0' ? PAI_OK : PAI_EINVAL;
}

pai_job_id pai__request_job(pai__request *r)
{
  pai_job_id job = 0;
  int rc = pai_platform_find(&job, r->server->platform, r->params[0], &r->err);

  if (rc == PAI_ENOTFOUND)
    pai__answer_error(r, 404, "NoJobError", "Job %s is not found.",
                      r->params[0]);
  else if (rc < 0)
    pai__answer_failure(r, rc);
  return rc < 0 ? 0 : job;
}

bool pai__request_attempt(pai__request *r, const char *text, int *attempt)
{
  int64_t n;

  *attempt = -1;
  if (strcmp(text, "latest") == 0)
    return true;
  if (pai__param_number(text, &n) == PAI_OK && n <= INT32_MAX) {
    *attempt = (int)n;
    return true;
  }
  pai__answer_error(r, 404, "NoJobError", "Attempt %s of %s is not found.",
                    text, r->params[0]);
  return false;
}

const char *pai__body_text(const pai__request *r, const char *name)
{
  pai__node n = pai__tree_get(r->form, 0, name);

  return n != PAI__NO_NODE ? pai__tree_str(r->form, n, NULL) : NULL;
}

void pai__body_copy(pai__json_writer *w, const pai__request *r, pai__node of,
                    const char *from, const char *to)
{
  pai__node n = pai__tree_get(r->form, of, from);

  if (n == PAI__NO_NODE)
    return;
  pai__json_member(w, to);
  pai__json_ready(w, r->form->text + r->form->nodes[n].start,
                  r->form->nodes[n].end - r->form->nodes[n].start);
}

pai__tree *pai__server_tree(const pai_server *server, const char *json,
                            size_t len)
{
  const pai__json_options o = { .alloc = &server->alloc };
  pai__tree *t = NULL;

  (void)pai__json_parse(&t, json, len, &o, NULL);
  return t;
}

pai__tree *pai__written_tree(pai__buf *json)
{
  const pai__json_options o = { .alloc = json->alloc };
  pai__tree *t = NULL;

  (void)pai__json_parse(&t, pai__buf_text(json), json->len, &o, NULL);
  pai__buf_wipe(json); /* an account has secrets */
  return t;
}

/* Begins an empty answer; returns false if there is one already. */
static bool begin(pai__request *r, int status)
{
  if (r->ready || r->stream != NULL)
    return false;
  pai__buf_cut(&r->answer, 0);
  pai__json_writer_init(&r->json, &r->answer, false);
  r->status = status;
  r->type = "application/json; charset=utf-8";
  r->ready = true;
  return true;
}

/* Wakes the connection, which sends the answer. */
static void send_it(pai__request *r)
{
  r->ready = true;
  pai__request_resume(r);
}

void pai__answer_json(pai__request *r, int status)
{
  r->status = status;
  r->type = "application/json; charset=utf-8";
  if (pai__json_finish(&r->json) < 0)
    r->answer.failed = true;
  send_it(r);
}

static void write_error(pai__request *r, const char *code, const char *message,
                        const char *help)
{
  pai__json_writer *w = &r->json;

  pai__json_begin_object(w);
  pai__json_put_known(w, "code", code);
  pai__json_put_text(w, "message", message);
  pai__json_put_known(w, "help", help);
  pai__json_end_object(w);
  (void)pai__json_finish(w); /* lack of memory is noticed when it is sent */
}

void pai__answer_error(pai__request *r, int status, const char *code,
                       const char *fmt, ...)
{
  pai__buf message;
  va_list ap;

  if (!begin(r, status))
    return;
  pai__buf_init(&message, &r->server->alloc);
  va_start(ap, fmt);
  pai__buf_vprintf(&message, fmt, ap);
  va_end(ap);
  write_error(r, code, pai__buf_text(&message), NULL);
  pai__buf_dispose(&message);
  pai__request_resume(r);
}

void pai__answer_text(pai__request *r, int status, const char *type,
                      const char *text)
{
  if (!begin(r, status))
    return;
  r->type = type;
  pai__buf_str(&r->answer, text);
  pai__request_resume(r);
}

/* Status and code of OpenPAI for our error codes. */
static const struct {
  int rc, status;
  const char *code;
} failures[] = {
  { PAI_EINVAL, 400, "InvalidParametersError" },
  { PAI_ENOROOM, 400, "InvalidProtocolError" },
  { PAI_ENOTFOUND, 404, "NoJobError" },
  { PAI_EEXISTS, 409, "ConflictJobError" },
  { PAI_EPERM, 403, "ForbiddenUserError" },
  { PAI_ELIMIT, 413, "InvalidParametersError" },
  { PAI_EBUSY, 503, "UnknownError" },
  { PAI_ENOMEM, 503, "UnknownError" },
};

void pai__answer_coded(pai__request *r, int status, const char *code,
                       const pai_error *err)
{
  if (!begin(r, status))
    return;
  write_error(r, code, pai_error_message(err), pai_error_help(err));
  pai__request_resume(r);
}

/* Closes the connection without an answer: the client cannot know whether a
 * change was made. */
static void drop(pai__request *r)
{
  r->dropped = true;
  r->ready = true;
  pai__request_resume(r);
}

void pai__answer_cancelled(pai__request *r)
{
  if (r->server->closing > 0)
    pai__answer_error(r, 503, "UnknownError",
                      "The platform is shutting down.");
  else
    drop(r);
}

/* An internal error may name files of this machine.  Over TCP the client gets
 * a general message, and the log the full one. */
static const char *message_of(pai__request *r, int status, int rc,
                              const pai_error *err)
{
  const char *message =
    err != NULL ? pai_error_message(err) : pai_code_name(rc);

  if (!r->remote || status != 500)
    return message;
  pai__log_line(&r->server->log, PAI_LOG_WARNING, "%s %s: %s",
                r->method != NULL ? r->method : "", r->uri, message);
  return "The server failed to handle this request. Its log has the reason.";
}

void pai__answer_why(pai__request *r, int rc, const pai_error *err)
{
  const char *code = pai_error_api_code(err);
  int status = pai_error_http_status(err);
  size_t i = 0;

  while (i < PAI__LEN(failures) && failures[i].rc != rc)
    i++;
  if (code == NULL) { /* no code given: take that of rc */
    code = i < PAI__LEN(failures) ? failures[i].code : "UnknownError";
    status = i < PAI__LEN(failures) ? failures[i].status : 500;
    if (rc == PAI_ENOTFOUND && r->missing != NULL)
      code = r->missing;
  }
  if (begin(r, status)) {
    write_error(r, code, message_of(r, status, rc, err),
                status != 500 || !r->remote ? pai_error_help(err) : NULL);
    r->later = (status == 429 || status == 503) && rc == PAI_EBUSY;
    r->wait = pai_error_retry_after(err);
    pai__request_resume(r);
  }
}

void pai__answer_failure(pai__request *r, int rc)
{
  pai__answer_why(r, rc, r->err);
}

void pai__answer_done(pai__request *r, int status, const char *fmt, ...)
{
  pai__buf message;
  va_list ap;

  if (!begin(r, status))
    return;
  pai__buf_init(&message, &r->server->alloc);
  va_start(ap, fmt);
  pai__buf_vprintf(&message, fmt, ap);
  va_end(ap);
  pai__json_write(&r->json, "{status:i,message:s}", status,
                  pai__buf_text(&message));
  (void)pai__json_finish(&r->json);
  pai__buf_dispose(&message);
  pai__request_resume(r);
}

int pai__answer_write(void *buf, const char *bytes, size_t len)
{
  pai__buf_add(buf, bytes, len);
  return pai__buf_ok(buf) ? PAI_OK : PAI_ENOMEM;
}

void pai__answer_ready(pai__request *r, int status, const char *type)
{
  r->status = status;
  r->type = type;
  send_it(r);
}

void pai__answer_written(pai__request *r, int rc)
{
  if (rc < 0) {
    pai__answer_failure(r, rc);
    return;
  }
  r->status = 200;
  if (r->type == NULL)
    r->type = "application/json; charset=utf-8";
  send_it(r);
}

static void stop_watching(struct pai__waiting *w)
{
  pai__poll_close(w->hangup);
  w->hangup = NULL;
}

/* The hangup descriptor is owned by the connection. */
void pai__waiting_forget(pai__request *r)
{
  struct pai__waiting *w = r->waiting;

  r->waiting = NULL;
  if (w == NULL)
    return;
  w->request = NULL;
  stop_watching(w);
  if (w->gone != NULL)
    w->gone(w->user_data);
}

static void on_hangup(void *user_data, int fd, int events)
{
  struct pai__waiting *w = user_data;

  (void)fd;
  (void)events;
  stop_watching(w);
  w->gone(w->user_data);
}

void pai__waiting_watch(struct pai__waiting *w, void (*gone)(void *user_data),
                        void *user_data)
{
  w->gone = gone;
  w->user_data = user_data;
  /* If this fails, `gone` is called only when the server ends. */
  if (pai__poll_new(&w->hangup, &w->alloc, w->request->server->loop,
                    pai__conn_fd(w->request->conn), on_hangup, w,
                    NULL) == PAI_OK)
    pai__poll_set(w->hangup, PAI__HUNG_UP);
}

static struct pai__waiting *wait_for(pai__request *r)
{
  pai_alloc *alloc = &r->server->alloc;
  struct pai__waiting *w = pai__zalloc(alloc, sizeof(*w));

  if (w == NULL)
    return NULL;
  *w = (struct pai__waiting){ .alloc = *alloc, .request = r };
  r->waiting = w;
  return w;
}

struct pai__waiting *pai__answer_later(pai__request *r)
{
  struct pai__waiting *w = wait_for(r);

  if (w == NULL)
    pai__answer_failure(r, PAI_ENOMEM);
  return w;
}

pai__request *pai__waiting_request(const struct pai__waiting *w)
{
  return w->request;
}

pai__request *pai__answer_now(struct pai__waiting *w)
{
  pai_alloc alloc = w->alloc;
  pai__request *r = w->request;

  stop_watching(w);
  pai__free(&alloc, w, sizeof(*w));
  if (r != NULL)
    r->waiting = NULL;
  return r;
}

static void on_safe(void *user_data, int status, const pai_error *err)
{
  pai__request *r = pai__answer_now(user_data);

  if (r == NULL)
    return;
  if (status < 0)
    pai__answer_error(r, 500, "UnknownError", "%s",
                      message_of(r, 500, status, err));
  else
    send_it(r);
}

void pai__answer_when_safe(pai__request *r)
{
  struct pai__waiting *w;

  w = wait_for(r);
  if (w != NULL &&
      pai_platform_sync(r->server->platform, on_safe, w) == PAI_OK) {
    r->ready = false;
    return;
  }
  if (w != NULL)
    (void)pai__answer_now(w);
  drop(r); /* the change was made, but may not be durable */
}

/* --- changes ------------------------------------------------------------- */

void pai__answer_changed(pai__request *r, int rc, const char *said)
{
  if (rc < 0) {
    pai__answer_failure(r, rc);
    return;
  }
  if (begin(r, r->route->status != 0 ? r->route->status : 200))
    write_error(r, NULL, said, NULL);
  pai__answer_when_safe(r);
}

void pai__answer_account(void *waiting, int status, const char *json,
                         size_t len, const pai_error *err)
{
  pai__request *r = pai__answer_now(waiting);

  (void)json;
  (void)len;
  if (r == NULL)
    return;
  if (status == PAI_ECANCELED)
    pai__answer_cancelled(r);
  else if (status < 0)
    pai__answer_why(r, status, err);
  else
    pai__answer_changed(r, PAI_OK, r->said);
}

void pai__request_give_up(pai__request *r)
{
  bool changes = r->method != NULL && strcmp(r->method, "GET") != 0 &&
                 strcmp(r->method, "HEAD") != 0;

  pai__waiting_forget(r);
  if (r->stream != NULL)
    pai__stream_over(r->stream, true);
  else if (changes)
    drop(r);
  else
    pai__answer_error(r, 503, "UnknownError",
                      "The platform is shutting down.");
}
