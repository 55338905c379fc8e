/* What a job's tasks have left of the plugin ssh: who finds it, and what of it.
 * The tasks write the files themselves; bindings and cli/ssh_far have sshd. */
#include "cases.h"
#include "durable.h"

#include "platform/platform.h"

#include <openpai/records.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXTRAS "extras: {gangAllocation: false}, "
#define KEY "-----BEGIN X-----\\\\nAAAA\\\\n"
/* The folder of the task; what it writes there; and it waits. */
#define FOLDER "d=$(dirname $RUNTIME_LOG_PIPE); mkdir -p $d/ssh $d/../ssh; "
#define HOST "echo ssh-ed25519 AAAA$PAI_TASK_INDEX me > $d/ssh/host_key.pub; "
#define SHARED                            \
  "printf -- '" KEY "' > $d/../ssh/key; " \
  "echo ssh-ed25519 BBBB > $d/../ssh/key.pub; "
#define UP "touch $d/../up$PAI_TASK_INDEX; sleep 1000"

static const char *ask(durable *d, pai_job_id id,
                       int (*what)(pai_platform *, pai_job_id, pai_write_cb,
                                   void *, pai_error **))
{
  pai_error *err = NULL;
  int rc;

  d->len = 0;
  d->text[0] = '\0';
  rc = what(d->platform, id, durable_write, d, &err);
  if (rc < 0) {
    assert_int_equal(d->len, 0);
    (void)snprintf(d->text, sizeof(d->text), "%s: %s", pai_code_name(rc),
                   pai_error_message(err));
  }
  pai_error_free(err);
  return d->text;
}

static pai_job_id begin(durable *d, const char *name, int tasks,
                        const char *command)
{
  char instances[32];
  pai_job_id id;

  (void)snprintf(instances, sizeof(instances), "instances: %d,", tasks);
  id = durable_submit(d, name, EXTRAS, instances, command);
  if (id == 0)
    fail_msg("%s", d->code);
  durable_reaches(d, id, PAI_STATE_RUNNING);
  for (int i = 0; i < tasks; i++) {
    durable_wait_file(
      d, test_string("%s/0/up%d", pai_platform_job_dir(d->platform, id), i),
      0);
  }
  return id;
}

static void end(durable *d, pai_job_id id)
{
  (void)pai_platform_stop(d->platform, id);
  (void)pai_platform_stop(d->platform, id);
  durable_reaches(d, id, PAI_STATE_STOPPED);
}

DURABLE(how_tasks_are_reached)
{
  const char *at;
  pai_job_id id;

  id = begin(d, "two", 2, FOLDER HOST SHARED UP);
  at = ask(d, id, pai_platform_ssh);
  assert_has(at, "{\"containers\":[{\"taskRole\":\"a\","
                 "\"taskIndex\":0,\"sshUser\":\"");
  /* A line without its end. */
  assert_has(at, "\"hostKey\":\"ssh-ed25519 AAAA0 me\"},{");
  assert_has(at, "\"hostKey\":\"ssh-ed25519 AAAA1 me\"}],"
                 "\"publicKey\":\"ssh-ed25519 BBBB\"}");
  assert_has(at, "\"sshIp\":\"127.0.0.1\",\"sshPort\":\"");
  assert_null(strstr(at, "\"sshPort\":\"0\""));
  assert_null(strstr(at, "BEGIN"));
  assert_string_equal(ask(d, id, pai_platform_ssh_key),
                      "{\"privateKey\":\"-----BEGIN X-----\\nAAAA\\n\"}");
  end(d, id);
  assert_string_equal(ask(d, id, pai_platform_ssh),
                      "PAI_ENOTFOUND: the job is over");
  assert_string_equal(ask(d, id, pai_platform_ssh_key),
                      "PAI_ENOTFOUND: the job is over");
}

DURABLE(there_may_be_none)
{
  pai_job_id id;

  id = begin(d, "own", 1, FOLDER HOST UP); /* its user's key opens it */
  assert_has(ask(d, id, pai_platform_ssh), "\"publicKey\":null}");
  assert_string_equal(ask(d, id, pai_platform_ssh_key),
                      "PAI_ENOTFOUND: job own has no key of its own");
  end(d, id);
  id = begin(d, "none", 1, FOLDER UP);
  assert_string_equal(ask(d, id, pai_platform_ssh),
                      "PAI_ENOTFOUND: no task of none has a sshd");
  end(d, id);
  assert_string_equal(ask(d, 12345, pai_platform_ssh),
                      "PAI_ENOTFOUND: the job is over");
}

/* What a task has put there is read if it is a file, and a small one. */
TEST(what_is_no_key)
{
  static const char *const commands[] = {
    "ln -s /etc/passwd $d/../ssh/key; ",
    "mkfifo $d/../ssh/key; ",
    ("mv $d/../ssh $d/../keys; echo A > $d/../keys/key; "
     "ln -s keys $d/../ssh; "),
    "mkdir $d/../ssh/key; ",
    "head -c 16385 /dev/zero | tr '\\\\000' x > $d/../ssh/key; ",
    "printf 'A\\\\000B' > $d/../ssh/key; ",
    ": > $d/../ssh/key; ",
  };
  pai_job_id id;
  durable d;

  durable_open(&d, story_root);
  for (size_t i = 0; i < PAI__LEN(commands); i++) {
    id = begin(&d, test_string("odd%zu", i), 1,
               test_string(FOLDER HOST "%s" UP, commands[i]));
    if (strstr(ask(&d, id, pai_platform_ssh_key), "no key of its own") == NULL)
      fail_msg("%s: %s", commands[i], d.text);
    end(&d, id);
  }
  durable_close(&d);
}

typedef struct short_of {
  durable *d;
  pai_job_id id;
} short_of;

static int ask_all(const pai_alloc *alloc, void *user_data)
{
  short_of *s = user_data;
  pai_platform *p = s->d->platform;
  pai_alloc own = p->alloc;
  int rc;

  p->alloc = *alloc;
  s->d->len = 0;
  rc = pai_platform_ssh(p, s->id, durable_write, s->d, NULL);
  if (rc == PAI_OK)
    rc = pai_platform_ssh_key(p, s->id, durable_write, s->d, NULL);
  p->alloc = own;
  return rc;
}

TEST(memory_is_short)
{
  durable d;
  short_of s = { &d, 0 };

  durable_open(&d, story_root);
  s.id = begin(&d, "short", 1, FOLDER HOST SHARED UP);
  test_faults(ask_all, &s);
  end(&d, s.id);
  durable_close(&d);
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
