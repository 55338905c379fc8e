/*
 * fork.h - internal: what an object does in the child of a fork()
 *
 * An object with a loop, a database or threads belongs to the process that
 * made it.  It keeps pai__forks() of that moment.  In a child its calls fail
 * with PAI_EBUSY and change nothing; what frees it leaves it as it is.
 */
#ifndef PAI_SRC_BASE_FORK_H
#define PAI_SRC_BASE_FORK_H

#include "base/base.h"

/* How often this process and its ancestors were forked off. */
PAI__SHARED unsigned pai__forks(void);
/* PAI_EBUSY with the words for it. */
PAI__SHARED int pai__forked(pai_error **err);

#define PAI__IS_FORKED(object) ((object)->forks != pai__forks())
/* Like PAI__CHECK_ARG_ERR(). */
#define PAI__CHECK_PROCESS(object, err) \
  do {                                  \
    if (PAI__IS_FORKED(object))         \
      return pai__forked(err);          \
  } while (0)

/* A descriptor that children are not to keep open: a lock, a port.  It is
 * taken off the list before its owner closes it; zeroed, it is on none. */
typedef struct pai__fork_fd {
  int fd;
  struct pai__fork_fd *next, **at;
} pai__fork_fd;

PAI__SHARED void pai__fork_close(pai__fork_fd *f, int fd);
PAI__SHARED void pai__fork_keep(pai__fork_fd *f);

/* Around what another thread than the loop's does in a library that has locks of
 * its own, as SQLite: a fork() waits for its end, for in the child such a lock
 * would stay locked for ever.  Threads that hold it do not fork(). */
void pai__fork_hold(void);
void pai__fork_release(void);

#endif
