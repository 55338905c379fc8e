/*
 * code.c - PUT /jobs/NAME/code: a copy of a user's code, for a job to come
 *
 * It answers {"codeDir"}, which POST /jobs takes.  With ?from=USER~NAME it is
 * not sent, but that of another job.
 */
#include "server/server.h"

#include "server/quotas.h"
#include "server/upload.h"

/* What was unpacked goes before the answer leaves. */
static void refuse(pai__request *r, int rc, pai_error *err)
{
  pai__upload_free(r->upload);
  r->upload = NULL;
  pai__answer_failure(r, rc, err);
}

static void take_code(pai__request *r, const char *bytes, size_t len)
{
  pai_server *s = r->server;
  pai_error *err = NULL;
  int rc = PAI_OK;

  if (r->upload == NULL) {
    uint64_t most = pai__quota_code(r);

    if (most == 0) {
      pai__answer_error(r, 403, "NoEnoughQuotaError",
                        "%s has uploaded as much code as the quota allows: "
                        "submit jobs with it, or wait an hour.",
                        r->caller.name);
      return;
    }
    rc =
      pai__upload_new(&r->upload, &s->alloc, s->uploads, r->who, most, &err);
  }
  if (rc == PAI_OK)
    rc = pai__upload_add(r->upload, bytes, len, &err);
  if (rc < 0)
    refuse(r, rc, err);
}

static void answer(pai__request *r, const char *dir)
{
  pai__json_writer *w = &r->json;

  pai__json_writer_init(w, &r->answer, false);
  pai__json_begin_object(w);
  pai__json_key(w, "codeDir", 7);
  pai__json_text(w, dir, strlen(dir));
  pai__json_end_object(w);
  pai__answer_json(r, 201);
}

/* --- another job's -------------------------------------------------------------- */

static void on_copied(void *user_data, int status, const char *dir,
                      const pai_error *err)
{
  pai__request *r = pai__answer_now(user_data);

  if (r == NULL)
    return;
  if (status == PAI_OK)
    answer(r, dir);
  else
    pai__answer_error(r, status == PAI_ENOTFOUND ? 404 : 500, "UnknownError",
                      "%s", pai_error_message(err));
}

static void copy_other(pai__request *r, const char *from)
{
  pai_platform *platform = r->server->platform;
  struct pai__waiting *w;
  pai_error *err = NULL;
  pai_job_id job;
  int rc;

  if (!pai__request_is_own(r, from)) {
    pai__answer_forbidden(r, "Code is its own user's alone.");
    return;
  }
  rc = pai_platform_find(&job, platform, from, &err);
  if (rc < 0) {
    pai__answer_failure(r, rc, err);
    return;
  }
  w = pai__answer_later(r);
  if (w == NULL)
    return;
  rc = pai_platform_copy_code(platform, job, on_copied, w, &err);
  if (rc == PAI_OK)
    return;
  (void)pai__answer_now(w);
  if (rc == PAI_ENOTFOUND)
    pai__answer_error(r, 404, "NoCodeError", "%s", pai_error_message(err));
  else
    pai__answer_failure(r, rc, err), err = NULL;
  pai_error_free(err);
}

/* --- sent ------------------------------------------------------------------------ */

static void do_code(pai__request *r)
{
  const char *from = pai__request_query(r, "from");
  pai_error *err = NULL;
  int rc;

  if (from != NULL && r->server->system && !r->caller.admin) {
    pai__answer_error(r, 403, "ForbiddenUserError",
                      "On a platform of all users code is not copied from job "
                      "to job: send it.");
    return;
  }
  if (from != NULL && r->upload == NULL) {
    copy_other(r, from);
    return;
  }
  if (r->upload == NULL) {
    pai__answer_error(r, 400, "InvalidParametersError",
                      "The code is sent as a tar archive.");
    return;
  }
  rc = pai__upload_end(r->upload, &err);
  if (rc < 0) {
    refuse(r, rc, err);
    return;
  }
  pai__quota_keep_code(r, pai__upload_dir(r->upload),
                       pai__upload_size(r->upload));
  answer(r, pai__upload_dir(r->upload));
}

/* --- answers --- */

static const pai__field code_fields[] = { PAI__HAS(TEXT, "codeDir"), { 0 } };

static const pai__shape code_shape = { "Code", code_fields };

static const pai__result code = { .kind = PAI__IS_OBJECT,
                                  .shape = &code_shape };

/* --- queries --- */

static const pai__field queries[] = {
  PAI__TAKES(TEXT, "from", "the job whose code is copied, in place of a body"),
  { 0 }
};

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "PUT",
    .path = "/api/v2/jobs/:job/code",
    .handle = do_code,
    .right = PAI__OF_OWNER,
    .most_body = PAI__MOST_CODE,
    .take = take_code,
    .acts = true,
    .status = 201,
    .result = &code,
    .queries = queries,
    .summary = "A copy of code for a job to come",
    .errors = "400 InvalidParametersError, 403 NoEnoughQuotaError, 404 "
              "NoJobError, 404 NoCodeError" },
};

const pai__routes pai__code_routes = { routes, PAI__LEN(routes) };
