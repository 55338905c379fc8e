/*
 * names.h - internal: OpenPAI's names and identifiers of jobs, roles and tasks
 */
#ifndef PAI_SRC_JOB_PLAN_NAMES_H
#define PAI_SRC_JOB_PLAN_NAMES_H

#include "base/buf.h"
#include "base/text/md5.h"

/* Appends the Kubernetes name of a job's objects, from "user~job"; also
 * debugId of the API (rest-api 3.3). */
void pai__name_encode(pai__buf *out, const char *job);
/* Appends the runtime's spelling of a role: lower case letters and digits. */
void pai__name_role(pai__buf *out, const char *role);

/*
 * UUIDs that are derived from the job's identifier and the object, so the same
 * object always has the same one.
 */
enum { PAI__UID = 37 }; /* with its NUL */

typedef struct pai__uid_of {
  const char *job; /* unique */
  const char *kind;
  uint32_t attempt;
  const char *role; /* or NULL */
  uint32_t index, retry;
} pai__uid_of;

/* Kinds of objects; the fields in brackets distinguish objects of a kind. */
#define PAI__UID_FRAMEWORK "framework" /* () */
#define PAI__UID_ATTEMPT "attempt"     /* (attempt) */
#define PAI__UID_ROLE "role"           /* (role) */
#define PAI__UID_TASK "task"           /* (attempt, role, index) */
#define PAI__UID_POD "pod"             /* (attempt, role, index, retry) */

/* Returns out; "" when out of memory. */
const char *pai__uid(char out[PAI__UID], const pai_alloc *alloc,
                     const pai__uid_of *of);

#endif
