/*
 * log_read.c - reads the log of a task, each byte once, also after cuts
 *
 * The bytes received are counted, and the next request skips them: with
 * ?offset= on an OpenPAI server of this project, with a range on others, or by
 * dropping bytes here if neither is supported.  This project's server gives
 * the offset of the last lines, or of those since a time, in the answer's
 * head.
 */
#include "client/logs.h"

/* Limit of consecutive answers without new bytes, for a log that ends. */
enum { MOST_BARREN = 5 };

static void ask_job(pai__client_sequence *c);

static void ask_later(pai__log_reading *r)
{
  pai__client_sequence_pause(&r->sequence, &r->pause, ask_job);
}

static bool keeps_last(const pai__log_reading *r)
{
  return !pai__log_of_ours(r) && r->tail != 0;
}

/* --- the bytes ----------------------------------------------------------- */

/* A server or proxy that ignores offset= begins too early. */
static bool is_early(const pai__log_reading *r)
{
  return r->known && !r->timestamps && r->said >= 0 &&
         (uint64_t)r->said < r->offset;
}

static void begin(pai__log_reading *r, int http_status)
{
  r->begun = true;
  if (is_early(r))
    r->skip = r->offset - (uint64_t)r->said;
  else if (http_status == 206)
    r->skip = 0; /* the answer begins at the requested offset */
}

static int on_bytes(void *user_data, int http_status, const char *bytes,
                    size_t len)
{
  pai__log_reading *r = user_data;
  size_t known;

  if (!r->begun)
    begin(r, http_status);
  known = r->skip < len ? (size_t)r->skip : len;
  r->skip -= known;
  if (known == len)
    return 0;
  r->pause = 0;
  r->came += len - known;
  if (keeps_last(r))
    return pai__log_tail_add(&r->last, bytes + known, len - known);
  r->sequence.stopped =
    r->on_data(r->sequence.user_data, bytes + known, len - known);
  return r->sequence.stopped;
}

/* This project's server selects the last lines itself. */
static bool hand_last(pai__log_reading *r)
{
  size_t from = pai__log_tail_begin(&r->last), len = r->last.text.len - from;

  if (len > 0 && r->tail > 0)
    r->sequence.stopped =
      r->on_data(r->sequence.user_data, r->last.text.data + from, len);
  return r->sequence.stopped >= 0;
}

/* Handles the bytes of an answer, up to its end or a cut.  False: the answer's
 * offset is not known, so the rest cannot be requested. */
static bool count(pai__log_reading *r)
{
  bool placed = r->known || r->said >= 0 || r->came == 0;

  r->served |= r->begun || r->said >= 0;
  if (r->said >= 0 && !is_early(r))
    r->offset = (uint64_t)r->said;
  r->known |= r->said >= 0;
  r->offset += r->came;
  placed &= !r->timestamps || r->came == 0; /* a text with times does not count
                                               the log's bytes */
  r->barren = r->came > 0 ? 0 : r->barren + 1;
  r->came = 0;
  r->said = -1;
  return placed;
}

static bool is_lasting(int status)
{
  return status == PAI_EIO || status == PAI_EBUSY;
}

/* The server has no place for another reader, or lacks resources: reports it
 * to the caller, unless the log was cut before. */
static bool is_refused(const pai__log_reading *r, const pai_client_answer *a)
{
  return pai__log_of_ours(r) && !r->served &&
         (a->http_status == 429 || a->http_status == 503);
}

/* Returns whether to read on; without -f only while more bytes arrive. */
static bool goes_on(const pai__log_reading *r)
{
  return r->follow || r->barren < MOST_BARREN;
}

/* Returns whether the stream ended regularly, by its time limit. */
static bool is_timed_out(const pai__log_reading *r, bool began)
{
  return began && pai__log_of_ours(r) && r->follow && !r->timestamps &&
         pai__loop_time() - r->asked >= r->sequence.op.client->stream_time;
}

static void on_cut(pai__log_reading *r, bool began)
{
  if (!is_timed_out(r, began)) {
    ask_later(r);
    return;
  }
  r->pause = 0;
  ask_job(&r->sequence);
}

