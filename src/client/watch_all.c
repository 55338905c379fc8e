/*
 * watch_all.c - the states of all jobs that are not over
 *
 * A server of ours has a stream, which begins with how all stand, or goes on
 * where the one before was cut off, if the server still knows what happened
 * since.  One that was known and is missing where all are told ended when there
 * was no stream: it is asked for by its name, and then a stream begins anew.  Of
 * other servers the list is asked for again and again, with the same for those
 * that are missing in it.
 */
#include "client/watch.h"

enum {
  /* Where jobs end faster than that: those that are missing are asked for when
   * the stream, which is a short one then, is over. */
  MOST_MISSES = 3,
  /* One stream that tells nothing may be a short disturbance. */
  MOST_SILENT = 3,
  SHORT_TIME = 10 * 1000 * 1000,
  MOST_ID = 128
};

/* What a line of the stream is about. */
enum { OTHER, JOB, ALL, RESUMED };

static void look_for_gone(pai__course *c);

/* --- the stream ----------------------------------------------------------------- */

static void forget(pai__map *m)
{
  const pai_alloc *alloc = m->alloc;

  pai__map_dispose(m);
  pai__map_init(m, alloc);
}

/* Is there one that was known to live, and is not among those? */
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

  w->course.stopped =
    pai__answer_read(&tree, &w->course.op.client->alloc, json, len);
  job = pai__client_text(tree, 0, "name");
  state = pai__state_of(pai__client_text(tree, 0, "state"));
  if (job[0] != '\0') {
    if (!w->whole && pai__map_set(&w->now, job, strlen(job), w) < 0)
      w->course.stopped = PAI_ENOMEM;
    pai__watch_tell(w, job, state, pai__state_code(tree, 0, state));
  }
  pai__tree_free(tree);
}

/* All that comes is told from here on: of all at first, or where it goes on. */
static void begin_whole(pai__watcher *w)
{
  w->whole = true;
  w->silent = 0;
  w->missed = w->kind == ALL && has_missed(w);
  w->misses = w->missed ? w->misses + 1 : 0;
  if (!w->missed)
    forget(&w->now);
}

/* What would be no header is no id: nothing goes on from there. */
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
    w->course.stopped = PAI_ENOMEM;
}

/* The event was taken: a stream may go on behind it. */
static void keep_id(pai__watcher *w)
{
  if (w->next_id.len == 0)
    return;
  pai__buf_cut(&w->id, 0);
  pai__buf_add(&w->id, w->next_id.data, w->next_id.len);
  pai__buf_cut(&w->next_id, 0);
  if (!pai__buf_ok(&w->id))
    w->course.stopped = PAI_ENOMEM;
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
    keep_id(w); /* what was told is not told again */
  } else if ((w->kind == ALL || w->kind == RESUMED) && !w->whole) {
    begin_whole(w);
  }
  pai__buf_cut(&w->line, 0);
  if (w->course.stopped < 0)
    return w->course.stopped;
  return w->missed && w->misses <= MOST_MISSES ? PAI_EBUSY : PAI_OK;
}

/* What a stream says late of an end, which was asked for, is known until the
 * next one is over. */
static void forget_ends(pai__watcher *w)
{
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&w->known, &i)) != NULL;)
    if (pai__state_is_final(e->value))
      (void)pai__map_remove(&w->known, e->key, e->len);
}

/* The stream has not told how all stand, though nobody refuses it. */
static bool is_silent(const pai__watcher *w, int status,
                      const pai_client_answer *a)
{
  return !w->whole && (status == PAI_OK || status == PAI_ECANCELED ||
                       (a->http_status >= 400 && a->http_status < 500 &&
                        status != PAI_EPERM && status != PAI_EBUSY));
}

/* A server that has no such stream, or somebody before it who keeps what comes
 * until it is over: that is seen when it happens again and again. */
static bool is_unknown(pai__watcher *w, const pai_client_answer *a)
{
  return a->http_status == 404 || a->http_status == 405 ||
         a->http_status == 406 || ++w->silent >= MOST_SILENT;
}

void pai__watch_all_end(pai__watcher *w, int status,
                        const pai_client_answer *a)
{
  pai__course *c = &w->course;
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
    pai__course_end(c, status, a);
  } else {
    pai__watch_stream_later(w);
  }
}

/* No byte has come, though the server says something at once. */
static void on_open_time(pai__course *c)
{
  pai__watcher *w = (pai__watcher *)c;

  if (w->opening && c->child != NULL)
    pai_op_cancel(c->child);
}

