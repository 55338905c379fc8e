/*
 * task.h - internal to the supervisor of one task
 *
 * One process holds the pipes and writes the files.  A second one, the keeper,
 * is the parent of the task.  Orphans are adopted by the nearest of the two,
 * so if either is killed, the other still ends all processes of the task.
 * Neither allocates memory.
 */
#ifndef PAI_SRC_TASK_TASK_H
#define PAI_SRC_TASK_TASK_H

#include "order.h"

#include <stdbool.h>
#include <sys/types.h>

/* --- text.c: a line of text in a fixed buffer ---------------------------- */

typedef struct line {
  char text[512];
  size_t len;
} line;

void line_add(line *l, const char *text); /* drops what does not fit */
void line_number(line *l, int64_t number);
/* Ends the line, writes it and empties it.  False: errno. */
bool line_write(line *l, int fd);
/* Reads a small file as text; returns its length, or -1. */
ssize_t read_small(int dir, const char *path, char *text, size_t size);
/* read() of a pipe, or of a terminal, whose last output it does not miss. */
ssize_t output_read(int fd, char *bytes, size_t size);
int64_t wall_time(void); /* microseconds */
int64_t monotonic_ms(void);

/* --- tree.c: processes of the task --------------------------------------- */

enum { TREE_MOST = 16384 };

/* Processes found; those above TREE_MOST are ignored. */
typedef struct tree {
  pid_t pids[TREE_MOST];
  size_t len;
} tree;

/* Counts orphans of a sandbox as descendants, too.  `holder` is the first
 * process of its pid namespace, `inside` a process in it. 0: stop. */
void tree_learn(pid_t holder, pid_t inside);
/* Finds all descendants of this process. */
void tree_find(tree *t);
/* Sends SIGTERM, and SIGCONT to stopped processes, to all descendants but two;
 * returns how many. */
size_t tree_ask(tree *t, pid_t spare, pid_t spare_too);
/* Returns the parent of a process, or 0. */
pid_t tree_parent(pid_t pid);
/* Returns the first child of a process, or 0. */
pid_t tree_child(pid_t of);
/* Kills all descendants and waits for them for a limited time; calls `on_end`
 * for each.  False: some did not end. */
bool tree_kill(tree *t, void (*on_end)(pid_t pid, int status));
/* Returns whether their memory exceeds `limit`.  Shared memory is counted
 * once. */
bool tree_exceeds(tree *t, uint64_t limit);

/* --- remove.c ------------------------------------------------------------ */

/* A directory entry as the kernel returns it; libc's readdir() would
 * allocate. */
typedef struct entry {
  uint64_t inode;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[];
} entry;

/* Removes a folder with its contents, until monotonic_ms() reaches `end`.
 * False: something is left. */
bool folder_remove(int dir, const char *name, int64_t end);

/* --- logs.c: all, streams, runtime --------------------------------------- */

enum { LOG_OUT, LOG_ERR };

int logs_open(uint64_t most); /* 0; or errno */
void logs_add(int which, const char *bytes, size_t n);
/* Returns the last line of stderr, or the end of it. */
const char *logs_last_line(char *text, size_t size);
/* Logs a line of the supervisor's own. */
void logs_say(const char *text, const char *more, int error);

/* --- times.c: times of the output ---------------------------------------- */

void times_open(int data); /* opens `times`, for that output file */
/* Continues with another output file; the previous one was renamed. */
void times_rotate(int data);
/* Notes that the byte `at` of the file is written now. */
void times_note(uint64_t at);

/* --- status.c: the file `status`, whose space is reserved for a full disk  */

/* Creates the file, which decides that the task runs: 0; or errno. */
int status_make(const pai_order *o);
void status_remove(const pai_order *o);
/* Closes the file, in a process that reports no end and whose user may see its
 * open files. */
void status_close(void);
void status_started(pid_t pid, pid_t keeper);
/* Notes that output is missing in a log. */
void status_cut(const char *log);
/* Notes the end: "exit", "signal" or "failed", and its number; for "failed"
 * also the errno, or 0. */
void status_end(const char *kind, int number, int oom, int error);

/* --- child.c: the keeper and the first process --------------------------- */

/* What the keeper reports, in this order; a failure replaces an end. */
enum news_kind {
  NEWS_STARTED = 1,
  NEWS_ENDED,
  NEWS_WORKDIR,
  NEWS_EXEC,
  NEWS_ENTER /* entering the task's sandbox failed, for a command */
};
typedef struct news {
  int kind;
  int value; /* a pid, wait status or errno */
} news;

/* The standard streams of the first process, and other descriptors. */
typedef struct task_files {
  int in; /* or -1: no input */
  int out, err;
  bool tty;     /* all three are this terminal */
  int info, go; /* PAI_ORDER_INFO_FD and PAI_ORDER_GO_FD; or -1 */
  int begun;    /* bash writes here, in a sandbox, when it has begun; or -1 */
  int ours[6];  /* other ends, for the supervisor only; or -1 */
} task_files;

/* Starts the keeper, which starts the first process; -1: errno. tell[0] is the
 * reading end, for this process. */
