/* replay.h - internal: reads and replays a scheduler's log */
#ifndef PAI_SRC_SIM_REPLAY_REPLAY_H
#define PAI_SRC_SIM_REPLAY_REPLAY_H

#include "base/buf.h"
#include "sched/log/event_form.h"

#include <openpai/replay.h>

#define PAI__SNAPSHOT_BEGINS "{\"snapshot\":"

/* --- lines of a text that is read in pieces (lines.c) -------------------- */

/* The text may be larger than memory; each line must fit into it. */
typedef struct pai__lines {
  pai_read_at_cb read;
  void *user_data;
  uint64_t size;
  uint64_t from; /* offset of `here` in the text */
  pai__buf here;
} pai__lines;

typedef struct pai__line_text {
  const char *text; /* without its newline; valid until the next call */
  size_t len;
  uint64_t at, next; /* offsets of this line and of the next one */
  bool whole;        /* it ends with a newline */
} pai__line_text;

void pai__lines_init(pai__lines *l, const pai_alloc *alloc,
                     pai_read_at_cb read, void *user_data, uint64_t size);
void pai__lines_dispose(pai__lines *l);

/* Reads the line that begins at `at`.  Returns 1; 0 at the end; or a code. */
int pai__lines_next(pai__lines *l, uint64_t at, pai__line_text *line,
                    pai_error **err);
/* Reads the first line that is not empty, from the line that begins at `at`
 * on.  Returns 1; 0 at the end; or a code. */
int pai__lines_get(pai__lines *l, uint64_t at, pai__line_text *line,
                   pai_error **err);
/* Finds the first line that begins after `at`; the end of the text if there is
 * none.  Returns PAI_OK or a code. */
int pai__lines_behind(pai__lines *l, uint64_t at, uint64_t *begin,
                      pai_error **err);
/* Finds the last line that begins before `before` with `word`, other than the
 * first line; 0 if there is none.  Returns PAI_OK or a code. */
int pai__lines_last(pai__lines *l, uint64_t before, const char *word,
                    uint64_t *begin, pai_error **err);
/* Counts the newlines before `at`.  Returns PAI_OK or a code. */
int pai__lines_count(pai__lines *l, uint64_t at, uint64_t *count,
                     pai_error **err);

/* --- summary of a line (lines.c) ----------------------------------------- */

typedef struct pai__line_event {
  int kind; /* PAI_SCHED_*, PAI__LINE_DECIDE, or 0: a snapshot */
  pai_time time;
  uint64_t id; /* of the request; 0: none */
  uint32_t instance;
  int64_t code; /* of PAI_SCHED_FINISHED */
} pai__line_event;

/* Returns PAI_OK; PAI_EINVAL: not a line of a log; PAI_ENOMEM. */
int pai__line_event_read(pai__line_event *out, const pai__line_text *line,
                         const pai_alloc *alloc, pai_error **err);

/* The first members of a line. */
typedef struct pai__line_head {
  pai_time time;
  int64_t events; /* of a snapshot; -1: not known */
  bool snapshot;
} pai__line_head;

/* Reads a head that is written as the log writes it; returns false if the line
 * has to be parsed. */
bool pai__line_head_glance(pai__line_head *head, const pai__line_text *line);
/* Returns PAI_OK; PAI_EINVAL: not a line of a log; PAI_ENOMEM. */
int pai__line_head_read(pai__line_head *head, const pai__line_text *line,
                        const pai_alloc *alloc, pai_error **err);

/* --- replay -------------------------------------------------------------- */

struct pai_replay {
  pai_alloc alloc;
  pai__lines lines;
  void (*close)(void *user_data); /* of the reader; or NULL */
  const pai_policy *table;
  char *policy; /* policy that decides instead, or NULL */
  char *policy_options;
  bool check;
  int (*stop)(void *user_data); /* or NULL */
  void *stop_data;
  uint32_t steps;
  bool ranged, dated; /* `begin` and `end` are known; times are since 1970 */
  pai_time begin, end;
  uint64_t last; /* offset of the last complete line */

  pai_sched *s;    /* NULL: no line was taken */
  uint64_t at;     /* offset of the next line */
  uint64_t taken;  /* offset of the last line that was taken */
  uint64_t number; /* number of that line; 0: not known */
  bool failed; /* the last line has "failed"; a snapshot after it is loaded */
  size_t decisions; /* made by the last line */
  uint64_t skipped;
};

/* Returns whether the code means that a line reports what another policy did,
 * which this policy did not do. */
bool pai__is_of_others(int rc);

/* Adds the place in the log to the error of a line.  Returns `rc`. */
int pai__replay_blame(pai_replay *r, uint64_t at, int rc, pai_error **err);

/* Replays up to the line at `at`, from the current position or from the last
 * snapshot before it.  Returns as pai_replay_to(). */
int pai__replay_seek(pai_replay *r, uint64_t at, pai_error **err);

/* Copies the options in the layout of this version.  Returns PAI_OK or
 * PAI_EINVAL. */
int pai__replay_options(pai_replay_options *out,
                        const pai_replay_options *opts, pai_error **err);

/* Formats a time: "2026-05-01 14:05:06" or "@12.500000". */
const char *pai__replay_show(bool dated, pai_time t, char *out);

#endif
