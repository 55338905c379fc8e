/* Paths below a folder in which somebody else makes what he likes, also while
 * they are followed. */
#define _GNU_SOURCE /* O_PATH */
#include "cases.h"
#include "files.h"

#include "base/buf.h"
#include "base/os/posix_below.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char top[64]; /* of all; what is asked for lies in its in/ */
static int in = -1;

/* --- the file system, and who changes it ------------------------------------- */

static void (*change)(void); /* what happens before the n-th call */
static int calls, at_call;

static void count_call(void)
{
  void (*now)(void) = change;

  if (now == NULL || ++calls != at_call)
    return;
  change = NULL;
  now();
}

int __real_openat(int folder, const char *path, int how, ...);
int __wrap_openat(int folder, const char *path, int how, ...);
ssize_t __real_readlinkat(int folder, const char *path, char *text,
                          size_t size);
ssize_t __wrap_readlinkat(int folder, const char *path, char *text,
                          size_t size);
int __real_fstatat(int folder, const char *path, struct stat *st, int how);
int __wrap_fstatat(int folder, const char *path, struct stat *st, int how);

int __wrap_openat(int folder, const char *path, int how, ...)
{
  count_call();
  assert_null(strchr(path, '/'));      /* the kernel follows nothing, */
  assert_string_not_equal(path, ".."); /* and goes nowhere else */
  assert_true((how & O_NOFOLLOW) != 0 && (how & O_CLOEXEC) != 0);
  return __real_openat(folder, path, how, 0600);
}

ssize_t __wrap_readlinkat(int folder, const char *path, char *text,
                          size_t size)
{
  count_call();
  assert_null(strchr(path, '/'));
  return __real_readlinkat(folder, path, text, size);
}

int __wrap_fstatat(int folder, const char *path, struct stat *st, int how)
{
  count_call();
  assert_null(strchr(path, '/'));
  assert_true((how & AT_SYMLINK_NOFOLLOW) != 0);
  return __real_fstatat(folder, path, st, how);
}

static int begin(void **state)
{
  (void)state;
  change = NULL;
  if (!test_make_folder(top) || chdir(top) != 0 || mkdir("in", 0700) != 0)
    return -1;
  in = open("in", O_PATH | O_DIRECTORY | O_CLOEXEC);
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

static void link_to(const char *path, const char *target)
{
  assert_int_equal(symlink(target, path), 0);
}

static pai__below below(const pai_alloc *alloc)
{
  return (pai__below){ .folder = in, .what = "the folder", .alloc = alloc };
}

/* --- a file -------------------------------------------------------------------- */

static const char *read_fd(int fd)
{
  static char text[64];
  ssize_t n = read(fd, text, sizeof(text) - 1);

  assert_true(n >= 0);
  text[n] = '\0';
  (void)close(fd);
  return text;
}

static void has(const char *path, const char *text)
{
  pai__below b = below(&pai__libc_alloc);
  pai_error *err = NULL;
  int fd, rc = pai__below_open(&fd, &b, path, &err);

  if (rc < 0)
    fail_msg("%s: %s", path, pai_error_message(err));
  assert_string_equal(read_fd(fd), text);
}

static void refused(const char *path, int code, const char *part)
{
  pai__below b = below(&pai__libc_alloc);
  pai_error *err = NULL;
  int fd, rc = pai__below_open(&fd, &b, path, &err);

  if (rc != code)
    print_error("%s: %d\n", path, rc);
  assert_int_equal(rc, code);
  assert_int_equal(fd, -1);
  test_expect_error(err, code, part);
}

static void make_tree(void)
{
  make("in/a");
  make("in/a/b");
  test_write_file("in/a/b/f", "inside");
  test_write_file("in/g", "beside");
  make("out");
  make("out/b");
  test_write_file("out/b/f", "SECRET");
  test_write_file("out/g", "SECRET");
  test_write_file("secret", "SECRET");
}

TEST(links_that_stay)
{
  make_tree();
  link_to("in/one", "a/b/f");
  link_to("in/a/up", "../g");
  link_to("in/a/round", "../a/./b//../../a/b");
  link_to("in/a/here", ".");
  link_to("in/first", "second");
  link_to("in/second", "third");
  link_to("in/third", "a");
  has("g", "beside");
  has("a/b/f", "inside");
  has("./a//b/./f", "inside");
  has("a/b/../../g", "beside");
  has("one", "inside");
  has("a/up", "beside");
  has("a/round/f", "inside");
  has("a/here/here/b/f", "inside");
  has("first/up", "beside");
  has("first/../g", "beside"); /* of where the link leads */
}

TEST(links_that_leave)
{
  static const char *const paths[] = {
    "x",  "y",       "z",       "a/w", "abs", "etc/passwd",
    "..", "../in/g", "a/../..", "/g",  "v/g", "a/../a/b/../../../out/g",
  };

  make_tree();
  link_to("in/x", "../secret");
  link_to("in/y", "../in/g"); /* there again, but it was out */
  link_to("in/z", "a/../../secret");
  link_to("in/a/w", "../../secret");
  link_to("in/v", "../out");
  link_to("in/abs", "/etc/passwd");
  link_to("in/etc", "/etc");
  for (size_t i = 0; i < PAI__LEN(paths); i++)
    refused(paths[i], PAI_EINVAL, "leads out of the folder");
}

TEST(what_is_no_file)
{
  struct sockaddr_un name = { .sun_family = AF_UNIX, .sun_path = "in/socket" };
  char longest[PAI__BELOW_PATH + 1];
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);

  make_tree();
  assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
  assert_int_equal(mkfifo("in/fifo", 0600), 0);
  link_to("in/to_fifo", "fifo");
  refused("fifo", PAI_EINVAL, "is not a regular file"); /* and does not wait */
  refused("to_fifo", PAI_EINVAL, "is not a regular file");
  refused("socket", PAI_EINVAL, "is not a regular file");
  refused("a", PAI_EINVAL, "is not a regular file");
  refused("a/", PAI_EINVAL, "is not a regular file");
  refused("", PAI_EINVAL, "is not a regular file");
  refused("g/", PAI_ENOTFOUND, "there is no 'g/' in the folder");
  refused("g/x", PAI_ENOTFOUND, "there is no");
  refused("none", PAI_ENOTFOUND, "there is no 'none' in the folder");
  refused("none/../g", PAI_ENOTFOUND, "there is no");
  memset(longest, 'x', sizeof(longest) - 1);
  longest[PAI__BELOW_PATH] = '\0';
  refused(longest, PAI_EINVAL, "too long");
  refused(longest + PAI__BELOW_PATH - 300, PAI_EINVAL, "too long");
  if (mknod("in/null", S_IFCHR | 0600, 0x103) == 0)
    refused("null", PAI_EINVAL, "is not a regular file");
  (void)close(fd);
}

