/*
 * watch.c - GET /events: what happens to jobs, as server-sent events
 *
 * Of all jobs, or with ?job= of one.  With ?states=true all that are not over
 * are told first, as they are, and then "all": nothing comes between both.
 * Whoever comes again with the id of an event that is still kept is told
 * "resumed" instead, and what has happened since.  A reader that is too slow is
 * cut off, and may come again so.
 */
#include "server/feed.h"

typedef struct watcher {
  pai_alloc alloc;
  pai__reader reader;
  bool joined;
} watcher;

static void free_watcher(void *source)
{
  watcher *w = source;
  pai_alloc alloc = w->alloc;

  if (w->joined)
    pai__feed_leave(&w->reader);
  pai__free(&alloc, w, sizeof(*w));
}

static void refill_watcher(void *source)
{
  watcher *w = source;

  pai__feed_give(&w->reader);
}

static const pai__source watch_source = { NULL, refill_watcher, free_watcher,
                                          false };

/* --- how things stand --------------------------------------------------------- */

enum { MOST_ROWS = 50000 }; /* of a list */

static void put_text(pai__json_writer *w, const char *key, const char *value)
{
  pai__json_key(w, key, strlen(key));
  pai__json_text(w, value, strlen(value));
}

/* An item of the list, as an event of its job. */
static void add_state(pai__buf *out, const pai__request *r, const pai__tree *t,
                      pai__node item)
{
  const char *state = pai__tree_look_text(t, item, "state", "");
  char lower[16] = "";
  pai__json_writer w;
  pai__buf name;

  for (size_t i = 0; state[i] != '\0' && i + 1 < sizeof(lower); i++)
    lower[i] = (char)(state[i] | 0x20);
  pai__buf_init(&name, out->alloc);
  pai__buf_printf(&name, "%s~%s", pai__tree_look_text(t, item, "username", ""),
                  pai__tree_look_text(t, item, "name", ""));
  if (!pai__buf_ok(&name)) {
    out->failed = true;
  } else if (pai__request_may_see(r, name.data)) {
    pai__buf_str(out, "event: job\ndata: ");
    pai__json_writer_init(&w, out, false);
    pai__json_begin_object(&w);
    put_text(&w, "event", "job");
    put_text(&w, "name", name.data);
    put_text(&w, "state", lower);
    pai__json_end_object(&w);
    if (pai__json_finish(&w) < 0)
      out->failed = true;
    pai__buf_str(out, "\n\n");
  }
  pai__buf_dispose(&name);
}

/* How many there were; or why they cannot be told. */
static int add_page(pai__buf *out, const pai__request *r, const pai__buf *json,
                    pai_error **err)
{
  pai__json_options options = { .alloc = &r->server->alloc };
  pai__tree *tree = NULL;
  pai__tree_walk walk;
  pai__node item;
  int n =
    pai__json_parse(&tree, pai__buf_text(json), json->len, &options, err);

  if (n < 0)
    return n;
  walk = pai__tree_iter(tree, 0);
  for (; (item = pai__tree_next(&walk)) != PAI__NO_NODE; n++)
    add_state(out, r, tree, item);
  pai__tree_free(tree);
  return pai__buf_ok(out) ? n : pai__oom(err);
}

/* All that are not over. */
static int add_states(pai__buf *out, const pai__request *r, pai_error **err)
{
  pai_job_query q = PAI_JOB_QUERY_INIT;
  pai__buf json;
  int n = MOST_ROWS;

  q.states = "WAITING,RUNNING,STOPPING";
  q.order = "submissionTime,ASC";
  q.limit = MOST_ROWS;
  pai__buf_init(&json, &r->server->alloc);
  for (; n == MOST_ROWS; q.offset += MOST_ROWS) {
    pai__buf_cut(&json, 0);
    n = pai_platform_list(r->server->platform, &q, pai__answer_write, &json,
                          err);
    if (n == PAI_OK)
      n = add_page(out, r, &json, err);
  }
  pai__buf_dispose(&json);
  if (n >= 0 && !pai__buf_ok(out))
    n = pai__oom(err);
  return n < 0 ? n : PAI_OK;
}

