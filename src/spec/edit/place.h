/* place.h - internal to the room: writes the value at a path as JSON */
#ifndef PAI_SRC_SPEC_EDIT_PLACE_H
#define PAI_SRC_SPEC_EDIT_PLACE_H

#include "base/secrets.h"

/* Writes on one line, with aliases and merge keys resolved; path.h defines
 * paths.  If `secrets` is not NULL, each secret becomes one mask.  Returns
 * PAI_OK, PAI_ENOTFOUND, PAI_EINVAL, PAI_ELIMIT, PAI_ENOMEM, or the result of
 * write(). */
int pai__write_place(const pai__tree *tree, const pai__secrets *secrets,
                     const char *path, pai_write_cb write, void *user_data,
                     pai_error **err);

#endif
