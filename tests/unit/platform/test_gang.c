/* Jobs with `gangAllocation: false`: tasks are placed, tried again and given up
 * for others one by one. */
#include "gang.h"

#include <stdio.h>

#define PARTIAL "gangAllocation: false"

static void tasks_run_as_there_is_room(void **state)
{
  durable d;
  pai_job_id id;

  (void)state;
  durable_open(&d, gang_root("room"));
  id = gang_submit(&d, "room", 3, "", PARTIAL,
                   "env | grep -c PAI_PORT_LIST_a; " GANG_WAIT);
  gang_wait(&d, id, "RUNNING", 2);
  assert_int_equal(gang_count(&d, id, "WAITING"), 1);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, id),
                   PAI_STATE_RUNNING);
  (void)durable_why(&d, id);
  durable_has(&d, "\"state\":\"RUNNING\",\"tasksRunning\":2,"
                  "\"tasksWaiting\":1");
  durable_has(&d, "2 of 3 tasks have room, 1 waits: waits for 1 CPUs, 0 are "
                  "free");
  durable_has(&d, "\"explanation\":\"room a[2] waits");
  /* A gang of three is never placed there, and told so. */
  gang_go("room");
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  assert_int_equal(gang_count(&d, id, "SUCCEEDED"), 3);
  durable_close(&d);
}

/* Each start of a[1] had a place of its own. */
static void expect_other_ports(durable *d, pai_job_id id)
{
  static const char ports[] = "\"containerPorts\":{\"http\":\"";
  const char *first, *second;

  d->len = 0;
  assert_int_equal(pai_platform_show_task(d->platform, id, -1, "a", 1,
                                          durable_write, d, NULL),
                   PAI_OK);
  first = strstr(d->text, ports);
  assert_non_null(first);
  second = strstr(first + 1, ports);
  assert_non_null(second);
  assert_null(strstr(second + 1, ports));
  if (strncmp(first, second, sizeof(ports) + 4) == 0)
    fail_msg("the same ports: %s", d->text);
}

/* One fails, and is tried again alone; others do not notice. */
static void a_task_is_tried_again_alone(void **state)
{
  durable d;
  pai_job_id id;

  (void)state;
  durable_open(&d, gang_root("again"));
  id = gang_submit(&d, "again", 2, "", PARTIAL,
                   "if test $PAI_TASK_INDEX = 1 -a ! -e GO$FC_TASK_ATTEMPT_ID;"
                   " then touch GO0 GO1; rm -f GO$FC_TASK_ATTEMPT_ID-x;"
                   " test $FC_TASK_ATTEMPT_ID -ge 1; fi");
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  (void)durable_show(&d, id, -1);
  durable_has(&d, "\"retries\":0,\"retryDetails\"");
  durable_has(&d, "\"retries\":1,\"accountableRetries\":1");
  assert_int_equal(gang_count(&d, id, "SUCCEEDED"), 2);
  (void)durable_events(&d, id);
  durable_has(&d, "the task runs; its folder is 0/a-1.1");
  expect_other_ports(&d, id);
  durable_close(&d);
}

/* What the tasks of its first attempt came to stays to be seen. */
static void a_job_is_tried_again_task_by_task(void **state)
{
  durable d;
  pai_job_id id;

  (void)state;
  durable_open(&d, gang_root("job"));
  id = gang_submit(&d, "job", 3, "jobRetryCount: 1,", "gangAllocation: false",
                   "test $FC_FRAMEWORK_ATTEMPT_ID = 1 || exit 9");
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  (void)durable_show(&d, id, 0);
  durable_has(&d, "\"attemptId\":0,\"attemptState\":\"FAILED\"");
  durable_has(&d, "\"appExitTriggerTaskRoleName\":\"a\"");
  durable_has(&d, "\"containerExitCode\":255");
  (void)durable_show(&d, id, 1);
  durable_has(&d, "\"attemptId\":1,\"attemptState\":\"SUCCEEDED\"");
  assert_int_equal(gang_count(&d, id, "SUCCEEDED"), 3);
  durable_close(&d);
}

static void what_runs_and_what_waits_goes_on(void **state)
{
  durable d;
  pai_job_id id;

  (void)state;
  durable_open(&d, gang_root("restart"));
  id = gang_submit(&d, "restart", 4, "", PARTIAL, GANG_WAIT);
  gang_wait(&d, id, "RUNNING", 2);
  durable_leave(&d);
  durable_open(&d, gang_root("restart"));
  gang_wait(&d, id, "RUNNING", 2);
  assert_int_equal(gang_count(&d, id, "WAITING"), 2);
  gang_go("restart");
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  (void)durable_show(&d, id, -1);
  assert_null(strstr(d.text, "\"retries\":1"));
  durable_close(&d);
}

