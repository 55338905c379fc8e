/* platform.h - internal to the room: a platform and its jobs */
#ifndef PAI_SRC_PLATFORM_PLATFORM_H
#define PAI_SRC_PLATFORM_PLATFORM_H

#include "backend/backend.h"
#include "base/buf.h"
#include "base/fork.h"
#include "base/map.h"
#include "base/posix_user.h"
#include "job/failure.h"
#include "job/form.h"
#include "job/plan.h"
#include "loop/loop.h"
#include "resource/machine.h"
#include "store/store.h"

#include <openpai/account.h>
#include <openpai/platform.h>
#include <openpai/sched.h>

#include <stdatomic.h>

typedef struct pai__pjob pai__pjob;

/* What is to be done with a task, when that is durable. */
enum {
  PAI__TODO_START = 1,
  PAI__TODO_STOP = 2,
  PAI__TODO_KILL = 4,
  PAI__TODO_ALL = 7,
  PAI__TODO_NEXT = 3 /* so many bits higher: what becomes durable next */
};

enum { PAI__TASK_BITS = 20 }; /* of a back end's task number */

/* A job stands in each of them at most once. */
enum pai__list {
  PAI__CHANGED,  /* what the next turn looks at */
  PAI__RECORDED, /* what is told when the commit is done */
  PAI__READY,    /* what has something to do that is durable */
  PAI__PLACED,   /* what was decided, during pai__platform_schedule() */
  PAI__LOOKING,  /* what waits for a look at the GPUs that it is to have */
  PAI__GONE,     /* what is forgotten */
  PAI__LISTS
};

/* Where a task's own request is: tasks of a gang have none. */
enum {
  PAI__ROOM_NONE,
  PAI__ROOM_ASKED,   /* it waits, or is held */
  PAI__ROOM_DECIDED, /* as soon as its GPUs were looked at */
  PAI__ROOM_TAKEN
};

/* What the platform knows of a task beside its fold; times are the wall's, 0
 * if it was not yet. */
typedef struct pai__ptask {
  uint8_t told;     /* the state last told, */
  uint8_t recorded; /* and the one that is told next, */
  uint8_t todo;     /* PAI__TODO_* */
  uint8_t owed;     /* PAI__DO_*, which the scheduler is yet to be told; 0 */
  uint8_t written;  /* the fold's state in its row, */
  bool changed;     /* or it is to be written anyway */
  bool adopt;     /* the back end is to be asked once more what became of it */
  int code;       /* told with `recorded` */
  int user_code;  /* that its command exited with; 0: none */
  int8_t share;   /* GPU that it has a part of, or -1 */
  uint8_t room;   /* PAI__ROOM_*; */
  bool held;      /* and whether it is held, */
  bool owed_held; /* as in its job */
  bool share_wanted;     /* as it waits for a share */
  uint8_t oom;           /* of its last end, as pai_task_end's */
  bool output_lost;      /* likewise */
  uint32_t retries_told; /* of its fold's */
  uint32_t port;         /* its first in the job's */
  uint32_t starts;       /* of it in this attempt of the job */
  pai_time created, launched, completed; /* of all its starts, */
  pai_time begun, ran, ended;            /* and of the latest one */
  char *dir;         /* its folder, below the job's; NULL before it starts */
  char *why;         /* it did not run, or NULL */
  char *diagnostics; /* of its end, or NULL */
  char *failure;     /* what is known of it (job/failure.h), or NULL */
  char *cpus;        /* that no other has, as "0-3,8", or NULL */
  char *about;       /* in what it runs, if that is to be said, or NULL */
} pai__ptask;

/* The latest attempt of a job, beside what its fold knows. */
typedef struct pai__pattempt {
  uint32_t number;
  pai_time created, launched, completed;
  bool over; /* and then: */
  int code;
  int user_code;    /* that the command exited with which decided; 0: none */
  uint32_t trigger; /* task that decided, or PAI__NO_TASK */
  char *message;    /* and why; or NULL */
  char *why;        /* it did not run, or NULL */
  char *diagnostics;
  char *failure; /* what is known of it, or NULL */
} pai__pattempt;

