/*
 * bench.h - benchmarks: ours and a baseline, in turn, in the same run
 *
 * Only ratios are worth anything: both sides see the same machine, the same
 * minute and the same bytes.
 */
#ifndef PAI_TESTS_BENCH_H
#define PAI_TESTS_BENCH_H

#include "base/buf.h"

#include <time.h>

typedef struct bench {
  const char *name;
  const char *what; /* ours against the baseline, in words */
  const char *unit; /* what one call does */
  double goal;      /* baseline time / our time should be at least this */
  /* Makes what both sides need; NULL is a failure. */
  void *(*setup)(void);
  void (*teardown)(void *data);
  /* One unit of work; negative is a failure.  baseline may be NULL. */
  int (*ours)(void *data);
  int (*baseline)(void *data);
} bench;

/* Groups of benchmarks; each list ends with a name of NULL. */
extern const bench bench_allocation[];
extern const bench bench_yaml[];
extern const bench bench_json[];
extern const bench bench_spec[];
extern const bench bench_language[];
extern const bench bench_cluster[];
extern const bench bench_sample[];
extern const bench bench_series[];
extern const bench bench_sched[];
extern const bench bench_hived[];
extern const bench bench_why[];
extern const bench bench_sim[];
extern const bench bench_replay[];
extern const bench bench_store[];
extern const bench bench_launch[];

/* A result, as a line: print.c.  A limit is what a value should not exceed. */
void bench_print(const bench *b, double ours, double base, bool json);
void bench_print_limit(const char *name, double value, double limit,
                       const char *unit, bool json);

/* What a clock says, in seconds (print.c). */
double bench_seconds(clockid_t clock);

/* Programs of their own, with the words behind their names; exit codes. */
int bench_hived_workload(int argc, char **argv);
int bench_hived_generate(int argc, char **argv);
int bench_hived_replay(int argc, char **argv);
int bench_sim_write(int argc, char **argv);
int bench_sim_run(int argc, char **argv);
int bench_store_commit(int argc, char **argv);
int bench_launch_rate(int argc, char **argv);
int bench_platform_rate(int argc, char **argv);
int bench_what_if(int argc, char **argv);

/* Compares doubles, for qsort(). */
int bench_by_size(const void *a, const void *b);

/* libyaml's bare events of a pai__buf (yaml.c). */
int bench_yaml_events(void *data);

/* Generated inputs, the same on every machine (inputs.c). */
void bench_yaml_spec(pai__buf *out);            /* one job, about 2.5 KB */
void bench_yaml_list(pai__buf *out, int njobs); /* jobs as a sequence */
void bench_json_spec(pai__buf *out);            /* one job, about 2.5 KB */
void bench_json_list(pai__buf *out, int njobs); /* about 490 bytes a job */
/* A cluster of racks of 8 nodes of 8 GPUs, in HiveD's form; a multiple of 8
 * nodes (hived_generate.c). */
void bench_hived_cluster(pai__buf *out, unsigned nodes);

#endif
