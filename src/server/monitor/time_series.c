/* time_series.c - time series of jobs, nodes, virtual clusters and the queue */
#include "server/monitor/time_series.h"

#include <openpai/vc.h>

#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000)

enum {
  MOST_TASKS = 64, /* whose series are shown each */
  USUAL_POINTS = 300,
  HOUR = 3600
};

/* --- series --------------------------------------------------------------- */

/* Returns whether a list with commas has a word; NULL has all. */
static bool has(const char *list, const char *word)
{
  size_t len = strlen(word);

  while (list != NULL) {
    if (strncmp(list, word, len) == 0 &&
        (list[len] == '\0' || list[len] == ','))
      return true;
    list = strchr(list, ',');
    if (list == NULL)
      return false;
    list++;
  }
  return true;
}

static void put_value(pai__json_writer *w, const pai__series_metric *m,
                      int64_t value)
{
  if (value < 0)
    pai__json_null(w);
  else
    pai__json_milli(w, (uint64_t)value * 1000 / m->fine);
}

typedef int64_t point[PAI__SERIES_METRICS];

/* Subjects that are read: one, each by itself, or all as one. */
typedef struct reading {
  pai__json_writer *w;
  const pai__sampling *u;
  const pai__metrics_view *view;
  const pai__series_range *range;
  enum pai__series_kind kind;
  point *points, *more; /* more: of one of the subjects that are added up */
  size_t n;
  bool now; /* the values of all series as one list */
} reading;

/* A task's name ends in ROLE/INDEX, a GPU's in its number. */
static void put_labels(const reading *x, const char *name)
{
  const char *last = strrchr(name, '/');
  const char *role = strchr(name, '/');

  if (x->kind == PAI__SERIES_GPU)
    pai__json_put_int(x->w, "gpu", strtol(last + 1, NULL, 10));
  if (x->kind != PAI__SERIES_TASK || !x->view->tasks)
    return;
  pai__json_member(x->w, "role");
  pai__json_text(x->w, role + 1, (size_t)(last - role - 1));
  pai__json_put_int(x->w, "index", strtol(last + 1, NULL, 10));
}

static void put_series(const reading *x, const char *name)
{
  const pai__series_form *form = &pai__series_forms[x->kind];

  for (uint32_t k = 0; k < form->count; k++) {
    const pai__series_metric *m = &form->metrics[k];

    if (!has(x->view->wanted, m->name))
      continue;
    if (!x->now) {
      pai__json_begin_object(x->w);
      pai__json_put_text(x->w, "name", m->name);
      pai__json_put_text(x->w, "unit", m->unit);
      put_labels(x, name);
      pai__json_put_array(x->w, "values");
    }
    for (size_t i = 0; i < x->n; i++)
      put_value(x->w, m, x->points[i][k]);
    if (!x->now) {
      pai__json_end_array(x->w);
      pai__json_end_object(x->w);
    }
  }
}

static int put_subject(const reading *x, const char *name)
{
  int rc = pai__series_read(x->u->series, x->kind, name, x->range, x->points);

  if (rc == PAI_OK)
    put_series(x, name);
  return rc;
}

/* Use in percent is a mean, all else a sum, of the tasks that are known. */
static void add_points(const reading *x, uint32_t *known)
{
  const pai__series_form *form = &pai__series_forms[x->kind];

  for (size_t i = 0; i < x->n; i++)
    for (uint32_t k = 0; k < form->count; k++) {
      int64_t *sum = &x->points[i][k], value = x->more[i][k];
      uint32_t *n = &known[i * PAI__SERIES_METRICS + k];

      if (value < 0)
        continue;
      if (strcmp(form->metrics[k].unit, "percent") == 0)
        *sum = (*sum * *n + value) / (*n + 1);
      else
        *sum = (*n == 0 ? 0 : *sum) + value;
      ++*n;
    }
}

static int put_sum(const reading *x)
{
  const pai_alloc *alloc = &x->u->server->alloc;
  size_t size = x->n * PAI__SERIES_METRICS * sizeof(uint32_t), i = 0;
  uint32_t *known = pai__zalloc(alloc, size);
  const char *name;
  int rc = known != NULL ? PAI_OK : PAI_ENOMEM;

  memset(x->points, 0xff, x->n * sizeof(*x->points)); /* -1 */
  while (rc == PAI_OK &&
         (name = pai__series_next(x->u->series, x->kind, x->view->subject,
                                  &i)) != NULL) {
    rc = pai__series_read(x->u->series, x->kind, name, x->range, x->more);
    if (rc == PAI_OK)
      add_points(x, known);
  }
  if (rc == PAI_OK)
    put_series(x, x->view->subject);
  pai__free(alloc, known, size);
  return rc;
}

static int put_each(reading *x, enum pai__series_kind kind, const char *prefix)
{
  const char *name;
  size_t i = 0;
  int rc = PAI_OK;

  x->kind = kind;
  for (size_t n = 0;
       n < MOST_TASKS && rc == PAI_OK &&
       (name = pai__series_next(x->u->series, kind, prefix, &i)) != NULL;
       n++)
    rc = put_subject(x, name);
  return rc;
}

