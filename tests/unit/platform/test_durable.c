/* A platform whose jobs outlive it: what it knows of them, and how the next
 * one goes on. */
#include "durable.h"

#include "platform/folders.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *root(const char *name)
{
  static char path[300];

  (void)snprintf(path, sizeof(path), "%s/%s", story_root, name);
  return path;
}

static void a_job_is_on_record(void **state)
{
  pai_job_query query = PAI_JOB_QUERY_INIT;
  durable d;
  pai_job_id id, found;

  (void)state;
  durable_open(&d, root("record"));
  id = durable_accept(&d, "first", "echo hello");
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  (void)durable_list(&d, NULL);
  durable_has(&d, "\"name\":\"first\",\"username\":\"ann\",\"state\":"
                  "\"SUCCEEDED\",\"subState\":\"Completed\"");
  durable_has(&d, "\"appExitCode\":0");
  query.states = "RUNNING,WAITING";
  query.with_total = 1;
  assert_string_equal(durable_list(&d, &query),
                      "{\"totalCount\":0,\"data\":[]}");
  (void)durable_show(&d, id, -1);
  durable_has(&d, "\"appExitSpec\":{\"code\":0,\"phrase\":\"Succeeded\"");
  durable_has(&d, "\"taskRoles\":{\"a\":{\"taskRoleStatus\":{\"name\":\"a\"}");
  durable_has(&d, "\"appExitTriggerTaskIndex\":0");
  assert_string_equal(durable_log(&d, id, NULL), "hello\n");
  assert_int_equal(pai_platform_find(&found, d.platform, "ann~first", NULL),
                   PAI_OK);
  assert_int_equal(found, id);
  assert_int_equal(pai_platform_find(&found, d.platform, "ann~second", NULL),
                   PAI_ENOTFOUND);
  durable_close(&d);
}

