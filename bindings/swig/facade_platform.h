/* facade_platform.h - a platform with its loop, for the facade's own files */
#ifndef OPENPAI_BINDINGS_FACADE_PLATFORM_H
#define OPENPAI_BINDINGS_FACADE_PLATFORM_H

#include "shared.h"

#include <pthread.h>
#include <stdatomic.h>

struct Platform {
  pai_loop *loop;
  pai_platform *platform; /* NULL: closed */
  listener *listener;     /* NULL: events are not delivered */
  pai_job_id *live;       /* jobs whose final event has not come */
  size_t nlive, cap;
  pai_job_id waited;     /* the job that facade_wait() waits for */
  job_state ended;       /* its state, kept in case it is forgotten */
  bool failed;           /* the listener keeps an error */
  pai_job_id failed_job; /* job whose event caused the error; 0: none */
  bool interrupted;      /* a signal came in this step */
  bool closing;
  bool durable;
  struct LogReader *logs; /* open readers */
  struct Follower *followers;
  struct Exec *execs;    /* commands that are not over */
  bool waiting;          /* in a call that runs callbacks */
  pthread_mutex_t owner; /* recursive, for callbacks */
  atomic_int held;       /* calls with `owner`, without cancels and frees */
};

/* Locks the platform for the calling thread. Returns false after a failure. */
bool platform_take(Platform *p, failure *f);
void platform_give(Platform *p);

/* The same for calls that run callbacks. platform_leave() hands a kept error
 * to the interpreter. */
bool platform_enter(Platform *p, failure *f);
void platform_leave(Platform *p, failure *f);

/* Waits once, for at most `most_ms` (-1: no limit) and never longer than some
 * 250 ms, and runs what is due. Returns 1 if there is more to wait for, 0 if
 * not, PAI_EUSER if a signal handler raised an error. */
int platform_step(Platform *p, int most_ms);

/* Makes space for one more job in `live`. Returns false without memory. */
bool platform_room(Platform *p);
/* Adds a job to `live`, if it is not over. */
void platform_expect(Platform *p, pai_job_id job);

/* platform_synced() is a pai_sync_cb with a platform_promise as user data. */
typedef struct platform_promise {
  failure *f;
  bool kept;
} platform_promise;

void platform_synced(void *user_data, int status, const pai_error *err);
/* Runs the loop until platform_synced() was called. A signal does not end the
 * wait, because the promise is on the caller's stack. */
void platform_await(Platform *p, platform_promise *promise);

/* Waits until all earlier requests are in the database, if there is one. To be
 * called between platform_enter() and platform_leave(). */
void platform_sync(Platform *p, failure *f);

/* Closes all log readers (facade/logs.c). */
void logs_close(Platform *p);
/* Frees log readers that scripts have freed in other threads. */
void logs_forget(Platform *p);

/* Detaches all followers before the platform is freed; their lines can still
 * be read (facade/follow.c). */
void followers_leave(Platform *p);
/* Frees followers that scripts have freed in other threads. */
void followers_forget(Platform *p);

#endif /* OPENPAI_BINDINGS_FACADE_PLATFORM_H */
