/*
 * v1.c - what is left of OpenPAI's first API: its clients ask for jobs there
 *
 * "/user/USER/jobs/JOB" is the job "USER~JOB", and is answered as that.
 */
#include "server/server.h"

/* False: that is no job of his, or there was no memory, and that is answered. */
static bool join_name(pai__request *r)
{
  pai__buf name;

  pai__buf_init(&name, &r->server->alloc);
  pai__buf_printf(&name, "%s~%s", r->params[0], r->params[1]);
  r->job_name = pai__buf_take(&name);
  if (r->job_name == NULL) {
    pai__answer_failure(r, PAI_ENOMEM, NULL);
    return false;
  }
  r->params[0] = r->job_name;
  r->params[1] = NULL;
  return pai__request_may_read(r);
}

static void do_show(pai__request *r)
{
  if (join_name(r))
    pai__jobs_show(r);
}

static void do_config(pai__request *r)
{
  if (join_name(r))
    pai__jobs_config(r);
}

static void do_ssh(pai__request *r)
{
  if (join_name(r))
    pai__ssh_show(r);
}

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/api/v1/jobs",
    .packs = true,
    .handle = pai__jobs_list,
    .right = PAI__OF_USERS,
    .result = &pai__jobs_result,
    .queries = pai__jobs_queries,
    .summary = "List jobs, filtered and sorted" },
  { .method = "GET",
    .path = "/api/v1/user/:username/jobs/:v1job",
    .handle = do_show,
    .right = PAI__OF_USERS,
    .result = &pai__job_result,
    .summary = "Get a job, at the path of older clients",
    .errors = "403 ForbiddenUserError, 404 NoJobError" },
  { .method = "GET",
    .path = "/api/v1/user/:username/jobs/:v1job/config",
    .handle = do_config,
    .right = PAI__OF_USERS,
    .result = &pai__job_config_result,
    .queries = pai__config_queries,
    .summary = "Get a job's file, at the path of older clients",
    .errors = "403 ForbiddenUserError, 404 NoJobError, 404 NoJobConfigError" },
  { .method = "GET",
    .path = "/api/v1/user/:username/jobs/:v1job/ssh",
    .handle = do_ssh,
    .right = PAI__OF_USERS,
    .result = &pai__ssh_result,
    .summary = "Get addresses for SSH into the tasks of a job",
    .errors =
      "403 ForbiddenUserError, 404 NoJobSshInfoError, 404 NoJobError" },
};

const pai__routes pai__v1_routes = { routes, PAI__LEN(routes) };
