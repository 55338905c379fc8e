/* A platform goes on where the one before it ended: retries, stops, clocks
 * that jumped, machines that were restarted. */
#include "cases.h"
#include "durable.h"

#include "backend/local/posix_launch.h"
#include "loop/loop.h"
#include "store/store.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The wall's clock, as the linker was told, goes wrong by so much. */
static pai_time wrong;

pai_time __real_pai__loop_wall_time(void);
pai_time __wrap_pai__loop_wall_time(void);

pai_time __wrap_pai__loop_wall_time(void)
{
  return __real_pai__loop_wall_time() + wrong;
}

/* A process that is to be gone where it would start a supervisor. */
static bool cut_off;

int __real_pai__local_spawn(int *pid, const char *program, const char *dir,
                            bool no_links, const pai__user *who,
                            const pai__space *space, const void *order,
                            size_t size, pai_error **err);
int __wrap_pai__local_spawn(int *pid, const char *program, const char *dir,
                            bool no_links, const pai__user *who,
                            const pai__space *space, const void *order,
                            size_t size, pai_error **err);

int __wrap_pai__local_spawn(int *pid, const char *program, const char *dir,
                            bool no_links, const pai__user *who,
                            const pai__space *space, const void *order,
                            size_t size, pai_error **err)
{
  if (cut_off)
    _exit(9);
  return __real_pai__local_spawn(pid, program, dir, no_links, who, space,
                                 order, size, err);
}

static void touch(const char *name)
{
  close(creat(story_in(name), 0600));
}

/* --- a start that was recorded and never was ---------------------------------------
 *
 * First: it has platforms in processes of its own, which the thread sanitizer allows
 * while there is one thread. */

/* The platform of a child is gone between the record of a start and it. */
static void be_cut_off(const char *where, const char *command)
{
  pid_t child = fork();
  int status;

  assert_true(child >= 0);
  if (child == 0) {
    durable d;

    cut_off = true;
    durable_open(&d, story_in(where));
    if (command != NULL)
      (void)durable_accept(&d, "runs", command);
    for (;;)
      durable_turn(&d);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 9);
}

/* The database is gone, and what is known of the job is its folder. */
static void expect_found_by_its_folder(const char *where,
                                       const pai_log_options *first)
{
  pai_job_id id;
  char path[400];
  durable d;

  (void)snprintf(path, sizeof(path), "%s/openpai.db", story_in(where));
  assert_int_equal(truncate(path, 0), 0);
  assert_int_equal(truncate(path, 8192), 0);
  d.len = 0;
  assert_ok(pai_platform_repair(story_in(where), durable_write, &d, NULL));
  durable_open(&d, story_in(where));
  assert_ok(pai_platform_find(&id, d.platform, "ann~runs", NULL));
  assert_string_equal(durable_log(&d, id, first), "well\n");
  durable_close(&d);
}

/* It has the number of the one that never was, and its output. */
TEST(a_start_that_was_cut_off_keeps_its_number)
{
  const pai_log_options first = { .struct_size = sizeof(first),
                                  .attempt = -1,
                                  .role = "a" };
  durable d;

  be_cut_off("cut", "echo well");
  be_cut_off("cut", NULL);
  durable_open(&d, story_in("cut"));
  durable_reaches(&d, 1, PAI_STATE_SUCCEEDED);
  assert_string_equal(durable_log(&d, 1, NULL), "well\n");
  assert_string_equal(durable_log(&d, 1, &first), "well\n");
  durable_again(&d);
  assert_string_equal(durable_log(&d, 1, &first), "well\n");
  durable_leave(&d);
  expect_found_by_its_folder("cut", &first);
}

/* --- retries ------------------------------------------------------------------------- */

/* A job that is tried again, at once and then after a second, until a file is
 * there, waits for its time when its platform is left. */
static pai_job_id wait_for_retry(durable *d, const char *where)
{
  char command[500];
  pai_job_id id;

  (void)snprintf(command, sizeof(command),
                 "test -e %s/%s-go || { echo "
                 "CUDA_ERROR_ECC_UNCORRECTABLE; exit 1; }; echo well",
                 story_root, where);
  durable_open(d, story_in(where));
  id = durable_accept(d, "tries", command);
  do
    durable_turn(d);
  while (strstr(durable_show(d, id, -1), "\"retryDelayTime\":null") != NULL);
  return id;
}

