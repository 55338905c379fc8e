/* storages.h - internal to the room: storages that jobs ask for */
#ifndef PAI_SRC_PLATFORM_FILES_STORAGES_H
#define PAI_SRC_PLATFORM_FILES_STORAGES_H

#include "platform/platform.h"

#include "job/plan/plan.h"

/* Finds all storages that a user's job may use, by name, in `arena`, if it asks
 * for any.  A job without an id yet is PAI__NEW_JOB.  PAI_OK or PAI_ENOMEM. */
int pai__storages_find(const pai__storage **out, size_t *n, pai__arena *arena,
                       const pai_platform *p, const pai_spec *spec,
                       const char *user, pai_job_id job);
/* Checks that all storages that a job asks for exist.  PAI_OK, PAI_ENOTFOUND,
 * PAI_EINVAL or PAI_ENOMEM. */
int pai__storages_are_there(const pai_platform *p, const pai_spec *spec,
                            const char *user, pai_error **err);

#endif
