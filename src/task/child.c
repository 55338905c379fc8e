/* child.c - the keeper, and the task's first process until its exec */
#define _GNU_SOURCE
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  SCRIPT_FD = 3,
  MOST_GROUPS = 8,
  MOST_BITS = 4096, /* CPUs */
  PREFER_MANY = 5,  /* for set_mempolicy(); Linux 5.15 */
  BIND = 2,
  CLONE3 = 435, /* system call number, for older headers */
  GROUPS_MAGIC = 0x63677270
};

#define INTO_GROUP UINT64_C(0x200000000) /* flag of clone3() */

void child_tell(int fd, int kind, int value)
{
  news n = { kind, value };

  (void)!write(fd, &n, sizeof(n));
}

/* --- resources of the first process -------------------------------------- */

/* Converts hexadecimal digits to words of a kernel mask; returns its number of
 * bits. */
static size_t read_mask(unsigned long mask[], const char *digits)
{
  size_t n = strlen(digits), per_word = sizeof(long) * 2;

  memset(mask, 0, MOST_BITS / 8);
  if (n > MOST_BITS / 4)
    return 0;
  for (size_t i = 0; i < n; i++) {
    char c = digits[n - 1 - i];
    unsigned long value =
      (unsigned long)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);

    mask[i / per_word] |= (value & 15) << i % per_word * 4;
  }
  return n * 4;
}

/* Failures are ignored: a CPU that does not exist, or a kernel without NUMA,
 * is no reason to fail the task. */
static void bind_to(const pai_order *o)
{
  unsigned long mask[MOST_BITS / 8 / sizeof(long)];
  size_t bits;

  if (o->cpus.text != NULL && read_mask(mask, o->cpus.text) > 0)
    (void)sched_setaffinity(0, sizeof(mask), (void *)mask);
  if (o->nodes.text != NULL && (bits = read_mask(mask, o->nodes.text)) > 0 &&
      syscall(SYS_set_mempolicy, PREFER_MANY, mask, bits + 1) < 0)
    (void)syscall(SYS_set_mempolicy, BIND, mask, bits + 1);
  if (o->nice > 0)
    (void)setpriority(PRIO_PROCESS, 0, (int)o->nice);
}

static int group_fds[MOST_GROUPS];
static int group_errors[MOST_GROUPS];

/* The kernel checks the rights of the opener, not of the writer, so this is
 * done before the program becomes another user. */
void groups_open(const pai_order *o)
{
  char **at = o->procs.texts;

  for (int i = 0; at != NULL && at[i] != NULL && i < MOST_GROUPS; i++) {
    group_fds[i] = open(at[i], O_WRONLY | O_CLOEXEC);
    group_errors[i] = errno;
  }
}

void groups_give_up(const pai_order *o)
{
  char **at = o->procs.texts;

  for (int i = 0; at != NULL && at[i] != NULL && i < MOST_GROUPS; i++)
    if (group_fds[i] >= 0) {
      (void)close(group_fds[i]);
      group_fds[i] = -1;
    }
  status_close();
  /* Makes /proc show the process as one that was started by that user. */
  (void)prctl(PR_SET_DUMPABLE, 1);
}

static void join_groups(const pai_order *o)
{
  char **at = o->procs.texts;

  for (int i = 0; at != NULL && at[i] != NULL && i < MOST_GROUPS; i++) {
    if (group_fds[i] < 0)
      logs_say("no limit by control group: ", at[i], group_errors[i]);
    else if (write(group_fds[i], "0", 1) < 0)
      logs_say("no limit by control group: ", at[i], errno);
  }
  groups_give_up(o);
}

void child_join(const pai_order *o)
{
  join_groups(o);
  bind_to(o);
}

/* Writes the script to a memfd. bash opens it by path again, so the script
 * first closes this descriptor, and 6 and 7, the namespaces: its children must
 * not have them.  In a sandbox it first reports that it has begun. */
