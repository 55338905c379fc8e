/*
 * remote.c - calls to a platform: this user's, through its socket, or a server
 * at a URL
 *
 * The verbs make one call after another, so each call waits for its answer.
 */
#include "remote.h"

#include "accounts.h"
#include "jobs.h"
#include "progress.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  AGAIN = 500,
  PATIENCE = 10 * 1000, /* ms until a started platform must serve */
  PAUSE = 10,
  MOST_TRIES = 3 /* for a server at a URL: the user waits */
};

/* The current call. */
typedef struct asking {
  cli_answer *answer;
  const cli_stream *stream;
  void *data;          /* from cli_remote_call() */
  const char *sending; /* name of the upload whose progress is shown */
  int64_t began;
  bool done;
} asking;

/* --- texts --------------------------------------------------------------- */

char *cli_escape(const char *text)
{
  char *escaped = malloc(strlen(text) * 3 + 1), *to = escaped;

  for (const char *p = text; escaped != NULL && *p != '\0'; p++)
    if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
        (*p >= '0' && *p <= '9') || strchr("-_.~", *p) != NULL)
      *to++ = *p;
    else
      to += snprintf(to, 4, "%%%02X", (unsigned)(unsigned char)*p);
  if (escaped != NULL)
    *to = '\0';
  return escaped;
}

bool cli_job_name(const char *name)
{
  const char *tilde = strchr(name, '~');

  if (name[0] != '\0' && tilde != name &&
      (tilde == NULL ||
       (tilde[1] != '\0' && strchr(tilde + 1, '~') == NULL)) &&
      strchr(name, '/') == NULL)
    return true;
  cli_fail("invalid name of a job: '%s'", name);
  return false;
}

char *cli_whole_name(const char *name)
{
  bool whole = strchr(name, '~') != NULL;
  size_t size = strlen(name) + strlen(cli_user()) + 2;
  char *out = malloc(size);

  if (out != NULL)
    (void)snprintf(out, size, "%s%s%s", whole ? "" : cli_user(),
                   whole ? "" : "~", name);
  return out;
}

char *cli_job_path(const char *name, const char *rest)
{
  char *whole = cli_whole_name(name),
       *escaped = whole != NULL ? cli_escape(whole) : NULL, *path = NULL;
  size_t size = escaped != NULL ? strlen(escaped) + strlen(rest) + 16 : 0;

  if (size > 0 && (path = malloc(size)) != NULL)
    (void)snprintf(path, size, "/api/v2/jobs/%s%s", escaped, rest);
  free(escaped);
  free(whole);
  return path;
}

char *cli_job_arguments(const char *name, const char *more)
{
  char *whole = cli_whole_name(name), *text = NULL;
  size_t len = 0;
  FILE *out = whole != NULL ? open_memstream(&text, &len) : NULL;

  if (out != NULL) {
    cli_json_print(out, "{\"job\":%s", whole);
    (void)fprintf(out, "%s}", more);
    if (fclose(out) != 0) {
      free(text);
      text = NULL;
    }
  }
  free(whole);
  return text;
}

/* --- opening ------------------------------------------------------------- */

/* On a terminal, shows that a call is being retried. */
static void on_retry(void *user_data, const pai_client_retry *retry)
{
  (void)user_data;
  cli_progress_over();
  if (cli_is_terminal(stderr))
    (void)fprintf(stderr, "note: %s; once more\n",
                  pai_error_message(retry->err));
}

static bool open_client(cli_remote *r, const char *token, pai_error **err)
{
  pai_client_options options = PAI_CLIENT_OPTIONS_INIT;

  options.socket = r->socket;
  options.url = r->context.url;
  options.ca_file = r->context.ca_file;
  options.token = token;
  options.most_tries = r->context.url != NULL ? MOST_TRIES : 0;
  options.on_retry = on_retry;
  return pai_loop_new(&r->loop, NULL, err) == PAI_OK &&
         pai_client_new(&r->client, r->loop, &options, err) == PAI_OK;
}

bool cli_remote_open_context(cli_remote *r, const cli_context *context,
                             const char *token)
{
  pai_error *err = NULL;

  *r = (cli_remote){ .original = -1 };
  if (!cli_context_copy(&r->context, context))
    return false;
  if (open_client(r, token, &err)) {
    const char *user =
      context->user != NULL ? context->user : pai_client_user(r->client);
    cli_be_user(user);
    return true;
  }
  (void)cli_fail_with(NULL, err);
  cli_remote_close(r);
  return false;
}

