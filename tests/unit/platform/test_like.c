/* Jobs that are to be like another one: its folder, its code, its secrets. */
#include "cases.h"
#include "durable.h"

#include "platform/files/code.h"

#include <openpai/records.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_OF(name, secrets, command)                               \
  "{protocolVersion: 2, name: " name ", type: job, " STORY_IMAGE      \
  ", secrets: {key: " secrets                                         \
  "}, taskRoles: {a: {dockerImage: x, resourcePerInstance: {cpu: 0, " \
  "memoryMB: 64, gpu: 0}, commands: [\"" command "\"]}}}"

/* The job's id, or what it is refused with; why is in d->code. */
static int64_t submit(durable *d, const char *text, pai_submit_options *o)
{
  pai_spec *spec = story_parse(text);
  pai_error *err = NULL;
  pai_job_id id;
  int rc;

  o->struct_size = sizeof(*o);
  o->text = text;
  rc = pai_platform_submit_as(&id, d->platform, spec, o, &err);
  if (rc < 0)
    (void)snprintf(d->code, sizeof(d->code), "%s", pai_error_message(err));
  pai_error_free(err);
  pai_spec_unref(spec);
  return rc < 0 ? rc : (int64_t)id;
}

static void refused(durable *d, int rc, const char *part, const char *text,
                    pai_submit_options o)
{
  assert_int_equal(submit(d, text, &o), rc);
  if (strstr(d->code, part) == NULL)
    fail_msg("%s", d->code);
}

static const char *log_of(durable *d, pai_job_id id)
{
  pai_log_options o = PAI_LOG_OPTIONS_INIT;

  o.follow = 1;
  return durable_log(d, id, &o);
}

/* --- secrets -------------------------------------------------------------------- */

DURABLE(secrets_of_one_that_lives)
{
  pai_submit_options o = { 0 };
  pai_job_id first, like;

  first = (pai_job_id)submit(d, FILE_OF("a", "plover", "sleep 1000"), &o);
  refused(d, PAI_EINVAL, "missing, of which there is only \"******\": key",
          FILE_OF("b", "'******'", "true"), (pai_submit_options){ 0 });
  refused(d, PAI_ENOTFOUND, "", FILE_OF("b", "x", "true"),
          (pai_submit_options){ .like = 99 });
  o.like = first;
  like = (pai_job_id)submit(
    d, FILE_OF("b", "'******'", "echo <% $secrets.key %>"), &o);
  assert_string_equal(log_of(d, like), "plover\n");
  durable_reaches(d, like, PAI_STATE_SUCCEEDED);
  /* What it is given itself counts, also what the first one lacks. */
  refused(d, PAI_EINVAL, "\"******\": other",
          FILE_OF("c", "xyzzy, other: '******'", "true"),
          (pai_submit_options){ .like = first });
  like = (pai_job_id)submit(
    d, FILE_OF("c", "xyzzy", "echo <% $secrets.key %>"), &o);
  assert_string_equal(log_of(d, like), "xyzzy\n");
  /* When it is over they are gone. */
  assert_ok(pai_platform_stop(d->platform, first));
  durable_reaches(d, first, PAI_STATE_STOPPED);
  refused(d, PAI_EINVAL, "missing", FILE_OF("e", "'******'", "true"),
          (pai_submit_options){ .like = first });
  assert_ok(pai_platform_forget(d->platform, first));
  refused(d, PAI_ENOTFOUND, "", FILE_OF("e", "x", "true"),
          (pai_submit_options){ .like = first });
}

TEST(without_records_there_is_no_such_job)
{
  pai_platform_options p = PAI_PLATFORM_OPTIONS_INIT;
  pai_submit_options o = { .like = 1 };
  durable d = { 0 };

  p.root = story_root;
  assert_ok(pai_loop_new(&d.loop, NULL, NULL));
  assert_ok(pai_platform_new(&d.platform, d.loop, &p, NULL));
  assert_int_equal(submit(&d, FILE_OF("a", "x", "true"), &o), PAI_ENOTSUP);
  assert_int_equal(
    pai_platform_copy_code(d.platform, 1, (pai_copy_cb)abort, NULL, NULL),
    PAI_ENOTSUP);
  pai_platform_close(d.platform, NULL, NULL);
  assert_ok(pai_loop_run(d.loop));
  pai_loop_free(d.loop);
}

