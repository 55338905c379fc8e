/* jobs.c - what is asked of jobs, and of the platform, and changes nothing */
#include "server/server.h"

#include "json/node.h"

#include <stdio.h>

#define TASK \
  "/api/v2/jobs/:job/attempts/:attempt/taskRoles/:role/taskIndex/:index"

enum { MOST_ROWS = 50000 };

static void do_info(pai__request *r)
{
  const char *const authn = r->server->oidc != NULL ? "OIDC" : "basic";
  const char *const texts[][2] = { { "name", "PAI RESTful API" },
                                   { "version", NULL },
                                   { "launcherType", "k8s" },
                                   { "authnMethod", authn },
                                   { "server", "libopenpai" } };
  pai__json_writer *w = &r->json;

  pai__json_writer_init(w, &r->answer, false);
  pai__json_begin_object(w);
  for (size_t i = 0; i < PAI__LEN(texts); i++) {
    const char *value = texts[i][1] != NULL ? texts[i][1] : pai_version();
    pai__json_key(w, texts[i][0], strlen(texts[i][0]));
    pai__json_text(w, value, strlen(value));
  }
  pai__json_end_object(w);
  pai__answer_json(r, 200);
}

/* Where the platform's files lie is nobody's matter who cannot change them. */
static void hide_root(pai__request *r)
{
  pai__json_options options = { .alloc = &r->server->alloc };
  pai__json_writer *w = &r->json;
  pai__tree *tree = NULL;
  pai__tree_walk walk;
  pai__node n;

  if (pai__json_parse(&tree, pai__buf_text(&r->answer), r->answer.len,
                      &options, NULL) < 0) {
    r->answer.failed = true;
    return;
  }
  pai__buf_cut(&r->answer, 0);
  pai__json_writer_init(w, &r->answer, false);
  pai__json_begin_object(w);
  walk = pai__tree_iter(tree, 0);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE) {
    size_t len;
    const char *key = pai__tree_str(tree, n, &len);

    pai__json_key(w, key, len);
    if (strcmp(key, "root") == 0)
      pai__json_null(w);
    else
      pai__json_node(w, tree, pai__tree_value(tree, n));
  }
  pai__json_end_object(w);
  pai__tree_free(tree);
}

static void do_status(pai__request *r)
{
  pai_error *err = NULL;
  int rc = pai_platform_status(r->server->platform, pai__answer_write,
                               &r->answer, &err);

  if (rc == PAI_OK && !r->caller.admin)
    hide_root(r);
  pai__answer_written(r, rc, err);
}

/* --- the list --------------------------------------------------------------------------- */

/* {"totalCount", "data": []}, of an answer with one row at most. */
static void keep_total(pai__request *r)
{
  pai__json_options options = { .alloc = &r->server->alloc };
  pai__tree *tree = NULL;
  pai__node n = PAI__NO_NODE;
  int64_t total = 0;

  if (pai__json_parse(&tree, pai__buf_text(&r->answer), r->answer.len,
                      &options, NULL) == PAI_OK)
    n = pai__tree_get(tree, 0, "totalCount");
  if (n != PAI__NO_NODE)
    (void)pai__tree_whole(tree, n, &total);
  else
    r->answer.failed = true;
  pai__tree_free(tree);
  if (!pai__buf_ok(&r->answer))
    return;
  pai__buf_cut(&r->answer, 0);
  pai__buf_printf(&r->answer, "{\"totalCount\":%lld,\"data\":[]}",
                  (long long)total);
}

/* So that a page is not copied again and again as it grows. */
static void make_room(pai__request *r, uint64_t items)
{
  enum { ITEM = 600, MOST_ITEMS = 100 };

  (void)pai__buf_reserve(&r->answer,
                         ITEM * (items < MOST_ITEMS ? items : MOST_ITEMS));
}

void pai__jobs_list(pai__request *r)
{
  pai_job_query q = PAI_JOB_QUERY_INIT;
  const char *total = pai__request_query(r, "withTotalCount");
  pai_error *err = NULL;
  bool none;
  int rc;

  q.users = pai__request_query(r, "username");
  q.virtual_clusters = pai__request_query(r, "vc");
  q.states = pai__request_query(r, "state");
  q.priorities = pai__request_query(r, "jobPriority");
  q.tags = pai__request_query(r, "tagsContain");
  q.not_tags = pai__request_query(r, "tagsNotContain");
  q.keyword = pai__request_query(r, "keyword");
  q.order = pai__request_query(r, "order");
  q.with_total = total != NULL && strcmp(total, "true") == 0;
  q.offset = (uint64_t)pai__request_number(r, "offset");
  q.limit = (uint64_t)pai__request_number(r, "limit");
  none = q.limit == 0; /* which stands for the default here */
  if (none)
    q.limit = 1;
  if (none && !q.with_total) {
    pai__buf_str(&r->answer, "[]");
    rc = PAI_OK;
  } else {
    make_room(r, q.limit);
    rc = pai_platform_list(r->server->platform, &q, pai__answer_write,
                           &r->answer, &err);
  }
  if (rc == PAI_OK && none && q.with_total)
    keep_total(r);
  pai__answer_written(r, rc, err);
}