/* A job of the platform: the fold, and what hangs on it. */
struct pai__pjob {
  pai_platform *platform;
  pai_job_id id;
  pai_spec *spec;
  pai__job_form form;
  pai__job job;
  char *user, *name, *vc, *dir;
  char *work_dir;          /* where its commands begin, or NULL */
  uint32_t *gang;          /* of each role, tasks that are placed together */
  pai__task_place *places; /* of each task, while placed */
  uint32_t *ports;         /* of all of them, in a row */
  size_t nports;
  pai__arena attempt;       /* of what follows; emptied with the place */
  pai__plan_shared *shared; /* made with the attempt's first plan */
  pai__ptask *tasks;
  uint8_t told, recorded; /* as of a task */
  int code;               /* told with `recorded` */
  int runtime;            /* PAI_RUNTIME_* that it asks for, or -1 */
  uint32_t starting;      /* tasks that are to be started */
  pai_time submitted, created, launched, completed;
  pai__pattempt latest;
  char *impossible; /* why there cannot be room for it, or NULL */
  char *why;        /* text of the last task that did not start */
  char *short_of;   /* what the machine lacks for its next start, or NULL */
  pai_time short_until; /* loop's time of the next try; 0: none is due */
  pai_time short_delay;
  pai__timer *grace; /* from SIGTERM to SIGKILL */
  pai__timer *retry;
  uint64_t share;    /* bytes of a GPU's memory that each task with a GPU has;
                        0: whole ones */
  bool share_wanted; /* it is held until there are such, */
  bool shared_out;   /* and has them */
  bool placed;       /* the gang holds what is in `places` */
  bool decided;      /* that it is to, as soon as its GPUs were looked at */
  bool preempted;    /* since it was placed last */
  uint8_t owed;      /* as of a task: of the gang */
  bool owed_held;    /* when that is told, it is held */
  bool held;         /* starts wait until the back end knows more */
  bool replan;       /* places were changed since `shared` was made */
  bool secret;       /* its file is kept with its secrets */
  bool fresh;        /* not in the database yet, */
  uint64_t commit;   /* but in this commit */
  bool is_short;     /* its starts wait for what the machine lacks, */
  bool short_news;   /* which is to be told */
  bool short_trial;  /* one was made just now, and may have been good */
  bool stop_now;     /* it was stopped while nothing could be written */
  bool output_lost;  /* of a start of one of its tasks */
  bool forgotten;    /* freed when it stands in no list any more */
  bool in[PAI__LISTS];
  pai__pjob *next[PAI__LISTS];
};

/* Jobs in the order they were added. */
typedef struct pai__pjob_list {
  pai__pjob *first, *last;
} pai__pjob_list;

typedef struct pai__sync pai__sync;
typedef struct pai__gpus pai__gpus;
typedef struct pai__cores pai__cores;
typedef struct pai__code pai__code;
typedef struct pai__items pai__items;
typedef struct pai__listings pai__listings;
typedef struct pai__vcs pai__vcs;

