/*
 * shapes.c - shapes: changes of a request with which it would start sooner
 *
 * Each shape is a list of changes of the request, made on a fork.  Changes
 * that the scheduler refuses are dropped.  All shapes are forecast with the
 * same draws.
 */
#include "sim/forecast/forecast.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUNS = 30, MOST_SHAPES = 64, LEAST_GAIN = 50 /* thousandths */ };

typedef struct seeking {
  pai_shapes *shapes;
  const pai_sched *sched;
  const pai_history *history;
  pai_forecast_options o;
  uint64_t id;
  pai_request_view request;
  pai_error **err;
} seeking;

/* --- trials -------------------------------------------------------------- */

static uint64_t gpus_of(const pai_sched *s, uint64_t id)
{
  pai_want want = { .struct_size = sizeof(want) };
  uint64_t n = 0;

  for (uint32_t i = 0; pai_sched_view_want(s, id, i, &want) == PAI_OK; i++)
    n += (uint64_t)want.tasks * want.gpus;
  return n;
}

/* Sets tasks and GPUs for shapes that change something else. */
static void set_first(const seeking *k, pai_shape *view)
{
  pai_want w = { .struct_size = sizeof(w) };

  (void)pai_sched_view_want(k->sched, k->id, 0, &w);
  view->tasks = w.tasks;
  view->gpus = w.gpus;
}

static int send_all(const seeking *k, pai_sched *fork, const pai__sim_trial *x)
{
  pai_sched_view view = { .struct_size = sizeof(view) };
  int rc = PAI_OK;

  (void)pai_sched_view_sums(fork, &view);
  for (uint32_t i = 0; i < x->nchanges && rc == PAI_OK; i++) {
    const pai__shape_change *c = &x->changes[i];
    const pai_sched_event e = { .struct_size = sizeof(e),
                                .kind = PAI_SCHED_CHANGE,
                                .time = view.now,
                                .id = k->id,
                                .key = c->key,
                                .text = c->text,
                                .want = c->want,
                                .number = c->number };

    rc = pai_sched_send(fork, &e, NULL);
  }
  return rc;
}

static bool is_known(const pai_shapes *s, const pai__sim_trial *x)
{
  for (size_t i = 0; i < s->n; i++)
    if (s->list[i].nchanges == x->nchanges &&
        strcmp(s->list[i].view.what, x->view.what) == 0)
      return true;
  return false;
}

/* Returns the part of the wait that is saved, multiplied by the part of the
 * GPUs that is kept; 0: not worth it. */
static uint64_t score_of(const seeking *k, const pai__sim_trial *x)
{
  const pai_forecast *f = k->shapes->as_is;
  pai_time was = f->waits[0].p50, is = x->view.p50;
  uint64_t gain = 1000;

  if (is == INT64_MAX || is >= was)
    return 0;
  if (was != INT64_MAX && was > f->now)
    gain = (uint64_t)((was - is) / ((was - f->now) / 1000 + 1));
  return gain >= LEAST_GAIN ? gain * x->view.share : 0;
}

static int foresee(const seeking *k, const pai_sched *fork, pai__sim_trial *x)
{
  pai_forecast *f;
  int rc = pai__forecast_make(&f, fork, k->history, &k->o, k->err);

  if (rc < 0)
    return rc;
  if (f->nwaits != 0) {
    x->view.p50 = f->waits[0].p50;
    x->view.p90 = f->waits[0].p90;
  }
  pai_forecast_free(f);
  x->score = score_of(k, x);
  return PAI_OK;
}

static int keep(const seeking *k, const pai__sim_trial *x)
{
  pai_shapes *s = k->shapes;

  if (PAI__VEC_ROOM(&s->alloc, s->list, s->n, s->cap) < 0)
    return pai__oom(k->err);
  s->list[s->n++] = *x;
  return PAI_OK;
}

/* Forecasts a shape and keeps it if it starts sooner. */
static int try_shape(const seeking *k, pai__sim_trial *x, const char *fmt, ...)
  PAI__PRINTF(3, 4);

