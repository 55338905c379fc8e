/*
 * fork.h - internal: behaviour of objects in the child of a fork()
 *
 * An object with a loop, a database or threads belongs to the process that
 * made it, and stores that process' pai__forks().  In a child its calls fail
 * with PAI_EBUSY and change nothing, and freeing it does nothing.
 */
#ifndef PAI_SRC_BASE_OS_FORK_H
#define PAI_SRC_BASE_OS_FORK_H

#include "base/base.h"

/* Returns the number of forks from the first process to this one. */
PAI__SHARED unsigned pai__forks(void);
/* Returns PAI_EBUSY with its message. */
PAI__SHARED int pai__forked(pai_error **err);

#define PAI__IS_FORKED(object) ((object)->forks != pai__forks())
/* Like PAI__CHECK_ARG_ERR(). */
#define PAI__CHECK_PROCESS(object, err) \
  do {                                  \
    if (PAI__IS_FORKED(object))         \
      return pai__forked(err);          \
  } while (0)

/* Calls of such an object start with this: clears *err and checks the
 * object. */
#define PAI__CHECK_OBJECT(object, err)         \
  do {                                         \
    if ((err) != NULL)                         \
      *(err) = NULL;                           \
    PAI__CHECK_ARG_ERR((object) != NULL, err); \
    PAI__CHECK_PROCESS(object, err);           \
  } while (0)

/* A descriptor that is closed in child processes: a lock, a port.  Call
 * pai__fork_keep() before its owner closes it; a zeroed one is not listed. */
typedef struct pai__fork_fd {
  int fd;
  struct pai__fork_fd *next, **at;
} pai__fork_fd;

PAI__SHARED void pai__fork_close(pai__fork_fd *f, int fd);
PAI__SHARED void pai__fork_keep(pai__fork_fd *f);

/* Delays fork() while another thread than the loop's is inside a library with
 * locks of its own, as SQLite: in the child such a lock would stay locked for
 * ever.  Threads between these two calls must not fork(). */
void pai__fork_hold(void);
void pai__fork_release(void);

#endif
