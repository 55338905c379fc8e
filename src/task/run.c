/*
 * run.c - the supervisor's loop while its task runs: stores output, handles
 * stop requests, checks memory, accepts streams; then ends remaining processes
 */
#define _GNU_SOURCE
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  HIGH_FD = 16,
  GO_MS = 5000, /* until a sandbox continues at most */
  DRAIN_MS = 1000,
  AGAIN_MS = 20, /* delay before a signal that did not reach any process is
                    repeated */
  TRIES = 100,
  CLEANUP_SECONDS = 10,
  MOST_STREAMS = 64 /* at a time; others wait */
};

enum { AT_OUT, AT_ERR, AT_TELL, AT_SIGNALS, AT_ENTER, AT_INFO, AT_COUNT };

static struct running {
  const pai_order *order;
  ending *end;
  struct pollfd at[AT_COUNT];
  int writes; /* epoll: which of the output pipes was written to first */
  pid_t keeper, first;
  task_input input;
  int go;         /* pipe for the byte that the sandbox waits for; or -1 */
  char info[512]; /* bubblewrap's output about it */
  size_t info_len;
  pid_t inside; /* the process that waits for that byte; 0: none or not
                   known */
  int64_t waits_since;
  int begun; /* the script reports here that it has begun; or -1 */
  pid_t stream_pids[MOST_STREAMS];
  int streams;
  int asked;    /* number of stop requests */
  bool ask_due; /* no process has received the request yet */
  bool killing; /* the task is being killed */
  int tries;    /* tries of either, and the time of the next */
  int64_t again;
} s;

static tree found;
static char chunk[65536];

/* --- the start ----------------------------------------------------------- */

/* Blocks all signals and reads them from a descriptor. */
static int open_signals(void)
{
  struct sigaction plain = { .sa_handler = SIG_DFL };
  sigset_t all, heard;

  (void)sigfillset(&all);
  (void)sigprocmask(SIG_SETMASK, &all, NULL);
  for (int i = 1; i < 65; i++)
    (void)sigaction(i, &plain, NULL);
  (void)sigemptyset(&heard);
  (void)sigaddset(&heard, SIGTERM);
  (void)sigaddset(&heard, SIGUSR1);
  (void)sigaddset(&heard, SIGCHLD);
  return signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
}

int run_open(const pai_order *o, ending *end)
{
  s.order = o;
  s.end = end;
  s.input.fd = s.go = s.begun = -1;
  for (int i = 0; i < AT_COUNT; i++)
    s.at[i] = (struct pollfd){ -1, POLLIN, 0 };
  s.at[AT_SIGNALS].fd = open_signals();
  return s.at[AT_SIGNALS].fd < 0 ? errno : 0;
}

/* Opens the terminal, which replaces the three standard streams. */
static int open_terminal(task_files *theirs)
{
  int fds[2];

  if (terminal_open(fds, 80, 24) < 0)
    return errno;
  s.input = (task_input){ fds[0], true };
  s.at[AT_OUT].fd = fcntl(fds[0], F_DUPFD_CLOEXEC, 0);
  theirs->in = theirs->out = theirs->err = fds[1];
  theirs->tty = true;
  return s.at[AT_OUT].fd < 0 ? errno : 0;
}

/* Opens the pipes for bubblewrap: it reports the pid of the process in the
 * sandbox, which waits until that was read. */
static int open_info(task_files *theirs)
{
  int fds[2];

  if (pipe2(fds, O_CLOEXEC) < 0)
    return errno;
  s.at[AT_INFO].fd = fds[0];
  theirs->info = fds[1];
  if (pipe2(fds, O_CLOEXEC) < 0)
    return errno;
  theirs->go = fds[0];
  s.go = fds[1];
  return 0;
}

