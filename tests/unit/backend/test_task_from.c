/* From where on a task's output is read: the last lines, what was written since
 * a time; and the file that tells when it was written. */
#include "backend/tree.h"
#include "cases.h"

#include "backend/task_log.h"
#include "task/task.h"
#include "task/times.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECOND = 1000 * 1000 };

/* The supervisor finds the folder there. */
static int make_dir(void **state)
{
  int fd;

  if (make_tree(state) != 0 || (fd = open(root, O_RDONLY | O_DIRECTORY)) < 0)
    return -1;
  if (fd != PAI_ORDER_DIR_FD) {
    (void)dup2(fd, PAI_ORDER_DIR_FD);
    (void)close(fd);
  }
  return 0;
}

static int remove_dir(void **state)
{
  (void)close(PAI_ORDER_DIR_FD);
  return remove_tree(state);
}

static uint64_t stat_of(const char *name, bool inode)
{
  struct stat st;

  assert_int_equal(stat(in_tree(name), &st), 0);
  return inode ? (uint64_t)st.st_ino : (uint64_t)st.st_size;
}

static void put(const char *name, size_t n, const uint64_t *numbers)
{
  unsigned char bytes[32];

  for (size_t i = 0; i < n; i++)
    pai_streams_put(bytes + 8 * i, numbers[i]);
  append(name, bytes, 8 * n);
}

static uint64_t total[2]; /* bytes of both streams, of stdout */

/* New files, as a supervisor begins them. */
static void begin(void)
{
  uint64_t head[4] = { PAI_STREAMS_MAGIC, 0, total[0], total[1] };

  append("all", "", 0);
  head[1] = stat_of("all", true);
  put("streams", 4, head);
  head[0] = PAI_TIMES_MAGIC;
  head[2] = PAI_TIMES_STEP;
  put("times", 3, head);
}

static void rotate(void)
{
  static const char *const names[] = { "all", "streams", "times" };
  char from[160];

  for (size_t i = 0; i < 3; i++) {
    (void)snprintf(from, sizeof(from), "%s", in_tree(names[i]));
    assert_int_equal(rename(from, test_string("%s.1", from)), 0);
  }
  begin();
}

/* At a time; 0: none is told. */
static void say(int stream, uint64_t time, const char *text)
{
  uint64_t at = stat_of("all", false);

  put("streams", 1, (uint64_t[]){ at << 1 | (unsigned)stream });
  if (time > 0)
    put("times", 2, (uint64_t[]){ at, time });
  append("all", text, strlen(text));
  total[0] += strlen(text);
  total[1] += stream == 0 ? strlen(text) : 0;
}

/* All from there on.  `stamps`: with the time of each piece before it. */
static const char *read_from(const char *name, pai__log_from from, bool stamps)
{
  static char text[1 << 20];
  uint64_t offset, skip;
  char piece[7];
  size_t len = 0;
  pai__task_log f;
  pai_time last = -1;
  int n;

  assert_true(pai__task_log_init(&f, name));
  f.timed = stamps;
  assert_ok(pai__task_log_open_from(&f, root, &from, &offset, &skip, NULL));
  assert_int_equal(skip, 0);
  while ((n = pai__task_log_read(&f, root, piece, sizeof(piece))) > 0) {
    if (stamps && f.time != last)
      len += (size_t)snprintf(text + len, sizeof(text) - len, "<%lld>",
                              (long long)(f.time / SECOND));
    last = f.time;
    memcpy(text + len, piece, (size_t)n);
    len += (size_t)n;
  }
  assert_int_equal(n, 0);
  text[len] = '\0';
  pai__task_log_close(&f);
  return text;
}

static const char *tail(const char *name, uint64_t lines)
{
  return read_from(name, (pai__log_from){ .tail = lines }, false);
}

static const char *since(const char *name, uint64_t seconds)
{
  return read_from(
    name, (pai__log_from){ .since = (pai_time)seconds * SECOND }, false);
}

TEST(the_last_lines)
{
  total[0] = total[1] = 0;
  begin();
  say(0, 0, "o1\no");
  say(1, 0, "e1\ne2\n");
  rotate();
  say(0, 0, "2\no3\n");
  say(1, 0, "e3");
  assert_string_equal(tail("all", 1), "e3");
  assert_string_equal(tail("all", 2), "o3\ne3");
  assert_string_equal(tail("all", 5), "oe1\ne2\n2\no3\ne3");
  assert_string_equal(tail("all", 99), "o1\noe1\ne2\n2\no3\ne3");
  assert_string_equal(tail("stdout", 1), "o3\n");
  assert_string_equal(tail("stdout", 2), "o2\no3\n");
  assert_string_equal(tail("stdout", 3), "o1\no2\no3\n");
  assert_string_equal(tail("stderr", 2), "e2\ne3");
  assert_string_equal(tail("stderr", 9), "e1\ne2\ne3");
}

/* As whoever reads all of it would have it. */
TEST(the_last_lines_of_any_output)
{
  static const char *const names[] = { "all", "stdout", "stderr" };
  char some[80], *whole;

  srand(7);
  total[0] = total[1] = 0;
  begin();
  for (int i = 0; i < 3000; i++) {
    int len = rand() % 70;

    memset(some, 'a' + i % 26, sizeof(some));
    some[len] = '\0';
    if (len > 0 && rand() % 3 > 0)
      some[len / 2] = '\n';
    say(rand() % 2, 0, some);
    if (i == 1800)
      rotate();
  }
  for (size_t i = 0; i < 3; i++) {
    whole = strdup(read_from(names[i], (pai__log_from){ 0 }, false));
    for (uint64_t n = 1; n < 1700; n = n * 3 / 2 + 1) {
      size_t at = strlen(whole) - 1;

      for (uint64_t left = n; at > 0; at--)
        if (whole[at - 1] == '\n' && --left == 0)
          break;
      assert_string_equal(tail(names[i], n), whole + at);
    }
    free(whole);
  }
}