/* --- folders ---------------------------------------------------------------------- */

TEST(it_begins_in_the_same_folder)
{
  char dir[300];
  durable d;
  pai_submit_options o = { .work_dir = dir };
  pai_job_id first, like;

  (void)snprintf(dir, sizeof(dir), "%s", story_in("there"));
  assert_int_equal(mkdir(dir, 0700), 0);
  durable_open(&d, story_in("folder"));
  first = (pai_job_id)submit(&d, FILE_OF("a", "x", "pwd"), &o);
  /* Also before it is durable. */
  like = (pai_job_id)submit(&d, FILE_OF("b", "x", "pwd"),
                            &(pai_submit_options){ .like = first });
  assert_has(log_of(&d, like), "/there\n");
  durable_reaches(&d, first, PAI_STATE_SUCCEEDED);
  durable_close(&d);
  durable_open(&d, story_in("folder"));
  like = (pai_job_id)submit(&d, FILE_OF("c", "x", "pwd"),
                            &(pai_submit_options){ .like = first });
  assert_has(log_of(&d, like), "/there\n");
  /* Another one that is named counts. */
  like = (pai_job_id)submit(
    &d, FILE_OF("e", "x", "pwd"),
    &(pai_submit_options){ .like = first, .work_dir = "/" });
  assert_string_equal(log_of(&d, like), "/\n");
  durable_reaches(&d, like, PAI_STATE_SUCCEEDED);
  assert_int_equal(rmdir(dir), 0);
  refused(&d, PAI_ENOTFOUND, "there", FILE_OF("f", "x", "pwd"),
          (pai_submit_options){ .like = first });
  durable_close(&d);
}

/* --- code ---------------------------------------------------------------------------- */

typedef struct copied {
  int status; /* 1: not yet */
  char dir[300];
  char why[300];
} copied;

static void on_copied(void *user_data, int status, const char *dir,
                      const pai_error *err)
{
  copied *c = user_data;

  c->status = status;
  (void)snprintf(c->dir, sizeof(c->dir), "%s", dir != NULL ? dir : "");
  (void)snprintf(c->why, sizeof(c->why), "%s", pai_error_message(err));
}

static copied copy(durable *d, pai_job_id job)
{
  copied c = { .status = 1 };

  assert_ok(pai_platform_copy_code(d->platform, job, on_copied, &c, NULL));
  while (c.status == 1)
    durable_turn(d);
  return c;
}

TEST(code_is_copied)
{
  char dir[320];
  durable d;
  pai_submit_options o = { .code_dir = dir };
  pai_job_id first, plain, like;
  copied c;

  durable_open(&d, story_in("code"));
  (void)snprintf(dir, sizeof(dir), "%s/code/new-mine", story_in("code"));
  test_shell("mkdir -p %s/a/b; cd %s; echo echo hi >a/b/x; chmod 500 a/b "
             "a/b/x; ln -s a link; touch -d @5 a/y; mkfifo a/pipe",
             dir, dir);
  first = (pai_job_id)submit(&d, FILE_OF("a", "x", "sh a/b/x"), &o);
  durable_reaches(&d, first, PAI_STATE_SUCCEEDED);
  /* Two jobs have no folder in common. */
  refused(&d, PAI_EINVAL, "has a copy of its code", FILE_OF("b", "x", "true"),
          (pai_submit_options){ .like = first });
  c = copy(&d, first);
  assert_ok(c.status);
  test_shell("cd %s && test -x a/b/x -a -h link -a ! -e a/pipe && "
             "test $(stat -c %%Y%%a a/y) = 5600",
             c.dir);
  o = (pai_submit_options){ .like = first, .code_dir = c.dir };
  like = (pai_job_id)submit(&d, FILE_OF("b", "x", "sh a/b/x"), &o);
  assert_string_equal(log_of(&d, like), "hi\n");
  assert_int_equal(access(c.dir, F_OK), -1); /* it is the job's now */
  durable_reaches(&d, like, PAI_STATE_SUCCEEDED);
  /* The one goes, the other stays. */
  assert_ok(pai_platform_forget(d.platform, first));
  assert_int_equal(
    pai_platform_copy_code(d.platform, first, on_copied, &c, NULL),
    PAI_ENOTFOUND);
  assert_ok(copy(&d, like).status);
  plain = durable_accept(&d, "plain", "true");
  assert_int_equal(
    pai_platform_copy_code(d.platform, plain, on_copied, &c, NULL),
    PAI_ENOTFOUND);
  durable_reaches(&d, plain, PAI_STATE_SUCCEEDED);
  /* A platform that closes waits for it. */
  c.status = 1;
  assert_ok(pai_platform_copy_code(d.platform, like, on_copied, &c, NULL));
  durable_close(&d);
  assert_ok(c.status);
}

