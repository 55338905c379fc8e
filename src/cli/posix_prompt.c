/* posix_prompt.c - prompts at the terminal, with and without echo */
#include "secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { MOST = 4096, SIGNALS = 4 }; /* longest line of a terminal */

static const int signals[SIGNALS] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* A pipe for the number of the signal that ended the prompt. */
static int ended[2];

static void on_signal(int number)
{
  const unsigned char byte = (unsigned char)number;
  int error = errno;

  (void)!write(ended[1], &byte, 1);
  errno = error;
}

static int ended_by(void)
{
  struct pollfd in = { .fd = ended[0], .events = POLLIN };
  unsigned char byte;

  return poll(&in, 1, 0) == 1 && read(ended[0], &byte, 1) == 1 ? byte : 0;
}

/* Reads up to the end of a line, for free(); NULL if none came, or a signal
 * did. */
static char *read_line(int tty)
{
  struct pollfd in[] = { { .fd = ended[0], .events = POLLIN },
                         { .fd = tty, .events = POLLIN } };
  char *line = malloc(MOST + 1);
  ssize_t n = -1;
  int rc;

  if (line == NULL)
    return NULL;
  do
    rc = poll(in, 2, -1);
  while (rc < 0 && errno == EINTR);
  if (rc > 0 && in[0].revents == 0)
    n = read(tty, line, MOST);
  if (n <= 0) {
    free(line);
    return NULL;
  }
  line[n] = '\0';
  line[strcspn(line, "\r\n")] = '\0';
  return line;
}

/* Asks with echo off, unless the answer may be shown.  A signal is raised
 * again after the terminal is restored. */
static char *ask(int tty, const struct termios *old, const char *what,
                 bool shown)
{
  struct sigaction before[SIGNALS], action = { .sa_handler = on_signal };
  struct termios quiet = *old;
  char *line;
  int number;

  for (size_t i = 0; i < SIGNALS; i++)
    (void)sigaction(signals[i], &action, &before[i]);
  if (!shown)
    quiet.c_lflag &= ~(tcflag_t)ECHO;
  quiet.c_cc[VSUSP] = _POSIX_VDISABLE;
  /* Echo is off before the prompt, so that early typing is neither lost nor
   * shown. */
  (void)tcsetattr(tty, TCSAFLUSH, &quiet);
  (void)fprintf(stderr, "%s: ", what);
  (void)fflush(stderr);
  line = read_line(tty);
  (void)tcsetattr(tty, TCSADRAIN, old);
  if (!shown || line == NULL)
    (void)fputc('\n', stderr);
  for (size_t i = 0; i < SIGNALS; i++)
    (void)sigaction(signals[i], &before[i], NULL);
  number = ended_by();
  if (number != 0)
    (void)raise(number);
  return line;
}

static char *prompt(const char *what, bool shown)
{
  struct termios old;
  char *line = NULL;
  int tty = -1;

  if (isatty(STDIN_FILENO) != 0 && cli_is_terminal(stderr))
    tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (tty >= 0 && tcgetattr(tty, &old) == 0 && pipe(ended) == 0) {
    line = ask(tty, &old, what, shown);
    (void)close(ended[0]);
    (void)close(ended[1]);
  }
  if (tty >= 0)
    (void)close(tty);
  return line;
}

char *cli_prompt(const char *what)
{
  return prompt(what, false);
}

/* Without a terminal, a line of standard input is taken. */
char *cli_prompt_shown(const char *what)
{
  char *line;

  if (isatty(STDIN_FILENO) != 0 && cli_is_terminal(stderr))
    return prompt(what, true);
  line = malloc(MOST + 1);
  if (line != NULL && fgets(line, MOST + 1, stdin) == NULL) {
    free(line);
    line = NULL;
  }
  if (line != NULL)
    line[strcspn(line, "\r\n")] = '\0';
  return line;
}
