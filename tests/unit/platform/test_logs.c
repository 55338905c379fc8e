/* Logs that are read while they are written, and what goes when a job is
 * forgotten; listeners, tags. */
#include "cases.h"
#include "durable.h"

#include "platform/platform.h"
#include "task/streams.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *in_root(const durable *d, const char *file)
{
  static char path[400];

  (void)snprintf(path, sizeof(path), "%s/%s", d->root, file);
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
  uint64_t gap; /* what follows one may be this byte; 0: there is none */
} reading;

static void on_data(void *user_data, int status, uint64_t offset,
                    const char *bytes, size_t len)
{
  reading *r = user_data;

  assert_ok(status);
  assert_int_equal(r->over, 0);
  if (offset == r->gap && r->gap != 0)
    r->next = r->gap;
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
  assert_ok(pai_log_open(&r->reader, d->platform, id, &o, on_data, r, NULL));
  return r->reader;
}

DURABLE(a_log_is_followed_to_its_end)
{
  char command[500];
  reading r = { .len = 0 };
  pai_job_id id;

  (void)snprintf(command, sizeof(command),
                 "echo one; while ! test -e %s/go; do sleep 0.01; done; "
                 "echo two",
                 story_root);
  id = durable_submit(d, "job", "", "", command);
  (void)follow(d, id, &r); /* before it is started */
  wait_for(d, &r, "one\n");
  assert_int_equal(r.over, 0);
  (void)snprintf(command, sizeof(command), "%s/go", story_root);
  close(creat(command, 0600));
  while (!r.over)
    durable_turn(d);
  assert_string_equal(r.text, "one\ntwo\n");
  pai_log_close(r.reader);
}

/* Neither at its beginning, nor where it goes on, is a log another task's that
 * this one has put a link to in the place of its folder. */
TEST(no_link_to_a_log_is_followed)
{
  char mine[400], moved[410], other[400], all[420];
  reading r = { .len = 0 }, late = { .len = 0 };
  pai_log_options o = PAI_LOG_OPTIONS_INIT;
  pai_error *err;
  durable d;
  pai_job_id id, second;

  durable_open(&d, story_in("link"));
  id = durable_accept(&d, "job", "exec sleep 1000");
  second = durable_accept(&d, "other", "echo theirs; exec sleep 1000");
  durable_reaches(&d, id, PAI_STATE_RUNNING);
  (void)follow(&d, second, &late);
  wait_for(&d, &late, "theirs");
  pai_log_close(late.reader);
  (void)snprintf(mine, sizeof(mine), "%s",
                 story_in("link/jobs/ann~job/0/a-0"));
  (void)snprintf(moved, sizeof(moved), "%s.moved", mine);
  (void)snprintf(other, sizeof(other), "%s",
                 story_in("link/jobs/ann~other/0/a-0"));
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
  assert_fails(
    pai_log_open(&late.reader, d.platform, id, &o, on_data, &late, &err), err,
    PAI_EPERM, "cannot read");
  pai_log_close(r.reader);
  assert_int_equal(unlink(mine), 0);
  assert_int_equal(rename(moved, mine), 0);
  durable_close(&d);
}

/* Somebody who writes as a supervisor does, so that the moments are ours. */
/* With which byte of all a file begins, as an older supervisor says it. */
static void say_begin(const char *file, uint64_t begin)
{
  struct stat st;

  assert_int_equal(stat(file, &st), 0);
  append(test_string("%.*s/begins", (int)(strrchr(file, '/') - file), file),
         test_string("%llu %llu\n", (unsigned long long)st.st_ino,
                     (unsigned long long)begin));
}

