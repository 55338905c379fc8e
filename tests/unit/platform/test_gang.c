/* Jobs with `gangAllocation: false`: tasks are placed, tried again and given up
 * for others one by one. */
#include "cases.h"
#include "gang.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define PARTIAL "gangAllocation: false"

DURABLE(tasks_run_as_there_is_room)
{
  pai_job_id id;

  id = gang_submit(d, "room", 3, "", PARTIAL,
                   "env | grep -c PAI_PORT_LIST_a; " GANG_WAIT);
  gang_wait(d, id, "RUNNING", 2);
  assert_int_equal(gang_count(d, id, "WAITING"), 1);
  durable_is(d, id, PAI_STATE_RUNNING);
  (void)durable_why(d, id);
  durable_has(d, "\"tasksRunning\":2,"
                 "\"tasksWaiting\":1");
  durable_has(d, "2 of 3 tasks have room, 1 waits: waits for 1 CPUs, 0 are "
                 "free");
  durable_has(d, "\"explanation\":\"room a[2] waits");
  /* A gang of three is never placed there, and told so. */
  gang_go("room");
  durable_reaches(d, id, PAI_STATE_SUCCEEDED);
  assert_int_equal(gang_count(d, id, "SUCCEEDED"), 3);
}

/* Each start of a[1] had a place of its own. */
static void expect_other_ports(durable *d, pai_job_id id)
{
  static const char ports[] = "\"containerPorts\":{\"http\":\"";
  const char *first, *second;

  d->len = 0;
  assert_ok(pai_platform_show_task(d->platform, id, -1, "a", 1, durable_write,
                                   d, NULL));
  first = strstr(d->text, ports);
  assert_non_null(first);
  second = strstr(first + 1, ports);
  assert_non_null(second);
  assert_null(strstr(second + 1, ports));
  if (strncmp(first, second, sizeof(ports) + 4) == 0)
    fail_msg("the same ports: %s", d->text);
}

/* One fails, and is tried again alone; others do not notice. */
DURABLE(a_task_is_tried_again_alone)
{
  pai_job_id id;

  id = gang_submit(d, "again", 2, "", PARTIAL,
                   "if test $PAI_TASK_INDEX = 1 -a ! -e GO$FC_TASK_ATTEMPT_ID;"
                   " then touch GO0 GO1; rm -f GO$FC_TASK_ATTEMPT_ID-x;"
                   " test $FC_TASK_ATTEMPT_ID -ge 1; fi");
  durable_reaches(d, id, PAI_STATE_SUCCEEDED);
  (void)durable_show(d, id, -1);
  durable_has(d, "\"retries\":0,\"retryDetails\"");
  durable_has(d, "\"retries\":1,\"accountableRetries\":1");
  assert_int_equal(gang_count(d, id, "SUCCEEDED"), 2);
  (void)durable_events(d, id);
  durable_has(d, "the task runs; its folder is 0/a-1.1");
  expect_other_ports(d, id);
}

/* Also of a task that has begun again before that it waits was told. */
DURABLE(each_retry_is_told)
{
  pai_job_id id;

  id = gang_submit(d, "told", 8, "", "gangAllocation: false",
                   "test $FC_TASK_ATTEMPT_ID = 2");
  durable_reaches(d, id, PAI_STATE_SUCCEEDED);
  assert_int_equal(d->last_retries, 8);
}

/* What the tasks of its first attempt came to stays to be seen. */
DURABLE(a_job_is_tried_again_task_by_task)
{
  pai_job_id id;

  id = gang_submit(d, "job", 3, "jobRetryCount: 1,", "gangAllocation: false",
                   "test $FC_FRAMEWORK_ATTEMPT_ID = 1 || exit 9");
  durable_reaches(d, id, PAI_STATE_SUCCEEDED);
  (void)durable_show(d, id, 0);
  durable_has(d, "\"attemptId\":0,\"attemptState\":\"FAILED\"");
  durable_has(d, "\"appExitTriggerTaskRoleName\":\"a\"");
  durable_has(d, "\"containerExitCode\":255");
  (void)durable_show(d, id, 1);
  durable_has(d, "\"attemptId\":1,\"attemptState\":\"SUCCEEDED\"");
  assert_int_equal(gang_count(d, id, "SUCCEEDED"), 3);
}

