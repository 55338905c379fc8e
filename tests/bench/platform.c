/*
 * platform.c - jobs of one task from their submission to their end
 *
 *   openpai-bench platform-rate [--json] [JOBS [RUNTIME [PARALLEL
 *                               [ephemeral]]]]
 *
 * 1,000 jobs of `true`, 16 at a time, with a database, by the wall clock: in
 * turn with a bare loop that starts supervisor, bash and `true`, or bubblewrap,
 * bash and `true` without a supervisor; and once more while this process holds
 * a gigabyte.  Of three rounds the median counts.  Then the median time from a
 * submission to being told that the task runs, with 16 at a time and alone, and
 * the memory of this process with all those jobs over.
 */
#define _GNU_SOURCE
#include "bare.h"
#include "bench.h"

#include <openpai/platform.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SOME_JOBS = 1000, AT_ONCE = 16, ALONE = 50, ROUNDS = 3 };

/* What is asked for, and the legs of a round. */
static struct {
  int jobs, at_once;
  bool durable, json;
  bare bare;
  char root
    [BENCH_FOLDER]; /* where platforms have their roots, one after the other; it
                    is removed in the end, for ext4 makes files slowly as long
                    as others were removed in the seconds before */
} wish;

enum leg { BARE, OURS, OURS_1G, LEGS };

/* A platform from its first job to its last. */
static struct {
  pai_loop *loop;
  pai_platform *platform;
  int jobs, submitted, running, ended, failed;
  int at_once;
  double *since, *started; /* of each job, seconds */
} run;

typedef struct result {
  double seconds;  /* a job */
  double started;  /* seconds from a submission, the median */
  double resident; /* bytes */
} result;

static int submit_one(void)
{
  pai_submit_options o = { .struct_size = sizeof(o) };
  pai_error *err = NULL;
  pai_spec *spec;
  pai_job_id id = 0;
  char text[512];
  int rc;

  (void)snprintf(text, sizeof(text),
                 "{protocolVersion: 2, name: j%d, type: job, prerequisites: "
                 "[{name: x, type: dockerimage, uri: x}], taskRoles: {a: "
                 "{dockerImage: x, resourcePerInstance: {cpu: 0, memoryMB: 64,"
                 " gpu: 0}, commands: [\"true\"]}}}",
                 run.submitted);
  rc = pai_spec_parse(&spec, text, strlen(text), NULL, &err);
  o.text = text;
  if (rc == PAI_OK)
    rc = pai_platform_submit_as(&id, run.platform, spec, &o, &err);
  if (rc < 0)
    (void)fprintf(stderr, "%s\n", pai_error_message(err));
  else
    run.since[id - 1] = bench_seconds(CLOCK_MONOTONIC);
  pai_error_free(err);
  pai_spec_unref(spec);
  run.submitted++;
  run.running++;
  return rc;
}

static void fill(void)
{
  while (run.running < run.at_once && run.submitted < run.jobs)
    if (submit_one() < 0) {
      run.ended = run.jobs;
      return;
    }
}

static int on_event(void *user_data, const pai_event *event)
{
  pai_job_id id = pai_event_job(event);
  int state = pai_event_state(event);

  (void)user_data;
  if (pai_event_type(event) != PAI_EVENT_JOB)
    return 0;
  if (run.started[id - 1] == 0)
    run.started[id - 1] = bench_seconds(CLOCK_MONOTONIC);
  if (state < PAI_STATE_SUCCEEDED)
    return 0;
  run.failed += state != PAI_STATE_SUCCEEDED;
  run.running--;
  run.ended++;
  fill();
  return 0;
}

static double resident(void)
{
  FILE *in = fopen("/proc/self/status", "r");
  char line[128];
  long kb = 0;

  while (in != NULL && fgets(line, sizeof(line), in) != NULL)
    if (strncmp(line, "VmRSS:", 6) == 0)
      kb = strtol(line + 6, NULL, 10);
  if (in != NULL)
    (void)fclose(in);
  return (double)kb * 1024;
}

static void measure(result *r)
{
  double begin = bench_seconds(CLOCK_MONOTONIC);

  fill();
  while (run.ended < run.jobs && pai_loop_run_once(run.loop) > 0)
    ;
  r->seconds = (bench_seconds(CLOCK_MONOTONIC) - begin) / run.jobs;
  for (int i = 0; i < run.jobs; i++)
    run.started[i] -= run.since[i];
  qsort(run.started, (size_t)run.jobs, sizeof(double), bench_by_size);
  r->started = run.started[run.jobs / 2];
  r->resident = resident();
}

