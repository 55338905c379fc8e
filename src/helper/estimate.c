/* estimate.c - what the language server asks of a cluster: its names, and how
 * long a job would wait */
#include "helper.h"
#include "request.h"

#include <openpai/forecast.h>
#include <openpai/sched.h>

#include <stdlib.h>
#include <string.h>

/* Futures of a forecast, and the time for it: an editor waits. */
enum { RUNS = 12, MOST_MS = 80, MOST_SHAPES = 2 };

static helper_call *new_question(helper_editor *e, uint64_t question)
{
  const char *alias = helper_cluster_name(e);
  helper_call *c = alias != NULL ? helper_call_new(e, 0) : NULL;

  if (c == NULL)
    return NULL;
  c->question = question;
  c->cluster = strdup(alias);
  if (c->cluster != NULL)
    return c;
  helper_call_free(c);
  return NULL;
}

static void answer(helper_editor *e, uint64_t question, const char *json)
{
  if (!e->closing)
    (void)!pai_language_answer(e->language, question, json,
                               json != NULL ? strlen(json) : 0, NULL);
}

static void end_question(helper_call *c, const char *json)
{
  answer(c->editor, c->question, json);
  helper_call_free(c);
}

/* --- names -------------------------------------------------------------------- */

/* The calls that know names, and where these are: keys of an object, or a
 * member of the items of a list. */
static const struct {
  const char *call, *list, *place, *member;
} sources[] = {
  { "vcs.list", "virtualClusters", "", NULL },
  { "cluster.sku_types", "skus", "", NULL },
  { "storages.list", "storages", "storages", "name" },
};
enum { SOURCES = sizeof(sources) / sizeof(sources[0]) };

static void ask_next(helper_call *c);

static void put_names(FILE *out, const pai_client_answer *a, int source)
{
  const char *member = sources[source].member, *before = "";
  pai_json *json;

  (void)fprintf(out, "%s\"%s\":[", source > 0 ? "," : "",
                sources[source].list);
  if (cli_json_read(&json, a->body, a->body_len)) {
    for (cli_each i =
           cli_each_of(json, cli_json_get(json, 0, sources[source].place));
         cli_next(&i);) {
      const char *name =
        member != NULL ? cli_json_text(json, i.at, member) : i.key;

      (void)fputs(before, out);
      cli_json_string(out, name, strlen(name));
      before = ",";
    }
    cli_json_free(&json);
  }
  (void)fputs("]", out);
}

/* A server that lacks a call has no such names. */
static void on_names(void *user_data, int status, const pai_client_answer *a)
{
  helper_call *c = user_data;
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);

  c->op = NULL;
  if (out == NULL || status == PAI_ECANCELED || a->http_status == 0) {
    if (out != NULL)
      (void)fclose(out);
    free(text);
    end_question(c, NULL); /* nobody answers */
    return;
  }
  (void)fputs(c->body != NULL ? c->body : "{", out);
  if (status == PAI_OK)
    put_names(out, a, c->step);
  (void)fclose(out);
  free(c->body);
  c->body = text;
  c->step++;
  ask_next(c);
}

static void ask_next(helper_call *c)
{
  const char *why;
  pai_client *client = helper_cluster_find(c->editor, c->cluster, &why);
  char *whole;

  if (client != NULL && c->step < SOURCES && !c->editor->closing &&
      pai_client_call(&c->op, client, sources[c->step].call, "{}", on_names, c,
                      NULL) == PAI_OK)
    return;
  whole = c->body != NULL ? malloc(strlen(c->body) + 2) : NULL;
  if (whole != NULL)
    (void)snprintf(whole, strlen(c->body) + 2, "%s}", c->body);
  end_question(c, whole);
  free(whole);
}

void helper_ask_names(helper_editor *e, uint64_t question)
{
  helper_call *c = new_question(e, question);

  if (c != NULL)
    ask_next(c);
  else
    answer(e, question, NULL);
}

/* --- forecasts -------------------------------------------------------------------- */

static long long seconds_from(pai_time now, pai_time then)
{
  return then > now ? (long long)((then - now) / 1000000) : 0;
}

/* Writes the shapes that would start in less than half the time. */
static void put_better(FILE *out, const pai_sched *s,
                       const pai_history *history,
                       const pai_forecast_options *o, pai_time now,
                       pai_time p50)
{
  pai_shape shape = { .struct_size = sizeof(shape) };
  pai_shapes *shapes;
  int count = 0;

  if (pai_shapes_new(&shapes, s, history, JOB_REQUEST_ID, NULL, 0, o, NULL) <
      0)
    return;
  for (size_t i = 1;
       count < MOST_SHAPES && pai_shapes_get(shapes, i, &shape) == PAI_OK; i++)
    if (shape.p50 < INT64_MAX && shape.p50 - now < (p50 - now) / 2) {
      (void)fputs(count++ > 0 ? "," : "", out);
      cli_json_print(out, "{\"change\":%s,\"wait\":%lld}", shape.what,
                     seconds_from(now, shape.p50));
    }
  pai_shapes_free(shapes);
}

