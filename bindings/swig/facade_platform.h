/* facade_platform.h - a platform with its loop, for the facade's own files */
#ifndef OPENPAI_BINDINGS_FACADE_PLATFORM_H
#define OPENPAI_BINDINGS_FACADE_PLATFORM_H

#include "shared.h"

#include <pthread.h>
#include <stdatomic.h>

struct Platform {
  pai_loop *loop;
  pai_platform *platform; /* NULL: closed */
  listener *listener;     /* NULL: nobody is told any more */
  pai_job_id *live;       /* jobs whose end the listener was not told */
  size_t nlive, cap;
  pai_job_id waited;     /* for its end, */
  job_state ended;       /* which may be forgotten as soon as it is told */
  bool failed;           /* the listener keeps an error */
  pai_job_id failed_job; /* its event was the reason; 0: none */
  bool interrupted;      /* in this step, by a signal */
  bool closing;
  bool durable;
  struct LogReader *logs; /* that are open */
  struct Follower *followers;
  struct Exec *execs;      /* commands that are not over */
  struct FileCopy *copies; /* to files of jobs, that are not over */
  bool waiting;            /* in a call that calls back */
  pthread_mutex_t owner;   /* recursive: a callback calls from its thread */
  atomic_int held;         /* calls that have it; not who forgets a command */
};

/* One thread at a time.  False: a failure. */
bool platform_take(Platform *p, failure *f);
void platform_give(Platform *p);

/* The same for calls that call back.  Leaving hands a kept error to the
 * interpreter. */
bool platform_enter(Platform *p, failure *f);
void platform_leave(Platform *p, failure *f);

/* Waits once, for at most so long (-1: as long as it takes), and runs what is
 * due.  1: there is more to wait for; 0: there is not; PAI_EUSER: a signal's
 * handler has raised. */
int platform_step(Platform *p, int most_ms);

/* Room for one more job in `live`; false without memory. */
bool platform_room(Platform *p);
/* From now on the end of a job is waited for, if it has not come. */
void platform_expect(Platform *p, pai_job_id job);

/* What platform_synced(), a pai_sync_cb, is for: it calls once. */
typedef struct platform_promise {
  failure *f;
  bool kept;
} platform_promise;

void platform_synced(void *user_data, int status, const pai_error *err);
/* Until it has called, whatever signals say meanwhile: it points here. */
void platform_await(Platform *p, platform_promise *promise);

/* Until all that was asked for is in the database, if there is one.  Within
 * platform_enter(). */
void platform_sync(Platform *p, failure *f);

/* Ends all readers of logs (facade_logs.c). */
void logs_close(Platform *p);
/* Ends all copies to files of jobs (facade_files.c). */
void copies_close(Platform *p);
/* Those that their scripts have forgotten in other threads. */
void logs_forget(Platform *p);

/* The platform is freed; they keep what they have (facade_follow.c). */
void followers_leave(Platform *p);
/* Those that their scripts have forgotten in other threads. */
void followers_forget(Platform *p);

#endif /* OPENPAI_BINDINGS_FACADE_PLATFORM_H */
