/* Virtual clusters of a live platform: jobs are held to them, also while they
 * change, after a restart and after a kill; and its node is drained. */
#include "cases.h"
#include "durable.h"

#include "base/prng.h"
#include "store/store.h"

#include <openpai/account.h>
#include <openpai/vc.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- asking ------------------------------------------------------------------ */

static const char *vcs(durable *d, const char *name)
{
  d->len = 0;
  assert_ok(pai_platform_write_vcs(d->platform, name, durable_write, d, NULL));
  return d->text;
}

static long number(const char *text, const char *key)
{
  const char *at = strstr(text, key);

  assert_non_null(at);
  return strtol(at + strlen(key), NULL, 10);
}

static long cpus(durable *d, const char *vc, const char *of)
{
  const char *at = strstr(vcs(d, vc), of);

  assert_non_null(at);
  return number(at, "\"cpu\":");
}

static uint32_t all_cpus(durable *d)
{
  d->len = 0;
  assert_ok(
    pai_platform_write_nodes(d->platform, NULL, durable_write, d, NULL));
  return (uint32_t)number(d->text, "\"cpus\":");
}

/* A part that comes to so many CPUs. */
static uint32_t part_of(durable *d, uint32_t n)
{
  uint32_t all = all_cpus(d);

  return n >= all ? PAI_VC_WHOLE : (n * PAI_VC_WHOLE + all - 1) / all;
}

static int put(durable *d, const char *name, uint32_t part, pai_error **err)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;

  o.capacity = part;
  return pai_platform_put_vc(d->platform, name, &o, err);
}

static pai_job_id submit(durable *d, const char *name, const char *vc,
                         const char *command)
{
  d->cpus = 1;
  return durable_submit(
    d, name, test_string("defaults: {virtualCluster: %s},", vc), "", command);
}

static void expect_why(durable *d, pai_job_id id, const char *part)
{
  if (strstr(durable_why(d, id), part) == NULL)
    fail_msg("no \"%s\" in %s", part, d->text);
}

static void stop(durable *d, pai_job_id id)
{
  (void)pai_platform_stop(d->platform, id);
  (void)pai_platform_stop(d->platform, id);
  durable_reaches(d, id, PAI_STATE_STOPPED);
}

/* What was told to be safe is there after a kill; then all that belongs
 * together is, or nothing of it.  First: it forks, and there are no threads yet. */
TEST(a_kill_loses_nothing)
{
  int told[2], status;
  char byte;
  durable d;
  pid_t child;

  assert_int_equal(pipe(told), 0);
  child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    durable_open(&d, story_in("killed"));
    if (put(&d, "kept", part_of(&d, 1), NULL) < 0 ||
        put(&d, "gone", 0, NULL) < 0 ||
        pai_platform_remove_vc(d.platform, "gone", NULL) < 0 ||
        pai_platform_stop_vc(d.platform, "kept", 1, NULL) < 0 ||
        submit(&d, "waits", "kept", "true") == 0 || durable_sync(&d) < 0)
      _exit(3);
    (void)!write(told[1], "x", 1);
    (void)put(&d, "late", 0, NULL);
    for (;;)
      durable_turn(&d);
  }
  close(told[1]);
  assert_int_equal(read(told[0], &byte, 1), 1);
  close(told[0]);
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  durable_open(&d, story_in("killed"));
  assert_has(vcs(&d, "kept"), "\"state\":\"stopped\"");
  assert_has(d.text, "\"waitingJobs\":1");
  assert_null(strstr(vcs(&d, NULL), "\"gone\""));
  assert_ok(pai_platform_stop_vc(d.platform, "kept", 0, NULL));
  durable_close(&d);
}

/* --- idle GPUs ---------------------------------------------------------------- */

