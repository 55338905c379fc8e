/* A durable platform when the disk is full or read-only, the database broken,
 * the root another's, the clock wrong; and when it has kept enough. */
#include "cases.h"
#include "durable.h"

#include <openpai/account.h>

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(a_root_has_one_platform)
{
  pai_error *err = NULL;
  durable d, other;

  durable_open(&d, story_in("one"));
  assert_int_equal(durable_try(&other, story_in("one"), &err), PAI_EBUSY);
  assert_has(pai_error_message(err),
             test_string("process %ld", (long)getpid()));
  assert_int_equal(pai_error_retriable(err), 1);
  pai_error_free(err);
  durable_close(&d);
  durable_open(&d, story_in("one"));
  durable_close(&d);
}

/* --- a list of users that cannot be read ---------------------------------------- */

static int broken; /* an error number, or 0 */

int __real_getpwuid_r(uid_t uid, struct passwd *user, char *text, size_t size,
                      struct passwd **found);
int __wrap_getpwuid_r(uid_t uid, struct passwd *user, char *text, size_t size,
                      struct passwd **found);
int __wrap_getpwuid_r(uid_t uid, struct passwd *user, char *text, size_t size,
                      struct passwd **found)
{
  *found = NULL;
  return broken != 0 ? broken
                     : __real_getpwuid_r(uid, user, text, size, found);
}

/* Else its jobs would be another user's, and those that were his nobody's. */
TEST(who_runs_it_is_known_or_it_does_not_begin)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  pai_error *err = NULL;
  pai_platform *p;
  pai_loop *loop;

  assert_ok(pai_loop_new(&loop, NULL, NULL));
  o.root = story_in("nameless");
  o.durable = 1;
  broken = EIO;
  assert_int_equal(pai_platform_new(&p, loop, &o, &err), PAI_EIO);
  broken = 0;
  assert_has(pai_error_message(err), "cannot look for the name");
  pai_error_free(err);
  assert_ok(pai_loop_run(loop));
  pai_loop_free(loop);
}

/* --- a disk that takes no more -------------------------------------------------- */

enum { LITTLE = 100000 };

static struct rlimit usual; /* of the size of files */

/* A test that fails leaves no limit to the next one. */
static int lift_limit(void **state)
{
  (void)state;
  return setrlimit(RLIMIT_FSIZE, &usual);
}

