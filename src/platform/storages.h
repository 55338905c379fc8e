/* storages.h - internal to the room: the folders that jobs may ask for */
#ifndef PAI_SRC_PLATFORM_STORAGES_H
#define PAI_SRC_PLATFORM_STORAGES_H

#include "platform/platform.h"

#include "job/plan.h"

/* All that a user's job may have, by name, in `arena`, if it asks for any.  A
 * job without an id yet is PAI__NEW_JOB.  PAI_OK or PAI_ENOMEM. */
int pai__storages_find(const pai__storage **out, size_t *n, pai__arena *arena,
                       const pai_platform *p, const pai_spec *spec,
                       const char *user, pai_job_id job);
/* Are all there that a job asks for?  PAI_OK, PAI_ENOTFOUND, PAI_EINVAL or
 * PAI_ENOMEM. */
int pai__storages_are_there(const pai_platform *p, const pai_spec *spec,
                            const char *user, pai_error **err);

#endif
