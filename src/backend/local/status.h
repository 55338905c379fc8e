/* status.h - internal to the back end: what a task's file `status` says; pure
 */
#ifndef PAI_SRC_BACKEND_LOCAL_STATUS_H
#define PAI_SRC_BACKEND_LOCAL_STATUS_H

#include "base/base.h"

enum pai__status_kind {
  PAI__STATUS_EMPTY = 0, /* nothing is said yet */
  PAI__STATUS_NEVER,     /* a tombstone: it does not run and never will */
  PAI__STATUS_RUNS,      /* or did, and nobody said how it ended */
  PAI__STATUS_EXIT,
  PAI__STATUS_SIGNAL,
  PAI__STATUS_FAILED /* it could not be started */
};

typedef struct pai__status {
  enum pai__status_kind kind;
  int64_t pid, ticks; /* of the supervisor, of which there is one with this
                         number and beginning in a boot */
  char boot[40];
  int64_t first, keeper; /* numbers; 0: nothing was started yet */
  pai_time started;
  int number; /* exit code or signal */
  int error;  /* PAI__STATUS_FAILED: the errno; 0: not known */
  pai_time ended, user_time, system_time;
  int64_t max_rss; /* KiB */
  int oom;         /* pai_task_end.oom */
  bool cut;        /* something is missing in a log */
} pai__status;

/* Lines that nobody knows, and a last one that was cut, are passed over. */
void pai__status_parse(pai__status *out, const char *text, size_t len);

#endif
