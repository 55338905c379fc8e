/* complete.h - internal to the room: when an attempt is over, and what next */
#ifndef PAI_SRC_JOB_COMPLETE_H
#define PAI_SRC_JOB_COMPLETE_H

#include "job/job.h"

/* The completion policy, asked after the end of each task, which was counted:
 * true once the attempt is decided.  *trigger is that task, or NULL when it
 * was the last one and no rule had a say. */
bool pai__job_decide(const pai__job *job, const pai__task *ended,
                     const pai__task **trigger);

/* The retry table: is a job that ended with `code` tried again? */
typedef struct pai__retry {
  bool again;
  bool counts; /* against the limit */
  pai_time delay;
} pai__retry;

pai__retry pai__job_retry(pai__job *job, int code);

#endif
