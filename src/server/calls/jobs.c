/* jobs.c - read-only calls about jobs and the platform */
#include "server/server.h"

#include "json/node.h"

enum { MOST_ROWS = 50000 };

void pai__do_server_info(pai__request *r)
{
  const char *const authn = r->server->oidc != NULL ? "OIDC" : "basic";

  pai__json_writer_init(&r->json, &r->answer, false);
  pai__json_write(
    &r->json, "{name:s,version:s,launcherType:s,authnMethod:s,server:s}",
    "PAI RESTful API", pai_version(), "k8s", authn, "libopenpai");
  pai__answer_json(r, 200);
}

/* Hides the paths of the platform from callers who are not administrators. */
static void hide_root(pai__request *r)
{
  pai__json_writer *w = &r->json;
  pai__tree *tree =
    pai__server_tree(r->server, pai__buf_text(&r->answer), r->answer.len);
  pai__tree_walk walk;
  pai__node n;

  if (tree == NULL) {
    r->answer.failed = true;
    return;
  }
  pai__buf_cut(&r->answer, 0);
  pai__json_writer_init(w, &r->answer, false);
  pai__json_begin_object(w);
  walk = pai__tree_iter(tree, 0);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *key = pai__tree_str(tree, n, NULL);

    pai__json_member(w, key);
    if (strcmp(key, "root") == 0)
      pai__json_null(w);
    else
      pai__json_node(w, tree, pai__tree_value(tree, n));
  }
  pai__json_end_object(w);
  pai__tree_free(tree);
}

void pai__do_server_status(pai__request *r)
{
  int rc = pai_platform_status(r->server->platform, pai__answer_write,
                               &r->answer, &r->err);

  if (rc == PAI_OK && !r->caller.admin)
    hide_root(r);
  pai__answer_written(r, rc);
}

/* --- the list of jobs ---------------------------------------------------- */

/* Removes an answer of at most one row.  Returns its total. */
static long long take_total(pai__request *r)
{
  pai__tree *tree =
    pai__server_tree(r->server, pai__buf_text(&r->answer), r->answer.len);
  int64_t total = pai__tree_look_int(tree, 0, "totalCount");

  r->answer.failed |= tree == NULL;
  pai__tree_free(tree);
  if (pai__buf_ok(&r->answer))
    pai__buf_cut(&r->answer, 0);
  return (long long)total;
}

/* Which jobs a call is about, whatever their state. */
static void read_filters(pai__request *r, pai_job_query *q)
{
  q->users = pai__request_query(r, "username");
  q->virtual_clusters = pai__request_query(r, "vc");
  q->priorities = pai__request_query(r, "jobPriority");
  q->tags = pai__request_query(r, "tagsContain");
  q->not_tags = pai__request_query(r, "tagsNotContain");
  q->keyword = pai__request_query(r, "keyword");
}

/* Reserves memory, so that a growing page is not copied again and again. */
static void make_room(pai__request *r, uint64_t items)
{
  enum { ITEM = 600, MOST_ITEMS = 100 };

  (void)pai__buf_reserve(&r->answer,
                         ITEM * (items < MOST_ITEMS ? items : MOST_ITEMS));
}

void pai__do_jobs_list(pai__request *r)
{
  pai_job_query q = PAI_JOB_QUERY_INIT;
  const char *total = pai__request_query(r, "withTotalCount");
  bool none;
  int rc;

  read_filters(r, &q);
  q.states = pai__request_query(r, "state");
  q.order = pai__request_query(r, "order");
  q.with_total = total != NULL && strcmp(total, "true") == 0;
  q.offset = (uint64_t)pai__request_number(r, "offset");
  q.limit = (uint64_t)pai__request_number(r, "limit");
  none = q.limit == 0; /* which means the default to the platform */
  if (none)
    q.limit = 1;
  if (none && !q.with_total) {
    pai__buf_str(&r->answer, "[]");
    rc = PAI_OK;
  } else {
    make_room(r, q.limit);
    rc = pai_platform_list(r->server->platform, &q, pai__answer_write,
                           &r->answer, &r->err);
  }
  if (rc == PAI_OK && none && q.with_total)
    pai__buf_printf(&r->answer, "{\"totalCount\":%lld,\"data\":[]}",
                    take_total(r));
  pai__answer_written(r, rc);
}

