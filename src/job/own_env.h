/* own_env.h - internal to the room: the variables that a job sets itself */
#ifndef PAI_SRC_JOB_OWN_ENV_H
#define PAI_SRC_JOB_OWN_ENV_H

#include "job/plan.h"

/* Of all tasks of an attempt alike, in `arena`.  PAI_OK or PAI_ENOMEM. */
int pai__plan_own_env(pai__plan_shared *out, pai__arena *arena,
                      const pai_spec *spec);

#endif
