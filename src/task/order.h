/*
 * order.h - the order that a back end gives to a supervisor: one block of
 * bytes
 *
 * The supervisor maps the order, a memfd, and uses it in place: texts and
 * lists are offsets from the block's beginning until pai_order_open() turns
 * them into pointers.  Offset 0 is none.  A list is 8-byte aligned: slots with
 * offsets of texts, then a slot of 0.  The last byte of the block is 0, so
 * every text ends.
 *
 * Both sides are built together, but after an upgrade an old supervisor may
 * get an order of a new library: `version` detects that.
 */
#ifndef PAI_SRC_TASK_ORDER_H
#define PAI_SRC_TASK_ORDER_H

#include <stddef.h>
#include <stdint.h>

enum {
  PAI_ORDER_MAGIC = 0x54494150, /* "PAIT" */
  PAI_ORDER_VERSION = 5,
  PAI_ORDER_FD = 3,     /* the supervisor's descriptors: the order */
  PAI_ORDER_DIR_FD = 4, /* the task folder */
  /* with PAI_ORDER_SHARED: the job's processes live while it is open */
  PAI_ORDER_LIFE_FD = 5,
  PAI_ORDER_USER_FD = 6,  /* namespaces that the first process joins: users
                             (root: unused) */
  PAI_ORDER_PID_FD = 7,   /* processes */
  PAI_ORDER_INFO_FD = 8,  /* bubblewrap writes its child's pid here */
  PAI_ORDER_GO_FD = 9,    /* bubblewrap waits for this */
  PAI_ORDER_CHECK_FD = 10 /* with PAI_ORDER_CHECK: this program */
};

/* First argument to hold a pid namespace (hold.c): descriptor 3 is the reading
 * end of a pipe, and a pid is written to 4. */
#define PAI_ORDER_HOLD "hold"
/* First argument to check, in a sandbox, that the right files were mounted
 * (check.c).  It is followed by an identity and a path for each file, "--",
 * and the command to run then. */
#define PAI_ORDER_LOOK "check"
/* Path of this program in a sandbox. */
#define PAI_ORDER_LOOK_PATH "/proc/self/fd/10"
/* Second argument after PAI_ORDER_HOLD: name of the folder that the job's
 * tasks have as /dev/shm. */
#define PAI_ORDER_SHM "/dev/shm"
#define PAI_ORDER_SHM_BEGIN "openpai-"

/* Flags of pai_order. */
enum {
  /* The first process only waits for others: it gets no SIGTERM. */
  PAI_ORDER_SPARE_FIRST = 1,
  /* The script is standard input, not descriptor 3. */
  PAI_ORDER_SCRIPT_STDIN = 2,
  /* Standard input can be written to through streams. */
  PAI_ORDER_INPUT = 4,
  /* Standard input, output and error are a terminal. */
  PAI_ORDER_TTY = 8,
  /* The supervisor first becomes another user. */
  PAI_ORDER_BE_USER = 16,
  /* The task's processes live in a pid namespace whose first process is
   * `holder`. */
  PAI_ORDER_SHARED = 32,
  /* The task cannot reach abstract sockets of other processes. */
  PAI_ORDER_APART = 64,
  /* The first process' arguments contain PAI_ORDER_LOOK_PATH. */
  PAI_ORDER_CHECK = 128
};

/* Size of a text that identifies a file of this machine by device and
 * inode. */
enum { PAI_ORDER_IDENTITY = 44 };

/* The supervisor's socket in the task folder: see frame.h. */
#define PAI_ORDER_SOCKET "enter"

typedef union pai_order_text {
  uint64_t offset;
  char *text;
} pai_order_text;

typedef union pai_order_list {
  uint64_t offset;
  char **texts; /* ended by NULL */
} pai_order_list;

typedef struct pai_order {
  uint32_t magic, version;
  uint64_t size;      /* of the whole block */
  uint64_t log_limit; /* bytes; not 0 */
  uint64_t memory;    /* the task is ended above this many bytes; 0: no
                         limit */
  uint32_t sample_ms; /* interval of checking memory */
  uint32_t flags;
  uint32_t nice;
  uint32_t uid, gid;      /* of the other user */
  uint32_t holder;        /* pid as seen by the supervisor */
  pai_order_list argv;    /* first process; its program's path has a slash */
  pai_order_list env;     /* of the first process */
  pai_order_list cleanup; /* command to run when the task is to be killed,
                             and after its end; as argv, or none */
  pai_order_list procs;   /* control group files to which the process writes
                             itself */
  pai_order_list groups;  /* folders to remove at the end */
  /* words before those of a command that enters the task; none: it is started
   * as the first process was */
  pai_order_list enter;
  pai_order_list enter_tty; /* the same for a command with a terminal */
  pai_order_list enter_env; /* its variables; none: `env` */
  pai_order_text workdir;
  pai_order_text script;   /* starts with "exec 3<&- 6<&- 7<&-;" */
  pai_order_text oom_file; /* file with a line "oom_kill N" */
  pai_order_text note;     /* for the log `runtime` */
  pai_order_text cpus;     /* hexadecimal mask, highest CPU first */
  pai_order_text nodes;    /* the same for NUMA nodes */
  pai_order_text gids;     /* supplementary groups of the other user:
                              "4,24,1000" */
  pai_order_text tmp;      /* folder to remove at the end, with its contents */
  /* folder of the file `status`, which is created before the supervisor
   * becomes another user; none: the task folder, and after that */
  pai_order_text status;
} pai_order;

/* Turns offsets into pointers in place. 0; -1: not a valid order, which must
 * not be used. */
int pai_order_open(void *bytes, size_t size);

#endif
