/* What those are told who watch a platform: tasks, counts, when jobs start and
 * end; attempts as the older route has them. */
#include "cases.h"
#include "durable.h"

#include <openpai/sample.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- tasks ---------------------------------------------------------------------- */

typedef struct seen {
  pai_task_view at[8];
  char framework[64], id[64], image[64];
  int n, most;
} seen;

static int on_task(void *user_data, const pai_task_view *task)
{
  seen *s = user_data;

  if (s->n == s->most)
    return PAI_EUSER;
  if (s->n == 0) {
    (void)snprintf(s->framework, sizeof(s->framework), "%s", task->framework);
    (void)snprintf(s->id, sizeof(s->id), "%s",
                   task->id != NULL ? task->id : "");
    (void)snprintf(s->image, sizeof(s->image), "%s", task->image);
  }
  s->at[s->n++] = *task;
  return PAI_OK;
}

static void look(seen *s, durable *d)
{
  *s = (seen){ .most = 8 };
  assert_ok(pai_platform_tasks(d->platform, on_task, s, NULL));
}

DURABLE(tasks_that_there_are)
{
  pai_error *err = NULL;
  pai_job_id first, second;
  seen s;

  look(&s, d);
  assert_int_equal(s.n, 0);
  d->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
  first = durable_accept(d, "one", "sleep 600");
  (void)durable_wait(d, first, PAI_STATE_RUNNING);
  second = durable_accept(d, "two", "sleep 600");
  look(&s, d);
  assert_int_equal(s.n, 2);
  assert_true(s.at[0].job == first && s.at[1].job == second);
  assert_int_equal(s.at[0].state, PAI_STATE_RUNNING);
  assert_int_equal(s.at[0].cpus, d->cpus);
  assert_true(s.at[0].memory > 0 && s.at[0].started > s.at[0].created);
  assert_int_equal(strlen(s.framework), 32);
  assert_int_equal(strlen(s.id), 36);
  assert_true(s.image[0] != '\0');
  /* Its first process leads a session, which its supervisor tells soon. */
  for (; s.at[0].session == 0; look(&s, d))
    durable_turn(d);
  while (getsid((pid_t)s.at[0].session) != s.at[0].session)
    (void)sched_yield(); /* it does so as its first act */
  assert_int_equal(s.at[1].state, PAI_STATE_WAITING);
  assert_true(s.at[1].session == 0 && s.at[1].id == NULL &&
              s.at[1].node == NULL && s.at[1].started == 0);
  /* Whoever has seen enough ends it. */
  s = (seen){ .most = 1 };
  assert_int_equal(pai_platform_tasks(d->platform, on_task, &s, &err),
                   PAI_EUSER);
  pai_error_free(err);
  assert_ok(pai_platform_stop(d->platform, second));
  assert_ok(pai_platform_stop(d->platform, first));
  (void)durable_wait(d, first, PAI_STATE_STOPPED);
  (void)durable_wait(d, second, PAI_STATE_STOPPED);
  look(&s, d);
  assert_int_equal(s.n, 0);
}

/* --- counts --------------------------------------------------------------------- */

static pai_platform_counts count(const durable *d)
{
  pai_platform_counts c = { .struct_size = sizeof(c) };

  assert_ok(pai_platform_count(d->platform, &c));
  return c;
}

DURABLE(what_was_counted)
{
  pai_platform_counts before, after;
  pai_job_id good, bad, ended;

  before = count(d);
  assert_true(before.submitted == 0 && before.waiting == 0);
  good = durable_accept(d, "good", "true");
  (void)durable_wait(d, good, PAI_STATE_SUCCEEDED);
  bad = durable_accept(d, "bad", "exit 3");
  (void)durable_wait(d, bad, PAI_STATE_FAILED);
  ended = durable_accept(d, "ended", "sleep 600");
  (void)durable_wait(d, ended, PAI_STATE_RUNNING);
  after = count(d);
  assert_true(after.submitted == 3 && after.running == 1);
  assert_ok(pai_platform_stop(d->platform, ended));
  (void)durable_wait(d, ended, PAI_STATE_STOPPED);
  after = count(d);
  assert_true(after.succeeded == 1 && after.failed == 1 &&
              after.stopped == 1 && after.running == 0 && after.queued == 0);
  assert_true(after.commits > before.commits && after.commit_us > 0);
  assert_int_equal(after.commit_failures, 0);
  after.struct_size = 1;
  assert_int_equal(pai_platform_count(d->platform, &after), PAI_EINVAL);
}