static int try_shape(const seeking *k, pai__sim_trial *x, const char *fmt, ...)
{
  pai_shapes *s = k->shapes;
  pai_sched *fork;
  uint64_t gpus;
  char what[200];
  va_list ap;
  int rc;

  va_start(ap, fmt);
  (void)vsnprintf(what, sizeof(what), fmt, ap);
  va_end(ap);
  x->view.struct_size = sizeof(x->view);
  x->view.what = pai__arena_strndup(&s->arena, what, strlen(what));
  if (x->view.what == NULL)
    return pai__oom(k->err);
  if (s->n >= MOST_SHAPES || is_known(s, x))
    return PAI_OK;
  rc = pai_sched_fork(&fork, k->sched, k->err);
  if (rc < 0)
    return rc;
  rc = send_all(k, fork, x);
  if (rc == PAI_OK) {
    gpus = gpus_of(fork, k->id);
    x->view.share = s->gpus != 0 ? (uint32_t)(gpus * 1000 / s->gpus) : 1000;
    rc = foresee(k, fork, x);
    if (rc == PAI_OK && x->score != 0)
      rc = keep(k, x);
  } else if (rc != PAI_ENOMEM) {
    rc = PAI_OK; /* refused by the scheduler */
  } else {
    (void)pai__oom(k->err);
  }
  pai_sched_free(fork);
  return rc;
}

static void add_change(pai__sim_trial *x, const char *key, uint32_t want,
                       int64_t number)
{
  x->changes[x->nchanges++] =
    (pai__shape_change){ .key = key, .want = want, .number = number };
}

static void add_text(pai__sim_trial *x, const char *key, uint32_t want,
                     const char *text)
{
  x->changes[x->nchanges++] =
    (pai__shape_change){ .key = key, .want = want, .text = text };
}

/* --- shapes -------------------------------------------------------------- */

/* Writes " of 'worker'" if the request has several wants. */
static const char *of_want(const seeking *k, const pai_want *w, uint32_t i,
                           char *text, size_t size)
{
  if (k->request.wants == 1)
    text[0] = '\0';
  else if (w->name != NULL)
    (void)snprintf(text, size, " of %s", w->name);
  else
    (void)snprintf(text, size, " of the tasks of number %u", i + 1);
  return text;
}

static int try_gpus(const seeking *k, uint32_t i, const pai_want *w,
                    uint32_t gpus)
{
  pai__sim_trial x = { .view = {
                         .want = i, .tasks = w->tasks, .gpus = gpus } };
  char of[100];

  if (gpus == 0 || gpus >= w->gpus)
    return PAI_OK;
  add_change(&x, "gpus", i, gpus);
  return try_shape(k, &x, "%u GPU%s for each task%s rather than %u", gpus,
                   gpus == 1 ? "" : "s", of_want(k, w, i, of, sizeof(of)),
                   w->gpus);
}

static int try_tasks(const seeking *k, uint32_t i, const pai_want *w,
                     uint32_t tasks)
{
  pai__sim_trial x = { .view = {
                         .want = i, .tasks = tasks, .gpus = w->gpus } };
  char of[100];

  if (tasks == 0 || tasks >= w->tasks)
    return PAI_OK;
  add_change(&x, "tasks", i, tasks);
  return try_shape(k, &x, "%u task%s%s rather than %u", tasks,
                   tasks == 1 ? "" : "s", of_want(k, w, i, of, sizeof(of)),
                   w->tasks);
}

/* Tries the same number of GPUs in more tasks, which may be anywhere. */
static int try_split(const seeking *k, uint32_t i, const pai_want *w,
                     uint32_t gpus)
{
  uint32_t tasks = gpus != 0 ? w->tasks * (w->gpus / gpus) : 0;
  pai__sim_trial x = { .view = { .want = i, .tasks = tasks, .gpus = gpus } };
  bool within = k->request.within != NULL;
  char of[100];

  if (gpus == 0 || gpus >= w->gpus || w->gpus % gpus != 0)
    return PAI_OK;
  if (within)
    add_text(&x, "within", 0, NULL);
  add_change(&x, "gpus", i, gpus);
  add_change(&x, "tasks", i, tasks);
  return try_shape(
    k, &x, "%u tasks%s with %u GPU%s each%s rather than %u with %u", tasks,
    of_want(k, w, i, of, sizeof(of)), gpus, gpus == 1 ? "" : "s",
    within ? ", on any nodes," : "", w->tasks, w->gpus);
}

/* Returns the numbers of free GPUs that nodes have, as bits; *tasks: how many
 * tasks fit into them. */
