/* form.h - internal: the form of a job, made from its spec */
#ifndef PAI_SRC_JOB_FORM_H
#define PAI_SRC_JOB_FORM_H

#include "job/job.h"
#include "spec/spec.h"

/* Facts that the spec does not contain. */
enum {
  PAI__FORM_GANG = 1, /* all tasks start together, whatever the spec says */
  PAI__FORM_RAW = 2,  /* exit codes are not classified */
  PAI__FORM_OWN_SIGNALS =
    4 /* signals that end commands do not come from the platform */
};

/* Makes the form, which is owned by the caller and independent of the spec.
 * PAI_OK or PAI_ENOMEM. */
int pai__form_make(pai__job_form *out, const pai_alloc *alloc,
                   const pai_spec *spec, unsigned flags);
/* Changes the number of tasks of a role.  If all of its tasks had to succeed,
 * all of the new number must. */
void pai__form_rescale(pai__job_form *form, const pai_spec *spec,
                       uint32_t role, uint32_t tasks);
/* Also for a zeroed form. */
void pai__form_dispose(pai__job_form *form, const pai_alloc *alloc);

/* Returns whether extras.gangAllocation makes all tasks start together. */
bool pai__form_is_gang(const pai_spec *spec);

#endif