TEST(idle_times_are_kept)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;
  pai_error *err;
  durable d;

  durable_open(&d, story_in(__func__));
  assert_has(vcs(&d, "default"),
             "\"idleWarnMinutes\":60,\"idleStopMinutes\":0");
  assert_ok(put(&d, "a", 100, NULL));
  assert_has(vcs(&d, "a"), "\"idleWarnMinutes\":60,\"idleStopMinutes\":0");
  o.capacity = 100;
  o.idle_warn_minutes = PAI_VC_NEVER;
  o.idle_stop_minutes = 90;
  assert_ok(pai_platform_put_vc(d.platform, "a", &o, NULL));
  assert_ok(put(&d, "a", 200, NULL)); /* which leaves them */
  durable_close(&d);
  durable_open(&d, story_in(__func__));
  assert_has(vcs(&d, "a"), "\"idleWarnMinutes\":0,\"idleStopMinutes\":90");
  o.idle_stop_minutes = 525601;
  assert_fails(pai_platform_put_vc(d.platform, "a", &o, &err), err, PAI_EINVAL,
               "up to 525600 minutes");
  o.idle_stop_minutes = -2;
  assert_int_equal(pai_platform_put_vc(d.platform, "a", &o, NULL), PAI_EINVAL);
  durable_close(&d);
}

TEST(a_host_adds_events)
{
  pai_error *err;
  durable d;
  pai_job_id id;

  durable_open(&d, story_in(__func__));
  id = submit(&d, "works", "default", "sleep 100");
  assert_ok(pai_platform_add_event(d.platform, id, "Warning", "IdleGpus",
                                   "Nothing is done.", NULL));
  assert_ok(durable_sync(&d));
  assert_has(durable_events(&d, id), "\"reason\":\"IdleGpus\"");
  assert_has(durable_events(&d, id), "Nothing is done.");
  assert_fails(pai_platform_add_event(d.platform, id, "Bad", "X", "y", &err),
               err, PAI_EINVAL, "Normal or Warning");
  assert_fails(
    pai_platform_add_event(d.platform, id + 1, "Normal", "X", "y", &err), err,
    PAI_ENOTFOUND, "no live job");
  stop(&d, id);
  assert_int_equal(
    pai_platform_add_event(d.platform, id, "Normal", "X", "y", NULL),
    PAI_ENOTFOUND);
  durable_close(&d);
}

/* --- being made -------------------------------------------------------------- */

TEST(some_cannot_be_made)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;
  char longest[80] = { 0 };
  pai_error *err;
  durable d;

  memset(longest, 'a', 65);
  durable_open(&d, story_in(__func__));
  assert_has(vcs(&d, NULL), "{\"default\":{\"capacity\":100,");
  assert_int_equal(put(&d, "", 100, NULL), PAI_EINVAL);
  assert_int_equal(put(&d, "a-b", 100, NULL), PAI_EINVAL);
  assert_int_equal(put(&d, "a/b", 100, NULL), PAI_EINVAL);
  assert_int_equal(put(&d, longest, 100, NULL), PAI_EINVAL);
  assert_fails(put(&d, "default", 100, &err), err, PAI_EPERM,
               "the remaining capacity");
  assert_int_equal(put(&d, "a", 10001, NULL), PAI_ENOROOM);
  assert_ok(put(&d, "a", 6000, NULL));
  assert_fails(put(&d, "b", 4001, &err), err, PAI_ENOROOM, "leave 40%");
  assert_ok(put(&d, "b", 4000, NULL));
  assert_ok(put(&d, "a", 1250, NULL));
  assert_has(vcs(&d, NULL), "\"default\":{\"capacity\":47.5,");
  assert_has(vcs(&d, "a"), "\"capacity\":12.5,");
  o.capacity = 2000;
  o.max_capacity = 1000;
  assert_int_equal(pai_platform_put_vc(d.platform, "a", &o, NULL), PAI_EINVAL);
  o.max_capacity = 10001;
  assert_int_equal(pai_platform_put_vc(d.platform, "a", &o, NULL), PAI_EINVAL);
  o.max_capacity = 3000;
  o.description = "\xff";
  assert_int_equal(pai_platform_put_vc(d.platform, "a", &o, NULL), PAI_EINVAL);
  o.description = "for \"all\"";
  assert_ok(pai_platform_put_vc(d.platform, "a", &o, NULL));
  assert_has(vcs(&d, "a"), "\"maxCapacity\":30,");
  assert_has(d.text, "for \\\"all\\\"");
  o.description = NULL; /* as it was */
  assert_ok(pai_platform_put_vc(d.platform, "a", &o, NULL));
  assert_has(vcs(&d, "a"), "for \\\"all\\\"");
  assert_fails(pai_platform_stop_vc(d.platform, "c", 1, &err), err,
               PAI_ENOTFOUND, "no virtual cluster 'c'");
  assert_int_equal(pai_platform_remove_vc(d.platform, "c", NULL),
                   PAI_ENOTFOUND);
  assert_int_equal(
    pai_platform_write_vcs(d.platform, "c", durable_write, &d, NULL),
    PAI_ENOTFOUND);
  assert_int_equal(
    pai_platform_write_skus(d.platform, "c", durable_write, &d, NULL),
    PAI_ENOTFOUND);
  assert_string_equal(pai_platform_vc_name(d.platform, 0), "default");
  assert_string_equal(pai_platform_vc_name(d.platform, 2), "b");
  assert_null(pai_platform_vc_name(d.platform, 3));
  o.struct_size = 3;
  assert_int_equal(pai_platform_put_vc(d.platform, "a", &o, NULL), PAI_EINVAL);
  durable_close(&d);
}

