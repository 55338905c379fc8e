/*
 * watch.c - GET /events: what happens to jobs, as server-sent events
 *
 * Of all jobs, or with ?job= of one.  With ?states=true all that are not over
 * are told first, as they are, and then "all": nothing comes between both.  A
 * reader that is too slow is cut off: it comes again and asks how things stand.
 */
#include "server/server.h"

#include "base/map.h"

typedef struct watcher {
  pai_alloc alloc;
  pai__request *request;
  pai_listener *listener;
  pai__map names; /* of jobs, by id; as their files in JSON */
} watcher;

/* What is known of a job, or NULL. */
static pai__tree *show(const watcher *w, pai_job_id job)
{
  pai__json_options options = { .alloc = &w->alloc };
  pai__tree *tree = NULL;
  pai__buf json;

  pai__buf_init(&json, &w->alloc);
  if (pai_platform_show(w->request->server->platform, job, -1,
                        pai__answer_write, &json, NULL) == PAI_OK)
    (void)pai__json_parse(&tree, pai__buf_text(&json), json.len, &options,
                          NULL);
  pai__buf_dispose(&json);
  return tree;
}

/* Its "user~name", as a new string. */
static char *read_name(const watcher *w, const pai__tree *t)
{
  pai__node name = PAI__NO_NODE, status = PAI__NO_NODE, user = PAI__NO_NODE;
  pai__buf b;

  pai__buf_init(&b, &w->alloc);
  if (t != NULL) {
    name = pai__tree_get(t, 0, "name");
    status = pai__tree_get(t, 0, "jobStatus");
  }
  if (status != PAI__NO_NODE)
    user = pai__tree_get(t, status, "username");
  if (name != PAI__NO_NODE && user != PAI__NO_NODE)
    pai__buf_printf(&b, "%s~%s", pai__tree_str(t, user, NULL),
                    pai__tree_str(t, name, NULL));
  if (b.len > 0)
    return pai__buf_take(&b);
  pai__buf_dispose(&b);
  return NULL;
}

/* NULL: it is not known any more. */
static const char *name_of(watcher *w, pai_job_id job)
{
  char *name = pai__map_get(&w->names, &job, sizeof(job));
  pai__tree *tree;

  if (name != NULL)
    return name;
  tree = show(w, job);
  name = read_name(w, tree);
  pai__tree_free(tree);
  if (name != NULL && pai__map_set(&w->names, &job, sizeof(job), name) < 0) {
    pai__strfree(&w->alloc, name);
    name = NULL;
  }
  return name;
}

/* With which code OpenPAI says that it is over.  False: that is not known. */
static bool read_code(const watcher *w, pai_job_id job, int64_t *code)
{
  pai__tree *tree = show(w, job);
  pai__node n = PAI__NO_NODE;
  bool known;

  if (tree != NULL)
    n = pai__tree_get(tree, 0, "jobStatus");
  if (n != PAI__NO_NODE)
    n = pai__tree_get(tree, n, "appExitCode");
  *code = 0;
  known = n != PAI__NO_NODE && pai__tree_whole(tree, n, code);
  pai__tree_free(tree);
  return known;
}

/* Of one that is over nothing more is told. */
static void forget_name(watcher *w, pai_job_id job)
{
  pai__strfree(&w->alloc, pai__map_remove(&w->names, &job, sizeof(job)));
}

static int on_event(void *user_data, const pai_event *event)
{
  watcher *w = user_data;
  int type = pai_event_type(event);
  bool over =
    type == PAI_EVENT_JOB && pai_event_state(event) >= PAI_STATE_SUCCEEDED;
  pai__json_writer json;
  const char *name;
  int64_t code;
  pai__buf b;

  if (type != PAI_EVENT_JOB && type != PAI_EVENT_TASK)
    return 0;
  name = name_of(w, pai_event_job(event));
  if (w->request->server->system &&
      (name == NULL || !pai__request_may_see(w->request, name))) {
    if (over)
      forget_name(w, pai_event_job(event));
    return 0;
  }
  pai__buf_init(&b, &w->alloc);
  pai__buf_printf(&b,
                  "event: %s\ndata: ", type == PAI_EVENT_JOB ? "job" : "task");
  pai__json_writer_init(&json, &b, false);
  pai__event_json(&json, name, event,
                  over && read_code(w, pai_event_job(event), &code) ? &code
                                                                    : NULL);
  pai__buf_str(&b, "\n\n");
  if (pai__json_finish(&json) == PAI_OK && pai__buf_ok(&b))
    pai__stream_add(w->request->stream, pai__buf_text(&b), b.len);
  else
    pai__stream_over(w->request->stream, true);
  pai__buf_dispose(&b);
  if (over)
    forget_name(w, pai_event_job(event));
  return 0;
}

