/* Two platforms on a machine that seems to have two GPUs, some of which others
 * use. */
#include "durable.h"

#include "loop/loop.h"
#include "resource/machine.h"

#include <dlfcn.h>
#include <openpai/gpu.h>
#include <openpai/vc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The machine, its driver and its clock, as the linker was told. */
void __real_pai__machine_discover(pai__machine *out);
void __wrap_pai__machine_discover(pai__machine *out);
int __real_pai_gpus_new(pai_gpus **out, const pai_gpus_options *opts,
                        pai_error **err);
int __wrap_pai_gpus_new(pai_gpus **out, const pai_gpus_options *opts,
                        pai_error **err);
pai_time __real_pai__loop_time(void);
pai_time __wrap_pai__loop_time(void);

static pai_time later;        /* than it is, by so much */
static atomic_int looks;      /* that were begun; */
static int gate[2];           /* a byte for each that may go on, */
static atomic_bool gate_shut; /* if it is */

pai_time __wrap_pai__loop_time(void)
{
  return __real_pai__loop_time() + later;
}

void __wrap_pai__machine_discover(pai__machine *out)
{
  __real_pai__machine_discover(out);
  out->gpus = 2;
}

int __wrap_pai_gpus_new(pai_gpus **out, const pai_gpus_options *opts,
                        pai_error **err)
{
  pai_gpus_options o = *opts;
  bool shut = gate_shut;
  char byte;

  looks++;
  if (shut)
    (void)!read(gate[0], &byte, 1);
  o.nvml = FAKE_NVML;
  return __real_pai_gpus_new(out, &o, err);
}

/* "2": each of two GPUs has a process; "0": the driver knows of none. */
static void driver_tells(const char *machine)
{
  static void (*set)(const char *);

  if (set == NULL) {
    void *library = dlopen(FAKE_NVML, RTLD_NOW); /* and it stays */
    assert_non_null(library);
    *(void **)&set = dlsym(library, "fake_nvml_machine");
    assert_non_null(set);
  }
  set(machine);
}

enum { LONG_AGO = 6000000 /* microseconds */ };

/* The driver is not told of until it may answer. */
static void shut_gate(void)
{
  assert_int_equal(pipe(gate), 0);
  gate_shut = true;
}

static void let_look(const char *machine)
{
  driver_tells(machine);
  assert_int_equal(write(gate[1], "", 1), 1);
}

static void open_gate(void)
{
  gate_shut = false;
  (void)close(gate[0]);
  (void)close(gate[1]);
}

/* A job waits for so many. */
static void wait_looks(durable *d, pai_job_id id, int count)
{
  while (looks < count) {
    assert_int_equal(pai_platform_job_state(NULL, d->platform, id),
                     PAI_STATE_WAITING);
    durable_turn(d);
  }
}

static void wait_log(durable *d, const char *line)
{
  while (strstr(d->log, line) == NULL)
    durable_turn(d);
}

static const char *root(const char *name)
{
  static char path[300];

  (void)snprintf(path, sizeof(path), "%s/%s", story_root, name);
  return path;
}

/* A job of one task with so many GPUs, which says which, and ends when a file
 * of its name is there. */
static pai_job_id submit_with(durable *d, const char *name, int gpus,
                              const char *extras, int tasks)
{
  char text[1024];
  pai_error *err = NULL;
  pai_spec *spec;
  pai_job_id id;

  (void)snprintf(text, sizeof(text),
                 "{protocolVersion: 2, name: %s, type: job, " STORY_IMAGE
                 ", %s taskRoles: {a: {instances: %d, dockerImage: x, "
                 "resourcePerInstance: {cpu: 0, memoryMB: 64, gpu: %d}, "
                 "commands: [\"echo "
                 "$CUDA_VISIBLE_DEVICES; while ! test -e %s/%s.end; do sleep "
                 "0.01; done\"]}}}",
                 name, extras, tasks, gpus, story_root, name);
  spec = story_parse(text);
  if (pai_platform_submit(&id, d->platform, spec, &err) < 0)
    (void)snprintf(d->code, sizeof(d->code), "%s", pai_error_message(err));
  pai_error_free(err);
  pai_spec_unref(spec);
  if (id != 0)
    assert_int_equal(durable_sync(d), PAI_OK);
  return id;
}

static pai_job_id submit(durable *d, const char *name, int gpus)
{
  pai_job_id id = submit_with(d, name, gpus, "", 1);

  assert_int_not_equal(id, 0);
  return id;
}

