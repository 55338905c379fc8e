/*
 * watch_all.c - watches the states of all jobs that are not over
 *
 * This project's server has a stream, which begins with the state of all jobs,
 * or continues where the last stream was cut, if the server still has the
 * changes since.  A known job that is missing in the complete state ended
 * between two streams: it is requested by name, and then a new stream begins.
 * Of other servers the list is polled, with the same treatment of missing
 * jobs.
 */
#include "client/watch.h"

enum {
  /* Jobs end faster than they can be requested: read a short stream, and
   * request the missing jobs after it. */
  MOST_MISSES = 3,
  /* A stream without complete state may be a short disturbance. */
  MOST_SILENT = 3,
  SHORT_TIME = 10 * 1000 * 1000,
  MOST_ID = 128
};

/* What a line of the stream is about. */
enum { OTHER, JOB, ALL, RESUMED };

static void look_for_gone(pai__client_sequence *c);

/* --- the stream ---------------------------------------------------------- */

static void forget(pai__map *m)
{
  const pai_alloc *alloc = m->alloc;

  pai__map_dispose(m);
  pai__map_init(m, alloc);
}

/* Returns whether a known live job is missing in the complete state. */
static bool has_missed(const pai__watcher *w)
{
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&w->known, &i)) != NULL;)
    if (!pai__state_is_final(e->value) &&
        pai__map_get(&w->now, e->key, e->len) == NULL)
      return true;
  return false;
}

static void take_job(pai__watcher *w, const char *json, size_t len)
{
  const char *job, *state;
  pai__tree *tree;

  w->sequence.stopped =
    pai__answer_read(&tree, &w->sequence.op.client->alloc, json, len);
  job = pai__tree_look_text(tree, 0, "name", "");
  state = pai__state_of(pai__tree_look_text(tree, 0, "state", ""));
  if (job[0] != '\0') {
    if (!w->whole && pai__map_set(&w->now, job, strlen(job), w) < 0)
      w->sequence.stopped = PAI_ENOMEM;
    pai__watch_tell(w, job, state, pai__state_code(tree, 0, state));
  }
  pai__tree_free(tree);
}

/* The complete state has arrived, or the stream continues an earlier one: from
 * here on no change is missed. */
static void begin_whole(pai__watcher *w)
{
  w->whole = true;
  w->silent = 0;
  w->missed = w->kind == ALL && has_missed(w);
  w->misses = w->missed ? w->misses + 1 : 0;
  if (!w->missed)
    forget(&w->now);
}

/* Returns whether an event's id is valid in a header; else it is not used to
 * continue. */
static bool is_id(const char *id, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if (id[i] <= ' ' || id[i] > '~')
      return false;
  return len <= MOST_ID;
}

static void take_id(pai__watcher *w, const char *id, size_t len)
{
  pai__buf_cut(&w->next_id, 0);
  if (!is_id(id, len))
    pai__buf_cut(&w->id, 0);
  else
    pai__buf_add(&w->next_id, id, len);
  if (!pai__buf_ok(&w->next_id))
    w->sequence.stopped = PAI_ENOMEM;
}

/* The event was processed: a stream may continue after it. */
static void keep_id(pai__watcher *w)
{
  if (w->next_id.len == 0)
    return;
  pai__buf_cut(&w->id, 0);
  pai__buf_add(&w->id, w->next_id.data, w->next_id.len);
  pai__buf_cut(&w->next_id, 0);
  if (!pai__buf_ok(&w->id))
    w->sequence.stopped = PAI_ENOMEM;
}