static uint64_t count_free(const seeking *k, const pai_want *w,
                           uint32_t *tasks)
{
  pai_sched_node_view node = { .struct_size = sizeof(node) };
  uint64_t counts = 0;

  *tasks = 0;
  for (size_t i = 0; pai_sched_view_node(k->sched, i, &node) == PAI_OK; i++) {
    if (node.state != PAI_NODE_UP || node.free_gpus == 0)
      continue;
    counts |= UINT64_C(1) << (node.free_gpus - 1);
    if (w->gpus != 0 && *tasks < w->tasks)
      *tasks += node.free_gpus / w->gpus;
  }
  return counts;
}

/* Tries halves, and what is free now. */
static int try_less(const seeking *k, uint32_t i, const pai_want *w)
{
  uint32_t tasks;
  uint64_t counts = count_free(k, w, &tasks);
  int rc = try_tasks(k, i, w, tasks);

  for (uint32_t t = w->tasks / 2; t != 0 && rc == PAI_OK; t /= 2)
    rc = try_tasks(k, i, w, t);
  for (uint32_t g = w->gpus / 2; g != 0 && rc == PAI_OK; g /= 2) {
    rc = try_gpus(k, i, w, g);
    if (rc == PAI_OK)
      rc = try_split(k, i, w, g);
  }
  for (uint32_t g = 1; g <= PAI_SCHED_GPUS && rc == PAI_OK; g++)
    if ((counts >> (g - 1) & 1) != 0)
      rc = try_gpus(k, i, w, g);
  return rc;
}

static const char *own(const seeking *k, const char *s)
{
  return pai__arena_strndup(&k->shapes->arena, s, strlen(s));
}

static int try_type(const seeking *k, uint32_t i, const pai_want *w,
                    const char *type)
{
  pai__sim_trial x = {
    .view = { .want = i, .tasks = w->tasks, .gpus = w->gpus, .type = type }
  };
  char of[100];

  if (strcmp(type, w->type) == 0)
    return PAI_OK;
  add_text(&x, "type", i, type);
  return try_shape(k, &x, "GPUs%s of type %.60s rather than %.60s",
                   of_want(k, w, i, of, sizeof(of)), type, w->type);
}

/* Tries other SKUs for a SKU, and other kinds of GPU for a kind. */
static int try_types(const seeking *k, uint32_t i, const pai_want *w)
{
  const pai__sched_cluster *cluster = pai__sched_cluster_of(k->sched);
  bool sku = w->type != NULL &&
             pai__sched_cluster_type(cluster, w->type) >= cluster->nkinds;
  uint32_t n = sku ? cluster->nskus : cluster->nkinds;
  int rc = PAI_OK;

  for (uint32_t t = 0; w->type != NULL && t < n && rc == PAI_OK; t++) {
    const char *type = own(k, sku ? cluster->skus[t].name : cluster->kinds[t]);

    rc = type != NULL ? try_type(k, i, w, type) : pai__oom(k->err);
  }
  return rc;
}

static int try_vc(const seeking *k, const char *vc)
{
  pai__sim_trial x = { .view = { .vc = vc } };

  if (k->request.vc != NULL && strcmp(vc, k->request.vc) == 0)
    return PAI_OK;
  set_first(k, &x.view);
  add_text(&x, "vc", 0, vc);
  return try_shape(k, &x,
                   "in virtual cluster %.60s rather than "
                   "%.60s",
                   vc, k->request.vc != NULL ? k->request.vc : "default");
}

static int try_anywhere(const seeking *k)
{
  pai__sim_trial x = { .nchanges = 0 };

  if (k->request.within == NULL)
    return PAI_OK;
  set_first(k, &x.view);
  add_text(&x, "within", 0, NULL);
  return try_shape(k, &x, "its tasks on any nodes, not within one %.60s",
                   k->request.within);
}

static int try_all(const seeking *k, const char *const *vcs, size_t nvcs)
{
  int rc = try_anywhere(k);

  for (uint32_t i = 0; i < k->request.wants && rc == PAI_OK; i++) {
    pai_want w = { .struct_size = sizeof(w) };

    (void)pai_sched_view_want(k->sched, k->id, i, &w);
    rc = try_less(k, i, &w);
    if (rc == PAI_OK)
      rc = try_types(k, i, &w);
  }
  for (size_t i = 0; i < nvcs && rc == PAI_OK; i++) {
    const char *vc = own(k, vcs[i]);

    rc = vc != NULL ? try_vc(k, vc) : pai__oom(k->err);
  }
  return rc;
}