TEST(code_that_cannot_be_copied)
{
  char dir[320];
  durable d;
  pai_submit_options o = { .code_dir = dir };
  pai_job_id first;
  copied c;

  durable_open(&d, story_in("lost"));
  (void)snprintf(dir, sizeof(dir), "%s/code/new-mine", story_in("lost"));
  test_shell("mkdir -p %s; cd %s; for i in $(seq 70); do mkdir d; cd d; "
             "done",
             dir, dir);
  first = (pai_job_id)submit(&d, FILE_OF("a", "x", "true"), &o);
  durable_reaches(&d, first, PAI_STATE_SUCCEEDED);
  c = copy(&d, first);
  assert_int_equal(c.status, PAI_EIO);
  assert_has(c.why, "cannot copy the job's code: ");
  test_shell("test $(ls %s/code | wc -l) = 1 && rm -r %s/code/*~a",
             story_in("lost"), story_in("lost")); /* nothing of it is left */
  c = copy(&d, first);
  assert_int_equal(c.status, PAI_ENOTFOUND);
  durable_close(&d);
}

/* --- memory ----------------------------------------------------------------------- */

/* A platform whose memory is short only while a job is submitted. */
TEST(memory_may_be_short)
{
  test_tally tally;
  pai_platform_options p = PAI_PLATFORM_OPTIONS_INIT;
  durable d = { 0 };
  pai_submit_options o = { 0 };
  int64_t first, rc = PAI_ENOMEM;
  size_t n = 0;

  test_tally_init(&tally);
  p.root = story_in("memory");
  p.durable = 1;
  p.runtime = "process";
  p.alloc = &tally.alloc;
  assert_ok(pai_loop_new(&d.loop, NULL, NULL));
  assert_ok(pai_platform_new(&d.platform, d.loop, &p, NULL));
  first = submit(&d, FILE_OF("a", "plover", "sleep 1000"), &o);
  assert_true(first > 0);
  assert_ok(durable_sync(&d));
  o.like = (pai_job_id)first;
  while (rc == PAI_ENOMEM) {
    tally.fail_at = tally.calls + ++n;
    rc = submit(&d, FILE_OF("b", "'******'", "true"), &o);
    tally.fail_at = 0;
  }
  if (rc < 0)
    fail_msg("allocation %zu: %s", n, d.code);
  assert_true(n > 20);
  pai_platform_close(d.platform, NULL, NULL);
  assert_ok(pai_loop_run(d.loop));
  pai_loop_free(d.loop);
  assert_int_equal(tally.live, 0);
}

/* --- jobs that are not taken ---------------------------------------------------- */

static void make_code(char dir[700], const char *root, const char *name)
{
  (void)snprintf(dir, 700, "%s/code", story_in(root));
  (void)mkdir(dir, 0700);
  (void)snprintf(dir, 700, "%s/code/%s", story_in(root), name);
  assert_int_equal(mkdir(dir, 0700), 0);
}

