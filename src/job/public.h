/* public.h - internal to src/job: the object of openpai/job.h */
#ifndef PAI_SRC_JOB_PUBLIC_H
#define PAI_SRC_JOB_PUBLIC_H

#include "job/job.h"

#include <openpai/job.h>

struct pai_job {
  pai_alloc alloc;
  pai__job_form form;
  pai__job job;
};

/* Returns a job that is zeroed except for its allocator; NULL: pai__oom(). */
pai_job *pai__job_blank(const pai_alloc *alloc, pai_error **err);

#endif