static int make_script(const pai_order *o, int begun)
{
  line head = { .len = 0 };
  int fd = (int)syscall(SYS_memfd_create, "script", 0u);
  const char *at = o->script.text;
  size_t n = strlen(at);

  if (fd < 0)
    return -1;
  if (begun >= 0) {
    line_add(&head, "echo >&");
    line_number(&head, begun);
    line_add(&head, ";exec ");
    line_number(&head, begun);
    line_add(&head, ">&-;");
  }
  line_add(&head, "exec 3<&- 6<&- 7<&-;");
  if ((o->flags & PAI_ORDER_SCRIPT_STDIN) == 0)
    (void)!write(fd, head.text, head.len);
  while (n > 0) {
    ssize_t done = write(fd, at, n);
    if (done <= 0)
      return -1;
    at += done;
    n -= (size_t)done;
  }
  return lseek(fd, 0, SEEK_SET) < 0 ? -1 : fd;
}

/* --- creating the process ------------------------------------------------ */

/* The kernel's struct clone_args, up to Linux 5.7. */
typedef struct clone_order {
  uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size,
    tls, set_tid, set_tid_size, group;
} clone_order;

/* Returns the folder of a single version 2 group; -1: there is none. */
static int open_group(const pai_order *o)
{
  static const char file[] = "/cgroup.procs";
  char **procs = o->procs.texts;
  size_t len = procs != NULL && procs[0] != NULL && procs[1] == NULL
                 ? strlen(procs[0])
                 : 0;
  struct statfs info;
  char path[4096];
  int fd;

  if (len < sizeof(file) || len >= sizeof(path) ||
      strcmp(procs[0] + len - (sizeof(file) - 1), file) != 0)
    return -1;
  memcpy(path, procs[0], len);
  path[len - (sizeof(file) - 1)] = '\0';
  fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0 && (fstatfs(fd, &info) < 0 || info.f_type != GROUPS_MAGIC)) {
    (void)close(fd);
    fd = -1;
  }
  return fd;
}

/* Creates the process in its group if the kernel supports that (5.7): moving
 * it later takes milliseconds, during which no process can fork.  Otherwise it
 * joins by itself. */
static pid_t fork_first(const pai_order *o, bool *joined)
{
  clone_order how = { .flags = INTO_GROUP, .exit_signal = SIGCHLD };
  int group = open_group(o);
  long pid = -1;

  *joined = true;
  if (group >= 0) {
    how.group = (uint64_t)group;
    pid = syscall(CLONE3, &how, sizeof(how));
    if (pid != 0)
      (void)close(group);
  }
  if (pid >= 0)
    return (pid_t)pid;
  *joined = false;
  return fork();
}

/* --- descriptors and folder ---------------------------------------------- */

/* The script takes the number of the order's descriptor. */
static bool place_fds(const pai_order *o, const task_files *files)
{
  int script = make_script(o, files->begun);
  int in = (o->flags & PAI_ORDER_SCRIPT_STDIN) != 0 ? STDIN_FILENO : SCRIPT_FD;
  bool shared = (o->flags & PAI_ORDER_SHARED) != 0;

  for (int fd = PAI_ORDER_USER_FD; shared && fd <= PAI_ORDER_PID_FD; fd++)
    (void)fcntl(fd, F_SETFD, 0);
  if (shared && (dup2(files->info, PAI_ORDER_INFO_FD) < 0 ||
                 dup2(files->go, PAI_ORDER_GO_FD) < 0))
    return false;
  return script >= 0 && (files->in < 0 || dup2(files->in, 0) == 0) &&
         dup2(script, in) == in && dup2(files->out, 1) == 1 &&
         dup2(files->err, 2) == 2 && (script == in || close(script) == 0) &&
         (in == SCRIPT_FD || close(SCRIPT_FD) == 0) &&
         (files->begun < 0 || fcntl(files->begun, F_SETFD, 0) == 0);
}

