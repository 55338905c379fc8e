/* replay.h - internal: a scheduler's log that is read again */
#ifndef PAI_SRC_SIM_REPLAY_H
#define PAI_SRC_SIM_REPLAY_H

#include "sim/lines.h"

#define PAI__SNAPSHOT_BEGINS "{\"snapshot\":"

struct pai_replay {
  pai_alloc alloc;
  pai__lines lines;
  void (*close)(void *user_data); /* of the reader's, or NULL */
  const pai_policy *table;
  char *policy; /* that decides instead, or NULL */
  char *policy_options;
  bool check;
  int (*stop)(void *user_data); /* or NULL */
  void *stop_data;
  uint32_t steps;
  bool ranged, dated; /* begin and end are known; they count from 1970 */
  pai_time begin, end;
  uint64_t last; /* where the last whole line begins */

  pai_sched *s;    /* NULL: no line was taken */
  uint64_t at;     /* the next line begins here, or behind it */
  uint64_t taken;  /* where the last one did */
  uint64_t number; /* of it; 0: not known */
  bool
    failed; /* the last one says so: a snapshot behind it is no repetition */
  size_t decisions; /* of it */
  uint64_t skipped;
};

/* What a line says first of all. */
typedef struct pai__line_head {
  pai_time time;
  int64_t events; /* of a snapshot; -1: not known */
  bool snapshot;
} pai__line_head;

/* PAI_OK; PAI_EINVAL: it is none of a log; PAI_ENOMEM. */
int pai__line_head_read(pai__line_head *head, const pai__line_text *line,
                        const pai_alloc *alloc, pai_error **err);

/* Errors of a line get its place in the log.  `rc`. */
int pai__replay_blame(pai_replay *r, uint64_t at, int rc, pai_error **err);

/* Goes to where the next line begins at `at`: from where it stands, or from
 * the last snapshot before.  The codes of pai_replay_to(). */
int pai__replay_seek(pai_replay *r, uint64_t at, pai_error **err);

/* The options as they are in this version.  PAI_OK or PAI_EINVAL. */
int pai__replay_options(pai_replay_options *out,
                        const pai_replay_options *opts, pai_error **err);

/* "2026-05-01 14:05:06" or "@12.500000". */
const char *pai__replay_show(bool dated, pai_time t, char *out);

#endif