/* --- estimates ------------------------------------------------------------------ */

static const char *estimate(durable *d, pai_job_id job)
{
  d->len = 0;
  assert_ok(pai_platform_estimate(d->platform, job, durable_write, d, NULL));
  d->text[d->len] = '\0';
  return d->text;
}

/* A number of the answer, behind these names. */
static long long number(const char *text, const char *in, const char *name)
{
  char key[64];
  const char *at = strstr(text, in);

  assert_non_null(at);
  (void)snprintf(key, sizeof(key), "\"%s\":", name);
  at = strstr(at, key);
  assert_non_null(at);
  return strtoll(at + strlen(key), NULL, 10);
}

/* By which the others can be judged. */
static void one_ends(durable *d)
{
  durable_reaches(d, durable_accept(d, "zero", "true"), PAI_STATE_SUCCEEDED);
}

DURABLE(when_nobody_knows)
{
  pai_job_id first, second;
  const char *text;

  d->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
  first = durable_accept(d, "one", "sleep 600");
  (void)durable_wait(d, first, PAI_STATE_RUNNING);
  second = durable_accept(d, "two", "true");
  text = estimate(d, second);
  assert_has(text, "\"unknown\":true,\"start\":null");
  text = estimate(d, first);
  assert_has(text, "\"state\":\"RUNNING\"");
  assert_null(strstr(text, "\"end\""));
}

DURABLE(when_it_starts_and_ends)
{
  pai_error *err = NULL;
  pai_job_id first, second;
  const char *text;

  one_ends(d);
  d->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
  first = durable_accept(d, "one", "sleep 600");
  (void)durable_wait(d, first, PAI_STATE_RUNNING);
  second = durable_accept(d, "two", "true");
  text = estimate(d, second);
  assert_has(text, "\"state\":\"WAITING\"");
  assert_true(number(text, "start", "p10") >= number(text, "state", "now"));
  assert_true(number(text, "start", "p90") >= number(text, "start", "p10"));
  assert_true(number(text, "start", "runs") > 0);
  assert_has(text, "\"unlike\":false");
  text = estimate(d, first);
  assert_has(text, "\"state\":\"RUNNING\"");
  assert_true(number(text, "end", "p50") > number(text, "state", "startedAt"));
  assert_ok(pai_platform_stop(d->platform, first));
  (void)durable_wait(d, first, PAI_STATE_STOPPED);
  (void)durable_wait(d, second, PAI_STATE_SUCCEEDED);
  text = estimate(d, second);
  assert_has(text, "{\"state\":\"SUCCEEDED\",\"now\":");
  assert_null(strstr(text, "start"));
  assert_int_equal(
    pai_platform_estimate(d->platform, 99, durable_write, d, &err),
    PAI_ENOTFOUND);
  pai_error_free(err);
}

/* --- beside the loop ------------------------------------------------------------ */

enum { LINE = 64 }; /* that may wait */

typedef struct told {
  pai_estimate *e; /* who asks for one, */
  pai_answer *a;   /* or why */
  int status, calls;
  char text[4096];
} told;

static int ntold;

static void on_told(void *user_data, int status, const char *json, size_t len,
                    const pai_error *err)
{
  told *t = user_data;

  t->status = status;
  t->calls++;
  ntold++;
  assert_true((err != NULL) == (status < 0));
  assert_true((json != NULL) == (status == PAI_OK));
  if (json != NULL)
    (void)snprintf(t->text, sizeof(t->text), "%.*s", (int)len, json);
}

static void ask(durable *d, pai_job_id job, told *t)
{
  *t = (told){ .status = 1 };
  assert_ok(
    pai_platform_estimate_beside(&t->e, d->platform, job, on_told, t, NULL));
  assert_non_null(t->e);
  assert_int_equal(t->calls, 0); /* never from within */
}

