/* upload.h - upload of a user's code as a tar archive that comes in pieces */
#ifndef PAI_SRC_SERVER_CALLS_UPLOAD_H
#define PAI_SRC_SERVER_CALLS_UPLOAD_H

#include "base/buf.h"
#include "base/os/posix_user.h"

typedef struct pai__upload pai__upload;

/* Makes a new folder in `folder`, which is made if it is missing.  The new
 * folder and all files in it belong to `who`; NULL: to the user of this
 * process. */
int pai__upload_new(pai__upload **out, const pai_alloc *alloc,
                    const char *folder, const pai__user *who, uint64_t most,
                    pai_error **err);
/* Returns whether a folder was made for that user. */
bool pai__upload_is_of(const char *dir, const pai__user *who);
bool pai__upload_is_there(const char *dir);
/* Returns the bytes unpacked so far; an entry counts as at least 4 KiB, as on
 * disk. */
uint64_t pai__upload_size(const pai__upload *u);
/* Adds the next bytes.  PAI_EINVAL: not a valid archive, or an entry would
 * leave the folder; PAI_ELIMIT; PAI_EIO. */
int pai__upload_add(pai__upload *u, const char *bytes, size_t len,
                    pai_error **err);
/* The archive is complete: keeps the folder.  Fails as pai__upload_add(). */
int pai__upload_end(pai__upload *u, pai_error **err);
bool pai__upload_is_whole(const pai__upload *u);
const char *pai__upload_dir(const pai__upload *u);
/* Removes the folder unless the upload is complete.  NULL is allowed. */
void pai__upload_free(pai__upload *u);

#endif
