/* Many who follow one log: whoever reads, each has every byte once. */
#include "cases.h"
#include "durable.h"

#include "base/prng.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { READERS = 12, WRITES = 300, ROOM = 1 << 18 };

typedef struct reading {
  char text[ROOM];
  size_t len;
  int over;
  bool paused;
  pai_log_reader *reader; /* NULL: it was closed */
} reading;

static struct {
  pai__prng prng;
  durable d;
  reading readings[READERS];
  char whole[ROOM]; /* what was written */
  size_t len;
  char all[400], old[410]; /* the log's files */
  bool calm;               /* nobody pauses or leaves any more */
} world;

static reading *any_reading(void)
{
  return &world.readings[pai__prng_below(&world.prng, READERS)];
}

static void set_paused(reading *r, bool paused)
{
  if (r->reader == NULL)
    return;
  r->paused = paused;
  pai_log_pause(r->reader, paused);
}

static void leave(reading *r)
{
  pai_log_close(r->reader);
  r->reader = NULL;
}

/* To himself or to another one. */
static void do_something(void)
{
  reading *r = any_reading();

  switch (pai__prng_below(&world.prng, 12)) {
  case 0:
  case 1: set_paused(r, true); break;
  case 2:
  case 3:
  case 4: set_paused(r, false); break;
  case 5:
    if (pai__prng_below(&world.prng, 20) == 0)
      leave(r);
    break;
  default: break;
  }
}

static void on_data(void *user_data, int status, uint64_t offset,
                    const char *bytes, size_t len)
{
  reading *r = user_data;

  assert_ok(status);
  assert_int_equal(r->over, 0);
  assert_int_equal(offset, r->len);
  assert_non_null(r->reader);
  assert_false(r->paused);
  assert_true(r->len + len <= ROOM);
  memcpy(r->text + r->len, bytes, len);
  r->len += len;
  r->over = len == 0;
  if (!world.calm)
    do_something();
}

static void come(pai_job_id id, reading *r)
{
  pai_log_options o = PAI_LOG_OPTIONS_INIT;

  o.follow = 1;
  assert_ok(
    pai_log_open(&r->reader, world.d.platform, id, &o, on_data, r, NULL));
}

static void write_some(void)
{
  size_t n = 2 * pai__prng_below(&world.prng, 100) + 2;
  int fd = open(world.all, O_WRONLY | O_CREAT | O_APPEND, 0600);

  assert_true(fd >= 0);
  assert_true(world.len + n <= ROOM);
  for (size_t i = 0; i < n; i++)
    world.whole[world.len + i] = (char)('a' + (world.len + i) % 23);
  assert_int_equal(write(fd, world.whole + world.len, n), n);
  world.len += n;
  (void)close(fd);
}

/* Until all that are still there have read all that there is. */
static void wait_for_all(void)
{
  world.calm = true;
  for (int i = 0; i < READERS; i++) {
    set_paused(&world.readings[i], false);
    while (world.readings[i].reader != NULL &&
           world.readings[i].len < world.len)
      durable_turn(&world.d);
  }
  world.calm = false;
}

TEST(each_has_every_byte_once)
{
  char path[300];
  pai_job_id id;
  int left = 0;

  world.prng.state = 11;
  (void)snprintf(path, sizeof(path), "%s/side", story_root);
  durable_open(&world.d, path);
  id = durable_accept(&world.d, "job", "exec sleep 1000");
  durable_reaches(&world.d, id, PAI_STATE_RUNNING);
  (void)snprintf(world.all, sizeof(world.all), "%s/jobs/ann~job/0/a-0/all",
                 path);
  (void)snprintf(world.old, sizeof(world.old), "%s.1", world.all);
  for (int i = 0; i < READERS / 2; i++)
    come(id, &world.readings[i]);
  for (int i = 0; i < WRITES; i++) {
    if (i == WRITES / 2) /* who comes late has more to read */
      for (int r = READERS / 2; r < READERS; r++)
        come(id, &world.readings[r]);
    write_some();
    if (pai__prng_below(&world.prng, 3) == 0)
      durable_turn(&world.d);
    do_something();
    if (i % 100 == 70) { /* nobody is too slow for it */
      wait_for_all();
      assert_int_equal(rename(world.all, world.old), 0);
    }
  }
  wait_for_all();
  world.calm = true;
  assert_ok(pai_platform_stop(world.d.platform, id));
  for (int i = 0; i < READERS; i++) {
    reading *r = &world.readings[i];

    while (r->reader != NULL && !r->over)
      durable_turn(&world.d);
    left += r->reader != NULL;
    if (r->reader != NULL)
      assert_int_equal(r->len, world.len);
    assert_memory_equal(r->text, world.whole, r->len);
    leave(r);
  }
  assert_true(left > 2);
  durable_close(&world.d);
}

/* --- the one who reads ------------------------------------------------------------ */

static int called; /* since the large piece was written */

/* Who reads is the last one that gets it. */
static void on_large(void *user_data, int status, uint64_t offset,
                     const char *bytes, size_t len)
{
  reading *r = user_data;

  assert_ok(status);
  assert_int_equal(offset, r->len);
  (void)bytes;
  r->len += len;
  if (world.calm || ++called != 3)
    return;
  world.calm = true;
  if (world.len % 2 == 0)
    set_paused(r, true);
  else
    leave(r);
}

/* Nothing more is written: what is left is read without being told. */
TEST(who_reads_for_others_may_stop)
{
  static char bytes[100001];
  pai_log_options o = PAI_LOG_OPTIONS_INIT;
  char path[300];

  for (int round = 0; round < 2; round++) {
    size_t n = sizeof(bytes) - (size_t)round;
    pai_job_id id;
    int fd, whole = 0;

    memset(&world, 0, sizeof(world));
    (void)snprintf(path, sizeof(path), "%s/large%d", story_root, round);
    durable_open(&world.d, path);
    id = durable_accept(&world.d, "job", "exec sleep 1000");
    durable_reaches(&world.d, id, PAI_STATE_RUNNING);
    (void)snprintf(world.all, sizeof(world.all), "%s/jobs/ann~job/0/a-0/all",
                   path);
    o.follow = 1;
    world.calm = true;
    write_some();
    for (int i = 0; i < 3; i++)
      assert_ok(pai_log_open(&world.readings[i].reader, world.d.platform, id,
                             &o, on_large, &world.readings[i], NULL));
    wait_for_all();
    for (int i = 0; i < 5; i++) /* they come to its end */
      durable_turn(&world.d);
    called = 0;
    world.len += n;
    fd = open(world.all, O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, bytes, n), n);
    (void)close(fd);
    while (whole < 2) {
      durable_turn(&world.d);
      whole = 0;
      for (int i = 0; i < 3; i++)
        whole += world.readings[i].len == world.len;
    }
    for (int i = 0; i < 3; i++)
      leave(&world.readings[i]);
    durable_close(&world.d);
  }
}

TEST_AROUND_ALL(story_make_root, story_remove_root);
