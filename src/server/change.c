/* change.c - what changes a job, or the platform */
#include "server/server.h"

/* The text of a member of the body, which is there. */
static const char *text_of(const pai__request *r, const char *name)
{
  return pai__tree_str(r->form, pai__tree_get(r->form, 0, name), NULL);
}

/* --- of jobs -------------------------------------------------------------------------------- */

/* A job that is stopping already is killed only if that is said. */
static void stop(pai__request *r, pai_job_id job)
{
  pai_platform *platform = r->server->platform;
  int state = pai_platform_job_state(NULL, platform, job);
  bool now = pai__request_flag(r, "now");

  if (state != PAI_STATE_STOPPING || now)
    (void)pai_platform_stop(platform, job); /* over already: as wished */
  if (now && state != PAI_STATE_STOPPING)
    (void)pai_platform_stop(platform, job);
}

/* A job that is none is told before whose it would be. */
static void do_execution_type(pai__request *r)
{
  pai_job_id job = pai__request_job(r);

  if (job == 0 || !pai__request_may_job(r))
    return;
  if (strcmp(text_of(r, "value"), "STOP") == 0)
    stop(r, job);
  pai__answer_done(r, 202, "Execute job %s successfully.", r->params[0]);
  pai__answer_when_safe(r);
}

static void change_tag(pai__request *r, bool give)
{
  pai_platform *platform = r->server->platform;
  const char *value = text_of(r, "value");
  pai_job_id job = pai__request_job(r);
  pai_error *err = NULL;
  int rc;

  if (job == 0)
    return;
  rc = give ? pai_platform_tag(platform, job, value, &err)
            : pai_platform_untag(platform, job, value, &err);
  if (rc == PAI_ENOTFOUND) {
    pai__answer_error(r, 404, "NoTagError", "Job %s has no tag %s.",
                      r->params[0], value);
    pai_error_free(err);
  } else if (rc < 0) {
    pai__answer_failure(r, rc, err);
  } else {
    pai__answer_done(r, 200, "%s tag %s of job %s successfully.",
                     give ? "Add" : "Delete", value, r->params[0]);
    pai__answer_when_safe(r);
  }
}

static void do_tag(pai__request *r)
{
  change_tag(r, true);
}

static void do_untag(pai__request *r)
{
  change_tag(r, false);
}

static void do_remove(pai__request *r)
{
  pai_job_id job = pai__request_job(r);
  int rc = job != 0 ? pai_platform_forget(r->server->platform, job) : PAI_OK;

  if (job == 0)
    return;
  if (rc == PAI_EBUSY)
    pai__answer_error(r, 409, "ConflictJobError",
                      "Job %s is not over: stop it first.", r->params[0]);
  else if (rc < 0)
    pai__answer_failure(r, rc, NULL);
  else {
    pai__answer_done(r, 200, "Remove job %s successfully.", r->params[0]);
    pai__answer_when_safe(r);
  }
}

/* --- of the platform --------------------------------------------------------------------------- */

static void do_shutdown(pai__request *r)
{
  pai_server *s = r->server;

  if (s->on_shutdown == NULL) {
    pai__answer_error(r, 403, "ForbiddenUserError",
                      "This platform is not ended this way.");
    return;
  }
  s->shutdown_kill =
    pai__tree_bool(r->form, pai__tree_get(r->form, 0, "kill"));
  s->shutdown_due = true;
  pai__answer_done(r, 202, "The platform ends.");
  pai__turn_ask(s->turn);
}

/* --- bodies --- */

static const char *const execution_types[] = { "START", "STOP", NULL };

static const pai__field execution_fields[] = { { .name = "value",
                                                 .kind = PAI__IS_TEXT,
                                                 .flags = PAI__NEEDED,
                                                 .choices = execution_types },
                                               { 0 } };
static const pai__field tag_fields[] = { { .name = "value",
                                           .kind = PAI__IS_TEXT,
                                           .flags = PAI__NEEDED,
                                           .pattern = &pai__no_comma_pattern,
                                           .most = 512 },
                                         { 0 } };
static const pai__field shutdown_fields[] = {
  { .name = "kill", .kind = PAI__IS_FLAG, .missing = "false" }, { 0 }
};

/* --- queries --- */

static const pai__field execution_queries[] = {
  { .name = "now",
    .kind = PAI__IS_FLAG,
    .missing = "false",
    .what = "stop it without a grace time" },
  { 0 }
};

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "POST",
    .path = "/api/v2/shutdown",
    .handle = do_shutdown,
    .right = PAI__OF_ADMIN,
    .fields = shutdown_fields,
    .status = 202,
    .summary = "End the platform" },
  { .method = "DELETE",
    .path = "/api/v2/jobs/:job",
    .handle = do_remove,
    .right = PAI__OF_OWNER,
    .summary = "Forget a job that is over",
    .errors = "404 NoJobError, 409 ConflictJobError" },
  { .method = "PUT",
    .path = "/api/v2/jobs/:job/executionType",
    .handle = do_execution_type,
    .right = PAI__OF_READERS,
    .fields = execution_fields,
    .status = 202,
    .queries = execution_queries,
    .summary = "Stop a job",
    .errors = "403 ForbiddenUserError, 404 NoJobError" },
  { .method = "PUT",
    .path = "/api/v2/jobs/:job/tag",
    .handle = do_tag,
    .right = PAI__OF_OWNER,
    .fields = tag_fields,
    .summary = "Give a job a tag",
    .errors = "404 NoJobError" },
  { .method = "DELETE",
    .path = "/api/v2/jobs/:job/tag",
    .handle = do_untag,
    .right = PAI__OF_OWNER,
    .fields = tag_fields,
    .summary = "Take a tag from a job",
    .errors = "404 NoJobError, 404 NoTagError" },
};

const pai__routes pai__change_routes = { routes, PAI__LEN(routes) };
