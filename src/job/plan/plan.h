/*
 * plan.h - internal: makes the launch plan of a task, which a back end carries
 * out
 *
 * Pure: everything that the task will see is decided here, from the spec, the
 * placement and the given names.
 */
#ifndef PAI_SRC_JOB_PLAN_PLAN_H
#define PAI_SRC_JOB_PLAN_PLAN_H

#include "base/arena.h"
#include "job/job.h"
#include "spec/spec.h"

#include <openpai/backend.h>

/* The machine and resources of a task. */
typedef struct pai__task_place {
  const char *ip;        /* the machine's address for other tasks */
  uint64_t gpus;         /* mask of the machine's GPUs */
  const uint32_t *ports; /* as many as its role requests, label by label; NULL:
                            not known yet */
} pai__task_place;

/* A folder of the machine that jobs may request by name. */
typedef struct pai__storage {
  const char *name;
  const char *path; /* absolute */
  bool readonly;
  bool shared;        /* one folder for all users; else each user has one in
                         it */
  const char *folder; /* name of that folder; NULL: the user's */
  bool usual;         /* also mounted for jobs that request none by name */
} pai__storage;

/* The whole job, for all its tasks. */
typedef struct pai__plan_context {
  const pai_spec *spec;
  const pai__task *tasks;        /* sorted by role and index */
  const pai__task_place *places; /* one for each task */
  const pai__job_role *roles;    /* current number of tasks of each role; NULL:
                                    as in the job file */
  uint32_t ntasks;               /* number of tasks with removed ones; 0: as in
                                    the job file */
  const char *user;
  const char *name; /* NULL: as in the job file */
  const char *vc;   /* NULL: "default" */
  const char *uid;  /* unique; NULL: made of user and name */
  const char *job_dir;
  const char *task_dir; /* of the planned task; NULL: made of its attempt,
                           role, index and retries */
  const char *workdir;  /* NULL: the back end's working directory */
  const pai__storage *storages;
  size_t nstorages;
  const char *const *user_keys; /* the user's public ssh keys */
  size_t nuser_keys;
  int runtime; /* PAI_RUNTIME_* */
  uint32_t attempt;
} pai__plan_context;

static inline const char *pai__plan_name(const pai__plan_context *c)
{
  return c->name != NULL ? c->name : c->spec->name;
}

static inline uint32_t pai__plan_ntasks(const pai__plan_context *c)
{
  return c->ntasks != 0 ? c->ntasks : (uint32_t)c->spec->ntasks;
}

static inline uint32_t pai__plan_role_tasks(const pai__plan_context *c,
                                            size_t role)
{
  return c->roles != NULL ? c->roles[role].tasks
                          : c->spec->roles[role].instances;
}

/* Returns false for a task that is removed or being removed. */
static inline bool pai__plan_has(const pai__plan_context *c, size_t task)
{
  const pai__task *t = &c->tasks[task];

  return t->index < pai__plan_role_tasks(c, t->role);
}

/* What the tasks of a role share. */
typedef struct pai__plan_role {
  const char *before, *after; /* parts of its script, around its commands */
  const char *image;          /* or NULL */
  const pai_launch_mount *mounts;
  size_t nmounts;
  const char *const *folders; /* as in pai_launch_plan */
} pai__plan_role;

/* Variables that all tasks of an attempt share.  They are nearly all
 * variables, and some exist for each task of the job, so they are made
 * once. */
typedef struct pai__plan_shared {
  const char *const *vars;
  size_t count;
  const pai__plan_role *roles;
  const char *const *own, *const *own_outside; /* as in pai_launch_plan */
  const char *exports;                         /* bash commands that export
                                                  them */
} pai__plan_shared;

/* Makes the shared part in `arena`.  PAI_OK or PAI_ENOMEM. */
int pai__plan_share(pai__plan_shared *out, pai__arena *arena,
                    const pai__plan_context *context);

/* Makes the plan of task `task` in `arena`.  Its variables are those of
 * `shared` and its own, so `shared` must outlive it.  PAI_OK or PAI_ENOMEM. */
int pai__plan_make(pai_launch_plan *out, pai__arena *arena,
                   const pai__plan_context *context,
                   const pai__plan_shared *shared, uint32_t task);

/* Returns the job's identifier: the context's, or one made of its user and
 * name; in `arena`.  NULL when out of memory. */
const char *pai__plan_uid(pai__arena *arena, const pai__plan_context *context);

/* Returns the PAI_RUNTIME_* of a name as "podman", or -1; and the reverse. */
int pai__plan_runtime_named(const char *name);
const char *pai__plan_runtime_name(int runtime);
/* Returns the runtime of extras.openpai.runtime; -1: none. */
int pai__plan_runtime_of(const pai_spec *spec);

/* --- input.c: extras.openpai.stdin and .tty ------------------------------ */

/* PAI_LAUNCH_INPUT and PAI_LAUNCH_TTY of the job's tasks. */
uint32_t pai__input_flags(const pai_spec *spec);

/* --- storages.c ---------------------------------------------------------- */

/* Returns whether the job requests storages. */
bool pai__storages_are_asked(const pai_spec *spec);
/* Checks that the machine has all storages that the job requests.  PAI_OK;
 * PAI_ENOTFOUND. */
int pai__storages_check(const pai_spec *spec, const pai__storage *storages,
                        size_t n, pai_error **err);
/* Makes the mounts of the job's storages, in `arena`.  PAI_OK or
 * PAI_ENOMEM. */
int pai__storages_mount(const pai_launch_mount **out, size_t *n,
                        pai__arena *arena, const pai__plan_context *context);
/* Makes the list of folders in /tmp that extras.openpai.folders names, in
 * `arena`; NULL: none.  PAI_OK or PAI_ENOMEM. */
int pai__storages_folders(const char *const **out, pai__arena *arena,
                          const pai_spec *spec);

#endif
