/*
 * code.c - PUT /jobs/NAME/code: a copy of a user's code, for a job to come
 *
 * It answers {"codeDir"}, which POST /jobs takes.  With ?from=USER~NAME it is
 * not sent, but that of another job.
 */
#include "server/server.h"

#include "server/quotas.h"
#include "server/upload.h"

#include <openpai/files.h>

void pai__code_give_up(pai__request *r)
{
  pai__upload *u = r->upload;

  /* All that it has is removed by the platform, in another thread. */
  if (u != NULL && !pai__upload_is_whole(u)) {
    pai__quota_drop_code(r->server, pai__upload_dir(u));
    (void)pai_platform_remove_code(r->server->platform, pai__upload_dir(u),
                                   NULL);
  }
  pai__upload_free(u);
  r->upload = NULL;
}

/* What was unpacked goes before the answer leaves. */
static void refuse(pai__request *r, int rc, pai_error *err)
{
  pai__code_give_up(r);
  pai__answer_failure(r, rc, err);
}

static void take_code(pai__request *r, const char *bytes, size_t len)
{
  pai_server *s = r->server;
  pai_error *err = NULL;
  int rc = PAI_OK;

  if (r->upload == NULL)
    rc = pai__upload_new(&r->upload, &s->alloc, s->uploads, r->who,
                         PAI__MOST_CODE, &err);
  if (rc == PAI_OK)
    rc = pai__upload_add(r->upload, bytes, len, &err);
  if (rc < 0)
    refuse(r, rc, err);
  else if (!pai__quota_has_code(r, pai__upload_dir(r->upload),
                                pai__upload_size(r->upload))) {
    pai__code_give_up(r);
    pai__quota_refuse_upload(r);
  }
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

enum { OF_FILE = 4096 }; /* bytes of a disk, as of one that is sent */

/* A copy that is being made, whatever becomes of who asked for it. */
typedef struct copying {
  pai_alloc alloc;
  pai_platform *platform;
  struct pai__waiting *waiting;
  pai_job_id job;
  uint64_t bytes;
} copying;

static void free_copying(copying *c)
{
  pai_alloc alloc = c->alloc;

  pai__free(&alloc, c, sizeof(*c));
}

static void refuse_copy(pai__request *r, int rc, const pai_error *err)
{
  if (rc == PAI_ENOTFOUND)
    pai__answer_error(r, 404, "NoCodeError", "%s", pai_error_message(err));
  else
    pai__answer_why(r, rc, err);
}

/* What nobody waits for any more, or is more than its user may have, goes. */
static void on_copied(void *user_data, int status, const char *dir,
                      const pai_error *err)
{
  copying *c = user_data;
  pai__request *r = pai__answer_now(c->waiting);

  if (r != NULL && status < 0)
    pai__answer_error(r, status == PAI_ENOTFOUND ? 404 : 500, "UnknownError",
                      "%s", pai_error_message(err));
  else if (r != NULL && pai__quota_has_code(r, dir, c->bytes))
    answer(r, dir);
  else if (status == PAI_OK)
    (void)pai_platform_remove_code(c->platform, dir, NULL);
  if (r != NULL && status == PAI_OK && !r->ready) {
    pai__quota_drop_code(r->server, dir);
    pai__quota_refuse_upload(r);
  }
  free_copying(c);
}

/* How much it is, in bytes of a disk. */
static uint64_t weigh(const pai__request *r, const char *json, size_t len)
{
  pai__json_options options = { .alloc = &r->server->alloc };
  pai__tree *t = NULL;
  uint64_t bytes = 0;

  if (pai__json_parse(&t, json, len, &options, NULL) == PAI_OK)
    bytes = (uint64_t)pai__tree_look_int(t, 0, "bytes") +
            (uint64_t)pai__tree_look_int(t, 0, "files") * OF_FILE;
  pai__tree_free(t);
  return bytes;
}

/* Its copy says itself what is wrong with a folder that is gone. */
static void copy(copying *c)
{
  pai_error *err = NULL;
  pai__request *r;
  int rc = pai_platform_copy_code(c->platform, c->job, on_copied, c, &err);

  if (rc == PAI_OK)
    return;
  r = pai__answer_now(c->waiting);
  if (r != NULL)
    refuse_copy(r, rc, err);
  pai_error_free(err);
  free_copying(c);
}

static void on_weighed(void *user_data, int status, const char *json,
                       size_t len, const pai_error *err)
{
  copying *c = user_data;
  pai__request *r = pai__answer_now(c->waiting);

  if (r != NULL && status < 0 && status != PAI_ENOTFOUND)
    refuse_copy(r, status, err);
  c->waiting = NULL;
  c->bytes = r != NULL && status == PAI_OK ? weigh(r, json, len) : 0;
  if (r != NULL && !r->ready && !pai__quota_may_upload(r, c->bytes))
    pai__quota_refuse_upload(r);
  if (r != NULL && !r->ready)
    c->waiting = pai__answer_later(r);
  if (c->waiting != NULL)
    copy(c);
  else
    free_copying(c);
}

/* It is weighed first: the quota may not have room for it. */
static void begin_copy(pai__request *r, pai_job_id job)
{
  pai_files_options o = PAI_FILES_OPTIONS_INIT;
  copying *c = pai__zalloc(&r->server->alloc, sizeof(*c));
  pai_error *err = NULL;
  int rc;

  if (c == NULL) {
    pai__answer_failure(r, PAI_ENOMEM, NULL);
    return;
  }
  *c = (copying){ .alloc = r->server->alloc,
                  .platform = r->server->platform,
                  .waiting = pai__answer_later(r),
                  .job = job };
  if (c->waiting == NULL) {
    free_copying(c);
    return;
  }
  o.total = o.own = 1;
  rc = pai_platform_list_files(c->platform, job, &o, on_weighed, c, &err);
  if (rc == PAI_ENOTFOUND) {
    copy(c);
  } else if (rc < 0) {
    (void)pai__answer_now(c->waiting);
    refuse_copy(r, rc, err);
    free_copying(c);
  }
  pai_error_free(err);
}

static void copy_other(pai__request *r, const char *from)
{
  pai_error *err = NULL;
  pai_job_id job;
  int rc;

  if (!pai__request_is_own(r, from)) {
    pai__answer_forbidden(r, "Code is its own user's alone.");
    return;
  }
  rc = pai_platform_find(&job, r->server->platform, from, &err);
  if (rc < 0)
    pai__answer_failure(r, rc, err);
  else
    begin_copy(r, job);
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
  answer(r, pai__upload_dir(r->upload));
}

/* --- answers --- */

static const pai__field code_fields[] = { PAI__HAS(TEXT, "codeDir"), { 0 } };

static const pai__shape code_shape = { "Code", code_fields };

static const pai__result code = { .kind = PAI__IS_OBJECT,
                                  .shape = &code_shape };

/* --- queries --- */

static const pai__field queries[] = {
  PAI__TAKES(TEXT, "from", "the job whose code is copied, instead of a body"),
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
    .summary = "Upload a copy of code for a new job",
    .errors = "400 InvalidParametersError, 403 NoEnoughQuotaError, 404 "
              "NoJobError, 404 NoCodeError" },
};

const pai__routes pai__code_routes = { routes, PAI__LEN(routes) };
