/*
 * GET /alerts over time: since when something is the case, when it was over,
 * and who is told; a clock that the test moves, and GPUs that are as busy as it
 * says.
 */
#include "../asked.h"

#include "server/alerts/alerts.h"
#include "server/alerts/states.h"

#include <openpai/sample.h>

#include <stdio.h>

#define SECOND INT64_C(1000000)
#define HOUR (3600 * SECOND)
#define BEGINNING INT64_C(1767323045000000) /* 2026-01-02T03:04:05Z */

/* --- the clock, GPUs ---------------------------------------------------------------- */

static pai_time now;
static int32_t busy[2];
static int lost;
static bool hurry, blind;

pai_time __wrap_pai__loop_wall_time(void);
int __wrap_pai_sample_get_gpu(const pai_sample *sample, size_t i,
                              pai_sample_gpu *gpu);
int __real_pai_sampler_take(const pai_sample **out, pai_sampler *sampler,
                            pai_time now, pai_error **err);
int __wrap_pai_sampler_take(const pai_sample **out, pai_sampler *sampler,
                            pai_time when, pai_error **err);
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
  gpu->lost = lost;
  return PAI_OK;
}

int __wrap_pai__usage_sampler_gpu(const pai__usage_sampler *u, size_t i)
{
  (void)u;
  return (int)i;
}

int __wrap_pai_sampler_take(const pai_sample **out, pai_sampler *sampler,
                            pai_time when, pai_error **err)
{
  return blind ? PAI_EIO : __real_pai_sampler_take(out, sampler, when, err);
}

/* A minute is over soon. */
void __wrap_pai__timer_start(pai__timer *timer, pai_time delay)
{
  __real_pai__timer_start(timer, hurry && delay == 60 * SECOND ? 1000 : delay);
}

/* --- the scene ------------------------------------------------------------------------ */

static pai_task_view tasks[2];

static pai_task_view task(pai_job_id job, const char *user, const char *name,
                          int state)
{
  return (pai_task_view){ .struct_size = sizeof(pai_task_view),
                          .job = job,
                          .user = user,
                          .name = name,
                          .framework = "f",
                          .role = "w",
                          .attempt_id = "a",
                          .state = state,
                          .created = BEGINNING };
}

static void begin_watched(scene *s)
{
  now = BEGINNING;
  busy[0] = busy[1] = 0;
  lost = 0;
  begin(s);
  s->platform.tasks = tasks;
  s->platform.ntasks = 2;
  s->platform.status = "{\"machine\":{\"name\":\"box\"},\"trouble\":null}";
  tasks[0] = task(7, "alice", "mnist", PAI_STATE_RUNNING);
  tasks[0].gpus = 3;
  tasks[1] = task(8, "bob", "old", PAI_STATE_RUNNING);
}

static const char *ask_after(scene *s, pai_time later)
{
  now += later;
  return GET(s, "/api/v2/alerts");
}

/* --- tests ---------------------------------------------------------------------------- */

#define IDLE "PAIJobGpuPercentLowerThan0_3For1h"

IN_SCENE(begin_watched, gpus_that_do_nothing)
{
  const char *answer;

  assert_null(strstr(ask_after(s, 0), IDLE));
  assert_null(strstr(ask_after(s, HOUR - SECOND), IDLE));
  answer = ask_after(s, 60 * SECOND);
  expect(answer, 200,
         "\"alertname\":\"" IDLE "\",\"severity\":\"warn\","
         "\"node_name\":\"box\",\"job_name\":\"alice~mnist\"");
  expect(answer, 200, "\"startsAt\":\"2026-01-02T04:04:05.000Z\"");
  assert_null(strstr(answer, "bob~old")); /* which has no GPUs */
  /* One that works is enough, and then the hour begins anew. */
  busy[1] = 1;
  assert_null(strstr(ask_after(s, 60 * SECOND), IDLE));
  busy[1] = 0;
  assert_null(strstr(ask_after(s, 60 * SECOND), IDLE));
  assert_null(strstr(ask_after(s, HOUR - SECOND), IDLE));
  expect(ask_after(s, 10 * SECOND), 200, IDLE);
  /* What is not known is not idle. */
  busy[0] = -1;
  assert_null(strstr(ask_after(s, 60 * SECOND), IDLE));
  busy[0] = 0;
  lost = 1;
  assert_null(strstr(ask_after(s, 2 * HOUR), IDLE));
}

/* What a sample would say lasts when there is none; not of a job that has
 * ended. */
IN_SCENE(begin_watched, samples_that_fail)
{
  (void)ask_after(s, 0);
  blind = true;
  assert_null(strstr(ask_after(s, HOUR - SECOND), IDLE));
  expect(ask_after(s, 60 * SECOND), 200, IDLE);
  blind = false;
  expect(ask_after(s, 60 * SECOND), 200,
         "\"startsAt\":\"2026-01-02T04:04:05.000Z\"");
  blind = true;
  s->platform.ntasks = 0;
  assert_null(strstr(ask_after(s, 60 * SECOND), IDLE));
  blind = false;
}

