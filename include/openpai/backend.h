/**
 * @file openpai/backend.h
 * Back ends: they start tasks from launch plans and report how tasks ended.
 *
 * A back end is a table of functions.  Its owner opens it with a host: a loop,
 * an allocator and callbacks, which is all that the back end may use.  A back
 * end knows a task by a number that its owner chose; it knows nothing of jobs,
 * queues or retries.
 *
 * A back end calls the host's callbacks only from the loop, never from inside
 * a function of its table.
 *
 * Threads: LOOP.  All functions of a table and of its host are called in the
 * thread that runs the loop.
 */
#ifndef OPENPAI_BACKEND_H
#define OPENPAI_BACKEND_H

#include <openpai/loop.h>

PAI_BEGIN_DECLS

enum { PAI_BACKEND_VERSION = 1 };

/* --- launch plans -------------------------------------------------------- */

/** Runtimes of tasks. */
enum {
  PAI_RUNTIME_AUTO = 0, /**< a container if the plan's image is available, else
                             a sandbox if the machine permits it, else plain
                             processes */
  PAI_RUNTIME_PROCESS = 1, /**< plain processes of this user */
  PAI_RUNTIME_BWRAP = 2,   /**< a bubblewrap sandbox with its own /tmp and
                                PIDs */
  PAI_RUNTIME_PODMAN = 3,  /**< a container of the plan's image */
  PAI_RUNTIME_DOCKER = 4
};

/** Bits of pai_launch_plan.flags. */
enum {
  /** Sandboxes of tasks with the same job_dir share a PID namespace, and see
   *  only their processes.  Tasks that find each other by PID, such as those
   *  of MPI, need that.  Without this flag each task has its own namespace. */
  PAI_LAUNCH_SHARE_PIDS = 1,
  /** A sandbox keeps the machine's /tmp. */
  PAI_LAUNCH_SHARE_TMP = 2,
  /** The standard input of the task stays open for attached sessions. */
  PAI_LAUNCH_INPUT = 4,
  /** Standard input, output and error are a terminal. */
  PAI_LAUNCH_TTY = 8,
  /** The job belongs to an account other than the user that runs the task.  A
   *  sandbox does not show that user's session, terminals and home folder, and
   *  shows the machine read-only.  @since 0.1 */
  PAI_LAUNCH_APART = 16
};

/** A mount: a folder or file that a task sees at another path.  FROZEN: this
 *  struct never grows. */
typedef struct pai_launch_mount {
  const char *source; /**< absolute path on the machine */
  const char *target; /**< absolute path in the task */
  int readonly;
} pai_launch_mount;

/** A launch plan: all that a back end needs to start a task.  Strings are not
 *  kept.  Fields are only ever appended, and 0 always means "none", "no
 *  limit". */
typedef struct pai_launch_plan {
  size_t struct_size;
  const char *dir;     /**< absolute path of the task folder, with its logs and
                            status; created if missing */
  const char *workdir; /**< working folder of the script; NULL: that of the
                            back end; in a container, that of its image */
  const char *script;  /**< for bash */
  const char *const *env; /**< "NAME=value", NULL-terminated; they override the
                               variables passed from this process (pass_env)
                               and those of a container's image */
  uint64_t gpus;          /**< mask of GPUs of the machine */
  uint32_t cpus;          /**< limit of CPUs, rounded up: see milli_cpus */
  uint32_t nice;          /**< nice value, 0 to 19 */
  uint64_t memory;        /**< memory limit in bytes */
  uint64_t shm;           /**< bytes of a container's /dev/shm */
  const char *cpu_list;   /**< CPUs that it may use, in cpuset format: "0-3,8";
                               NULL: all */
  const char *numa_nodes; /**< NUMA nodes with preferred memory: "0,2"; NULL:
                               any */
  int runtime;            /**< PAI_RUNTIME_* */
  uint32_t flags;         /**< PAI_LAUNCH_* */
  const char *image;      /**< of containers; NULL or "host": none */
  const char *user;       /**< of containers: "1000:1000"; NULL: its root */
  const pai_launch_mount *mounts;
  size_t nmounts;
  uint64_t log_limit;  /**< size in bytes of a log file, of which two are kept;
                            0: 256 MiB */
  const char *job_dir; /**< absolute path of a folder that the tasks of a job
                            share, also in containers; NULL: none */
  uint64_t processes;  /**< most processes of the task at a time, if the back
                            end can count them; 0: any number */
  /** Variables in the format of `env` that the script itself sets, so that
   *  they have no effect on programs that run before the task is confined.  A
   *  command that enters the task gets them, too.  NULL: none.  @since 0.1 */
  const char *const *own_env;
  /** As own_env, only for a task outside containers.  @since 0.1 */
  const char *const *own_env_outside;
  /** Owner of the task; tasks of one owner share the limit below.  NULL: none.
   *  @since 0.1 */
  const char *owner;
  /** Most processes of all tasks of the owner at a time, if the back end can
   *  count them; 0: any number.  @since 0.1 */
  uint64_t owner_processes;
  /** Folders and files below /tmp of the machine that a task with its own /tmp
   *  can read and write at the same paths; NULL-terminated.  Missing ones, and
   *  those of the platform, are left out.  NULL: none.  @since 0.1 */
  const char *const *folders;
  /** Limit of CPUs in thousandths: 500 for half a CPU.  0: as `cpus`.
   *  @since 0.1 */
  uint64_t milli_cpus;
} pai_launch_plan;

