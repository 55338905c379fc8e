/* enter_env.h - internal to the back end: the variables of a command that enters
 * a task */
#ifndef PAI_SRC_BACKEND_LOCAL_ENTER_ENV_H
#define PAI_SRC_BACKEND_LOCAL_ENTER_ENV_H

#include "backend/local/words.h"

#include <openpai/backend.h>

/* What a container's engine hands on, and a shell inside evaluates. */
#define PAI__ENTER_VARIABLE "OPENPAI_VARIABLES"

/* Does the plan set any in a container? */
bool pai__enter_has_env(const pai_launch_plan *plan);
/* `env` is that of the task's first process, or of its container's engine.  What
 * is added belongs to `env`, the plan and `out`. */
void pai__enter_env(pai__words *out, const char *const *env,
                    const pai_launch_plan *plan, bool container);

#endif
