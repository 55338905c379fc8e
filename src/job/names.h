/*
 * names.h - internal: what OpenPAI calls a job, its roles and its tasks
 */
#ifndef PAI_SRC_JOB_NAMES_H
#define PAI_SRC_JOB_NAMES_H

#include "base/buf.h"
#include "base/md5.h"

/* Adds what a job's objects are called in Kubernetes, of "user~job"; also
 * debugId of the API (rest-api 3.3). */
void pai__name_encode(pai__buf *out, const char *job);
/* Adds the runtime's spelling of a role: lower case, letters and digits. */
void pai__name_role(pai__buf *out, const char *role);

/*
 * Identifiers in the form of UUIDs.  Each is made of the job's own and of what
 * it stands for, so that whoever asks gets the same.
 */
enum { PAI__UID = 37 }; /* with its NUL */

typedef struct pai__uid_of {
  const char *job; /* unlike any other's */
  const char *kind;
  uint32_t attempt;
  const char *role; /* or NULL */
  uint32_t index, retry;
} pai__uid_of;

/* Kinds of them; those in brackets count. */
#define PAI__UID_FRAMEWORK "framework" /* () */
#define PAI__UID_ATTEMPT "attempt"     /* (attempt) */
#define PAI__UID_ROLE "role"           /* (role) */
#define PAI__UID_TASK "task"           /* (attempt, role, index) */
#define PAI__UID_POD "pod"             /* (attempt, role, index, retry) */

/* Returns out; "" when memory is short. */
const char *pai__uid(char out[PAI__UID], const pai_alloc *alloc,
                     const pai__uid_of *of);

#endif