/* --- ends of tasks ------------------------------------------------------- */

/** How a task ended. */
enum {
  PAI_END_EXIT = 1,     /**< its first process exited with code */
  PAI_END_SIGNAL = 2,   /**< a signal ended its first process; code is 128 +
                             signal, as in a shell */
  PAI_END_LOST = 3,     /**< its end was not observed, e.g. after a restart of
                             the machine; code is PAI_CODE_LOST.  None of its
                             processes runs any more */
  PAI_END_FAILED = 4,   /**< it could not be started: code is 126 or 127, as in
                             a shell; see text */
  PAI_END_PLATFORM = 5, /**< the platform ended it, not its owner: text is
                             Kubernetes' reason, such as Evicted, NodeLost or
                             Preempting.  Such a task is retried.  Any other
                             signal that ends a task is a failure of the
                             task */
  PAI_END_SHORT = 6 /**< it could not be started, because this machine lacks
                         disk space, inodes, memory, processes or descriptors:
                         see text.  Nothing ran, and its folder may be used for
                         another start.  @since 0.1 */
};

/** OpenPAI's code for "the runtime exited abnormally". */
enum { PAI_CODE_LOST = 256 };

/** The end of a task.  Texts belong to the back end and are valid during the
 *  call. */
typedef struct pai_task_end {
  size_t struct_size;
  int how; /**< PAI_END_* */
  int code;
  int signal;
  int oom;          /**< 1: it exceeded the memory limit of its plan; 2: it was
                         killed while memory was short, and the process that
                         used the memory is not known */
  int stopped;      /**< 1: stop() was called in this process */
  pai_time started; /**< wall clock; 0: not known */
  pai_time ended;
  uint64_t max_rss;   /**< bytes of its largest process */
  pai_time user_time; /**< CPU time of all its processes */
  pai_time system_time;
  const char *log; /**< the last bytes of its output, if it did not end with
                        code 0; never NULL */
  size_t log_len;
  const char *runtime; /**< the last bytes of messages of its runtime */
  size_t runtime_len;
  const char *text; /**< explanation, or "" */
  int output_lost;  /**< 1: some of its output is missing in the logs, because
                         the disk was full.  @since 0.1 */
} pai_task_end;

/* --- the two tables ----------------------------------------------------------- */

/** The host of a back end; copied by open().  Its pointers must outlive the
 *  back end. */
typedef struct pai_backend_host {
  size_t struct_size;
  void *user_data; /**< for the functions below */
  const pai_alloc *alloc;
  pai_loop *loop;
  const char *root;    /**< folder of the owner's files; NULL: none.  Tasks in
                            a sandbox or a container see only the folders of
                            their plan in this folder; this does not apply if
                            `owner` is set, or the path contains links */
  const char *program; /**< path of the supervisor; NULL: $OPENPAI_TASK, else
                            the one installed with the library */
  size_t tail;         /**< number of last bytes of a log in pai_task_end; 0:
                            64 KiB */
  /** Receives the output of a followed task, in the order in which it was
   *  written; stream is 1 or 2.  Called for all output before ended(). */
  void (*output)(void *user_data, uint64_t task, int stream, const char *data,
                 size_t len);
  /** Receives the end of a task, once, after all other callbacks for the
   *  task. */
  void (*ended)(void *user_data, uint64_t task, const pai_task_end *end);
  /** Receives a log line for people; level is PAI_LOG_*.  May be NULL. */
  void (*log)(void *user_data, int level, const char *line);
  /** Returns the user name on this machine of a task's owner; NULL: the user
   *  of this process.  The task runs, and its folder is accessed, with only
   *  that user's rights; the parent of its folder must exist and belong to
   *  that user.  Only a process of root can run tasks of other users.  May be
   *  NULL: all tasks belong to the user of this process. */
  const char *(*owner)(void *user_data, uint64_t task);
  /** Names of environment variables of this process that are passed to tasks
   *  in addition to PATH, HOME, LANG and similar ones, separated by commas or
   *  spaces; a name that ends with * is a prefix.  NULL: $OPENPAI_PASS_ENV. */
  const char *pass_env;
  /** Called from the loop when a start() that returned PAI_EBUSY may be tried
   *  again.  NULL: start() blocks instead, possibly for seconds. */
  void (*ready)(void *user_data);
} pai_backend_host;

