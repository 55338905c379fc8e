/* files.h - internal to the room: the folder in which a job's commands begin */
#ifndef PAI_SRC_PLATFORM_FILES_H
#define PAI_SRC_PLATFORM_FILES_H

#include "base/posix_below.h"
#include "platform/platform.h"

#include <openpai/files.h>

typedef struct pai__job_folder {
  char *path;
  pai__user *who; /* whose rights are used in it; NULL: this process's */
  bool own;       /* it is the job's alone */
} pai__job_folder;

/* PAI_ENOTFOUND: no such job, or it has no such folder. */
int pai__job_folder_find(pai__job_folder *out, const pai_platform *p,
                         pai_job_id job, bool own, pai_error **err);
/* Opens it, as its user, whom the thread is from then on if that is PAI_OK, and
 * until pai__job_folder_leave().  *out is of `alloc`.  In any thread. */
int pai__job_folder_enter(pai__below *out, const pai__job_folder *f,
                          const pai_alloc *alloc, pai_error **err);
void pai__job_folder_leave(const pai__below *b, const pai__job_folder *f);
void pai__job_folder_dispose(pai__job_folder *f, const pai_alloc *alloc);

/* file_writer.c: whether a name is that of what is not whole yet. */
bool pai__file_is_part(const char *name);

/* --- lists beside the loop --- */

int pai__listings_open(pai_platform *p, pai_error **err);
/* Those that are under way end soon. */
void pai__listings_stop(pai_platform *p);
/* None is made: it may be closed. */
bool pai__listings_are_idle(const pai_platform *p);
void pai__listings_close(pai_platform *p);

#endif