/* --- one job ------------------------------------------------------------------------------ */

void pai__jobs_show(pai__request *r)
{
  pai_job_id job = pai__request_job(r);
  pai_error *err = NULL;
  int attempt = -1, rc;

  if (job == 0 || (r->params[1] != NULL &&
                   !pai__request_attempt(r, r->params[1], &attempt)))
    return;
  rc = pai_platform_show(r->server->platform, job, attempt, pai__answer_write,
                         &r->answer, &err);
  pai__answer_written(r, rc, err);
}

static void do_show_task(pai__request *r)
{
  pai_job_id job = pai__request_job(r);
  pai_error *err = NULL;
  int64_t index;
  int attempt, rc;

  if (job == 0 || !pai__request_attempt(r, r->params[1], &attempt))
    return;
  if (pai__param_number(r->params[3], &index) < 0 || index > UINT32_MAX) {
    pai__answer_error(r, 404, "NoJobError", "Task %s[%s] of %s is not found.",
                      r->params[2], r->params[3], r->params[0]);
    return;
  }
  rc = pai_platform_show_task(r->server->platform, job, attempt, r->params[2],
                              (uint32_t)index, pai__answer_write, &r->answer,
                              &err);
  pai__answer_written(r, rc, err);
}

/* JSON is YAML, too, and what clients of OpenPAI are used to; as it was
 * written it comes with ?format=yaml. */
void pai__jobs_config(pai__request *r)
{
  const char *format = pai__request_query(r, "format");
  bool yaml = format != NULL && strcmp(format, "yaml") == 0;
  pai_job_id job = pai__request_job(r);
  pai_error *err = NULL;
  int rc;

  if (job == 0)
    return;
  rc = pai_platform_config(r->server->platform, job,
                           yaml ? PAI_FORMAT_YAML : PAI_FORMAT_JSON,
                           pai__answer_write, &r->answer, &err);
  if (rc == PAI_ENOTFOUND) {
    pai__answer_error(r, 404, "NoJobConfigError",
                      "Config of job %s is not found.", r->params[0]);
    pai_error_free(err);
    return;
  }
  r->type = "text/yaml; charset=utf-8";
  pai__answer_written(r, rc, err);
}

static void do_events(pai__request *r)
{
  pai_job_id job = pai__request_job(r);
  pai_error *err = NULL;
  int rc;

  if (job == 0)
    return;
  rc = pai_platform_events(r->server->platform, job,
                           pai__request_query(r, "type"), pai__answer_write,
                           &r->answer, &err);
  pai__answer_written(r, rc, err);
}

/* --- answers --- */

static const pai__field info_fields[] = {
  PAI__HAS(TEXT, "name"),         PAI__HAS(TEXT, "version"),
  PAI__HAS(TEXT, "launcherType"), PAI__HAS(TEXT, "authnMethod"),
  PAI__HAS(TEXT, "server"),       { 0 }
};

static const pai__shape info_shape = { "Info", info_fields };

static const pai__result info = { .kind = PAI__IS_OBJECT,
                                  .shape = &info_shape };

static const pai__field count_fields[] = { PAI__HAS(WHOLE, "waiting"),
                                           PAI__HAS(WHOLE, "running"),
                                           PAI__HAS(WHOLE, "stopping"),
                                           { 0 } };

static const pai__shape count_shape = { "JobCounts", count_fields };

static const pai__field machine_fields[] = {
  PAI__HAS(TEXT, "name"),        PAI__HAS(TEXT, "ip"),
  PAI__HAS(WHOLE, "cpus"),       PAI__HAS(WHOLE, "freeCpus"),
  PAI__HAS(WHOLE, "gpus"),       PAI__HAS(WHOLE, "freeGpus"),
  PAI__HAS(WHOLE, "sickGpus"),   PAI__HAS(WHOLE, "memory"),
  PAI__HAS(WHOLE, "freeMemory"), { 0 }
};

static const pai__shape machine_shape = { "Machine", machine_fields };

static const pai__field status_fields[] = {
  PAI__HAS(WHOLE, "pid"),
  PAI__HAS(TEXT, "version"),
  PAI__HAS_OR_NULL(TEXT, "root"), /* for administrators */
  PAI__HAS(TEXT, "user"),
  PAI__HAS(FLAG, "system"),
  PAI__HAS_OF(OBJECT, "jobs", &count_shape),
  PAI__HAS_OF(OBJECT, "machine", &machine_shape),
  PAI__HAS_OR_NULL(TEXT, "policy"),
  PAI__HAS_OR_NULL(TEXT, "limits"),
  PAI__HAS_OR_NULL(TEXT, "runtime"),
  PAI__HAS_OR_NULL(TEXT, "warning"),
  PAI__HAS_OR_NULL(TEXT, "trouble"),
  { 0 }
};