DURABLE(no_byte_is_lost_where_a_log_is_renamed)
{
  char all[400], old[410];
  reading r = { .len = 0 }, late = { .len = 0 };
  pai_log_options o = PAI_LOG_OPTIONS_INIT;
  pai_job_id id;

  id = durable_accept(d, "job", "exec sleep 1000");
  durable_reaches(d, id, PAI_STATE_RUNNING);
  (void)snprintf(all, sizeof(all), "%s", in_root(d, "jobs/ann~job/0/a-0/all"));
  (void)snprintf(old, sizeof(old), "%s.1", all);
  append(all, "a1 ");
  (void)follow(d, id, &r);
  wait_for(d, &r, "a1 ");
  append(all, "a2 "); /* and renamed before it is read */
  assert_int_equal(rename(all, old), 0);
  append(all, "b1 ");
  wait_for(d, &r, "b1 ");
  r.pause = true;
  append(all, "b2 ");
  wait_for(d, &r, "b2 ");
  append(all, "b3 "); /* while it is paused: renamed twice */
  assert_int_equal(rename(all, old), 0);
  append(all, "c1 ");
  for (int i = 0; i < 5; i++)
    durable_turn(d);
  assert_string_equal(r.text, "a1 a2 b1 b2 ");
  r.pause = false;
  pai_log_pause(r.reader, 0);
  wait_for(d, &r, "c1 ");
  assert_string_equal(r.text, "a1 a2 b1 b2 b3 c1 ");
  o.offset = -4; /* what is kept are two files */
  late.next = strlen("b1 b2 b3 c1 ") - 4;
  assert_ok(
    pai_log_open(&late.reader, d->platform, id, &o, on_data, &late, NULL));
  while (!late.over)
    durable_turn(d);
  assert_string_equal(late.text, " c1 ");
  pai_log_close(late.reader);
  pai_log_pause(r.reader, 1); /* and a file is gone before it is read */
  append(all, "c2 ");
  assert_int_equal(rename(all, old), 0);
  append(all, "d1 ");
  assert_int_equal(rename(all, old), 0);
  append(all, "e1 ");
  r.gap = strlen("a1 a2 b1 b2 b3 c1 c2 d1 ");
  say_begin(all, r.gap);
  assert_int_equal(rename(all, old), 0);
  append(all, "f1 ");
  pai_log_pause(r.reader, 0);
  wait_for(d, &r, "f1 ");
  assert_string_equal(r.text, "a1 a2 b1 b2 b3 c1 c2 e1 f1 ");
  assert_int_equal(r.next, r.gap + strlen("e1 f1 "));
  pai_log_close(r.reader);
}

/* Offsets are those of all that was ever written. */
DURABLE(offsets_outlive_what_was_dropped)
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
  pai_job_id id;

  id = durable_accept(d, "job", "true");
  (void)durable_wait(d, id, PAI_STATE_SUCCEEDED);
  (void)snprintf(all, sizeof(all), "%s", in_root(d, "jobs/ann~job/0/a-0/all"));
  (void)snprintf(begins, sizeof(begins), "%s",
                 in_root(d, "jobs/ann~job/0/a-0/begins"));
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
    assert_ok(pai_log_open(&r.reader, d->platform, id, &o, on_data, &r, NULL));
    while (!r.over)
      durable_turn(d);
    assert_string_equal(r.text, asked[i].text);
    pai_log_close(r.reader);
  }
}

static void read_all(durable *d, pai_job_id id, const char *name,
                     int64_t offset, reading *r)
{
  pai_log_options o = PAI_LOG_OPTIONS_INIT;

  o.name = name;
  o.offset = offset;
  assert_ok(pai_log_open(&r->reader, d->platform, id, &o, on_data, r, NULL));
  while (!r->over)
    durable_turn(d);
  pai_log_close(r->reader);
}

/* Output is in one file, once; and it is all there when the supervisor is killed
 * behind its last byte. */
TEST(output_is_stored_once)
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

  durable_open(&d, story_in("once"));
  id = durable_accept(&d, "job", command);
  assert_true(durable_wait(&d, id, PAI_STATE_SUCCEEDED) > PAI_STATE_SUCCEEDED);
  read_all(&d, id, "stdout", 0, &out);
  assert_string_equal(out.text, "o1\no2\no3\n");
  read_all(&d, id, "stderr", 0, &err);
  assert_string_equal(err.text, "e1\ne2\ne3\n");
  read_all(&d, id, "stderr", -4, &end);
  assert_string_equal(end.text, "\ne3\n");
  assert_int_equal(access(in_root(&d, "jobs/ann~job/0/a-0/stdout"), F_OK), -1);
  assert_int_equal(access(in_root(&d, "jobs/ann~job/0/a-0/stderr"), F_OK), -1);
  durable_close(&d);
}

