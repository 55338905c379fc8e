/* sim_run.h - one simulation, or several side by side */
#ifndef PAI_SRC_CLI_SIM_RUN_H
#define PAI_SRC_CLI_SIM_RUN_H

#include "source.h"

#include <openpai/sim.h>

/* The settings that all runs share. */
typedef struct sim_plan {
  const char *trace; /* "-": standard input */
  int form;          /* format of the trace, or 0 */
  const char *model; /* GPU model of jobs that name none, or NULL */
  bool sort;
  pai_sim_options options;
  pai_cluster *cluster;
  const char *log, *events, *jobs; /* files to write, or NULL */
  bool quiet;                      /* print nothing about unusable lines */
  bool verbose; /* also print lines that are used with changes */
} sim_plan;

/* A policy and the result of its run. */
typedef struct sim_case {
  char name[64];
  const char *options; /* or NULL */
  pai_sim_report *report;
} sim_case;

/* Called with how much of the trace was read, in thousandths. */
typedef void (*sim_progress)(void *data, unsigned thousandths);

/* Runs one simulation.  Returns CLI_OK; CLI_NO after printing an error;
 * CLI_USAGE: the trace or a file cannot be opened. */
int sim_run(const sim_plan *plan, sim_case *c, sim_progress progress,
            void *data);

/* Runs several simulations, each in a process of its own, as many at a time as
 * there are processors.  Returns the worst exit code. */
int sim_run_all(const sim_plan *plan, sim_case *cases, size_t count,
                sim_progress progress, void *data);

/* Finds a format of traces by its name; NULL: detected from the content.
 * Returns CLI_OK, or CLI_USAGE after printing an error (cmd_trace.c). */
int cli_trace_form(const char *name, int *form);

#endif
