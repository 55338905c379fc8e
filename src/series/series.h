/*
 * series.h - time series of machines, GPUs, tasks, virtual clusters and the
 * queue, in rings of fixed size: a file for each kind of subject
 *
 * A subject (a machine, a task) has the metrics of its kind.  A row has their
 * values at a step of time.  Rows of seconds become rows of minutes, those
 * become rows of hours, each the mean of the known values; each level is a ring
 * that overwrites its oldest rows.  Rows are in memory until
 * pai__series_flush(); what was flushed survives a killed process.  If the disk
 * is full, the latest rows stay in memory, and are written when they can be.
 *
 * Times are seconds since 1970.  Values are whole numbers in the unit of their
 * metric, with a precision of 1/4096; -1 is unknown.
 */
#ifndef PAI_SRC_SERIES_SERIES_H
#define PAI_SRC_SERIES_SERIES_H

#include "base/base.h"

enum pai__series_kind {
  PAI__SERIES_MACHINE, /* named by the node */
  PAI__SERIES_GPU,     /* NODE/NUMBER */
  PAI__SERIES_TASK,    /* JOB-ID/ROLE/INDEX */
  PAI__SERIES_VC,      /* named by the virtual cluster */
  PAI__SERIES_QUEUE,   /* one, named "queue" */
  PAI__SERIES_KINDS
};

enum {
  PAI__SERIES_METRICS = 8, /* most metrics of a kind */
  PAI__SERIES_LEVELS = 3,
  PAI__SERIES_NAME = 224,   /* most bytes of a name, with its NUL */
  PAI__SERIES_POINTS = 2000 /* most points of an answer */
};

typedef struct pai__series_metric {
  const char *name, *unit;
  uint32_t coarse; /* a stored number counts so many: 1024 for bytes */
  uint32_t fine;   /* a value divided by it is in `unit`: 1000 for cores */
} pai__series_metric;

typedef struct pai__series_form {
  const char *file;
  const pai__series_metric *metrics;
  uint32_t count;                    /* of metrics */
  uint32_t slots;                    /* most subjects */
  uint32_t rows[PAI__SERIES_LEVELS]; /* of each ring */
} pai__series_form;

/* kinds.c: the table of kinds, and the seconds of a step of each level. */
extern const pai__series_form pai__series_forms[PAI__SERIES_KINDS];
extern const uint32_t pai__series_steps[PAI__SERIES_LEVELS];
/* Returns the index of a metric; -1: the kind has none of that name. */
int pai__series_metric_of(enum pai__series_kind kind, const char *name);

/* pack.c: a value as 16 bits, and back. */
uint16_t pai__series_pack(int64_t value);
int64_t pai__series_unpack(uint16_t packed);

typedef struct pai__series_store pai__series_store;

/* Opens the series of a folder, which is created; NULL: in memory only, with
 * the latest rows alone.  A file that cannot be used is begun anew.  PAI_OK or
 * PAI_ENOMEM. */
int pai__series_open(pai__series_store **out, const pai_alloc *alloc,
                     const pai__log *log, const char *folder);
/* Flushes and frees; NULL is allowed. */
void pai__series_close(pai__series_store *s);
/* Returns why rows cannot be written, or NULL. */
const char *pai__series_trouble(const pai__series_store *s);

/* Adds the row of a second.  The values are in the order of the kind's metrics.
 * A new subject takes the place of the one that ended first, if all places are
 * taken.  PAI_OK; PAI_ENOMEM; PAI_ELIMIT: all places are in use, or the name is
 * too long. */
int pai__series_put(pai__series_store *s, enum pai__series_kind kind,
                    const char *name, int64_t now, const int64_t *values);
/* Writes the rows of each `parts`-th subject, from `part` on: 0 and 1 for all. */
void pai__series_flush(pai__series_store *s, uint32_t part, uint32_t parts);

/* A subject that is there: iterates names with a prefix, from *i = 0. */
const char *pai__series_next(const pai__series_store *s,
                             enum pai__series_kind kind, const char *prefix,
                             size_t *i);
/* The value of the last row of a subject; -1: unknown, or older than `oldest`. */
int64_t pai__series_last(const pai__series_store *s,
                         enum pai__series_kind kind, const char *name,
                         int metric, int64_t oldest);

/* What is read: from `from`, a multiple of `step`, to before `to`. */
typedef struct pai__series_range {
  int64_t from, to;
  uint32_t step;
  uint32_t level;
} pai__series_range;

/* Makes a range that the rings have at `now`: the step becomes longer where
 * only longer ones reach back to `from`, or where there would be too many
 * points. */
pai__series_range pai__series_plan(enum pai__series_kind kind, int64_t from,
                                   int64_t to, uint32_t step, int64_t now);
/* Returns the number of points of a range. */
size_t pai__series_points(const pai__series_range *range);
/* Reads the metrics of a subject into out[pai__series_points()].  A subject
 * that is not there has no known values.  PAI_OK or PAI_ENOMEM. */
int pai__series_read(pai__series_store *s, enum pai__series_kind kind,
                     const char *name, const pai__series_range *range,
                     int64_t (*out)[PAI__SERIES_METRICS]);

#endif
