/*
 * seen.h - internal to the room: what is seen of the machine and of its tasks,
 * for those who watch
 */
#ifndef PAI_SRC_SERVER_SEEN_H
#define PAI_SRC_SERVER_SEEN_H

#include "base/arena.h"
#include "server/server.h"

#include <openpai/sample.h>

/* --- seen.c ------------------------------------------------------------------- */

/* What pai_platform_status() says. */
typedef struct pai__seen_machine {
  pai__tree *tree; /* of the texts; pai__seen_dispose() */
  pai__buf json;
  const char *name, *ip, *trouble; /* trouble: NULL if there is none */
  int64_t cpus, free_cpus, gpus, free_gpus, sick_gpus, memory, free_memory;
} pai__seen_machine;

int pai__seen_machine_read(pai__seen_machine *out, pai_server *s,
                           pai_error **err);
void pai__seen_machine_dispose(pai__seen_machine *m);

/* The tasks of jobs that are not over, with copies of their texts. */
typedef struct pai__seen_tasks {
  pai__arena arena;
  pai_task_view *at;
  size_t n, cap;
} pai__seen_tasks;

int pai__seen_tasks_read(pai__seen_tasks *out, pai_server *s, pai_error **err);
/* None yet; and one more.  PAI_OK or PAI_ENOMEM. */
void pai__seen_tasks_init(pai__seen_tasks *out, const pai_server *s);
int pai__seen_tasks_add(pai__seen_tasks *t, const pai_task_view *task);
void pai__seen_tasks_dispose(pai__seen_tasks *t);

/* --- meter.c: what the machine and tasks use ------------------------------------ */

typedef struct pai__meter pai__meter;

/* Takes a sample in which the tasks are that run; made when it is asked for
 * first.  *sample is NULL where there can be none. */
int pai__meter_take(const pai_sample **sample, pai_server *s,
                    const pai__seen_tasks *tasks, pai_error **err);
/* A task of the last sample.  False: nothing is known of it. */
bool pai__meter_of(const pai_server *s, const pai_sample *sample,
                   const pai_task_view *task, pai_sample_group *out);
/* The number by which tasks have a GPU of the sample; -1: they have not. */
int pai__meter_gpu(const pai_server *s, size_t i);
void pai__meter_free(pai_server *s);

/* --- count.c: answers that were sent -------------------------------------------- */

void pai__count_write(pai_server *s, pai__buf *out);
void pai__count_free(pai_server *s);

/* --- metrics.c: text as Prometheus reads it -------------------------------------- */

#define PAI__METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Begins a metric. */
void pai__metric_head(pai__buf *out, const char *name, const char *type,
                      const char *help);
/* A label's value, with quotes. */
void pai__metric_quote(pai__buf *out, const char *value);

/* metrics_tasks.c: of tasks, and of GPUs. */
void pai__metrics_tasks(pai__buf *out, const pai_server *s,
                        const pai_sample *sample,
                        const pai__seen_tasks *tasks);
void pai__metrics_gpus(pai__buf *out, const pai_server *s,
                       const pai_sample *sample,
                       const pai__seen_machine *machine);

#endif
