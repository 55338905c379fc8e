/*
 * what_if.c - what-ifs: compares the forecasts with and without some changes
 *
 * Both forecasts use the same draws, so only the changes make a difference.
 * Each request is compared within each future, and the mean of the middle half
 * of the differences is reported.  The difference of two medians would compare
 * futures that have nothing in common, and the mean of all differences would
 * depend on the few futures in which queues grow for weeks.
 */
#include "sim/forecast/forecast.h"

#include "sched/log/event_form.h"

#include <stdlib.h>

typedef struct trying {
  pai_what_if *w;
  const pai_sched *sched;
  pai_sched *fork; /* with the changes */
  const pai_sched_event *events;
  size_t n;
  uint32_t *sick; /* indexes of nodes in the fork */
  pai_error **err;
} trying;

/* --- changes ------------------------------------------------------------- */

int pai__change_blame(pai_error **err, size_t i, size_t n, int rc)
{
  pai_error *cause;
  const char *what;

  if (err == NULL || *err == NULL || rc == PAI_ENOMEM)
    return rc;
  cause = *err;
  *err = NULL;
  what = pai_error_message(
    pai_error_cause(cause) != NULL ? pai_error_cause(cause) : cause);
  if (n == 1)
    (void)pai__fail(err, rc, "%s", what);
  else
    (void)pai__fail(err, rc, "change %zu: %s", i, what);
  if (pai_error_help(cause) != NULL)
    pai__error_help(err, "%s", pai_error_help(cause));
  pai_error_free(cause);
  return rc;
}

static bool is_on(const pai__run_info *run, const uint8_t *lost)
{
  for (uint32_t k = 0; k < run->tasks; k++)
    if (lost[run->slots[k].node])
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
                        uint32_t instance, enum pai__sim_turn what)
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

/* Returns a run to the queue because its node is lost. */
static int lose_run(const trying *t, const pai__run_info *run)
{
  pai_sched_event e = { .struct_size = sizeof(e), .kind = PAI_SCHED_RETURNED };
  pai_sched_view view = { .struct_size = sizeof(view) };
  pai__turned *x;

  (void)pai_sched_view_sums(t->fork, &view);
  e.id = run->id;
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
  size_t n = (size_t)pai__sched_cluster_of(s)->nnodes + 1;
  uint8_t *lost = pai__zalloc(&t->w->alloc, n);
  pai__run_info run;
  int rc;

  if (lost == NULL)
    return pai__oom(t->err);
  rc = pai__cluster_lost(s, c, lost, t->err);
  for (uint32_t i = 0; rc == PAI_OK && pai__inspect_next_run(s, &i, &run);)
    if (is_on(&run, lost))
      rc = lose_run(t, &run);
  pai__free(&t->w->alloc, lost, n);
  return rc;
}

/* Makes a line of the log from a request in its JSON form, and sends it. */
static int submit_text(const trying *t, const pai_sched_event *e)
{
  pai__json_writer w;
  pai__buf line;
  int rc;

  pai__buf_init(&line, &t->w->alloc);
  pai__json_writer_init(&w, &line, false);
  pai__json_begin_object(&w);
  pai__put_time(&w, "time", e->time);
  pai__json_put_text(&w, "event", "submit");
  pai__json_member(&w, "request");
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
  return rc < 0 ? pai__change_blame(t->err, i + 1, t->n, rc) : rc;
}

/* Lists the nodes that the changes made sick, by their indexes after all
 * changes. */
static size_t find_sick(const trying *t)
{
  size_t n = 0;

  for (size_t i = 0; i < t->n; i++) {
    const pai_sched_event *e = &t->events[i];
    uint32_t node;

    if (e->kind != PAI_SCHED_NODE || e->number != PAI_NODE_SICK || e->gpu >= 0)
      continue;
    node = pai__sched_cluster_node(pai__sched_cluster_of(t->fork), e->node);
    if (node != PAI__NONE)
      t->sick[n++] = node;
  }
  return n;
}

/* --- differences --------------------------------------------------------- */

/* A request that does not start within the horizon counts as waiting that
 * long, in both forecasts. */
static pai_time within(const pai_forecast *f, pai_time wait)
{
  return wait < f->horizon ? wait : f->horizon;
}

static pai_time middle(pai_time *list, uint32_t n)
{
  uint32_t from = n / 4;
  pai_time count = n - 2 * from, mean = 0, rest = 0;

  if (count <= 0)
    return 0;
  qsort(list, n, sizeof(*list), pai__by_time);
  for (uint32_t i = from; i < n - from; i++) {
    mean += list[i] / count;
    rest += list[i] % count;
  }
  return mean + rest / count;
}

static int pair_waits(const trying *t)
{
  pai_what_if *w = t->w;
  pai_forecast *f = w->before;
  bool has_room;
  pai_time *pairs;
  int rc = PAI_OK;

  if (f->nwaits == 0)
    return PAI_OK;
  w->longer = pai__zalloc(&w->alloc, f->nwaits * sizeof(*w->longer));
  pairs = pai__zalloc(&w->alloc, f->runs * sizeof(*pairs));
  has_room = w->longer != NULL && pairs != NULL;
  if (!has_room)
    rc = pai__oom(t->err);
  for (uint32_t i = 0; has_room && rc == PAI_OK && i < f->nwaits; i++) {
    const pai__future_wait *a = &f->waits[i];
    const pai__future_wait *b = pai__forecast_find(w->after, a->id);

    rc = pai__forecast_go_on(f, f->runs, t->err);
    if (b == NULL || rc < 0)
      continue;
    for (uint32_t k = 0; k < f->runs; k++)
      pairs[k] = within(f, b->waits[k]) - within(f, a->waits[k]);
    w->longer[i] = middle(pairs, f->runs);
  }
  if (pairs != NULL)
    pai__free(&w->alloc, pairs, f->runs * sizeof(*pairs));
  return rc;
}