static int open_files(task_files *theirs)
{
  int fds[2];

  *theirs = (task_files){ .in = -1,
                          .out = -1,
                          .err = -1,
                          .info = -1,
                          .go = -1,
                          .begun = -1,
                          .ours = { -1, -1, -1, -1, -1, -1 } };
  if ((s.order->flags & PAI_ORDER_SHARED) != 0 && open_info(theirs) != 0)
    return errno;
  if (order_is_sandbox(s.order)) {
    if (pipe2(fds, O_CLOEXEC) < 0)
      return errno;
    s.begun = fds[0];
    /* Away from the numbers that the first process uses. */
    theirs->begun = fcntl(fds[1], F_DUPFD_CLOEXEC, HIGH_FD);
    (void)close(fds[1]);
    if (theirs->begun < 0)
      return errno;
    (void)fcntl(s.begun, F_SETFL, O_NONBLOCK);
  }
  if ((s.order->flags & PAI_ORDER_TTY) != 0)
    return open_terminal(theirs);
  if ((s.order->flags & PAI_ORDER_INPUT) != 0) {
    if (pipe2(fds, O_CLOEXEC) < 0)
      return errno;
    theirs->in = fds[0];
    s.input.fd = fds[1];
  }
  if (pipe2(fds, O_CLOEXEC) < 0)
    return errno;
  s.at[AT_OUT].fd = fds[0];
  theirs->out = fds[1];
  if (pipe2(fds, O_CLOEXEC) < 0)
    return errno;
  s.at[AT_ERR].fd = fds[0];
  theirs->err = fds[1];
  return 0;
}

/* Output is stored in the order in which the pipes were written to since they
 * were read.  Without this descriptor stdout goes first. */
static void open_writes(void)
{
  s.writes = epoll_create1(EPOLL_CLOEXEC);
  for (unsigned i = AT_OUT; i <= AT_ERR; i++)
    if (s.at[i].fd >= 0)
      (void)epoll_ctl(s.writes, EPOLL_CTL_ADD, s.at[i].fd,
                      &(struct epoll_event){ .events = EPOLLIN | EPOLLET,
                                             .data = { .u32 = i } });
}

int run_start(void)
{
  task_files theirs;
  int tell[2], rc = open_files(&theirs);

  if (rc != 0)
    return rc;
  if (pipe2(tell, O_CLOEXEC) < 0)
    return errno;
  s.at[AT_TELL].fd = tell[0];
  theirs.ours[0] = s.input.fd;
  theirs.ours[1] = s.at[AT_OUT].fd;
  theirs.ours[2] = s.at[AT_ERR].fd;
  theirs.ours[3] = s.at[AT_INFO].fd;
  theirs.ours[4] = s.go;
  theirs.ours[5] = s.begun;
  s.keeper = keeper_start(s.order, &theirs, tell);
  if (s.keeper < 0)
    return errno;
  files_close(&theirs);
  (void)close(tell[1]);
  open_writes();
  for (int i = AT_OUT; i <= AT_TELL; i++)
    if (s.at[i].fd >= 0)
      (void)fcntl(s.at[i].fd, F_SETFL, O_NONBLOCK);
  if (s.at[AT_INFO].fd >= 0)
    (void)fcntl(s.at[AT_INFO].fd, F_SETFL, O_NONBLOCK);
  s.at[AT_ENTER].fd = serve_open();
  if (s.at[AT_ENTER].fd < 0)
    logs_say("cannot enter the task", "", errno);
  return 0;
}

/* --- output -------------------------------------------------------------- */

