/*
 * trace.h - internal: state of a trace that is being read
 *
 * bytes ── source ─► lines or values ── a form ─► drafts ── put ─► queue ─► records
 *
 * A form turns one line into a draft.  Drafts of all forms are checked where
 * they are put (trace_draft.c), and sorted by time in the queue.
 */
#ifndef PAI_SRC_SIM_TRACE_TRACE_H
#define PAI_SRC_SIM_TRACE_TRACE_H

#include "base/tree.h"

#include <openpai/trace.h>

/* --- bytes (trace_source.c) ---------------------------------------------- */

enum {
  PAI__LINE_MAX = 16 << 20, /* of a line, or of an element */
  PAI__SOURCE_PAD = 16      /* NULs behind the bytes that were read */
};

typedef struct pai__source {
  const pai_alloc *alloc; /* borrowed */
  pai_read_cb read;
  void *user_data;
  char *buf;
  size_t at, end, cap;          /* unread bytes; capacity without the pad */
  uint64_t line;                /* lines that were read */
  int (*stop)(void *user_data); /* or NULL: see pai_trace_options */
  void *stop_data;
  bool ended;
} pai__source;

void pai__source_init(pai__source *s, const pai_alloc *alloc, pai_read_cb read,
                      void *user_data);
void pai__source_dispose(pai__source *s);
/* Reads more bytes.  Returns 1: there are more bytes at `end`; 0: end of the
 * trace; or a code.  The buffer may move, but offsets from `at` stay valid. */
int pai__source_more(pai__source *s, pai_error **err);
/* Reads a line without its end.  The caller may overwrite it, and write a NUL
 * at its end.  Returns 1, 0 at the end, or a code. */
int pai__source_line(pai__source *s, char **line, size_t *len,
                     pai_error **err);
/* The same for a line that may have newlines inside quotes. */
int pai__source_quoted(pai__source *s, char **line, size_t *len,
                       pai_error **err);

/* --- drafts (trace_draft.c) ---------------------------------------------- */

/* A part of the source or of a constant; s NULL: none. */
typedef struct pai__slice {
  const char *s;
  size_t len;
} pai__slice;

enum {
  PAI__TEXT_ID,
  PAI__TEXT_NAME,
  PAI__TEXT_USER,
  PAI__TEXT_VC,
  PAI__TEXT_PIN,
  PAI__TEXT_WITHIN,
  PAI__TEXT_NODE,
  PAI__TEXT_WHY,
  PAI__TEXTS
};

typedef struct pai__draft_want {
  pai__slice name, type;
  uint32_t tasks, min_tasks, gpus, cpus, ports;
  uint64_t memory;
  bool is_ours; /* `type` needs no normalization */
} pai__draft_want;

/* A record that is being made.  pai__draft_clear() empties it; its vectors
 * keep their memory. */
typedef struct pai__draft {
  int kind, state, priority;
  uint32_t retries;
  pai_time time, estimate, limit, patience, started;
  pai__slice texts[PAI__TEXTS];
  pai__draft_want *wants;
  pai_trace_attempt *attempts;
  pai__slice *after;
  size_t nwants, nattempts, nafter;
  size_t wants_cap, attempts_cap, after_cap;
  bool foreign; /* the form spells types of GPUs in its own way */
  bool failed;  /* memory was short; pai__trace_put() reports it */
} pai__draft;

enum {
  PAI__MOST_GPUS = 1 << 20, /* limits of a task and a job; more is a mistake */
  PAI__TRACE_CPUS = 1 << 20,
  PAI__MOST_RETRIES = 1 << 20
};
#define PAI__MOST_TIME (INT64_C(1) << 53) /* in both directions: 285 years */

void pai__draft_clear(pai__draft *d);

/* --- queue of records (trace_queue.c) ------------------------------------ */

typedef struct pai__chunk pai__chunk;

/* A record in the queue; its wants, attempts, ids and texts follow it. */
typedef struct pai__item {
  pai__chunk *chunk;
  uint64_t seq;
  pai_trace_record r;
} pai__item;

typedef struct pai__late {
  pai_time time;
  uint64_t seq;
  pai__item *item;
} pai__late;

/* Records that come in order go through a ring.  The others are in a heap. */
typedef struct pai__sim_queue {
  const pai_alloc *alloc; /* borrowed */
  pai__item **ring;
  size_t first, count, ring_cap; /* ring_cap: 0 or a power of two */
  pai__late *heap;
  size_t nheap, heap_cap;
  pai__chunk *chunk, *spare;
  uint64_t seq;
} pai__sim_queue;

void pai__queue_init(pai__sim_queue *q, const pai_alloc *alloc);
void pai__queue_dispose(pai__sim_queue *q);
/* Adds a record.  Returns PAI_OK, or PAI_ENOMEM with nothing added. */
int pai__queue_put(pai__sim_queue *q, const pai__draft *d, uint64_t line);
/* Removes and returns the first record, or NULL; it is valid until it is
 * dropped. */
pai__item *pai__queue_take(pai__sim_queue *q);
void pai__queue_drop(pai__sim_queue *q, pai__item *item);

