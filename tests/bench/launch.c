/*
 * launch.c - tasks through the back end against a bare loop that starts the
 * same supervisors with the same orders; also in a host of one gigabyte
 *
 *   openpai-bench launch-rate [COUNT [MEGABYTES [RUNTIME [AT-ONCE]]]]
 *
 * measures the wall clock instead, 16 tasks at once, both sides in turn, and
 * whose processor time it took: this process' or those of the tasks.
 */
#define _GNU_SOURCE
#include "bare.h"
#include "bench.h"

#include "backend/backend.h"

#include <openpai/loop.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { AT_ONCE = 16, ROUND = 64, DIR = BENCH_FOLDER + 32 };

static const char script[] = "/bin/true\n";

static struct {
  char root[BENCH_FOLDER];
  pai_loop *loop;
  void *backend;
  bare bare;
  void *ballast;
  int runtime, at_once;
  bool job; /* all are tasks of one job, which see each other's processes */
  uint64_t next;    /* of folders */
  int left, failed; /* of a run: not started yet; ended otherwise than well */
  int ended;
} data;

static void next_dir(char dir[DIR])
{
  (void)snprintf(dir, DIR, "%s/%llu", data.root,
                 (unsigned long long)data.next++);
}

/* --- ours ------------------------------------------------------------------------ */

static void start_one(void)
{
  pai_launch_plan plan = { .struct_size = sizeof(plan),
                           .script = script,
                           .runtime = data.runtime };
  char dir[DIR];

  if (data.left == 0)
    return;
  data.left--;
  next_dir(dir);
  plan.dir = dir;
  if (data.job) {
    plan.flags = PAI_LAUNCH_SHARE_PIDS;
    plan.job_dir = data.root;
  }
  if (pai__backend_local.start(data.backend, data.next, &plan, NULL) < 0)
    data.failed++;
}

static void on_ended(void *unused, uint64_t task, const pai_task_end *end)
{
  (void)unused;
  (void)task;
  data.failed += end->code != 0;
  data.ended++;
  start_one();
}

static void on_output(void *unused, uint64_t task, int stream,
                      const char *bytes, size_t len)
{
  (void)unused;
  (void)task;
  (void)stream;
  (void)bytes;
  (void)len;
}

static int run_ours(int count)
{
  data.left = count;
  data.ended = data.failed = 0;
  for (int i = 0; i < data.at_once; i++)
    start_one();
  while (data.ended < count && data.failed == 0)
    if (pai_loop_run_once(data.loop) < 0)
      return -1;
  return data.failed == 0 ? 0 : -1;
}

/* --- before and after ----------------------------------------------------------------- */

static void *setup_with(int runtime, size_t ballast)
{
  pai_backend_host host = { .struct_size = sizeof(host),
                            .output = on_output,
                            .ended = on_ended };

  memset(&data, 0, sizeof(data));
  data.runtime = runtime;
  data.at_once = AT_ONCE;
  if (bench_make_folder(data.root) < 0 ||
      bare_open(&data.bare,
                runtime == PAI_RUNTIME_BWRAP ? BARE_SUPERVISOR_SANDBOX
                                             : BARE_SUPERVISOR,
                script) < 0 ||
      pai_loop_new(&data.loop, NULL, NULL) < 0)
    return NULL;
  host.loop = data.loop;
  host.root = data.root;
  if (pai__backend_local.open(&data.backend, NULL, &host, NULL) < 0)
    return NULL;
  if (ballast > 0) {
    data.ballast = malloc(ballast);
    if (data.ballast == NULL)
      return NULL;
    memset(data.ballast, 1, ballast);
  }
  return &data;
}

static void *setup(void)
{
  return setup_with(PAI_RUNTIME_PROCESS, 0);
}

static void *setup_large(void)
{
  return setup_with(PAI_RUNTIME_PROCESS, (size_t)1 << 30);
}

static void *setup_sandbox(void)
{
  return setup_with(PAI_RUNTIME_BWRAP, 0);
}

static void on_closed(void *unused)
{
  (void)unused;
}

static void teardown(void *unused)
{
  (void)unused;
  pai__backend_local.close(data.backend, PAI_CLOSE_STOP, on_closed);
  (void)!pai_loop_run(data.loop);
  pai_loop_free(data.loop);
  bare_close(&data.bare);
  free(data.ballast);
  bench_remove(data.root);
}

static int run_bare(int count)
{
  return bare_run(&data.bare, count, data.at_once);
}

static int ours(void *unused)
{
  (void)unused;
  return run_ours(ROUND);
}

static int base(void *unused)
{
  (void)unused;
  return run_bare(ROUND);
}

const bench bench_launch[] = {
  { "launch", "64 tasks, 16 at once, against bare supervisors", "round", 0.5,
    setup, teardown, ours, base },
  { "launch-1g", "the same in a host of one gigabyte", "round", 0.5,
    setup_large, teardown, ours, base },
  { "launch-bwrap", "the same, both with bubblewrap", "round", 0.7,
    setup_sandbox, teardown, ours, base },
  { NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL },
};

/* --- by the clock --------------------------------------------------------------------- */

/* Of this process, or of all it has waited for. */
static double processor_ms(int who)
{
  struct rusage use;

  (void)getrusage(who, &use);
  return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e3 +
         (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e3;
}

static double rate(const char *name, int (*run)(int count), int count)
{
  double start = bench_seconds(CLOCK_MONOTONIC),
         self = processor_ms(RUSAGE_SELF),
         tasks = processor_ms(RUSAGE_CHILDREN), per_second;

  if (run(count) < 0)
    return -1;
  per_second = count / (bench_seconds(CLOCK_MONOTONIC) - start);
  printf("%s %.0f tasks/s (%.2f ms of processor here, %.2f ms in the task), ",
         name, per_second, (processor_ms(RUSAGE_SELF) - self) / count,
         (processor_ms(RUSAGE_CHILDREN) - tasks) / count);
  return per_second;
}

int bench_launch_rate(int argc, char **argv)
{
  int count = argc > 0 ? (int)strtol(argv[0], NULL, 10) : 1000;
  size_t ballast =
    argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) << 20 : (size_t)0;
  bool job = argc > 2 && strcmp(argv[2], "job") == 0;
  bool sandbox = job || (argc > 2 && strcmp(argv[2], "bwrap") == 0);

  if (setup_with(sandbox ? PAI_RUNTIME_BWRAP : PAI_RUNTIME_PROCESS, ballast) ==
      NULL)
    return 1;
  data.job = job;
  if (argc > 3)
    data.at_once = (int)strtol(argv[3], NULL, 10);
  for (int i = 0; i < 3; i++) {
    double o = rate("back end", run_ours, count),
           b = rate("bare loop", run_bare, count);

    printf("ratio %.2f\n", o / b);
  }
  teardown(NULL);
  return 0;
}