static int put_all(reading *x)
{
  const pai__metrics_view *v = x->view;
  char prefix[PAI__SERIES_NAME + 1];
  int rc;

  if (v->kind == PAI__SERIES_TASK)
    return v->tasks ? put_each(x, v->kind, v->subject) : put_sum(x);
  rc = put_subject(x, v->subject);
  if (rc < 0 || v->kind != PAI__SERIES_MACHINE)
    return rc;
  (void)snprintf(prefix, sizeof(prefix), "%s/", v->subject);
  return put_each(x, PAI__SERIES_GPU, prefix);
}

static int put_list(reading *x)
{
  const pai_alloc *alloc = &x->u->server->alloc;
  size_t size;
  int rc = PAI_ENOMEM;

  x->kind = x->view->kind;
  x->n = pai__series_points(x->range);
  size = (x->n + 1) * sizeof(*x->points);
  x->points = pai__zalloc(alloc, size);
  x->more = pai__zalloc(alloc, size);
  pai__json_begin_array(x->w);
  if (x->points != NULL && x->more != NULL)
    rc = put_all(x);
  pai__json_end_array(x->w);
  pai__free(alloc, x->points, size);
  pai__free(alloc, x->more, size);
  return rc;
}

static int write_series(pai__json_writer *w, const pai__sampling *u,
                        const pai__metrics_view *v,
                        const pai__series_range *range)
{
  return put_list(&(reading){ .w = w, .u = u, .view = v, .range = range });
}

int pai__metrics_write_now(pai__json_writer *w, const pai__sampling *u,
                           const pai__metrics_view *v, int64_t second)
{
  const pai__series_range range = { .from = second,
                                    .to = second + 1,
                                    .step = 1 };

  return put_list(
    &(reading){ .w = w, .u = u, .view = v, .range = &range, .now = true });
}

/* --- the range ------------------------------------------------------------ */

/* Returns a time of the query in seconds; `usual` if there is none. */
static int64_t second_of(const pai__request *r, const char *name,
                         int64_t usual)
{
  const char *text = pai__request_query(r, name);

  return text != NULL && text[0] != '\0' ? pai__request_number(r, name) / 1000
                                         : usual;
}

/* Answers and returns false if no metric has a wanted name. */
static bool check_names(pai__request *r, const pai__metrics_view *v)
{
  const char *name = v->wanted;

  while (name != NULL && name[0] != '\0') {
    char word[32];
    size_t len = strcspn(name, ",");

    (void)snprintf(word, sizeof(word), "%.*s", (int)(len < 31 ? len : 31),
                   name);
    if (pai__series_metric_of(v->kind, word) < 0 &&
        (v->kind != PAI__SERIES_MACHINE ||
         pai__series_metric_of(PAI__SERIES_GPU, word) < 0)) {
      pai__answer_error(r, 400, "InvalidParametersError",
                        "There is no metric \"%s\" here.", word);
      return false;
    }
    name += len + (name[len] == ',');
  }
  return true;
}

static pai__series_range range_of(const pai__request *r,
                                  const pai__metrics_view *v, int64_t from,
                                  int64_t to)
{
  /* what comes after the last sample is not known yet */
  pai_time last = r->server->sampling->last;
  int64_t now = (last > 0 ? last : pai__loop_wall_time()) / SECOND, points;
  uint32_t step = (uint32_t)pai__request_number(r, "step");

  from = second_of(r, "from", from);
  to = second_of(r, "to", to);
  points = to > from ? (to - from) / USUAL_POINTS + 1 : 1;
  if (step == 0 && points < INT32_MAX)
    step = (uint32_t)points;
  return pai__series_plan(v->kind, from, to, step, now);
}

/* Begins the answer: an object that has all but what is the job's. */
static int write_metrics(pai__request *r, const pai__metrics_view *v,
                         const pai__series_range *range)
{
  pai__json_writer *w = &r->json;
  int rc;

  pai__json_writer_init(w, &r->answer, false);
  pai__json_begin_object(w);
  pai__json_put_int(w, "from", range->from * 1000);
  pai__json_put_int(
    w, "to",
    (range->from + (int64_t)pai__series_points(range) * range->step) * 1000);
  pai__json_put_int(w, "step", range->step);
  pai__json_member(w, "series");
  rc = write_series(w, r->server->sampling, v, range);
  return rc;
}

static void answer_view(pai__request *r, pai__metrics_view *v)
{
  int64_t now = pai__loop_wall_time() / SECOND;
  pai__series_range range;

  v->wanted = pai__request_query(r, "series");
  if (!check_names(r, v))
    return;
  range = range_of(r, v, now - HOUR, now + 1);
  if (write_metrics(r, v, &range) < 0) {
    pai__answer_failure(r, PAI_ENOMEM);
    return;
  }
  pai__json_end_object(&r->json);
  pai__answer_json(r, 200);
}