static inline size_t pai__queue_count(const pai__sim_queue *q)
{
  return q->count + q->nheap;
}

/* --- forms --------------------------------------------------------------- */

typedef struct pai__sim_rows pai__sim_rows;

typedef struct pai__trace_form {
  const char *name;
  /* Reads a part of the source and puts the records in it.  Returns 1, 0 at
   * the end, or a code. */
  int (*read)(pai_trace *t, pai_error **err);
  /* Called before the first read, and at the end; may be NULL. */
  int (*begin)(pai_trace *t, pai_error **err);
  void (*end)(pai_trace *t);
  const pai__sim_rows *rows; /* of a form with rows of cells */
  const char *list; /* of a form with a JSON list: its key in an object */
  /* puts the records of one JSON element */
  int (*put)(pai_trace *t, const pai__tree *tree, uint64_t line,
             pai_error **err);
  bool unordered; /* read as a whole and sorted first */
} pai__trace_form;

struct pai_trace {
  pai_alloc alloc;
  pai__source source;
  pai__sim_queue queue;
  pai__draft draft;
  const pai__trace_form *how;
  void *state; /* the form's */
  int form;    /* PAI_TRACE_* */
  bool strict, sort;
  uint32_t window;
  char *model; /* or NULL */
  pai_trace_cb on_line;
  void *user_data;
  pai__item *shown; /* record that the caller has until the next call */
  int failed;       /* code of the call that failed */
  bool ended, begun;
  pai_time passed; /* time of the last record that was returned */
  uint64_t passed_line;
  uint64_t lines, jobs, skipped, altered, altered_line;
  pai_time first, last;
  void (*close)(void *user_data); /* of the source; or NULL */
};

/* Completion codes of jobs that did not succeed in the trace. */
enum {
  PAI__CODE_FAILED = 1,
  PAI__CODE_TIMEOUT = 124,
  PAI__CODE_KILLED = -210 /* by its owner */
};

/* Makes a trace without a source; owned by the caller. */
int pai__trace_make(pai_trace **out, const pai_alloc *alloc, pai_error **err);

/* Add a want, an attempt or a dependency to the draft of a job. */
void pai__draft_add_want(pai_trace *t, const pai__draft_want *want);
void pai__draft_add_attempt(pai_trace *t, pai_time duration, int code);
void pai__draft_add_after(pai_trace *t, pai__slice id);
/* Divides the resources in `all` among `nodes` nodes as equally as possible.
 * Nodes with fewer GPUs get a want of their own. */
void pai__draft_spread(pai_trace *t, const pai__draft_want *all,
                       uint32_t nodes);

/* Puts the draft into the queue.  A draft that is not valid is skipped and
 * reported.  Returns PAI_OK; PAI_ENOMEM; or PAI_EINVAL if the trace is
 * strict. */
int pai__trace_put(pai_trace *t, uint64_t line, pai_error **err);
/* Skips a line and reports `why`, which is taken over.  Returns PAI_OK;
 * PAI_EINVAL if the trace is strict; PAI_ENOMEM if that is the reason. */
int pai__trace_refuse(pai_trace *t, uint64_t line, pai_error *why,
                      pai_error **err);
int pai__trace_skip(pai_trace *t, uint64_t line, pai_error **err,
                    const char *fmt, ...) PAI__PRINTF(4, 5);
/* Reports a line that is used with a change. */
void pai__trace_alter(pai_trace *t, uint64_t line, const char *fmt, ...)
  PAI__PRINTF(3, 4);

/* Reports a job that was killed while it waited, and sets its patience to
 * `waited`. */
void pai__trace_never_ran(pai_trace *t, uint64_t line, pai_time waited);
/* Adds the only attempt of a job that ran from `start` to `end`, or that never
 * ran if `start` is -1. */
void pai__draft_ran(pai_trace *t, uint64_t line, pai_time start, pai_time end,
                    int code);
/* Skips a job that still ran when the trace was taken. */
int pai__trace_not_ended(pai_trace *t, uint64_t line, pai_error **err);

/* --- our own form -------------------------------------------------------- */

int pai__jsonl_read(pai_trace *t, pai_error **err);
int pai__jsonl_begin(pai_trace *t, pai_error **err);
void pai__jsonl_end(pai_trace *t);

/* PAI_NODE_UP, _DRAIN and _SICK as words. */
extern const char *const pai__node_words[];

/* --- times and numbers as text (trace_text.c) ---------------------------- */

/* Reads seconds as "12", "0.5", "1e3" into microseconds; smaller parts are cut
 * off.  Returns false if it is not a number or beyond PAI__MOST_TIME. */
bool pai__seconds_read(const char *s, size_t len, pai_time *out);
/* Reads a decimal number in units of 10^-places, up to PAI__MOST_TIME. */
bool pai__decimal_read(const char *s, size_t len, int places, int64_t *out);
/* Reads "2017-10-07 01:12:09", also with T, a fraction, and Z or +08:00. */
bool pai__date_read(const char *s, size_t len, pai_time *out);

#endif
