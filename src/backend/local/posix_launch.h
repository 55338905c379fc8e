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
/* PAI_OK; PAI_ENOTSUP: the kernel has no such descriptors. */
int pai__local_can_watch(pai_error **err);
/* A descriptor that is readable once the process has ended; -1: errno. */
int pai__local_pidfd(int64_t pid);
int pai__local_pidfd_errno(pai_error **err);
/* Did that fail because there is no such process any more?  Or because this
 * process lacks something? */
bool pai__local_is_gone(void);
bool pai__local_is_short(void);
/* Keeps a descriptor of this number's worth free until it is closed; -1. */
int pai__local_spare(void);
/* This process lacks something that it takes to watch a task: retriable. */
int pai__local_short(pai_error **err);
void pai__local_pidfd_signal(int pidfd, int signal);
/* Kills a child and takes its end. */
void pai__local_kill(int pid);
/* Waits, but not for ever, until there is no process of this number. */
void pai__local_await_gone(int64_t pid);
/* Takes the end of a child, if nobody else did; its exit code, or 0. */
int pai__local_reap(int pid);

/* The id of the machine's present boot; "" where it has none. */
int pai__local_boot(char *out, size_t size, pai_error **err);
/* When a process began, and its session's number; 0: there is none such; -1:
 * this process lacks what it takes to look (errno). */
int64_t pai__local_start_ticks(int64_t pid);
int64_t pai__local_session(int64_t pid);
/* 1 if it is that user's, else 0; -1 as above.  One that has more rights by now
 * is not.  NULL: all are. */
int pai__local_is_of(int64_t pid, const pai__user *who);
/* 1 if the process has that file of a folder open, else 0; -1 as above. */
int pai__local_has_open(int64_t pid, const char *dir, const char *name);

#endif