/* Without a token, only calls that need none succeed. */
static bool open_chosen(cli_remote *r, cli_context *context)
{
  char *token = cli_token_find(context);
  bool good;

  if (context->user == NULL && token != NULL)
    context->user = cli_token_user(token);
  good = cli_remote_open_context(r, context, token);
  free(token);
  cli_context_free(context);
  return good;
}

bool cli_remote_open(cli_remote *r, bool start)
{
  pai_error *err = NULL;
  cli_context context;
  int chosen = cli_context_choose(&context);

  *r = (cli_remote){ 0 };
  if (chosen != 0)
    return chosen > 0 && open_chosen(r, &context);
  r->root = cli_find_root();
  if (r->root == NULL)
    return false;
  r->start = start && cli_may_start(r->root);
  r->socket = cli_socket_path(r->root);
  if (r->socket != NULL && open_client(r, NULL, &err))
    return true;
  (void)cli_fail_with(NULL, err);
  cli_remote_close(r);
  return false;
}

void cli_remote_close(cli_remote *r)
{
  pai_client_close(r->client, NULL, NULL);
  while (r->client != NULL && pai_loop_run_once(r->loop) > 0)
    ;
  pai_loop_free(r->loop);
  cli_context_free(&r->context);
  free(r->socket);
  free(r->root);
  *r = (cli_remote){ 0 };
}

/* --- asking -------------------------------------------------------------- */

static void keep(char *to, size_t size, const char *text)
{
  (void)snprintf(to, size, "%s", text != NULL ? text : "");
}

static void on_answer(void *user_data, int status, const pai_client_answer *a)
{
  asking *q = user_data;
  cli_answer *out = q->answer;

  q->done = true;
  out->status = status;
  out->http = a->http_status;
  out->body = malloc(a->body_len + 1);
  if (out->body == NULL) {
    out->status = PAI_ENOMEM;
    keep(out->message, sizeof(out->message), "out of memory");
    return;
  }
  memcpy(out->body, a->body, a->body_len + 1);
  out->len = a->body_len;
  keep(out->code, sizeof(out->code), a->code);
  keep(out->message, sizeof(out->message), pai_error_message(a->err));
  keep(out->help, sizeof(out->help), pai_error_help(a->err));
  out->no_answer = pai_error_no_answer(a->err);
}

static int on_body(void *user_data, const char *bytes, size_t len)
{
  asking *q = user_data;

  return q->stream->on_bytes(q->stream->user_data, bytes, len);
}

/* Adds help for some failures of a server. */
static void advise(const cli_remote *r, cli_answer *out)
{
  const char *alias = r->context.alias;

  if (r->context.url == NULL || out->status == PAI_OK)
    return;
  if (out->http == 401)
    (void)snprintf(out->help, sizeof(out->help),
                   "log in again: openpai login %s",
                   alias != NULL ? alias : r->context.url);
  else if (out->http == 404 && strcmp(out->code, "NoApiError") == 0)
    keep(out->help, sizeof(out->help),
         "this server is an original OpenPAI, or an older one, and cannot "
         "do that");
  else if (out->no_answer == PAI_NO_ANSWER_UNTRUSTED)
    (void)snprintf(
      out->help, sizeof(out->help),
      "its certificate is signed by an unknown authority: give a file with "
      "the authority's certificate with openpai login %.120s --ca-file FILE",
      r->context.url);
  else if (out->no_answer == PAI_NO_ANSWER_NOT_REACHED)
    (void)snprintf(
      out->help, sizeof(out->help),
      "no server answers at %.120s: check that it runs, and the URL",
      r->context.url);
}

static void on_sent(void *user_data, uint64_t sent, uint64_t total)
{
  const asking *q = user_data;
  char line[256];

  cli_progress_bar(line, sizeof(line), q->sending, sent, total,
                   cli_now() - q->began);
  cli_progress(line);
}

static void turn(cli_remote *r, int every_ms)
{
  if (every_ms > 0)
    cli_loop_step(r->loop, every_ms);
  else
    (void)!pai_loop_run_once(r->loop);
}

void *cli_remote_data(void *user_data)
{
  return ((asking *)user_data)->data;
}

