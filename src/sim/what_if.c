/*
 * what_if.c - the future as it is, and as it would be after some changes
 *
 * Both are drawn with the same numbers: a job takes as long in both, and what
 * differs is by the changes alone.
 */
#include "sim/forecast_text.h"
#include "sim/what_if.h"

#include "sched/event.h"
#include "sched/event_form.h"
#include "sched/queue.h"

typedef struct trying {
  pai_what_if *w;
  const pai_sched *sched;
  pai_sched *fork; /* with the changes */
  const pai_sched_event *events;
  size_t n;
  uint32_t *sick; /* nodes of the fork */
  pai_error **err;
} trying;

/* --- changes -------------------------------------------------------------- */

/* Which of several it was; the scheduler's number of the event says nothing. */
static int blame(const trying *t, size_t i, int rc)
{
  pai_error *cause;
  const char *what;

  if (t->err == NULL || *t->err == NULL || rc == PAI_ENOMEM)
    return rc;
  cause = *t->err;
  *t->err = NULL;
  what = pai_error_message(
    pai_error_cause(cause) != NULL ? pai_error_cause(cause) : cause);
  if (t->n == 1)
    (void)pai__fail(t->err, rc, "%s", what);
  else
    (void)pai__fail(t->err, rc, "change %zu: %s", i + 1, what);
  if (pai_error_help(cause) != NULL)
    pai__error_help(t->err, "%s", pai_error_help(cause));
  pai_error_free(cause);
  return rc;
}

static bool is_on(const pai_sched *s, const pai__run *run, const uint8_t *lost)
{
  const pai__slot *slots = pai__slots_of(s, run);

  for (uint32_t k = 0; k < run->tasks; k++)
    if (lost[slots[k].node])
      return true;
  return false;
}

static const char *keep(pai_what_if *w, const char *s, int *rc)
{
  const char *copy =
    s != NULL ? pai__arena_strndup(&w->arena, s, strlen(s)) : NULL;

  if (s != NULL && copy == NULL)
    *rc = PAI_ENOMEM;
  return copy;
}

static pai__turned *add(const trying *t, const pai_sched *from, uint64_t id,
                        uint32_t instance, enum pai__turn what)
{
  pai_what_if *w = t->w;
  pai_request_view v = { .struct_size = sizeof(v) };
  pai__turned *x;
  int rc = PAI_OK;

  if (PAI__VEC_ROOM(&w->alloc, w->turned, w->nturned, w->turned_cap) < 0)
    return NULL;
  x = &w->turned[w->nturned++];
  *x = (pai__turned){ .id = id, .instance = instance, .what = (uint8_t)what };
  if (pai_sched_view_request(from, id, &v) == PAI_OK) {
    x->name = keep(w, v.name, &rc);
    x->user = keep(w, v.user, &rc);
  }
  return rc == PAI_OK ? x : NULL;
}

/* What runs on a node that is lost waits again. */
static int lose_run(const trying *t, const pai__run *run)
{
  pai_sched_event e = { .struct_size = sizeof(e), .kind = PAI_SCHED_RETURNED };
  pai_sched_view view = { .struct_size = sizeof(view) };
  pai__turned *x;

  (void)pai_sched_view_sums(t->fork, &view);
  e.id = pai__req_at(t->fork, run->req)->id;
  e.instance = run->instance;
  e.time = view.now;
  x = add(t, t->fork, e.id, e.instance, PAI__STOPS);
  if (x == NULL)
    return pai__oom(t->err);
  x->node = true;
  return pai_sched_send(t->fork, &e, t->err);
}

static int lose_nodes(const trying *t, const pai_cluster *c)
{
  pai_sched *s = t->fork;
  size_t n = s->park->nspots != 0 ? s->park->nspots : 1;
  uint8_t *lost = pai__zalloc(&t->w->alloc, n);
  int rc;

  if (lost == NULL)
    return pai__oom(t->err);
  rc = pai__cluster_lost(s, c, lost, t->err);
  for (uint32_t i = 0; i < s->runs.len && rc == PAI_OK; i++) {
    const pai__run *run = pai__run_at(s, i);

    if (run->req != PAI__NONE && run->state >= PAI__RUN_PLACED &&
        is_on(s, run, lost))
      rc = lose_run(t, run);
  }
  pai__free(&t->w->alloc, lost, n);
  return rc;
}

