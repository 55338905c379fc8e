/*
 * stream.c - a stream into the task: a command in it, or its input
 *
 * Each stream has a process of its own, a child of the supervisor: so what a
 * command starts belongs to the task and ends with it.  It buffers one frame
 * in each direction, and reads no more until that was sent: a slow side makes
 * the other wait.
 */
#define _GNU_SOURCE
#include "frame.h"
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum {
  PIECE = 32768,       /* bytes of output */
  MOST_LEFT = 64,      /* pieces left by an ended command that are still
                          sent */
  GRACE_MS = 3000,     /* from SIGHUP to SIGKILL */
  PART_MS = 3000,      /* a peer is dropped after this time of silence */
  PART_MOST_MS = 60000 /* or after this time in total */
};

enum { AT_PEER, AT_INPUT, AT_OUT, AT_ERR, AT_TELL, AT_COUNT };

static struct stream {
  struct pollfd at[AT_COUNT];
  char in[PAI_FRAME_HEAD + PAI_FRAME_MOST]; /* as received */
  size_t in_len;
  size_t taken; /* bytes of the first INPUT that were passed on */
  char out[PAI_FRAME_HEAD + PIECE]; /* to be sent */
  size_t out_len, out_sent;
  bool tty, attached;
  bool gone;       /* the peer has left */
  bool over;       /* the command has ended, with: */
  bool input_over; /* no more input will come */
  int wait_status;
  int failed, failure; /* enum news_kind, errno */
  pid_t command;       /* leader of its process group; 0: not known yet */
  uint64_t signals;    /* that came before it was known, a bit for each */
} t;

/* --- sending ------------------------------------------------------------- */

static void put(int type, const char *bytes, size_t len)
{
  pai_frame_head(t.out, type, len);
  if (bytes != NULL)
    memcpy(t.out + PAI_FRAME_HEAD, bytes, len);
  t.out_len = PAI_FRAME_HEAD + len;
  t.out_sent = 0;
}

static void send_some(void)
{
  ssize_t n = send(t.at[AT_PEER].fd, t.out + t.out_sent,
                   t.out_len - t.out_sent, MSG_NOSIGNAL | MSG_DONTWAIT);

  if (n > 0)
    t.out_sent += (size_t)n;
  else if (n < 0 && errno != EAGAIN && errno != EINTR)
    t.gone = true;
  if (t.out_sent == t.out_len)
    t.out_sent = t.out_len = 0;
}

static void send_all(void)
{
  while (t.out_len > 0 && !t.gone) {
    struct pollfd peer = { t.at[AT_PEER].fd, POLLOUT, 0 };

    (void)poll(&peer, 1, -1);
    send_some();
  }
}

static void say_started(void)
{
  char flags = t.tty ? PAI_BEGIN_TTY : 0;

  put(PAI_FRAME_STARTED, &flags, 1);
}

/* Over TCP, closing a socket with unread input discards data that was not
 * delivered yet: so the peer must close first. */
static void part(void)
{
  struct pollfd peer = { t.at[AT_PEER].fd, POLLIN, 0 };
  int64_t end = monotonic_ms() + PART_MOST_MS;
  char unread[4096];

  (void)shutdown(peer.fd, SHUT_WR);
  while (!t.gone && monotonic_ms() < end && poll(&peer, 1, PART_MS) > 0 &&
         recv(peer.fd, unread, sizeof(unread), MSG_DONTWAIT) > 0)
    continue;
}

/* Sends END. */
static void say_end(int by, int number, const char *why, int error)
{
  line l = { .len = 0 };
  char head[2] = { (char)by, (char)number };

  line_add(&l, why);
  if (error != 0) {
    line_add(&l, ": ");
    line_add(&l, strerror(error));
  }
  send_all();
  put(PAI_FRAME_END, NULL, sizeof(head) + l.len);
  memcpy(t.out + PAI_FRAME_HEAD, head, sizeof(head));
  memcpy(t.out + PAI_FRAME_HEAD + sizeof(head), l.text, l.len);
  send_all();
  part();
}

_Noreturn static void refuse(int code, const char *why, int error)
{
  say_end(PAI_FRAME_BY_FAILURE, code, why, error);
  _exit(0);
}

/* --- receiving ----------------------------------------------------------- */

static void drop(size_t size)
{
  memmove(t.in, t.in + size, t.in_len - size);
  t.in_len -= size;
  t.taken = 0;
}

/* The first message may contain another socket, to whose owner this process
 * then talks: so a server passes its clients on. */
