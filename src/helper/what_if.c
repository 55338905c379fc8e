/* what_if.c - the effect of a job or of another cluster on the jobs of a
 * cluster, by the forecast of `openpai what-if` */
#include "helper.h"
#include "request.h"

#include "sched_log.h"

#include <openpai/cluster.h>
#include <openpai/forecast.h>

#include <stdlib.h>
#include <string.h>

/* Futures of a forecast, and the time for it: other requests wait. */
enum { RUNS = 24, MOST_MS = 1000, MOST_EVENTS = 1024, MOST_CHANGES = 256 };

/* The changes of a request, as events of the scheduler. */
typedef struct changes {
  const pai_json *params;
  const pai_sched *sched;
  pai_sched_event events[MOST_EVENTS];
  size_t count;
  job_request job;
  pai_cluster *cluster;
  char *options;   /* of a policy, as JSON */
  char wrong[256]; /* why there are none */
} changes;

static int refuse(changes *c, const char *what, const char *word)
{
  (void)snprintf(c->wrong, sizeof(c->wrong), "%s%.160s", what, word);
  return PAI_EINVAL;
}

static pai_sched_event *add_event(changes *c, int kind)
{
  pai_sched_event *e = c->count < MOST_EVENTS ? &c->events[c->count++] : NULL;

  if (e != NULL)
    *e =
      (pai_sched_event){ .struct_size = sizeof(*e), .kind = kind, .gpu = -1 };
  else
    (void)refuse(c, "there are too many changes", "");
  return e;
}

/* --- the cluster ---------------------------------------------------------------- */

/* All changes of the cluster at once: a share may come from another virtual
 * cluster. */
static int change_cluster(changes *c, pai_error **err)
{
  pai_cluster_change list[MOST_CHANGES];
  pai_cluster *changed;
  size_t n = 0;
  int rc;

  for (cli_each i = cli_each_of(c->params, cli_json_get(c->params, 0, "add"));
       n < MOST_CHANGES && cli_next(&i);)
    list[n++] =
      (pai_cluster_change){ .struct_size = sizeof(*list),
                            .nodes = cli_json_text(c->params, i.at, "") };
  for (cli_each i = cli_each_of(c->params, cli_json_get(c->params, 0, "vcs"));
       n < MOST_CHANGES && cli_next(&i);)
    list[n++] =
      (pai_cluster_change){ .struct_size = sizeof(*list),
                            .vc = i.key,
                            .share = cli_json_text(c->params, i.at, "") };
  if (n == 0)
    return PAI_OK;
  rc =
    pai_what_if_cluster_changes(&changed, c->sched, c->cluster, list, n, err);
  if (rc < 0)
    return rc;
  pai_cluster_free(c->cluster);
  c->cluster = changed;
  return PAI_OK;
}

/* The cluster's event comes first: a job may need it. */
static int take_cluster(changes *c, pai_error **err)
{
  const char *text = cli_json_text(c->params, 0, "config");
  pai_sched_event *event;
  int rc = PAI_OK;

  if (text[0] != '\0')
    rc = pai_cluster_parse(&c->cluster, text, strlen(text), NULL, err);
  if (rc == PAI_OK)
    rc = change_cluster(c, err);
  if (rc < 0 || c->cluster == NULL)
    return rc;
  event = add_event(c, PAI_SCHED_CLUSTER);
  if (event != NULL)
    event->cluster = c->cluster;
  return event != NULL ? PAI_OK : PAI_ELIMIT;
}

/* --- other changes -------------------------------------------------------------- */

static int take_drains(changes *c)
{
  for (cli_each i =
         cli_each_of(c->params, cli_json_get(c->params, 0, "drain"));
       cli_next(&i);) {
    pai_sched_event *e = add_event(c, PAI_SCHED_NODE);

    if (e == NULL)
      return PAI_ELIMIT;
    e->number = PAI_NODE_DRAIN;
    e->text = "what if";
    e->node = cli_json_text(c->params, i.at, "");
  }
  return PAI_OK;
}

static int take_cancels(changes *c)
{
  for (cli_each i =
         cli_each_of(c->params, cli_json_get(c->params, 0, "cancel"));
       cli_next(&i);) {
    const char *name = cli_json_text(c->params, i.at, "");
    pai_sched_event *e;
    uint64_t id = 0;

    if (sched_find(c->sched, name, &id) != CLI_OK || id == 0)
      return refuse(c, "no job of this name waits or runs: ", name);
    e = add_event(c, PAI_SCHED_CANCEL);
    if (e == NULL)
      return PAI_ELIMIT;
    e->instance = PAI_SCHED_ALL;
    e->id = id;
  }
  return PAI_OK;
}

static int take_policy(changes *c)
{
  const char *name = cli_json_text(c->params, 0, "policy");
  size_t at = cli_json_get(c->params, 0, "policyOptions");
  pai_sched_event *e;

  if (name[0] == '\0')
    return PAI_OK;
  e = add_event(c, PAI_SCHED_POLICY);
  if (e == NULL)
    return PAI_ELIMIT;
  if (at != PAI_JSON_NONE)
    c->options = helper_json_of(c->params, at);
  e->text = name;
  e->options = c->options;
  return at != PAI_JSON_NONE && c->options == NULL ? PAI_ENOMEM : PAI_OK;
}

