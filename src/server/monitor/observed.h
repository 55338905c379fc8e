/*
 * observed.h - internal to the room: the observed machine and tasks, for
 * metrics and alerts
 */
#ifndef PAI_SRC_SERVER_MONITOR_OBSERVED_H
#define PAI_SRC_SERVER_MONITOR_OBSERVED_H

#include "base/arena.h"
#include "server/server.h"

#include <openpai/sample.h>

/* --- observed.c ---------------------------------------------------------- */

/* The result of pai_platform_status(). */
typedef struct pai__observed_machine {
  pai__tree *tree; /* owns the texts; see pai__observed_machine_dispose() */
  pai__buf json;
  const char *name, *ip, *trouble; /* trouble: NULL if none */
  int64_t cpus, gpus, free_gpus, sick_gpus, memory, free_memory;
  uint64_t free_cpu_millis;
} pai__observed_machine;

int pai__observed_machine_read(pai__observed_machine *out, pai_server *s,
                               pai_error **err);
void pai__observed_machine_dispose(pai__observed_machine *m);

/* The tasks of unfinished jobs, with copies of their texts. */
typedef struct pai__observed_tasks {
  pai__arena arena;
  pai_task_view *at;
  size_t n, cap;
} pai__observed_tasks;

int pai__observed_tasks_read(pai__observed_tasks *out, pai_server *s,
                             pai_error **err);
/* Make an empty list; add a task.  The latter returns PAI_OK or PAI_ENOMEM. */
void pai__observed_tasks_init(pai__observed_tasks *out, const pai_server *s);
int pai__observed_tasks_add(pai__observed_tasks *t, const pai_task_view *task);
void pai__observed_tasks_dispose(pai__observed_tasks *t);

/* --- usage_sampler.c: what the machine and tasks use --------------------- */

typedef struct pai__usage_sampler pai__usage_sampler;

/* Takes a sample of the machine and these tasks; the sampler is made at the
 * first call.  *sample is NULL if none can be taken.  Alerts and /metrics share
 * a sampler; time series have their own, so that rates are those of a second. */
int pai__usage_sampler_take(const pai_sample **sample, pai__usage_sampler **at,
                            const pai_server *s,
                            const pai__observed_tasks *tasks, pai_error **err);
/* Finds a task in the last sample.  Returns false if it is not there. */
bool pai__usage_sampler_of(const pai__usage_sampler *u,
                           const pai_sample *sample, const pai_task_view *task,
                           pai_sample_group *out);
/* Returns the number by which tasks name GPU `i` of the sample; -1: tasks
 * cannot use it. */
int pai__usage_sampler_gpu(const pai__usage_sampler *u, size_t i);
void pai__usage_sampler_free(pai__usage_sampler *u); /* NULL is allowed */

/* --- count.c: answers that were sent ------------------------------------- */

void pai__count_write(pai_server *s, pai__buf *out);
void pai__count_free(pai_server *s);

/* --- metrics.c: the text format of Prometheus ---------------------------- */

#define PAI__METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* A sample of a metric. */
typedef struct pai__metric {
  const char *name; /* NULL: another sample of the metric in the row before */
  const char *type, *help;
  const char *rest; /* follows the name: "_sum", {state="failed"}; or NULL */
  uint64_t value;   /* negative as int64_t: unknown, not written */
  int unit;         /* the value is divided by it; 0: 1 */
  const char *host_ip; /* label of the machine; NULL: none */
} pai__metric;

/* Writes all metrics, those of tasks of the given ones.  PAI_OK or an error. */
int pai__metrics_text(pai__buf *out, pai_server *s,
                      const pai__observed_machine *machine,
                      const pai__observed_tasks *tasks,
                      const pai_sample *sample);

void pai__metrics_write(pai__buf *out, const pai__metric *rows, size_t n);
/* Begins a metric whose samples the caller writes. */
void pai__metric_head(pai__buf *out, const char *name, const char *type,
                      const char *help);
/* Writes a label's value, quoted. */
void pai__metric_quote(pai__buf *out, const char *value);

/* metrics_tasks.c: metrics of tasks and GPUs. */
void pai__metrics_tasks(pai__buf *out, const pai_server *s,
                        const pai_sample *sample,
                        const pai__observed_tasks *tasks);
void pai__metrics_gpus(pai__buf *out, const pai_server *s,
                       const pai_sample *sample,
                       const pai__observed_machine *machine);

#endif
