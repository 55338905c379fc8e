/*
 * posix_try.h - internal to the back end: runs a program once, to see whether
 * it works
 *
 * It waits for the program, for 5 s at most: not on the loop's thread if that
 * may take long.
 */
#ifndef PAI_SRC_BACKEND_LOCAL_POSIX_TRY_H
#define PAI_SRC_BACKEND_LOCAL_POSIX_TRY_H

#include "backend/local/runtime.h"

#include <spawn.h>
#include <stdatomic.h>

typedef struct pai__attempt {
  const char *const *argv; /* its file with a slash */
  const pai__space *space; /* that it is to join, or NULL */
  const atomic_bool *stop; /* it is ended as soon as this is true; or NULL */
  bool other;              /* as another user, without other groups: */
  uint32_t uid, gid;
} pai__attempt;

/* posix_spawn() of a program to which every signal comes, whatever this thread
 * has blocked: 0, or what went wrong. */
int pai__spawn(pid_t *pid, const char *program,
               const posix_spawn_file_actions_t *actions, char *const *argv,
               char *const *env);
/* True: it said something, and came to an end that was not a failure.  Of a
 * host that has its children's ends thrown away, they are taken as good. */
bool pai__try_run(const pai__attempt *a, char *text, size_t size);
/* The last line of what it said, for people; cuts spaces off `text`. */
void pai__try_keep_last_line(char *out, size_t size, char *text);
/* Milliseconds of a clock that only goes on. */
int64_t pai__try_now(void);

#endif
