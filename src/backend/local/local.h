/*
 * local.h - internal to the back end: tasks of this machine, each with its
 * supervisor
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
#include "base/posix_user.h"
#include "loop/loop.h"

#include <uv.h>

typedef struct local local;
typedef struct local_task local_task;

/* Whose end is waited for: the supervisor's; if that was killed, the keeper's,
 * which ends all processes of the task first. */
enum { LOCAL_SUPERVISOR, LOCAL_KEEPER, LOCAL_WATCHES };

typedef struct local_watch {
  uv_poll_t poll;
  pai__process process; /* its fd -1: not waited for, or no more */
} local_watch;

struct local_task {
  local *owner;
  uint64_t id;
  char *dir;
  char *own; /* where its supervisor tells what happened: pai__own_dir(); NULL:
                in `dir` */
  pai__user *who;    /* whose it is; NULL: this process's */
  pai__space *space; /* of its job, as long as it runs; or NULL */
  char *above;   /* the control group of its owner's tasks, to be left when it
                    has ended; NULL: there is none, or another process made it */
  char *about;   /* in what it runs, and why; NULL: nothing is to be said */
  int child;     /* the supervisor, if this process is its parent; or 0 */
  int exit_code; /* then that of it */
  local_watch watches[LOCAL_WATCHES];
  uv_idle_t turn; /* tells output, and in the end how it ended */
  int handles;    /* not yet closed; the memory goes with the last */
  bool over;      /* nobody writes any more: told as soon as its output is */
  bool lacking;   /* this process lacks what it takes to look: looked again */
  bool stopped;
  bool closing;

  bool follow;
  bool waiting; /* `later` is open: it looks again then */
  uv_timer_t later;
  bool noticing; /* by `events`, or else by `look`, which are then open */
  bool looking;
  uv_fs_event_t events;
  uv_timer_t look; /* where inotify has no more to give */
  bool lost; /* some of its output was gone before it could be told: said */
  pai__task_log logs[2]; /* the second: stderr of an older supervisor */
};

/* What is asked of an engine beside the loop. */
typedef struct local_look {
  pai__work *work; /* NULL: never yet */
  pai__runtimes found;
  pai_launch_plan plan;
  char *image; /* the plan's */
  bool busy;
  atomic_bool stop; /* nobody waits for it any more */
} local_look;

struct local {
  pai_backend_host host;
  pai_alloc alloc;
  pai__log log;
  char *program; /* the supervisor, */
  int pinned;    /* as it was when this was opened; -1: by its path */
  pai__runtimes runtimes;
  local_look look;
  pai__groups groups;
  char *limits;
  char boot[64];      /* id of the machine's present boot */
  char *pass_env;     /* names of variables that tasks get, too; or NULL */
  uint64_t last_note; /* a hash of it: said once, not for each task */
  pai__map tasks;     /* id to local_task, until it is over */
  size_t unfreed;     /* tasks whose handles are not all closed, and a look */
  bool detached;      /* and no more is told */
  pai__user self; /* as whom this process runs; `name` is empty before it is
                         asked for */
  void (*closed)(void *user_data); /* set once closing */
  char chunk[65536]; /* every read goes here and is told at once */
};

/* task.c */
int pai__local_task_start(local *l, uint64_t id, const pai_launch_plan *plan,
                          pai_error **err);
void pai__local_task_stop(local_task *t, int how);
/* One that is known by its number from now on. */
int pai__local_task_new(local_task **out, local *l, uint64_t id,
                        const char *dir, pai_error **err);
/* Waits for the end of LOCAL_SUPERVISOR or LOCAL_KEEPER.  Takes the descriptor,
 * also when it fails. */
int pai__local_task_watch(local_task *t, int which, pai__process *process);
/* The supervisor is gone: does its keeper still end what it left?  1: it is
 * watched; 0: there is none; -1: this process lacks what it takes to look. */
int pai__local_task_watch_keeper(local_task *t);
/* Without a word; its processes run on. */
void pai__local_task_close(local_task *t);
/* What its supervisor wrote.  As pai__files_status(). */
int pai__local_task_status(pai__status *out, const local_task *t,
                           pai_error **err);
/* As pai_backend_ops.enter(). */
int pai__local_task_enter(const local_task *t, int *fd, pai_error **err);
/* As pai_backend_ops.processes() (posix_enter.c). */
int pai__local_task_processes(const local_task *t, int64_t *session,
                              char *cgroup, size_t size);
/* Its turn comes when the loop runs next. */
void pai__local_task_wake(local_task *t);
void pai__local_task_handle_closed(local_task *t);

/* adopt.c */
int pai__local_task_adopt(local *l, uint64_t id, const char *dir,
                          pai_error **err);

/* follow.c */
void pai__local_follow_init(local_task *t);
int pai__local_follow(local_task *t, int from, pai_error **err);
/* Tells what there is, but not for ever; false: all of it was told. */
bool pai__local_follow_more(local_task *t);
void pai__local_follow_end(local_task *t);

/* local.c: frees the back end if it was closed and this was the last task */
void pai__local_task_freed(local *l);

/* launch.c: has the supervisor of a task started, as the task's user; its number,
 * or a code. */
int pai__local_launch(local_task *t, const pai_launch_plan *given,
                      pai_error **err);

/* look.c: as pai__runtimes_probe(), but PAI_EBUSY while that is done beside the
 * loop, after which host.ready() is called. */
int pai__local_look(local *l, const pai_launch_plan *plan,
                    pai__surroundings *around, pai_error **err);
/* The sooner it is over. */
void pai__local_look_end(local *l);

/* Is the root hidden from tasks that have a sandbox? */
bool pai__local_hides(const local *l);

/* posix_host.c */
bool pai__local_port_is_free(uint32_t port);
/* An environment (NULL: of the host's what tasks get) with the plan's variables
 * over it, and without names of folders in /tmp if the task has its own; NULL
 * when memory is short.  Only the array is to be freed, with its count. */
const char **pai__local_env(const char *const *from,
                            const pai_launch_plan *plan,
                            const pai__start *start, const char *more,
                            const pai_alloc *alloc, size_t *count);
/* The names of `more`: as is wished, or as this process's environment says. */
const char *pai__local_pass_env(const char *wished);
/* What another user's tasks have instead of the host's: nothing of its secrets.
 */
void pai__local_user_env(pai__words *out, const pai__user *who,
                         const char *more);
/* Bytes that arguments and environment of a program may be. */
size_t pai__local_most_args(void);

#endif