IN_SCENE(begin_watched, since_when_and_until_when)
{
  const char *answer;

  tasks[1].attempt = 4;
  s->platform.status = "{\"machine\":{\"name\":\"box\"},\"trouble\":\"x\"}";
  expect(ask_after(s, 0), 200, "\"alertname\":\"PaiJobRetried\"");
  tasks[1].attempt = 5;
  answer = ask_after(s, HOUR);
  expect(answer, 200, "in retry number 5");
  expect(answer, 200,
         "\"startsAt\":\"2026-01-02T03:04:05.000Z\",\"endsAt\":"
         "\"2026-01-02T04:09:05.000Z\"");
  expect(GET(s, "/api/v2/alerts?resolved=true"), 200, "\r\n\r\n[]");
  s->platform.status = "{\"machine\":{\"name\":\"box\"},\"trouble\":null}";
  answer = ask_after(s, HOUR);
  assert_null(strstr(answer, "NodeDiskPressure"));
  expect(answer, 200, "PaiJobRetried");
  answer = GET(s, "/api/v2/alerts?resolved=true");
  expect(answer, 200, "\"alertname\":\"NodeDiskPressure\"");
  expect(answer, 200,
         "\"startsAt\":\"2026-01-02T03:04:05.000Z\",\"endsAt\":"
         "\"2026-01-02T05:04:05.000Z\"");
  expect(answer, 200, "\"state\":\"resolved\"");
  assert_null(strstr(answer, "PaiJobRetried"));
  (void)ask_after(s, 24 * HOUR);
  assert_null(
    strstr(GET(s, "/api/v2/alerts?resolved=true"), "NodeDiskPressure"));
  /* What cannot be seen is no news. */
  s->platform.fail = PAI_EIO;
  expect(ask_after(s, HOUR), 500, "UnknownError");
  s->platform.fail = 0;
  expect(ask_after(s, 0), 200, "PaiJobRetried");
}

/* Also the first minute is over soon. */
static void begin_hurried(scene *s)
{
  hurry = true;
  begin_watched(s);
}

IN_SCENE(begin_hurried, a_look_each_minute)
{
  while (s->server->watched->states.n == 0)
    turn(s);
  hurry = false;
  expect(ask_after(s, HOUR + SECOND), 200,
         "\"startsAt\":\"2026-01-02T04:04:05.000Z\"");
}

/* --- what is kept ------------------------------------------------------------------- */

TEST(as_many_as_are_kept)
{
  pai__alert_states a;
  char job[32];

  pai__alert_states_init(&a, &pai__libc_alloc);
  for (int round = 1; round <= 3; round++) {
    pai__alert_states_begin(&a);
    for (int i = 0; i < 2 * PAI__ALERT_STATES; i++) {
      pai__alert x = { .name = "x", .severity = "warn", .user = "u" };

      (void)snprintf(job, sizeof(job), "%d.%d", round, i);
      x.job = job;
      assert_ok(pai__alert_states_see(&a, &x, round));
    }
    pai__alert_states_end(&a, round);
    assert_true(a.n <= PAI__ALERT_STATES);
  }
  /* Those that were over have made room. */
  assert_true(pai__alert_state_fires(a.list[a.n - 1], 3));
  pai__alert_states_dispose(&a);
}

static int see(pai__alert_states *a, const char *user, int from, int to)
{
  char job[32];
  int kept = 0;

  for (int i = from; i < to; i++) {
    pai__alert x = { .name = "x", .severity = "warn", .user = user };

    (void)snprintf(job, sizeof(job), "%d", i);
    x.job = user != NULL ? job : NULL;
    kept += pai__alert_states_have_room(a, &x);
    assert_ok(pai__alert_states_see(a, &x, 1));
  }
  return kept;
}

/* How many of a user's last. */
static size_t count_lasting(const pai__alert_states *a, const char *user)
{
  size_t n = 0;

  for (size_t i = 0; i < a->n; i++)
    n += a->list[i]->ended == 0 && a->list[i]->alert.user != NULL &&
         strcmp(a->list[i]->alert.user, user) == 0;
  return n;
}

/* Who has very many jobs that wait hides no others. */
TEST(nobody_fills_the_list)
{
  static const char *const users[] = { "b", "c", "d", "e", "f",
                                       "g", "h", "i", "j" };
  pai__alert_states a;

  pai__alert_states_init(&a, &pai__libc_alloc);
  pai__alert_states_begin(&a);
  assert_int_equal(see(&a, "a", 0, 5000), PAI__ALERT_STATES_OF_USER);
  assert_int_equal(see(&a, "b", 0, 1), 1);
  for (size_t i = 0; i < PAI__LEN(users); i++)
    (void)see(&a, users[i], 0, 5000);
  assert_int_equal(a.n, PAI__ALERT_STATES);
  /* The machine's are told even then, */
  assert_int_equal(see(&a, NULL, 0, 1), 1);
  assert_int_equal(a.n, PAI__ALERT_STATES + 1);
  pai__alert_states_end(&a, 2);
  /* and those that are over make room at once. */
  pai__alert_states_begin(&a);
  assert_int_equal(see(&a, "a", 0, 50), 50);
  for (size_t i = 0; i < PAI__LEN(users); i++)
    (void)see(&a, users[i], 0, 5000);
  assert_int_equal(see(&a, NULL, 0, 1), 1);
  pai__alert_states_end(&a, 3);
  assert_int_equal(see(&a, "k", 0, 50), 50);
  for (size_t i = 0; i < PAI__LEN(users); i++)
    assert_int_equal(count_lasting(&a, users[i]), PAI__ALERT_STATES_OF_USER);
  assert_int_equal(a.n, PAI__ALERT_STATES + 1);
  pai__alert_states_dispose(&a);
}

