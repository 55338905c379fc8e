/*
 * submit.c - POST /jobs: submits a job file
 *
 * In addition to OpenPAI's body, ?name= sets the job's name, ?workDir= the
 * working directory of its commands, ?codeDir= names a folder under ROOT/code
 * with the user's code, which the job takes over, and ?like= another job whose
 * folder it uses, and whose secrets if that job is not over.  ?template= is the
 * id of the marketplace's item that the job file is from: its uses are counted.
 */
#include "server/calls/quotas.h"
#include "server/streams/reading.h"
#include "server/calls/upload.h"

/* Returns whether `dir` is the folder of an upload. */
static bool is_upload(const pai__request *r, const char *dir)
{
  size_t len = strlen(r->server->uploads);

  return strncmp(dir, r->server->uploads, len) == 0 && dir[len] == '/' &&
         strchr(dir + len + 1, '/') == NULL && dir[len + 1] != '.' &&
         dir[len + 1] != '\0';
}

static bool is_form(const pai__request *r)
{
  const char *type = pai__conn_field(r->conn, "Content-Type");

  return type != NULL &&
         strncmp(type, "application/x-www-form-urlencoded", 33) == 0;
}

static void accepted(pai__request *r, const char *name)
{
  pai__json_writer *w = &r->json;

  pai__json_writer_init(w, &r->answer, false);
  pai__json_write(w, "{status:i,message:s,name:s}", 202,
                  "Update job successfully.", name);
  pai__answer_json(r, 202);
  pai__answer_when_safe(r);
}

static int find_like(pai__request *r, pai_job_id *job, pai_error **err)
{
  const char *name = pai__request_query(r, "like");
  pai__buf whole;
  int rc;

  if (name == NULL)
    return PAI_OK;
  pai__buf_init(&whole, &r->server->alloc);
  if (strchr(name, '~') == NULL &&
      (!r->caller.self || r->server->system)) /* the caller's own job */
    pai__buf_printf(&whole, "%s~", r->caller.name);
  pai__buf_add(&whole, name, strlen(name));
  if (!pai__buf_ok(&whole))
    rc = pai__oom(err);
  else if (!pai__request_is_own(r, pai__buf_text(&whole)))
    rc = pai__fail(err, PAI_EPERM, "job %s belongs to another user", name);
  else
    rc =
      pai_platform_find(job, r->server->platform, pai__buf_text(&whole), err);
  pai__buf_dispose(&whole);
  return rc;
}

/* Checks that the user may use the virtual cluster of the job.  A job that
 * exists already is reported first. */
static bool may_use_cluster(pai__request *r, const pai_spec *spec,
                            const char *name)
{
  pai_job_view view = { .struct_size = sizeof(view) };
  pai_job_id job = 0;
  pai__buf whole;

  if (!r->caller.token || pai_spec_view_job(spec, &view) < 0 ||
      pai_accounts_may_use_vc(r->server->accounts, r->caller.name,
                              view.virtual_cluster))
    return true;
  pai__buf_init(&whole, &r->server->alloc);
  pai__buf_printf(&whole, "%s~%s", r->caller.name, name);
  if (pai__buf_ok(&whole))
    (void)!pai_platform_find(&job, r->server->platform, pai__buf_text(&whole),
                             NULL);
  pai__buf_dispose(&whole);
  if (job != 0)
    return true;
  pai__answer_error(r, 403, "ForbiddenUserError",
                    "User %s is not allowed to do operation in %s.",
                    r->caller.name, view.virtual_cluster);
  return false;
}

static uint64_t count_tasks(const pai_spec *spec)
{
  pai_role_view role = { .struct_size = sizeof(role) };
  uint64_t n = 0;

  for (size_t i = 0; i < pai_spec_role_count(spec); i++)
    if (pai_spec_view_role(spec, i, &role) == PAI_OK)
      n += role.instances;
  return n;
}

static void submit(pai__request *r, pai_spec *spec)
{
  pai_submit_options options = PAI_SUBMIT_OPTIONS_INIT;
  pai_job_id job;
  int rc;

  options.user = pai__request_user(r);
  options.name = pai__request_query(r, "name");
  options.text = pai__buf_text(&r->body);
  options.work_dir = pai__request_query(r, "workDir");
  options.code_dir = pai__request_query(r, "codeDir");
  if (options.code_dir != NULL &&
      (!is_upload(r, options.code_dir) ||
       !pai__upload_is_of(options.code_dir, r->who))) {
    pai__answer_error(
      r, 400, "InvalidParametersError",
      "codeDir is not a folder returned by an upload of code.");
    return;
  }
  if (!may_use_cluster(
        r, spec, options.name != NULL ? options.name : pai_spec_name(spec)))
    return;
  if (!pai__quota_has_job(r, count_tasks(spec)))
    return;
  if (pai__request_query(r, "refuseImpossible") != NULL)
    options.impossible = pai__request_flag(r, "refuseImpossible")
                           ? PAI_IMPOSSIBLE_REFUSED
                           : PAI_IMPOSSIBLE_WAITS;
  rc = find_like(r, &options.like, &r->err);
  if (rc == PAI_OK)
    rc = pai_platform_submit_as(&job, r->server->platform, spec, &options,
                                &r->err);
  if (pai__request_query(r, "like") == NULL)
    r->missing = "NoStorageError";
  if (rc == PAI_EINVAL) /* a valid job file that cannot run */
    pai__answer_coded(r, 400, "InvalidProtocolError", r->err);
  else if (rc < 0)
    pai__answer_failure(r, rc);
  else {
    pai__market_used(r, pai__request_query(r, "template"));
    accepted(r, options.name != NULL ? options.name : pai_spec_name(spec));
  }
}

static void on_read(pai__request *r, pai__read *read)
{
  if (read->rc < 0) {
    pai__answer_why(r, read->rc, read->err);
  } else if (read->spec == NULL) {
    pai__answer_error(r, 400, "InvalidProtocolError", "%s",
                      pai__buf_text(&read->wrong));
  } else if (read->twin < pai_spec_role_count(read->spec)) {
    /* answers about the job could not tell the two roles apart */
    pai__answer_error(r, 400, "InvalidProtocolError",
                      "Task roles %s and %s have the same name if case and "
                      "underscores are ignored: rename one.",
                      pai_spec_role_name(read->spec, read->other),
                      pai_spec_role_name(read->spec, read->twin));
  } else {
    submit(r, read->spec);
  }
}

void pai__do_jobs_submit(pai__request *r)
{
  if (is_form(r))
    pai__answer_error(
      r, 400, "InvalidProtocolError",
      "A job must be sent as YAML with the content type text/yaml.");
  else
    pai__read_job(r, on_read);
}
