/* resubmit.h - internal to the room: submitting a job again like another job */
#ifndef PAI_SRC_PLATFORM_RESTORE_RESUBMIT_H
#define PAI_SRC_PLATFORM_RESTORE_RESUBMIT_H

#include "platform/platform.h"

/* Facts of a job that its file does not have. */
typedef struct pai__platform_like {
  char *user;     /* its owner */
  char *work_dir; /* its working folder, or NULL */
  bool has_code;  /* the working folder is its own copy of code */
} pai__platform_like;

/* PAI_ENOTFOUND: no such job. */
int pai__like_find(pai__platform_like *out, const pai_platform *p,
                   pai_job_id job, pai_error **err);
void pai__like_dispose(pai__platform_like *like, const pai_platform *p);

/* Replaces masked secrets of a spec by those that job `job` still has (0: no
 * job).  *out is the new spec and *text its file, of `p`'s allocator; both are
 * NULL if nothing is masked.  PAI_EINVAL, with the missing ones. */
int pai__like_fill(pai_spec **out, char **text, pai_platform *p,
                   pai_job_id job, const pai_spec *spec, const char *own_text,
                   pai_error **err);

#endif
