/* requests.c - signals as requests to stop what one waits for */
#include "requests.h"

#include <signal.h>
#include <stddef.h>

/* Written by the signal handler alone, once it hears: no request is lost. */
static volatile sig_atomic_t requests;
static volatile sig_atomic_t last_signal;
static pai_loop *volatile loop_to_wake; /* for the signal handler alone */

static void on_signal(int number)
{
  /* Each write to a reader that has gone raises it: no further request. */
  if (number == SIGPIPE && requests > 0)
    return;
  last_signal = number;
  requests = requests + (number == SIGQUIT ? 2 : 1);
  if (loop_to_wake != NULL)
    pai_loop_wake(loop_to_wake);
}

void cli_requests_hear(pai_loop *loop)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
  struct sigaction old, action = { .sa_handler = on_signal };

  loop_to_wake = loop;
  if (loop == NULL)
    return;
  (void)signal(SIGXFSZ, SIG_IGN);    /* then the write says what is wrong */
  (void)sigfillset(&action.sa_mask); /* one at a time may count */
  action.sa_flags = SA_RESTART;      /* a write cut short loses output */
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
    /* What nohup or a shell's & has ignored stays ignored. */
    if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      (void)sigaction(numbers[i], &action, NULL);
}

int cli_requests(void)
{
  return requests;
}

int cli_request_last(void)
{
  return last_signal;
}

void cli_request_make(int number)
{
  (void)raise(number);
}