DURABLE(logs_that_are_not_there)
{
  pai_log_options o = PAI_LOG_OPTIONS_INIT;
  pai_log_reader *reader;
  pai_error *err;
  pai_job_id id;

  id = durable_accept(d, "job", "true");
  (void)durable_wait(d, id, PAI_STATE_SUCCEEDED);
  o.name = "../../../key";
  assert_int_equal(
    pai_log_open(&reader, d->platform, id, &o, on_data, NULL, &err),
    PAI_ENOTFOUND);
  assert_null(reader);
  pai_error_free(err);
  o.name = NULL;
  o.index = 1;
  assert_int_equal(
    pai_log_open(&reader, d->platform, id, &o, on_data, NULL, NULL),
    PAI_ENOTFOUND);
  o.index = 0;
  o.retry = 3;
  assert_int_equal(
    pai_log_open(&reader, d->platform, id, &o, on_data, NULL, NULL),
    PAI_ENOTFOUND);
  o.retry = -1;
  o.attempt = 1;
  assert_int_equal(
    pai_log_open(&reader, d->platform, id, &o, on_data, NULL, NULL),
    PAI_ENOTFOUND);
  assert_int_equal(
    pai_log_open(&reader, d->platform, id + 1, NULL, on_data, NULL, NULL),
    PAI_ENOTFOUND);
}

/* A task that starts has no log yet: it is empty, not missing. */
DURABLE(a_log_to_come_is_empty)
{
  reading first = { .len = 0 }, r = { .len = 0 };
  pai_log_options o = PAI_LOG_OPTIONS_INIT;
  pai_job_id id;

  id = durable_accept(d, "job", "echo up; exec sleep 1000");
  (void)follow(d, id, &first);
  wait_for(d, &first, "up\n");
  pai_log_close(first.reader);
  assert_int_equal(unlink(in_root(d, "jobs/ann~job/0/a-0/" PAI_STREAMS_LOG)),
                   0);
  assert_ok(pai_log_open(&r.reader, d->platform, id, &o, on_data, &r, NULL));
  while (!r.over)
    durable_turn(d);
  assert_string_equal(r.text, "");
  pai_log_close(r.reader);
}

/* --- what is forgotten ------------------------------------------------------------ */

DURABLE(what_is_forgotten_is_gone)
{
  pai_job_id id, again;

  id = durable_accept(d, "job", "echo hi");
  assert_int_equal(pai_platform_forget(d->platform, id), PAI_EBUSY);
  (void)durable_wait(d, id, PAI_STATE_SUCCEEDED);
  assert_int_equal(access(in_root(d, "jobs/ann~job/0"), F_OK), 0);
  assert_ok(pai_platform_tag(d->platform, id, "good", NULL));
  assert_int_equal(pai_platform_tag(d->platform, id, "a,b", NULL), PAI_EINVAL);
  assert_ok(durable_sync(d));
  (void)durable_list(d, NULL);
  durable_has(d, "\"tags\":[\"good\"]");
  assert_int_equal(durable_submit(d, "job", "", "", "true"), 0);
  assert_has(d->code, "ann has a job job already");
  assert_ok(pai_platform_forget(d->platform, id));
  assert_int_equal(pai_platform_forget(d->platform, id), PAI_ENOTFOUND);
  again = durable_accept(d, "job", "true"); /* the name is free at once */
  assert_int_not_equal(again, id);
  durable_is(d, id, PAI_ENOTFOUND);
  (void)durable_wait(d, again, PAI_STATE_SUCCEEDED);
  (void)durable_list(d, NULL);
  durable_has(d, "\"tags\":[]");
}

