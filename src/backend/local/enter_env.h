/* enter_env.h - internal to src/backend/local: environment of a command that
 * enters a task */
#ifndef PAI_SRC_BACKEND_LOCAL_ENTER_ENV_H
#define PAI_SRC_BACKEND_LOCAL_ENTER_ENV_H

#include "backend/local/words.h"

#include <openpai/backend.h>

/* Variable that a container's engine passes on, and a shell inside
 * evaluates. */
#define PAI__ENTER_VARIABLE "OPENPAI_VARIABLES"

/* Returns whether the plan sets variables in a container. */
bool pai__enter_has_env(const pai_launch_plan *plan);
/* Makes the environment.  `env` is that of the task's first process, or of its
 * container's engine.  The added texts belong to `env`, the plan and `out`. */
void pai__enter_env(pai__backend_words *out, const char *const *env,
                    const pai_launch_plan *plan, bool container);

#endif
