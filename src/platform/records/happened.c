/*
 * happened.c - recording the events of a job (rest-api 2.9, #61)
 *
 * Reasons are those of Kubernetes where it has one for the same event, so that
 * users find what they know: docs/compatibility.md lists them.
 */
#include "platform/records/record.h"

#include <openpai/records.h>

void pai__happened(pai__pjob *j, uint32_t task, const char *type,
                   const char *reason, const char *fmt, ...)
{
  pai_platform *p = j->platform;
  const pai__task *t =
    task != PAI__NO_TASK ? &pai__job_tasks(&j->job)[task] : NULL;
  char uid[PAI__UID];
  pai__buf message;
  pai__event_row row = { .job = j->id,
                         .type = type,
                         .reason = reason,
                         .component = "openpai",
                         .host = p->here.name,
                         .last = pai__loop_wall_time() };
  va_list ap;

  if (p->store == NULL)
    return;
  pai__buf_init(&message, &p->alloc);
  va_start(ap, fmt);
  pai__buf_vprintf(&message, fmt, ap);
  va_end(ap);
  row.message = pai__buf_text(&message);
  if (t != NULL) {
    uint32_t starts = j->tasks[task].starts;

    row.role = j->spec->roles[t->role].name;
    row.index = (pai__maybe){ true, t->index };
    row.task_uid =
      pai__platform_uid(uid, p, j->id,
                        (pai__uid_of){ .kind = PAI__UID_POD,
                                       .attempt = j->latest.number,
                                       .role = row.role,
                                       .index = t->index,
                                       .retry = starts > 0 ? starts - 1 : 0 });
  }
  if (pai__batch_put_event(p->batch, &row) < 0)
    pai__log_line(&p->log, PAI_LOG_WARNING,
                  "out of memory: the event %s of %s~%s is not stored", reason,
                  j->user, j->name);
  pai__buf_dispose(&message);
  pai__loop_step_ask(p->kick);
}

int pai_platform_add_event(pai_platform *p, pai_job_id job, const char *type,
                           const char *reason, const char *message,
                           pai_error **err)
{
  pai__pjob *j;

  PAI__CHECK_OBJECT(p, err);
  if (type == NULL || reason == NULL || message == NULL ||
      (strcmp(type, "Normal") != 0 && strcmp(type, "Warning") != 0))
    return pai__fail(err, PAI_EINVAL,
                     "an event is Normal or Warning, and has "
                     "a reason and a message");
  j = pai__platform_find_job(p, job);
  if (j == NULL || j->job.state == PAI__JOB_DONE)
    return pai__fail(err, PAI_ENOTFOUND, "no live job has the number %llu",
                     (unsigned long long)job);
  pai__happened(j, PAI__NO_TASK, type, reason, "%s", message);
  return PAI_OK;
}
