/* allocation.c - allocation sets against bare loops over the same words */
#include "bench.h"

#include "resource/allocation/allocation.h"

#include <stdio.h>
#include <stdlib.h>

enum { NODES = 10000 };

/* Two sets of whole nodes, 8 GPUs, 32 CPUs and memory each, where each lacks
 * what the other has; and the same in arrays. */
static struct inputs {
  pai_allocation *a, *b, *job;
  uint64_t gpus[2][NODES], cpus[2][NODES], memory[2][NODES];
} in;

static int fill(pai_allocation *set, unsigned which)
{
  for (uint32_t node = 0; node < NODES; node++) {
    uint32_t gpu = which * 4, cpu = which * 16;

    if (pai_allocation_add(set, node, PAI_ALLOCATION_GPU, gpu, gpu + 3, NULL) <
          0 ||
        pai_allocation_add(set, node, PAI_ALLOCATION_CPU, cpu, cpu + 15,
                           NULL) < 0 ||
        pai_allocation_set_memory(set, node, (uint64_t)64 << 30, NULL) < 0)
      return -1;
    in.gpus[which][node] = (uint64_t)15 << gpu;
    in.cpus[which][node] = (uint64_t)65535 << cpu;
    in.memory[which][node] = (uint64_t)64 << 30;
  }
  return 0;
}

static void teardown(void *data)
{
  (void)data;
  pai_allocation_free(in.a);
  pai_allocation_free(in.b);
  pai_allocation_free(in.job);
  memset(&in, 0, sizeof(in));
}

static void *setup(void)
{
  static const char job[] = "node 5000: gpu 0-3 cpu 0-15 mem 8G; "
                            "node 5001: gpu 0-3 cpu 0-15 mem 8G";

  if (pai_allocation_new(&in.a, NULL, NULL) == PAI_OK &&
      pai_allocation_new(&in.b, NULL, NULL) == PAI_OK &&
      pai_allocation_parse(&in.job, job, strlen(job), NULL, NULL) == PAI_OK &&
      fill(in.a, 0) == 0 && fill(in.b, 1) == 0)
    return &in;
  teardown(NULL);
  return NULL;
}

/* A compiler cannot know that this is always right. */
static int verdict(uint64_t gpus, uint64_t cpus)
{
  return gpus % 4 == 0 && cpus % 16 == 0 && gpus != 0 ? PAI_OK : PAI_EINTERNAL;
}

static int unite_sets(void *data)
{
  const struct inputs *i = data;

  if (pai_allocation_unite(i->a, i->b, NULL) < 0)
    return PAI_ENOMEM;
  return verdict(pai_allocation_total(i->a, PAI_ALLOCATION_GPU),
                 pai_allocation_total(i->a, PAI_ALLOCATION_CPU));
}

static int unite_words(void *data)
{
  struct inputs *i = data;
  uint64_t gpus = 0, cpus = 0;

  for (size_t n = 0; n < NODES; n++) {
    i->gpus[0][n] |= i->gpus[1][n];
    i->cpus[0][n] |= i->cpus[1][n];
    if (i->memory[0][n] < i->memory[1][n])
      i->memory[0][n] = i->memory[1][n];
  }
  for (size_t n = 0; n < NODES; n++)
    gpus += pai__bits_ones(i->gpus[0][n]);
  for (size_t n = 0; n < NODES; n++)
    cpus += pai__bits_ones(i->cpus[0][n]);
  return verdict(gpus, cpus);
}

static int intersect_sets(void *data)
{
  const struct inputs *i = data;
  pai_allocation *both;
  int rc = pai_allocation_intersection(&both, i->a, i->a, NULL);

  if (rc == PAI_OK)
    rc = verdict(pai_allocation_total(both, PAI_ALLOCATION_GPU),
                 pai_allocation_total(both, PAI_ALLOCATION_CPU));
  pai_allocation_free(both);
  return rc;
}

/* Likewise into memory of its own. */
static int intersect_words(void *data)
{
  const struct inputs *i = data;
  uint64_t gpus = 0, cpus = 0, *out = malloc(sizeof(i->gpus[0]) * 3);

  if (out == NULL)
    return PAI_ENOMEM;
  for (size_t n = 0; n < NODES; n++) {
    out[n] = i->gpus[0][n] & i->gpus[0][n];
    out[NODES + n] = i->cpus[0][n] & i->cpus[0][n];
    out[2 * NODES + n] = i->memory[0][n];
  }
  for (size_t n = 0; n < NODES; n++)
    gpus += pai__bits_ones(out[n]);
  for (size_t n = 0; n < NODES; n++)
    cpus += pai__bits_ones(out[NODES + n]);
  free(out);
  return verdict(gpus, cpus);
}

/* What a scheduler does for a job of two nodes, all checks included. */
static int take_and_give(void *data)
{
  const struct inputs *i = data;
  int rc = pai_allocation_take(i->a, i->job, NULL);

  return rc == PAI_OK ? pai_allocation_give(i->a, i->job, NULL) : rc;
}

const bench bench_allocation[] = {
  { "allocation-unite",
    "10,000 nodes united in place and counted, against loops over words",
    "union", 0.25, setup, teardown, unite_sets, unite_words },
  { "allocation-intersect",
    "10,000 nodes intersected to a new set and counted, against loops", "set",
    0.25, setup, teardown, intersect_sets, intersect_words },
  { "allocation-job", "a job of two nodes taken from 10,000 and given back",
    "job", 0, setup, teardown, take_and_give, NULL },
  { NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL },
};
