/* feed.c - events of jobs for all watchers (see feed.h) */
#include "server/streams/feed.h"

#include <inttypes.h>
#include <stdio.h>

enum { PIECE = 32 << 10 }; /* bytes given to a reader at a time */

/* An event as text. */
typedef struct pai__note {
  struct pai__note *next;
  uint64_t id;
  unsigned readers; /* number of readers at this event */
  pai_job_id job;
  char *name; /* of the job; NULL: no longer known */
  pai__buf text;
} note;

/* --- jobs ---------------------------------------------------------------- */

/* Reads the job's record; *out is NULL if there is none. */
static int show(pai__tree **out, const pai__feed *f, pai_job_id job)
{
  pai__buf json;
  int rc;

  pai__buf_init(&json, &f->server->alloc);
  rc = pai_platform_show(f->server->platform, job, -1, pai__answer_write,
                         &json, NULL);
  *out = pai__written_tree(&json);
  return rc < 0 || *out != NULL ? rc : PAI_ENOMEM;
}

/* Returns the job's "user~name" as a new string. */
static char *read_name(const pai__feed *f, const pai__tree *t)
{
  const char *name = pai__tree_look_text(t, 0, "name", NULL),
             *user = pai__tree_look_text(t, pai__tree_get(t, 0, "jobStatus"),
                                         "username", NULL);
  pai__buf b;

  if (name == NULL || user == NULL)
    return NULL;
  pai__buf_init(&b, &f->server->alloc);
  pai__buf_printf(&b, "%s~%s", user, name);
  return pai__buf_take(&b);
}

/* Finds the name; NULL if it is no longer known.  Returns false if out of
 * memory. */
static bool find_name(const char **name, pai__feed *f, pai_job_id job)
{
  pai__tree *tree;
  char *fresh;
  int rc;

  *name = pai__map_get(&f->names, &job, sizeof(job));
  if (*name != NULL)
    return true;
  rc = show(&tree, f, job);
  fresh = read_name(f, tree);
  pai__tree_free(tree);
  if (fresh == NULL) /* a job that can be shown has a name */
    return rc < 0 && rc != PAI_ENOMEM;
  if (pai__map_set(&f->names, &job, sizeof(job), fresh) < 0) {
    pai__strfree(&f->server->alloc, fresh);
    return false;
  }
  *name = fresh;
  return true;
}

/* Gets the exit code of a finished job, as OpenPAI reports it; returns false
 * if unknown. */
static bool read_code(const pai__feed *f, pai_job_id job, int64_t *code)
{
  pai__tree *tree;
  pai__node n;
  bool known;

  (void)show(&tree, f, job);
  n = pai__tree_get(tree, pai__tree_get(tree, 0, "jobStatus"), "appExitCode");
  *code = 0;
  known = n != PAI__NO_NODE && pai__tree_whole(tree, n, code);
  pai__tree_free(tree);
  return known;
}

/* --- events -------------------------------------------------------------- */

static void free_note(const pai__feed *f, note *n)
{
  const pai_alloc *alloc = &f->server->alloc;

  pai__strfree(alloc, n->name);
  pai__buf_dispose(&n->text);
  pai__free(alloc, n, sizeof(*n));
}

static void write_note(pai__feed *f, note *n, const pai_event *event)
{
  bool job = pai_event_type(event) == PAI_EVENT_JOB;
  bool over = job && pai_event_state(event) >= PAI_STATE_SUCCEEDED;
  pai__json_writer json;
  int64_t code;

  pai__feed_add_id(f, f->last, &n->text);
  pai__buf_str(&n->text, job ? "event: job\ndata: " : "event: task\ndata: ");
  pai__json_writer_init(&json, &n->text, false);
  pai__event_json(&json, n->name, event,
                  over && read_code(f, n->job, &code) ? &code : NULL);
  if (pai__json_finish(&json) < 0)
    n->text.failed = true;
  pai__buf_str(&n->text, "\n\n");
  if (over) /* no more events of this job will come */
    pai__strfree(&f->server->alloc,
                 pai__map_remove(&f->names, &n->job, sizeof(n->job)));
}

/* Returns NULL if out of memory. */
static note *make_note(pai__feed *f, const pai_event *event)
{
  const pai_alloc *alloc = &f->server->alloc;
  note *n = pai__zalloc(alloc, sizeof(*n));
  const char *name;

  f->last++;
  if (n == NULL)
    return NULL;
  n->id = f->last;
  n->job = pai_event_job(event);
  pai__buf_init(&n->text, alloc);
  if (!find_name(&name, f, n->job))
    /* drops the event, as a NULL name would mean an unknown job */
    n->text.failed = true;
  n->name = name != NULL ? pai__strdup(alloc, name) : NULL;
  write_note(f, n, event);
  if (pai__buf_ok(&n->text) && (name == NULL || n->name != NULL))
    return n;
  free_note(f, n);
  return NULL;
}

static size_t size_of(const note *n)
{
  return sizeof(*n) + n->text.cap + (n->name != NULL ? strlen(n->name) : 0);
}

/* --- readers ------------------------------------------------------------- */

static void set_next(pai__server_reader *r, note *n)
{
  if (r->next != NULL)
    r->next->readers--;
  r->next = n;
  if (n != NULL)
    n->readers++;
}

static bool may_see(const pai__server_reader *r, const note *n)
{
  if (r->job != 0 && r->job != n->job)
    return false;
  return !r->request->server->system ||
         (n->name != NULL && pai__request_may_see(r->request, n->name));
}

void pai__feed_give(pai__server_reader *r)
{
  const pai__stream *s = r->request->stream;
  note *n = r->next;

  for (; n != NULL && s->queue.len < PIECE; n = n->next)
    if (may_see(r, n))
      pai__stream_add(r->request->stream, n->text.data, n->text.len);
  set_next(r, n);
}

