/* A durable platform when the disk is full or read-only, the database broken,
 * the root another's, the clock wrong; and when it has kept enough. */
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

static const char *root(const char *name)
{
  static char path[300];

  (void)snprintf(path, sizeof(path), "%s/%s", story_root, name);
  return path;
}

static void a_root_has_one_platform(void **state)
{
  pai_error *err = NULL;
  durable d, other;
  char pid[40];

  (void)state;
  durable_open(&d, root("one"));
  assert_int_equal(durable_try(&other, root("one"), &err), PAI_EBUSY);
  (void)snprintf(pid, sizeof(pid), "process %ld", (long)getpid());
  assert_non_null(strstr(pai_error_message(err), pid));
  assert_int_equal(pai_error_retriable(err), 1);
  pai_error_free(err);
  durable_close(&d);
  durable_open(&d, root("one"));
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
static void who_runs_it_is_known_or_it_does_not_begin(void **state)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  pai_error *err = NULL;
  pai_platform *p;
  pai_loop *loop;

  (void)state;
  assert_int_equal(pai_loop_new(&loop, NULL, NULL), PAI_OK);
  o.root = root("nameless");
  o.durable = 1;
  broken = EIO;
  assert_int_equal(pai_platform_new(&p, loop, &o, &err), PAI_EIO);
  broken = 0;
  assert_non_null(strstr(pai_error_message(err), "cannot look for the name"));
  pai_error_free(err);
  assert_int_equal(pai_loop_run(loop), PAI_OK);
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
  char path[400];
  struct stat st;

  (void)snprintf(path, sizeof(path), "%s/openpai.db-wal", in);
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = (rlim_t)st.st_size + more;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* As many jobs as it takes until one is not taken any more. */
static pai_job_id fill_disk(durable *d)
{
  char name[32];
  pai_job_id last = 0;

  for (int i = 0;; i++) {
    pai_job_id id;

    (void)snprintf(name, sizeof(name), "fills-%d", i);
    id = durable_submit(d, name, "", "", "true");
    assert_int_not_equal(id, 0);
    if (durable_sync(d) < 0)
      return last;
    last = id;
    assert_true(i < 1000);
  }
}

static void a_full_disk_loses_nothing_that_was_taken(void **state)
{
  char go[400], command[500];
  pai_job_id runs, last, found;
  struct rlimit before;
  durable d;

  (void)state;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  (void)snprintf(go, sizeof(go), "%s/full-go", story_root);
  (void)snprintf(command, sizeof(command),
                 "while ! test -e %s; do sleep 0.01; done", go);
  durable_open(&d, root("full"));
  runs = durable_accept(&d, "runs", command);
  assert_int_equal(durable_wait(&d, runs, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  limit_files(root("full"), LITTLE);
  last = fill_disk(&d);
  assert_true(last > runs);
  /* Now nothing is taken, with the reason; and what ran, runs. */
  assert_int_equal(durable_submit(&d, "refused", "", "", "true"), 0);
  assert_non_null(strstr(d.code, "while the database cannot be written"));
  assert_non_null(strstr(d.log, "cannot write the database"));
  assert_non_null(strstr(d.log, "is not taken after all"));
  assert_int_equal(pai_platform_job_state(NULL, d.platform, last + 1),
                   PAI_ENOTFOUND);
  close(creat(go, 0600));
  for (int i = 0; i < 30; i++)
    durable_turn(&d);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  while (durable_sync(&d) < 0)
    durable_turn(&d);
  assert_int_equal(durable_wait(&d, runs, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  if (strstr(d.log, "can be written again") == NULL)
    fail_msg("%s", d.log);
  assert_int_equal(durable_wait(&d, last, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  durable_close(&d);
  durable_open(&d, root("full"));
  assert_int_equal(pai_platform_job_state(NULL, d.platform, runs),
                   PAI_STATE_SUCCEEDED);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, last),
                   PAI_STATE_SUCCEEDED);
  assert_int_equal(pai_platform_find(&found, d.platform, "ann~refused", NULL),
                   PAI_ENOTFOUND);
  durable_close(&d);
}

/* Nobody is told, for that could not be written; its supervisor knows. */
static bool has_ended(const durable *d, pai_job_id job)
{
  char path[512], text[512] = "";
  const char *dir, *at;
  FILE *file;

  dir = pai_platform_job_dir(d->platform, job);
  at = strstr(dir, "/jobs/");
  (void)snprintf(path, sizeof(path), "%.*s/own%s/0/a-0/status",
                 (int)(at - dir), dir, at);
  file = fopen(path, "r");
  if (file == NULL)
    return false; /* its supervisor has not begun */
  (void)!fread(text, 1, sizeof(text) - 1, file);
  (void)fclose(file);
  return strstr(text, "\nsignal ") != NULL;
}

static void a_full_disk_does_not_keep_jobs_from_being_stopped(void **state)
{
  struct rlimit before;
  pai_job_id runs;
  durable d;

  (void)state;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  durable_open(&d, root("stop"));
  runs = durable_accept(&d, "runs", "exec sleep 1000");
  assert_int_equal(durable_wait(&d, runs, PAI_STATE_RUNNING),
                   PAI_STATE_RUNNING);
  limit_files(root("stop"), LITTLE);
  (void)fill_disk(&d);
  assert_int_equal(pai_platform_stop(d.platform, runs), PAI_OK);
  assert_true(durable_sync(&d) < 0);
  while (!has_ended(&d, runs))
    durable_turn(&d);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, runs),
                   PAI_STATE_RUNNING);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  while (durable_sync(&d) < 0)
    durable_turn(&d);
  assert_int_equal(durable_wait(&d, runs, PAI_STATE_STOPPED),
                   PAI_STATE_STOPPED);
  durable_close(&d);
}

/* --- roots that cannot be used ---------------------------------------------------- */

static void a_broken_database_is_refused_and_kept(void **state)
{
  static const char junk[] = "this is no database at all, and never was one";
  char path[400], text[100] = "";
  pai_error *err = NULL;
  durable d;
  int fd;

  (void)state;
  durable_open(&d, root("broken"));
  (void)durable_accept(&d, "first", "true");
  durable_close(&d);
  (void)snprintf(path, sizeof(path), "%s/openpai.db", root("broken"));
  fd = open(path, O_WRONLY | O_TRUNC);
  assert_int_equal(write(fd, junk, sizeof(junk)), sizeof(junk));
  (void)close(fd);
  assert_int_equal(durable_try(&d, root("broken"), &err), PAI_EIO);
  assert_non_null(pai_error_help(err));
  assert_non_null(strstr(pai_error_help(err), "doctor --repair"));
  pai_error_free(err);
  fd = open(path, O_RDONLY);
  assert_int_equal(read(fd, text, sizeof(text)), sizeof(junk));
  (void)close(fd);
  assert_string_equal(text, junk);
  d.len = 0; /* nothing of it is left, and nobody is kept out */
  assert_int_equal(
    pai_platform_repair(root("broken"), durable_write, &d, NULL), PAI_OK);
  durable_has(&d, "\"jobs\":0");
  durable_open(&d, root("broken"));
  durable_close(&d);
}

static void on_copied(void *user_data, int status, const pai_error *err)
{
  if (status < 0)
    fail_msg("%s", pai_error_message(err));
  *(int *)user_data = 1;
}

/* Half of it is overwritten, but for the copy that was made before. */
static void what_can_be_read_is_repaired(void **state)
{
  char path[400], copy[400], junk[512], command[1300];
  pai_error *err = NULL;
  pai_job_id id;
  int done = 0, fd;
  durable d;

  (void)state;
  memset(junk, 'x', sizeof(junk));
  durable_open(&d, root("half"));
  for (int i = 0; i < 30; i++) {
    char name[16];
    (void)snprintf(name, sizeof(name), "j%d", i);
    id = durable_submit(&d, name, "", "", "true");
  }
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  (void)snprintf(copy, sizeof(copy), "%s/copy.db", story_root);
  assert_int_equal(
    pai_platform_backup(d.platform, copy, on_copied, &done, NULL), PAI_OK);
  while (!done)
    durable_turn(&d);
  d.len = 0;
  assert_int_equal(
    pai_platform_export(d.platform, 0, 0, durable_write, &d, NULL), PAI_OK);
  durable_has(&d, "\"j7\"");
  assert_int_equal(pai_platform_repair(root("half"), durable_write, &d, NULL),
                   PAI_EBUSY);
  durable_close(&d);
  (void)snprintf(path, sizeof(path), "%s/openpai.db", root("half"));
  fd = open(path, O_WRONLY);
  for (off_t at = 60 * 512; at < 100 * 512; at += 2 * (off_t)sizeof(junk))
    assert_int_equal(pwrite(fd, junk, sizeof(junk), at), sizeof(junk));
  (void)close(fd);
  (void)snprintf(command, sizeof(command), "rm -f %s-wal %s-shm; touch %s-wal",
                 path, path, path);
  assert_int_equal(system(command), 0);
  if (durable_try(&d, root("half"), &err) == PAI_OK) {
    durable_close(&d); /* nobody has looked there */
  } else {
    pai_error_free(err);
    d.len = 0;
    if (pai_platform_repair(root("half"), durable_write, &d, &err) < 0)
      fail_msg("%s", pai_error_message(err));
    durable_has(&d, "\"aside\":");
    durable_open(&d, root("half"));
    durable_close(&d);
  }
  (void)snprintf(command, sizeof(command), "cp %s %s", copy, path);
  assert_int_equal(system(command), 0);
  durable_open(&d, root("half"));
  assert_int_equal(pai_platform_job_state(NULL, d.platform, id),
                   PAI_STATE_SUCCEEDED);
  durable_close(&d);
}

static void a_root_that_cannot_be_written_is_refused(void **state)
{
  pai_error *err = NULL;
  durable d;

  (void)state;
  assert_int_equal(mkdir(root("readonly"), 0500), 0);
  if (access(root("readonly"), W_OK) == 0) { /* root may write anywhere */
    assert_int_equal(durable_try(&d, "/proc/openpai", &err) < 0, 1);
    pai_error_free(err);
    return;
  }
  assert_int_equal(durable_try(&d, root("readonly"), &err), PAI_EPERM);
  assert_non_null(strstr(pai_error_message(err), root("readonly")));
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
  assert_int_equal(pai_accounts_configure(a, &o, NULL), PAI_OK);
  assert_int_equal(pai_accounts_setup(a, NULL, password, on_told, t, NULL),
                   PAI_OK);
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

  assert_int_equal(t->status, PAI_OK);
  assert_memory_equal(t->text, before, sizeof(before) - 1);
  (void)snprintf(password, sizeof(password), "%s",
                 t->text + sizeof(before) - 1);
  assert_int_equal(pai_accounts_login(pai_platform_accounts(d->platform),
                                      "admin", password, on_told, &login,
                                      NULL),
                   PAI_OK);
  while (login.calls == 0)
    durable_turn(d);
  assert_int_equal(login.status, PAI_OK);
}

/* A platform that ends while the disk is full, or just then is not any more. */
static void expect_told_next_time(const char *in, bool until_the_end)
{
  struct rlimit before;
  durable d;
  told t;

  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  durable_open(&d, in);
  assert_int_equal(durable_sync(&d), PAI_OK);
  limit_files(in, 0);
  setup(&t, &d, NULL);
  assert_int_equal(t.status, PAI_EIO);
  assert_string_equal(t.text, "");
  assert_non_null(strstr(t.why, "no password was printed"));
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

static void a_password_is_told_when_the_database_has_it(void **state)
{
  (void)state;
  expect_told_next_time(root("told"), true);
  expect_told_next_time(root("told-late"), false);
}

/* Whoever says one, or has changed it, has it. */
static void a_password_that_is_known_is_not_made_anew(void **state)
{
  static const char changed[] =
    "{\"username\":\"admin\",\"password\":\"changed-1\"}";
  struct rlimit before;
  durable d;
  told t;

  (void)state;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  for (int i = 0; i < 2; i++) {
    const char *in = root(i == 0 ? "said" : "changed");

    durable_open(&d, in);
    assert_int_equal(durable_sync(&d), PAI_OK);
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
      assert_int_equal(pai_accounts_put_user(pai_platform_accounts(d.platform),
                                             changed, sizeof(changed) - 1, 0,
                                             on_told, &t, NULL),
                       PAI_OK);
      while (t.calls == 0)
        durable_turn(&d);
      assert_int_equal(t.status, PAI_OK);
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
static void too_much_memory_has_its_code(void **state)
{
  durable d;

  (void)state;
  durable_open(&d, root("memory"));
  for (int i = 0; i < 3; i++) {
    char name[16];
    pai_job_id job;
    int code = 0;

    (void)snprintf(name, sizeof(name), "much%d", i);
    job = durable_accept(&d, name,
                         i == 0 ? "x=$(yes | head -c 400000000)"
                         : i == 1
                           ? "exec python3 -c \\\"x = b'x' * (400 << 20)\\\""
                           : "python3 -c \\\"x = b'x' * (400 << 20)\\\"");
    assert_int_equal(durable_wait(&d, job, PAI_STATE_FAILED),
                     PAI_STATE_FAILED);
    (void)pai_platform_job_state(&code, d.platform, job);
    assert_int_equal(code, -1200);
  }
  durable_close(&d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(too_much_memory_has_its_code),
    cmocka_unit_test(a_root_has_one_platform),
    cmocka_unit_test(who_runs_it_is_known_or_it_does_not_begin),
    cmocka_unit_test_teardown(a_full_disk_loses_nothing_that_was_taken,
                              lift_limit),
    cmocka_unit_test_teardown(
      a_full_disk_does_not_keep_jobs_from_being_stopped, lift_limit),
    cmocka_unit_test_teardown(a_password_is_told_when_the_database_has_it,
                              lift_limit),
    cmocka_unit_test_teardown(a_password_that_is_known_is_not_made_anew,
                              lift_limit),
    cmocka_unit_test(a_broken_database_is_refused_and_kept),
    cmocka_unit_test(what_can_be_read_is_repaired),
    cmocka_unit_test(a_root_that_cannot_be_written_is_refused),
  };

  (void)signal(SIGXFSZ, SIG_IGN); /* then the write says what is wrong */
  if (getrlimit(RLIMIT_FSIZE, &usual) != 0)
    return 1;
  return cmocka_run_group_tests(tests, story_make_root, story_remove_root);
}
