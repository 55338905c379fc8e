/* estimate.h - internal to the room: when jobs start and end, as guesses */
#ifndef PAI_SRC_PLATFORM_ESTIMATE_H
#define PAI_SRC_PLATFORM_ESTIMATE_H

#include "platform/platform.h"

#include <openpai/forecast.h>

typedef struct pai__look pai__look;

/* What jobs that ended here took.  PAI_OK or a code. */
int pai__estimate_learn(pai_history **out, const pai_platform *p,
                        pai_error **err);

/* The scheduler as it is, with the time that it is: it knows that of the last
 * event, and so not for how long jobs have run since. */
int pai__estimate_fork(pai_sched **out, const pai_platform *p,
                       pai_error **err);

/* What is asked of a forecast for a request. */
pai_forecast_options pai__estimate_options(const pai_platform *p,
                                           uint64_t request);

/* The request of a job that waits, or 0. */
uint64_t pai__estimate_request(const pai_platform *p, pai_job_id job);

/* As pai_platform_estimate(), of a job that waits for `request` by a forecast
 * that was made, or by `why` there is none. */
int pai__estimate_write(pai_platform *p, pai_job_id job,
                        const pai_forecast *forecast, uint64_t request,
                        pai_write_cb write, void *user_data, pai_error **err);

/* In the platform's turn: the next that is asked for begins, and who gave up is
 * told.  A platform that closes gives all up. */
void pai__estimates_turn(pai_platform *p);
bool pai__estimates_are_idle(const pai_platform *p);
/* Of a platform on which they are idle. */
void pai__estimates_close(pai_platform *p);

#endif
