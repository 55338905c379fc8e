/*
 * trace.h - internal: a trace while it is read
 *
 * bytes ── source ─► lines or values ── a form ─► drafts ── put ─► queue ─► records
 *
 * A form turns one line into a draft; all that is asked of any job is asked
 * where drafts are put (trace_draft.c), and order is made in the queue.
 */
#ifndef PAI_SRC_SIM_TRACE_H
#define PAI_SRC_SIM_TRACE_H

#include "base/buf.h"

#include <openpai/trace.h>

/* --- bytes (trace_source.c) ------------------------------------------------ */

enum {
  PAI__LINE_MAX = 16 << 20, /* bytes of a line, or of one value of a list */
  PAI__SOURCE_PAD = 16      /* NULs behind what was read */
};

typedef struct pai__source {
  const pai_alloc *alloc; /* borrowed */
  pai_read_cb read;
  void *user_data;
  char *buf;
  size_t at, end, cap; /* what is not looked at yet; room without the pad */
  uint64_t line;       /* lines that were taken */
  bool ended;
} pai__source;

void pai__source_init(pai__source *s, const pai_alloc *alloc, pai_read_cb read,
                      void *user_data);
void pai__source_dispose(pai__source *s);
/* Reads on.  1: there is more behind `end`; 0: there is none; or a failure.
 * Bytes move, their distance from `at` stays. */
int pai__source_more(pai__source *s, pai_error **err);
/* Takes a line, without its end; NULs may be written into it and over its end.
 * 1, 0 or a failure. */
int pai__source_line(pai__source *s, char **line, size_t *len,
                     pai_error **err);
/* Likewise, with whatever newlines stand in quotes. */
int pai__source_quoted(pai__source *s, char **line, size_t *len,
                       pai_error **err);

/* --- drafts (trace_draft.c) ------------------------------------------------ */

/* A piece of the source, or of a constant; s NULL: there is none. */
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
  bool is_ours; /* the type is written as we write it */
} pai__draft_want;

/* A record while it is made; pai__draft_clear() empties it, vectors keep their
 * memory. */
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
  bool foreign; /* kinds of GPUs are not written as we write them */
} pai__draft;

enum {
  PAI__MOST_GPUS = 1 << 20, /* of a task; more is a mistake */
  PAI__MOST_CPUS = 1 << 20,
  PAI__MOST_RETRIES = 1 << 20
};
#define PAI__MOST_TIME (INT64_C(1) << 53) /* either way: 285 years */

int pai__draft_add_want(pai__draft *d, const pai_alloc *alloc,
                        const pai__draft_want *want);
int pai__draft_add_attempt(pai__draft *d, const pai_alloc *alloc,
                           pai_time duration, int code);
int pai__draft_add_after(pai__draft *d, const pai_alloc *alloc, pai__slice id);
/* So many nodes share all this as equally as can be.  A node that has less of
 * the GPUs gets a want of its own kind. */
int pai__draft_spread(pai__draft *d, const pai_alloc *alloc,
                      const pai__draft_want *all, uint32_t nodes);
void pai__draft_clear(pai__draft *d);
void pai__draft_dispose(pai__draft *d, const pai_alloc *alloc);

/* --- records in their order (trace_queue.c) -------------------------------- */

typedef struct pai__chunk pai__chunk;

/* A record that waits: behind it its wants, attempts, ids and texts. */
typedef struct pai__item {
  pai__chunk *chunk;
  pai_time time;
  uint64_t seq, line;
  pai_time estimate, limit, patience, started;
  int kind, state, priority;
  uint32_t retries;
  uint32_t texts[PAI__TEXTS]; /* distance from here; 0: none */
  uint32_t nwants, nattempts, nafter;
} pai__item;

typedef struct pai__late {
  pai_time time;
  uint64_t seq;
  pai__item *item;
} pai__late;

/* Mostly records come in order: then they go through a ring.  The others wait
 * in a heap. */
typedef struct pai__queue {
  const pai_alloc *alloc; /* borrowed */
  pai__item **ring;
  size_t first, count, ring_cap; /* cap: 0 or a power of two */
  pai__late *heap;
  size_t nheap, heap_cap;
  pai__chunk *chunk, *spare;
  uint64_t seq;
} pai__queue;

