/* posix_signals.h - internal: blocks signals while libraries create threads */
#ifndef PAI_SRC_LOOP_POSIX_SIGNALS_H
#define PAI_SRC_LOOP_POSIX_SIGNALS_H

#include <signal.h>

/* Blocks all signals, because a new thread inherits its creator's mask.  Call
 * it before a library may create one; pthread_sigmask(SIG_SETMASK, before)
 * undoes it. */
void pai__block_signals(sigset_t *before);

#endif
