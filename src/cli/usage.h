/* usage.h - what the tasks of a job use, as far as anybody tells */
#ifndef PAI_SRC_CLI_USAGE_H
#define PAI_SRC_CLI_USAGE_H

#include "remote.h"

/* What is told in GET /metrics of one task. */
typedef struct cli_used {
  const char *role;
  uint32_t index;
  int what;      /* the number of a GPU, or one of these: */
  int64_t value; /* percent; bytes */
} cli_used;

enum { CLI_USED_CPU = -1, CLI_USED_MEMORY = -2 };

typedef struct cli_usage {
  cli_remote *r;
  const char *job;
  bool asked;   /* for what does not change */
  int64_t gpus; /* that the job asks for; -1: nobody tells */
  char *text;   /* of the last answer, in which roles are */
  cli_used *rows;
  size_t count;
  pai_sampler *sampler; /* of this machine's GPUs, if they are the job's */
  const pai_sample *sample;
} cli_usage;

/* Asks, and keeps what is told; of one who does not answer nothing is. */
void cli_usage_ask(cli_usage *u);
void cli_usage_free(cli_usage *u);

/* Of one GPU; -1: not known. */
typedef struct cli_gpu_use {
  int number;
  int64_t busy, memory, memory_total;
} cli_gpu_use;

enum { CLI_TASK_GPUS = 64 };

typedef struct cli_task_use {
  int64_t cpu, memory; /* percent of a processor, bytes; -1 */
  size_t count;        /* of its GPUs that are known */
  cli_gpu_use gpus[CLI_TASK_GPUS];
} cli_task_use;

/* Puts in what is told of a task. */
void cli_usage_of(cli_task_use *out, const cli_usage *u, const char *role,
                  uint32_t index);

#endif
