/* posix_screen.c - a screen of one's own on the terminal, and its keys */
#include "screen.h"

#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t ended_by; /* a signal, or 0 */
static volatile sig_atomic_t stopped;  /* Ctrl-Z */
static volatile sig_atomic_t resized;
static sigset_t open_mask;    /* while one waits */
static struct termios before; /* the terminal as it was */
static bool raw, entered;

static void on_signal(int sig)
{
  if (sig == SIGWINCH)
    resized = 1;
  else if (sig == SIGTSTP)
    stopped = 1;
  else
    ended_by = sig;
}

void cli_screen_catch(void)
{
  static const int sigs[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP };
  struct sigaction act, was;
  sigset_t shut;

  memset(&act, 0, sizeof(act));
  act.sa_handler = on_signal;
  (void)sigemptyset(&act.sa_mask);
  (void)sigemptyset(&shut);
  for (size_t i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++) {
    if (sigaction(sigs[i], NULL, &was) == 0 && was.sa_handler == SIG_IGN)
      continue; /* as under nohup */
    (void)sigaction(sigs[i], &act, NULL);
    (void)sigaddset(&shut, sigs[i]);
  }
  (void)sigprocmask(SIG_BLOCK, &shut, &open_mask);
}

void cli_screen_enter(void)
{
  struct termios now;

  if (tcgetattr(STDIN_FILENO, &before) == 0) {
    now = before;
    now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    now.c_cc[VMIN] = 0;
    now.c_cc[VTIME] = 0;
    raw = tcsetattr(STDIN_FILENO, TCSANOW, &now) == 0;
  }
  (void)fputs("\033[?1049h\033[?25l\033[2J", stdout);
  (void)fflush(stdout);
  entered = true;
}

void cli_screen_leave(void)
{
  if (!entered)
    return;
  entered = false;
  (void)fputs("\033[?25h\033[?1049l", stdout);
  (void)fflush(stdout);
  if (raw)
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
  raw = false;
}

void cli_screen_size(unsigned *width, unsigned *height)
{
  struct winsize size;

  *width = 80;
  *height = 24;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 &&
      size.ws_row > 0) {
    *width = size.ws_col;
    *height = size.ws_row;
  }
}

/* --- waiting ----------------------------------------------------------------- */

static int64_t clock_us(void)
{
  struct timespec now;

  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Whether what was typed says that it is enough. */
static bool typed_quit(bool *readable)
{
  char keys[64];
  ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

  if (n <= 0)
    *readable = false;
  for (ssize_t i = 0; i < n; i++)
    if (keys[i] == 'q' || keys[i] == 'Q')
      return true;
  return false;
}

/* What signals have asked for meanwhile. */
static void heed_signals(void (*on_size)(void *user_data), void *user_data)
{
  bool screen = entered;

  if (stopped) {
    stopped = 0;
    cli_screen_leave();
    (void)raise(SIGSTOP);
    if (screen)
      cli_screen_enter();
    resized = 1;
  }
  if (resized && screen) {
    resized = 0;
    on_size(user_data);
  }
}

bool cli_screen_wait(int ms, void (*on_size)(void *user_data), void *user_data)
{
  int64_t until = clock_us() + (int64_t)ms * 1000;
  bool readable = entered && raw;

  while (ended_by == 0) {
    fd_set in;
    int64_t left = until - clock_us();
    struct timespec span = { .tv_sec = left / 1000000,
                             .tv_nsec = left % 1000000 * 1000 };

    /* Right before it waits: a sanitizer delivers signals when it likes. */
    heed_signals(on_size, user_data);
    if (left <= 0)
      return true;
    FD_ZERO(&in);
    if (readable)
      FD_SET(STDIN_FILENO, &in);
    if (pselect(readable ? STDIN_FILENO + 1 : 0, &in, NULL, NULL, &span,
                &open_mask) > 0 &&
        typed_quit(&readable))
      return false;
  }
  return false;
}

void cli_screen_over(void)
{
  int number = ended_by;

  cli_screen_leave();
  if (number == 0 || number == SIGINT)
    return;
  (void)cli_written();
  (void)signal(number, SIG_DFL);
  (void)sigprocmask(SIG_SETMASK, &open_mask, NULL);
  (void)raise(number);
}
