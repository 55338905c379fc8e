/*
 * Samples over time: idle GPUs are warned of and jobs stopped, time series and
 * the use of what jobs hold are answered and streamed; a clock that the test
 * moves, and GPUs that are as busy as it says.
 */
#include "server/asked.h"

#include "server/monitor/idle.h"
#include "server/monitor/sampling.h"

#include <stdio.h>
#include <unistd.h>

#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)
#define BEGINNING INT64_C(1767323045000000) /* 2026-01-02T03:04:05Z */

/* --- the clock, GPUs ------------------------------------------------------ */

static pai_time now, leap; /* leap: from sample to sample */
static pai_time sampled;   /* the last one */
static bool runs;          /* the clock */
static int32_t busy[2];
static pai__timer *sampling; /* NULL: not started yet */

pai_time __wrap_pai__loop_wall_time(void);
int __wrap_pai_sample_get_gpu(const pai_sample *sample, size_t i,
                              pai_sample_gpu *gpu);
int __wrap_pai__usage_sampler_gpu(const pai__usage_sampler *u, size_t i);
void __real_pai__timer_start(pai__timer *timer, pai_time delay);
void __wrap_pai__timer_start(pai__timer *timer, pai_time delay);

pai_time __wrap_pai__loop_wall_time(void)
{
  return now;
}

int __wrap_pai_sample_get_gpu(const pai_sample *sample, size_t i,
                              pai_sample_gpu *gpu)
{
  (void)sample;
  if (i >= 2)
    return PAI_ENOTFOUND;
  gpu->busy_percent = busy[i];
  gpu->memory_used = (int64_t)(i + 1) << 30;
  gpu->temperature = 40;
  gpu->lost = 0;
  return PAI_OK;
}

int __wrap_pai__usage_sampler_gpu(const pai__usage_sampler *u, size_t i)
{
  (void)u;
  return (int)i;
}

/* The next sample is due at once, and later by the clock.  The timer of samples
 * is the first that is started for a second. */
void __wrap_pai__timer_start(pai__timer *timer, pai_time delay)
{
  if (sampling == NULL && delay == SECOND)
    sampling = timer;
  if (timer == sampling) {
    sampled = now;
    now += runs ? leap : 0;
  }
  __real_pai__timer_start(timer, timer == sampling ? 1000 : delay);
}

/* The clock stands still but here, so that it is known what is answered. */
static void sample_until(scene *s, pai_time then)
{
  runs = true;
  while (sampled < then)
    turn(s);
  runs = false;
  now = sampled;
}

/* --- the scene ------------------------------------------------------------ */

static pai_task_view tasks[1];

static void begin_sampled(scene *s)
{
  now = BEGINNING;
  busy[0] = busy[1] = 0;
  sampling = NULL;
  sampled = 0;
  leap = MINUTE;
  runs = false;
  begin(s);
  s->platform.status = "{\"machine\":{\"name\":\"box\"},\"trouble\":null}";
  s->platform.show = "{\"jobStatus\":{\"submissionTime\":1767323045000,"
                     "\"completedTime\":null}}";
  s->platform.tasks = tasks;
  s->platform.ntasks = 1;
  tasks[0] = (pai_task_view){ .struct_size = sizeof(pai_task_view),
                              .job = 7,
                              .user = "alice",
                              .name = "mnist",
                              .framework = "f",
                              .role = "w",
                              .virtual_cluster = "default",
                              .attempt_id = "a",
                              .state = PAI_STATE_RUNNING,
                              .gpus = 3,
                              .milli_cpus = 4000,
                              .memory = 1 << 30,
                              .created = BEGINNING,
                              .started = BEGINNING };
}

/* --- idle GPUs ------------------------------------------------------------ */

IN_SCENE(begin_sampled, a_job_is_warned_once)
{
  pai_time begun;

  sample_until(s, BEGINNING + 59 * MINUTE);
  assert_string_equal(s->platform.event, "");
  sample_until(s, BEGINNING + 61 * MINUTE);
  assert_string_equal(
    s->platform.event,
    "Warning IdleGpus: Its 2 GPUs have been idle for 60 minutes.");
  s->platform.event[0] = '\0';
  sample_until(s, BEGINNING + 130 * MINUTE);
  assert_string_equal(s->platform.event, "");
  assert_int_equal(s->platform.stops, 0);
  expect(GET(s, "/api/v2/usage"), 200, "\"gpus\":2,\"idleSince\":17673230");
  expect(GET(s, "/api/v2/jobs/alice~mnist/metrics"), 200, "\"idleSince\":");
  /* it works, and then the hour begins anew */
  busy[1] = 10;
  sample_until(s, now + 2 * MINUTE);
  assert_null(strstr(GET(s, "/api/v2/usage"), "idleSince"));
  busy[1] = 0;
  begun = now;
  sample_until(s, begun + 55 * MINUTE);
  assert_string_equal(s->platform.event, "");
  sample_until(s, begun + 65 * MINUTE);
  assert_has(s->platform.event, "IdleGpus");
}

