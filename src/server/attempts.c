/* attempts.c - the attempts of a job, by OpenPAI's older routes */
#include "server/server.h"

static void do_health(pai__request *r)
{
  pai__buf_str(&r->answer, "ok");
  r->type = "text/plain; charset=utf-8";
  pai__answer_written(r, PAI_OK, NULL);
}

/* A job that is not there has the answer `null`, and its clients know that. */
static void do_list(pai__request *r)
{
  pai_error *err = NULL;
  pai_job_id job;
  int rc = pai_platform_find(&job, r->server->platform, r->params[0], &err);

  if (rc == PAI_ENOTFOUND) {
    pai_error_free(err);
    pai__json_writer_init(&r->json, &r->answer, false);
    pai__json_null(&r->json);
    pai__answer_json(r, 404);
    return;
  }
  if (rc == PAI_OK)
    rc = pai_platform_attempts(r->server->platform, job, -1, pai__answer_write,
                               &r->answer, &err);
  pai__answer_written(r, rc, err);
}

static void do_show(pai__request *r)
{
  pai_job_id job = pai__request_job(r);
  pai_error *err = NULL;
  int64_t attempt;
  int rc;

  if (job == 0)
    return;
  if (pai__param_number(r->params[1], &attempt) < 0 || attempt > INT32_MAX) {
    pai__answer_error(r, 404, "NoJobError", "Attempt %s of %s is not found.",
                      r->params[1], r->params[0]);
    return;
  }
  rc = pai_platform_attempts(r->server->platform, job, (int)attempt,
                             pai__answer_write, &r->answer, &err);
  pai__answer_written(r, rc, err);
}

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v2/jobs/:job/job-attempts/healthz",
    .handle = do_health,
    .right = PAI__OF_READERS,
    .result = &pai__text_result,
    .summary = "Check whether older attempts are kept" },
  { .method = "GET",
    .path = "/api/v2/jobs/:job/job-attempts",
    .handle = do_list,
    .right = PAI__OF_READERS,
    .result = &pai__job_attempts_result,
    .summary = "List attempts of a job, in the form for older clients",
    .errors = "404 NoJobError" },
  { .method = "GET",
    .path = "/api/v2/jobs/:job/job-attempts/:attempt",
    .handle = do_show,
    .right = PAI__OF_READERS,
    .result = &pai__job_attempt_result,
    .summary = "Get an attempt of a job, in the form for older clients",
    .errors = "404 NoJobError" },
};

const pai__routes pai__attempts_routes = { routes, PAI__LEN(routes) };
