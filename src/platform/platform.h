/* platform.h - internal to the room: types of a platform and its jobs */
#ifndef PAI_SRC_PLATFORM_PLATFORM_H
#define PAI_SRC_PLATFORM_PLATFORM_H

#include "backend/backend.h"
#include "base/buf.h"
#include "base/os/fork.h"
#include "base/map.h"
#include "base/os/posix_user.h"
#include "job/end/failure.h"
#include "job/form.h"
#include "job/plan/plan.h"
#include "loop/loop.h"
#include "resource/machine.h"
#include "store/store.h"

#include <openpai/account.h>
#include <openpai/market.h>
#include <openpai/platform.h>
#include <openpai/sched.h>

#include <stdatomic.h>

typedef struct pai__pjob pai__pjob;
typedef struct pai__questions { /* records/questions.h */
  struct pai__question *first;
  unsigned n;
} pai__questions;

/* Actions on a task that wait until the change behind them is durable. */
enum {
  PAI__TODO_START = 1,
  PAI__TODO_STOP = 2,
  PAI__TODO_KILL = 4,
  PAI__TODO_ALL = 7,
  PAI__TODO_NEXT = 3 /* shift of the actions that become durable next */
};

enum { PAI__TASK_BITS = 20 }; /* bits of the task in a back end's number */

/* Lists of jobs; a job is in each of them at most once. */
enum pai__list {
  PAI__CHANGED,  /* changed jobs, for the next step */
  PAI__RECORDED, /* jobs to report when the commit is done */
  PAI__READY,    /* jobs with actions that are durable */
  PAI__PLACED,   /* jobs placed during pai__platform_schedule() */
  PAI__LOOKING,  /* placed jobs that wait for a check of their GPUs */
  PAI__GONE,     /* forgotten jobs, to be freed */
  PAI__LISTS
};

/* State of the request of a task that is placed alone. */
enum {
  PAI__SINGLE_NONE,    /* no request, as a task of a gang */
  PAI__SINGLE_ASKED,   /* waits, or is held */
  PAI__SINGLE_DECIDED, /* placed; its GPUs are not checked yet */
  PAI__SINGLE_TAKEN    /* holds its place */
};

/* What the platform knows of a task beside its fold.  Times are wall-clock
 * times; 0: not yet. */
typedef struct pai__ptask {
  uint8_t told;       /* state last reported */
  uint8_t recorded;   /* state to be reported next */
  uint8_t todo;       /* PAI__TODO_* */
  uint8_t deferred;   /* PAI__DO_* yet to be sent to the scheduler; 0: none */
  uint8_t written;    /* the fold's state in the task's row */
  bool changed;       /* the row must be written, even with the same state */
  bool adopt;         /* its adoption must be tried again */
  int code;           /* reported with `recorded` */
  int user_code;      /* exit code of its command; 0: none */
  int8_t share;       /* number of the GPU that it shares, or -1 */
  uint8_t single;     /* PAI__SINGLE_*: state of its own request */
  bool held;          /* its own request is held */
  bool deferred_held; /* as in pai__pjob */
  bool share_wanted;  /* it waits for a share of a GPU */
  uint8_t oom;        /* `oom` of its last pai_task_end */
  bool output_lost;   /* `output_lost` of its last pai_task_end */
  uint32_t retries;   /* retries of its fold, noted with `recorded` */
  uint32_t retries_told; /* retries last reported */
  uint32_t port;         /* index of its first port in the job's `ports` */
  uint32_t starts;       /* starts in this attempt of the job */
  pai_time created, launched, completed; /* of all its starts */
  pai_time begun, ran, ended;            /* of its latest start */
  char *dir;         /* its folder, below the job's; NULL before it starts */
  char *why;         /* why it did not run, or NULL */
  char *diagnostics; /* of its end, or NULL */
  char *failure;     /* known failure (job/end/failure.h), or NULL */
  char *cpus;        /* CPUs that are its own, as "0-3,8", or NULL */
  char *about;       /* unusual runtime that it runs in, or NULL */
} pai__ptask;

