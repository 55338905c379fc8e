/*
 * watch.c - GET /events: events of jobs as server-sent events
 *
 * Events of all jobs, or with ?job= of one.  With ?states=true the current
 * states of all unfinished jobs come first, then "all"; no event is missed in
 * between.  A reader that comes back with the id of a kept event gets
 * "resumed" instead, and the events since.  A reader that is too slow is cut
 * off, and may come back in this way.
 */
#include "server/streams/feed.h"

typedef struct watcher {
  pai_alloc alloc;
  pai__server_reader reader;
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

static const pai__server_source watch_source = { NULL, refill_watcher,
                                                 free_watcher, false };

/* --- current states ------------------------------------------------------ */

enum { MOST_ROWS = 50000 }; /* of a list */

/* Writes an item of the list as an event of its job. */
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
    pai__json_put_text(&w, "event", "job");
    pai__json_put_text(&w, "name", name.data);
    pai__json_put_text(&w, "state", lower);
    pai__json_end_object(&w);
    if (pai__json_finish(&w) < 0)
      out->failed = true;
    pai__buf_str(out, "\n\n");
  }
  pai__buf_dispose(&name);
}

/* Writes a page of states.  Returns the number of jobs, or a negative code. */
static int add_page(pai__buf *out, const pai__request *r, const pai__buf *json,
                    pai_error **err)
{
  pai__tree *tree =
    pai__server_tree(r->server, pai__buf_text(json), json->len);
  pai__tree_walk walk;
  pai__node item;
  int n = 0;

  if (tree == NULL)
    return pai__oom(err);
  walk = pai__tree_iter(tree, 0);
  for (; (item = pai__tree_next(&walk)) != PAI__NO_NODE; n++)
    add_state(out, r, tree, item);
  pai__tree_free(tree);
  return pai__buf_ok(out) ? n : pai__oom(err);
}

/* Writes the states of all unfinished jobs. */
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

/* --- begin --------------------------------------------------------------- */

/* Resumes after the last event that the reader has seen, if that is still
 * kept. */
static bool resume(pai__server_reader *reader, pai__buf *out)
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

/* Writes what comes before the first event, with an id to resume from even if
 * no event follows. */
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
  pai__buf beginning;
  int rc;

  if (w == NULL) {
    pai__answer_failure(r, PAI_ENOMEM);
    return;
  }
  w->alloc = *alloc;
  w->reader = (pai__server_reader){ .request = r, .job = job };
  pai__buf_init(&beginning, alloc);
  pai__buf_str(&beginning, ": begins\n\n");
  rc = pai__feed_join(&w->reader, &r->err);
  w->joined = rc == PAI_OK;
  if (rc == PAI_OK)
    rc = write_beginning(w, &beginning, &r->err);
  if (rc < 0) {
    free_watcher(w);
    pai__answer_failure(r, rc);
  } else {
    begin(r, w, &beginning);
  }
  pai__buf_dispose(&beginning);
}

void pai__do_events_watch(pai__request *r)
{
  const char *name = pai__request_query(r, "job");
  pai_job_id job = 0;

  if (name != NULL && pai__request_flag(r, "states")) {
    pai__answer_error(r, 400, "InvalidParametersError",
                      "This stream is about all jobs: for the state of a job "
                      "use GET /api/v2/jobs/%s.",
                      name);
    return;
  }
  r->params[0] = name;
  if (name == NULL ||
      (pai__request_may_read(r) && (job = pai__request_job(r)) != 0))
    watch(r, job);
}
