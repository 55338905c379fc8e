/*
 * retry.c - retry policy: decides whether a failed job or task is retried
 *
 * The table is job-spec 5.4; the comments below give its row numbers.
 */
#include "job/end/exit.h"
#include "job/inside.h"

#include <openpai/job.h>

enum { SECOND = 1000000, SOON = 60 * SECOND };

/* Unlimited retries must not follow each other at once if each attempt ends
 * soon: the delay is 0 s, then 1, 2, 4 and so on up to a minute. */
static pai_time growing_delay(const pai__tries *tries)
{
  uint8_t before = *tries->hasty;

  if (tries->lasted >= SOON) {
    *tries->hasty = 0;
    return 0;
  }
  if (before < UINT8_MAX)
    *tries->hasty = (uint8_t)(before + 1);
  if (before == 0)
    return 0;
  return before > 6 ? SOON : ((pai_time)1 << (before - 1)) * SECOND;
}

static pai__retry again(bool counts, pai_time delay)
{
  return (pai__retry){ true, counts, delay };
}

/* Returns whether the class alone decides about a retry. */
static bool is_free(pai__retry_policy policy, enum pai__exit_class class)
{
  return policy.fancy &&
         (class == PAI__EXIT_CONFLICT || class == PAI__EXIT_TRANSIENT);
}

static pai__retry free_retry(enum pai__exit_class class,
                             const pai__tries *tries, pai__prng *prng)
{
  if (tries->free >= PAI_JOB_MAX_RETRIES)
    return (pai__retry){ false, false, 0 };
  if (class == PAI__EXIT_CONFLICT && prng != NULL) /* row 1 */
    return again(false, (pai_time)(60 + pai__prng_below(prng, 841)) * SECOND);
  return again(false, growing_delay(tries)); /* row 2 */
}

pai__retry pai__retry_decide(pai__retry_policy policy,
                             const pai__job_form *form, int code,
                             const pai__tries *tries, pai__prng *prng)
{
  const pai__retry no = { false, false, 0 };
  enum pai__exit_class class =
    pai__exit_class(code, form->raw, form->own_signals);

  if (code == PAI__CODE_STOPPED || code == PAI__CODE_JOB_OVER ||
      code == PAI__CODE_REMOVED) /* row 0 */
    return no;
  if (code != 0 && is_free(policy, class))
    return free_retry(class, tries, prng);
  if (code != 0 && policy.fancy && class == PAI__EXIT_PERMANENT) /* row 3 */
    return no;
  if (policy.max == PAI__RETRY_ALWAYS && /* row 4 */
      tries->counted < PAI_JOB_MAX_RETRIES)
    return again(true, growing_delay(tries));
  if (code == 0) /* row 7 */
    return no;
  if (policy.max == PAI__RETRY_FAILED && /* row 5 */
      tries->counted < PAI_JOB_MAX_RETRIES)
    return again(true, growing_delay(tries));
  if (policy.max > 0 && tries->counted < (uint32_t)policy.max) /* row 6 */
    return again(true, 0);
  return no; /* row 7 */
}

/* --- counting retries ---------------------------------------------------- */

static pai__retries count(pai__retry_policy policy, const pai__job_form *form,
                          int code, uint32_t retries, uint32_t counted)
{
  if (is_free(policy, pai__exit_class(code, form->raw, form->own_signals)))
    return (pai__retries){ retries - counted, PAI_JOB_MAX_RETRIES };
  return (pai__retries){ counted, policy.max < 0 ? PAI_JOB_MAX_RETRIES
                                                 : (uint32_t)policy.max };
}

pai__retries pai__job_retries(const pai__job *job)
{
  return count(job->form->retry, job->form, job->code, job->retries,
               job->counted);
}

pai__retries pai__job_task_retries(const pai__job *job, uint32_t task)
{
  const pai__task *t = &pai__job_tasks(job)[task];

  return count(job->form->roles[t->role].retry, job->form, t->code, t->retries,
               t->counted);
}
