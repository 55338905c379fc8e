/*
 * task.h - the supervisor of one task
 *
 * One process holds the pipes and writes the files; a second one, the keeper,
 * is the parent of the task, so that whichever of the two is killed, the other
 * still ends all that the task started: orphans come to the nearest of them.
 * Neither allocates.
 */
#ifndef PAI_SRC_TASK_TASK_H
#define PAI_SRC_TASK_TASK_H

#include "order.h"

#include <stdbool.h>
#include <sys/types.h>

/* --- text.c: a line of text in a fixed place ------------------------------- */

typedef struct line {
  char text[512];
  size_t len;
} line;

void line_add(line *l, const char *text); /* what does not fit is left out */
void line_number(line *l, int64_t number);
/* Ends and writes it; it is empty again.  False: errno. */
bool line_write(line *l, int fd);
/* Reads a small file as text; the bytes it has, or -1. */
ssize_t read_small(int dir, const char *path, char *text, size_t size);
int64_t wall_time(void); /* microseconds */
int64_t monotonic_ms(void);

/* --- tree.c: what the task started ------------------------------------------- */

enum { TREE_MOST = 16384 };

/* Processes, as found; more than TREE_MOST are not. */
typedef struct tree {
  pid_t pids[TREE_MOST];
  size_t len;
} tree;

/* From now on orphans of a sandbox count as descendants, too: `holder` is the
 * first of its name space of processes, and `inside` a process in it.  0: no
 * more. */
void tree_learn(pid_t holder, pid_t inside);
/* All descendants of this process. */
void tree_find(tree *t);
/* Sends SIGTERM, and SIGCONT to those that are stopped, to all descendants but
 * two; how many. */
size_t tree_ask(tree *t, pid_t spare, pid_t spare_too);
/* The parent of a process, or 0. */
pid_t tree_parent(pid_t pid);
/* The first child of a process, or 0. */
pid_t tree_child(pid_t of);
/* Ends all descendants and waits for them, but not for ever; `on_end` hears of
 * each.  False: some do not end. */
bool tree_kill(tree *t, void (*on_end)(pid_t pid, int status));
/* Is their memory more than `limit`?  What they share is counted once. */
bool tree_exceeds(tree *t, uint64_t limit);

/* --- remove.c ------------------------------------------------------------------ */

/* As the kernel gives it; libc's readdir() would allocate. */
typedef struct entry {
  uint64_t inode;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[];
} entry;

/* Removes a folder with all it has, which takes until `end` at most, as
 * monotonic_ms() has it.  False: something is left. */
bool folder_remove(int dir, const char *name, int64_t end);

/* --- logs.c: all, streams, runtime --------------------------------------------- */

enum { LOG_OUT, LOG_ERR };

int logs_open(uint64_t most); /* 0; or errno */
void logs_add(int which, const char *bytes, size_t n);
/* The last line of stderr, or the end of it. */
const char *logs_last_line(char *text, size_t size);
/* A line of the supervisor's own. */
void logs_say(const char *text, const char *more, int error);

/* --- times.c: when output came ------------------------------------------------- */

void times_open(int data); /* of that file, which is opened */
/* Goes on with another file; the one before has another name. */
void times_rotate(int data);
/* The next byte of the file is written now, and is that one of it. */
void times_note(uint64_t at);

/* --- status.c: the file `status`, which has room for its lines on a full disk,
 * too ------------------------------------------------------------------------- */

/* Whoever makes this file decides whether the task runs: 0; or errno. */
int status_make(const pai_order *o);
void status_remove(const pai_order *o);
/* In a process whose user may see what it has open, and that tells no end. */
void status_close(void);
void status_started(pid_t pid, pid_t keeper);
/* A log lacks something. */
void status_cut(const char *log);
/* "exit", "signal" or "failed", and its number; of "failed" also the errno, or
 * 0. */
void status_end(const char *kind, int number, int oom, int error);

/* --- child.c: the keeper and the first process --------------------------------- */

/* What the keeper tells, in this order; a failure is instead of an end. */
enum news_kind {
  NEWS_STARTED = 1,
  NEWS_ENDED,
  NEWS_WORKDIR,
  NEWS_EXEC,
  NEWS_ENTER /* of a command: into the task's sandbox */
};
typedef struct news {
  int kind;
  int value; /* its number, its wait status, an errno */
} news;

/* What the first process has as its standard streams. */
typedef struct task_files {
  int in; /* or -1: nothing to be read */
  int out, err;
  bool tty;     /* and then all three are that terminal */
  int info, go; /* PAI_ORDER_INFO_FD and PAI_ORDER_GO_FD; or -1 */
  int begun;    /* where bash says, in a sandbox, that it has begun; or -1 */
  int ours[6];  /* other ends, which only the supervisor has; or -1 */
} task_files;

/* Starts the keeper, which starts the first process; -1: errno.  tell[0] is
 * for reading here. */
pid_t keeper_start(const pai_order *o, const task_files *files,
                   const int tell[2]);
