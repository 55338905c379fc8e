/*
 * watch.c - watches the state of a job until it is over, or of all jobs
 *
 * Requests the state, reports it, and then either reads a stream of changes
 * (this project's server), after whose end the state is requested again, or
 * pauses (other servers).  So a cut loses nothing, and each change is reported
 * once.
 */
#include "client/watch.h"

enum { MOST_LINE = 1 << 20 }; /* bytes of an event */

enum { FINAL = 3 }; /* final states come first in the list */

static const char *const states[] = { "SUCCEEDED", "FAILED",  "STOPPED",
                                      "STOPPING",  "WAITING", "RUNNING",
                                      "UNKNOWN" };

/* --- reporting ----------------------------------------------------------- */

const char *pai__state_of(const char *text)
{
  for (size_t i = 0; i < PAI__LEN(states); i++) {
    const char *a = states[i], *b = text;
    while (*a != '\0' && *a == (*b >= 'a' && *b <= 'z' ? *b - 32 : *b))
      a++, b++;
    if (*a == '\0' && *b == '\0')
      return states[i];
  }
  return "";
}

bool pai__state_is_final(const char *state)
{
  for (int i = 0; i < FINAL; i++)
    if (state == states[i])
      return true;
  return false;
}

int pai__state_code(const pai__tree *tree, pai__node job, const char *state)
{
  return pai__state_is_final(state)
           ? (int)pai__tree_look_int(tree, job, "appExitCode")
           : 0;
}

const char *pai__state_read(const pai_alloc *alloc, const pai_client_answer *a,
                            int *code)
{
  pai__tree *tree;
  const char *state;
  pai__node n;

  *code = 0;
  if (pai__answer_read(&tree, alloc, a->body, a->body_len) < 0)
    return NULL;
  n = pai__tree_get(tree, 0, "jobStatus");
  state = pai__state_of(pai__tree_look_text(tree, n, "state", ""));
  *code = pai__state_code(tree, n, state);
  pai__tree_free(tree);
  return state;
}

void pai__watch_tell(pai__watcher *w, const char *job, const char *state,
                     int code)
{
  pai__client_sequence *c = &w->sequence;
  size_t len = strlen(job);
  pai_client_change change = { .struct_size = sizeof(change),
                               .job = job,
                               .state = state,
                               .final = pai__state_is_final(state),
                               .exit_code = code };

  if (c->stopped < 0 || state[0] == '\0' ||
      pai__map_get(&w->known, job, len) == state)
    return;
  w->pause = 0;
  if (pai__map_set(&w->known, job, len, (void *)(uintptr_t)state) < 0)
    c->stopped = PAI_ENOMEM;
  else if (w->on_change != NULL)
    c->stopped = w->on_change(c->user_data, &change);
}

/* --- the stream ---------------------------------------------------------- */

static int take_line(pai__watcher *w)
{
  const pai_alloc *alloc = &w->sequence.op.client->alloc;
  pai__tree *tree =
    pai__answer_tree(alloc, pai__buf_text(&w->line), w->line.len);
  const char *state = pai__state_of(pai__tree_look_text(tree, 0, "state", ""));
  bool job = strcmp(pai__tree_look_text(tree, 0, "event", ""), "job") == 0;

  /* The final state is reported with the job's details. */
  if (job && !pai__state_is_final(state))
    pai__watch_tell(w, w->job, state, 0);
  pai__tree_free(tree);
  pai__buf_cut(&w->line, 0);
  return w->sequence.stopped;
}

static int on_stream(void *user_data, int http_status, const char *bytes,
                     size_t len)
{
  pai__watcher *w = user_data;
  int rc = 0;

  (void)http_status;
  w->fails = 0;
  w->opening = false;
  for (size_t i = 0; i < len && rc >= 0; i++)
    if (bytes[i] != '\n')
      pai__buf_char(&w->line, bytes[i]);
    else
      rc = !pai__buf_ok(&w->line) ? PAI_ENOMEM
           : w->job == NULL       ? pai__watch_all_line(w)
                                  : take_line(w);
  if (rc >= 0 && w->line.len > MOST_LINE)
    return PAI_ELIMIT; /* not a stream of this project's server */
  return pai__buf_ok(&w->line) ? rc : PAI_ENOMEM;
}