/* No file grows any more but by so much. */
static void limit_files(const char *in, unsigned more)
{
  struct rlimit limit;
  struct stat st;

  assert_int_equal(stat(test_string("%s/openpai.db-wal", in), &st), 0);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = (rlim_t)st.st_size + more;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* As many jobs as it takes until one is not taken any more. */
static pai_job_id fill_disk(durable *d)
{
  pai_job_id last = 0;

  for (int i = 0;; i++) {
    pai_job_id id;

    id = durable_submit(d, test_string("fills-%d", i), "", "", "true");
    assert_int_not_equal(id, 0);
    if (durable_sync(d) < 0)
      return last;
    last = id;
    assert_true(i < 1000);
  }
}

TEST(a_full_disk_loses_nothing_that_was_taken)
{
  char go[400], command[500];
  pai_job_id runs, last, found;
  struct rlimit before;
  durable d;

  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  (void)snprintf(go, sizeof(go), "%s/full-go", story_root);
  (void)snprintf(command, sizeof(command),
                 "while ! test -e %s; do sleep 0.01; done", go);
  durable_open(&d, story_in("full"));
  runs = durable_accept(&d, "runs", command);
  durable_reaches(&d, runs, PAI_STATE_RUNNING);
  limit_files(story_in("full"), LITTLE);
  last = fill_disk(&d);
  assert_true(last > runs);
  /* Now nothing is taken, with the reason; and what ran, runs. */
  assert_int_equal(durable_submit(&d, "refused", "", "", "true"), 0);
  assert_has(d.code, "while the database cannot be written");
  assert_has(d.log, "cannot write the database");
  assert_has(d.log, "is not taken after all");
  durable_is(&d, last + 1, PAI_ENOTFOUND);
  close(creat(go, 0600));
  for (int i = 0; i < 30; i++)
    durable_turn(&d);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  while (durable_sync(&d) < 0)
    durable_turn(&d);
  durable_reaches(&d, runs, PAI_STATE_SUCCEEDED);
  if (strstr(d.log, "can be written again") == NULL)
    fail_msg("%s", d.log);
  durable_reaches(&d, last, PAI_STATE_SUCCEEDED);
  durable_close(&d);
  durable_open(&d, story_in("full"));
  durable_is(&d, runs, PAI_STATE_SUCCEEDED);
  durable_is(&d, last, PAI_STATE_SUCCEEDED);
  assert_int_equal(pai_platform_find(&found, d.platform, "ann~refused", NULL),
                   PAI_ENOTFOUND);
  durable_close(&d);
}

/* Nobody is told, for that could not be written; its supervisor knows. */
static bool has_ended(const durable *d, pai_job_id job)
{
  const char *dir, *at, *text;

  dir = pai_platform_job_dir(d->platform, job);
  at = strstr(dir, "/jobs/");
  text = test_file(
    test_string("%.*s/own%s/0/a-0/status", (int)(at - dir), dir, at));
  /* NULL: its supervisor has not begun. */
  return text != NULL && strstr(text, "\nsignal ") != NULL;
}

/* Why a job is tried again is known before it can be written. */
TEST(a_full_disk_hides_no_cause)
{
  const char *dir = story_in("cause");
  char go[400], starts[400], command[1500];
  pai_job_id again;
  durable d;

  (void)snprintf(go, sizeof(go), "%s-go", dir);
  (void)snprintf(starts, sizeof(starts), "%s-starts", dir);
  (void)snprintf(
    command, sizeof(command),
    "echo >> %s; echo CUDA_ERROR_ECC_UNCORRECTABLE; "
    "test $(wc -l < %s) -lt 4 && exit 1; "
    "while ! test -e %s; do sleep 0.01; done; "
    "echo ModuleNotFoundError: No module named \\\"'x'\\\"; exit 1",
    starts, starts, go);
  durable_open(&d, dir);
  again = durable_submit(&d, "again", "", "", command);
  assert_int_not_equal(again, 0);
  durable_wait_file(&d, starts, 4);
  durable_reaches(&d, again, PAI_STATE_RUNNING);
  limit_files(dir, LITTLE);
  (void)fill_disk(&d);
  close(creat(go, 0600));
  while (strstr(durable_why(&d, again), "retry 4 of") == NULL)
    durable_turn(&d);
  assert_true(durable_sync(&d) < 0);
  durable_has(&d, "\"name\":\"module-missing\"");
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &usual), 0);
  durable_close(&d);
}

TEST(a_full_disk_does_not_keep_jobs_from_being_stopped)
{
  struct rlimit before;
  pai_job_id runs;
  durable d;

  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  durable_open(&d, story_in("stop"));
  runs = durable_accept(&d, "runs", "exec sleep 1000");
  durable_reaches(&d, runs, PAI_STATE_RUNNING);
  limit_files(story_in("stop"), LITTLE);
  (void)fill_disk(&d);
  assert_ok(pai_platform_stop(d.platform, runs));
  assert_true(durable_sync(&d) < 0);
  while (!has_ended(&d, runs))
    durable_turn(&d);
  durable_is(&d, runs, PAI_STATE_RUNNING);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  while (durable_sync(&d) < 0)
    durable_turn(&d);
  durable_reaches(&d, runs, PAI_STATE_STOPPED);
  durable_close(&d);
}

/* --- roots that cannot be used ---------------------------------------------------- */

TEST(a_broken_database_is_refused_and_kept)
{
  static const char junk[] = "this is no database at all, and never was one";
  char path[400], text[100] = "";
  pai_error *err = NULL;
  durable d;
  int fd;

  durable_open(&d, story_in("broken"));
  (void)durable_accept(&d, "first", "true");
  durable_close(&d);
  (void)snprintf(path, sizeof(path), "%s/openpai.db", story_in("broken"));
  fd = open(path, O_WRONLY | O_TRUNC);
  assert_int_equal(write(fd, junk, sizeof(junk)), sizeof(junk));
  (void)close(fd);
  assert_int_equal(durable_try(&d, story_in("broken"), &err), PAI_EIO);
  assert_non_null(pai_error_help(err));
  assert_has(pai_error_help(err), "doctor --repair");
  pai_error_free(err);
  fd = open(path, O_RDONLY);
  assert_int_equal(read(fd, text, sizeof(text)), sizeof(junk));
  (void)close(fd);
  assert_string_equal(text, junk);
  d.len = 0; /* nothing of it is left, and nobody is kept out */
  assert_ok(pai_platform_repair(story_in("broken"), durable_write, &d, NULL));
  durable_has(&d, "\"jobs\":0");
  durable_open(&d, story_in("broken"));
  durable_close(&d);
}

