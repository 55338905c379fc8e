/* Lists of what lies below a folder: in order, in pages, however much and
 * however deep. */
#define _GNU_SOURCE /* O_PATH */
#include "cases.h"
#include "files.h"

#include "base/buf.h"
#include "base/os/posix_below.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64];
static int in = -1;

static int begin(void **state)
{
  (void)state;
  if (!test_make_folder(top) || chdir(top) != 0)
    return -1;
  in = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  return in >= 0 ? 0 : -1;
}

static int end(void **state)
{
  (void)state;
  (void)close(in);
  return chdir("/") != 0 ? -1 : test_remove(top);
}

static void make(const char *path)
{
  assert_int_equal(mkdir(path, 0700), 0);
}

/* --- what is listed ------------------------------------------------------------- */

typedef struct seen {
  pai__buf text; /* "path path " */
  pai__buf last;
  int n;
} seen;

static void on_entry(void *user_data, const pai__below_entry *e)
{
  seen *s = user_data;

  s->n++;
  pai__buf_printf(&s->text, "%s%s ", e->path,
                  e->type == PAI__BELOW_FOLDER  ? "/"
                  : e->type == PAI__BELOW_LINK  ? "@"
                  : e->type == PAI__BELOW_OTHER ? "?"
                                                : "");
  pai__buf_clear(&s->last);
  pai__buf_str(&s->last, e->path);
}

static void begin_seen(seen *s)
{
  s->n = 0;
  pai__buf_init(&s->text, &pai__libc_alloc);
  pai__buf_init(&s->last, &pai__libc_alloc);
}

static void end_seen(seen *s)
{
  pai__buf_dispose(&s->text);
  pai__buf_dispose(&s->last);
}

static int list(seen *s, pai__below_answer *out, pai__below_ask ask)
{
  pai__below b = { .folder = in,
                   .what = "the folder",
                   .alloc = &pai__libc_alloc };

  ask.on_entry = on_entry;
  ask.user_data = s;
  return pai__below_list(out, &b, &ask, NULL);
}

/* The same in pages of all sizes. */
static void is_listed(const char *path, bool recursive, const char *expected)
{
  for (uint32_t limit = 1; limit < 12; limit++) {
    pai__below_answer answer;
    char *after = NULL;
    seen s;
    int n = 0;

    begin_seen(&s);
    do {
      assert_ok(list(&s, &answer,
                     (pai__below_ask){ .path = path,
                                       .after = after,
                                       .limit = limit,
                                       .recursive = recursive }));
      assert_true(!answer.more || s.n == n + (int)limit);
      n = s.n;
      free(after);
      after = strdup(pai__buf_text(&s.last));
    } while (answer.more);
    assert_string_equal(pai__buf_text(&s.text), expected);
    free(after);
    end_seen(&s);
  }
}

TEST(order)
{
  make("a");
  make("a/b");
  test_write_file("a/b/c", "");
  test_write_file("a/z", "");
  test_write_file("a.txt", "");
  test_write_file("a-b", "");
  make("empty");
  make("link");
  assert_int_equal(symlink("../a", "link/to"), 0);
  assert_int_equal(symlink("nowhere", "link/un"), 0);
  assert_int_equal(mkfifo("z", 0600), 0);
  is_listed("", false, "a/ a-b a.txt empty/ link/ z? ");
  is_listed(".", true,
            "a/ a/b/ a/b/c a/z a-b a.txt empty/ link/ link/to@ link/un@ z? ");
  is_listed("./a//", true, "a/b/ a/b/c a/z ");
  is_listed("a", false, "a/b/ a/z ");
  is_listed("link/to", true, "link/to/b/ link/to/b/c link/to/z ");
  is_listed("empty", true, "");
  is_listed("a.txt", true, "a.txt ");
  is_listed("z", false, "z? ");
}

static void what_is_said_of_a_file(const pai__below_entry *e)
{
  assert_int_equal(e->modified, 1700000000123);
  if (strcmp(e->path, "f") == 0) {
    assert_int_equal(e->size, 5);
    assert_true(e->executable);
    assert_null(e->target);
  } else {
    assert_string_equal(e->path, "l");
    assert_int_equal(e->size, 0);
    assert_false(e->executable);
    assert_string_equal(e->target, "/etc/passwd");
  }
}

static void on_one(void *user_data, const pai__below_entry *e)
{
  ++*(int *)user_data;
  what_is_said_of_a_file(e);
}

TEST(facts)
{
  const struct timespec times[2] = { { 1, 0 }, { 1700000000, 123456789 } };
  pai__below b = { .folder = in, .alloc = &pai__libc_alloc };
  int n = 0;
  pai__below_ask ask = {
    .path = "", .limit = 9, .on_entry = on_one, .user_data = &n
  };
  pai__below_answer answer;

  test_write_file("f", "hello");
  assert_int_equal(chmod("f", 0700), 0);
  assert_int_equal(symlink("/etc/passwd", "l"), 0);
  assert_int_equal(utimensat(in, "f", times, 0), 0);
  assert_int_equal(utimensat(in, "l", times, AT_SYMLINK_NOFOLLOW), 0);
  assert_ok(pai__below_list(&answer, &b, &ask, NULL));
  assert_int_equal(n, 2);
}