/* Ends the streams of the readers at this event, which are too far behind. */
static void cut_off(pai__feed *f, const note *n)
{
  for (pai__server_reader *r = f->readers; n->readers > 0 && r != NULL;
       r = r->after)
    if (r->next == n) {
      set_next(r, NULL);
      pai__stream_over(r->request->stream, true);
    }
}

/* --- kept events --------------------------------------------------------- */

static void forget_first(pai__feed *f)
{
  note *n = f->first;

  cut_off(f, n); /* a reader that came back and still had much to read */
  f->first = n->next;
  if (f->first == NULL)
    f->end = &f->first;
  f->kept -= size_of(n);
  free_note(f, n);
}

/* Adds an event, for all readers that have had the ones before. */
static void keep(pai__feed *f, note *n)
{
  *f->end = n;
  f->end = &n->next;
  f->kept += size_of(n);
  f->behind += size_of(n);
  if (f->late == NULL)
    f->late = n;
  for (pai__server_reader *r = f->readers; r != NULL; r = r->after)
    if (r->next == NULL && may_see(r, n) && !r->request->stream->over) {
      set_next(r, n);
      pai__stream_wake(r->request->stream);
    }
  while (f->behind > PAI__FEED_BEHIND && f->late != n) {
    cut_off(f, f->late);
    f->behind -= size_of(f->late);
    f->late = f->late->next;
  }
  while (f->kept > PAI__FEED_KEPT && f->first != f->late)
    forget_first(f);
}

/* An event was lost: cuts off all readers and begins a new series of ids, so
 * that readers that come back ask for the current states. */
static void lose(pai__feed *f)
{
  for (pai__server_reader *r = f->readers; r != NULL; r = r->after) {
    set_next(r, NULL);
    pai__stream_over(r->request->stream, true);
  }
  while (f->first != NULL)
    forget_first(f);
  f->late = NULL;
  f->behind = 0;
  f->series = pai__loop_seed();
}

static int on_event(void *user_data, const pai_event *event)
{
  pai__feed *f = user_data;
  int type = pai_event_type(event);
  note *n;

  if (type != PAI_EVENT_JOB && type != PAI_EVENT_TASK)
    return 0;
  if (f->readers == NULL && pai__loop_time() - f->left > PAI__FEED_TIME) {
    pai__feed_free(f->server);
    return 0;
  }
  n = make_note(f, event);
  if (n == NULL) {
    lose(f);
    return 0;
  }
  keep(f, n);
  return 0;
}

/* --- readers that come back ---------------------------------------------- */

enum { SERIES = 17 }; /* characters before the number of an id */

static void write_series(const pai__feed *f, char text[SERIES + 1])
{
  (void)snprintf(text, SERIES + 1, "%016" PRIx64 "-", f->series);
}

void pai__feed_add_id(const pai__feed *f, uint64_t event, pai__buf *out)
{
  char series[SERIES + 1];

  write_series(f, series);
  pai__buf_printf(out, "id: %s%" PRIu64 "\n", series, event);
}

bool pai__feed_find(const pai__feed *f, const char *id, uint64_t *event)
{
  uint64_t oldest = f->first != NULL ? f->first->id : f->last + 1;
  char series[SERIES + 1];
  int64_t n;

  write_series(f, series);
  if (strncmp(id, series, SERIES) != 0 ||
      pai__param_number(id + SERIES, &n) < 0)
    return false;
  *event = (uint64_t)n;
  return *event <= f->last && *event + 1 >= oldest;
}

void pai__feed_go_on(pai__server_reader *r, uint64_t event)
{
  note *n = r->request->server->feed->first;

  while (n != NULL && n->id <= event)
    n = n->next;
  set_next(r, n);
}

/* --- begin and end ------------------------------------------------------- */

static int begin(pai_server *server, pai_error **err)
{
  pai__feed *f = pai__zalloc(&server->alloc, sizeof(*f));
  int rc;

  if (f == NULL)
    return pai__oom(err);
  f->server = server;
  f->series = pai__loop_seed();
  f->end = &f->first;
  pai__map_init(&f->names, &server->alloc);
  rc =
    pai_platform_listen(&f->listener, server->platform, 0, on_event, f, err);
  server->feed = f;
  if (rc < 0)
    pai__feed_free(server);
  return rc;
}

void pai__feed_free(pai_server *server)
{
  pai__feed *f = server->feed;
  const pai__map_entry *e;

  if (f == NULL)
    return;
  pai_platform_unlisten(f->listener);
  while (f->first != NULL)
    forget_first(f);
  for (size_t i = 0; (e = pai__map_next(&f->names, &i)) != NULL;)
    pai__strfree(&server->alloc, e->value);
  pai__map_dispose(&f->names);
  pai__free(&server->alloc, f, sizeof(*f));
  server->feed = NULL;
}

int pai__feed_join(pai__server_reader *r, pai_error **err)
{
  pai_server *server = r->request->server;
  int rc = server->feed == NULL ? begin(server, err) : PAI_OK;

  if (rc < 0)
    return rc;
  r->after = server->feed->readers;
  if (r->after != NULL)
    r->after->before = r;
  server->feed->readers = r;
  return PAI_OK;
}

void pai__feed_leave(pai__server_reader *r)
{
  pai__feed *f = r->request->server->feed;

  set_next(r, NULL);
  if (r->before != NULL)
    r->before->after = r->after;
  else
    f->readers = r->after;
  if (r->after != NULL)
    r->after->before = r->before;
  f->left = pai__loop_time();
}
