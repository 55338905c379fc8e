/* schema.h - internal to the room: JSON Schema of job files */
#ifndef PAI_SRC_SPEC_SCHEMA_H
#define PAI_SRC_SPEC_SCHEMA_H

#include "base/base.h"

/* pai_spec_schema(), with an allocator. */
int pai__spec_schema(const pai_alloc *alloc, int version, pai_write_cb write,
                     void *user_data, pai_error **err);

#endif