DURABLE(what_runs_and_what_waits_goes_on)
{
  pai_job_id id;

  id = gang_submit(d, "restart", 4, "", PARTIAL, GANG_WAIT);
  gang_wait(d, id, "RUNNING", 2);
  durable_again(d);
  gang_wait(d, id, "RUNNING", 2);
  assert_int_equal(gang_count(d, id, "WAITING"), 2);
  gang_go("restart");
  durable_reaches(d, id, PAI_STATE_SUCCEEDED);
  (void)durable_show(d, id, -1);
  assert_null(strstr(d->text, "\"retries\":1"));
}

DURABLE(stopped_while_some_wait)
{
  pai_job_id id, next;

  id = gang_submit(d, "stop", 3, "", PARTIAL, GANG_WAIT);
  gang_wait(d, id, "RUNNING", 2);
  assert_ok(pai_platform_stop(d->platform, id));
  durable_reaches(d, id, PAI_STATE_STOPPED);
  next = gang_submit(d, "next", 2, "", "", "true"); /* nothing is held */
  durable_reaches(d, next, PAI_STATE_SUCCEEDED);
}

/* Without a database it is the same. */
TEST(a_job_of_an_embedder)
{
  story s = { 0 };

  story_run(&s, story_job("extras: {gangAllocation: false},",
                          "instances: 3, taskRetryCount: 1,",
                          "test $FC_TASK_ATTEMPT_ID = 1; echo "
                          "$PAI_TASK_ROLE_INSTANCES"));
  story_expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  assert_string_equal(s.output, "a:0,a:1,a:2\na:0,a:1,a:2\na:0,a:1,a:2\n");
}

/* --- preemption ------------------------------------------------------------------ */

TEST(tasks_give_way_one_by_one)
{
  durable d;
  pai_job_id low, high;

  durable_policy = "priority";
  durable_open(&d, story_in("way"));
  low = gang_submit(&d, "low", 2, "",
                    PARTIAL ", hivedScheduler: {jobPriorityClass: oppo}",
                    GANG_WAIT);
  gang_wait(&d, low, "RUNNING", 2);
  high = gang_submit(&d, "high", 1, "",
                     "hivedScheduler: {jobPriorityClass: prod}", GANG_WAIT);
  gang_wait(&d, high, "RUNNING", 1);
  gang_wait(&d, low, "WAITING", 1);
  assert_int_equal(gang_count(&d, low, "RUNNING"), 1);
  gang_go("high");
  gang_wait(&d, low, "RUNNING", 2);
  (void)durable_events(&d, low);
  durable_has(&d, "its resources were given to another job");
  gang_go("low");
  durable_reaches(&d, low, PAI_STATE_SUCCEEDED);
  (void)durable_show(&d, low, -1);
  durable_has(&d, "\"attemptId\":0");
  assert_null(strstr(d.text, "\"retries\":1"));
  durable_close(&d);
  durable_policy = NULL;
}

TEST(a_gang_gives_way_as_a_whole)
{
  durable d;
  pai_job_id low, high;

  durable_policy = "priority";
  durable_open(&d, story_in("whole"));
  low = gang_submit(&d, "gang", 2, "",
                    "hivedScheduler: {jobPriorityClass: test}", GANG_WAIT);
  gang_wait(&d, low, "RUNNING", 2);
  high = gang_submit(&d, "first", 1, "",
                     "hivedScheduler: {jobPriorityClass: prod}", GANG_WAIT);
  gang_wait(&d, high, "RUNNING", 1);
  gang_wait(&d, low, "WAITING", 2);
  durable_leave(&d); /* and waits on in the next one */
  durable_open(&d, story_in("whole"));
  gang_go("first");
  gang_wait(&d, low, "RUNNING", 2);
  (void)durable_show(&d, low, 0);
  durable_has(&d, "\"appExitCode\":-1003");
  (void)durable_show(&d, low, -1);
  durable_has(&d, "\"retries\":0,");
  durable_has(&d, "\"attemptId\":1,");
  gang_go("gang");
  durable_reaches(&d, low, PAI_STATE_SUCCEEDED);
  durable_close(&d);
  durable_policy = NULL;
}

