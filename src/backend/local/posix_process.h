/* posix_process.h - internal to the back end: other processes, watched and known */
#ifndef PAI_SRC_BACKEND_LOCAL_POSIX_PROCESS_H
#define PAI_SRC_BACKEND_LOCAL_POSIX_PROCESS_H

#include "base/posix_user.h"

#include <stdbool.h>
#include <stdint.h>

/* A process whose end is awaited. */
typedef struct pai__process {
  int fd; /* to be polled; -1: none */
  int64_t pid;
  bool timed;    /* `fd` is a timer, for the kernel has no pidfd */
  int64_t ticks; /* then, when it began */
} pai__process;

/* 1: it is watched; 0: there is no such process; -1: errno says why not. */
int pai__process_watch(pai__process *out, int64_t pid);
/* To be asked each time that `fd` is readable. */
bool pai__process_has_ended(const pai__process *p);
void pai__process_signal(const pai__process *p, int signal);
/* Closes the descriptor. */
void pai__process_forget(pai__process *p);

/* Kills a child and takes its end. */
void pai__local_kill(int pid);
/* Waits, but not for ever, until there is no process of this number. */
void pai__local_await_gone(int64_t pid);
/* Takes the end of a child, if nobody else did; its exit code, or 0. */
int pai__local_reap(int pid);

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
