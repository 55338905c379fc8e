/* form.c - the form of a job, made from its spec */
#include "job/form.h"

/* Only the literal false disables it. */
bool pai__form_is_gang(const pai_spec *spec)
{
  const pai__tree *t = spec->tree;
  pai__node n = t != NULL ? pai__tree_get(t, 0, "extras") : PAI__NO_NODE;

  if (n != PAI__NO_NODE)
    n = pai__tree_get(t, n, "gangAllocation");
  return n == PAI__NO_NODE || pai__tree_type(t, n) != PAI__BOOL ||
         pai__tree_bool(t, n);
}

/* The retry policy of tasks that start alone: taskRetryCount. */
static pai__retry_policy task_policy(const pai_spec *spec,
                                     const pai__role *role)
{
  pai__node n = pai__tree_get(spec->tree, role->node, "taskRetryCount");
  int64_t max = 0;

  if (n != PAI__NO_NODE && !pai__tree_whole(spec->tree, n, &max))
    max = 0;
  max = max < PAI__RETRY_ALWAYS ? PAI__RETRY_ALWAYS : max;
  return (pai__retry_policy){ true,
                              max > INT32_MAX ? INT32_MAX : (int32_t)max };
}

int pai__form_make(pai__job_form *out, const pai_alloc *alloc,
                   const pai_spec *spec, unsigned flags)
{
  bool partial = (flags & PAI__FORM_GANG) == 0 && !pai__form_is_gang(spec);
  pai__form_role *roles = pai__zalloc(alloc, spec->nroles * sizeof(*roles));
  uint32_t retries = spec->retry_count;

  *out = (pai__job_form){ 0 };
  if (roles == NULL)
    return PAI_ENOMEM;
  for (size_t r = 0; r < spec->nroles; r++) {
    roles[r] =
      (pai__form_role){ .tasks = spec->roles[r].instances,
                        .min_failed = spec->roles[r].min_failed,
                        .min_succeeded = spec->roles[r].min_succeeded };
    if (partial)
      roles[r].retry = task_policy(spec, &spec->roles[r]);
  }
  *out = (pai__job_form){
    .roles = roles,
    .nroles = (uint32_t)spec->nroles,
    /* The largest number stands for "no limit", as a retryCount of -1 does. */
    .retry = { true,
               retries < INT32_MAX ? (int32_t)retries : PAI__RETRY_FAILED },
    .partial = partial,
    .raw = (flags & PAI__FORM_RAW) != 0,
    .own_signals = (flags & PAI__FORM_OWN_SIGNALS) != 0
  };
  return PAI_OK;
}

void pai__form_rescale(pai__job_form *form, const pai_spec *spec,
                       uint32_t role, uint32_t tasks)
{
  pai__form_role *own = (pai__form_role *)(uintptr_t)&form->roles[role];
  const pai__role *said = &spec->roles[role];

  if (said->min_succeeded == (int32_t)said->instances)
    own->min_succeeded = (int32_t)tasks;
}

void pai__form_dispose(pai__job_form *form, const pai_alloc *alloc)
{
  pai__free(alloc, (void *)(uintptr_t)form->roles,
            form->nroles * sizeof(*form->roles));
  *form = (pai__job_form){ 0 };
}