static void a_platform_that_is_left_goes_on(void **state)
{
  char go[400], command[600];
  durable d;
  pai_job_id runs, waits;

  (void)state;
  (void)snprintf(go, sizeof(go), "%s/go", story_root);
  assert_int_equal(mkfifo(go, 0600), 0);
  (void)snprintf(command, sizeof(command),
                 "echo up; read x < %s; echo $x; exit 3", go);
  durable_open(&d, root("left"));
  runs = durable_accept(&d, "runs", command);
  assert_int_equal(durable_wait(&d, runs, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  waits = durable_submit(&d, "waits", "", "instances: 1000, ", "true");
  assert_int_equal(waits, 0); /* more than there is */
  durable_leave(&d);

  durable_open(&d, root("left"));
  assert_int_equal(pai_platform_job_state(NULL, d.platform, runs),
                   PAI_STATE_RUNNING);
  (void)snprintf(command, sizeof(command), "echo there > %s", go);
  assert_int_equal(system(command), 0);
  assert_int_equal(durable_wait(&d, runs, PAI_STATE_FAILED), PAI_STATE_FAILED);
  (void)durable_show(&d, runs, -1);
  durable_has(&d, "\"appExitCode\":255");
  durable_has(&d, "\"originUserExitCode\":3");
  assert_string_equal(durable_log(&d, runs, NULL), "up\nthere\n");
  durable_close(&d);
}

static bool is_there(const char *dir, const char *name)
{
  char path[500];

  (void)snprintf(path, sizeof(path), "%s%s", dir, name);
  return access(path, F_OK) == 0;
}

static void a_folder_is_made_with_the_first_task(void **state)
{
  char dir[400];
  durable d;
  pai_job_id waits, stops, runs;

  (void)state;
  durable_open(&d, root("folders"));
  runs = durable_accept(&d, "runs", "true");
  assert_int_equal(durable_wait(&d, runs, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  assert_true(is_there(pai_platform_job_dir(d.platform, runs), "/0/a-0/all"));
  assert_int_equal(
    pai_platform_drain(d.platform, durable_node(&d), 1, NULL, NULL), PAI_OK);
  waits = durable_accept(&d, "waits", "true");
  stops = durable_accept(&d, "stops", "true");
  (void)snprintf(dir, sizeof(dir), "%s",
                 pai_platform_job_dir(d.platform, waits));
  assert_false(is_there(dir, ""));

  /* None is needed to stop it, to look for its logs, or to forget it. */
  assert_int_equal(pai_platform_stop(d.platform, stops), PAI_OK);
  assert_int_equal(durable_wait(&d, stops, PAI_STATE_STOPPED),
                   PAI_STATE_STOPPED);
  assert_false(is_there(pai_platform_job_dir(d.platform, stops), ""));
  assert_int_equal(pai_platform_forget(d.platform, stops), PAI_OK);
  assert_int_equal(durable_sync(&d), PAI_OK);
  durable_leave(&d);

  durable_open(&d, root("folders"));
  assert_int_equal(pai_platform_job_state(NULL, d.platform, waits),
                   PAI_STATE_WAITING);
  assert_false(is_there(dir, ""));
  assert_int_equal(
    pai_platform_drain(d.platform, durable_node(&d), 0, NULL, NULL), PAI_OK);
  assert_int_equal(durable_wait(&d, waits, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  assert_true(is_there(dir, "/0/a-0/all"));
  durable_close(&d);
}

static void what_another_platform_left_is_set_aside(void **state)
{
  char command[700];
  durable d;
  pai_job_id id;

  (void)state;
  durable_open(&d, root("aside"));
  (void)snprintf(command, sizeof(command),
                 "cd %s/jobs && mkdir -p ann~mine/0/a-0 && "
                 "echo old > ann~mine/0/a-0/all",
                 root("aside"));
  assert_int_equal(system(command), 0);
  id = durable_accept(&d, "mine", "echo new");
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  assert_string_equal(durable_log(&d, id, NULL), "new\n");
  assert_true(is_there(root("aside"), "/lost/ann~mine/0/a-0/all"));
  durable_close(&d);
}

/* Also once it is known which folders there are. */
static void what_lies_there_is_known(void **state)
{
  char command[700];
  durable d;
  pai_job_id id;

  (void)state;
  durable_open(&d, root("known"));
  (void)snprintf(command, sizeof(command),
                 "cd %s && mkdir -p jobs/ann~mine/0/a-0 jobs/ann~other && "
                 "echo old > jobs/ann~mine/0/a-0/all && touch jobs/nobody",
                 root("known"));
  assert_int_equal(system(command), 0);
  id = durable_accept(&d, "first", "true");
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  while (!pai__folders_are_known(d.platform) && pai_loop_run_once(d.loop) > 0)
    ;
  assert_true(pai__folders_are_known(d.platform));
  assert_true(pai__store_is_new_name(d.platform->store, "ann", "new"));
  assert_false(pai__store_is_new_name(d.platform->store, "ann", "other"));
  id = durable_accept(&d, "mine", "echo new");
  assert_true(is_there(root("known"), "/lost/ann~mine/0/a-0/all"));
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  assert_string_equal(durable_log(&d, id, NULL), "new\n");
  /* One of a job that was, too. */
  assert_int_equal(pai_platform_forget(d.platform, id), 0);
  id = durable_accept(&d, "mine", "echo third");
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
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

  assert_int_equal(status, PAI_OK);
  assert_null(err);
  assert_false(w->calling);
  w->told++;
}

static int commits(const durable *d)
{
  pai_platform_counts counts = { .struct_size = sizeof(counts) };

  assert_int_equal(pai_platform_count(d->platform, &counts), PAI_OK);
  return (int)counts.commits;
}

/* How many commits there are of as many jobs, all submitted at once. */
static int submit_many(durable *d, const char *name)
{
  waiting w = { .calling = true };
  int before = commits(d);

  for (int i = 0; i < MANY; i++) {
    char whole[16];

    (void)snprintf(whole, sizeof(whole), "%s%d", name, i);
    assert_true(durable_submit(d, whole, "", "", "true") != 0);
    assert_int_equal(pai_platform_sync(d->platform, on_safe, &w), PAI_OK);
  }
  w.calling = false;
  while (w.told < MANY)
    durable_turn(d);
  assert_int_equal(w.told, MANY);
  return commits(d) - before;
}

/* The first of them need not wait until all of them have come, unless the disk
 * is slow. */
static void many_who_wait_are_told_once_each(void **state)
{
  durable d;

  (void)state;
  durable_open(&d, root("many"));
  assert_int_equal(
    pai_platform_drain(d.platform, durable_node(&d), 1, NULL, NULL), PAI_OK);
  assert_int_equal(durable_sync(&d), PAI_OK);
  d.platform->commit_took = 100;
  assert_int_equal(submit_many(&d, "quick"), 2);
  d.platform->commit_took = 100000;
  assert_int_equal(submit_many(&d, "slow"), 1);
  durable_leave(&d);

  durable_open(&d, root("many"));
  for (int i = 1; i <= 2 * MANY; i++)
    assert_int_equal(pai_platform_job_state(NULL, d.platform, (pai_job_id)i),
                     PAI_STATE_WAITING);
  durable_close(&d);
}

/* --- what is dropped ------------------------------------------------------------ */

/* The database's log may hold what was dropped; it is empty when nothing else
 * is to be done. */
static void what_is_forgotten_is_overwritten_soon(void **state)
{
  enum { TURNS = 3000 }; /* half a minute */
  struct stat log = { .st_size = 1 };
  char path[400];
  durable d;
  pai_job_id id;

  (void)state;
  durable_open(&d, root("soon"));
  (void)snprintf(path, sizeof(path), "%s/openpai.db-wal", root("soon"));
  id = durable_accept(&d, "gone", "true");
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  assert_int_equal(pai_platform_forget(d.platform, id), PAI_OK);
  for (int i = 0; log.st_size > 0 && i < TURNS; i++) {
    durable_turn(&d);
    assert_int_equal(stat(path, &log), 0);
  }
  assert_int_equal(log.st_size, 0);
  durable_close(&d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_job_is_on_record),
    cmocka_unit_test(a_platform_that_is_left_goes_on),
    cmocka_unit_test(a_folder_is_made_with_the_first_task),
    cmocka_unit_test(what_another_platform_left_is_set_aside),
    cmocka_unit_test(what_lies_there_is_known),
    cmocka_unit_test(many_who_wait_are_told_once_each),
    cmocka_unit_test(what_is_forgotten_is_overwritten_soon),
  };

  return cmocka_run_group_tests(tests, story_make_root, story_remove_root);
}
