/* feed.c - see feed.h */
#include "server/feed.h"

#include <inttypes.h>
#include <stdio.h>

enum { PIECE = 32 << 10 }; /* that a reader is given at a time */

/* An event that was told. */
typedef struct pai__note {
  struct pai__note *next;
  uint64_t id;
  unsigned readers; /* who are to be given it next */
  pai_job_id job;
  char *name; /* of the job; NULL: it was not known any more */
  pai__buf text;
} note;

/* --- jobs ---------------------------------------------------------------------- */

/* What is known of a job, or *out is NULL. */
static int show(pai__tree **out, const pai__feed *f, pai_job_id job)
{
  const pai_alloc *alloc = &f->server->alloc;
  pai__json_options options = { .alloc = alloc };
  pai__buf json;
  int rc;

  *out = NULL;
  pai__buf_init(&json, alloc);
  rc = pai_platform_show(f->server->platform, job, -1, pai__answer_write,
                         &json, NULL);
  if (rc == PAI_OK)
    rc = pai__json_parse(out, pai__buf_text(&json), json.len, &options, NULL);
  pai__buf_dispose(&json);
  return rc;
}

/* Its "user~name", as a new string. */
static char *read_name(const pai__feed *f, const pai__tree *t)
{
  pai__node name = PAI__NO_NODE, status = PAI__NO_NODE, user = PAI__NO_NODE;
  pai__buf b;

  pai__buf_init(&b, &f->server->alloc);
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

/* *name NULL: it is not known any more.  False: there is no memory. */
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
  if (fresh == NULL) /* what is shown has a name */
    return rc < 0 && rc != PAI_ENOMEM;
  if (pai__map_set(&f->names, &job, sizeof(job), fresh) < 0) {
    pai__strfree(&f->server->alloc, fresh);
    return false;
  }
  *name = fresh;
  return true;
}

/* With which code OpenPAI says that it is over.  False: that is not known. */
static bool read_code(const pai__feed *f, pai_job_id job, int64_t *code)
{
  pai__node n = PAI__NO_NODE;
  pai__tree *tree;
  bool known;

  (void)show(&tree, f, job);
  if (tree != NULL)
    n = pai__tree_get(tree, 0, "jobStatus");
  if (n != PAI__NO_NODE)
    n = pai__tree_get(tree, n, "appExitCode");
  *code = 0;
  known = n != PAI__NO_NODE && pai__tree_whole(tree, n, code);
  pai__tree_free(tree);
  return known;
}

/* --- events --------------------------------------------------------------------- */

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
  if (over) /* nothing more is told of it */
    pai__strfree(&f->server->alloc,
                 pai__map_remove(&f->names, &n->job, sizeof(n->job)));
}

/* NULL: there is no memory. */
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
    n->text.failed = true; /* it is lost, and not told without a name */
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

/* --- readers ---------------------------------------------------------------------- */

static void set_next(pai__reader *r, note *n)
{
  if (r->next != NULL)
    r->next->readers--;
  r->next = n;
  if (n != NULL)
    n->readers++;
}

static bool may_see(const pai__reader *r, const note *n)
{
  if (r->job != 0 && r->job != n->job)
    return false;
  return !r->request->server->system ||
         (n->name != NULL && pai__request_may_see(r->request, n->name));
}

void pai__feed_give(pai__reader *r)
{
  const pai__stream *s = r->request->stream;
  note *n = r->next;

  for (; n != NULL && s->queue.len < PIECE; n = n->next)
    if (may_see(r, n))
      pai__stream_add(r->request->stream, n->text.data, n->text.len);
  set_next(r, n);
}

/* What he has not taken is too much: he is cut off. */
static void cut_off(pai__feed *f, const note *n)
{
  for (pai__reader *r = f->readers; n->readers > 0 && r != NULL; r = r->after)
    if (r->next == n) {
      set_next(r, NULL);
      pai__stream_over(r->request->stream, true);
    }
}

/* --- those that are kept ------------------------------------------------------------ */

static void forget_first(pai__feed *f)
{
  note *n = f->first;

  cut_off(f, n); /* who came again, and had much to take */
  f->first = n->next;
  if (f->first == NULL)
    f->end = &f->first;
  f->kept -= size_of(n);
  free_note(f, n);
}

/* Each is given to all who have had those before. */
static void keep(pai__feed *f, note *n)
{
  *f->end = n;
  f->end = &n->next;
  f->kept += size_of(n);
  f->behind += size_of(n);
  if (f->late == NULL)
    f->late = n;
  for (pai__reader *r = f->readers; r != NULL; r = r->after)
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

/* One is lost: all are cut off, and what comes is of another series, so that
 * whoever comes again asks how things stand. */
static void lose(pai__feed *f)
{
  for (pai__reader *r = f->readers; r != NULL; r = r->after) {
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

/* --- who comes again ---------------------------------------------------------------- */

enum { SERIES = 17 }; /* characters of an id before its number */

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

void pai__feed_go_on(pai__reader *r, uint64_t event)
{
  note *n = r->request->server->feed->first;

  while (n != NULL && n->id <= event)
    n = n->next;
  set_next(r, n);
}

/* --- its life ------------------------------------------------------------------------- */

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

int pai__feed_join(pai__reader *r, pai_error **err)
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

void pai__feed_leave(pai__reader *r)
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
