/* What a platform recorded is simulated: jobs that took as long as they did
 * start in the same order. */
#include "cases.h"
#include "durable.h"

#include "resource/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { JOBS = 10 };

/* CPUs, of how many there are, and milliseconds. */
static const struct {
  int part;
  int ms;
} jobs[JOBS] = { { 1, 150 }, { 2, 250 }, { 2, 50 },  { 2, 50 }, { 1, 50 },
                 { 2, 50 },  { 2, 150 }, { 1, 100 }, { 2, 50 }, { 2, 50 } };

typedef struct order {
  durable d;
  pai_job_id ids[JOBS];
  char live[256], simulated[256];
  struct {
    pai_time started;
    uint64_t id;
  } starts[JOBS];
  int n;
} order;

static int cpus_of(int i)
{
  int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN) / jobs[i].part;

  return cpus > 0 ? cpus : 1;
}

static int on_event(void *user_data, const pai_event *event)
{
  order *o = user_data;
  size_t used = strlen(o->live);

  if (pai_event_type(event) == PAI_EVENT_JOB &&
      pai_event_state(event) == PAI_STATE_RUNNING)
    (void)snprintf(o->live + used, sizeof(o->live) - used, "%d ",
                   (int)pai_event_job(event));
  return 0;
}

static void run_live(order *o)
{
  pai_listener *listener;

  durable_open(&o->d, story_in("order"));
  assert_ok(
    pai_platform_listen(&listener, o->d.platform, 0, on_event, o, NULL));
  for (int i = 0; i < JOBS; i++) {
    char name[16], command[64];
    (void)snprintf(name, sizeof(name), "j%d", i);
    (void)snprintf(command, sizeof(command), "sleep 0.%03d", jobs[i].ms);
    o->d.cpus = cpus_of(i);
    o->ids[i] = durable_submit(&o->d, name, "", "", command);
    assert_int_not_equal(o->ids[i], 0);
  }
  for (int i = 0; i < JOBS; i++)
    durable_reaches(&o->d, o->ids[i], PAI_STATE_SUCCEEDED);
}

/* The number behind a key of a job's item. */
static double number_of(const char *item, const char *key)
{
  const char *at = strstr(item, key);

  assert_non_null(at);
  return strtod(at + strlen(key), NULL) / 1000;
}

/* A trace of what the records say of each job. */
static void write_trace(order *o, const char *path)
{
  FILE *out = fopen(path, "w");
  double first = 0;

  assert_non_null(out);
  (void)durable_list(&o->d, NULL);
  for (int i = 0; i < JOBS; i++) {
    char name[32];
    const char *item;
    double came, began, ended;

    (void)snprintf(name, sizeof(name), "\"name\":\"j%d\"", i);
    item = strstr(o->d.text, name);
    assert_non_null(item);
    came = number_of(item, "\"submissionTime\":");
    began = number_of(item, "\"launchedTime\":");
    ended = number_of(item, "\"completedTime\":");
    first = i == 0 ? came : first;
    (void)fprintf(out,
                  "{\"time\":%.3f,\"id\":\"j%d\",\"cpus\":%d,\"duration\":"
                  "%.3f}\n",
                  came - first, i, cpus_of(i), ended - began);
  }
  (void)fclose(out);
}

static void on_job(void *user_data, const pai_sim_job *job)
{
  order *o = user_data;

  assert_in_range(o->n, 0, JOBS - 1);
  o->starts[o->n].started = job->started;
  o->starts[o->n++].id = job->id;
}

static int by_start(const void *a, const void *b)
{
  const pai_time *x = a, *y = b;

  if (x[0] != y[0])
    return x[0] < y[0] ? -1 : 1;
  return x[1] < y[1] ? -1 : x[1] > y[1];
}

static void simulate(order *o, const char *path)
{
  pai_sim_options options = PAI_SIM_OPTIONS_INIT;
  pai_sim_report *report;
  pai_cluster *cluster;
  pai__machine here;
  pai_trace *trace;
  pai_error *err = NULL;

  pai__machine_discover(&here);
  assert_ok(pai__machine_cluster(&cluster, &here, &pai__libc_alloc));
  assert_ok(pai_trace_load(&trace, path, NULL, NULL));
  options.on_job = on_job;
  options.user_data = o;
  if (pai_sim_run(&report, cluster, trace, &options, &err) < 0)
    fail_msg("%s", pai_error_message(err));
  pai_sim_report_free(report);
  pai_trace_free(trace);
  pai_cluster_free(cluster);
  assert_int_equal(o->n, JOBS);
  qsort(o->starts, JOBS, sizeof(o->starts[0]), by_start);
  for (int i = 0; i < JOBS; i++) {
    size_t used = strlen(o->simulated);
    (void)snprintf(o->simulated + used, sizeof(o->simulated) - used, "%d ",
                   (int)o->starts[i].id);
  }
}

TEST(a_run_is_simulated_in_the_same_order)
{
  order *o = calloc(1, sizeof(*o));
  char path[300];

  (void)snprintf(path, sizeof(path), "%s/order.jsonl", story_root);
  run_live(o);
  write_trace(o, path);
  durable_close(&o->d);
  simulate(o, path);
  assert_string_equal(o->live, o->simulated);
  free(o);
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