/* Writes the wait of a request that did not start at once. */
static void put_wait(FILE *out, const pai_sched *s, const pai_history *history,
                     pai_time now)
{
  uint64_t until = uv_hrtime() + (uint64_t)MOST_MS * 1000000;
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_when when = { .struct_size = sizeof(when) };
  pai_forecast *f;
  int rc;

  o.runs = RUNS;
  o.only = JOB_REQUEST_ID;
  o.arrivals = PAI_ARRIVALS_NONE;
  o.stop = helper_is_late;
  o.user_data = &until;
  rc = pai_forecast_new(&f, s, history, &o, NULL);
  if (rc == PAI_OK)
    rc = pai_forecast_when(f, JOB_REQUEST_ID, &when);
  pai_forecast_free(f);
  if (rc < 0 || when.unknown || when.p50 == INT64_MAX) {
    cli_json_print(out, "{\"text\":%s}", "waits, it is not known how long");
    return;
  }
  (void)fprintf(out, "{\"wait\":%lld,\"better\":[",
                seconds_from(now, when.p50));
  put_better(out, s, history, &o, now, when.p50);
  (void)fputs("]}", out);
}

/* Submits a request to a copy of the scheduler. */
static int submit(pai_sched *s, const pai_request *request, pai_error **err)
{
  pai_sched_view view = { .struct_size = sizeof(view) };
  pai_sched_event event = { .struct_size = sizeof(event),
                            .kind = PAI_SCHED_SUBMIT,
                            .request = request };
  int rc;

  (void)pai_sched_view_sums(s, &view);
  event.time = view.now;
  rc = pai_sched_send(s, &event, err);
  if (rc == PAI_OK)
    rc = pai_sched_decide(s, view.now, err);
  return rc < 0 ? rc : PAI_OK;
}

/* Writes how long the request waits; `submitted` is what submit() said, and
 * `why` its error. */
static void put_estimate(FILE *out, const pai_sched *s,
                         const pai_history *history, int submitted,
                         const pai_error *why)
{
  char text[512];
  pai_request_view r = { .struct_size = sizeof(r) };
  pai_sched_view view = { .struct_size = sizeof(view) };

  if (submitted == PAI_ENOROOM) {
    (void)snprintf(text, sizeof(text), "cannot start: %s",
                   pai_error_message(why));
    cli_json_print(out, "{\"text\":%s}", text);
  }
  if (submitted < 0)
    return;
  (void)pai_sched_view_sums(s, &view);
  if (pai_sched_view_request(s, JOB_REQUEST_ID, &r) == PAI_OK && r.running > 0)
    (void)fputs("{\"wait\":0}", out);
  else
    put_wait(out, s, history, view.now);
}

/* Returns the answer as JSON, for free(); NULL: not known. */
static char *estimate(const pai_sched *from, const pai_history *history,
                      const char *text)
{
  job_request job;
  pai_sched *s = NULL;
  char *json = NULL;
  size_t len = 0;
  FILE *out = NULL;

  if (job_request_make(&job, text, NULL) < 0)
    return NULL;
  if (pai_sched_fork(&s, from, NULL) == PAI_OK)
    out = open_memstream(&json, &len);
  if (out != NULL) {
    pai_error *err = NULL;
    int rc = submit(s, &job.request, &err);

    put_estimate(out, s, history, rc, err);
    pai_error_free(err);
    (void)fclose(out);
  }
  pai_sched_free(s);
  job_request_free(&job);
  if (len > 0)
    return json;
  free(json);
  return NULL;
}

static void on_sched(helper_call *c, int status, const pai_client_answer *a)
{
  helper_editor *e = c->editor;
  const pai_sched *sched = helper_cluster_sched(e, c->cluster);
  char *json = NULL;

  (void)status;
  (void)a;
  if (sched != NULL && !e->closing)
    json = estimate(sched, helper_cluster_history(e, c->cluster), c->text);
  end_question(c, json);
  free(json);
}

void helper_ask_waiting(helper_editor *e)
{
  helper_call *next;

  for (helper_call *c = e->calls; c != NULL; c = next) {
    next = c->next;
    if (!c->waits)
      continue;
    c->waits = false;
    c->then = on_sched;
    helper_want_sched(c);
  }
}

void helper_ask_estimate(helper_editor *e, uint64_t question, const char *text,
                         size_t len)
{
  helper_call *c = new_question(e, question);

  if (c != NULL)
    c->text = strndup(text, len);
  if (c != NULL && c->text != NULL) {
    c->waits = true;
    helper_editor_when_quiet(e);
    return;
  }
  answer(e, question, NULL);
  if (c != NULL)
    helper_call_free(c);
}