static void expect_retry(const char *where, pai_time jump)
{
  durable d;
  pai_job_id id = wait_for_retry(&d, where);

  durable_leave(&d);
  touch(test_string("%s-go", where));
  wrong += jump;
  durable_open(&d, story_in(where));
  durable_reaches(&d, id, PAI_STATE_SUCCEEDED);
  assert_string_equal(durable_log(&d, id, NULL), "well\n");
  /* Those before it have records of their own. */
  (void)durable_show(&d, id, 0);
  durable_has(&d, "\"attemptId\":0,\"attemptState\":\"FAILED\"");
  durable_has(&d, "\"appExitCode\":223");
  durable_has(&d, "\"appExitTriggerTaskRoleName\":\"a\"");
  (void)durable_show(&d, id, 1); /* the one that the first platform left */
  durable_has(&d, "\"attemptId\":1,\"attemptState\":\"FAILED\"");
  durable_has(&d, "\"appExitTriggerTaskRoleName\":\"a\"");
  durable_close(&d);
}

TEST(a_retry_waits_for_its_time)
{
  expect_retry("retry", 0);
}

TEST(clocks_may_jump)
{
  const pai_time year = (pai_time)365 * 24 * 3600 * 1000000;

  expect_retry("future", year);
  expect_retry("past", -2 * year);
  wrong = 0;
}

DURABLE(a_stop_that_was_asked_is_carried_out)
{
  pai_job_id id;

  id = durable_accept(d, "runs", "trap '' TERM; while :; do sleep 1; done");
  durable_reaches(d, id, PAI_STATE_RUNNING);
  assert_ok(pai_platform_stop(d->platform, id));
  assert_ok(durable_sync(d));
  durable_again(d);
  durable_is(d, id, PAI_STATE_STOPPING);
  (void)pai_platform_stop(d->platform, id); /* no more patience */
  durable_reaches(d, id, PAI_STATE_STOPPED);
}

/* --- the machine was restarted ----------------------------------------------------- */

/* As the status of a task tells: its supervisor ran in another life of the
 * machine. */
static void forget_boot(const char *where)
{
  char text[400], *line;
  pai_error *err = NULL;
  pai__store *store;
  pai__batch *batch;
  FILE *file;
  size_t n;
  long pid;

  file = fopen(
    test_string("%s/own/jobs/ann~runs/0/a-0/status", story_in(where)), "r+");
  assert_non_null(file);
  n = fread(text, 1, sizeof(text) - 1, file);
  text[n] = '\0';
  pid = strtol(text + strlen("supervisor "), NULL, 10);
  assert_int_equal(kill((pid_t)pid, SIGKILL), 0);
  line = strchr(text, '\n');
  memset(line - 36, '0', 36);
  rewind(file);
  assert_int_equal(fwrite(text, 1, n, file), n);
  (void)fclose(file);
  if (pai__store_open(&store, &pai__libc_alloc, story_in(where), NULL, &err) <
      0)
    fail_msg("%s", pai_error_message(err));
  assert_ok(pai__batch_new(&batch, store, NULL));
  assert_ok(pai__batch_put_meta(batch, "boot", "another"));
  assert_ok(pai__store_commit(store, batch, NULL));
  pai__batch_free(batch);
  pai__store_close(store);
}

/* Its supervisor has written what it writes, for the command has begun. */
static void wait_until_up(const char *fifo)
{
  FILE *file = fopen(fifo, "r");

  assert_non_null(file);
  assert_int_equal(fgetc(file), 'u');
  (void)fclose(file);
}

TEST(what_a_restarted_machine_lost_is_run_again)
{
  char command[800], fifo[300];
  durable d;
  pai_job_id id;

  (void)snprintf(fifo, sizeof(fifo), "%s/boot-up", story_root);
  assert_int_equal(mkfifo(fifo, 0600), 0);
  (void)snprintf(command, sizeof(command),
                 "test -e %s/boot-go && exit 0; echo up > %s; exec sleep 1000",
                 story_root, fifo);
  durable_open(&d, story_in("boot"));
  id = durable_accept(&d, "runs", command);
  durable_reaches(&d, id, PAI_STATE_RUNNING);
  wait_until_up(fifo);
  durable_leave(&d);
  forget_boot("boot");
  touch("boot-go");
  durable_open(&d, story_in("boot"));
  durable_reaches(&d, id, PAI_STATE_SUCCEEDED);
  (void)durable_show(&d, id, 0);
  durable_has(&d, "\"appExitCode\":-1001");
  (void)durable_show(&d, id, 1);
  durable_has(&d, "\"attemptId\":1,\"attemptState\":\"SUCCEEDED\"");
  (void)durable_events(&d, id);
  durable_has(&d, "\"reason\":\"NodeLost\"");
  durable_close(&d);
}

