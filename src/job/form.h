/* form.h - internal: the form of a job, made from its spec */
#ifndef PAI_SRC_JOB_FORM_H
#define PAI_SRC_JOB_FORM_H

#include "job/job.h"
#include "spec/spec.h"

/* Owned by the caller, and independent of the spec.  PAI_OK or PAI_ENOMEM. */
int pai__form_make(pai__job_form *out, const pai_alloc *alloc,
                   const pai_spec *spec);
/* Also of one that is all zeros. */
void pai__form_dispose(pai__job_form *form, const pai_alloc *alloc);

#endif
