/*
 * complete.c - the completion policy and the retry table
 *
 * The rules are job-spec 5.4 to 5.6; the numbers of the rows are kept.
 */
#include "job/complete.h"

enum { SECOND = 1000000 };

/* The task with which n of a role had ended well (or badly), or NULL.  Asked
 * after every end, so when the n-th has just ended it is the last one. */
static const pai__task *nth_done(const pai__job *job, uint32_t role, int32_t n,
                                 bool well)
{
  const pai__task *last = NULL;
  int32_t count = 0;

  for (size_t i = 0; i < job->ntasks; i++) {
    const pai__task *t = &job->tasks[i];
    if (t->state != PAI__TASK_DONE || t->role != role ||
        (t->code == 0) != well)
      continue;
    count++;
    if (last == NULL || t->order > last->order)
      last = t;
  }
  return n >= 1 && count >= n ? last : NULL;
}

/* For the same reason no two rules come true at once. */
bool pai__job_decide(const pai__job *job, const pai__task **trigger)
{
  size_t done = 0;

  *trigger = NULL;
  for (uint32_t r = 0; r < job->spec->nroles && *trigger == NULL; r++) {
    const pai__role *role = &job->spec->roles[r];

    *trigger = nth_done(job, r, role->min_failed, false);
    if (*trigger == NULL)
      *trigger = nth_done(job, r, role->min_succeeded, true);
  }
  for (size_t i = 0; i < job->ntasks; i++)
    done += job->tasks[i].state == PAI__TASK_DONE;
  return *trigger != NULL || done == job->ntasks;
}

/* Retries that do not count have no end, so they must not follow each other
 * at once: 0 s, then 1, 2, 4 and so on up to a minute. */
static pai_time transient_delay(const pai__job *job)
{
  uint32_t before = job->retries - job->counted;

  if (before == 0)
    return 0;
  return before > 6 ? 60 * SECOND : ((pai_time)1 << (before - 1)) * SECOND;
}

pai__retry pai__job_retry(pai__job *job, int code)
{
  pai__retry no = { false, false, 0 };

  if (code == PAI__CODE_STOPPED || code == PAI__CODE_JOB_OVER) /* row 0 */
    return no;
  switch (code) { /* contract codes of the container, and the platform's */
  case 201:       /* row 1: transient conflict */
    return (pai__retry){
      true, false, (pai_time)(60 + pai__prng_below(&job->prng, 841)) * SECOND
    };
  case 200: return (pai__retry){ true, false, transient_delay(job) }; /* 2 */
  case 210:
  case PAI__CODE_NOT_STARTED: return no; /* row 3: permanent */
  default: break;
  }
  if (code != 0 && job->counted < job->spec->retry_count) /* row 6 */
    return (pai__retry){ true, true, 0 };
  return no; /* row 7 */
}