TEST(what_is_old_is_forgotten)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  durable d;
  pai_job_id id;

  durable_open(&d, story_in("old"));
  id = durable_accept(&d, "job", "head -c 100000 /dev/zero");
  (void)durable_wait(&d, id, PAI_STATE_SUCCEEDED);
  durable_close(&d);
  for (int by_bytes = 0; by_bytes < 2; by_bytes++) {
    memset(&d, 0, sizeof(d));
    assert_ok(pai_loop_new(&d.loop, NULL, NULL));
    o.root = story_in("old");
    o.durable = 1;
    o.keep_time = by_bytes ? 0 : (pai_time)3600 * 1000000;
    o.keep_bytes = by_bytes ? 50000 : 0;
    assert_ok(pai_platform_new(&d.platform, d.loop, &o, NULL));
    d.platform->keep_seen = 0;
    for (int i = 0;
         i < 20 ||
         (by_bytes && pai_platform_job_state(NULL, d.platform, id) > 0);
         i++)
      durable_turn(&d);
    durable_is(&d, id, by_bytes ? PAI_ENOTFOUND : PAI_STATE_SUCCEEDED);
    durable_close(&d);
  }
  assert_int_not_equal(access(in_root(&d, "jobs/ann~job"), F_OK), 0);
}

/* Whoever waits for a job's end can read it, however few are kept. */
TEST(one_that_has_just_ended_is_kept)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  pai_job_id first, last;
  durable d;

  memset(&d, 0, sizeof(d));
  assert_ok(pai_loop_new(&d.loop, NULL, NULL));
  o.root = story_in("just");
  o.durable = 1;
  o.keep_jobs = 1;
  o.keep_bytes = 1;
  assert_ok(pai_platform_new(&d.platform, d.loop, &o, NULL));
  first = durable_accept(&d, "first", "echo out");
  (void)durable_wait(&d, first, PAI_STATE_SUCCEEDED);
  last = durable_accept(&d, "last", "echo out");
  (void)durable_wait(&d, last, PAI_STATE_SUCCEEDED);
  durable_close(&d);
  memset(&d, 0, sizeof(d)); /* it looks when it is opened */
  assert_ok(pai_loop_new(&d.loop, NULL, NULL));
  assert_ok(pai_platform_new(&d.platform, d.loop, &o, NULL));
  /* `counting` first: while it is true a thread writes the other. */
  while (d.platform->counting || d.platform->kept_bytes == 0)
    durable_turn(&d);
  durable_is(&d, first, PAI_STATE_SUCCEEDED);
  durable_is(&d, last, PAI_STATE_SUCCEEDED);
  durable_close(&d);
}

/* Where so many are kept, the end of one more is enough. */
TEST(one_too_many_is_forgotten_soon)
{
  pai_platform_options o = PAI_PLATFORM_OPTIONS_INIT;
  pai_job_id first, last;
  durable d;

  memset(&d, 0, sizeof(d));
  assert_ok(pai_loop_new(&d.loop, NULL, NULL));
  o.root = story_in("many");
  o.durable = 1;
  o.keep_jobs = 1;
  assert_ok(pai_platform_new(&d.platform, d.loop, &o, NULL));
  d.platform->keep_seen = 0;
  first = durable_accept(&d, "first", "true");
  (void)durable_wait(&d, first, PAI_STATE_SUCCEEDED);
  last = durable_accept(&d, "last", "true");
  (void)durable_wait(&d, last, PAI_STATE_SUCCEEDED);
  while (pai_platform_job_state(NULL, d.platform, first) > 0)
    durable_turn(&d);
  durable_is(&d, last, PAI_STATE_SUCCEEDED);
  durable_close(&d);
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

DURABLE(listeners_come_and_go)
{
  hearing first = { .heard = 0 }, second = { .heard = 0 };
  pai_job_id id;

  id = durable_submit(d, "job", "", "", "true");
  assert_ok(
    pai_platform_listen(&first.self, d->platform, id, on_event, &first, NULL));
  assert_ok(pai_platform_listen(&second.self, d->platform, 0, on_event,
                                &second, NULL));
  second.other = first.self; /* heard before: the latest first */
  durable_reaches(d, id, PAI_STATE_SUCCEEDED);
  assert_int_equal(first.heard, 0);
  assert_int_equal(second.heard, 4);
  assert_null(second.self);
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