/* Does its first process make a sandbox, in which bash begins? */
bool order_is_sandbox(const pai_order *o);
/* The task's own ends. */
void files_close(const task_files *files);
/* Opens the files that take the first process into groups, while this program
 * may do so. */
void groups_open(const pai_order *o);
/* In whoever needs them no more, nor the status: only then may its user see what
 * it is. */
void groups_give_up(const pai_order *o);
/* Parts of it, for commands that join the task. */
void child_join(const pai_order *o);  /* its groups, CPUs, memory */
bool child_go_to(const char *folder); /* or errno */
void child_bind_to_parent(pid_t parent, int signal);
void child_tell(int fd, int kind, int value);
/* Keeps this process, and what it starts, from abstract sockets of others, if
 * the order says so. */
void child_scope(const pai_order *o);
/* This process, which leads a session, has it as its terminal. */
void child_take_terminal(int fd);
/* A terminal: its own end and the other; -1: errno. */
int terminal_open(int fds[2], unsigned columns, unsigned rows);
/* Runs a command and waits for it, for some seconds at most. */
void run_and_wait(char *const *argv, char *const *env, int seconds);

/* --- enter.c: a command that joins the task ---------------------------------------- */

enum { ENTER_WORDS = 8192 };

typedef struct enter_words {
  char *argv[ENTER_WORDS], *env[ENTER_WORDS];
  bool inside; /* whoever is started enters the task by itself */
} enter_words;

/* The first of the sandbox's processes that is not of the program that makes
 * it; 0: there is none yet. */
pid_t enter_inside(pid_t first);
struct pai_begin;
/* What is to be started; false: too many words. */
bool enter_choose(enter_words *out, const pai_order *o,
                  const struct pai_begin *b);
/* What it is started with. */
typedef struct enter_files {
  int theirs[3]; /* its standard streams; all the same if it has a terminal */
  int ours[5];   /* other ends, which it must not keep open; or -1 */
  bool tty;
  int tell;
} enter_files;

/* Starts it, through a process that tells of it like a keeper.  -1: errno. */
int enter_start(const pai_order *o, pid_t first, const enter_words *words,
                const enter_files *files);

/* --- stream.c, serve.c: who wants to say something to the task ---------------------- */

typedef struct task_input {
  int fd; /* of the task's standard input or terminal, to be written; or -1 */
  bool tty;
} task_input;

/* A process' exit code: the task's input has come to its end. */
enum { STREAM_INPUT_END = 10 };

_Noreturn void stream_run(int peer, const pai_order *o,
                          const task_input *input, pid_t first);

/* Listens in the task folder; -1: errno. */
int serve_open(void);
void serve_close(int listener);
/* Takes one who connected and makes a process for that; its number, 0 for
 * none. */
pid_t serve_take(int listener, const pai_order *o, const task_input *input,
                 pid_t first);

/* --- main.c, hold.c: without a task --------------------------------------------------- */

/* All there is of this program belongs to that user from here on; 0 or an errno.
 * `more`: other groups, as "4,24", or NULL. */
int user_become(uid_t uid, gid_t gid, const char *more);
/* Holds a name space of processes; 0 or an errno. */
int hold_run(char **argv);

/* --- check.c: in a sandbox, before the task -------------------------------------------- */

/* Looks, and becomes the task's program.  An exit code: it does not. */
int check_run(char **argv);

/* --- shm.c: what its tasks have as /dev/shm --------------------------------------------- */

/* Makes the folder of that name, and removes those whose holders were killed. */
bool shm_make(const char *name);
/* Ends all other processes of the name space, and removes it. */
void shm_remove(void);

/* --- run.c: while it runs ------------------------------------------------------------ */

typedef struct ending {
  bool begun; /* the script, in a sandbox */
  bool ended; /* the first process; and how */
  int wait_status;
  int failed; /* enum news_kind, or 0; and why */
  int failure;
  int oom;    /* 1: it had too much memory; 2: it was killed, and memory was
                 short */
  bool asked; /* it was to end */
} ending;

/* Signals are heard from now on; `end`, which is kept, gets how it ends.  0; or
 * errno. */
int run_open(const pai_order *o, ending *end);
/* Starts it.  0; or errno. */
int run_start(void);
/* Until the first process has ended, and nothing is left of the others. */
void run_to_end(void);

/* --- short.c: whether memory was short while it ran ------------------------------ */

/* Notes how many processes were killed for want of memory so far.  `root`: "",
 * or a folder in which the kernel's files are, of a test. */
void short_note(const char *root);
/* Were more killed since then, or is memory short now? */
bool short_since(const char *root);

/* --- end.c: how it has ended ----------------------------------------------------------- */

/* Opens what its user may not, while this program may. */
void end_open(const pai_order *o);
/* Removes the task's control groups. */
void end_remove_groups(const pai_order *o);
/* Removes what the task had, says what went wrong, and writes the last line of
 * `status`. */
void end_clear(const pai_order *o, ending *e);

#endif
