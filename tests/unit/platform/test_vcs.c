/* Virtual clusters of a live platform: jobs are held to them, also while they
 * change, after a restart and after a kill; and its node is drained. */
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

static const char *root(const char *name)
{
  static char path[300];

  (void)snprintf(path, sizeof(path), "%s/%s", story_root, name);
  return path;
}

/* --- asking ------------------------------------------------------------------ */

static const char *vcs(durable *d, const char *name)
{
  d->len = 0;
  assert_int_equal(
    pai_platform_write_vcs(d->platform, name, durable_write, d, NULL), PAI_OK);
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
  assert_int_equal(
    pai_platform_write_nodes(d->platform, NULL, durable_write, d, NULL),
    PAI_OK);
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
  char fields[128];

  d->cpus = 1;
  (void)snprintf(fields, sizeof(fields), "defaults: {virtualCluster: %s},",
                 vc);
  return durable_submit(d, name, fields, "", command);
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
  assert_int_equal(durable_wait(d, id, PAI_STATE_STOPPED), PAI_STATE_STOPPED);
}

/* --- being made -------------------------------------------------------------- */

static void some_cannot_be_made(void **state)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;
  char longest[80] = { 0 };
  pai_error *err;
  durable d;

  (void)state;
  memset(longest, 'a', 65);
  durable_open(&d, root(__func__));
  assert_non_null(strstr(vcs(&d, NULL), "{\"default\":{\"capacity\":100,"));
  assert_int_equal(put(&d, "", 100, NULL), PAI_EINVAL);
  assert_int_equal(put(&d, "a-b", 100, NULL), PAI_EINVAL);
  assert_int_equal(put(&d, "a/b", 100, NULL), PAI_EINVAL);
  assert_int_equal(put(&d, longest, 100, NULL), PAI_EINVAL);
  assert_int_equal(put(&d, "default", 100, &err), PAI_EPERM);
  test_expect_error(err, PAI_EPERM, "the capacity that no other has");
  assert_int_equal(put(&d, "a", 10001, NULL), PAI_ENOROOM);
  assert_int_equal(put(&d, "a", 6000, NULL), PAI_OK);
  assert_int_equal(put(&d, "b", 4001, &err), PAI_ENOROOM);
  test_expect_error(err, PAI_ENOROOM, "40% is left");
  assert_int_equal(put(&d, "b", 4000, NULL), PAI_OK);
  assert_int_equal(put(&d, "a", 1250, NULL), PAI_OK);
  assert_non_null(strstr(vcs(&d, NULL), "\"default\":{\"capacity\":47.5,"));
  assert_non_null(strstr(vcs(&d, "a"), "\"capacity\":12.5,"));
  o.capacity = 2000;
  o.max_capacity = 1000;
  assert_int_equal(pai_platform_put_vc(d.platform, "a", &o, NULL), PAI_EINVAL);
  o.max_capacity = 10001;
  assert_int_equal(pai_platform_put_vc(d.platform, "a", &o, NULL), PAI_EINVAL);
  o.max_capacity = 3000;
  o.description = "\xff";
  assert_int_equal(pai_platform_put_vc(d.platform, "a", &o, NULL), PAI_EINVAL);
  o.description = "for \"all\"";
  assert_int_equal(pai_platform_put_vc(d.platform, "a", &o, NULL), PAI_OK);
  assert_non_null(strstr(vcs(&d, "a"), "\"maxCapacity\":30,"));
  assert_non_null(strstr(d.text, "for \\\"all\\\""));
  o.description = NULL; /* as it was */
  assert_int_equal(pai_platform_put_vc(d.platform, "a", &o, NULL), PAI_OK);
  assert_non_null(strstr(vcs(&d, "a"), "for \\\"all\\\""));
  assert_int_equal(pai_platform_stop_vc(d.platform, "c", 1, &err),
                   PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "no virtual cluster 'c'");
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
static void groups_come_and_go_with_them(void **state)
{
  static const char group[] =
    "{\"groupname\":\"people\",\"description\":\"\",\"externalName\":\"\","
    "\"extension\":{}}";
  pai_accounts *a;
  pai_error *err;
  durable d;

  (void)state;
  durable_open(&d, root(__func__));
  a = pai_platform_accounts(d.platform);
  assert_int_equal(
    pai_accounts_put_group(a, group, strlen(group), PAI_PUT_CREATE, NULL),
    PAI_OK);
  assert_int_equal(put(&d, "people", 100, &err), PAI_EEXISTS);
  test_expect_error(err, PAI_EEXISTS, "people");
  assert_null(pai_platform_vc_name(d.platform, 1));
  assert_int_equal(put(&d, "a", 100, NULL), PAI_OK);
  d.len = 0;
  assert_int_equal(pai_accounts_write_group(a, "a", durable_write, &d, NULL),
                   PAI_OK);
  assert_non_null(strstr(d.text, "\"virtualClusters\":[\"a\"]"));
  assert_int_equal(put(&d, "a", 200, NULL), PAI_OK);
  assert_int_equal(pai_platform_remove_vc(d.platform, "a", NULL), PAI_OK);
  assert_int_equal(pai_accounts_write_group(a, "a", durable_write, &d, NULL),
                   PAI_ENOTFOUND);
  durable_close(&d);
}

