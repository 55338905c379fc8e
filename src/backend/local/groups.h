/*
 * groups.h - internal to src/backend/local: control groups that limit tasks to
 * their resources
 *
 * The mount point of control groups is an argument: tests use one of plain
 * files.
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

typedef struct pai__backend_groups {
  int version;                   /* 1 or 2; 0: none are usable */
  char *base[PAI__GROUPS_COUNT]; /* where this user may create groups; NULL:
                                    not of this kind */
  char why[160];                 /* why none are usable; "" if they are */
} pai__backend_groups;

/* Groups of one task. */
typedef struct pai__backend_group {
  pai__backend_words procs; /* files to which a process writes itself to
                               join */
  pai__backend_words dirs;
  const char
    *above;       /* the parent group of the owner's tasks, in which processes
                     are counted; or NULL */
  char *oom_file; /* NULL: no group limits memory */
} pai__backend_group;

/* Finds the usable groups.  With version 2 this process, if it is alone in its
 * group, moves to a child group: a group with children may have no processes,
 * except the root.
 *
 * self: text of /proc/self/cgroup; pid: of this process
 *
 * PAI_OK, also if none are usable; PAI_ENOMEM. */
int pai__groups_find(pai__backend_groups *g, const pai_alloc *alloc,
                     const char *root, const char *self, int64_t pid);
/* The same for this machine and this process. */
int pai__groups_find_here(pai__backend_groups *g, const pai_alloc *alloc);
void pai__groups_dispose(pai__backend_groups *g, const pai_alloc *alloc);
/* Appends one line for people. */
void pai__groups_tell(const pai__backend_groups *g, pai__buf *out);

/* A task's memory limit in bytes, at least 16 MiB: its shell, its sandbox and
 * the kernel's batches of 128 KiB for each CPU count, too.  0: no limit. */
uint64_t pai__group_memory(const pai_launch_plan *plan);

void pai__group_init(pai__backend_group *group, const pai_alloc *alloc);
void pai__group_dispose(pai__backend_group *group);
/* Creates the groups that a plan needs, mostly none.  PAI_OK, also if some
 * could not be created: then `failed` lists them; PAI_ENOMEM. */
int pai__group_make(pai__backend_group *out, const pai__backend_groups *g,
                    const pai_launch_plan *plan, pai__buf *failed);
/* Removes an owner's group if no task is left in it; NULL is allowed. */
void pai__groups_leave(const char *above);
/* Removes the groups again when the task does not start. */
void pai__group_remove(const pai__backend_group *group);

/* Writes the path of the group that all processes of a task are in, from the
 * root; "" if there is none, or with version 1 more than one. */
void pai__groups_path(const pai__backend_groups *g, const char *task_dir,
                      char *out, size_t size);

/* Kills what is left of a task in its groups, and removes them, for a task
 * that is lost or belongs to another user. */
void pai__groups_end(const pai__backend_groups *g, const char *task_dir,
                     const pai_alloc *alloc);

#endif