int pai__watch_all_line(pai__watcher *w)
{
  static const char event[] = "event: ", data[] = "data: ", id[] = "id: ";
  const char *line = pai__buf_text(&w->line);
  size_t len = w->line.len;

  if (len == 0) {
    w->kind = OTHER;
    keep_id(w);
  } else if (strncmp(line, id, sizeof(id) - 1) == 0) {
    take_id(w, line + sizeof(id) - 1, len - (sizeof(id) - 1));
  } else if (strncmp(line, event, sizeof(event) - 1) == 0) {
    line += sizeof(event) - 1;
    w->kind = strcmp(line, "job") == 0       ? JOB
              : strcmp(line, "all") == 0     ? ALL
              : strcmp(line, "resumed") == 0 ? RESUMED
                                             : OTHER;
  } else if (strncmp(line, data, sizeof(data) - 1) == 0 && w->kind == JOB) {
    take_job(w, line + sizeof(data) - 1, len - (sizeof(data) - 1));
    keep_id(w); /* its changes are not sent again */
  } else if ((w->kind == ALL || w->kind == RESUMED) && !w->whole) {
    begin_whole(w);
  }
  pai__buf_cut(&w->line, 0);
  if (w->sequence.stopped < 0)
    return w->sequence.stopped;
  return w->missed && w->misses <= MOST_MISSES ? PAI_EBUSY : PAI_OK;
}

/* Remembers a job's end that was requested until the next stream is over,
 * because a stream may report it late. */
static void forget_ends(pai__watcher *w)
{
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&w->known, &i)) != NULL;)
    if (pai__state_is_final(e->value))
      (void)pai__map_remove(&w->known, e->key, e->len);
}

/* Returns whether the stream ended without a complete state though no server
 * refused it. */
static bool is_silent(const pai__watcher *w, int status,
                      const pai_client_answer *a)
{
  return !w->whole && (status == PAI_OK || status == PAI_ECANCELED ||
                       (a->http_status >= 400 && a->http_status < 500 &&
                        status != PAI_EPERM && status != PAI_EBUSY));
}

/* Counts such streams.  Either the server has no such stream, or a proxy
 * buffers it until its end: that shows when it happens repeatedly. */
static bool is_unknown(pai__watcher *w, const pai_client_answer *a)
{
  return a->http_status == 404 || a->http_status == 405 ||
         a->http_status == 406 || ++w->silent >= MOST_SILENT;
}

void pai__watch_all_end(pai__watcher *w, int status,
                        const pai_client_answer *a)
{
  pai__client_sequence *c = &w->sequence;
  const pai_client *client = c->op.client;

  w->opening = false;
  forget_ends(w);
  if (w->missed) {
    look_for_gone(c);
  } else if (is_silent(w, status, a)) {
    w->asks = is_unknown(w, a);
    if (w->asks)
      pai__watch_ask_on(c);
    else
      pai__watch_stream_later(w);
  } else if (status == PAI_ENOMEM || status == PAI_EPERM ||
             (status < 0 && ++w->fails > client->most_tries)) {
    pai__client_sequence_end(c, status, a);
  } else {
    pai__watch_stream_later(w);
  }
}

/* No byte has arrived, though the server sends something at once. */
static void on_open_time(pai__client_sequence *c)
{
  pai__watcher *w = (pai__watcher *)c;

  if (w->opening && c->child != NULL)
    pai_op_cancel(c->child);
}

static int ask_stream(pai__watcher *w, pai_error **err)
{
  pai__client_sequence *c = &w->sequence;
  int rc = pai__client_sequence_ready(c, err);

  if (rc < 0)
    return rc;
  forget(&w->now);
  w->whole = w->missed = false;
  pai__buf_cut(&w->next_id, 0); /* of an event that was cut off */
  w->opening = true;
  w->kind = OTHER;
  rc = pai__watch_stream(
    w, "/api/v2/events?states=true", "text/event-stream",
    w->misses < MOST_MISSES ? w->sequence.op.client->stream_time : SHORT_TIME,
    err);
  if (rc < 0)
    return rc;
  pai__client_sequence_wait(c, c->op.client->connect_time, on_open_time);
  c->anew = c->op.client->connect_time; /* while it is paused nothing is
                                           read */
  return PAI_OK;
}

/* --- the list ------------------------------------------------------------ */

