/*
 * backend.h - internal: what carries launch plans out
 *
 * One table per back end.  A back end lives on the loop, reports only from
 * the loop and never from inside a call, and knows nothing of jobs: to it a
 * task is a number its caller chose.
 */
#ifndef PAI_SRC_BACKEND_BACKEND_H
#define PAI_SRC_BACKEND_BACKEND_H

#include "base/base.h"
#include "job/plan.h"
#include "loop/loop.h"

/* What a back end tells its owner. */
typedef struct pai__backend_host {
  void *user_data;
  const pai_alloc *alloc; /* outlives the back end */
  const pai__log *log;    /* likewise */
  pai_loop *loop;
  void (*output)(void *user_data, uint64_t task, int stream, const char *data,
                 size_t len);
  /* Last word on a task that was started.  `code` as a shell gives it: the
   * exit code, or 128 + the signal's number; `text` "" or why. */
  void (*ended)(void *user_data, uint64_t task, int code, const char *text);
} pai__backend_host;

typedef struct pai__backend_ops {
  size_t struct_size;
  const char *name;
  int (*open)(void **state, const pai__backend_host *host, pai_error **err);
  /* Starts a task; `plan` is not kept.  On failure `ended` is not called. */
  int (*start)(void *state, uint64_t task, const pai__plan *plan,
               pai_error **err);
  /* Asks all processes of the task to end, or ends them now. */
  void (*stop)(void *state, uint64_t task, bool now);
  /* May a task of this machine listen on `port`? */
  bool (*port_is_free)(void *state, uint32_t port);
  /* Ends all tasks now, reports them, then calls `closed` once, which may
   * happen in this call. */
  void (*close)(void *state, void (*closed)(void *user_data));
} pai__backend_ops;

extern const pai__backend_ops pai__backend_local;

#endif
