/* posix_process.h - internal to src/backend/local: watches and inspects other
 * processes */
#ifndef PAI_SRC_BACKEND_LOCAL_POSIX_PROCESS_H
#define PAI_SRC_BACKEND_LOCAL_POSIX_PROCESS_H

#include "base/os/posix_user.h"

#include <stdbool.h>
#include <stdint.h>

/* A process whose end is awaited. */
typedef struct pai__process {
  int fd; /* for polling; -1: none */
  int64_t pid;
  bool timed;    /* `fd` is a timer, for the kernel has no pidfd */
  int64_t ticks; /* then, its start time */
} pai__process;

/* 1: it is watched; 0: no such process; -1: errno. */
int pai__process_watch(pai__process *out, int64_t pid);
/* Call it each time `fd` is readable. */
bool pai__process_has_ended(const pai__process *p);
void pai__process_signal(const pai__process *p, int signal);
/* Closes the descriptor. */
void pai__process_forget(pai__process *p);

/* Kills a child and reaps it. */
void pai__local_kill(int pid);
/* Waits a limited time until there is no process of this pid. */
void pai__local_await_gone(int64_t pid);
/* Reaps a child, if nobody else did; returns its exit code, or 0. */
int pai__local_reap(int pid);

/* Return the start time of a process, and its session; 0: no such process; -1:
 * this process lacks resources to look (errno). */
int64_t pai__local_start_ticks(int64_t pid);
int64_t pai__local_session(int64_t pid);
/* Returns 1 if the process belongs to that user, else 0; -1 as above.  A
 * process that has gained rights does not.  NULL: 1 for all. */
int pai__local_is_of(int64_t pid, const pai__user *who);
/* Returns 1 if the process has that file of a folder open, else 0; -1 as
 * above. */
int pai__local_has_open(int64_t pid, const char *dir, const char *name);

#endif