/* Nor do ten of them: those who come later have as much as those before. */
TEST(many_users_have_a_share)
{
  static const char *const users[] = { "a", "b", "c", "d", "e", "f",
                                       "g", "h", "i", "j", "k", "l" };
  const size_t share = PAI__ALERT_STATES / PAI__LEN(users);
  const pai__alert_state *first[PAI__ALERT_STATES];
  pai__alert_states a;

  pai__alert_states_init(&a, &pai__libc_alloc);
  for (int round = 1; round <= 3; round++) {
    pai__alert_states_begin(&a);
    for (size_t i = 0; i < PAI__LEN(users); i++)
      (void)see(&a, users[i], 0, 5000);
    assert_int_equal(see(&a, "poor", 0, 5), 5);
    assert_int_equal(a.n, PAI__ALERT_STATES);
    pai__alert_states_end(&a, round);
    for (size_t i = 0; i < PAI__LEN(users); i++)
      assert_in_range(count_lasting(&a, users[i]), share - 1, share + 1);
    assert_int_equal(count_lasting(&a, "poor"), 5);
    /* Who has his share keeps it, and what he has of it. */
    assert_int_equal(a.over, 0);
    if (round == 1)
      memcpy(first, a.list, sizeof(first));
    assert_memory_equal(first, a.list, sizeof(first));
  }
  /* The first ones stay: since when something is so is not forgotten. */
  assert_string_equal(a.list[0]->alert.user, "a");
  assert_string_equal(a.list[0]->alert.job, "0");
  /* What others leave is there for all. */
  pai__alert_states_begin(&a);
  (void)see(&a, "a", 0, 5000);
  pai__alert_states_end(&a, 4);
  pai__alert_states_begin(&a);
  assert_int_equal(see(&a, "a", 0, 5000), PAI__ALERT_STATES_OF_USER);
  pai__alert_states_end(&a, 5);
  assert_int_equal(count_lasting(&a, "a"), PAI__ALERT_STATES_OF_USER);
  pai__alert_states_dispose(&a);
}

/* An Alertmanager says when an alert is over; then its place is free. */
TEST(alerts_from_outside_end)
{
  pai__alert one = { .name = "x", .outside = true };
  pai__alert_states a;

  pai__alert_states_init(&a, &pai__libc_alloc);
  assert_ok(pai__alert_states_receive(&a, &one, 100, 5));
  pai__alert_states_begin(&a);
  pai__alert_states_end(&a, 6);
  assert_int_equal(a.list[0]->ended, 0);
  assert_ok(pai__alert_states_receive(&a, &one, 0, 7)); /* it is resolved */
  for (int look = 8; look <= 10; look++) {
    pai__alert_states_begin(&a);
    pai__alert_states_end(&a, look);
    assert_int_equal(a.list[0]->ended, 8);
    assert_int_equal(a.over, 1);
  }
  assert_ok(pai__alert_states_receive(&a, &one, 12, 11)); /* it is back */
  assert_int_equal(a.n, 2);
  for (int look = 13; look <= 15; look++) {
    pai__alert_states_begin(&a);
    pai__alert_states_end(&a, look);
    assert_int_equal(a.list[1]->ended, 12); /* its time is over */
  }
  assert_true(pai__alert_states_have_room(&a, &one));
  pai__alert_states_dispose(&a);
}

TEST_FAULTS(memory_may_lack)
{
  static const char *const jobs[] = { "a", "b", NULL };
  pai__alert_states a;
  int rc = PAI_OK;

  pai__alert_states_init(&a, alloc);
  for (int round = 0; round < 2 && rc == PAI_OK; round++) {
    pai__alert_states_begin(&a);
    for (size_t i = (size_t)round; i < PAI__LEN(jobs) && rc == PAI_OK; i++)
      rc = pai__alert_states_see(
        &a, &(pai__alert){ .name = "x", .user = jobs[i], .job = jobs[i] }, 5);
    pai__alert_states_end(&a, 6);
  }
  if (rc == PAI_OK) {
    assert_int_equal(a.n, 3);
    assert_int_equal(a.list[0]->ended, 6);
    assert_int_equal(a.list[1]->ended, 0);
  }
  pai__alert_states_dispose(&a);
  return rc;
}
