/* Logs that are read while they are written, and what goes when a job is
 * forgotten; listeners, tags. */
#include "durable.h"

#include "task/streams.h"

#include <fcntl.h>
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

static const char *in_root(const char *name, const char *file)
{
  static char path[400];

  (void)snprintf(path, sizeof(path), "%s/%s", root(name), file);
  return path;
}

/* --- following ------------------------------------------------------------------ */

typedef struct reading {
  char text[4096];
  size_t len;
  uint64_t next; /* offset of the next byte */
  int calls, over;
  pai_log_reader *reader;
  bool pause;
} reading;

static void on_data(void *user_data, int status, uint64_t offset,
                    const char *bytes, size_t len)
{
  reading *r = user_data;

  assert_int_equal(status, PAI_OK);
  assert_int_equal(r->over, 0);
  assert_int_equal(offset, r->next);
  r->next += len;
  r->over = len == 0;
  r->calls++;
  for (size_t i = 0; i < len && r->len + 1 < sizeof(r->text); i++)
    r->text[r->len++] = bytes[i];
  r->text[r->len] = '\0';
  if (r->pause)
    pai_log_pause(r->reader, 1);
}

static void wait_for(durable *d, const reading *r, const char *text)
{
  while (strstr(r->text, text) == NULL)
    durable_turn(d);
}

static void append(const char *path, const char *text)
{
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), strlen(text));
  (void)close(fd);
}

static pai_log_reader *follow(durable *d, pai_job_id id, reading *r)
{
  pai_log_options o = PAI_LOG_OPTIONS_INIT;

  o.follow = 1;
  assert_int_equal(
    pai_log_open(&r->reader, d->platform, id, &o, on_data, r, NULL), PAI_OK);
  return r->reader;
}

static void a_log_is_followed_to_its_end(void **state)
{
  char command[500];
  reading r = { .len = 0 };
  durable d;
  pai_job_id id;

  (void)state;
  (void)snprintf(command, sizeof(command),
                 "echo one; while ! test -e %s/go; do sleep 0.01; done; "
                 "echo two",
                 story_root);
  durable_open(&d, root("follow"));
  id = durable_submit(&d, "job", "", "", command);
  (void)follow(&d, id, &r); /* before it is started */
  wait_for(&d, &r, "one\n");
  assert_int_equal(r.over, 0);
  (void)snprintf(command, sizeof(command), "%s/go", story_root);
  close(creat(command, 0600));
  while (!r.over)
    durable_turn(&d);
  assert_string_equal(r.text, "one\ntwo\n");
  pai_log_close(r.reader);
  durable_close(&d);
}

/* Neither at its beginning, nor where it goes on, is a log another task's that
 * this one has put a link to in the place of its folder. */
