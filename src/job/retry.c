/*
 * retry.c - is what has ended tried again?
 *
 * The table is job-spec 5.4; the numbers of its rows are kept.
 */
#include "job/exit.h"
#include "job/inside.h"

enum { SECOND = 1000000, SOON = 60 * SECOND };

/* Retries without end must not follow each other at once when each attempt
 * ends soon: 0 s, then 1, 2, 4 and so on up to a minute. */
static pai_time endless_delay(const pai__tries *tries)
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

pai__retry pai__retry_decide(pai__retry_policy policy, bool raw, int code,
                             const pai__tries *tries, pai__prng *prng)
{
  const pai__retry no = { false, false, 0 };

  if (code == PAI__CODE_STOPPED || code == PAI__CODE_JOB_OVER ||
      code == PAI__CODE_REMOVED) /* row 0 */
    return no;
  if (policy.fancy && code != 0)
    switch (pai__exit_class(code, raw)) {
    case PAI__EXIT_CONFLICT: /* row 1 */
      if (prng == NULL)
        return again(false, endless_delay(tries));
      return again(false,
                   (pai_time)(60 + pai__prng_below(prng, 841)) * SECOND);
    case PAI__EXIT_TRANSIENT:
      return again(false, endless_delay(tries)); /* 2 */
    case PAI__EXIT_PERMANENT: return no;         /* 3 */
    case PAI__EXIT_UNKNOWN: break;
    }
  if (policy.max == PAI__RETRY_ALWAYS) /* row 4 */
    return again(true, endless_delay(tries));
  if (code == 0) /* row 7 */
    return no;
  if (policy.max == PAI__RETRY_FAILED) /* row 5 */
    return again(true, endless_delay(tries));
  if (policy.max > 0 && tries->counted < (uint32_t)policy.max) /* row 6 */
    return again(true, 0);
  return no; /* row 7 */
}