static int ask_stream(pai__watcher *w, pai_error **err)
{
  pai__course *c = &w->course;
  int rc = pai__course_ready(c, err);

  if (rc < 0)
    return rc;
  forget(&w->now);
  w->whole = w->missed = false;
  pai__buf_cut(&w->next_id, 0); /* of an event that was cut off */
  w->opening = true;
  w->kind = OTHER;
  rc = pai__watch_stream(
    w, "/api/v2/events?states=true", "text/event-stream",
    w->misses < MOST_MISSES ? w->course.op.client->stream_time : SHORT_TIME,
    err);
  if (rc < 0)
    return rc;
  pai__course_wait(c, c->op.client->connect_time, on_open_time);
  c->anew = c->op.client->connect_time; /* paused, nothing of it is read */
  return PAI_OK;
}

/* --- the list ------------------------------------------------------------------- */

/* One that was known and is not in the list: how did it end? */
static void on_gone(pai__course *c, int status, const pai_client_answer *a)
{
  pai__watcher *w = (pai__watcher *)c;
  const char *state = "", *job = w->gone;
  int code = 0;

  if (status == PAI_OK) {
    state = pai__state_read(&c->op.client->alloc, a, &code);
    if (state == NULL)
      w->course.stopped = PAI_ENOMEM;
    else
      pai__watch_tell(w, job, state, code);
  }
  if (pai__watch_ended(w) || state == NULL)
    return;
  if (status < 0 && status != PAI_ENOTFOUND && a->http_status != 403) {
    pai__course_end(c, status, a);
    return;
  }
  if (state[0] == '\0')
    (void)pai__map_remove(&w->known, job, strlen(job));
  else if (!pai__state_is_final(state) &&
           pai__map_set(&w->now, job, strlen(job), w) < 0)
    w->course.stopped = PAI_ENOMEM; /* it came to life, and is in no list */
  if (!pai__watch_ended(w))
    look_for_gone(c);
}

static bool has_stream(const pai__watcher *w)
{
  return w->course.op.client->server == PAI__OURS && !w->asks;
}

static void look_for_gone(pai__course *c)
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
    rc = pai__watch_ask_job(w, w->gone, on_gone, &err);
    if (rc < 0)
      pai__course_fail(c, rc, err);
    pai_error_free(err);
    return;
  }
  if (has_stream(w))
    pai__watch_ask_on(c);
  else
    pai__watch_pause(w, pai__watch_ask_on);
}

static void take_item(pai__watcher *w, const pai__tree *tree, pai__node n)
{
  pai__buf job;

  pai__buf_init(&job, &w->course.op.client->alloc);
  pai__buf_printf(&job, "%s~%s", pai__client_text(tree, n, "username"),
                  pai__client_text(tree, n, "name"));
  if (!pai__buf_ok(&job) || pai__map_set(&w->now, job.data, job.len, w) < 0)
    w->course.stopped = PAI_ENOMEM;
  else
    pai__watch_tell(w, job.data,
                    pai__state_of(pai__client_text(tree, n, "state")), 0);
  pai__buf_dispose(&job);
}

static void on_list(pai__course *c, int status, const pai_client_answer *a)
{
  pai__watcher *w = (pai__watcher *)c;
  const pai_alloc *alloc = &c->op.client->alloc;
  pai__tree *tree;
  pai__tree_walk walk;
  pai__node n;

  if (status < 0) {
    pai__course_end(c, status, a);
    return;
  }
  forget_ends(w);
  forget(&w->now);
  w->course.stopped = pai__answer_read(&tree, alloc, a->body, a->body_len);
  if (tree != NULL && pai__tree_type(tree, 0) == PAI__SEQUENCE) {
    walk = pai__tree_iter(tree, 0);
    while (w->course.stopped >= 0 &&
           (n = pai__tree_next(&walk)) != PAI__NO_NODE)
      take_item(w, tree, n);
  }
  pai__tree_free(tree);
  if (!pai__watch_ended(w))
    look_for_gone(c);
}

static int ask_list(pai__watcher *w, pai_error **err)
{
  pai__call call = pai__call_of(
    w->course.op.client, "GET",
    "/api/v2/jobs?state=WAITING,RUNNING,STOPPING&limit=50000&order="
    "submissionTime,ASC");

  return pai__course_ask(&w->course, &call, on_list, err);
}

int pai__watch_ask_all(pai__watcher *w, pai_error **err)
{
  return has_stream(w) ? ask_stream(w, err) : ask_list(w, err);
}
