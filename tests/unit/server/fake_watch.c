/* fake_watch.c - what a played platform tells those who watch it */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

int pai_platform_tasks(pai_platform *p, pai_task_cb cb, void *user_data,
                       pai_error **err)
{
  if (err != NULL)
    *err = NULL;
  if (p->fail < 0)
    return pai__fail(err, p->fail, "as the test wants");
  for (size_t i = 0; i < p->ntasks; i++) {
    int rc = cb(user_data, &p->tasks[i]);
    if (rc < 0)
      return pai__fail(err, rc, "whoever is told has ended it");
  }
  return PAI_OK;
}

int pai_platform_count(const pai_platform *p, pai_platform_counts *counts)
{
  (void)p;
  *counts = (pai_platform_counts){ .struct_size = sizeof(*counts),
                                   .waiting = 4,
                                   .running = 5,
                                   .queued = 6,
                                   .submitted = 70,
                                   .failed = 8,
                                   .commits = 9,
                                   .commit_failures = 1,
                                   .commit_us = 2500000 };
  return PAI_OK;
}

struct pai_estimate {
  pai_platform *p;
  pai__loop_step *turn;
  pai_estimate_cb cb;
  void *user_data;
  int status;
  int *count;
  const char *said;
};

static int drop(void *user_data, const char *text, size_t len)
{
  (void)user_data;
  (void)text;
  (void)len;
  return PAI_OK;
}

static void on_estimate(void *user_data)
{
  pai_estimate *e = user_data;
  const char *said = e->said;
  pai_error *err = NULL;

  if (e->status < 0)
    (void)pai__fail(&err, e->status, "as the test wants");
  else
    (void)fake_write(drop, NULL, said); /* not to be held against tables */
  --*e->count;
  pai__loop_step_close(e->turn);
  e->cb(e->user_data, e->status, e->status < 0 ? NULL : said,
        e->status < 0 ? 0 : strlen(said), err);
  pai_error_free(err);
  pai__free(&pai__libc_alloc, e, sizeof(*e));
}

static pai_estimate *begin(pai_platform *p, const char *said, int *count,
                           pai_estimate_cb cb, void *user_data)
{
  pai_estimate *e = pai__zalloc(&pai__libc_alloc, sizeof(*e));

  if (e == NULL || pai__loop_step_new(&e->turn, &pai__libc_alloc, p->loop,
                                      on_estimate, e) < 0)
    abort();
  e->p = p;
  e->cb = cb;
  e->user_data = user_data;
  e->status = p->fail < 0 ? p->fail : PAI_OK;
  e->said = said;
  e->count = count;
  ++*count;
  if (!p->slow)
    pai__loop_step_ask(e->turn);
  return e;
}

int pai_platform_estimate_beside(pai_estimate **out, pai_platform *p,
                                 pai_job_id job, pai_estimate_cb cb,
                                 void *user_data, pai_error **err)
{
  (void)job;
  if (err != NULL)
    *err = NULL;
  *out = begin(p, "{\"start\":null}", &p->estimates, cb, user_data);
  return PAI_OK;
}

void pai_estimate_cancel(pai_estimate *e)
{
  if (e == NULL)
    return;
  e->status = PAI_ECANCELED;
  pai__loop_step_ask(e->turn);
}

/* An answer is played by an estimate. */
int pai_platform_why_beside(pai_answer **out, pai_platform *p, pai_job_id job,
                            pai_answer_cb cb, void *user_data, pai_error **err)
{
  (void)job;
  if (err != NULL)
    *err = NULL;
  *out = (pai_answer *)(void *)begin(p, "{\"reasons\":[]}", &p->answers, cb,
                                     user_data);
  return PAI_OK;
}

void pai_answer_cancel(pai_answer *a)
{
  pai_estimate_cancel((pai_estimate *)(void *)a);
}

int pai_platform_attempts(pai_platform *p, pai_job_id job, int attempt,
                          pai_write_cb write, void *user_data, pai_error **err)
{
  (void)job;
  if (err != NULL)
    *err = NULL;
  if (p->fail < 0)
    return pai__fail(err, p->fail, "as the test wants");
  if (attempt > p->last_attempt)
    return pai__fail(err, PAI_ENOTFOUND, "no such attempt");
  return attempt < 0 ? fake_write(write, user_data, "[{\"a\":0}]")
                     : fake_write(write, user_data, "{\"a\":1}");
}
