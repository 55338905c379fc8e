/*
 * plan.h - internal: the launch plan of one task, what a back end carries out
 *
 * Pure: everything the task will see is decided here, from the spec, the
 * placement and names handed in.
 */
#ifndef PAI_SRC_JOB_PLAN_H
#define PAI_SRC_JOB_PLAN_H

#include "base/arena.h"
#include "job/job.h"
#include "spec/spec.h"

typedef struct pai__plan {
  const char *script;     /* for bash */
  const char *const *env; /* "NAME=value", NULL-terminated; added to the
                             host's own environment */
  const char *dir;        /* the task's own folder: script and logs */
} pai__plan;

/* Where a task runs, and what it is given there. */
typedef struct pai__task_place {
  const char *ip;        /* what the others call its machine by */
  uint64_t gpus;         /* mask of the machine's GPUs */
  const uint32_t *ports; /* as many as its role wants, label by label */
} pai__task_place;

/* Of the whole job, for all its tasks. */
typedef struct pai__plan_context {
  const pai_spec *spec;
  const pai__task *tasks;        /* role by role, index by index */
  const pai__task_place *places; /* as many as tasks */
  const char *user;
  const char *job_dir;
  uint32_t attempt;
} pai__plan_context;

/* The variables that are the same for all tasks of an attempt: nearly all of
 * them, some for each task of the job, so they are made once. */
typedef struct pai__plan_shared {
  const char *const *vars;
  size_t count;
} pai__plan_shared;

/* In `arena`.  PAI_OK or PAI_ENOMEM. */
int pai__plan_share(pai__plan_shared *out, pai__arena *arena,
                    const pai__plan_context *context);

/* The plan of task `task`, in `arena`; its variables are `shared`'s and its
 * own, so it must go before those.  PAI_OK or PAI_ENOMEM. */
int pai__plan_make(pai__plan *out, pai__arena *arena,
                   const pai__plan_context *context,
                   const pai__plan_shared *shared, uint32_t task);

#endif
