/* posix_launch.h - internal to src/backend/local: starts supervisors, on
 * Linux */
#ifndef PAI_SRC_BACKEND_LOCAL_POSIX_LAUNCH_H
#define PAI_SRC_BACKEND_LOCAL_POSIX_LAUNCH_H

#include "backend/local/runtime.h"
#include "base/os/posix_user.h"

/* Finds the supervisor: `wished`, else OPENPAI_TASK of the environment, else
 * relative to this library.  Free it with pai__strfree(). */
int pai__local_find_program(char **out, const char *wished,
                            const pai_alloc *alloc, pai_error **err);
/* Opens the program and replaces *program by a path to the open file, so that
 * an upgrade cannot mix versions of this library and its supervisors.  Returns
 * the descriptor, which must stay open; or -1, and then the path is
 * unchanged. */
int pai__local_pin_program(char **program, const pai_alloc *alloc);

/* Starts a supervisor with an order, in a task folder that `who` may enter;
 * NULL: this process may.  `no_links`: refuse symbolic links in its path.
 * space: what its job shares, or NULL. */
int pai__local_spawn(int *pid, const char *program, const char *dir,
                     bool no_links, const pai__user *who,
                     const pai__space *space, const void *order, size_t size,
                     pai_error **err);
/* Returns a descriptor that keeps one free until it is closed; or -1. */
int pai__local_spare(void);
/* Sets the error for a task that cannot be watched, by errno. */
int pai__local_watch_errno(pai_error **err);
/* This process lacks resources to watch a task: a retriable error. */
int pai__local_short(pai_error **err);

/* Writes the id of the current boot; "" if the machine has none. */
int pai__local_boot(char *out, size_t size, pai_error **err);

#endif
