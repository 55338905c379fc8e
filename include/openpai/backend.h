/**
 * @file openpai/backend.h
 * Back ends: what carries out launch plans and tells how tasks ended.
 *
 * A back end is a table of functions.  Its owner opens it with a host, which
 * is all it may use: a loop, an allocator, where to tell what.  To a back end
 * a task is a number that its owner chose; it knows nothing of jobs, queues
 * or retries.
 *
 * A back end tells only from the loop, never from inside a call.
 *
 * Threads: LOOP.  All functions of a table, and all of its host's, are called
 * in the thread that runs the loop.
 */
#ifndef OPENPAI_BACKEND_H
#define OPENPAI_BACKEND_H

#include <openpai/loop.h>

PAI_BEGIN_DECLS

enum { PAI_BACKEND_VERSION = 1 };

/* --- what is to be started ------------------------------------------------ */

/** In what a task runs. */
enum {
  PAI_RUNTIME_AUTO = 0, /**< a container if the plan's image is at hand, else
                                a sandbox if the machine lets us, else plain */
  PAI_RUNTIME_PROCESS = 1, /**< plain processes of this user */
  PAI_RUNTIME_BWRAP = 2,   /**< own /tmp and process numbers, by bubblewrap */
  PAI_RUNTIME_PODMAN = 3,  /**< a container of the plan's image */
  PAI_RUNTIME_DOCKER = 4
};

/** Of pai_launch_plan.flags. */
enum {
  /** Sandboxes of tasks with the same job_dir share one PID namespace, and see
   *  no process but each other's: tasks that look for each other by number, as
   *  MPI's do, need that.  Without it each task has a namespace of its own. */
  PAI_LAUNCH_SHARE_PIDS = 1,
  /** A sandbox keeps the machine's /tmp. */
  PAI_LAUNCH_SHARE_TMP = 2,
  /** Its standard input stays open for those who attach to it; */
  PAI_LAUNCH_INPUT = 4,
  /** and that is a terminal, as are the other two. */
  PAI_LAUNCH_TTY = 8,
  /** Its job belongs to another account than the user whom it runs as.  A
   *  sandbox shows nothing of that user's session, terminals and home folder,
   *  and the machine read-only.  @since 0.1 */
  PAI_LAUNCH_APART = 16
};

/** A folder or file that a task sees at another place.  FROZEN: this struct
 *  never grows. */
typedef struct pai_launch_mount {
  const char *source; /**< absolute, of the machine */
  const char *target; /**< absolute, as the task names it */
  int readonly;
} pai_launch_mount;

/** All that a back end needs of a task to start it; strings are not kept.
 *  Fields are only ever appended, and 0 always means "none", "no limit". */
typedef struct pai_launch_plan {
  size_t struct_size;
  const char *dir;     /**< absolute; the task folder: its logs, its status;
                               made if it is not there */
  const char *workdir; /**< where the script begins; NULL: where the back end
                               runs, in a container where its image says */
  const char *script;  /**< for bash */
  const char *const *env; /**< "NAME=value", NULL-terminated; over the few that
                               tasks get of this process's (pass_env); in a
                               container over the image's */
  uint64_t gpus;          /**< a mask of the machine's GPUs */
  uint32_t cpus;          /**< how many it is held to */
  uint32_t nice;          /**< how much it gives way to others, 0 to 19 */
  uint64_t memory;        /**< bytes it is held to */
  uint64_t shm;           /**< bytes of a container's /dev/shm */
  const char *cpu_list;   /**< CPUs it may use, as cpusets take them: "0-3,8";
                               NULL: all */
  const char *numa_nodes; /**< whose memory it prefers: "0,2"; NULL: any */
  int runtime;            /**< PAI_RUNTIME_* */
  uint32_t flags;         /**< PAI_LAUNCH_* */
  const char *image;      /**< of containers; NULL or "host": none */
  const char *user;       /**< of containers: "1000:1000"; NULL: its root */
  const pai_launch_mount *mounts;
  size_t nmounts;
  uint64_t log_limit;  /**< bytes of a log file, of which two are kept;
                           0: 256 MiB */
  const char *job_dir; /**< absolute; a folder that the tasks of a job share,
                            which containers see, too; NULL: none */
  uint64_t processes; /**< that the task may have at a time, where the back end
                           can count them; 0: any number */
  /** Variables that the script itself sets, as `env`, so that nothing obeys them
   *  before the task is where it is confined; a command that enters the task
   *  gets them, too.  NULL: none.  @since 0.1 */
  const char *const *own_env;
  /** The same, of a task that is in no container.  @since 0.1 */
  const char *const *own_env_outside;
  /** Owner of the task; tasks of one owner share the limit below.  NULL: none.
   *  @since 0.1 */
  const char *owner;
  /** Most processes that all tasks of the owner may have at a time, where the
   *  back end can count them; 0: any number.  @since 0.1 */
  uint64_t owner_processes;
  /** Folders and files below /tmp of the machine that a task with a /tmp of its
   *  own sees at their places, to be read and written; NULL-terminated.  What is
   *  not there, or belongs to the platform, is left out.  NULL: none.
   *  @since 0.1 */
  const char *const *folders;
} pai_launch_plan;