/* Each has a group of its own, which goes with it. */
DURABLE(groups_come_and_go_with_them)
{
  static const char group[] =
    "{\"groupname\":\"people\",\"description\":\"\",\"externalName\":\"\","
    "\"extension\":{}}";
  pai_accounts *a;
  pai_error *err;

  a = pai_platform_accounts(d->platform);
  assert_ok(
    pai_accounts_put_group(a, group, strlen(group), PAI_PUT_CREATE, NULL));
  assert_fails(put(d, "people", 100, &err), err, PAI_EEXISTS, "people");
  assert_null(pai_platform_vc_name(d->platform, 1));
  assert_ok(put(d, "a", 100, NULL));
  d->len = 0;
  assert_ok(pai_accounts_write_group(a, "a", durable_write, d, NULL));
  assert_has(d->text, "\"virtualClusters\":[\"a\"]");
  assert_ok(put(d, "a", 200, NULL));
  assert_ok(pai_platform_remove_vc(d->platform, "a", NULL));
  assert_int_equal(pai_accounts_write_group(a, "a", durable_write, d, NULL),
                   PAI_ENOTFOUND);
}

/* --- of jobs ------------------------------------------------------------------ */

DURABLE(jobs_are_held_to_theirs)
{
  pai_job_id first, second;
  pai_error *err;

  assert_int_equal(submit(d, "lost", "research", "true"), 0);
  assert_has(d->code, "there is no virtual cluster 'research'");
  assert_ok(put(d, "research", part_of(d, 1), NULL));
  first = submit(d, "first", "research", "sleep 100");
  second = submit(d, "second", "research", "sleep 100");
  durable_reaches(d, first, PAI_STATE_RUNNING);
  durable_is(d, second, PAI_STATE_WAITING);
  expect_why(d, second, "\"code\":\"quota\"");
  expect_why(d, second,
             "it takes 1 CPUs, and virtual cluster research has 0 left");
  assert_int_equal(cpus(d, "research", "resourcesUsed"), 1);
  assert_int_equal(number(vcs(d, "research"), "\"waitingJobs\":"), 1);
  assert_fails(pai_platform_remove_vc(d->platform, "research", &err), err,
               PAI_EBUSY, "ann~first");
  /* What has become too little for what runs is too little for more. */
  assert_ok(put(d, "research", 0, NULL));
  stop(d, first);
  durable_is(d, second, PAI_STATE_WAITING);
  expect_why(d, second, "\"code\":\"quota\"");
  assert_ok(put(d, "research", part_of(d, 1), NULL));
  durable_reaches(d, second, PAI_STATE_RUNNING);
  stop(d, second);
  assert_ok(pai_platform_remove_vc(d->platform, "research", NULL));
  assert_int_equal(submit(d, "lost", "research", "true"), 0);
}

/* What was borrowed stops when it is needed, and goes on when there is room
 * again. */
TEST(what_is_borrowed_is_given_back)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;
  pai_job_id own, other;
  uint32_t all;
  durable d;

  durable_open(&d, story_in(__func__));
  all = all_cpus(&d);
  if (all < 2) {
    durable_close(&d);
    skip();
  }
  o.capacity = 0;
  o.max_capacity = PAI_VC_WHOLE;
  assert_ok(pai_platform_put_vc(d.platform, "guests", &o, NULL));
  d.cpus = (int)all;
  other = durable_submit(&d, "other", "defaults: {virtualCluster: guests},",
                         "", "sleep 100");
  durable_reaches(&d, other, PAI_STATE_RUNNING);
  own = submit(&d, "own", "default", "sleep 100");
  durable_reaches(&d, own, PAI_STATE_RUNNING);
  durable_is(&d, other, PAI_STATE_WAITING);
  assert_has(durable_events(&d, other), "Preempted");
  stop(&d, own);
  durable_reaches(&d, other, PAI_STATE_RUNNING);
  stop(&d, other);
  durable_close(&d);
}

