/* posix_block.c - a redrawn block of lines at the bottom of the terminal */
#include "block.h"

#include "screen.h"
#include "session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define ERASE "\r\033[J"
#define HIDE_CURSOR "\033[?25l"
#define SHOW_CURSOR "\033[?25h"
#define WRAP_OFF "\033[?7l" /* a character may be wider than computed */
#define WRAP_ON "\033[?7h"

static volatile sig_atomic_t stands; /* the block is on the screen */
/* the terminal's settings were changed */
static volatile sig_atomic_t entered;
static volatile sig_atomic_t silent;  /* echo is off */
static volatile sig_atomic_t drawing; /* signals are deferred */
static volatile sig_atomic_t came;    /* the deferred signal */
static volatile sig_atomic_t stale;
static pai_loop *volatile loop_to_wake;
static struct termios before;

/* If the terminal does not control this session, it has no foreground group
 * that this process would have to belong to. */
static bool is_ours(void)
{
  pid_t front = tcgetpgrp(STDERR_FILENO);

  return front < 0 || front == getpgrp();
}

bool cli_block_possible(void)
{
  const char *term = getenv("TERM");

  return term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0 &&
         cli_is_terminal(stdout) && cli_is_terminal(stderr) && is_ours();
}

/* --- signals ------------------------------------------------------------- */

static void put(const char *text, size_t len)
{
  (void)!write(STDERR_FILENO, text, len);
}

/* Restores the terminal; safe in signal handlers. */
static void leave(void)
{
  if (stands)
    put(ERASE, sizeof(ERASE) - 1);
  if (entered)
    put(SHOW_CURSOR, sizeof(SHOW_CURSOR) - 1);
  if (silent && is_ours())
    (void)tcsetattr(STDERR_FILENO, TCSANOW, &before);
  stands = entered = silent = 0;
}

static void wake(void)
{
  stale = 1;
  if (loop_to_wake != NULL)
    pai_loop_wake(loop_to_wake);
}

/* Performs the default action of a signal: ends here, or stops and
 * continues. */
static void give_way(int number)
{
  struct sigaction was, usual = { .sa_handler = SIG_DFL };
  sigset_t open, shut;

  leave();
  (void)sigaction(number, &usual, &was);
  (void)raise(number);
  (void)sigemptyset(&open);
  (void)sigaddset(&open, number);
  /* The signal is delivered here. */
  (void)sigprocmask(SIG_UNBLOCK, &open, &shut);
  (void)sigprocmask(SIG_SETMASK, &shut, NULL);
  (void)sigaction(number, &was, NULL);
  wake();
}

static void on_signal(int number)
{
  int saved = errno;

  if (number == SIGWINCH)
    wake();
  else if (drawing && (came == 0 || came == SIGTSTP))
    /* A signal that ends the process replaces a deferred Ctrl-Z. */
    came = number;
  else if (drawing)
    return;
  else
    give_way(number);
  errno = saved;
}

static void end_drawing(void)
{
  int number;

  drawing = 0;
  number = came;
  came = 0;
  if (number != 0)
    give_way(number);
}

void cli_block_open(pai_loop *loop)
{
  static const int numbers[] = { SIGWINCH, SIGTSTP, SIGINT,
                                 SIGTERM,  SIGHUP,  SIGQUIT };
  struct sigaction was, action = { .sa_handler = on_signal };

  loop_to_wake = loop;
  (void)sigfillset(&action.sa_mask);
  action.sa_flags = SA_RESTART; /* an interrupted write would lose output */
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
    if (sigaction(numbers[i], NULL, &was) == 0 && was.sa_handler == SIG_DFL)
      (void)sigaction(numbers[i], &action, NULL);
}

void cli_block_close(void)
{
  loop_to_wake = NULL; /* a signal may still come */
  drawing = 1;
  leave();
  end_drawing();
}

bool cli_block_is_stale(void)
{
  bool is = stale;

  stale = 0;
  return is;
}

/* --- drawing ------------------------------------------------------------- */

static void enter(void)
{
  struct termios now;

  if (entered)
    return;
  if (tcgetattr(STDERR_FILENO, &before) == 0) {
    now = before;
    /* An echoed newline would move the block. */
    now.c_lflag &= ~(tcflag_t)ECHO;
    silent = tcsetattr(STDERR_FILENO, TCSANOW, &now) == 0;
  }
  entered = 1;
}

void cli_block_size(unsigned *width, unsigned *height)
{
  uint32_t columns, rows;

  cli_terminal_size(&columns, &rows);
  *width = columns > 1 ? columns - 1 : 1;
  *height = rows > 5 ? rows / 3 : 1;
}

/* Writes the block with a single write, so that it does not flicker. */
static void draw(const char *text)
{
  unsigned width, height, rows;
  char *bytes = NULL;
  size_t len;
  FILE *to = open_memstream(&bytes, &len);

  if (to == NULL)
    return; /* memory was short; the next draw tries again */
  cli_block_size(&width, &height);
  (void)fputs("\r" HIDE_CURSOR WRAP_OFF, to);
  rows = cli_draw_lines(to, text, width, height);
  if (rows > 1)
    (void)fprintf(to, "\033[%uA", rows - 1);
  (void)fputs("\r" WRAP_ON, to);
  if (fclose(to) == 0)
    (void)fwrite(bytes, 1, len, stderr);
  free(bytes);
}

void cli_block_draw(const char *above, size_t len, const char *text)
{
  bool ours = text != NULL && cli_block_possible();

  drawing = 1;
  if (stands && (len > 0 || !ours)) {
    put(ERASE, sizeof(ERASE) - 1);
    stands = 0;
  }
  if (len > 0) {
    (void)fwrite(above, 1, len, stdout);
    (void)cli_written();
  }
  if (ours) {
    enter();
    draw(text);
    stands = 1;
  }
  end_drawing();
}

void cli_block_erase(void)
{
  cli_block_draw(NULL, 0, NULL);
}