/* --- its beginning ------------------------------------------------------------ */

/* What was told before: goes on there, if that is known. */
static bool resume(pai__reader *reader, pai__buf *out)
{
  const pai__request *r = reader->request;
  const char *id = pai__request_last_event(r);
  uint64_t event;

  if (id == NULL || !pai__feed_find(r->server->feed, id, &event))
    return false;
  pai__buf_str(out, "event: resumed\ndata: {}\n\n");
  pai__feed_add_id(r->server->feed, event, out);
  pai__buf_char(out, '\n');
  pai__feed_go_on(reader, event);
  return true;
}

/* What comes before the first event, with an id to go on from, also if no event
 * comes. */
static int write_beginning(watcher *w, pai__buf *out, pai_error **err)
{
  const pai__request *r = w->reader.request;
  const pai__feed *feed = r->server->feed;
  bool all = pai__request_flag(r, "states");
  int rc = PAI_OK;

  if (resume(&w->reader, out))
    return pai__buf_ok(out) ? PAI_OK : pai__oom(err);
  if (all)
    rc = add_states(out, r, err);
  pai__feed_add_id(feed, feed->last, out);
  pai__buf_str(out, all ? "event: all\ndata: {}\n\n" : "\n");
  return rc < 0 || pai__buf_ok(out) ? rc : pai__oom(err);
}

static void begin(pai__request *r, watcher *w, const pai__buf *beginning)
{
  if (!pai__stream_begin(r, "text/event-stream", &watch_source, w))
    return;
  pai__stream_add(r->stream, beginning->data, beginning->len);
}

static void watch(pai__request *r, pai_job_id job)
{
  pai_alloc *alloc = &r->server->alloc;
  watcher *w = pai__zalloc(alloc, sizeof(*w));
  pai_error *err = NULL;
  pai__buf beginning;
  int rc;

  if (w == NULL) {
    pai__answer_failure(r, PAI_ENOMEM, NULL);
    return;
  }
  w->alloc = *alloc;
  w->reader = (pai__reader){ .request = r, .job = job };
  pai__buf_init(&beginning, alloc);
  pai__buf_str(&beginning, ": begins\n\n");
  rc = pai__feed_join(&w->reader, &err);
  w->joined = rc == PAI_OK;
  if (rc == PAI_OK)
    rc = write_beginning(w, &beginning, &err);
  if (rc < 0) {
    free_watcher(w);
    pai__answer_failure(r, rc, err);
  } else {
    begin(r, w, &beginning);
  }
  pai__buf_dispose(&beginning);
}

static void do_watch(pai__request *r)
{
  const char *name = pai__request_query(r, "job");
  pai_job_id job = 0;

  if (name != NULL && pai__request_flag(r, "states")) {
    pai__answer_error(r, 400, "InvalidParametersError",
                      "this stream is for all jobs: for the state of one job "
                      "use GET /api/v2/jobs/%s.",
                      name);
    return;
  }
  r->params[0] = name;
  if (name == NULL ||
      (pai__request_may_read(r) && (job = pai__request_job(r)) != 0))
    watch(r, job);
}

/* --- answers --- */

static const pai__result events = { .type = "text/event-stream" };

/* --- queries --- */

static const pai__field queries[] = {
  PAI__TAKES(TEXT, "job", "of this job alone"),
  { .name = "states",
    .kind = PAI__IS_FLAG,
    .missing = "false",
    .what = "first how all stand that are not over, and then \"all\"" },
  { 0 }
};

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/events",
    .handle = do_watch,
    .right = PAI__OF_USERS,
    .result = &events,
    .queries = queries,
    .resumes = true,
    .summary = "Stream events of all jobs, as server-sent events",
    .errors = "400 InvalidParametersError, 404 NoJobError" },
};

const pai__routes pai__watch_routes = { routes, PAI__LEN(routes) };