static const pai__shape status_shape = { "Status", status_fields };

static const pai__result status = { .kind = PAI__IS_OBJECT,
                                    .shape = &status_shape };

/* --- queries --- */

static const char *const states[] = { "WAITING", "RUNNING",   "STOPPING",
                                      "STOPPED", "SUCCEEDED", "FAILED",
                                      NULL };

const pai__field pai__jobs_queries[] = {
  PAI__TAKES(TEXTS, "username", "of these users"),
  PAI__TAKES(TEXTS, "vc", "in these virtual clusters"),
  { .name = "state",
    .kind = PAI__IS_TEXTS,
    .choices = states,
    .what = "in these states" },
  PAI__TAKES(TEXTS, "jobPriority",
             "jobs of these priorities; \"default\" is jobs without one"),
  PAI__TAKES(TEXTS, "tagsContain", "with any of these tags"),
  PAI__TAKES(TEXTS, "tagsNotContain", "with none of these tags"),
  PAI__TAKES(TEXT, "keyword", "in the user, the name or the virtual cluster"),
  { .name = "order",
    .kind = PAI__IS_TEXT,
    .missing = "\"submissionTime,DESC\"",
    .what = "a field and ASC or DESC: jobName, submissionTime, username, vc, "
            "retries, totalTaskNumber, totalGpuNumber, state, completionTime "
            "or jobPriority; an unknown field is ignored" },
  { .name = "offset",
    .kind = PAI__IS_WHOLE,
    .most = PAI__MOST_WHOLE,
    .missing = "0",
    .what = "so many are passed over" },
  { .name = "limit",
    .kind = PAI__IS_WHOLE,
    .most = MOST_ROWS,
    .missing = "5000",
    .what = "at most so many" },
  { .name = "withTotalCount",
    .kind = PAI__IS_FLAG,
    .missing = "false",
    .what = "how many there are, too, whatever offset and limit" },
  { 0 }
};

static const char *const formats[] = { "json", "yaml", NULL };

const pai__field pai__config_queries[] = { { .name = "format",
                                             .kind = PAI__IS_TEXT,
                                             .choices = formats,
                                             .missing = "\"json\"",
                                             .what =
                                               "yaml: as it was written" },
                                           { 0 } };

static const char *const event_types[] = { "Normal", "Warning", NULL };

static const pai__field event_queries[] = { { .name = "type",
                                              .kind = PAI__IS_TEXT,
                                              .choices = event_types,
                                              .what = "of this type alone" },
                                            { 0 } };

/* --- routes --- */

static const pai__route routes[] = {
  { .path = "/api/v2/info",
    .handle = do_info,
    .right = PAI__OF_ALL,
    .result = &info,
    .summary = "Get information about this server" },
  { .path = "/api/v1",
    .handle = do_info,
    .right = PAI__OF_ALL,
    .result = &info,
    .summary = "Get information about this server" },
  { .method = "GET",
    .path = "/api/v2/status",
    .handle = do_status,
    .right = PAI__OF_USERS,
    .result = &status,
    .summary = "Get the status of the platform" },
  { .method = "GET",
    .path = "/api/v2/jobs",
    .packs = true,
    .handle = pai__jobs_list,
    .right = PAI__OF_USERS,
    .result = &pai__jobs_result,
    .queries = pai__jobs_queries,
    .summary = "List jobs, filtered and sorted" },
  { .method = "GET",
    .path = "/api/v2/jobs/:job",
    .packs = true,
    .handle = pai__jobs_show,
    .right = PAI__OF_READERS,
    .result = &pai__job_result,
    .summary = "Get a job",
    .errors = "404 NoJobError" },
  { .method = "GET",
    .path = "/api/v2/jobs/:job/attempts/:attempt",
    .packs = true,
    .handle = pai__jobs_show,
    .right = PAI__OF_READERS,
    .result = &pai__job_result,
    .summary = "Get a job",
    .errors = "404 NoJobError" },
  { .method = "GET",
    .path = TASK "/attempts",
    .packs = true,
    .handle = do_show_task,
    .right = PAI__OF_READERS,
    .result = &pai__job_task_result,
    .summary = "List the starts of a task",
    .errors = "404 NoJobError" },
  { .method = "GET",
    .path = "/api/v2/jobs/:job/config",
    .handle = pai__jobs_config,
    .right = PAI__OF_READERS,
    .result = &pai__job_config_result,
    .queries = pai__config_queries,
    .summary = "Get a job's file, with masked secrets",
    .errors = "404 NoJobError, 404 NoJobConfigError" },
  { .method = "GET",
    .path = "/api/v2/jobs/:job/events",
    .packs = true,
    .handle = do_events,
    .right = PAI__OF_READERS,
    .result = &pai__job_events_result,
    .queries = event_queries,
    .summary = "List events of a job",
    .errors = "404 NoJobError" },
};

const pai__routes pai__jobs_routes = { routes, PAI__LEN(routes) };