void pai__watch_stream_later(pai__watcher *w)
{
  pai_client *client = w->sequence.op.client;
  uint32_t fails = w->fails > 0 ? w->fails : 1;

  pai__client_sequence_wait(&w->sequence,
                            pai__retry_wait(&client->random, fails,
                                            client->first_wait,
                                            client->most_wait, 0),
                            pai__watch_ask_on);
}

/* After any end of the stream: request the state again. */
static void on_stream_end(pai__client_sequence *c, int status,
                          const pai_client_answer *a)
{
  pai__watcher *w = (pai__watcher *)c;

  if (pai__client_sequence_stopped(&w->sequence))
    return;
  if (w->job == NULL)
    pai__watch_all_end(w, status, a);
  else if (status == PAI_ENOMEM || status == PAI_EPERM)
    pai__client_sequence_end(c, status, a);
  else if (status == PAI_OK && !w->opening)
    pai__watch_ask_on(c);
  else { /* also if nothing came: not a stream of this project's server */
    w->fails++;
    pai__watch_stream_later(w);
  }
}

int pai__watch_stream(pai__watcher *w, const char *path, const char *accept,
                      pai_time total_time, pai_error **err)
{
  pai__client_sequence *c = &w->sequence;
  pai__call call = pai__call_of(c->op.client, "GET", path);

  call.accept = accept;
  call.idle_time = 0;
  call.total_time = total_time;
  call.last_event = w->id.len > 0 ? pai__buf_text(&w->id) : NULL;
  call.most_tries = 1;
  call.stream = true;
  call.on_body = on_stream;
  pai__buf_cut(&w->line, 0);
  return pai__client_sequence_ask(c, &call, on_stream_end, err);
}

static void open_stream(pai__watcher *w)
{
  pai_client *client = w->sequence.op.client;
  pai_error *err = NULL;
  pai__buf path;
  int rc;

  w->opening = true;
  pai__buf_init(&path, &client->alloc);
  (void)pai__job_path(&path, w->job, "/follow?output=false", NULL);
  rc = pai__buf_ok(&path) ? pai__watch_stream(w, pai__buf_text(&path),
                                              "application/x-openpai-follow",
                                              client->stream_time, &err)
                          : PAI_ENOMEM;
  pai__client_sequence_check(&w->sequence, rc, err);
  pai__buf_dispose(&path);
}

/* --- one job ------------------------------------------------------------- */

/* Returns whether an answer about a job has a state, also an unknown one. */
static bool has_state(const pai_alloc *alloc, const pai_client_answer *a)
{
  pai__tree *tree = pai__answer_tree(alloc, a->body, a->body_len);
  pai__node n = pai__tree_get(tree, 0, "jobStatus");
  bool has = pai__tree_look_text(tree, n, "state", "")[0] != '\0';

  pai__tree_free(tree);
  return has;
}

/* A retry would give the same answer for ever. */
static void fail_stateless(pai__watcher *w)
{
  pai_error *err = NULL;
  int rc = pai__fail(
    &err, PAI_EIO,
    "invalid answer of the server: it has no state of the job %s", w->job);

  pai__error_help(&err, "check that this is the URL of OpenPAI's REST API, "
                        "such as https://pai.example.org/rest-server");
  pai__client_sequence_check(&w->sequence, rc, err);
}