/* Who is refused has the code that was sent, and may try again with it. */
TEST(a_refused_job_leaves_its_code)
{
  pai_platform_options p = PAI_PLATFORM_OPTIONS_INIT;
  pai_submit_options o = { 0 };
  int64_t rc = PAI_ENOMEM;
  durable d = { 0 };
  test_tally tally;
  char dir[700];

  test_tally_init(&tally);
  p.root = story_in("refused");
  p.durable = 1;
  p.runtime = "process";
  p.alloc = &tally.alloc;
  assert_ok(pai_loop_new(&d.loop, NULL, NULL));
  assert_ok(pai_platform_new(&d.platform, d.loop, &p, NULL));
  make_code(dir, "refused", "new-one");
  o.code_dir = dir;
  for (size_t n = 1; rc == PAI_ENOMEM; n++) {
    assert_int_equal(access(dir, F_OK), 0);
    tally.fail_at = tally.calls + n;
    rc = submit(&d, FILE_OF("a", "plover", "true"), &o);
    tally.fail_at = 0;
  }
  if (rc < 0)
    fail_msg("%s", d.code);
  assert_int_equal(access(dir, F_OK), -1); /* it is the job's */
  pai_platform_close(d.platform, NULL, NULL);
  assert_ok(pai_loop_run(d.loop));
  pai_loop_free(d.loop);
  assert_int_equal(tally.live, 0);
}

/* Nor does one leave it for ever that was accepted, and could not be kept. */
TEST(a_withdrawn_job_leaves_no_code)
{
  char dir[700], name[400], wal[400], text[600];
  struct rlimit before, little;
  pai_submit_options o = { .code_dir = dir };
  struct stat st;
  durable d;

  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  (void)signal(SIGXFSZ, SIG_IGN);
  durable_open(&d, story_in("withdrawn"));
  (void)snprintf(wal, sizeof(wal), "%s/openpai.db-wal", story_in("withdrawn"));
  assert_int_equal(stat(wal, &st), 0);
  little = before;
  little.rlim_cur = (rlim_t)st.st_size + 20000;
  for (int i = 0;; i++) {
    (void)snprintf(name, sizeof(name), "new-%d", i);
    make_code(dir, "withdrawn", name);
    (void)snprintf(text, sizeof(text), FILE_OF("a%d", "x", "sleep 1000"), i);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    assert_true(submit(&d, text, &o) > 0);
    (void)snprintf(name, sizeof(name), "%s/code/ann~a%d",
                   story_in("withdrawn"), i);
    assert_int_equal(access(name, F_OK), 0);
    if (durable_sync(&d) < 0)
      break;
    assert_true(i < 1000);
  }
  assert_int_equal(access(name, F_OK), -1);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  while (durable_sync(&d) < 0)
    durable_turn(&d);
  durable_close(&d);
  (void)signal(SIGXFSZ, SIG_DFL);
}

/* Whoever is in folders below for long has not left it: see pai__code_sweep(). */
TEST(a_copy_is_in_use_to_its_end)
{
  enum { FILES = 3000 };
  char from[300], folder[300], path[400], *to;
  struct stat top, last = { 0 }, st;

  (void)snprintf(from, sizeof(from), "%s", story_in("large"));
  (void)snprintf(folder, sizeof(folder), "%s", story_in("copies"));
  (void)snprintf(path, sizeof(path), "%s/below", from);
  assert_int_equal(mkdir(from, 0700), 0);
  assert_int_equal(mkdir(folder, 0700), 0);
  assert_int_equal(mkdir(path, 0700), 0);
  for (int i = 0; i < FILES; i++) {
    (void)snprintf(path, sizeof(path), "%s/below/%d", from, i);
    assert_int_equal(close(open(path, O_WRONLY | O_CREAT, 0600)), 0);
  }
  assert_ok(pai__code_copy(&to, &pai__libc_alloc, from, folder, NULL));
  for (int i = 0; i < FILES; i++) {
    (void)snprintf(path, sizeof(path), "%s/below/%d", to, i);
    assert_int_equal(stat(path, &st), 0);
    if (last.st_ctim.tv_sec < st.st_ctim.tv_sec ||
        (last.st_ctim.tv_sec == st.st_ctim.tv_sec &&
         last.st_ctim.tv_nsec < st.st_ctim.tv_nsec))
      last = st;
  }
  assert_int_equal(stat(to, &top), 0);
  assert_true(top.st_mtim.tv_sec > last.st_ctim.tv_sec ||
              (top.st_mtim.tv_sec == last.st_ctim.tv_sec &&
               top.st_mtim.tv_nsec >= last.st_ctim.tv_nsec));
  pai__strfree(&pai__libc_alloc, to);
}

