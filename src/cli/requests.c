/* requests.c - signals that ask a waiting verb to stop */
#include "requests.h"

#include <signal.h>
#include <stddef.h>

/* Written only by the signal handler, so that no request is lost. */
static volatile sig_atomic_t requests;
static volatile sig_atomic_t last_signal;
static pai_loop *volatile loop_to_wake; /* only for the signal handler */

static void on_signal(int number)
{
  /* Every write to a closed pipe raises SIGPIPE; only the first one counts. */
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
  (void)signal(SIGXFSZ, SIG_IGN);    /* then the write returns an error */
  (void)sigfillset(&action.sa_mask); /* the handler is not interrupted */
  /* An interrupted write would lose output. */
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
    /* A signal that nohup or a shell's & has ignored stays ignored. */
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