/* --- counts -------------------------------------------------------------- */

static pai_time wait_of(const pai_forecast *f, const pai__future_wait *w)
{
  return w->p50 != INT64_MAX ? within(f, w->p50 - f->now) : f->horizon;
}

pai_time pai__waits_longer(const pai_what_if *w,
                           const pai__future_wait *before)
{
  pai_time longer = w->longer[before - w->before->waits];
  pai_time wait = wait_of(w->before, before);

  return longer > -wait ? longer : -wait;
}

int pai__compare_starts(const pai_what_if *w, const pai__future_wait *before,
                        const pai__future_wait *after)
{
  pai_time a = before->p50, b = after->p50, least = 1000000;
  pai_time longer = pai__waits_longer(w, before);

  if (a == INT64_MAX || b == INT64_MAX)
    return (b == INT64_MAX) - (a == INT64_MAX);
  if ((a - w->before->now) / 100 > least)
    least = (a - w->before->now) / 100;
  return longer > least ? 1 : longer < -least ? -1 : 0;
}

/* Only requests that start in both forecasts count in the means. */
static bool in_both(const pai__future_wait *a, const pai__future_wait *b)
{
  return b != NULL && a->started != 0 && b->started != 0;
}

static void add_wait(pai_what_if *w, const pai__future_wait *a, int64_t n,
                     pai_time *rest)
{
  pai_time before = wait_of(w->before, a);
  pai_time after = before + pai__waits_longer(w, a);

  w->view.wait_before += before / n;
  w->view.wait_after += after / n;
  rest[0] += before % n;
  rest[1] += after % n;
}

/* Each wait is divided before it is added, so sums cannot overflow. */
static void count_means(pai_what_if *w)
{
  const pai_forecast *f = w->before;
  pai_time rest[2] = { 0, 0 };
  int64_t n = 0;

  for (uint32_t i = 0; i < f->nwaits; i++)
    n += in_both(&f->waits[i], pai__forecast_find(w->after, f->waits[i].id));
  if (n == 0)
    return;
  for (uint32_t i = 0; i < f->nwaits; i++)
    if (in_both(&f->waits[i], pai__forecast_find(w->after, f->waits[i].id)))
      add_wait(w, &f->waits[i], n, rest);
  w->view.wait_before += rest[0] / n;
  w->view.wait_after += rest[1] / n;
}

static void count_waits(pai_what_if *w)
{
  pai_what_if_view *v = &w->view;

  for (uint32_t i = 0; i < w->before->nwaits; i++) {
    const pai__future_wait *a = &w->before->waits[i];
    const pai__future_wait *b = pai__forecast_find(w->after, a->id);
    int order = b != NULL ? pai__compare_starts(w, a, b) : 0;

    if (b == NULL)
      continue;
    v->sooner += order < 0;
    v->same += order == 0;
    v->never += order > 0 && b->p50 == INT64_MAX;
    v->later += order > 0 && b->p50 != INT64_MAX;
  }
  count_means(w);
}

/* --- comparison ---------------------------------------------------------- */

static const pai__future_now *find_now(const pai_forecast *f,
                                       const pai__future_now *like)
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

static bool is_cancelled(const trying *t, const pai__future_now *x)
{
  for (size_t i = 0; i < t->n; i++)
    if (t->events[i].kind == PAI_SCHED_CANCEL && t->events[i].id == x->id)
      return true;
  return false;
}

/* Lists what happens in the first moment after the changes, but not without
 * them. */
static int compare_now(const trying *t)
{
  const pai_forecast *f = t->w->after;

  for (size_t i = 0; i < f->nfirst; i++) {
    const pai__future_now *x = &f->first[i];
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
  count_waits(w);
  v->unlike = pai__curves_unlike(&w->before->curves);
  v->preempted_before =
    (uint32_t)(w->before->preempted * 100 / w->before->runs);
  v->preempted_after = (uint32_t)(w->after->preempted * 100 / w->after->runs);
  v->used_before = (uint32_t)(w->before->used / w->before->runs);
  v->used_after = (uint32_t)(w->after->used / w->after->runs);
}

/* --- entry points -------------------------------------------------------- */

static int look_both(trying *t, const pai_history *history,
                     const pai_forecast_options *opts)
{
  pai_what_if *w = t->w;
  pai__first_failures failures = { t->sick, find_sick(t) };
  pai_forecast_options o;
  int rc = PAI_OK;

  if (pai__forecast_options(&o, opts, t->err) < 0)
    return PAI_EINVAL;
  rc = pai__forecast_run(&w->before, t->sched, history, &o, NULL, t->err);
  if (rc == PAI_OK) {
    o.runs = w->before->runs; /* so that the same jobs take the same time */
    rc = pai__forecast_run(&w->after, t->fork, history, &o, &failures, t->err);
  }
  if (rc == PAI_OK)
    rc = pair_waits(t);
  if (rc == PAI_OK)
    rc = compare_now(t);
  if (rc == PAI_OK)
    rc = pai__forecast_count(w->before, history, t->err);
  if (rc == PAI_OK)
    rc = pai__forecast_count(w->after, history, t->err);
  if (rc == PAI_OK)
    compare(w);
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

/* Copies events in the layout of this version. */
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
  w = pai__zalloc(pai__sched_alloc(sched), sizeof(*w));
  if (w == NULL)
    return pai__oom(err);
  w->alloc = *pai__sched_alloc(sched);
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
