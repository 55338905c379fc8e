/*
 * v1.c - routes of OpenPAI's first API that clients still use
 *
 * "/user/USER/jobs/JOB" is answered as the job "USER~JOB".
 */
#include "server/server.h"

/* Returns false on failure, which is then answered. */
static bool join_name(pai__request *r)
{
  pai__buf name;

  pai__buf_init(&name, &r->server->alloc);
  pai__buf_printf(&name, "%s~%s", r->params[0], r->params[1]);
  r->job_name = pai__buf_take(&name);
  if (r->job_name == NULL) {
    pai__answer_failure(r, PAI_ENOMEM);
    return false;
  }
  r->params[0] = r->job_name;
  r->params[1] = NULL;
  return pai__request_may_read(r);
}

void pai__do_v1_show_job(pai__request *r)
{
  if (join_name(r))
    pai__do_jobs_show(r);
}

void pai__do_v1_job_config(pai__request *r)
{
  if (join_name(r))
    pai__do_jobs_config(r);
}

void pai__do_v1_job_ssh(pai__request *r)
{
  if (join_name(r))
    pai__do_jobs_ssh(r);
}