/* Not by the loop, and what a stop has left is not forgotten. */
TEST(folders_are_removed_in_another_thread)
{
  char root[300], dir[320], left[320], command[1600];
  durable d;

  (void)snprintf(root, sizeof(root), "%s", story_in("removed"));
  (void)snprintf(dir, sizeof(dir), "%s/code/new-x", root);
  (void)snprintf(left, sizeof(left), "%s/trash", root);
  durable_open(&d, root);
  test_shell("mkdir -p %s/a %s/code/mine && touch %s/a/b && chmod 0 %s/a", dir,
             root, dir, dir);
  (void)snprintf(command, sizeof(command), "%s/a", dir);
  assert_int_equal(pai_platform_remove_code(d.platform, command, NULL),
                   PAI_EINVAL);
  (void)snprintf(command, sizeof(command), "%s/code/mine", root);
  assert_int_equal(pai_platform_remove_code(d.platform, command, NULL),
                   PAI_EINVAL);
  assert_int_equal(pai_platform_remove_code(d.platform, root, NULL),
                   PAI_EINVAL);
  for (int i = 0; i < 2; i++) { /* the second time there is none */
    assert_ok(pai_platform_remove_code(d.platform, dir, NULL));
    assert_int_equal(access(dir, F_OK), -1);
  }
  while (rmdir(left) != 0)
    durable_turn(&d);
  durable_close(&d);

  test_shell("mkdir -p %s/x/y", left);
  durable_open(&d, root);
  while (rmdir(left) != 0)
    durable_turn(&d);
  durable_close(&d);
}

static void wait_for_leave(void *user_data)
{
  char c;

  (void)!read(*(int *)user_data, &c, 1);
}

static void on_left(void *user_data)
{
  (void)user_data;
}

/* What cannot be moved away is removed in that thread, too: the loop does not
 * stand still for it, and no new job gets the folder meanwhile. */
TEST(folders_that_cannot_be_moved)
{
  enum { THREADS = 4 };
  char root[300], folder[400], command[1600];
  pai_submit_options o = { .user = "alice" };
  const char *text = FILE_OF("moved", "a", "true");
  pai__work *busy[THREADS];
  int gate[2];
  int64_t job;
  durable d;

  (void)snprintf(root, sizeof(root), "%s", story_in("not-moved"));
  durable_open(&d, root);
  job = submit(&d, text, &o);
  assert_true(job > 0);
  (void)durable_wait(&d, (pai_job_id)job, PAI_STATE_SUCCEEDED);
  (void)snprintf(folder, sizeof(folder), "%s/jobs/alice~moved", root);
  test_shell("mkdir -p %s/a/b && touch %s/a/b/c && rmdir %s/trash && "
             "touch %s/trash",
             folder, folder, root, root);
  assert_int_equal(pipe(gate), 0);
  for (int i = 0; i < THREADS; i++) {
    assert_ok(pai__work_new(&busy[i], &pai__libc_alloc, d.loop, wait_for_leave,
                            on_left, &gate[0]));
    pai__work_start(busy[i]);
  }
  assert_ok(pai_platform_forget(d.platform, (pai_job_id)job));
  (void)snprintf(command, sizeof(command), "%s/a/b/c", folder);
  assert_int_equal(access(command, F_OK), 0);
  assert_int_equal(submit(&d, text, &o), PAI_EBUSY);
  assert_int_equal(write(gate[1], "1234", THREADS), THREADS);
  while (access(folder, F_OK) == 0)
    durable_turn(&d);
  while ((job = submit(&d, text, &o)) == PAI_EBUSY)
    durable_turn(&d);
  assert_true(job > 0);
  (void)durable_wait(&d, (pai_job_id)job, PAI_STATE_SUCCEEDED);
  for (int i = 0; i < THREADS; i++)
    pai__work_close(busy[i]);
  (void)close(gate[0]);
  (void)close(gate[1]);
  durable_close(&d);
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
