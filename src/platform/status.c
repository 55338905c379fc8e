/* status.c - status of a platform as JSON */
#include "platform/apart.h"
#include "platform/records/records.h"
#include "platform/shortage.h"

static pai__job_counts_row count_jobs(const pai_platform *p)
{
  uint32_t states[PAI_STATE_STOPPED + 1] = { 0 };
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;)
    states[pai__job_public_state(&((pai__pjob *)e->value)->job)]++;
  return (pai__job_counts_row){ .waiting = states[PAI_STATE_WAITING],
                                .running = states[PAI_STATE_RUNNING],
                                .stopping = states[PAI_STATE_STOPPING] };
}

/* Returns the runtime of jobs that name none; `text` is its memory. */
static const char *runtime_of(const pai_platform *p, pai__buf *text)
{
  if (p->runtime == PAI_RUNTIME_AUTO)
    return p->ops->runtime(p->backend);
  pai__buf_printf(text,
                  "%s, as this platform was told; a job may ask for another",
                  pai__plan_runtime_name(p->runtime));
  return pai__buf_text(text);
}

/* Returns why the platform cannot write its database or start jobs, or NULL. */
static const char *trouble_of(const pai_platform *p, pai__buf *text)
{
  if (p->failing)
    pai__buf_str(text, pai_error_message(p->trouble));
  else if (p->full)
    pai__buf_printf(text, "the disk of %s is full: no job is taken", p->root);
  else
    pai__shortage_tell(p, text);
  return text->len > 0 ? pai__buf_text(text) : NULL;
}

int pai_platform_status(pai_platform *p, pai_write_cb write, void *user_data,
                        pai_error **err)
{
  pai_sched_view sums = { .struct_size = sizeof(sums) };
  pai__buf runtime, trouble;
  pai__status_row row;
  pai__reply a;
  int rc = pai__reply_begin(&a, p, write, user_data, err);

  if (rc < 0)
    return rc;
  pai__buf_init(&runtime, &p->alloc);
  pai__buf_init(&trouble, &p->alloc);
  (void)pai_sched_view_sums(p->sched, &sums);
  row = (pai__status_row){ .pid = (uint32_t)pai__platform_pid(),
                           .version = pai_version(),
                           .root = p->root,
                           .user = p->user,
                           .system = p->system,
                           .jobs = count_jobs(p),
                           .machine = pai__node_of(p),
                           .policy = sums.policy,
                           .limits = p->ops->limits(p->backend),
                           .runtime = runtime_of(p, &runtime),
                           .warning = pai__apart_hole(p),
                           .trouble = trouble_of(p, &trouble) };
  (void)pai__api_object(&a.w, &pai__api_Status, &row, NULL, NULL);
  pai__buf_dispose(&runtime);
  pai__buf_dispose(&trouble);
  return pai__reply_end(&a, PAI_OK);
}
