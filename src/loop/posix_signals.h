/* posix_signals.h - internal: signals of the program and threads of libraries */
#ifndef PAI_SRC_LOOP_POSIX_SIGNALS_H
#define PAI_SRC_LOOP_POSIX_SIGNALS_H

#include <signal.h>

/* A thread begins with the signal mask of the thread that makes it.  Called before
 * a library may make one; pthread_sigmask(SIG_SETMASK, before) undoes it. */
void pai__block_signals(sigset_t *before);

#endif