/* --- odd names --------------------------------------------------------------------- */

/* They come once each, however they are shown. */
TEST(names_that_are_no_text)
{
  test_write_file("a\nb", "");
  test_write_file("b\xff", "");
  make("b\xff"
       "d");
  test_write_file("b\xff"
                  "d/\x01\xc3",
                  "");
  test_write_file("c\xed\xa0\x80", "");
  test_write_file("\"\\", "");
  is_listed("", true,
            "\"\\ a\nb b\xff b\xff"
            "d/ b\xff"
            "d/\x01\xc3 c\xed\xa0\x80 ");
}

/* A list goes on behind what it has shown of such names. */
TEST(pages_by_what_is_shown)
{
  static const char *const names[] = { "a\xff", "a\xff\x01", "b\xc3", "c" };
  static const char *const shown[] = { "a\xef\xbf\xbd", "a\xef\xbf\xbd\x01",
                                       "b\xef\xbf\xbd", "c" };

  for (size_t i = 0; i < PAI__LEN(names); i++)
    test_write_file(names[i], "");
  for (size_t i = 0; i < PAI__LEN(names); i++) {
    pai__below_answer answer;
    seen s;

    begin_seen(&s);
    assert_ok(list(&s, &answer,
                   (pai__below_ask){ .path = "",
                                     .after = i > 0 ? shown[i - 1] : NULL,
                                     .limit = 1 }));
    assert_string_equal(pai__buf_text(&s.last), names[i]);
    assert_int_equal(answer.more, i + 1 < PAI__LEN(names));
    end_seen(&s);
  }
}

/* --- much ---------------------------------------------------------------------------- */

enum { MANY = 10000, PAGE = 999 };

TEST(ten_thousand)
{
  pai__below_answer answer = { .more = true };
  char name[32], after[32] = "";
  int pages = 0;
  seen s;

  for (int i = 0; i < 10; i++) {
    (void)snprintf(name, sizeof(name), "d%d", i);
    make(name);
  }
  for (int i = 0; i < MANY; i++) {
    (void)snprintf(name, sizeof(name), "d%d/%d", i % 10, i);
    test_write_file(name, "x");
  }
  begin_seen(&s);
  for (; answer.more; pages++) {
    assert_ok(
      list(&s, &answer,
           (pai__below_ask){
             .path = "", .after = after, .limit = PAGE, .recursive = true }));
    assert_true(strcmp(after, pai__buf_text(&s.last)) < 0);
    (void)snprintf(after, sizeof(after), "%s", pai__buf_text(&s.last));
  }
  assert_int_equal(s.n, MANY + 10);
  assert_int_equal(pages, (MANY + 10 + PAGE - 1) / PAGE);
  assert_ok(
    list(&s, &answer,
         (pai__below_ask){
           .path = "", .limit = 1, .recursive = true, .total = true }));
  assert_int_equal(s.n, MANY + 10);
  assert_int_equal(answer.files, MANY);
  assert_int_equal(answer.bytes, MANY);
  assert_false(answer.more);
  end_seen(&s);
}

/* As deep as a path can tell, and deeper. */
TEST(deep)
{
  enum { DEPTH = 2200 };
  pai__below_answer answer;
  int at = open(".", O_PATH | O_DIRECTORY), next;
  seen s;

  for (int i = 0; i < DEPTH; i++) {
    assert_int_equal(mkdirat(at, "d", 0700), 0);
    next = openat(at, "d", O_PATH | O_DIRECTORY);
    (void)close(at);
    at = next;
  }
  (void)close(at);
  begin_seen(&s);
  assert_ok(
    list(&s, &answer,
         (pai__below_ask){ .path = "", .limit = 10000, .recursive = true }));
  assert_int_equal(s.n, PAI__BELOW_PATH / 2 + 1);
  assert_ok(
    list(&s, &answer,
         (pai__below_ask){
           .path = "", .limit = 1, .recursive = true, .total = true }));
  assert_int_equal(answer.files, 0);
  end_seen(&s);
  /* What removes the test's folder would not get there. */
  for (int i = 0; i < DEPTH; i++) {
    (void)!rename("d/d", "e");
    assert_int_equal(rmdir("d"), 0);
    (void)!rename("e", "d");
  }
}

static bool is_dotted(const char *name)
{
  return name[0] == '.';
}

TEST(what_is_hidden_and_given_up)
{
  atomic_bool stopped;
  pai__below_answer answer;
  pai__below_ask ask = {
    .path = "", .limit = 9, .is_hidden = is_dotted, .stopped = &stopped
  };
  seen s;

  test_write_file(".hidden", "x");
  test_write_file("shown", "x");
  atomic_init(&stopped, false);
  begin_seen(&s);
  assert_ok(list(&s, &answer, ask));
  assert_string_equal(pai__buf_text(&s.text), "shown ");
  ask.total = true;
  assert_ok(list(&s, &answer, ask));
  assert_int_equal(answer.files, 1);
  atomic_store(&stopped, true);
  assert_int_equal(list(&s, &answer, ask), PAI_ECANCELED);
  end_seen(&s);
}

TEST_AROUND_EACH(begin, end);