TEST(links_without_an_end)
{
  char text[PAI__BELOW_PATH] = "";

  make_tree();
  link_to("in/self", "self");
  link_to("in/p", "q");
  link_to("in/q", "p");
  link_to("in/inner", "inner/x");
  refused("self", PAI_EINVAL, "Too many levels");
  refused("p", PAI_EINVAL, "Too many levels");
  refused("self/g", PAI_EINVAL, "Too many levels");
  refused("inner", PAI_EINVAL, "");
  /* Up and down again, as often as a path has room for. */
  for (size_t n = 0; n + 12 < sizeof(text); n += 5)
    memcpy(text + n, "a/../", 6);
  refused(text, PAI_EINVAL, "is not a regular file");
  assert_int_equal(unlink("in/p"), 0);
  link_to("in/p", text);
  for (size_t n = 0; n + 9 < sizeof(text); n += 4)
    memcpy(text + n, "a/b/", 5);
  refused(text, PAI_ENOTFOUND, "there is no");
}

TEST(no_links_at_all)
{
  pai__below b = below(&pai__libc_alloc);
  int fd;

  make_tree();
  link_to("in/one", "a/b/f");
  link_to("in/two", "a");
  b.no_links = true;
  assert_ok(pai__below_open(&fd, &b, "a/b/f", NULL));
  assert_string_equal(read_fd(fd), "inside");
  assert_int_equal(pai__below_open(&fd, &b, "one", NULL), PAI_EINVAL);
  assert_int_equal(pai__below_open(&fd, &b, "two/b/f", NULL), PAI_EINVAL);
}

/* --- a place ------------------------------------------------------------------- */

static int place(const char *path, char **name)
{
  pai__below b = below(&pai__libc_alloc);
  int folder = -1, fd, rc = pai__below_place(&folder, name, &b, path, NULL);

  if (rc < 0) {
    assert_int_equal(folder, -1);
    assert_null(*name);
    return rc;
  }
  fd = openat(folder, *name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0)
    (void)close(fd);
  (void)close(folder);
  pai__strfree(&pai__libc_alloc, *name);
  return PAI_OK;
}

