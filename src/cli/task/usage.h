/* usage.h - CPU, memory and GPU usage of the tasks of a job */
#ifndef PAI_SRC_CLI_USAGE_H
#define PAI_SRC_CLI_USAGE_H

#include "remote.h"

/* A value of one task from GET /metrics. */
typedef struct cli_used {
  const char *role;
  uint32_t index;
  int what;      /* the number of a GPU, or a CLI_USED_ value */
  int64_t value; /* percent or bytes */
} cli_used;

enum { CLI_USED_CPU = -1, CLI_USED_MEMORY = -2 };

typedef struct cli_usage {
  cli_remote *r;
  const char *job;
  bool asked;   /* constant values were asked for */
  int64_t gpus; /* that the job requests; -1: not known */
  char *text;   /* the last answer; the rows' roles point into it */
  cli_used *rows;
  size_t count;
  pai_sampler *sampler; /* of this machine's GPUs, if the job runs here */
  const pai_sample *sample;
} cli_usage;

/* Asks the server; without an answer there are no rows. */
void cli_usage_ask(cli_usage *u);
void cli_usage_free(cli_usage *u);

/* Usage of one GPU; -1: not known. */
typedef struct cli_gpu_use {
  int number;
  int64_t busy, memory, memory_total;
} cli_gpu_use;

enum { CLI_TASK_GPUS = 64 };

typedef struct cli_task_use {
  int64_t cpu, memory; /* percent of a processor, bytes; -1: not known */
  size_t count;        /* of known GPUs */
  cli_gpu_use gpus[CLI_TASK_GPUS];
} cli_task_use;

/* Fills in the values of a task. */
void cli_usage_of(cli_task_use *out, const cli_usage *u, const char *role,
                  uint32_t index);

#endif
