/* request.h - the request of the scheduler for a job file */
#ifndef PAI_SRC_HELPER_REQUEST_H
#define PAI_SRC_HELPER_REQUEST_H

#include <openpai/sched.h>
#include <openpai/spec.h>

/* Beyond all that a platform counts. */
#define JOB_REQUEST_ID (UINT64_C(1) << 62)

typedef struct job_request {
  pai_spec *spec; /* has the request's texts */
  pai_want *wants;
  pai_request request;
} job_request;

/* Makes the request; without an error there is one to free.  Returns PAI_OK;
 * PAI_ENOMEM; as pai_spec_parse(). */
int job_request_make(job_request *r, const char *text, pai_error **err);
void job_request_free(job_request *r);

#endif