IN_SCENE(begin_sampled, a_virtual_cluster_stops_it)
{
  s->platform.vcs = "{\"default\":{\"idleWarnMinutes\":0,"
                    "\"idleStopMinutes\":20}}";
  sample_until(s, BEGINNING + 19 * MINUTE);
  assert_int_equal(s->platform.stops, 0);
  assert_string_equal(s->platform.event, "");
  sample_until(s, BEGINNING + 21 * MINUTE);
  assert_int_equal(s->platform.stops, 1);
  assert_has(s->platform.event,
             "Warning IdleGpusStopped: Its 2 GPUs have been "
             "idle for 20 minutes. The job is stopped");
  sample_until(s, BEGINNING + 60 * MINUTE);
  assert_int_equal(s->platform.stops, 1);
}

/* What is not known is not idle, nor is what was not seen for a while, nor a
 * job that is stopping. */
IN_SCENE(begin_sampled, what_is_not_known_is_not_idle)
{
  s->platform.vcs = "{\"default\":{\"idleStopMinutes\":20}}";
  busy[0] = -1;
  sample_until(s, BEGINNING + 90 * MINUTE);
  busy[0] = 0;
  leap = 3 * MINUTE; /* the machine sleeps between two samples */
  sample_until(s, BEGINNING + 300 * MINUTE);
  leap = MINUTE;
  tasks[0].state = PAI_STATE_STOPPING;
  sample_until(s, BEGINNING + 400 * MINUTE);
  assert_int_equal(s->platform.stops, 0);
  assert_string_equal(s->platform.event, "");
}

/* --- answers -------------------------------------------------------------- */

IN_SCENE(begin_sampled, series_of_a_job_and_a_node)
{
  const char *answer;

  busy[0] = 50;
  busy[1] = 100;
  leap = SECOND;
  sample_until(s, BEGINNING + 90 * SECOND);
  answer =
    GET(s, "/api/v2/jobs/alice~mnist/metrics?series=gpu,gpuMemory&step=60"
           "&from=1767323040000");
  expect(answer, 200,
         "\"step\":60,\"series\":[{\"name\":\"gpu\",\"unit\":\"percent\","
         "\"values\":[75,75]},{\"name\":\"gpuMemory\",\"unit\":\"bytes\","
         "\"values\":[3221225472,3221225472]}],\"use\":{\"gpuHours\":0.0");
  expect(answer, 200, "\"gpuUse\":75,");
  expect(answer, 200, "\"gpuLast\":75}");
  answer = GET(s, "/api/v2/nodes/box/metrics?series=gpu,temperature&step=1"
                  "&from=1767323130000&to=1767323132000");
  expect(
    answer, 200,
    "{\"from\":1767323130000,\"to\":1767323132000,\"step\":1,\"series\":["
    "{\"name\":\"gpu\",\"unit\":\"percent\",\"gpu\":0,\"values\":[50,50]},"
    "{\"name\":\"temperature\",\"unit\":\"celsius\",\"gpu\":0,"
    "\"values\":[40,40]},{\"name\":\"gpu\",\"unit\":\"percent\",\"gpu\":1,"
    "\"values\":[100,100]}");
  answer = GET(s, "/api/v2/jobs/alice~mnist/metrics?tasks=true&series=gpu");
  expect(answer, 200, "\"role\":\"w\",\"index\":0,\"values\":[");
  expect(GET(s, "/api/v2/nodes/box/metrics?series=cpu,nonsense"), 400,
         "There is no metric \\\"nonsense\\\" here.");
  expect(GET(s, "/api/v2/nodes/elsewhere/metrics"), 404, "NoNodeError");
  expect(GET(s, "/api/v2/virtual-clusters/none/metrics"), 404,
         "NoVirtualClusterError");
  expect(GET(s, "/api/v2/jobs/alice~none/metrics"), 404, "NoJobError");
  expect(GET(s, "/api/v2/scheduler/metrics"), 200, "\"name\":\"jobsRunning\"");
  /* any numbers have an answer */
  expect(GET(s, "/api/v2/nodes/box/metrics?from=9007199254740991&to=0"), 200,
         "\"values\":[]");
  expect(GET(s, "/api/v2/nodes/box/metrics?from=0&to=9007199254740991&step=1"),
         200, "\"step\":3600");
}