/* True: there may be more. */
static bool take_output(int which)
{
  ssize_t n;

  if (s.at[which].fd < 0)
    return false;
  n = output_read(s.at[which].fd, chunk, sizeof(chunk));
  if (n > 0) {
    logs_add(which, chunk, (size_t)n);
    return true;
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return false;
  (void)close(s.at[which].fd);
  s.at[which].fd = -1; /* poll() ignores it */
  return false;
}

/* Takes output in the order of the first writes, then what else there is. */
static void take_outputs(void)
{
  struct epoll_event first[2];
  int n = epoll_wait(s.writes, first, 2, 0);

  for (int i = 0; i < n; i++) {
    (void)take_output((int)first[i].data.u32);
    s.at[first[i].data.u32].revents = 0;
  }
  for (int i = AT_OUT; i <= AT_ERR; i++)
    if (s.at[i].revents != 0)
      (void)take_output(i);
}

static void take_end(pid_t pid, int status)
{
  if (pid == s.first && !s.end->ended) {
    s.end->ended = true;
    s.end->wait_status = status;
  }
}

/* False: the keeper has nothing more to report. */
static bool take_news(void)
{
  news n;
  ssize_t size = read(s.at[AT_TELL].fd, &n, sizeof(n));

  if (size < 0 && (errno == EAGAIN || errno == EINTR))
    return true;
  if (size != (ssize_t)sizeof(n))
    return false;
  if (n.kind == NEWS_STARTED) {
    s.first = n.value;
    status_started(s.first, s.keeper);
  } else if (n.kind == NEWS_ENDED) {
    take_end(s.first, n.value);
  } else {
    s.end->failed = n.kind;
    s.end->failure = n.value;
  }
  return true;
}

/* Reads bubblewrap's {"child-pid": N, ...}, which ends when both its processes
 * have closed it.  Nothing of the task has run before that. */
static void take_info(void)
{
  static const char name[] = "\"child-pid\":";
  size_t room = sizeof(s.info) - 1 - s.info_len;
  ssize_t n =
    read(s.at[AT_INFO].fd,
         s.info_len < sizeof(s.info) - 1 ? s.info + s.info_len : chunk,
         room > 0 ? room : sizeof(chunk));
  char *at;

  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (n > 0) {
    s.info_len += room > 0 ? (size_t)n : 0;
    return;
  }
  s.info[s.info_len] = '\0';
  at = strstr(s.info, name);
  if (at != NULL)
    s.inside = (pid_t)strtol(at + sizeof(name) - 1, NULL, 10);
  s.waits_since = monotonic_ms();
  (void)close(s.at[AT_INFO].fd);
  s.at[AT_INFO].fd = -1;
}

static bool is_about_to_go(void)
{
  return s.go >= 0 && s.at[AT_INFO].fd < 0;
}

/* The process inside was created by a process that exits at once, and dies
 * with its parent: it may continue only when its parent is the one that
 * stays. */
static void let_go(void)
{
  pid_t parent;

  if (!is_about_to_go())
    return;
  parent = s.inside > 0 ? tree_parent(s.inside) : 0;
  if (parent != 0 && parent != s.first &&
      monotonic_ms() < s.waits_since + GO_MS)
    return;
  if (s.inside > 0)
    tree_learn((pid_t)s.order->holder, s.inside);
  (void)!write(s.go, "", 1);
  (void)close(s.go);
  s.go = -1;
}

/* --- ending the task ----------------------------------------------------- */

static void ask(void)
{
  bool spare = (s.order->flags & PAI_ORDER_SPARE_FIRST) != 0;

  if ((s.order->flags & PAI_ORDER_SCRIPT_STDIN) != 0) { /* it passes signals
                                                           on */
    s.ask_due = s.first == 0 || kill(s.first, SIGTERM) < 0;
    return;
  }
  s.ask_due =
    s.first == 0 || tree_ask(&found, s.keeper, spare ? s.first : 0) == 0;
}

/* The keeper sees the first process die; the other processes are ended after
 * that. */
static void kill_all(void)
{
  tree_find(&found);
  for (size_t i = 0; i < found.len; i++)
    if (found.pids[i] != s.keeper)
      (void)kill(found.pids[i], SIGKILL);
}

static void kill_now(void)
{
  if (s.killing)
    return;
  s.killing = true;
  s.ask_due = false;
  s.tries = 0;
  if (s.order->cleanup.texts != NULL)
    run_and_wait(s.order->cleanup.texts, s.order->env.texts, CLEANUP_SECONDS);
  kill_all();
}

/* Returns whether it was a stream; an orphan's exit code means nothing. */
static bool was_stream(pid_t pid)
{
  for (int i = 0; i < s.streams; i++)
    if (s.stream_pids[i] == pid) {
      s.stream_pids[i] = s.stream_pids[--s.streams];
      return true;
    }
  return false;
}

/* Reaps ended streams and orphans of commands in the task. */
static void reap(void)
{
  pid_t pid;
  int status;

  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    take_end(pid, status);
    if (was_stream(pid) && !s.input.tty && s.input.fd >= 0 &&
        WIFEXITED(status) && WEXITSTATUS(status) == STREAM_INPUT_END) {
      (void)close(s.input.fd);
      s.input.fd = -1;
    }
  }
}

static void take_stream(void)
{
  pid_t pid = serve_take(s.at[AT_ENTER].fd, s.order, &s.input, s.first);

  if (pid > 0)
    s.stream_pids[s.streams++] = pid;
}

