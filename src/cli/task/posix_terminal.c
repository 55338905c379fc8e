/*
 * posix_terminal.c - this terminal: keys, size and signals, beside the loop
 *
 * Signal handlers write into a pipe, so that a single poll() waits for
 * everything.
 */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE /* TIOCGWINSZ, cfmakeraw() */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static const int numbers[] = { SIGWINCH, SIGINT, SIGQUIT, SIGTERM, SIGHUP };

enum { COUNT = sizeof(numbers) / sizeof(numbers[0]) };

static struct sigaction others[COUNT]; /* previous handlers */
static int heard[2] = { -1, -1 };
static struct termios before;
static bool raw;

static void on_signal(int number)
{
  char byte = (char)number;
  int saved = errno;

  (void)!write(heard[1], &byte, 1);
  errno = saved;
}

bool cli_terminal_open(void)
{
  struct sigaction action;

  if (pipe(heard) < 0) {
    cli_fail("cannot make a pipe: %s", strerror(errno));
    return false;
  }
  for (int i = 0; i < 2; i++) {
    (void)fcntl(heard[i], F_SETFD, FD_CLOEXEC);
    (void)fcntl(heard[i], F_SETFL, O_NONBLOCK);
  }
  memset(&action, 0, sizeof(action));
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  (void)sigfillset(&action.sa_mask);
  for (int i = 0; i < COUNT; i++)
    if (sigaction(numbers[i], NULL, &others[i]) == 0 &&
        others[i].sa_handler != SIG_IGN)
      (void)sigaction(numbers[i], &action, NULL);
  action.sa_handler = SIG_IGN; /* a closed output is an error, not a signal */
  (void)sigaction(SIGPIPE, &action, NULL);
  return true;
}

static void take_signals(cli_happened *out)
{
  unsigned char byte;

  while (read(heard[0], &byte, 1) == 1)
    if (byte == SIGWINCH) {
      out->resized = true;
    } else {
      out->signal = byte;
      out->asked = byte == SIGINT || byte == SIGQUIT;
    }
}

int cli_terminal_close(void)
{
  cli_happened left = { 0 };

  if (heard[0] < 0)
    return 0;
  cli_terminal_cooked();
  for (int i = 0; i < COUNT; i++)
    (void)sigaction(numbers[i], &others[i], NULL);
  take_signals(&left);
  for (int i = 0; i < 2; i++) {
    (void)close(heard[i]);
    heard[i] = -1;
  }
  return left.signal;
}

void cli_terminal_cooked(void)
{
  if (raw)
    (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
  raw = false;
}

bool cli_terminal_is_input(void)
{
  return isatty(STDIN_FILENO) == 1;
}

void cli_terminal_raw(void)
{
  struct termios mode;

  if (raw || tcgetattr(STDIN_FILENO, &before) < 0)
    return;
  mode = before;
  cfmakeraw(&mode);
  raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0;
}

void cli_terminal_size(uint32_t *columns, uint32_t *rows)
{
  struct winsize size;

  *columns = 80;
  *rows = 24;
  if ((ioctl(STDIN_FILENO, TIOCGWINSZ, &size) < 0 &&
       ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 &&
       ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0) ||
      size.ws_col == 0 || size.ws_row == 0)
    return;
  *columns = size.ws_col;
  *rows = size.ws_row;
}

void cli_loop_step(pai_loop *loop, int most_ms)
{
  struct pollfd fd = { .fd = pai_loop_fd(loop), .events = POLLIN };
  int timeout = pai_loop_timeout_ms(loop);

  (void)poll(&fd, 1, timeout < 0 || timeout > most_ms ? most_ms : timeout);
  (void)!pai_loop_dispatch(loop);
}

void cli_terminal_wait(pai_loop *loop, int most_ms, bool want_input,
                       cli_happened *out)
{
  struct pollfd at[] = { { pai_loop_fd(loop), POLLIN, 0 },
                         { heard[0], POLLIN, 0 },
                         { want_input ? STDIN_FILENO : -1, POLLIN, 0 } };
  int timeout = pai_loop_timeout_ms(loop);

  *out = (cli_happened){ 0 };
  if (most_ms >= 0 && (timeout < 0 || timeout > most_ms))
    timeout = most_ms;
  (void)poll(at, 3, timeout);
  take_signals(out);
  out->input = at[2].revents != 0;
  (void)!pai_loop_dispatch(loop);
}

size_t cli_terminal_read(char *bytes, size_t size)
{
  ssize_t n;

  do
    n = read(STDIN_FILENO, bytes, size);
  while (n < 0 && errno == EINTR);
  return n > 0 ? (size_t)n : 0;
}
