/* public_save.c - saves and loads a whole job as bytes (openpai/job.h) */
#include "job/public.h"
#include "job/save.h"
#include "job/save_form.h"

static const char magic[] = "PAI job"; /* with its NUL */

static void save_form(pai__buf *out, const pai__job_form *form)
{
  pai__put_u8(out, form->partial);
  pai__put_u8(out, (uint8_t)(form->raw | form->own_signals << 1));
  pai__put_u8(out, form->retry.fancy);
  pai__put_u32(out, (uint32_t)form->retry.max);
  pai__put_u32(out, form->nroles);
  for (uint32_t r = 0; r < form->nroles; r++) {
    const pai__form_role *role = &form->roles[r];

    pai__put_u32(out, role->tasks);
    pai__put_u32(out, (uint32_t)role->min_failed);
    pai__put_u32(out, (uint32_t)role->min_succeeded);
    pai__put_u8(out, role->retry.fancy);
    pai__put_u32(out, (uint32_t)role->retry.max);
  }
}

enum { FORM_ROLE = 4 * 4 + 1 }; /* bytes */

static int load_form(pai__job_form *out, const pai_alloc *alloc,
                     pai__taker *from, pai_error **err)
{
  pai__form_role *roles;
  uint8_t bits;

  out->partial = pai__take_u8(from) != 0;
  bits = pai__take_u8(from);
  out->raw = (bits & 1) != 0;
  out->own_signals = (bits & 2) != 0;
  out->retry.fancy = pai__take_u8(from) != 0;
  out->retry.max = (int32_t)pai__take_u32(from);
  out->nroles = pai__take_u32(from);
  if (out->nroles == 0 || out->nroles > from->left / FORM_ROLE) {
    out->nroles = 0;
    return pai__fail(err, PAI_EINVAL, "the saved job has no such task roles");
  }
  roles = pai__zalloc(alloc, out->nroles * sizeof(*roles));
  if (roles == NULL) {
    out->nroles = 0;
    return pai__oom(err);
  }
  out->roles = roles;
  for (uint32_t r = 0; r < out->nroles; r++) {
    roles[r].tasks = pai__take_u32(from);
    roles[r].min_failed = (int32_t)pai__take_u32(from);
    roles[r].min_succeeded = (int32_t)pai__take_u32(from);
    roles[r].retry.fancy = pai__take_u8(from) != 0;
    roles[r].retry.max = (int32_t)pai__take_u32(from);
  }
  return PAI_OK;
}

int pai_job_save(const pai_job *job, pai_write_cb write, void *user_data,
                 pai_error **err)
{
  pai__buf out;
  int rc;

  PAI__CHECK_ARG_ERR(job != NULL && write != NULL, err);
  pai__buf_init(&out, &job->alloc);
  pai__buf_add(&out, magic, sizeof(magic));
  pai__put_u8(&out, PAI__SAVED_VERSION);
  save_form(&out, &job->form);
  pai__put_u32(&out, job->job.ntasks);
  pai__job_save_head(&out, &job->job);
  for (uint32_t i = 0; i < job->job.ntasks; i++)
    pai__job_save_task(&out, &job->job, i);
  rc = pai__buf_ok(&out) ? write(user_data, pai__buf_text(&out), out.len)
                         : pai__oom(err);
  pai__buf_dispose(&out);
  return rc < 0 ? rc : PAI_OK;
}

/* The rest is a head, and tasks of a fixed size. */
static int load_job(pai_job *job, pai__taker *from, pai_error **err)
{
  uint32_t ntasks = pai__take_u32(from);
  size_t head = PAI__SAVED_HEAD + (size_t)job->form.nroles * PAI__SAVED_ROLE;
  pai__bytes *tasks;
  int rc;

  if (from->bad || from->left < head ||
      (from->left - head) % PAI__SAVED_TASK != 0 ||
      (from->left - head) / PAI__SAVED_TASK != ntasks)
    return pai__fail(err, PAI_EINVAL, "the saved job has a wrong length");
  tasks =
    pai__realloc(&job->alloc, NULL, 0, (size_t)ntasks + 1, sizeof(*tasks));
  if (tasks == NULL)
    return pai__oom(err);
  for (uint32_t i = 0; i < ntasks; i++)
    tasks[i] = (pai__bytes){ from->at + head + (size_t)i * PAI__SAVED_TASK,
                             PAI__SAVED_TASK };
  rc = pai__job_restore(&job->job, &job->alloc, &job->form,
                        (pai__bytes){ from->at, head }, tasks, ntasks, err);
  pai__free(&job->alloc, tasks, ((size_t)ntasks + 1) * sizeof(*tasks));
  return rc;
}

int pai_job_load(pai_job **out, const void *bytes, size_t len,
                 const pai_alloc *alloc, pai_error **err)
{
  pai__taker from = { bytes, len, false };
  uint8_t version;
  pai_job *job;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(bytes != NULL, err);
  if (len < sizeof(magic) || memcmp(bytes, magic, sizeof(magic)) != 0)
    return pai__fail(err, PAI_EINVAL, "not a saved job");
  from.at += sizeof(magic);
  from.left -= sizeof(magic);
  version = pai__take_u8(&from);
  if (version != PAI__SAVED_VERSION)
    return pai__fail(
      err, version == 0 ? PAI_EINVAL : PAI_ENOTSUP,
      "this job was saved by version %u, which is not supported", version);
  job = pai__job_blank(alloc, err);
  if (job == NULL)
    return PAI_ENOMEM;
  rc = load_form(&job->form, &job->alloc, &from, err);
  if (rc == PAI_OK)
    rc = load_job(job, &from, err);
  if (rc < 0) {
    pai_job_free(job);
    return rc;
  }
  *out = job;
  return PAI_OK;
}