static void on_copied(void *user_data, int status, const pai_error *err)
{
  if (status < 0)
    fail_msg("%s", pai_error_message(err));
  *(int *)user_data = 1;
}

/* Half of it is overwritten, but for the copy that was made before. */
TEST(what_can_be_read_is_repaired)
{
  char path[400], copy[400], junk[512];
  pai_error *err = NULL;
  pai_job_id id;
  int done = 0, fd;
  durable d;

  memset(junk, 'x', sizeof(junk));
  durable_open(&d, story_in("half"));
  for (int i = 0; i < 30; i++) {
    id = durable_submit(&d, test_string("j%d", i), "", "", "true");
  }
  durable_reaches(&d, id, PAI_STATE_SUCCEEDED);
  (void)snprintf(copy, sizeof(copy), "%s/copy.db", story_root);
  assert_ok(pai_platform_backup(d.platform, copy, on_copied, &done, NULL));
  while (!done)
    durable_turn(&d);
  d.len = 0;
  assert_ok(pai_platform_export(d.platform, 0, 0, durable_write, &d, NULL));
  durable_has(&d, "\"j7\"");
  assert_int_equal(
    pai_platform_repair(story_in("half"), durable_write, &d, NULL), PAI_EBUSY);
  durable_close(&d);
  (void)snprintf(path, sizeof(path), "%s/openpai.db", story_in("half"));
  fd = open(path, O_WRONLY);
  for (off_t at = 60 * 512; at < 100 * 512; at += 2 * (off_t)sizeof(junk))
    assert_int_equal(pwrite(fd, junk, sizeof(junk), at), sizeof(junk));
  (void)close(fd);
  test_shell("rm -f %s-wal %s-shm; touch %s-wal", path, path, path);
  if (durable_try(&d, story_in("half"), &err) == PAI_OK) {
    durable_close(&d); /* nobody has looked there */
  } else {
    pai_error_free(err);
    d.len = 0;
    if (pai_platform_repair(story_in("half"), durable_write, &d, &err) < 0)
      fail_msg("%s", pai_error_message(err));
    durable_has(&d, "\"aside\":");
    durable_open(&d, story_in("half"));
    durable_close(&d);
  }
  test_shell("cp %s %s", copy, path);
  durable_open(&d, story_in("half"));
  durable_is(&d, id, PAI_STATE_SUCCEEDED);
  durable_close(&d);
}

TEST(a_root_that_cannot_be_written_is_refused)
{
  pai_error *err = NULL;
  durable d;

  assert_int_equal(mkdir(story_in("readonly"), 0500), 0);
  if (access(story_in("readonly"), W_OK) == 0) { /* root may write anywhere */
    assert_int_equal(durable_try(&d, "/proc/openpai", &err) < 0, 1);
    pai_error_free(err);
    return;
  }
  assert_int_equal(durable_try(&d, story_in("readonly"), &err), PAI_EPERM);
  assert_has(pai_error_message(err), story_in("readonly"));
  pai_error_free(err);
}

/* --- the first user ----------------------------------------------------------- */

typedef struct told {
  int calls, status;
  char text[256], why[512];
} told;

static void on_told(void *user_data, int status, const char *json, size_t len,
                    const pai_error *err)
{
  told *t = user_data;

  t->calls++;
  t->status = status;
  (void)snprintf(t->text, sizeof(t->text), "%.*s", (int)len,
                 json != NULL ? json : "");
  (void)snprintf(t->why, sizeof(t->why), "%s",
                 err != NULL ? pai_error_message(err) : "");
}

/* How that ended, by its call. */
static void setup(told *t, durable *d, const char *password)
{
  pai_accounts_options o = PAI_ACCOUNTS_OPTIONS_INIT;
  pai_accounts *a = pai_platform_accounts(d->platform);

  *t = (told){ 0 };
  o.hash_kib = 8;
  o.hash_passes = 1;
  assert_ok(pai_accounts_configure(a, &o, NULL));
  assert_ok(pai_accounts_setup(a, NULL, password, on_told, t, NULL));
  while (t->calls == 0)
    durable_turn(d);
  assert_int_equal(t->calls, 1);
}

