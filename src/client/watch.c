/*
 * watch.c - a job's state as it changes, until it is over; or all jobs'
 *
 * Asked, told, and then: of a server of ours a stream that says what happens,
 * after whose end it is asked again; of others a pause.  So nothing is missed
 * by a cut, and what is told twice is told on once.
 */
#include "client/watch.h"

enum { MOST_LINE = 1 << 20 }; /* bytes of an event */

enum { FINAL = 3 }; /* names of states that are final come first */

static const char *const states[] = { "SUCCEEDED", "FAILED",  "STOPPED",
                                      "STOPPING",  "WAITING", "RUNNING",
                                      "UNKNOWN" };

/* --- what is told ------------------------------------------------------------------ */

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
           ? (int)pai__answer_number(tree, job, "appExitCode")
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
  n = tree != NULL ? pai__tree_get(tree, 0, "jobStatus") : PAI__NO_NODE;
  state = pai__state_of(pai__client_text(tree, n, "state"));
  *code = pai__state_code(tree, n, state);
  pai__tree_free(tree);
  return state;
}

void pai__watch_tell(pai__watcher *w, const char *job, const char *state,
                     int code)
{
  pai__course *c = &w->course;
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

bool pai__watch_ended(pai__watcher *w)
{
  if (w->course.stopped >= 0)
    return false;
  pai__course_fail(&w->course, w->course.stopped, NULL);
  return true;
}

void pai__watch_pause(pai__watcher *w, void (*step)(pai__course *c))
{
  pai_client *client = w->course.op.client;
  pai_time first = client->first_wait * 4;

  w->pause = w->pause > 0 ? w->pause * 3 / 2 : first;
  if (w->pause > client->most_wait)
    w->pause = client->most_wait;
  pai__course_wait(&w->course, w->pause, step);
}

/* --- a stream, of a server of ours --------------------------------------------------- */

static int take_line(pai__watcher *w)
{
  const pai_alloc *alloc = &w->course.op.client->alloc;
  pai__tree *tree =
    pai__answer_tree(alloc, pai__buf_text(&w->line), w->line.len);
  const char *state = pai__state_of(pai__client_text(tree, 0, "state"));
  bool job = strcmp(pai__client_text(tree, 0, "event"), "job") == 0;

  /* The last one is told with all about the job. */
  if (job && !pai__state_is_final(state))
    pai__watch_tell(w, w->job, state, 0);
  pai__tree_free(tree);
  pai__buf_cut(&w->line, 0);
  return w->course.stopped;
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
    return PAI_ELIMIT; /* this is none of ours */
  return pai__buf_ok(&w->line) ? rc : PAI_ENOMEM;
}

void pai__watch_stream_later(pai__watcher *w)
{
  pai_client *client = w->course.op.client;
  uint32_t fails = w->fails > 0 ? w->fails : 1;

  pai__course_wait(&w->course,
                   pai__retry_wait(&client->random, fails, client->first_wait,
                                   client->most_wait, 0),
                   pai__watch_ask_on);
}

/* However it ended: how do things stand? */
static void on_stream_end(pai__course *c, int status,
                          const pai_client_answer *a)
{
  pai__watcher *w = (pai__watcher *)c;

  if (pai__watch_ended(w))
    return;
  if (w->job == NULL)
    pai__watch_all_end(w, status, a);
  else if (status == PAI_ENOMEM || status == PAI_EPERM)
    pai__course_end(c, status, a);
  else if (status == PAI_OK && !w->opening)
    pai__watch_ask_on(c);
  else { /* also if nothing came: that is no server of ours */
    w->fails++;
    pai__watch_stream_later(w);
  }
}

int pai__watch_stream(pai__watcher *w, const char *path, const char *accept,
                      pai_time total_time, pai_error **err)
{
  pai__course *c = &w->course;
  pai__call call = pai__call_of(c->op.client, "GET", path);

  call.accept = accept;
  call.idle_time = 0;
  call.total_time = total_time;
  call.last_event = w->id.len > 0 ? pai__buf_text(&w->id) : NULL;
  call.most_tries = 1;
  call.stream = true;
  call.on_body = on_stream;
  pai__buf_cut(&w->line, 0);
  return pai__course_ask(c, &call, on_stream_end, err);
}

static void open_stream(pai__watcher *w)
{
  pai_error *err = NULL;
  pai__buf path;
  int rc = PAI_ENOMEM;

  w->opening = true;
  pai__buf_init(&path, &w->course.op.client->alloc);
  (void)pai__job_path(&path, w->job, "/follow?output=false", NULL);
  if (pai__buf_ok(&path))
    rc = pai__watch_stream(w, pai__buf_text(&path),
                           "application/x-openpai-follow",
                           w->course.op.client->stream_time, &err);
  if (rc < 0)
    pai__course_fail(&w->course,
                     w->course.op.client->closing ? PAI_ECANCELED : rc, err);
  pai_error_free(err);
  pai__buf_dispose(&path);
}

/* --- one job ------------------------------------------------------------------------- */

static void on_job(pai__course *c, int status, const pai_client_answer *a)
{
  pai__watcher *w = (pai__watcher *)c;
  pai_client *client = c->op.client;
  pai_client_answer out = *a;

  if (status == PAI_OK) {
    out.state = pai__state_read(&client->alloc, a, &out.exit_code);
    if (out.state == NULL) {
      pai__course_fail(c, PAI_ENOMEM, NULL);
      return;
    }
    pai__watch_tell(w, w->job, out.state, out.exit_code);
  }
  if (pai__watch_ended(w))
    return;
  if (status < 0 || w->only || pai__state_is_final(out.state))
    pai__course_end(c, status, &out);
  else if (client->server == PAI__OURS)
    open_stream(w);
  else
    pai__watch_pause(w, pai__watch_ask_on);
}

int pai__watch_ask_job(pai__watcher *w, const char *job, pai__course_cb next,
                       pai_error **err)
{
  pai__course *c = &w->course;
  pai__call call;
  pai__buf path;
  int rc;

  pai__buf_init(&path, &c->op.client->alloc);
  rc = pai__job_path(&path, job, "", err);
  call = pai__call_of(c->op.client, "GET", pai__buf_text(&path));
  if (rc == PAI_OK)
    rc = pai__buf_ok(&path) ? pai__course_ask(c, &call, next, err)
                            : pai__oom(err);
  pai__buf_dispose(&path);
  return rc;
}

/* --- its life ---------------------------------------------------------------------------- */

static int ask_now(pai__watcher *w, pai_error **err)
{
  return w->job == NULL ? pai__watch_ask_all(w, err)
                        : pai__watch_ask_job(w, w->job, on_job, err);
}

void pai__watch_ask_on(pai__course *c)
{
  pai_error *err = NULL;
  int rc = ask_now((pai__watcher *)c, &err);

  if (rc < 0)
    pai__course_fail(c, rc, err);
  pai_error_free(err);
}

static void on_info(pai__course *c, int status, const pai_client_answer *a)
{
  if (status < 0) {
    pai__course_end(c, status, a);
    return;
  }
  if (pai__client_note_info(c->op.client, a) < 0)
    pai__course_fail(c, PAI_ENOMEM, NULL);
  else
    pai__watch_ask_on(c);
}

static int begin(pai__watcher *w, pai_error **err)
{
  pai_client *client = w->course.op.client;
  pai__call call = pai__call_of(client, "GET", "/api/v2/info");

  if (client->server != PAI__UNKNOWN || w->only)
    return ask_now(w, err);
  call.nobody = true;
  return pai__course_ask(&w->course, &call, on_info, err);
}

static void dispose_watch(pai__course *c)
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
                     pai__change_cb on_change, bool only, pai_client_cb cb,
                     void *user_data, pai_error **err)
{
  pai__course *c;
  pai__watcher *w;
  int rc = pai__course_new(&c, client, sizeof(pai__watcher), dispose_watch, cb,
                           user_data, err);

  if (rc < 0)
    return rc;
  w = (pai__watcher *)c;
  w->on_change = on_change;
  w->only = only;
  pai__map_init(&w->known, &client->alloc);
  pai__map_init(&w->now, &client->alloc);
  pai__buf_init(&w->line, &client->alloc);
  pai__buf_init(&w->id, &client->alloc);
  pai__buf_init(&w->next_id, &client->alloc);
  w->job = job != NULL ? pai__strdup(&client->alloc, job) : NULL;
  rc = job != NULL && w->job == NULL ? pai__oom(err) : begin(w, err);
  if (rc < 0)
    pai__course_drop(c);
  else if (op != NULL)
    *op = &c->op;
  return rc;
}