/** Results of adopt(). */
enum {
  PAI_ADOPT_RUNNING = 1, /**< the task runs; ended() will be called */
  PAI_ADOPT_ENDED = 2,   /**< the task is over; ended() will be called */
  PAI_ADOPT_NEVER = 3    /**< the task never ran, and never will in this
                              folder */
};

/** Position from which output is delivered. */
enum {
  PAI_FOLLOW_OFF = 0,
  PAI_FOLLOW_ALL = 1, /**< from the first stored byte, or from the position at
                           which following ended last */
  PAI_FOLLOW_NEW = 2  /**< only new output */
};

/** How stop() ends a task. */
enum {
  PAI_STOP_ASK = 1, /**< SIGTERM to all its processes */
  PAI_STOP_NOW = 2  /**< SIGKILL */
};

/** Handling of running tasks by close(). */
enum {
  PAI_CLOSE_STOP = 1,  /**< kill them, and call ended() */
  PAI_CLOSE_DETACH = 2 /**< leave them running, to be adopted; no more
                            callbacks */
};

/** A back end.  Slots are only ever appended: see struct_size. */
typedef struct pai_backend_ops {
  size_t struct_size;
  uint32_t version; /**< PAI_BACKEND_VERSION */
  const char *name;
  const char *about; /**< one line for people, or NULL */
  void *data;        /**< the caller's data for open() */

  int (*open)(void **state, void *data, const pai_backend_host *host,
              pai_error **err);
  /** Starts a task in a folder in which no task was started before.  On
   *  failure ended() is not called.  A failure that is retriable
   *  (pai_error_retriable()) is a shortage of this machine, as PAI_END_SHORT:
   *  nothing runs, and the start may be tried again in the same folder.
   *  @return PAI_OK; PAI_EBUSY: try again after host.ready(); a PAI_E* code */
  int (*start)(void *state, uint64_t task, const pai_launch_plan *plan,
               pai_error **err);
  /** Adopts a task that another process started in a folder.  After a
   *  retriable failure, the state of the task is unknown: try again later.
   *  @return PAI_ADOPT_*; a PAI_E* code */
  int (*adopt)(void *state, uint64_t task, const char *dir, pai_error **err);
  /** Starts or stops the delivery of output of a task.  @param from
   *  PAI_FOLLOW_*
   *  @return PAI_OK; PAI_ENOTFOUND: there is no such task; a PAI_E* code */
  int (*follow)(void *state, uint64_t task, int from, pai_error **err);
  /** Stops a task; does nothing if there is no such task.  @param how
   *  PAI_STOP_* */
  void (*stop)(void *state, uint64_t task, int how);
  /** Returns 1 if a task may listen on a port, else 0. */
  int (*port_is_free)(void *state, uint32_t port);
  /** Describes how limits of tasks are enforced: one line for people. */
  const char *(*limits)(void *state);
  /** Describes the runtime that PAI_RUNTIME_AUTO selects on this machine
   *  without an image, and why: one line for people. */
  const char *(*runtime)(void *state);
  /** Frees the state, then calls `closed` once, possibly from inside this
   *  function.
   *  @param how PAI_CLOSE_* */
  void (*close)(void *state, int how, void (*closed)(void *user_data));
  /** Describes the runtime of a task that this process started, and why: one
   *  line for people.  Returns NULL for the default runtime.  May be NULL. */
  const char *(*task_runtime)(void *state, uint64_t task);
  /** Opens a stream into a running task: a connected non-blocking socket,
   *  owned by the caller.  docs/internals/server.md describes its protocol.
   *  May be NULL: not supported.
   *  @return PAI_OK; PAI_ENOTFOUND: there is no such task, or it is over;
   *          PAI_EBUSY: too many connections are pending; PAI_ENOTSUP;
   *          PAI_EPERM; PAI_EIO; PAI_ENOMEM */
  int (*enter)(void *state, uint64_t task, int *fd, pai_error **err);
  /** Finds the processes of a task that runs on this machine: their session,
   *  or 0; and the path of a cgroup of their own, from the root of the
   *  hierarchy, or "".  May be NULL: not known.
   *  @return PAI_OK; PAI_ENOTFOUND: there is no such task, or it does not
   *          run */
  int (*processes)(void *state, uint64_t task, int64_t *session, char *cgroup,
                   size_t size);
} pai_backend_ops;

/** Built-in back end @p i, from 0: "local", whose tasks are processes of this
 *  machine; NULL beyond the last.  @since 0.1 */
PAI_API const pai_backend_ops *pai_backend_builtin(size_t i);

PAI_END_DECLS

#endif /* OPENPAI_BACKEND_H */