struct pai_platform {
  pai_alloc alloc;
  pai__fork_fd lock_fork; /* children do not keep its lock */
  pai_loop *loop;
  pai__log log;
  pai_event_cb on_event;
  void *user_data;
  char *root, *jobs_dir;
  char *user;
  pai__failures *failures; /* its own known ones, or NULL */
  pai__machine here;       /* the one it runs jobs on */
  struct {
    uint64_t request; /* of the scheduler, that has this GPU to be shared; or
                         0 */
    uint64_t used;    /* bytes that were given out */
    bool leaving;     /* another one is to have it: no more is given out */
  } shares[PAI__MAX_GPUS];
  uint64_t last_share;
  uint64_t share_ids[PAI__MAX_GPUS];     /* that were decided, */
  uint64_t share_looking[PAI__MAX_GPUS]; /* or wait for a look at theirs */
  pai__gpus *gpus;                       /* NULL: it has none */
  pai__cores *cores;
  pai__code *code;         /* NULL: it keeps no records */
  pai__vcs *vcs;           /* likewise */
  pai__listings *listings; /* likewise */
  struct {
    uint64_t dev, ino;
    int64_t at; /* seconds since 1970 */
  } swept; /* folder of which parts of files were removed that nobody sends */
  pai_sched *sched;
  pai_time clock; /* the scheduler's time is the loop's, and so much more */
  const pai_backend_ops *ops;
  void *backend;
  pai__turn *kick;      /* everything that calls back happens in it */
  pai__timer *shortage; /* then starts that failed for want of something are
                           tried again */
  pai__timer *ports;    /* then ports that others used are looked at again */
  pai__timer *limits;   /* then the scheduler is to decide by itself */
  pai__map jobs;        /* by id; those that were forgotten are not in it */
  pai__map names;       /* the same by user~name, of a durable one */
  pai_job_id last_id;
  uint64_t seed;
  pai__pjob_list lists[PAI__LISTS];
  pai_listener *listeners; /* the latest first */
  pai_follower *followers; /* likewise */
  struct pai_log_reader *readers;
  struct pai_log_reader *next_reader; /* that a piece is handed to */
  void (*on_gone)(void *user_data);
  pai__watch *gone_watch; /* of the lock's file; or */
  pai__timer *gone_timer;
  pai_closed_cb closed;
  void *closed_data;
  /* What follows only of a durable one. */
  pai_accounts *accounts;
  pai__store *store;
  pai__batch *batch;  /* what was changed since the last commit began */
  pai__batch *flight; /* what is being committed */
  pai__buf lines;     /* of the scheduler's log, likewise */
  size_t snapshot;    /* length of its last snapshot, */
  size_t logged;      /* and of what was logged since then */
  pai__work *commit;
  pai__timer *lazy;      /* then what is not urgent is committed, too */
  pai__timer *again;     /* then a commit that failed is tried once more */
  uint64_t commits;      /* begun so far */
  pai_error *commit_err; /* of the last try, */
  pai_error *trouble;    /* of the last one that failed */
  pai_time delay;        /* of `again` */
  pai__sync *syncs;      /* the first that asked first */
  char address[46];      /* where others reach its tasks; "": as here.ip */
  char boot[40];         /* what this run of the machine is called */
  uint64_t uid_seed;     /* of what things are called for ever */
  pai_time keep_time;  /* how long jobs that are over are kept; 0: for ever */
  uint64_t keep_bytes; /* and how much of their logs; 0: all */
  uint64_t keep_jobs;  /* and how many; 0: any number */
  uint64_t kept_bytes; /* as counted last */
  pai__timer *keep_timer;
  pai__work *keep_work;
  struct pai__folders *folders; /* NULL: they were not asked for */
  pai__map dropped;  /* jobs that are forgotten in the batches, by id */
  pai__turn *gather; /* then the next jobs come into memory, for lists */
  pai__items *items; /* of lists, as they were written last; NULL: none */
  pai__buf *path;    /* what was last asked for of jobs that are over */
  pai__buf path_buf;
  struct {
    uint64_t submitted, succeeded, failed, stopped;
    uint64_t commits, commit_failures;
    pai_time commit_us, begun; /* of all of them; of the one under way */
  } counts;                    /* for whoever watches (running.c) */
  /* Numbers. */
  unsigned forks;        /* see base/fork.h */
  int runtime;           /* PAI_RUNTIME_* of jobs that do not say */
  int lock;              /* descriptor of the root's lock, or -1 */
  uint32_t short_jobs;   /* whose starts wait for what this machine lacks */
  uint32_t shares_asked; /* GPUs to be shared that wait for their turn */
  uint32_t impossible;   /* jobs that are, or more */
  uint32_t nshare_ids;   /* decided shares that were not begun yet */
  uint32_t nshare_looking;
  unsigned hearing; /* depth of calls of listeners */
  unsigned tries;   /* of a commit that failed */
  unsigned
    stalls;      /* turns in a row without memory for all there is to commit */
  int commit_rc; /* of the last try, in which another thread may be, */
  pai_time commit_took;
  int trouble_rc;                 /* of the last one that failed */
  unsigned backups;               /* that are being made */
  struct pai_estimate *estimates; /* likewise, or wait for it */
  unsigned nestimates;
  uint32_t dependent;         /* jobs that name others to wait for */
  struct pai__look *look;     /* that they share; NULL: nobody has asked yet */
  struct pai_answer *answers; /* likewise, of why_beside.c */
  unsigned nanswers;
  struct pai__explainer *explainer; /* that makes them; likewise */
  int sched_file_fd; /* the scheduler's log for who looks back, or -1 */
  uint64_t sched_file_size;
  /* Facts. */
  bool sched_file_gap; /* lines of that are missing, until its next snapshot */
  bool sharing;        /* there was a job that shares GPUs */
  bool ranks;          /* the scheduler is told priorities */
  bool schedule_due;   /* something may be placed, or not be any more */
  bool wait_impossible; /* jobs that ask for more than there is */
  bool sched_file_told; /* that it cannot be written was logged */
  bool strays;  /* memory was short to remove a request from the scheduler, */
  bool owing;   /* or to tell it of one that goes on */
  bool turning; /* a turn is under way, or something is told */
  bool urgent;  /* something was changed that is not to wait for others */
  bool waiting; /* something was that may: `lazy` runs */
  bool closing; /* it was asked to close, */
  bool leaving; /* and tasks are to go on */
  bool backend_closing; /* which its back end has begun, */
  bool backend_closed;  /* and done */
  bool unlogged;   /* lines of the scheduler are missing: a snapshot is next */
  bool incomplete; /* memory was short for something to be committed */
  bool committing; /* a commit is under way, or to be tried again, */
  bool failing;    /* because it failed */
  bool full;       /* the disk has room for the end of jobs alone, */
  bool reserve_fell; /* as the last commit has seen */
  bool untidy;       /* secrets or jobs were dropped; */
  bool tidying;      /* that is what `commit` tidies up now */
  bool counting;     /* bytes of logs are being counted */
  bool gone;         /* its root was deleted */
  bool system;       /* it is all users', and their jobs run as them */
  bool rebooted;     /* the machine, since the last platform of this root */
  bool lost;         /* it closes without its last changes */
  const char *hole;  /* that was told last (apart.c) */
  bool beginning; /* the line of the scheduler is a snapshot, between others */
  bool unheard;   /* the scheduler writes no log, for want of memory */
};