/* Passes this program to the sandbox for check.c. */
static bool place_self(const pai_order *o)
{
  int fd;

  if ((o->flags & PAI_ORDER_CHECK) == 0)
    return true;
  fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);
  return fd >= 0 && dup2(fd, PAI_ORDER_CHECK_FD) == PAI_ORDER_CHECK_FD &&
         (fd == PAI_ORDER_CHECK_FD ? fcntl(fd, F_SETFD, 0) : close(fd)) == 0;
}

void child_take_terminal(int fd)
{
  (void)ioctl(fd, TIOCSCTTY, 0);
}

int terminal_open(int fds[2], unsigned columns, unsigned rows)
{
  struct winsize size = { .ws_col = (unsigned short)columns,
                          .ws_row = (unsigned short)rows };
  int unlocked = 0, saved;

  fds[0] = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (fds[0] < 0)
    return -1;
  if (ioctl(fds[0], TIOCSPTLCK, &unlocked) == 0) {
    (void)ioctl(fds[0], TIOCSWINSZ, &size);
    fds[1] = ioctl(fds[0], TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fds[1] >= 0)
      return 0;
  }
  saved = errno;
  (void)close(fds[0]);
  errno = saved;
  return -1;
}

bool child_go_to(const char *folder)
{
  int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  bool gone = fd >= 0 && fchdir(fd) == 0;
  int saved = errno;

  if (fd >= 0)
    (void)close(fd);
  errno = saved;
  return gone;
}

/* Landlock, which older headers lack: system calls, a ruleset, and the scopes
 * of Linux 6.12.  A ruleset that does not handle files lets a sandbox
 * mount. */
enum {
  LANDLOCK_CREATE = 444,
  LANDLOCK_RESTRICT = 446,
  LANDLOCK_VERSION = 1,
  LANDLOCK_SCOPES = 6, /* version with scopes */
  LANDLOCK_ABSTRACT = 1
};

typedef struct landlock {
  uint64_t files, ports, scopes;
} landlock;

void child_scope(const pai_order *o)
{
  const landlock rules = { 0, 0, LANDLOCK_ABSTRACT };
  struct stat st;
  int fd = -1;

  if ((o->flags & PAI_ORDER_APART) == 0)
    return;
  /* A setuid bubblewrap would lose its rights. */
  if (stat(o->argv.texts[0], &st) == 0 && (st.st_mode & S_ISUID) != 0)
    errno = EPERM;
  else if (syscall(LANDLOCK_CREATE, NULL, (size_t)0, LANDLOCK_VERSION) >=
           LANDLOCK_SCOPES)
    fd = (int)syscall(LANDLOCK_CREATE, &rules, sizeof(rules), 0);
  if (fd < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
      syscall(LANDLOCK_RESTRICT, fd, 0) < 0)
    logs_say("the task can reach abstract sockets of this machine's user; to "
             "prevent this, use Linux 6.12 or newer with Landlock",
             "", errno);
  if (fd >= 0)
    (void)close(fd);
}

/* Runs until exec.  Keeps the task folder open until then. */
static void run_first(const pai_order *o, bool joined, const task_files *files,
                      int tell_fd)
{
  sigset_t none;

  (void)setsid();
  if (files->tty)
    child_take_terminal(files->in);
  if (!joined)
    join_groups(o);
  bind_to(o);
  child_scope(o);
  if (o->workdir.text != NULL && !child_go_to(o->workdir.text)) {
    child_tell(tell_fd, NEWS_WORKDIR, errno);
    _exit(126);
  }
  if (!place_fds(o, files) || !place_self(o)) {
    child_tell(tell_fd, NEWS_EXEC, errno);
    _exit(126);
  }
  (void)sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  (void)fcntl(PAI_ORDER_DIR_FD, F_SETFD, FD_CLOEXEC);
  (void)execve(o->argv.texts[0], o->argv.texts, o->env.texts);
  child_tell(tell_fd, NEWS_EXEC, errno);
  _exit(errno == ENOENT ? 127 : 126);
}