static void take_socket(struct msghdr *message)
{
  struct cmsghdr *c = CMSG_FIRSTHDR(message);
  int fd;

  if (c == NULL || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
      c->cmsg_len < CMSG_LEN(sizeof(fd)))
    return;
  memcpy(&fd, CMSG_DATA(c), sizeof(fd));
  (void)close(t.at[AT_PEER].fd);
  t.at[AT_PEER].fd = fd;
  drop(1); /* what follows it came on the other socket */
}

static void receive_some(void)
{
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  struct iovec room = { t.in + t.in_len, sizeof(t.in) - t.in_len };
  struct msghdr message = { .msg_iov = &room,
                            .msg_iovlen = 1,
                            .msg_control = control,
                            .msg_controllen = sizeof(control) };
  ssize_t n =
    recvmsg(t.at[AT_PEER].fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

  if (n > 0) {
    t.in_len += (size_t)n;
    take_socket(&message);
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    t.gone = true;
  }
}

static void set_size(const pai_frame *f)
{
  struct winsize size = { 0 };

  if (f->len < 4 || !t.tty)
    return;
  size.ws_col = (unsigned short)pai_frame_pair(f->bytes);
  size.ws_row = (unsigned short)pai_frame_pair(f->bytes + 2);
  (void)ioctl(t.at[AT_INPUT].fd, TIOCSWINSZ, &size);
}

/* Before its setsid() the command has no group of its own.  Then the process
 * itself gets the signal, which stays pending while it blocks all, unless
 * setsid() was called since the first kill(). */
static void send_signal(int number)
{
  if (kill(-t.command, number) < 0)
    (void)kill(getpgid(t.command) == getpgrp() ? t.command : -t.command,
               number);
}

static void pass_signal(const pai_frame *f)
{
  int number = f->len > 0 ? f->bytes[0] : 0;

  if (number < 1 || number > 64)
    return;
  if (t.command > 0)
    send_signal(number);
  else
    t.signals |= (uint64_t)1 << (number - 1);
}

/* Ends the command's input: for a terminal by a character, for a pipe by
 * closing. */
static void end_input(void)
{
  struct termios mode;

  if (t.tty) {
    if (tcgetattr(t.at[AT_INPUT].fd, &mode) == 0)
      (void)!write(t.at[AT_INPUT].fd, &mode.c_cc[VEOF], 1);
    return;
  }
  t.input_over = true;
  if (t.at[AT_INPUT].fd >= 0)
    (void)close(t.at[AT_INPUT].fd);
  t.at[AT_INPUT].fd = -1;
}

/* False: some of it is left. */
static bool hand_on(const pai_frame *f)
{
  while (t.taken < f->len) {
    ssize_t n =
      t.at[AT_INPUT].fd < 0
        ? (ssize_t)(f->len - t.taken) /* nobody reads it */
        : write(t.at[AT_INPUT].fd, f->bytes + t.taken, f->len - t.taken);
    if (n < 0 && errno == EAGAIN)
      return false;
    if (n < 0 && errno != EINTR) {
      (void)close(t.at[AT_INPUT].fd);
      t.at[AT_INPUT].fd = -1;
    }
    if (n > 0)
      t.taken += (size_t)n;
  }
  return true;
}

/* True: input waits for its reader. */
static bool take_frames(void)
{
  pai_frame f;
  long size;

  while (!t.gone && (size = pai_frame_read(&f, t.in, t.in_len)) != 0) {
    if (size < 0) {
      t.gone = true; /* not this protocol */
      return false;
    }
    switch (f.type) {
    case PAI_FRAME_INPUT:
      if (!hand_on(&f))
        return true;
      break;
    case PAI_FRAME_INPUT_END: end_input(); break;
    case PAI_FRAME_SIZE: set_size(&f); break;
    case PAI_FRAME_SIGNAL: pass_signal(&f); break;
    default: t.gone = true; return false;
    }
    drop((size_t)size);
  }
  return false;
}

/* --- the command's output ------------------------------------------------ */

/* False: there is nothing now. */
static bool take_output(int which)
{
  ssize_t n;

  if (t.at[which].fd < 0)
    return false;
  n = output_read(t.at[which].fd, t.out + PAI_FRAME_HEAD, PIECE);
  if (n > 0) {
    put(which == AT_OUT ? PAI_FRAME_OUTPUT : PAI_FRAME_ERRORS, NULL,
        (size_t)n);
    return true;
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    return false;
  if (!t.tty || which != AT_OUT) /* else it is also the input */
    (void)close(t.at[which].fd);
  t.at[which].fd = -1;
  return false;
}

static void take_news(void)
{
  news n;
  ssize_t size = read(t.at[AT_TELL].fd, &n, sizeof(n));

  if (size < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (size == (ssize_t)sizeof(n) && n.kind == NEWS_STARTED) {
    t.command = n.value;
    for (int number = 1; number <= 64; number++)
      if ((t.signals >> (number - 1) & 1) != 0)
        send_signal(number);
    return;
  }
  t.over = true;
  t.wait_status = SIGKILL; /* unless the real status is known */
  if (size != (ssize_t)sizeof(n))
    return;
  if (n.kind == NEWS_ENDED) {
    t.wait_status = n.value;
  } else {
    t.failed = n.kind;
    t.failure = n.value;
  }
}

/* --- both directions ----------------------------------------------------- */

static void wait_for_both(bool input_waits)
{
  struct pollfd at[AT_COUNT];

  memcpy(at, t.at, sizeof(at));
  at[AT_PEER].events =
    (short)(POLLRDHUP |
            (!input_waits && t.in_len < sizeof(t.in) ? POLLIN : 0) |
            (t.out_len > 0 ? POLLOUT : 0));
  at[AT_INPUT].events = POLLOUT;
  if (!input_waits)
    at[AT_INPUT].fd = -1; /* a lack of readers is noticed on writing */
  for (int i = AT_OUT; i <= AT_TELL; i++) {
    at[i].events = POLLIN;
    if (t.out_len > 0)
      at[i].fd = -1; /* one stream after the other */
  }
  (void)poll(at, AT_COUNT, -1);
  for (int i = 0; i < AT_COUNT; i++)
    t.at[i].revents = at[i].revents;
}

/* Runs until the command has ended or the peer has left. */
static void carry(void)
{
  while (!t.gone && !t.over && !(t.attached && t.input_over)) {
    bool waits = take_frames();

    if (t.gone || (t.attached && t.input_over))
      return;
    wait_for_both(waits);
    if ((t.at[AT_PEER].revents & (POLLHUP | POLLERR | POLLRDHUP)) != 0 &&
        (t.at[AT_PEER].revents & POLLIN) == 0)
      t.gone = true;
    if ((t.at[AT_PEER].revents & POLLIN) != 0)
      receive_some();
    if (t.out_len > 0)
      send_some();
    if (t.out_len == 0 && t.at[AT_OUT].revents != 0)
      (void)take_output(AT_OUT);
    if (t.out_len == 0 && t.at[AT_ERR].revents != 0)
      (void)take_output(AT_ERR);
    if (t.at[AT_TELL].revents != 0)
      take_news();
  }
}

/* --- commands ------------------------------------------------------------ */

/* theirs: the command's descriptors 0 to 2. */
static int open_pipes(int theirs[3])
{
  int in[2], out[2], err[2];

  if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 ||
      pipe2(err, O_CLOEXEC) < 0)
    return -1;
  theirs[0] = in[0];
  theirs[1] = out[1];
  theirs[2] = err[1];
  t.at[AT_INPUT].fd = in[1];
  t.at[AT_OUT].fd = out[0];
  t.at[AT_ERR].fd = err[0];
  return 0;
}

static void open_files(int theirs[3], const pai_begin *b)
{
  int fds[2];

  t.tty = (b->flags & PAI_BEGIN_TTY) != 0;
  if (!t.tty) {
    if (open_pipes(theirs) < 0)
      refuse(126, "cannot create a pipe", errno);
  } else {
    if (terminal_open(fds, b->columns, b->rows) < 0)
      refuse(126, "cannot open a terminal", errno);
    t.at[AT_INPUT].fd = t.at[AT_OUT].fd = fds[0];
    theirs[0] = theirs[1] = theirs[2] = fds[1];
  }
  for (int i = AT_INPUT; i <= AT_ERR; i++)
    if (t.at[i].fd >= 0)
      (void)fcntl(t.at[i].fd, F_SETFL, O_NONBLOCK);
}

static void nobody(pid_t pid, int status)
{
  (void)pid;
  (void)status;
}

/* Reads and drops output, so that the command can continue writing. */
static void discard_some(int ms)
{
  (void)poll(t.at + AT_OUT, AT_COUNT - AT_OUT, ms);
  for (int i = AT_OUT; i <= AT_ERR; i++)
    if (take_output(i))
      t.out_len = 0;
  take_news();
}

/* The client has left: ends the command. */
_Noreturn static void end_command(void)
{
  int64_t end = monotonic_ms() + GRACE_MS, left;
  static tree those;

  if (t.at[AT_INPUT].fd >= 0)
    (void)close(t.at[AT_INPUT].fd);
  if (t.tty) /* closing the only master hangs the terminal up */
    t.at[AT_OUT].fd = -1;
  if (t.command > 0)
    (void)kill(-t.command, SIGHUP);
  for (int i = AT_OUT; i < AT_COUNT; i++)
    t.at[i].events = POLLIN;
  while (!t.over && (left = end - monotonic_ms()) > 0)
    discard_some((int)left);
  (void)tree_kill(&those, nobody);
  _exit(0);
}

static void say_how(const char *program)
{
  line why = { .len = 0 };

  if (t.failed == 0 && WIFSIGNALED(t.wait_status)) {
    say_end(PAI_FRAME_BY_SIGNAL, WTERMSIG(t.wait_status), "", 0);
    return;
  }
  if (t.failed == 0) {
    say_end(PAI_FRAME_BY_EXIT, WEXITSTATUS(t.wait_status), "", 0);
    return;
  }
  line_add(&why, t.failed == NEWS_ENTER ? "cannot enter the task's sandbox"
                 : t.failed == NEWS_WORKDIR
                   ? "cannot change to the task's working folder"
                   : "cannot start ");
  line_add(&why, t.failed == NEWS_EXEC ? program : "");
  why.text[why.len] = '\0';
  say_end(PAI_FRAME_BY_FAILURE,
          t.failed == NEWS_EXEC && t.failure == ENOENT ? 127 : 126, why.text,
          t.failure);
}

_Noreturn static void run_command(const pai_order *o, pid_t first,
                                  const pai_begin *b)
{
  static enter_words words;
  enter_files files;
  int tell[2];

  if (!enter_choose(&words, o, b))
    refuse(126, "the command has too many words", 0);
  open_files(files.theirs, b);
  if (pipe2(tell, O_CLOEXEC) < 0)
    refuse(126, "cannot create a pipe", errno);
  (void)fcntl(tell[0], F_SETFL, O_NONBLOCK);
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
  t.at[AT_TELL].fd = tell[0];
  for (int i = 0; i < AT_COUNT; i++)
    files.ours[i] =
      i > AT_INPUT && t.at[i].fd == t.at[AT_INPUT].fd ? -1 : t.at[i].fd;
  files.tty = t.tty;
  files.tell = tell[1];
  if (enter_start(o, first, &words, &files) < 0)
    refuse(126, "cannot start a process", errno);
  groups_give_up(o);
  for (int i = 0; i < 3; i++)
    if (i == 0 || !t.tty)
      (void)close(files.theirs[i]);
  (void)close(tell[1]);
  say_started();
  carry();
  if (t.gone)
    end_command();
  /* The command has ended and all its output is in the pipes.  Other processes
   * may have them open and continue writing. */
  for (int i = AT_OUT; i <= AT_ERR; i++)
    for (int n = 0; n < MOST_LEFT && !t.gone; n++) {
      send_all();
      if (!take_output(i))
        break;
    }
  say_how(words.argv[0]);
  _exit(0);
}

/* --- input of the task --------------------------------------------------- */

_Noreturn static void attach(const pai_order *o, const task_input *input,
                             pid_t first)
{
  groups_give_up(o);
  if (input->fd < 0)
    refuse(1, "the task has no open standard input", 0);
  t.attached = true;
  t.tty = input->tty;
  t.command = first;
  t.at[AT_INPUT].fd = input->fd;
  (void)fcntl(input->fd, F_SETFL, O_NONBLOCK);
  say_started();
  carry();
  if (t.gone)
    _exit(0);
  say_end(PAI_FRAME_BY_EXIT, 0, "", 0);
  _exit(STREAM_INPUT_END);
}

/* --- start --------------------------------------------------------------- */

/* Keeps the frame with its texts; later frames go after it. */
static void await_begin(pai_begin *b)
{
  static char kept[PAI_FRAME_HEAD + PAI_FRAME_MOST];
  pai_frame f;
  long size;

  while ((size = pai_frame_read(&f, t.in, t.in_len)) == 0 && !t.gone) {
    (void)poll(t.at, 1, -1);
    receive_some();
  }
  if (size <= 0)
    _exit(0);
  memcpy(kept, t.in, (size_t)size);
  (void)pai_frame_read(&f, kept, (size_t)size);
  drop((size_t)size);
  if (!pai_begin_read(b, &f))
    refuse(126, "this version does not support this kind of stream", 0);
}

_Noreturn void stream_run(int peer, const pai_order *o,
                          const task_input *input, pid_t first)
{
  pai_begin begin;

  tree_learn(0, 0); /* only the supervisor uses it */
  for (int i = 0; i < AT_COUNT; i++)
    t.at[i].fd = -1;
  t.at[AT_PEER] = (struct pollfd){ peer, POLLIN, 0 };
  await_begin(&begin);
  if ((begin.flags & PAI_BEGIN_ATTACH) != 0)
    attach(o, input, first);
  if (input->fd >= 0)
    (void)close(input->fd);
  run_command(o, first, &begin);
}
