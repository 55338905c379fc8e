/* A platform whose jobs outlive it: what it knows of them, and how the next
 * one goes on. */
#include "cases.h"
#include "durable.h"

#include "platform/files/folders.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

DURABLE(a_job_is_on_record)
{
  pai_job_query query = PAI_JOB_QUERY_INIT;
  pai_job_id id, found;

  id = durable_accept(d, "first", "echo hello");
  durable_reaches(d, id, PAI_STATE_SUCCEEDED);
  (void)durable_list(d, NULL);
  durable_has(d, "\"name\":\"first\",\"username\":\"ann\",\"state\":"
                 "\"SUCCEEDED\",\"subState\":\"Completed\"");
  durable_has(d, "\"appExitCode\":0");
  query.states = "RUNNING,WAITING";
  query.with_total = 1;
  assert_string_equal(durable_list(d, &query),
                      "{\"totalCount\":0,\"data\":[]}");
  (void)durable_show(d, id, -1);
  durable_has(d, "\"appExitSpec\":{\"code\":0,\"phrase\":\"Succeeded\"");
  durable_has(d, "\"taskRoles\":{\"a\":{\"taskRoleStatus\":{\"name\":\"a\"}");
  durable_has(d, "\"appExitTriggerTaskIndex\":0");
  assert_string_equal(durable_log(d, id, NULL), "hello\n");
  assert_ok(pai_platform_find(&found, d->platform, "ann~first", NULL));
  assert_int_equal(found, id);
  assert_int_equal(pai_platform_find(&found, d->platform, "ann~second", NULL),
                   PAI_ENOTFOUND);
}

TEST(a_platform_that_is_left_goes_on)
{
  char go[400], command[600];
  durable d;
  pai_job_id runs, waits;

  (void)snprintf(go, sizeof(go), "%s/go", story_root);
  assert_int_equal(mkfifo(go, 0600), 0);
  (void)snprintf(command, sizeof(command),
                 "echo up; read x < %s; echo $x; exit 3", go);
  durable_open(&d, story_in("left"));
  runs = durable_accept(&d, "runs", command);
  durable_reaches(&d, runs, PAI_STATE_RUNNING);
  waits = durable_submit(&d, "waits", "", "instances: 1000, ", "true");
  assert_int_equal(waits, 0); /* more than there is */
  durable_again(&d);
  durable_is(&d, runs, PAI_STATE_RUNNING);
  test_shell("echo there > %s", go);
  durable_reaches(&d, runs, PAI_STATE_FAILED);
  (void)durable_show(&d, runs, -1);
  durable_has(&d, "\"appExitCode\":255");
  durable_has(&d, "\"originUserExitCode\":3");
  assert_string_equal(durable_log(&d, runs, NULL), "up\nthere\n");
  durable_close(&d);
}

static bool is_there(const char *dir, const char *name)
{
  return access(test_string("%s%s", dir, name), F_OK) == 0;
}

DURABLE(a_folder_is_made_with_the_first_task)
{
  char dir[400];
  pai_job_id waits, stops, runs;

  runs = durable_accept(d, "runs", "true");
  durable_reaches(d, runs, PAI_STATE_SUCCEEDED);
  assert_true(is_there(pai_platform_job_dir(d->platform, runs), "/0/a-0/all"));
  assert_ok(pai_platform_drain(d->platform, durable_node(d), 1, NULL, NULL));
  waits = durable_accept(d, "waits", "true");
  stops = durable_accept(d, "stops", "true");
  (void)snprintf(dir, sizeof(dir), "%s",
                 pai_platform_job_dir(d->platform, waits));
  assert_false(is_there(dir, ""));

  /* None is needed to stop it, to look for its logs, or to forget it. */
  assert_ok(pai_platform_stop(d->platform, stops));
  durable_reaches(d, stops, PAI_STATE_STOPPED);
  assert_false(is_there(pai_platform_job_dir(d->platform, stops), ""));
  assert_ok(pai_platform_forget(d->platform, stops));
  assert_ok(durable_sync(d));
  durable_again(d);
  durable_is(d, waits, PAI_STATE_WAITING);
  assert_false(is_there(dir, ""));
  assert_ok(pai_platform_drain(d->platform, durable_node(d), 0, NULL, NULL));
  durable_reaches(d, waits, PAI_STATE_SUCCEEDED);
  assert_true(is_there(dir, "/0/a-0/all"));
}

