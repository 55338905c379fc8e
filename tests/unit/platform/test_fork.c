/* A host that forks: the child is told so by every call, and the parent goes
 * on as if nothing had happened. */
#include "cases.h"
#include "durable.h"

#include <openpai/account.h>
#include <openpai/client.h>
#include <openpai/records.h>
#include <openpai/vc.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The thread sanitizer starts no threads in a child of many threads; exit()
 * does, for libuv. */
#ifdef __SANITIZE_THREAD__
#define CHILD_HAS_THREADS false
#else
#define CHILD_HAS_THREADS true
#endif

static int drop(void *user_data, const char *bytes, size_t len)
{
  (void)user_data;
  (void)bytes;
  (void)len;
  return PAI_OK;
}

static void on_sync(void *user_data, int status, const pai_error *err)
{
  (void)status;
  (void)err;
  *(int *)user_data += 1;
}

static int on_event(void *user_data, const pai_event *event)
{
  (void)user_data;
  (void)event;
  return 0;
}

static void on_data(void *user_data, int status, uint64_t offset,
                    const char *bytes, size_t len)
{
  (void)user_data;
  (void)status;
  (void)offset;
  (void)bytes;
  (void)len;
}

static void on_files(void *user_data, int status, const char *json, size_t len,
                     const pai_error *err)
{
  (void)user_data;
  (void)status;
  (void)json;
  (void)len;
  (void)err;
}

static void on_session_end(void *user_data, int status,
                           const pai_session_end *end)
{
  (void)user_data;
  (void)status;
  (void)end;
}

/* --- in the child ------------------------------------------------------------- */

static void expect(bool holds, const char *what)
{
  if (holds)
    return;
  print_error("in the child: not %s\n", what);
  _exit(1);
}
#define EXPECT(check) expect((check), #check)

static void expect_busy(int rc, pai_error *err, const char *call)
{
  expect(rc == PAI_EBUSY && pai_error_code(err) == PAI_EBUSY, call);
  EXPECT(strstr(pai_error_message(err), "fork()") != NULL);
  EXPECT(pai_error_help(err) != NULL);
  pai_error_free(err);
}

