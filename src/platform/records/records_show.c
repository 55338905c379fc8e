/* records_show.c - details of a job, and its file (rest-api 2.9) */
#include "platform/records/records.h"

typedef struct showing {
  pai__reply *a;
  int attempt; /* wanted, or -1 */
  bool found;
} showing;

static int job_value(void *user_data, unsigned field, const void *of)
{
  const pai__job_row *row = of;

  if (field == PAI__StatusOfJob_launchedTime)
    return pai__reply_time(user_data, row->launched != 0 ? row->launched
                                                         : row->completed);
  return pai__reply_retries(user_data, field, row);
}

/* Values of the shown attempt; a past one has no fold any more. */
static int attempt_value(void *user_data, unsigned field, const void *of)
{
  const pai__attempt_row *row = of;
  pai__reply *a = user_data;
  bool over = row->exit_code.there;

  switch (field) {
  case PAI__StatusOfAttempt_attemptState:
    return pai__reply_text(
      a, pai__api_attempt_state(row->state, (int)row->exit_code.value));
  case PAI__StatusOfAttempt_appProgress:
    pai__json_int(&a->w, over);
    return PAI_OK;
  case PAI__StatusOfAttempt_appTrackingUrl: return pai__reply_text(a, "");
  case PAI__StatusOfAttempt_appLaunchedTime:
    return pai__reply_time(a, row->launched != 0 ? row->launched
                                                 : row->completed);
  case PAI__StatusOfAttempt_appExitSpec:
    return pai__reply_exit(a, row->exit_code);
  case PAI__StatusOfAttempt_appExitDiagnostics:
    return pai__reply_summary(a, row->diagnostics);
  case PAI__StatusOfAttempt_appExitMessages:
    return pai__reply_messages(a, row->diagnostics, false);
  default: /* PAI__StatusOfAttempt_appExitType */
    return pai__reply_text(a, !over                       ? NULL
                              : row->exit_code.value == 0 ? "Succeeded"
                                                          : "Failed");
  }
}

static void write_status(pai__reply *a, const pai__job_row *row,
                         const pai__attempt_row *attempt)
{
  pai__json_put_object(&a->w, "jobStatus");
  (void)pai__api_write(&a->w, &pai__api_StatusOfJob, row, job_value, a);
  (void)pai__api_write(&a->w, &pai__api_StatusOfAttempt, attempt,
                       attempt_value, a);
  pai__json_end_object(&a->w);
}

static int write_job(pai__reply *a, const pai__job_row *row,
                     const pai__attempt_row *attempt)
{
  pai__job_part part = { row->user, row->name, row->id, attempt->number };
  int rc;

  pai__json_begin_object(&a->w);
  pai__json_member(&a->w, "debugId");
  (void)pai__reply_debug_id(a, row->user, row->name);
  pai__json_put_text(&a->w, "name", row->name);
  pai__json_member(&a->w, "tags");
  rc = pai__reply_tags(a, row->id);
  pai__json_put_text(&a->w, "jobPriority", row->priority);
  write_status(a, row, attempt);
  if (rc == PAI_OK)
    rc = pai__write_roles(a, &part);
  pai__json_end_object(&a->w);
  return rc;
}

/* --- past attempts -------------------------------------------------------- */

typedef struct older {
  showing *s;
  const pai__job_row *job;
} older;

static int on_attempt(void *user_data, const pai__attempt_row *row)
{
  older *o = user_data;

  if (o->s->found || (int64_t)row->number != o->s->attempt)
    return PAI_OK;
  o->s->found = true;
  return write_job(o->s->a, o->job, row);
}

static int on_job(void *user_data, const pai__job_row *row)
{
  showing *s = user_data;

  if (s->attempt >= 0 && (uint32_t)s->attempt != row->now.number)
    return pai__store_attempts(s->a->p->store, row->id, on_attempt,
                               &(older){ s, row }, s->a->err);
  s->found = true;
  return write_job(s->a, row, &row->now);
}

int pai_platform_show(pai_platform *p, pai_job_id job, int attempt,
                      pai_write_cb write, void *user_data, pai_error **err)
{
  pai__reply a;
  showing s = { &a, attempt, false };
  int rc = pai__reply_begin(&a, p, write, user_data, err);

  if (rc < 0)
    return rc;
  rc = pai__store_job(p->store, job, on_job, &s, err);
  if (rc == PAI_OK && !s.found)
    rc = pai__fail(err, PAI_ENOTFOUND, "the job has no attempt %d", attempt);
  return pai__reply_end(&a, rc);
}

/* --- its file ------------------------------------------------------------- */

static int on_text(void *user_data, const char *text)
{
  pai__buf_str(user_data, text);
  return PAI_OK;
}

static int write_json(const pai__buf *text, const pai_alloc *alloc,
                      pai_write_cb write, void *user_data, pai_error **err)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai_spec_write_options how = PAI_SPEC_WRITE_OPTIONS_INIT;
  pai_spec *spec;
  int rc;

  o.alloc = alloc;
  how.format = PAI_FORMAT_JSON;
  rc = pai_spec_parse(&spec, text->data, text->len, &o, err);
  if (rc == PAI_OK)
    rc = pai_spec_write(spec, &how, write, user_data, err);
  pai_spec_unref(spec);
  return rc;
}

int pai_platform_config(pai_platform *p, pai_job_id job, int format,
                        pai_write_cb write, void *user_data, pai_error **err)
{
  pai__buf text;
  int rc;

  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(write != NULL, err);
  if (p->store == NULL)
    return pai__no_records(err);
  if (format != PAI_FORMAT_YAML && format != PAI_FORMAT_JSON)
    return pai__fail(err, PAI_EINVAL, "a job's file is YAML or JSON");
  pai__buf_init(&text, &p->alloc);
  rc = pai__store_config(p->store, job, on_text, &text, err);
  if (rc == PAI_OK && !pai__buf_ok(&text))
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = format == PAI_FORMAT_JSON
           ? write_json(&text, &p->alloc, write, user_data, err)
           : write(user_data, text.data, text.len);
  pai__buf_dispose(&text);
  return rc;
}
