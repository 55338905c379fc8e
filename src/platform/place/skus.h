/* skus.h - internal to the room: SKU types that jobs ask for */
#ifndef PAI_SRC_PLATFORM_PLACE_SKUS_H
#define PAI_SRC_PLATFORM_PLACE_SKUS_H

#include "platform/platform.h"

/* Of a durable platform: checks that the SKU types that a job's roles name are
 * in GET /cluster/sku-types.  PAI_OK; PAI_EINVAL, with the known names. */
int pai__skus_check(const pai_platform *p, const pai_spec *spec,
                    pai_error **err);

/* Returns the SKU type to request for a role with GPUs; NULL: any. */
const char *pai__sku_wanted(const pai__pjob *j, const pai__role *role);

#endif