/* --- keeper -------------------------------------------------------------- */

static void nobody(pid_t pid, int status)
{
  (void)pid;
  (void)status;
}

/* At its end the remaining processes become the supervisor's children. */
static void keep(const pai_order *o, pid_t first, int tell_fd)
{
  static tree left;
  sigset_t set;
  pid_t pid;
  int status;

  (void)sigemptyset(&set);
  (void)sigaddset(&set, SIGCHLD);
  (void)sigaddset(&set, SIGUSR2);
  for (;;) {
    siginfo_t info;

    if (sigwaitinfo(&set, &info) == SIGUSR2) { /* the supervisor was killed */
      tree_learn((pid_t)o->holder, enter_inside(first));
      (void)tree_kill(&left, nobody);
      _exit(0);
    }
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
      if (pid == first) {
        child_tell(tell_fd, NEWS_ENDED, status);
        _exit(0);
      }
  }
}

/* Makes this process die with its parent, unless the parent is gone
 * already. */
void child_bind_to_parent(pid_t parent, int signal)
{
  (void)prctl(PR_SET_PDEATHSIG, signal);
  if (getppid() != parent)
    _exit(0);
}

bool order_is_sandbox(const pai_order *o)
{
  return (o->flags & PAI_ORDER_SPARE_FIRST) != 0 &&
         (o->flags & PAI_ORDER_SCRIPT_STDIN) == 0;
}

void files_close(const task_files *files)
{
  if (files->info >= 0)
    (void)close(files->info);
  if (files->go >= 0)
    (void)close(files->go);
  if (files->begun >= 0)
    (void)close(files->begun);
  (void)close(files->out);
  if (files->tty) /* all three are the terminal */
    return;
  (void)close(files->err);
  if (files->in >= 0)
    (void)close(files->in);
}

static void be_keeper(const pai_order *o, const task_files *files, int tell_fd)
{
  pid_t self = getpid(), first;
  bool joined;
  int error;

  (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
  first = fork_first(o, &joined);
  error = errno;
  if (first == 0) {
    child_bind_to_parent(self, SIGKILL);
    run_first(o, joined, files, tell_fd);
  }
  groups_give_up(o);
  files_close(files);
  (void)close(PAI_ORDER_FD);
  (void)close(PAI_ORDER_DIR_FD);
  if (first < 0) {
    child_tell(tell_fd, NEWS_EXEC, error);
    _exit(0);
  }
  child_tell(tell_fd, NEWS_STARTED, first);
  keep(o, first, tell_fd);
}

pid_t keeper_start(const pai_order *o, const task_files *files,
                   const int tell[2])
{
  pid_t parent = getpid(), pid = fork();

  if (pid == 0) {
    child_bind_to_parent(parent, SIGUSR2);
    (void)close(tell[0]);
    for (size_t i = 0; i < sizeof(files->ours) / sizeof(files->ours[0]); i++)
      if (files->ours[i] >= 0)
        (void)close(files->ours[i]);
    be_keeper(o, files, tell[1]);
  }
  return pid;
}

/* The command's own SIGCHLD is left for other waiters. */
void run_and_wait(char *const *argv, char *const *env, int seconds)
{
  int64_t end = monotonic_ms() + seconds * 1000;
  pid_t parent = getpid(), pid = fork();
  const struct timespec round = { 0, 20 * 1000000L };
  sigset_t set;
  int status;

  if (pid == 0) {
    (void)sigemptyset(&set);
    child_bind_to_parent(parent, SIGKILL);
    (void)sigprocmask(SIG_SETMASK, &set, NULL);
    (void)execve(argv[0], argv, env);
    _exit(127);
  }
  (void)sigemptyset(&set);
  (void)sigaddset(&set, SIGCHLD);
  while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0) {
    if (monotonic_ms() > end)
      (void)kill(pid, SIGKILL);
    (void)sigtimedwait(&set, NULL, &round);
  }
}
