/*
 * local.h - internal to src/backend/local: tasks of this machine and their
 * supervisors
 */
#ifndef PAI_SRC_BACKEND_LOCAL_LOCAL_H
#define PAI_SRC_BACKEND_LOCAL_LOCAL_H

#include "backend/backend.h"
#include "backend/local/groups.h"
#include "backend/local/order.h"
#include "backend/local/posix_process.h"
#include "backend/local/runtime.h"
#include "backend/local/status.h"
#include "backend/task_log.h"
#include "base/map.h"
#include "base/os/posix_user.h"
#include "loop/loop.h"

#include <uv.h>

typedef struct local local;
typedef struct local_task local_task;

/* The process whose end is awaited: the supervisor; if that was killed, the
 * keeper, which ends all processes of the task first. */
enum { LOCAL_SUPERVISOR, LOCAL_KEEPER, LOCAL_WATCHES };

typedef struct local_watch {
  uv_poll_t poll;
  pai__process process; /* its fd -1: not watched */
} local_watch;

struct local_task {
  local *owner;
  uint64_t id;
  char *dir;
  char *own;      /* folder of the supervisor's status: pai__own_dir(); NULL:
                     `dir` */
  pai__user *who; /* owner of the task; NULL: this process's user */
  pai__space *space; /* of its job, while it runs; or NULL */
  char *above;   /* control group of its owner's tasks, to be left at its end;
                    NULL: none, or another process created it */
  char *about;   /* log line about its runtime; NULL: none */
  int child;     /* pid of the supervisor, if this process is its parent; or
                    0 */
  int exit_code; /* its exit code, if so */
  local_watch watches[LOCAL_WATCHES];
  uv_idle_t step; /* passes output on, and at last the task's end */
  int handles;    /* open handles; the memory is freed with the last */
  bool over;      /* all writers have ended: the end is reported after the
                     output */
  bool lacking;   /* this process lacks resources to look at the task: it tries
                     again */
  bool stopped;
  bool closing;

  bool follow;
  bool waiting; /* `later` is open: it tries again then */
  uv_timer_t later;
  bool noticing; /* `events` is open, or with `looking` `look`: they notice new
                    output */
  bool looking;
  uv_fs_event_t events;
  uv_timer_t look;       /* polling, if inotify has no more watches */
  bool lost;             /* output was lost and that was reported */
  pai__task_log logs[2]; /* the second: stderr of an older supervisor */
};

/* A query of a container engine in a worker thread. */
typedef struct local_look {
  pai__work *work; /* NULL: never used */
  pai__runtimes found;
  pai_launch_plan plan;
  char *image; /* of the plan */
  bool busy;
  atomic_bool stop; /* nobody waits for the result any more */
} local_look;

struct local {
  pai_backend_host host;
  pai_alloc alloc;
  pai__log log;
  char *program; /* path of the supervisor */
  int pinned;    /* descriptor of the program when this was opened; -1: by its
                    path */
  pai__runtimes runtimes;
  local_look look;
  pai__backend_groups groups;
  char *limits;
  char boot[64];      /* id of the current boot */
  char *pass_env;     /* names of variables that tasks inherit; or NULL */
  uint64_t last_note; /* hash of the last note, so it is logged once, not for
                         each task */
  pai__map tasks;     /* id to local_task, until the task is over */
  size_t unfreed;     /* tasks and a query with open handles */
  bool detached;      /* callbacks are no longer called */
  pai__user self; /* this process's user; `name` is empty until it is looked
                     up */
  void (*closed)(void *user_data); /* set when closing */
  char chunk[65536]; /* read buffer; its content is passed on at once */
};

/* task.c */
int pai__local_task_start(local *l, uint64_t id, const pai_launch_plan *plan,
                          pai_error **err);
void pai__local_task_stop(local_task *t, int how);
/* Creates a task and registers its number. */
int pai__local_task_new(local_task **out, local *l, uint64_t id,
                        const char *dir, pai_error **err);
/* Waits for the end of LOCAL_SUPERVISOR or LOCAL_KEEPER.  Owns the descriptor,
 * also when it fails. */
int pai__local_task_watch(local_task *t, int which, pai__process *process);
/* The supervisor has ended: checks whether its keeper still ends processes. 1:
 * the keeper is watched; 0: there is none; -1: this process lacks resources to
 * look. */
int pai__local_task_watch_keeper(local_task *t);
/* Closes it without a callback; its processes continue. */
void pai__local_task_close(local_task *t);
/* Reads what its supervisor wrote.  As pai__files_status(). */
int pai__local_task_status(pai__status *out, const local_task *t,
                           pai_error **err);
/* As pai_backend_ops.enter(). */
int pai__local_task_enter(const local_task *t, int *fd, pai_error **err);
/* As pai_backend_ops.processes() (posix_enter.c). */
int pai__local_task_processes(const local_task *t, int64_t *session,
                              char *cgroup, size_t size);
/* Schedules its step for the next run of the loop. */
void pai__local_task_wake(local_task *t);
void pai__local_task_handle_closed(local_task *t);

/* adopt.c */
int pai__local_task_adopt(local *l, uint64_t id, const char *dir,
                          pai_error **err);

/* follow.c */
void pai__local_follow_init(local_task *t);
int pai__local_follow(local_task *t, int from, pai_error **err);
/* Passes on a limited amount of output; false: there is no more. */
bool pai__local_follow_more(local_task *t);
void pai__local_follow_end(local_task *t);

/* local.c: frees the back end if it was closed and this was its last task. */
void pai__local_task_freed(local *l);

/* launch.c: starts the supervisor of a task, as the task's user.  Returns its
 * pid, or an error code. */
int pai__local_launch(local_task *t, const pai_launch_plan *given,
                      pai_error **err);

/* look.c: as pai__runtimes_probe(), but returns PAI_EBUSY while a worker
 * thread does that, which calls host.ready() at its end. */
int pai__local_look(local *l, const pai_launch_plan *plan,
                    pai__surroundings *around, pai_error **err);
/* Stops the query early. */
void pai__local_look_end(local *l);

/* Returns whether sandboxed tasks cannot see the root. */
bool pai__local_hides(const local *l);

/* posix_host.c */
bool pai__local_port_is_free(uint32_t port);
/* Returns an environment: `from` (NULL: the part of the host's that tasks get)
 * with the plan's variables, and without names of folders in /tmp if the task
 * has its own /tmp.  NULL when out of memory.  Free only the array, with its
 * count. */
const char **pai__local_env(const char *const *from,
                            const pai_launch_plan *plan,
                            const pai__start *start, const char *more,
                            const pai_alloc *alloc, size_t *count);
/* Returns the names of `more`: from the option or this process's
 * environment. */
const char *pai__local_pass_env(const char *wished);
/* Makes the environment that replaces the host's for another user's tasks: it
 * has none of the host's secrets. */
void pai__local_user_env(pai__backend_words *out, const pai__user *who,
                         const char *more);
/* Returns the largest size of a program's arguments and environment, in
 * bytes. */
size_t pai__local_most_args(void);

#endif
