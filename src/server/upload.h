/* upload.h - a user's code, taken as a tar archive that comes in pieces */
#ifndef PAI_SRC_SERVER_UPLOAD_H
#define PAI_SRC_SERVER_UPLOAD_H

#include "base/buf.h"
#include "base/posix_user.h"

typedef struct pai__upload pai__upload;

/* Makes a new folder in `folder`, which is made if it is not there.  It and all
 * in it is this user's, or, with NULL, this process'. */
int pai__upload_new(pai__upload **out, const pai_alloc *alloc,
                    const char *folder, const pai__user *who, uint64_t most,
                    pai_error **err);
/* Whether a folder was made for that user. */
bool pai__upload_is_of(const char *dir, const pai__user *who);
bool pai__upload_is_there(const char *dir);
/* Bytes that have come; an entry counts as at least 4 KiB, as it does on disk. */
uint64_t pai__upload_size(const pai__upload *u);
/* The next bytes.  PAI_EINVAL: this is no such archive, or it would leave its
 * folder; PAI_ELIMIT; PAI_EIO. */
int pai__upload_add(pai__upload *u, const char *bytes, size_t len,
                    pai_error **err);
/* It is whole: the folder stays.  Else as pai__upload_add(). */
int pai__upload_end(pai__upload *u, pai_error **err);
bool pai__upload_is_whole(const pai__upload *u);
const char *pai__upload_dir(const pai__upload *u);
/* Removes the folder unless it is whole.  NULL is allowed. */
void pai__upload_free(pai__upload *u);

#endif