void cli_remote_call_ticking(cli_remote *r, cli_answer *out, cli_starter start,
                             void *data, void (*tick)(void *data),
                             int every_ms)
{
  asking q = { .answer = out, .data = data };
  pai_error *err = NULL;
  int rc;

  *out = (cli_answer){ 0 };
  rc = start(r, data, on_answer, &q, &err);
  if (rc < 0) {
    out->status = rc;
    keep(out->message, sizeof(out->message), pai_error_message(err));
    keep(out->help, sizeof(out->help), pai_error_help(err));
    out->no_answer = pai_error_no_answer(err);
    pai_error_free(err);
    return;
  }
  while (!q.done) {
    turn(r, every_ms);
    if (tick != NULL)
      tick(data);
  }
  advise(r, out);
}

void cli_remote_call(cli_remote *r, cli_answer *out, cli_starter start,
                     void *data, void (*tick)(void *data))
{
  cli_remote_call_ticking(r, out, start, data, tick, 0);
}

/* What to send: a call of the API, a request, or a job. */
typedef struct errand {
  const char *call, *arguments;
  const pai_client_request *what;
  const pai_client_job_file *job;
  const cli_stream *stream;
  const char *sending;
} errand;

/* Makes one try. */
static void ask(cli_remote *r, cli_answer *out, const errand *e)
{
  const cli_stream *stream = e->stream;
  asking q = {
    .answer = out, .stream = stream, .sending = e->sending, .began = cli_now()
  };
  pai_error *err = NULL;
  int rc;

  *out = (cli_answer){ 0 };
  if (e->call != NULL)
    rc = pai_client_call(NULL, r->client, e->call, e->arguments, on_answer, &q,
                         &err);
  else if (e->job != NULL)
    rc = pai_client_submit(NULL, r->client, e->job, on_answer, &q, &err);
  else
    rc = pai_client_ask(NULL, r->client, e->what, on_answer, &q, &err);
  if (rc < 0) {
    out->status = rc;
    keep(out->message, sizeof(out->message), pai_error_message(err));
    pai_error_free(err);
    return;
  }
  while (!q.done) {
    turn(r, stream != NULL ? stream->every_ms : 0);
    if (stream != NULL && stream->tick != NULL)
      stream->tick(stream->user_data);
  }
  advise(r, out);
}

/* Whether nothing listens at the socket. */
static bool is_down(const cli_answer *a)
{
  return a->no_answer == PAI_NO_ANSWER_NOT_REACHED;
}

/* Another process holds the root but serves nothing: not a platform of `up`,
 * or one that is still starting. */
static void tell_holder(const cli_remote *r, cli_answer *out)
{
  out->status = PAI_EBUSY;
  (void)snprintf(out->message, sizeof(out->message),
                 "the process that uses the root %s does not answer", r->root);
  (void)snprintf(out->help, sizeof(out->help),
                 "the process id is in the file lock of that folder");
}

/* Makes a call; if nothing listens, starts a platform and tries again.  A
 * platform that another process has just started may need a moment. */
static void insist(cli_remote *r, cli_answer *out, const errand *e)
{
  const struct timespec pause = { 0, PAUSE * 1000 * 1000 };
  bool start = r->start;

  ask(r, out, e);
  r->start = false; /* a platform that ends later was ended on purpose */
  for (int ms = 0; start && is_down(out); ms += PAUSE) {
    if (ms >= PATIENCE) {
      tell_holder(r, out);
      return;
    }
    cli_answer_free(out);
    /* Retry the start: the previous holder of the root may be ending. */
    if (ms % AGAIN == 0 && !cli_start_platform(r->root)) {
      *out = (cli_answer){ .status = PAI_EUSER }; /* the error was printed */
      return;
    }
    if (ms > 0)
      (void)nanosleep(&pause, NULL);
    ask(r, out, e);
  }
}

void cli_remote_submit(cli_remote *r, cli_answer *out,
                       const pai_client_job_file *job)
{
  insist(r, out, &(errand){ .job = job });
}

static void ask_for(cli_remote *r, cli_answer *out, pai_client_request *what,
                    const char *sending)
{
  bool shown = sending != NULL && cli_progress_wanted();

  what->on_sent = shown ? on_sent : NULL;
  if (what->path != NULL) {
    insist(r, out, &(errand){ .what = what, .sending = sending });
    if (shown)
      cli_progress_over();
    return;
  }
  *out = (cli_answer){ .status = PAI_ENOMEM };
  keep(out->message, sizeof(out->message), "out of memory");
}

static void tell_memory(cli_answer *out)
{
  *out = (cli_answer){ .status = PAI_ENOMEM };
  keep(out->message, sizeof(out->message), "out of memory");
}

