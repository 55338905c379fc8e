/*
 * order.h - what a back end has the supervisor do: one block of bytes
 *
 * It comes as a memfd, which is mapped and used where it lies: texts and lists
 * are offsets from its beginning until pai_order_open() has turned them into
 * pointers.  Offset 0 is none.  A list is 8-byte aligned: slots of offsets of
 * texts, then a slot of 0.  The last byte of all is 0, so every text ends.
 *
 * Both sides are built together, but an old supervisor may meet a new library:
 * that is what `version` is for.
 */
#ifndef PAI_SRC_TASK_ORDER_H
#define PAI_SRC_TASK_ORDER_H

#include <stddef.h>
#include <stdint.h>

enum {
  PAI_ORDER_MAGIC = 0x54494150, /* "PAIT" */
  PAI_ORDER_VERSION = 5,
  PAI_ORDER_FD = 3,     /* of the supervisor: the order, */
  PAI_ORDER_DIR_FD = 4, /* and the task folder; */
  /* with PAI_ORDER_SHARED: as long as it is open the job's processes live, */
  PAI_ORDER_LIFE_FD = 5,
  PAI_ORDER_USER_FD =
    6,                  /* and the name spaces that the first process joins: */
  PAI_ORDER_PID_FD = 7, /* of users (root: unused) and of processes; */
  PAI_ORDER_INFO_FD = 8,  /* where bubblewrap tells its child's number, */
  PAI_ORDER_GO_FD = 9,    /* and what that waits for; */
  PAI_ORDER_CHECK_FD = 10 /* with PAI_ORDER_CHECK: this program */
};

/* This program's first argument when it is to hold a name space of processes
 * (hold.c): 3 is the reading end of a pipe, and 4 takes a number. */
#define PAI_ORDER_HOLD "hold"
/* Or when it is to look, in a sandbox, whether what is shown there is what was to
 * be shown (check.c).  Then come an identity and a path for each, "--", and what
 * is started then. */
#define PAI_ORDER_LOOK "check"
/* Where a sandbox finds it. */
#define PAI_ORDER_LOOK_PATH "/proc/self/fd/10"
/* Of PAI_ORDER_HOLD the next one is the name of the folder that the job's tasks have as /dev/shm. */
#define PAI_ORDER_SHM "/dev/shm"
#define PAI_ORDER_SHM_BEGIN "openpai-"

/* Of pai_order.flags. */
enum {
  /* The first process only waits for others: it is not asked to end. */
  PAI_ORDER_SPARE_FIRST = 1,
  /* The script comes as standard input, not as descriptor 3. */
  PAI_ORDER_SCRIPT_STDIN = 2,
  /* It has a standard input that others may write to, which waits for them; */
  PAI_ORDER_INPUT = 4,
  /* and that is a terminal, like the other two. */
  PAI_ORDER_TTY = 8,
  /* All is done as another user, whom this program becomes first of all. */
  PAI_ORDER_BE_USER = 16,
  /* Its processes live in a name space that `holder` is the first of. */
  PAI_ORDER_SHARED = 32,
  /* It reaches no abstract socket of processes outside. */
  PAI_ORDER_APART = 64,
  /* The first process' words have PAI_ORDER_LOOK_PATH in them. */
  PAI_ORDER_CHECK = 128
};

/* Names a file of this machine, by its device and inode. */
enum { PAI_ORDER_IDENTITY = 44 };

/* Where the supervisor listens, in the task folder: see frame.h. */
#define PAI_ORDER_SOCKET "enter"

typedef union pai_order_text {
  uint64_t offset;
  char *text;
} pai_order_text;

typedef union pai_order_list {
  uint64_t offset;
  char **texts; /* up to a NULL */
} pai_order_list;

typedef struct pai_order {
  uint32_t magic, version;
  uint64_t size;      /* of all of it */
  uint64_t log_limit; /* bytes; not 0 */
  uint64_t memory;    /* bytes of the task that end it; 0: nobody looks */
  uint32_t sample_ms; /* how often that is looked at */
  uint32_t flags;
  uint32_t nice;
  uint32_t uid, gid;        /* of that user */
  uint32_t holder;          /* as this process sees it */
  pai_order_list argv;      /* the first process; its file with a slash */
  pai_order_list env;       /* of it */
  pai_order_list cleanup;   /* to be run when it is to end now, and after its
                             end; as argv, or none */
  pai_order_list procs;     /* files that take the process into groups */
  pai_order_list groups;    /* folders to be removed at the end */
  pai_order_list enter;     /* words before those of a command that is to run
                             where the task does; none: it is started as the
                             first process was */
  pai_order_list enter_tty; /* the same of one with a terminal */
  pai_order_list enter_env; /* its variables; none: `env` */
  pai_order_text workdir;
  pai_order_text script;   /* in front of it: "exec 3<&- 6<&- 7<&-;" */
  pai_order_text oom_file; /* has a line "oom_kill N" */
  pai_order_text note;     /* for the log `runtime` */
  pai_order_text cpus;     /* hexadecimal, the highest CPU first */
  pai_order_text nodes;    /* likewise, of NUMA nodes */
  pai_order_text gids;     /* his other groups: "4,24,1000" */
  pai_order_text tmp;      /* a folder to be removed at the end, with all it
                              has */
  pai_order_text status;   /* the folder of the file `status`, which is made
                              before this program becomes another user; none:
                              the task folder, and after that */
} pai_order;

/* Turns offsets into pointers in place.  0; -1: it is no order, and then it
 * may not be used. */
int pai_order_open(void *bytes, size_t size);

#endif
