/*
 * posix_signals.c - blocks the program's signals while a library creates a
 * thread
 *
 * Signals are for the program's own threads, except those that a thread's own
 * fault causes.
 */
#include "loop/posix_signals.h"

#include <stddef.h>

void pai__block_signals(sigset_t *before)
{
  static const int own[] = { SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                             SIGTRAP, SIGABRT, SIGSYS };
  sigset_t most;

  (void)sigfillset(&most);
  for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
    (void)sigdelset(&most, own[i]);
  (void)pthread_sigmask(SIG_BLOCK, &most, before);
}