/* --- how it ended ----------------------------------------------------------- */

/** In which way a task is over. */
enum {
  PAI_END_EXIT = 1,     /**< its first process exited: code */
  PAI_END_SIGNAL = 2,   /**< a signal ended its first process: signal, and code
                           is 128 + its number, as a shell says it */
  PAI_END_LOST = 3,     /**< nobody saw its end, as after a restart of the
                           machine; code is PAI_CODE_LOST.  None of its
                           processes runs any more */
  PAI_END_FAILED = 4,   /**< it could not be started after all: code is 126 or
                           127, as a shell says it; see text */
  PAI_END_PLATFORM = 5, /**< the platform ended it, and not its owner: text is
                            Kubernetes' reason, as Evicted, NodeLost or
                            Preempting.  Such a task is tried again.  A signal
                            that ended a task otherwise is the task's failure */
  PAI_END_SHORT = 6 /**< it could not be started, because this machine lacks
                           disk space, inodes, memory, processes or
                           descriptors: see text.  Nothing of it ran, and its
                           folder may be used for another start.
                           @since 0.1 */
};

/** What OpenPAI calls "the runtime exited abnormally". */
enum { PAI_CODE_LOST = 256 };

/** The end of a task.  All belongs to the back end, as long as the call. */
typedef struct pai_task_end {
  size_t struct_size;
  int how; /**< PAI_END_* */
  int code;
  int signal;
  int oom;          /**< 1: it had more memory than its plan allows; 2: it
                         was killed while memory was short, by which process is
                         not known */
  int stopped;      /**< 1: stop() was called, in this process' time */
  pai_time started; /**< wall clock; 0: not known */
  pai_time ended;
  uint64_t max_rss;   /**< bytes of its largest process */
  pai_time user_time; /**< of all its processes */
  pai_time system_time;
  const char *log; /**< the last bytes of its output, if it did not end with
                        code 0; never NULL */
  size_t log_len;
  const char *runtime; /**< the last bytes of what was said about running it */
  size_t runtime_len;
  const char *text; /**< why, in words, or "" */
  int
    output_lost; /**< 1: some of its output is in no log, because the disk was
                         full.  @since 0.1 */
} pai_task_end;

/* --- the two tables ----------------------------------------------------------- */

/** What a back end is given; copied by open().  Pointers outlive the back
 *  end. */
typedef struct pai_backend_host {
  size_t struct_size;
  void *user_data; /**< for the functions below */
  const pai_alloc *alloc;
  pai_loop *loop;
  const char *root;    /**< where the owner keeps its files; NULL: nowhere.
                            Tasks in a sandbox or a container see what lies
                            there of the folders of their plan, and of the rest
                            nothing; unless owner is set, or there are links in
                            this path */
  const char *program; /**< the supervisor of tasks; NULL: OPENPAI_TASK of the
                            environment, else the one installed with the
                            library */
  size_t tail;         /**< how many last bytes of a log pai_task_end has;
                            0: 64 KiB */
  /** Output of a task that is followed, in the order it was written; stream is
   *  1 or 2.  All of it comes before ended(). */
  void (*output)(void *user_data, uint64_t task, int stream, const char *data,
                 size_t len);
  /** The last word on a task, once. */
  void (*ended)(void *user_data, uint64_t task, const pai_task_end *end);
  /** One line for people; PAI_LOG_*.  May be NULL. */
  void (*log)(void *user_data, int level, const char *line);
  /** Whose a task is, by the name that this machine has for its users; NULL:
   *  this process's.  Such a task, and all that is done in its folder, is done
   *  with that user's rights alone; its folder's parent is there and is his.
   *  Only a process of root's can do that.  NULL: all are this process's. */
  const char *(*owner)(void *user_data, uint64_t task);
  /** Names of variables of this process that tasks get beside PATH, HOME, LANG
   *  and the like, with commas or spaces; one that ends with * stands for all
   *  that begin so.  NULL: $OPENPAI_PASS_ENV. */
  const char *pass_env;
  /** A start() that answered PAI_EBUSY may be tried again.  From the loop.  NULL:
   *  start() waits for what it has to find out, for seconds if it must. */
  void (*ready)(void *user_data);
} pai_backend_host;

