/* records_show.c - all about a job, and its file (rest-api 2.9) */
#include "platform/records.h"

typedef struct showing {
  pai__reply *a;
  int attempt; /* wanted, or -1 */
  bool found;
} showing;

/* The attempt that is shown: not the job's latest one has no fold any more. */
static void write_attempt(pai__reply *a, const pai__attempt_row *row)
{
  pai__member_int(a, "attemptId", row->number);
  pai__member_text(
    a, "attemptState",
    pai__api_attempt_state(row->state, (int)row->exit_code.value));
  pai__member_text(a, "appId", row->uid);
  pai__member_int(a, "appProgress", row->exit_code.there);
  pai__member_text(a, "appTrackingUrl", "");
  pai__member_time(a, "appCreatedTime", row->created);
  pai__member_time(a, "appLaunchedTime",
                   row->launched != 0 ? row->launched : row->completed);
  pai__member_time(a, "appCompletedTime", row->completed);
  pai__member_maybe(a, "appExitCode", row->exit_code);
  pai__member_exit(a, "appExitSpec", row->exit_code);
  pai__member_summary(a, "appExitDiagnostics", row->diagnostics);
  pai__member_maybe(a, "originUserExitCode", row->user_code);
  pai__member_text(a, "exitReason", row->why);
  pai__member_failure(a, row->failure);
  pai__member_messages(a, "appExitMessages", row->diagnostics, false);
  pai__member_text(a, "appExitTriggerMessage", row->trigger);
  pai__member_text(a, "appExitTriggerTaskRoleName", row->trigger_role);
  pai__member_maybe(a, "appExitTriggerTaskIndex", row->trigger_index);
  pai__member_text(a, "appExitType",
                   !row->exit_code.there       ? NULL
                   : row->exit_code.value == 0 ? "Succeeded"
                                               : "Failed");
}

static void write_status(pai__reply *a, const pai__job_row *row,
                         const pai__attempt_row *attempt)
{
  pai__member(a, "jobStatus");
  pai__json_begin_object(&a->w);
  pai__member_text(a, "username", row->user);
  pai__member_text(a, "state", row->state);
  pai__member_text(a, "subState", row->sub_state);
  pai__member_text(a, "executionType", row->execution);
  pai__member_retries(a, row);
  pai__member_time(a, "submissionTime", row->submitted);
  pai__member_time(a, "createdTime", row->created);
  pai__member_time(a, "launchedTime",
                   row->launched != 0 ? row->launched : row->completed);
  pai__member_time(a, "completedTime", row->completed);
  pai__member_bool(a, "outputLost", row->output_lost);
  pai__member_text(a, "virtualCluster", row->vc);
  write_attempt(a, attempt);
  pai__json_end_object(&a->w);
}

static int write_job(pai__reply *a, const pai__job_row *row,
                     const pai__attempt_row *attempt)
{
  pai__job_part part = { row->user, row->name, row->id, attempt->number };
  int rc;

  pai__json_begin_object(&a->w);
  pai__member_debug_id(a, "debugId", row->user, row->name);
  pai__member_text(a, "name", row->name);
  rc = pai__member_tags(a, row->id);
  pai__member_text(a, "jobPriority", row->priority);
  write_status(a, row, attempt);
  if (rc == PAI_OK)
    rc = pai__write_roles(a, &part);
  pai__json_end_object(&a->w);
  return rc;
}

/* --- an attempt before the latest -------------------------------------------------- */

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

/* --- its file --------------------------------------------------------------------- */

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

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(p != NULL && write != NULL, err);
  PAI__CHECK_PROCESS(p, err);
  if (p->store == NULL)
    return pai__fail(err, PAI_ENOTSUP, "the platform keeps no records");
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