void pai__queue_init(pai__queue *q, const pai_alloc *alloc);
void pai__queue_dispose(pai__queue *q);
/* PAI_OK or PAI_ENOMEM, and then nothing was added. */
int pai__queue_put(pai__queue *q, const pai__draft *d, uint64_t line);
/* The first one, or NULL; it stays until it is dropped. */
pai__item *pai__queue_take(pai__queue *q);
void pai__queue_drop(pai__queue *q, pai__item *item);
/* Fills a record of the newest age. */
void pai__item_view(const pai__item *item, pai_trace_record *record);

static inline size_t pai__queue_count(const pai__queue *q)
{
  return q->count + q->nheap;
}

/* --- forms ----------------------------------------------------------------- */

typedef struct pai__trace_form {
  const char *name;
  /* Reads a bit more, and puts what it finds: 1; 0: that was all; or a
   * failure. */
  int (*read)(pai_trace *t, pai_error **err);
  /* Before the first read, and at last; may be NULL. */
  int (*begin)(pai_trace *t, pai_error **err);
  void (*end)(pai_trace *t);
  bool unordered; /* as published: all is read first, and sorted */
} pai__trace_form;

struct pai_trace {
  pai_alloc alloc;
  pai__source source;
  pai__queue queue;
  pai__draft draft;
  const pai__trace_form *how;
  void *state; /* the form's */
  int form;    /* PAI_TRACE_* */
  bool strict, sort;
  uint32_t window;
  char *model; /* or NULL */
  pai_trace_cb on_line;
  void *user_data;
  pai__item *shown; /* the caller's until the next call */
  int failed;       /* what the call that failed returned */
  bool ended, begun;
  pai_time passed; /* of the last record that was given out */
  uint64_t passed_line;
  uint64_t lines, jobs, skipped, altered, altered_line;
  pai_time first, last;
  void (*close)(void *user_data); /* of the source's; or NULL */
};

/* Codes of jobs that did not end well where the trace was taken. */
enum {
  PAI__CODE_FAILED = 1,
  PAI__CODE_TIMEOUT = 124,
  PAI__CODE_KILLED = -210 /* by its owner */
};

enum { PAI__TRACE_FORMS = PAI_TRACE_GENERATED + 1 };
extern const pai__trace_form pai__trace_forms[PAI__TRACE_FORMS];

/* As the first bytes look; 0: like none. */
int pai__trace_detect(const char *text, size_t len);
/* Is it no trace, but one job? */
bool pai__looks_like_job(const char *text, size_t len);

/* A trace without a source; owned by the caller. */
int pai__trace_make(pai_trace **out, const pai_alloc *alloc, pai_error **err);

/* Puts the draft.  What cannot be is skipped, and told; PAI_OK, PAI_ENOMEM, or
 * PAI_EINVAL if the trace is strict. */
int pai__trace_put(pai_trace *t, uint64_t line, pai_error **err);
/* A line cannot be used; `why` is taken.  PAI_OK, or PAI_EINVAL if the trace is
 * strict; PAI_ENOMEM if that is why. */
int pai__trace_refuse(pai_trace *t, uint64_t line, pai_error *why,
                      pai_error **err);
int pai__trace_skip(pai_trace *t, uint64_t line, pai_error **err,
                    const char *fmt, ...) PAI__PRINTF(4, 5);
/* A line is used, but not as it stands. */
void pai__trace_alter(pai_trace *t, uint64_t line, const char *fmt, ...)
  PAI__PRINTF(3, 4);

/* --- our own form ---------------------------------------------------------- */

int pai__jsonl_read(pai_trace *t, pai_error **err);
int pai__jsonl_begin(pai_trace *t, pai_error **err);
void pai__jsonl_end(pai_trace *t);

/* --- times as text (trace_time.c) ------------------------------------------ */

/* "12", "0.5", "1e3" as microseconds, what is less than one is cut off; false:
 * it is no such number, or beyond PAI__MOST_TIME. */
bool pai__seconds_read(const char *s, size_t len, pai_time *out);
/* The same of any number, in units of 10^-places; up to PAI__MOST_TIME. */
bool pai__decimal_read(const char *s, size_t len, int places, int64_t *out);
/* The shortest text that is read as the same time. */
enum { PAI__SECONDS_TEXT = 32 };
size_t pai__seconds_write(char out[PAI__SECONDS_TEXT], pai_time time);
/* "2017-10-07 01:12:09", also with T, a fraction, and Z or +08:00. */
bool pai__date_read(const char *s, size_t len, pai_time *out);
/* As people say it: "3 h", "1 d 2 h", "250 ms". */
const char *pai__span_text(char out[PAI__SECONDS_TEXT], pai_time span);

#endif
