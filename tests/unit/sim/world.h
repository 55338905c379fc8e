/*
 * world.h - a trace runs, and now and then somebody asks when what waits will
 * start: were they told the truth?
 */
#ifndef PAI_TESTS_WORLD_H
#define PAI_TESTS_WORLD_H

#include <stdbool.h>

#include <openpai/forecast.h>
#include <openpai/trace.h>

typedef struct world_options {
  const pai_cluster *cluster;
  const char *policy; /* a built-in one */
  uint64_t seed;
  uint64_t jobs; /* of the trace; a job in `every` asks as it comes */
  uint64_t every;
  uint64_t learn; /* forecasts made before so many jobs came count not */
  uint64_t
    until; /* nor those after so many: the end of a trace is unlike it */
  uint32_t runs;
  int arrivals;
  bool any; /* they ask of one of those that wait, not of the one that comes */
  bool vcs; /* jobs belong to their virtual clusters; else all to one */
  bool mixed; /* an eighth of the jobs is urgent, an eighth opportunistic */
} world_options;

typedef struct world_result {
  uint64_t forecasts, told; /* asked; answers that were looked at */
  uint64_t open;            /* of these: not started at the end of the trace */
  uint64_t by10, by50, by90; /* started until then */
  uint64_t raw50, raw90;     /* of the futures as they were */
  uint64_t never;            /* told as never */
  uint64_t width;            /* P90 - now, as thousandths of P50 - now: sum */
} world_result;

/* So many nodes of 8 GPUs for a trace; each of its virtual clusters has a share
 * like that of the work of its jobs. */
pai_cluster *world_cluster(const pai_generate_options *made, uint32_t nodes);

/* Runs all of it. */
void world_run(pai_trace *trace, const world_options *o, world_result *result);

#endif
