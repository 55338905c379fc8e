/* Where a job stands in line, under each policy that needs no GPUs. */
#include "cases.h"
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
  pai_job_id first;

  durable_policy = policy;
  durable_open(d, story_in(folder));
  d->cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
  first = submit(d, "first", PROD, "");
  durable_reaches(d, first, PAI_STATE_RUNNING);
  ids[0] = submit(d, "a", "", "");
  ids[1] = submit(d, "b", "", "");
  ids[2] = submit(d, "c", PROD, "");
  /* Its tasks are placed one by one: it is one job all the same. */
  ids[3] = submit(d, "d", ALONE, "instances: 3,");
  assert_ok(durable_sync(d));
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

TEST(each_policy_has_its_order)
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

  for (size_t i = 0; i < PAI__LEN(rows); i++) {
    begin(&d, rows[i].policy, rows[i].policy, ids);
    for (size_t j = 0; j < JOBS; j++)
      expect(&d, ids[j], rows[i].order, rows[i].places[j], JOBS);
    durable_close(&d);
  }
  durable_policy = NULL;
}

/* Who leaves makes room for those behind; who is behind changes nothing. */
TEST(it_moves_on)
{
  pai_job_id ids[JOBS];
  durable d;

  begin(&d, "priority", "moves", ids);
  assert_ok(pai_platform_stop(d.platform, ids[0]));
  durable_reaches(&d, ids[0], PAI_STATE_STOPPED);
  expect(&d, ids[1], "\"priority\"", "2", 3);
  expect(&d, ids[2], "\"priority\"", "1", 3);
  expect(&d, ids[3], "\"priority\"", "3", 3);
  durable_close(&d);
  durable_policy = NULL;
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