/* An opportunistic one is guaranteed nothing, in its own virtual cluster
 * neither. */
DURABLE(opportunistic_ones_make_room)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;
  pai_job_id own, other;

  o.capacity = 0;
  assert_ok(pai_platform_put_vc(d->platform, "guests", &o, NULL));
  d->cpus = (int)all_cpus(d);
  other = durable_submit(d, "other",
                         "extras: {hivedScheduler: {jobPriorityClass: oppo}},",
                         "", "sleep 100");
  durable_reaches(d, other, PAI_STATE_RUNNING);
  own = submit(d, "own", "default", "sleep 100");
  durable_reaches(d, own, PAI_STATE_RUNNING);
  durable_is(d, other, PAI_STATE_WAITING);
  stop(d, own);
  stop(d, other);
}

DURABLE(a_stopped_one_starts_nothing)
{
  pai_job_id runs, waits, other;

  assert_ok(put(d, "a", PAI_VC_WHOLE, NULL));
  runs = submit(d, "runs", "a", "sleep 100");
  durable_reaches(d, runs, PAI_STATE_RUNNING);
  assert_ok(pai_platform_stop_vc(d->platform, "a", 1, NULL));
  waits = submit(d, "waits", "a", "true");
  assert_int_not_equal(waits, 0);
  assert_ok(durable_sync(d));
  expect_why(d, waits, "\"code\":\"stopped\"");
  expect_why(d, waits, "virtual cluster a is stopped");
  durable_is(d, runs, PAI_STATE_RUNNING);
  stop(d, runs);
  assert_ok(put(d, "a", 0, NULL));
  d->cpus = 1;
  other = durable_accept(d, "other", "true"); /* of default */
  durable_reaches(d, other, PAI_STATE_SUCCEEDED);
  assert_ok(put(d, "a", PAI_VC_WHOLE, NULL));
  assert_ok(durable_sync(d));
  durable_is(d, waits, PAI_STATE_WAITING);
  assert_ok(pai_platform_stop_vc(d->platform, "a", 0, NULL));
  durable_reaches(d, waits, PAI_STATE_SUCCEEDED);
}

/* Tasks that are placed alone count as the others do. */
DURABLE(tasks_alone_are_held_to_theirs)
{
  pai_job_id id;

  d->cpus = 1;
  assert_ok(put(d, "a", part_of(d, 1), NULL));
  id = durable_submit(
    d, "alone",
    "defaults: {virtualCluster: a}, extras: {gangAllocation: false},",
    "instances: 2,", "sleep 100");
  durable_reaches(d, id, PAI_STATE_RUNNING);
  assert_ok(durable_sync(d));
  assert_int_equal(cpus(d, "a", "resourcesUsed"), 1);
  expect_why(d, id, "\"code\":\"quota\"");
}

/* Jobs come and go in any order: never is more in use than there may be. */
DURABLE(quotas_hold_whatever_comes)
{
  static const char *const names[] = { "default", "a", "b" };
  pai_job_id ids[24] = { 0 };
  pai__prng r = { .state = 11 };
  uint32_t limit[3];

  limit[1] = all_cpus(d) > 1 ? 1 : 0;
  limit[2] = all_cpus(d) > 2 ? 1 : 0;
  limit[0] = all_cpus(d) - limit[1] - limit[2];
  assert_ok(put(d, "a", limit[1] != 0 ? part_of(d, 1) : 0, NULL));
  assert_ok(put(d, "b", limit[2] != 0 ? part_of(d, 1) : 0, NULL));
  for (size_t i = 0; i < PAI__LEN(ids); i++) {
    ids[i] = submit(d, test_string("j%zu", i), names[pai__prng_below(&r, 3)],
                    "sleep 0.02");
    for (int k = 0; k < 4; k++) {
      durable_turn(d);
      for (int v = 0; v < 3; v++)
        assert_true(cpus(d, names[v], "resourcesUsed") <= limit[v]);
    }
  }
  for (size_t i = 0; i < PAI__LEN(ids); i++)
    if (ids[i] != 0)
      durable_reaches(d, ids[i], PAI_STATE_SUCCEEDED);
}

