/*
 * sim.c - simulations of made-up traces, with reading them, against
 * sha256sum(1) of the same file
 *
 * And as programs of their own, for tests/bench/sim.py:
 *   openpai-bench sim-write JOBS [SEED]        a trace, to standard output
 *   openpai-bench sim-run POLICY TRACE [OPTIONS]
 */
#include "bench.h"

#include <openpai/sim.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CLUSTER "nodes:1000 gpu:8:v100 cpus:96 mem:512G racks:50"

enum { JOBS = 50000, GPUS = 8000 };

typedef struct arena {
  char path[64];
  const char *policy;
  pai_cluster *cluster;
} arena;

static arena one;

static int to_file(void *file, const char *bytes, size_t len)
{
  return fwrite(bytes, 1, len, file) == len ? PAI_OK : PAI_EIO;
}

static int write_trace(FILE *out, uint64_t jobs, uint64_t seed)
{
  pai_generate_options o = PAI_GENERATE_OPTIONS_INIT;
  pai_trace_record r = { .struct_size = sizeof(r) };
  pai_trace *t;
  int rc;

  o.jobs = jobs;
  o.seed = seed;
  o.gpus = GPUS;
  rc = pai_trace_generate(&t, &o, NULL);
  while (rc >= 0 && (rc = pai_trace_next(t, &r, NULL)) > 0)
    rc = pai_trace_write(&r, to_file, out, NULL);
  pai_trace_free(t);
  return rc;
}

static void teardown(void *data)
{
  arena *a = data;

  if (a->path[0] != '\0')
    (void)unlink(a->path);
  pai_cluster_free(a->cluster);
  *a = (arena){ { 0 }, NULL, NULL };
}

static void *setup(const char *policy)
{
  FILE *out;
  int fd, rc;

  one = (arena){ "/tmp/openpai-bench-XXXXXX", policy, NULL };
  fd = mkstemp(one.path);
  out = fd >= 0 ? fdopen(fd, "wb") : NULL;
  rc = out != NULL ? write_trace(out, JOBS, 1) : PAI_EIO;
  if (out != NULL && fclose(out) != 0)
    rc = PAI_EIO;
  if (rc >= 0)
    rc = pai_cluster_synthetic(&one.cluster, CLUSTER, NULL, NULL);
  if (rc >= 0)
    return &one;
  teardown(&one);
  return NULL;
}

static void *setup_fifo(void)
{
  return setup("fifo");
}

static void *setup_backfill(void)
{
  return setup("backfill");
}

static void *setup_hived(void)
{
  return setup("hived");
}

static int run_sim(const pai_cluster *cluster, const char *path,
                   const char *policy, const char *options,
                   pai_sim_report **report, pai_error **err)
{
  pai_sim_options o = PAI_SIM_OPTIONS_INIT;
  pai_trace *t;
  int rc = pai_trace_load(&t, path, NULL, err);

  o.policy = policy;
  o.policy_options = options;
  if (rc == PAI_OK)
    rc = pai_sim_run(report, cluster, t, &o, err);
  pai_trace_free(t);
  return rc;
}

static int simulate(void *data)
{
  const arena *a = data;
  pai_sim_report *report = NULL;
  int rc = run_sim(a->cluster, a->path, a->policy, NULL, &report, NULL);

  pai_sim_report_free(report);
  return rc;
}

static int read_trace(void *data)
{
  const arena *a = data;
  pai_trace_record r = { .struct_size = sizeof(r) };
  pai_trace *t;
  int rc = pai_trace_load(&t, a->path, NULL, NULL);

  while (rc >= 0 && (rc = pai_trace_next(t, &r, NULL)) > 0)
    continue;
  pai_trace_free(t);
  return rc;
}

static int generate(void *data)
{
  pai_generate_options o = PAI_GENERATE_OPTIONS_INIT;
  pai_trace_record r = { .struct_size = sizeof(r) };
  pai_trace *t;
  int rc;

  (void)data;
  o.jobs = JOBS;
  o.seed = 1;
  o.gpus = GPUS;
  rc = pai_trace_generate(&t, &o, NULL);
  while (rc >= 0 && (rc = pai_trace_next(t, &r, NULL)) > 0)
    continue;
  pai_trace_free(t);
  return rc;
}

/* Its time counts as ours: now_ns() has that of children. */
static int sha256sum(void *data)
{
  const arena *a = data;
  pid_t child = fork();
  int status = 1;

  if (child == 0) {
    if (freopen("/dev/null", "w", stdout) != NULL)
      (void)execlp("sha256sum", "sha256sum", a->path, (char *)NULL);
    _exit(127);
  }
  return child > 0 && waitpid(child, &status, 0) == child && status == 0
           ? PAI_OK
           : PAI_EIO;
}

/* Goals of a million jobs are 2, 5 and 20 s, where sha256sum takes 0.18. */
const bench bench_sim[] = {
  { "sim-fifo", "50,000 jobs on 1,000 nodes, read and simulated", "trace",
    0.09, setup_fifo, teardown, simulate, sha256sum },
  { "sim-backfill", "the same", "trace", 0.036, setup_backfill, teardown,
    simulate, sha256sum },
  { "sim-hived", "the same", "trace", 0.009, setup_hived, teardown, simulate,
    sha256sum },
  { "trace-read", "the same, only read", "trace", 0.5, setup_fifo, teardown,
    read_trace, sha256sum },
  { "trace-generate", "the same, made up", "trace", 0.36, setup_fifo, teardown,
    generate, sha256sum },
  { NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL },
};

/* --- programs of their own -------------------------------------------------- */

int bench_sim_write(int argc, char **argv)
{
  if (argc < 1 || argc > 2) {
    fprintf(stderr, "usage: openpai-bench sim-write JOBS [SEED]\n");
    return 2;
  }
  return write_trace(stdout, strtoull(argv[0], NULL, 10),
                     argc > 1 ? strtoull(argv[1], NULL, 10) : 1) < 0;
}

int bench_sim_run(int argc, char **argv)
{
  pai_sim_view v = { .struct_size = sizeof(v) };
  pai_sim_report *report = NULL;
  pai_cluster *cluster = NULL;
  pai_error *err = NULL;
  struct rusage used;
  double start;
  int rc;

  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: openpai-bench sim-run POLICY TRACE [OPTIONS]\n");
    return 2;
  }
  rc = pai_cluster_synthetic(&cluster, CLUSTER, NULL, &err);
  start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
  if (rc == PAI_OK)
    rc = run_sim(cluster, argv[1], argv[0], argc > 2 ? argv[2] : NULL, &report,
                 &err);
  start = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
  if (rc == PAI_OK) {
    (void)pai_sim_look(report, &v);
    (void)getrusage(RUSAGE_SELF, &used);
    printf("{\"policy\":\"%s\",\"jobs\":%llu,\"left\":%llu,\"cpu_s\":%.3f,"
           "\"max_mb\":%.1f,\"wait_mean_us\":%lld}\n",
           argv[0], (unsigned long long)v.jobs, (unsigned long long)v.left,
           start, (double)used.ru_maxrss / 1024, (long long)v.wait_mean);
  } else {
    fprintf(stderr, "openpai-bench: %s\n", pai_error_message(err));
  }
  pai_error_free(err);
  pai_sim_report_free(report);
  pai_cluster_free(cluster);
  return rc != PAI_OK;
}