/* Those who ask for the same job at the same state share an answer. */
TEST(estimates_beside_the_loop)
{
  static told line[LINE];
  pai_job_id first, second;
  pai_estimate *none;
  pai_error *err;
  durable d;

  durable_open(&d, story_in("beside"));
  one_ends(&d);
  d.cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
  first = durable_accept(&d, "one", "sleep 600");
  (void)durable_wait(&d, first, PAI_STATE_RUNNING);
  second = durable_accept(&d, "two", "true");
  ntold = 0;
  for (int i = 0; i < LINE; i++)
    ask(&d, i == 2 ? first : i == 3 ? 99 : second, &line[i]);
  assert_int_equal(pai_platform_estimate_beside(&none, d.platform, second,
                                                on_told, NULL, &err),
                   PAI_EBUSY);
  assert_null(none);
  test_expect_error(err, PAI_EBUSY, "ask again later");
  pai_estimate_cancel(line[LINE - 1].e);
  while (ntold < LINE)
    durable_turn(&d);
  assert_int_equal(line[LINE - 1].status, PAI_ECANCELED);
  assert_int_equal(line[3].status, PAI_ENOTFOUND);
  assert_has(line[2].text, "\"state\":\"RUNNING\"");
  assert_true(number(line[2].text, "end", "p50") > 0);
  for (int i = 0; i < LINE - 1; i++) {
    assert_int_equal(line[i].calls, 1);
    if (i == 2 || i == 3)
      continue;
    assert_ok(line[i].status);
    assert_has(line[i].text, "\"state\":\"WAITING\"");
    assert_true(number(line[i].text, "start", "p90") >=
                number(line[i].text, "start", "p10"));
    assert_true(number(line[i].text, "start", "runs") > 0);
  }
  /* Who asks is told before the platform is gone. */
  ntold = 0;
  ask(&d, second, &line[0]);
  ask(&d, second, &line[1]);
  durable_turn(&d);
  durable_close(&d);
  assert_int_equal(ntold, 2);
}

/* --- why, beside the loop ------------------------------------------------------- */

enum { WAITING = 300, ASKED = 256 }; /* that wait; that may be asked for */

static void ask_why(durable *d, pai_job_id job, told *t)
{
  *t = (told){ .status = 1 };
  assert_ok(
    pai_platform_why_beside(&t->a, d->platform, job, on_told, t, NULL));
  assert_non_null(t->a);
  assert_int_equal(t->calls, 0); /* never from within */
}

static void hear_answers(durable *d, int n)
{
  while (ntold < n)
    durable_turn(d);
}

/* Where many wait another thread finds out why, and that is what is told on the
 * loop. */
TEST(reasons_beside_the_loop)
{
  static told line[ASKED];
  pai_job_id jobs[WAITING], first;
  pai_answer *none;
  pai_error *err;
  durable d;

  durable_open(&d, story_in("why"));
  d.cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
  first = durable_accept(&d, "one", "sleep 600");
  (void)durable_wait(&d, first, PAI_STATE_RUNNING);
  for (int i = 0; i < WAITING; i++) {
    jobs[i] = durable_submit(&d, test_string("w%d", i), "", "", "true");
    assert_true(jobs[i] != 0);
  }
  assert_ok(durable_sync(&d));
  ntold = 0;
  for (int i = 0; i < ASKED; i++)
    ask_why(&d, i == 2 ? first : i == 3 ? 99999 : jobs[i % 10], &line[i]);
  assert_int_equal(
    pai_platform_why_beside(&none, d.platform, first, on_told, NULL, &err),
    PAI_EBUSY);
  assert_null(none);
  test_expect_error(err, PAI_EBUSY, "ask again later");
  pai_answer_cancel(line[ASKED - 1].a);
  pai_answer_cancel(NULL);
  hear_answers(&d, ASKED);
  assert_int_equal(line[ASKED - 1].status, PAI_ECANCELED);
  assert_int_equal(line[3].status, PAI_ENOTFOUND);
  assert_has(line[2].text, "\"state\":\"RUNNING\"");
  for (int i = 0; i < ASKED - 1; i++) {
    assert_int_equal(line[i].calls, 1);
    if (i == 2 || i == 3)
      continue;
    assert_ok(line[i].status);
    assert_has(line[i].text, "\"explanation\":\"");
    assert_string_equal(line[i].text, durable_why(&d, jobs[i % 10]));
  }
  /* What happened meanwhile is in it. */
  ntold = 0;
  ask_why(&d, jobs[20], &line[0]);
  ask_why(&d, jobs[21], &line[1]);
  durable_turn(&d);
  assert_ok(pai_platform_stop(d.platform, jobs[21]));
  (void)durable_wait(&d, jobs[21], PAI_STATE_STOPPED);
  ask_why(&d, jobs[21], &line[2]);
  ask_why(&d, jobs[22], &line[3]);
  hear_answers(&d, 4);
  assert_has(line[0].text, "\"explanation\":\"");
  assert_ok(line[1].status);
  assert_has(line[2].text, "\"state\":\"STOPPED\"");
  assert_string_equal(line[3].text, durable_why(&d, jobs[22]));
  /* Who asks is told before the platform is gone. */
  ntold = 0;
  ask_why(&d, jobs[30], &line[0]);
  ask_why(&d, jobs[31], &line[1]);
  durable_turn(&d);
  durable_close(&d);
  assert_int_equal(ntold, 2);
}

