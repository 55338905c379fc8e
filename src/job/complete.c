/*
 * complete.c - the completion policy and the retry table
 *
 * The rules are job-spec 5.4 to 5.6; the numbers of the rows are kept.
 */
#include "job/complete.h"

enum { SECOND = 1000000 };

/* Only the rules of the task's own role can have come true by its end, and
 * only one of them; so no two rules ever compete for being the first. */
bool pai__job_decide(const pai__job *job, const pai__task *ended,
                     const pai__task **trigger)
{
  const pai__role *role = &job->spec->roles[ended->role];
  const pai__ended *count = &job->ended[ended->role];

  *trigger = NULL;
  if ((role->min_failed >= 1 && count->badly >= role->min_failed) ||
      (role->min_succeeded >= 1 && count->well >= role->min_succeeded))
    *trigger = ended;
  return *trigger != NULL || job->done == job->ntasks;
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
