/* Task roles get more tasks, or fewer, while their job lives. */
#include "gang.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

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

  durable_open(&d, gang_root(name));
  id = gang_submit(&d, name, 1, "", extras, GANG_WAIT);
  gang_wait(&d, id, "RUNNING", 1);
  assert_int_equal(rescale(&d, id, "a", 4), PAI_OK);
  gang_wait(&d, id, "RUNNING", 2); /* as many as there is room for */
  assert_int_equal(gang_count(&d, id, "WAITING"), 2);
  (void)durable_why(&d, id);
  durable_has(&d, "2 of 4 tasks have room, 2 wait");
  durable_leave(&d); /* the next one knows */
  durable_open(&d, gang_root(name));
  gang_wait(&d, id, "RUNNING", 2);
  assert_int_equal(count(&d, id), 4);
  assert_int_equal(rescale(&d, id, "a", 1), PAI_OK);
  while (count(&d, id) != 1)
    durable_turn(&d);
  assert_int_equal(gang_count(&d, id, "RUNNING"), 1);
  assert_int_equal(rescale(&d, id, "a", 2), PAI_OK); /* the same index again */
  gang_wait(&d, id, "RUNNING", 2);
  (void)durable_events(&d, id);
  durable_has(&d, "a has 4 tasks now, and had 1");
  gang_go(name);
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  assert_int_equal(gang_count(&d, id, "SUCCEEDED"), 2);
  durable_close(&d);
}

static void tasks_come_and_go_alone(void **state)
{
  (void)state;
  up_and_down("alone", "gangAllocation: false");
}

static void tasks_come_to_a_gang_and_go(void **state)
{
  (void)state;
  up_and_down("gang", "");
}

/* Of a gang that runs its places are kept: who comes back has them at once. */
static void a_removed_place_of_a_gang(void **state)
{
  durable d;
  pai_job_id id, other;

  (void)state;
  durable_open(&d, gang_root("kept"));
  id = gang_submit(&d, "kept", 2, "", "", GANG_WAIT);
  gang_wait(&d, id, "RUNNING", 2);
  assert_int_equal(rescale(&d, id, "a", 1), PAI_OK);
  while (count(&d, id) != 1)
    durable_turn(&d);
  other = gang_submit(&d, "other", 1, "", "", "true");
  assert_int_equal(rescale(&d, id, "a", 2), PAI_OK);
  gang_wait(&d, id, "RUNNING", 2);
  gang_go("kept");
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  assert_int_equal(durable_wait(&d, other, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  durable_close(&d);
}

/* It waits for all that it has then; its next attempt is placed as a whole. */
static void a_gang_that_waits(void **state)
{
  durable d;
  pai_job_id first, id;

  (void)state;
  durable_open(&d, gang_root("waits"));
  first = gang_submit(&d, "first", 1, "", "", GANG_WAIT);
  gang_wait(&d, first, "RUNNING", 1);
  id = gang_submit(&d, "waits", 2, "jobRetryCount: 1,", "",
                   "echo $PAI_TASK_ROLE_TASK_COUNT_a; test -e GO || sleep 0.1;"
                   " test -e GO || exit 3");
  assert_int_equal(gang_count(&d, id, "WAITING"), 2);
  assert_int_equal(rescale(&d, id, "a", 3), PAI_ENOROOM);
  assert_non_null(strstr(d.code, "cannot run here"));
  assert_int_equal(count(&d, id), 2);
  assert_int_equal(rescale(&d, id, "a", 1), PAI_OK); /* now it has room */
  gang_go("waits");
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  assert_string_equal(durable_log(&d, id, NULL), "1\n");
  gang_go("first");
  assert_int_equal(durable_wait(&d, first, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  durable_close(&d);
}

/* The attempt after one that grew has room for all of it at once. */
static void an_attempt_after_it_grew(void **state)
{
  char path[400];
  durable d;
  pai_job_id id;

  (void)state;
  durable_open(&d, gang_root("grew"));
  id = gang_submit(&d, "grew", 1, "jobRetryCount: 1,", "",
                   GANG_WAIT "; test $FC_FRAMEWORK_ATTEMPT_ID = 1 || exit 3;"
                             " while ! test -e GO2; do sleep 0.01; done");
  gang_wait(&d, id, "RUNNING", 1);
  assert_int_equal(rescale(&d, id, "a", 2), PAI_OK);
  gang_wait(&d, id, "RUNNING", 2);
  gang_go("grew");
  while (strstr(durable_show(&d, id, -1), "\"attemptId\":1,\"attemptState\":"
                                          "\"RUNNING\"") == NULL)
    durable_turn(&d);
  d.len = 0;
  assert_int_equal(pai_platform_status(d.platform, durable_write, &d, NULL),
                   PAI_OK);
  durable_has(&d, "\"freeCpus\":0,"); /* each has its own */
  (void)snprintf(path, sizeof(path), "%s/grew-go2", story_root);
  (void)close(creat(path, 0600));
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  assert_int_equal(gang_count(&d, id, "SUCCEEDED"), 2);
  durable_close(&d);
}

static void what_cannot_be(void **state)
{
  durable d;
  pai_job_id id;

  (void)state;
  durable_open(&d, gang_root("cannot"));
  id = gang_submit(&d, "cannot", 1, "", "", GANG_WAIT);
  gang_wait(&d, id, "RUNNING", 1);
  assert_int_equal(rescale(&d, id, "b", 1), PAI_ENOTFOUND);
  assert_non_null(strstr(d.code, "no task role \"b\""));
  assert_int_equal(rescale(&d, id, "a", 0), PAI_EINVAL);
  assert_int_equal(rescale(&d, id, "a", UINT32_MAX), PAI_EINVAL);
  assert_int_equal(rescale(&d, id + 1, "a", 1), PAI_ENOTFOUND);
  assert_int_equal(rescale(&d, id, "a", 1), PAI_OK); /* as it is */
  assert_int_equal(pai_platform_stop(d.platform, id), PAI_OK);
  assert_int_equal(rescale(&d, id, "a", 2), PAI_EBUSY);
  assert_int_equal(durable_wait(&d, id, PAI_STATE_STOPPED), PAI_STATE_STOPPED);
  assert_int_equal(rescale(&d, id, "a", 2), PAI_ENOTFOUND);
  assert_int_equal(pai_platform_rescale(NULL, id, "a", 1, NULL), PAI_EINVAL);
  durable_close(&d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(tasks_come_and_go_alone),
    cmocka_unit_test(tasks_come_to_a_gang_and_go),
    cmocka_unit_test(a_removed_place_of_a_gang),
    cmocka_unit_test(a_gang_that_waits),
    cmocka_unit_test(an_attempt_after_it_grew),
    cmocka_unit_test(what_cannot_be),
  };

  return cmocka_run_group_tests(tests, story_make_root, story_remove_root);
}
