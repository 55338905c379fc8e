/* simulated.h - simulations of records that a test makes up */
#ifndef PAI_TESTS_SIMULATED_H
#define PAI_TESTS_SIMULATED_H

#include "base/buf.h"
#include "sim/sim.h"
#include "testing.h"

/* A job in few words: so many tasks, with so many GPUs and a CPU each. */
typedef struct test_job {
  int64_t time; /* seconds, as all here */
  uint32_t tasks, gpus;
  int64_t duration, estimate; /* estimate 0: none */
  int priority;
  const char *vc, *user, *id, *after;
  int code;
  uint32_t retries;
  int64_t limit, patience;
  int kind;         /* 0: a job; else PAI_RECORD_*: of `id` or `node` */
  const char *node; /* changes to `code` */
  int64_t then;     /* duration of the next attempt, that ends well; 0: none */
} test_job;

/* What became of each, by its place in the list. */
typedef struct test_fate {
  pai_time started, ended; /* microseconds; -1: never */
  int state, code;
  uint32_t attempts, preemptions;
  pai_time lost;
} test_fate;

typedef struct test_sim {
  const test_job *jobs;
  size_t count, next;
  size_t numbers[4096]; /* of the jobs: their places in the list */
  size_t njobs;
  test_fate fates[4096];
  pai_want want;
  pai_trace_attempt attempts[2];
  const char *after[1];
  uint64_t told, lines_used; /* on_line */
  pai__buf log, events;
  pai_sim *sim;
} test_sim;

/* Makes a simulation of a description of a cluster, or its text.  Codes of
 * pai_sim_new(). */
int test_sim_new(test_sim *t, const char *cluster, const test_job *jobs,
                 size_t count, const pai_sim_options *opts, pai_error **err);
/* Runs it to its end, and makes a report; what the last call returned. */
int test_sim_run(test_sim *t, pai_sim_report **report, pai_error **err);
void test_sim_dispose(test_sim *t);
/* All of it, which nothing can be wrong with; and what is left of it. */
pai_sim_report *test_sim_all(test_sim *t, const char *cluster,
                             const test_job *jobs, size_t n,
                             const pai_sim_options *o);
void test_sim_done(test_sim *t, pai_sim_report *report);

#define TEST_TWO_VCS                                          \
  "skus: {box: {gpu: h100, gpus: 4, cpus: 64, memory: 1T}}\n" \
  "nodes: [{name: \"n[1-4]\", sku: box}]\n"                   \
  "virtualClusters: {ours: {cells: {box: 3}}, yours: {cells: {box: 1}}}\n"

#endif
