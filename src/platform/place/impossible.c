/*
 * impossible.c - jobs that ask for more than the cluster has
 *
 * OpenPAI lets them wait.  The scheduler refuses them, so that no job waits
 * behind them: the platform keeps them without a request, and sends it again
 * when the machine or the virtual clusters have changed.
 */
#include "platform/place/impossible.h"

#include "base/text/milli.h"
#include "platform/place/placing.h"
#include "platform/place/single.h"

/* Writes what a task asks for that this node does not have; false: nothing. */
static bool put_lack(pai__buf *out, const pai_platform *p,
                     const pai__role *role)
{
  char cpus[PAI__MILLI_TEXT];

  if (role->gpus > p->here.gpus)
    pai__buf_printf(out, "no node has %u GPU%s", role->gpus,
                    role->gpus == 1 ? "" : "s");
  else if (role->cpus > p->here.cpus)
    pai__buf_printf(out, "no node has %s CPUs",
                    pai__milli_text(cpus, role->cpu_millis));
  else if ((uint64_t)role->memory_mb > p->here.memory_mb)
    pai__buf_printf(out, "no node has %llu MiB of memory",
                    (unsigned long long)role->memory_mb);
  return out->len > 0;
}

int pai__impossible_note(pai__pjob *j, pai_error **err)
{
  pai_platform *p = j->platform;
  pai__action rest;
  pai__buf text;

  pai__buf_init(&text, &p->alloc);
  for (size_t r = 0; r < j->spec->nroles; r++)
    if (put_lack(&text, p, &j->spec->roles[r]))
      break;
  if (text.len == 0)
    pai__buf_str(&text, err != NULL && *err != NULL
                          ? pai_error_message(*err)
                          : "it asks for more than the platform has");
  if (err != NULL) {
    pai_error_free(*err);
    *err = NULL;
  }
  pai__platform_unqueue(j);
  while (pai__job_next(&j->job, j->job.ntasks, &rest)) /* drops its actions */
    ;
  pai__strfree(&p->alloc, j->impossible);
  j->impossible = pai__buf_take(&text);
  p->impossible += j->impossible != NULL;
  return j->impossible != NULL ? PAI_OK : pai__oom(err);
}

static int ask(pai__pjob *j, pai_error **err)
{
  int rc = PAI_OK;

  if (!j->form.partial)
    return pai__platform_queue(j, err);
  for (uint32_t t = 0; rc == PAI_OK && t < j->job.ntasks; t++)
    if (pai__job_tasks(&j->job)[t].state == PAI__TASK_WAITING)
      rc = pai__single_queue(j, t, err);
  return rc;
}

void pai__impossible_try(pai__pjob *j)
{
  const pai_alloc *alloc = &j->platform->alloc;
  char *was = j->impossible;
  pai_error *err = NULL;
  int rc;

  if (was == NULL || j->job.state != PAI__JOB_QUEUED)
    return;
  j->impossible = NULL;
  j->platform->impossible--;
  rc = ask(j, &err);
  if (rc == PAI_ENOROOM)
    rc = pai__impossible_note(j, &err);
  if (rc < 0 && j->impossible == NULL) { /* out of memory: as before */
    pai__platform_unqueue(j);
    j->impossible = was;
    j->platform->impossible++;
    was = NULL;
  }
  pai__strfree(alloc, was);
  pai_error_free(err);
}

void pai__impossible_try_all(pai_platform *p)
{
  const pai__map_entry *e;

  for (size_t i = 0;
       p->impossible > 0 && (e = pai__map_next(&p->jobs, &i)) != NULL;)
    pai__impossible_try(e->value);
}