static void no_link_to_a_log_is_followed(void **state)
{
  char mine[400], moved[410], other[400], all[420];
  reading r = { .len = 0 }, late = { .len = 0 };
  pai_log_options o = PAI_LOG_OPTIONS_INIT;
  pai_error *err;
  durable d;
  pai_job_id id, second;

  (void)state;
  durable_open(&d, root("link"));
  id = durable_accept(&d, "job", "exec sleep 1000");
  second = durable_accept(&d, "other", "echo theirs; exec sleep 1000");
  assert_int_equal(durable_wait(&d, id, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  (void)follow(&d, second, &late);
  wait_for(&d, &late, "theirs");
  pai_log_close(late.reader);
  (void)snprintf(mine, sizeof(mine), "%s", root("link/jobs/ann~job/0/a-0"));
  (void)snprintf(moved, sizeof(moved), "%s.moved", mine);
  (void)snprintf(other, sizeof(other), "%s",
                 root("link/jobs/ann~other/0/a-0"));
  (void)snprintf(all, sizeof(all), "%s/all", mine);
  append(all, "a1 ");
  (void)follow(&d, id, &r);
  wait_for(&d, &r, "a1 ");
  assert_int_equal(rename(mine, moved), 0);
  assert_int_equal(symlink(other, mine), 0);
  (void)snprintf(all, sizeof(all), "%s/all", moved);
  append(all, "a2 "); /* in the file that it has open */
  wait_for(&d, &r, "a2 ");
  for (int i = 0; i < 5; i++)
    durable_turn(&d);
  assert_null(strstr(r.text, "theirs"));
  assert_int_equal(
    pai_log_open(&late.reader, d.platform, id, &o, on_data, &late, &err),
    PAI_EPERM);
  test_expect_error(err, PAI_EPERM, "cannot read");
  pai_log_close(r.reader);
  assert_int_equal(unlink(mine), 0);
  assert_int_equal(rename(moved, mine), 0);
  durable_close(&d);
}

/* Somebody who writes as a supervisor does, so that the moments are ours. */
static void no_byte_is_lost_where_a_log_is_renamed(void **state)
{
  char all[400], old[410];
  reading r = { .len = 0 }, late = { .len = 0 };
  pai_log_options o = PAI_LOG_OPTIONS_INIT;
  durable d;
  pai_job_id id;

  (void)state;
  durable_open(&d, root("rename"));
  id = durable_accept(&d, "job", "exec sleep 1000");
  assert_int_equal(durable_wait(&d, id, PAI_STATE_RUNNING), PAI_STATE_RUNNING);
  (void)snprintf(all, sizeof(all), "%s",
                 in_root("rename", "jobs/ann~job/0/a-0/all"));
  (void)snprintf(old, sizeof(old), "%s.1", all);
  append(all, "a1 ");
  (void)follow(&d, id, &r);
  wait_for(&d, &r, "a1 ");
  append(all, "a2 "); /* and renamed before it is read */
  assert_int_equal(rename(all, old), 0);
  append(all, "b1 ");
  wait_for(&d, &r, "b1 ");
  r.pause = true;
  append(all, "b2 ");
  wait_for(&d, &r, "b2 ");
  append(all, "b3 "); /* while it is paused: renamed twice */
  assert_int_equal(rename(all, old), 0);
  append(all, "c1 ");
  for (int i = 0; i < 5; i++)
    durable_turn(&d);
  assert_string_equal(r.text, "a1 a2 b1 b2 ");
  r.pause = false;
  pai_log_pause(r.reader, 0);
  wait_for(&d, &r, "c1 ");
  assert_string_equal(r.text, "a1 a2 b1 b2 b3 c1 ");
  o.offset = -4; /* what is kept are two files */
  late.next = strlen("b1 b2 b3 c1 ") - 4;
  assert_int_equal(
    pai_log_open(&late.reader, d.platform, id, &o, on_data, &late, NULL),
    PAI_OK);
  while (!late.over)
    durable_turn(&d);
  assert_string_equal(late.text, " c1 ");
  pai_log_close(late.reader);
  pai_log_close(r.reader);
  durable_close(&d);
}

/* Offsets are those of all that was ever written. */
static void offsets_outlive_what_was_dropped(void **state)
{
  static const struct {
    int64_t from;
    uint64_t first;
    const char *text;
  } asked[] = { { 0, 6, "b1 b2 c1 " },
                { 6, 6, "b1 b2 c1 " },
                { 9, 9, "b2 c1 " },
                { 13, 13, "1 " },
                { -2, 13, "1 " } };
  char all[400], old[410], begins[400], text[64];
  pai_log_options o = PAI_LOG_OPTIONS_INIT;
  struct stat st;
  durable d;
  pai_job_id id;

  (void)state;
  durable_open(&d, root("offsets"));
  id = durable_accept(&d, "job", "true");
  (void)durable_wait(&d, id, PAI_STATE_SUCCEEDED);
  (void)snprintf(all, sizeof(all), "%s",
                 in_root("offsets", "jobs/ann~job/0/a-0/all"));
  (void)snprintf(begins, sizeof(begins), "%s",
                 in_root("offsets", "jobs/ann~job/0/a-0/begins"));
  (void)snprintf(old, sizeof(old), "%s.1", all);
  append(old, "b1 b2 ");
  append(all, "c1 ");
  assert_int_equal(stat(old, &st), 0);
  (void)snprintf(text, sizeof(text), "1 2\n%llu 6\n3 4\n",
                 (unsigned long long)st.st_ino);
  append(begins, text);
  for (size_t i = 0; i < PAI__LEN(asked); i++) {
    reading r = { .next = asked[i].first };

    o.offset = asked[i].from;
    assert_int_equal(
      pai_log_open(&r.reader, d.platform, id, &o, on_data, &r, NULL), PAI_OK);
    while (!r.over)
      durable_turn(&d);
    assert_string_equal(r.text, asked[i].text);
    pai_log_close(r.reader);
  }
  durable_close(&d);
}

static void read_all(durable *d, pai_job_id id, const char *name,
                     int64_t offset, reading *r)
{
  pai_log_options o = PAI_LOG_OPTIONS_INIT;

  o.name = name;
  o.offset = offset;
  assert_int_equal(
    pai_log_open(&r->reader, d->platform, id, &o, on_data, r, NULL), PAI_OK);
  while (!r->over)
    durable_turn(d);
  pai_log_close(r->reader);
}

/* Output is in one file, once; and it is all there when the supervisor is killed
 * behind its last byte. */
static void output_is_stored_once(void **state)
{
  static const char command[] =
    "d=$(dirname $RUNTIME_LOG_PIPE); for i in 1 2 3; do echo o$i; "
    "while ! grep -q o$i $d/all; do :; done; echo e$i >&2; "
    "while ! grep -q e$i $d/all; do :; done; done; "
    "r=${d%/jobs/*}; read -r x pid x < $r/own${d#$r}/status; "
    "kill -KILL $pid; "
    "sleep 1000";
  reading out = { .next = 0 }, err = { .next = 0 }, end = { .next = 5 };
  durable d;
  pai_job_id id;

  (void)state;
  durable_open(&d, root("once"));
  id = durable_accept(&d, "job", command);
  assert_true(durable_wait(&d, id, PAI_STATE_SUCCEEDED) > PAI_STATE_SUCCEEDED);
  read_all(&d, id, "stdout", 0, &out);
  assert_string_equal(out.text, "o1\no2\no3\n");
  read_all(&d, id, "stderr", 0, &err);
  assert_string_equal(err.text, "e1\ne2\ne3\n");
  read_all(&d, id, "stderr", -4, &end);
  assert_string_equal(end.text, "\ne3\n");
  assert_int_equal(access(in_root("once", "jobs/ann~job/0/a-0/stdout"), F_OK),
                   -1);
  assert_int_equal(access(in_root("once", "jobs/ann~job/0/a-0/stderr"), F_OK),
                   -1);
  durable_close(&d);
}

static void logs_that_are_not_there(void **state)
{
  pai_log_options o = PAI_LOG_OPTIONS_INIT;
  pai_log_reader *reader;
  pai_error *err;
  durable d;
  pai_job_id id;

  (void)state;
  durable_open(&d, root("none"));
  id = durable_accept(&d, "job", "true");
  (void)durable_wait(&d, id, PAI_STATE_SUCCEEDED);
  o.name = "../../../key";
  assert_int_equal(
    pai_log_open(&reader, d.platform, id, &o, on_data, NULL, &err),
    PAI_ENOTFOUND);
  assert_null(reader);
  pai_error_free(err);
  o.name = NULL;
  o.index = 1;
  assert_int_equal(
    pai_log_open(&reader, d.platform, id, &o, on_data, NULL, NULL),
    PAI_ENOTFOUND);
  o.index = 0;
  o.retry = 3;
  assert_int_equal(
    pai_log_open(&reader, d.platform, id, &o, on_data, NULL, NULL),
    PAI_ENOTFOUND);
  o.retry = -1;
  o.attempt = 1;
  assert_int_equal(
    pai_log_open(&reader, d.platform, id, &o, on_data, NULL, NULL),
    PAI_ENOTFOUND);
  assert_int_equal(
    pai_log_open(&reader, d.platform, id + 1, NULL, on_data, NULL, NULL),
    PAI_ENOTFOUND);
  durable_close(&d);
}

/* A task that starts has no log yet: it is empty, not missing. */
static void a_log_to_come_is_empty(void **state)
{
  reading first = { .len = 0 }, r = { .len = 0 };
  pai_log_options o = PAI_LOG_OPTIONS_INIT;
  durable d;
  pai_job_id id;

  (void)state;
  durable_open(&d, root("early"));
  id = durable_accept(&d, "job", "echo up; exec sleep 1000");
  (void)follow(&d, id, &first);
  wait_for(&d, &first, "up\n");
  pai_log_close(first.reader);
  assert_int_equal(
    unlink(in_root("early", "jobs/ann~job/0/a-0/" PAI_STREAMS_LOG)), 0);
  assert_int_equal(
    pai_log_open(&r.reader, d.platform, id, &o, on_data, &r, NULL), PAI_OK);
  while (!r.over)
    durable_turn(&d);
  assert_string_equal(r.text, "");
  pai_log_close(r.reader);
  durable_close(&d);
}

/* --- what is forgotten ------------------------------------------------------------ */

static void what_is_forgotten_is_gone(void **state)
{
  durable d;
  pai_job_id id, again;

  (void)state;
  durable_open(&d, root("forget"));
  id = durable_accept(&d, "job", "echo hi");
  assert_int_equal(pai_platform_forget(d.platform, id), PAI_EBUSY);
  (void)durable_wait(&d, id, PAI_STATE_SUCCEEDED);
  assert_int_equal(access(in_root("forget", "jobs/ann~job/0"), F_OK), 0);
  assert_int_equal(pai_platform_tag(d.platform, id, "good", NULL), PAI_OK);
  assert_int_equal(pai_platform_tag(d.platform, id, "a,b", NULL), PAI_EINVAL);
  assert_int_equal(durable_sync(&d), PAI_OK);
  (void)durable_list(&d, NULL);
  durable_has(&d, "\"tags\":[\"good\"]");
  assert_int_equal(durable_submit(&d, "job", "", "", "true"), 0);
  assert_non_null(strstr(d.code, "ann has a job job already"));
  assert_int_equal(pai_platform_forget(d.platform, id), PAI_OK);
  assert_int_equal(pai_platform_forget(d.platform, id), PAI_ENOTFOUND);
  again = durable_accept(&d, "job", "true"); /* the name is free at once */
  assert_int_not_equal(again, id);
  assert_int_equal(pai_platform_job_state(NULL, d.platform, id),
                   PAI_ENOTFOUND);
  (void)durable_wait(&d, again, PAI_STATE_SUCCEEDED);
  (void)durable_list(&d, NULL);
  durable_has(&d, "\"tags\":[]");
  durable_close(&d);
}

static void what_is_old_is_forgotten(void **state)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  durable d;
  pai_job_id id;

  (void)state;
  durable_open(&d, root("old"));
  id = durable_accept(&d, "job", "head -c 100000 /dev/zero");
  (void)durable_wait(&d, id, PAI_STATE_SUCCEEDED);
  durable_close(&d);
  for (int by_bytes = 0; by_bytes < 2; by_bytes++) {
    memset(&d, 0, sizeof(d));
    assert_int_equal(pai_loop_new(&d.loop, NULL, NULL), PAI_OK);
    o.root = root("old");
    o.durable = 1;
    o.keep_time = by_bytes ? 0 : (pai_time)3600 * 1000000;
    o.keep_bytes = by_bytes ? 50000 : 0;
    assert_int_equal(pai_platform_new(&d.platform, d.loop, &o, NULL), PAI_OK);
    for (int i = 0;
         i < 20 ||
         (by_bytes && pai_platform_job_state(NULL, d.platform, id) > 0);
         i++)
      durable_turn(&d);
    assert_int_equal(pai_platform_job_state(NULL, d.platform, id),
                     by_bytes ? PAI_ENOTFOUND : PAI_STATE_SUCCEEDED);
    durable_close(&d);
  }
  assert_int_not_equal(access(in_root("old", "jobs/ann~job"), F_OK), 0);
}

/* --- listeners ---------------------------------------------------------------------- */

typedef struct hearing {
  pai_listener *self, *other;
  int heard;
} hearing;

/* What is told is durable: it is in the records. */
static int on_event(void *user_data, const pai_event *event)
{
  hearing *h = user_data;

  h->heard++;
  assert_int_equal(pai_event_type(event) == PAI_EVENT_OUTPUT, 0);
  pai_platform_unlisten(h->other);
  h->other = NULL;
  if (pai_event_state(event) >= PAI_STATE_SUCCEEDED &&
      pai_event_type(event) == PAI_EVENT_JOB) {
    pai_platform_unlisten(h->self);
    h->self = NULL;
  }
  return -1; /* which stops nothing */
}

static void listeners_come_and_go(void **state)
{
  hearing first = { .heard = 0 }, second = { .heard = 0 };
  durable d;
  pai_job_id id;

  (void)state;
  durable_open(&d, root("listen"));
  id = durable_submit(&d, "job", "", "", "true");
  assert_int_equal(
    pai_platform_listen(&first.self, d.platform, id, on_event, &first, NULL),
    PAI_OK);
  assert_int_equal(
    pai_platform_listen(&second.self, d.platform, 0, on_event, &second, NULL),
    PAI_OK);
  second.other = first.self; /* heard before: the latest first */
  assert_int_equal(durable_wait(&d, id, PAI_STATE_SUCCEEDED),
                   PAI_STATE_SUCCEEDED);
  assert_int_equal(first.heard, 0);
  assert_int_equal(second.heard, 4);
  assert_null(second.self);
  durable_close(&d);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_log_is_followed_to_its_end),
    cmocka_unit_test(no_link_to_a_log_is_followed),
    cmocka_unit_test(no_byte_is_lost_where_a_log_is_renamed),
    cmocka_unit_test(offsets_outlive_what_was_dropped),
    cmocka_unit_test(output_is_stored_once),
    cmocka_unit_test(logs_that_are_not_there),
    cmocka_unit_test(a_log_to_come_is_empty),
    cmocka_unit_test(what_is_forgotten_is_gone),
    cmocka_unit_test(what_is_old_is_forgotten),
    cmocka_unit_test(listeners_come_and_go),
  };

  return cmocka_run_group_tests(tests, story_make_root, story_remove_root);
}