struct pai_event {
  int type;
  pai_job_id job;
  pai_time time;
  int state;
  int code;
  const char *role;
  uint32_t index;
  uint32_t attempt;
  int stream;
  const char *text;
  size_t len;
};

/* The scheduler's and the folds' time: does not go back, also not from one
 * process of a root to the next. */
static inline pai_time pai__platform_now(const pai_platform *p)
{
  return pai__loop_time() + p->clock;
}

/* turn.c */
/* Puts a job at the end of a list; what is to be looked at is in the next
 * turn. */
void pai__platform_put(pai__pjob *j, enum pai__list which);
/* What was changed is committed in the next turn. */
void pai__platform_hurry(pai_platform *p);
/* Begins a commit, of a call that many wait for; else the turn does. */
void pai__platform_record_now(pai_platform *p);
/* Takes the first one off, or NULL. */
pai__pjob *pai__platform_pop(pai_platform *p, enum pai__list which);
void pai__platform_turn(void *user_data);
/* What was recorded is durable. */
void pai__platform_durable(pai_platform *p);
void pai__platform_free(pai_platform *p);

/* drive.c: hands the fold an event of one task, or, of those about rooms, by
 * PAI__NO_TASK of all. */
void pai__platform_event(pai__pjob *j, enum pai__event_kind kind,
                         uint32_t task, int code);
/* Takes what the fold asks for: what is the scheduler's is done now, what is
 * the tasks' when that is durable. */
void pai__platform_drive(pai__pjob *j);
/* Sends the requests of a new job.  The codes of pai_sched_send(). */
int pai__platform_ask(pai__pjob *j, pai_error **err);

/* perform.c: what plans of tasks have alike is made anew. */
void pai__platform_forget_plan(pai__pjob *j);
/* Does to tasks some of what is durable. */
void pai__platform_perform(pai__pjob *j);
/* As pai_backend_host.ready(). */
void pai__platform_ready(void *user_data);
void pai__platform_task_ended(void *user_data, uint64_t id,
                              const pai_task_end *end);

/* placing.c: lets the scheduler decide, and starts what it placed. */
void pai__platform_schedule(pai_platform *p);
/* Sends the request of a gang.  As pai__platform_ask(). */
int pai__platform_queue(pai__pjob *j, pai_error **err);
/* It holds nothing any more and waits again, in its old turn; or, until that
 * is resumed, does not. */
int pai__platform_return(pai__pjob *j, bool held);
int pai__platform_resume(pai__pjob *j);
/* The job, if it is known there, holds nothing any more and does not wait. */
void pai__platform_unqueue(pai__pjob *j);
/* Ports that each task of a role is given. */
uint32_t pai__platform_role_ports(const pai__role *role);
/* Fills in where the gang's tasks are to be. */
void pai__platform_take_places(pai__pjob *j);

/* tell.c: notes what is to be told next; tells what was noted. */
void pai__platform_note(pai__pjob *j);
bool pai__platform_is_noted(const pai__pjob *j); /* and not yet told */
void pai__platform_tell(pai__pjob *j);
/* How what failed ended, and which retry that is; of a task, or by PAI__NO_TASK
 * of the job. */
void pai__platform_retry_text(const pai__pjob *j, uint32_t task,
                              pai__buf *out);
/* What the scheduler says it waits for; or nothing. */
void pai__platform_waiting_text(const pai__pjob *j, pai__buf *out);
void pai__platform_output(void *user_data, uint64_t id, int stream,
                          const char *data, size_t len);

