/* logs.c - where a task's logs are, and what is in them */
#include "server/logs.h"

#include <stdio.h>

#define LOGS                                                              \
  "/api/v2/jobs/:job/attempts/:attempt/taskRoles/:role/taskIndex/:index/" \
  "attempts/:retry/logs"

static const char *const names[] = { "stdout", "stderr", "all", "runtime" };

/* Which log a path names.  False: none, and that is the answer. */
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

static void no_log(pai__request *r, int rc, pai_error *err)
{
  if (rc != PAI_ENOTFOUND) {
    pai__answer_failure(r, rc, err);
    return;
  }
  pai__answer_error(r, 404, "NoTaskLogError", "Log of task is not found: %s",
                    pai_error_message(err));
  pai_error_free(err);
}

/* --- where they are ----------------------------------------------------------------------- */

static void ignore_data(void *user_data, int status, uint64_t offset,
                        const char *bytes, size_t len)
{
  (void)user_data;
  (void)status;
  (void)offset;
  (void)bytes;
  (void)len;
}

/* Nothing else than that word, as in OpenPAI. */
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
  pai__json_key(w, "locations", 9);
  pai__json_begin_array(w);
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
    pai__json_key(w, "name", 4);
    pai__json_text(w, names[i], strlen(names[i]));
    pai__json_key(w, "uri", 3);
    pai__json_text(w, pai__buf_text(&uri), uri.len);
    pai__json_end_object(w);
  }
  pai__json_end_array(w);
  pai__json_end_object(w);
  if (!pai__buf_ok(&uri))
    r->answer.failed = true;
  pai__buf_dispose(&uri);
  pai__answer_json(r, 200);
}

static void do_log_list(pai__request *r)
{
  pai_log_reader *reader;
  pai_log_options o;
  pai_error *err = NULL;
  pai_job_id job;
  int rc;

  if (!read_place(r, &o, &job))
    return;
  rc = pai_log_open(&reader, r->server->platform, job, &o, ignore_data, NULL,
                    &err);
  pai_log_close(reader);
  if (rc < 0)
    no_log(r, rc, err);
  else
    write_places(r);
}

/* --- what is in one ----------------------------------------------------------------------- */

enum { TAIL = 16 << 10 };

typedef struct tasklog {
  pai_alloc alloc;
  pai__request *request;
  pai_log_reader *reader;
  bool as_events, stamped;
  pai__log_events events;
  pai__log_stamps stamps;
} tasklog;

static void on_data(void *user_data, int status, uint64_t offset,
                    const char *bytes, size_t len)
{
  tasklog *l = user_data;

  if (len > 0 && l->as_events)
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

static const pai__source log_source = { pause_log, NULL, free_log, true };

/* ?offset= from which byte on; -N: so many before the end.  Where a reader of
 * events was is more than where he began. */
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

/* ?tail= and ?since=; below 0 that is so long ago. */
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

static void do_log(pai__request *r)
{
  pai_alloc *alloc = &r->server->alloc;
  pai_log_options o;
  pai_error *err = NULL;
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
    pai__answer_failure(r, PAI_ENOMEM, NULL);
    return;
  }
  *l = (tasklog){ .alloc = *alloc,
                  .request = r,
                  .as_events = pai__log_events_wanted(r),
                  .stamped = pai__request_flag(r, "timestamps"),
                  .events = { .request = r } };
  o.timed = l->stamped;
  rc =
    pai_log_open(&l->reader, r->server->platform, job, &o, on_data, l, &err);
  if (rc < 0) {
    pai__free(alloc, l, sizeof(*l));
    no_log(r, rc, err);
    return;
  }
  (void)pai__stream_begin(
    r, l->as_events ? "text/event-stream" : "text/plain; charset=utf-8",
    &log_source, l);
}

/* --- answers --- */

static const pai__field place_fields[] = { PAI__HAS(TEXT, "name"),
                                           PAI__HAS(TEXT, "uri"),
                                           { 0 } };

static const pai__shape place_shape = { "LogLocation", place_fields };

static const pai__field places_fields[] = {
  PAI__HAS_OF(LIST, "locations", &place_shape), { 0 }
};

static const pai__shape places_shape = { "LogLocations", places_fields };

static const pai__result places = { .kind = PAI__IS_OBJECT,
                                    .shape = &places_shape };

static const pai__result as_events = { .type = "text/event-stream" };

static const pai__result text = { .type = "text/plain", .other = &as_events };

/* --- queries --- */

#define TAIL_MODE                                                  \
  {                                                                \
    .name = "tail-mode", .kind = PAI__IS_FLAG, .missing = "false", \
    .what = "its last 16 KiB alone"                                \
  }

static const pai__field place_queries[] = { TAIL_MODE, { 0 } };

static const pai__field log_queries[] = {
  TAIL_MODE,
  PAI__TAKES(TEXT, "token", "as in an address that the list of logs has"),
  { .name = "offset",
    .kind = PAI__IS_WHOLE,
    .least = -PAI__MOST_WHOLE,
    .most = PAI__MOST_WHOLE,
    .what = "from this byte on; -N: the last N bytes" },
  { .name = "follow",
    .kind = PAI__IS_FLAG,
    .missing = "false",
    .what = "until the task ends" },
  { .name = "tail",
    .kind = PAI__IS_WHOLE,
    .most = PAI__MOST_WHOLE,
    .what = "the last N lines; 0: only what comes" },
  { .name = "since",
    .kind = PAI__IS_WHOLE,
    .least = -PAI__MOST_WHOLE,
    .most = PAI__MOST_WHOLE,
    .what = "what was written at this time, in milliseconds since 1970, or "
            "later; -N: in the last N milliseconds" },
  { .name = "timestamps",
    .kind = PAI__IS_FLAG,
    .missing = "false",
    .what =
      "before each line, when it was written, as 2026-05-01T10:30:00Z; - "
      "if that is not known" },
  { 0 }
};

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = LOGS,
    .handle = do_log_list,
    .right = PAI__OF_READERS,
    .result = &places,
    .queries = place_queries,
    .summary = "List the logs of a task",
    .errors = "404 NoJobError, 404 NoTaskLogError" },
  { .method = "GET",
    .path = LOGS "/:name",
    .handle = do_log,
    .right = PAI__OF_READERS,
    .result = &text,
    .queries = log_queries,
    .resumes = true,
    .is_signed = true,
    .summary = "Get a task's log",
    .errors = "404 NoJobError, 404 NoTaskLogError" },
};

const pai__routes pai__logs_routes = { routes, PAI__LEN(routes) };