static void stopped_while_some_wait(void **state)
{
  durable d;
  pai_job_id id, next;

  (void)state;
  durable_open(&d, gang_root("stop"));
  id = gang_submit(&d, "stop", 3, "", PARTIAL, GANG_WAIT);
  gang_wait(&d, id, "RUNNING", 2);
  assert_int_equal(pai_platform_stop(d.platform, id), PAI_OK);
  assert_int_equal(durable_wait(&d, id, PAI_STATE_STOPPED), PAI_STATE_STOPPED);
  next = gang_submit(&d, "next", 2, "", "", "true"); /* nothing is held */
  assert_int_equal(durable_wait(&d, next, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  durable_close(&d);
}

/* Without a database it is the same. */
static void a_job_of_an_embedder(void **state)
{
  story s = { 0 };

  (void)state;
  story_run(&s, story_job("extras: {gangAllocation: false},",
                          "instances: 3, taskRetryCount: 1,",
                          "test $FC_TASK_ATTEMPT_ID = 1; echo "
                          "$PAI_TASK_ROLE_INSTANCES"));
  story_expect_end(&s, PAI_STATE_SUCCEEDED, 0);
  assert_string_equal(s.output, "a:0,a:1,a:2\na:0,a:1,a:2\na:0,a:1,a:2\n");
}

/* --- preemption ------------------------------------------------------------------ */

static void tasks_give_way_one_by_one(void **state)
{
  durable d;
  pai_job_id low, high;

  (void)state;
  durable_policy = "priority";
  durable_open(&d, gang_root("way"));
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
  assert_int_equal(durable_wait(&d, low, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  (void)durable_show(&d, low, -1);
  durable_has(&d, "\"attemptId\":0");
  assert_null(strstr(d.text, "\"retries\":1"));
  durable_close(&d);
  durable_policy = NULL;
}

static void a_gang_gives_way_as_a_whole(void **state)
{
  durable d;
  pai_job_id low, high;

  (void)state;
  durable_policy = "priority";
  durable_open(&d, gang_root("whole"));
  low = gang_submit(&d, "gang", 2, "",
                    "hivedScheduler: {jobPriorityClass: test}", GANG_WAIT);
  gang_wait(&d, low, "RUNNING", 2);
  high = gang_submit(&d, "first", 1, "",
                     "hivedScheduler: {jobPriorityClass: prod}", GANG_WAIT);
  gang_wait(&d, high, "RUNNING", 1);
  gang_wait(&d, low, "WAITING", 2);
  durable_leave(&d); /* and waits on in the next one */
  durable_open(&d, gang_root("whole"));
  gang_go("first");
  gang_wait(&d, low, "RUNNING", 2);
  (void)durable_show(&d, low, 0);
  durable_has(&d, "\"appExitCode\":-1003");
  (void)durable_show(&d, low, -1);
  durable_has(&d, "\"retries\":0,");
  durable_has(&d, "\"attemptId\":1,");
  gang_go("gang");
  assert_int_equal(durable_wait(&d, low, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  durable_close(&d);
  durable_policy = NULL;
}

static void policies_have_names(void **state)
{
  pai_error *err = NULL;
  durable d;

  (void)state;
  durable_policy = "no-such";
  assert_int_equal(durable_try(&d, gang_root("none"), &err), PAI_ENOTFOUND);
  assert_non_null(strstr(pai_error_message(err), "no-such"));
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
  durable_open(&d, gang_root(name));
  id = gang_submit(&d, name, 2, "jobRetryCount: 1,", extras, command);
  while (strstr(durable_show(&d, id, -1),
                "\"virtualCluster\":\"default\",\"attemptId\":1,") == NULL)
    durable_turn(&d);
  gang_wait(&d, id, "RUNNING", 2);
  (void)durable_show(&d, id, 0);
  durable_has(&d, first);
  durable_leave(&d);
  durable_open(&d, gang_root(name));
  (void)durable_show(&d, id, 0);
  durable_has(&d, first);
  gang_go(name);
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  (void)durable_show(&d, id, -1);
  durable_has(&d, last);
  durable_close(&d);
}

static void why_each_attempt_was_decided(void **state)
{
  (void)state;
  why_attempts_were_decided("decided", "");
  why_attempts_were_decided("decided-alone", "gangAllocation: false");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(tasks_run_as_there_is_room),
    cmocka_unit_test(why_each_attempt_was_decided),
    cmocka_unit_test(a_task_is_tried_again_alone),
    cmocka_unit_test(a_job_is_tried_again_task_by_task),
    cmocka_unit_test(what_runs_and_what_waits_goes_on),
    cmocka_unit_test(stopped_while_some_wait),
    cmocka_unit_test(a_job_of_an_embedder),
    cmocka_unit_test(tasks_give_way_one_by_one),
    cmocka_unit_test(a_gang_gives_way_as_a_whole),
    cmocka_unit_test(policies_have_names),
  };

  return cmocka_run_group_tests(tests, story_make_root, story_remove_root);
}
