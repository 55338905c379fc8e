/* Tasks that have parts of GPUs, on a machine that seems to have two. */
#include "gpu_box.h"

#include <openpai/vc.h>
#include <stdio.h>

/* Each of them has a share as soon as there is one. */
static void tasks_share_gpus_one_by_one(void **state)
{
  pai_job_id id, whole;
  durable d;

  (void)state;
  box_driver_tells("2 idle");
  durable_open(&d, box_root("parts"));
  whole = box_submit(&d, "whole2", 1);
  assert_int_equal(durable_wait(&d, whole, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  id =
    box_submit_with(&d, "parts", 1,
                    "extras: {gangAllocation: false, openpai: {gpuMemoryMB: "
                    "20000}},",
                    4); /* of which one GPU has two */
  assert_int_equal(durable_wait(&d, id, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  while (strstr(box_why(&d, id),
                "2 of 4 tasks have room, 2 wait: waits for 20000 "
                "MiB of a GPU") == NULL)
    durable_turn(&d);
  durable_leave(&d);
  durable_open(&d, box_root("parts"));
  (void)box_why(&d, id);
  durable_has(&d, "2 of 4 tasks have room");
  box_end_job(&d, whole, "whole2"); /* whose GPU is shared by the others */
  while (strstr(box_why(&d, id), "tasksWaiting") != NULL)
    durable_turn(&d);
  box_end_job(&d, id, "parts");
  whole = box_submit(&d, "all2", 2);
  assert_int_equal(durable_wait(&d, whole, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  box_end_job(&d, whole, "all2");
  durable_close(&d);
  box_driver_tells("0");
}

static pai_job_id share_in(durable *d, const char *vc, const char *name,
                           int mb)
{
  char fields[160];
  pai_job_id id;

  (void)snprintf(fields, sizeof(fields),
                 "defaults: {virtualCluster: %s}, extras: {openpai: "
                 "{gpuMemoryMB: %d}},",
                 vc, mb);
  id = box_submit_with(d, name, 1, fields, 1);
  assert_int_not_equal(id, 0);
  return id;
}

/* A GPU that is shared is one virtual cluster's, and nobody waits for another
 * one's. */
static void virtual_clusters_share_their_own(void **state)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;
  pai_job_id x, y, z, w;
  durable d;

  (void)state;
  box_driver_tells("2 idle");
  durable_open(&d, box_root("vcs"));
  o.capacity = PAI_VC_WHOLE / 2;
  assert_int_equal(pai_platform_put_vc(d.platform, "a", &o, NULL), PAI_OK);
  x = share_in(&d, "a", "x", 15000);
  y = share_in(&d, "default", "y", 15000);
  assert_int_equal(durable_wait(&d, x, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  assert_int_equal(durable_wait(&d, y, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  d.len = 0;
  assert_int_equal(
    pai_platform_write_vcs(d.platform, "a", durable_write, &d, NULL), PAI_OK);
  durable_has(&d, "\"usedCapacity\":50,");
  z = share_in(&d, "a", "z", 30000);
  w = share_in(&d, "default", "w", 100);
  assert_int_equal(durable_wait(&d, w, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, z),
                   PAI_STATE_WAITING);
  durable_leave(&d);
  durable_open(&d, box_root("vcs"));
  assert_int_equal(pai_platform_job_state(NULL, d.platform, z),
                   PAI_STATE_WAITING);
  box_end_job(&d, x, "x");
  assert_int_equal(durable_wait(&d, z, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  box_end_job(&d, z, "z");
  box_end_job(&d, y, "y");
  box_end_job(&d, w, "w");
  assert_int_equal(pai_platform_remove_vc(d.platform, "a", NULL), PAI_OK);
  x = box_submit(&d, "all3", 2);
  assert_int_equal(durable_wait(&d, x, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  box_end_job(&d, x, "all3");
  durable_close(&d);
  box_driver_tells("0");
}

/* A shared GPU that was borrowed is given back: who shares it stops, and nobody
 * else gets a share of it meanwhile. */
static void shared_gpus_are_given_back(void **state)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;
  pai_job_id x, y, mine;
  durable d;

  (void)state;
  box_driver_tells("2 idle");
  durable_open(&d, box_root("guests"));
  o.capacity = 0;
  o.max_capacity = PAI_VC_WHOLE;
  assert_int_equal(pai_platform_put_vc(d.platform, "a", &o, NULL), PAI_OK);
  x = share_in(&d, "a", "gx", 30000);
  y = share_in(&d, "a", "gy", 30000);
  assert_int_equal(durable_wait(&d, x, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  assert_int_equal(durable_wait(&d, y, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  mine = box_submit(&d, "mine", 1);
  assert_int_equal(durable_wait(&d, mine, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  /* The youngest was stopped, and waits for a share. */
  assert_int_equal(pai_platform_job_state(NULL, d.platform, y),
                   PAI_STATE_WAITING);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, x),
                   PAI_STATE_RUNNING);
  box_end_job(&d, mine, "mine");
  assert_int_equal(durable_wait(&d, y, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  box_end_job(&d, x, "gx");
  box_end_job(&d, y, "gy");
  durable_close(&d);
  box_driver_tells("0");
}

/* The GPUs that the driver plays have 40 GiB each. */
static void jobs_share_gpus(void **state)
{
  pai_job_id a, b, c, whole, late;
  durable d;

  (void)state;
  box_driver_tells("2 idle");
  durable_open(&d, box_root("share"));
  assert_int_equal(box_share(&d, "large", 100000, 1), 0);
  if (strstr(d.code, "the largest one has 40") == NULL)
    fail_msg("%s", d.code);
  assert_int_equal(
    box_submit_with(&d, "odd", 2, "extras: {openpai: {gpuMemoryMB: 5}},", 1),
    0);
  assert_non_null(strstr(d.code, "with one GPU each"));
  a = box_share(&d, "a", 15000, 2); /* both on one */
  assert_int_equal(durable_wait(&d, a, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  b = box_share(&d, "b", 10000, 1); /* beside them */
  assert_int_equal(durable_wait(&d, b, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  whole = box_submit(&d, "whole", 1);
  assert_int_equal(durable_wait(&d, whole, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  c = box_share(&d, "c", 20000, 1); /* there is no room on the shared one */
  late = box_share(&d, "late", 100, 1); /* nobody overtakes */
  assert_int_equal(pai_platform_job_state(NULL, d.platform, c),
                   PAI_STATE_WAITING);
  (void)box_why(&d, c);
  durable_has(&d, "waits for 20000 MiB of a GPU");
  durable_leave(&d);
  durable_open(&d, box_root("share"));
  assert_int_equal(pai_platform_job_state(NULL, d.platform, b),
                   PAI_STATE_RUNNING);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, c),
                   PAI_STATE_WAITING);
  box_end_job(&d, a, "a");
  assert_int_equal(durable_wait(&d, c, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  assert_int_equal(durable_wait(&d, late, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  box_end_job(&d, b, "b");
  box_end_job(&d, c, "c");
  box_end_job(&d, late, "late");
  box_end_job(&d, whole, "whole");
  assert_string_equal(durable_log(&d, a, NULL), "0\n");
  assert_string_equal(durable_log(&d, b, NULL), "0\n");
  assert_string_equal(durable_log(&d, c, NULL), "0\n");
  assert_string_equal(durable_log(&d, whole, NULL), "1\n");
  whole = box_submit(&d, "both", 2); /* what nobody shares any more is free */
  assert_int_equal(durable_wait(&d, whole, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  box_end_job(&d, whole, "both");
  durable_close(&d);
  box_driver_tells("0");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(tasks_share_gpus_one_by_one),
    cmocka_unit_test(jobs_share_gpus),
    cmocka_unit_test(virtual_clusters_share_their_own),
    cmocka_unit_test(shared_gpus_are_given_back),
  };

  box_driver_tells("0");
  return cmocka_run_group_tests(tests, story_make_root, story_remove_root);
}
