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

#include <openpai/backend.h>

/* Where a task runs, and what it is given there. */
typedef struct pai__task_place {
  const char *ip;        /* what the others call its machine by */
  uint64_t gpus;         /* mask of the machine's GPUs */
  const uint32_t *ports; /* as many as its role wants, label by label; NULL:
                            it has none yet */
} pai__task_place;

/* A folder of the machine that jobs may ask for by its name. */
typedef struct pai__storage {
  const char *name;
  const char *path; /* absolute */
  bool readonly;
  bool shared;        /* by all users; else each has a folder of it, */
  const char *folder; /* of this name; NULL: the user's */
  bool usual;         /* also of jobs that ask for none by name */
} pai__storage;

/* Of the whole job, for all its tasks. */
typedef struct pai__plan_context {
  const pai_spec *spec;
  const pai__task *tasks;        /* of a role, index by index */
  const pai__task_place *places; /* as many as tasks */
  const pai__job_role *roles;    /* how many tasks each has now, */
  uint32_t ntasks;               /* and how many there are with those that are
                                    gone; NULL, 0: as the file says, role by
                                    role */
  const char *user;
  const char *name; /* NULL: as in its file */
  const char *vc;   /* NULL: "default" */
  const char *uid;  /* unlike any other job's; NULL: its user and name */
  const char *job_dir;
  const char *task_dir; /* of the task that is planned; NULL: named by its
                           attempt, role, index and retries */
  const char *workdir;  /* NULL: where the back end runs */
  const pai__storage *storages;
  size_t nstorages;
  const char *const *user_keys; /* for ssh, of the user */
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

/* Not one that is gone, or being removed. */
static inline bool pai__plan_has(const pai__plan_context *c, size_t task)
{
  const pai__task *t = &c->tasks[task];

  return t->index < pai__plan_role_tasks(c, t->role);
}

/* What all tasks of a role have alike. */
typedef struct pai__plan_role {
  const char *before, *after; /* pieces of its script, around its commands */
  const char *image;          /* or NULL */
  const pai_launch_mount *mounts;
  size_t nmounts;
  const char *const *folders; /* as of a pai_launch_plan */
} pai__plan_role;

/* The variables that are the same for all tasks of an attempt: nearly all of
 * them, some for each task of the job, so they are made once. */
typedef struct pai__plan_shared {
  const char *const *vars;
  size_t count;
  const pai__plan_role *roles;
  const char *const *own, *const *own_outside; /* as of a pai_launch_plan; */
  const char *exports;                         /* what sets them, for bash */
} pai__plan_shared;

/* In `arena`.  PAI_OK or PAI_ENOMEM. */
int pai__plan_share(pai__plan_shared *out, pai__arena *arena,
                    const pai__plan_context *context);

/* The plan of task `task`, in `arena`; its variables are `shared`'s and its
 * own, so it must go before those.  PAI_OK or PAI_ENOMEM. */
int pai__plan_make(pai_launch_plan *out, pai__arena *arena,
                   const pai__plan_context *context,
                   const pai__plan_shared *shared, uint32_t task);

/* The job's identifier: the context's, or one made of its user and name; in
 * `arena`.  NULL when memory is short. */
const char *pai__plan_uid(pai__arena *arena, const pai__plan_context *context);

/* PAI_RUNTIME_* of this name, as "podman", or -1; and back. */
int pai__plan_runtime_named(const char *name);
const char *pai__plan_runtime_name(int runtime);
/* Which runtime the job itself asks for, in extras.openpai.runtime; -1: none. */
int pai__plan_runtime_of(const pai_spec *spec);

/* --- input.c: extras.openpai.stdin and .tty ------------------------------------ */

/* PAI_LAUNCH_INPUT and PAI_LAUNCH_TTY of the job's tasks. */
uint32_t pai__input_flags(const pai_spec *spec);

/* --- storages.c --------------------------------------------------------------- */

/* Does the job ask for any? */
bool pai__storages_are_asked(const pai_spec *spec);
/* Has the machine all storages that the job asks for?  PAI_OK;
 * PAI_ENOTFOUND. */
int pai__storages_check(const pai_spec *spec, const pai__storage *storages,
                        size_t n, pai_error **err);
/* Those of the job, at the places where it wants them, in `arena`.  PAI_OK or
 * PAI_ENOMEM. */
int pai__storages_mount(const pai_launch_mount **out, size_t *n,
                        pai__arena *arena, const pai__plan_context *context);
/* The folders of /tmp that the job names: of extras.openpai.folders, in `arena`;
 * NULL: none.  PAI_OK or PAI_ENOMEM. */
int pai__storages_folders(const char *const **out, pai__arena *arena,
                          const pai_spec *spec);

#endif
