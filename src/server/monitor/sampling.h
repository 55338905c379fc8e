/*
 * sampling.h - internal to the room: samples of the machine, its GPUs, tasks,
 * virtual clusters and the queue, each second, as time series
 */
#ifndef PAI_SRC_SERVER_MONITOR_SAMPLING_H
#define PAI_SRC_SERVER_MONITOR_SAMPLING_H

#include "series/series.h"
#include "series/usage.h"
#include "server/monitor/idle.h"
#include "server/monitor/observed.h"

enum { PAI__NODE_NAME = 128 };

/* Told after each sample. */
typedef struct pai__sampling_reader {
  void (*on_sample)(void *user_data);
  void *user_data;
  struct pai__sampling_reader *before, *after;
} pai__sampling_reader;

typedef struct pai__sampling {
  pai_server *server;
  pai__timer *timer;
  pai__usage_sampler *sampler; /* its own: rates are since its last sample */
  pai__series_store *series;
  pai__series_usage *usage;
  pai__idle idle;
  char node[PAI__NODE_NAME]; /* the machine's name; "": not known yet */
  uint64_t ticks;
  pai_time last;     /* wall-clock time of the last sample; 0: none */
  pai_time interval; /* until the next */
  pai_time cost;     /* mean time that a sample takes */
  pai__sampling_reader *readers;
} pai__sampling;

/* Begins to sample; with `kept` into files of the root, else in memory.  PAI_OK
 * or PAI_ENOMEM. */
int pai__sampling_begin(pai_server *s, bool kept);
void pai__sampling_free(pai_server *s);

void pai__sampling_join(pai_server *s, pai__sampling_reader *r);
void pai__sampling_leave(pai_server *s, pai__sampling_reader *r);

/* The latest value of a series by its name: node/NAME/cpu, gpu/NODE/0/gpu,
 * task/JOB-ID/ROLE/0/memory, vc/default/gpusUsed, queue/jobsWaiting; the metrics
 * are those of series/kinds.c.  Returns false if it is not known, or not of the
 * last two minutes. */
bool pai__sampling_value(const pai_server *s, const char *name, double *value);

/* sampling_jobs.c: what running jobs hold and use, and idle GPUs. */
void pai__sampling_jobs(pai__sampling *u, const pai_sample *sample,
                        const pai__observed_tasks *tasks, pai_time now);
/* The mean use of the GPUs of a mask, in tenths of a percent; -1: unknown.
 * Adds their memory in use to *memory. */
int64_t pai__sampling_gpus(const pai__sampling *u, const pai_sample *sample,
                           uint64_t gpus, int64_t *memory);

#endif
