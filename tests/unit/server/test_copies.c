/* What takes its time: copies of the database and of code, and all jobs as
 * lines. */
#define _GNU_SOURCE
#include "cases.h"
#include "asked.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#define COPY "/api/v2/jobs/new/code?from=alice~mnist"

/* How many things wait where code does. */
static int left(const scene *s)
{
  char path[256];
  struct dirent *e;
  DIR *dir;
  int n = 0;

  (void)snprintf(path, sizeof(path), "%s/code", s->dir);
  dir = opendir(path);
  while (dir != NULL && (e = readdir(dir)) != NULL)
    n += e->d_name[0] != '.';
  if (dir != NULL)
    (void)closedir(dir);
  return n;
}

static void finish(scene *s)
{
  char path[256];

  (void)snprintf(path, sizeof(path), "%s/code", s->dir);
  (void)rmdir(path);
  end(s);
}

static void begin_copy(scene *s, peer *p, const char *method, const char *path)
{
  char text[256];
  size_t before = s->platform.ncopies;

  come(p, s);
  (void)snprintf(text, sizeof(text),
                 "%s %s%s\r\nHost: x\r\nConnection: close\r\n"
                 "Content-Length: 0\r\n\r\n",
                 method, path, strstr(path, " ") != NULL ? "" : " HTTP/1.1");
  say(p, text);
  while (s->platform.ncopies == before)
    turn(s);
}

SCENE_TEST(begin, a_backup_comes_when_it_is_made, finish)
{
  peer p;

  begin_copy(s, &p, "GET", "/api/v2/backup");
  for (int i = 0; i < 20; i++)
    assert_int_equal(pai_loop_dispatch(s->loop), 1);
  assert_int_equal(p.seen.len, 0);
  fake_copied(&s->platform, PAI_OK, "SQLite format 3, and so on");
  assert_int_equal(left(s), 0); /* its name is gone, not what is sent */
  hear_all(&p);
  expect(pai__buf_text(&p.seen), 200, "SQLite format 3, and so on");
  assert_has(pai__buf_text(&p.seen), "Content-Length: 26\r\n");
  leave(&p);
}

SCENE_TEST(begin, a_backup_that_fails, finish)
{
  peer p;

  begin_copy(s, &p, "GET", "/api/v2/backup");
  fake_copied(&s->platform, PAI_EIO, "");
  hear_all(&p);
  expect(pai__buf_text(&p.seen), 500, "the disk is full");
  leave(&p);
  s->platform.fail = PAI_EBUSY;
  expect(GET(s, "/api/v2/backup"), 503, "as the test wants");
  assert_int_equal(left(s), 0);
}

SCENE_TEST(begin, who_goes_away_leaves_nothing, finish)
{
  peer p, q;

  begin_copy(s, &p, "GET", "/api/v2/backup");
  begin_copy(s, &q, "PUT", COPY);
  leave(&p);
  leave(&q);
  close_server(s); /* it gives up on both */
  fake_copied(&s->platform, PAI_OK, "x");
  assert_int_equal(left(s), 0);
}

SCENE_TEST(begin, code_of_another_job, finish)
{
  peer p;

  begin_copy(s, &p, "PUT", COPY);
  fake_copied(&s->platform, PAI_OK, "/root/code/new-1");
  hear_all(&p);
  expect(pai__buf_text(&p.seen), 201, "{\"codeDir\":\"/root/code/new-1\"}");
  leave(&p);
  begin_copy(s, &p, "PUT", COPY);
  fake_copied(&s->platform, PAI_EIO, NULL);
  hear_all(&p);
  expect(pai__buf_text(&p.seen), 500, "the disk is full");
  leave(&p);
  expect(SEND(s, "PUT", "/api/v2/jobs/new/code?from=bob~x", ""), 404,
         "NoJobError");
  expect(SEND(s, "PUT", "/api/v2/jobs/new/code", ""), 400, "tar archive");
  s->platform.fail = PAI_ENOTFOUND;
  expect(SEND(s, "PUT", COPY, ""), 404, "NoCodeError");
}

/* It weighs 1,000 bytes in two files, and each file 4 KiB more. */
SCENE_TEST(begin, a_copy_counts, finish)
{
  static const char path[] = COPY " HTTP/1.1\r\nAuthorization: Bearer alice";
  peer p;

  s->platform.accounts.quota[PAI_QUOTA_UPLOADS] = 9191;
  begin_copy(s, &p, "PUT", path);
  fake_copied(&s->platform, PAI_OK, s->dir);
  hear_all(&p);
  expect(pai__buf_text(&p.seen), 403, "NoEnoughQuotaError");
  leave(&p);
  s->platform.accounts.quota[PAI_QUOTA_UPLOADS] = 9192;
  for (int i = 0; i < 2; i++) {
    begin_copy(s, &p, "PUT", path);
    fake_copied(&s->platform, PAI_OK, i == 0 ? s->dir : "/none");
    hear_all(&p);
    expect(pai__buf_text(&p.seen), i == 0 ? 201 : 403,
           i == 0 ? "codeDir" : "NoEnoughQuotaError");
    leave(&p);
  }
}

SCENE_TEST(begin, jobs_as_lines, finish)
{
  expect(GET(s, "/api/v2/export"), 200, "{\"after\":0,\"limit\":100}\n");
  expect(GET(s, "/api/v2/export?after=41&limit=1000"), 200,
         "{\"after\":41,\"limit\":1000}\n");
  expect(GET(s, "/api/v2/export?limit=0"), 400,
         "limit must be a whole number of 1 to 1000");
  expect(GET(s, "/api/v2/export?limit=1001"), 400,
         "limit must be a whole number of 1 to 1000");
  expect(GET(s, "/api/v2/export?after=x"), 400,
         "after must be a whole number of 0 or more");
}