/* A known job is missing in the list: requests how it ended. */
static void on_gone(pai__client_sequence *c, int status,
                    const pai_client_answer *a)
{
  pai__watcher *w = (pai__watcher *)c;
  const char *state = "", *job = w->gone;
  int code = 0;

  if (status == PAI_OK) {
    state = pai__state_read(&c->op.client->alloc, a, &code);
    if (state == NULL)
      w->sequence.stopped = PAI_ENOMEM;
    else
      pai__watch_tell(w, job, state, code);
  }
  if (pai__client_sequence_stopped(&w->sequence) || state == NULL)
    return;
  if (status < 0 && status != PAI_ENOTFOUND && a->http_status != 403) {
    pai__client_sequence_end(c, status, a);
    return;
  }
  if (state[0] == '\0')
    (void)pai__map_remove(&w->known, job, strlen(job));
  else if (!pai__state_is_final(state) &&
           pai__map_set(&w->now, job, strlen(job), w) < 0)
    w->sequence.stopped = PAI_ENOMEM; /* out of memory: the job is live again
                                         but in no list */
  if (!pai__client_sequence_stopped(&w->sequence))
    look_for_gone(c);
}

static bool has_stream(const pai__watcher *w)
{
  return w->sequence.op.client->server == PAI__OURS && !w->asks;
}

static void look_for_gone(pai__client_sequence *c)
{
  pai__watcher *w = (pai__watcher *)c;
  const pai__map_entry *e;
  pai_error *err = NULL;
  int rc;

  for (size_t i = 0; (e = pai__map_next(&w->known, &i)) != NULL;) {
    if (pai__state_is_final(e->value) ||
        pai__map_get(&w->now, e->key, e->len) != NULL)
      continue;
    w->gone = e->key;
    rc = pai__client_sequence_job(c, w->gone, on_gone, &err);
    pai__client_sequence_check(c, rc, err);
    return;
  }
  if (has_stream(w))
    pai__watch_ask_on(c);
  else
    pai__client_sequence_pause(&w->sequence, &w->pause, pai__watch_ask_on);
}

static void take_item(pai__watcher *w, const pai__tree *tree, pai__node n)
{
  pai__buf job;

  pai__buf_init(&job, &w->sequence.op.client->alloc);
  pai__buf_printf(&job, "%s~%s", pai__tree_look_text(tree, n, "username", ""),
                  pai__tree_look_text(tree, n, "name", ""));
  if (!pai__buf_ok(&job) || pai__map_set(&w->now, job.data, job.len, w) < 0)
    w->sequence.stopped = PAI_ENOMEM;
  else
    pai__watch_tell(w, job.data,
                    pai__state_of(pai__tree_look_text(tree, n, "state", "")),
                    0);
  pai__buf_dispose(&job);
}

static void on_list(pai__client_sequence *c, int status,
                    const pai_client_answer *a)
{
  pai__watcher *w = (pai__watcher *)c;
  const pai_alloc *alloc = &c->op.client->alloc;
  pai__tree *tree;
  pai__tree_walk walk;
  pai__node n;

  if (status < 0) {
    pai__client_sequence_end(c, status, a);
    return;
  }
  forget_ends(w);
  forget(&w->now);
  w->sequence.stopped = pai__answer_read(&tree, alloc, a->body, a->body_len);
  walk = pai__tree_iter(tree, tree != NULL ? 0 : PAI__NO_NODE);
  while (!walk.keys && w->sequence.stopped >= 0 &&
         (n = pai__tree_next(&walk)) != PAI__NO_NODE)
    take_item(w, tree, n);
  pai__tree_free(tree);
  if (!pai__client_sequence_stopped(&w->sequence))
    look_for_gone(c);
}

static int ask_list(pai__watcher *w, pai_error **err)
{
  pai__call call = pai__call_of(
    w->sequence.op.client, "GET",
    "/api/v2/jobs?state=WAITING,RUNNING,STOPPING&limit=50000&order="
    "submissionTime,ASC");

  return pai__client_sequence_ask(&w->sequence, &call, on_list, err);
}

int pai__watch_ask_all(pai__watcher *w, pai_error **err)
{
  return has_stream(w) ? ask_stream(w, err) : ask_list(w, err);
}
