/*
 * groups.h - internal to the back end: control groups that hold tasks to what
 * they were given
 *
 * The folder where control groups are mounted is an argument: tests have one
 * of plain files.
 */
#ifndef PAI_SRC_BACKEND_LOCAL_GROUPS_H
#define PAI_SRC_BACKEND_LOCAL_GROUPS_H

#include "backend/backend.h"
#include "backend/local/words.h"
#include "base/buf.h"

enum {
  PAI__GROUPS_MEMORY,
  PAI__GROUPS_CPU,
  PAI__GROUPS_CPUSET,
  PAI__GROUPS_PIDS,
  PAI__GROUPS_COUNT
};

typedef struct pai__groups {
  int version;                   /* 1 or 2; 0: there are none to be used */
  char *base[PAI__GROUPS_COUNT]; /* where this user may make groups; NULL: not
                                    of this kind */
  char why[160];                 /* why there are none; "" if there are */
} pai__groups;

/* Groups of one task. */
typedef struct pai__group {
  pai__words procs; /* files that take a process in */
  pai__words dirs;
  const char
    *above;       /* its owner's, which those that count processes are in; or
                        NULL */
  char *oom_file; /* NULL: memory is not held to by a group */
} pai__group;

/* Finds what may be used.  With version 2 this process, if it is alone in its
 * group, moves to one below: a group that has others may have no processes, but
 * for the first of all.
 *   self: /proc/self/cgroup, as a text; pid: of this process
 * PAI_OK, also if there is nothing; PAI_ENOMEM. */
int pai__groups_find(pai__groups *g, const pai_alloc *alloc, const char *root,
                     const char *self, int64_t pid);
/* Those of this machine and this process. */
int pai__groups_find_here(pai__groups *g, const pai_alloc *alloc);
void pai__groups_dispose(pai__groups *g, const pai_alloc *alloc);
/* One line for people. */
void pai__groups_tell(const pai__groups *g, pai__buf *out);

void pai__group_init(pai__group *group, const pai_alloc *alloc);
void pai__group_dispose(pai__group *group);
/* Makes the groups a plan asks for, mostly none.  PAI_OK, also if some could
 * not be made: then `failed` says which; PAI_ENOMEM. */
int pai__group_make(pai__group *out, const pai__groups *g,
                    const pai_launch_plan *plan, pai__buf *failed);
/* Removes a group of an owner's if no task is left in it; NULL is allowed. */
void pai__groups_leave(const char *above);
/* Removes them again: the task does not start. */
void pai__group_remove(const pai__group *group);

/* The group that all processes of a task are in, from the root of all: "" if it
 * has none, or with version 1 more than one. */
void pai__groups_path(const pai__groups *g, const char *task_dir, char *out,
                      size_t size);

/* Ends what is left of a task in its groups, and removes those: of one that is
 * lost, or is another user's, nobody else will. */
void pai__groups_end(const pai__groups *g, const char *task_dir,
                     const pai_alloc *alloc);

#endif