static int take_job(changes *c, pai_error **err)
{
  const char *text = cli_json_text(c->params, 0, "job");
  pai_sched_event *e;
  int rc;

  if (text[0] == '\0')
    return PAI_OK;
  rc = job_request_make(&c->job, text, err);
  if (rc < 0)
    return rc;
  e = add_event(c, PAI_SCHED_SUBMIT);
  if (e != NULL)
    e->request = &c->job.request;
  return e != NULL ? PAI_OK : PAI_ELIMIT;
}

static int take_all(changes *c, pai_error **err)
{
  int rc = take_cluster(c, err);

  if (rc == PAI_OK)
    rc = take_drains(c);
  if (rc == PAI_OK)
    rc = take_cancels(c);
  if (rc == PAI_OK)
    rc = take_policy(c);
  if (rc == PAI_OK)
    rc = take_job(c, err);
  if (rc == PAI_OK && c->count == 0)
    rc = refuse(c,
                "nothing is changed: give job, config, add, vcs, drain, "
                "cancel or policy",
                "");
  return rc;
}

static void free_changes(changes *c)
{
  job_request_free(&c->job);
  pai_cluster_free(c->cluster);
  free(c->options);
  free(c);
}

/* --- the forecast --------------------------------------------------------------- */

/* Writes it as JSON, or as a string of JSON that people read. */
static int tell(char **json, const pai_what_if *w, bool text, pai_error **err)
{
  char *told = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&told, &len);
  int rc = PAI_ENOMEM;

  if (out != NULL) {
    rc = pai_what_if_write(w, text ? PAI_FORMAT_TEXT : PAI_FORMAT_JSON,
                           cli_write, out, err);
    if (fclose(out) != 0)
      rc = PAI_ENOMEM;
  }
  *json = told;
  if (rc == PAI_OK && text) {
    *json = cli_json_make("%s", told);
    free(told);
  }
  return rc;
}

static int forecast(char **json, const changes *c, const pai_history *history,
                    pai_error **err)
{
  uint64_t until = uv_hrtime() + (uint64_t)MOST_MS * 1000000;
  pai_forecast_options o = PAI_FORECAST_OPTIONS_INIT;
  pai_what_if *w = NULL;
  int rc;

  o.runs = RUNS;
  o.stop = helper_is_late;
  o.user_data = &until;
  rc = pai_what_if_new(&w, c->sched, history, c->events, c->count, &o, err);
  if (rc < 0)
    return rc;
  rc = tell(json, w,
            strcmp(cli_json_text(c->params, 0, "format"), "text") == 0, err);
  pai_what_if_free(w);
  return rc;
}

/* Answers or refuses the request of a call. */
static void answer(helper_call *call, const pai_json *params,
                   const pai_sched *sched)
{
  helper_editor *e = call->editor;
  changes *c = calloc(1, sizeof(*c));
  pai_error *err = NULL;
  char *json = NULL;
  int rc;

  if (c == NULL) {
    helper_refuse(e, call->request, HELPER_FAILED, "out of memory");
    return;
  }
  c->params = params;
  c->sched = sched;
  rc = take_all(c, &err);
  if (rc == PAI_OK)
    rc = forecast(&json, c, helper_cluster_history(e, call->cluster), &err);
  if (rc == PAI_OK)
    helper_respond(e, call->request, json);
  else if (c->wrong[0] != '\0')
    helper_refuse(e, call->request, HELPER_INVALID_PARAMS, c->wrong);
  else if (rc == PAI_ECANCELED)
    helper_refuse(e, call->request, HELPER_FAILED,
                  "this forecast takes more than a second: use 'openpai "
                  "what-if' in a terminal");
  else
    helper_refuse_with(e, call->request, rc, err, 0, NULL);
  if (rc < 0)
    free(json);
  pai_error_free(err);
  free_changes(c);
}

static void on_sched(helper_call *c, int status, const pai_client_answer *a)
{
  helper_editor *e = c->editor;
  const pai_sched *sched = helper_cluster_sched(e, c->cluster);
  pai_json *params = NULL;

  if (e->closing)
    ;
  else if (c->cancelled)
    helper_refuse(e, c->request, HELPER_CANCELLED, "cancelled");
  else if (sched != NULL && cli_json_read(&params, c->text, strlen(c->text)))
    answer(c, params, sched);
  else if (status < 0 && a != NULL)
    helper_refuse_with(e, c->request, status, a->err, a->http_status, a->code);
  else
    helper_refuse(e, c->request, HELPER_FAILED,
                  "the cluster gives no scheduler to copy");
  cli_json_free(&params);
  helper_call_free(c);
}

HELPER_METHOD(what_if)
{
  pai_client *client = helper_find_client(e, request, params);
  const char *alias = cli_json_text(params, 0, "cluster");
  helper_call *c = client != NULL ? helper_call_new(e, request) : NULL;

  if (client == NULL)
    return;
  if (c != NULL) {
    c->text = helper_json_of(params, 0);
    c->cluster = strdup(alias[0] != '\0' ? alias : helper_cluster_name(e));
    c->then = on_sched;
  }
  if (c != NULL && c->text != NULL && c->cluster != NULL) {
    helper_want_sched(c);
    return;
  }
  helper_refuse(e, request, HELPER_FAILED, "out of memory");
  if (c != NULL)
    helper_call_free(c);
}