/* --- the scheduler as it is ------------------------------------------------------ */

/* Whoever looks ahead himself has all that the platform's own forecasts have:
 * who asks, for what, and for how long what runs has run. */
DURABLE(the_scheduler_as_it_is)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_sched_view sums = { .struct_size = sizeof(sums) };
  pai_request_view v = { .struct_size = sizeof(v) };
  uint32_t instance = PAI_SCHED_ALL;
  pai_job_id first, second;
  pai_sched *copy;
  pai_time since;

  d->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
  first = durable_accept(d, "one", "sleep 600");
  (void)durable_wait(d, first, PAI_STATE_RUNNING);
  second = durable_accept(d, "two", "true");
  durable_turn(d);
  d->len = 0;
  assert_ok(pai_platform_snapshot(d->platform, durable_write, d, NULL));
  assert_ok(pai_sched_load(&copy, d->text, d->len, &o, NULL));
  assert_ok(pai_sched_view_sums(copy, &sums));
  assert_int_equal(sums.running, 1);
  assert_int_equal(sums.waiting, 1);
  assert_ok(pai_sched_next_running(copy, first, &instance, &since));
  assert_true(sums.now > since);
  assert_ok(pai_sched_view_request(copy, second, &v));
  assert_string_equal(v.name, "two");
  assert_string_equal(v.user, "ann");
  pai_sched_free(copy);
  assert_int_equal(pai_platform_snapshot(d->platform, NULL, NULL, NULL),
                   PAI_EINVAL);
}

/* --- attempts ------------------------------------------------------------------- */

static const char *attempts(durable *d, pai_job_id job, int attempt)
{
  d->len = 0;
  assert_ok(
    pai_platform_attempts(d->platform, job, attempt, durable_write, d, NULL));
  d->text[d->len] = '\0';
  return d->text;
}

DURABLE(attempts_in_their_order)
{
  pai_error *err = NULL;
  pai_job_id job;
  const char *text, *at;

  job = durable_submit(d, "job", "jobRetryCount: 3,", "", "exit 7");
  (void)durable_wait(d, job, PAI_STATE_FAILED);
  assert_ok(durable_sync(d));
  text = attempts(d, job, -1);
  /* The latest, then the oldest first. */
  at = text;
  for (int i = 0; i < 4; i++) {
    at = strstr(at, test_string("\"attemptIndex\":%d,", i == 0 ? 3 : i - 1));
    assert_non_null(at);
    at = strstr(at, "\"isLatest\":");
    assert_non_null(at);
    assert_int_equal(strncmp(at + 11, i == 0 ? "true" : "false", 4 + (i > 0)),
                     0);
  }
  text = attempts(d, job, 1);
  assert_int_equal(text[0], '{');
  assert_has(text, "\"attemptIndex\":1,");
  assert_has(text, "\"exitDiagnostics\":{\"diagnosticsSummary\":");
  assert_has(text, "\"exitPhrase\":\"");
  assert_has(text, "\"isLatest\":true");
  assert_int_equal(
    pai_platform_attempts(d->platform, job, 4, durable_write, d, &err),
    PAI_ENOTFOUND);
  pai_error_free(err);
}

/* Its class is on record, and lists are narrowed by it. */
DURABLE(classes_of_priority)
{
  pai_job_query q = PAI_JOB_QUERY_INIT;
  pai_job_id job;

  job = durable_submit(d, "prod",
                       "extras: {hivedScheduler: {jobPriorityClass: prod}},",
                       "", "true");
  (void)durable_accept(d, "none", "true");
  (void)durable_wait(d, job, PAI_STATE_SUCCEEDED);
  assert_has(durable_show(d, job, -1), "\"jobPriority\":\"prod\"");
  q.priorities = "prod";
  assert_has(durable_list(d, &q), "\"name\":\"prod\"");
  assert_null(strstr(durable_list(d, &q), "\"name\":\"none\""));
  q.priorities = "default";
  assert_null(strstr(durable_list(d, &q), "\"name\":\"prod\""));
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