/* So many tasks, each of which needs so much of a GPU. */
static pai_job_id share(durable *d, const char *name, int mb, int tasks)
{
  char extras[80];

  (void)snprintf(extras, sizeof(extras),
                 "extras: {openpai: {gpuMemoryMB: %d}},", mb);
  return submit_with(d, name, 1, extras, tasks);
}

static void end_job(durable *d, pai_job_id id, const char *name)
{
  char path[400];
  FILE *file;

  (void)snprintf(path, sizeof(path), "%s/%s.end", story_root, name);
  file = fopen(path, "w");
  assert_non_null(file);
  (void)fclose(file);
  assert_int_equal(durable_wait(d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
}

static const char *why(durable *d, pai_job_id id)
{
  d->len = 0;
  assert_int_equal(pai_platform_why(d->platform, id, durable_write, d, NULL),
                   PAI_OK);
  return d->text;
}

/* What a role names is what there is, or it is refused. */
static void types_that_are_named(void **state)
{
#define NAMED(type) \
  "extras: {hivedScheduler: {taskRoles: {a: {skuType: " type "}}}},"
  static const char *const policies[] = { NULL, "backfill", "hived" };
  static const char *const names[] = { "typed", "typed2", "typed3" };
  durable d;

  (void)state;
  for (size_t i = 0; i < PAI__LEN(policies); i++) {
    pai_job_id id;

    durable_policy = policies[i];
    durable_open(&d, root(names[i]));
    assert_int_equal(submit_with(&d, "k80", 1, NAMED("K80"), 1), 0);
    assert_non_null(strstr(d.code, "role a asks for the SKU type 'K80'"));
    assert_int_equal(submit_with(&d, "cpu", 0, NAMED("cpu"), 1), 0);
    id = submit_with(&d, "none", 0, NAMED("gpu"), 1);
    assert_int_not_equal(id, 0);
    end_job(&d, id, "none");
    id = submit_with(&d, "some", 2, NAMED("gpu"), 1);
    assert_int_not_equal(id, 0);
    end_job(&d, id, "some");
    id = submit_with(&d, "empty", 1, NAMED("''"), 1);
    assert_int_not_equal(id, 0);
    end_job(&d, id, "empty");
    durable_close(&d);
  }
  durable_policy = NULL;
}

static void two_jobs_share_a_box_of_two(void **state)
{
  pai_job_id one, two, three;
  durable d;

  (void)state;
  durable_open(&d, root("two"));
  one = submit(&d, "one", 1);
  two = submit(&d, "two", 1);
  three = submit(&d, "three", 1);
  assert_int_equal(durable_wait(&d, two, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, three),
                   PAI_STATE_WAITING);
  (void)why(&d, three);
  durable_has(&d, "waits for 1 GPUs, 0 are free");
  end_job(&d, one, "one");
  assert_int_equal(durable_wait(&d, three, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  end_job(&d, two, "two");
  end_job(&d, three, "three");
  assert_string_equal(durable_log(&d, one, NULL), "0\n");
  assert_string_equal(durable_log(&d, two, NULL), "1\n");
  assert_string_equal(durable_log(&d, three, NULL), "0\n");
  durable_close(&d);
}

/* Platforms of two users: neither gets what the other one has. */
static void two_platforms_never_share_one(void **state)
{
  pai_job_id mine, yours;
  durable a, b;

  (void)state;
  durable_open(&a, root("mine"));
  mine = submit(&a, "mine", 1);
  assert_int_equal(durable_wait(&a, mine, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  durable_open(&b, root("yours"));
  yours = submit(&b, "yours", 2);
  for (int i = 0; i < 10; i++)
    durable_turn(&b);
  assert_int_equal(pai_platform_job_state(NULL, b.platform, yours),
                   PAI_STATE_WAITING);
  assert_non_null(strstr(b.log, "another platform uses it"));
  end_job(&a, mine, "mine");
  assert_int_equal(durable_wait(&b, yours, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  end_job(&b, yours, "yours");
  durable_close(&a);
  durable_close(&b);
}

static void what_others_use_is_not_given_out(void **state)
{
  pai_job_id id;
  durable d;

  (void)state;
  driver_tells("2");
  durable_open(&d, root("crowd"));
  id = submit(&d, "crowd", 1);
  for (int i = 0; i < 5; i++)
    durable_turn(&d);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, id),
                   PAI_STATE_WAITING);
  assert_non_null(strstr(d.log, "processes of others use it"));
  (void)why(&d, id);
  durable_has(&d, "GPU 1: a process of somebody else uses it");
  durable_leave(&d);
  driver_tells("0"); /* seen by the next one */
  durable_open(&d, root("crowd"));
  assert_int_equal(durable_wait(&d, id, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  end_job(&d, id, "crowd");
  durable_close(&d);
}

/* Somebody came since the last look: it is seen before a GPU is given out; a
 * job without GPUs needs no look, nor does one that stands behind. */
static void who_came_meanwhile_is_seen_first(void **state)
{
  pai_job_id id, none, behind;
  durable d;
  int before;

  (void)state;
  driver_tells("2 idle");
  durable_open(&d, root("meanwhile"));
  before = looks;
  later += LONG_AGO;
  shut_gate();
  none = submit(&d, "none", 0);
  assert_int_equal(durable_wait(&d, none, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  assert_int_equal(looks, before);
  id = submit(&d, "meanwhile", 1);
  wait_looks(&d, id, before + 1);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, id),
                   PAI_STATE_WAITING);
  behind = submit(&d, "behind", 0);
  assert_int_equal(durable_wait(&d, behind, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  end_job(&d, behind, "behind");
  assert_int_equal(looks, before + 1);
  (void)why(&d, id);
  durable_has(&d, "its GPUs are looked at: others may use them");
  assert_null(strstr(d.log, "GPU ")); /* nothing is known that could be told */
  let_look("2");
  wait_log(&d, "GPU 1: a process of somebody else uses it");
  end_job(&d, none, "none");
  assert_int_equal(pai_platform_job_state(NULL, d.platform, id),
                   PAI_STATE_WAITING);
  (void)why(&d, id);
  durable_has(&d, "GPU 0: 2 processes of others use it");
  assert_int_equal(looks, before + 1);
  open_gate();
  durable_close(&d);
  driver_tells("0");
}

/* One look is for all that is placed for a while; of a machine whose driver
 * knows of no GPU, nobody asks. */
static void drivers_are_asked_once(void **state)
{
  const char *const machines[] = { "2 idle", "0" };
  int before;
  pai_job_id id;
  durable d;

  (void)state;
  for (int i = 0; i < 2; i++) {
    char name[2][32];

    driver_tells(machines[i]);
    durable_open(&d, root(machines[i]));
    before = looks;
    for (int k = 0; k < 2; k++) {
      (void)snprintf(name[k], sizeof(name[k]), "once%d%d", i, k);
      id = submit(&d, name[k], 2);
      assert_int_equal(durable_wait(&d, id, PAI_STATE_RUNNING),
                       PAI_STATE_RUNNING);
      end_job(&d, id, name[k]);
      assert_int_equal(looks, before + (i == 0 && k == 1));
      if (k == 0)
        later += LONG_AGO;
    }
    id = submit(&d, "more", 2); /* the one before had them when it ended */
    assert_int_equal(durable_wait(&d, id, PAI_STATE_RUNNING),
                     PAI_STATE_RUNNING);
    end_job(&d, id, "more");
    assert_int_equal(looks, before + (i == 0));
    assert_null(strstr(d.log, "GPU "));
    durable_close(&d);
  }
}

/* A look that began while a job had a GPU may have seen that job. */
static void what_was_ours_is_looked_at_again(void **state)
{
  pai_job_id mine, next;
  durable d;
  int before;

  (void)state;
  driver_tells("2 idle");
  durable_open(&d, root("again"));
  before = looks;
  mine = submit(&d, "first", 1);
  assert_int_equal(durable_wait(&d, mine, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  later += LONG_AGO;
  shut_gate();
  next = submit(&d, "next", 1);
  wait_looks(&d, next, before + 1);
  end_job(&d, mine, "first");
  let_look("2"); /* as it was before the end */
  wait_log(&d, "GPU 1: a process of somebody else uses it");
  wait_looks(&d, next, before + 2);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, next),
                   PAI_STATE_WAITING);
  let_look("2 idle");
  assert_int_equal(durable_wait(&d, next, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  assert_null(strstr(d.log, "GPU 0: "));
  open_gate();
  end_job(&d, next, "next");
  durable_close(&d);
  driver_tells("0");
}

/* What was decided and has not begun, while GPUs are looked at, is stopped, or
 * waits again in the next platform, whose first look is another one. */
static void not_begun(void **state)
{
  pai_job_id id, next;
  durable d;
  int before;

  (void)state;
  driver_tells("2 idle");
  durable_open(&d, root("begun"));
  before = looks;
  later += LONG_AGO;
  shut_gate();
  id = submit(&d, "stopped", 2);
  wait_looks(&d, id, before + 1);
  assert_int_equal(pai_platform_stop(d.platform, id), PAI_OK);
  assert_int_equal(durable_wait(&d, id, PAI_STATE_STOPPED), PAI_STATE_STOPPED);
  let_look("2 idle");
  id = submit(&d, "freed", 2); /* it holds nothing */
  assert_int_equal(durable_wait(&d, id, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  end_job(&d, id, "freed");
  later += LONG_AGO;
  before = looks;
  id = share(&d, "shares1", 20000, 2); /* a GPU that is to be shared, too */
  wait_looks(&d, id, before + 1);
  let_look("2 idle");
  assert_int_equal(durable_wait(&d, id, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  end_job(&d, id, "shares1");
  later += LONG_AGO;
  next = submit_with(&d, "left", 1, "extras: {gangAllocation: false},", 2);
  assert_int_not_equal(next, 0);
  id = share(&d, "shares", 20000, 2);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, next),
                   PAI_STATE_WAITING);
  gate_shut = false; /* but for the one that waits there */
  let_look("2 idle");
  durable_leave(&d);
  open_gate();
  driver_tells("2");
  durable_open(&d, root("begun"));
  (void)why(&d, next);
  durable_has(&d, "GPU 0: 2 processes of others use it");
  assert_int_equal(pai_platform_job_state(NULL, d.platform, next),
                   PAI_STATE_WAITING);
  durable_leave(&d);
  driver_tells("2 idle");
  durable_open(&d, root("begun"));
  assert_int_equal(durable_wait(&d, next, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  end_job(&d, next, "left");
  end_job(&d, id, "shares");
  durable_close(&d);
  driver_tells("0");
}

/* Each of them has a share as soon as there is one. */
static void tasks_share_gpus_one_by_one(void **state)
{
  pai_job_id id, whole;
  durable d;

  (void)state;
  driver_tells("2 idle");
  durable_open(&d, root("parts"));
  whole = submit(&d, "whole2", 1);
  assert_int_equal(durable_wait(&d, whole, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  id = submit_with(&d, "parts", 1,
                   "extras: {gangAllocation: false, openpai: {gpuMemoryMB: "
                   "20000}},",
                   4); /* of which one GPU has two */
  assert_int_equal(durable_wait(&d, id, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  while (strstr(why(&d, id), "2 of 4 tasks have room, 2 wait: waits for 20000 "
                             "MiB of a GPU") == NULL)
    durable_turn(&d);
  durable_leave(&d);
  durable_open(&d, root("parts"));
  (void)why(&d, id);
  durable_has(&d, "2 of 4 tasks have room");
  end_job(&d, whole, "whole2"); /* whose GPU is shared by the others */
  while (strstr(why(&d, id), "tasksWaiting") != NULL)
    durable_turn(&d);
  end_job(&d, id, "parts");
  whole = submit(&d, "all2", 2);
  assert_int_equal(durable_wait(&d, whole, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  end_job(&d, whole, "all2");
  durable_close(&d);
  driver_tells("0");
}

/* What the driver knows of is the job of the platform before. */
static void adopted_jobs_are_ours(void **state)
{
  pai_job_id mine, next;
  durable d;

  (void)state;
  driver_tells("2 idle");
  durable_open(&d, root("adopted"));
  mine = submit(&d, "adopted", 1);
  assert_int_equal(durable_wait(&d, mine, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  next = submit(&d, "after", 2);
  durable_leave(&d);
  driver_tells("2");
  durable_open(&d, root("adopted"));
  assert_int_equal(pai_platform_job_state(NULL, d.platform, mine),
                   PAI_STATE_RUNNING);
  wait_log(&d, "GPU 1: a process of somebody else uses it");
  assert_null(strstr(d.log, "GPU 0: "));
  (void)why(&d, next);
  assert_null(strstr(d.text, "GPU 0: "));
  end_job(&d, mine, "adopted");
  durable_close(&d);
  driver_tells("0");
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
  id = submit_with(d, name, 1, fields, 1);
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
  driver_tells("2 idle");
  durable_open(&d, root("vcs"));
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
  durable_open(&d, root("vcs"));
  assert_int_equal(pai_platform_job_state(NULL, d.platform, z),
                   PAI_STATE_WAITING);
  end_job(&d, x, "x");
  assert_int_equal(durable_wait(&d, z, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  end_job(&d, z, "z");
  end_job(&d, y, "y");
  end_job(&d, w, "w");
  assert_int_equal(pai_platform_remove_vc(d.platform, "a", NULL), PAI_OK);
  x = submit(&d, "all3", 2);
  assert_int_equal(durable_wait(&d, x, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  end_job(&d, x, "all3");
  durable_close(&d);
  driver_tells("0");
}

/* A shared GPU that was borrowed is given back: who shares it stops, and nobody
 * else gets a share of it meanwhile. */
static void shared_gpus_are_given_back(void **state)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;
  pai_job_id x, y, mine;
  durable d;

  (void)state;
  driver_tells("2 idle");
  durable_open(&d, root("guests"));
  o.capacity = 0;
  o.max_capacity = PAI_VC_WHOLE;
  assert_int_equal(pai_platform_put_vc(d.platform, "a", &o, NULL), PAI_OK);
  x = share_in(&d, "a", "gx", 30000);
  y = share_in(&d, "a", "gy", 30000);
  assert_int_equal(durable_wait(&d, x, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  assert_int_equal(durable_wait(&d, y, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  mine = submit(&d, "mine", 1);
  assert_int_equal(durable_wait(&d, mine, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  /* The youngest was stopped, and waits for a share. */
  assert_int_equal(pai_platform_job_state(NULL, d.platform, y),
                   PAI_STATE_WAITING);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, x),
                   PAI_STATE_RUNNING);
  end_job(&d, mine, "mine");
  assert_int_equal(durable_wait(&d, y, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  end_job(&d, x, "gx");
  end_job(&d, y, "gy");
  durable_close(&d);
  driver_tells("0");
}

/* The GPUs that the driver plays have 40 GiB each. */
static void jobs_share_gpus(void **state)
{
  pai_job_id a, b, c, whole, late;
  durable d;

  (void)state;
  driver_tells("2 idle");
  durable_open(&d, root("share"));
  assert_int_equal(share(&d, "large", 100000, 1), 0);
  if (strstr(d.code, "the largest one has 40") == NULL)
    fail_msg("%s", d.code);
  assert_int_equal(
    submit_with(&d, "odd", 2, "extras: {openpai: {gpuMemoryMB: 5}},", 1), 0);
  assert_non_null(strstr(d.code, "with one GPU each"));
  a = share(&d, "a", 15000, 2); /* both on one */
  assert_int_equal(durable_wait(&d, a, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  b = share(&d, "b", 10000, 1); /* beside them */
  assert_int_equal(durable_wait(&d, b, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  whole = submit(&d, "whole", 1);
  assert_int_equal(durable_wait(&d, whole, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  c = share(&d, "c", 20000, 1);     /* there is no room on the shared one */
  late = share(&d, "late", 100, 1); /* nobody overtakes */
  assert_int_equal(pai_platform_job_state(NULL, d.platform, c),
                   PAI_STATE_WAITING);
  (void)why(&d, c);
  durable_has(&d, "waits for 20000 MiB of a GPU");
  durable_leave(&d);
  durable_open(&d, root("share"));
  assert_int_equal(pai_platform_job_state(NULL, d.platform, b),
                   PAI_STATE_RUNNING);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, c),
                   PAI_STATE_WAITING);
  end_job(&d, a, "a");
  assert_int_equal(durable_wait(&d, c, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  assert_int_equal(durable_wait(&d, late, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  end_job(&d, b, "b");
  end_job(&d, c, "c");
  end_job(&d, late, "late");
  end_job(&d, whole, "whole");
  assert_string_equal(durable_log(&d, a, NULL), "0\n");
  assert_string_equal(durable_log(&d, b, NULL), "0\n");
  assert_string_equal(durable_log(&d, c, NULL), "0\n");
  assert_string_equal(durable_log(&d, whole, NULL), "1\n");
  whole = submit(&d, "both", 2); /* what nobody shares any more is free */
  assert_int_equal(durable_wait(&d, whole, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  end_job(&d, whole, "both");
  durable_close(&d);
  driver_tells("0");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(two_jobs_share_a_box_of_two),
    cmocka_unit_test(types_that_are_named),
    cmocka_unit_test(two_platforms_never_share_one),
    cmocka_unit_test(what_others_use_is_not_given_out),
    cmocka_unit_test(who_came_meanwhile_is_seen_first),
    cmocka_unit_test(drivers_are_asked_once),
    cmocka_unit_test(what_was_ours_is_looked_at_again),
    cmocka_unit_test(not_begun),
    cmocka_unit_test(tasks_share_gpus_one_by_one),
    cmocka_unit_test(adopted_jobs_are_ours),
    cmocka_unit_test(jobs_share_gpus),
    cmocka_unit_test(virtual_clusters_share_their_own),
    cmocka_unit_test(shared_gpus_are_given_back),
  };

  driver_tells("0");
  return cmocka_run_group_tests(tests, story_make_root, story_remove_root);
}