TEST(what_another_platform_left_is_set_aside)
{
  durable d;
  pai_job_id id;

  durable_open(&d, story_in("aside"));
  test_shell("cd %s/jobs && mkdir -p ann~mine/0/a-0 && "
             "echo old > ann~mine/0/a-0/all",
             story_in("aside"));
  id = durable_accept(&d, "mine", "echo new");
  durable_reaches(&d, id, PAI_STATE_SUCCEEDED);
  assert_string_equal(durable_log(&d, id, NULL), "new\n");
  assert_true(is_there(story_in("aside"), "/lost/ann~mine/0/a-0/all"));
  durable_close(&d);
}

/* Also once it is known which folders there are. */
TEST(what_lies_there_is_known)
{
  durable d;
  pai_job_id id;

  durable_open(&d, story_in("known"));
  test_shell("cd %s && mkdir -p jobs/ann~mine/0/a-0 jobs/ann~other && "
             "echo old > jobs/ann~mine/0/a-0/all && touch jobs/nobody",
             story_in("known"));
  id = durable_accept(&d, "first", "true");
  durable_reaches(&d, id, PAI_STATE_SUCCEEDED);
  while (!pai__folders_are_known(d.platform) && pai_loop_run_once(d.loop) > 0)
    ;
  assert_true(pai__folders_are_known(d.platform));
  assert_true(pai__store_is_new_name(d.platform->store, "ann", "new"));
  assert_false(pai__store_is_new_name(d.platform->store, "ann", "other"));
  id = durable_accept(&d, "mine", "echo new");
  assert_true(is_there(story_in("known"), "/lost/ann~mine/0/a-0/all"));
  durable_reaches(&d, id, PAI_STATE_SUCCEEDED);
  assert_string_equal(durable_log(&d, id, NULL), "new\n");
  /* One of a job that was, too. */
  assert_int_equal(pai_platform_forget(d.platform, id), 0);
  id = durable_accept(&d, "mine", "echo third");
  durable_reaches(&d, id, PAI_STATE_SUCCEEDED);
  assert_string_equal(durable_log(&d, id, NULL), "third\n");
  durable_close(&d);
}

/* --- many who wait ------------------------------------------------------------ */

enum { MANY = 100 };

typedef struct waiting {
  int told;
  bool calling; /* nothing is told meanwhile */
} waiting;

static void on_safe(void *user_data, int status, const pai_error *err)
{
  waiting *w = user_data;

  assert_ok(status);
  assert_null(err);
  assert_false(w->calling);
  w->told++;
}

static int commits(const durable *d)
{
  pai_platform_counts counts = { .struct_size = sizeof(counts) };

  assert_ok(pai_platform_count(d->platform, &counts));
  return (int)counts.commits;
}

/* How many commits there are of as many jobs, all submitted at once. */
static int submit_many(durable *d, const char *name)
{
  waiting w = { .calling = true };
  int before = commits(d);

  for (int i = 0; i < MANY; i++) {
    assert_true(
      durable_submit(d, test_string("%s%d", name, i), "", "", "true") != 0);
    assert_ok(pai_platform_sync(d->platform, on_safe, &w));
  }
  w.calling = false;
  while (w.told < MANY)
    durable_turn(d);
  assert_int_equal(w.told, MANY);
  return commits(d) - before;
}

/* The first of them need not wait until all of them have come, unless the disk
 * is slow. */
DURABLE(many_who_wait_are_told_once_each)
{
  assert_ok(pai_platform_drain(d->platform, durable_node(d), 1, NULL, NULL));
  assert_ok(durable_sync(d));
  d->platform->commit_took = 100;
  assert_int_equal(submit_many(d, "quick"), 2);
  d->platform->commit_took = 100000;
  assert_int_equal(submit_many(d, "slow"), 1);
  durable_again(d);
  for (int i = 1; i <= 2 * MANY; i++)
    assert_int_equal(pai_platform_job_state(NULL, d->platform, (pai_job_id)i),
                     PAI_STATE_WAITING);
}

/* --- what is dropped ------------------------------------------------------------ */

/* The database's log may hold what was dropped; it is empty when nothing else
 * is to be done. */
TEST(what_is_forgotten_is_overwritten_soon)
{
  enum { TURNS = 3000 }; /* half a minute */
  struct stat log = { .st_size = 1 };
  char path[400];
  durable d;
  pai_job_id id;

  durable_open(&d, story_in("soon"));
  (void)snprintf(path, sizeof(path), "%s/openpai.db-wal", story_in("soon"));
  id = durable_accept(&d, "gone", "true");
  durable_reaches(&d, id, PAI_STATE_SUCCEEDED);
  assert_ok(pai_platform_forget(d.platform, id));
  for (int i = 0; log.st_size > 0 && i < TURNS; i++) {
    durable_turn(&d);
    assert_int_equal(stat(path, &log), 0);
  }
  assert_int_equal(log.st_size, 0);
  durable_close(&d);
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
