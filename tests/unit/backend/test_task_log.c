/* What a task has written, read while it is written: which of it is stdout's,
 * which stderr's, and files that are renamed. */
#include "backend/tree.h"
#include "cases.h"

#include "backend/task_log.h"
#include "task/streams.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- who writes as a supervisor does, so that the moments are ours --------------- */

static uint64_t size_of(const char *name)
{
  struct stat st;

  assert_int_equal(stat(in_tree(name), &st), 0);
  return (uint64_t)st.st_size;
}

/* `data` is empty. */
static void begin(const char *data, const char *streams, uint64_t all,
                  uint64_t out)
{
  unsigned char head[PAI_STREAMS_HEAD];
  struct stat st;

  append(data, "", 0);
  assert_int_equal(stat(in_tree(data), &st), 0);
  pai_streams_put(head, PAI_STREAMS_MAGIC);
  pai_streams_put(head + 8, (uint64_t)st.st_ino);
  pai_streams_put(head + 16, all);
  pai_streams_put(head + 24, out);
  (void)unlink(in_tree(streams));
  append(streams, head, sizeof(head));
}

static void mark(const char *streams, uint64_t from, int stream)
{
  unsigned char entry[PAI_STREAMS_ENTRY];

  pai_streams_put(entry, from << 1 | (unsigned)stream);
  append(streams, entry, sizeof(entry));
}

static void say(int stream, const char *text)
{
  mark("streams", size_of("all"), stream);
  append("all", text, strlen(text));
}

static void move(const char *from, const char *to)
{
  assert_int_equal(rename(test_string("%s", in_tree(from)), in_tree(to)), 0);
}

/* --- who reads ------------------------------------------------------------------------ */

static const char *read_on(pai__task_log *f)
{
  static char text[4096];
  char piece[7]; /* so that pieces end anywhere */
  size_t len = 0;
  int n;

  while ((n = pai__task_log_read(f, root, piece, sizeof(piece))) > 0) {
    assert_true(len + (size_t)n < sizeof(text));
    memcpy(text + len, piece, (size_t)n);
    len += (size_t)n;
  }
  assert_int_equal(n, 0);
  text[len] = '\0';
  return text;
}

static void open_log(pai__task_log *f, const char *name)
{
  uint64_t gone;

  assert_true(pai__task_log_init(f, name));
  assert_ok(pai__task_log_open(f, root, NULL, &gone, NULL));
}

static void expect(const char *name, const char *text, uint64_t before)
{
  uint64_t kept, gone;
  pai__task_log f;

  assert_true(pai__task_log_init(&f, name));
  assert_ok(pai__task_log_open(&f, root, &kept, &gone, NULL));
  assert_string_equal(read_on(&f), text);
  assert_int_equal(kept, strlen(text));
  assert_int_equal(gone, before);
  pai__task_log_close(&f);
}

/* --- the tests -------------------------------------------------------------------------- */

TEST(streams_are_parts_of_all)
{
  pai__task_log out, err;

  begin("all", "streams", 0, 0);
  open_log(&out, "stdout");
  open_log(&err, "stderr");
  assert_string_equal(read_on(&out), "");
  say(0, "one ");
  say(1, "two ");
  assert_string_equal(read_on(&err), "two ");
  say(0, "three ");
  append("all", "four ", 5); /* of the same stream */
  assert_string_equal(read_on(&out), "one three four ");
  assert_string_equal(read_on(&err), "");
  mark("streams", size_of("all"), 1); /* killed behind that */
  assert_string_equal(read_on(&out), "");
  mark("streams", size_of("all"), 0); /* or what it was for did not fit */
  append("all", "five ", 5);
  assert_string_equal(read_on(&out), "five ");
  assert_string_equal(read_on(&err), "");
  pai__task_log_close(&out);
  pai__task_log_close(&err);
  expect("all", "one two three four five ", 0);
  expect("stdout", "one three four five ", 0);
  expect("stderr", "two ", 0);
}

/* At each moment of a renaming, after which the writer may be gone, all that was
 * written is there for those who come, and for those who read on. */
TEST(no_moment_of_a_renaming_loses_a_byte)
{
  static const char *const steps[][2] = { { "all", "all.1" },
                                          { "log.new", "all" },
                                          { "streams", "streams.1" },
                                          { "streams.new", "streams" } };
  pai__task_log out, err, late;

  begin("all", "streams", 0, 0);
  say(0, "a1 ");
  say(1, "A1 ");
  open_log(&out, "stdout");
  open_log(&err, "stderr");
  assert_string_equal(read_on(&out), "a1 ");
  assert_string_equal(read_on(&err), "A1 ");
  say(0, "a2 ");
  begin("log.new", "streams.new", 9, 6);
  for (size_t i = 0; i < PAI__LEN(steps); i++) {
    move(steps[i][0], steps[i][1]);
    expect("stdout", "a1 a2 ", 0);
    expect("stderr", "A1 ", 0);
    expect("all", "a1 A1 a2 ", 0);
    open_log(&late, "stderr");
    assert_string_equal(read_on(&late), "A1 ");
    pai__task_log_close(&late);
  }
  say(1, "B1 ");
  say(0, "b1 ");
  assert_string_equal(read_on(&out), "a2 b1 ");
  assert_string_equal(read_on(&err), "B1 ");
  expect("stdout", "a1 a2 b1 ", 0);
  begin("log.new", "streams.new", 15, 9);
  for (size_t i = 0; i < PAI__LEN(steps); i++)
    move(steps[i][0], steps[i][1]);
  say(0, "c1 ");
  assert_string_equal(read_on(&out), "c1 ");
  expect("stdout", "b1 c1 ", 6);
  expect("stderr", "B1 ", 3);
  expect("all", "B1 b1 c1 ", 9);
  assert_false(out.missed);
  pai__task_log_close(&out);
  pai__task_log_close(&err);
}

