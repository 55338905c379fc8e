/* estimate.c - when a job may start or end: jobs.estimate */
#include "api/records.h"
#include "server/server.h"

void pai__do_jobs_estimate(pai__request *r)
{
  pai__forecast_ask(r, false);
}
