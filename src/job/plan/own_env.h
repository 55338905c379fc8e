/* own_env.h - internal to src/job/plan: variables that a job file sets */
#ifndef PAI_SRC_JOB_PLAN_OWN_ENV_H
#define PAI_SRC_JOB_PLAN_OWN_ENV_H

#include "job/plan/plan.h"

/* Makes the variables, which all tasks of an attempt share, in `arena`.
 * PAI_OK or PAI_ENOMEM. */
int pai__plan_own_env(pai__plan_shared *out, pai__arena *arena,
                      const pai_spec *spec);

#endif