void cli_call(cli_remote *r, cli_answer *out, const char *call,
              char *arguments)
{
  if (arguments != NULL)
    insist(r, out, &(errand){ .call = call, .arguments = arguments });
  else
    tell_memory(out);
  free(arguments);
}

bool cli_call_do(cli_remote *r, const char *call, char *arguments)
{
  cli_answer a;
  bool good;

  cli_call(r, &a, call, arguments);
  good = a.status == PAI_OK;
  if (!good)
    cli_answer_tell(&a);
  cli_answer_free(&a);
  return good;
}

bool cli_answer_read(const cli_answer *a, pai_json **out)
{
  if (cli_json_read(out, a->body, a->len))
    return true;
  cli_fail("the platform's answer is not valid JSON");
  return false;
}

bool cli_call_read(cli_remote *r, pai_json **out, const char *call,
                   char *arguments)
{
  cli_answer a;
  bool good = false;

  *out = NULL;
  cli_call(r, &a, call, arguments);
  if (a.status != PAI_OK)
    cli_answer_tell(&a);
  else
    good = cli_answer_read(&a, out);
  cli_answer_free(&a);
  return good;
}

bool cli_call_quietly(cli_remote *r, pai_json **out, const char *call,
                      char *arguments)
{
  cli_answer a;
  bool good;

  *out = NULL;
  cli_call(r, &a, call, arguments);
  good = a.status == PAI_OK && cli_json_read(out, a.body, a.len);
  cli_answer_free(&a);
  return good;
}

bool cli_job_read(cli_remote *r, pai_json **out, const char *name)
{
  return cli_call_read(r, out, "jobs.show", cli_job_arguments(name, ""));
}

void cli_remote_send(cli_remote *r, cli_answer *out, const char *path,
                     const char *type, const char *body, size_t len,
                     const char *what)
{
  pai_client_request put = PAI_CLIENT_REQUEST_INIT;

  put.method = "PUT";
  put.path = path;
  put.type = type;
  put.body = body;
  put.body_len = len;
  ask_for(r, out, &put, what);
}

void cli_remote_stream(cli_remote *r, cli_answer *out, const char *path,
                       const cli_stream *stream)
{
  pai_client_request what = PAI_CLIENT_REQUEST_INIT;

  what.path = path;
  what.on_body = on_body;
  insist(r, out, &(errand){ .what = &what, .stream = stream });
}

bool cli_remote_is_original(cli_remote *r)
{
  pai_json *j;

  if (r->context.url == NULL)
    return false;
  if (r->original < 0 &&
      cli_call_quietly(r, &j, "server.info", cli_no_arguments())) {
    r->original = strcmp(cli_json_text(j, 0, "server"), "libopenpai") != 0;
    pai_json_free(j);
  }
  return r->original > 0;
}

char *cli_no_arguments(void)
{
  return strdup("{}");
}

void cli_answer_free(cli_answer *a)
{
  free(a->body);
  a->body = NULL;
}

/* Returns the verb that lists the objects of which one was not found, or
 * NULL. */
static const char *help_to_find(const char *code)
{
  static const struct {
    const char *code, *help;
  } lists[] = {
    { "NoJobError", "'openpai list' lists the jobs" },
    { "NoFileError", "'openpai files JOB' lists the job's files" },
    { "NoTaskError", "'openpai show JOB' lists the job's tasks" },
    { "NoTaskLogError", "'openpai show JOB' lists the job's tasks" },
    { "NoUserError", "'openpai user list' lists the users" },
    { "NoGroupError", "'openpai group list' lists the groups" },
    { "NoTokenError", "'openpai token list' lists the tokens" },
    { "NoStorageError", "'openpai storage list' lists the storages" },
    { "NoVirtualClusterError",
      "'openpai vc list' lists the virtual clusters" },
  };

  for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
    if (strcmp(code, lists[i].code) == 0)
      return lists[i].help;
  return NULL;
}

void cli_answer_tell(const cli_answer *a)
{
  const char *list = help_to_find(a->code);

  if (a->status == PAI_EUSER)
    return; /* the error was printed */
  cli_say(PAI_LOG_ERROR, a->message);
  if (a->help[0] != '\0')
    cli_help(stderr, a->help);
  else if (is_down(a))
    cli_help(stderr, "no platform runs there: start one with openpai up");
  else if (list != NULL)
    cli_help(stderr, list);
}
