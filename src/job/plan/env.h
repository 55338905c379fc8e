/*
 * env.h - internal to src/job/plan: a growing list of "NAME=value"
 *
 * Write a variable to `line`, then push it.  Failure is sticky: checking the
 * result of pai__env_finish() is enough.
 */
#ifndef PAI_SRC_JOB_PLAN_ENV_H
#define PAI_SRC_JOB_PLAN_ENV_H

#include "base/arena.h"
#include "base/buf.h"
#include "spec/variables.h"

typedef struct pai__env {
  pai__arena *arena; /* holds the variables */
  pai__buf line;     /* the variable being written */
  const char **vars; /* from the arena's allocator while the list grows */
  size_t len, cap;
  bool failed;
} pai__env;

void pai__env_init(pai__env *env, pai__arena *arena);
/* Returns the list in the arena, after `nfirst` others and ended by NULL; NULL
 * when out of memory.  Frees the rest of `env`. */
const char *const *pai__env_finish(pai__env *env, const char *const *first,
                                   size_t nfirst);

void pai__env_push(pai__env *env);
void pai__env_add(pai__env *env, const char *fmt, ...) PAI__PRINTF(2, 3);

/* Adds a variable whose value the job file says.  With a role in its name it
 * is that of of->role. */
void pai__env_known(pai__env *env, const pai__platform_variable *v,
                    const pai__variable_of *of);

/* Writes "p,p" to `line`. */
void pai__env_ports(pai__env *env, const uint32_t *ports, uint32_t count);
/* Returns the first port of a label, for a task whose ports start at `ports`;
 * or 0. */
uint32_t pai__env_first_port(const pai__role *role, const char *label,
                             const uint32_t *ports);

#endif