TEST(policies_have_names)
{
  pai_error *err = NULL;
  durable d;

  durable_policy = "no-such";
  assert_int_equal(durable_try(&d, story_in("none"), &err), PAI_ENOTFOUND);
  assert_has(pai_error_message(err), "no-such");
  pai_error_free(err);
  durable_policy = NULL;
}

/* Why each attempt was decided, also when the next one has begun, and after a
 * restart; in FrameworkController's words. */
static void why_attempts_were_decided(const char *name, const char *extras)
{
  static const char first[] = "FailedTaskCount 1 has reached "
                              "MinFailedTaskCount 1 in the TaskRole",
                    last[] = "SucceededTaskCount 2 has reached "
                             "MinSucceededTaskCount 2 in the TaskRole";
  char command[200];
  durable d;
  pai_job_id id;

  (void)snprintf(command, sizeof(command),
                 "test $FC_FRAMEWORK_ATTEMPT_ID = 1 || exit 3; %s", GANG_WAIT);
  durable_open(&d, story_in(name));
  id = gang_submit(&d, name, 2, "jobRetryCount: 1,", extras, command);
  while (strstr(durable_show(&d, id, -1),
                "\"virtualCluster\":\"default\",\"attemptId\":1,") == NULL)
    durable_turn(&d);
  gang_wait(&d, id, "RUNNING", 2);
  (void)durable_show(&d, id, 0);
  durable_has(&d, first);
  durable_leave(&d);
  durable_open(&d, story_in(name));
  (void)durable_show(&d, id, 0);
  durable_has(&d, first);
  gang_go(name);
  durable_reaches(&d, id, PAI_STATE_SUCCEEDED);
  (void)durable_show(&d, id, -1);
  durable_has(&d, last);
  durable_close(&d);
}

TEST(why_each_attempt_was_decided)
{
  why_attempts_were_decided("decided", "");
  why_attempts_were_decided("decided-alone", "gangAllocation: false");
}

/* --- task roles get more tasks, or fewer, while their job lives --------------------- */

static int rescale(durable *d, pai_job_id job, const char *role,
                   uint32_t tasks)
{
  pai_error *err = NULL;
  int rc = pai_platform_rescale(d->platform, job, role, tasks, &err);

  assert_int_equal(rc < 0, err != NULL);
  d->code[0] = '\0';
  strncat(d->code, pai_error_message(err), sizeof(d->code) - 1);
  pai_error_free(err);
  return rc;
}

static int count(durable *d, pai_job_id job)
{
  const char *at = durable_show(d, job, -1);
  int n = 0;

  for (; (at = strstr(at, "\"taskIndex\"")) != NULL; at++)
    n++;
  return n;
}

static void up_and_down(const char *name, const char *extras)
{
  durable d;
  pai_job_id id;

  durable_open(&d, story_in(name));
  id = gang_submit(&d, name, 1, "", extras, GANG_WAIT);
  gang_wait(&d, id, "RUNNING", 1);
  assert_ok(rescale(&d, id, "a", 4));
  gang_wait(&d, id, "RUNNING", 2); /* as many as there is room for */
  assert_int_equal(gang_count(&d, id, "WAITING"), 2);
  (void)durable_why(&d, id);
  durable_has(&d, "2 of 4 tasks have room, 2 wait");
  durable_leave(&d); /* the next one knows */
  durable_open(&d, story_in(name));
  gang_wait(&d, id, "RUNNING", 2);
  assert_int_equal(count(&d, id), 4);
  assert_ok(rescale(&d, id, "a", 1));
  while (count(&d, id) != 1)
    durable_turn(&d);
  assert_int_equal(gang_count(&d, id, "RUNNING"), 1);
  assert_ok(rescale(&d, id, "a", 2)); /* the same index again */
  gang_wait(&d, id, "RUNNING", 2);
  (void)durable_events(&d, id);
  durable_has(&d, "a has 4 tasks now, and had 1");
  gang_go(name);
  durable_reaches(&d, id, PAI_STATE_SUCCEEDED);
  assert_int_equal(gang_count(&d, id, "SUCCEEDED"), 2);
  durable_close(&d);
}

TEST(tasks_come_and_go_alone)
{
  up_and_down("alone", "gangAllocation: false");
}

TEST(tasks_come_to_a_gang_and_go)
{
  up_and_down("together", "");
}

