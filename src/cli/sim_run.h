/* sim_run.h - one simulation, or several side by side */
#ifndef PAI_SRC_CLI_SIM_RUN_H
#define PAI_SRC_CLI_SIM_RUN_H

#include "source.h"

#include <openpai/sim.h>

/* What all runs have in common. */
typedef struct sim_plan {
  const char *trace; /* "-": standard input */
  int form;          /* of it, or 0 */
  const char *model; /* GPUs that are asked for where it names none, or NULL */
  bool sort;
  pai_sim_options options;
  pai_cluster *cluster;
  const char *log, *events, *jobs; /* files to write, or NULL */
  bool quiet;                      /* lines that cannot be used are not told */
  bool verbose; /* what is used, but not as it stands, is told, too */
} sim_plan;

/* A policy as it was asked for, and what came of it. */
typedef struct sim_case {
  char name[64];
  const char *options; /* or NULL */
  pai_sim_report *report;
} sim_case;

/* Told how much of the trace was read, in thousandths. */
typedef void (*sim_progress)(void *data, unsigned thousandths);

/* Runs one.  CLI_OK; CLI_NO, and said why; CLI_USAGE: the trace or a file
 * cannot be opened. */
int sim_run(const sim_plan *plan, sim_case *c, sim_progress progress,
            void *data);

/* Runs several, each in a process of its own, as many at a time as there are
 * processors.  The worst that came of them. */
int sim_run_all(const sim_plan *plan, sim_case *cases, size_t count,
                sim_progress progress, void *data);

#endif
