/*
 * code.c - PUT /jobs/NAME/code: uploads a user's code for a job that will be
 * submitted
 *
 * It answers {"codeDir"}, which POST /jobs takes.  With ?from=USER~NAME the
 * code is copied from another job instead.
 */
#include "server/server.h"

#include "server/calls/quotas.h"
#include "server/calls/upload.h"

#include <openpai/files.h>

void pai__code_give_up(pai__request *r)
{
  pai__upload *u = r->upload;

  /* The platform removes an incomplete upload on another thread. */
  if (u != NULL && !pai__upload_is_whole(u)) {
    pai__quota_drop_code(r->server, pai__upload_dir(u));
    (void)pai_platform_remove_code(r->server->platform, pai__upload_dir(u),
                                   NULL);
  }
  pai__upload_free(u);
  r->upload = NULL;
}

/* Unpacked files are removed before the answer is sent. */
static void refuse(pai__request *r, int rc)
{
  pai__code_give_up(r);
  pai__answer_failure(r, rc);
}

void pai__do_take_code(pai__request *r, const char *bytes, size_t len)
{
  pai_server *s = r->server;
  int rc = PAI_OK;

  if (r->upload == NULL)
    rc = pai__upload_new(&r->upload, &s->alloc, s->uploads, r->who,
                         PAI__MOST_CODE, &r->err);
  if (rc == PAI_OK)
    rc = pai__upload_add(r->upload, bytes, len, &r->err);
  if (rc < 0)
    refuse(r, rc);
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
  pai__json_write(w, "{codeDir:s}", dir);
  pai__answer_json(r, 201);
}

/* --- copies from another job --------------------------------------------- */

/* disk space of a small file, as counted for uploads */
enum { OF_FILE = 4096 };

/* A copy in progress; it outlives its request. */
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

/* Removes the copy if the request is gone or the quota is exceeded. */
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

/* Returns the size of the folder on disk. */
static uint64_t weigh(const pai__request *r, const char *json, size_t len)
{
  pai__tree *t = pai__server_tree(r->server, json, len);
  uint64_t bytes = (uint64_t)pai__tree_look_int(t, 0, "bytes") +
                   (uint64_t)pai__tree_look_int(t, 0, "files") * OF_FILE;

  pai__tree_free(t);
  return bytes;
}

/* If the folder is gone, pai_platform_copy_code() reports it. */
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

/* Measures the folder first, as the quota may not allow the copy. */
static void begin_copy(pai__request *r, pai_job_id job)
{
  pai_files_options o = PAI_FILES_OPTIONS_INIT;
  copying *c = pai__zalloc(&r->server->alloc, sizeof(*c));
  int rc;

  if (c == NULL) {
    pai__answer_failure(r, PAI_ENOMEM);
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
  rc = pai_platform_list_files(c->platform, job, &o, on_weighed, c, &r->err);
  if (rc == PAI_ENOTFOUND) {
    copy(c);
  } else if (rc < 0) {
    (void)pai__answer_now(c->waiting);
    refuse_copy(r, rc, r->err);
    free_copying(c);
  }
}

static void copy_other(pai__request *r, const char *from)
{
  pai_job_id job;
  int rc;

  if (!pai__request_is_own(r, from)) {
    pai__answer_forbidden(r, "The code belongs to another user.");
    return;
  }
  rc = pai_platform_find(&job, r->server->platform, from, &r->err);
  if (rc < 0)
    pai__answer_failure(r, rc);
  else
    begin_copy(r, job);
}

/* --- uploads ------------------------------------------------------------- */

void pai__do_jobs_send_code(pai__request *r)
{
  const char *from = pai__request_query(r, "from");
  int rc;

  if (from != NULL && r->server->system && !r->caller.admin) {
    pai__answer_error(r, 403, "ForbiddenUserError",
                      "A platform that serves all users copies no code from "
                      "job to job: upload the code.");
    return;
  }
  if (from != NULL && r->upload == NULL) {
    copy_other(r, from);
    return;
  }
  if (r->upload == NULL) {
    pai__answer_error(r, 400, "InvalidParametersError",
                      "The code must be sent as a tar archive.");
    return;
  }
  rc = pai__upload_end(r->upload, &r->err);
  if (rc < 0)
    refuse(r, rc);
  else
    answer(r, pai__upload_dir(r->upload));
}
