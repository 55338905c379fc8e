/*
 * env.h - internal to the room: a growing list of "NAME=value"
 *
 * A variable is written to `line` and then pushed.  Failure is sticky: one
 * check, of what pai__env_finish() returns, is enough.
 */
#ifndef PAI_SRC_JOB_ENV_H
#define PAI_SRC_JOB_ENV_H

#include "base/arena.h"
#include "base/buf.h"
#include "spec/spec.h"

typedef struct pai__env {
  pai__arena *arena; /* where the variables live */
  pai__buf line;     /* the one that is being written */
  const char **vars; /* the arena's allocator's, while the list grows */
  size_t len, cap;
  bool failed;
} pai__env;

void pai__env_init(pai__env *env, pai__arena *arena);
/* The list in the arena, behind `nfirst` others and before a NULL; NULL when
 * memory was short.  Nothing else is left of `env`. */
const char *const *pai__env_finish(pai__env *env, const char *const *first,
                                   size_t nfirst);

void pai__env_push(pai__env *env);
void pai__env_add(pai__env *env, const char *fmt, ...) PAI__PRINTF(2, 3);

/* Writes "p,p" to `line`. */
void pai__env_ports(pai__env *env, const uint32_t *ports, uint32_t count);
/* The first port of a label, of a task whose ports start at `ports`; or 0. */
uint32_t pai__env_first_port(const pai__role *role, const char *label,
                             const uint32_t *ports);

#endif