static void take_signals(void)
{
  struct signalfd_siginfo info;

  while (read(s.at[AT_SIGNALS].fd, &info, sizeof(info)) ==
         (ssize_t)sizeof(info)) {
    if (info.ssi_signo == SIGCHLD)
      reap();
    else if (info.ssi_signo == SIGUSR1 || s.asked++ > 0)
      s.asked = 2;
    else
      s.ask_due = true;
  }
}

static void look_at_memory(int64_t *due)
{
  int64_t now = monotonic_ms();

  if (now < *due)
    return;
  *due = now + s.order->sample_ms;
  if (s.end->oom == 0 && tree_exceeds(&found, s.order->memory)) {
    s.end->oom = 1;
    logs_say("the task uses more memory than it requested and is killed", "",
             0);
    kill_now();
  }
}

/* Repeats a signal: a new process may not be able to receive it yet, a sandbox
 * may take long to create, and a killed process may just have forked. */
static bool is_due(void)
{
  return s.killing ? s.tries < TRIES : s.ask_due;
}

static void try_again(void)
{
  int64_t now = monotonic_ms();

  if (!is_due() || now < s.again)
    return;
  s.tries++;
  s.again = now + AGAIN_MS;
  if (s.killing)
    kill_all();
  else
    ask();
}

static int wait_ms(int64_t look)
{
  int64_t due = s.order->memory > 0 ? look : INT64_MAX, now = monotonic_ms();

  if (is_about_to_go())
    return 1;
  if (is_due() && s.again < due)
    due = s.again;
  if (due == INT64_MAX)
    return -1;
  return due > now ? (int)(due - now) : 0;
}

/* Runs until the keeper has exited, which follows the end of the first
 * process. */
static void supervise(void)
{
  int64_t look = monotonic_ms() + s.order->sample_ms;
  bool going = true;

  while (going) {
    int n;

    s.at[AT_ENTER].events =
      s.first != 0 && s.streams < MOST_STREAMS ? POLLIN : 0;
    n = poll(s.at, AT_COUNT, wait_ms(look));

    if (n > 0 && (s.at[AT_OUT].revents | s.at[AT_ERR].revents) != 0)
      take_outputs();
    if (n > 0 && s.at[AT_TELL].revents != 0)
      going = take_news();
    if (n > 0 && s.at[AT_INFO].fd >= 0 && s.at[AT_INFO].revents != 0)
      take_info();
    let_go();
    if (n > 0 && s.at[AT_SIGNALS].revents != 0)
      take_signals();
    if (n > 0 && going && (s.at[AT_ENTER].revents & POLLIN) != 0)
      take_stream();
    if (s.asked >= 2 && s.first != 0)
      kill_now();
    try_again();
    if (going && s.order->memory > 0)
      look_at_memory(&look);
  }
}

/* --- after the end ------------------------------------------------------- */

/* Reads the rest of the pipes.  Their writers are dead, unless one was passed
 * to another program. */
static void drain(void)
{
  int64_t end = monotonic_ms() + DRAIN_MS;

  take_outputs();
  for (;;) {
    int64_t left = end - monotonic_ms();
    bool more = false;

    for (int i = LOG_OUT; i <= LOG_ERR; i++)
      while (take_output(i) && monotonic_ms() < end)
        more = true;
    if (s.at[AT_OUT].fd < 0 && s.at[AT_ERR].fd < 0)
      return;
    if (left <= 0)
      return;
    if (!more)
      (void)poll(s.at, 2, (int)left);
  }
}

static bool has_begun(void)
{
  char byte;

  return s.begun >= 0 && read(s.begun, &byte, 1) == 1;
}

void run_to_end(void)
{
  supervise();
  s.end->begun = has_begun();
  s.end->asked = s.asked > 0;
  serve_close(s.at[AT_ENTER].fd);
  (void)waitpid(s.keeper, NULL, 0);
  if (s.order->cleanup.texts != NULL && !s.killing)
    run_and_wait(s.order->cleanup.texts, s.order->env.texts, CLEANUP_SECONDS);
  if (!tree_kill(&found, take_end))
    logs_say("some of the task's processes do not end", "", 0);
  drain();
}