/* --- of jobs ------------------------------------------------------------------ */

static void jobs_are_held_to_theirs(void **state)
{
  pai_job_id first, second;
  pai_error *err;
  durable d;

  (void)state;
  durable_open(&d, root(__func__));
  assert_int_equal(submit(&d, "lost", "research", "true"), 0);
  assert_non_null(strstr(d.code, "'research' is not here"));
  assert_int_equal(put(&d, "research", part_of(&d, 1), NULL), PAI_OK);
  first = submit(&d, "first", "research", "sleep 100");
  second = submit(&d, "second", "research", "sleep 100");
  assert_int_equal(durable_wait(&d, first, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, second),
                   PAI_STATE_WAITING);
  expect_why(&d, second, "\"code\":\"quota\"");
  expect_why(&d, second,
             "it takes 1 CPUs, and virtual cluster research has 0 left");
  assert_int_equal(cpus(&d, "research", "resourcesUsed"), 1);
  assert_int_equal(number(vcs(&d, "research"), "\"waitingJobs\":"), 1);
  assert_int_equal(pai_platform_remove_vc(d.platform, "research", &err),
                   PAI_EBUSY);
  test_expect_error(err, PAI_EBUSY, "ann~first");
  /* What has become too little for what runs is too little for more. */
  assert_int_equal(put(&d, "research", 0, NULL), PAI_OK);
  stop(&d, first);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, second),
                   PAI_STATE_WAITING);
  expect_why(&d, second, "\"code\":\"quota\"");
  assert_int_equal(put(&d, "research", part_of(&d, 1), NULL), PAI_OK);
  assert_int_equal(durable_wait(&d, second, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  stop(&d, second);
  assert_int_equal(pai_platform_remove_vc(d.platform, "research", NULL),
                   PAI_OK);
  assert_int_equal(submit(&d, "lost", "research", "true"), 0);
  durable_close(&d);
}

/* What was borrowed stops when it is needed, and goes on when there is room
 * again. */
static void what_is_borrowed_is_given_back(void **state)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;
  pai_job_id own, other;
  uint32_t all;
  durable d;

  (void)state;
  durable_open(&d, root(__func__));
  all = all_cpus(&d);
  if (all < 2) {
    durable_close(&d);
    skip();
  }
  o.capacity = 0;
  o.max_capacity = PAI_VC_WHOLE;
  assert_int_equal(pai_platform_put_vc(d.platform, "guests", &o, NULL),
                   PAI_OK);
  d.cpus = (int)all;
  other = durable_submit(&d, "other", "defaults: {virtualCluster: guests},",
                         "", "sleep 100");
  assert_int_equal(durable_wait(&d, other, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  own = submit(&d, "own", "default", "sleep 100");
  assert_int_equal(durable_wait(&d, own, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, other),
                   PAI_STATE_WAITING);
  assert_non_null(strstr(durable_events(&d, other), "Preempted"));
  stop(&d, own);
  assert_int_equal(durable_wait(&d, other, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  stop(&d, other);
  durable_close(&d);
}

/* An opportunistic one is guaranteed nothing, in its own virtual cluster
 * neither. */
static void opportunistic_ones_make_room(void **state)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;
  pai_job_id own, other;
  durable d;

  (void)state;
  durable_open(&d, root(__func__));
  o.capacity = 0;
  assert_int_equal(pai_platform_put_vc(d.platform, "guests", &o, NULL),
                   PAI_OK);
  d.cpus = (int)all_cpus(&d);
  other = durable_submit(&d, "other",
                         "extras: {hivedScheduler: {jobPriorityClass: oppo}},",
                         "", "sleep 100");
  assert_int_equal(durable_wait(&d, other, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  own = submit(&d, "own", "default", "sleep 100");
  assert_int_equal(durable_wait(&d, own, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, other),
                   PAI_STATE_WAITING);
  stop(&d, own);
  stop(&d, other);
  durable_close(&d);
}

static void a_stopped_one_starts_nothing(void **state)
{
  pai_job_id runs, waits, other;
  durable d;

  (void)state;
  durable_open(&d, root(__func__));
  assert_int_equal(put(&d, "a", PAI_VC_WHOLE, NULL), PAI_OK);
  runs = submit(&d, "runs", "a", "sleep 100");
  assert_int_equal(durable_wait(&d, runs, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  assert_int_equal(pai_platform_stop_vc(d.platform, "a", 1, NULL), PAI_OK);
  waits = submit(&d, "waits", "a", "true");
  assert_int_not_equal(waits, 0);
  assert_int_equal(durable_sync(&d), PAI_OK);
  expect_why(&d, waits, "\"code\":\"stopped\"");
  expect_why(&d, waits, "virtual cluster a is stopped");
  assert_int_equal(pai_platform_job_state(NULL, d.platform, runs),
                   PAI_STATE_RUNNING);
  stop(&d, runs);
  assert_int_equal(put(&d, "a", 0, NULL), PAI_OK);
  d.cpus = 1;
  other = durable_accept(&d, "other", "true"); /* of default */
  assert_int_equal(durable_wait(&d, other, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  assert_int_equal(put(&d, "a", PAI_VC_WHOLE, NULL), PAI_OK);
  assert_int_equal(durable_sync(&d), PAI_OK);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, waits),
                   PAI_STATE_WAITING);
  assert_int_equal(pai_platform_stop_vc(d.platform, "a", 0, NULL), PAI_OK);
  assert_int_equal(durable_wait(&d, waits, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  durable_close(&d);
}

/* Tasks that are placed alone count as the others do. */
static void tasks_alone_are_held_to_theirs(void **state)
{
  pai_job_id id;
  durable d;

  (void)state;
  durable_open(&d, root(__func__));
  d.cpus = 1;
  assert_int_equal(put(&d, "a", part_of(&d, 1), NULL), PAI_OK);
  id = durable_submit(
    &d, "alone",
    "defaults: {virtualCluster: a}, extras: {gangAllocation: false},",
    "instances: 2,", "sleep 100");
  assert_int_equal(durable_wait(&d, id, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  assert_int_equal(durable_sync(&d), PAI_OK);
  assert_int_equal(cpus(&d, "a", "resourcesUsed"), 1);
  expect_why(&d, id, "\"code\":\"quota\"");
  durable_close(&d);
}

/* Jobs come and go in any order: never is more in use than there may be. */
static void quotas_hold_whatever_comes(void **state)
{
  static const char *const names[] = { "default", "a", "b" };
  pai_job_id ids[24] = { 0 };
  pai__prng r = { .state = 11 };
  uint32_t limit[3];
  durable d;

  (void)state;
  durable_open(&d, root(__func__));
  limit[1] = all_cpus(&d) > 1 ? 1 : 0;
  limit[2] = all_cpus(&d) > 2 ? 1 : 0;
  limit[0] = all_cpus(&d) - limit[1] - limit[2];
  assert_int_equal(put(&d, "a", limit[1] != 0 ? part_of(&d, 1) : 0, NULL),
                   PAI_OK);
  assert_int_equal(put(&d, "b", limit[2] != 0 ? part_of(&d, 1) : 0, NULL),
                   PAI_OK);
  for (size_t i = 0; i < PAI__LEN(ids); i++) {
    char name[16];

    (void)snprintf(name, sizeof(name), "j%zu", i);
    ids[i] = submit(&d, name, names[pai__prng_below(&r, 3)], "sleep 0.02");
    for (int k = 0; k < 4; k++) {
      durable_turn(&d);
      for (int v = 0; v < 3; v++)
        assert_true(cpus(&d, names[v], "resourcesUsed") <= limit[v]);
    }
  }
  for (size_t i = 0; i < PAI__LEN(ids); i++)
    if (ids[i] != 0)
      assert_int_equal(durable_wait(&d, ids[i], PAI_STATE_SUCCEEDED),
                       PAI_STATE_SUCCEEDED);
  durable_close(&d);
}

/* --- afterwards --------------------------------------------------------------- */

static void they_outlive_the_platform(void **state)
{
  pai_vc_options o = PAI_VC_OPTIONS_INIT;
  pai_job_id runs, waits;
  durable d;

  (void)state;
  durable_open(&d, root("again"));
  o.capacity = part_of(&d, 1);
  o.description = "line\nand \"more\"";
  o.external_name = "x";
  assert_int_equal(pai_platform_put_vc(d.platform, "a", &o, NULL), PAI_OK);
  runs = submit(&d, "runs", "a", "sleep 100");
  waits = submit(&d, "waits", "a", "true");
  assert_int_equal(durable_wait(&d, runs, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  assert_int_equal(pai_platform_stop_vc(d.platform, "a", 1, NULL), PAI_OK);
  assert_int_equal(durable_sync(&d), PAI_OK);
  durable_leave(&d);
  durable_open(&d, root("again"));
  assert_non_null(strstr(vcs(&d, "a"), "\"state\":\"stopped\""));
  assert_non_null(strstr(d.text, "line\\nand \\\"more\\\""));
  assert_non_null(strstr(d.text, "\"externalName\":\"x\""));
  assert_int_equal(cpus(&d, "a", "resourcesUsed"), 1);
  expect_why(&d, waits, "\"code\":\"stopped\"");
  assert_int_equal(pai_platform_stop_vc(d.platform, "a", 0, NULL), PAI_OK);
  assert_int_equal(durable_sync(&d), PAI_OK);
  expect_why(&d, waits, "\"code\":\"quota\"");
  stop(&d, runs);
  assert_int_equal(durable_wait(&d, waits, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  assert_int_equal(pai_platform_remove_vc(d.platform, "a", NULL), PAI_OK);
  assert_int_equal(durable_sync(&d), PAI_OK);
  durable_leave(&d);
  durable_open(&d, root("again"));
  assert_null(pai_platform_vc_name(d.platform, 1));
  durable_close(&d);
}

/* What was told to be safe is there after a kill; then all that belongs
 * together is, or nothing of it. */
static void a_kill_loses_nothing(void **state)
{
  int told[2], status;
  char byte;
  durable d;
  pid_t child;

  (void)state;
  assert_int_equal(pipe(told), 0);
  child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    durable_open(&d, root("killed"));
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
  durable_open(&d, root("killed"));
  assert_non_null(strstr(vcs(&d, "kept"), "\"state\":\"stopped\""));
  assert_non_null(strstr(d.text, "\"waitingJobs\":1"));
  assert_null(strstr(vcs(&d, NULL), "\"gone\""));
  assert_int_equal(pai_platform_stop_vc(d.platform, "kept", 0, NULL), PAI_OK);
  durable_close(&d);
}

static void write_record(const char *where, const char *text)
{
  pai__store *store;
  pai__batch *batch;

  assert_int_equal(
    pai__store_open(&store, &pai__libc_alloc, where, NULL, NULL), PAI_OK);
  assert_int_equal(pai__batch_new(&batch, store, NULL), PAI_OK);
  assert_int_equal(pai__batch_put_meta(batch, "virtual clusters", text),
                   PAI_OK);
  assert_int_equal(pai__store_commit(store, batch, NULL), PAI_OK);
  pai__batch_free(batch);
  pai__store_close(store);
}

/* They lock nobody out: there is only the default one then. */
static void broken_records_are_told(void **state)
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

  (void)state;
  durable_open(&d, root("broken"));
  durable_close(&d);
  for (size_t i = 0; i < PAI__LEN(broken); i++) {
    write_record(root("broken"), broken[i]);
    durable_open(&d, root("broken"));
    assert_non_null(strstr(d.log, "the virtual clusters in "));
    assert_null(pai_platform_vc_name(d.platform, 1));
    durable_close(&d);
  }
  write_record(root("broken"), "[" ENTRY("a", "6000") "]");
  durable_open(&d, root("broken"));
  assert_string_equal(pai_platform_vc_name(d.platform, 1), "a");
  durable_close(&d);
}

/* --- the node ------------------------------------------------------------------ */

static void a_drained_node_starts_nothing(void **state)
{
  pai_job_id id;
  pai_error *err;
  durable d;

  (void)state;
  durable_open(&d, root("drained"));
  assert_int_equal(pai_platform_drain(d.platform, "moon", 1, NULL, &err),
                   PAI_ENOTFOUND);
  test_expect_error(err, PAI_ENOTFOUND, "no node 'moon'");
  assert_int_equal(
    pai_platform_drain(d.platform, durable_node(&d), 1, "new\nfan", NULL),
    PAI_OK);
  id = durable_accept(&d, "waits", "true");
  expect_why(&d, id, "drained: new fan");
  durable_leave(&d);
  durable_open(&d, root("drained"));
  assert_int_equal(pai_platform_job_state(NULL, d.platform, id),
                   PAI_STATE_WAITING);
  d.len = 0;
  assert_int_equal(pai_platform_write_nodes(d.platform, durable_node(&d),
                                            durable_write, &d, NULL),
                   PAI_OK);
  assert_non_null(strstr(d.text, "\"state\":\"drained\",\"why\":\"new fan\""));
  assert_int_equal(
    pai_platform_drain(d.platform, durable_node(&d), 0, NULL, NULL), PAI_OK);
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  durable_close(&d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_kill_loses_nothing), /* first: it forks, and there
                                               are no threads yet */
    cmocka_unit_test(some_cannot_be_made),
    cmocka_unit_test(groups_come_and_go_with_them),
    cmocka_unit_test(jobs_are_held_to_theirs),
    cmocka_unit_test(what_is_borrowed_is_given_back),
    cmocka_unit_test(opportunistic_ones_make_room),
    cmocka_unit_test(a_stopped_one_starts_nothing),
    cmocka_unit_test(tasks_alone_are_held_to_theirs),
    cmocka_unit_test(quotas_hold_whatever_comes),
    cmocka_unit_test(they_outlive_the_platform),
    cmocka_unit_test(broken_records_are_told),
    cmocka_unit_test(a_drained_node_starts_nothing),
  };

  return cmocka_run_group_tests(tests, story_make_root, story_remove_root);
}