IN_SCENE(begin_sampled, the_latest_value_by_its_name)
{
  double value;

  leap = SECOND;
  busy[1] = 30;
  sample_until(s, BEGINNING + 10 * SECOND);
  assert_true(pai__sampling_value(s->server, "gpu/box/1/gpu", &value));
  assert_true(value > 29.9 && value < 30.1);
  assert_true(pai__sampling_value(s->server, "task/7/w/0/gpu", &value));
  assert_true(value > 14.9 && value < 15.1);
  assert_true(pai__sampling_value(s->server, "node/box/memory", &value));
  assert_true(value > 1000000);
  assert_true(pai__sampling_value(s->server, "queue/jobsRunning", &value));
  for (size_t i = 0; i < 7; i++) {
    static const char *const none[] = { "",
                                        "gpu",
                                        "gpu/box/1/x",
                                        "/",
                                        "node//",
                                        "node/other/cpu",
                                        "queue/queue/cpu" };
    assert_false(pai__sampling_value(s->server, none[i], &value));
  }
  now += 10 * MINUTE;
  assert_false(pai__sampling_value(s->server, "gpu/box/1/gpu", &value));
}

/* --- use ------------------------------------------------------------------ */

static const char *use_of(scene *s, const char *user)
{
  return ask(s,
             "GET /api/v2/usage HTTP/1.1\r\nHost: x\r\n"
             "Authorization: Bearer %s\r\nConnection: close\r\n\r\n",
             user);
}

IN_SCENE(begin_sampled, what_others_held_is_not_shown)
{
  s->server->system = true;
  sample_until(s, BEGINNING + 61 * MINUTE);
  expect(use_of(s, "alice"), 200, "\"users\":[{\"name\":\"alice\"");
  expect(use_of(s, "bob"), 200, "\"users\":[]");
  expect(use_of(s, "admin"), 200, "\"users\":[{\"name\":\"alice\"");
  /* Of an earlier user of that name. */
  s->platform.accounts.gone = true;
  s->platform.accounts.gone_job = tasks[0].job;
  expect(use_of(s, "alice"), 200, "\"users\":[]");
}

IN_SCENE(begin_sampled, hours_held_and_used)
{
  const char *answer;

  busy[0] = 50;
  sample_until(s, BEGINNING + 61 * MINUTE);
  answer = GET(s, "/api/v2/usage?username=alice,bob&vc=default");
  expect(answer, 200,
         "\"users\":[{\"name\":\"alice\",\"jobs\":1,\"gpuHours\":2");
  expect(answer, 200, "\"gpuHoursUsed\":0.5");
  expect(answer, 200, "\"gpuUse\":25,\"cpuHours\":4");
  expect(answer, 200, "\"jobs\":[{\"name\":\"mnist\",\"username\":\"alice\",");
  expect(GET(s, "/api/v2/usage?username=bob"), 200,
         "\"users\":[],\"virtualClusters\":[],\"jobs\":[],\"idle\":[]}");
  expect(GET(s, "/api/v2/usage?vc=other"), 200, "\"users\":[]");
  expect(GET(s, "/api/v2/usage?since=9007199254740991"), 200, "\"jobs\":0");
  expect(GET(s, "/api/v2/usage?limit=0"), 200, "\"jobs\":[],\"idle\":[]");
}

/* A platform that was away: its jobs held what they held, and nobody knows
 * what they used. */
IN_SCENE(begin_sampled, a_server_that_was_away)
{
  busy[0] = busy[1] = 100;
  sample_until(s, BEGINNING + 10 * MINUTE);
  close_server(s);
  now = BEGINNING + 40 * MINUTE;
  sampling = NULL;
  assert_ok(new_server(s, NULL));
  sample_until(s, BEGINNING + 50 * MINUTE);
  expect(GET(s, "/api/v2/usage"), 200, "\"gpuHours\":1.6");
  expect(GET(s, "/api/v2/usage"), 200, "\"gpuUse\":100,");
}

/* --- streams -------------------------------------------------------------- */

IN_SCENE(begin_sampled, samples_as_they_come)
{
  peer job, node;

  leap = SECOND;
  busy[0] = 20;
  come(&job, s);
  say(&job, "GET /api/v2/jobs/alice~mnist/metrics/stream HTTP/1.1\r\n"
            "Host: x\r\n\r\n");
  hear(&job, ": begins");
  come(&node, s);
  say(&node, "GET /api/v2/nodes/box/metrics/stream HTTP/1.1\r\n"
             "Host: x\r\n\r\n");
  hear(&node, "event: sample\ndata: {\"time\":17673230");
  hear(&job, ",10,3221225472,");
  leave(&node);
  hear(&job, "event: sample");
  leave(&job);
  sample_until(s, now + 5 * SECOND);
}
