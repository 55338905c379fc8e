/*
 * posix_try.h - internal to src/backend/local: runs a program once, to test
 * whether it works
 *
 * It waits for the program for up to 5 s, or as long as it is told.  Call it in
 * a worker thread if that may take long.
 */
#ifndef PAI_SRC_BACKEND_LOCAL_POSIX_TRY_H
#define PAI_SRC_BACKEND_LOCAL_POSIX_TRY_H

#include "backend/local/runtime.h"

#include <spawn.h>
#include <stdatomic.h>

typedef struct pai__backend_attempt {
  const char *const *argv; /* program's path has a slash */
  const pai__space *space; /* to join, or NULL */
  const atomic_bool *stop; /* kill the program when this becomes true; or
                              NULL */
  int most_ms;             /* 0: 5 s */
  bool other;              /* run as another user, without supplementary
                              groups */
  uint32_t uid, gid;
} pai__backend_attempt;

/* posix_spawn() with no signals blocked, whatever this thread blocks: 0 or an
 * errno. */
int pai__spawn(pid_t *pid, const char *program,
               const posix_spawn_file_actions_t *actions, char *const *argv,
               char *const *env);
/* Returns true if the program printed something and succeeded.  If the host
 * ignores SIGCHLD, success is assumed. */
bool pai__try_run(const pai__backend_attempt *a, char *text, size_t size);
/* Copies the last line of the output, for people; trims `text`. */
void pai__try_keep_last_line(char *out, size_t size, char *text);
/* Returns milliseconds of a monotonic clock. */
int64_t pai__try_now(void);

#endif