/** What adopt() finds. */
enum {
  PAI_ADOPT_RUNNING = 1, /**< it runs; ended() will be called */
  PAI_ADOPT_ENDED = 2,   /**< it is over; ended() will be called */
  PAI_ADOPT_NEVER = 3    /**< it never ran, and never will in this folder */
};

/** From where on output is told. */
enum {
  PAI_FOLLOW_OFF = 0,
  PAI_FOLLOW_ALL = 1, /**< from its first byte that is kept, or where following
                           ended last */
  PAI_FOLLOW_NEW = 2  /**< what is written from now on */
};

/** What stop() does with what the task started. */
enum {
  PAI_STOP_ASK = 1, /**< SIGTERM to all its processes */
  PAI_STOP_NOW = 2  /**< SIGKILL */
};

/** What close() does with tasks that run. */
enum {
  PAI_CLOSE_STOP = 1,  /**< ends them now, and tells so */
  PAI_CLOSE_DETACH = 2 /**< lets them run, to be adopted; tells no more */
};

/** A back end.  Slots are only ever appended: see struct_size. */
typedef struct pai_backend_ops {
  size_t struct_size;
  uint32_t version; /**< PAI_BACKEND_VERSION */
  const char *name;
  const char *about; /**< one line for people, or NULL */
  void *data;        /**< for open(), of the caller */

  int (*open)(void **state, void *data, const pai_backend_host *host,
              pai_error **err);
  /** Starts a task, whose folder no task was started in before.  On failure
   *  ended() is not called.  A failure that is retriable
   *  (pai_error_retriable()) is a shortage of this machine, as PAI_END_SHORT:
   *  nothing runs, and the start may be tried again in the same folder.
   *  @return PAI_OK; PAI_EBUSY: not yet, host.ready() says when; a code */
  int (*start)(void *state, uint64_t task, const pai_launch_plan *plan,
               pai_error **err);
  /** Finds again a task that another process started in a folder.  A failure
   *  that is retriable says nothing about the task: ask again later.
   *  @return PAI_ADOPT_*; a code */
  int (*adopt)(void *state, uint64_t task, const char *dir, pai_error **err);
  /** Has its output told, or not.  @param from PAI_FOLLOW_*
   *  @return PAI_OK; PAI_ENOTFOUND: there is no such task; a code */
  int (*follow)(void *state, uint64_t task, int from, pai_error **err);
  /** Nothing happens if there is no such task.  @param how PAI_STOP_* */
  void (*stop)(void *state, uint64_t task, int how);
  /** May a task listen on this port?  @return 1; 0 */
  int (*port_is_free)(void *state, uint32_t port);
  /** How tasks are held to what they were given: one line for people. */
  const char *(*limits)(void *state);
  /** What PAI_RUNTIME_AUTO is here without an image, and why: one line for
   *  people. */
  const char *(*runtime)(void *state);
  /** Frees the state; then calls `closed` once, which may happen in this call.
   *  @param how PAI_CLOSE_* */
  void (*close)(void *state, int how, void (*closed)(void *user_data));
  /** In what a task runs that this process started, and why: one line for
   *  people.  NULL: as is usual here.  May be NULL. */
  const char *(*task_runtime)(void *state, uint64_t task);
  /** Opens a stream that leads into a running task: a connected socket, the
   *  caller's, which does not block.  What is spoken on it is described in
   *  docs/internals/server.md.  A slot of NULL: there is no way in.
   *  @return PAI_OK; PAI_ENOTFOUND: there is no such task, or it is over;
   *          PAI_EBUSY: too many wait there; PAI_ENOTSUP; PAI_EPERM; PAI_EIO;
   *          PAI_ENOMEM */
  int (*enter)(void *state, uint64_t task, int *fd, pai_error **err);
  /** Where the processes of a task that runs on this machine are: a session, or
   *  0; and the path of a cgroup that is theirs alone, from the root of all, or
   *  "".  A slot of NULL: nobody knows.
   *  @return PAI_OK; PAI_ENOTFOUND: there is no such task, or it does not run */
  int (*processes)(void *state, uint64_t task, int64_t *session, char *cgroup,
                   size_t size);
} pai_backend_ops;

/** Built-in back end @p i, from 0: "local", whose tasks are processes of this
 *  machine; NULL beyond the last.  @since 0.1 */
PAI_API const pai_backend_ops *pai_backend_builtin(size_t i);

PAI_END_DECLS

#endif /* OPENPAI_BACKEND_H */
