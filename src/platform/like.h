/* like.h - internal to the room: jobs that are submitted as another one was */
#ifndef PAI_SRC_PLATFORM_LIKE_H
#define PAI_SRC_PLATFORM_LIKE_H

#include "platform/platform.h"

/* What a job has beside its file. */
typedef struct pai__like {
  char *user;     /* whose it is */
  char *work_dir; /* where its commands begin, or NULL */
  bool has_code;  /* and that is its own copy of code */
} pai__like;

/* PAI_ENOTFOUND: no such job. */
int pai__like_find(pai__like *out, const pai_platform *p, pai_job_id job,
                   pai_error **err);
void pai__like_dispose(pai__like *like, const pai_platform *p);

/* A spec that has masked secrets: with those of a job that has them still (0:
 * of none), *out is another one, and *text its file, of `p`'s allocator; both
 * are NULL if nothing was to be done.  PAI_EINVAL: which are missing. */
int pai__like_fill(pai_spec **out, char **text, pai_platform *p,
                   pai_job_id job, const pai_spec *spec, const char *own_text,
                   pai_error **err);

#endif
