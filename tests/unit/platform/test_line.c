/* Where a job stands in line, under each policy that needs no GPUs. */
#include "durable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOBS = 4 };

/* A job that takes all of the machine, with fields of its own. */
static pai_job_id submit(durable *d, const char *name, const char *fields,
                         const char *role)
{
  pai_job_id id = durable_submit(d, name, fields, role, "sleep 1000");

  if (id == 0)
    fail_msg("%s", d->code);
  return id;
}

#define PROD "extras: {hivedScheduler: {jobPriorityClass: prod}},"
#define ALONE "extras: {gangAllocation: false},"

static void begin(durable *d, const char *policy, const char *folder,
                  pai_job_id ids[JOBS])
{
  char root[300];
  pai_job_id first;

  durable_policy = policy;
  (void)snprintf(root, sizeof(root), "%s/%s", story_root, folder);
  durable_open(d, root);
  d->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
  first = submit(d, "first", PROD, "");
  assert_int_equal(durable_wait(d, first, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  ids[0] = submit(d, "a", "", "");
  ids[1] = submit(d, "b", "", "");
  ids[2] = submit(d, "c", PROD, "");
  /* Its tasks are placed one by one: it is one job all the same. */
  ids[3] = submit(d, "d", ALONE, "instances: 3,");
  assert_int_equal(durable_sync(d), PAI_OK);
  (void)durable_why(d, first);
  assert_null(strstr(d->text, "\"line\"")); /* it does not wait */
}

static void expect(durable *d, pai_job_id id, const char *order,
                   const char *place, int waiting)
{
  char line[160];

  (void)snprintf(line, sizeof(line),
                 "\"line\":{\"virtualCluster\":\"default\",\"order\":%s,"
                 "\"place\":%s,\"waiting\":%d}",
                 order, place, waiting);
  if (strstr(durable_why(d, id), line) == NULL)
    fail_msg("%s: want %s, have %s", durable_policy, line, d->text);
}

static void each_policy_has_its_order(void **state)
{
  static const struct {
    const char *policy, *order;
    const char *places[JOBS];
  } rows[] = {
    { "fifo", "\"arrival\"", { "1", "2", "3", "4" } },
    { "backfill", "\"priority\"", { "2", "3", "1", "4" } },
    { "priority", "\"priority\"", { "2", "3", "1", "4" } },
    { "capacity", "\"priority\"", { "2", "3", "1", "4" } },
    { "k8s", "\"priority\"", { "2", "3", "1", "4" } },
    { "fair", "null", { "null", "null", "null", "null" } },
  };
  pai_job_id ids[JOBS];
  durable d;

  (void)state;
  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    begin(&d, rows[i].policy, rows[i].policy, ids);
    for (size_t j = 0; j < JOBS; j++)
      expect(&d, ids[j], rows[i].order, rows[i].places[j], JOBS);
    durable_close(&d);
  }
  durable_policy = NULL;
}

/* Who leaves makes room for those behind; who is behind changes nothing. */
static void it_moves_on(void **state)
{
  pai_job_id ids[JOBS];
  durable d;

  (void)state;
  begin(&d, "priority", "moves", ids);
  assert_int_equal(pai_platform_stop(d.platform, ids[0]), PAI_OK);
  assert_int_equal(durable_wait(&d, ids[0], PAI_STATE_STOPPED),
                   PAI_STATE_STOPPED);
  expect(&d, ids[1], "\"priority\"", "2", 3);
  expect(&d, ids[2], "\"priority\"", "1", 3);
  expect(&d, ids[3], "\"priority\"", "3", 3);
  durable_close(&d);
  durable_policy = NULL;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_policy_has_its_order),
    cmocka_unit_test(it_moves_on),
  };
  return cmocka_run_group_tests(tests, story_make_root, story_remove_root);
}