TEST(places_of_files)
{
  char *name;

  make_tree();
  link_to("in/to", "a/new");
  link_to("in/dangling", "not/yet/there");
  link_to("in/out", "../out/x");
  link_to("in/far", "../out");
  assert_int_equal(mkfifo("in/fifo", 0600), 0);
  assert_ok(place("h", &name));
  assert_int_equal(access("in/h", F_OK), 0);
  assert_ok(place("x/y//z/h", &name));
  assert_int_equal(access("in/x/y/z/h", F_OK), 0);
  assert_ok(place("to", &name));
  assert_int_equal(access("in/a/new", F_OK), 0);
  assert_ok(place("dangling", &name));
  assert_int_equal(access("in/not/yet/there", F_OK), 0);
  assert_int_equal(place("out", &name), PAI_EINVAL);
  assert_int_equal(place("far/x", &name), PAI_EINVAL);
  assert_int_equal(place("far/x/y", &name), PAI_EINVAL);
  assert_int_equal(access("out/x", F_OK), -1);
  assert_int_equal(place("../x", &name), PAI_EINVAL);
  assert_int_equal(place("/x", &name), PAI_EINVAL);
  assert_int_equal(place("a", &name), PAI_EINVAL);
  assert_int_equal(place("a/b/", &name), PAI_EINVAL);
  assert_int_equal(place("fifo", &name), PAI_EINVAL);
  assert_int_equal(place("g/x", &name), PAI_ENOTFOUND);
}

/* --- while it is changed ---------------------------------------------------------- */

static void folder_becomes_link(void)
{
  assert_int_equal(rename("in/a", "in/was"), 0);
  link_to("in/a", "../out");
}

static void file_becomes_link(void)
{
  assert_int_equal(unlink("in/a/b/f"), 0);
  link_to("in/a/b/f", "../../../secret");
}

static void folder_moves_out(void)
{
  assert_int_equal(rename("in/a", "out/a"), 0);
}

static void file_becomes_fifo(void)
{
  assert_int_equal(unlink("in/a/b/f"), 0);
  assert_int_equal(mkfifo("in/a/b/f", 0600), 0);
}

static void on_any(void *user_data, const pai__below_entry *e)
{
  (void)user_data;
  assert_null(strstr(e->path, "/g")); /* it is in out/ alone */
}

static void list_it(const pai__below *b)
{
  pai__below_ask ask = {
    .path = ".", .limit = 100, .recursive = true, .on_entry = on_any
  };
  pai__below_answer answer;

  (void)!pai__below_list(&answer, b, &ask, NULL);
}

static void open_it(const pai__below *b)
{
  static const char *const paths[] = { "a/b/f", "a/../g", "to" };

  for (size_t i = 0; i < PAI__LEN(paths); i++) {
    int fd, rc = pai__below_open(&fd, b, paths[i], NULL);

    if (rc == PAI_OK)
      assert_string_not_equal(read_fd(fd), "SECRET");
  }
}

static void place_it(const pai__below *b)
{
  char *name;

  (void)b;
  (void)!place("a/b/new", &name);
  (void)!place("a/more/new", &name);
}

TEST(whatever_happens_meanwhile)
{
  static void (*const changes[])(void) = { folder_becomes_link,
                                           file_becomes_link, folder_moves_out,
                                           file_becomes_fifo };
  static void (*const uses[])(const pai__below *b) = { open_it, list_it,
                                                       place_it };
  int most = 0;

  for (size_t c = 0; c < PAI__LEN(changes); c++)
    for (size_t u = 0; u < PAI__LEN(uses); u++)
      for (bool over = false; !over;) {
        pai__below b;

        make_tree();
        link_to("in/to", "a/b/f");
        b = below(&pai__libc_alloc);
        calls = 0;
        change = changes[c];
        at_call = ++most;
        uses[u](&b);
        over = change != NULL; /* so many calls there are not */
        change = NULL;
        if (over)
          most = 0;
        assert_int_equal(access("out/b/new", F_OK), -1);
        assert_int_equal(access("out/more", F_OK), -1);
        assert_int_equal(end(NULL), 0);
        assert_int_equal(begin(NULL), 0);
      }
}

/* --- without memory ---------------------------------------------------------------- */

static void ignore(void *user_data, const pai__below_entry *e)
{
  (void)e;
  ++*(int *)user_data;
}

static int use_all(const pai_alloc *alloc, void *user_data)
{
  pai__below b = below(alloc);
  pai__below_answer answer;
  int n = 0, fd = -1, folder = -1, rc;
  pai__below_ask ask = { .path = ".",
                         .after = "a",
                         .limit = 2,
                         .recursive = true,
                         .on_entry = ignore,
                         .user_data = &n };
  char *name = NULL;
  pai_error *err = NULL;

  (void)user_data;
  rc = pai__below_list(&answer, &b, &ask, &err);
  if (rc == PAI_OK) {
    assert_int_equal(n, 2);
    assert_true(answer.more);
    rc = pai__below_open(&fd, &b, "to", &err);
  }
  if (rc == PAI_OK)
    rc = pai__below_place(&folder, &name, &b, "to", &err);
  pai_error_free(err);
  pai__strfree(alloc, name);
  if (fd >= 0)
    (void)close(fd);
  if (folder >= 0)
    (void)close(folder);
  return rc;
}

TEST(faults)
{
  make_tree();
  link_to("in/to", "a/b/../b/f");
  test_write_file("in/bad\xff", "");
  test_faults(use_all, NULL);
}

TEST_AROUND_EACH(begin, end);
