/* questions.c - calls about jobs that another thread answers */
#include "platform/records/questions.h"

static int check(const pai__questions *list, const pai_platform *p,
                 const pai__question_kind *kind, pai_error **err)
{
  int rc = pai__check_open(p, err);

  if (rc < 0)
    return rc;
  if (list->n >= kind->most)
    return pai__fail(err, PAI_EBUSY, "%u %s are being made: ask again later",
                     kind->most, kind->what);
  return PAI_OK;
}

int pai__question_ask(pai__question **out, pai__questions *list,
                      pai_platform *p, pai_job_id job, pai__question_cb cb,
                      void *user_data, const pai__question_kind *kind,
                      pai_error **err)
{
  pai__question *q, **end = &list->first;
  int rc = check(list, p, kind, err);

  if (rc < 0)
    return rc;
  q = kind->make(p) == PAI_OK ? pai__zalloc(&p->alloc, sizeof(*q)) : NULL;
  if (q == NULL)
    return pai__oom(err);
  q->p = p;
  q->list = list;
  q->job = job;
  q->cb = cb;
  q->user_data = user_data;
  while (*end != NULL)
    end = &(*end)->next;
  *end = q;
  list->n++;
  pai__loop_step_ask(p->kick);
  *out = q;
  return PAI_OK;
}

void pai__question_tell(pai__question *q, pai__question_fn write,
                        const void *with)
{
  pai__question **at = &q->list->first;
  pai_platform *p = q->p;
  pai_error *err = NULL;
  pai__buf text;
  int rc;

  pai__buf_init(&text, &p->alloc);
  if (q->cancelled)
    rc = pai__fail(&err, PAI_ECANCELED, "the call was cancelled");
  else
    rc = write(q, with, &text, &err);
  if (rc == PAI_OK && !pai__buf_ok(&text))
    rc = pai__oom(&err);
  while (*at != q)
    at = &(*at)->next;
  *at = q->next;
  q->list->n--;
  q->cb(q->user_data, rc, rc == PAI_OK ? text.data : NULL,
        rc == PAI_OK ? text.len : 0, err);
  pai__buf_dispose(&text);
  pai_error_free(err);
  pai__free(&p->alloc, q, sizeof(*q));
  pai__loop_step_ask(p->kick);
}

void pai__question_cancel(pai__question *q)
{
  if (q == NULL)
    return;
  q->cancelled = true;
  pai__loop_step_ask(q->p->kick);
}

void pai__questions_cancel(pai__questions *list)
{
  for (pai__question *q = list->first; q != NULL; q = q->next)
    q->cancelled = true;
}

uint64_t pai__platform_events(const pai_platform *p)
{
  pai_sched_view sums = { .struct_size = sizeof(sums) };

  (void)pai_sched_view_sums(p->sched, &sums);
  return sums.events;
}
