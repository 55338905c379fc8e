/*
 * usage.h - what jobs held and used, by day: a file of records for each of the
 * last 31 days (of UTC), each of fixed size
 *
 * A day has a record for each job, up to PAI__USAGE_JOBS; what further jobs use
 * is added to records without a job, one for each user and virtual cluster.
 */
#ifndef PAI_SRC_SERIES_USAGE_H
#define PAI_SRC_SERIES_USAGE_H

#include "base/base.h"

enum {
  PAI__USAGE_DAYS = 31,
  PAI__USAGE_JOBS = 768,    /* records of jobs in a day */
  PAI__USAGE_RECORDS = 1024 /* in all */
};

/* How much of something: held is what was given, known the part of it whose
 * use was observed, used the part that was in use. */
typedef struct pai__series_use_amount {
  uint64_t held, known, used;
} pai__series_use_amount;

typedef struct pai__series_use_amounts {
  pai__series_use_amount gpus;   /* milliseconds of a GPU */
  pai__series_use_amount cpus;   /* milliseconds of a core */
  pai__series_use_amount memory; /* MiB, times seconds */
  /* The last observed use: tenths of a percent of its GPUs, thousandths of a
   * core, MiB; -1: unknown.  And the most memory, in MiB. */
  int64_t last_gpu, last_cpu, last_memory, most_memory;
} pai__series_use_amounts;

typedef struct pai__series_use_record {
  uint64_t job;     /* 0: further jobs of the user */
  int64_t from, to; /* milliseconds since 1970: first and last observation */
  pai__series_use_amounts sum;
  char texts[168]; /* user, virtual cluster, name of the job: cut if long */
} pai__series_use_record;

const char *pai__series_use_user(const pai__series_use_record *r);
const char *pai__series_use_vc(const pai__series_use_record *r);
const char *pai__series_use_name(const pai__series_use_record *r);

/* Adds one record to another: amounts, and the later of the last values. */
void pai__series_use_merge(pai__series_use_record *to,
                           const pai__series_use_record *from);

typedef struct pai__series_usage pai__series_usage;

/* Opens the records in a folder that exists; NULL: in memory only, those of
 * today.  PAI_OK or PAI_ENOMEM. */
int pai__series_use_open(pai__series_usage **out, const pai_alloc *alloc,
                         const char *folder, int64_t now);
void pai__series_use_close(
  pai__series_usage *u); /* flushes; NULL is allowed */

/* Returns when a job was observed last today, in milliseconds; 0: it was not. */
int64_t pai__series_use_seen(const pai__series_usage *u, uint64_t job);
/* Adds to the record of a job; `add` has its texts, and its amounts since the
 * observation before.  PAI_OK, PAI_ENOMEM, PAI_ELIMIT: no record is left. */
int pai__series_use_add(pai__series_usage *u,
                        const pai__series_use_record *add);
/* Writes changed records.  PAI_OK, or -errno: they stay changed. */
int pai__series_use_flush(pai__series_usage *u);

typedef int (*pai__series_use_cb)(void *user_data,
                                  const pai__series_use_record *r);

/* Calls back for each record of the days from `from` to `to`, in milliseconds,
 * oldest day first.  Returns PAI_OK, PAI_ENOMEM, or the first negative value
 * of `cb`. */
int pai__series_use_read(pai__series_usage *u, int64_t from, int64_t to,
                         pai__series_use_cb cb, void *user_data);
/* Begins a record: its texts. */
void pai__series_use_name_it(pai__series_use_record *r, const char *user,
                             const char *vc, const char *name);

#endif
