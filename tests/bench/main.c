/*
 * main.c - openpai-bench [--json] [--list] [NAME...]
 *
 * And programs of their own: hived-workload, hived-generate, see hived.c;
 * hived-replay, see hived_replay.c; sim-write, sim-run, see sim.c;
 * store-commit, see store.c; launch-rate, see launch.c; platform-rate, see
 * platform.c; api-rate, see api_rate.c; client-rate, see client_rate.c;
 * what-if, see what_if.c.
 *
 * A NAME runs all benchmarks that begin with it.  Times are processor time;
 * of several rounds the median counts.  A missed goal is printed, not an
 * error: it is for people and reports to judge.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 9, ROUND_NS = 20000000 };

static const bench *const groups[] = {
  bench_yaml,       bench_spec,   bench_cluster, bench_sample,
#ifdef HAVE_JANSSON
  bench_json,
#endif
  bench_allocation, bench_hived,  bench_sched,   bench_sim,    bench_language,
  bench_why,        bench_replay, bench_series,  bench_store,  bench_launch,
};

/* Another program beside this one: "openpai-bench-SUFFIX". */
static int run_beside(const char *suffix, int argc, char **argv)
{
  char path[4096], *args[16] = { path };
  ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 16);

  for (int i = 0; i < argc && i < 14; i++)
    args[i + 1] = argv[i];
  if (n > 0) {
    (void)snprintf(path + n, 16, "-%s", suffix);
    (void)execv(path, args);
  }
  perror(path);
  return 1;
}

/* It has a server in it. */
static int run_api(int argc, char **argv)
{
  return run_beside("api", argc, argv);
}

/* And this one a second libcurl loop. */
static int run_client(int argc, char **argv)
{
  return run_beside("client", argc, argv);
}

static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
} programs[] = {
  { "api-rate", run_api },
  { "client-rate", run_client },
  { "hived-workload", bench_hived_workload },
  { "hived-generate", bench_hived_generate },
  { "hived-replay", bench_hived_replay },
  { "launch-rate", bench_launch_rate },
  { "platform-rate", bench_platform_rate },
  { "sim-write", bench_sim_write },
  { "sim-run", bench_sim_run },
  { "store-commit", bench_store_commit },
  { "what-if", bench_what_if },
};

typedef int (*work)(void *data);

static double ns_of(const struct timeval *t)
{
  return (double)t->tv_sec * 1e9 + (double)t->tv_usec * 1e3;
}

/* With that of programs that were run. */
static double now_ns(void)
{
  struct rusage children;

  (void)getrusage(RUSAGE_CHILDREN, &children);
  return bench_seconds(CLOCK_PROCESS_CPUTIME_ID) * 1e9 +
         ns_of(&children.ru_utime) + ns_of(&children.ru_stime);
}

/* Nanoseconds a call, over n calls; negative when one fails. */
static double measure(work fn, void *data, long n)
{
  double start = now_ns();

  for (long i = 0; i < n; i++)
    if (fn(data) < 0)
      return -1;
  return (now_ns() - start) / (double)n;
}

/* How many calls make up a round. */
static long calibrate(work fn, void *data)
{
  long n = 1;
  double ns;

  for (; n < 100000000; n *= 4) {
    ns = measure(fn, data, n);
    if (ns < 0)
      return -1;
    if (ns * (double)n > ROUND_NS / 8.0)
      return (long)(ROUND_NS / ns) + 1;
  }
  return n;
}

static double median(double *v)
{
  qsort(v, ROUNDS, sizeof(*v), bench_by_size);
  return v[ROUNDS / 2];
}

/* Both sides in turn; negative when one fails. */
static int run_rounds(const bench *b, void *data, double *ours, double *base)
{
  double o[ROUNDS], s[ROUNDS] = { 0 };
  long n = calibrate(b->ours, data), m = 0;

  if (b->baseline != NULL)
    m = calibrate(b->baseline, data);
  if (n < 0 || m < 0)
    return -1;
  for (int i = 0; i < ROUNDS; i++) {
    o[i] = measure(b->ours, data, n);
    if (b->baseline != NULL)
      s[i] = measure(b->baseline, data, m);
    if (o[i] < 0 || s[i] < 0)
      return -1;
  }
  *ours = median(o);
  *base = median(s);
  return 0;
}

static void run(const bench *b, bool json)
{
  void *data = b->setup();
  double ours, base;

  if (data == NULL || run_rounds(b, data, &ours, &base) < 0)
    fprintf(stderr, "openpai-bench: %s failed\n", b->name);
  else
    bench_print(b, ours, base, json);
  if (data != NULL)
    b->teardown(data);
}

static bool is_wanted(const char *name, char **wanted)
{
  if (*wanted == NULL)
    return true;
  for (; *wanted != NULL; wanted++)
    if (strncmp(name, *wanted, strlen(*wanted)) == 0)
      return true;
  return false;
}

int main(int argc, char **argv)
{
  bool json = false, list = false;
  int at = 1, found = 0;

  for (size_t i = 0; argc > 1 && i < PAI__LEN(programs); i++)
    if (strcmp(argv[1], programs[i].name) == 0)
      return programs[i].run(argc - 2, argv + 2);
  for (; at < argc && argv[at][0] == '-'; at++) {
    if (strcmp(argv[at], "--json") == 0)
      json = true;
    else if (strcmp(argv[at], "--list") == 0)
      list = true;
    else
      goto usage;
  }
  for (size_t g = 0; g < PAI__LEN(groups); g++) {
    for (const bench *b = groups[g]; b->name != NULL; b++) {
      if (!is_wanted(b->name, argv + at))
        continue;
      found++;
      if (list)
        printf("%-16s %s\n", b->name, b->what);
      else
        run(b, json);
    }
  }
  if (found != 0)
    return 0;
  fprintf(stderr, "openpai-bench: no benchmark has that name\n");
usage:
  fprintf(stderr, "usage: openpai-bench [--json] [--list] [NAME...]\n");
  return 2;
}