/* Its file was renamed twice before it was read to the end: that is seen. */
TEST(a_reader_who_is_late_goes_on)
{
  static const char *const steps[][2] = { { "all", "all.1" },
                                          { "log.new", "all" },
                                          { "streams", "streams.1" },
                                          { "streams.new", "streams" } };
  pai__task_log err;

  begin("all", "streams", 0, 0);
  open_log(&err, "stderr");
  assert_string_equal(read_on(&err), "");
  say(0, "a1 ");
  for (int round = 0; round < 2; round++) {
    begin("log.new", "streams.new", 3, 3);
    for (size_t i = 0; i < PAI__LEN(steps); i++)
      move(steps[i][0], steps[i][1]);
    say(1, round == 0 ? "B1 " : "C1 ");
  }
  assert_string_equal(read_on(&err), "B1 C1 ");
  assert_true(err.missed);
  pai__task_log_close(&err);
}

/* Copied, both have other inodes: they belong together by their names. */
TEST(a_copy_is_read_as_well)
{
  begin("x", "streams.1", 0, 0);
  begin("y", "streams", 6, 3);
  mark("streams.1", 0, 0);
  mark("streams.1", 3, 1);
  append("all.1", "a1 A1 ", 6);
  mark("streams", 0, 1);
  append("all", "B1 ", 3);
  assert_int_equal(unlink(in_tree("x")) | unlink(in_tree("y")), 0);
  expect("stdout", "a1 ", 0);
  expect("stderr", "A1 B1 ", 0);
  expect("all", "a1 A1 B1 ", 0);
}

/* After a loss of power a file may be empty, or have zeros in it. */
TEST(what_no_entry_tells_of_is_stdouts)
{
  append("all", "one two ", 8);
  expect("stdout", "one two ", 0);
  expect("stderr", "", 0);
  append("streams", "", 0);
  expect("stdout", "one two ", 0);
  begin("other", "streams", 0, 0);
  mark("streams", 0, 0);
  mark("streams", 4, 1);
  mark("streams", 0, 0);
  append("streams", "xyz", 3); /* a piece of one */
  expect("stdout", "one two ", 0);
  (void)unlink(in_tree("all"));
  (void)symlink("/etc/passwd", in_tree("all"));
  assert_int_equal(
    pai__task_log_open(
      &(pai__task_log){ .name = "all", .only = -1, .fd = -1, .entries = -1 },
      root, NULL, &(uint64_t){ 0 }, NULL),
    PAI_EPERM);
}

/* A file for each, and one for both. */
TEST(folders_of_older_supervisors)
{
  char begins[64];
  struct stat st;

  append("all", "one two ", 8);
  append("stdout", "one ", 4);
  append("stderr", "two ", 4);
  append("stdout.1", "zero ", 5);
  assert_true(pai__task_log_is_old(root));
  assert_int_equal(stat(in_tree("stdout.1"), &st), 0);
  (void)snprintf(begins, sizeof(begins), "%llu 7\n",
                 (unsigned long long)st.st_ino);
  append("begins", begins, strlen(begins));
  expect("stdout", "zero one ", 7);
  expect("stderr", "two ", 0);
  expect("all", "one two ", 0);
}

/* --- in pieces -------------------------------------------------------------------------------- */

typedef struct pieces {
  char text[64];
  int left;
} pieces;

static bool take(void *user_data, int stream, const char *piece, size_t len)
{
  pieces *p = user_data;
  size_t at = strlen(p->text);

  (void)snprintf(p->text + at, sizeof(p->text) - at, "%d:%.*s", stream,
                 (int)len, piece);
  return --p->left > 0;
}

TEST(pieces_are_of_one_stream)
{
  pieces p = { .left = 2 };
  pai__task_log f;
  uint64_t gone;
  char bytes[64];

  begin("all", "streams", 0, 0);
  say(0, "one ");
  say(1, "two ");
  say(0, "three ");
  pai__task_log_init_pieces(&f);
  assert_ok(pai__task_log_open(&f, root, NULL, &gone, NULL));
  assert_true(pai__task_log_pieces(&f, root, bytes, sizeof(bytes), take, &p) >
              0);
  assert_string_equal(p.text, "0:one 1:two ");
  p.left = 5;
  assert_true(pai__task_log_pieces(&f, root, bytes, sizeof(bytes), take, &p) >
              0);
  assert_string_equal(p.text, "0:one 1:two 0:three ");
  say(1, "four ");
  pai__task_log_to_end(&f, root);
  say(1, "five ");
  assert_true(pai__task_log_pieces(&f, root, bytes, sizeof(bytes), take, &p) >
              0);
  assert_string_equal(p.text, "0:one 1:two 0:three 1:five ");
  pai__task_log_close(&f);
}

TEST_AROUND_EACH(make_tree, remove_tree);
