/* logs.c - URLs and contents of a task's logs */
#include "server/streams/logs.h"

#include "base/log_offset.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const names[] = { "stdout", "stderr", "all", "runtime" };

/* Finds the log that the path names; returns false if there is none, which is
 * then the answer. */
static bool read_place(pai__request *r, pai_log_options *o, pai_job_id *job)
{
  int64_t index;

  *o = (pai_log_options)PAI_LOG_OPTIONS_INIT;
  *job = pai__request_job(r);
  if (*job == 0 || !pai__request_attempt(r, r->params[1], &o->attempt) ||
      !pai__request_attempt(r, r->params[4], &o->retry))
    return false;
  if (pai__param_number(r->params[3], &index) < 0 || index > UINT32_MAX) {
    pai__answer_error(r, 404, "NoTaskLogError",
                      "Log of task is not found: %s[%s].", r->params[2],
                      r->params[3]);
    return false;
  }
  o->role = r->params[2];
  o->index = (uint32_t)index;
  return true;
}

static void no_log(pai__request *r, int rc)
{
  if (rc == PAI_ENOTFOUND)
    pai__answer_error(r, 404, "NoTaskLogError", "Log of task is not found: %s",
                      pai_error_message(r->err));
  else
    pai__answer_failure(r, rc);
}

/* --- URLs ---------------------------------------------------------------- */

static void ignore_data(void *user_data, int status, uint64_t offset,
                        const char *bytes, size_t len)
{
  (void)user_data;
  (void)status;
  (void)offset;
  (void)bytes;
  (void)len;
}

/* Only the exact word counts, as in OpenPAI. */
static bool wants_tail(const pai__request *r)
{
  const char *value = pai__request_query(r, "tail-mode");

  return value != NULL && strcmp(value, "true") == 0;
}

static void write_places(pai__request *r)
{
  bool tail = wants_tail(r);
  pai__json_writer *w = &r->json;
  size_t path = strcspn(r->uri, "?");
  pai__buf uri;

  pai__buf_init(&uri, &r->server->alloc);
  pai__json_writer_init(w, &r->answer, false);
  pai__json_begin_object(w);
  pai__json_put_array(w, "locations");
  for (size_t i = 0; i < PAI__LEN(names); i++) {
    pai__buf_cut(&uri, 0);
    pai__buf_add(&uri, r->uri, path);
    pai__buf_printf(&uri, "%s%s",
                    path > 0 && r->uri[path - 1] == '/' ? "" : "/", names[i]);
    pai__signed_add(&uri, r);
    if (tail)
      pai__buf_printf(&uri, "%stail-mode=true",
                      strchr(pai__buf_text(&uri), '?') != NULL ? "&" : "?");
    pai__json_begin_object(w);
    pai__json_put_text(w, "name", names[i]);
    pai__json_put_text(w, "uri", pai__buf_text(&uri));
    pai__json_end_object(w);
  }
  pai__json_end_array(w);
  pai__json_end_object(w);
  if (!pai__buf_ok(&uri))
    r->answer.failed = true;
  pai__buf_dispose(&uri);
  pai__answer_json(r, 200);
}

void pai__do_jobs_logs(pai__request *r)
{
  pai_log_reader *reader;
  pai_log_options o;
  pai_job_id job;
  int rc;

  if (!read_place(r, &o, &job))
    return;
  rc = pai_log_open(&reader, r->server->platform, job, &o, ignore_data, NULL,
                    &r->err);
  pai_log_close(reader);
  if (rc < 0)
    no_log(r, rc);
  else
    write_places(r);
}

/* --- contents ------------------------------------------------------------ */

enum { TAIL = 16 << 10 };

typedef struct tasklog {
  pai_alloc alloc;
  pai__request *request;
  pai_log_reader *reader;
  bool as_events, stamped;
  bool over;     /* ended because of a gap */
  uint64_t next; /* offset of the next byte */
  pai__log_events events;
  pai__log_stamps stamps;
} tasklog;