static void calls_are_busy(durable *d, pai_job_id job, pai_spec *spec)
{
  pai_platform *p = d->platform;
  pai_accounts *a = pai_platform_accounts(p);
  pai_log_reader *log;
  pai_listener *listener;
  pai_follower *follower;
  pai_platform *other;
  pai_client *client;
  pai_session *session;
  pai_client_options at = PAI_CLIENT_OPTIONS_INIT;
  pai_session_options to = PAI_SESSION_OPTIONS_INIT;
  pai_error *err = NULL;
  pai_file_write_options write = PAI_FILE_WRITE_OPTIONS_INIT;
  pai_file_writer *writer;
  pai_job_id id;
  int calls = 0, fd;

#define BUSY(call)               \
  do {                           \
    int rc = call;               \
    expect_busy(rc, err, #call); \
  } while (0)
  BUSY(pai_platform_submit(&id, p, spec, &err));
  EXPECT(pai_platform_stop(p, job) == PAI_EBUSY);
  EXPECT(pai_platform_forget(p, job) == PAI_EBUSY);
  EXPECT(pai_platform_sync(p, on_sync, &calls) == PAI_EBUSY);
  BUSY(pai_platform_rescale(p, job, "main", 2, &err));
  BUSY(pai_platform_tag(p, job, "x", &err));
  BUSY(pai_platform_show(p, job, -1, drop, NULL, &err));
  BUSY(pai_platform_list(p, NULL, drop, NULL, &err));
  BUSY(pai_platform_find(&id, p, "x~y", &err));
  BUSY(pai_platform_drain(p, "n", 1, NULL, &err));
  BUSY(pai_platform_put_vc(p, "vc", NULL, &err));
  BUSY(pai_platform_backup(p, "/dev/null", on_sync, &calls, &err));
  BUSY(pai_platform_listen(&listener, p, 0, on_event, NULL, &err));
  BUSY(pai_platform_follow(&follower, p, &err));
  BUSY(pai_platform_list_files(p, job, NULL, on_files, NULL, &err));
  BUSY(pai_platform_open_file(&fd, p, job, "x", 0, &err));
  BUSY(pai_file_writer_open(&writer, p, job, &write, &err));
  BUSY(pai_platform_forget_as(p, job, NULL, drop, NULL, &err));
  BUSY(pai_log_open(&log, p, job, NULL, on_data, NULL, &err));
  BUSY(pai_accounts_remove_user(a, "x", &err));
  BUSY(pai_accounts_write_users(a, NULL, drop, NULL, &err));
  /* Nor is anything made on the loop, which the parent would hear of. */
  at.url = "http://127.0.0.1:1";
  to.on_end = on_session_end;
  BUSY(pai_platform_new(&other, d->loop, NULL, &err));
  BUSY(pai_client_new(&client, d->loop, &at, &err));
  BUSY(pai_session_new(&session, d->loop, NULL, open("/dev/null", O_RDWR), &to,
                       &err));
  EXPECT(pai_loop_run_once(d->loop) == PAI_EBUSY);
  EXPECT(pai_loop_fd(d->loop) == -1);
  pai_loop_wake(d->loop);
  EXPECT(calls == 0);
#undef BUSY
}

static void on_closed(void *user_data)
{
  (void)user_data;
  _exit(99); /* nothing may call back here */
}

/* A platform of its own works, threads and all, and exit() returns. */
static void own_platform_works(void)
{
  durable d;
  pai_job_id job;

  durable_open(&d, story_in("child"));
  job = durable_accept(&d, "own", "true");
  EXPECT(durable_wait(&d, job, PAI_STATE_SUCCEEDED) == PAI_STATE_SUCCEEDED);
  durable_close(&d);
}

static int fork_child(durable *d, pai_job_id job, pai_spec *spec, bool own)
{
  int status;
  pid_t child = fork();

  if (child == 0) {
    alarm(240);
    calls_are_busy(d, job, spec);
    pai_platform_close(d->platform, on_closed, NULL);
    pai_loop_free(d->loop);
    if (own)
      own_platform_works();
    if (CHILD_HAS_THREADS)
      exit(0); /* with all that is done at exit */
    _exit(0);
  }
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

/* --- in the parent ------------------------------------------------------------ */

TEST(the_parent_goes_on)
{
  char gate[320], command[400];
  durable d;
  pai_job_id first, second;
  pai_spec *spec;
  int fd;

  (void)snprintf(gate, sizeof(gate), "%s", story_in("gate"));
  (void)snprintf(command, sizeof(command), "read word < %s", gate);
  (void)unlink(gate);
  assert_int_equal(mkfifo(gate, 0600), 0);
  durable_open(&d, story_in("parent"));
  spec = story_job("", "", "true");
  first = durable_accept(&d, "first", command);
  durable_reaches(&d, first, PAI_STATE_RUNNING);
  assert_int_equal(fork_child(&d, first, spec, false), 0);
  assert_int_equal(fork_child(&d, first, spec, CHILD_HAS_THREADS), 0);
  second = durable_accept(&d, "second", "true");
  durable_reaches(&d, second, PAI_STATE_SUCCEEDED);
  fd = open(gate, O_WRONLY);
  assert_true(fd >= 0 && write(fd, "go\n", 3) == 3);
  (void)close(fd);
  durable_reaches(&d, first, PAI_STATE_SUCCEEDED);
  pai_spec_unref(spec);
  durable_close(&d);
}

/* A child that lives on does not keep the root's lock. */
TEST(a_child_keeps_no_lock)
{
  int hold[2], begun[2], status;
  durable d;
  pid_t child;
  char byte;

  assert_int_equal(pipe(hold), 0);
  assert_int_equal(pipe(begun), 0);
  durable_open(&d, story_in("locked"));
  child = fork();
  if (child == 0) {
    (void)close(hold[1]);
    (void)!write(begun[1], "", 1); /* what is its parent's alone is closed */
    _exit(read(hold[0], &byte, 1) == 0 ? 0 : 1); /* until the parent is done */
  }
  assert_true(child > 0);
  (void)close(hold[0]);
  assert_int_equal(read(begun[0], &byte, 1), 1);
  durable_close(&d);
  durable_open(&d, story_in("locked"));
  durable_close(&d);
  (void)close(hold[1]);
  (void)close(begun[0]);
  (void)close(begun[1]);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
