/* skus.h - internal to the room: kinds of machines that jobs ask for */
#ifndef PAI_SRC_PLATFORM_SKUS_H
#define PAI_SRC_PLATFORM_SKUS_H

#include "platform/platform.h"

/* Of a platform that keeps records: are the types that the roles of a job name
 * among those of GET /cluster/sku-types?  PAI_OK; PAI_EINVAL, with their names. */
int pai__skus_check(const pai_platform *p, const pai_spec *spec,
                    pai_error **err);

/* What the scheduler is asked for, for a role with GPUs; NULL: any. */
const char *pai__sku_wanted(const pai__pjob *j, const pai__role *role);

#endif