static void on_data(void *user_data, int status, uint64_t offset,
                    const char *bytes, size_t len)
{
  tasklog *l = user_data;
  bool gap = len > 0 && offset != l->next;

  if (l->over)
    return;
  l->next = offset + len;
  /* After a gap only a new answer can give the new offset, in its head. */
  if (gap && !l->as_events && !l->stamped) {
    l->over = true;
    pai__stream_over(l->request->stream, true);
  } else if (len > 0 && l->as_events)
    pai__log_events_add(&l->events, offset, bytes, len);
  else if (len > 0 && l->stamped)
    pai__log_stamps_add(&l->stamps, l->request, pai_log_time(l->reader), bytes,
                        len);
  else if (len > 0)
    pai__stream_add(l->request->stream, bytes, len);
  else if (l->as_events)
    pai__log_events_end(&l->events, status);
  else
    pai__stream_over(l->request->stream, status < 0);
}

static void pause_log(void *source, bool paused)
{
  pai_log_pause(((tasklog *)source)->reader, paused);
}

static void free_log(void *source)
{
  tasklog *l = source;
  pai_alloc alloc = l->alloc;

  pai_log_close(l->reader);
  pai__free(&alloc, l, sizeof(*l));
}

static const pai__server_source log_source = { pause_log, NULL, free_log,
                                               true };

/* Parses ?offset=, a byte offset; -N: N bytes before the end.  The position of
 * a resumed reader takes precedence. */
static int64_t read_offset(const pai__request *r)
{
  const char *value = pai__request_query(r, "offset");
  int64_t offset = pai__request_number(r, "offset"), resumed;

  if (pai__log_events_wanted(r) && pai__log_events_resume(r, &resumed))
    return resumed;
  if (value == NULL)
    return wants_tail(r) ? -TAIL : 0;
  return value[0] == '-' && offset == 0 ? INT64_MAX : offset;
}

/* Parses ?tail= and ?since=; a negative time is relative to now. */
static void read_parts(const pai__request *r, pai_log_options *o)
{
  int64_t tail = pai__request_number(r, "tail"),
          since = pai__request_number(r, "since");

  if (pai__request_query(r, "tail") != NULL && tail == 0)
    o->offset = INT64_MAX;
  o->tail = (uint64_t)tail;
  if (since > INT64_MAX / 1000 || since < -INT64_MAX / 1000)
    since = 0;
  o->since = since * 1000;
  if (since < 0)
    o->since += pai__loop_wall_time();
}

static bool is_log_name(const char *name)
{
  for (size_t i = 0; i < PAI__LEN(names); i++)
    if (strcmp(name, names[i]) == 0)
      return true;
  return false;
}

void pai__do_jobs_log(pai__request *r)
{
  pai_alloc *alloc = &r->server->alloc;
  pai_log_options o;
  pai_job_id job;
  tasklog *l;
  int rc;

  if (!read_place(r, &o, &job))
    return;
  o.offset = read_offset(r);
  read_parts(r, &o);
  o.name = r->params[5];
  o.follow = pai__request_flag(r, "follow") || pai__log_events_wanted(r);
  if (!is_log_name(o.name)) {
    pai__answer_error(r, 404, "NoTaskLogError", "There is no log named %s.",
                      o.name);
    return;
  }
  l = pai__zalloc(alloc, sizeof(*l));
  if (l == NULL) {
    pai__answer_failure(r, PAI_ENOMEM);
    return;
  }
  *l = (tasklog){ .alloc = *alloc,
                  .request = r,
                  .as_events = pai__log_events_wanted(r),
                  .stamped = pai__request_flag(r, "timestamps"),
                  .events = { .request = r } };
  o.timed = l->stamped;
  rc = pai_log_open(&l->reader, r->server->platform, job, &o, on_data, l,
                    &r->err);
  if (rc < 0) {
    pai__free(alloc, l, sizeof(*l));
    no_log(r, rc);
    return;
  }
  l->next = pai_log_offset(l->reader);
  (void)snprintf(r->log_offset, sizeof(r->log_offset), "%" PRIu64, l->next);
  if (!pai__stream_begin(
        r, l->as_events ? "text/event-stream" : "text/plain; charset=utf-8",
        &log_source, l))
    r->log_offset[0] = '\0';
}