/* --- jobs ----------------------------------------------------------------- */

void pai__metrics_of_job(pai__metrics_view *v, pai_job_id job)
{
  *v = (pai__metrics_view){ .kind = PAI__SERIES_TASK };
  (void)snprintf(v->subject, sizeof(v->subject), "%llu/",
                 (unsigned long long)job);
}

/* Reads when a job started and ended, in milliseconds; 0: it has not. */
static int read_times(pai__request *r, pai_job_id job, int64_t *from,
                      int64_t *to)
{
  pai__tree *tree;
  pai__node status;
  pai__buf json;
  int rc;

  pai__buf_init(&json, &r->server->alloc);
  rc = pai_platform_show(r->server->platform, job, -1, pai__answer_write,
                         &json, &r->err);
  if (rc < 0) {
    pai__buf_dispose(&json);
    return rc;
  }
  tree = pai__written_tree(&json);
  if (tree == NULL)
    return PAI_ENOMEM;
  status = pai__tree_get(tree, 0, "jobStatus");
  *from = pai__tree_look_int(tree, status, "submissionTime");
  *to = pai__tree_look_int(tree, status, "completedTime");
  pai__tree_free(tree);
  return PAI_OK;
}

static int write_use(pai__request *r, pai_job_id job, int64_t from, int64_t to)
{
  const pai__sampling *u = r->server->sampling;
  const pai__idle_job *idle = pai__idle_find(&u->idle, job);
  pai__series_use_record sum;
  int rc = pai__use_of_job(&sum, u, job, from, to);

  if (rc < 0)
    return rc;
  pai__json_put_object(&r->json, "use");
  pai__use_write(&r->json, &sum.sum);
  pai__use_write_last(&r->json, &sum.sum);
  if (idle != NULL)
    pai__json_put_int(&r->json, "idleSince", idle->since / 1000);
  pai__json_end_object(&r->json);
  return PAI_OK;
}

void pai__do_jobs_metrics(pai__request *r)
{
  pai_job_id job = pai__request_job(r);
  int64_t now = pai__loop_wall_time() / 1000, from, to;
  pai__series_range range;
  pai__metrics_view v;
  int rc;

  if (job == 0)
    return;
  pai__metrics_of_job(&v, job);
  v.tasks = pai__request_flag(r, "tasks");
  v.wanted = pai__request_query(r, "series");
  if (!check_names(r, &v))
    return;
  rc = read_times(r, job, &from, &to);
  if (rc == PAI_OK) {
    to = to > 0 ? to : now;
    range = range_of(r, &v, from / 1000, to / 1000 + 1);
    rc = write_metrics(r, &v, &range);
  }
  if (rc == PAI_OK)
    rc = write_use(r, job, from, to);
  if (rc < 0) {
    pai__answer_failure(r, rc);
    return;
  }
  pai__json_end_object(&r->json);
  pai__answer_json(r, 200);
}

/* --- others --------------------------------------------------------------- */

typedef int (*writer)(pai_platform *p, const char *name, pai_write_cb write,
                      void *user_data, pai_error **err);

/* Finds what the path names by what the platform writes of it, as it is there
 * before its first sample.  Answers and returns false if there is none. */
static bool find(pai__metrics_view *v, pai__request *r,
                 enum pai__series_kind kind, writer write, const char *code,
                 const char *what)
{
  pai__buf json;
  int rc;

  pai__buf_init(&json, &r->server->alloc);
  rc = write(r->server->platform, r->params[0], pai__answer_write, &json,
             &r->err);
  pai__buf_dispose(&json);
  *v = (pai__metrics_view){ .kind = kind };
  (void)snprintf(v->subject, sizeof(v->subject), "%s", r->params[0]);
  if (rc == PAI_ENOTFOUND)
    pai__answer_error(r, 404, code, "%s %s is not found.", what, r->params[0]);
  else if (rc < 0)
    pai__answer_failure(r, rc);
  return rc == PAI_OK;
}

bool pai__metrics_of_node(pai__metrics_view *v, pai__request *r)
{
  return find(v, r, PAI__SERIES_MACHINE, pai_platform_write_nodes,
              "NoNodeError", "Node");
}

void pai__do_nodes_metrics(pai__request *r)
{
  pai__metrics_view v;

  if (pai__metrics_of_node(&v, r))
    answer_view(r, &v);
}

void pai__do_vcs_metrics(pai__request *r)
{
  pai__metrics_view v;

  if (find(&v, r, PAI__SERIES_VC, pai_platform_write_vcs,
           "NoVirtualClusterError", "Virtual cluster"))
    answer_view(r, &v);
}

void pai__do_scheduler_metrics(pai__request *r)
{
  pai__metrics_view v = { .kind = PAI__SERIES_QUEUE, .subject = "queue" };

  answer_view(r, &v);
}
