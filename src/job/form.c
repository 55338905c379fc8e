/* form.c - the form of a job, made from its spec */
#include "job/form.h"

int pai__form_make(pai__job_form *out, const pai_alloc *alloc,
                   const pai_spec *spec)
{
  pai__form_role *roles = pai__zalloc(alloc, spec->nroles * sizeof(*roles));
  uint32_t retries = spec->retry_count;

  *out = (pai__job_form){ 0 };
  if (roles == NULL)
    return PAI_ENOMEM;
  for (size_t r = 0; r < spec->nroles; r++)
    roles[r] =
      (pai__form_role){ .tasks = spec->roles[r].instances,
                        .min_failed = spec->roles[r].min_failed,
                        .min_succeeded = spec->roles[r].min_succeeded };
  *out = (pai__job_form){
    .roles = roles,
    .nroles = (uint32_t)spec->nroles,
    .retry = { true, retries < INT32_MAX ? (int32_t)retries : INT32_MAX },
    .raw = true /* nobody looks into why commands end */
  };
  return PAI_OK;
}

void pai__form_dispose(pai__job_form *form, const pai_alloc *alloc)
{
  pai__free(alloc, (void *)(uintptr_t)form->roles,
            form->nroles * sizeof(*form->roles));
  *form = (pai__job_form){ 0 };
}