/* --- who waits ------------------------------------------------------------------------ */

/* Jobs that wait keep their turn, and those that run their place. */
TEST(the_queue_stays)
{
  char command[500], path[400];
  int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
  pai_job_id runs, last = 0;
  durable d;

  (void)snprintf(path, sizeof(path), "%s/order", story_root);
  (void)snprintf(command, sizeof(command),
                 "while ! test -e %s/queue-go; do sleep 0.01; done",
                 story_root);
  durable_open(&d, story_in("queue"));
  d.cpus = cpus;
  runs = durable_accept(&d, "runs", command);
  durable_reaches(&d, runs, PAI_STATE_RUNNING);
  for (int i = 0; i < 4; i++) {
    char name[16];
    (void)snprintf(name, sizeof(name), "q%d", i);
    (void)snprintf(command, sizeof(command), "echo %s >> %s", name, path);
    last = durable_accept(&d, name, command);
    durable_again(&d);
    d.cpus = cpus;
    durable_is(&d, last, PAI_STATE_WAITING);
  }
  touch("queue-go");
  durable_reaches(&d, last, PAI_STATE_SUCCEEDED);
  durable_close(&d);
  assert_string_equal(test_file(path), "q0\nq1\nq2\nq3\n");
}

/* What it must have to start again, and nobody else may read. */
TEST(secrets_live_as_long_as_their_job)
{
  char command[700], out[16] = "";
  durable d;
  pai_job_id id;
  FILE *pipe;

  durable_open(&d, story_in("secret"));
  d.cpus = 0;
  (void)snprintf(command, sizeof(command),
                 "while ! test -e %s/secret-go; do sleep 0.01; done; "
                 "word=<%% $secrets.word %%>; test ${#word} = 13",
                 story_root);
  id = durable_submit(&d, "secret", "secrets: {word: Xyzzy-Plugh-9},", "",
                      command);
  assert_int_not_equal(id, 0);
  assert_ok(durable_sync(&d));
  durable_leave(&d);
  (void)snprintf(command, sizeof(command),
                 "grep -rla Xyzzy-Plugh-9 %s | wc -l", story_in("secret"));
  pipe = popen(command, "r");
  assert_non_null(fgets(out, sizeof(out), pipe));
  (void)pclose(pipe);
  assert_int_equal(strtol(out, NULL, 10), 0);
  touch("secret-go");
  durable_open(&d, story_in("secret"));
  durable_reaches(&d, id, PAI_STATE_SUCCEEDED);
  d.len = 0;
  assert_ok(pai_platform_config(d.platform, id, PAI_FORMAT_YAML, durable_write,
                                &d, NULL));
  durable_has(&d, "******");
  assert_null(strstr(d.text, "Xyzzy"));
  durable_close(&d);
}

/* Its row is not that of the next job, which has its number. */
TEST(a_job_without_a_key_for_its_secrets_leaves_nothing)
{
  static const char secrets[] = "secrets: {word: Xyzzy-Plugh-9},";
  pai_job_id id, next;
  char key[400];
  durable d;

  (void)snprintf(key, sizeof(key), "%s/key", story_in("keyless"));
  durable_open(&d, story_in("keyless"));
  id = durable_submit(&d, "sealed", secrets, "", "echo <% $secrets.word %>");
  durable_reaches(&d, id, PAI_STATE_SUCCEEDED);
  durable_leave(&d);
  assert_int_equal(chmod(key, 0644), 0); /* others may have read it */
  durable_open(&d, story_in("keyless"));
  assert_int_equal(
    durable_submit(&d, "refused", secrets, "", "echo <% $secrets.word %>"), 0);
  assert_ok(durable_sync(&d));
  assert_null(strstr(durable_list(&d, NULL), "refused"));
  next = durable_submit(&d, "next", "", "", "true");
  assert_int_equal(next, id + 1);
  assert_ok(durable_sync(&d));
  durable_again(&d);
  assert_has(durable_show(&d, next, -1), "\"name\":\"next\"");
  assert_null(strstr(durable_list(&d, NULL), "refused"));
  durable_close(&d);
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
