/* change.c - what changes a job, or the platform */
#include "server/quotas.h"

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

/* Where its folder is: for whom this machine is not told from its root on. */
static void add_kept(pai__request *r, const char *json, size_t len)
{
  pai__json_options options = { .alloc = &r->server->alloc };
  bool whole = !r->caller.token || r->caller.admin;
  const char *path = NULL, *part;
  pai__tree *tree = NULL;

  if (pai__json_parse(&tree, json, len, &options, NULL) == PAI_OK)
    path = pai__tree_str(tree, pai__tree_get(tree, 0, "kept"), NULL);
  else
    r->answer.failed = true;
  part = path != NULL && !whole ? strrchr(path, '/') : NULL;
  pai__json_key(&r->json, "kept", 4);
  if (part != NULL) {
    pai__buf text;

    pai__buf_init(&text, &r->server->alloc);
    pai__buf_printf(&text, "kept%s", part);
    pai__json_text(&r->json, pai__buf_text(&text), text.len);
    r->answer.failed |= !pai__buf_ok(&text);
    pai__buf_dispose(&text);
  } else if (path != NULL) {
    pai__json_text(&r->json, path, strlen(path));
  } else {
    pai__json_null(&r->json);
  }
  pai__tree_free(tree);
}

static void answer_removed(pai__request *r, const pai__buf *kept)
{
  pai__json_writer *w = &r->json;
  pai__buf message;

  pai__buf_init(&message, &r->server->alloc);
  pai__buf_printf(&message, "Remove job %s successfully.", r->params[0]);
  pai__json_writer_init(w, &r->answer, false);
  pai__json_begin_object(w);
  pai__json_key(w, "status", 6);
  pai__json_int(w, 200);
  pai__json_key(w, "message", 7);
  pai__json_text(w, pai__buf_text(&message), message.len);
  if (kept != NULL)
    add_kept(r, pai__buf_text(kept), kept->len);
  pai__json_end_object(w);
  pai__buf_dispose(&message);
  pai__answer_json(r, 200);
}

/* What was sent into the folder lies there still. */
static void move_sent(pai__request *r, pai_job_id job, const pai__buf *kept)
{
  pai__json_options options = { .alloc = &r->server->alloc };
  pai__tree *t = NULL;
  const char *dir = NULL;

  if (pai__json_parse(&t, pai__buf_text(kept), kept->len, &options, NULL) ==
      PAI_OK)
    dir = pai__tree_look_text(t, 0, "kept", NULL);
  if (dir != NULL)
    pai__quota_move_sent(r->server, job, dir);
  pai__tree_free(t);
}

static void do_remove(pai__request *r)
{
  pai_forget_options o = PAI_FORGET_OPTIONS_INIT;
  pai_job_id job = pai__request_job(r);
  pai_error *err = NULL;
  pai__buf kept;
  int rc;

  if (job == 0)
    return;
  o.keep_files = pai__request_flag(r, "keepFiles");
  pai__buf_init(&kept, &r->server->alloc);
  rc = pai_platform_forget_as(r->server->platform, job, &o, pai__answer_write,
                              &kept, &err);
  if (rc == PAI_EBUSY) {
    pai__answer_error(r, 409, "ConflictJobError",
                      "Job %s is not over: stop it first.", r->params[0]);
    pai_error_free(err);
  } else if (rc < 0) {
    pai__answer_failure(r, rc, err);
  } else {
    move_sent(r, job, &kept);
    answer_removed(r, o.keep_files ? &kept : NULL);
    pai__answer_when_safe(r);
  }
  pai__buf_dispose(&kept);
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

/* --- answers --- */

static const pai__field removed_fields[] = {
  PAI__HAS(WHOLE, "status"),
  PAI__HAS(TEXT, "message"),
  { .name = "kept", .kind = PAI__IS_TEXT, .flags = PAI__MAY_BE_NULL },
  { 0 }
};

static const pai__shape removed_shape = { "Removed", removed_fields };

static const pai__result removed = { .kind = PAI__IS_OBJECT,
                                     .shape = &removed_shape };

/* --- queries --- */

static const pai__field remove_queries[] = {
  { .name = "keepFiles",
    .kind = PAI__IS_FLAG,
    .missing = "false",
    .what = "the job's own folder stays: \"kept\" says where" },
  { 0 }
};

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
    .summary = "Stop the platform" },
  { .method = "DELETE",
    .path = "/api/v2/jobs/:job",
    .handle = do_remove,
    .right = PAI__OF_OWNER,
    .result = &removed,
    .queries = remove_queries,
    .summary = "Remove a finished job",
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
    .summary = "Add a tag to a job",
    .errors = "404 NoJobError" },
  { .method = "DELETE",
    .path = "/api/v2/jobs/:job/tag",
    .handle = do_untag,
    .right = PAI__OF_OWNER,
    .fields = tag_fields,
    .summary = "Remove a tag from a job",
    .errors = "404 NoJobError, 404 NoTagError" },
};

const pai__routes pai__change_routes = { routes, PAI__LEN(routes) };