static void on_log(pai__client_sequence *c, int status,
                   const pai_client_answer *a)
{
  pai__log_reading *r = (pai__log_reading *)c;
  bool whole = status == PAI_OK || a->http_status == 416,
       began = r->begun || r->said >= 0, placed = count(r);

  if (pai__client_sequence_stopped(c))
    return;
  if (whole && keeps_last(r) && !hand_last(r))
    pai__client_sequence_fail(c, c->stopped, NULL);
  else if (!whole && placed && (r->begun || r->follow) && is_lasting(status) &&
           goes_on(r) && !is_refused(r, a))
    on_cut(r, began);
  else if (!whole && status == PAI_ENOTFOUND && r->follow && !r->over)
    ask_later(r);
  else if (!whole)
    pai__client_sequence_end(c, status, a);
  else if (!r->follow || r->over || pai__log_of_ours(r))
    pai__client_sequence_end(c, PAI_OK, a);
  else
    ask_later(r);
}

static int read_from(pai__log_reading *r, const char *path, pai_error **err)
{
  pai__client_sequence *c = &r->sequence;
  pai__call call = pai__call_of(c->op.client, "GET", path);
  pai__buf range;
  int rc;

  pai__buf_init(&range, &c->op.client->alloc);
  r->begun = false;
  r->skip = 0;
  r->said = -1;
  call.accept = "text/plain, */*";
  call.on_body = on_bytes;
  r->asked = pai__loop_time();
  call.stream = true;
  if (pai__log_of_ours(r)) {
    call.log_offset = &r->said;
    if (r->follow) { /* the next request shows if the server is gone */
      call.idle_time = 0;
      /* A stream with times cannot continue after a cut. */
      call.total_time = r->timestamps ? 0 : c->op.client->stream_time;
      call.most_tries = 1;
    }
  } else if (r->offset > 0) {
    r->skip = r->offset;
    pai__buf_printf(&range, "bytes=%llu-", (unsigned long long)r->offset);
    call.range = pai__buf_text(&range);
  }
  rc = pai__buf_ok(&range) ? pai__client_sequence_ask(c, &call, on_log, err)
                           : pai__oom(err);
  pai__buf_dispose(&range);
  return rc;
}

/* --- the place of the log ------------------------------------------------ */

static void add_place(pai__buf *b, const pai__log_reading *r)
{
  (void)pai__job_path(b, r->job, "", NULL);
  pai__buf_printf(b, "/attempts/%lld/taskRoles/", (long long)r->attempt);
  pai__put_escaped(b, r->role, "");
  pai__buf_printf(b, "/taskIndex/%u/attempts/", r->index);
  if (r->retry >= 0)
    pai__buf_printf(b, "%lld/logs", (long long)r->retry);
  else
    pai__buf_str(b, "latest/logs");
}

/* Adds the wanted part as parameters: once the offset is known, only that. */
static void add_part(pai__buf *b, const pai__log_reading *r)
{
  long long ms = (long long)(r->since / 1000);

  pai__buf_char(b, '/');
  pai__put_escaped(b, r->name, "");
  pai__buf_printf(b, "?offset=%llu%s%s", (unsigned long long)r->offset,
                  r->follow ? "&follow=true" : "",
                  r->timestamps ? "&timestamps=true" : "");
  if (!r->known && r->tail != 0)
    pai__buf_printf(b, "&tail=%lld", (long long)(r->tail < 0 ? 0 : r->tail));
  if (!r->known && r->since != 0)
    pai__buf_printf(b, "&since=%lld", ms != 0 ? ms : r->since < 0 ? -1 : 1);
}

/* For other kinds of server: "/log-manager/..." on the same host, or
 * elsewhere.  Paths of the API get credentials. */
static void add_location(pai__buf *b, const pai_client *client,
                         const char *uri)
{
  const char *prefix = client->base + strlen(client->origin);
  size_t len = strlen(prefix);

  if (strncmp(uri, prefix, len) == 0 && strncmp(uri + len, "/api/", 5) == 0)
    uri += len;
  else if (uri[0] == '/' && strncmp(uri, "/api/", 5) != 0)
    pai__buf_str(b, client->origin);
  pai__buf_str(b, uri);
}