/* What the platform knows of a job's latest attempt beside the fold. */
typedef struct pai__pattempt {
  uint32_t number;
  pai_time created, launched, completed;
  bool over; /* only then the following fields are set */
  int code;
  int user_code;    /* exit code of the command of `trigger`; 0: none */
  uint32_t trigger; /* task that ended the attempt, or PAI__NO_TASK */
  char *message;    /* why it ended, or NULL */
  char *why;        /* why `trigger` did not run, or NULL */
  char *diagnostics;
  char *failure; /* known failure, or NULL */
} pai__pattempt;

/* A job of the platform: its fold, requests, tasks and timers. */
struct pai__pjob {
  pai_platform *platform;
  pai_job_id id;
  pai_spec *spec;
  pai__job_form form;
  pai__job job;
  char *user, *name, *vc, *dir;
  char *work_dir;          /* working folder of its commands, or NULL */
  uint32_t *gang;          /* for each role, number of tasks of the gang */
  pai__task_place *places; /* of each task, while placed */
  uint32_t *ports;         /* ports of all tasks, in a row */
  size_t nports;
  pai__arena attempt;       /* memory of `shared` */
  pai__plan_shared *shared; /* made with the attempt's first plan */
  pai__ptask *tasks;
  uint8_t told, recorded; /* as in pai__ptask */
  int code;               /* reported with `recorded` */
  int runtime;            /* PAI_RUNTIME_* that it asks for, or -1 */
  uint32_t starting;      /* number of tasks with PAI__TODO_START */
  pai_time submitted, created, launched, completed;
  pai__pattempt latest;
  char *impossible; /* why its request can never be met, or NULL */
  char *why;        /* why the last task that failed to start did so */
  char *short_of;   /* what the machine lacks for its next start, or NULL */
  pai_time short_until; /* loop time of the next try; 0: none is due */
  pai_time short_delay;
  pai__timer *grace; /* from SIGTERM to SIGKILL */
  pai__timer *retry;
  uint64_t share;     /* bytes of GPU memory for each task with a GPU; 0: whole
                         GPUs */
  bool share_wanted;  /* the gang is held until it gets its shares */
  bool shared_out;    /* the gang has its shares */
  bool placed;        /* the gang holds what is in `places` */
  bool decided;       /* the gang is placed; its GPUs are not checked yet */
  bool preempted;     /* since it was placed last */
  uint8_t deferred;   /* as in pai__ptask, for the gang */
  bool deferred_held; /* `deferred` is to be sent with the request held */
  bool held;          /* its starts wait for the back end to be ready */
  bool replan;        /* places were changed since `shared` was made */
  bool secret;        /* its file is kept with its secrets */
  bool fresh;         /* not in the database yet */
  uint64_t commit;    /* number of the commit that writes a fresh job */
  bool is_short;      /* its starts wait because of a shortage */
  bool short_news;    /* the shortage is yet to be reported */
  bool short_trial;   /* a start was tried, with an unknown result as yet */
  bool stop_now;      /* it was stopped while nothing could be written */
  bool output_lost;   /* output of one of its starts is lost */
  bool forgotten;     /* freed as soon as it is in no list */
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
typedef struct pai__job_items pai__job_items;
typedef struct pai__listings pai__listings;
typedef struct pai__vcs pai__vcs;

/* The folder last cleaned of abandoned uploads, and when. */
typedef struct pai__platform_swept {
  uint64_t dev, ino;
  int64_t at; /* seconds since 1970 */
} pai__platform_swept;

struct pai_platform {
  pai_alloc alloc;
  pai__fork_fd lock_fork; /* closes the lock's descriptor in children */
  pai_loop *loop;
  pai__log log;
  pai_event_cb on_event;
  void *user_data;
  char *root, *jobs_dir;
  char *user;
  pai__failures *failures; /* known failures of its root's file, or NULL */
  pai__machine here;       /* the machine that it runs jobs on */
  struct {
    uint64_t request; /* id of the request that holds this GPU for sharing;
                         0: none */
    uint64_t used;    /* bytes that were given out */
    bool leaving;     /* preempted: no more shares of it are given out */
  } shares[PAI__MAX_GPUS];
  uint64_t last_share;                   /* number of the last such request */
  uint64_t share_ids[PAI__MAX_GPUS];     /* such requests that were placed */
  uint64_t share_looking[PAI__MAX_GPUS]; /* placed, waiting for a GPU check */
  pai__gpus *gpus;                       /* NULL: the machine has none */
  pai__cores *cores;
  pai__code *code;         /* NULL: not durable */
  pai__vcs *vcs;           /* NULL: not durable */
  pai__listings *listings; /* NULL: not durable */
  pai__platform_swept swept;
  pai_sched *sched;
  pai_time clock; /* the scheduler's time minus the loop's time */
  const pai_backend_ops *ops;
  void *backend;
  pai__loop_step
    *kick; /* runs pai__platform_step(); all callbacks are in it */
  pai__timer *shortage; /* retries starts that failed in a shortage */
  pai__timer *ports;    /* schedules again after ports were found in use */
  pai__timer *limits;   /* schedules when a time limit is reached */
  pai__map jobs;        /* jobs by id, without forgotten ones */
  pai__map names;       /* jobs by user~name, of a durable platform */
  pai_job_id last_id;
  uint64_t seed;
  pai__pjob_list lists[PAI__LISTS];
  pai_listener *listeners; /* latest first */
  pai_follower *followers; /* latest first */
  struct pai_log_reader *readers;
  struct pai_log_reader *next_reader; /* gets the next piece of a log */
  void (*on_gone)(void *user_data);
  pai__watch *root_watch; /* of the lock's file, where files can be watched */
  pai__timer *root_timer; /* checks the lock's file where they cannot */
  pai_closed_cb closed;
  void *closed_data;
  /* Of a durable platform only. */
  pai_accounts *accounts;
  pai_market *market; /* with the accounts, or NULL */
  pai__store *store;
  pai__batch *batch;  /* changes since the last commit began */
  pai__batch *flight; /* changes that are being committed */
  pai__buf lines;     /* of the scheduler's log since the last commit began */
  size_t snapshot;    /* length of the scheduler's last snapshot */
  size_t logged;      /* length of the lines logged since then */
  pai__work *commit;
  pai__timer *lazy;      /* commits changes that are not urgent */
  pai__timer *again;     /* retries a commit that failed */
  uint64_t commits;      /* number of commits begun */
  pai_error *commit_err; /* of the last try */
  pai_error *trouble;    /* of the last try that failed */
  pai_time delay;        /* of `again` */
  pai__sync *syncs;      /* waiting callers, first come first */
  char address[46];      /* where others reach its tasks; "": as here.ip */
  char boot[40];         /* the machine's boot id */
  uint64_t uid_seed;     /* of the unique ids of its jobs and their parts */
  pai_time keep_time;    /* how long ended jobs are kept; 0: for ever */
  uint64_t keep_bytes;   /* most bytes of their logs to keep; 0: all */
  uint64_t keep_jobs;    /* most ended jobs to keep; 0: any number */
  uint64_t kept_bytes;   /* bytes of logs as last counted */
  pai__timer *keep_timer;
  pai__work *keep_work;
  pai_time keep_began;          /* when the last count began */
  pai_time keep_pause;          /* time from a job's end to the next count */
  pai_time keep_due;            /* when the next count is due */
  pai_time keep_seen;           /* least time for which an ended job is kept */
  struct pai__folders *folders; /* NULL: not asked for */
  pai__map dropped;             /* jobs that the batches remove, by id */
  pai__loop_step *gather;       /* loads more jobs into memory, for lists */
  pai__job_items *items;        /* list entries as last written; NULL: none */
  pai__buf *path;               /* folder last asked for, of an ended job */
  pai__buf path_buf;
  struct {
    uint64_t submitted, succeeded, failed, stopped;
    uint64_t commits, commit_failures;
    pai_time commit_us, begun; /* of all commits; start of the current one */
  } counts;                    /* for monitoring (running.c) */
  /* Numbers. */
  unsigned forks;        /* see base/os/fork.h */
  int runtime;           /* PAI_RUNTIME_* of jobs that name none */
  int lock;              /* descriptor of the root's lock, or -1 */
  uint32_t short_jobs;   /* jobs whose starts wait because of a shortage */
  uint32_t shares_asked; /* waiting requests for GPUs to share */
  uint32_t impossible;   /* upper bound of the number of impossible jobs */
  uint32_t nshare_ids;
  uint32_t nshare_looking;
  unsigned hearing; /* depth of calls of listeners */
  unsigned tries;   /* of a commit that failed */
  unsigned stalls;  /* steps in a row without memory for the whole commit */
  int commit_rc;    /* of the last try; another thread may be writing it */
  pai_time commit_took;
  int trouble_rc;           /* of the last try that failed */
  unsigned backups;         /* number of backups being made */
  pai__questions estimates; /* being made or waiting */
  uint32_t dependent;       /* number of jobs that name others to wait for */
  struct pai__look *look;   /* shared by estimates; NULL: none asked yet */
  pai__questions answers;   /* of why_beside.c, being made or waiting */
  struct pai__explainer *explainer; /* makes answers; NULL: none asked yet */
  int sched_file_fd; /* of the current file of the scheduler's log, or -1 */
  uint64_t sched_file_size;
  /* Facts. */
  bool sched_file_gap;  /* lines of the file are missing until a snapshot */
  bool sharing;         /* there was a job that shares GPUs */
  bool ranks;           /* the scheduler gets the jobs' priorities */
  bool schedule_due;    /* a change may affect what is placed */
  bool wait_impossible; /* accept jobs that ask for more than there is */
  bool sched_file_told; /* a failure to write the file was logged */
  bool strays;          /* out of memory while a request was to be removed */
  bool deferring;       /* out of memory for an event of a job that goes on */
  bool stepping;        /* in a step, or in a callback */
  bool urgent;          /* a change is to be committed at once */
  bool waiting;         /* changes wait for the timer `lazy` */
  bool closing;         /* pai_platform_close() or _leave() was called */
  bool leaving;         /* its tasks go on while it closes */
  bool backend_closing; /* its back end was asked to close */
  bool backend_closed;  /* its back end has closed */
  bool unlogged;   /* lines of the scheduler are missing: a snapshot is next */
  bool incomplete; /* out of memory for a part of the batch */
  bool committing; /* a commit is under way, or to be tried again */
  bool failing;    /* the last commit failed */
  bool full;       /* the disk has only the room reserved for ends of jobs */
  bool reserve_fell; /* after the last commit that reserve was not whole */
  bool untidy;    /* secrets or jobs were removed: the store is to be tidied */
  bool tidying;   /* `commit` tidies the store now */
  bool counting;  /* bytes of logs are being counted */
  bool keep_soon; /* a job has ended since the count began */
  bool root_gone; /* its root was deleted */
  bool system;    /* serves all users, and runs jobs as their users */
  bool rebooted;  /* the machine, since the last platform of this root */
  bool lost;      /* it closes without its last changes */
  const char *hole; /* last warning of apart.c, or NULL */
  bool beginning;   /* the scheduler writes a snapshot between other lines */
  bool unheard;     /* the scheduler writes no log, for lack of memory */
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

/* Returns the time of the scheduler and of the folds.  It never goes back, not
 * even from one process of a root to the next. */
static inline pai_time pai__platform_now(const pai_platform *p)
{
  return pai__loop_time() + p->clock;
}

/* platform.c: fails; or fails without a database and while it closes. */
int pai__no_records(pai_error **err);
int pai__check_open(const pai_platform *p, pai_error **err);

/* step.c */
/* Adds a job to the end of a list, unless it is in it, and asks for a step. */
void pai__platform_put(pai__pjob *j, enum pai__list which);
/* Has the next step commit all changes. */
void pai__platform_hurry(pai_platform *p);
/* Begins a commit within an API call, or else leaves it to the next step. */
void pai__platform_record_now(pai_platform *p);
/* Removes and returns the first job of a list, or NULL. */
pai__pjob *pai__platform_pop(pai_platform *p, enum pai__list which);
void pai__platform_step(void *user_data);
/* Reports and readies the recorded jobs, whose changes are durable now. */
void pai__platform_durable(pai_platform *p);
void pai__platform_free(pai_platform *p);

/* drive.c: gives the fold an event of one task.  For events about places
 * PAI__NO_TASK means the gang. */
void pai__platform_event(pai__pjob *j, enum pai__event_kind kind,
                         uint32_t task, int code);
/* Takes the fold's actions.  Those for the scheduler are done now, those on
 * tasks when they are durable. */
void pai__platform_drive(pai__pjob *j);
/* Sends the requests of a new job.  Returns a code of pai_sched_send(). */
int pai__platform_ask(pai__pjob *j, pai_error **err);

/* perform.c: drops the plan's shared part, so that it is made anew. */
void pai__platform_forget_plan(pai__pjob *j);
/* Does durable actions on a job's tasks, with a limit of starts per call. */
void pai__platform_perform(pai__pjob *j);
/* Implements pai_backend_host.ready(). */
void pai__platform_ready(void *user_data);
void pai__platform_task_ended(void *user_data, uint64_t id,
                              const pai_task_end *end);

/* placing.c: lets the scheduler decide, and starts what it placed. */
void pai__platform_schedule(pai_platform *p);
/* Sends the request of a gang.  Returns a code as pai__platform_ask(). */
int pai__platform_queue(pai__pjob *j, pai_error **err);
/* Gives up the gang's place.  Its request waits again in its old turn; if
 * `held`, only after pai__platform_resume(). */
int pai__platform_return(pai__pjob *j, bool held);
int pai__platform_resume(pai__pjob *j);
/* Removes the job's requests from the scheduler and frees all that it holds. */
void pai__platform_unqueue(pai__pjob *j);
/* Returns the number of ports of each task of a role. */
uint32_t pai__platform_role_ports(const pai__role *role);
/* Notes the places that the scheduler chose for the gang's tasks. */
void pai__platform_take_places(pai__pjob *j);

/* tell.c: notes the states to report next; reports what was noted. */
void pai__platform_note(pai__pjob *j);
bool pai__platform_is_noted(const pai__pjob *j); /* and not yet reported */
void pai__platform_tell(pai__pjob *j);
/* Writes how a task, or with PAI__NO_TASK the job, failed, and the number of
 * the retry. */
void pai__platform_retry_text(const pai__pjob *j, uint32_t task,
                              pai__buf *out);
/* Writes the scheduler's reason why the job waits, or nothing. */
void pai__platform_waiting_text(const pai__pjob *j, pai__buf *out);
void pai__platform_output(void *user_data, uint64_t id, int stream,
                          const char *data, size_t len);

/* jobs.c */
int pai__platform_make_job(pai__pjob **out, pai_platform *p, pai_spec *spec,
                           const char *user, const char *name, pai_job_id id,
                           pai_error **err);
/* Allocates what the job's tasks need once the fold is there, so that placing
 * them cannot fail. */
int pai__platform_make_tasks(pai__pjob *j, pai_error **err);
/* Adds a job to the maps, or removes it.  Returns a code of pai__map_set(). */
int pai__platform_add(pai__pjob *j);
void pai__platform_remove(const pai__pjob *j);
/* Finds a job of a durable platform; NULL: no such job. */
pai__pjob *pai__platform_find_named(const pai_platform *p, const char *user,
                                    const char *name);
/* Forgets a job: it is removed from the maps, and freed when in no list. */
void pai__platform_let_go(pai__pjob *j);
void pai__platform_free_job(pai__pjob *j);
/* NULL: no such job, or it was over before this process. */
pai__pjob *pai__platform_find_job(const pai_platform *p, pai_job_id id);
/* Finds the job and the task of a back end's task number. */
pai__pjob *pai__platform_find_task(pai_platform *p, uint64_t id,
                                   uint32_t *task);

static inline uint64_t pai__platform_task_id(const pai__pjob *j, uint32_t task)
{
  return j->id << PAI__TASK_BITS | task;
}

/* posix_root.c */
/* Returns the absolute path of a root; NULL: this user's own root. */
int pai__platform_find_root(char **out, const char *root,
                            const pai_alloc *alloc, pai_error **err);
int pai__platform_default_root(char **out, const pai_alloc *alloc,
                               pai_error **err);
/* Name of this process' user.  PAI_EIO: the list of users is unreadable. */
int pai__platform_user_name(char **out, const pai_alloc *alloc,
                            pai_error **err);
/* PAI_EBUSY: another process, named in the error, has the root. */
int pai__platform_lock(int *fd, const char *root, const pai_alloc *alloc,
                       pai_error **err);
void pai__platform_unlock(int fd);
/* PAI_EIO: the scheduler's log is there and the database is missing or empty. */
int pai__platform_check_database(const char *root, const pai_alloc *alloc,
                                 pai_error **err);
/* Makes an empty database in place of a missing one, for a repair to fill. */
void pai__platform_replace_database(const char *root, const pai_alloc *alloc);
/* Tells whether the lock's file was deleted. */
bool pai__platform_lock_is_gone(int fd);
long pai__platform_pid(void);
/* Writes the machine's boot id, or "" if unknown, to `out` of 40 bytes. */
void pai__platform_boot_id(char *out);
/* Returns ROOT/folder/USER~NAME, or NULL without memory. */
char *pai__platform_path(const pai_platform *p, const char *folder,
                         const char *user, const char *name);
/* root_watch.c: watches the root, to call on_gone when it is deleted. */
int pai__root_watch_open(pai_platform *p, pai_error **err);
void pai__root_watch_close(pai_platform *p);

/* posix_tree.c */
/* Returns the bytes of all files in a folder.  For any thread. */
uint64_t pai__platform_tree_bytes(const char *path);
/* Removes a folder and all in it, as far as it can, until *stop is true.
 * `stop` may be NULL.  For any thread. */
void pai__platform_remove_tree(const char *path, const atomic_bool *stop);
void pai__platform_make_trash(const char *trash);
/* Moves a folder, if there is one, to a new name in `trash`, which is created
 * if missing.  False: the folder could not be moved. */
bool pai__platform_trash(const char *trash, const char *path,
                         const pai_alloc *alloc);
/* Removes all that is in `trash`.  For any thread. */
void pai__platform_empty_trash(const char *trash, const pai_alloc *alloc,
                               const atomic_bool *stop);
/* Moves a folder, if there is one and it is not empty, to ROOT/lost, which is
 * never cleaned. */
int pai__platform_set_aside(const pai_platform *p, const char *path,
                            const char *name, pai_error **err);
/* Moves a folder, if there is one, to ROOT/kept, for its user.  *out is its new
 * path, or NULL. */
int pai__platform_keep_tree(char **out, const pai_platform *p,
                            const char *path, pai_error **err);
/* Moves it back. */
void pai__platform_put_back(const pai_platform *p, const char *from,
                            const char *to);

/* posix_failures.c: reads the root's file of known failures, if any. */
int pai__failures_open(pai_platform *p, pai_error **err);

/* posix_system.c */
/* Finds out whether the root serves all users, and makes its folders then. */
int pai__system_open(pai_platform *p, pai_error **err);
/* For a back end: the name of the user a task runs as; NULL: this process'. */
const char *pai__system_owner(void *user_data, uint64_t task);
/* That user, to be freed; NULL: this process'.  PAI_ENOTFOUND: removed. */
int pai__system_find(pai__user **out, const pai_platform *p, const char *name,
                     pai_error **err);
/* Makes the job's folder, and in it that of this attempt's tasks, which the
 * user owns.  Without --system a back end makes both with a task's folder. */
int pai__system_make_attempt(const pai__pjob *j, pai_error **err);

#endif
