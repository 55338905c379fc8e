/* change.c - calls that change jobs or the platform */
#include "server/calls/quotas.h"

/* --- jobs ---------------------------------------------------------------- */

/* Stops a job.  A job that is stopping already is killed only with ?now. */
static void stop(pai__request *r, pai_job_id job)
{
  pai_platform *platform = r->server->platform;
  int state = pai_platform_job_state(NULL, platform, job);
  bool now = pai__request_flag(r, "now");

  if (state != PAI_STATE_STOPPING || now)
    (void)pai_platform_stop(platform, job); /* if it is over, that is fine */
  if (now && state != PAI_STATE_STOPPING)
    (void)pai_platform_stop(platform, job);
}

/* A missing job is reported before the owner is checked. */
void pai__do_jobs_stop(pai__request *r)
{
  pai_job_id job = pai__request_job(r);

  if (job == 0 || !pai__request_may_job(r))
    return;
  if (strcmp(pai__body_text(r, "value"), "STOP") == 0)
    stop(r, job);
  pai__answer_done(r, 202, "Execute job %s successfully.", r->params[0]);
  pai__answer_when_safe(r);
}

static void change_tag(pai__request *r, bool give)
{
  pai_platform *platform = r->server->platform;
  const char *value = pai__body_text(r, "value");
  pai_job_id job = pai__request_job(r);
  int rc;

  if (job == 0)
    return;
  rc = give ? pai_platform_tag(platform, job, value, &r->err)
            : pai_platform_untag(platform, job, value, &r->err);
  if (rc == PAI_ENOTFOUND) {
    pai__answer_error(r, 404, "NoTagError", "Job %s has no tag %s.",
                      r->params[0], value);
  } else if (rc < 0) {
    pai__answer_failure(r, rc);
  } else {
    pai__answer_done(r, 200, "%s tag %s of job %s successfully.",
                     give ? "Add" : "Delete", value, r->params[0]);
    pai__answer_when_safe(r);
  }
}

void pai__do_jobs_tag(pai__request *r)
{
  change_tag(r, true);
}

void pai__do_jobs_untag(pai__request *r)
{
  change_tag(r, false);
}

/* Adds where the removed job's folder is kept; callers who may not see paths
 * of this machine get only the last part. */
static void add_kept(pai__request *r, const char *path)
{
  bool whole = !r->caller.token || r->caller.admin;
  const char *part = path != NULL && !whole ? strrchr(path, '/') : NULL;
  pai__buf text;

  pai__json_member(&r->json, "kept");
  if (path == NULL) {
    pai__json_null(&r->json);
    return;
  }
  pai__buf_init(&text, &r->server->alloc);
  pai__buf_printf(&text, "%s%s", part != NULL ? "kept" : "",
                  part != NULL ? part : path);
  pai__json_text(&r->json, pai__buf_text(&text), text.len);
  r->answer.failed |= !pai__buf_ok(&text);
  pai__buf_dispose(&text);
}

/* `keeps`: the answer has where the folder is kept. */
static void answer_removed(pai__request *r, bool keeps, const char *kept)
{
  pai__json_writer *w = &r->json;
  pai__buf message;

  pai__buf_init(&message, &r->server->alloc);
  pai__buf_printf(&message, "Remove job %s successfully.", r->params[0]);
  pai__json_writer_init(w, &r->answer, false);
  pai__json_write(w, "{status:i,message:s", 200, pai__buf_text(&message));
  if (keeps)
    add_kept(r, kept);
  pai__json_end_object(w);
  pai__buf_dispose(&message);
  pai__answer_json(r, 200);
}

void pai__do_jobs_remove(pai__request *r)
{
  pai_forget_options o = PAI_FORGET_OPTIONS_INIT;
  pai_job_id job = pai__request_job(r);
  pai__buf written;
  pai__tree *t;
  const char *kept;
  int rc;

  if (job == 0)
    return;
  o.keep_files = pai__request_flag(r, "keepFiles");
  pai__buf_init(&written, &r->server->alloc);
  rc = pai_platform_forget_as(r->server->platform, job, &o, pai__answer_write,
                              &written, &r->err);
  t = pai__written_tree(&written);
  kept = pai__tree_look_text(t, 0, "kept", NULL);
  if (rc == PAI_EBUSY) {
    pai__answer_error(r, 409, "ConflictJobError",
                      "Job %s has not ended: stop it first.", r->params[0]);
  } else if (rc < 0) {
    pai__answer_failure(r, rc);
  } else {
    /* Uploads to the job's folder still count. */
    if (kept != NULL)
      pai__quota_move_sent(r->server, job, kept);
    r->answer.failed |= t == NULL && o.keep_files;
    answer_removed(r, o.keep_files, kept);
    pai__answer_when_safe(r);
  }
  pai__tree_free(t);
}

/* --- the platform -------------------------------------------------------- */

void pai__do_server_shutdown(pai__request *r)
{
  pai_server *s = r->server;

  if (s->on_shutdown == NULL) {
    pai__answer_error(r, 403, "ForbiddenUserError",
                      "This platform cannot be stopped by a request.");
    return;
  }
  s->shutdown_kill =
    pai__tree_is_true(r->form, pai__tree_get(r->form, 0, "kill"));
  s->shutdown_due = true;
  pai__answer_done(r, 202, "The platform is stopping.");
  pai__loop_step_ask(s->step);
}