static int run_jobs(const char *runtime, int jobs, int at_once, result *r)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  pai_error *err = NULL;
  char root[BENCH_FOLDER + 8];

  memset(&run, 0, sizeof(run));
  run.jobs = jobs;
  run.at_once = at_once;
  run.failed = jobs;
  (void)snprintf(root, sizeof(root), "%s/XXXXXX", wish.root);
  run.since = calloc((size_t)jobs, sizeof(double));
  run.started = calloc((size_t)jobs, sizeof(double));
  o.root = mkdtemp(root);
  o.durable = wish.durable;
  o.runtime = runtime;
  o.on_event = on_event;
  o.user = "bench";
  if (o.root == NULL || pai_loop_new(&run.loop, NULL, NULL) < 0)
    return -1;
  if (pai_platform_new(&run.platform, run.loop, &o, &err) < 0) {
    (void)fprintf(stderr, "%s\n", pai_error_message(err));
  } else {
    run.failed = 0;
    measure(r);
    pai_platform_close(run.platform, NULL, NULL);
    (void)!pai_loop_run(run.loop);
  }
  pai_error_free(err);
  pai_loop_free(run.loop);
  free(run.since);
  free(run.started);
  return run.failed == 0 ? 0 : -1;
}

/* --- with the bare loop ----------------------------------------------------------- */

static int run_leg(int leg, const char *runtime, result *r)
{
  size_t size = leg == OURS_1G ? (size_t)1 << 30 : 1;
  char *ballast = malloc(size);
  double begin;
  int rc;

  if (ballast == NULL)
    return -1;
  memset(ballast, 1, size);
  if (leg == BARE) {
    begin = bench_seconds(CLOCK_MONOTONIC);
    rc = bare_run(&wish.bare, wish.jobs, wish.at_once);
    r->seconds = (bench_seconds(CLOCK_MONOTONIC) - begin) / wish.jobs;
  } else {
    rc = run_jobs(runtime, wish.jobs, wish.at_once, r);
  }
  free(ballast);
  return rc;
}

static double median_seconds(const result *of)
{
  double v[ROUNDS];

  for (int i = 0; i < ROUNDS; i++)
    v[i] = of[i].seconds;
  qsort(v, ROUNDS, sizeof(*v), bench_by_size);
  return v[ROUNDS / 2];
}

static void tell(const char *name, const char *runtime, double ours,
                 double base, double goal)
{
  char full[64];

  (void)snprintf(full, sizeof(full), "platform-%s%s", runtime, name);
  bench_print(&(bench){ .name = full, .goal = goal, .unit = "job" },
              ours * 1e9, base * 1e9, wish.json);
}

static void tell_limits(const result *first, const result *alone,
                        const char *runtime)
{
  char name[64];

  (void)snprintf(name, sizeof(name), "platform-%s-started", runtime);
  bench_print_limit(name, first->started * 1e3, 10, "ms", wish.json);
  (void)snprintf(name, sizeof(name), "platform-%s-started-alone", runtime);
  bench_print_limit(name, alone->started * 1e3, 10, "ms", wish.json);
  (void)snprintf(name, sizeof(name), "platform-%s-memory", runtime);
  bench_print_limit(name, first->resident / (1 << 20), 20, "MiB", wish.json);
}

/* The first platform's memory is told: later ones find what it has left. */
static int compare(const char *runtime)
{
  bool sandbox = strcmp(runtime, "bwrap") == 0;
  double goal = sandbox ? 0.7 : 0.5, seconds[LEGS];
  result all[LEGS][ROUNDS] = { 0 }, alone;
  int rc =
    bare_open(&wish.bare, sandbox ? BARE_SANDBOX : BARE_SUPERVISOR, "true\n");

  if (bench_make_folder(wish.root) < 0)
    rc = -1;
  for (int i = 0; i < ROUNDS; i++)
    for (int leg = BARE; leg < LEGS && rc == 0; leg++)
      rc = run_leg(leg, runtime, &all[leg][i]);
  if (rc == 0)
    rc = run_jobs(runtime, ALONE, 1, &alone);
  bare_close(&wish.bare);
  bench_remove(wish.root);
  if (rc < 0) {
    (void)fprintf(stderr, "openpai-bench: jobs of %s failed\n", runtime);
    return 1;
  }
  for (int leg = BARE; leg < LEGS; leg++)
    seconds[leg] = median_seconds(all[leg]);
  tell("", runtime, seconds[OURS], seconds[BARE], goal);
  tell("-1g", runtime, seconds[OURS_1G], seconds[BARE], goal);
  tell("-1g-falls", runtime, seconds[OURS_1G], seconds[OURS], 0.9);
  tell_limits(&all[OURS][0], &alone, runtime);
  return 0;
}

int bench_platform_rate(int argc, char **argv)
{
  wish.json = argc > 0 && strcmp(argv[0], "--json") == 0;
  argc -= wish.json;
  argv += wish.json;
  wish.jobs = argc > 0 ? atoi(argv[0]) : SOME_JOBS;  // NOLINT(cert-err34-c)
  wish.at_once = argc > 2 ? atoi(argv[2]) : AT_ONCE; // NOLINT(cert-err34-c)
  wish.durable = argc <= 3;
  if (wish.jobs <= 0 || wish.at_once <= 0) {
    (void)fprintf(stderr, "usage: openpai-bench platform-rate [--json] [JOBS "
                          "[RUNTIME [PARALLEL [ephemeral]]]]\n");
    return 2;
  }
  if (argc > 1)
    return compare(argv[1]);
  return compare("process") | compare("bwrap");
}