/* --- as it is asked for -------------------------------------------------------------- */

int pai_client_watch(pai_op **op, pai_client *client, const char *job,
                     int (*on_change)(void *user_data,
                                      const pai_client_change *change),
                     pai_client_cb cb, void *user_data, pai_error **err)
{
  if (op != NULL)
    *op = NULL;
  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(client != NULL && cb != NULL && on_change != NULL, err);
  PAI__CHECK_PROCESS(client, err);
  return watch_new(op, client, job, on_change, false, cb, user_data, err);
}

int pai_client_wait(pai_op **op, pai_client *client, const char *job,
                    pai_client_cb cb, void *user_data, pai_error **err)
{
  if (op != NULL)
    *op = NULL;
  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(client != NULL && cb != NULL && job != NULL, err);
  PAI__CHECK_PROCESS(client, err);
  return watch_new(op, client, job, NULL, false, cb, user_data, err);
}

int pai_client_job(pai_op **op, pai_client *client, const char *job,
                   pai_client_cb cb, void *user_data, pai_error **err)
{
  if (op != NULL)
    *op = NULL;
  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(client != NULL && cb != NULL && job != NULL, err);
  PAI__CHECK_PROCESS(client, err);
  return watch_new(op, client, job, NULL, true, cb, user_data, err);
}