/* A request in the log's form becomes a line of it. */
static int submit_text(const trying *t, const pai_sched_event *e)
{
  pai__json_writer w;
  pai__buf line;
  int rc;

  pai__buf_init(&line, &t->w->alloc);
  pai__json_writer_init(&w, &line, false);
  pai__json_begin_object(&w);
  pai__put_time(&w, "time", e->time);
  pai__form_put_key(&w, "event");
  pai__form_put_text(&w, "submit");
  pai__form_put_key(&w, "request");
  rc = pai__json_foreign(&w, &t->w->alloc, "the request", e->text,
                         strlen(e->text), t->err);
  pai__json_end_object(&w);
  if (rc == PAI_OK && pai__json_finish(&w) < 0)
    rc = pai__oom(t->err);
  if (rc == PAI_OK)
    rc = pai_sched_send_json(t->fork, pai__buf_text(&line), line.len, t->err);
  pai__buf_dispose(&line);
  return rc;
}

static int send(const trying *t, size_t i)
{
  pai_sched_event e = t->events[i];
  pai_sched_view view = { .struct_size = sizeof(view) };
  int rc = PAI_OK;

  (void)pai_sched_view_sums(t->fork, &view);
  e.time = view.now;
  if (e.kind == PAI_SCHED_CLUSTER && e.cluster != NULL)
    rc = lose_nodes(t, e.cluster);
  if (rc == PAI_OK)
    rc = e.kind == PAI_SCHED_SUBMIT && e.request == NULL && e.text != NULL
           ? submit_text(t, &e)
           : pai_sched_send(t->fork, &e, t->err);
  return rc < 0 ? blame(t, i, rc) : rc;
}

/* Nodes as they are after all changes. */
static size_t find_sick(const trying *t)
{
  size_t n = 0;

  for (size_t i = 0; i < t->n; i++) {
    const pai_sched_event *e = &t->events[i];
    uint32_t node;

    if (e->kind != PAI_SCHED_NODE || e->number != PAI_NODE_SICK || e->gpu >= 0)
      continue;
    node = pai__park_node(t->fork->park, e->node);
    if (node != PAI__NONE)
      t->sick[n++] = node;
  }
  return n;
}

/* --- comparing ------------------------------------------------------------ */

static const pai__fnow *find_now(const pai_forecast *f, const pai__fnow *like)
{
  for (size_t i = 0; i < f->nfirst; i++)
    if (f->first[i].id == like->id && f->first[i].instance == like->instance &&
        f->first[i].started == like->started)
      return &f->first[i];
  return NULL;
}

static pai__turned *find_turned(const pai_what_if *w, uint64_t id,
                                uint32_t instance)
{
  for (size_t i = 0; i < w->nturned; i++)
    if (w->turned[i].id == id && w->turned[i].instance == instance)
      return &w->turned[i];
  return NULL;
}

static bool is_cancelled(const trying *t, const pai__fnow *x)
{
  for (size_t i = 0; i < t->n; i++)
    if (t->events[i].kind == PAI_SCHED_CANCEL && t->events[i].id == x->id)
      return true;
  return false;
}

/* Of the first moment after the changes, what the one without has not. */
static int compare_now(const trying *t)
{
  const pai_forecast *f = t->w->after;

  for (size_t i = 0; i < f->nfirst; i++) {
    const pai__fnow *x = &f->first[i];
    pai__turned *was = find_turned(t->w, x->id, x->instance);

    if (find_now(t->w->before, x) != NULL)
      continue;
    if (was != NULL) {
      if (was->what == PAI__STOPS && x->started)
        was->what = PAI__MOVES;
      continue;
    }
    was = add(t, t->fork, x->id, x->instance,
              x->started ? PAI__STARTS : PAI__STOPS);
    if (was == NULL)
      return pai__oom(t->err);
    was->asked = x->stopped && is_cancelled(t, x);
  }
  return PAI_OK;
}

static void count_turned(pai_what_if *w)
{
  for (size_t i = 0; i < w->nturned; i++) {
    const pai__turned *x = &w->turned[i];

    w->view.start_now += x->what == PAI__STARTS;
    w->view.stop_now += x->what == PAI__STOPS;
    w->view.move += x->what == PAI__MOVES;
    if (x->what != PAI__STARTS && !x->asked)
      w->view.unsafe = 1;
  }
}

static void compare(pai_what_if *w)
{
  pai_what_if_view *v = &w->view;

  count_turned(w);
  pai__count_waits(w);
  v->unlike = pai__curves_unlike(&w->before->curves);
  v->preempted_before =
    (uint32_t)(w->before->preempted * 100 / w->before->runs);
  v->preempted_after = (uint32_t)(w->after->preempted * 100 / w->after->runs);
  v->used_before = (uint32_t)(w->before->used / w->before->runs);
  v->used_after = (uint32_t)(w->after->used / w->after->runs);
}

/* --- all ------------------------------------------------------------------ */