/* --- ranking ------------------------------------------------------------- */

static int by_score(const void *a, const void *b)
{
  const pai__sim_trial *x = a, *y = b;

  if (x->score != y->score)
    return x->score > y->score ? -1 : 1;
  if (x->view.share != y->view.share)
    return x->view.share > y->view.share ? -1 : 1;
  return strcmp(x->view.what, y->view.what);
}

/* Returns whether another shape starts as soon and keeps more GPUs. */
static bool is_beaten(const pai_shapes *s, const pai__sim_trial *x)
{
  for (size_t i = 1; i < s->n; i++) {
    const pai__sim_trial *y = &s->list[i];

    if (y->view.p50 <= x->view.p50 && y->view.share > x->view.share &&
        y->view.vc == NULL && y->view.type == NULL)
      return true;
  }
  return false;
}

static void rank(pai_shapes *s)
{
  size_t kept = 1;

  if (s->n < 2)
    return;
  qsort(s->list + 1, s->n - 1, sizeof(*s->list), by_score);
  for (size_t i = 1; i < s->n; i++)
    s->list[i].score = is_beaten(s, &s->list[i]);
  for (size_t i = 1; i < s->n; i++)
    if (s->list[i].score == 0)
      s->list[kept++] = s->list[i];
  s->n = kept;
}

/* --- entry points -------------------------------------------------------- */

static int look_as_is(const seeking *k)
{
  pai_shapes *s = k->shapes;
  pai__sim_trial x = { .view = { .struct_size = sizeof(x.view),
                                 .what = "as it is",
                                 .share = 1000 } };
  int rc = pai__forecast_make(&s->as_is, k->sched, k->history, &k->o, k->err);

  if (rc < 0)
    return rc;
  if (s->as_is->nwaits == 0)
    return pai__fail(k->err, PAI_ENOTFOUND,
                     "request %" PRIu64 " does not wait", k->id);
  s->gpus = gpus_of(k->sched, k->id);
  set_first(k, &x.view);
  x.view.p50 = s->as_is->waits[0].p50;
  x.view.p90 = s->as_is->waits[0].p90;
  return keep(k, &x);
}

int pai_shapes_new(pai_shapes **out, const pai_sched *sched,
                   const pai_history *history, uint64_t id,
                   const char *const *vcs, size_t nvcs,
                   const pai_forecast_options *opts, pai_error **err)
{
  seeking k = { .sched = sched,
                .history = history,
                .id = id,
                .request = { .struct_size = sizeof(k.request) },
                .err = err };
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(sched != NULL && (vcs != NULL || nvcs == 0), err);
  if (pai__forecast_options(&k.o, opts, err) < 0)
    return PAI_EINVAL;
  if (pai_sched_view_request(sched, id, &k.request) < 0)
    return pai__fail(err, PAI_ENOTFOUND, "there is no request %" PRIu64, id);
  k.o.only = id;
  k.o.runs = k.o.runs != 0 ? k.o.runs : RUNS;
  k.shapes = pai__zalloc(pai__sched_alloc(sched), sizeof(*k.shapes));
  if (k.shapes == NULL)
    return pai__oom(err);
  k.shapes->alloc = *pai__sched_alloc(sched);
  pai__arena_init(&k.shapes->arena, &k.shapes->alloc);
  rc = look_as_is(&k);
  if (rc == PAI_OK)
    rc = try_all(&k, vcs, nvcs);
  if (rc < 0) {
    pai_shapes_free(k.shapes);
    return rc;
  }
  rank(k.shapes);
  *out = k.shapes;
  return PAI_OK;
}

void pai_shapes_free(pai_shapes *shapes)
{
  pai_alloc alloc;

  if (shapes == NULL)
    return;
  alloc = shapes->alloc;
  pai_forecast_free(shapes->as_is);
  pai__free(&alloc, shapes->list, shapes->cap * sizeof(*shapes->list));
  pai__arena_dispose(&shapes->arena);
  pai__free(&alloc, shapes, sizeof(*shapes));
}

int pai_shapes_get(const pai_shapes *shapes, size_t i, pai_shape *view)
{
  PAI__CHECK_ARG(shapes != NULL && view != NULL);
  if (i >= shapes->n)
    return PAI_ENOTFOUND;
  return PAI__FILL_VIEW(view, shapes->list[i].view, pai_shape, share);
}