/* --- afterwards --------------------------------------------------------------- */

DURABLE(they_outlive_the_platform)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;
  pai_job_id runs, waits;

  o.capacity = part_of(d, 1);
  o.description = "line\nand \"more\"";
  o.external_name = "x";
  assert_ok(pai_platform_put_vc(d->platform, "a", &o, NULL));
  runs = submit(d, "runs", "a", "sleep 100");
  waits = submit(d, "waits", "a", "true");
  durable_reaches(d, runs, PAI_STATE_RUNNING);
  assert_ok(pai_platform_stop_vc(d->platform, "a", 1, NULL));
  assert_ok(durable_sync(d));
  durable_again(d);
  assert_has(vcs(d, "a"), "\"state\":\"stopped\"");
  assert_has(d->text, "line\\nand \\\"more\\\"");
  assert_has(d->text, "\"externalName\":\"x\"");
  assert_int_equal(cpus(d, "a", "resourcesUsed"), 1);
  expect_why(d, waits, "\"code\":\"stopped\"");
  assert_ok(pai_platform_stop_vc(d->platform, "a", 0, NULL));
  assert_ok(durable_sync(d));
  expect_why(d, waits, "\"code\":\"quota\"");
  stop(d, runs);
  durable_reaches(d, waits, PAI_STATE_SUCCEEDED);
  assert_ok(pai_platform_remove_vc(d->platform, "a", NULL));
  assert_ok(durable_sync(d));
  durable_again(d);
  assert_null(pai_platform_vc_name(d->platform, 1));
}

static void write_record(const char *where, const char *text)
{
  pai__store *store;
  pai__batch *batch;

  assert_ok(pai__store_open(&store, &pai__libc_alloc, where, NULL, NULL));
  assert_ok(pai__batch_new(&batch, store, NULL));
  assert_ok(pai__batch_put_meta(batch, "virtual clusters", text));
  assert_ok(pai__store_commit(store, batch, NULL));
  pai__batch_free(batch);
  pai__store_close(store);
}

/* They lock nobody out: there is only the default one then. */
TEST(broken_records_are_told)
{
#define ENTRY(name, part)                 \
  "{\"name\":\"" name "\",\"part\":" part \
  ",\"most\":9000,\"stopped\":0,\"description\":\"\",\"external\":\"\"}"
  static const char *const broken[] = {
    "",
    "{}",
    "[1]",
    "[{}]",
    "[{\"name\":\"a\"}]",
    "[" ENTRY("a", "-1") "]",
    "[" ENTRY("a", "9001") "]",
    "[" ENTRY("a", "10001") "]",
    "[" ENTRY("a", "6000") "," ENTRY("b", "6000") "]",
  };
  durable d;

  durable_open(&d, story_in("broken"));
  durable_close(&d);
  for (size_t i = 0; i < PAI__LEN(broken); i++) {
    write_record(story_in("broken"), broken[i]);
    durable_open(&d, story_in("broken"));
    assert_has(d.log, "the virtual clusters in ");
    assert_null(pai_platform_vc_name(d.platform, 1));
    durable_close(&d);
  }
  write_record(story_in("broken"), "[" ENTRY("a", "6000") "]");
  durable_open(&d, story_in("broken"));
  assert_string_equal(pai_platform_vc_name(d.platform, 1), "a");
  durable_close(&d);
}

/* --- the node ------------------------------------------------------------------ */

DURABLE(a_drained_node_starts_nothing)
{
  pai_job_id id;
  pai_error *err;

  assert_fails(pai_platform_drain(d->platform, "moon", 1, NULL, &err), err,
               PAI_ENOTFOUND, "no node 'moon'");
  assert_ok(
    pai_platform_drain(d->platform, durable_node(d), 1, "new\nfan", NULL));
  id = durable_accept(d, "waits", "true");
  expect_why(d, id, "drained: new fan");
  durable_again(d);
  durable_is(d, id, PAI_STATE_WAITING);
  d->len = 0;
  assert_ok(pai_platform_write_nodes(d->platform, durable_node(d),
                                     durable_write, d, NULL));
  assert_has(d->text, "\"state\":\"drained\",\"why\":\"new fan\"");
  assert_ok(pai_platform_drain(d->platform, durable_node(d), 0, NULL, NULL));
  durable_reaches(d, id, PAI_STATE_SUCCEEDED);
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
