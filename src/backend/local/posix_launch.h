/* posix_launch.h - internal to the back end: processes, as Linux has them */
#ifndef PAI_SRC_BACKEND_LOCAL_POSIX_LAUNCH_H
#define PAI_SRC_BACKEND_LOCAL_POSIX_LAUNCH_H

#include "backend/local/runtime.h"
#include "base/posix_user.h"

/* Where the supervisor is: `wished`, else OPENPAI_TASK of the environment,
 * else as it lies from this library.  Freed with pai__strfree(). */
int pai__local_find_program(char **out, const char *wished,
                            const pai_alloc *alloc, pai_error **err);
/* Makes that a name of the file that is there now, whatever takes its place, as
 * in an upgrade: this library and the supervisors that it starts are of one
 * version.  A descriptor to be closed, as long as which it holds; or -1, and
 * then the name stays. */
int pai__local_pin_program(char **program, const pai_alloc *alloc);

/* Starts it with an order, in a task folder that this user may enter; NULL: this
 * process may.  With `no_links` there is none in its path.  With what its job
 * shares, or NULL. */
int pai__local_spawn(int *pid, const char *program, const char *dir,
                     bool no_links, const pai__user *who,
                     const pai__space *space, const void *order, size_t size,
                     pai_error **err);
/* Keeps a descriptor's worth free until it is closed; -1. */
int pai__local_spare(void);
/* This process cannot watch a task: in the words of errno. */
int pai__local_watch_errno(pai_error **err);
/* It lacks something that it takes to watch a task: retriable. */
int pai__local_short(pai_error **err);

/* The id of the machine's present boot; "" where it has none. */
int pai__local_boot(char *out, size_t size, pai_error **err);

#endif
