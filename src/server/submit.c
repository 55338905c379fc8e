/*
 * submit.c - POST /jobs: a job's file becomes a job
 *
 * Beside what OpenPAI takes, ?name= gives the job another name, ?workDir= says
 * where its commands begin, ?codeDir= names a folder under ROOT/code that it
 * gets as its own copy of the user's code, ?like= a job whose folder, and
 * secrets if it is not over, it gets.
 */
#include "server/quotas.h"
#include "server/reading.h"
#include "server/upload.h"

/* A folder that was left for this job, whose path the platform gets. */
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
  pai__json_begin_object(w);
  pai__json_key(w, "status", 6);
  pai__json_int(w, 202);
  pai__json_key(w, "message", 7);
  pai__json_text(w, "Update job successfully.", 24);
  pai__json_key(w, "name", 4);
  pai__json_text(w, name, strlen(name));
  pai__json_end_object(w);
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
      (!r->caller.self || r->server->system)) /* one's own */
    pai__buf_printf(&whole, "%s~", r->caller.name);
  pai__buf_add(&whole, name, strlen(name));
  if (!pai__buf_ok(&whole))
    rc = pai__oom(err);
  else if (!pai__request_is_own(r, pai__buf_text(&whole)))
    rc = pai__fail(err, PAI_EPERM, "job %s is another user's", name);
  else
    rc =
      pai_platform_find(job, r->server->platform, pai__buf_text(&whole), err);
  pai__buf_dispose(&whole);
  return rc;
}

/* Whether a user of OpenPAI may go where the job wants to; a job that is there
 * already is said first. */
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
  pai_error *err = NULL;
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
    pai__answer_error(r, 400, "InvalidParametersError",
                      "codeDir is none that the upload of its code answered.");
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
  rc = find_like(r, &options.like, &err);
  if (rc == PAI_OK)
    rc =
      pai_platform_submit_as(&job, r->server->platform, spec, &options, &err);
  if (rc == PAI_EINVAL) /* valid, and yet cannot be run */
    pai__answer_error(r, 400, "InvalidProtocolError", "%s",
                      pai_error_message(err));
  else if (rc == PAI_ENOTFOUND && options.like == 0 &&
           pai__request_query(r, "like") == NULL)
    pai__answer_coded(r, 404, "NoStorageError", err);
  else if (rc < 0)
    pai__answer_failure(r, rc, err), err = NULL;
  else
    accepted(r, options.name != NULL ? options.name : pai_spec_name(spec));
  pai_error_free(err);
}

static void on_read(pai__request *r, pai__read *read)
{
  if (read->rc < 0) {
    pai__answer_failure(r, read->rc, read->err);
    read->err = NULL;
  } else if (read->spec == NULL) {
    pai__answer_error(r, 400, "InvalidProtocolError", "%s",
                      pai__buf_text(&read->wrong));
  } else if (read->twin < pai_spec_role_count(read->spec)) {
    /* answers about the job could not tell them apart */
    pai__answer_error(r, 400, "InvalidProtocolError",
                      "Task roles %s and %s have the same name without "
                      "case and underscores: rename one.",
                      pai_spec_role_name(read->spec, read->other),
                      pai_spec_role_name(read->spec, read->twin));
  } else {
    submit(r, read->spec);
  }
}

static void do_submit(pai__request *r)
{
  if (is_form(r))
    pai__answer_error(r, 400, "InvalidProtocolError",
                      "A job is sent as YAML, with the type text/yaml.");
  else
    pai__read_job(r, on_read);
}

/* --- answers --- */

static const pai__field submitted_fields[] = { PAI__HAS(WHOLE, "status"),
                                               PAI__HAS(TEXT, "message"),
                                               PAI__HAS(TEXT, "name"),
                                               { 0 } };

static const pai__shape submitted_shape = { "Submitted", submitted_fields };

static const pai__result submitted = { .kind = PAI__IS_OBJECT,
                                       .shape = &submitted_shape };

/* --- queries --- */

static const pai__field queries[] = {
  PAI__TAKES(TEXT, "name", "its name, whatever the file says"),
  PAI__TAKES(TEXT, "workDir", "where its tasks work that have no code"),
  PAI__TAKES(TEXT, "codeDir", "the folder that PUT of its code answered"),
  PAI__TAKES(
    TEXT, "like",
    "job whose folder is copied, and whose secrets if it is not over"),
  { .name = "refuseImpossible",
    .kind = PAI__IS_FLAG,
    .what =
      "whether to refuse a job that asks for more than the platform has, "
      "instead of letting it wait (default: the platform's setting)" },
  { 0 }
};

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "POST",
    .path = "/api/v2/jobs",
    .handle = do_submit,
    .right = PAI__OF_USERS,
    .most_body = PAI__MOST_JOB,
    .acts = true,
    .status = 202,
    .result = &submitted,
    .queries = queries,
    .summary = "Submit a job",
    .errors = "400 InvalidProtocolError, 400 InvalidParametersError, 403 "
              "ForbiddenUserError, 404 NoJobError, 404 NoStorageError, 409 "
              "ConflictJobError, 429 NoEnoughQuotaError, 503 UnknownError" },
};

const pai__routes pai__submit_routes = { routes, PAI__LEN(routes) };