/* The password that was told is that of the user. */
static void expect_login(const told *t, durable *d)
{
  static const char before[] = "{\"username\":\"admin\",\"password\":\"";
  char password[21];
  told login = { 0 };

  assert_ok(t->status);
  assert_memory_equal(t->text, before, sizeof(before) - 1);
  (void)snprintf(password, sizeof(password), "%s",
                 t->text + sizeof(before) - 1);
  assert_ok(pai_accounts_login(pai_platform_accounts(d->platform), "admin",
                               password, on_told, &login, NULL));
  while (login.calls == 0)
    durable_turn(d);
  assert_ok(login.status);
}

/* A platform that ends while the disk is full, or just then is not any more. */
static void expect_told_next_time(const char *in, bool until_the_end)
{
  struct rlimit before;
  durable d;
  told t;

  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  durable_open(&d, in);
  assert_ok(durable_sync(&d));
  limit_files(in, 0);
  setup(&t, &d, NULL);
  assert_int_equal(t.status, PAI_EIO);
  assert_string_equal(t.text, "");
  assert_has(t.why, "no password was printed");
  if (!until_the_end)
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  durable_close(&d);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  durable_open(&d, in);
  assert_int_equal(
    pai_accounts_has_user(pai_platform_accounts(d.platform), "admin"),
    !until_the_end);
  setup(&t, &d, NULL);
  expect_login(&t, &d);
  setup(&t, &d, NULL); /* which is told once */
  assert_string_equal(t.text, "{}");
  durable_close(&d);
  durable_open(&d, in);
  setup(&t, &d, NULL);
  assert_string_equal(t.text, "{}");
  durable_close(&d);
}

TEST(a_password_is_told_when_the_database_has_it)
{
  expect_told_next_time(story_in("told"), true);
  expect_told_next_time(story_in("told-late"), false);
}

/* Whoever says one, or has changed it, has it. */
TEST(a_password_that_is_known_is_not_made_anew)
{
  static const char changed[] =
    "{\"username\":\"admin\",\"password\":\"changed-1\"}";
  struct rlimit before;
  durable d;
  told t;

  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  for (int i = 0; i < 2; i++) {
    const char *in = story_in(i == 0 ? "said" : "changed");

    durable_open(&d, in);
    assert_ok(durable_sync(&d));
    limit_files(in, 0);
    setup(&t, &d, NULL);
    assert_int_equal(t.status, PAI_EIO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    while (durable_sync(&d) < 0)
      durable_turn(&d);
    if (i == 0) {
      setup(&t, &d, "said-by-me");
      assert_string_equal(t.text, "{\"username\":\"admin\"}");
    } else {
      t.calls = 0;
      assert_ok(pai_accounts_put_user(pai_platform_accounts(d.platform),
                                      changed, sizeof(changed) - 1, 0, on_told,
                                      &t, NULL));
      while (t.calls == 0)
        durable_turn(&d);
      assert_ok(t.status);
    }
    durable_close(&d);
    durable_open(&d, in);
    setup(&t, &d, NULL);
    assert_string_equal(t.text, "{}");
    durable_close(&d);
  }
}

/* --- memory ------------------------------------------------------------------------ */

/* The first process of a task that asked for 64 MiB: whoever ends it, its group
 * or its supervisor, that is told as what it is. */
DURABLE(too_much_memory_has_its_code)
{
  for (int i = 0; i < 3; i++) {
    pai_job_id job;
    int code = 0;

    job = durable_accept(d, test_string("much%d", i),
                         i == 0 ? "x=$(yes | head -c 400000000)"
                         : i == 1
                           ? "exec python3 -c \\\"x = b'x' * (400 << 20)\\\""
                           : "python3 -c \\\"x = b'x' * (400 << 20)\\\"");
    durable_reaches(d, job, PAI_STATE_FAILED);
    (void)pai_platform_job_state(&code, d->platform, job);
    assert_int_equal(code, -1200);
  }
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
TEST_AROUND_EACH(NULL, lift_limit);

int main(void)
{
  (void)signal(SIGXFSZ, SIG_IGN); /* then the write says what is wrong */
  if (getrlimit(RLIMIT_FSIZE, &usual) != 0)
    return 1;
  return test_main(NULL);
}