static void on_locations(pai__client_sequence *c, int status,
                         const pai_client_answer *a)
{
  pai__log_reading *r = (pai__log_reading *)c;
  pai_error *err = NULL;
  pai__tree *tree;
  pai__buf url;
  const char *uri;

  if (status == PAI_ENOTFOUND && r->follow && !r->over) {
    ask_later(r); /* the task has not started */
    return;
  }
  if (status < 0) {
    pai__client_sequence_end(c, status, a);
    return;
  }
  tree = pai__answer_tree(&c->op.client->alloc, a->body, a->body_len);
  uri = pai__log_location(tree, r->name);
  pai__buf_init(&url, &c->op.client->alloc);
  if (pai__log_is_location(uri)) {
    add_location(&url, c->op.client, uri);
    status = pai__buf_ok(&url) ? read_from(r, pai__buf_text(&url), &err)
                               : pai__oom(&err);
  } else {
    status =
      pai__fail(&err, PAI_ENOTFOUND, "there is no log named %s", r->name);
  }
  pai__buf_dispose(&url);
  pai__tree_free(tree);
  pai__client_sequence_check(c, status, err);
}

int pai__log_ask(pai__log_reading *r, pai_error **err)
{
  pai__client_sequence *c = &r->sequence;
  pai__buf path;
  int rc;

  pai__buf_init(&path, &c->op.client->alloc);
  add_place(&path, r);
  if (!pai__log_of_ours(r))
    return pai__client_sequence_at(c, pai__call_of(c->op.client, "GET", NULL),
                                   &path, on_locations, err);
  add_part(&path, r);
  rc = pai__buf_ok(&path) ? read_from(r, pai__buf_text(&path), err)
                          : pai__oom(err);
  pai__buf_dispose(&path);
  return rc;
}

/* --- the start of the task ----------------------------------------------- */

/* Chooses the start.  A start that was just followed by another one writes no
 * more. */
static void take_start(pai__log_reading *r, const pai__tree *tree,
                       pai__node task)
{
  pai__node job = pai__tree_get(tree, 0, "jobStatus");
  int64_t attempt = pai__tree_look_int(tree, job, "attemptId"),
          retry = pai__tree_look_int(tree, task, "attemptId");

  if (r->attempt < 0)
    r->attempt = attempt;
  if (r->attempt == attempt && r->retry < 0)
    r->retry = retry;
  r->over =
    pai__log_is_over(pai__tree_look_text(tree, task, "taskState", "")) ||
    attempt != r->attempt || retry != r->retry ||
    pai__log_is_over(pai__tree_look_text(tree, job, "state", ""));
}

static void on_job(pai__client_sequence *c, int status,
                   const pai_client_answer *a)
{
  pai__log_reading *r = (pai__log_reading *)c;
  pai_error *err = NULL;
  pai__tree *tree;
  pai__node task;

  if (status == PAI_EBUSY && r->served && goes_on(r)) {
    r->barren++;
    ask_later(r);
    return;
  }
  if (status < 0) {
    pai__client_sequence_end(c, status, a);
    return;
  }
  tree = pai__answer_tree(&c->op.client->alloc, a->body, a->body_len);
  task = pai__log_task(tree, r->role, r->index);
  if (task != PAI__NO_NODE)
    take_start(r, tree, task);
  pai__tree_free(tree);
  status = task != PAI__NO_NODE
             ? pai__log_ask(r, &err)
             : pai__fail(&err, PAI_ENOTFOUND, "%s has no task %s[%u]", r->job,
                         r->role, r->index);
  pai__client_sequence_check(c, status, err);
}

int pai__log_ask_job(pai__log_reading *r, pai_error **err)
{
  return pai__client_sequence_job(&r->sequence, r->job, on_job, err);
}

static void ask_job(pai__client_sequence *c)
{
  pai_error *err = NULL;
  int rc = pai__log_ask_job((pai__log_reading *)c, &err);

  pai__client_sequence_check(c, rc, err);
}