/* Of a gang that runs its places are kept: who comes back has them at once. */
DURABLE(a_removed_place_of_a_gang)
{
  pai_job_id id, other;

  id = gang_submit(d, "kept", 2, "", "", GANG_WAIT);
  gang_wait(d, id, "RUNNING", 2);
  assert_ok(rescale(d, id, "a", 1));
  while (count(d, id) != 1)
    durable_turn(d);
  other = gang_submit(d, "other", 1, "", "", "true");
  assert_ok(rescale(d, id, "a", 2));
  gang_wait(d, id, "RUNNING", 2);
  gang_go("kept");
  durable_reaches(d, id, PAI_STATE_SUCCEEDED);
  durable_reaches(d, other, PAI_STATE_SUCCEEDED);
}

/* It waits for all that it has then; its next attempt is placed as a whole. */
DURABLE(a_gang_that_waits)
{
  pai_job_id first, id;

  first = gang_submit(d, "holder", 1, "", "", GANG_WAIT);
  gang_wait(d, first, "RUNNING", 1);
  id = gang_submit(d, "waits", 2, "jobRetryCount: 1,", "",
                   "echo $PAI_TASK_ROLE_TASK_COUNT_a; test -e GO || sleep 0.1;"
                   " test -e GO || exit 3");
  assert_int_equal(gang_count(d, id, "WAITING"), 2);
  assert_int_equal(rescale(d, id, "a", 3), PAI_ENOROOM);
  assert_has(d->code, "cannot run here");
  assert_int_equal(count(d, id), 2);
  assert_ok(rescale(d, id, "a", 1)); /* now it has room */
  gang_go("waits");
  durable_reaches(d, id, PAI_STATE_SUCCEEDED);
  assert_string_equal(durable_log(d, id, NULL), "1\n");
  gang_go("holder");
  durable_reaches(d, first, PAI_STATE_SUCCEEDED);
}

/* The attempt after one that grew has room for all of it at once. */
TEST(an_attempt_after_it_grew)
{
  durable d;
  pai_job_id id;

  durable_open(&d, story_in("grew"));
  id = gang_submit(&d, "grew", 1, "jobRetryCount: 1,", "",
                   GANG_WAIT "; test $FC_FRAMEWORK_ATTEMPT_ID = 1 || exit 3;"
                             " while ! test -e GO2; do sleep 0.01; done");
  gang_wait(&d, id, "RUNNING", 1);
  assert_ok(rescale(&d, id, "a", 2));
  gang_wait(&d, id, "RUNNING", 2);
  gang_go("grew");
  while (strstr(durable_show(&d, id, -1), "\"attemptId\":1,\"attemptState\":"
                                          "\"RUNNING\"") == NULL)
    durable_turn(&d);
  d.len = 0;
  assert_ok(pai_platform_status(d.platform, durable_write, &d, NULL));
  durable_has(&d, "\"freeCpus\":0,"); /* each has its own */
  (void)close(creat(story_in("grew-go2"), 0600));
  durable_reaches(&d, id, PAI_STATE_SUCCEEDED);
  assert_int_equal(gang_count(&d, id, "SUCCEEDED"), 2);
  durable_close(&d);
}

DURABLE(what_cannot_be)
{
  pai_job_id id;

  id = gang_submit(d, "cannot", 1, "", "", GANG_WAIT);
  gang_wait(d, id, "RUNNING", 1);
  assert_int_equal(rescale(d, id, "b", 1), PAI_ENOTFOUND);
  assert_has(d->code, "no task role \"b\"");
  assert_int_equal(rescale(d, id, "a", 0), PAI_EINVAL);
  assert_int_equal(rescale(d, id, "a", UINT32_MAX), PAI_EINVAL);
  assert_int_equal(rescale(d, id + 1, "a", 1), PAI_ENOTFOUND);
  assert_ok(rescale(d, id, "a", 1)); /* as it is */
  assert_ok(pai_platform_stop(d->platform, id));
  assert_int_equal(rescale(d, id, "a", 2), PAI_EBUSY);
  durable_reaches(d, id, PAI_STATE_STOPPED);
  assert_int_equal(rescale(d, id, "a", 2), PAI_ENOTFOUND);
  assert_int_equal(pai_platform_rescale(NULL, id, "a", 1, NULL), PAI_EINVAL);
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