static void free_watcher(void *source)
{
  watcher *w = source;
  pai_alloc alloc = w->alloc;
  const pai__map_entry *e;

  pai_platform_unlisten(w->listener);
  for (size_t i = 0; (e = pai__map_next(&w->names, &i)) != NULL;)
    pai__strfree(&alloc, e->value);
  pai__map_dispose(&w->names);
  pai__free(&alloc, w, sizeof(*w));
}

static const pai__source watch_source = { NULL, free_watcher };

/* --- how things stand --------------------------------------------------------- */

enum { MOST_ROWS = 50000 }; /* of a list */

static const char *text_of(const pai__tree *t, pai__node n, const char *key)
{
  pai__node v = pai__tree_get(t, n, key);

  return v != PAI__NO_NODE && pai__tree_type(t, v) == PAI__STRING
           ? pai__tree_str(t, v, NULL)
           : "";
}

static void put_text(pai__json_writer *w, const char *key, const char *value)
{
  pai__json_key(w, key, strlen(key));
  pai__json_text(w, value, strlen(value));
}

/* An item of the list, as an event of its job. */
static void add_state(pai__buf *out, const pai__request *r, const pai__tree *t,
                      pai__node item)
{
  const char *state = text_of(t, item, "state");
  char lower[16] = "";
  pai__json_writer w;
  pai__buf name;

  for (size_t i = 0; state[i] != '\0' && i + 1 < sizeof(lower); i++)
    lower[i] = (char)(state[i] | 0x20);
  pai__buf_init(&name, out->alloc);
  pai__buf_printf(&name, "%s~%s", text_of(t, item, "username"),
                  text_of(t, item, "name"));
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
  pai__buf_str(out, "event: all\ndata: {}\n\n");
  if (n >= 0 && !pai__buf_ok(out))
    n = pai__oom(err);
  return n < 0 ? n : PAI_OK;
}

/* --- its beginning ------------------------------------------------------------ */

static void begin(pai__request *r, watcher *w, const pai__buf *states)
{
  if (!pai__stream_begin(r, "text/event-stream", &watch_source, w))
    return;
  r->stream->most = states->len; /* they are not what a slow reader left */
  pai__stream_add(r->stream, ": begins\n\n", 10);
  if (states->len > 0)
    pai__stream_add(r->stream, states->data, states->len);
}

static void do_watch(pai__request *r)
{
  const char *name = pai__request_query(r, "job");
  pai_alloc *alloc = &r->server->alloc;
  pai_error *err = NULL;
  pai_job_id job = 0;
  pai__buf states;
  watcher *w;
  int rc;

  if (name != NULL && pai__request_flag(r, "states")) {
    pai__answer_error(r, 400, "InvalidParametersError",
                      "states are of all jobs, not of one: "
                      "GET /api/v2/jobs/%s says how that one stands.",
                      name);
    return;
  }
  r->params[0] = name;
  if (name != NULL &&
      (!pai__request_may_read(r) || (job = pai__request_job(r)) == 0))
    return;
  w = pai__zalloc(alloc, sizeof(*w));
  if (w == NULL) {
    pai__answer_failure(r, PAI_ENOMEM, NULL);
    return;
  }
  w->alloc = *alloc;
  w->request = r;
  pai__map_init(&w->names, &w->alloc);
  pai__buf_init(&states, alloc);
  rc = pai_platform_listen(&w->listener, r->server->platform, job, on_event, w,
                           &err);
  if (rc == PAI_OK && pai__request_flag(r, "states"))
    rc = add_states(&states, r, &err);
  if (rc < 0) {
    free_watcher(w);
    pai__answer_failure(r, rc, err);
  } else {
    begin(r, w, &states);
  }
  pai__buf_dispose(&states);
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
    .summary = "What happens to jobs, as server-sent events",
    .errors = "400 InvalidParametersError, 404 NoJobError" },
};

const pai__routes pai__watch_routes = { routes, PAI__LEN(routes) };
