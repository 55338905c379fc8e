/* why.c - why a job waits: jobs.why.  The reason is made in platform/records/why.c
 * from what sched/fit_reason.c found. */
#include "api/records.h"
#include "server/server.h"

void pai__do_jobs_why(pai__request *r)
{
  pai__forecast_ask(r, true);
}
