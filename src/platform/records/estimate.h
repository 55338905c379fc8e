/* estimate.h - internal to the room: forecasts of when jobs start and end */
#ifndef PAI_SRC_PLATFORM_RECORDS_ESTIMATE_H
#define PAI_SRC_PLATFORM_RECORDS_ESTIMATE_H

#include "platform/platform.h"

#include <openpai/forecast.h>

typedef struct pai__look pai__look;

/* Makes a history of the jobs that ended here.  PAI_OK or a code. */
int pai__estimate_learn(pai_history **out, const pai_platform *p,
                        pai_error **err);

/* Forks the scheduler, and sets the fork's time to now: the scheduler itself
 * has the time of its last event. */
int pai__estimate_fork(pai_sched **out, const pai_platform *p,
                       pai_error **err);

/* Returns the options of a forecast for a request. */
pai_forecast_options pai__estimate_options(const pai_platform *p,
                                           uint64_t request);

/* Returns the request of a waiting job, or 0. */
uint64_t pai__estimate_request(const pai_platform *p, pai_job_id job);

/* Writes the reply of pai_platform_estimate() with a finished forecast for
 * `request`; without one, with the reason in *err. */
int pai__estimate_write(pai_platform *p, pai_job_id job,
                        const pai_forecast *forecast, uint64_t request,
                        pai_write_cb write, void *user_data, pai_error **err);

/* To be called in the platform's step: begins the next estimate, and calls back
 * for cancelled ones.  A platform that closes cancels all. */
void pai__estimates_step(pai_platform *p);
bool pai__estimates_are_idle(const pai_platform *p);
/* Only while estimates are idle. */
void pai__estimates_close(pai_platform *p);

#endif
