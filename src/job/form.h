/* form.h - internal: the form of a job, made from its spec */
#ifndef PAI_SRC_JOB_FORM_H
#define PAI_SRC_JOB_FORM_H

#include "job/job.h"
#include "spec/spec.h"

/* What the spec does not say. */
enum {
  PAI__FORM_GANG =
    1,               /* all tasks start together, although it says otherwise */
  PAI__FORM_RAW = 2, /* nobody looks into why commands end */
  PAI__FORM_OWN_SIGNALS =
    4 /* signals that end commands are not the platform's */
};

/* Owned by the caller, and independent of the spec.  PAI_OK or PAI_ENOMEM. */
int pai__form_make(pai__job_form *out, const pai_alloc *alloc,
                   const pai_spec *spec, unsigned flags);
/* A role has so many tasks now: where all of them were to succeed, all of these
 * are. */
void pai__form_rescale(pai__job_form *form, const pai_spec *spec,
                       uint32_t role, uint32_t tasks);
/* Also of one that is all zeros. */
void pai__form_dispose(pai__job_form *form, const pai_alloc *alloc);

/* Does the spec say that tasks start together?  extras.gangAllocation. */
bool pai__form_is_gang(const pai_spec *spec);

#endif
