/* place.h - internal to the room: the value of a place, as JSON */
#ifndef PAI_SRC_SPEC_PLACE_H
#define PAI_SRC_SPEC_PLACE_H

#include "base/secrets.h"

/* On one line, in the effective view; path.h says how a place is named.  With
 * secrets, which may be NULL, as anybody may see it: each is one mask.
 * PAI_ENOTFOUND, PAI_EINVAL, PAI_ELIMIT, PAI_ENOMEM, or what write() gave. */
int pai__write_place(const pai__tree *tree, const pai__secrets *secrets,
                     const char *path, pai_write_cb write, void *user_data,
                     pai_error **err);

#endif