/* jobs.c */
int pai__platform_make_job(pai__pjob **out, pai_platform *p, pai_spec *spec,
                           const char *user, const char *name, pai_job_id id,
                           pai_error **err);
/* What its tasks need, as soon as the fold is there, so that placing them
 * cannot fail. */
int pai__platform_make_tasks(pai__pjob *j, pai_error **err);
/* It is found from now on; or no longer.  The codes of pai__map_set(). */
int pai__platform_add(pai__pjob *j);
void pai__platform_remove(const pai__pjob *j);
/* Of a durable one; NULL when there is no such job. */
pai__pjob *pai__platform_find_named(const pai_platform *p, const char *user,
                                    const char *name);
/* It is not found any more; freed when it stands in no list. */
void pai__platform_let_go(pai__pjob *j);
void pai__platform_free_job(pai__pjob *j);
/* NULL when there is no such job, or it was over before this process. */
pai__pjob *pai__platform_find_job(const pai_platform *p, pai_job_id id);
/* By the back end's number of a task. */
pai__pjob *pai__platform_find_task(pai_platform *p, uint64_t id,
                                   uint32_t *task);

static inline uint64_t pai__platform_task_id(const pai__pjob *j, uint32_t task)
{
  return j->id << PAI__TASK_BITS | task;
}

/* posix_root.c */
int pai__platform_default_root(char **out, const pai_alloc *alloc,
                               pai_error **err);
/* Of this process' user.  PAI_EIO: the list of users cannot be read. */
int pai__platform_user_name(char **out, const pai_alloc *alloc,
                            pai_error **err);
/* PAI_EBUSY: another process has the root, and which. */
int pai__platform_lock(int *fd, const char *root, const pai_alloc *alloc,
                       pai_error **err);
void pai__platform_unlock(int fd);
/* Whether the file that is locked was deleted. */
bool pai__platform_lock_is_gone(int fd);
long pai__platform_pid(void);
/* "" if nobody knows; out has room for 40 bytes. */
void pai__platform_boot_id(char *out);
/* ROOT/folder/USER~NAME, or NULL without memory. */
char *pai__platform_path(const pai_platform *p, const char *folder,
                         const char *user, const char *name);
/* gone.c: sees to it that on_gone is called. */
int pai__gone_open(pai_platform *p, pai_error **err);
void pai__gone_close(pai_platform *p);

/* posix_tree.c */
/* What is in a folder, in any thread. */
uint64_t pai__platform_tree_bytes(const char *path);
/* Removes a folder and all in it, as far as it can, in any thread; and no more
 * of it once *stop is true.  `stop` may be NULL. */
void pai__platform_remove_tree(const char *path, const atomic_bool *stop);
void pai__platform_make_trash(const char *trash);
/* Moves a folder, if there is one, to a new name in `trash`, which is made if
 * it is not there.  False: it is still where it was. */
bool pai__platform_trash(const char *trash, const char *path,
                         const pai_alloc *alloc);
/* Removes all that is in `trash`, in any thread. */
void pai__platform_empty_trash(const char *trash, const pai_alloc *alloc,
                               const atomic_bool *stop);
/* Moves a folder, if there is one and it is not empty, to ROOT/lost, where
 * nobody removes it. */
int pai__platform_set_aside(const pai_platform *p, const char *path,
                            const char *name, pai_error **err);
/* Moves a folder, if there is one, to ROOT/kept, for its user.  *out is where it
 * is then, or NULL.  And back again. */
int pai__platform_keep_tree(char **out, const pai_platform *p,
                            const char *path, pai_error **err);
void pai__platform_put_back(const pai_platform *p, const char *from,
                            const char *to);

/* posix_failures.c: its own known failures, if its root has a file of them. */
int pai__failures_open(pai_platform *p, pai_error **err);

/* posix_system.c */
/* Whether the root is of this kind; and the folders of one of all users. */
int pai__system_open(pai_platform *p, pai_error **err);
/* As whom a task runs; NULL: as this process.  For a back end. */
const char *pai__system_owner(void *user_data, uint64_t task);
/* That user, to be freed; NULL: this process.  PAI_ENOTFOUND: is gone. */
int pai__system_find(pai__user **out, const pai_platform *p, const char *name,
                     pai_error **err);
/* The job's folder, and in it that of this attempt's tasks, which is the
 * user's.  Elsewhere a back end makes both with a task's own. */
int pai__system_make_attempt(const pai__pjob *j, pai_error **err);

#endif
