/* place.h - internal to the room: the value of a place, as JSON */
#ifndef PAI_SRC_SPEC_PLACE_H
#define PAI_SRC_SPEC_PLACE_H

#include "base/tree.h"

/* On one line, in the effective view; path.h says how a place is named.
 * PAI_ENOTFOUND, PAI_EINVAL, PAI_ELIMIT, PAI_ENOMEM, or what write() gave. */
int pai__write_place(const pai__tree *tree, const char *path,
                     pai_write_cb write, void *user_data, pai_error **err);

#endif
