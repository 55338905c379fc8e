/* posix_screen.c - a screen of its own on the terminal, and its keys */
#include "cells.h"
#include "screen.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* Returns how many bytes of a line fit into `width` cells; styles take
 * none. */
static size_t fit(const char *line, size_t len, unsigned width, bool *full)
{
  cli_cell c = { .next = line, .left = len };
  unsigned column = 0;
  size_t n;

  *full = false;
  while (c.left > 0) {
    if (*c.next == '\033') { /* to the end of the style */
      n = 1 + strcspn(c.next + 1, "m");
      n = n < c.left ? n + 1 : c.left;
      c.next += n;
      c.left -= n;
      continue;
    }
    n = c.left;
    (void)cli_next_cell(&c);
    if (c.column > width) {
      *full = column == width;
      return len - n;
    }
    column = c.column;
  }
  *full = column == width;
  return len;
}

unsigned cli_draw_lines(FILE *out, const char *text, unsigned width,
                        unsigned height)
{
  unsigned rows = 0;

  for (size_t len; *text != '\0' && rows < height; rows++) {
    size_t fits;
    bool full;

    len = strcspn(text, "\n");
    fits = fit(text, len, width, &full);
    if (rows > 0)
      (void)fputc('\n', out);
    (void)fwrite(text, 1, fits, out);
    if (fits < len && memchr(text, '\033', fits) != NULL)
      (void)fputs("\033[0m", out);
    if (!full) /* otherwise it would erase the last cell */
      (void)fputs("\033[K", out);
    text += len + (text[len] == '\n');
  }
  (void)fputs("\033[J", out);
  return rows;
}

static volatile sig_atomic_t ended_by; /* signal, or 0 */
static volatile sig_atomic_t stopped;  /* Ctrl-Z */
static volatile sig_atomic_t resized;
static sigset_t open_mask;    /* signal mask during a wait */
static struct termios before; /* settings to restore */
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
      continue; /* ignored, as under nohup */
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

void cli_screen_draw(void (*print)(void *data, FILE *to), void *data)
{
  unsigned width, height;
  char *text = NULL;
  size_t len;
  FILE *to = open_memstream(&text, &len);

  if (to == NULL)
    return; /* memory was short; the next draw tries again */
  print(data, to);
  (void)fclose(to);
  cli_screen_size(&width, &height);
  (void)fputs("\033[H", stdout);
  if (text != NULL)
    (void)cli_draw_lines(stdout, text, width, height);
  free(text);
  (void)cli_written();
}

/* --- wait ---------------------------------------------------------------- */

static int64_t clock_us(void)
{
  struct timespec now;

  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static char typed[64];
static size_t ntyped;

/* Returns false at the end of input. */
static bool read_keys(void)
{
  ssize_t n = read(STDIN_FILENO, typed + ntyped, sizeof(typed) - ntyped);

  ntyped += n > 0 ? (size_t)n : 0;
  return n > 0;
}

/* Parses "\033[A", "\033OA", "\033[5~".  Sets *key and returns the bytes used;
 * 0: incomplete. */
static size_t read_sequence(int *key)
{
  static const struct {
    char last;
    int number, key;
  } keys[] = {
    { 'A', 0, CLI_KEY_UP },      { 'B', 0, CLI_KEY_DOWN },
    { 'H', 0, CLI_KEY_HOME },    { 'F', 0, CLI_KEY_END },
    { '~', 1, CLI_KEY_HOME },    { '~', 7, CLI_KEY_HOME },
    { '~', 4, CLI_KEY_END },     { '~', 8, CLI_KEY_END },
    { '~', 5, CLI_KEY_PAGE_UP }, { '~', 6, CLI_KEY_PAGE_DOWN },
  };
  int number = 0;
  size_t at = 2;

  while (at < ntyped && at < 8 && (typed[at] < '@' || typed[at] > '~')) {
    if (typed[at] >= '0' && typed[at] <= '9')
      number = number * 10 + typed[at] - '0';
    at++;
  }
  if (at == ntyped)
    return 0;
  for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
    if (keys[i].last == typed[at] && keys[i].number == number)
      *key = keys[i].key;
  return at + 1;
}

/* Returns the next key, or CLI_KEY_NONE; skips unknown sequences. */
static int take_key(void)
{
  int key = CLI_KEY_NONE;

  for (size_t len = 1; key == CLI_KEY_NONE && ntyped > 0 && len > 0;) {
    if (typed[0] == '\033' && ntyped > 1 &&
        (typed[1] == '[' || typed[1] == 'O'))
      len = read_sequence(&key);
    else
      key = typed[0] == '\b' ? CLI_KEY_BACKSPACE : (unsigned char)typed[0];
    ntyped -= len;
    memmove(typed, typed + len, ntyped);
  }
  return key;
}

/* Acts on the signals that came. */
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

static int wait_for_key(int64_t until, void (*on_size)(void *user_data),
                        void *user_data)
{
  bool readable = entered && raw;
  int key;

  while (ended_by == 0) {
    fd_set in;
    int64_t left = until - clock_us();
    struct timespec span = { .tv_sec = left / 1000000,
                             .tv_nsec = left % 1000000 * 1000 };

    /* Directly before the wait, because a sanitizer delays signals. */
    heed_signals(on_size, user_data);
    if ((key = take_key()) != CLI_KEY_NONE)
      return key;
    if (left <= 0)
      return CLI_KEY_NONE;
    FD_ZERO(&in);
    if (readable)
      FD_SET(STDIN_FILENO, &in);
    if (pselect(readable ? STDIN_FILENO + 1 : 0, &in, NULL, NULL, &span,
                &open_mask) > 0)
      readable = read_keys();
  }
  return CLI_KEY_SIGNAL;
}

int cli_screen_key(int ms, void (*on_size)(void *user_data), void *user_data)
{
  return wait_for_key(clock_us() + (int64_t)ms * 1000, on_size, user_data);
}

bool cli_screen_wait(int ms, void (*on_size)(void *user_data), void *user_data)
{
  int64_t until = clock_us() + (int64_t)ms * 1000;
  int key;

  while ((key = wait_for_key(until, on_size, user_data)) > 0)
    if (key == 'q' || key == 'Q')
      return false;
  return key == CLI_KEY_NONE;
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