static void on_job(pai__client_sequence *c, int status,
                   const pai_client_answer *a)
{
  pai__watcher *w = (pai__watcher *)c;
  pai_client *client = c->op.client;
  pai_client_answer out = *a;

  if (status == PAI_OK) {
    out.state = pai__state_read(&client->alloc, a, &out.exit_code);
    if (out.state == NULL) {
      pai__client_sequence_fail(c, PAI_ENOMEM, NULL);
      return;
    }
    pai__watch_tell(w, w->job, out.state, out.exit_code);
  }
  if (pai__client_sequence_stopped(&w->sequence))
    return;
  if (status < 0 || pai__state_is_final(out.state))
    pai__client_sequence_end(c, status, &out);
  else if (out.state[0] == '\0' && !has_state(&client->alloc, a))
    fail_stateless(w);
  else if (client->server == PAI__OURS)
    open_stream(w);
  else
    pai__client_sequence_pause(&w->sequence, &w->pause, pai__watch_ask_on);
}

/* --- creation ------------------------------------------------------------ */

static int ask_now(pai__watcher *w, pai_error **err)
{
  return w->job == NULL
           ? pai__watch_ask_all(w, err)
           : pai__client_sequence_job(&w->sequence, w->job, on_job, err);
}

void pai__watch_ask_on(pai__client_sequence *c)
{
  pai_error *err = NULL;
  int rc = ask_now((pai__watcher *)c, &err);

  pai__client_sequence_check(c, rc, err);
}

static void on_info(pai__client_sequence *c, int status,
                    const pai_client_answer *a)
{
  if (status < 0) {
    pai__client_sequence_end(c, status, a);
    return;
  }
  if (pai__client_note_info(c->op.client, a) < 0)
    pai__client_sequence_fail(c, PAI_ENOMEM, NULL);
  else
    pai__watch_ask_on(c);
}

static int begin(pai__watcher *w, pai_error **err)
{
  return w->sequence.op.client->server != PAI__UNKNOWN
           ? ask_now(w, err)
           : pai__client_sequence_info(&w->sequence, on_info, err);
}

static void dispose_watch(pai__client_sequence *c)
{
  pai__watcher *w = (pai__watcher *)c;

  pai__strfree(&c->op.client->alloc, w->job);
  pai__map_dispose(&w->known);
  pai__map_dispose(&w->now);
  pai__buf_dispose(&w->line);
  pai__buf_dispose(&w->id);
  pai__buf_dispose(&w->next_id);
}

static int watch_new(pai_op **op, pai_client *client, const char *job,
                     pai__change_cb on_change, pai_client_cb cb,
                     void *user_data, pai_error **err)
{
  pai__client_sequence *c;
  pai__watcher *w;
  int rc = pai__client_sequence_new(&c, client, sizeof(pai__watcher),
                                    dispose_watch, cb, user_data, err);

  if (rc < 0)
    return rc;
  w = (pai__watcher *)c;
  w->on_change = on_change;
  pai__map_init(&w->known, &client->alloc);
  pai__map_init(&w->now, &client->alloc);
  pai__buf_init(&w->line, &client->alloc);
  pai__buf_init(&w->id, &client->alloc);
  pai__buf_init(&w->next_id, &client->alloc);
  w->job = job != NULL ? pai__strdup(&client->alloc, job) : NULL;
  rc = job != NULL && w->job == NULL ? pai__oom(err) : begin(w, err);
  return pai__client_sequence_started(c, rc, op);
}

/* --- public functions ---------------------------------------------------- */

int pai_client_watch(pai_op **op, pai_client *client, const char *job,
                     int (*on_change)(void *user_data,
                                      const pai_client_change *change),
                     pai_client_cb cb, void *user_data, pai_error **err)
{
  int rc = pai__op_check(op, client, cb, __func__, err);

  if (rc < 0)
    return rc;
  PAI__CHECK_ARG_ERR(on_change != NULL, err);
  return watch_new(op, client, job, on_change, cb, user_data, err);
}

int pai_client_wait(pai_op **op, pai_client *client, const char *job,
                    pai_client_cb cb, void *user_data, pai_error **err)
{
  int rc = pai__op_check(op, client, cb, __func__, err);

  if (rc < 0)
    return rc;
  PAI__CHECK_ARG_ERR(job != NULL, err);
  return watch_new(op, client, job, NULL, cb, user_data, err);
}
