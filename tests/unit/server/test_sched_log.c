/* GET /scheduler/log: all that is there when somebody asks, whatever becomes of
 * it while he reads. */
#define _GNU_SOURCE
#include "cases.h"
#include "asked.h"
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROUTE "/api/v2/scheduler/log"
#define ASK "GET " ROUTE " HTTP/1.1\r\nHost: x\r\n\r\n"
#define OLD "{\"snapshot\":1,\"time\":1000000,\"events\":0}\n{\"time\":1}\n"
#define NEW "{\"snapshot\":1,\"time\":5000000,\"events\":9}\n"

/* --- a disk that fails when the test says so ------------------------------------- */

static bool broken;

ssize_t __real_pread(int fd, void *to, size_t size, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t at);

ssize_t __wrap_pread(int fd, void *to, size_t size, off_t at)
{
  if (!broken)
    return __real_pread(fd, to, size, at);
  errno = EIO;
  return -1;
}

/* --- files ----------------------------------------------------------------------- */

static const char *path(const scene *s, const char *name)
{
  static char text[128];

  (void)snprintf(text, sizeof(text), "%s/%s", s->dir, name);
  return text;
}

static void put(const scene *s, const char *name, const char *text)
{
  test_write_file(path(s, name), text);
}

static void put_both(const scene *s)
{
  put(s, "scheduler.log.1", OLD);
  put(s, "scheduler.log", NEW);
}

static void finish(scene *s)
{
  (void)unlink(path(s, "scheduler.log"));
  (void)unlink(path(s, "scheduler.log.1"));
  end(s);
}

static const char *body_of(const char *answer)
{
  const char *body = strstr(answer, "\r\n\r\n");

  assert_non_null(body);
  return body + 4;
}

static void expect_whole(const char *answer, const char *text)
{
  char length[64];

  assert_int_equal(strncmp(answer, "HTTP/1.1 200 ", 13), 0);
  assert_has(answer, "Content-Type: application/x-ndjson\r\n");
  (void)snprintf(length, sizeof(length), "Content-Length: %zu\r\n",
                 strlen(text));
  assert_has(answer, length);
  assert_string_equal(body_of(answer), text);
}

/* --- what there is --------------------------------------------------------------- */

SCENE_TEST(begin, both_files_in_their_order, finish)
{
  expect(GET(s, ROUTE), 404, "{\"code\":\"NoSchedulerLogError\",");
  put(s, "scheduler.log", "");
  expect(GET(s, ROUTE), 404, "has no scheduler log");
  put(s, "scheduler.log", NEW);
  expect_whole(GET(s, ROUTE), NEW);
  put_both(s);
  expect_whole(GET(s, ROUTE), OLD NEW);
  assert_has(SEND(s, "HEAD", ROUTE, ""), "Content-Length: ");
  /* It has just been put aside, and nothing was decided since. */
  put(s, "scheduler.log", "");
  expect_whole(GET(s, ROUTE), OLD);
  assert_int_equal(unlink(path(s, "scheduler.log")), 0);
  expect_whole(GET(s, ROUTE), OLD);
}

SCENE_TEST(begin, only_what_goes_back_so_far, finish)
{
  put_both(s);
  expect_whole(GET(s, ROUTE "?since=4999"), OLD NEW);
  expect_whole(GET(s, ROUTE "?since=5000"), NEW);
  expect_whole(GET(s, ROUTE "?since=9007199254740991"), NEW);
  expect(GET(s, ROUTE "?since=-1"), 400, "since must be a whole number");
  /* When it begins nobody knows: then it is not passed over. */
  put(s, "scheduler.log", "{\"snapshot\":1}\n");
  expect_whole(GET(s, ROUTE "?since=5000"), OLD "{\"snapshot\":1}\n");
}

SCENE_TEST(begin, what_cannot_be_read, finish)
{
  put_both(s);
  assert_int_equal(unlink(path(s, "scheduler.log")), 0);
  assert_int_equal(mkdir(path(s, "scheduler.log"), 0700), 0);
  expect(GET(s, ROUTE), 500, "scheduler's log: Is a directory");
  assert_int_equal(rmdir(path(s, "scheduler.log")), 0);
  assert_int_equal(symlink("scheduler.log.1", path(s, "scheduler.log")), 0);
  expect(GET(s, ROUTE), 500, "Cannot read the scheduler's log: ");
}

/* --- while it is sent ------------------------------------------------------------- */

/* More than sockets hold. */
static char *put_much(const scene *s)
{
  const size_t size = (size_t)16 << 20;
  char *text = malloc(size + 1);

  assert_non_null(text);
  for (size_t i = 0; i < size; i += 64) {
    char line[65];
    (void)snprintf(line, sizeof(line), "{\"time\":%054zu}\n", i);
    memcpy(text + i, line, 64);
  }
  text[size] = '\0';
  put(s, "scheduler.log", text);
  return text;
}

/* One who has begun to read. */
static void begin_to_read(peer *p, scene *s)
{
  come(p, s);
  say(p, ASK);
  hear(p, "\r\n\r\n{");
}

SCENE_TEST(begin, it_stays_as_it_was, finish)
{
  char *text;
  FILE *out;
  peer p;

  text = put_much(s);
  begin_to_read(&p, s);
  assert_true(p.seen.len < strlen(text));
  out = fopen(path(s, "scheduler.log"), "a");
  assert_non_null(out);
  assert_true(fputs(NEW, out) >= 0);
  assert_int_equal(fclose(out), 0);
  put(s, "scheduler.log.1", OLD);
  assert_int_equal(unlink(path(s, "scheduler.log")), 0);
  hear_body(&p);
  expect_whole(pai__buf_text(&p.seen), text);
  /* The connection may be used again. */
  pai__buf_cut(&p.seen, 0);
  say(&p, ASK);
  hear_body(&p);
  expect_whole(pai__buf_text(&p.seen), OLD);
  leave(&p);
  free(text);
}

/* Whoever reads it sees that it is not all. */
TEST(a_disk_that_fails)
{
  char *text;
  scene s;
  peer p;

  for (int cut = 0; cut <= 1; cut++) {
    begin(&s);
    text = put_much(&s);
    begin_to_read(&p, &s);
    if (cut)
      assert_int_equal(truncate(path(&s, "scheduler.log"), 64), 0);
    else
      broken = true;
    hear_all(&p);
    broken = false;
    assert_true(strlen(body_of(pai__buf_text(&p.seen))) < strlen(text));
    leave(&p);
    free(text);
    finish(&s);
  }
}

static size_t open_files(void)
{
  DIR *dir = opendir("/proc/self/fd");
  size_t n = 0;

  while (dir != NULL && readdir(dir) != NULL)
    n++;
  if (dir != NULL)
    (void)closedir(dir);
  return n;
}

SCENE_TEST(begin, a_reader_that_goes_away, finish)
{
  size_t before;
  char *text;
  peer p;

  before = open_files();
  if (before == 0)
    skip();
  text = put_much(s);
  put(s, "scheduler.log.1", OLD);
  begin_to_read(&p, s);
  assert_true(open_files() >= before + 3); /* two files, one connection */
  leave(&p);
  while (open_files() > before)
    turn(s);
  free(text);
}

/* --- memory ----------------------------------------------------------------------- */

static bool is_whole(scene *s)
{
  return strstr(GET(s, ROUTE), OLD NEW) != NULL;
}

SCENE_TEST(begin_empty, no_memory_is_survived, finish)
{
  size_t before;

  put_both(s);
  before = open_files();
  serve_faults(s, is_whole);
  assert_int_equal(open_files(), before);
}
