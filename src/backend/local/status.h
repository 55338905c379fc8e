/* status.h - internal to src/backend/local: parses a task's file `status`;
 * pure */
#ifndef PAI_SRC_BACKEND_LOCAL_STATUS_H
#define PAI_SRC_BACKEND_LOCAL_STATUS_H

#include "base/base.h"

enum pai__status_kind {
  PAI__STATUS_EMPTY = 0, /* nothing was written yet */
  PAI__STATUS_NEVER,     /* a tombstone: it does not run and never will */
  PAI__STATUS_RUNS,      /* it runs, or ended without a record */
  PAI__STATUS_EXIT,
  PAI__STATUS_SIGNAL,
  PAI__STATUS_FAILED /* could not be started */
};

typedef struct pai__status {
  enum pai__status_kind kind;
  int64_t pid, ticks; /* of the supervisor; unique within a boot */
  char boot[40];
  int64_t first, keeper; /* pids; 0: not started yet */
  pai_time started;
  int number; /* exit code or signal */
  int error;  /* for PAI__STATUS_FAILED: the errno; 0: not known */
  pai_time ended, user_time, system_time;
  int64_t max_rss; /* KiB */
  int oom;         /* pai_task_end.oom */
  bool cut;        /* output is missing in a log */
} pai__status;

/* Ignores unknown lines and an incomplete last one. */
void pai__status_parse(pai__status *out, const char *text, size_t len);

#endif