pid_t keeper_start(const pai_order *o, const task_files *files,
                   const int tell[2]);
/* Returns whether the first process makes a sandbox in which bash begins. */
bool order_is_sandbox(const pai_order *o);
/* Closes the task's own ends. */
void files_close(const task_files *files);
/* Opens the control group files while this program has the rights. */
void groups_open(const pai_order *o);
/* Closes them, and the status, in a process that does not need them.  Its user
 * may inspect it only after that. */
void groups_give_up(const pai_order *o);
/* Steps for a child, also for commands that enter the task. */
void child_join(const pai_order *o);  /* sets groups, CPUs, memory */
bool child_go_to(const char *folder); /* false: errno */
void child_bind_to_parent(pid_t parent, int signal);
void child_tell(int fd, int kind, int value);
/* Restricts this process and its children from abstract sockets of others, if
 * the order says so. */
void child_scope(const pai_order *o);
/* Makes it the controlling terminal of this session leader. */
void child_take_terminal(int fd);
/* Opens a terminal: fds[0] is the master, fds[1] the task's end; -1: errno. */
int terminal_open(int fds[2], unsigned columns, unsigned rows);
/* Runs a command and waits for it, for at most `seconds`. */
void run_and_wait(char *const *argv, char *const *env, int seconds);

/* --- enter.c: commands that enter the task ------------------------------- */

enum { ENTER_WORDS = 8192 };

typedef struct enter_words {
  char *argv[ENTER_WORDS], *env[ENTER_WORDS];
  bool inside; /* the command enters the task by itself */
} enter_words;

/* Returns the first process of the sandbox that is not part of bubblewrap; 0:
 * none yet. */
pid_t enter_inside(pid_t first);
struct pai_begin;
/* Chooses the words to start; false: too many. */
bool enter_choose(enter_words *out, const pai_order *o,
                  const struct pai_begin *b);
/* What it is started with. */
typedef struct enter_files {
  int theirs[3]; /* standard streams; all the same if it has a terminal */
  int ours[5];   /* other ends, which it must close; or -1 */
  bool tty;
  int tell;
} enter_files;

/* Starts it, through a process that reports like a keeper. -1: errno. */
int enter_start(const pai_order *o, pid_t first, const enter_words *words,
                const enter_files *files);

/* --- stream.c, serve.c: connections to the task -------------------------- */

typedef struct task_input {
  int fd; /* writing end of the task's standard input or terminal; or -1 */
  bool tty;
} task_input;

/* Exit code of a stream's process: the task's input has ended. */
enum { STREAM_INPUT_END = 10 };

_Noreturn void stream_run(int peer, const pai_order *o,
                          const task_input *input, pid_t first);

/* Listens in the task folder; -1: errno. */
int serve_open(void);
void serve_close(int listener);
/* Accepts a connection and forks a process for it; returns its pid, 0 for
 * none. */
pid_t serve_take(int listener, const pai_order *o, const task_input *input,
                 pid_t first);

/* --- main.c, hold.c: without a task -------------------------------------- */

/* Makes this process run as that user; 0 or an errno.  `more`: supplementary
 * groups as "4,24", or NULL. */
int user_become(uid_t uid, gid_t gid, const char *more);
/* Holds a pid namespace; 0 or an errno. */
int hold_run(char **argv);

/* --- check.c: in a sandbox, before the task ------------------------------ */

/* Checks the mounts and executes the task's program.  Returns an exit code on
 * failure. */
int check_run(char **argv);

/* --- shm.c: the shared /dev/shm of a job's tasks ------------------------- */

/* Creates the folder of that name, and removes folders whose holders were
 * killed. */
bool shm_make(const char *name);
/* Kills all other processes of the namespace, and removes the folder. */
void shm_remove(void);

/* --- run.c: the running task --------------------------------------------- */

typedef struct ending {
  bool begun; /* the script has begun, in a sandbox */
  bool ended; /* the first process has ended, with: */
  int wait_status;
  int failed; /* enum news_kind of a failure, or 0; `failure` is its cause */
  int failure;
  int oom;    /* 1: it used too much memory; 2: it was killed while memory was
                 short */
  bool asked; /* it was asked to end */
} ending;

/* Blocks signals to receive them later.  `end`, which must outlive the run,
 * gets how the task ends. 0; or errno. */
int run_open(const pai_order *o, ending *end);
/* Starts the first process. 0; or errno. */
int run_start(void);
/* Runs until the first process has ended and no other process is left. */
void run_to_end(void);

/* --- short.c: whether the machine was out of memory ---------------------- */

/* Notes how many processes were killed for lack of memory so far.  `root`: "",
 * or in tests a folder with the kernel's files. */
void short_note(const char *root);
/* Returns whether more were killed since, or memory is short now. */
bool short_since(const char *root);

/* --- end.c: after the task's end ----------------------------------------- */

/* Opens files that the task's user may not, while this program may. */
void end_open(const pai_order *o);
/* Removes the task's control groups. */
void end_remove_groups(const pai_order *o);
/* Removes the task's folders, logs what went wrong, and writes the last line
 * of `status`. */
void end_clear(const pai_order *o, ending *e);

#endif