static int look_both(trying *t, const pai_history *history,
                     const pai_forecast_options *opts)
{
  pai_what_if *w = t->w;
  pai__twist twist = { t->sick, find_sick(t) };
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  int rc = PAI_OK;

  if (opts != NULL &&
      PAI__OPTIONS_IN(&o, opts, pai_forecast_options, only) < 0)
    return pai__fail_struct(t->err, PAI_EINVAL, opts, "pai_forecast_options");
  o.struct_size = sizeof(o);
  rc = pai__forecast_run(&w->before, t->sched, history, &o, NULL, t->err);
  if (rc == PAI_OK) {
    o.runs = w->before->runs; /* the same jobs take the same time in both */
    rc = pai__forecast_run(&w->after, t->fork, history, &o, &twist, t->err);
  }
  if (rc == PAI_OK)
    rc = pai__pair_waits(w) < 0 ? pai__oom(t->err) : compare_now(t);
  if (rc == PAI_OK) {
    pai__forecast_count(w->before, history);
    pai__forecast_count(w->after, history);
    compare(w);
  }
  return rc;
}

static int try_changes(trying *t, const pai_history *history,
                       const pai_forecast_options *opts)
{
  int rc = pai_sched_fork(&t->fork, t->sched, t->err);

  for (size_t i = 0; i < t->n && rc == PAI_OK; i++)
    rc = send(t, i);
  return rc == PAI_OK ? look_both(t, history, opts) : rc;
}

/* Events of any age, as ours. */
static int copy_events(trying *t, pai_sched_event *list,
                       const pai_sched_event *from)
{
  for (size_t i = 0; i < t->n; i++) {
    const char *at = (const char *)from + i * from->struct_size;

    if (PAI__COPY_IN(&list[i], at, pai_sched_event, cluster) < 0)
      return pai__fail_struct(t->err, PAI_EINVAL, at, "pai_sched_event");
    list[i].struct_size = sizeof(list[i]);
  }
  t->events = list;
  return PAI_OK;
}

static int make(trying *t, const pai_history *history,
                const pai_sched_event *events,
                const pai_forecast_options *opts)
{
  const pai_alloc *alloc = &t->w->alloc;
  size_t n = t->n != 0 ? t->n : 1;
  pai_sched_event *list = pai__zalloc(alloc, n * sizeof(*list));
  int rc;

  t->sick = pai__zalloc(alloc, n * sizeof(*t->sick));
  if (list == NULL || t->sick == NULL)
    rc = pai__oom(t->err);
  else
    rc = copy_events(t, list, events);
  if (rc == PAI_OK)
    rc = try_changes(t, history, opts);
  pai_sched_free(t->fork);
  pai__free(alloc, list, n * sizeof(*list));
  pai__free(alloc, t->sick, n * sizeof(*t->sick));
  return rc;
}

int pai_what_if_new(pai_what_if **out, const pai_sched *sched,
                    const pai_history *history, const pai_sched_event *events,
                    size_t n, const pai_forecast_options *opts,
                    pai_error **err)
{
  trying t = { .sched = sched, .n = n, .err = err };
  pai_what_if *w;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(sched != NULL && (events != NULL || n == 0), err);
  w = pai__zalloc(&sched->alloc, sizeof(*w));
  if (w == NULL)
    return pai__oom(err);
  w->alloc = sched->alloc;
  w->view.struct_size = sizeof(w->view);
  pai__arena_init(&w->arena, &w->alloc);
  t.w = w;
  rc = make(&t, history, events, opts);
  if (rc < 0)
    pai_what_if_free(w);
  else
    *out = w;
  return rc;
}

void pai_what_if_free(pai_what_if *what_if)
{
  pai_alloc alloc;

  if (what_if == NULL)
    return;
  alloc = what_if->alloc;
  if (what_if->longer != NULL)
    pai__free(&alloc, what_if->longer,
              what_if->before->nwaits * sizeof(*what_if->longer));
  pai_forecast_free(what_if->before);
  pai_forecast_free(what_if->after);
  pai__free(&alloc, what_if->turned,
            what_if->turned_cap * sizeof(*what_if->turned));
  pai__arena_dispose(&what_if->arena);
  pai__free(&alloc, what_if, sizeof(*what_if));
}

const pai_forecast *pai_what_if_before(const pai_what_if *what_if)
{
  return what_if != NULL ? what_if->before : NULL;
}

const pai_forecast *pai_what_if_after(const pai_what_if *what_if)
{
  return what_if != NULL ? what_if->after : NULL;
}

int pai_what_if_look(const pai_what_if *what_if, pai_what_if_view *view)
{
  PAI__CHECK_ARG(what_if != NULL && view != NULL);
  return PAI__FILL_VIEW(view, what_if->view, pai_what_if_view, unsafe);
}