TEST(what_was_written_since)
{
  total[0] = total[1] = 0;
  begin();
  say(0, 1000 * (uint64_t)SECOND, "a\nb\n");
  say(1, 1001 * (uint64_t)SECOND, "E\nhalf ");
  say(1, 1100 * (uint64_t)SECOND, "line\n");
  rotate();
  say(0, 2000 * (uint64_t)SECOND, "c\n");
  say(0, 2002 * (uint64_t)SECOND, "d\n");
  assert_string_equal(since("all", 1), "a\nb\nE\nhalf line\nc\nd\n");
  assert_string_equal(since("all", 1002), "half line\nc\nd\n");
  assert_string_equal(since("all", 1500), "c\nd\n");
  assert_string_equal(since("all", 2001), "d\n");
  assert_string_equal(since("all", 3000), "");
  assert_string_equal(since("stderr", 1002), "half line\n");
  assert_string_equal(since("stdout", 1002), "c\nd\n");
  assert_string_equal(
    read_from("all",
              (pai__log_from){ .since = 1500 * (pai_time)SECOND, .tail = 1 },
              false),
    "d\n");
  assert_string_equal(
    read_from("all", (pai__log_from){ 0 }, true),
    "<1000>a\nb\n<1001>E\nhalf <1100>line\n<2000>c\n<2002>d\n");
  assert_string_equal(read_from("stdout", (pai__log_from){ 0 }, true),
                      "<1000>a\nb\n<2000>c\n<2002>d\n");
}

/* Of a supervisor that told no times there is the file's. */
TEST(times_that_nobody_told)
{
  total[0] = total[1] = 0;
  begin();
  (void)unlink(in_tree("times"));
  say(0, 0, "a\nb\n");
  assert_string_equal(since("all", 1000), "a\nb\n");
  assert_string_equal(since("all", 99999999999), "");
  assert_string_equal(read_from("all", (pai__log_from){ 0 }, true),
                      "<0>a\nb\n");
}

/* A task can write there what it likes. */
TEST(times_that_are_none)
{
  total[0] = total[1] = 0;
  begin();
  say(0, UINT64_MAX, "a\n");
  say(0, 5 * (uint64_t)SECOND, "b\n");
  put("times", 2, (uint64_t[]){ UINT64_MAX, 0 });
  append("times", "rest", 4);
  say(0, 1, "c\n");
  assert_string_equal(tail("all", 2), "b\nc\n");
  (void)since("all", 1);
  (void)read_from("all", (pai__log_from){ 0 }, true);
}

/* --- who writes them ------------------------------------------------------------- */

TEST(the_supervisor_tells_times)
{
  uint64_t head[3] = { PAI_TIMES_MAGIC, 0, PAI_TIMES_STEP }, until;
  int data;
  pai__task_log f;
  pai_time time;

  data = open(in_tree("all"), O_RDWR | O_CREAT, 0600);
  assert_true(data >= 0);
  times_open(data);
  times_note(0);
  times_note(3); /* in the same second */
  assert_int_equal(stat_of("times", false), PAI_TIMES_HEAD + PAI_TIMES_ENTRY);
  /* What another one has written goes on; when it is full, with a longer
   * step. */
  head[1] = stat_of("all", true);
  (void)unlink(in_tree("times"));
  put("times", 3, head);
  for (uint64_t i = 0; stat_of("times", false) < PAI_TIMES_MOST; i++) {
    static unsigned char block[4096 * PAI_TIMES_ENTRY];

    for (uint64_t k = 0; k < 4096; k++) {
      pai_streams_put(block + k * 16, 10 * (i * 4096 + k));
      pai_streams_put(block + k * 16 + 8, (i * 4096 + k + 1) * SECOND);
    }
    append("times", block, sizeof(block));
  }
  assert_int_equal(stat_of("times", false), PAI_TIMES_MOST);
  times_open(data);
  times_note(UINT32_MAX);
  assert_int_equal(stat_of("times", false),
                   PAI_TIMES_HEAD + (2 << 20) + PAI_TIMES_ENTRY);
  assert_true(pai__task_log_init(&f, "all"));
  assert_ok(pai__task_log_open_from(&f, root, &(pai__log_from){ 0 }, &until,
                                    &until, NULL));
  time = pai__task_times_of(&f, root, 15, &until);
  assert_int_equal(time, SECOND); /* the second second is the first's now */
  assert_int_equal(until, 20);
  assert_true(pai__task_times_of(&f, root, UINT32_MAX, &until) >
              1700000000 * (pai_time)SECOND);
  pai__task_log_close(&f);
  (void)close(data);
}

/* Another file of output has another file of times. */
TEST(the_supervisor_begins_anew)
{
  int data;

  data = open(in_tree("all"), O_RDWR | O_CREAT, 0600);
  times_open(data);
  times_note(0);
  (void)close(data);
  data = open(in_tree("log.new"), O_RDWR | O_CREAT, 0600);
  times_rotate(data);
  assert_int_equal(stat_of("times", false), PAI_TIMES_HEAD);
  assert_int_equal(stat_of("times.1", false),
                   PAI_TIMES_HEAD + PAI_TIMES_ENTRY);
  times_note(0); /* whatever the second */
  assert_int_equal(stat_of("times", false), PAI_TIMES_HEAD + PAI_TIMES_ENTRY);
  (void)close(data);
}

TEST_AROUND_EACH(make_dir, remove_dir);