void pai__do_jobs_counts(pai__request *r)
{
  static const struct {
    const char *state, *name;
  } counted[] = {
    { "WAITING", "waiting" },     { "RUNNING", "running" },
    { "STOPPING", "stopping" },   { "STOPPED", "stopped" },
    { "SUCCEEDED", "succeeded" }, { "FAILED", "failed" },
  };
  enum { N = sizeof(counted) / sizeof(*counted) };
  pai_job_query q = PAI_JOB_QUERY_INIT;
  long long totals[N];
  int rc = PAI_OK;

  read_filters(r, &q);
  q.with_total = 1;
  q.limit = 1;
  for (size_t i = 0; i < N && rc == PAI_OK; i++) {
    q.states = counted[i].state;
    rc = pai_platform_list(r->server->platform, &q, pai__answer_write,
                           &r->answer, &r->err);
    totals[i] = rc == PAI_OK ? take_total(r) : 0;
  }
  if (rc == PAI_OK) {
    pai__json_writer_init(&r->json, &r->answer, false);
    pai__json_begin_object(&r->json);
    for (size_t i = 0; i < N; i++)
      pai__json_put_int(&r->json, counted[i].name, totals[i]);
    pai__json_end_object(&r->json);
  }
  pai__answer_written(r, rc);
}

/* --- a single job -------------------------------------------------------- */

void pai__do_jobs_show(pai__request *r)
{
  pai_job_id job = pai__request_job(r);
  int attempt = -1;

  if (job == 0 || (r->params[1] != NULL &&
                   !pai__request_attempt(r, r->params[1], &attempt)))
    return;
  pai__answer_written(r, pai_platform_show(r->server->platform, job, attempt,
                                           pai__answer_write, &r->answer,
                                           &r->err));
}

void pai__do_jobs_show_task(pai__request *r)
{
  pai_job_id job = pai__request_job(r);
  int64_t index;
  int attempt;

  if (job == 0 || !pai__request_attempt(r, r->params[1], &attempt))
    return;
  if (pai__param_number(r->params[3], &index) < 0 || index > UINT32_MAX)
    pai__answer_error(r, 404, "NoJobError", "Task %s[%s] of %s is not found.",
                      r->params[2], r->params[3], r->params[0]);
  else
    pai__answer_written(
      r, pai_platform_show_task(r->server->platform, job, attempt,
                                r->params[2], (uint32_t)index,
                                pai__answer_write, &r->answer, &r->err));
}

/* The config is JSON, as clients of OpenPAI expect, and which is also YAML.
 * ?format=yaml returns the original text. */
void pai__do_jobs_config(pai__request *r)
{
  const char *format = pai__request_query(r, "format");
  bool yaml = format != NULL && strcmp(format, "yaml") == 0;
  pai_job_id job = pai__request_job(r);
  int rc;

  if (job == 0)
    return;
  rc = pai_platform_config(r->server->platform, job,
                           yaml ? PAI_FORMAT_YAML : PAI_FORMAT_JSON,
                           pai__answer_write, &r->answer, &r->err);
  if (rc == PAI_ENOTFOUND) {
    pai__answer_error(r, 404, "NoJobConfigError",
                      "Config of job %s is not found.", r->params[0]);
    return;
  }
  r->type = "text/yaml; charset=utf-8";
  pai__answer_written(r, rc);
}

void pai__do_jobs_events(pai__request *r)
{
  pai_job_id job = pai__request_job(r);

  if (job != 0)
    pai__answer_written(r, pai_platform_events(r->server->platform, job,
                                               pai__request_query(r, "type"),
                                               pai__answer_write, &r->answer,
                                               &r->err));
}
