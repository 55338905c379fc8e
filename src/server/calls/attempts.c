/* attempts.c - the attempts of a job, for OpenPAI's older routes */
#include "server/server.h"

void pai__do_attempts_health(pai__request *r)
{
  pai__answer_text(r, 200, "text/plain; charset=utf-8", "ok");
}

/* For a missing job the answer is `null`, which clients rely on. */
void pai__do_attempts_list(pai__request *r)
{
  pai_job_id job;
  int rc = pai_platform_find(&job, r->server->platform, r->params[0], &r->err);

  if (rc == PAI_ENOTFOUND) {
    pai__buf_str(&r->answer, "null");
    pai__answer_ready(r, 404, "application/json; charset=utf-8");
    return;
  }
  if (rc == PAI_OK)
    rc = pai_platform_attempts(r->server->platform, job, -1, pai__answer_write,
                               &r->answer, &r->err);
  pai__answer_written(r, rc);
}

void pai__do_attempts_show(pai__request *r)
{
  pai_job_id job = pai__request_job(r);
  int64_t attempt;

  if (job == 0)
    return;
  if (pai__param_number(r->params[1], &attempt) < 0 || attempt > INT32_MAX)
    pai__answer_error(r, 404, "NoJobError", "Attempt %s of %s is not found.",
                      r->params[1], r->params[0]);
  else
    pai__answer_written(
      r, pai_platform_attempts(r->server->platform, job, (int)attempt,
                               pai__answer_write, &r->answer, &r->err));
}
